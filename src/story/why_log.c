// SPDX-License-Identifier: Apache-2.0
// A port's log as times that can be searched, built once, when a port is first needed. A critical path of thousands of
// steps needs the same ports again and again.
#include <stdlib.h>

#include "base/order.h"
#include "story/why_log.h"

struct weft__why_log {
    bool made;
    struct weft__why_spans frames, pauses, states; ///< each by key and time
};

struct weft__why_log *weft__why_logs_new(uint32_t ports, struct weft_arena *arena) {
    return weft_arena_alloc(arena, ports, sizeof(struct weft__why_log));
}

static const struct weft_followed *log_of(const struct weft_followed_list *logs, uint32_t port, uint64_t *ret_n) {
    *ret_n = logs->first[port + 1] - logs->first[port];
    return logs->followed + logs->first[port];
}

static struct weft__why_spans spans_new(const struct weft_whys *y, uint64_t room) {
    return (struct weft__why_spans){weft_arena_alloc(y->arena, room, sizeof(struct weft__why_span)), 0};
}

static void add_span(struct weft__why_spans *l, struct weft__why_span s) {
    if (s.from_ps < s.to_ps) l->span[l->n++] = s;
}

/// Spans of one key that begin at the same time keep the order of the log.
WEFT__ORDER(by_key, struct weft__why_span, WEFT__UP(key) ?: WEFT__UP(from_ps) ?: WEFT__UP(of))

static void sort_spans(struct weft__why_spans *l) {
    if (l->n) qsort(l->span, l->n, sizeof *l->span, by_key);
}

/// Marks frames of a queue pair that had been sent before.
static void find_again(struct weft__why_spans *l) {
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

static struct weft__why_spans frames_of(const struct weft_whys *y, uint32_t port) {
    uint64_t n, frames = 0;
    const struct weft_followed *f = log_of(&y->all, port, &n);
    if (!n) f = log_of(&y->own, port, &n);
    for (uint64_t i = 0; i < n; i++)
        frames += f[i].what == WEFT_FOLLOWED_FRAME || f[i].what == WEFT_FOLLOWED_CELL;
    struct weft__why_spans l = spans_new(y, frames);
    for (uint64_t i = 0; i < n; i++)
        if (f[i].what == WEFT_FOLLOWED_FRAME || f[i].what == WEFT_FOLLOWED_CELL)
            add_span(&l, (struct weft__why_span){f[i].time_ps, f[i].busy_ps, &f[i], f[i].qp, false});
    find_again(&l);
    for (uint64_t i = 0; i < l.n; i++)
        l.span[i].key = 0;
    sort_spans(&l);
    return l;
}

/// Indexed by priority.
static struct weft__why_spans pauses_of(const struct weft_whys *y, uint32_t port) {
    uint64_t n, pauses = 0;
    const struct weft_followed *f = log_of(&y->own, port, &n), *open[256] = {0};
    for (uint64_t i = 0; i < n; i++)
        pauses += f[i].what == WEFT_FOLLOWED_PAUSED;
    struct weft__why_spans l = spans_new(y, pauses);
    for (uint64_t i = 0; i < n; i++) {
        const struct weft_followed **is = &open[f[i].priority];
        if (f[i].what != WEFT_FOLLOWED_PAUSED && f[i].what != WEFT_FOLLOWED_RESUMED) continue;
        if (f[i].what == WEFT_FOLLOWED_RESUMED && *is)
            add_span(&l, (struct weft__why_span){(*is)->time_ps, f[i].time_ps, *is, f[i].priority, false});
        *is = f[i].what == WEFT_FOLLOWED_PAUSED ? &f[i] : NULL;
    }
    for (unsigned p = 0; p < sizeof open / sizeof *open; p++)
        if (open[p]) add_span(&l, (struct weft__why_span){open[p]->time_ps, WEFT_TIME_NEVER, open[p], p, false});
    sort_spans(&l);
    return l;
}

WEFT__ORDER_OF_POINTERS(by_queue_pair, struct weft_followed, WEFT__UP(qp) ?: WEFT__PLACE)

/// Indexed by queue pair. A later note overrides an earlier one, even for an earlier time.
static struct weft__why_spans states_of(const struct weft_whys *y, uint32_t port) {
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
    struct weft__why_spans l = spans_new(y, kept);
    for (uint64_t i = 0; i < kept; i++) {
        bool last = i + 1 == kept || state[i + 1]->qp != state[i]->qp;
        weft_time_ps to = last ? WEFT_TIME_NEVER : state[i + 1]->time_ps;
        add_span(&l, (struct weft__why_span){state[i]->time_ps, to, state[i], state[i]->qp, false});
    }
    return l;
}

static const struct weft__why_log *made_log(const struct weft_whys *y, uint32_t port) {
    struct weft__why_log *log = &y->log[port];
    if (!log->made) *log = (struct weft__why_log){true, frames_of(y, port), pauses_of(y, port), states_of(y, port)};
    return log;
}

/// The spans of a key that overlap the time between `from` and `to`.
static struct weft__why_spans spans_between(const struct weft__why_spans *l, uint32_t key, weft_time_ps from,
                                            weft_time_ps to) {
    uint64_t low = WEFT__FIRST_WITHOUT(
                 0, l->n, l->span[middle].key < key || (l->span[middle].key == key && l->span[middle].to_ps <= from)),
             end;
    for (end = low; end < l->n && l->span[end].key == key && l->span[end].from_ps < to;)
        end++;
    return (struct weft__why_spans){l->span + low, end - low};
}

struct weft__why_spans weft__why_frames(const struct weft_whys *y, uint32_t port, weft_time_ps from, weft_time_ps to) {
    return spans_between(&made_log(y, port)->frames, 0, from, to);
}

struct weft__why_spans weft__why_pauses(const struct weft_whys *y, uint32_t port, uint32_t priority, weft_time_ps from,
                                        weft_time_ps to) {
    return spans_between(&made_log(y, port)->pauses, priority, from, to);
}

struct weft__why_spans weft__why_states(const struct weft_whys *y, uint32_t port, uint32_t qp, weft_time_ps from,
                                        weft_time_ps to) {
    return spans_between(&made_log(y, port)->states, qp, from, to);
}
