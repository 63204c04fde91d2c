// SPDX-License-Identifier: Apache-2.0
// A job that needs what only its block offers (low latency, remote memory access) stays in one block: Gibson et al.,
// "Aquila", NSDI 2022, section 2, whose scheduler knows Cliques. The paper does not say which Clique, nor where in it.
// Here: the one with the fewest free servers that has room, so that others stay whole, and in it racks with most free
// servers first. A job that fits into no block gets the blocks with most free servers.
#include "fill.h"

/// Numbers of slots in `order`, block by block.
static void order_slots(const struct weft_placement_problem *p, const uint32_t *block, uint32_t blocks,
                        uint32_t *ret_order) {
    for (uint32_t k = 0, n = 0; k < blocks; k++)
        for (uint32_t s = 0; s < p->slots; s++)
            if (p->slot[s].block == block[k]) ret_order[n++] = s;
}

/// The smallest block with enough room goes first.
static void put_best_first(const uint32_t *room, uint32_t units, uint32_t blocks, uint32_t *order) {
    uint32_t best = 0;
    while (best + 1 < blocks && room[order[best + 1]] >= units)
        best++;
    uint32_t first = order[best];
    order[best] = order[0];
    order[0] = first;
}

static void one_block_place(const void *conf, const struct weft_placement_problem *p, struct weft_arena *arena,
                            uint32_t *ret_slot) {
    uint32_t blocks = p->blocks ? p->blocks : 1;
    uint32_t *room = weft_arena_alloc(arena, blocks, sizeof *room);
    uint32_t *order = weft_arena_alloc(arena, blocks, sizeof *order);
    uint32_t *slots = weft_arena_alloc(arena, p->slots, sizeof *slots);
    for (uint32_t s = 0; s < p->slots; s++)
        room[p->slot[s].block]++;
    weft__by_room(room, blocks, order);
    put_best_first(room, p->units, blocks, order);
    order_slots(p, order, blocks, slots);
    for (uint32_t k = 0, done = 0; done < p->units; done += room[order[k++]]) {
        struct weft_placement_problem part = *p;
        part.slots = room[order[k]];
        part.units = p->units - done < part.slots ? p->units - done : part.slots;
        part.slot = weft_arena_alloc(arena, part.slots, sizeof *part.slot);
        for (uint32_t s = 0; s < part.slots; s++)
            part.slot[s] = p->slot[slots[done + s]];
        weft__placement_packed(&part, arena, ret_slot + done);
        for (uint32_t u = 0; u < part.units; u++)
            ret_slot[done + u] = slots[done + ret_slot[done + u]];
    }
}

const struct weft_model weft__placement_one_block =
    WEFT_MODEL_OF(PLACEMENT, "one_block",
                  "ranks in order in one Clique, or else one zone, that has room: the fullest of these, rack-packed",
                  "Gibson et al., Aquila, NSDI 2022, section 2; best fit", &weft_no_params,
                  &(const struct weft_placement_ops){.place = one_block_place});
