// SPDX-License-Identifier: Apache-2.0
// Free servers in order, with rank 0 on the first one: what a scheduler does that knows no topology except the order in
// which servers are numbered.
#include "weft/placement.h"

static void linear_place(const void *conf, const struct weft_placement_problem *p, struct weft_arena *arena,
                         uint32_t *ret_slot) {
    for (uint32_t u = 0; u < p->units; u++)
        ret_slot[u] = u;
}

const struct weft_model weft__placement_linear = WEFT_MODEL_OF(
    PLACEMENT, "linear", "ranks in order on the free servers in order", "the order of hosts in a host file",
    &weft_no_params, &(const struct weft_placement_ops){.place = linear_place});
