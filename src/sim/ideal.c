// SPDX-License-Identifier: Apache-2.0
// Completion time of a flow alone in the empty network. Boxes supply the time that a frame takes through a fabric of
// cells. Frames 1..n cross hops 1..m, and a frame occupies each hop for (bytes + 20) byte times, so frame k leaves hop
// h at C(k,h) = max(C(k-1,h), reach(k,h)) + occupancy: a tandem queue without variance. All frames but the first and
// the last are alike, so the maximum over paths through (k,h) is taken over three classes of frames instead of n.
#include "box/box.h"
#include "sim/paths.h"
#include "weft/memory.h"

struct hop {
    struct weft__speed speed;
    weft_time_ps reach_ps; // from the last bit sent to the next device's action
    bool cut_through;      // the next device forwards after the header, and its port is not faster
    const struct weft_wire_conf *wire;
};

enum { HOPS_MAX = 64 };

static weft_time_ps occupancy(const struct hop *h, uint64_t bytes) {
    return weft__speed_time(h->speed, bytes);
}

/// The time of a frame, with preamble and gap.
static weft_time_ps frame_time(const struct hop *h, uint32_t bytes) {
    return weft_wire_round(h->wire, occupancy(h, bytes + h->wire->overhead_bytes));
}

/// The time of several frames with these bytes in total. Times are in whole ns and the rounding of each frame is
/// unknown, so the maximum is assumed.
static weft_time_ps frames_time(const struct hop *h, uint64_t bytes, uint64_t frames) {
    weft_time_ps time = occupancy(h, bytes + frames * h->wire->overhead_bytes);
    if (h->wire->serialisation == WEFT_SERIALISATION_EXACT) return time;
    return time > frames * 1000 ? time - frames * 1000 : 0;
}

/// When a frame that leaves hop h at `done` (gap included) can start on the next hop.
static weft_time_ps next_start(const struct hop *h, weft_time_ps done, uint32_t bytes) {
    if (h->cut_through && bytes > WEFT__HEADER)
        return done - occupancy(h, bytes + WEFT_WIRE_OVERHEAD) + occupancy(h, WEFT__PREAMBLE + WEFT__HEADER) +
               h->reach_ps;
    uint64_t gap = h->wire->overhead_bytes > WEFT__PREAMBLE ? h->wire->overhead_bytes - WEFT__PREAMBLE : 0;
    return done - weft_wire_round(h->wire, occupancy(h, gap)) + h->reach_ps;
}

static uint32_t find_path(const struct weft__ways *ways, uint32_t src, uint32_t dst, uint32_t qp, uint16_t entropy,
                          uint32_t bytes, struct hop *hop) {
    const struct weft_topology *t = ways->t;
    struct weft_packet packet = {.dst = dst, .qp = qp, .entropy = entropy & 0x3fffu};
    uint32_t node = t->host[src], hops = 0;
    bool crossed = false; // crossed a fabric to get to this node
    while (node != t->host[dst]) {
        const struct weft__box *box = weft__box_of(&t->node[node]);
        struct hop *in = hops ? &hop[hops - 1] : NULL;
        struct weft__lone_frame frame = {.node = node, .dst = dst, .bytes = bytes, .crossed = crossed};
        frame.rest_ps = in && bytes > WEFT__HEADER ? occupancy(in, bytes - WEFT__HEADER) : 0;
        struct weft__crossing crossing;
        crossed = box->cross && box->cross(ways, &frame, &crossing);
        if (crossed) {
            in->cut_through &= !crossing.whole;
            in->reach_ps += crossing.time_ps;
            node = crossing.node;
            continue;
        }
        uint32_t k = weft__ways_port(ways, node, &packet);
        if (k == WEFT_NONE || hops == HOPS_MAX) return 0;
        const struct weft_port_info *port = weft_topology_port(t, node, k);
        const struct weft_link_info *link = &t->link[port->link];
        const struct weft_device_conf *sender = ways->device[node];
        bool host = t->node[node].role == WEFT_NODE_HOST;
        node = t->port[port->peer].node;
        packet.port = (uint16_t)(port->peer - t->node[node].port0);
        struct weft__box_reaction r = weft__box_at(t, port->peer)->reaction(ways->device[node], t, port->peer);
        struct hop *h = &hop[hops++];
        h->speed = weft__speed_of(link->rate_bps);
        h->wire = host ? &sender->host.wire : &sender->sw.wire;
        uint32_t others = link->members > 1 ? link->members - 1u : 0;
        h->reach_ps = link->delay_ps + r.processing_ps + others * occupancy(h, bytes + WEFT__PREAMBLE);
        h->cut_through = r.cut_through && !others;
    }
    // A faster next hop needs the complete frame first.
    for (uint32_t i = 0; i + 1 < hops; i++)
        if (weft__speed_is_faster(hop[i + 1].speed, hop[i].speed)) hop[i].cut_through = false;
    return hops;
}

static weft_time_ps max_time(weft_time_ps a, weft_time_ps b) {
    return a > b ? a : b;
}

static weft_time_ps one_frame(const struct hop *hop, uint32_t hops, uint32_t bytes) {
    weft_time_ps start = 0;
    for (uint32_t i = 0; i < hops; i++)
        start = next_start(&hop[i], start + frame_time(&hop[i], bytes), bytes);
    return start;
}

/// The share of the first of `planes`; queue pairs, or packets, take planes in turn, so no other has more. All of it,
/// if its queue pairs have one plane.
static struct weft_flow part_of(const struct weft_flow *flow, uint32_t planes, bool by_packet) {
    struct weft_flow part = *flow;
    if (planes == 1 || (flow->plane && !by_packet)) return part;
    if (by_packet) {
        part.bytes = (flow->bytes + planes - 1) / planes;
        part.qps = 1;
        return part;
    }
    part.bytes = 0;
    part.qps = 0;
    for (uint32_t q = 0; q < flow->qps && q < flow->bytes; q += planes) {
        part.bytes += flow->bytes / flow->qps + (q < flow->bytes % flow->qps);
        part.qps++;
    }
    return part;
}

weft_time_ps weft__calc_ideal_fct(const struct weft__ways *ways, const struct weft_flow *whole, uint32_t planes,
                                  uint32_t qp, uint16_t entropy) {
    const struct weft_host_conf *conf = &ways->device[ways->t->host[whole->src]]->host;
    const struct weft_flow part = part_of(whole, planes, conf->planes == WEFT_PLANES_PACKET), *flow = &part;
    struct hop hop[HOPS_MAX];
    weft_time_ps request = 0;
    uint32_t framing = weft_host_framing_bytes(conf), header = (uint32_t)conf->data_header_bytes;
    if (flow->verb == WEFT_VERB_READ) {
        uint32_t hops = find_path(ways, flow->dst, flow->src, qp, entropy, WEFT_FRAME_READ + framing, hop);
        if (!hops) return WEFT_TIME_NEVER;
        request = one_frame(hop, hops, WEFT_FRAME_READ + framing);
    }
    // Frames of all queue pairs, served in turn: the first, the last, and the sum of those between.
    struct weft_qp_conf big = {.mtu = (uint16_t)conf->mtu_bytes, .verb = flow->verb};
    big.bytes = (flow->bytes + flow->qps - 1) / flow->qps;
    big.packets = (uint32_t)((big.bytes + big.mtu - 1) / big.mtu);
    uint64_t sum = 0, frames = 0;
    for (uint32_t q = 0; q < flow->qps; q++) {
        struct weft_qp_conf one = big;
        one.bytes = flow->bytes / flow->qps + (q < flow->bytes % flow->qps);
        if (!one.bytes) continue;
        one.packets = (uint32_t)((one.bytes + one.mtu - 1) / one.mtu);
        frames += one.packets;
        sum += (uint64_t)one.packets * framing + weft__qp_frame_bytes(&one, 0, header);
        if (one.packets > 1) sum += weft__qp_frame_bytes(&one, one.packets - 1, header);
        if (one.packets > 2) sum += (uint64_t)(one.packets - 2) * weft__qp_frame_bytes(&one, 1, header);
    }
    // The last frame of all is that of the last queue pair with most packets.
    struct weft_qp_conf end = big;
    end.bytes = flow->bytes < flow->qps ? 1 : flow->bytes / flow->qps;
    end.packets = (uint32_t)((end.bytes + end.mtu - 1) / end.mtu);
    if (end.packets < big.packets) end = big;
    uint32_t first = weft__qp_frame_bytes(&big, 0, header) + framing;
    uint32_t last = weft__qp_frame_bytes(&end, end.packets - 1, header) + framing;
    uint32_t middle = big.packets > 2 ? weft__qp_frame_bytes(&big, 1, header) + framing : first;
    uint32_t hops = find_path(ways, flow->src, flow->dst, qp, entropy, first, hop);
    if (!hops) return WEFT_TIME_NEVER;
    if (frames == 1) return request + one_frame(hop, hops, first);

    uint64_t between = sum - first - last;
    weft_time_ps start_a = 0, start_b = 0, start_c = 0;
    for (uint32_t i = 0; i < hops; i++) {
        const struct hop *h = &hop[i];
        bool alike = flow->qps == 1; // those between
        weft_time_ps a = start_a + frame_time(h, first);
        weft_time_ps b =
            a + (alike && h->wire->serialisation == WEFT_SERIALISATION_WHOLE_NS ? (frames - 2) * frame_time(h, middle)
                                                                                : frames_time(h, between, frames - 2));
        if (frames > 2) b = max_time(b, start_b + frame_time(h, middle));
        weft_time_ps c = max_time(b, start_c) + frame_time(h, last);
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
    const struct weft_qp_numbers first = {.at_src = weft_address_qp(0),
                                          .at_dst = weft_address_qp(0),
                                          .src = flow->src,
                                          .dst = flow->dst,
                                          .destination_port = flow->destination_port};
    ways.qp_numbers = &first;
    uint16_t entropy =
        weft__flow_entropy(&ways.device[topology->host[flow->src]]->host, scenario->run.seed, flow, 0, 0);
    weft_time_ps time = weft__calc_ideal_fct(&ways, flow, weft__planes(topology, ways.device), 0, entropy);
    weft_routes_free(routes);
    weft_arena_free(arena);
    return time;
}
