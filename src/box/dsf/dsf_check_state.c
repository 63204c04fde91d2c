// SPDX-License-Identifier: Apache-2.0
// Invariants of the boxes of a DSF: VOQs and their credits, the rings of credit flows, reassembly, the deep buffer, and
// with link-level flow control the queues of lanes and what they have stopped.
#include "box/box.h"
#include "box/dsf/dsf_fn.h"
#include "box/dsf/dsf_in.h"
#include "box/dsf/dsf_net.h"
#include "link/port_check.h"

// --- interface node -----------------------------------------------------------------------------------------------

/// The packets of a VOQ, added to what the box holds. Returns the bytes of those in HBM, its last ones.
static weft_bytes check_packets(const struct weft__voq *v, struct weft__held *held, struct weft__check *c) {
    weft_bytes bytes = 0, hbm = 0;
    struct weft__fifo_cursor cursor = weft__fifo_begin(&v->fifo);
    uint32_t chip = v->fifo.n - v->hbm, n = 0;
    for (const struct weft_packet *p; (p = weft__fifo_next(&cursor)); n++) {
        weft__held_add_in(held, p);
        bytes += p->bytes;
        if (n >= chip) hbm += p->bytes;
    }
    weft__check_equal(c, "bytes in the VOQ", v->bytes, "bytes of its packets", bytes);
    weft__check_at_most(c, "bytes in the VOQ", bytes, "its watermark", v->bytes_max);
    weft__check_at_most(c, "packets of the VOQ in HBM", v->hbm, "its packets", v->fifo.n);
    return hbm;
}

/// Credits that a VOQ has, and what it last reported about them.
static void check_balance(const struct weft__in *in, const struct weft__voq *v, struct weft__check *c) {
    int64_t surplus = v->balance - (int64_t)v->bytes;
    uint64_t most = v->bytes > in->preset.balance_max ? v->bytes : in->preset.balance_max;
    if (v->balance > 0) weft__check_at_most(c, "credit of the VOQ, bytes", (uint64_t)v->balance, "its most", most);
    int64_t lacks = (int64_t)in->preset.surplus - surplus; // an empty VOQ may not have asked yet
    if (lacks > (int64_t)in->preset.slow && (v->bytes || surplus < 0))
        weft__check_equal(c, "the report of a VOQ with less credit than it wants", v->state, "request",
                          WEFT__VOQ_REQUEST);
    if (surplus >= (int64_t)in->preset.surplus)
        weft__check_equal(c, "the report of a VOQ with the credit it wants", v->state, "satisfied",
                          WEFT__VOQ_SATISFIED);
    weft__check_at_most(c, "whether a VOQ with packets and credit is idle", v->fifo.n && v->balance > 0 && !v->waits,
                        "it waits for lanes", 0);
}

static void check_voqs(const struct weft__in *in, const struct weft__timers *timers, struct weft__held *held,
                       struct weft__check *c) {
    weft_bytes bytes = 0, hbm = 0;
    uint32_t marked = 0, ring = 0;
    bool any = false;
    for (uint32_t i = 0; i < in->voqs.n; i++) {
        const struct weft__voq *v = &in->voq[i];
        weft__check_at(c, WEFT_NONE, v->priority);
        hbm += check_packets(v, held, c);
        check_balance(in, v, c);
        bytes += v->bytes;
        marked += v->waits;
        any |= v->fifo.n > 0;
    }
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    for (uint32_t at = in->waiting; at != WEFT_NONE && ring <= in->voqs.n;) {
        ring++;
        at = in->voq[at].next == in->waiting ? WEFT_NONE : in->voq[at].next;
    }
    weft__check_equal(c, "VOQs in the ring that waits for lanes", ring, "VOQs with the mark", marked);
    weft__check_equal(c, "bytes in all VOQs", in->voq_bytes, "sum over VOQs", bytes);
    weft__check_equal(c, "bytes in HBM", in->hbm.bytes, "bytes of packets there", hbm);
    weft__check_at_most(c, "whether VOQs wait for lanes", ring > 0, "whether a timer is set",
                        weft__timer_at(timers, weft__in_box_key(in, WEFT__IN_KEY_ROOM)) != WEFT_TIME_NEVER);
    weft__check_at_most(c, "whether VOQs hold packets", any, "whether the timer that checks them is set",
                        weft__timer_at(timers, weft__in_box_key(in, WEFT__IN_KEY_VOQS)) != WEFT_TIME_NEVER);
}

/// The VOQs that ask a port for credits at one priority. Returns how many are in the ring.
static uint32_t check_ring(const struct weft__in *in, uint32_t k, uint32_t priority, struct weft__check *c) {
    const struct weft__in_port *port = &in->port[k];
    uint32_t last = port->ring[priority], n = 0;
    weft__check_at(c, port->node_port, priority);
    weft__check_equal(c, "the mark that VOQs ask for credit", port->ring_mask >> priority & 1, "whether any is there",
                      last != WEFT_NONE);
    if (last == WEFT_NONE) return 0;
    for (uint32_t f = in->flow[last].next; n++ <= in->flows.n; f = in->flow[f].next) {
        const struct weft__credit_flow *flow = &in->flow[f];
        weft__check_equal(c, "port of a VOQ in the ring", flow->port, "port of the ring", k);
        weft__check_equal(c, "priority of a VOQ in the ring", flow->priority, "priority of the ring", priority);
        weft__check_equal(c, "the mark of a VOQ in the ring", flow->ringed, "in a ring", 1);
        if (f == last) break;
    }
    return n;
}

static void check_flows(const struct weft__in *in, struct weft__check *c) {
    uint32_t rings = 0, marked = 0;
    for (uint32_t k = 0; k < in->ether.ports; k++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            rings += check_ring(in, k, p, c);
    for (uint32_t f = 0; f < in->flows.n; f++) {
        const struct weft__credit_flow *flow = &in->flow[f];
        weft__check_at(c, in->port[flow->port].node_port, flow->priority);
        marked += flow->ringed;
        weft__check_at_most(c, "whether the credit outstanding is negative", flow->outstanding < 0, "no", 0);
        if (in->conf->window_bytes && flow->outstanding > 0)
            weft__check_at_most(c, "credit outstanding, bytes", (uint64_t)flow->outstanding, "the window",
                                in->conf->window_bytes);
    }
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    weft__check_equal(c, "VOQs in rings", rings, "VOQs with the mark", marked);
}

/// The packets of a stream: no complete one waits for its turn. Returns the bytes that have arrived.
static weft_bytes check_stream(const struct weft__in_stream *s, struct weft__check *c) {
    weft_bytes bytes = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i <= s->mask; i++) {
        const struct weft__assembly *a = &s->slot[i];
        if (!weft__assembly_is_used(a)) continue;
        uint32_t came = a->packet.dst & ((1u << WEFT__ASSEMBLY_OF) - 1), of = a->packet.dst >> WEFT__ASSEMBLY_OF;
        if (of) weft__check_at_most(c, "cells of a packet that have arrived", came, "its cells", of);
        bytes += a->packet.bytes;
        used++;
    }
    const struct weft__assembly *first = &s->slot[s->expected & s->mask];
    weft__check_equal(c, "packets in reassembly", s->pending, "slots in use", used);
    weft__check_at_most(c, "whether the next packet is whole and not delivered",
                        weft__assembly_is_used(first) && weft__assembly_is_whole(first), "no", 0);
    return bytes;
}

static void check_reassembly(const struct weft__in *in, const struct weft__timers *timers, struct weft__check *c) {
    weft_bytes bytes = 0;
    bool any = false;
    for (uint32_t i = 0; i < in->streams; i++) {
        weft__check_at(c, WEFT_NONE, in->stream[i].priority);
        bytes += check_stream(&in->stream[i], c);
        any |= in->stream[i].pending > 0;
    }
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    weft__check_equal(c, "bytes in reassembly", in->reassembly_bytes, "bytes of packets there", bytes);
    weft__check_at_most(c, "bytes in reassembly", bytes, "the buffer's size", in->conf->reassembly_bytes);
    weft__check_at_most(c, "whether packets are in reassembly", any, "whether its timer is set",
                        weft__timer_at(timers, weft__in_box_key(in, WEFT__IN_KEY_REASSEMBLY)) != WEFT_TIME_NEVER);
}

// --- lanes with queues --------------------------------------------------------------------------------------------

static void check_lane_queues(const struct weft__lane_queues *q, const struct weft__timers *timers,
                              struct weft__check *c) {
    for (uint32_t k = 0; k < q->lanes->n; k++) {
        const struct weft__lane_queue *queue = &q->queue[k];
        uint32_t cells = 0;
        struct weft__fifo_cursor cursor = weft__fifo_begin(&queue->fifo);
        for (const struct weft_packet *p; (p = weft__fifo_next(&cursor));)
            cells += weft__cell_count(p);
        weft__check_equal(c, "cells counted in the queue of a lane", queue->cells, "cells in it", cells);
        weft__check_at_most(c, "whether cells wait at a lane that may send", queue->fifo.n && !queue->stopped,
                            "whether its timer is set", weft__timer_at(timers, q->key0 + k) != WEFT_TIME_NEVER);
    }
}

void weft__in_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c) {
    const struct weft__in *in = net->engine.node[node].state;
    const struct weft__timers *timers = &net->engine.node[node].timers;
    WEFT_ENDS(weft__held_deinit) struct weft__held held = {0};
    weft__held_init(&held, &in->ether);
    weft__ether_each(&in->ether, weft__held_leaving, &held);
    check_voqs(in, timers, &held, c);
    weft__ether_check(&in->ether, timers, net->topology->node[node].port0, true, until, &held, c);
    check_flows(in, c);
    check_reassembly(in, timers, c);
    if (in->queues) check_lane_queues(in->queues, timers, c);
}

// --- fabric node --------------------------------------------------------------------------------------------------

/// Which FIFOs have stopped which lanes.
static void check_stops(const struct weft__fn *fn, struct weft__check *c) {
    const struct weft__fn_llfc *l = fn->llfc;
    for (uint32_t in = 0; in < fn->lanes.n; in++) {
        uint32_t stops = 0;
        for (uint32_t out = 0; out < fn->lanes.n; out++)
            stops += l->stops[out * l->words + in / 64] >> in % 64 & 1;
        weft__check_at(c, in, WEFT_NONE);
        weft__check_equal(c, "FIFOs that have stopped the lane", l->stopped[in], "FIFOs with its mark", stops);
    }
}

void weft__fn_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c) {
    const struct weft__fn *fn = net->engine.node[node].state;
    for (uint32_t k = 0; k < fn->lanes.n; k++) {
        const struct weft__cell_lane *lane = &fn->lanes.lane[k];
        weft__check_at(c, k, WEFT_NONE);
        weft__check_at_most(c, "cells sent by the lane", lane->tx_cells, "bytes sent", lane->tx_bytes);
        weft__check_at_most(c, "rate of the lane, an index", lane->rate, "rates of the box", fn->lanes.rates);
    }
    if (!fn->llfc) return;
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    check_lane_queues(&fn->llfc->queues, &net->engine.node[node].timers, c);
    check_stops(fn, c);
}
