// SPDX-License-Identifier: Apache-2.0
// Packets that come while an earlier one is missing, at a NIC that takes them: their data is placed where it belongs,
// for a WRITE packet's place follows from the message's address and its number. Only what came is kept account of, a
// bit a packet, up to a number beyond the first missing one; acknowledgement stays cumulative.
//
// Sources: out-of-order data placement of ConnectX-5 and later, on reliable connections (NVIDIA, MLNX_OFED manual,
// "Out-of-Order (OOO) Data Placement"; rdma-core, mlx5dv_create_qp(3), MLX5DV_QP_CREATE_OOO_DP); a bitmap of bounded
// size as in Y. Lu et al., "Multi-path transport for RDMA in datacenters", NSDI 2018, and R. Mittal et al., "Revisiting
// network support for RDMA", SIGCOMM 2018. Differences: the manuals say nothing of the window, nor of when a packet is
// taken for lost: both are parameters, and assumed. Sends and responses to READs are treated as WRITEs are. The sender
// goes back to the missing packet and sends again from there until an acknowledgement has it skip what had come.
#include "transport/reorder.h"

enum { BITS = 64 };

size_t weft__reorder_words(const struct weft_host_conf *conf) {
    return (conf->reorder_packets + BITS) / BITS; // one more than may be ahead: the expected one
}

static size_t word_of(const struct weft_host_conf *conf, uint32_t psn) {
    return psn / BITS % weft__reorder_words(conf);
}

enum weft__reorder weft__reorder_put(struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now,
                                     uint32_t expected, uint32_t psn, bool last) {
    assert(psn > expected);
    if (psn - expected > conf->reorder_packets) return WEFT__REORDER_TOO_FAR;
    size_t word = word_of(conf, psn);
    uint64_t bit = UINT64_C(1) << psn % BITS;
    if (r->came[word] & bit) return WEFT__REORDER_CAME_BEFORE;
    r->came[word] |= bit;
    if (r->last && last) r->last[word] |= bit;
    if (!r->ahead++) r->since_ps = now;
    return WEFT__REORDER_PLACED;
}

bool weft__reorder_is_overdue(const struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now) {
    return r->ahead && now - r->since_ps >= conf->reorder_timeout_ps;
}

uint32_t weft__reorder_next(struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now,
                            uint32_t expected, uint32_t *ret_messages) {
    *ret_messages = 0;
    for (expected++; r->ahead; expected++, r->ahead--) {
        size_t word = word_of(conf, expected);
        uint64_t bit = UINT64_C(1) << expected % BITS;
        if (!(r->came[word] & bit)) break;
        r->came[word] &= ~bit;
        if (!r->last || !(r->last[word] & bit)) continue;
        r->last[word] &= ~bit;
        ++*ret_messages;
    }
    r->since_ps = now;
    return expected;
}
