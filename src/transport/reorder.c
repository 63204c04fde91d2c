// SPDX-License-Identifier: Apache-2.0
// Packets that arrive while an earlier one is missing, at a receiver that accepts them. Their data is placed where it
// belongs, because a WRITE packet's place follows from the message's address and the packet's number. The receiver
// records only which packets have arrived, one bit per packet, up to a limit beyond the first missing one;
// acknowledgement stays cumulative.
//
// Sources: out-of-order data placement of ConnectX-5 and later, on reliable connections (NVIDIA, MLNX_OFED manual,
// "Out-of-Order (OOO) Data Placement"; rdma-core, mlx5dv_create_qp(3), MLX5DV_QP_CREATE_OOO_DP); a bitmap of bounded
// size as in Y. Lu et al., "Multi-path transport for RDMA in datacenters", NSDI 2018, and R. Mittal et al., "Revisiting
// network support for RDMA", SIGCOMM 2018. Differences: the manuals say nothing about the window, or about when a
// packet counts as lost; both are parameters, and assumed. Sends and responses to READs are treated like WRITEs. The
// sender goes back to the missing packet and retransmits from there until an acknowledgement lets it skip what had
// arrived.
#include "transport/reorder.h"

#include <assert.h>

enum { BITS = 64 };

static uint32_t words_of(const struct weft__reorder_conf *conf) {
    return (uint32_t)((conf->packets + BITS) / BITS); // one more than may be ahead, for the expected one
}

size_t weft__reorder_size(const struct weft__reorder_conf *conf, bool messages) {
    return sizeof(struct weft__reorder) + (messages ? 2 : 1) * words_of(conf) * sizeof(uint64_t);
}

enum weft__reorder_verdict weft__reorder_put(struct weft__reorder *r, const struct weft__reorder_conf *conf,
                                             weft_time_ps now, uint32_t expected, uint32_t psn, bool last) {
    assert(psn > expected);
    if (psn - expected > conf->packets) return WEFT__REORDER_TOO_FAR;
    uint32_t words = words_of(conf), word = psn / BITS % words;
    uint64_t bit = UINT64_C(1) << psn % BITS;
    if (r->bits[word] & bit) return WEFT__REORDER_CAME_BEFORE;
    r->bits[word] |= bit;
    if (last) {
        r->bits[words + word] |= bit;
        r->messages = true;
    }
    if (!r->ahead++) r->since_ps = now;
    return WEFT__REORDER_PLACED;
}

bool weft__reorder_is_overdue(const struct weft__reorder *r, const struct weft__reorder_conf *conf, weft_time_ps now) {
    return r->ahead && now - r->since_ps >= conf->timeout_ps;
}

uint32_t weft__reorder_next(struct weft__reorder *r, const struct weft__reorder_conf *conf, weft_time_ps now,
                            uint32_t expected, uint32_t *ret_messages) {
    uint32_t words = words_of(conf);
    *ret_messages = 0;
    for (expected++; r->ahead; expected++, r->ahead--) {
        uint32_t word = expected / BITS % words;
        uint64_t bit = UINT64_C(1) << expected % BITS;
        if (!(r->bits[word] & bit)) break;
        r->bits[word] &= ~bit;
        if (!r->messages || !(r->bits[words + word] & bit)) continue;
        r->bits[words + word] &= ~bit;
        ++*ret_messages;
    }
    r->since_ps = now;
    return expected;
}

bool weft__reorder_has(const struct weft__reorder *r, const struct weft__reorder_conf *conf, uint32_t expected,
                       uint32_t psn) {
    if (!r->ahead || psn - expected > conf->packets) return false;
    return r->bits[psn / BITS % words_of(conf)] >> psn % BITS & 1;
}

uint64_t weft__reorder_bits(const struct weft__reorder *r, const struct weft__reorder_conf *conf, uint32_t expected,
                            uint32_t base) {
    uint64_t ahead = base - expected, room = conf->packets; // a packet further ahead would take the bit of an earlier
                                                            // one
    if (!r->ahead || ahead > room) return 0;
    uint32_t words = words_of(conf), word = base / BITS % words, next = word + 1 == words ? 0 : word + 1;
    uint32_t shift = base % BITS;
    uint64_t bits = r->bits[word] >> shift;
    if (shift) bits |= r->bits[next] << (BITS - shift);
    return room - ahead >= BITS - 1 ? bits : bits & ((UINT64_C(1) << (room - ahead + 1)) - 1);
}

const char *weft__reorder_check(const struct weft__reorder *r, const struct weft__reorder_conf *conf,
                                uint32_t expected) {
    uint32_t words = words_of(conf);
    uint32_t came = 0;
    for (uint32_t i = 0; i < words; i++)
        came += (uint32_t)__builtin_popcountll(r->bits[i]);
    if (came != r->ahead) return "packets ahead are not those marked";
    if (r->ahead > conf->packets) return "more packets ahead than the window holds";
    if (r->bits[expected / BITS % words] >> expected % BITS & 1) return "the expected packet has come";
    return NULL;
}
