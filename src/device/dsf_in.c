// SPDX-License-Identifier: Apache-2.0
// The DSF interface node: a Jericho chip in an RDSW or EDSW. Life of a packet: it arrives at an Ethernet port
// (on_frame) as at a switch; the AQM marks it by the depth of its virtual output queue (VOQ), the buffer admits it at
// its port and priority and says whether its neighbour is to pause, and it waits in the VOQ of the port, anywhere in
// the fabric, that it is to leave by (dsf_in_voq.c). The VOQ asks that port for credits; the port grants them at its
// own rate, VOQ by VOQ (dsf_in_credit.c). Against its credits the packet is cut into cells, which are spread over all
// lanes that lead to its interface node. There cells become packets again, and packets stand in turn
// (dsf_in_reassembly.c), before they wait, shortly, for their port (weft__in_egress).
//
// Sources: Meta, "Disaggregated Scheduled Fabric: Scaling Meta's AI Journey" (engineering blog, 2025); FBOSS
// (Jericho3Asic, SaiPlatform); Broadcom's SDK for Jericho 2 (OpenBCM 6.5.24: presets of VOQs, cells, control cells).
// Differences: traffic classes are the eight priorities; packets between ports of one interface node ask for credits as
// all others do, and pass from input to output in no time; cells of a packet enter their lanes at one instant.
#include "device/dsf_in.h"

#include "device/lldp.h"
#include "weft/memory.h"

void weft__in_drop(struct weft__in *in, struct weft__worker *w, const struct weft_packet *p, uint32_t port,
                   enum weft_drop reason) {
    struct weft__port *at = &in->port[port].port;
    weft__count_drop(w, reason, p->bytes);
    at->counters[p->priority].drops++;
    if (__builtin_expect(at->trace != NULL, 0))
        weft__trace_dropped(at->trace, w->now_ps, p, at->id - at->trace->port0, reason, 0);
}

// --- an Ethernet port: what leaves --------------------------------------------------------------------------------

static void kick(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k);

/// Tells the neighbour at `k` to pause or resume a priority.
static void want_pause(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k,
                       uint32_t priority, bool xoff) {
    struct weft__port *port = &in->port[k].port;
    if (!(port->lossless >> priority & 1) || !((port->pfc_xoff >> priority ^ (uint32_t)xoff) & 1)) return;
    in->xoffs[priority] += xoff ? 1u : UINT32_MAX;
    if (__builtin_expect(port->trace != NULL, 0)) {
        weft_bytes level = in->buffer->level(in->buffer_state, in->ethernet->buffer.conf, k, priority);
        uint32_t at = port->id - port->trace->port0;
        if (xoff)
            weft__trace_xoff(port->trace, w->now_ps, at, priority, level, WEFT_NONE, 0);
        else
            weft__trace_xon(port->trace, w->now_ps, at, priority, level);
    }
    if (weft__port_want_pause(port, priority, xoff)) kick(node, in, w, k);
}

void weft__in_release(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                      const struct weft_packet *p) {
    if (in->buffer->release(in->buffer_state, in->ethernet->buffer.conf, p->port, p->priority, p->bytes) ==
            WEFT_BUFFER_XON &&
        in->xoffs[p->priority])
        want_pause(node, in, w, p->port, p->priority, false);
}

static void send_local(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &in->port[k].port;
    if (!(port->pending & WEFT__PENDING_PFC)) {
        weft__lldp_send(port, w);
        return;
    }
    weft_time_ps refresh = weft__port_send_pause(port, w, &in->ethernet->pfc, WEFT_NONE);
    if (refresh == WEFT_TIME_NEVER)
        weft__timer_cancel(&node->timers, weft__in_key(WEFT__IN_KEY_REFRESH, k));
    else
        weft__timer_set(&node->timers, weft__in_key(WEFT__IN_KEY_REFRESH, k), refresh);
}

static void arm(struct weft__node *node, struct weft__in *in, weft_time_ps now, uint32_t k) {
    struct weft__in_port *p = &in->port[k];
    if (!p->ready_mask && !p->port.pending) return;
    weft_time_ps at = p->port.busy_until_ps;
    if (at <= now) at = weft__port_pause_end(&p->port, p->ready_mask); // free, so all that is ready is paused
    weft__timer_set(&node->timers, weft__in_key(WEFT__IN_KEY_TX, k), at);
}

static void transmit(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p,
                     uint32_t k) {
    struct weft__in_port *port = &in->port[k];
    struct weft__port_queue *queue = &port->port.queue[p->priority];
    weft__port_send(&port->port, w, p);
    if (in->scheduler->on_sent)
        in->scheduler->on_sent(&port->port.scheduler, in->ethernet->scheduler.conf, p->priority,
                               p->bytes + WEFT_WIRE_OVERHEAD);
    bool stopped = queue->bytes > in->conf->egress_stop_bytes;
    queue->bytes -= p->bytes;
    port->bytes -= p->bytes;
    if (stopped && queue->bytes <= in->conf->egress_stop_bytes) weft__in_arm_credits(node, in, w->now_ps, k);
}

static uint8_t sendable(struct weft__in *in, weft_time_ps now, struct weft__in_port *port, uint8_t ready) {
    uint8_t paused = weft__port_paused(&port->port, now);
    if (in->ethernet->pfc.watchdog_action == WEFT_PFC_WATCHDOG_FORWARD) paused &= (uint8_t)~port->port.storm;
    return ready & (uint8_t)~paused;
}

static void serve(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__in_port *port = &in->port[k];
    uint8_t mask = port->ready_mask ? sendable(in, w->now_ps, port, port->ready_mask) : 0;
    if (!mask) return;
    uint32_t priority = in->scheduler->pick(&port->port.scheduler, in->ethernet->scheduler.conf, mask);
    struct weft_packet p;
    weft__fifo_pop(&port->queue[priority], in->pool, &p);
    if (!port->queue[priority].n) port->ready_mask &= (uint8_t) ~(1u << priority);
    transmit(node, in, w, &p, k);
}

static void kick(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &in->port[k].port;
    if (port->busy_until_ps <= w->now_ps) {
        if (port->pending)
            send_local(node, in, w, k);
        else
            serve(node, in, w, k);
    }
    arm(node, in, w->now_ps, k);
}

void weft__in_egress(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p,
                     uint32_t k) {
    struct weft__in_port *port = &in->port[k];
    struct weft__port_queue *queue = &port->port.queue[p->priority];
    if (__builtin_expect(port->port.storm >> p->priority & 1, 0) &&
        in->ethernet->pfc.watchdog_action == WEFT_PFC_WATCHDOG_DROP) {
        weft__in_drop(in, w, p, k, WEFT_DROP_PFC_WATCHDOG);
        return;
    }
    if (port->bytes + p->bytes > in->conf->egress_bytes) {
        weft__in_drop(in, w, p, k, WEFT_DROP_EGRESS_FULL);
        return;
    }
    port->bytes += p->bytes;
    if (port->bytes > port->bytes_max) port->bytes_max = port->bytes;
    queue->bytes += p->bytes;
    if (queue->bytes > queue->bytes_max) queue->bytes_max = queue->bytes;
    weft__fifo_push(&port->queue[p->priority], in->pool, p);
    port->ready_mask |= (uint8_t)(1u << p->priority);
    if (port->port.busy_until_ps <= w->now_ps)
        kick(node, in, w, k);
    else if (weft__timer_at(&node->timers, weft__in_key(WEFT__IN_KEY_TX, k)) > port->port.busy_until_ps)
        weft__timer_set(&node->timers, weft__in_key(WEFT__IN_KEY_TX, k), port->port.busy_until_ps);
}

// --- an Ethernet port: what comes ---------------------------------------------------------------------------------

/// AQM verdict and admission; false: dropped and counted. *ret_xoff: its ingress group is above XOFF now.
static bool enter_buffer(struct weft__in *in, struct weft__worker *w, struct weft_packet *p, weft_bytes depth,
                         bool *ret_xoff) {
    bool mark = false;
    if (in->ethernet->aqm_priorities >> p->priority & 1) {
        enum weft_aqm_verdict verdict =
            in->aqm->on_enqueue(in->ethernet->aqm.conf, depth, p->bytes, p->ecn != WEFT_ECN_NOT_ECT, &in->ecn_random);
        if (verdict == WEFT_AQM_DROP) {
            weft__in_drop(in, w, p, p->port, WEFT_DROP_AQM);
            return false;
        }
        mark = verdict == WEFT_AQM_MARK;
    }
    enum weft_buffer_answer answer =
        in->buffer->admit(in->buffer_state, in->ethernet->buffer.conf, p->port, p->priority, p->bytes);
    if (answer == WEFT_BUFFER_DROP) {
        bool lossless = in->port[p->port].port.lossless >> p->priority & 1;
        weft__in_drop(in, w, p, p->port, lossless ? WEFT_DROP_HEADROOM : WEFT_DROP_BUFFER_FULL);
        return false;
    }
    if (mark) {
        p->ecn = WEFT_ECN_CE;
        in->port[p->port].port.counters[p->priority].ecn_marked++;
    }
    *ret_xoff = answer == WEFT_BUFFER_XOFF;
    return true;
}

/// A frame came; p->port: the Ethernet port, of those.
static void on_frame(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p) {
    uint32_t in_port = p->port;
    struct weft__outside_exit at = {in->in_of_host[p->dst], in->port_of_host[p->dst]};
    bool xoff, leaves = weft__in_is_outside(in, p->dst);
    if (leaves && !weft__outside_exit(in->outside, w->now_ps, p, &at)) at.in = WEFT_NONE;
    uint32_t to = at.in;
    if (to == WEFT_NONE || (to != in->self && !weft__spray_to(&in->spray, w->now_ps, to)->n)) {
        weft__in_drop(in, w, p, in_port, WEFT_DROP_NO_ROUTE);
        return;
    }
    if (__builtin_expect(in->known != NULL, 0) && !weft__known_at(in->known, w->now_ps, to)) {
        weft__in_drop(in, w, p, in_port, WEFT_DROP_NEIGHBOUR);
        return;
    }
    uint32_t voq = weft__in_voq(in, to, at.port, p->priority);
    if (!enter_buffer(in, w, p, in->voq[voq].bytes, &xoff)) return;
    weft__in_enqueue(node, in, w, p, voq);
    if (xoff &&
        in->buffer->review(in->buffer_state, in->ethernet->buffer.conf, in_port, p->priority) == WEFT_BUFFER_XOFF)
        want_pause(node, in, w, in_port, p->priority, true); // unless it was sent at once
}

static void set_lossless(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &in->port[k].port;
    uint8_t before = port->lossless, after = port->lldp->in_force;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (before & ~after & 1u << p) want_pause(node, in, w, k, p, false);
    weft__port_set_lossless(port, w->now_ps, after);
    in->buffer->set_lossless(in->buffer_state, in->ethernet->buffer.conf, k, after);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (after & ~before & 1u << p &&
            in->buffer->review(in->buffer_state, in->ethernet->buffer.conf, k, p) == WEFT_BUFFER_XOFF)
            want_pause(node, in, w, k, p, true);
    kick(node, in, w, k);
    weft__in_arm_credits(node, in, w->now_ps, k);
}

/// Discards what waits for the port at these priorities.
static void purge(struct weft__in *in, struct weft__worker *w, uint32_t k, uint8_t mask) {
    struct weft__in_port *port = &in->port[k];
    for (uint32_t bits = mask & port->ready_mask; bits; bits &= bits - 1) {
        uint32_t priority = (uint32_t)__builtin_ctz(bits);
        while (port->queue[priority].n) {
            struct weft_packet p;
            weft__fifo_pop(&port->queue[priority], in->pool, &p);
            port->port.queue[priority].bytes -= p.bytes;
            port->bytes -= p.bytes;
            weft__in_drop(in, w, &p, k, WEFT_DROP_PFC_WATCHDOG);
        }
        port->ready_mask &= (uint8_t) ~(1u << priority);
    }
}

static void on_watchdog(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    uint8_t ended;
    weft_time_ps next;
    uint8_t begun =
        weft__port_watchdog(&in->port[k].port, &in->ethernet->pfc, w->now_ps, in->port[k].ready_mask, &ended, &next);
    if (begun && in->ethernet->pfc.watchdog_action == WEFT_PFC_WATCHDOG_DROP) purge(in, w, k, begun);
    if (next == WEFT_TIME_NEVER)
        weft__timer_cancel(&node->timers, weft__in_key(WEFT__IN_KEY_WATCHDOG, k));
    else
        weft__timer_set(&node->timers, weft__in_key(WEFT__IN_KEY_WATCHDOG, k), next);
    if (begun || ended) kick(node, in, w, k);
}

static void on_local(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                     const struct weft_packet *p) {
    struct weft__port *port = &in->port[p->port].port;
    if (p->kind == WEFT_PACKET_LLDP) {
        if (weft__lldp_on_frame(port, w, p)) set_lossless(node, in, w, p->port);
        if (port->lldp) weft__lldp_set_timer(port, &node->timers, weft__in_key(WEFT__IN_KEY_LLDP, p->port));
        return;
    }
    w->tally.delivered_bytes += p->bytes;
    weft__port_on_pause(port, w->now_ps, p);
    if (in->ethernet->pfc.watchdog_ps != WEFT_TIME_NEVER) on_watchdog(node, in, w, p->port);
    kick(node, in, w, p->port);
    weft__in_arm_credits(node, in, w->now_ps, p->port);
}

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
            else
                weft__in_on_request(node, in, w, weft__cell_from(p), p->qp / WEFT_PRIORITIES, p->qp % WEFT_PRIORITIES,
                                    p->flags, p->psn);
        }
        return;
    }
    p->port = in->slot[p->port] & (uint16_t)~WEFT__IN_ETHERNET;
    if (weft_packet_is_local(p)) {
        on_local(node, in, w, p);
    } else {
        p->priority = in->ethernet->dscp_map[p->dscp] & 7u;
        on_frame(node, in, w, p);
    }
}

static void on_refresh(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &in->port[k].port;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        if (!(port->pfc_told >> priority & 1)) continue;
        if (in->buffer->review(in->buffer_state, in->ethernet->buffer.conf, k, priority) == WEFT_BUFFER_XON)
            want_pause(node, in, w, k, priority, false);
        else
            port->pending |= (uint16_t)(1u << priority);
    }
    if (port->pending) kick(node, in, w, k);
}

static void on_sample(struct weft__node *node, struct weft__in *in, struct weft__worker *w) {
    for (uint32_t k = 0; k < in->node_ports; k++) {
        if (!in->sampled[k] || !(in->slot[k] & WEFT__IN_ETHERNET)) continue;
        uint32_t own = in->slot[k] & ~(uint32_t)WEFT__IN_ETHERNET;
        weft_bytes ingress[WEFT_PRIORITIES];
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            ingress[p] = in->buffer->level(in->buffer_state, in->ethernet->buffer.conf, own, p);
        weft__port_sample(&in->port[own].port, w, ingress);
    }
    weft__timer_set(&node->timers, weft__in_box_key(in, WEFT__IN_KEY_SAMPLE), w->now_ps + in->sample_interval_ps);
}

static void on_lldp_timer(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t k) {
    struct weft__port *port = &in->port[k].port;
    if (weft__lldp_on_timer(port, w->now_ps)) set_lossless(node, in, w, k);
    weft__lldp_set_timer(port, &node->timers, weft__in_key(WEFT__IN_KEY_LLDP, k));
    if (port->pending) kick(node, in, w, k);
}

static void on_box_timer(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t what) {
    switch (what) {
    case WEFT__IN_KEY_REASSEMBLY:
        weft__in_give_up(node, in, w);
        break;
    case WEFT__IN_KEY_VOQS:
        weft__in_look_at_voqs(node, in, w);
        break;
    case WEFT__IN_KEY_SAMPLE:
        on_sample(node, in, w);
        break;
    }
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__in *in = node->state;
    uint32_t k = key / WEFT__IN_KEYS_A_PORT;
    if (k >= in->ports) {
        on_box_timer(node, in, w, key - in->ports * WEFT__IN_KEYS_A_PORT);
        return;
    }
    switch (key % WEFT__IN_KEYS_A_PORT) {
    case WEFT__IN_KEY_TX:
        kick(node, in, w, k);
        break;
    case WEFT__IN_KEY_REFRESH:
        on_refresh(node, in, w, k);
        break;
    case WEFT__IN_KEY_WATCHDOG:
        on_watchdog(node, in, w, k);
        break;
    case WEFT__IN_KEY_LLDP:
        on_lldp_timer(node, in, w, k);
        break;
    case WEFT__IN_KEY_CREDIT:
        weft__in_grant(node, in, w, k);
        break;
    }
}

static void in_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__in *in = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        if (!is_ethernet(in, p))
            __builtin_prefetch(&in->stream_of[weft__cell_from(p) * WEFT_PRIORITIES + p->priority]);
        else if (!weft_packet_is_local(p))
            __builtin_prefetch(&in->in_of_host[p->dst]);
    }
}

/// The slot in which a cell belongs; nothing is decided here. `word`: whether it came by an Ethernet port.
static void in_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__in *in = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        arrival[i].word = is_ethernet(in, p);
        if (arrival[i].word || weft__cell_is_control(p)) continue;
        uint32_t stream = in->stream_of[weft__cell_from(p) * WEFT_PRIORITIES + p->priority];
        if (!stream) continue;
        const struct weft__in_stream *s = &in->stream[stream - 1];
        __builtin_prefetch(&s->slot[weft__cell_sequence(p) & s->mask]);
    }
}

static void in_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                   weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}

const struct weft__node_ops weft__in_ops = {.fetch = in_fetch, .prepare = in_prepare, .run = in_run};
