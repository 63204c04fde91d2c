// SPDX-License-Identifier: Apache-2.0
// Batteries: workloads that every fabric runs, so that an answer does not hang on one size.
//
// quick: an all-to-all and a ring all-reduce, with 4 KiB, 256 KiB and 4 MiB a rank. The first meets every pair and
// therefore hash collisions and incast, the second only neighbours; 4 KiB is latency alone, 4 MiB mostly bandwidth.
#include <string.h>

#include "versus.h"

struct collective {
    const char *family, *model;
};
static const struct collective quick[] = {{"all-to-all", "all_to_all"}, {"all-reduce", "all_reduce_ring"}};
static const weft_bytes quick_sizes[] = {4096, 262144, 4194304};

static const char *size_text(weft_bytes bytes, struct weft_arena *arena) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    unsigned k = 0;
    for (; k < 3 && bytes % 1024 == 0; k++)
        bytes /= 1024;
    return weft_arena_format(arena, "%llu%s", (unsigned long long)bytes, unit[k]);
}

static void add_collective(struct weft_versus *v, const struct collective *c, weft_bytes bytes,
                           struct weft_arena *arena) {
    const char *size = size_text(bytes, arena);
    v->cases[v->n_cases++] = (struct weft_versus_case){
        .name = weft_arena_format(arena, "%s-%s", c->family, size),
        .family = c->family,
        .bytes = bytes,
        .workload =
            weft_arena_format(arena, "[{kind: collective, collective: %s, size: %s, group: battery}]", c->model, size),
        .by = WEFT_VERSUS_TIME,
    };
}

bool versus_battery_add(const char *name, struct weft_versus *v, struct weft_arena *arena) {
    enum { CASES_MAX = 256 };
    struct weft_versus_case *all = weft_arena_alloc(arena, CASES_MAX, sizeof *all);
    memcpy(all, v->cases, v->n_cases * sizeof *all);
    v->cases = all;
    if (strcmp(name, "quick")) return false;
    for (unsigned c = 0; c < sizeof quick / sizeof *quick; c++)
        for (unsigned i = 0; i < sizeof quick_sizes / sizeof *quick_sizes; i++)
            add_collective(v, &quick[c], quick_sizes[i], arena);
    return true;
}
