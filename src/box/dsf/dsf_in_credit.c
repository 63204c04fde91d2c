// SPDX-License-Identifier: Apache-2.0
// The credit scheduler of an Ethernet port. VOQs anywhere in the fabric that ask for this port are in one ring per
// priority; while none of them may be served (the neighbour pauses the priority, or too much of it waits at the port)
// no time is lost. Each credit of a port takes the time of as many bytes at the port's rate times the speed-up, so that
// credits fill the port even though some are wasted on surplus. The excess waits at the port; above a small amount,
// credits are slower than the port sends, so that the port always has something to send and the delay until a credit
// has an effect does no harm. If the port cannot send, credits stop. The port's scheduler model decides among
// priorities; a slow VOQ takes only some of its turns.
//
// Congestion of the fabric slows all ports of a box (RCI). Sources, OpenBCM 6.5.24:
// - fabric_tune.c: with n lanes and at congestion level r a box may take n x lane rate x 0.80 / (r + 1): 0.90 x 0.95 x
//   0.99 x 0.95 for FEC, headers, control and utilisation. Here the lane rate is what FEC leaves, so 0.90 is omitted.
// - fabric_cgm_tune.c: level r begins at a score of 200, 300, ... 800. A congested link scores 4, 5 or 6 by its level;
// the
//   local level is 0, 1, 2 from 40, 60, 80 links on; links of high severity score 1000 from so many on; the ports score
//   250, 450, 650 when 4000, 5000, 6000 cells wait at them (Jericho 2+; Jericho 2 scores 500 each).
// Assumed: a link has the level of the last cell that came by it in the interval, and at least the local level; links
// at the highest level are those of high severity; the score is the largest of the three; a cell is 256 B at the ports,
// too; links of a box with another number of them than the chip are scaled to it.
#include "base/grow.h"
#include "box/dsf/dsf_in.h"
#include "weft/memory.h"

#include <assert.h>
#include <string.h>

enum { FLOWS_FIRST = 16, RCI_FIRST = 200, RCI_STEP = 100, RCI_LEVELS = 7, RCI_SEVERE = 1000 };
static const double LANE_SHARE = 0.95 * 0.99 * 0.95;

// --- control cells ------------------------------------------------------------------------------------------------

void weft__in_send_control(struct weft__in *in, struct weft__worker *w, struct weft_packet *cell, uint32_t to) {
    uint32_t out = weft__spray_pick(&in->spray, w->now_ps, to);
    w->tally.injected_bytes += cell->bytes;
    if (out == WEFT_NONE) {
        weft__count_lost_bytes(w, WEFT_DROP_NO_ROUTE, cell->bytes);
        in->counts.cells_unreachable++;
        if (in->trace) weft__lanes_note_loss(&in->lanes, w->now_ps, in->lanes.port[0], cell, WEFT_DROP_NO_ROUTE);
        return;
    }
    cell->dst = weft__cell_dst(to, in->self, 0);
    weft__lane_send_control(&in->lanes, &in->lanes.lane[out], w, cell);
}

// --- the ring of those that ask -----------------------------------------------------------------------------------

static void ring_push(struct weft__in *in, uint32_t f) {
    struct weft__credit_flow *flow = &in->flow[f];
    struct weft__in_port *port = &in->port[flow->port];
    uint32_t *tail = &port->ring[flow->priority];
    flow->ringed = true;
    if (*tail == WEFT_NONE) {
        flow->next = f;
        port->ring_mask |= (uint8_t)(1u << flow->priority);
    } else {
        flow->next = in->flow[*tail].next;
        in->flow[*tail].next = f;
    }
    *tail = f;
}

static uint32_t ring_pop(struct weft__in *in, struct weft__in_port *port, uint32_t priority) {
    uint32_t *tail = &port->ring[priority], f = in->flow[*tail].next;
    if (f == *tail) {
        *tail = WEFT_NONE;
        port->ring_mask &= (uint8_t) ~(1u << priority);
    } else {
        in->flow[*tail].next = in->flow[f].next;
    }
    in->flow[f].ringed = false;
    return f;
}

static uint32_t flow_of(struct weft__in *in, uint32_t from, uint32_t port, uint32_t priority) {
    bool is_new;
    uint32_t f = weft__number_of(&in->flows, weft__in_voq_key(from, port, priority), &is_new);
    if (!is_new) return f;
    in->flow = weft__memory_double(WEFT_MEMORY_QUEUE, in->flow, f, &in->flow_capacity, FLOWS_FIRST, sizeof *in->flow);
    in->flow[f] = (struct weft__credit_flow){.from = from, .port = (uint16_t)port, .priority = (uint8_t)priority};
    return f;
}

void weft__in_on_request(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t from,
                         const struct weft_packet *request) {
    uint32_t port = request->qp / WEFT_PRIORITIES, state = request->dscp;
    assert(port < in->ether.ports); // another box says so
    uint32_t f = flow_of(in, from, port, request->qp % WEFT_PRIORITIES);
    struct weft__credit_flow *flow = &in->flow[f];
    uint32_t ahead = ((uint32_t)request->entropy - flow->heard) & (WEFT__REQUEST_NUMBERS - 1);
    if (__builtin_expect(ahead >= WEFT__REQUEST_NUMBERS / 2, 0)) return; // a later request has overtaken this one
    flow->heard = (uint16_t)((request->entropy + 1u) & (WEFT__REQUEST_NUMBERS - 1));
    flow->voq = request->psn;
    // A VOQ that is satisfied, or repeats its state, has received no credit for long: missing credits were lost.
    if (state == WEFT__VOQ_SATISFIED || state == flow->state) flow->outstanding = 0;
    flow->state = (uint8_t)state;
    if (state == WEFT__VOQ_SATISFIED || flow->ringed) return; // a satisfied VOQ leaves the ring at its turn
    ring_push(in, f);
    weft__in_arm_credits(node, in, w->now_ps, port);
}

// --- granting -----------------------------------------------------------------------------------------------------

/// The requested priorities that may be granted credits now.
static uint8_t grantable_of(struct weft__in *in, weft_time_ps now, uint32_t k) {
    struct weft__port *port = &in->ether.port[k];
    uint8_t mask = in->port[k].ring_mask & (uint8_t)~weft__port_paused(port, now);
    for (uint32_t bits = mask; bits; bits &= bits - 1) {
        uint32_t priority = (uint32_t)__builtin_ctz(bits);
        if (weft__port_queue_of(port, priority)->bytes > in->conf->egress_stop_bytes)
            mask &= (uint8_t) ~(1u << priority);
    }
    return mask;
}

void weft__in_arm_credits(struct weft__node *node, struct weft__in *in, weft_time_ps now, uint32_t k) {
    struct weft__in_port *port = &in->port[k];
    uint32_t key = weft__ether_key(WEFT__IN_KEY_CREDIT, k);
    if (!port->ring_mask) return;
    weft_time_ps at = port->next_credit_ps > now ? port->next_credit_ps : now;
    if (!grantable_of(in, now, k)) {
        // Otherwise it waits for a frame to leave, or for a pause frame to arrive.
        uint8_t paused = port->ring_mask & in->ether.port[k].paused;
        if (!paused) return;
        weft_time_ps end = weft__port_pause_end(&in->ether.port[k], paused);
        if (end > at) at = end;
    }
    if (weft__timer_at(&node->timers, key) != at) weft__timer_set(&node->timers, key, at);
}

uint32_t weft__in_rci_score(const double links[WEFT__CELL_RCI_LEVELS], double severe_links, uint64_t egress_cells) {
    static const double local_links[] = {40, 60, 80}, link_score[] = {4, 5, 6};
    static const uint32_t egress_score[] = {250, 450, 650};
    enum { EGRESS_FIRST = 4000, EGRESS_STEP = 1000, LEVELS = WEFT__CELL_RCI_LEVELS };
    double all = links[0] + links[1] + links[2], by_links = 0;
    uint32_t local = 0, by_egress = 0;
    while (local + 1 < LEVELS && all >= local_links[local + 1])
        local++;
    for (uint32_t l = 0; l < LEVELS; l++) {
        by_links += links[l] * link_score[l > local ? l : local];
        if (egress_cells >= EGRESS_FIRST + l * EGRESS_STEP) by_egress = egress_score[l];
    }
    if (links[LEVELS - 1] >= severe_links) return RCI_SEVERE;
    return by_egress > by_links ? by_egress : (uint32_t)by_links;
}

uint32_t weft__in_rci_level(uint32_t score) {
    if (score < RCI_FIRST) return 0;
    uint32_t level = 1 + (score - RCI_FIRST) / RCI_STEP;
    return level < RCI_LEVELS ? level : RCI_LEVELS;
}

weft_time_ps weft__in_rci_gap(weft_rate_bps lanes_bps, uint32_t level, weft_bytes credit) {
    double rate = (double)lanes_bps * LANE_SHARE / (level + 1);
    return level ? (weft_time_ps)((double)credit * 8 * WEFT_PS_PER_S / rate) : 0;
}

/// Records the begin or end of a throttle; both at the first port, because a throttle concerns the whole box.
static void note_throttle(struct weft__in *in, weft_time_ps now, uint32_t before, uint32_t score) {
    if (in->rci_level > in->throttle_level) in->throttle_level = in->rci_level;
    if (!before == !in->rci_level) return;
    enum weft_event_kind kind = in->rci_level ? WEFT_EVENT_THROTTLE_BEGAN : WEFT_EVENT_THROTTLE_ENDED;
    struct weft_event *event = weft__trace_add(in->trace, now, kind, 0, WEFT_EVENT_NO_PRIORITY);
    if (event && in->rci_level) {
        event->value = in->rci_level;
        event->more = score;
    } else if (event) {
        event->value = in->throttle_level;
        event->begins = in->throttle_event;
    }
    in->throttle_event = in->rci_level ? weft__trace_id(in->trace, event) : 0;
    if (!in->rci_level) in->throttle_level = 0;
}

/// Checks the congestion that cells have met, and what waits at the ports.
static void look_at_fabric(struct weft__in *in, weft_time_ps now) {
    if (now < in->rci_ps) return;
    enum { LEVELS = WEFT__CELL_RCI_LEVELS };
    uint32_t count[1 + LEVELS] = {0}; // the first: not congested
    double links[LEVELS], scale = in->conf->rci_links ? (double)in->conf->rci_links : in->lanes.n;
    weft_bytes egress = 0;
    for (uint32_t k = 0; k < in->node_ports; k++)
        count[in->port_rci[k]]++;
    for (uint32_t l = 0; l < LEVELS; l++)
        links[l] = count[1 + l] * scale / in->lanes.n;
    for (uint32_t k = 0; k < in->ether.ports; k++)
        egress += in->ether.queues[k].bytes;
    memset(in->port_rci, 0, in->node_ports);
    uint32_t before = in->rci_level;
    uint32_t score = weft__in_rci_score(links, (double)in->conf->rci_severe_links, egress / WEFT_CELL_PAYLOAD);
    in->rci_level = weft__in_rci_level(score);
    if (__builtin_expect(in->trace != NULL, 0)) note_throttle(in, now, before, score);
    in->rci_ps = now + in->conf->rci_interval_ps;
    in->throttle_ps = weft__in_rci_gap(in->lanes.rate_bps, in->rci_level, in->conf->credit_bytes);
}

static void send_credit(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                        struct weft__credit_flow *flow) {
    uint32_t bytes = (uint32_t)in->conf->credit_bytes, voq = flow->voq;
    flow->outstanding += bytes;
    if (flow->from == in->self) {
        weft__in_on_credit(node, in, w, voq, bytes);
        return;
    }
    struct weft_packet cell = {
        .late = true, .bytes = WEFT_CELL_CONTROL, .qp = bytes, .psn = voq, .kind = WEFT_PACKET_CREDIT};
    weft__in_send_control(in, w, &cell, flow->from);
}

/// Whether this VOQ takes its turn, according to the state that it reported.
static bool takes_turn(const struct weft__in *in, struct weft__credit_flow *flow) {
    weft_bytes window = in->conf->window_bytes;
    if (window && flow->outstanding + (int64_t)in->conf->credit_bytes > (int64_t)window) return false;
    if (flow->state == WEFT__VOQ_REQUEST) return true;
    flow->turns = (uint8_t)(flow->turns + flow->state);
    if (flow->turns < WEFT__VOQ_REQUEST) return false;
    flow->turns = (uint8_t)(flow->turns - WEFT__VOQ_REQUEST);
    return true;
}

/// The next VOQ of the priority to get a credit; WEFT_NONE if none of those tried takes this turn. A VOQ that no lane
/// leads to leaves the ring like a satisfied one; when it can be reached again, it repeats its request.
static uint32_t next_in_ring(struct weft__in *in, weft_time_ps now, struct weft__in_port *port, uint32_t priority) {
    for (uint32_t first = WEFT_NONE; port->ring_mask >> priority & 1;) {
        uint32_t *tail = &port->ring[priority], f = in->flow[*tail].next;
        if (in->flow[f].state == WEFT__VOQ_SATISFIED || !weft__in_has_way(in, now, in->flow[f].from)) {
            ring_pop(in, port, priority);
            continue;
        }
        *tail = f;
        __builtin_prefetch(&in->flow[in->flow[f].next], 1); // the next one to try
        if (takes_turn(in, &in->flow[f])) return f;
        if (f == first) break;
        if (first == WEFT_NONE) first = f;
    }
    return WEFT_NONE;
}

/// The priority whose turn it is, with its VOQ in *ret_flow. If only slow VOQs ask at a priority and all skip this
/// turn, the turn goes to another priority; if all do, to none (WEFT_NONE).
static uint32_t pick_flow(struct weft__in *in, weft_time_ps now, struct weft__in_port *port, uint8_t mask,
                          uint32_t *ret_flow) {
    uint32_t first = WEFT_PRIORITIES;
    for (; mask; mask &= port->ring_mask) {
        uint32_t priority = in->ether.scheduler->pick(&port->scheduler, in->ether.conf->scheduler.conf, mask);
        assert(mask >> priority & 1);
        *ret_flow = next_in_ring(in, now, port, priority);
        if (*ret_flow != WEFT_NONE) return priority;
        if (first == WEFT_PRIORITIES) first = priority;
        mask &= (uint8_t) ~(1u << priority);
    }
    return first;
}

void weft__in_grant(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__in_port *port = &in->port[k];
    if (in->conf->rci) look_at_fabric(in, w->now_ps);
    if (in->throttle_ps && in->throttled_until_ps > w->now_ps) { // the box as a whole must still wait
        weft__timer_set(&node->timers, weft__ether_key(WEFT__IN_KEY_CREDIT, k), in->throttled_until_ps);
        return;
    }
    uint8_t mask = grantable_of(in, w->now_ps, k);
    if (mask) {
        uint32_t f, priority = pick_flow(in, w->now_ps, port, mask, &f);
        bool slow = weft__port_queue_of(&in->ether.port[k], priority)->bytes > in->conf->egress_slow_bytes;
        port->next_credit_ps = w->now_ps + (slow ? port->slow_credit_ps : port->credit_ps);
        if (in->throttle_ps) in->throttled_until_ps = w->now_ps + in->throttle_ps;
        if (in->ether.scheduler->on_sent)
            in->ether.scheduler->on_sent(&port->scheduler, in->ether.conf->scheduler.conf, priority,
                                         (uint32_t)in->conf->credit_bytes);
        if (f != WEFT_NONE) send_credit(node, in, w, &in->flow[f]);
    }
    weft__in_arm_credits(node, in, w->now_ps, k);
}

void weft__in_on_arrived(struct weft__in *in, uint32_t from, uint32_t port, uint32_t priority, uint32_t bytes) {
    struct weft__credit_flow *flow = &in->flow[flow_of(in, from, port, priority)];
    flow->outstanding -= bytes;
    if (flow->outstanding < 0) flow->outstanding = 0;
}
