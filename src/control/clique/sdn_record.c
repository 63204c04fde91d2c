// SPDX-License-Identifier: Apache-2.0
// Records what is written into TiNs, for runs.
#include <string.h>

#include "base/grow.h"
#include "control/clique/sdn_run.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

struct weft__sdn_recorder *weft__sdn_record(struct weft_sdn *s) {
    struct weft__sdn_recorder *r = s->recorder = weft_arena_alloc(s->arena, 1, sizeof *r);
    r->before = weft_arena_alloc(s->arena, s->f->tins, sizeof *r->before);
    r->columns = weft__sdn_columns(&s->columns);
    return r;
}

static void keep_before(struct weft_sdn *s, uint32_t tin) {
    struct weft__sdn_before *before = &s->recorder->before[tin];
    const struct weft__sdn_session *e = &s->session[tin];
    if (before->entry) return;
    before->entry = weft_arena_alloc(s->arena, (size_t)s->recorder->columns * s->tables.rows, sizeof *before->entry);
    for (uint32_t c = 0; c < s->recorder->columns; c++)
        for (uint32_t row = 0; row < s->tables.rows; row++)
            before->entry[c * s->tables.rows + row] = weft__sdn_get(&s->tables, c, tin, row);
    before->presents = e->presents;
    before->present = weft_arena_alloc(s->arena, e->presents, sizeof *before->present);
    memcpy(before->present, e->present, e->presents * sizeof *before->present);
}

void weft__sdn_note_write(struct weft_sdn *s, weft_time_ps now, uint32_t tin, struct weft__sdn_op op) {
    struct weft__sdn_recorder *r = s->recorder;
    if (!r) return;
    keep_before(s, tin);
    WEFT__ADD_DOUBLE(KIND, r->record, r->n, r->capacity, 256) = (struct weft__sdn_record){now, tin, op};
}

void weft__sdn_note_plan(struct weft_sdn *s, struct weft_gnet_routes *routes) {
    struct weft__sdn_recorder *r = s->recorder;
    weft_gnet_routes_free(r ? r->routes : routes); // of a plan that was dropped
    if (r) r->routes = routes;
}

void weft__sdn_note_solved(struct weft_sdn *s, weft_time_ps now) {
    struct weft__sdn_recorder *r = s->recorder;
    if (!r) return;
    WEFT__ADD_DOUBLE(KIND, r->solved, r->solveds, r->solved_capacity, 4) = (struct weft__sdn_solved){now, r->routes};
    r->routes = NULL;
}

void weft__sdn_recorder_deinit(struct weft_sdn *s) {
    struct weft__sdn_recorder *r = s->recorder;
    if (!r) return;
    for (uint32_t i = 0; i < r->solveds; i++)
        weft_gnet_routes_free(r->solved[i].routes);
    weft_gnet_routes_free(r->routes);
    weft_memory_free(KIND, r->record, r->capacity * sizeof *r->record);
    weft_memory_free(KIND, r->solved, r->solved_capacity * sizeof *r->solved);
}
