// SPDX-License-Identifier: Apache-2.0
// Completion time of a flow alone in the empty network. Over several paths it is followed frame by frame (lone.c); over
// one path there is a closed form, and boxes supply the time that a frame takes through a fabric of cells. Frames 1..n
// cross hops 1..m, and a frame occupies each hop for (bytes + 20) byte times, so frame k leaves hop h at
// C(k,h) = max(C(k-1,h), reach(k,h)) + occupancy: a tandem queue without variance. All frames but the first and the
// last are alike, so the maximum over paths through (k,h) is taken over three classes of frames instead of n. Where
// neither holds (a connection of a job, whose messages come one after another; several paths through a fabric of cells)
// the form is a bound: no hop is slower than the NIC.
#include "base/order.h"
#include "sim/lone.h"
#include "sim/paths.h"
#include "weft/memory.h"

enum { HOPS_MAX = 64 };

/// A path of frames with these bytes.
struct path {
    struct weft__lone_hop hop[HOPS_MAX];
    uint32_t hops;
    bool fixed; ///< no switch has a choice
    bool alone; ///< there is no other, and times are whole picoseconds or go by a clock that is off
    bool off;   ///< such a clock is among them
    bool cells; ///< it crosses a fabric of cells
};

static weft_time_ps hop_time(const struct weft__lone_hop *h, uint64_t bytes) {
    return weft__speed_time(h->speed, bytes);
}

/// The time of a frame, with preamble and gap.
static weft_time_ps frame_time(const struct weft__lone_hop *h, uint32_t bytes) {
    return weft_wire_round(h->wire, hop_time(h, bytes + h->wire->overhead_bytes));
}

/// The time of several frames with these bytes in total. Times are in whole ns and the rounding of each frame is
/// unknown, so the maximum is assumed.
static weft_time_ps frames_time(const struct weft__lone_hop *h, uint64_t bytes, uint64_t frames) {
    weft_time_ps time = hop_time(h, bytes + frames * h->wire->overhead_bytes);
    if (h->wire->serialisation == WEFT_SERIALISATION_EXACT) return time;
    return time > frames * 1000 ? time - frames * 1000 : 0;
}

/// When a frame that leaves hop h at `done` (gap included) can start on the next hop.
static weft_time_ps next_start(const struct weft__lone_hop *h, weft_time_ps reach, weft_time_ps done, uint32_t bytes) {
    if (h->cut_through && bytes > WEFT__HEADER)
        return done - hop_time(h, bytes + WEFT_WIRE_OVERHEAD) + hop_time(h, WEFT__PREAMBLE + WEFT__HEADER) + reach;
    uint64_t gap = h->wire->overhead_bytes > WEFT__PREAMBLE ? h->wire->overhead_bytes - WEFT__PREAMBLE : 0;
    return done - weft_wire_round(h->wire, hop_time(h, gap)) + reach;
}

/// Whether this switch may send packets of one queue pair to the host by several ports.
static bool has_choice(const struct weft__forwarding *forwarding, uint32_t node, uint32_t dst) {
    if (forwarding->t->node[node].role == WEFT_NODE_HOST) return false;
    uint32_t n;
    weft_routes_at(forwarding->routes, forwarding->t->node[node].index, dst, &n);
    return n > 1 && ((const struct weft_route_ops *)forwarding->device[node]->sw.route.model->ops)->choose;
}

static void find_path(const struct weft__forwarding *forwarding, uint32_t src, uint32_t dst, uint32_t qp,
                      uint16_t entropy, uint32_t bytes, struct path *ret) {
    const struct weft_topology *t = forwarding->t;
    struct weft_packet packet = {.dst = dst, .qp = qp, .entropy = entropy & 0x3fffu};
    uint32_t node = t->host[src];
    bool crossed = false; // crossed a fabric to get to this node
    ret->hops = 0;
    ret->alone = ret->fixed = true;
    ret->off = ret->cells = false;
    while (node != t->host[dst]) {
        const struct weft__box *box = weft__box_of(&t->node[node]);
        struct weft__lone_hop *in = ret->hops ? &ret->hop[ret->hops - 1] : NULL;
        struct weft__lone_frame frame = {.node = node, .dst = dst, .bytes = bytes, .crossed = crossed};
        frame.rest_ps = in && bytes > WEFT__HEADER ? hop_time(in, bytes - WEFT__HEADER) : 0;
        struct weft__crossing crossing;
        crossed = box->cross && box->cross(forwarding, &frame, &crossing);
        if (crossed) {
            in->cut_through &= !crossing.whole;
            in->reach_ps += crossing.time_ps;
            node = crossing.node;
            ret->cells = true;
            continue;
        }
        ret->fixed &= !has_choice(forwarding, node, dst);
        uint32_t k = weft__forwarding_port(forwarding, node, &packet);
        if (k == WEFT_NONE || ret->hops == HOPS_MAX) {
            ret->hops = 0;
            return;
        }
        uint32_t port = t->node[node].port0 + k;
        struct weft__lone_hop *h = &ret->hop[ret->hops++];
        *h = weft__lone_hop_of(forwarding, port);
        if (h->members > 1) h->reach_ps += (h->members - 1u) * hop_time(h, bytes + WEFT__PREAMBLE);
        ret->off |= weft__speed_is_off(h->speed);
        ret->alone &=
            h->members < 2 && (h->speed.byte_den == 1 || weft__speed_is_off(h->speed)) && !(h->turn.ps | h->turn.part);
        node = t->port[t->port[port].peer].node;
        packet.port = (uint16_t)(t->port[port].peer - t->node[node].port0);
    }
    ret->alone &= ret->fixed;
    // A faster next hop needs the complete frame first, and a slower one each frame that finds it sending.
    for (uint32_t i = 0; i + 1 < ret->hops; i++) {
        ret->alone &= !ret->hop[i].cut_through || !weft__speed_is_faster(ret->hop[i].speed, ret->hop[i + 1].speed);
        if (weft__speed_is_faster(ret->hop[i + 1].speed, ret->hop[i].speed)) ret->hop[i].cut_through = false;
    }
}

/// No hop is slower than the first.
static void make_bound(struct path *path) {
    for (uint32_t i = 1; i < path->hops; i++) {
        struct weft__lone_hop *h = &path->hop[i];
        if (weft__speed_is_faster(path->hop[0].speed, h->speed)) h->speed = path->hop[0].speed;
    }
}

static weft_time_ps one_frame(const struct path *path, uint32_t bytes) {
    weft_time_ps start = 0;
    for (uint32_t i = 0; i < path->hops; i++) {
        const struct weft__lone_hop *h = &path->hop[i];
        start = next_start(h, h->reach_ps, start + frame_time(h, bytes), bytes);
    }
    return start;
}

weft_time_ps weft__calc_frame_time(const struct weft__forwarding *forwarding, const struct weft__lone_packet *packet,
                                   uint32_t bytes, weft_time_ps *ret_sent) {
    struct path path;
    find_path(forwarding, packet->src, packet->dst, packet->qp, packet->entropy, bytes, &path);
    *ret_sent = path.hops ? frame_time(&path.hop[0], bytes) : 0;
    return path.hops ? one_frame(&path, bytes) : WEFT_TIME_NEVER;
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

/// Frames of all queue pairs of a flow, served in turn: the first, the last, and the sum of those between.
struct train {
    uint64_t frames, bytes;
    uint32_t first, middle, last;
    bool alike; ///< frames between have one length
};

static struct train make_train(const struct weft_flow *flow, const struct weft_host_conf *conf) {
    uint32_t framing = weft_host_framing_bytes(conf), header = (uint32_t)conf->data_header_bytes;
    struct train t = {.alike = flow->qps == 1};
    struct weft_qp_conf big = {.mtu = (uint16_t)conf->mtu_bytes, .verb = flow->verb};
    big.bytes = (flow->bytes + flow->qps - 1) / flow->qps;
    big.packets = (uint32_t)((big.bytes + big.mtu - 1) / big.mtu);
    if (flow->depth) {
        big.bytes = flow->bytes;
        weft__qp_count_packets(&big, flow);
        uint64_t messages = flow->bytes / flow->message_bytes, last = big.message_packets - 1;
        t.first = weft__qp_frame_bytes(&big, 0, header) + framing;
        t.last = weft__qp_frame_bytes(&big, (uint32_t)last, header) + framing;
        t.middle = t.last < t.first ? t.last : t.first; // a bound
        t.frames = big.packets;
        t.bytes = messages * (last ? t.first + t.last : t.first);
        if (last > 1) t.bytes += messages * (last - 1) * (weft__qp_frame_bytes(&big, 1, header) + framing);
        return t;
    }
    for (uint32_t q = 0; q < flow->qps; q++) {
        struct weft_qp_conf one = big;
        one.bytes = flow->bytes / flow->qps + (q < flow->bytes % flow->qps);
        if (!one.bytes) continue;
        one.packets = (uint32_t)((one.bytes + one.mtu - 1) / one.mtu);
        t.frames += one.packets;
        t.bytes += (uint64_t)one.packets * framing + weft__qp_frame_bytes(&one, 0, header);
        if (one.packets > 1) t.bytes += weft__qp_frame_bytes(&one, one.packets - 1, header);
        if (one.packets > 2) t.bytes += (uint64_t)(one.packets - 2) * weft__qp_frame_bytes(&one, 1, header);
    }
    // The last frame of all is that of the last queue pair with most packets.
    struct weft_qp_conf end = big;
    end.bytes = flow->bytes < flow->qps ? 1 : flow->bytes / flow->qps;
    end.packets = (uint32_t)((end.bytes + end.mtu - 1) / end.mtu);
    if (end.packets < big.packets) end = big;
    t.first = weft__qp_frame_bytes(&big, 0, header) + framing;
    t.last = weft__qp_frame_bytes(&end, end.packets - 1, header) + framing;
    t.middle = big.packets > 2 ? weft__qp_frame_bytes(&big, 1, header) + framing : t.first;
    return t;
}

/// `path`: of the first frame; `last`: of the last one.
static weft_time_ps cross_path(const struct path *path, const struct path *last, const struct train *t) {
    if (t->frames == 1) return one_frame(path, t->first);
    uint64_t between = t->bytes - t->first - t->last;
    weft_time_ps start_a = 0, start_b = 0, start_c = 0;
    for (uint32_t i = 0; i < path->hops; i++) {
        const struct weft__lone_hop *h = &path->hop[i];
        weft_time_ps a = start_a + frame_time(h, t->first);
        weft_time_ps b = a + (t->alike && h->wire->serialisation == WEFT_SERIALISATION_WHOLE_NS
                                  ? (t->frames - 2) * frame_time(h, t->middle)
                                  : frames_time(h, between, t->frames - 2));
        if (t->frames > 2) b = weft__greater(b, start_b + frame_time(h, t->middle));
        weft_time_ps c = weft__greater(b, start_c) + frame_time(h, t->last);
        start_a = next_start(h, h->reach_ps, a, t->first);
        start_b = next_start(h, h->reach_ps, b, t->middle);
        start_c = next_start(h, last->hop[i].reach_ps, c, t->last);
    }
    return start_c;
}

/// Each of three terms is rounded on each hop.
static weft_time_ps without_rounding(const struct path *path, weft_time_ps time) {
    weft_time_ps rounding = 3 * path->hops;
    return time > rounding ? time - rounding : time;
}

/// `path`: of the first frame. Where a switch has no choice, the path is searched for once, and once more for a last
/// frame of another length. `bound`: whatever the paths.
static weft_time_ps closed_form(const struct weft__forwarding *forwarding, const struct weft__lone_flow *f,
                                const struct train *train, struct path *path, bool bound) {
    const struct weft_host_conf *conf = &forwarding->device[forwarding->t->host[f->flow->src]]->host;
    const struct weft_flow *flow = f->flow;
    uint16_t entropy = f->qp->entropy;
    struct path last;
    bool fixed = path->fixed;
    weft_bytes message = flow->depth ? flow->message_bytes : flow->bytes / flow->qps;
    weft_time_ps request = conf->pcie_round_trip_ps + weft__fetch_time(conf, message);
    if (flow->verb != WEFT_VERB_READ) request = weft__poster_take(&(struct weft__poster){0}, conf, 0, message);
    if (flow->verb == WEFT_VERB_READ) {
        uint32_t bytes = WEFT_FRAME_READ + weft_host_framing_bytes(conf);
        find_path(forwarding, flow->dst, flow->src, f->number, entropy, bytes, &last);
        if (bound) make_bound(&last);
        if (!last.hops) return WEFT_TIME_NEVER;
        request += one_frame(&last, bytes);
    }
    if (!fixed) find_path(forwarding, flow->src, flow->dst, f->number, entropy, train->first, path);
    const struct path *end = fixed && train->last == train->first ? path : &last;
    if (end == &last) find_path(forwarding, flow->src, flow->dst, f->number, entropy, train->last, &last);
    if (!path->hops || end->hops != path->hops) return WEFT_TIME_NEVER;
    if (bound) make_bound(path);
    if (bound && end == &last) make_bound(&last);
    weft_time_ps time = request + cross_path(path, end, train);
    time += weft__host_latency(forwarding, f->flow);
    return bound || path->off ? without_rounding(path, time) : time;
}

weft_time_ps weft__calc_ideal_fct(const struct weft__forwarding *forwarding, struct weft__lone **lone,
                                  const struct weft__lone_flow *f) {
    const struct weft_host_conf *host = &forwarding->device[forwarding->t->host[f->flow->src]]->host;
    const struct weft_flow part = part_of(f->flow, f->planes, host->planes == WEFT_PLANES_PACKET);
    struct train train = make_train(&part, host);
    struct path path;
    find_path(forwarding, f->flow->src, f->flow->dst, f->number, f->qp->entropy, train.first, &path);
    const struct weft_topology *t = forwarding->t;
    const struct weft_port_info *port = weft_topology_port(t, t->host[f->flow->src], 0);
    bool gaps = weft__full_frames_have_gaps(host, t->link[port->link].rate_bps);
    bool alone = path.alone && f->qps == 1 && f->planes == 1 && !host->drain_rate_bps && !gaps &&
                 !((const struct weft_transport_ops *)host->transport.model->ops)->path;
    if (!path.hops) return WEFT_TIME_NEVER;
    if (alone || path.cells || f->flow->messages || f->flow->depth)
        return closed_form(forwarding, f, &train, &path, !alone);
    if (!*lone) *lone = weft__lone_new(forwarding);
    weft_time_ps time = weft__lone_fct(*lone, f);
    if (!time) return closed_form(forwarding, f, &train, &path, true);
    return path.off && time != WEFT_TIME_NEVER ? without_rounding(&path, time) : time;
}
