// SPDX-License-Identifier: Apache-2.0
// The cell switch of a TiN (Gibson et al., NSDI 2022, section 3.1). Life of a cell: its head arrived over a link one
// fall-through time ago; if it is the first of its VC, its path is chosen (gnet_route.c) and it requests an output.
// iSLIP (McKeown 1999), with one request per VC and port, matches inputs and outputs that are not busy; a cell crosses
// while it is still coming in. At the output it leaves at once if the link is free and the FIFO at the far end has room
// for it (credits); else it waits in the queue of its VC, among which strict priorities and weights choose.
//
// A hop is one event, its arrival, while nothing is in its way. Ports tell that they are free (timers) only to those
// that wait: what crosses from an input that some cell waits at, or to an output that one waits for, has a timer.
// Matches are made when something changes, among the ports that it concerns; so no input and output that want each
// other are both idle.
//
// An input may be busy each time an output becomes free, because its cells for another output cross as they arrive. The
// paper says that its switch starves no port, but not how. Here an input that an output has passed over too often
// (tin.patience, assumed) is held for it: when free, it waits until the output is free, and goes first. The output
// meanwhile takes no other if its link has cells to send. Each waits at most for the end of one crossing.
//
// Credits are returned once a certain part of the FIFO is owed, those of several VCs in one record: a real link sends
// an ordered set for each (8 bytes, not modelled). Less than that part is not returned, which reduces the FIFO's depth
// but never stops progress: room for one cell remains. The sender keeps the credits of cells that the link lost, and
// credits are never lost: PCI Express's counters, which GNet's resemble, are cumulative.
#include "box/tin/gnet_switch.h"

#include <endian.h>
#include <string.h>

#include "box/tin/gnet_route.h"

/// The number of cells in a train with this many bytes on the link.
static inline uint32_t cells_of(uint32_t wire) {
    return wire <= WEFT_GNET_CELL_MAX ? 1 : (wire + WEFT_GNET_CELL_MAX - 1) / WEFT_GNET_CELL_MAX;
}
/// The first member of `set` at or after `from`, which is below 64, wrapping around.
static inline uint32_t next_of(uint64_t set, uint32_t from) {
    uint64_t after = set & UINT64_MAX << from;
    return (uint32_t)__builtin_ctzll(after ? after : set);
}

static inline uint32_t time_of(const struct weft__gnet *g, uint32_t rate, uint32_t wire) {
    return g->times[rate]->ps[wire];
}
/// Whether the port has a link, rather than an endpoint.
static inline bool is_link(const struct weft__gnet_in *in) {
    return in->rate != WEFT__GNET_NO_LINK;
}

/// Some cell waits for the end of the crossing from input i.
static inline void await_crossing(struct weft__node *node, struct weft__gnet *g, uint32_t i) {
    if (g->crossing_armed & weft__gnet_bit(i)) return;
    g->crossing_armed |= weft__gnet_bit(i);
    weft__gnet_due_set(&g->due, WEFT__GNET_CROSSED + i, g->in[i].busy_until_ps);
}

/// A slot for a cell.
static inline uint32_t keep_cell(struct weft__gnet *g, const struct weft_packet *cell) {
    uint32_t slot = weft__gnet_cells_take(&g->cells);
    g->cells.slot[slot] = *cell;
    return slot;
}

// --- credits ------------------------------------------------------------------------------------------------------

/// The first VC with credits that are owed.
static inline uint32_t first_owed(const struct weft__gnet_in *in) {
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc += 8) {
        uint64_t owed;
        memcpy(&owed, &in->owed[vc], sizeof owed);
        if (owed) return vc + (uint32_t)__builtin_ctzll(le64toh(owed)) / 8;
    }
    return WEFT_GNET_VCS;
}

static __attribute__((noinline)) void send_credits(struct weft__gnet *g, struct weft__worker *w, uint32_t i,
                                                   uint32_t vc, weft_time_ps when) {
    struct weft__gnet_in *in = &g->in[i];
    weft_time_ps arrival = when + g->credit_delay_ps[i];
    struct weft_packet *p = weft__send(w, (struct weft__to){in->peer_inbox, in->peer_node, in->peer_port}, arrival,
                                       &(struct weft_packet){.late = true, .kind = WEFT_PACKET_ROOM});
    weft__gnet_put_credit(p, 0, vc, in->owed[vc]);
    in->owed[vc] = 0;
    for (uint32_t k = 1, other; k < WEFT__GNET_CREDITS && (other = first_owed(in)) < WEFT_GNET_VCS; k++) {
        weft__gnet_put_credit(p, k, other, in->owed[other]);
        in->owed[other] = 0;
    }
    g->counts.credit_records++;
}

/// A cell has left a FIFO by `when`.
static inline void give_back(struct weft__gnet *g, struct weft__worker *w, uint32_t i, uint32_t vc, uint32_t units,
                             weft_time_ps when) {
    struct weft__gnet_in *in = &g->in[i];
    in->owed[vc] = (uint8_t)(in->owed[vc] + units);
    if (in->owed[vc] >= in->batch_units) send_credits(g, w, i, vc, when);
}

/// The first cell of a VC at an input, or if it has `crossed` at an output.
static __attribute__((cold, noinline)) void lose_cell(struct weft__gnet *g, struct weft__worker *w,
                                                      const struct weft_packet *cell, enum weft_drop reason,
                                                      weft_time_ps at, bool crossed, uint32_t port, uint32_t vc) {
    if (g->trace) weft__gnet_note_loss(g, at, port, cell, reason);
    if (weft__gnet_is_traced(cell)) weft__gnet_trace_lose(g->tracer, at, crossed, port, vc, (uint8_t)reason);
    struct weft_tin_transition *seen = weft__gnet_transition(g, at);
    weft__count_lost_bytes(w, reason, cell->bytes);
    uint32_t cells = weft__gnet_cells(cell);
    if (reason == WEFT_DROP_NO_ROUTE)
        g->counts.cells_unroutable += cells;
    else
        g->counts.cells_lost += cells;
    if (seen) seen->cells_lost += cells;
}

// --- output -------------------------------------------------------------------------------------------------------

static inline void arm_sent(struct weft__node *node, struct weft__gnet *g, uint32_t o) {
    const struct weft__gnet_out *out = &g->out[o];
    if (!(out->queued & out->creditable) || g->sending_armed & weft__gnet_bit(o)) return;
    g->sending_armed |= weft__gnet_bit(o);
    weft__gnet_due_set(&g->due, WEFT__GNET_SENT + o, out->busy_until_ps);
}

__attribute__((cold, noinline)) void weft__gnet_carry_over(struct weft__gnet *g, uint32_t o) {
    g->port[o].tx_cells += g->out[o].tx_cells;
    g->port[o].tx_bytes += g->out[o].tx_bytes;
    g->out[o].tx_cells = g->out[o].tx_bytes = 0;
}

// A cell is copied before its new fields are written: reading a whole just written in parts would stall.

/// The link is free; the cell's first bit leaves at `start`.
static inline __attribute__((always_inline)) void transmit_cell(struct weft__gnet *g, struct weft__worker *w,
                                                                uint32_t o, uint32_t vc, const struct weft_packet *cell,
                                                                uint32_t wire, weft_time_ps start) {
    struct weft__gnet_out *out = &g->out[o];
    uint32_t time = time_of(g, out->rate, wire), cells = cells_of(wire);
    out->busy_until_ps = start + time;
    out->tx_cells += cells;
    out->tx_bytes += wire;
    if (__builtin_expect(out->tx_bytes >> 31, 0)) weft__gnet_carry_over(g, o);
    weft__count(w, WEFT__COUNT_CELL_HOPS, cells);
    if (__builtin_expect(g->special >> o & 1, 0)) {
        weft_time_ps at = start;
        const struct weft__gnet_port *port = &g->port[o];
        enum weft_drop loss =
            port->faults ? weft__faults_loss(port->faults, wire, start, start + time, &at) : WEFT_DROPS;
        struct weft__tapped sent = {.packet = *cell};
        weft__gnet_set_vc(&sent.packet, vc);
        if (port->tap) weft__tap_note(port->tap, &sent, start + time, loss);
        if (loss != WEFT_DROPS) {
            lose_cell(g, w, cell, loss, at, true, o, vc);
            return;
        }
    }
    int16_t credits = out->credits[vc] = (int16_t)(out->credits[vc] - (int16_t)weft__gnet_units(wire));
    if (credits < weft__gnet_lump_units(g)) out->creditable &= ~(1u << vc);
    weft_time_ps arrival = start + out->delay_ps;
    if (__builtin_expect(weft__gnet_is_traced(cell), 0)) weft__gnet_trace_leave(g->tracer, start, o, vc, arrival);
    if (__builtin_expect(g->follow_log != NULL, 0))
        weft__gnet_follow(g, cell, WEFT_FOLLOWED_CELL, o, vc, (weft_time_ps[]){start, out->busy_until_ps, arrival, 0});
    struct weft_packet *p =
        weft__send(w, (struct weft__to){out->peer_inbox, out->peer_node, out->peer_port}, arrival, cell);
    p->entropy = weft__gnet_next_head(cell, vc) & 0x3fffu;
}

static inline void note_starving(struct weft__gnet *g, uint32_t o, uint32_t vc, weft_time_ps now) {
    if (!(g->out[o].queued & ~g->out[o].creditable & 1u << vc) || g->port[o].starved_ps[vc]) return;
    g->port[o].starved_ps[vc] = now;
    g->port[o].stalls++;
}

/// A cell on its way through the switch.
struct moving {
    const struct weft_packet *cell;
    uint32_t wire, slot; ///< its bytes on links; slot 0: it has none
};

/// A cell has started to cross to a link.
static inline __attribute__((always_inline)) void leave_input(struct weft__node *node, struct weft__gnet *g,
                                                              struct weft__worker *w, uint32_t o, uint32_t vc,
                                                              struct moving moving, weft_time_ps start) {
    const struct weft_packet *cell = moving.cell;
    uint32_t wire = moving.wire, slot = moving.slot;
    struct weft__gnet_out *out = &g->out[o];
    bool may_send = (out->creditable & ~out->queued) >> vc & 1, is_free = out->busy_until_ps <= w->now_ps;
    if (may_send & is_free & !(g->sending_armed >> o & 1)) {
        transmit_cell(g, w, o, vc, cell, wire, start);
        if (slot) weft__gnet_cells_free(&g->cells, slot);
        arm_sent(node, g, o);
        return;
    }
    uint16_t *depth = &g->depth[vc][o], *most = &g->depth[WEFT__GNET_MOST_BYTES][o];
    *depth = (uint16_t)(*depth + wire);
    if (*depth > *most) *most = *depth;
    if (!slot) slot = keep_cell(g, cell);
    struct weft_packet *kept = &g->cells.slot[slot];
    kept->time_ps = start;
    weft__gnet_set_vc(kept, vc);
    uint32_t q = out->queued >> vc & 1 ? weft__gnet_queue_find(&g->queues, out->queue, vc)
                                       : weft__gnet_queue_open(&g->queues, &out->queue, vc);
    weft__gnet_queue_push(&g->queues.queue[q], &g->cells, slot);
    out->queued |= 1u << vc;
    if ((weft_bytes)*depth + g->lump > g->conf->output_bytes) out->room &= ~(1u << vc);
    note_starving(g, o, vc, w->now_ps);
    arm_sent(node, g, o);
}

/// VCs of a kind, in both levels, and of the low-latency level. Escape VCs belong to no kind, and are bulk.
#define OF_KIND(kind) ((7u << WEFT_GNET_ROUTING_VCS * (kind)) * (1u + (1u << WEFT_GNET_ROUTING_VCS * WEFT_GNET_KINDS)))
#define LOW ((1u << WEFT_GNET_ROUTING_VCS * WEFT_GNET_KINDS) - 1)
#define SOLICIT (OF_KIND(WEFT_GNET_KIND_RTS) | OF_KIND(WEFT_GNET_KIND_CTS) | OF_KIND(WEFT_GNET_KIND_REQ))

/// In turn, without ending the turn of another VC.
static uint32_t pick_first(struct weft__gnet_turns *turns, uint32_t vcs) {
    uint32_t vc = next_of(vcs, turns->first_at);
    turns->first_at = (uint8_t)((vc + 1) % WEFT_GNET_VCS);
    return vc;
}

/// Which of these VCs is next: by strict ranks, then in weighted turns.
static uint32_t pick_vc(const struct weft__gnet *g, struct weft__gnet_out *out, uint32_t vcs) {
    if (g->conf->low_strict && vcs & LOW) vcs &= LOW;
    if (g->conf->solicit_strict && vcs & SOLICIT) {
        vcs &= SOLICIT;
        if (__builtin_expect(g->conf->vc_turns, 0)) return pick_first(&g->turns[out - g->out], vcs);
    }
    if (!(vcs >> out->turn & 1) || out->turn_bytes <= 0) {
        out->turn = (uint8_t)next_of(vcs, out->turn + 1u);
        uint32_t weight = LOW >> out->turn & 1 ? (uint32_t)g->conf->low_weight : 1;
        out->turn_bytes = (int16_t)(weight * WEFT_GNET_CELL_MAX); // a train may exceed that
    }
    return out->turn;
}

static void match_outs(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint64_t outs);

/// The link of output o is free.
static void serve_out(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t o) {
    struct weft__gnet_out *out = &g->out[o];
    uint32_t ready = out->queued & out->creditable;
    if (!ready) return;
    uint32_t vc = pick_vc(g, out, ready), q = weft__gnet_queue_find(&g->queues, out->queue, vc);
    uint32_t slot = weft__gnet_queue_pop(&g->queues.queue[q], &g->cells);
    uint16_t *depth = &g->depth[vc][o];
    const struct weft_packet *cell = &g->cells.slot[slot];
    uint32_t wire = weft__gnet_wire(cell);
    if (!g->queues.queue[q].head) {
        weft__gnet_queue_close(&g->queues, &out->queue, q);
        out->queued &= ~(1u << vc);
    }
    *depth = (uint16_t)(*depth - wire);
    out->turn_bytes = (int16_t)(out->turn_bytes - (int32_t)wire);
    transmit_cell(g, w, o, vc, cell, wire, cell->time_ps > w->now_ps ? cell->time_ps : w->now_ps);
    weft__gnet_cells_free(&g->cells, slot);
    note_starving(g, o, vc, w->now_ps);
    arm_sent(node, g, o);
    if (out->room & 1u << vc || (weft_bytes)*depth + g->lump > g->conf->output_bytes) return;
    out->room |= 1u << vc;
    if (g->wanted & weft__gnet_bit(o)) match_outs(node, g, w, weft__gnet_bit(o));
}

void weft__gnet_on_credits(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w,
                           const struct weft_packet *record, uint32_t o) {
    struct weft__gnet_out *out = &g->out[o];
    for (uint32_t k = 0; k < WEFT__GNET_CREDITS; k++) {
        uint32_t credit = weft__gnet_credit(record, k);
        if (!credit) break;
        uint32_t vc = weft__gnet_credit_vc(credit);
        out->credits[vc] = (int16_t)(out->credits[vc] + (int16_t)weft__gnet_credit_units(credit));
        if (out->credits[vc] < weft__gnet_lump_units(g) || out->creditable & 1u << vc) continue;
        out->creditable |= 1u << vc;
        weft_time_ps *starved_ps = &g->port[o].starved_ps[vc];
        if (!*starved_ps) continue;
        g->port[o].stall_ps += w->now_ps - *starved_ps;
        *starved_ps = 0;
    }
    if (out->busy_until_ps <= w->now_ps && !(g->sending_armed & weft__gnet_bit(o)))
        serve_out(node, g, w, o);
    else
        arm_sent(node, g, o);
}

// --- crossbar -----------------------------------------------------------------------------------------------------

/// A cell starts to cross to an endpoint, and nothing can delay it.
static inline void arrive_at(struct weft__node *node, struct weft__gnet *g, uint32_t i, uint32_t o, uint32_t vc,
                             const struct weft_packet *cell) {
    weft_time_ps end = g->in[i].busy_until_ps;
    uint32_t awaited = g->on_crossing ? g->on_crossing(node, cell, i, end) : i;
    if (__builtin_expect(weft__gnet_is_traced(cell), 0)) weft__gnet_trace_leave(g->tracer, end, o, vc, WEFT_TIME_NEVER);
    g->counts.hops[weft__gnet_hops(cell)] += weft__gnet_cells(cell);
    g->out[o].cell = *cell;
    g->taken |= weft__gnet_bit(i);
    if (awaited == WEFT_NONE) return;
    g->taken &= ~weft__gnet_bit(awaited);
    await_crossing(node, g, awaited);
}

/// Input i and output o are free; the cell, of VC `vc` and already removed from its FIFO, crosses.
static inline __attribute__((always_inline)) void cross_switch(struct weft__node *node, struct weft__gnet *g,
                                                               struct weft__worker *w, uint32_t i, uint32_t vc,
                                                               uint32_t o, uint32_t out_vc, struct moving moving) {
    const struct weft_packet *cell = moving.cell;
    struct weft__gnet_in *in = &g->in[i];
    struct weft__gnet_out *out = &g->out[o];
    bool comes = is_link(in), goes = out->rate != WEFT__GNET_NO_LINK;
    uint32_t wire = moving.wire, time_in = time_of(g, in->cross, wire), time_out = time_of(g, out->cross, wire);
    weft_time_ps now = w->now_ps, time = time_in > time_out ? time_in : time_out;
    weft_time_ps tail = cell->time_ps + time_of(g, comes ? in->rate : in->cross, wire);
    weft_time_ps end = tail > now + time ? tail : now + time; // no faster than it comes; one from an endpoint has come
    in->busy_until_ps = end;
    time = end - now;
    g->crossing_to[i] = (uint8_t)o;
    g->crossing_from[o] = (uint8_t)i;
    if (comes) give_back(g, w, i, vc, weft__gnet_units(wire), end);
    if (__builtin_expect(weft__gnet_is_traced(cell), 0)) weft__gnet_trace_cross(g->tracer, i, vc, o, out_vc, !goes);
    if (in->waiting || g->wanted & weft__gnet_bit(o)) await_crossing(node, g, i);
    if (__builtin_expect(g->follow_log != NULL, 0)) {
        weft_time_ps sends = goes ? time_of(g, out->rate, wire) : 0;
        weft_time_ps start = now + (time > sends ? time - sends : 0);
        weft__gnet_follow(g, cell, WEFT_FOLLOWED_CROSS, o, out_vc,
                          (weft_time_ps[]){now, now + time, start, cell->time_ps});
    }
    if (!goes) {
        arrive_at(node, g, i, o, out_vc, cell);
        if (moving.slot) weft__gnet_cells_free(&g->cells, moving.slot);
        return;
    }
    weft_time_ps sending = time_of(g, out->rate, wire);
    leave_input(node, g, w, o, out_vc, moving, now + (time > sending ? time - sending : 0));
}

/// The first cell of a FIFO has chosen its path.
static inline void add_request(struct weft__node *node, struct weft__gnet *g, weft_time_ps now, uint32_t i,
                               struct weft__gnet_queue *queue, uint32_t way) {
    queue->out = (uint8_t)weft__gnet_way_out(way);
    queue->out_vc = (uint8_t)weft__gnet_way_vc(way);
    g->in[i].waiting |= 1u << queue->vc;
    if (__builtin_expect(g->channels != NULL, 0)) {
        queue->out |= WEFT__GNET_NO_CHANNEL;
        weft__gnet_channel_ask(node, g, now);
        return;
    }
    g->out[queue->out].requests |= weft__gnet_bit(i);
    g->wanted |= weft__gnet_bit(queue->out);
}

static inline void forget_late(struct weft__gnet *g, uint32_t o) {
    uint32_t late = g->late[o];
    g->lates &= ~weft__gnet_bit(o);
    g->insistent &= ~weft__gnet_bit(o);
    if (g->held & weft__gnet_bit(late) && g->held_for[late] == o) g->held &= ~weft__gnet_bit(late);
}

/// No cell at input i requests output o any more.
static inline void end_requests(struct weft__gnet *g, uint32_t i, uint32_t o) {
    g->out[o].requests &= ~weft__gnet_bit(i);
    if (!g->out[o].requests) g->wanted &= ~weft__gnet_bit(o);
    if (g->lates & weft__gnet_bit(o) && g->late[o] == i) forget_late(g, o);
}

/// VCs at an input whose first cells request output o; *ret_fit: those of them whose cells fit at the output.
static inline uint32_t requesting_vcs(const struct weft__gnet *g, uint32_t i, uint32_t o, uint32_t room,
                                      uint32_t *ret_fit) {
    uint32_t all = 0, fit = 0;
    for (uint32_t q = g->in[i].queue; q;) {
        const struct weft__gnet_queue *queue = &g->queues.queue[q];
        uint32_t is_for = queue->out == o;
        all |= is_for << queue->vc;
        fit |= (is_for & room >> queue->out_vc) << queue->vc;
        q = queue->next;
    }
    *ret_fit = fit;
    return all;
}

static void take_request_back(struct weft__gnet *g, uint32_t i, uint32_t q) {
    struct weft__gnet_queue *queue = &g->queues.queue[q];
    uint32_t o = queue->out % WEFT__GNET_PORTS, fit;
    if (g->channels && !(queue->out & WEFT__GNET_NO_CHANNEL)) weft__gnet_channel_give(g, o, queue->out_vc);
    queue->out = WEFT__GNET_NO_OUT;
    g->in[i].waiting &= ~(1u << queue->vc);
    if (!requesting_vcs(g, i, o, 0, &fit)) end_requests(g, i, o);
}

/// The first cell leaves the FIFO, and keeps its slot.
static inline uint32_t pop_cell(struct weft__gnet *g, uint32_t q, uint32_t *ret_wire) {
    struct weft__gnet_queue *queue = &g->queues.queue[q];
    uint32_t slot = weft__gnet_queue_pop(queue, &g->cells);
    *ret_wire = weft__gnet_wire(&g->cells.slot[slot]);
    queue->units = (uint16_t)(queue->units - weft__gnet_units(*ret_wire));
    return slot;
}

/// The cell that is now first in the FIFO makes its request.
static inline void request_first(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t i,
                                 uint32_t q) {
    struct weft__gnet_in *in = &g->in[i];
    for (uint32_t head; (head = g->queues.queue[q].head) != 0;) {
        const struct weft_packet *first = &g->cells.slot[head];
        uint32_t way = weft__gnet_route(g, w->now_ps, i, first, weft__gnet_known_set(first->port));
        if (__builtin_expect(way != WEFT_NONE, 1)) {
            add_request(node, g, w->now_ps, i, &g->queues.queue[q], way);
            return;
        }
        uint32_t wire, slot = pop_cell(g, q, &wire), vc = g->queues.queue[q].vc;
        lose_cell(g, w, first, WEFT_DROP_NO_ROUTE, w->now_ps, false, i, vc);
        if (is_link(in)) give_back(g, w, i, vc, weft__gnet_units(wire), w->now_ps);
        weft__gnet_cells_free(&g->cells, slot);
    }
    weft__gnet_queue_close(&g->queues, &in->queue, q);
}

/// Whether an output has room for a cell of input i.
static bool has_room(const struct weft__gnet *g, uint32_t i, uint32_t o) {
    uint32_t fit;
    requesting_vcs(g, i, o, g->out[o].room, &fit);
    return fit;
}

/// Output o takes a cell of input i while other inputs that request it are busy.
static __attribute__((noinline)) void pass_over(struct weft__gnet *g, uint32_t i, uint32_t o, uint64_t others) {
    if (g->lates & weft__gnet_bit(o) && (g->late[o] == i || !has_room(g, g->late[o], o))) forget_late(g, o);
    while (others && !(g->lates & weft__gnet_bit(o))) {
        uint32_t first = next_of(others, g->out[o].grant_at);
        others &= ~weft__gnet_bit(first);
        if (!has_room(g, first, o)) continue;
        g->lates |= weft__gnet_bit(o);
        g->late[o] = (uint8_t)first;
        g->passed[o] = 0;
    }
    if (!(g->lates & weft__gnet_bit(o))) return;
    uint32_t late = g->late[o];
    if (g->passed[o] < UINT8_MAX) g->passed[o]++;
    if (g->passed[o] < g->conf->patience) return;
    g->insistent |= weft__gnet_bit(o);
    if (g->held & weft__gnet_bit(late)) return;
    g->held |= weft__gnet_bit(late);
    g->held_for[late] = (uint8_t)o;
}

static inline void note_passed(struct weft__gnet *g, uint32_t i, uint32_t o) {
    uint64_t others = g->out[o].requests & g->crossing_armed;
    if (g->conf->patience && (others | (g->lates & weft__gnet_bit(o)))) pass_over(g, i, o, others);
}

/// Of these free inputs, those that output o may take, considering inputs that were passed over.
static __attribute__((noinline)) uint64_t heed_lates(const struct weft__gnet *g, uint32_t o, uint64_t inputs) {
    uint32_t late = g->late[o];
    if (g->insistent & weft__gnet_bit(o) && has_room(g, late, o)) {
        if (inputs & weft__gnet_bit(late)) return weft__gnet_bit(late);
        if (g->out[o].queued) return 0; // the link has cells to send while the output waits
    }
    for (uint64_t left = inputs & g->held; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), to = g->held_for[i];
        if (to != o && has_room(g, i, to)) inputs &= ~weft__gnet_bit(i);
    }
    return inputs;
}

/// The VC whose turn it is among those requested at output o, and the input whose turn it is for that VC.
static __attribute__((noinline)) uint32_t grant_by_vc(const struct weft__gnet *g, uint32_t o, uint64_t inputs) {
    const struct weft__gnet_turns *turns = &g->turns[o];
    uint32_t vcs = 0, fit;
    uint64_t of_vc = 0;
    for (uint64_t left = inputs; left; left &= left - 1, vcs |= fit)
        requesting_vcs(g, (uint32_t)__builtin_ctzll(left), o, g->out[o].room, &fit);
    uint32_t vc = next_of(vcs, turns->vc_at);
    for (uint64_t left = inputs; left; left &= left - 1) {
        requesting_vcs(g, (uint32_t)__builtin_ctzll(left), o, g->out[o].room, &fit);
        if (fit >> vc & 1) of_vc |= left & -left;
    }
    return next_of(of_vc, turns->input_at[vc]);
}

/// Which of an input's VCs that fit an output may cross.
static inline uint32_t vc_of(struct weft__gnet *g, uint32_t i, uint32_t o, uint32_t fit) {
    if (__builtin_expect(!g->conf->vc_turns, 1)) return next_of(fit, g->in[i].vc_at);
    struct weft__gnet_turns *turns = &g->turns[o];
    uint32_t vc = next_of(fit, turns->vc_at);
    turns->vc_at = (uint8_t)((vc + 1) % WEFT_GNET_VCS);
    turns->input_at[vc] = (uint8_t)((i + 1) % WEFT__GNET_PORTS);
    return vc;
}

/// Input i and output o are matched.
static __attribute__((noinline)) void accept_match(struct weft__node *node, struct weft__gnet *g,
                                                   struct weft__worker *w, uint32_t i, uint32_t o) {
    struct weft__gnet_in *in = &g->in[i];
    uint32_t fit, all = requesting_vcs(g, i, o, g->out[o].room, &fit);
    uint32_t vc = vc_of(g, i, o, fit), q = weft__gnet_queue_find(&g->queues, in->queue, vc);
    uint32_t out_vc = g->queues.queue[q].out_vc;
    in->vc_at = (uint8_t)((vc + 1) % WEFT_GNET_VCS);
    in->waiting &= ~(1u << vc);
    note_passed(g, i, o);
    if (all == 1u << vc) end_requests(g, i, o);
    if (__builtin_expect(g->channels != NULL, 0)) weft__gnet_channel_give(g, o, out_vc);
    uint32_t wire, slot = pop_cell(g, q, &wire);
    if (g->queues.queue[q].head)
        request_first(node, g, w, i, q);
    else
        weft__gnet_queue_close(&g->queues, &in->queue, q);
    cross_switch(node, g, w, i, vc, o, out_vc, (struct moving){&g->cells.slot[slot], wire, slot});
}

/// The inputs that output o may be matched with.
static inline uint64_t requests_of(const struct weft__gnet *g, uint32_t o) {
    const struct weft__gnet_out *out = &g->out[o];
    uint64_t inputs = out->requests & ~g->crossing_armed;
    if (__builtin_expect((inputs & g->held) || g->insistent >> o & 1, 0)) inputs = heed_lates(g, o, inputs);
    if (__builtin_expect(out->room == UINT32_MAX, 1)) return inputs;
    for (uint64_t left = inputs; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), fit;
        requesting_vcs(g, i, o, out->room, &fit);
        if (!fit) inputs &= ~weft__gnet_bit(i);
    }
    return inputs;
}

/// The input whose turn it is at output o; WEFT_NONE: the output is busy, or no input may be matched.
static inline uint32_t grant_input(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t o) {
    if (weft__gnet_is_out_busy(g, w->now_ps, o)) {
        if (g->wanted & weft__gnet_bit(o)) await_crossing(node, g, g->crossing_from[o]);
        return WEFT_NONE;
    }
    uint64_t requests = requests_of(g, o);
    if (!requests) return WEFT_NONE;
    return __builtin_expect(g->conf->vc_turns, 0) ? grant_by_vc(g, o, requests) : next_of(requests, g->out[o].grant_at);
}

/// Like match(): a single output is granted and accepted once.
static inline void match_one(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t o) {
    uint32_t i = grant_input(node, g, w, o);
    if (i == WEFT_NONE) return;
    g->out[o].grant_at = (uint8_t)((i + 1) % WEFT__GNET_PORTS);
    g->in[i].accept_at = (uint8_t)((o + 1) % WEFT__GNET_PORTS);
    accept_match(node, g, w, i, o);
}

/// iSLIP among these outputs and the inputs that request them, until no more are matched. Pointers move only in the
/// first iteration. `outs`: not empty.
static void match_outs(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint64_t outs) {
    uint64_t granted[WEFT__GNET_PORTS];
    if (__builtin_expect(g->channels != NULL, 0)) return; // they are matched in the next step
    if (!(outs & (outs - 1))) {
        match_one(node, g, w, (uint32_t)__builtin_ctzll(outs));
        return;
    }
    for (bool first = true;; first = false) {
        uint64_t inputs = 0;
        for (uint64_t left = outs; left; left &= left - 1) {
            uint32_t o = (uint32_t)__builtin_ctzll(left);
            uint32_t i = grant_input(node, g, w, o);
            if (i == WEFT_NONE) {
                outs &= ~weft__gnet_bit(o);
                continue;
            }
            granted[i] = inputs & weft__gnet_bit(i) ? granted[i] | weft__gnet_bit(o) : weft__gnet_bit(o);
            inputs |= weft__gnet_bit(i);
        }
        if (!inputs) return;
        for (; inputs; inputs &= inputs - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(inputs), o = next_of(granted[i], g->in[i].accept_at);
            if (first) {
                g->out[o].grant_at = (uint8_t)((i + 1) % WEFT__GNET_PORTS);
                g->in[i].accept_at = (uint8_t)((o + 1) % WEFT__GNET_PORTS);
            }
            outs &= ~weft__gnet_bit(o);
            accept_match(node, g, w, i, o);
        }
    }
}

/// The outputs that the first cells at input i request.
static uint64_t wanted_by(const struct weft__gnet *g, uint32_t i) {
    uint64_t outs = 0;
    for (uint32_t q = g->in[i].queue; q; q = g->queues.queue[q].next)
        outs |= weft__gnet_bit(g->queues.queue[q].out % WEFT__GNET_PORTS);
    return outs;
}

/// The output that a free input requests in a step, in turn; WEFT__GNET_PORTS: none.
static uint32_t request_in_step(struct weft__gnet *g, weft_time_ps now, uint32_t i) {
    uint64_t outs = 0;
    if (weft__gnet_is_in_busy(g, now, i)) return WEFT__GNET_PORTS;
    for (uint32_t q = g->in[i].queue; q; q = g->queues.queue[q].next) {
        const struct weft__gnet_queue *queue = &g->queues.queue[q];
        if (queue->out & WEFT__GNET_NO_CHANNEL || weft__gnet_is_out_busy(g, now, queue->out)) continue;
        outs |= (uint64_t)(g->out[queue->out].room >> queue->out_vc & 1) << queue->out;
    }
    return outs ? next_of(outs, g->in[i].accept_at) : WEFT__GNET_PORTS;
}

void weft__gnet_on_step(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w) {
    uint64_t requests[WEFT__GNET_PORTS], outs = 0;
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), o = request_in_step(g, w->now_ps, i);
        if (o == WEFT__GNET_PORTS) continue;
        requests[o] = outs & weft__gnet_bit(o) ? requests[o] | weft__gnet_bit(i) : weft__gnet_bit(i);
        outs |= weft__gnet_bit(o);
    }
    weft__gnet_channel_find(g);
    for (; outs; outs &= outs - 1) {
        uint32_t o = (uint32_t)__builtin_ctzll(outs), i = next_of(requests[o], g->out[o].grant_at);
        g->out[o].grant_at = (uint8_t)((i + 1) % WEFT__GNET_PORTS);
        g->in[i].accept_at = (uint8_t)((o + 1) % WEFT__GNET_PORTS);
        accept_match(node, g, w, i, o);
    }
    weft__gnet_channel_take(node, g, w->now_ps);
}

/// What was crossing from input i has crossed.
static __attribute__((noinline)) void on_crossed(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w,
                                                 uint32_t i) {
    uint32_t o = g->crossing_to[i];
    g->crossing_armed &= ~weft__gnet_bit(i);
    bool ends_here = g->endpoints >> o & ~g->taken >> i & 1;
    struct weft_packet cell;
    if (ends_here) cell = g->out[o].cell;
    uint64_t outs = wanted_by(g, i) | (g->wanted & weft__gnet_bit(o));
    if (outs) match_outs(node, g, w, outs);
    if (ends_here) g->on_cell(node, w, &cell, o);
}

/// A cell comes; `entry`: its input and a VC there. One copy for all: it is a quarter of the L1 cache of instructions.
static __attribute__((noinline)) void enter_cell(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w,
                                                 uint32_t entry, const struct weft_packet *cell,
                                                 struct weft__gnet_known known) {
    uint32_t i = weft__gnet_way_out(entry), vc = weft__gnet_way_vc(entry), way = 0, o = 0, wire = weft__gnet_wire(cell);
    struct weft__gnet_in *in = &g->in[i];
    bool is_first = !(in->waiting >> vc & 1), in_busy = false, out_busy = false;
    if (is_first) {
        way = weft__gnet_route(g, w->now_ps, i, cell, known);
        if (__builtin_expect(way == WEFT_NONE, 0)) {
            lose_cell(g, w, cell, WEFT_DROP_NO_ROUTE, w->now_ps, false, i, vc);
            if (is_link(in)) give_back(g, w, i, vc, weft__gnet_units(wire), w->now_ps);
            return;
        }
        o = weft__gnet_way_out(way);
        __builtin_prefetch(&g->out[o]);
        __builtin_prefetch(g->out[o].credits);
        in_busy = weft__gnet_is_in_busy(g, w->now_ps, i);
        out_busy = weft__gnet_is_out_busy(g, w->now_ps, o);
        bool is_held = (g->insistent & weft__gnet_bit(o)) | (g->held & weft__gnet_bit(i)) | (g->channels != NULL);
        if (!in_busy && !out_busy && !is_held && g->out[o].room >> weft__gnet_way_vc(way) & 1) {
            if (g->wanted & weft__gnet_bit(o)) note_passed(g, i, o);
            cross_switch(node, g, w, i, vc, o, weft__gnet_way_vc(way), (struct moving){cell, wire, 0});
            return;
        }
    }
    uint32_t q =
        is_first ? weft__gnet_queue_open(&g->queues, &in->queue, vc) : weft__gnet_queue_find(&g->queues, in->queue, vc);
    struct weft__gnet_queue *queue = &g->queues.queue[q];
    uint16_t *most = &g->depth[WEFT__GNET_MOST_UNITS][i];
    uint32_t slot = keep_cell(g, cell);
    g->cells.slot[slot].port = known.set;
    weft__gnet_queue_push(queue, &g->cells, slot);
    queue->units = (uint16_t)(queue->units + weft__gnet_units(wire));
    if (queue->units > *most) *most = queue->units;
    assert(!is_link(in) || queue->units <= g->depth[WEFT__GNET_FIFO_UNITS][i]); // credits guarantee that
    if (!is_first) return;
    add_request(node, g, w->now_ps, i, queue, way);
    if (in_busy) await_crossing(node, g, i);
    if (out_busy) await_crossing(node, g, g->crossing_from[o]);
    if (!in_busy && !out_busy) match_outs(node, g, w, weft__gnet_bit(o));
}

/// It is traced, has made all hops that a cell may make, or goes as ugal said.
static __attribute__((cold, noinline)) void on_rare_cell(struct weft__node *node, struct weft__gnet *g,
                                                         struct weft__worker *w, struct weft_packet *cell,
                                                         uint32_t port, struct weft__gnet_known known) {
    uint32_t vc = weft__gnet_vc(cell);
    if (weft__gnet_is_traced(cell)) weft__gnet_trace_come(g->tracer, w->now_ps, port, cell);
    if (weft__gnet_hops(cell) == WEFT__GNET_HOPS_MAX) {
        lose_cell(g, w, cell, WEFT_DROP_GNET_HOPS, w->now_ps, false, port, vc);
        give_back(g, w, port, vc, weft__gnet_units(weft__gnet_wire(cell)), w->now_ps);
        return;
    }
    if (g->ugal) weft__gnet_ugal_pass(g, cell);
    enter_cell(node, g, w, weft__gnet_way_of(port, vc), cell, known);
}

void weft__gnet_on_cell(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, struct weft_packet *cell,
                        uint32_t port, struct weft__gnet_known known) {
    bool is_rare = (uint32_t)cell->entropy >> WEFT__GNET_HOPS_AT >= WEFT__GNET_HOPS_MAX; // or it is traced
    if (__builtin_expect(is_rare | (g->ugal != NULL), 0))
        on_rare_cell(node, g, w, cell, port, known);
    else
        enter_cell(node, g, w, weft__gnet_way_of(port, weft__gnet_vc(cell)), cell, known);
}

/// The timer for cells that endpoints send: that of an endpoint's output, which has none of its own.
static uint32_t come_key(const struct weft__gnet *g) {
    return WEFT__GNET_SENT + g->endpoint[0];
}

/// A cell of an endpoint has reached the switch.
static void come_in(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w,
                    const struct weft_packet *cell, uint32_t port) {
    uint32_t own = weft__gnet_vc(cell), vc = g->conf->endpoint_vcs > 1 ? weft__gnet_entry_vc(g, own) : own;
    if (vc != own && weft__gnet_is_traced(cell)) weft__gnet_trace_enter(g->tracer, port, own, vc);
    enter_cell(node, g, w, weft__gnet_way_of(port, vc), cell, weft__gnet_known_set(WEFT__GNET_SET_UNKNOWN));
}

/// Those that have now.
static __attribute__((noinline)) void on_come(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w) {
    struct weft__gnet_coming *c = &g->coming;
    while (c->n && c->cell[c->first].time_ps <= w->now_ps) {
        struct weft_packet cell = weft__gnet_coming_pop(c);
        come_in(node, g, w, &cell, cell.port);
    }
    if (c->n) weft__gnet_due_set(&g->due, come_key(g), c->cell[c->first].time_ps);
}

void weft__gnet_inject(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, struct weft_packet *cell,
                       enum weft__gnet_endpoint endpoint, uint32_t hash, uint32_t class) {
    uint32_t vc = weft_gnet_vc(class, 0), k = hash;
    if (hash == WEFT_NONE) k = g->turn[endpoint]++;
    weft__gnet_set_vc(cell, vc);
    g->counts.cells[weft__gnet_type(cell)] += weft__gnet_cells(cell);
    uint32_t port = g->endpoint[g->first[endpoint] + k % g->n[endpoint]];
    if (__builtin_expect(g->tracer != NULL, 0)) weft__gnet_trace_send(g->tracer, w->now_ps, port, cell);
    if (g->ugal) weft__gnet_ugal_begin(g, cell);
    cell->time_ps = w->now_ps + g->lag_ps;
    if (!g->lag_ps) {
        come_in(node, g, w, cell, port);
        return;
    }
    cell->port = (uint16_t)port;
    weft__gnet_coming_push(&g->coming, cell);
    if (g->coming.n == 1) weft__gnet_due_set(&g->due, come_key(g), cell->time_ps);
}

// --- failures -----------------------------------------------------------------------------------------------------

static bool is_down(const struct weft__port_faults *f, weft_time_ps now, weft_time_ps *next) {
    bool down = false;
    for (uint32_t d = 0; d < f->downs; d++) {
        if (f->down[d].from_ps <= now && now < f->down[d].to_ps) down = true;
        if (f->down[d].from_ps > now && f->down[d].from_ps < *next) *next = f->down[d].from_ps;
        if (f->down[d].to_ps > now && f->down[d].to_ps < *next) *next = f->down[d].to_ps;
    }
    return down;
}

/// Cells that wait for a failed link are lost; cells that have not crossed choose another path.
static void turn_away(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t o) {
    struct weft__gnet_out *out = &g->out[o];
    for (uint32_t vcs = out->queued; vcs; vcs &= vcs - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(vcs), q = weft__gnet_queue_find(&g->queues, out->queue, vc);
        while (g->queues.queue[q].head) {
            uint32_t slot = weft__gnet_queue_pop(&g->queues.queue[q], &g->cells);
            lose_cell(g, w, &g->cells.slot[slot], WEFT_DROP_LINK_DOWN, w->now_ps, true, o, vc);
            weft__gnet_cells_free(&g->cells, slot);
        }
        weft__gnet_queue_close(&g->queues, &out->queue, q);
        g->depth[vc][o] = 0;
        g->port[o].starved_ps[vc] = 0;
    }
    out->queued = 0;
    out->room = UINT32_MAX;
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        for (uint32_t vcs = g->in[i].waiting; vcs; vcs &= vcs - 1) {
            uint32_t vc = (uint32_t)__builtin_ctz(vcs);
            uint32_t q = weft__gnet_queue_find(&g->queues, g->in[i].queue, vc);
            if (g->queues.queue[q].out % WEFT__GNET_PORTS != o) continue;
            take_request_back(g, i, q);
            request_first(node, g, w, i, q);
        }
    }
}

void weft__gnet_on_fault(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w) {
    weft_time_ps next = WEFT_TIME_NEVER;
    uint64_t down = 0, wanted = 0;
    for (uint64_t left = g->links; left; left &= left - 1) {
        uint32_t o = (uint32_t)__builtin_ctzll(left);
        if (g->port[o].faults && is_down(g->port[o].faults, w->now_ps, &next)) down |= weft__gnet_bit(o);
    }
    uint64_t newly = down & ~g->down;
    g->down = down;
    for (; newly; newly &= newly - 1)
        turn_away(node, g, w, (uint32_t)__builtin_ctzll(newly));
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1)
        wanted |= wanted_by(g, (uint32_t)__builtin_ctzll(left));
    if (wanted) match_outs(node, g, w, wanted);
    if (next != WEFT_TIME_NEVER) weft__timer_set(&node->timers, g->key0, next);
}

void weft__gnet_on_due(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t key) {
    if (key < WEFT__GNET_SENT) {
        on_crossed(node, g, w, key - WEFT__GNET_CROSSED);
        return;
    }
    if (key == come_key(g)) {
        on_come(node, g, w);
        return;
    }
    g->sending_armed &= ~weft__gnet_bit(key - WEFT__GNET_SENT);
    serve_out(node, g, w, key - WEFT__GNET_SENT);
}
