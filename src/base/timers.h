// SPDX-License-Identifier: Apache-2.0
// The timers of one node. A key is a small number that the node gives meaning to; each key has at most one deadline.
// Equal times fire in key order, so that the order never depends on history.
//
// The earliest deadlines are in a short sorted row, the others in a binary heap: no deadline in the row is after one in
// the heap. Ports' timers stay in the row, because they are set a frame's time ahead and so mostly go to its end or,
// after a short frame, to its beginning; timeouts wait in the heap. In the row a deadline is a word, with its time
// above its key, so that words sort like deadlines. A deadline whose time does not fit goes to the heap.
#pragma once

#include <assert.h>

#include "weft/types.h"

struct weft__timer {
    weft_time_ps time_ps;
    uint32_t key;
};

struct weft__timers {
    weft_time_ps next_ps; ///< the earliest deadline
    uint64_t *row;        ///< [row_last + 1], a ring
    uint64_t heap_word;   ///< word of the earliest in the heap, UINT64_MAX if it does not fit or there is none
    uint8_t row_last;     ///< a power of two less 1
    uint8_t first, due;   ///< first: start of the row; due: how many are in it
    uint8_t key_bits;     ///< bits per word
    uint32_t n, capacity, keys;
    struct weft__timer *heap;
    uint32_t *place; ///< key -> index in heap + 1; 0: not in the heap
};

void weft__timers_init(struct weft__timers *t, uint32_t keys);
void weft__timers_deinit(struct weft__timers *t);
/// Keys below `keys` may be set from now on.
void weft__timers_add_keys(struct weft__timers *t, uint32_t keys);

static inline bool weft__timer_before(struct weft__timer a, struct weft__timer b) {
    return a.time_ps != b.time_ps ? a.time_ps < b.time_ps : a.key < b.key;
}

static inline weft_time_ps weft__timers_next(const struct weft__timers *t) {
    return t->next_ps;
}

/// The i-th entry of the row.
static inline uint64_t *weft__timers_at(const struct weft__timers *t, uint32_t i) {
    return &t->row[(t->first + i) & t->row_last];
}

static inline uint64_t weft__timers_word(const struct weft__timers *t, struct weft__timer x) {
    uint64_t word = x.time_ps << t->key_bits | x.key;
    return __builtin_expect(word >> t->key_bits == x.time_ps, 1) ? word : UINT64_MAX;
}

static inline struct weft__timer weft__timers_of_word(const struct weft__timers *t, uint64_t word) {
    return (struct weft__timer){word >> t->key_bits, (uint32_t)(word & ((UINT64_C(1) << t->key_bits) - 1))};
}

static inline void weft__timers_find_next(struct weft__timers *t) {
    t->next_ps = t->due ? t->row[t->first] >> t->key_bits : t->n ? t->heap[0].time_ps : WEFT_TIME_NEVER;
}

/// The heap has changed.
static inline void weft__timers_look_at_heap(struct weft__timers *t) {
    t->heap_word = t->n ? weft__timers_word(t, t->heap[0]) : UINT64_MAX;
    weft__timers_find_next(t);
}

/// The position of a key in the row; t->due: it is not there.
static inline uint32_t weft__timers_find(const struct weft__timers *t, uint32_t key) {
    uint32_t i = 0;
    while (i < t->due && weft__timers_of_word(t, *weft__timers_at(t, i)).key != key)
        i++;
    return i;
}

/// Inserts the word, which is before everything in the heap, and the row has room.
static inline void weft__timers_line_up(struct weft__timers *t, uint64_t word) {
    uint32_t i = t->due++;
    if (!i || word < t->row[t->first]) {
        t->first = (t->first - 1) & t->row_last;
        t->row[t->first] = word;
        t->next_ps = word >> t->key_bits;
        return;
    }
    for (; word < *weft__timers_at(t, i - 1); i--)
        *weft__timers_at(t, i) = *weft__timers_at(t, i - 1);
    *weft__timers_at(t, i) = word;
}

/// The row is full, or the word does not belong there.
void weft__timers_overflow(struct weft__timers *t, struct weft__timer x, uint64_t word);

/// Sets the deadline of a key that has none.
static inline void weft__timer_add(struct weft__timers *t, uint32_t key, weft_time_ps time) {
    assert(key < t->keys);
    struct weft__timer x = {time, key};
    uint64_t word = weft__timers_word(t, x);
    if (__builtin_expect(word >= t->heap_word || t->due > t->row_last, 0))
        weft__timers_overflow(t, x, word);
    else
        weft__timers_line_up(t, word);
}

/// The deadline of `key`, or never.
static inline weft_time_ps weft__timer_at(const struct weft__timers *t, uint32_t key) {
    uint32_t place = t->place[key];
    if (place) return t->heap[place - 1].time_ps;
    uint32_t i = weft__timers_find(t, key);
    return i < t->due ? *weft__timers_at(t, i) >> t->key_bits : WEFT_TIME_NEVER;
}

/// Sets or moves the deadline of `key`.
void weft__timer_set(struct weft__timers *t, uint32_t key, weft_time_ps time);
void weft__timer_cancel(struct weft__timers *t, uint32_t key);
/// Clears this many keys from `key` on.
void weft__timers_cancel(struct weft__timers *t, uint32_t key, uint32_t keys);

/// The key with the earliest deadline; there must be one.
static inline uint32_t weft__timers_next_key(const struct weft__timers *t) {
    return t->due ? weft__timers_of_word(t, t->row[t->first]).key : t->heap[0].key;
}

/// Removes the earliest in the heap; there must be one, and none in the row.
uint32_t weft__timers_pop_heap(struct weft__timers *t);

/// Removes the earliest; there must be one.
static inline uint32_t weft__timers_pop(struct weft__timers *t) {
    if (__builtin_expect(!t->due, 0)) return weft__timers_pop_heap(t);
    uint64_t word = t->row[t->first];
    t->first = (t->first + 1) & t->row_last;
    t->due--;
    weft__timers_find_next(t);
    return weft__timers_of_word(t, word).key;
}

/// Whether it still is the first of the row.
static inline bool weft__timers_is_first(const struct weft__timers *t, uint64_t word) {
    return __builtin_expect(t->due && t->row[t->first] == word, 1);
}

/// What the earliest, `word`, the first of the row, was due for has been done: it is set for `time` now, after it.
/// Mostly that is after all of the row, or before them: then nothing else moves.
static inline void weft__timers_go_on(struct weft__timers *t, uint64_t word, weft_time_ps time) {
    uint32_t key = weft__timers_of_word(t, word).key;
    uint64_t later = weft__timers_word(t, (struct weft__timer){time, key});
    if (__builtin_expect(!weft__timers_is_first(t, word) || later >= t->heap_word, 0)) {
        weft__timer_set(t, key, time);
    } else if (later >= *weft__timers_at(t, t->due - 1u)) {
        *weft__timers_at(t, t->due) = later;
        t->first = (t->first + 1) & t->row_last;
        t->next_ps = t->row[t->first] >> t->key_bits;
    } else if (later < *weft__timers_at(t, 1)) {
        t->row[t->first] = later;
        t->next_ps = time;
    } else {
        weft__timer_set(t, key, time);
    }
}

/// Likewise: it is not set any more.
static inline void weft__timers_end(struct weft__timers *t, uint64_t word) {
    if (weft__timers_is_first(t, word))
        weft__timers_pop(t);
    else
        weft__timer_cancel(t, weft__timers_of_word(t, word).key);
}
