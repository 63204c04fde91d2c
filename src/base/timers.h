// SPDX-License-Identifier: Apache-2.0
// The timers of one node. A key is a small number that the node gives meaning to; each key has at most one deadline.
// Equal times fire in key order, so that the order never depends on history.
//
// The soonest stand in a short sorted row, the others in a binary heap: no deadline of the row is after one of the
// heap. Ports' timers live and die in the row, for they are set a frame's time ahead and so mostly go to its end, or,
// after a short frame, to its beginning; timeouts wait in the heap.
#ifndef WEFT_BASE_TIMERS_H
#define WEFT_BASE_TIMERS_H

#include <assert.h>

#include "weft/types.h"

struct weft__timer {
    weft_time_ps time_ps;
    uint32_t key;
};

struct weft__timers {
    weft_time_ps next_ps;    ///< the earliest deadline
    struct weft__timer *row; ///< [row_last + 1], a ring
    uint8_t row_last;        ///< a power of two less 1
    uint8_t first, due;      ///< where the row begins; how many are in it
    uint32_t n, capacity, keys;
    struct weft__timer *heap;
    uint32_t *place; ///< key -> index in heap + 1; 0: not in the heap
};

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

/// The i-th of the row.
static inline struct weft__timer *weft__timers_at(const struct weft__timers *t, uint32_t i) {
    return &t->row[(t->first + i) & t->row_last];
}

/// Whose deadline is the earliest; there must be one.
static inline uint32_t weft__timers_next_key(const struct weft__timers *t) {
    return t->due ? t->row[t->first].key : t->heap[0].key;
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

static inline void weft__timers_find_next(struct weft__timers *t) {
    t->next_ps = t->due ? t->row[t->first].time_ps : t->n ? t->heap[0].time_ps : WEFT_TIME_NEVER;
}

/// Where a key stands in the row; t->due: it does not.
static inline uint32_t weft__timers_find(const struct weft__timers *t, uint32_t key) {
    uint32_t i = 0;
    while (i < t->due && weft__timers_at(t, i)->key != key)
        i++;
    return i;
}

/// x is due before all that is in the heap, and there is room in the row.
static inline void weft__timers_line_up(struct weft__timers *t, struct weft__timer x) {
    uint32_t i = t->due++;
    if (i && weft__timer_before(x, t->row[t->first])) {
        t->first = (t->first - 1) & t->row_last;
        i = 0;
    }
    for (; i && weft__timer_before(x, *weft__timers_at(t, i - 1)); i--)
        *weft__timers_at(t, i) = *weft__timers_at(t, i - 1);
    *weft__timers_at(t, i) = x;
    t->next_ps = t->row[t->first].time_ps;
}

/// The row is full: room for x, if it is not after all of it.
void weft__timers_overflow(struct weft__timers *t, struct weft__timer x);

/// Sets the deadline of a key that has none.
static inline void weft__timer_add(struct weft__timers *t, uint32_t key, weft_time_ps time) {
    assert(key < t->keys);
    struct weft__timer x = {time, key};
    if (t->n && !weft__timer_before(x, t->heap[0])) {
        weft__timers_push(t, x);
        weft__timers_find_next(t);
    } else if (__builtin_expect(t->due > t->row_last, 0)) {
        weft__timers_overflow(t, x);
    } else {
        weft__timers_line_up(t, x);
    }
}

/// Takes the deadline of a key, if it has one.
static inline void weft__timers_forget(struct weft__timers *t, uint32_t key) {
    uint32_t place = t->place[key], i;
    if (place) {
        t->place[key] = 0;
        weft__timers_remove(t, place - 1);
    } else if ((i = weft__timers_find(t, key)) < t->due) {
        for (t->due--; i < t->due; i++)
            *weft__timers_at(t, i) = *weft__timers_at(t, i + 1);
    }
}

/// The deadline of `key`, or never.
static inline weft_time_ps weft__timer_at(const struct weft__timers *t, uint32_t key) {
    uint32_t place = t->place[key];
    if (place) return t->heap[place - 1].time_ps;
    uint32_t i = weft__timers_find(t, key);
    return i < t->due ? weft__timers_at(t, i)->time_ps : WEFT_TIME_NEVER;
}

/// Sets or moves the deadline of `key`.
void weft__timer_set(struct weft__timers *t, uint32_t key, weft_time_ps time);
void weft__timer_cancel(struct weft__timers *t, uint32_t key);

/// Takes the earliest; there must be one.
static inline uint32_t weft__timers_pop(struct weft__timers *t) {
    uint32_t key = weft__timers_next_key(t);
    if (__builtin_expect(t->due, 1)) {
        t->first = (t->first + 1) & t->row_last;
        t->due--;
    } else {
        t->place[key] = 0;
        struct weft__timer last = t->heap[--t->n];
        if (t->n) weft__timers_sift_down(t, 0, last);
    }
    weft__timers_find_next(t);
    return key;
}

#endif
