// SPDX-License-Identifier: Apache-2.0
// The timers of one node: a binary heap by (time, key). A key is a small number that the node gives meaning to; each
// key has at most one deadline. Equal times fire in key order, so that the order never depends on history.
#ifndef WEFT_BASE_TIMERS_H
#define WEFT_BASE_TIMERS_H

#include <assert.h>

#include "weft/types.h"

struct weft__timer {
    weft_time_ps time_ps;
    uint32_t key;
};

struct weft__timers {
    struct weft__timer *heap;
    uint32_t *place; ///< key -> index in heap + 1; 0: not set
    uint32_t n, capacity, keys;
};

void weft__timers_init(struct weft__timers *t, uint32_t keys);
void weft__timers_deinit(struct weft__timers *t);
void weft__timers_grow(struct weft__timers *t);

static inline bool weft__timer_before(struct weft__timer a, struct weft__timer b) {
    return a.time_ps != b.time_ps ? a.time_ps < b.time_ps : a.key < b.key;
}

static inline weft_time_ps weft__timers_next(const struct weft__timers *t) {
    return t->n ? t->heap[0].time_ps : WEFT_TIME_NEVER;
}

static inline void weft__timers_sift_up(struct weft__timers *t, uint32_t i, struct weft__timer x) {
    while (i) {
        uint32_t up = (i - 1) / 2;
        if (!weft__timer_before(x, t->heap[up])) break;
        t->heap[i] = t->heap[up];
        t->place[t->heap[i].key] = i + 1;
        i = up;
    }
    t->heap[i] = x;
    t->place[x.key] = i + 1;
}

static inline void weft__timers_sift_down(struct weft__timers *t, uint32_t i, struct weft__timer x) {
    for (;;) {
        uint32_t down = 2 * i + 1;
        if (down >= t->n) break;
        if (down + 1 < t->n && weft__timer_before(t->heap[down + 1], t->heap[down])) down++;
        if (!weft__timer_before(t->heap[down], x)) break;
        t->heap[i] = t->heap[down];
        t->place[t->heap[i].key] = i + 1;
        i = down;
    }
    t->heap[i] = x;
    t->place[x.key] = i + 1;
}

/// Puts x where the hole at i was.
static inline void weft__timers_settle(struct weft__timers *t, uint32_t i, struct weft__timer x) {
    if (i && weft__timer_before(x, t->heap[(i - 1) / 2]))
        weft__timers_sift_up(t, i, x);
    else
        weft__timers_sift_down(t, i, x);
}

/// Sets or moves the deadline of `key`.
static inline void weft__timer_set(struct weft__timers *t, uint32_t key, weft_time_ps time) {
    assert(key < t->keys);
    struct weft__timer x = {time, key};
    if (t->place[key]) {
        weft__timers_settle(t, t->place[key] - 1, x);
    } else {
        if (__builtin_expect(t->n == t->capacity, 0)) weft__timers_grow(t);
        weft__timers_sift_up(t, t->n++, x);
    }
}

static inline void weft__timer_cancel(struct weft__timers *t, uint32_t key) {
    uint32_t i = t->place[key];
    if (!i) return;
    t->place[key] = 0;
    struct weft__timer last = t->heap[--t->n];
    if (i - 1 != t->n) weft__timers_settle(t, i - 1, last);
}

/// The deadline of `key`, or never.
static inline weft_time_ps weft__timer_at(const struct weft__timers *t, uint32_t key) {
    return t->place[key] ? t->heap[t->place[key] - 1].time_ps : WEFT_TIME_NEVER;
}

/// Takes the earliest; there must be one.
static inline uint32_t weft__timers_pop(struct weft__timers *t) {
    uint32_t key = t->heap[0].key;
    t->place[key] = 0;
    struct weft__timer last = t->heap[--t->n];
    if (t->n) weft__timers_sift_down(t, 0, last);
    return key;
}

#endif
