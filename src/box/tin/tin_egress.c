// SPDX-License-Identifier: Apache-2.0
// Packets that leave a Clique at a TiN (Gibson et al., NSDI 2022, section 3.3). The RTSs of a port and priority are
// queued. The port's scheduler chooses among priorities that its neighbour does not pause, and fetches packets: it
// sends a CTS if the egress buffer has reserved room, while at most a window is in flight. An RTS that finds too much
// announced ahead of it is answered by a CTD. Packets of a flow leave in the order of their CTSs, each when it is
// complete; the AQM of the TiN (switch.aqm) may mark or drop it by the depth of the RTS queue at that time, or when it
// leaves for the wire, by that depth or by its wait since its RTS came. A packet that is not complete after
// reassembly_timeout has lost a cell and is given up: its bytes were counted where they were lost, the packet is
// counted here.
#include "base/grow.h"
#include "box/tin/tin.h"
#include "weft/memory.h"

#include <assert.h>

enum { FETCHES_FIRST = 16, FETCHES_MOST = 1 << WEFT__TIN_FETCH_BITS };

static void append_fetch(struct weft__tin *tin, struct weft__tin_list *list, uint32_t slot) {
    weft__tin_append(list, &tin->fetch->link, sizeof *tin->fetch, slot);
}
static void remove_from(struct weft__tin *tin, struct weft__tin_list *list, uint32_t slot) {
    weft__tin_remove(list, &tin->fetch->link, sizeof *tin->fetch, slot);
}

static uint32_t rts_bytes(const struct weft_packet *rts) {
    return rts->psn >> 16;
}

/// The host that a packet of the queue pair and kind is for.
static uint32_t host_of(const struct weft__tin *tin, const struct weft_packet *p) {
    const struct weft_qp_conf *qp = &tin->hosts->qp[p->qp];
    return p->kind == WEFT_PACKET_DATA ? qp->dst : qp->src;
}

// --- the record ---------------------------------------------------------------------------------------------------

// For the record of a run: the thresholds apply to the queue of RTSs.
static uint32_t node_port(const struct weft__tin *tin, uint32_t k) {
    return tin->ether.port[k].id - tin->trace->port0;
}

static __attribute__((cold, noinline)) void trace_announced(const struct weft__tin *tin, weft_time_ps now, uint32_t k,
                                                            const struct weft_packet *rts) {
    struct weft_packet p = {.qp = rts->qp, .kind = rts->kind, .priority = rts->priority};
    bool paused = weft__port_paused(&tin->ether.port[k], now) >> rts->priority & 1;
    weft__trace_enqueued(tin->trace, now, &p, node_port(tin, k), tin->port[k].rts_bytes[rts->priority], paused);
}

static __attribute__((cold, noinline)) void trace_given_up(const struct weft__tin *tin, weft_time_ps now,
                                                           const struct weft__tin_fetch *f) {
    struct weft__trace_loss loss = {
        .kind = WEFT_EVENT_DROPPED,
        .port = node_port(tin, f->port),
        .priority = f->priority,
        .qp = f->packet.qp,
        .reason = WEFT_DROP_REASSEMBLY,
        .bytes = f->packet.bytes,
        .n = 1,
    };
    weft__trace_lost(tin->trace, now, &loss, 0);
}

// --- asking -------------------------------------------------------------------------------------------------------

static void answer_rts(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                       const struct weft_packet *rts, enum weft__cell_type type, uint32_t fetch) {
    struct weft_packet cell = {
        .bytes = WEFT_GNET_CELL_MIN,
        .dst = weft__gnet_pair(weft__gnet_from(rts), tin->gnet.self),
        .qp = rts->psn & 0xffff,
        .psn = fetch,
        .entropy = weft__gnet_head(type, 0, weft__gnet_is_traced(rts)) & 0x3fffu,
        .kind = WEFT_PACKET_ACK, // not the packet's: with a slot for qp, nothing of a queue pair goes to other ranks
        .priority = rts->priority,
        .ecn = rts->ecn,
        .flags = rts->flags,
        .dscp = rts->dscp,
    };
    w->tally.injected_bytes += cell.bytes;
    weft__gnet_inject(node, &tin->gnet, w, &cell, WEFT__GNET_IP, WEFT_NONE,
                      weft_gnet_class(WEFT_GNET_KIND_CTS, weft__tin_level(tin, rts->priority)));
}

/// A slot; WEFT_NONE: all are in use.
static uint32_t take_slot(struct weft__tin *tin) {
    uint32_t slot = tin->fetch_free.first;
    if (slot != WEFT_NONE) {
        remove_from(tin, &tin->fetch_free, slot);
        return slot;
    }
    if (tin->fetches == FETCHES_MOST) return WEFT_NONE;
    tin->fetch = weft__memory_double(WEFT_MEMORY_QUEUE, tin->fetch, tin->fetches, &tin->fetch_capacity, FETCHES_FIRST,
                                     sizeof *tin->fetch);
    tin->fetch[tin->fetches].use = 0;
    return tin->fetches++;
}

static void free_slot(struct weft__tin *tin, uint32_t slot) {
    struct weft__tin_fetch *f = &tin->fetch[slot];
    assert(f->used);
    f->used = false;
    f->use = (uint8_t)((f->use + 1) % WEFT__TIN_FETCH_USES);
    append_fetch(tin, &tin->fetch_free, slot);
}

static void fetch_packet(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k,
                         uint32_t slot, const struct weft_packet *rts) {
    struct weft__tin_port *port = &tin->port[k];
    struct weft__tin_fetch *f = &tin->fetch[slot];
    uint32_t flow = weft__gnet_hash(rts) % WEFT__TIN_FLOWS;
    *f = (struct weft__tin_fetch){
        .packet = {.qp = rts->qp, .kind = rts->kind},
        .since_ps = w->now_ps,
        .joined_ps = rts->time_ps,
        .next = WEFT_NONE,
        .bytes = (uint16_t)rts_bytes(rts),
        .port = (uint16_t)k,
        .priority = rts->priority,
        .flow = (uint8_t)flow,
        .used = true,
        .use = f->use,
    };
    append_fetch(tin, &tin->fetching, slot);
    weft__gnet_note_slot(&tin->gnet, slot, port->endpoint == WEFT__GNET_ETHERNET);
    uint32_t key = weft__tin_key(tin, WEFT__TIN_KEY_FETCHING);
    if (weft__timer_at(&node->timers, key) == WEFT_TIME_NEVER)
        weft__timer_set(&node->timers, key, w->now_ps + tin->conf->reassembly_timeout_ps);
    if (port->head[flow] == WEFT_NONE)
        port->head[flow] = slot;
    else
        tin->fetch[port->tail[flow]].next = slot;
    port->tail[flow] = slot;
    port->fetching_bytes += f->bytes;
    port->egress_bytes += f->bytes;
    if (port->egress_bytes > tin->gnet.counts.egress_bytes_max) tin->gnet.counts.egress_bytes_max = port->egress_bytes;
    tin->gnet.counts.cts++;
    answer_rts(node, tin, w, rts, WEFT__GNET_CTS, slot | (uint32_t)tin->fetch[slot].use << WEFT__TIN_FETCH_BITS);
}

/// Whether a port may request that much more.
static bool has_room(const struct weft__tin *tin, const struct weft__tin_port *port, uint32_t bytes) {
    if (port->fetching_bytes && port->fetching_bytes + bytes > tin->conf->fetch_bytes) return false;
    return !port->egress_bytes || port->egress_bytes + bytes <= tin->conf->egress_bytes;
}

/// Notes that an RTS is answered, if its packet is followed: the packet is named by its slot at its ingress.
static __attribute__((cold, noinline)) void follow_grant(const struct weft__tin *tin, weft_time_ps now,
                                                         const struct weft_packet *rts) {
    struct weft__follow *f = tin->gnet.follow_log;
    if (rts->kind != WEFT_PACKET_DATA || !weft__follow_has_qp(f, rts->qp)) return;
    weft__follow_two(f,
                     (struct weft__follow_record){.time_ps = now,
                                                  .qp = rts->qp,
                                                  .psn = rts->psn & 0xffff,
                                                  .what = (uint8_t)(WEFT_FOLLOWED_STAGE | WEFT_STAGE_GRANTED << 4)},
                     0, rts->time_ps);
}

void weft__tin_grant(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k) {
    struct weft__tin_port *port = &tin->port[k];
    const struct weft_switch_conf *ethernet = tin->ether.conf;
    uint8_t mask;
    while ((mask = weft__ether_sendable(&ethernet->pfc, &tin->ether.port[k], w->now_ps, port->ready))) {
        uint32_t priority = tin->ether.scheduler->pick(&port->scheduler, ethernet->scheduler.conf, mask);
        assert(mask >> priority & 1);
        struct weft__fifo *queue = &port->rts[priority];
        uint32_t bytes = rts_bytes(weft__fifo_head(queue));
        if (!has_room(tin, port, bytes)) return;
        uint32_t slot = take_slot(tin);
        if (slot == WEFT_NONE) return;
        struct weft_packet rts;
        weft__fifo_pop(queue, tin->pool, &rts);
        if (__builtin_expect(tin->gnet.follow_log != NULL, 0)) follow_grant(tin, w->now_ps, &rts);
        weft__tin_count_ns(&tin->gnet.counts.seen->rts_wait_ns, w->now_ps - rts.time_ps);
        port->rts_bytes[priority] -= bytes;
        if (tin->trace)
            weft__trace_dequeued(tin->trace, w->now_ps, node_port(tin, k), priority, port->rts_bytes[priority]);
        if (!queue->n) port->ready &= (uint8_t) ~(1u << priority);
        if (tin->ether.scheduler->on_sent)
            tin->ether.scheduler->on_sent(&port->scheduler, ethernet->scheduler.conf, priority,
                                          bytes + WEFT_WIRE_OVERHEAD);
        fetch_packet(node, tin, w, k, slot, &rts);
    }
}

void weft__tin_on_rts(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                      const struct weft_packet *rts) {
    const struct weft__tin_places *places = tin->places;
    uint32_t host = host_of(tin, rts), priority = rts->priority;
    bool is_here = places->tin_of_host[host] != WEFT_TIN_NONE;
    uint32_t k = is_here ? places->port_of_host[host] : places->port_out[tin->gnet.self];
    assert(k < tin->ether.ports); // or another TiN has asked for a port that leads nowhere
    struct weft__tin_port *port = &tin->port[k];
    if (port->rts_bytes[priority] > tin->conf->ctd_bytes) {
        answer_rts(node, tin, w, rts, WEFT__GNET_CTD, 0);
        return;
    }
    struct weft_tin_outcome *counts = &tin->gnet.counts;
    weft_histogram_add(&counts->seen->rts_packets, port->rts[priority].n);
    struct weft_packet kept = *rts;
    kept.time_ps = w->now_ps;
    weft__fifo_push(&port->rts[priority], tin->pool, &kept);
    port->ready |= (uint8_t)(1u << priority);
    port->rts_bytes[priority] += rts_bytes(rts);
    if (tin->trace) trace_announced(tin, w->now_ps, k, rts);
    if (port->rts_bytes[priority] > counts->rts_bytes_max) counts->rts_bytes_max = port->rts_bytes[priority];
    if (port->rts[priority].n > counts->rts_packets_max) counts->rts_packets_max = port->rts[priority].n;
    weft__tin_grant(node, tin, w, k);
}

// --- what comes ---------------------------------------------------------------------------------------------------

static void mark_packet(struct weft__tin *tin, weft_time_ps now, struct weft_packet *p, uint32_t k) {
    p->ecn = WEFT_ECN_CE;
    weft__port_counters(&tin->ether.port[k], p->priority)->ecn_marked++;
    tin->gnet.counts.marked++;
    if (tin->trace) weft__trace_marked(tin->trace, now, p, node_port(tin, k), tin->port[k].rts_bytes[p->priority]);
}

/// What the AQM watches: a packet joins with its RTS, and leaves for the wire.
static struct weft__ether_aqm_queue queue_of(const struct weft__tin *tin, const struct weft_packet *p, uint32_t k) {
    return (struct weft__ether_aqm_queue){weft__ether_aqm_number(k, p->priority), tin->port[k].rts_bytes[p->priority]};
}

bool weft__tin_on_leaving(struct weft__node *node, struct weft__worker *w, uint32_t k, struct weft_packet *p) {
    struct weft__tin *tin = node->state;
    enum weft_aqm_verdict verdict =
        weft__ether_judge_leaving(&tin->ether, tin->ether.conf->aqm.conf, w->now_ps, p, queue_of(tin, p, k));
    if (verdict == WEFT_AQM_MARK) mark_packet(tin, w->now_ps, p, k);
    return verdict < WEFT_AQM_DROP;
}

/// A packet is complete and its turn has come. Restores the queue pair's fields, which cells have overwritten.
static void deliver_packet(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t slot) {
    struct weft_packet p = tin->fetch[slot].packet;
    uint32_t k = tin->fetch[slot].port;
    p.dst = host_of(tin, &p);
    p.entropy = tin->hosts->qp[p.qp].entropy & 0x3fffu;
    p.bytes = tin->fetch[slot].bytes;
    p.time_ps = tin->fetch[slot].joined_ps;
    w->tally.injected_bytes += WEFT__TIN_L2_BYTES;
    free_slot(tin, slot);
    if (__builtin_expect(tin->gnet.follow_log != NULL, 0))
        weft__tin_follow_stage(tin, w->now_ps, &p, p.psn, WEFT_STAGE_DELIVERED);
    bool marked, stays = weft__ether_judge(&tin->ether, w, &p, k, queue_of(tin, &p, k), &marked);
    if (marked) mark_packet(tin, w->now_ps, &p, k);
    if (!stays || !weft__ether_send(&tin->ether, node, w, &p, k))
        tin->port[k].egress_bytes -= p.bytes; // the caller grants
}

/// Delivers a flow's complete packets whose turn has come.
static void pass_flow(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k,
                      uint32_t flow) {
    struct weft__tin_port *port = &tin->port[k];
    uint32_t slot;
    while ((slot = port->head[flow]) != WEFT_NONE && tin->fetch[slot].whole) {
        port->head[flow] = tin->fetch[slot].next;
        deliver_packet(node, tin, w, slot);
    }
}

/// A packet became complete this long after it was requested.
static inline void note_transition(struct weft__tin *tin, weft_time_ps now, weft_time_ps took) {
    struct weft_tin_transition *seen = weft__gnet_transition(&tin->gnet, now);
    if (__builtin_expect(!seen, 1)) return;
    seen->packets++;
    seen->fetch_ps += took;
    if (took > seen->fetch_max_ps) seen->fetch_max_ps = took;
}

/// The packet that a cell belongs to; NULL: none that is awaited.
static struct weft__tin_fetch *find_fetch(const struct weft__tin *tin, const struct weft_packet *cell) {
    uint32_t slot = weft__tin_fetch_slot(cell), use = weft__gnet_from(cell) >> WEFT__TIN_FETCH_BITS;
    struct weft__tin_fetch *f = slot < tin->fetches ? &tin->fetch[slot] : NULL;
    bool is_awaited = f && f->used && f->use == use && !f->whole && f->packet.qp == cell->qp &&
                      f->packet.kind == cell->kind && (!f->begun || f->packet.psn == cell->psn);
    return is_awaited ? f : NULL;
}

/// Its cell adds to the packet.
static void add_cell(struct weft__tin_fetch *f, const struct weft_packet *cell, uint32_t bytes) {
    f->packet = *cell;
    f->packet.bytes = (uint16_t)bytes;
    f->begun = true;
}

uint32_t weft__tin_on_crossing(struct weft__tin *tin, const struct weft_packet *cell, uint32_t in, weft_time_ps end) {
    struct weft__tin_fetch *f = find_fetch(tin, cell);
    if (!f) return in;
    uint32_t bytes = f->packet.bytes + cell->bytes;
    bool is_last = end >= f->last_ps, is_whole = bytes + WEFT__TIN_L2_BYTES >= f->bytes;
    if (is_whole && is_last) return in;
    uint32_t awaited = is_whole ? f->last_in : WEFT_NONE;
    add_cell(f, cell, is_whole ? bytes - f->last_bytes : bytes);
    if (!is_last) return awaited;
    f->last_in = (uint8_t)in;
    f->last_bytes = cell->bytes;
    f->last_ps = end;
    return WEFT_NONE;
}

void weft__tin_on_data(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                       const struct weft_packet *cell) {
    struct weft__tin_fetch *f = find_fetch(tin, cell);
    if (!f) {
        tin->gnet.counts.cells_late++;
        weft__count_lost_bytes(w, WEFT_DROP_REASSEMBLY, cell->bytes);
        return;
    }
    add_cell(f, cell, f->packet.bytes + cell->bytes);
    if (f->packet.bytes + WEFT__TIN_L2_BYTES < f->bytes) return;
    f->whole = true;
    if (__builtin_expect(tin->gnet.follow_log != NULL, 0))
        weft__tin_follow_stage(tin, w->now_ps, cell, cell->psn, WEFT_STAGE_WHOLE);
    weft__tin_count_ns(&tin->gnet.counts.seen->fetch_ns, w->now_ps - f->since_ps);
    note_transition(tin, w->now_ps, w->now_ps - f->since_ps);
    uint32_t slot = weft__tin_fetch_slot(cell), k = f->port, flow = f->flow;
    remove_from(tin, &tin->fetching, slot);
    tin->port[k].fetching_bytes -= f->bytes;
    if (tin->port[k].head[flow] == slot) pass_flow(node, tin, w, k, flow);
    weft__tin_grant(node, tin, w, k);
}

/// Removes a packet that will never be complete from its flow.
static void abandon_packet(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t slot) {
    struct weft__tin_fetch *f = &tin->fetch[slot];
    struct weft__tin_port *port = &tin->port[f->port];
    uint32_t before = WEFT_NONE, k = f->port, flow = f->flow;
    for (uint32_t at = port->head[flow]; at != slot; at = tin->fetch[at].next)
        before = at;
    if (before == WEFT_NONE)
        port->head[flow] = f->next;
    else
        tin->fetch[before].next = f->next;
    if (port->tail[flow] == slot) port->tail[flow] = before;
    if (tin->trace) trace_given_up(tin, w->now_ps, f);
    weft__count(w, WEFT__COUNT_DROPS + WEFT_DROP_REASSEMBLY, 1);
    weft__count_lost_bytes(w, WEFT_DROP_REASSEMBLY, f->packet.bytes);
    struct weft_tin_transition *seen = weft__gnet_transition(&tin->gnet, w->now_ps);
    tin->gnet.counts.packets_lost++;
    if (seen) seen->packets_lost++;
    assert(port->fetching_bytes >= f->bytes && port->egress_bytes >= f->bytes);
    port->fetching_bytes -= f->bytes;
    port->egress_bytes -= f->bytes;
    free_slot(tin, slot);
    pass_flow(node, tin, w, k, flow);
    weft__tin_grant(node, tin, w, k);
}

void weft__tin_give_up(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w) {
    weft_time_ps timeout = tin->conf->reassembly_timeout_ps;
    uint32_t slot;
    while ((slot = tin->fetching.first) != WEFT_NONE && tin->fetch[slot].since_ps + timeout <= w->now_ps) {
        remove_from(tin, &tin->fetching, slot);
        abandon_packet(node, tin, w, slot);
    }
    if (slot != WEFT_NONE)
        weft__timer_set(&node->timers, weft__tin_key(tin, WEFT__TIN_KEY_FETCHING), tin->fetch[slot].since_ps + timeout);
}
