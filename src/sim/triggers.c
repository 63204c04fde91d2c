// SPDX-License-Identifier: Apache-2.0
#include "sim/run.h"

/// Activations by flow.
static void list_activations(struct weft__triggers *all, bool delivered, struct weft_arena *arena) {
    const struct weft_workload *w = all->workload;
    uint32_t *first = weft_arena_alloc(arena, w->flows + (size_t)2, sizeof *first),
             *list = weft_arena_alloc(arena, w->activations, sizeof *list);
    for (uint32_t i = 0; i < w->activations; i++)
        if (w->activation[i].delivered == delivered) first[w->activation[i].flow + 2]++;
    for (uint32_t f = 0; f < w->flows; f++)
        first[f + 2] += first[f + 1];
    for (uint32_t i = 0; i < w->activations; i++)
        if (w->activation[i].delivered == delivered)
            list[first[w->activation[i].flow + 1]++] = w->activation[i].trigger;
    all->first[delivered] = first;
    all->activated[delivered] = list;
}

struct weft__triggers *weft__triggers_new(const struct weft__network *net) {
    const struct weft_workload *w = net->workload;
    struct weft_arena *arena = net->arena_qp;
    if (!w->triggers) return NULL;
    struct weft__triggers *all = weft_arena_alloc(arena, 1, sizeof *all);
    *all = (struct weft__triggers){
        .workload = w,
        .home = weft_arena_alloc(arena, w->triggers, sizeof *all->home),
        .activations = weft_arena_alloc(arena, w->triggers, sizeof *all->activations),
        .last_ps = weft_arena_alloc(arena, net->topology->hosts, sizeof *all->last_ps),
        .qp = weft_arena_alloc(arena, w->flows, sizeof *all->qp),
        .node = net->topology->host,
    };
    list_activations(all, false, arena);
    list_activations(all, true, arena);
    for (uint32_t t = 0; t < w->triggers; t++)
        if (w->trigger[t].flows) all->home[t] = w->flow[w->trigger[t].flow[0]].src;
    for (uint32_t q = net->qps; q-- > 0;)
        all->qp[net->qp[q].flow] = q;
    return all;
}

weft_time_ps weft__triggers_lookahead(const struct weft_workload *w) {
    weft_time_ps least = WEFT_TIME_NEVER;
    for (uint32_t t = 0; t < w->triggers; t++)
        if (w->trigger[t].delay_ps / 2 < least) least = w->trigger[t].delay_ps / 2;
    return least;
}

uint64_t weft__triggers_waiting(const struct weft_workload *w) {
    uint64_t qps = 0;
    for (uint32_t f = 0; f < w->flows && w->triggers; f++)
        qps += w->flow[f].waits ? w->flow[f].qps : 0;
    return qps;
}
