// SPDX-License-Identifier: Apache-2.0
// What a cell switch reports about itself.
#include "box/tin/gnet_switch.h"

struct weft_gnet_port weft__gnet_port_counts(const struct weft__gnet *g, uint32_t port) {
    return (struct weft_gnet_port){
        .cells = g->port[port].tx_cells + g->out[port].tx_cells,
        .bytes = g->port[port].tx_bytes + g->out[port].tx_bytes,
        .output_bytes_max = g->depth[WEFT__GNET_MOST_BYTES][port],
        .fifo_bytes_max = (uint64_t)g->depth[WEFT__GNET_MOST_UNITS][port] * WEFT_GNET_CREDIT_UNIT,
        .credit_stalls = g->port[port].stalls,
        .credit_stall_ps = g->port[port].stall_ps,
    };
}

weft_bytes weft__gnet_output_bytes(const struct weft__gnet *g, uint32_t port) {
    weft_bytes bytes = 0;
    for (uint32_t vcs = g->out[port].queued; vcs; vcs &= vcs - 1)
        bytes += g->depth[__builtin_ctz(vcs)][port];
    return bytes;
}

uint32_t weft__gnet_credit_permille(const struct weft__gnet *g, uint32_t port) {
    int32_t granted = g->port[port].credits / WEFT_GNET_VCS, least = granted;
    for (uint32_t vc = 0; granted && vc < WEFT_GNET_VCS; vc++)
        if (g->out[port].credits[vc] < least) least = g->out[port].credits[vc];
    return granted ? (uint32_t)(1000 * (granted - least) / granted) : 0;
}

weft_bytes weft__gnet_fifo_bytes(const struct weft__gnet *g, uint32_t port) {
    weft_bytes bytes = 0;
    for (uint32_t q = g->in[port].queue; q; q = g->queues.queue[q].next)
        bytes += (weft_bytes)g->queues.queue[q].units * WEFT_GNET_CREDIT_UNIT;
    return bytes;
}

weft_bytes weft__gnet_vc_bytes(const struct weft__gnet *g, uint32_t port, uint32_t vc) {
    if (!(g->in[port].waiting >> vc & 1)) return 0;
    uint32_t q = weft__gnet_queue_find(&g->queues, g->in[port].queue, vc);
    return (weft_bytes)g->queues.queue[q].units * WEFT_GNET_CREDIT_UNIT;
}

void weft__gnet_note_loss(const struct weft__gnet *g, weft_time_ps now, uint32_t port, const struct weft_packet *cell,
                          enum weft_drop reason) {
    bool is_link = g->links >> port & 1;
    enum weft__cell_type type = weft__gnet_type(cell);
    if (!is_link && !g->links) return;
    struct weft__trace_loss loss = {
        .kind = WEFT_EVENT_CELLS_LOST,
        .port = is_link ? port : (uint32_t)__builtin_ctzll(g->links), // an endpoint's has no port of the node
        .qp = type == WEFT__GNET_RTS || type == WEFT__GNET_DATA ? cell->qp : WEFT_NONE,
        .reason = reason,
        .bytes = cell->bytes,
        .n = 1,
    };
    weft__trace_lost(g->trace, now, &loss, 0);
}

bool weft__gnet_starves(const struct weft__gnet *g, uint32_t port, uint32_t vc, struct weft__gnet_wait *ret_wait) {
    const struct weft__gnet_out *out = &g->out[port];
    if (!((out->queued & ~out->creditable) >> vc & 1)) return false;
    *ret_wait = (struct weft__gnet_wait){.bytes = g->depth[vc][port], .since_ps = g->port[port].starved_ps[vc]};
    return true;
}

bool weft__gnet_blocks(const struct weft__gnet *g, uint32_t port, uint32_t vc, uint32_t *ret_out, uint32_t *ret_vc) {
    const struct weft__gnet_in *in = &g->in[port];
    if (!(in->waiting >> vc & 1)) return false;
    const struct weft__gnet_queue *queue = &g->queues.queue[weft__gnet_queue_find(&g->queues, in->queue, vc)];
    *ret_out = queue->out % WEFT__GNET_PORTS;
    *ret_vc = queue->out_vc;
    return g->links >> *ret_out & 1 && !(g->out[*ret_out].room >> *ret_vc & 1);
}
