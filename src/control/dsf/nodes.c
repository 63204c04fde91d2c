// SPDX-License-Identifier: Apache-2.0
// Events of the interface nodes of a fabric, as FSDB sees them, and what the nodes know of one another in a run.
#include "control/dsf/nodes.h"
#include "base/order.h"

#include <stdlib.h>

#include "weft/memory.h"

/// Destination numbers of a fabric's nodes; WEFT_NONE for all others.
static uint32_t *number_dests(const struct weft_topology *t, const struct weft_fabric *f, struct weft_arena *arena) {
    uint32_t *dest_of = weft_arena_alloc(arena, t->nodes, sizeof *dest_of);
    for (uint32_t n = 0; n < t->nodes; n++)
        dest_of[n] = WEFT_NONE;
    for (uint32_t d = 0; d < f->dests; d++)
        dest_of[f->device[f->dest_device[d]].node] = d;
    return dest_of;
}

/// False: not in this fabric.
static bool translate_event(const struct weft_fabric *f, const uint32_t *dest_of, const struct weft_control_event *e,
                            struct weft_arena *arena, struct weft_fsdb_event *ret) {
    static const enum weft_fsdb_what what[] = {
        [WEFT_CONTROL_CRASH] = WEFT_FSDB_CRASH,     [WEFT_CONTROL_SHUT] = WEFT_FSDB_CRASH,
        [WEFT_CONTROL_RESTART] = WEFT_FSDB_RESTART, [WEFT_CONTROL_CUT] = WEFT_FSDB_CUT,
        [WEFT_CONTROL_HEAL] = WEFT_FSDB_HEAL,       [WEFT_CONTROL_MOVE] = WEFT_FSDB_MOVE};
    *ret = (struct weft_fsdb_event){.time_ps = e->time_ps, .what = what[e->what]};
    if (e->node != WEFT_NONE && (ret->node = dest_of[e->node]) == WEFT_NONE) return false;
    if (e->to != WEFT_NONE && (ret->to = dest_of[e->to]) == WEFT_NONE) return false;
    if (!e->side) return true;
    bool *side = weft_arena_alloc(arena, f->dests, sizeof *side);
    for (uint32_t d = 0; d < f->dests; d++)
        side[d] = e->side[f->device[f->dest_device[d]].node];
    ret->side = side;
    return true;
}

struct weft_fsdb_result *weft__nodes_fsdb(const struct weft_topology *t, const struct weft_fabric *f,
                                          const struct weft_control_given *given, struct weft_arena *arena,
                                          uint32_t **ret_index, uint32_t *ret_n) {
    const uint32_t *dest_of = number_dests(t, f, arena);
    struct weft_fsdb_event *own = weft_arena_alloc(arena, given->events, sizeof *own);
    uint32_t n = 0, *index = weft_arena_alloc(arena, given->events, sizeof *index);
    for (uint32_t i = 0; i < given->events; i++) {
        const struct weft_control_event *e = &given->event[i];
        if (weft_control_concerns_fsdb(e) && translate_event(f, dest_of, e, arena, &own[n])) index[n++] = i;
    }
    *ret_index = index;
    *ret_n = n;
    return weft_fsdb_run(&given->conf->fsdb, f->dests, own, n, given->seed, arena);
}

WEFT__ORDER(by_time, struct weft_known_event,
            WEFT__UP(time_ps) ?: WEFT__UP(node) ?: WEFT__UP(of) ?: WEFT__UP(known)) // a pair changes once at a time

enum weft_status weft_known_timeline_new(const struct weft_topology *t, const struct weft_control_conf *conf,
                                         const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                         struct weft_arena *arena, struct weft_known_timeline **ret_timeline,
                                         struct weft_error *ret_error) {
    struct weft_fabric **fabric;
    uint32_t fabrics = 0, *index, n, concerned = 0;
    struct weft_known_timeline *timeline = *ret_timeline = weft_arena_alloc(arena, 1, sizeof *timeline);
    timeline->cold = conf->fsdb.cold_start;
    for (uint32_t i = 0; i < events; i++)
        concerned += weft_control_concerns_fsdb(&event[i]);
    if (!timeline->cold && !concerned) return WEFT_OK;
    WEFT_TRY(weft_fabric_find(t, &conf->reach, arena, &fabric, &fabrics, ret_error));
    WEFT_SCRATCH(scratch, WEFT_MEMORY_ROUTES);
    const struct weft_fsdb_result **result = weft_arena_alloc(scratch, fabrics, sizeof *result);
    size_t sum = 0;
    for (uint32_t i = 0; i < fabrics; i++) {
        struct weft_control_given given = {.conf = conf, .event = event, .events = events, .seed = seed + i};
        result[i] = weft__nodes_fsdb(t, fabric[i], &given, scratch, &index, &n);
        sum += result[i]->changes;
    }
    struct weft_known_event *all = weft_arena_alloc(arena, sum, sizeof *all);
    timeline->event = all;
    for (uint32_t i = 0; i < fabrics; i++)
        for (uint32_t k = 0; k < result[i]->changes; k++) {
            const struct weft_fsdb_change *c = &result[i]->change[k];
            const struct weft_fabric *f = fabric[i];
            all[timeline->events++] = (struct weft_known_event){c->time_ps, f->device[f->dest_device[c->node]].node,
                                                                f->device[f->dest_device[c->of]].node, c->known};
        }
    if (sum) qsort(all, timeline->events, sizeof *all, by_time);
    return WEFT_OK;
}
