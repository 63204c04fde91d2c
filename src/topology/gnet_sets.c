// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "topology/gnet.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

static uint32_t find_slot(const struct weft__gnet_sets *s, struct weft_gnet_set set) {
    uint64_t hash = set.minimal * UINT64_C(0x9e3779b97f4a7c15) ^ (set.nonminimal + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
    uint32_t at = (uint32_t)(hash >> 32) & (s->slots - 1);
    for (; s->slot[at]; at = (at + 1) & (s->slots - 1)) {
        const struct weft_gnet_set *other = &s->set[s->slot[at] - 1];
        if (other->minimal == set.minimal && other->nonminimal == set.nonminimal) break;
    }
    return at;
}

static void grow_sets(struct weft__gnet_sets *s) {
    uint32_t capacity = s->capacity ? 2 * s->capacity : 64;
    weft_memory_free(KIND, s->slot, s->slots * sizeof *s->slot);
    s->set = weft_memory_resize(KIND, s->set, s->capacity * sizeof *s->set, capacity * sizeof *s->set);
    s->capacity = capacity;
    s->slots = 2 * capacity;
    s->slot = weft_memory_new(KIND, s->slots, sizeof *s->slot);
    for (uint32_t i = 0; i < s->n; i++)
        s->slot[find_slot(s, s->set[i])] = (uint16_t)(i + 1);
}

uint16_t weft__gnet_sets_add(struct weft__gnet_sets *s, struct weft_gnet_set set) {
    if (s->n == s->capacity) grow_sets(s);
    uint32_t at = find_slot(s, set);
    if (!s->slot[at]) {
        assert(s->n < UINT16_MAX);
        s->set[s->n] = set;
        s->slot[at] = (uint16_t)++s->n;
    }
    return (uint16_t)(s->slot[at] - 1);
}

void weft__gnet_sets_init(struct weft__gnet_sets *s) {
    *s = (struct weft__gnet_sets){0};
    weft__gnet_sets_add(s, (struct weft_gnet_set){0, 0});
}

void weft__gnet_sets_deinit(struct weft__gnet_sets *s) {
    weft_memory_free(KIND, s->set, s->capacity * sizeof *s->set);
    weft_memory_free(KIND, s->slot, s->slots * sizeof *s->slot);
}
