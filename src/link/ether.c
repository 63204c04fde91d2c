// SPDX-License-Identifier: Apache-2.0
#include "link/ether.h"

#include "link/lldp.h"
#include "link/port_credit.h"

void weft__ether_init(struct weft__ether *e, const struct weft__ether_setup *setup) {
    const struct weft_switch_conf *conf = setup->conf;
    e->conf = conf;
    e->ops = setup->ops;
    e->ports = setup->ports;
    e->port = weft__arena_lines(setup->arena, setup->ports, sizeof *e->port);
    for (uint32_t k = 0; k < setup->ports; k++)
        weft__port_place(&e->port[k], setup->rows, setup->place + k);
    e->queue = &setup->rows->queue[setup->place];
    e->row_bytes = setup->rows->ports * (uint32_t)sizeof *e->queue;
    e->buffer = conf->buffer.model->ops;
    e->aqm = conf->aqm.model->ops;
    e->asks_leaving = e->aqm->wants_dequeue && e->aqm->wants_dequeue(conf->aqm.conf);
    e->aqm_bytes = (uint32_t)weft_aqm_state_size(e->aqm, conf->aqm.conf);
    if (e->aqm_bytes) e->aqm_at = weft__arena_lines(setup->arena, setup->aqm_queues, e->aqm_bytes);
    e->scheduler = conf->scheduler.model->ops;
    e->buffer_state = weft__arena_lines(setup->arena, 1, e->buffer->state_size(conf->buffer.conf, setup->ports));
    e->buffer->init(e->buffer_state, conf->buffer.conf, setup->ports, conf->pfc.priorities);
    if (e->buffer->keep_at) e->buffer->keep_at(e->buffer_state, &e->queue->group, sizeof *e->queue, e->row_bytes);
    e->ecn_random = weft_random_stream(setup->seed, setup->who, WEFT_RANDOM_ECN);
    if (!setup->pool) return;
    e->pool = setup->pool;
    e->queues_bytes = setup->queues_bytes;
    e->queues = weft__arena_lines(setup->arena, setup->ports, sizeof *e->queues);
    e->group = weft_arena_alloc(setup->arena, setup->ports, sizeof(struct weft__ether_group *));
}

void weft__ether_start(const struct weft__ether *e, struct weft__node *node, bool lldp) {
    for (uint32_t k = 0; lldp && k < e->ports; k++)
        weft__timer_set(&node->timers, weft__ether_key(WEFT__ETHER_KEY_LLDP, k), 0);
}

void weft__ether_drop(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, uint32_t k,
                      enum weft_drop reason) {
    struct weft__port *at = &e->port[k];
    weft__count_drop(w, reason, p);
    weft__port_counters(at, p->priority)->drops++;
    if (__builtin_expect(at->trace != NULL, 0))
        weft__trace_dropped(at->trace, w->now_ps, p, at->id - at->trace->port0, reason, 0);
}

static uint8_t ready_of(const struct weft__ether *e, const struct weft__node *node, uint32_t k) {
    return e->queues ? e->port[k].ready : e->ops->ready(node, k);
}

// --- pauses that we want ------------------------------------------------------------------------------------------

static void trace_pause(const struct weft__ether *e, weft_time_ps now, uint32_t k, uint32_t priority, bool xoff) {
    const struct weft__port *port = &e->port[k];
    weft_bytes level = e->buffer->level(e->buffer_state, e->conf->buffer.conf, k, priority);
    uint32_t at = port->id - port->trace->port0;
    if (xoff)
        weft__trace_xoff(port->trace, now, at, priority, level, WEFT_NONE, 0);
    else
        weft__trace_xon(port->trace, now, at, priority, level);
}

void weft__ether_tell_pause(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                            uint32_t priority, uint32_t out, bool xoff) {
    struct weft__port *port = &e->port[k];
    e->xoffs[priority] += xoff ? 1u : UINT32_MAX;
    if (__builtin_expect(port->trace != NULL, 0)) {
        if (e->ops->trace_pause)
            e->ops->trace_pause(node, w->now_ps, k, priority, out, xoff);
        else
            trace_pause(e, w->now_ps, k, priority, xoff);
    }
    if (weft__port_want_pause(port, priority, xoff)) weft__ether_kick(e, node, w, k);
}

void weft__ether_hold(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                      uint32_t priority) {
    if (e->full || e->buffer->review(e->buffer_state, e->conf->buffer.conf, k, priority) == WEFT_BUFFER_XOFF)
        weft__ether_want_pause(e, node, w, k, priority, WEFT_NONE, true);
}

/// Ends the pause if the buffer allows it.
static bool resume_pause(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                         uint32_t priority) {
    if (e->full || e->buffer->review(e->buffer_state, e->conf->buffer.conf, k, priority) != WEFT_BUFFER_XON)
        return false;
    weft__ether_want_pause(e, node, w, k, priority, WEFT_NONE, false);
    return true;
}

void weft__ether_has_room(struct weft__ether *e, struct weft__node *node, struct weft__worker *w) {
    e->full = false;
    for (uint32_t k = 0; k < e->ports; k++)
        for (uint32_t bits = e->port[k].pfc_xoff; bits; bits &= bits - 1)
            resume_pause(e, node, w, k, (uint32_t)__builtin_ctz(bits));
}

static void refresh_pauses(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &e->port[k];
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        if (!(port->pfc_told >> priority & 1)) continue;
        // The threshold may have moved although this group did not (a shared pool), so look again before repeating.
        if (!resume_pause(e, node, w, k, priority)) port->pending |= (uint16_t)(1u << priority);
    }
    if (port->pending) weft__ether_kick(e, node, w, k);
}

static void set_timer(struct weft__node *node, uint32_t what, uint32_t k, weft_time_ps at) {
    if (at == WEFT_TIME_NEVER)
        weft__timer_cancel(&node->timers, weft__ether_key(what, k));
    else
        weft__timer_set(&node->timers, weft__ether_key(what, k), at);
}

void weft__ether_send_local(struct weft__port *port, const struct weft_pfc_conf *pfc, uint32_t host,
                            struct weft__node *node, struct weft__worker *w, uint32_t k) {
    if (!(port->pending & WEFT__PENDING_PFC)) {
        weft__lldp_send(port, w);
        return;
    }
    set_timer(node, WEFT__ETHER_KEY_REFRESH, k, weft__port_send_pause(port, w, pfc, host));
}

// --- output queues ------------------------------------------------------------------------------------------------

static void leave_queue(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                        const struct weft_packet *p) {
    weft__port_queue_of(&e->port[k], p->priority)->bytes -= p->bytes;
    e->queues[k].bytes -= p->bytes;
    if (e->ops->on_left) e->ops->on_left(node, w, k, p->priority, p->bytes);
}

static uint8_t sendable_of(const struct weft__ether *e, weft_time_ps now, uint32_t k) {
    uint8_t ready = e->port[k].ready;
    return ready ? weft__ether_sendable(&e->conf->pfc, &e->port[k], now, ready) : 0;
}

/// Sends a frame of port `k` at one of the priorities (a non-empty mask). Returns its bytes on the wire; 0: the AQM
/// drops it, and another may be sent.
static uint32_t send_one(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                         uint8_t mask) {
    struct weft__port *port = &e->port[k];
    uint32_t priority = e->scheduler->pick(&port->scheduler, e->conf->scheduler.conf, mask);
    struct weft_packet p;
    weft__port_pop(port, e->pool, priority, &p);
    if (__builtin_expect(e->asks_leaving, 0) && e->ops->on_leaving && !e->ops->on_leaving(node, w, k, &p)) {
        weft__ether_drop(e, w, &p, k, WEFT_DROP_AQM);
        leave_queue(e, node, w, k, &p);
        return 0;
    }
    weft__port_send(port, w, &p);
    if (e->scheduler->on_sent)
        e->scheduler->on_sent(&port->scheduler, e->conf->scheduler.conf, priority, p.bytes + WEFT_WIRE_OVERHEAD);
    leave_queue(e, node, w, k, &p);
    return p.bytes + WEFT_WIRE_OVERHEAD;
}

/// One of the group's ports is free: the port whose turn it is sends, and no other does until its frame is complete.
/// False: that frame was dropped, and it is another's turn.
static bool serve_group(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                        struct weft__ether_group *group) {
    uint32_t ready = 0;
    for (uint32_t i = 0; i < group->ports; i++) {
        uint32_t k = group->port[i];
        bool may = e->port[k].busy_until_ps <= w->now_ps && !e->port[k].pending && sendable_of(e, w->now_ps, k);
        ready |= (uint32_t)may << i;
    }
    if (!ready) return true;
    uint32_t one = weft__share_pick(&group->share, ready), k = group->port[one];
    uint32_t bytes = send_one(e, node, w, k, sendable_of(e, w->now_ps, k));
    if (!bytes) return false;
    weft__share_charge(&group->share, one, bytes);
    weft_time_ps until = w->now_ps + weft__speed_time(group->speed, bytes);
    for (uint32_t i = 0; i < group->ports; i++) {
        struct weft__port *port = &e->port[group->port[i]];
        if (port->busy_until_ps < until) port->busy_until_ps = until;
        weft__ether_arm(port, node, w->now_ps, group->port[i], port->ready);
    }
    return true;
}

static void serve_port(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    if (__builtin_expect(e->group[k] != NULL, 0)) {
        while (!serve_group(e, node, w, e->group[k]))
            continue;
        return;
    }
    uint8_t mask;
    while (e->port[k].busy_until_ps <= w->now_ps && (mask = sendable_of(e, w->now_ps, k)))
        if (send_one(e, node, w, k, mask)) return;
}

void weft__ether_kick(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &e->port[k];
    if (!e->queues) {
        e->ops->kick(node, w, k);
        return;
    }
    if (port->busy_until_ps <= w->now_ps) {
        if (port->pending)
            weft__ether_send_local(port, &e->conf->pfc, WEFT_NONE, node, w, k);
        else
            serve_port(e, node, w, k);
    }
    weft__ether_arm(port, node, w->now_ps, k, port->ready);
}

bool weft__ether_send(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                      const struct weft_packet *p, uint32_t k) {
    struct weft__ether_queues *q = &e->queues[k];
    struct weft__port *port = &e->port[k];
    struct weft__port_queue *queue = weft__port_queue_of(port, p->priority);
    if (__builtin_expect(port->storm >> p->priority & 1, 0) && e->conf->pfc.watchdog_action == WEFT_PFC_WATCHDOG_DROP) {
        weft__ether_drop(e, w, p, k, WEFT_DROP_PFC_WATCHDOG);
        return false;
    }
    if (q->bytes + p->bytes > e->queues_bytes) {
        weft__ether_drop(e, w, p, k, WEFT_DROP_EGRESS_FULL);
        return false;
    }
    q->bytes += p->bytes;
    if (q->bytes > q->bytes_max) q->bytes_max = q->bytes;
    queue->bytes += p->bytes;
    weft__port_count_depth(queue, queue->bytes);
    weft__port_push(port, e->pool, p->priority, p);
    if (port->busy_until_ps <= w->now_ps)
        weft__ether_kick(e, node, w, k);
    else if (port->turn_ps > port->busy_until_ps)
        weft__ether_set_turn(port, node, k, port->busy_until_ps);
    return true;
}

static void purge_port(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                       uint8_t mask) {
    struct weft__port *port = &e->port[k];
    for (uint32_t bits = mask & port->ready; bits; bits &= bits - 1) {
        uint32_t priority = (uint32_t)__builtin_ctz(bits);
        while (port->ready >> priority & 1) {
            struct weft_packet p;
            weft__port_pop(port, e->pool, priority, &p);
            weft__ether_drop(e, w, &p, k, WEFT_DROP_PFC_WATCHDOG);
            leave_queue(e, node, w, k, &p);
        }
    }
}

void weft__ether_each(const struct weft__ether *e,
                      void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context) {
    for (uint32_t k = 0; k < e->ports; k++)
        weft__port_each(&e->port[k], k, on_packet, context);
}

// --- frames that come ---------------------------------------------------------------------------------------------

void weft__ether_drop_full(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p) {
    bool lossless = e->port[p->port].lossless >> p->priority & 1;
    weft__ether_drop(e, w, p, p->port, lossless ? WEFT_DROP_HEADROOM : WEFT_DROP_BUFFER_FULL);
}

enum weft_aqm_verdict weft__ether_judge_leaving(struct weft__ether *e, const void *conf, weft_time_ps now,
                                                const struct weft_packet *p, struct weft__ether_aqm_queue queue) {
    if (!(e->conf->aqm_priorities >> p->priority & 1)) return WEFT_AQM_PASS;
    struct weft_aqm_fact fact;
    weft__ether_aqm_describe(now, p, queue, now - p->time_ps, &fact);
    return e->aqm->on_dequeue(weft__ether_aqm_state(e, queue.number), conf, &fact, &e->ecn_random);
}

bool weft__ether_judge(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, uint32_t k,
                       struct weft__ether_aqm_queue queue, bool *ret_mark) {
    enum weft_aqm_verdict verdict = weft__ether_judge_arriving(e, e->conf->aqm.conf, w->now_ps, p, queue);
    *ret_mark = verdict == WEFT_AQM_MARK;
    if (verdict < WEFT_AQM_DROP) return true;
    weft__ether_drop(e, w, p, k, WEFT_DROP_AQM);
    return false;
}

bool weft__ether_enter(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, bool *ret_xoff) {
    enum weft_buffer_answer answer =
        e->buffer->admit(e->buffer_state, e->conf->buffer.conf, p->port, WEFT_NONE, p->priority, p->bytes);
    if (answer == WEFT_BUFFER_DROP) {
        weft__ether_drop_full(e, w, p);
        return false;
    }
    *ret_xoff = answer == WEFT_BUFFER_XOFF || e->full;
    return true;
}

/// DCBX has agreed on a different set of lossless priorities.
static void set_lossless(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &e->port[k];
    uint8_t before = port->lossless, after = port->lldp->in_force;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (before & ~after & 1u << p) weft__ether_want_pause(e, node, w, k, p, WEFT_NONE, false);
    weft__port_set_lossless(port, w->now_ps, after);
    e->buffer->set_lossless(e->buffer_state, e->conf->buffer.conf, k, after);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (after & ~before & 1u << p &&
            e->buffer->review(e->buffer_state, e->conf->buffer.conf, k, p) == WEFT_BUFFER_XOFF)
            weft__ether_want_pause(e, node, w, k, p, k, true);
    weft__ether_kick(e, node, w, k);
    if (e->ops->on_pauses) e->ops->on_pauses(node, w, k);
}

uint8_t weft__ether_watch(struct weft__port *port, const struct weft_pfc_conf *pfc, struct weft__node *node,
                          struct weft__worker *w, uint32_t k, uint8_t ready, uint8_t *ret_ended) {
    weft_time_ps next;
    uint8_t begun = weft__port_watchdog(port, pfc, w->now_ps, ready, ret_ended, &next);
    set_timer(node, WEFT__ETHER_KEY_WATCHDOG, k, next);
    return begun;
}

void weft__ether_watchdog(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    uint8_t ended;
    uint8_t begun = weft__ether_watch(&e->port[k], &e->conf->pfc, node, w, k, ready_of(e, node, k), &ended);
    if (begun && e->conf->pfc.watchdog_action == WEFT_PFC_WATCHDOG_DROP) {
        if (e->queues)
            purge_port(e, node, w, k, begun);
        else
            e->ops->purge(node, w, k, begun);
    }
    if (begun || ended) weft__ether_kick(e, node, w, k);
}

void weft__ether_on_local(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                          const struct weft_packet *p) {
    uint32_t k = p->port;
    struct weft__port *port = &e->port[k];
    if (p->kind == WEFT_PACKET_ROOM) {
        weft__port_credit_come(port, w->now_ps, p);
        weft__ether_kick(e, node, w, k);
        return;
    }
    if (p->kind == WEFT_PACKET_LLDP) {
        if (weft__lldp_on_frame(port, w, p)) set_lossless(e, node, w, k);
        if (port->lldp) weft__lldp_set_timer(port, &node->timers, weft__ether_key(WEFT__ETHER_KEY_LLDP, k));
        return;
    }
    w->tally.delivered_bytes += p->bytes;
    weft__port_on_pause(port, w->now_ps, p);
    if (e->conf->pfc.watchdog_ps != WEFT_TIME_NEVER) weft__ether_watchdog(e, node, w, k);
    weft__ether_kick(e, node, w, k);
    if (e->ops->on_pauses) e->ops->on_pauses(node, w, k);
}

// --- timers -------------------------------------------------------------------------------------------------------

static void on_lldp_timer(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &e->port[k];
    if (weft__lldp_on_timer(port, w->now_ps)) set_lossless(e, node, w, k);
    weft__lldp_set_timer(port, &node->timers, weft__ether_key(WEFT__ETHER_KEY_LLDP, k));
    if (port->pending) weft__ether_kick(e, node, w, k);
}

void weft__ether_on_timer(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t what,
                          uint32_t k) {
    switch (what) {
    case WEFT__ETHER_KEY_TX:
        e->port[k].turn_ps = WEFT_TIME_NEVER;
        weft__ether_kick(e, node, w, k);
        break;
    case WEFT__ETHER_KEY_REFRESH:
        refresh_pauses(e, node, w, k);
        break;
    case WEFT__ETHER_KEY_WATCHDOG:
        weft__ether_watchdog(e, node, w, k);
        break;
    case WEFT__ETHER_KEY_LLDP:
        on_lldp_timer(e, node, w, k);
        break;
    }
}

void weft__ether_sample(const struct weft__ether *e, struct weft__worker *w, uint32_t k) {
    weft_bytes ingress[WEFT_PRIORITIES];
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        ingress[p] = e->buffer->level(e->buffer_state, e->conf->buffer.conf, k, p);
    weft__port_sample(&e->port[k], w, ingress);
}

void weft__ether_finish(struct weft__ether *e, weft_time_ps now) {
    for (uint32_t k = 0; k < e->ports; k++) {
        weft__port_finish(&e->port[k], now);
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            weft__port_count_ingress(&e->port[k], p, e->buffer->level_max(e->buffer_state, e->conf->buffer.conf, k, p));
    }
}
