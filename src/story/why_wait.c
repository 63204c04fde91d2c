// SPDX-License-Identifier: Apache-2.0
// What a sender or a port did while the flow's critical packet had not yet been sent. Time is cut where anything begins
// or ends; each piece is assigned to the first cause that applies in it, in the order of weft/why.h.
#include <stdlib.h>

#include "base/order.h"
#include "story/why.h"
#include "weft/poster.h"

// A port's log as times that can be searched, built once, when a port is first needed. A critical path of thousands of
// steps needs the same ports again and again.

/// Times of one sort and key do not overlap; `from` is before `to`.
struct why_span {
    weft_time_ps from_ps, to_ps;
    const struct weft_followed *of; ///< the log entry
    uint32_t key;                   ///< for a pause its priority, for a sender's state its queue pair
    bool again;                     ///< a frame that had been sent before
};
struct why_spans {
    struct why_span *span; ///< in order
    uint64_t n;
};

struct weft__why_log {
    bool made;
    struct why_spans frames, pauses, states; ///< each by key and time
};

struct weft__why_log *weft__why_logs_new(uint32_t ports, struct weft_arena *arena) {
    return weft_arena_alloc(arena, ports, sizeof(struct weft__why_log));
}

static const struct weft_followed *log_of(const struct weft_followed_list *logs, uint32_t port, uint64_t *ret_n) {
    *ret_n = logs->first[port + 1] - logs->first[port];
    return logs->followed + logs->first[port];
}

static struct why_spans spans_new(const struct weft_whys *y, uint64_t room) {
    return (struct why_spans){weft_arena_alloc(y->arena, room, sizeof(struct why_span)), 0};
}

static void add_span(struct why_spans *l, struct why_span s) {
    if (s.from_ps < s.to_ps) l->span[l->n++] = s;
}

/// Spans of one key that begin at the same time keep the order of the log.
WEFT__ORDER(by_key, struct why_span, WEFT__UP(key) ?: WEFT__UP(from_ps) ?: WEFT__UP(of))

static void sort_spans(struct why_spans *l) {
    if (l->n) qsort(l->span, l->n, sizeof *l->span, by_key);
}

/// Marks frames of a queue pair that had been sent before.
static void find_again(struct why_spans *l) {
    sort_spans(l);
    uint32_t highest = 0; // PSN of the queue pair, + 1
    for (uint64_t i = 0; i < l->n; i++) {
        const struct weft_followed *f = l->span[i].of;
        if (!i || l->span[i - 1].key != l->span[i].key) highest = 0;
        if (f->kind != WEFT_PACKET_DATA || f->cell != WEFT_CARRIES_PACKET) continue;
        l->span[i].again = f->psn < highest;
        if (!l->span[i].again) highest = f->psn + 1;
    }
}

static struct why_spans frames_of(const struct weft_whys *y, uint32_t port) {
    uint64_t n, frames = 0;
    const struct weft_followed *f = log_of(&y->all, port, &n);
    if (!n) f = log_of(&y->own, port, &n);
    for (uint64_t i = 0; i < n; i++)
        frames += f[i].what == WEFT_FOLLOWED_FRAME || f[i].what == WEFT_FOLLOWED_CELL;
    struct why_spans l = spans_new(y, frames);
    for (uint64_t i = 0; i < n; i++)
        if (f[i].what == WEFT_FOLLOWED_FRAME || f[i].what == WEFT_FOLLOWED_CELL)
            add_span(&l, (struct why_span){f[i].time_ps, f[i].busy_ps, &f[i], f[i].qp, false});
    find_again(&l);
    for (uint64_t i = 0; i < l.n; i++)
        l.span[i].key = 0;
    sort_spans(&l);
    return l;
}

/// Indexed by priority.
static struct why_spans pauses_of(const struct weft_whys *y, uint32_t port) {
    uint64_t n, pauses = 0;
    const struct weft_followed *f = log_of(&y->own, port, &n), *open[256] = {0};
    for (uint64_t i = 0; i < n; i++)
        pauses += f[i].what == WEFT_FOLLOWED_PAUSED;
    struct why_spans l = spans_new(y, pauses);
    for (uint64_t i = 0; i < n; i++) {
        const struct weft_followed **is = &open[f[i].priority];
        if (f[i].what != WEFT_FOLLOWED_PAUSED && f[i].what != WEFT_FOLLOWED_RESUMED) continue;
        if (f[i].what == WEFT_FOLLOWED_RESUMED && *is)
            add_span(&l, (struct why_span){(*is)->time_ps, f[i].time_ps, *is, f[i].priority, false});
        *is = f[i].what == WEFT_FOLLOWED_PAUSED ? &f[i] : NULL;
    }
    for (unsigned p = 0; p < sizeof open / sizeof *open; p++)
        if (open[p]) add_span(&l, (struct why_span){open[p]->time_ps, WEFT_TIME_NEVER, open[p], p, false});
    sort_spans(&l);
    return l;
}

WEFT__ORDER_OF_POINTERS(by_queue_pair, struct weft_followed, WEFT__UP(qp) ?: WEFT__PLACE)

/// Indexed by queue pair. A later note overrides an earlier one, even for an earlier time.
static struct why_spans states_of(const struct weft_whys *y, uint32_t port) {
    uint64_t n, states = 0, kept = 0;
    const struct weft_followed *f = log_of(&y->own, port, &n);
    for (uint64_t i = 0; i < n; i++)
        states += f[i].what == WEFT_FOLLOWED_SENDER;
    const struct weft_followed **state = weft_arena_alloc(y->arena, states, sizeof *state);
    for (uint64_t i = 0, s = 0; i < n; i++)
        if (f[i].what == WEFT_FOLLOWED_SENDER) state[s++] = &f[i];
    if (states) qsort(state, states, sizeof *state, by_queue_pair);
    for (uint64_t i = 0; i < states; i++) {
        while (kept && state[kept - 1]->qp == state[i]->qp && state[kept - 1]->time_ps >= state[i]->time_ps)
            kept--;
        state[kept++] = state[i];
    }
    struct why_spans l = spans_new(y, kept);
    for (uint64_t i = 0; i < kept; i++) {
        bool last = i + 1 == kept || state[i + 1]->qp != state[i]->qp;
        weft_time_ps to = last ? WEFT_TIME_NEVER : state[i + 1]->time_ps;
        add_span(&l, (struct why_span){state[i]->time_ps, to, state[i], state[i]->qp, false});
    }
    return l;
}

static const struct weft__why_log *made_log(const struct weft_whys *y, uint32_t port) {
    struct weft__why_log *log = &y->log[port];
    if (!log->made) *log = (struct weft__why_log){true, frames_of(y, port), pauses_of(y, port), states_of(y, port)};
    return log;
}

/// The spans of a key that overlap the time between `from` and `to`.
static struct why_spans spans_between(const struct why_spans *l, uint32_t key, weft_time_ps from, weft_time_ps to) {
    uint64_t low = WEFT__FIRST_WITHOUT(
                 0, l->n, l->span[middle].key < key || (l->span[middle].key == key && l->span[middle].to_ps <= from)),
             end;
    for (end = low; end < l->n && l->span[end].key == key && l->span[end].from_ps < to;)
        end++;
    return (struct why_spans){l->span + low, end - low};
}

/// Each returns the spans that overlap the time between `from` and `to`.
static struct why_spans spans_of_frames(const struct weft_whys *y, uint32_t port, weft_time_ps from, weft_time_ps to) {
    return spans_between(&made_log(y, port)->frames, 0, from, to);
}

static struct why_spans spans_of_pauses(const struct weft_whys *y, uint32_t port, uint32_t priority, weft_time_ps from,
                                        weft_time_ps to) {
    return spans_between(&made_log(y, port)->pauses, priority, from, to);
}

static struct why_spans spans_of_states(const struct weft_whys *y, uint32_t port, uint32_t qp, weft_time_ps from,
                                        weft_time_ps to) {
    return spans_between(&made_log(y, port)->states, qp, from, to);
}

void weft__why_sent(const struct weft_whys *y, uint32_t port, weft_time_ps from, weft_time_ps to, const uint32_t *of,
                    weft_time_ps *sum) {
    const struct why_spans l = spans_of_frames(y, port, from, to);
    for (uint64_t i = 0; i < l.n; i++) {
        const struct weft_followed *f = l.span[i].of;
        if (f->what != WEFT_FOLLOWED_FRAME || f->kind != WEFT_PACKET_DATA) continue;
        weft_time_ps begin = l.span[i].from_ps > from ? l.span[i].from_ps : from;
        weft_time_ps end = l.span[i].to_ps < to ? l.span[i].to_ps : to;
        uint32_t is = of[weft__why_flow_of(y, f->qp)];
        if (is != WEFT_NONE) sum[is] += end - begin;
    }
}

struct layer {
    struct why_spans of;
    uint64_t at; ///< the first one that may apply now
};

struct wait {
    const struct weft_whys *y;
    const struct weft__why_path *path;
    uint32_t port, priority, qp;
    struct layer frames, pauses, states;
    weft_time_ps from_ps, to_ps, lost_ps; ///< lost: when the critical packet was first sent and lost; never
    weft_time_ps *cut;
    uint64_t cuts;
    enum weft_why_kind idle; ///< on the path: the kind that applies if nothing else does
    struct weft__why_list *list;
    // pieces come in their order of time: how far the record is read
    struct weft__why_name mark; ///< the queue that last marked the flow
    uint32_t mark_at, pause_at; ///< pause_at: in y->pause
};

static void find_frames(struct wait *x) {
    x->frames.of = spans_of_frames(x->y, x->port, x->from_ps, x->to_ps);
}

static void find_pauses(struct wait *x) {
    x->pauses.of = spans_of_pauses(x->y, x->port, x->priority, x->from_ps, x->to_ps);
}

static void find_states(struct wait *x) {
    x->states.of = spans_of_states(x->y, x->port, x->qp, x->from_ps, x->to_ps);
}

/// When the latency begins that a posted request has at its end.
static weft_time_ps latency_from(const struct wait *x, const struct why_span *posting) {
    const struct weft_host_conf *host = weft__why_host(x->y, x->y->run->topology->port[x->port].node);
    const struct weft_flow *flow = &x->y->run->workload->flow[x->path->flow];
    weft_time_ps fetch = weft__fetch_time(host, flow->depth ? flow->message_bytes : flow->bytes);
    weft_time_ps latency = host->send_latency_ps + fetch;
    return posting->to_ps > latency ? posting->to_ps - latency : 0;
}

static void add_cut(struct wait *x, weft_time_ps at) {
    if (at > x->from_ps && at < x->to_ps) x->cut[x->cuts++] = at;
}

static void find_cuts(struct wait *x) {
    const struct layer *layers[] = {&x->frames, &x->pauses, &x->states};
    uint64_t n = x->frames.of.n + x->pauses.of.n + x->states.of.n;
    x->cut = weft_arena_alloc(x->y->arena, 3 * n + 3, sizeof *x->cut);
    x->cut[x->cuts++] = x->from_ps;
    for (uint32_t k = 0; k < 3; k++)
        for (uint64_t i = 0; i < layers[k]->of.n; i++) {
            add_cut(x, layers[k]->of.span[i].from_ps);
            add_cut(x, layers[k]->of.span[i].to_ps);
        }
    for (uint64_t i = 0; i < x->states.of.n; i++)
        if (x->states.of.span[i].of->state == WEFT_SENDER_POSTING) add_cut(x, latency_from(x, &x->states.of.span[i]));
    add_cut(x, x->lost_ps);
    x->cut[x->cuts++] = x->to_ps;
    qsort(x->cut, x->cuts, sizeof *x->cut, weft__by_u64);
}

/// The span that contains `at`, which never decreases; NULL: none.
static const struct why_span *span_at(struct layer *l, weft_time_ps at) {
    while (l->at < l->of.n && l->of.span[l->at].to_ps <= at)
        l->at++;
    return l->at < l->of.n && l->of.span[l->at].from_ps <= at ? &l->of.span[l->at] : NULL;
}

// --- causes -------------------------------------------------------------------------------------------------------

/// Which port paused this one, and which queue filled the buffer that caused the pause.
static struct weft__why_name pause_cause(struct wait *x, const struct why_span *pause) {
    const struct weft_whys *y = x->y;
    const struct weft_event *event = y->run->outcome->record;
    struct weft__why_name name = {WEFT__WHY_PAUSE, y->run->topology->port[x->port].peer, WEFT_NONE};
    while (x->pause_at < y->pauses && event[y->pause[x->pause_at].event - 1].time_ps < pause->from_ps)
        x->pause_at++;
    for (uint32_t i = x->pause_at; i < y->pauses; i++) {
        const struct weft_event *e = &event[y->pause[i].event - 1];
        if (e->time_ps > pause->from_ps) break;
        if (e->port != x->port || e->priority != x->priority || e->time_ps != pause->from_ps) continue;
        if (y->pause[i].root) name.more = event[y->pause[i].root - 1].port;
        break;
    }
    return name;
}

/// The queue that last marked the flow.
static struct weft__why_name mark_cause(struct wait *x, weft_time_ps at) {
    const struct weft_outcome *o = x->y->run->outcome;
    for (; x->mark_at < o->recorded && o->record[x->mark_at].time_ps <= at; x->mark_at++) {
        const struct weft_event *e = &o->record[x->mark_at];
        if (e->kind == WEFT_EVENT_FLOW_MARKED && e->flow == x->path->flow)
            x->mark = (struct weft__why_name){WEFT__WHY_MARKS, e->port, 0};
    }
    return x->mark;
}

static struct weft__why_name frame_cause(const struct wait *x, const struct weft_followed *f) {
    if (f->cell == WEFT_CARRIES_SOLICIT) return (struct weft__why_name){.what = WEFT__WHY_SOLICIT};
    if (f->cell != WEFT_CARRIES_PACKET) return (struct weft__why_name){WEFT__WHY_RMA, f->box, f->cell};
    if (f->kind >= WEFT_PACKET_PFC) return (struct weft__why_name){.what = WEFT__WHY_LOCAL};
    return (struct weft__why_name){f->kind == WEFT_PACKET_DATA ? WEFT__WHY_FLOW : WEFT__WHY_CONTROL,
                                   weft__why_flow_of(x->y, f->qp), 0};
}

static void add_wait(const struct wait *x, enum weft_why_kind kind, struct weft__why_name because_of,
                     weft_time_ps time) {
    struct weft__why_name port = {WEFT__WHY_PORT, x->port, 0};
    weft__why_add(x->list, (struct weft__why_time){kind, port, because_of, time});
}

static bool is_own_flow(const struct wait *x, const struct why_span *frame) {
    return frame->of->kind == WEFT_PACKET_DATA && weft__why_flow_of(x->y, frame->of->qp) == x->path->flow;
}

/// At the sender's port.
static void add_sender_piece(struct wait *x, weft_time_ps at, weft_time_ps time, const struct why_span *frame,
                             const struct why_span *pause, const struct why_span *state) {
    static const struct weft__why_name nothing;
    bool own = frame && is_own_flow(x, frame) && frame->of->qp == x->qp;
    enum weft_sender_state is = state ? (enum weft_sender_state)state->of->state : WEFT_SENDER_READY;
    bool open = is >= WEFT_SENDER_PACED || is == WEFT_SENDER_READY;
    if (at >= x->lost_ps || (own && frame->again))
        add_wait(x, WEFT_WHY_RETRANSMISSION, nothing, time);
    else if (own)
        add_wait(x, WEFT_WHY_SERIALISATION, nothing, time);
    else if (!state)
        add_wait(x, WEFT_WHY_REQUEST, nothing, time);
    else if (is == WEFT_SENDER_TELLING)
        add_wait(x, WEFT_WHY_RECEIVES, nothing, time);
    else if (is == WEFT_SENDER_POSTING)
        add_wait(x, at < latency_from(x, state) ? WEFT_WHY_POSTING : WEFT_WHY_SENDS, nothing, time);
    else if (!open)
        add_wait(x, is == WEFT_SENDER_EMPTY ? WEFT_WHY_EMPTY : WEFT_WHY_WINDOW, nothing, time);
    else if (pause)
        add_wait(x, WEFT_WHY_PAUSE, pause_cause(x, pause), time);
    else if (is == WEFT_SENDER_HELD)
        add_wait(x, WEFT_WHY_SFC, nothing, time);
    else if (is == WEFT_SENDER_PACED)
        add_wait(x, WEFT_WHY_PACE, mark_cause(x, at), time);
    else if (frame && is_own_flow(x, frame)) // another of its queue pairs
        add_wait(x, WEFT_WHY_SERIALISATION, nothing, time);
    else if (frame)
        add_wait(x, WEFT_WHY_QUEUEING, frame_cause(x, frame->of), time);
    else
        add_wait(x, WEFT_WHY_ARBITRATION, nothing, time);
}

static void add_port_piece(struct wait *x, weft_time_ps time, const struct why_span *frame,
                           const struct why_span *pause) {
    if (pause)
        add_wait(x, WEFT_WHY_PAUSE, pause_cause(x, pause), time);
    else if (frame)
        add_wait(x, WEFT_WHY_QUEUEING, frame_cause(x, frame->of), time);
    else
        add_wait(x, x->idle, (struct weft__why_name){.what = WEFT__WHY_NOTHING}, time);
}

static void add_pieces(struct wait *x, bool sender) {
    find_cuts(x);
    for (uint64_t i = 0; i + 1 < x->cuts; i++) {
        weft_time_ps at = x->cut[i], time = x->cut[i + 1] - at;
        if (!time) continue;
        const struct why_span *frame = span_at(&x->frames, at), *pause = span_at(&x->pauses, at);
        if (sender)
            add_sender_piece(x, at, time, frame, pause, span_at(&x->states, at));
        else
            add_port_piece(x, time, frame, pause);
    }
}

void weft__why_sender(const struct weft_whys *y, const struct weft__why_path *path, struct weft__why_list *l) {
    const struct weft_followed *hop = path->hop[0];
    struct wait x = {
        .y = y,
        .path = path,
        .port = hop->port,
        .priority = hop->priority,
        .qp = hop->qp,
        .from_ps = path->from_ps,
        .to_ps = hop->time_ps,
        .lost_ps = WEFT_TIME_NEVER,
        .list = l,
    };
    find_frames(&x);
    for (uint64_t i = 0; i < x.frames.of.n && x.lost_ps == WEFT_TIME_NEVER; i++) {
        const struct weft_followed *f = x.frames.of.span[i].of;
        if (f->qp == x.qp && f->psn == hop->psn && f->kind == WEFT_PACKET_DATA) x.lost_ps = f->time_ps;
    }
    find_pauses(&x);
    find_states(&x);
    add_pieces(&x, true);
}

static void explain_wait(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *hop,
                         weft_time_ps from, weft_time_ps to, enum weft_why_kind idle, struct weft__why_list *l) {
    struct wait x = {
        .y = y,
        .path = path,
        .port = hop->port,
        .priority = hop->priority,
        .qp = hop->qp,
        .from_ps = from,
        .to_ps = to,
        .lost_ps = WEFT_TIME_NEVER,
        .idle = idle,
        .list = l,
    };
    find_frames(&x);
    find_pauses(&x);
    add_pieces(&x, false);
}

void weft__why_port(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *hop,
                    weft_time_ps from, struct weft__why_list *l) {
    const struct weft_topology *t = y->run->topology;
    const struct weft_node_info *node = &t->node[t->port[hop->port].node];
    enum weft_why_kind idle = WEFT_WHY_ARBITRATION;
    if (node->role == WEFT_NODE_SWITCH) {
        const struct weft_switch_conf *conf = &weft__followed_device(y->run->scenario, t, t->port[hop->port].node)->sw;
        if (conf->packet_rate)
            idle = WEFT_WHY_PACKET_RATE;
        else if (conf->forwarding == WEFT_CUT_THROUGH)
            idle = WEFT_WHY_SERIALISATION; // it waits for the rest of the frame
    }
    explain_wait(y, path, hop, from, hop->time_ps, idle, l);
}

void weft__why_cells(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *cell,
                     weft_time_ps from, weft_time_ps to, enum weft_why_kind idle, struct weft__why_list *l) {
    explain_wait(y, path, cell, from, to, idle, l);
}

void weft__why_behind(const struct weft_whys *y, const struct weft__why_path *path, uint32_t port, weft_time_ps from,
                      weft_time_ps to, struct weft__why_time part, struct weft__why_list *l) {
    struct wait x = {
        .y = y, .path = path, .port = port, .from_ps = from, .to_ps = to, .lost_ps = WEFT_TIME_NEVER, .list = l};
    find_frames(&x);
    find_cuts(&x);
    for (uint64_t i = 0; i + 1 < x.cuts; i++) {
        const struct why_span *frame = span_at(&x.frames, x.cut[i]);
        bool data = frame && frame->of->kind == WEFT_PACKET_DATA;
        part.time_ps = x.cut[i + 1] - x.cut[i];
        part.because_of = (struct weft__why_name){WEFT__WHY_PORT, port, 0};
        if (data) part.because_of = (struct weft__why_name){WEFT__WHY_SENDS, weft__why_flow_of(y, frame->of->qp), port};
        if (part.time_ps) weft__why_add(l, part);
    }
}
