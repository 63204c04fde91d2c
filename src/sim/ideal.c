// SPDX-License-Identifier: Apache-2.0
// Completion time of a flow alone in the empty network; in a Clique as if its cells had links to themselves.
// Frames 1..n cross hops 1..m, each hop busy (bytes + 20) byte times with a frame, so frame k leaves hop h at C(k,h) =
// max(C(k-1,h), reach(k,h)) + occupancy: a tandem queue without variance. All frames but the first and the last are
// alike, so the maximum over paths through (k,h) is taken over three classes of frames instead of n.
#include <math.h>

#include "box/box.h"
#include "box/tin/tin_net.h"
#include "weft/memory.h"

struct hop {
    struct weft__port port; // timing only
    weft_time_ps reach_ps;  // from the last bit sent to the next device's action
    bool cut_through;       // the next device forwards after the header, and is not faster
};

enum { HOPS_MAX = 64 };

static weft_time_ps occupancy(const struct hop *h, uint64_t bytes) {
    return weft__port_time(&h->port, bytes);
}

/// When a frame that leaves hop h at `done` (gap included) can start on the next one.
static weft_time_ps next_start(const struct hop *h, weft_time_ps done, uint32_t bytes) {
    if (h->cut_through && bytes > WEFT__HEADER)
        return done - occupancy(h, bytes + WEFT_WIRE_OVERHEAD) + occupancy(h, WEFT__PREAMBLE + WEFT__HEADER) +
               h->reach_ps;
    return done - occupancy(h, WEFT__GAP) + h->reach_ps;
}

/// Cells leave this node for a host, rather than frames.
static bool crosses_fabric(const struct weft__ways *ways, uint32_t node, uint32_t dst) {
    uint32_t n;
    if (ways->t->node[node].box != WEFT_BOX_DSF_INTERFACE) return false;
    const uint16_t *port = weft_routes_at(ways->routes, ways->t->node[node].index, dst, &n);
    return n && weft_topology_link_is_fabric(ways->t, weft_topology_port(ways->t, node, port[0])->link);
}

/// One way for cells through the fabric of a DSF, `wire` bytes each and `turns` of them on a lane.
static weft_time_ps cross_fabric(const struct weft__ways *ways, uint32_t node, uint32_t dst, uint32_t wire,
                                 uint32_t turns, uint32_t *ret_far) {
    const struct weft_topology *t = ways->t;
    weft_time_ps time = 0;
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        uint32_t n;
        const uint16_t *port = weft_routes_at(ways->routes, t->node[node].index, dst, &n);
        if (!n) break;
        const struct weft_port_info *out = weft_topology_port(t, node, port[0]);
        const struct weft_link_info *link = &t->link[out->link];
        node = t->port[out->peer].node;
        struct weft__port lane;
        weft__port_init(&lane, 0, link, &(struct weft__port_peer){.node = 0}, NULL, NULL, NULL);
        struct weft__box_reaction r = weft__box_at(t, out->peer)->reaction(ways->device[node], t, out->peer);
        time += weft__port_time(&lane, (uint64_t)wire * (hops ? 1 : turns)) + link->delay_ps + r.processing_ps;
        if (t->node[node].box == WEFT_BOX_DSF_INTERFACE) break;
    }
    *ret_far = node;
    return time;
}

/// What a frame of so many bytes takes from one interface node of a DSF, `node`, to the one by which it leaves the
/// fabric towards `dst`: request, credit, and its cells side by side.
static weft_time_ps calc_fabric(const struct weft__ways *ways, uint32_t node, uint32_t src, uint32_t dst,
                                uint32_t bytes, uint32_t *ret_far) {
    uint32_t back, lanes;
    uint32_t payload = bytes + WEFT_CELL_PACKET, cells = (payload + WEFT_CELL_PAYLOAD - 1) / WEFT_CELL_PAYLOAD;
    weft_routes_at(ways->routes, ways->t->node[node].index, dst, &lanes);
    uint32_t wire = (cells > 1 ? WEFT_CELL_PAYLOAD : payload) + WEFT_CELL_HEADER;
    weft_time_ps request = cross_fabric(ways, node, dst, WEFT_CELL_CONTROL, 1, ret_far);
    return request + cross_fabric(ways, *ret_far, src, WEFT_CELL_CONTROL, 1, &back) +
           cross_fabric(ways, node, dst, wire, (cells + lanes - 1) / lanes, ret_far);
}

/// What FEC makes a cell of so many bytes longer on a link.
static weft_time_ps calc_fec(const struct weft_link_info *link, double overhead, uint32_t bytes) {
    double time = 8. * bytes * (double)WEFT_PS_PER_S / (double)link->rate_bps;
    return (weft_time_ps)(ceil(time * (1 + overhead) - 1e-6) - time);
}

/// What a frame of so many bytes takes from when it has come to a TiN, `node`, until it is whole at the one by which it
/// leaves the Clique towards `dst`: RTS, CTS, and its cells side by side from all endpoints, on links that do not hold
/// them up. A long frame is announced as soon as its header has come, `rest` before it is complete.
static weft_time_ps calc_clique(const struct weft__ways *ways, uint32_t node, uint32_t dst, uint32_t bytes,
                                weft_time_ps rest, uint32_t *ret_far) {
    const struct weft_topology *t = ways->t;
    const struct weft_tin_conf *conf = &ways->device[node]->tin;
    uint32_t payload = bytes - WEFT__TIN_L2_BYTES, cells = (payload + WEFT_GNET_PAYLOAD - 1) / WEFT_GNET_PAYLOAD;
    uint32_t wire = cells > 1 ? (uint32_t)WEFT_GNET_CELL_MAX : payload + WEFT_GNET_DATA_HEAD_BYTES;
    uint64_t turns = (cells + conf->ip_endpoints - 1) / conf->ip_endpoints;
    weft_time_ps byte = 8 * WEFT_PS_PER_S / conf->endpoint_rate_bps, way = conf->processing_ps + conf->fall_through_ps;
    weft_time_ps signals = 2 * WEFT_GNET_CELL_MIN * byte, data = turns * wire * byte;
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        uint32_t n;
        const uint16_t *port = weft_routes_at(ways->routes, t->node[node].index, dst, &n);
        const struct weft_port_info *out = n ? weft_topology_port(t, node, port[0]) : NULL;
        if (!out || !weft_topology_link_is_fabric(t, out->link)) break;
        const struct weft_link_info *link = &t->link[out->link];
        uint32_t far = t->port[out->peer].node;
        const struct weft_tin_conf *other = &ways->device[far]->tin;
        way += link->delay_ps + other->link_ps + other->fall_through_ps;
        if (t->node[node].cluster != t->node[far].cluster) {
            const struct weft_tin_conf *own = &ways->device[node]->tin;
            way += own->fec_ps;
            signals += 2 * calc_fec(link, own->fec_overhead, WEFT_GNET_CELL_MIN);
            data += calc_fec(link, own->fec_overhead, wire);
        }
        node = far;
    }
    *ret_far = node;
    signals += 2 * way;
    if (bytes > conf->rts_early_bytes) signals = signals > rest ? signals - rest : 0;
    return signals + way + data;
}

static uint32_t find_path(const struct weft__ways *ways, uint32_t src, uint32_t dst, uint32_t qp, uint16_t entropy,
                          uint32_t bytes, struct hop *hop) {
    const struct weft_topology *t = ways->t;
    struct weft_packet packet = {.dst = dst, .qp = qp, .entropy = entropy & 0x3fffu};
    uint32_t node = t->host[src], hops = 0;
    bool crossed = false; // a Clique, to where this node is
    while (node != t->host[dst]) {
        if (t->node[node].box == WEFT_BOX_TIN && !crossed) {
            struct hop *in = &hop[hops - 1];
            weft_time_ps rest = bytes > WEFT__HEADER ? occupancy(in, bytes - WEFT__HEADER) : 0;
            in->cut_through = false;
            in->reach_ps += calc_clique(ways, node, dst, bytes, rest, &node);
            crossed = true;
            continue;
        }
        crossed = false;
        if (crosses_fabric(ways, node, dst)) {
            hop[hops - 1].reach_ps += calc_fabric(ways, node, src, dst, bytes, &node);
            continue;
        }
        uint32_t k = weft__ways_port(ways, node, &packet);
        if (k == WEFT_NONE || hops == HOPS_MAX) return 0;
        const struct weft_port_info *port = weft_topology_port(t, node, k);
        const struct weft_link_info *link = &t->link[port->link];
        node = t->port[port->peer].node;
        packet.port = (uint16_t)(port->peer - t->node[node].port0);
        struct weft__box_reaction r = weft__box_at(t, port->peer)->reaction(ways->device[node], t, port->peer);
        struct weft__port_peer peer = {.processing_ps = r.processing_ps};
        struct hop *h = &hop[hops++];
        weft__port_init(&h->port, 0, link, &peer, NULL, NULL, NULL);
        uint32_t others = link->members > 1 ? link->members - 1u : 0;
        h->reach_ps = h->port.delay_data_ps + others * weft__port_time(&h->port, bytes + WEFT__PREAMBLE);
        h->cut_through = r.cut_through && !others;
    }
    // A faster next hop must have the whole frame first.
    for (uint32_t i = 0; i + 1 < hops; i++)
        if (weft__port_is_faster(&hop[i + 1].port, &hop[i].port)) hop[i].cut_through = false;
    return hops;
}

static weft_time_ps max_time(weft_time_ps a, weft_time_ps b) {
    return a > b ? a : b;
}

static weft_time_ps one_frame(const struct hop *hop, uint32_t hops, uint32_t bytes) {
    weft_time_ps start = 0;
    for (uint32_t i = 0; i < hops; i++)
        start = next_start(&hop[i], start + occupancy(&hop[i], bytes + WEFT_WIRE_OVERHEAD), bytes);
    return start;
}

weft_time_ps weft__calc_ideal_fct(const struct weft__ways *ways, const struct weft_flow *flow, uint32_t qp,
                                  uint16_t entropy) {
    struct hop hop[HOPS_MAX];
    const struct weft_host_conf *conf = &ways->device[ways->t->host[flow->src]]->host;
    weft_time_ps request = 0;
    if (flow->verb == WEFT_VERB_READ) {
        uint32_t hops = find_path(ways, flow->dst, flow->src, qp, entropy, WEFT_FRAME_READ, hop);
        if (!hops) return WEFT_TIME_NEVER;
        request = one_frame(hop, hops, WEFT_FRAME_READ);
    }
    // Frames of all queue pairs, served in turn: the first, the last, and the sum of those between.
    struct weft__qp_conf big = {.mtu = (uint16_t)conf->mtu_bytes, .verb = flow->verb};
    big.bytes = (flow->bytes + flow->qps - 1) / flow->qps;
    big.packets = (uint32_t)((big.bytes + big.mtu - 1) / big.mtu);
    uint64_t sum = 0, frames = 0;
    for (uint32_t q = 0; q < flow->qps; q++) {
        struct weft__qp_conf one = big;
        one.bytes = flow->bytes / flow->qps + (q < flow->bytes % flow->qps);
        if (!one.bytes) continue;
        one.packets = (uint32_t)((one.bytes + one.mtu - 1) / one.mtu);
        frames += one.packets;
        sum += weft__qp_frame_bytes(&one, 0);
        if (one.packets > 1) sum += weft__qp_frame_bytes(&one, one.packets - 1);
        if (one.packets > 2) sum += (uint64_t)(one.packets - 2) * weft__qp_frame_bytes(&one, 1);
    }
    // The last frame of all is that of the last queue pair with most packets.
    struct weft__qp_conf end = big;
    end.bytes = flow->bytes < flow->qps ? 1 : flow->bytes / flow->qps;
    end.packets = (uint32_t)((end.bytes + end.mtu - 1) / end.mtu);
    if (end.packets < big.packets) end = big;
    uint32_t first = weft__qp_frame_bytes(&big, 0), last = weft__qp_frame_bytes(&end, end.packets - 1);
    uint32_t middle = big.packets > 2 ? weft__qp_frame_bytes(&big, 1) : first;
    uint32_t hops = find_path(ways, flow->src, flow->dst, qp, entropy, first, hop);
    if (!hops) return WEFT_TIME_NEVER;
    if (frames == 1) return request + one_frame(hop, hops, first);

    uint64_t between = sum - first - last + (frames - 2) * WEFT_WIRE_OVERHEAD; // wire bytes
    weft_time_ps start_a = 0, start_b = 0, start_c = 0;
    for (uint32_t i = 0; i < hops; i++) {
        const struct hop *h = &hop[i];
        weft_time_ps a = start_a + occupancy(h, first + WEFT_WIRE_OVERHEAD);
        weft_time_ps b = a + occupancy(h, between);
        if (frames > 2) b = max_time(b, start_b + occupancy(h, middle + WEFT_WIRE_OVERHEAD));
        weft_time_ps c = max_time(b, start_c) + occupancy(h, last + WEFT_WIRE_OVERHEAD);
        start_a = next_start(h, a, first);
        start_b = next_start(h, b, middle);
        start_c = next_start(h, c, last);
    }
    return request + start_c;
}

weft_time_ps weft_calc_ideal_fct(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                 const struct weft_flow *flow) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_routes *routes = weft_routes_new(topology, NULL);
    struct weft__ways ways =
        weft__ways_new(topology, weft_device_confs(scenario, topology, arena), routes, scenario->run.seed, arena);
    const struct weft_qp_numbers first = {weft_address_qp(0), weft_address_qp(0)};
    ways.qp_numbers = &first;
    uint16_t entropy =
        weft__qp_entropy(&ways.device[topology->host[flow->src]]->host, scenario->run.seed, flow->src, 0);
    weft_time_ps time = weft__calc_ideal_fct(&ways, flow, 0, entropy);
    weft_routes_free(routes);
    weft_arena_free(arena);
    return time;
}
