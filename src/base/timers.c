// SPDX-License-Identifier: Apache-2.0
#include "base/timers.h"

#include <string.h>

#include "weft/memory.h"

enum { ROW_MIN = 4, ROW_MAX = 32 };

/// Of this many keys an eighth is due soon: ports have eight each (link/ether.h), one of which is always in use.
static uint32_t row_of(uint32_t keys) {
    uint32_t row = ROW_MIN;
    while (row < keys / 8 && row < ROW_MAX)
        row *= 2;
    return row;
}

static uint8_t bits_of(uint32_t keys) {
    return (uint8_t)(keys > 1 ? 32 - __builtin_clz(keys - 1) : 1);
}

void weft__timers_init(struct weft__timers *t, uint32_t keys) {
    uint32_t row = row_of(keys);
    *t = (struct weft__timers){
        .keys = keys, .next_ps = WEFT_TIME_NEVER, .heap_word = UINT64_MAX, .key_bits = bits_of(keys)};
    t->row = weft_memory_new(WEFT_MEMORY_TIMER, row, sizeof *t->row);
    t->row_last = (uint8_t)(row - 1);
    t->place = weft_memory_new(WEFT_MEMORY_TIMER, keys, sizeof *t->place);
}

void weft__timers_deinit(struct weft__timers *t) {
    weft_memory_free(WEFT_MEMORY_TIMER, t->row, t->row ? (t->row_last + 1u) * sizeof *t->row : 0);
    weft_memory_free(WEFT_MEMORY_TIMER, t->place, t->keys * sizeof *t->place);
    weft_memory_free(WEFT_MEMORY_TIMER, t->heap, t->capacity * sizeof *t->heap);
    *t = (struct weft__timers){0};
}

static void grow_heap(struct weft__timers *t) {
    uint32_t capacity = t->capacity ? t->capacity * 2 : 4;
    t->heap = weft_memory_resize(WEFT_MEMORY_TIMER, t->heap, t->capacity * sizeof *t->heap, capacity * sizeof *t->heap);
    t->capacity = capacity;
}

/// Makes room for longer keys. Times that no longer fit beside their keys go to the heap.
static void widen_keys(struct weft__timers *t, uint8_t bits) {
    struct weft__timer row[ROW_MAX];
    uint32_t due = t->due;
    for (uint32_t i = 0; i < due; i++)
        row[i] = weft__timers_of_word(t, *weft__timers_at(t, i));
    t->key_bits = bits;
    t->due = 0;
    weft__timers_look_at_heap(t);
    for (uint32_t i = due; i-- > 0;) // later ones first, because the heap must not get one that is before one in the
                                     // row
        weft__timer_add(t, row[i].key, row[i].time_ps);
}

void weft__timers_add_keys(struct weft__timers *t, uint32_t keys) {
    if (keys <= t->keys) return;
    t->place = weft_memory_resize(WEFT_MEMORY_TIMER, t->place, t->keys * sizeof *t->place, keys * sizeof *t->place);
    memset(&t->place[t->keys], 0, (keys - t->keys) * sizeof *t->place);
    t->keys = keys;
    if (bits_of(keys) > t->key_bits) widen_keys(t, bits_of(keys));
}

static void sift_up(struct weft__timers *t, uint32_t i, struct weft__timer x) {
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

static void sift_down(struct weft__timers *t, uint32_t i, struct weft__timer x) {
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
static void settle_timer(struct weft__timers *t, uint32_t i, struct weft__timer x) {
    if (i && weft__timer_before(x, t->heap[(i - 1) / 2]))
        sift_up(t, i, x);
    else
        sift_down(t, i, x);
}

static void push_timer(struct weft__timers *t, struct weft__timer x) {
    if (__builtin_expect(t->n == t->capacity, 0)) grow_heap(t);
    sift_up(t, t->n++, x);
}

static void remove_at(struct weft__timers *t, uint32_t i) {
    struct weft__timer last = t->heap[--t->n];
    if (i != t->n) settle_timer(t, i, last);
}

void weft__timers_overflow(struct weft__timers *t, struct weft__timer x, uint64_t word) {
    if (word < t->heap_word) { // it is the row that is full
        uint64_t last = *weft__timers_at(t, t->row_last);
        if (word < last) {
            t->due--;
            weft__timers_line_up(t, word);
            x = weft__timers_of_word(t, last);
        }
    }
    push_timer(t, x);
    weft__timers_look_at_heap(t);
}

uint32_t weft__timers_pop_heap(struct weft__timers *t) {
    uint32_t key = t->heap[0].key;
    t->place[key] = 0;
    struct weft__timer last = t->heap[--t->n];
    if (t->n) sift_down(t, 0, last);
    weft__timers_look_at_heap(t);
    return key;
}

/// Clears the deadline of a key, if it has one.
static void timers_forget(struct weft__timers *t, uint32_t key) {
    uint32_t place = t->place[key], i;
    if (place) {
        t->place[key] = 0;
        remove_at(t, place - 1);
        weft__timers_look_at_heap(t);
    } else if ((i = weft__timers_find(t, key)) < t->due) {
        t->due--;
        if (i == 0) t->first = (t->first + 1) & t->row_last;
        for (; i && i < t->due; i++)
            *weft__timers_at(t, i) = *weft__timers_at(t, i + 1);
        weft__timers_find_next(t);
    }
}

void weft__timer_set(struct weft__timers *t, uint32_t key, weft_time_ps time) {
    struct weft__timer x = {time, key};
    uint32_t place = t->place[key];
    if (place && weft__timers_word(t, x) >= t->heap_word) { // it stays behind the row
        settle_timer(t, place - 1, x);
        weft__timers_look_at_heap(t);
        return;
    }
    timers_forget(t, key);
    weft__timer_add(t, key, time);
}

void weft__timer_cancel(struct weft__timers *t, uint32_t key) {
    timers_forget(t, key);
}

void weft__timers_cancel(struct weft__timers *t, uint32_t key, uint32_t keys) {
    uint32_t stay = 0;
    for (uint32_t k = key; k < key + keys; k++) {
        uint32_t place = t->place[k];
        if (!place) continue;
        t->place[k] = 0;
        remove_at(t, place - 1);
    }
    for (uint32_t i = 0; i < t->due; i++) {
        uint64_t word = *weft__timers_at(t, i);
        if (weft__timers_of_word(t, word).key - key >= keys) *weft__timers_at(t, stay++) = word;
    }
    t->due = (uint8_t)stay;
    weft__timers_look_at_heap(t);
}
