// SPDX-License-Identifier: Apache-2.0
// Free servers in random order (Fisher and Yates; Durstenfeld, CACM Algorithm 235): the placement of a job whose
// servers are assigned as they become free.
#include "weft/random.h"
#include "weft/param.h"
#include "weft/placement.h"

struct conf {
    uint64_t seed;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("random", struct conf, WEFT_PARAM_UNCHECKED,
                        WEFT_UINT(struct conf, seed, "seed", "1", "0", "1000000000", "seed of the order"));

static void random_place(const void *conf, const struct weft_placement_problem *p, struct weft_arena *arena,
                         uint32_t *ret_slot) {
    const struct conf *c = conf;
    struct weft_random random = weft_random_stream(c->seed, 0, WEFT_RANDOM_PLACEMENT);
    uint32_t *slot = weft_arena_alloc(arena, p->slots, sizeof *slot);
    for (uint32_t i = 0; i < p->slots; i++)
        slot[i] = i;
    for (uint32_t u = 0; u < p->units; u++) {
        uint32_t k = u + (uint32_t)weft_random_below(&random, p->slots - u);
        ret_slot[u] = slot[k];
        slot[k] = slot[u];
    }
}

const struct weft_model weft__placement_random = WEFT_MODEL_OF(
    PLACEMENT, "random", "ranks on free servers drawn at random", "shuffle by Durstenfeld, CACM Algorithm 235", &table,
    &(const struct weft_placement_ops){.place = random_place});
