// SPDX-License-Identifier: Apache-2.0
// Queue pairs at their data's sender: when each may send (its window, the pace of its congestion control, pauses),
// which one is next, and what its transport and its congestion control are told.
#include "box/nic/nic.h"
#include "transport/driven.h"
#include "transport/program.h"
#include "transport/rma.h"
#include "transport/trigger.h"

#include <assert.h>

static struct weft_transport_fact fact_of(const struct weft__nic *nic, weft_time_ps now, uint32_t qp) {
    const struct weft__hosts *hosts = nic->end.hosts;
    return (struct weft_transport_fact){
        .now_ps = now,
        .conf = nic->conf->transport.conf,
        .qp = &hosts->qp[qp],
        .sample = &hosts->sample[qp],
        .state = hosts->sender_state ? hosts->sender_state[qp] : NULL,
        .sack = nic->sack,
        .plane = (uint8_t)nic->plane,
        .planes = __builtin_expect(nic->planes != NULL, 0) ? weft__nic_planes_of_qp(nic) : 1,
    };
}

// --- whose turn it is ---------------------------------------------------------------------------------------------

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
    nic->ready_qps++;
}

static void ready_push_first(struct weft__nic *nic, uint32_t qp) {
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    struct weft__nic_backlog *backlog = &nic->backlog[nic->end.hosts->qp[qp].priority];
    if (backlog->ready == WEFT_NONE) {
        ready_push(nic, qp);
        return;
    }
    s->ready = true;
    s->ready_next = backlog->ready;
    backlog->ready = qp;
    nic->ready_qps++;
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
    nic->ready_qps--;
    return qp;
}

void weft__nic_unready(struct weft__nic *nic, uint32_t qp) {
    struct weft_qp_sender *sender = nic->end.hosts->sender;
    uint32_t priority = nic->end.hosts->qp[qp].priority;
    for (uint32_t k = 0; sender[qp].ready && k < nic->planes->n; k++) {
        struct weft__nic *at = nic->planes->nic[k];
        uint32_t first = WEFT_NONE; // first of those that stay, to go once round the list
        while (at->backlog[priority].ready != WEFT_NONE && at->backlog[priority].ready != first) {
            uint32_t next = ready_pop(at, priority);
            if (next == qp) continue;
            if (first == WEFT_NONE) first = next;
            ready_push(at, next);
        }
    }
}

/// What a sender waits for that has sent all that its NIC knows of.
static enum weft_sender_state empty_state(const struct weft__nic *nic, uint32_t qp) {
    const struct weft__hosts *hosts = nic->end.hosts;
    uint32_t acked = weft__qp_acked(hosts, qp), posted = hosts->sender[qp].posted;
    if (hosts->sample[qp].issued > posted) return WEFT_SENDER_POSTING;
    bool told = hosts->sample[qp].seen == posted || !weft_qp_has_messages(&hosts->qp[qp]);
    return told || acked < posted ? WEFT_SENDER_EMPTY : WEFT_SENDER_TELLING;
}

/// Notes what a followed sender waits for from now on.
static void follow_sender(const struct weft__nic *nic, uint32_t qp, weft_time_ps now) {
    const struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    struct weft__follow *f = nic->port.follow;
    if (!weft__follow_has_qp(f, qp) || !s->started || s->done) return;
    enum weft_sender_state state = WEFT_SENDER_READY;
    if (s->next >= s->posted)
        state = empty_state(nic, qp);
    else if (!weft__nic_may_send(&nic->end.hosts->qp[qp], s))
        state = WEFT_SENDER_WINDOW;
    else if (nic->hold_until_ps > now && nic->end.hosts->hold[qp].until_ps > now)
        state = WEFT_SENDER_HELD;
    else if (s->next_send_ps > now)
        state = WEFT_SENDER_PACED;
    weft__follow_sender(f, now, qp, state);
}

/// Puts a queue pair that may send into the list, or to sleep until its pace allows. `first`: its turn goes on.
static inline __attribute__((always_inline)) void place_sender(struct weft__node *node, struct weft__nic *nic,
                                                               uint32_t qp, weft_time_ps free_ps, bool first) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    if (__builtin_expect(nic->port.follow != NULL, 0)) follow_sender(nic, qp, free_ps);
    if (s->ready || !s->started || !weft__nic_may_send(conf, s)) return;
    struct weft__nic *asked = nic;
    nic = weft__nic_of_sender(nic, qp, free_ps);
    weft_time_ps at = s->next_send_ps;
    if (__builtin_expect(nic->hold_until_ps > free_ps, 0) && nic->end.hosts->hold[qp].until_ps > at)
        at = nic->end.hosts->hold[qp].until_ps;
    if (at > free_ps) {
        weft__timer_set(&node->timers, weft__key_pace(conf->at_src), at);
        return;
    }
    if (first)
        ready_push_first(nic, qp);
    else
        ready_push(nic, qp);
    if (__builtin_expect(nic == asked, 1)) return;
    // The caller looks at the port that it asked for; this one gets a turn of its own.
    weft_time_ps turn = nic->port.busy_until_ps > free_ps ? nic->port.busy_until_ps : free_ps;
    if (nic->port.turn_ps > turn) weft__ether_set_turn(&nic->port, node, nic->port_number, turn);
}

void weft__nic_schedule(struct weft__node *node, struct weft__nic *nic, uint32_t qp, weft_time_ps free_ps) {
    place_sender(node, nic, qp, free_ps, false);
}

void weft__nic_pass_turn(struct weft__node *node, struct weft__nic *nic, uint32_t priority) {
    place_sender(node, nic, ready_pop(nic, priority), nic->port.busy_until_ps, false);
}

void weft__nic_reschedule(struct weft__node *node, struct weft__nic *nic, weft_time_ps now) {
    while (nic->ready_mask)
        weft__nic_schedule(node, nic, ready_pop(nic, (uint32_t)__builtin_ctz(nic->ready_mask)), now);
}

/// Queue pairs that may no longer send leave the lists when their turn comes: paused ones, and, after a premature
/// timeout, those whose retransmissions were acknowledged while they waited.
static void skip_idle(struct weft__node *node, struct weft__nic *nic, weft_time_ps now, uint32_t priority) {
    do {
        uint32_t qp = nic->backlog[priority].ready;
        const struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
        bool held = __builtin_expect(nic->hold_until_ps > now, 0) && nic->end.hosts->hold[qp].until_ps > now;
        if (!held && weft__nic_may_send(&nic->end.hosts->qp[qp], s)) return;
        ready_pop(nic, priority);
        if (held) weft__nic_schedule(node, nic, qp, now);
    } while (nic->ready_mask >> priority & 1);
}

void weft__nic_skip_idle(struct weft__node *node, struct weft__nic *nic, weft_time_ps now) {
    for (uint32_t bits = nic->ready_mask; bits; bits &= bits - 1)
        skip_idle(node, nic, now, (uint32_t)__builtin_ctz(bits));
}

// --- congestion control -------------------------------------------------------------------------------------------

typedef void cc_handler(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);

/// Responses to a READ have no window, because nothing acknowledges them.
static weft_bytes limit_window(const struct weft__nic *nic, uint32_t qp, weft_bytes window) {
    if (nic->end.hosts->qp[qp].verb == WEFT_VERB_READ && !nic->transport->acknowledges_reads) return UINT64_MAX;
    return nic->conf->window_bytes && nic->conf->window_bytes < window ? nic->conf->window_bytes : window;
}

/// All that a flow in a closed loop has posted is complete, and its next burst is to come. It has nothing to send, so
/// the timer of its pace is that of the pause.
static bool pauses_posting(const struct weft__nic *nic, uint32_t qp) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    uint64_t burst = nic->end.hosts->flow[conf->flow].burst;
    const struct weft_qp_sample *sample = &nic->end.hosts->sample[qp];
    return burst && sample->seen == sample->issued && sample->seen % (burst * conf->message_packets) == 0;
}

/// The rate has changed: the rest of the wait for the next packet runs at the new rate, as in a token bucket. Otherwise
/// a queue pair cut to a trickle would sleep through its increases; pace_change: next_packet selects that behaviour.
static void change_pace(struct weft__node *node, const struct weft__nic *nic, uint32_t qp, weft_time_ps now,
                        weft_rate_bps rate_before) {
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    uint32_t key = weft__key_pace(nic->end.hosts->qp[qp].at_src);
    if (s->rate_bps == rate_before || s->next_send_ps <= now || nic->conf->pace_change == WEFT_PACE_NEXT_PACKET) return;
    s->next_send_ps = now + (weft_time_ps)((unsigned __int128)(s->next_send_ps - now) * rate_before / s->rate_bps);
    if (weft__timer_at(&node->timers, key) != WEFT_TIME_NEVER && !pauses_posting(nic, qp))
        weft__timer_set(&node->timers, key, s->next_send_ps);
}

/// The content of an acknowledgement.
struct cc_facts {
    uint32_t bytes;
    weft_time_ps rtt_ps;
    bool marked;
    weft_time_ps trim_ps;
};

/// Tells the congestion control a fact and does what it answers.
static __attribute__((noinline)) void consult_cc(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                                                 uint32_t qp, cc_handler *handler, struct cc_facts facts) {
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    uint32_t key = weft__key_cc(nic->end.hosts->qp[qp].at_src);
    struct weft_cc_fact fact = {
        .now_ps = w->now_ps,
        .line_rate_bps = nic->line_rate_bps,
        .bytes = facts.bytes,
        .packet_bytes = nic->end.hosts->qp[qp].mtu,
        .timeouts = s->timeouts,
        .rtt_ps = facts.rtt_ps,
        .trim_ps = facts.trim_ps,
        .marked = facts.marked,
        .flight_bytes = (weft_bytes)(s->next - s->una) * nic->end.hosts->qp[qp].mtu,
        .telemetry = nic->telemetry,
    };
    weft_time_ps timer = weft__timer_at(&node->timers, key);
    struct weft_cc_act act = {
        .rate_bps = s->rate_bps, .timer_ps = timer, .window_bytes = s->window_bytes, .rests = s->cc_rests};
    handler(s->cc, nic->conf->cc.conf, &fact, &act);
    assert(act.rate_bps && act.rate_bps <= nic->line_rate_bps); // what struct weft_cc_act promises
    // The timer of a READ rests while nothing is to be sent (weft__nic_send_data); then what the model awaits is
    // overdue.
    assert(act.timer_ps >= w->now_ps || nic->end.hosts->qp[qp].verb == WEFT_VERB_READ);
    if (act.timer_ps < w->now_ps) act.timer_ps = w->now_ps;
    s->cc_rests = act.rests;
    if (__builtin_expect(act.new_path, 0)) nic->end.hosts->sample[qp].path++;
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

/// `handler` may be NULL if the model ignores this fact.
static inline void tell_cc(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                           cc_handler *handler, struct cc_facts facts) {
    if (handler) consult_cc(node, nic, w, qp, handler, facts);
}

void weft__nic_tell_sent(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                         uint32_t bytes) {
    if (!nic->end.hosts->sender[qp].cc_rests)
        tell_cc(node, nic, w, qp, nic->cc->on_sent, (struct cc_facts){.bytes = bytes});
}

// --- sending ------------------------------------------------------------------------------------------------------

/// A flow in a closed loop: posts messages until as many as its depth are outstanding, its burst ends, or none is left.
static void post_more(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    const struct weft_flow *flow = &nic->end.hosts->flow[conf->flow];
    const struct weft_qp_sample *sample = &nic->end.hosts->sample[qp];
    uint64_t seen = sample->seen / conf->message_packets, limit = seen + (uint64_t)flow->depth;
    if (flow->burst && limit > seen - seen % flow->burst + flow->burst) limit = seen - seen % flow->burst + flow->burst;
    uint32_t to =
        limit < conf->packets / conf->message_packets ? (uint32_t)limit * conf->message_packets : conf->packets;
    while (sample->issued < to)
        weft__nic_post(node, nic, w, qp, nic->posts_later ? sample->issued + conf->message_packets : to,
                       flow->message_bytes);
}

static void start_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    s->started = true;
    s->rate_bps = nic->line_rate_bps;
    s->window_bytes = limit_window(nic, qp, UINT64_MAX);
    if (nic->end.hosts->qp[qp].verb != WEFT_VERB_READ && !weft__rma_has(&nic->end, qp)) {
        w->tally.started++;
        if (__builtin_expect(nic->trace != NULL, 0)) weft__nic_trace_start(nic, w->now_ps, qp);
    }
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, qp);
    if (nic->transport->draws && nic->transport->draws(fact.conf)) {
        struct weft_random random =
            weft_random_stream(nic->draw_seed, nic->end.hosts->qp[qp].at_src, WEFT_RANDOM_TIMEOUT);
        fact.draw = weft_random_u64(&random);
    }
    nic->transport->on_start(s, &fact);
    w->tally.progress_ps = w->now_ps;
    tell_cc(node, nic, w, qp, nic->cc->on_start, (struct cc_facts){0});
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    if (conf->message_packets || (nic->posts_later && conf->plain)) s->posted = 0;
    if (conf->message_packets)
        post_more(node, nic, w, qp);
    else if (nic->posts_later && conf->plain)
        weft__nic_post(node, nic, w, qp, conf->packets, conf->bytes);
}

/// The queue pair's next message, or part of one, may not go before its time.
static void pace_messages(struct weft__nic *nic, weft_time_ps now, uint32_t qp, uint32_t psn) {
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    weft_time_ps next_ps = weft__message_pace(&nic->end, qp, psn, now + nic->conf->work_request_qp_ps);
    if (s->next_send_ps < next_ps) s->next_send_ps = next_ps;
}

/// The packet tells how much credit its sender wants; the data that it is about to send is no longer included.
static __attribute__((cold, noinline)) void ask_for_credit(const struct weft__nic *nic, struct weft__worker *w,
                                                           struct weft_packet *p) {
    const struct weft_qp_sender *s = &nic->end.hosts->sender[p->qp];
    uint32_t mtu = nic->end.hosts->qp[p->qp].mtu;
    struct weft_cc_fact fact = {
        .now_ps = w->now_ps,
        .line_rate_bps = nic->line_rate_bps,
        .packet_bytes = mtu,
        .backlog_bytes = (weft_bytes)(s->posted - s->next) * mtu,
        .senders = nic->ready_qps + 1u, // it has left its list for its turn
        .flight_bytes = (weft_bytes)(s->next - s->una) * mtu,
    };
    struct weft__nic_record *record = (struct weft__nic_record *)weft__side_attach(w, p)->user;
    record->asks = true;
    record->sack_psn = weft__nic_pull_quanta(nic->cc->target(s->cc, nic->conf->cc.conf, &fact));
}

/// More credit has arrived.
static void on_credit(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                      const struct weft_packet *p) {
    struct weft_qp_sample *sample = &nic->end.hosts->sample[p->qp];
    if (!nic->pull || p->psn <= sample->credit) return; // outdated
    weft_bytes more = weft__nic_pull_bytes(p->psn - sample->credit);
    sample->credit = p->psn;
    tell_cc(node, nic, w, p->qp, nic->cc->on_credit, (struct cc_facts){.bytes = (uint32_t)more});
    weft__nic_schedule(node, nic, p->qp, w->now_ps);
    weft__nic_kick(node, nic, w);
}

/// The queue pair has sent a packet by one of several ports; its next one may use another, immediately.
static void go_on(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, bool first) {
    struct weft__nic *next = weft__nic_plane_next(nic, qp, w->now_ps);
    weft_time_ps free = next->port.busy_until_ps;
    place_sender(node, next, qp, free > w->now_ps ? free : w->now_ps, first);
    if (next != nic && nic->end.hosts->sender[qp].ready) weft__nic_kick(node, next, w);
}

/// The entropy of the queue pair's next path: the values all differ until each has been used.
static uint16_t path_entropy(const struct weft__nic *nic, uint32_t qp) {
    enum { STEP = 5077 }; // odd
    return (uint16_t)((nic->end.hosts->qp[qp].entropy + nic->end.hosts->sample[qp].path * STEP) & 0x3fffu);
}

/// The port is busy with a frame until the NIC has the next one.
static void keep_gap(struct weft__nic *nic, weft_time_ps now, uint32_t frame_bytes) {
    weft_time_ps until = now + weft__frame_gap(nic->conf, frame_bytes);
    if (nic->port.busy_until_ps < until) nic->port.busy_until_ps = until;
}

void weft__nic_draw_idle(struct weft__nic *nic) {
    const struct weft_host_conf *c = nic->conf;
    double mean = (double)c->stall_ps * (1 - c->idle) / c->idle;
    nic->until_idle_ps = (int64_t)weft_time_of_real(weft_random_exponential(&nic->idle, mean));
}

void weft__nic_may_idle(struct weft__nic *nic, weft_time_ps now) {
    nic->until_idle_ps -= (int64_t)(nic->port.busy_until_ps - now);
    if (nic->until_idle_ps >= 0) return;
    nic->port.busy_until_ps += weft_time_of_real(weft_random_exponential(&nic->idle, (double)nic->conf->stall_ps));
    weft__nic_draw_idle(nic);
}

/// Where the packet's message begins and ends; its last packet asks for an acknowledgement.
static void describe_message(struct weft__nic *nic, uint32_t qp, struct weft_packet *p) {
    uint32_t n = nic->end.hosts->qp[qp].message_packets;
    if (nic->end.hosts->qp[qp].packets == WEFT_QP_MESSAGES) weft__message_packet(&nic->end, qp, p);
    if (!n) return;
    if (p->psn % n == 0) p->flags |= WEFT_PACKET_FIRST;
    if ((p->psn + 1) % n == 0) p->flags |= WEFT_PACKET_LAST | WEFT_PACKET_ACK_REQUEST;
}

void weft__nic_send_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t priority) {
    uint32_t qp = ready_pop(nic, priority);
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, qp);
    struct weft_transport_send turn = {.entropy = conf->entropy};
    if (__builtin_expect(nic->cc->moves_path, 0)) turn.entropy = path_entropy(nic, qp);
    nic->transport->on_turn(s, &fact, &turn);
    struct weft_packet p = {
        .bytes = (uint16_t)weft__qp_frame_bytes(conf, turn.psn, nic->end.hosts->data_header_bytes),
        .dst = conf->dst + nic->peer_offset,
        .qp = qp,
        .psn = turn.psn,
        .entropy = turn.entropy & 0x3fffu,
        .kind = WEFT_PACKET_DATA,
        .priority = conf->priority & 7u,
        .dscp = nic->conf->dscp[conf->priority] & 63u,
        .ecn = nic->data_ecn & 3u,
        .flags = turn.flags & 7u,
    };
    if (__builtin_expect(!conf->plain, 0)) describe_message(nic, qp, &p);
    p.bytes = (uint16_t)(p.bytes + nic->end.hosts->framing_bytes);
    if (__builtin_expect(nic->collects, 0))
        ((struct weft__nic_record *)weft__side_attach(w, &p)->user)->collected = true;
    uint32_t wire = p.bytes + (uint32_t)nic->conf->wire.overhead_bytes;
    bool credit = __builtin_expect(nic->pull != NULL, 0);
    if (credit) { // credit is spent before the packet says what is wanted
        weft__nic_tell_sent(node, nic, w, qp, wire);
        ask_for_credit(nic, w, &p);
    }
    weft__nic_put(nic, w, &p);
    if (__builtin_expect(nic->gaps, 0)) keep_gap(nic, w->now_ps, p.bytes);
    if (nic->idles) weft__nic_may_idle(nic, w->now_ps);
    if (turn.again) nic->end.hosts->outcome[conf->flow].packets_again++;
    if (turn.timer_ps) weft__timer_set(&node->timers, weft__key_timeout(conf->at_src), turn.timer_ps);
    if (!credit) weft__nic_tell_sent(node, nic, w, qp, wire);
    if (conf->verb == WEFT_VERB_READ && s->next == s->posted &&
        !nic->transport->acknowledges_reads) // nothing will acknowledge it; a new request restarts it
        weft__timer_cancel(&node->timers, weft__key_cc(conf->at_src));
    weft__nic_pace(nic, s, w->now_ps, wire);
    if (nic->conf->work_request_qp_ps && conf->packets == WEFT_QP_MESSAGES) pace_messages(nic, w->now_ps, qp, turn.psn);
    bool goes_on = nic->conf->arbitration == WEFT_ARBITRATE_MESSAGES && weft_qp_has_messages(conf) &&
                   !(p.flags & WEFT_PACKET_LAST);
    if (__builtin_expect(nic->planes != NULL, 0))
        go_on(node, nic, w, qp, goes_on);
    else
        place_sender(node, nic, qp, nic->port.busy_until_ps, goes_on);
}

// --- what comes back ----------------------------------------------------------------------------------------------

void weft__nic_stop_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    nic->end.hosts->sender[qp].done = true;
    weft__timers_cancel(&node->timers, weft__key_pace(conf->at_src), WEFT__SENDER_KEYS);
    if (conf->verb != WEFT_VERB_READ) w->tally.finished++;
}

/// The host sees that all of a queue pair has completed.
static void finish_sender(struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    if (conf->verb == WEFT_VERB_READ || --nic->end.hosts->qps_unacked[conf->flow]) return;
    nic->end.hosts->outcome[conf->flow].acked_ps = w->now_ps;
    if (nic->end.driven) weft__driven_note(nic->end.driven, w, WEFT_DRIVE_ACKED, conf->flow);
    if (nic->end.hosts->triggers) weft__trigger_on_flow(&nic->end, w, conf->flow, false);
}

/// All messages of the connection that the queue pair belongs to are acknowledged.
static void finish_connection(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    uint32_t flow = nic->end.hosts->qp[qp].flow;
    while (qp && nic->end.hosts->qp[qp - 1].flow == flow)
        qp--;
    for (uint32_t k = 0; k < nic->end.hosts->flow[flow].qps; k++) {
        weft__nic_stop_sender(node, nic, w, qp + k);
        finish_sender(nic, w, qp + k);
    }
}

void weft__nic_on_completed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                            uint32_t psn) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    nic->end.hosts->sample[qp].seen = psn;
    if (conf->packets == WEFT_QP_MESSAGES) {
        if (weft__message_acked(node, &nic->end, w, qp)) finish_connection(node, nic, w, qp);
    } else if (psn == conf->packets) {
        finish_sender(nic, w, qp);
    } else if (pauses_posting(nic, qp)) {
        weft__timer_set(&node->timers, weft__key_pace(conf->at_src),
                        w->now_ps + nic->end.hosts->flow[conf->flow].pause_ps);
    } else {
        post_more(node, nic, w, qp);
    }
    if (__builtin_expect(nic->port.follow != NULL, 0)) follow_sender(nic, qp, w->now_ps);
}

/// Packets that have just been acknowledged complete a message, or a part of one.
static bool completes_message(const struct weft__nic *nic, uint32_t qp, uint32_t acked) {
    const struct weft__hosts *hosts = nic->end.hosts;
    uint32_t n = hosts->qp[qp].message_packets;
    if (!n) return hosts->qp[qp].packets == WEFT_QP_MESSAGES && weft__message_completes(&nic->end, qp);
    uint32_t una = weft__qp_acked(hosts, qp), before = hosts->sender[qp].counts ? hosts->sample[qp].seen : una - acked;
    return una / n > before / n;
}

/// The host is to see what has been acknowledged of a queue pair.
static void complete_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    weft__nic_tell(node, nic, w,
                   (struct weft_packet){.flags = WEFT__NIC_COMPLETED,
                                        .qp = qp,
                                        .psn = weft__qp_acked(nic->end.hosts, qp),
                                        .bytes = nic->ack_bytes});
}

/// If a sender is blocked by its window, its transport may ask for an acknowledgement.
static __attribute__((cold, noinline)) void ask_if_held(struct weft__node *node, struct weft__nic *nic,
                                                        struct weft__worker *w, uint32_t qp) {
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    if (!s->started || s->done || s->next >= s->posted || weft__nic_may_send(&nic->end.hosts->qp[qp], s)) return;
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, qp);
    struct weft_transport_reply reply = {.kind = 0};
    nic->transport->on_held(s, &fact, &reply);
    if (reply.kind) weft__nic_send_control(node, nic, w, qp, &reply);
}

/// Carries out the transport's news.
static void act_on(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                   const struct weft_transport_news *news) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    if (news->timer_ps) weft__timer_set(&node->timers, weft__key_timeout(conf->at_src), news->timer_ps);
    if (__builtin_expect(news->rtt_ps && nic->round_trips, 0))
        weft_histogram_add(&nic->round_trips[conf->priority], news->rtt_ps);
    if (news->acked)
        tell_cc(node, nic, w, qp, nic->cc->on_ack,
                (struct cc_facts){news->acked * conf->mtu, news->rtt_ps, news->marked, 0});
    if (nic->end.hosts->sender[qp].una == conf->packets) {
        weft__nic_stop_sender(node, nic, w, qp);
        complete_sender(node, nic, w, qp);
        return;
    }
    if (news->lost)
        tell_cc(node, nic, w, qp, nic->cc->on_loss,
                (struct cc_facts){.bytes = news->lost_packets * conf->mtu, .trim_ps = news->trim_ps});
    if (news->notified) {
        nic->end.hosts->outcome[conf->flow].cnps++;
        if (__builtin_expect(nic->trace != NULL, 0)) nic->trace->cnp = 0; // no CNP came
        tell_cc(node, nic, w, qp, nic->cc->on_cnp, (struct cc_facts){0});
    }
    if (__builtin_expect(!conf->plain, 0) && news->acked && completes_message(nic, qp, news->acked)) {
        complete_sender(node, nic, w, qp);
        if (nic->end.hosts->sender[qp].done) return;
    }
    if (!news->moved) return;
    if (!nic->end.hosts->sender[qp].ready || nic->port.follow) weft__nic_schedule(node, nic, qp, w->now_ps);
    if (__builtin_expect(nic->transport->on_held != NULL, 0)) ask_if_held(node, nic, w, qp);
    weft__nic_kick(node, nic, w);
}

/// A CNP, or an ACK or NAK with the echo of a mark.
static void on_cnp(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                   const struct weft_packet *p) {
    nic->end.hosts->outcome[nic->end.hosts->qp[p->qp].flow].cnps++;
    if (__builtin_expect(nic->trace != NULL, 0)) {
        struct weft_event *event = weft__nic_trace_qp(nic, w->now_ps, WEFT_EVENT_CNP_RECEIVED, p->qp);
        nic->trace->cnp = weft__trace_id(nic->trace, event);
        if (event) {
            event->priority = p->priority;
            if (p->kind == WEFT_PACKET_CNP) event->more = weft__event_tag_cnp(p->psn);
        }
    }
    if (!nic->end.hosts->sender[p->qp].done) tell_cc(node, nic, w, p->qp, nic->cc->on_cnp, (struct cc_facts){0});
}

static void take_control(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                         const struct weft_packet *p) {
    nic = weft__nic_of_sender(nic, p->qp, w->now_ps);
    struct weft_qp_sender *s = &nic->end.hosts->sender[p->qp];
    w->tally.delivered_bytes += p->bytes;
    if (p->kind == WEFT_PACKET_CNP) {
        on_cnp(node, nic, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_CTS) {
        weft__message_granted(node, &nic->end, w, p->qp, p->psn);
        return;
    }
    if (s->done) return; // outdated
    if (__builtin_expect(p->flags & WEFT_PACKET_GRANT, 0) && p->kind == WEFT_PACKET_ACK) {
        on_credit(node, nic, w, p);
        return;
    }
    if (p->kind == WEFT_PACKET_READ && !s->started) start_sender(node, nic, w, p->qp);
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, p->qp);
    struct weft_transport_news news = {.marked = p->flags & WEFT_PACKET_ECHO};
    nic->transport->on_control(s, &fact, p, &news);
    act_on(node, nic, w, p->qp, &news);
    if (__builtin_expect(p->flags & WEFT_PACKET_ECHO, 0)) on_cnp(node, nic, w, p);
}

/// A READ has been asked for: its responses need their payload first. The request is held until then.
static void fetch_responses(struct weft__node *node, struct weft__nic *nic, weft_time_ps now,
                            const struct weft_packet *request) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[request->qp];
    weft_time_ps fetch = weft__fetch_time(nic->conf, conf->bytes - (weft_bytes)request->psn * conf->mtu);
    struct weft_packet p = *request;
    if (nic->planes) nic = nic->planes->nic[0];
    weft_time_ps time = now + nic->conf->pcie_round_trip_ps + fetch;
    p.time_ps = time > nic->fetched_ps ? time : nic->fetched_ps;
    nic->fetched_ps = p.time_ps;
    weft__nic_later(node, nic, WEFT__NIC_FETCHES, &p);
}

void weft__nic_on_fetched(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft_packet p = weft__nic_take_due(node, nic, WEFT__NIC_FETCHES);
    take_control(node, nic, w, &p);
}

void weft__nic_on_control(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                          const struct weft_packet *p) {
    bool read = p->kind == WEFT_PACKET_READ;
    if (__builtin_expect(nic->planes != NULL, 0) && read) // responses use the plane of requests
        nic->planes->sending[nic->end.hosts->qp[p->qp].at_src] = (uint8_t)nic->plane;
    if (__builtin_expect(read, 0) && (nic->conf->pcie_round_trip_ps || nic->conf->pcie_rate_bps))
        fetch_responses(node, nic, w->now_ps, p);
    else
        take_control(node, nic, w, p);
}

/// The k-th timer of a queue pair: its pace, its transport's, its congestion control's.
void weft__nic_on_sender_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                               uint32_t k) {
    nic = weft__nic_of_sender(nic, qp, w->now_ps);
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    if (k == 0) {
        if (!s->started)
            start_sender(node, nic, w, qp);
        else if (pauses_posting(nic, qp))
            post_more(node, nic, w, qp);
        weft__nic_schedule(node, nic, qp, w->now_ps);
        weft__nic_kick(node, nic, w);
    } else if (k == 1) {
        struct weft_transport_fact fact = fact_of(nic, w->now_ps, qp);
        struct weft_transport_news news = {.acked = 0};
        nic->transport->on_sender_timer(s, &fact, &news);
        if (__builtin_expect(nic->planes != NULL, 0) && news.lost) nic = weft__nic_plane_migrate(nic, qp);
        act_on(node, nic, w, qp, &news);
    } else {
        tell_cc(node, nic, w, qp, nic->cc->on_timer, (struct cc_facts){0});
    }
}

// --- work requests ------------------------------------------------------------------------------------------------

/// There is data up to psn.
static void take_up(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn) {
    nic = weft__nic_of_sender(nic, qp, w->now_ps);
    nic->end.hosts->sender[qp].posted = psn;
    weft__nic_schedule(node, nic, qp, w->now_ps > nic->port.busy_until_ps ? w->now_ps : nic->port.busy_until_ps);
    if (__builtin_expect(nic->transport->on_held != NULL, 0)) ask_if_held(node, nic, w, qp);
    weft__nic_kick(node, nic, w);
}

void weft__nic_post(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn,
                    weft_bytes bytes) {
    nic->end.hosts->sample[qp].issued = psn;
    if (!nic->posts_later) {
        take_up(node, nic, w, qp, psn);
        return;
    }
    weft__nic_request(node, nic, w->now_ps, (struct weft_packet){.kind = WEFT_PACKET_DATA, .qp = qp, .psn = psn},
                      bytes);
    if (__builtin_expect(nic->port.follow != NULL, 0)) follow_sender(nic, qp, w->now_ps);
}

void weft__nic_on_posted(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft_packet p = weft__nic_take_due(node, nic, WEFT__NIC_POSTS);
    if (nic->planes && p.kind == WEFT_PACKET_CTS) nic = weft__nic_plane_granting(nic, p.qp, false);
    if (p.kind == WEFT_PACKET_DATA)
        take_up(node, nic, w, p.qp, p.psn);
    else
        weft__nic_send_control(node, nic, w, p.qp,
                               &(struct weft_transport_reply){.psn = p.psn, .kind = p.kind, .priority = p.priority});
}
