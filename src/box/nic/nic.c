// SPDX-License-Identifier: Apache-2.0
// The RDMA NIC. A flow is one message a queue pair, cut into packets of the MTU. The sender paces each queue pair at
// the rate that its congestion control gives, and serves queue pairs that may send in turn; control packets (ACK, NAK,
// CNP, READ requests) go before data of the same priority. The receiver takes packets in order only (go-back-N): a gap
// is answered by one NAK, and everything until the missing packet is discarded; or, if it is set to accept them, in any
// order (transport/reorder.c).
//
// Sources: IBTA volume 1 chapter 9 (reliable connection: PSN, ACK coalescing, NAK sequence error, local ACK timeout;
// READ responses need no ACK and so have no window, the requester asks again); RoCEv2 annex A17; Zhu et al., SIGCOMM'15
// (CNP, notification point). Differences: PSNs do not wrap; a READ request asks for all that is still missing.
#include "box/nic/nic.h"

#include "link/lldp.h"
#include "transport/program.h"
#include "transport/reorder.h"
#include "transport/rma.h"
#include "weft/memory.h"

uint32_t weft__qp_frame_bytes(const struct weft__qp_conf *qp, uint32_t psn) {
    uint32_t bytes = WEFT_FRAME_DATA + ((weft__qp_payload(qp, psn) + 3) & ~3u); // BTH PadCnt: payload in words
    bool first = psn == 0, last = psn + 1 == qp->packets;
    if (qp->verb == WEFT_VERB_WRITE && first) bytes += WEFT_FRAME_RETH;
    if (qp->verb == WEFT_VERB_READ && (first || last)) bytes += WEFT_FRAME_AETH;
    return bytes < WEFT_FRAME_MIN ? WEFT_FRAME_MIN : bytes;
}

static void kick(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
static void post(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn);

static void progress(struct weft__worker *w) {
    w->tally.progress_ps = w->now_ps;
}

static struct weft_event *trace_qp(struct weft__nic *nic, weft_time_ps now, enum weft_event_kind kind, uint32_t qp) {
    return weft__trace_qp(nic->trace, now, kind, nic->end.hosts->qp[qp].flow, qp);
}

static void trace_start(struct weft__nic *nic, weft_time_ps now, uint32_t qp) {
    uint32_t flow = nic->end.hosts->qp[qp].flow;
    if (qp && nic->end.hosts->qp[qp - 1].flow == flow) return; // its queue pairs start together
    struct weft_event *event = trace_qp(nic, now, WEFT_EVENT_FLOW_STARTED, qp);
    if (!event) return;
    event->value = nic->end.hosts->flow[flow].bytes;
    event->priority = nic->end.hosts->qp[qp].priority;
}

static weft_time_ps timeout_after(const struct weft__nic *nic, weft_time_ps time) {
    return nic->conf->timeout_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : time + nic->conf->timeout_ps;
}

// --- sender -------------------------------------------------------------------------------------------------------

static void ready_push(struct weft__nic *nic, uint32_t qp) {
    uint32_t priority = nic->end.hosts->qp[qp].priority;
    struct weft__nic_backlog *backlog = &nic->backlog[priority];
    nic->end.hosts->sender[qp].ready = true;
    if (backlog->ready == WEFT_NONE)
        backlog->ready = qp;
    else
        nic->end.hosts->sender[backlog->ready_last].ready_next = qp;
    backlog->ready_last = qp;
    nic->ready_mask |= (uint8_t)(1u << priority);
}

static uint32_t ready_pop(struct weft__nic *nic, uint32_t priority) {
    struct weft__nic_backlog *backlog = &nic->backlog[priority];
    uint32_t qp = backlog->ready;
    if (qp == backlog->ready_last) {
        backlog->ready = WEFT_NONE;
        nic->ready_mask &= (uint8_t) ~(1u << priority);
    } else {
        backlog->ready = nic->end.hosts->sender[qp].ready_next;
    }
    nic->end.hosts->sender[qp].ready = false;
    return qp;
}

/// A frame leaves. What the link loses no NIC behind it will take.
static void put(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    w->tally.injected_bytes += p->bytes;
    if (weft__port_send(&nic->port, w, p)) nic->room_bytes -= p->bytes;
}

static bool may_send(const struct weft__qp_conf *conf, const struct weft__qp_sender *s) {
    if (s->done || s->next >= s->posted) return false;
    return (weft_bytes)(s->next - s->una) * conf->mtu < s->window_bytes;
}

/// Puts a queue pair that may send where it belongs: into the list, or to sleep until its pace allows.
static void schedule(struct weft__node *node, struct weft__nic *nic, uint32_t qp, weft_time_ps free_ps) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    if (s->ready || !s->started || !may_send(conf, s)) return;
    weft_time_ps at = s->next_send_ps;
    if (__builtin_expect(nic->hold_until_ps > free_ps, 0) && nic->end.hosts->hold[qp].until_ps > at)
        at = nic->end.hosts->hold[qp].until_ps;
    if (at <= free_ps)
        ready_push(nic, qp);
    else
        weft__timer_set(&node->timers, weft__key_pace(conf->at_src), at);
}

typedef void cc_handler(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);

/// Responses to a READ have no window, for nothing acknowledges them.
static weft_bytes limit_window(const struct weft__nic *nic, uint32_t qp, weft_bytes window) {
    if (nic->end.hosts->qp[qp].verb == WEFT_VERB_READ) return UINT64_MAX;
    return nic->conf->window_bytes && nic->conf->window_bytes < window ? nic->conf->window_bytes : window;
}

/// The rate has changed: what was left of the wait for the next packet goes at the new one, as in a token bucket. Else
/// a queue pair cut to a trickle would sleep through its increases.
static void change_pace(struct weft__node *node, const struct weft__nic *nic, uint32_t qp, weft_time_ps now,
                        weft_rate_bps rate_before) {
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    uint32_t key = weft__key_pace(nic->end.hosts->qp[qp].at_src);
    if (s->rate_bps == rate_before || s->next_send_ps <= now) return;
    s->next_send_ps = now + (weft_time_ps)((unsigned __int128)(s->next_send_ps - now) * rate_before / s->rate_bps);
    if (weft__timer_at(&node->timers, key) != WEFT_TIME_NEVER) weft__timer_set(&node->timers, key, s->next_send_ps);
}

/// Tells the congestion control a fact and does what it answers. `handler` may be NULL: it does not want to know.
static void tell_cc(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                    cc_handler *handler, uint32_t bytes, weft_time_ps rtt) {
    if (!handler) return;
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    uint32_t key = weft__key_cc(nic->end.hosts->qp[qp].at_src);
    struct weft_cc_fact fact = {
        .now_ps = w->now_ps,
        .line_rate_bps = nic->line_rate_bps,
        .bytes = bytes,
        .packet_bytes = nic->end.hosts->qp[qp].mtu,
        .timeouts = s->timeouts,
        .rtt_ps = rtt,
    };
    weft_time_ps timer = weft__timer_at(&node->timers, key);
    struct weft_cc_act act = {.rate_bps = s->rate_bps, .timer_ps = timer, .window_bytes = s->window_bytes};
    handler(s->cc, nic->conf->cc.conf, &fact, &act);
    weft_rate_bps rate_before = s->rate_bps;
    s->rate_bps = act.rate_bps;
    if (__builtin_expect(nic->trace != NULL, 0) && act.rate_bps != rate_before)
        weft__trace_rate(nic->trace, w->now_ps, nic->end.hosts->qp[qp].at_src, nic->end.hosts->qp[qp].flow, qp,
                         act.rate_bps, rate_before, nic->line_rate_bps);
    change_pace(node, nic, qp, w->now_ps, rate_before);
    s->window_bytes = limit_window(nic, qp, act.window_bytes);
    if (act.timer_ps == timer) return;
    if (act.timer_ps == WEFT_TIME_NEVER)
        weft__timer_cancel(&node->timers, key);
    else
        weft__timer_set(&node->timers, key, act.timer_ps);
}

static void start_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    s->started = true;
    s->rate_bps = nic->line_rate_bps;
    s->window_bytes = limit_window(nic, qp, UINT64_MAX);
    s->progress_ps = w->now_ps;
    if (nic->end.hosts->qp[qp].verb != WEFT_VERB_READ && !weft__rma_has(&nic->end, qp)) {
        w->tally.started++;
        if (__builtin_expect(nic->trace != NULL, 0)) trace_start(nic, w->now_ps, qp);
    }
    progress(w);
    tell_cc(node, nic, w, qp, nic->cc->on_start, 0, 0);
    uint32_t packets = nic->end.hosts->qp[qp].packets;
    if (nic->conf->work_request_ps && packets != WEFT__MESSAGES && nic->end.hosts->qp[qp].verb != WEFT_VERB_READ) {
        s->posted = 0;
        post(node, nic, w, qp, packets);
    }
}

/// After the packet just sent: when the next one may go at the queue pair's rate.
static void pace(const struct weft__nic *nic, struct weft__qp_sender *s, weft_time_ps now, uint32_t wire_bytes) {
    if (s->rate_bps >= nic->line_rate_bps)
        s->next_send_ps = now;
    else
        s->next_send_ps = now + weft_time_of_bytes(wire_bytes, s->rate_bps);
}

static void send_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    bool again = s->next < s->highest, last = s->next + 1 == s->posted;
    bool full = (weft_bytes)(s->next + 1 - s->una) * conf->mtu >= s->window_bytes; // nothing more before an ACK
    struct weft_packet p = {
        .bytes = (uint16_t)weft__qp_frame_bytes(conf, s->next),
        .dst = conf->dst,
        .qp = qp,
        .psn = s->next,
        .entropy = conf->entropy & 0x3fffu,
        .kind = WEFT_PACKET_DATA,
        .priority = conf->priority & 7u,
        .dscp = nic->conf->dscp[conf->priority] & 63u,
        .ecn = nic->conf->ecn ? WEFT_ECN_ECT0 : WEFT_ECN_NOT_ECT,
        .flags = last || full ? WEFT_PACKET_ACK_REQUEST : 0u,
    };
    if (__builtin_expect(conf->packets == WEFT__MESSAGES, 0)) weft__message_packet(&nic->end, qp, &p);
    put(nic, w, &p);
    if (again)
        nic->end.hosts->outcome[conf->flow].packets_again++;
    else
        s->highest = s->next + 1;
    if (s->next == s->una) s->progress_ps = w->now_ps; // nothing was outstanding
    if (!s->sampling) {
        s->sampling = w->now_ps > 0; // not what leaves at the very beginning
        nic->end.hosts->sample[qp] = (struct weft__qp_sample){.sent_ps = w->now_ps, .psn = s->next};
    }
    s->next++;
    if (conf->verb != WEFT_VERB_READ &&
        weft__timer_at(&node->timers, weft__key_timeout(conf->at_src)) == WEFT_TIME_NEVER)
        weft__timer_set(&node->timers, weft__key_timeout(conf->at_src), timeout_after(nic, w->now_ps));
    uint32_t wire = p.bytes + WEFT_WIRE_OVERHEAD;
    tell_cc(node, nic, w, qp, nic->cc->on_sent, wire, 0);
    if (last && conf->verb == WEFT_VERB_READ) // nothing will acknowledge it; a new request starts again
        weft__timer_cancel(&node->timers, weft__key_cc(conf->at_src));
    pace(nic, s, w->now_ps, wire);
    schedule(node, nic, qp, nic->port.busy_until_ps);
}

static void finish_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    s->done = true;
    weft__timer_cancel(&node->timers, weft__key_pace(conf->at_src));
    weft__timer_cancel(&node->timers, weft__key_timeout(conf->at_src));
    weft__timer_cancel(&node->timers, weft__key_cc(conf->at_src));
    if (conf->verb == WEFT_VERB_READ) return;
    w->tally.finished++;
    if (--nic->end.hosts->qps_unacked[conf->flow] == 0) nic->end.hosts->outcome[conf->flow].acked_ps = w->now_ps;
}

/// All messages of the connection that the queue pair is one of are acknowledged.
static void finish_connection(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    uint32_t flow = nic->end.hosts->qp[qp].flow;
    while (qp && nic->end.hosts->qp[qp - 1].flow == flow)
        qp--;
    for (uint32_t k = 0; k < nic->end.hosts->flow[flow].qps; k++)
        finish_sender(node, nic, w, qp + k);
}

/// Everything below psn has arrived; `again`: go back to it.
static void acknowledged(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                         uint32_t psn, bool again) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    if (s->done || psn < s->una) return; // an old one
    uint32_t newly = psn - s->una;
    if (newly) {
        s->una = psn;
        s->progress_ps = w->now_ps;
        s->timeouts = 0;
        if (s->next < psn) s->next = psn;
        weft_time_ps rtt = weft__nic_round_trip(nic, qp, psn, w->now_ps);
        tell_cc(node, nic, w, qp, nic->cc->on_ack, newly * conf->mtu, rtt);
    }
    if (s->una == conf->packets) {
        finish_sender(node, nic, w, qp);
        return;
    }
    if (again && s->next > psn) {
        tell_cc(node, nic, w, qp, nic->cc->on_loss, 0, 0);
        s->next = psn;
        s->sampling = false;
    }
    if (__builtin_expect(conf->packets == WEFT__MESSAGES, 0) && newly && weft__message_acked(node, &nic->end, w, qp)) {
        finish_connection(node, nic, w, qp);
        return;
    }
    schedule(node, nic, qp, w->now_ps);
    kick(node, nic, w);
}

static void on_timeout(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    uint32_t key = weft__key_timeout(nic->end.hosts->qp[qp].at_src);
    if (s->una == s->next) return; // nothing outstanding; the next packet sent sets it again
    weft_time_ps due = timeout_after(nic, s->progress_ps);
    if (due > w->now_ps) {
        weft__timer_set(&node->timers, key, due);
        return;
    }
    s->progress_ps = w->now_ps;
    if (s->timeouts < UINT8_MAX) s->timeouts++;
    weft__timer_set(&node->timers, key, timeout_after(nic, w->now_ps));
    acknowledged(node, nic, w, qp, s->una, true);
}

/// A READ request came: respond from psn.
static void on_read_request(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                            uint32_t psn) {
    struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
    if (!s->started) start_sender(node, nic, w, qp);
    s->next = s->una = psn;
    s->sampling = false;
    schedule(node, nic, qp, w->now_ps);
    kick(node, nic, w);
}

// --- control packets ----------------------------------------------------------------------------------------------

/// A packet of that priority would be the next to be sent, and now.
static bool may_pass(struct weft__nic *nic, weft_time_ps now, uint32_t priority) {
    return nic->port.busy_until_ps <= now && !nic->port.pending && !weft__nic_backlog(nic) &&
           !nic->scheduler->on_sent && !weft__nic_is_held(nic) && !(weft__port_paused(&nic->port, now) >> priority & 1);
}

static void send_control(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                         enum weft_packet_kind kind, uint32_t psn, uint32_t priority) {
    static const uint16_t bytes[WEFT_PACKET_KINDS] = {
        [WEFT_PACKET_ACK] = WEFT_FRAME_ACK,   [WEFT_PACKET_NAK] = WEFT_FRAME_ACK, [WEFT_PACKET_CNP] = WEFT_FRAME_CNP,
        [WEFT_PACKET_READ] = WEFT_FRAME_READ, [WEFT_PACKET_CTS] = WEFT_FRAME_CTS,
    };
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft_packet p = {
        .bytes = bytes[kind],
        .dst = conf->src, // control packets go against the data
        .qp = qp,
        .psn = psn,
        .entropy = conf->entropy & 0x3fffu,
        .kind = kind & 15u,
        .priority = priority & 7u,
        .dscp = nic->conf->dscp[priority] & 63u,
    };
    if (may_pass(nic, w->now_ps, priority)) {
        put(nic, w, &p);
        return;
    }
    weft__fifo_push(&nic->backlog[priority].control, nic->end.pool, &p);
    nic->control_mask |= (uint8_t)(1u << priority);
    kick(node, nic, w);
}

static uint32_t ack_priority(const struct weft__nic *nic, uint32_t data_priority) {
    return nic->conf->ack_own_priority ? (uint32_t)nic->conf->ack_priority : data_priority;
}

// --- receiver -----------------------------------------------------------------------------------------------------

static void request_read(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    send_control(node, nic, w, qp, WEFT_PACKET_READ, nic->end.hosts->receiver[qp].expected, conf->priority);
    weft__timer_set(&node->timers, weft__key_read(nic, conf->at_dst), timeout_after(nic, w->now_ps));
}

static void on_read_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    if (nic->end.hosts->qp[qp].packets == WEFT__MESSAGES) {
        weft__message_look(node, &nic->end, w, qp);
        return;
    }
    struct weft__qp_receiver *r = &nic->end.hosts->receiver[qp];
    if (r->progress_ps == WEFT_TIME_NEVER) { // the start of the flow
        w->tally.started++;
        if (__builtin_expect(nic->trace != NULL, 0)) trace_start(nic, w->now_ps, qp);
        progress(w);
    } else if (timeout_after(nic, r->progress_ps) > w->now_ps) {
        weft__timer_set(&node->timers, weft__key_read(nic, nic->end.hosts->qp[qp].at_dst),
                        timeout_after(nic, r->progress_ps));
        return;
    }
    r->progress_ps = w->now_ps;
    request_read(node, nic, w, qp);
}

/// Notification point, Zhu et al., SIGCOMM 2015, section 3.1: a marked packet is answered at once if no CNP was sent
/// for cnp_interval; else it is remembered, and answered when the interval is over. Here that is at the first packet
/// after it, marked or not, so that no timer is needed: a flow that sends nothing more has nothing to slow down.
static void notify(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, bool marked) {
    struct weft__qp_receiver *r = &nic->end.hosts->receiver[qp];
    r->marked |= marked;
    if (!r->marked || (r->notified && w->now_ps - r->cnp_ps < nic->conf->cnp_interval_ps)) return;
    r->marked = false;
    r->notified = true;
    r->cnp_ps = w->now_ps;
    weft__count(w, WEFT__COUNT_CNPS, 1);
    if (__builtin_expect(nic->trace != NULL, 0)) {
        struct weft_event *event = trace_qp(nic, w->now_ps, WEFT_EVENT_CNP_SENT, qp);
        if (event) event->priority = (uint8_t)nic->conf->cnp_priority;
    }
    send_control(node, nic, w, qp, WEFT_PACKET_CNP, (uint32_t)w->now_ps, (uint32_t)nic->conf->cnp_priority);
}

static void finish_receiver(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft_flow_outcome *outcome = &nic->end.hosts->outcome[conf->flow];
    bool last = --nic->end.hosts->qps_left[conf->flow] == 0;
    if (last) {
        outcome->end_ps = w->now_ps;
        if (__builtin_expect(nic->trace != NULL, 0)) {
            struct weft_event *event = trace_qp(nic, w->now_ps, WEFT_EVENT_FLOW_FINISHED, qp);
            if (event) event->value = w->now_ps - nic->end.hosts->flow[conf->flow].start_ps;
        }
        weft__count(w, WEFT__COUNT_FLOWS_DONE, 1);
    }
    if (conf->verb != WEFT_VERB_READ) return;
    weft__timer_cancel(&node->timers, weft__key_read(nic, conf->at_dst));
    w->tally.finished++; // responses need no acknowledgement
    if (last) outcome->acked_ps = w->now_ps;
}

/// Asks the sender to go back to the expected packet; once, until it comes.
static void ask_again(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                      uint32_t data_priority) {
    struct weft__qp_receiver *r = &nic->end.hosts->receiver[qp];
    if (r->nak_sent) return;
    r->nak_sent = true;
    if (nic->end.hosts->qp[qp].verb == WEFT_VERB_READ)
        request_read(node, nic, w, qp);
    else
        send_control(node, nic, w, qp, WEFT_PACKET_NAK, r->expected, ack_priority(nic, data_priority));
}

static inline uint32_t payload_of(const struct weft__nic *nic, const struct weft_packet *p) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[p->qp];
    if (conf->packets != WEFT__MESSAGES) return weft__qp_payload(conf, p->psn);
    return p->flags & WEFT_PACKET_LAST ? weft__message_last_payload(&nic->end, p) : weft__message_payload(p);
}

static inline void deliver(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    uint32_t payload = payload_of(nic, p);
    w->tally.delivered_bytes += p->bytes;
    weft__count(w, WEFT__COUNT_PAYLOAD_BYTES, payload);
    nic->end.hosts->receiver[p->qp].delivered_bytes += payload;
    nic->end.hosts->receiver[p->qp].progress_ps = w->now_ps;
    progress(w);
}

/// A packet came while an earlier one is missing.
static void on_early(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                     const struct weft_packet *p) {
    struct weft_flow_outcome *outcome = &nic->end.hosts->outcome[nic->end.hosts->qp[p->qp].flow];
    bool accept = nic->conf->out_of_order == WEFT_OUT_OF_ORDER_ACCEPT;
    struct weft__qp_reorder *reorder = accept ? &nic->end.hosts->reorder[p->qp] : NULL;
    enum weft__reorder verdict =
        accept ? weft__reorder_put(reorder, nic->conf, w->now_ps, nic->end.hosts->receiver[p->qp].expected, p->psn,
                                   p->flags & WEFT_PACKET_LAST)
               : WEFT__REORDER_TOO_FAR;
    outcome->out_of_order++;
    if (verdict == WEFT__REORDER_PLACED) {
        outcome->out_of_order_placed++;
        deliver(nic, w, p);
    } else {
        weft__nic_discard(nic, w, p, verdict == WEFT__REORDER_TOO_FAR ? WEFT_DROP_OUT_OF_ORDER : WEFT_DROP_DUPLICATE);
    }
    if (verdict == WEFT__REORDER_TOO_FAR || weft__reorder_is_overdue(reorder, nic->conf, w->now_ps))
        ask_again(node, nic, w, p->qp, p->priority);
}

static void on_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                    const struct weft_packet *p) {
    const struct weft__qp_conf *conf = &nic->end.hosts->qp[p->qp];
    struct weft__qp_receiver *r = &nic->end.hosts->receiver[p->qp];
    bool read = conf->verb == WEFT_VERB_READ, filled = false;
    uint32_t messages = 0; // that had come already and are whole now
    notify(node, nic, w, p->qp, p->ecn == WEFT_ECN_CE);
    if (p->psn > r->expected) {
        on_early(node, nic, w, p);
        return;
    }
    if (p->psn < r->expected) {
        weft__nic_discard(nic, w, p, WEFT_DROP_DUPLICATE);
        if (!read) send_control(node, nic, w, p->qp, WEFT_PACKET_ACK, r->expected, ack_priority(nic, p->priority));
        return;
    }
    deliver(nic, w, p);
    r->expected++;
    if (__builtin_expect(nic->conf->out_of_order == WEFT_OUT_OF_ORDER_ACCEPT, 0)) {
        r->expected = weft__reorder_next(&nic->end.hosts->reorder[p->qp], nic->conf, w->now_ps, p->psn, &messages);
        filled = r->expected > p->psn + 1;
    }
    r->nak_sent = false;
    if (r->expected == conf->packets) finish_receiver(node, nic, w, p->qp);
    if (__builtin_expect(p->flags & WEFT_PACKET_LAST, 0)) weft__message_arrived(node, &nic->end, w, p->qp);
    for (; messages; messages--)
        weft__message_arrived(node, &nic->end, w, p->qp);
    if (!read && (++r->unacked >= nic->conf->ack_every || p->flags & WEFT_PACKET_ACK_REQUEST || filled)) {
        r->unacked = 0;
        send_control(node, nic, w, p->qp, WEFT_PACKET_ACK, r->expected, ack_priority(nic, p->priority));
    }
}

static void take(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_DATA) {
        on_data(node, nic, w, p);
        return;
    }
    w->tally.delivered_bytes += p->bytes;
    switch (p->kind) {
    case WEFT_PACKET_ACK:
        acknowledged(node, nic, w, p->qp, p->psn, false);
        break;
    case WEFT_PACKET_NAK:
        acknowledged(node, nic, w, p->qp, p->psn, true);
        break;
    case WEFT_PACKET_CNP:
        nic->end.hosts->outcome[nic->end.hosts->qp[p->qp].flow].cnps++;
        if (__builtin_expect(nic->trace != NULL, 0)) {
            struct weft_event *event = trace_qp(nic, w->now_ps, WEFT_EVENT_CNP_RECEIVED, p->qp);
            nic->trace->cnp = weft__trace_id(nic->trace, event);
            if (event) {
                event->priority = p->priority;
                event->more = weft__event_tag_cnp(p->psn);
            }
        }
        if (!nic->end.hosts->sender[p->qp].done) tell_cc(node, nic, w, p->qp, nic->cc->on_cnp, 0, 0);
        break;
    case WEFT_PACKET_READ:
        on_read_request(node, nic, w, p->qp, p->psn);
        break;
    case WEFT_PACKET_CTS:
        weft__message_granted(node, &nic->end, w, p->qp, p->psn);
        break;
    }
}

// --- the port -----------------------------------------------------------------------------------------------------

/// Queue pairs that may not send any more leave the lists when it is their turn: those that were told to pause, and
/// after a timeout that was too early, those whose packets to be sent again were acknowledged while they waited.
static void skip_idle(struct weft__node *node, struct weft__nic *nic, weft_time_ps now, uint32_t priority) {
    while (nic->ready_mask >> priority & 1) {
        uint32_t qp = nic->backlog[priority].ready;
        const struct weft__qp_sender *s = &nic->end.hosts->sender[qp];
        bool held = __builtin_expect(nic->hold_until_ps > now, 0) && nic->end.hosts->hold[qp].until_ps > now;
        if (!held && may_send(&nic->end.hosts->qp[qp], s)) return;
        ready_pop(nic, priority);
        if (held) schedule(node, nic, qp, now);
    }
}

static void serve(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    if (weft__nic_is_held(nic)) return; // until the NIC takes something
    for (uint32_t bits = nic->ready_mask; bits; bits &= bits - 1)
        skip_idle(node, nic, w->now_ps, (uint32_t)__builtin_ctz(bits));
    uint8_t mask = weft__ether_sendable(&nic->conf->pfc, &nic->port, w->now_ps, weft__nic_backlog(nic));
    if (!mask) return;
    bool choice = mask & (mask - 1) || nic->scheduler->on_sent; // what is charged must also be granted
    uint32_t priority = choice ? nic->scheduler->pick(&nic->port.scheduler, nic->conf->scheduler.conf, mask)
                               : (uint32_t)__builtin_ctz(mask);
    weft_bytes before = nic->port.queue[priority].tx_bytes;
    if (nic->control_mask >> priority & 1) {
        struct weft_packet p;
        weft__fifo_pop(&nic->backlog[priority].control, nic->end.pool, &p);
        if (!nic->backlog[priority].control.n) nic->control_mask &= (uint8_t) ~(1u << priority);
        put(nic, w, &p);
    } else {
        send_data(node, nic, w, ready_pop(nic, priority));
    }
    if (nic->scheduler->on_sent)
        nic->scheduler->on_sent(&nic->port.scheduler, nic->conf->scheduler.conf, priority,
                                (uint32_t)(nic->port.queue[priority].tx_bytes - before) + WEFT_WIRE_OVERHEAD);
}

static void kick(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    if (nic->port.busy_until_ps <= w->now_ps) {
        if (nic->port.pending)
            weft__ether_send_local(&nic->port, &nic->conf->pfc, nic->end.host, node, w, 0);
        else
            serve(node, nic, w);
    }
    if (!weft__nic_is_held(nic) || nic->port.pending)
        weft__ether_arm(&nic->port, node, w->now_ps, 0, weft__nic_backlog(nic));
}

void weft__nic_kick(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    kick(node, nic, w);
}

static void on_watchdog(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    uint8_t ended;
    weft__ether_watch(&nic->port, &nic->conf->pfc, node, w, 0, weft__nic_backlog(nic), &ended);
    kick(node, nic, w);
}

// --- queue pairs of messages -----------------------------------------------------------------------------------------

/// There is data up to psn.
static void take_up(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn) {
    nic->end.hosts->sender[qp].posted = psn;
    schedule(node, nic, qp, w->now_ps > nic->port.busy_until_ps ? w->now_ps : nic->port.busy_until_ps);
    kick(node, nic, w);
}

static void post(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn) {
    if (nic->conf->work_request_ps)
        weft__nic_work_add(node, nic, w, &(struct weft_packet){.kind = WEFT_PACKET_DATA, .qp = qp, .psn = psn});
    else
        take_up(node, nic, w, qp, psn);
}

/// A work request has been processed: data to send, or a control packet.
static void on_work(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft_packet p = weft__nic_work_done(node, nic, w->now_ps);
    if (p.kind == WEFT_PACKET_DATA)
        take_up(node, nic, w, p.qp, p.psn);
    else
        send_control(node, nic, w, p.qp, p.kind, p.psn, p.priority);
}

static struct weft__nic *nic_of(struct weft__endpoint *end) {
    return (struct weft__nic *)end;
}

static void on_post(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                    uint32_t psn) {
    post(node, nic_of(end), w, qp, psn);
}

static void on_consumed(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                        bool last) {
    uint32_t flow = end->hosts->qp[qp].flow;
    for (uint32_t k = 0; last && k < end->hosts->flow[flow].qps; k++)
        finish_receiver(node, nic_of(end), w, qp + k);
}

static void on_grant(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                     uint32_t granted, uint32_t priority, uint32_t doublings) {
    struct weft__nic *nic = nic_of(end);
    uint32_t key = weft__key_read(nic, end->hosts->qp[qp].at_dst);
    struct weft_packet cts = {.kind = WEFT_PACKET_CTS, .qp = qp, .psn = granted, .priority = priority & 7u};
    if (granted && nic->conf->work_request_ps)
        weft__nic_work_add(node, nic, w, &cts);
    else if (granted)
        send_control(node, nic, w, qp, WEFT_PACKET_CTS, granted, priority);
    if (nic->conf->timeout_ps != WEFT_TIME_NEVER && weft__timer_at(&node->timers, key) == WEFT_TIME_NEVER)
        weft__timer_set(&node->timers, key,
                        w->now_ps + (nic->conf->timeout_ps > WEFT_TIME_MAX >> doublings
                                         ? WEFT_TIME_MAX
                                         : nic->conf->timeout_ps << doublings));
}

const struct weft__endpoint_ops weft__nic_endpoint_ops = {
    .post = on_post,
    .consumed = on_consumed,
    .grant = on_grant,
};

/// Frames of the neighbour and messages that the NIC acts on itself, however slow its host.
static void on_signal(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                      const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_SERVER) {
        weft__gpu_on_packet(node, &nic->end, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_SFCM) {
        weft__nic_on_sfcm(nic, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_ROOM) { // the neighbour took that much
        nic->room_bytes += p->psn;
        kick(node, nic, w);
        return;
    }
    if (p->kind == WEFT_PACKET_LLDP) {
        if (weft__lldp_on_frame(&nic->port, w, p)) weft__nic_set_lossless(node, nic, w);
        if (nic->port.lldp) weft__lldp_set_timer(&nic->port, &node->timers, WEFT__ETHER_KEY_LLDP);
        return;
    }
    w->tally.delivered_bytes += p->bytes;
    weft__port_on_pause(&nic->port, w->now_ps, p);
    if (nic->conf->pfc.watchdog_ps != WEFT_TIME_NEVER)
        on_watchdog(node, nic, w);
    else
        kick(node, nic, w);
}

void weft__nic_take(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                    const struct weft_packet *p) {
    take(node, nic, w, p);
}

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__nic *nic = node->state;
    if (__builtin_expect(p->side, 0)) weft__side_detach(w, p);
    if (__builtin_expect(p->kind >= WEFT_PACKET_SFCM, 0)) {
        on_signal(node, nic, w, p);
    } else if (__builtin_expect(nic->is_down, 0)) {
        weft__nic_discard(nic, w, p, nic->down_drop);
    } else if (nic->conf->drain_rate_bps) {
        weft__nic_receive_slowly(node, nic, w, p);
    } else {
        take(node, nic, w, p);
    }
}

static void on_qp_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t key) {
    uint32_t k = key - WEFT__KEY_QPS;
    if (__builtin_expect(nic->end.rma != NULL, 0) && key >= nic->end.rma->key0) {
        weft__rma_host_on_timer(node, &nic->end, w, key);
        return;
    }
    if (__builtin_expect(nic->end.gpu != NULL, 0) && key >= nic->end.gpu->key0) {
        weft__gpu_on_timer(node, &nic->end, w, key);
        return;
    }
    if (k >= nic->sends * WEFT__SENDER_KEYS) {
        on_read_timer(node, nic, w, nic->receive_qp[k - nic->sends * WEFT__SENDER_KEYS]);
        return;
    }
    uint32_t qp = nic->send_qp[k / WEFT__SENDER_KEYS];
    switch (k % WEFT__SENDER_KEYS) {
    case 0:
        if (!nic->end.hosts->sender[qp].started) start_sender(node, nic, w, qp);
        schedule(node, nic, qp, w->now_ps);
        kick(node, nic, w);
        break;
    case 1:
        on_timeout(node, nic, w, qp);
        break;
    case 2:
        tell_cc(node, nic, w, qp, nic->cc->on_timer, 0, 0);
        break;
    }
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__nic *nic = node->state;
    switch (key) {
    case WEFT__ETHER_KEY_TX:
        kick(node, nic, w);
        break;
    case WEFT__ETHER_KEY_REFRESH:
        nic->port.pending |= nic->port.pfc_told;
        kick(node, nic, w);
        break;
    case WEFT__KEY_DRAIN:
        weft__nic_on_drain(node, nic, w);
        break;
    case WEFT__KEY_SAMPLE:
        weft__port_sample(&nic->port, w, nic->received_bytes);
        weft__timer_set(&node->timers, WEFT__KEY_SAMPLE, w->now_ps + nic->sample_interval_ps);
        break;
    case WEFT__ETHER_KEY_WATCHDOG:
        on_watchdog(node, nic, w);
        break;
    case WEFT__ETHER_KEY_LLDP:
        weft__nic_on_lldp_timer(node, nic, w);
        break;
    case WEFT__KEY_WORK:
        on_work(node, nic, w);
        break;
    case WEFT__KEY_DOWN:
        weft__nic_on_down(node, nic, w->now_ps);
        kick(node, nic, w);
        break;
    default:
        on_qp_timer(node, nic, w, key);
    }
}

static void nic_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                    weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}

const struct weft__node_ops weft__nic_ops = {.fetch = weft__nic_fetch, .prepare = weft__nic_prepare, .run = nic_run};
