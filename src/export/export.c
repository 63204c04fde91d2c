// SPDX-License-Identifier: Apache-2.0
#include "export/export.h"
#include "base/order.h"

#include <stdlib.h>

const struct weft_export weft_exports[] = {
    {"hpcc", {{"fct.txt", weft__export_hpcc_fct}, {"pfc.txt", weft__export_hpcc_pfc}}, true, true},
    {"htsim", {{"htsim.txt", weft__export_htsim}}, false, true},
    {"nccl-tests", {{"nccl-tests.txt", weft_report_nccl_tests}}, false, false},
    {0},
};

WEFT__ORDER(by_value, uint32_t, (*x > *y) - (*x < *y))

/// Whether all have numbers, and no two are equal; sorts them.
static bool all_differ(uint32_t *number, uint32_t n) {
    if (n) qsort(number, n, sizeof *number, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (number[i] == WEFT_NONE || (i && number[i] == number[i - 1])) return false;
    return true;
}

const uint32_t *weft__export_numbers(const struct weft_topology *t, struct weft_arena *arena) {
    uint32_t *number = weft_arena_alloc(arena, t->nodes, sizeof *number),
             *sorted = weft_arena_alloc(arena, t->nodes, sizeof *sorted), next = 0;
    for (uint32_t n = 0; n < t->nodes; n++)
        number[n] = sorted[n] = weft_node_number(&t->node[n]);
    if (all_differ(sorted, t->nodes)) return number;
    for (uint32_t h = 0; h < t->hosts; h++)
        sorted[h] = number[t->host[h]];
    bool own = all_differ(sorted, t->hosts);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t *host = &number[t->host[h]];
        if (!own) *host = h;
        if (*host >= next) next = *host + 1;
    }
    for (uint32_t s = 0; s < t->switches; s++)
        number[t->switch_node[s]] = next + s;
    return number;
}

struct done {
    weft_time_ps acked_ps;
    uint32_t flow;
};

WEFT__ORDER(by_time, struct done, WEFT__UP(acked_ps) ?: WEFT__UP(flow))

const uint32_t *weft__export_acked(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft_outcome *o = run->outcome;
    struct done *done = weft_arena_alloc(arena, o->flows, sizeof *done);
    uint32_t n = 0, *flow = weft_arena_alloc(arena, o->flows, sizeof *flow);
    for (uint32_t f = 0; f < o->flows; f++)
        if (o->flow[f].acked_ps != WEFT_TIME_NEVER) done[n++] = (struct done){o->flow[f].acked_ps, f};
    if (n) qsort(done, n, sizeof *done, by_time);
    for (uint32_t i = 0; i < n; i++)
        flow[i] = done[i].flow;
    *ret_n = n;
    return flow;
}
