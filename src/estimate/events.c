// SPDX-License-Identifier: Apache-2.0
// What is to happen, by time, and at one time in the order in which it was noted: a radix heap. Nothing is noted for a
// time before the one last taken, so events that differ from that first in a high bit of their time stay together until
// it comes near. Source: Ahuja, Mehlhorn, Orlin, Tarjan, "Faster Algorithms for the Shortest Path Problem", Journal of
// the ACM 37 (2), 1990.
#include "base/grow.h"
#include "estimate/fluid.h"

struct weft__event_block {
    uint32_t next, n;
    struct weft__fluid_event event[WEFT__EVENT_BLOCK];
};

static uint32_t block_new(struct weft__events *e) {
    uint32_t b = e->free;
    if (b == WEFT_NONE) {
        b = e->blocks;
        e->block = weft__memory_double(WEFT_MEMORY_TIMER, e->block, b, &e->room, 16, sizeof *e->block);
        e->blocks++;
    } else {
        e->free = e->block[b].next;
    }
    e->block[b].next = WEFT_NONE;
    e->block[b].n = 0;
    return b;
}

static void block_free(struct weft__events *e, uint32_t b) {
    e->block[b].next = e->free;
    e->free = b;
}

void weft__events_init(struct weft__events *e) {
    *e = (struct weft__events){.next_ps = WEFT_TIME_NEVER, .free = WEFT_NONE};
    for (uint32_t k = 0; k < WEFT__EVENT_LISTS; k++)
        e->list[k].first = WEFT_NONE;
}

void weft__events_deinit(struct weft__events *e) {
    weft_memory_free(WEFT_MEMORY_TIMER, e->block, e->room * sizeof *e->block);
}

static void add_to_list(struct weft__events *e, uint32_t k, struct weft__fluid_event event) {
    struct weft__event_list *l = &e->list[k];
    if (l->first == WEFT_NONE) {
        l->first = l->last = block_new(e);
        l->least_ps = l->most_ps = event.time_ps;
        if (k) e->some |= UINT64_C(1) << (k - 1);
    } else if (e->block[l->last].n == WEFT__EVENT_BLOCK) {
        uint32_t b = block_new(e);
        e->block[l->last].next = b;
        l->last = b;
    }
    if (event.time_ps < l->least_ps) l->least_ps = event.time_ps;
    if (event.time_ps > l->most_ps) l->most_ps = event.time_ps;
    e->block[l->last].event[e->block[l->last].n++] = event;
}

/// By the highest bit in which its time is not that of the last one taken.
static uint32_t list_of(const struct weft__events *e, weft_time_ps time) {
    return time == e->last_ps ? 0 : 64 - (uint32_t)__builtin_clzll(time ^ e->last_ps);
}

void weft__events_add(struct weft__events *e, struct weft__fluid_event event) {
    add_to_list(e, list_of(e, event.time_ps), event);
    if (event.time_ps < e->next_ps) e->next_ps = event.time_ps;
}

/// The least time is now the last one taken: those of its list go to lists before that, in their order.
static void go_on(struct weft__events *e) {
    uint32_t k = (uint32_t)__builtin_ctzll(e->some) + 1;
    struct weft__event_list from = e->list[k];
    e->some &= e->some - 1;
    e->list[k].first = WEFT_NONE;
    e->last_ps = from.least_ps;
    e->taken = 0;
    if (from.least_ps == from.most_ps) {
        e->list[0] = from;
        return;
    }
    for (uint32_t b = from.first, next; b != WEFT_NONE; b = next) {
        for (uint32_t i = 0; i < e->block[b].n; i++) {
            struct weft__fluid_event event = e->block[b].event[i];
            add_to_list(e, list_of(e, event.time_ps), event);
        }
        next = e->block[b].next;
        block_free(e, b);
    }
}

struct weft__fluid_event weft__events_take(struct weft__events *e) {
    if (e->list[0].first == WEFT_NONE) go_on(e);
    struct weft__event_list *l = &e->list[0];
    uint32_t b = l->first;
    struct weft__fluid_event event = e->block[b].event[e->taken++];
    if (e->taken == e->block[b].n) {
        l->first = e->block[b].next;
        e->taken = 0;
        block_free(e, b);
    }
    if (l->first == WEFT_NONE) e->next_ps = e->some ? e->list[__builtin_ctzll(e->some) + 1].least_ps : WEFT_TIME_NEVER;
    return event;
}
