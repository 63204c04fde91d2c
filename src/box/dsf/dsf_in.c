// SPDX-License-Identifier: Apache-2.0
// The DSF interface node: a Jericho chip in an RDSW or EDSW. Life of a packet: it arrives at an Ethernet port
// (on_frame) as at a switch; the AQM marks or drops it when it joins its virtual output queue (VOQ) or when it leaves
// the VOQ, the buffer admits it at its port and priority and decides whether its neighbour must pause, and it waits in
// the VOQ of the port, anywhere in the fabric, by which it will leave (dsf_in_voq.c). The VOQ asks that port for
// credits; the port grants them at its own rate, VOQ by VOQ (dsf_in_credit.c). Against its credits the packet is cut
// into cells, which are spread over all lanes that lead to its interface node. There cells become packets again, in
// order (dsf_in_reassembly.c), and wait shortly for their port (weft__ether_send).
//
// Sources: Meta, "Disaggregated Scheduled Fabric: Scaling Meta's AI Journey" (engineering blog, 2025); FBOSS
// (Jericho3Asic, SaiPlatform); Broadcom's SDK for Jericho 2 (OpenBCM 6.5.24: presets of VOQs, cells, control cells).
// Differences: traffic classes are the eight priorities; packets between ports of one interface node ask for credits
// like all others, and pass from input to output in zero time; the cells of a packet enter their lanes at the same
// time.
#include "box/dsf/dsf_in.h"

#include "weft/memory.h"

// --- Ethernet ports -----------------------------------------------------------------------------------------------

/// A frame arrived; p->port: its number among the Ethernet ports.
static void on_frame(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p) {
    assert(!p->side); // cells cannot carry the record
    uint32_t in_port = p->port;
    struct weft__outside_exit at = {in->in_of_host[p->dst], in->port_of_host[p->dst]};
    bool mark, xoff, leaves = weft__in_is_outside(in, p->dst);
    if (leaves && !weft__outside_exit(in->outside, w->now_ps, p, in->self, &at)) at.in = WEFT_NONE;
    uint32_t to = at.in;
    if (to == WEFT_NONE || !weft__in_has_way(in, w->now_ps, to)) {
        weft__ether_drop(&in->ether, w, p, in_port, WEFT_DROP_NO_ROUTE);
        return;
    }
    if (__builtin_expect(in->known != NULL, 0) && !weft__known_at(in->known, w->now_ps, to)) {
        weft__ether_drop(&in->ether, w, p, in_port, WEFT_DROP_NEIGHBOUR);
        return;
    }
    uint32_t voq = weft__in_voq(in, to, at.port, p->priority);
    if (__builtin_expect(in->voq_bytes > in->hbm.watch_bytes, 0) && !weft__in_hbm_room(in, w->now_ps, p->bytes)) {
        weft__ether_drop_full(&in->ether, w, p);
        return;
    }
    if (!weft__ether_judge(&in->ether, w, p, in_port, (struct weft__ether_aqm_queue){voq, in->voq[voq].bytes}, &mark))
        return;
    if (!weft__ether_enter(&in->ether, w, p, &xoff)) return;
    if (mark) {
        p->ecn = WEFT_ECN_CE;
        in->voq_marked[voq]++;
    }
    weft__in_enqueue(node, in, w, p, voq);
    if (xoff) weft__ether_hold(&in->ether, node, w, in_port, p->priority); // unless it was sent immediately
}

/// A packet has left a port: credits may have been waiting for that.
static void on_left(struct weft__node *node, struct weft__worker *w, uint32_t k, uint32_t priority, uint32_t bytes) {
    struct weft__in *in = node->state;
    weft_bytes now = weft__port_queue_of(&in->ether.port[k], priority)->bytes, stop = in->conf->egress_stop_bytes;
    if (now <= stop && now + bytes > stop) weft__in_arm_credits(node, in, w->now_ps, k);
}

static void on_pauses(struct weft__node *node, struct weft__worker *w, uint32_t k) {
    weft__in_arm_credits(node, node->state, w->now_ps, k);
}

const struct weft__ether_ops weft__in_ether_ops = {.on_left = on_left, .on_pauses = on_pauses};

// --- events -------------------------------------------------------------------------------------------------------

static inline bool is_ethernet(const struct weft__in *in, const struct weft_packet *p) {
    return in->slot[p->port] & WEFT__IN_ETHERNET;
}

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__in *in = node->state;
    if (!word) {
        if (__builtin_expect(!weft__cell_is_control(p), 1)) {
            weft__in_on_cell(node, in, w, p);
        } else {
            w->tally.delivered_bytes += p->bytes;
            if (p->kind == WEFT_PACKET_CREDIT)
                weft__in_on_credit(node, in, w, p->psn, p->qp);
            else if (__builtin_expect(p->kind == WEFT_PACKET_LLFC, 0))
                weft__lane_queue_on_signal(in->queues, node, w, in->slot[p->port], p);
            else
                weft__in_on_request(node, in, w, weft__cell_from(p), p);
        }
        return;
    }
    p->port = in->slot[p->port] & (uint16_t)~WEFT__IN_ETHERNET;
    if (weft_packet_is_local(p)) {
        weft__ether_on_local(&in->ether, node, w, p);
    } else {
        weft_packet_enter(p, weft_switch_priority(in->ether.conf, p));
        on_frame(node, in, w, p);
    }
}

static void on_sample(struct weft__node *node, struct weft__in *in, struct weft__worker *w) {
    for (uint32_t k = 0; k < in->node_ports; k++) {
        if (!in->sampled[k]) continue;
        if (in->slot[k] & WEFT__IN_ETHERNET)
            weft__ether_sample(&in->ether, w, in->slot[k] & ~(uint32_t)WEFT__IN_ETHERNET);
        else
            weft__lane_sample(&in->lanes, in->queues, in->slot[k], w, in->port0 + k);
    }
    weft__timer_set(&node->timers, weft__in_box_key(in, WEFT__IN_KEY_SAMPLE),
                    weft__sampling_next(&in->sampling, w->now_ps));
    weft__node_looked(w);
}

static void on_box_timer(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t what) {
    switch (what) {
    case WEFT__IN_KEY_REASSEMBLY:
        weft__in_give_up(node, in, w);
        break;
    case WEFT__IN_KEY_VOQS:
        weft__in_look_at_voqs(node, in, w);
        break;
    case WEFT__IN_KEY_ROOM:
        weft__in_on_lanes(node, in, w);
        break;
    case WEFT__IN_KEY_CHIP:
        weft__in_hbm_look(node, in, w);
        break;
    case WEFT__IN_KEY_SAMPLE:
        on_sample(node, in, w);
        break;
    default:
        weft__lane_queue_serve(in->queues, node, w, what - WEFT__IN_KEY_LANES);
    }
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__in *in = node->state;
    uint32_t k = key / WEFT__ETHER_KEYS_A_PORT, what = key % WEFT__ETHER_KEYS_A_PORT;
    if (k >= in->ether.ports)
        on_box_timer(node, in, w, key - weft__in_box_key(in, 0));
    else if (what == WEFT__IN_KEY_CREDIT)
        weft__in_grant(node, in, w, k);
    else
        weft__ether_on_timer(&in->ether, node, w, what, k);
}

/// The key of the VOQ that a frame will join, unless it leaves the fabric.
static inline uint64_t frame_key(const struct weft__in *in, const struct weft_packet *p) {
    return weft__in_voq_key(in->in_of_host[p->dst], in->port_of_host[p->dst], in->ether.conf->dscp_map[p->dscp] & 7u);
}

static inline uint64_t request_key(const struct weft_packet *p) {
    return weft__in_voq_key(weft__cell_from(p), p->qp / WEFT_PRIORITIES, p->qp % WEFT_PRIORITIES);
}

static inline void fetch_voq(const struct weft__in *in, uint32_t number) {
    __builtin_prefetch(&in->voq[number], 1);
    __builtin_prefetch((const char *)&in->voq[number + 1] - 1, 1);
}

// Prefetches what a port's next credit will touch, step by step: the port, the last flow of its ring, the next flow.
// With flows of several priorities, that of the lowest is fetched.

static inline bool is_credit_key(const struct weft__in *in, uint32_t key) {
    return key / WEFT__ETHER_KEYS_A_PORT < in->ether.ports && key % WEFT__ETHER_KEYS_A_PORT == WEFT__IN_KEY_CREDIT;
}

static inline uint32_t last_in_ring(const struct weft__in *in, uint32_t key) {
    const struct weft__in_port *port = &in->port[key / WEFT__ETHER_KEYS_A_PORT];
    return port->ring_mask ? port->ring[__builtin_ctz(port->ring_mask)] : WEFT_NONE;
}

static inline void fetch_timer(const void *state, uint32_t key) {
    const struct weft__in *in = state;
    if (is_credit_key(in, key)) __builtin_prefetch(&in->port[key / WEFT__ETHER_KEYS_A_PORT], 1);
}

static inline void prepare_timer(const void *state, uint32_t key) {
    const struct weft__in *in = state;
    uint32_t last = is_credit_key(in, key) ? last_in_ring(in, key) : WEFT_NONE;
    if (last != WEFT_NONE) __builtin_prefetch(&in->flow[last]);
}

static inline void follow_timer(const void *state, uint32_t key) {
    const struct weft__in *in = state;
    uint32_t last = is_credit_key(in, key) ? last_in_ring(in, key) : WEFT_NONE;
    if (last != WEFT_NONE) __builtin_prefetch(&in->flow[in->flow[last].next], 1);
}

static void in_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__in *in = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        if (is_ethernet(in, p)) {
            if (!weft_packet_is_local(p) && in->voqs.slot)
                __builtin_prefetch(weft__number_slot(&in->voqs, frame_key(in, p)));
        } else if (!weft__cell_is_control(p)) {
            __builtin_prefetch(&in->stream_of[weft__cell_from(p) * WEFT_PRIORITIES + p->priority]);
        } else if (p->kind == WEFT_PACKET_CREDIT) {
            fetch_voq(in, p->psn);
        } else if (p->kind == WEFT_PACKET_REQUEST && in->flows.slot) {
            __builtin_prefetch(weft__number_slot(&in->flows, request_key(p)));
        }
    }
    weft__timers_fetch(node, end, fetch_timer);
}

/// Prefetches what control cells and cells will touch next; decides nothing.
static inline void prepare_cell(const struct weft__in *in, const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_CREDIT) {
        weft__fifo_fetch(&in->voq[p->psn].fifo);
    } else if (p->kind == WEFT_PACKET_REQUEST) {
        uint32_t flow = weft__number_guess(&in->flows, request_key(p));
        if (flow != WEFT_NONE) __builtin_prefetch(&in->flow[flow], 1);
    } else if (!weft__cell_is_control(p)) {
        uint32_t stream = in->stream_of[weft__cell_from(p) * WEFT_PRIORITIES + p->priority];
        if (!stream) return;
        const struct weft__in_stream *s = &in->stream[stream - 1];
        __builtin_prefetch(&s->slot[weft__cell_sequence(p) & s->mask], 1);
    }
}

/// `word`: whether it arrived by an Ethernet port.
static void in_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__in *in = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        arrival[i].word = is_ethernet(in, p);
        if (!arrival[i].word) {
            prepare_cell(in, p);
        } else if (!weft_packet_is_local(p)) {
            uint32_t voq = weft__number_guess(&in->voqs, frame_key(in, p));
            if (voq != WEFT_NONE) fetch_voq(in, voq);
        }
    }
    weft__timers_fetch(node, end, prepare_timer);
}

static void in_follow(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    weft__timers_fetch(node, end, follow_timer);
}

static void in_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                   weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}

const struct weft__node_ops weft__in_ops = {
    .fetch = in_fetch, .prepare = in_prepare, .follow = in_follow, .run = in_run};
