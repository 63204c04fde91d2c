// SPDX-License-Identifier: Apache-2.0
#include "base/timers.h"

#include <string.h>

#include "weft/memory.h"

void weft__timers_init(struct weft__timers *t, uint32_t keys) {
    *t = (struct weft__timers){.keys = keys, .next_ps = WEFT_TIME_NEVER};
    t->place = weft_memory_new(WEFT_MEMORY_TIMER, keys, sizeof *t->place);
}

void weft__timers_deinit(struct weft__timers *t) {
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
