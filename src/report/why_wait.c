// SPDX-License-Identifier: Apache-2.0
// What a sender or a port did while the flow's critical packet had not yet been sent. Time is cut where anything begins
// or ends; each piece goes to the first cause that holds in it, in the order of weft/why.h.
#include <stdlib.h>

#include "report/why.h"

/// Times of one sort, which do not overlap, in order; `from` before `to`.
struct span {
    weft_time_ps from_ps, to_ps;
    const struct weft_followed *of; ///< where it comes from
    bool again;                     ///< a frame that was sent before
};
struct layer {
    struct span *span;
    uint32_t n, at; ///< at: the first one that may hold now
};

struct wait {
    const struct weft_whys *y;
    const struct weft__why_path *path;
    uint32_t port, priority, qp;
    struct layer frames, pauses, states;
    weft_time_ps from_ps, to_ps, lost_ps; ///< lost: when the critical packet was sent first, in vain; never
    weft_time_ps *cut;
    uint32_t cuts;
    enum weft_why_kind idle; ///< on the way: what it is that holds if nothing else does
    struct weft__why_list *list;
};

static struct layer layer_new(const struct wait *x, uint64_t room) {
    return (struct layer){.span = weft_arena_alloc(x->y->arena, room, sizeof(struct span))};
}

/// What a port's log has, of the frames of all or else of the flow.
static const struct weft_followed *log_of(const struct weft_followed_list *logs, uint32_t port, uint64_t *ret_n) {
    *ret_n = logs->first[port + 1] - logs->first[port];
    return logs->followed + logs->first[port];
}

static void add_span(const struct wait *x, struct layer *l, struct span s) {
    if (s.to_ps > x->from_ps && s.from_ps < x->to_ps && s.from_ps < s.to_ps) l->span[l->n++] = s;
}

static void find_frames(struct wait *x) {
    uint64_t n;
    const struct weft_followed *f = log_of(&x->y->all, x->port, &n);
    if (!n) f = log_of(&x->y->own, x->port, &n);
    uint32_t highest = 0; // PSN of the queue pair, + 1
    x->frames = layer_new(x, n);
    for (uint64_t i = 0; i < n; i++) {
        if (f[i].what != WEFT_FOLLOWED_FRAME && f[i].what != WEFT_FOLLOWED_CELL) continue;
        bool own = f[i].qp == x->qp && f[i].kind == WEFT_PACKET_DATA && f[i].cell == WEFT_CARRIES_PACKET,
             again = own && f[i].psn < highest;
        if (own && !again) highest = f[i].psn + 1;
        add_span(x, &x->frames, (struct span){f[i].time_ps, f[i].busy_ps, &f[i], again});
    }
}

static void find_pauses(struct wait *x) {
    uint64_t n;
    const struct weft_followed *f = log_of(&x->y->own, x->port, &n), *open = NULL;
    x->pauses = layer_new(x, n + 1);
    for (uint64_t i = 0; i < n; i++) {
        if (f[i].priority != x->priority) continue;
        if (f[i].what == WEFT_FOLLOWED_RESUMED && open)
            add_span(x, &x->pauses, (struct span){open->time_ps, f[i].time_ps, open, false});
        if (f[i].what == WEFT_FOLLOWED_PAUSED || f[i].what == WEFT_FOLLOWED_RESUMED)
            open = f[i].what == WEFT_FOLLOWED_PAUSED ? &f[i] : NULL;
    }
    if (open) add_span(x, &x->pauses, (struct span){open->time_ps, WEFT_TIME_NEVER, open, false});
}

/// What is noted later holds, even of an earlier time.
static void find_states(struct wait *x) {
    uint64_t n, kept = 0;
    const struct weft_followed *f = log_of(&x->y->own, x->port, &n);
    const struct weft_followed **state = weft_arena_alloc(x->y->arena, n, sizeof *state);
    for (uint64_t i = 0; i < n; i++) {
        if (f[i].what != WEFT_FOLLOWED_SENDER || f[i].qp != x->qp) continue;
        while (kept && state[kept - 1]->time_ps >= f[i].time_ps)
            kept--;
        state[kept++] = &f[i];
    }
    x->states = layer_new(x, kept);
    for (uint64_t i = 0; i < kept; i++) {
        weft_time_ps to = i + 1 < kept ? state[i + 1]->time_ps : WEFT_TIME_NEVER;
        add_span(x, &x->states, (struct span){state[i]->time_ps, to, state[i], false});
    }
}

static void add_cut(struct wait *x, weft_time_ps at) {
    if (at > x->from_ps && at < x->to_ps) x->cut[x->cuts++] = at;
}

static int by_time(const void *a, const void *b) {
    weft_time_ps x = *(const weft_time_ps *)a, y = *(const weft_time_ps *)b;
    return (x > y) - (x < y);
}

static void find_cuts(struct wait *x) {
    const struct layer *layers[] = {&x->frames, &x->pauses, &x->states};
    uint32_t n = x->frames.n + x->pauses.n + x->states.n;
    x->cut = weft_arena_alloc(x->y->arena, 2 * (size_t)n + 3, sizeof *x->cut);
    x->cut[x->cuts++] = x->from_ps;
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < layers[k]->n; i++) {
            add_cut(x, layers[k]->span[i].from_ps);
            add_cut(x, layers[k]->span[i].to_ps);
        }
    add_cut(x, x->lost_ps);
    x->cut[x->cuts++] = x->to_ps;
    qsort(x->cut, x->cuts, sizeof *x->cut, by_time);
}

/// The span that holds at `at`, which never goes back; NULL: none.
static const struct span *span_at(struct layer *l, weft_time_ps at) {
    while (l->at < l->n && l->span[l->at].to_ps <= at)
        l->at++;
    return l->at < l->n && l->span[l->at].from_ps <= at ? &l->span[l->at] : NULL;
}

// --- causes -------------------------------------------------------------------------------------------------------

/// Who paused the port, and which queue filled the buffer that it was paused for.
static struct weft__why_name pause_cause(const struct wait *x, const struct span *pause) {
    const struct weft_whys *y = x->y;
    const struct weft_event *event = y->run->outcome->record;
    struct weft__why_name name = {WEFT__WHY_PAUSE, y->run->topology->port[x->port].peer, WEFT_NONE};
    for (uint32_t i = 0; i < y->pauses; i++) {
        const struct weft_event *e = &event[y->pause[i].event - 1];
        if (e->port != x->port || e->priority != x->priority || e->time_ps != pause->from_ps) continue;
        if (y->pause[i].root) name.more = event[y->pause[i].root - 1].port;
        break;
    }
    return name;
}

/// The queue that marked the flow last.
static struct weft__why_name mark_cause(const struct wait *x, weft_time_ps at) {
    const struct weft_outcome *o = x->y->run->outcome;
    struct weft__why_name name = {.what = WEFT__WHY_NOTHING};
    for (uint32_t i = 0; i < o->recorded && o->record[i].time_ps <= at; i++)
        if (o->record[i].kind == WEFT_EVENT_FLOW_MARKED && o->record[i].flow == x->path->flow)
            name = (struct weft__why_name){WEFT__WHY_MARKS, o->record[i].port, 0};
    return name;
}

static struct weft__why_name frame_cause(const struct wait *x, const struct weft_followed *f) {
    if (f->cell == WEFT_CARRIES_SOLICIT) return (struct weft__why_name){.what = WEFT__WHY_SOLICIT};
    if (f->cell != WEFT_CARRIES_PACKET) return (struct weft__why_name){WEFT__WHY_RMA, f->box, f->cell};
    if (f->kind >= WEFT_PACKET_PFC) return (struct weft__why_name){.what = WEFT__WHY_LOCAL};
    return (struct weft__why_name){f->kind == WEFT_PACKET_DATA ? WEFT__WHY_FLOW : WEFT__WHY_CONTROL,
                                   weft__why_flow_of(x->y, f->qp), 0};
}

static void add(const struct wait *x, enum weft_why_kind kind, struct weft__why_name because_of, weft_time_ps time) {
    struct weft__why_name port = {WEFT__WHY_PORT, x->port, 0};
    weft__why_add(x->list, (struct weft__why_time){kind, port, because_of, time});
}

static bool is_own_flow(const struct wait *x, const struct span *frame) {
    return frame->of->kind == WEFT_PACKET_DATA && weft__why_flow_of(x->y, frame->of->qp) == x->path->flow;
}

/// At the sender's port.
static void add_sender_piece(const struct wait *x, weft_time_ps at, weft_time_ps time, const struct span *frame,
                             const struct span *pause, const struct span *state) {
    static const struct weft__why_name nothing;
    bool own = frame && is_own_flow(x, frame) && frame->of->qp == x->qp;
    enum weft_sender_state is = state ? (enum weft_sender_state)state->of->state : WEFT_SENDER_READY;
    bool open = is != WEFT_SENDER_EMPTY && is != WEFT_SENDER_WINDOW;
    if (at >= x->lost_ps || (own && frame->again))
        add(x, WEFT_WHY_RETRANSMISSION, nothing, time);
    else if (own)
        add(x, WEFT_WHY_SERIALISATION, nothing, time);
    else if (!state)
        add(x, WEFT_WHY_REQUEST, nothing, time);
    else if (!open)
        add(x, is == WEFT_SENDER_EMPTY ? WEFT_WHY_EMPTY : WEFT_WHY_WINDOW, nothing, time);
    else if (pause)
        add(x, WEFT_WHY_PAUSE, pause_cause(x, pause), time);
    else if (is == WEFT_SENDER_HELD)
        add(x, WEFT_WHY_SFC, nothing, time);
    else if (is == WEFT_SENDER_PACED)
        add(x, WEFT_WHY_PACE, mark_cause(x, at), time);
    else if (frame && is_own_flow(x, frame)) // another queue pair of it
        add(x, WEFT_WHY_SERIALISATION, nothing, time);
    else if (frame)
        add(x, WEFT_WHY_QUEUEING, frame_cause(x, frame->of), time);
    else
        add(x, WEFT_WHY_ARBITRATION, nothing, time);
}

static void add_port_piece(const struct wait *x, weft_time_ps time, const struct span *frame,
                           const struct span *pause) {
    if (pause)
        add(x, WEFT_WHY_PAUSE, pause_cause(x, pause), time);
    else if (frame)
        add(x, WEFT_WHY_QUEUEING, frame_cause(x, frame->of), time);
    else
        add(x, x->idle, (struct weft__why_name){.what = WEFT__WHY_NOTHING}, time);
}

static void add_pieces(struct wait *x, bool sender) {
    find_cuts(x);
    for (uint32_t i = 0; i + 1 < x->cuts; i++) {
        weft_time_ps at = x->cut[i], time = x->cut[i + 1] - at;
        if (!time) continue;
        const struct span *frame = span_at(&x->frames, at), *pause = span_at(&x->pauses, at);
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
    for (uint32_t i = 0; i < x.frames.n && x.lost_ps == WEFT_TIME_NEVER; i++) {
        const struct weft_followed *f = x.frames.span[i].of;
        if (f->qp == x.qp && f->psn == hop->psn && f->kind == WEFT_PACKET_DATA) x.lost_ps = f->time_ps;
    }
    find_pauses(&x);
    find_states(&x);
    add_pieces(&x, true);
}

static void explain(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *hop,
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
    explain(y, path, hop, from, hop->time_ps, WEFT_WHY_ARBITRATION, l);
}

void weft__why_cells(const struct weft_whys *y, const struct weft__why_path *path, const struct weft_followed *cell,
                     weft_time_ps from, weft_time_ps to, enum weft_why_kind idle, struct weft__why_list *l) {
    explain(y, path, cell, from, to, idle, l);
}

void weft__why_behind(const struct weft_whys *y, const struct weft__why_path *path, uint32_t port, weft_time_ps from,
                      weft_time_ps to, struct weft__why_time part, struct weft__why_list *l) {
    struct wait x = {
        .y = y, .path = path, .port = port, .from_ps = from, .to_ps = to, .lost_ps = WEFT_TIME_NEVER, .list = l};
    find_frames(&x);
    find_cuts(&x);
    for (uint32_t i = 0; i + 1 < x.cuts; i++) {
        const struct span *frame = span_at(&x.frames, x.cut[i]);
        bool data = frame && frame->of->kind == WEFT_PACKET_DATA;
        part.time_ps = x.cut[i + 1] - x.cut[i];
        part.because_of = (struct weft__why_name){WEFT__WHY_PORT, port, 0};
        if (data) part.because_of = (struct weft__why_name){WEFT__WHY_SENDS, weft__why_flow_of(y, frame->of->qp), port};
        if (part.time_ps) weft__why_add(l, part);
    }
}
