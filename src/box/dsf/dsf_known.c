// SPDX-License-Identifier: Apache-2.0
// What interface nodes know of one another in a run (FSDB), with the numbers that the devices use.
#include <string.h>

#include "box/dsf/dsf_net.h"

static void init_known(struct weft__known *k, const struct weft_eligible *e, uint32_t self, bool cold,
                       struct weft__known_change *change, struct weft_arena *arena) {
    uint32_t words = (e->ins + 63) / 64;
    *k = (struct weft__known){weft_arena_alloc(arena, words, sizeof *k->unknown), change, 0};
    if (!cold) return;
    memset(k->unknown, 0xff, words * sizeof *k->unknown);
    k->unknown[self / 64] &= ~(UINT64_C(1) << (self % 64));
}

struct weft__known *weft__known_new(const struct weft_known_timeline *timeline, const struct weft_eligible *e,
                                    struct weft_arena *arena) {
    if (!timeline->cold && !timeline->events) return NULL;
    struct weft__known *known = weft_arena_alloc(arena, e->ins, sizeof *known);
    struct weft__known_change *change = weft_arena_alloc(arena, timeline->events, sizeof *change);
    uint32_t *n = weft_arena_alloc(arena, e->ins, sizeof *n), first = 0;
    for (uint32_t i = 0; i < timeline->events; i++)
        n[e->in_of_node[timeline->event[i].node]]++;
    for (uint32_t in = 0; in < e->ins; first += n[in++])
        init_known(&known[in], e, in, timeline->cold, &change[first], arena);
    for (uint32_t i = 0; i < timeline->events; i++) {
        const struct weft_known_event *event = &timeline->event[i];
        struct weft__known *k = &known[e->in_of_node[event->node]];
        struct weft__known_change *to = (struct weft__known_change *)&k->change[k->left++];
        *to = (struct weft__known_change){event->time_ps, e->in_of_node[event->of], event->known};
    }
    return known;
}
