// SPDX-License-Identifier: Apache-2.0
#include "base/timers.h"

#include <string.h>

#include "weft/memory.h"

enum { ROW_MIN = 4, ROW_MAX = 32 };

/// Of so many keys an eighth is due soon: ports have eight each (link/ether.h), of which one is always in use.
static uint32_t row_of(uint32_t keys) {
    uint32_t row = ROW_MIN;
    while (row < keys / 8 && row < ROW_MAX)
        row *= 2;
    return row;
}

void weft__timers_init(struct weft__timers *t, uint32_t keys) {
    uint32_t row = row_of(keys);
    *t = (struct weft__timers){.keys = keys, .next_ps = WEFT_TIME_NEVER};
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

void weft__timers_grow(struct weft__timers *t) {
    uint32_t capacity = t->capacity ? t->capacity * 2 : 4;
    t->heap = weft_memory_resize(WEFT_MEMORY_TIMER, t->heap, t->capacity * sizeof *t->heap, capacity * sizeof *t->heap);
    t->capacity = capacity;
}

void weft__timers_add_keys(struct weft__timers *t, uint32_t keys) {
    if (keys <= t->keys) return;
    t->place = weft_memory_resize(WEFT_MEMORY_TIMER, t->place, t->keys * sizeof *t->place, keys * sizeof *t->place);
    memset(&t->place[t->keys], 0, (keys - t->keys) * sizeof *t->place);
    t->keys = keys;
}

void weft__timers_overflow(struct weft__timers *t, struct weft__timer x) {
    struct weft__timer last = *weft__timers_at(t, t->row_last);
    if (weft__timer_before(last, x)) {
        weft__timers_push(t, x);
        return;
    }
    t->due--;
    weft__timers_push(t, last);
    weft__timers_line_up(t, x);
}

void weft__timer_set(struct weft__timers *t, uint32_t key, weft_time_ps time) {
    weft__timers_forget(t, key);
    weft__timer_add(t, key, time);
}

void weft__timer_cancel(struct weft__timers *t, uint32_t key) {
    weft__timers_forget(t, key);
    weft__timers_find_next(t);
}
