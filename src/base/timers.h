// SPDX-License-Identifier: Apache-2.0
// The timers of one node: a binary heap by (time, key). A key is a small number that the node gives meaning to; each
// key has at most one deadline. Equal times fire in key order, so that the order never depends on history. A timer that
// is set as the earliest of all stands before the heap: most often it is also the next to fire, as a port's is among
// the timeouts of many queue pairs, and then it never goes through the heap.
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
    uint32_t *place; ///< key -> index in heap + 1; 0: not set; WEFT__TIMER_FRONT
    uint32_t n, capacity, keys;
    uint32_t front;       ///< key + 1 of the one before all in the heap; 0: none is
    weft_time_ps next_ps; ///< the earliest deadline
};
#define WEFT__TIMER_FRONT UINT32_MAX

void weft__timers_init(struct weft__timers *t, uint32_t keys);
void weft__timers_deinit(struct weft__timers *t);
void weft__timers_grow(struct weft__timers *t);
/// Keys below `keys` may be set from now on.
void weft__timers_add_keys(struct weft__timers *t, uint32_t keys);

static inline bool weft__timer_before(struct weft__timer a, struct weft__timer b) {
    return a.time_ps != b.time_ps ? a.time_ps < b.time_ps : a.key < b.key;
}

static inline weft_time_ps weft__timers_next(const struct weft__timers *t) {
    return t->next_ps;
}

/// Whose deadline is the earliest; there must be one.
static inline uint32_t weft__timers_next_key(const struct weft__timers *t) {
    return t->front ? t->front - 1 : t->heap[0].key;
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

static inline void weft__timers_push(struct weft__timers *t, struct weft__timer x) {
    if (__builtin_expect(t->n == t->capacity, 0)) weft__timers_grow(t);
    weft__timers_sift_up(t, t->n++, x);
}

static inline void weft__timers_remove(struct weft__timers *t, uint32_t i) {
    struct weft__timer last = t->heap[--t->n];
    if (i != t->n) weft__timers_settle(t, i, last);
}

/// The heap's top is the earliest.
static inline void weft__timers_leave_front(struct weft__timers *t) {
    t->front = 0;
    t->next_ps = t->n ? t->heap[0].time_ps : WEFT_TIME_NEVER;
}

/// Sets or moves the deadline of `key`.
static inline void weft__timer_set(struct weft__timers *t, uint32_t key, weft_time_ps time) {
    assert(key < t->keys);
    struct weft__timer x = {time, key}, front = {t->next_ps, t->front - 1};
    uint32_t i = t->place[key];
    bool was_front = i == WEFT__TIMER_FRONT, has_front = t->front && !was_front;
    if (has_front ? weft__timer_before(x, front) : !t->n || !weft__timer_before(t->heap[0], x)) {
        if (i && !was_front) weft__timers_remove(t, i - 1);
        if (has_front) weft__timers_push(t, front);
        t->next_ps = time;
        t->front = key + 1;
        t->place[key] = WEFT__TIMER_FRONT;
        return;
    }
    if (i && !was_front)
        weft__timers_settle(t, i - 1, x);
    else
        weft__timers_push(t, x);
    if (!has_front) weft__timers_leave_front(t);
}

static inline void weft__timer_cancel(struct weft__timers *t, uint32_t key) {
    uint32_t i = t->place[key];
    t->place[key] = 0;
    if (i && i != WEFT__TIMER_FRONT) weft__timers_remove(t, i - 1);
    if (i == WEFT__TIMER_FRONT || !t->front) weft__timers_leave_front(t);
}

/// The deadline of `key`, or never.
static inline weft_time_ps weft__timer_at(const struct weft__timers *t, uint32_t key) {
    uint32_t i = t->place[key];
    if (i == WEFT__TIMER_FRONT) return t->next_ps;
    return i ? t->heap[i - 1].time_ps : WEFT_TIME_NEVER;
}

/// Takes the earliest; there must be one.
static inline uint32_t weft__timers_pop(struct weft__timers *t) {
    uint32_t key = weft__timers_next_key(t);
    t->place[key] = 0;
    if (!t->front) {
        struct weft__timer last = t->heap[--t->n];
        if (t->n) weft__timers_sift_down(t, 0, last);
    }
    weft__timers_leave_front(t);
    return key;
}

#endif
