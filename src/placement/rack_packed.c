// SPDX-License-Identifier: Apache-2.0
// Racks with most free servers first, so that a job has as few racks as possible. It considers neither zones nor who
// communicates with whom.
#include <stdlib.h>

#include "base/order.h"
#include "fill.h"

struct room {
    uint32_t room, number;
};

WEFT__ORDER(by_room, struct room, WEFT__DOWN(room) ?: WEFT__UP(number))

void weft__by_room(const uint32_t *room, uint32_t n, uint32_t *ret_order) {
    WEFT_FREED struct room *list = weft_memory_new(WEFT_MEMORY_SCENARIO, n, sizeof *list);
    for (uint32_t i = 0; i < n; i++)
        list[i] = (struct room){room[i], i};
    qsort(list, n, sizeof *list, by_room);
    for (uint32_t i = 0; i < n; i++)
        ret_order[i] = list[i].number;
}

void weft__placement_packed(const struct weft_placement_problem *p, struct weft_arena *arena, uint32_t *ret_slot) {
    uint32_t *room = weft_arena_alloc(arena, p->racks, sizeof *room);
    uint32_t *order = weft_arena_alloc(arena, p->racks, sizeof *order);
    uint32_t *next = weft_arena_alloc(arena, p->racks, sizeof *next); // unit for the next slot of a rack
    for (uint32_t s = 0; s < p->slots; s++)
        room[p->slot[s].rack]++;
    weft__by_room(room, p->racks, order);
    for (uint32_t k = 0, unit = 0; k < p->racks; unit += room[order[k++]])
        next[order[k]] = unit;
    for (uint32_t s = 0; s < p->slots; s++) {
        uint32_t unit = next[p->slot[s].rack]++;
        if (unit < p->units) ret_slot[unit] = s;
    }
}

static void rack_packed_place(const void *conf, const struct weft_placement_problem *p, struct weft_arena *arena,
                              uint32_t *ret_slot) {
    weft__placement_packed(p, arena, ret_slot);
}

const struct weft_model weft__placement_rack_packed = WEFT_MODEL_OF(
    PLACEMENT, "rack_packed", "ranks in order on as few racks as can be: those with most free servers first",
    "best fit by racks, as schedulers do that know racks alone", &weft_no_params,
    &(const struct weft_placement_ops){.place = rack_packed_place});
