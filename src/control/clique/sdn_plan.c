// SPDX-License-Identifier: Apache-2.0
// Sequenced batches. A cell is in a state: at a TiN, come in by a class of ports, with a routing VC. Its sets of ports
// lead to other states and, by the rules of the tables, never back. So the changes for a destination are made in the
// order of distance from it: a state is changed only when all states that its new set leads to are as they shall be,
// and then cells there are bound to arrive. A state that is not yet changed leads to states as they were or as they
// shall be; if cells there were bound to arrive they still are. Flows of destinations that cannot be reached any more
// go last, when no set leads to them. A destination gets a flow of its own before that of its pod turns away from it,
// and loses it after.
#include "control/clique/sdn_plan.h"

#include <stdlib.h>
#include <string.h>

#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;
enum { VCS = WEFT__SDN_VCS, ROWS = WEFT__SDN_CLASS_ROWS };
enum { UNKNOWN = UINT16_MAX, UNDER_WAY = UINT16_MAX - 1 };

struct plan {
    const struct weft__sdn_wiring *w;
    const struct weft_dragonfly *f;
    struct weft__sdn_columns *columns;
    struct weft__sdn_groups *groups;
    const struct weft__sdn_tables *meant;
    struct weft__sdn_tables target;
    bool *single;   ///< [tins] destination has flows of its own, now or then
    uint16_t **due; ///< [columns] [tins * rows] batch after which a state is as it shall be, for that column
};

/// From the routes' columns to ours: of each pod that of most of its TiNs, for the others their own.
static void fill_target(struct plan *p, const struct weft_gnet_routes *r) {
    const struct weft_dragonfly *f = p->f;
    uint32_t *column = weft_memory_new(KIND, f->pods, sizeof *column);
    for (uint32_t pod = 0; pod < f->pods; pod++)
        for (uint32_t d = f->pod_first[pod], most = 0; d < f->pod_first[pod + 1]; d++) {
            uint32_t same = 0;
            for (uint32_t e = f->pod_first[pod]; e < f->pod_first[pod + 1]; e++)
                same += r->column_of[e] == r->column_of[d];
            if (same > most) column[pod] = r->column_of[d];
            if (same > most) most = same;
        }
    for (uint32_t d = 0; d < f->tins; d++) {
        if (r->column_of[d] != column[f->tin[d].pod]) weft__sdn_special(p->columns, d);
        p->single[d] = p->columns->special_of[d];
    }
    uint32_t *number = weft_memory_new(KIND, UINT16_MAX, sizeof *number);
    for (uint32_t x = 0; x < f->tins; x++) {
        const struct weft_gnet_tin_routes *own = &r->tin[x];
        for (uint32_t i = 0; i < own->sets; i++)
            number[i] = weft__sdn_group_of(p->groups, x, own->set[i]);
        for (uint32_t row = 0; row < ROWS; row++) {
            const uint16_t *set_of = &own->set_of[row * r->columns];
            uint32_t first = f->pod_first[f->tin[x].pod], end = f->pod_first[f->tin[x].pod + 1];
            for (uint32_t d = first; d < end; d++)
                *weft__sdn_entry(&p->target, f->tin[d].place, x, row) = number[set_of[f->tin[d].place]];
            for (uint32_t pod = 0; pod < f->pods; pod++)
                if (pod != f->tin[x].pod)
                    *weft__sdn_entry(&p->target, p->columns->places + pod, x, row) = number[set_of[column[pod]]];
            for (uint32_t i = 0; i < p->columns->specials; i++) {
                uint32_t d = p->columns->special[i], pod = f->tin[d].pod;
                if (pod == f->tin[x].pod || r->column_of[d] == column[pod]) continue;
                *weft__sdn_entry(&p->target, p->columns->places + f->pods + i, x, row) =
                    number[set_of[r->column_of[d]]];
            }
        }
    }
    weft_memory_free(KIND, number, UINT16_MAX * sizeof *number);
    weft_memory_free(KIND, column, f->pods * sizeof *column);
}

static uint32_t changed(const struct plan *p, uint32_t column, uint32_t x, uint32_t row) {
    return weft__sdn_get(p->meant, column, x, row) != weft__sdn_get(&p->target, column, x, row);
}

static uint16_t *memo(uint16_t **table, const struct plan *p, uint32_t column, uint32_t x, uint32_t row) {
    size_t n = (size_t)p->f->tins * ROWS;
    if (!table[column]) {
        table[column] = weft_memory_new(KIND, n, sizeof **table);
        memset(table[column], 0xff, n * sizeof **table);
    }
    return &table[column][x * ROWS + row];
}

static uint32_t due_for(struct plan *p, uint32_t x, uint32_t row, uint32_t d);

/// The latest of the states to which the new set of a state leads, for one destination or (WEFT_NONE) for all of a pod
/// that have no flow of their own.
static uint32_t due_next(struct plan *p, uint32_t group, uint32_t x, uint32_t row, uint32_t d, uint32_t pod) {
    const struct weft_dragonfly *f = p->f;
    struct weft_gnet_set set = group ? p->groups->tin[x].set[group] : (struct weft_gnet_set){0, 0};
    uint32_t latest = 0, vc = weft_gnet_next_vc((enum weft_gnet_input)(row / VCS), row % VCS);
    for (uint64_t ports = set.minimal | set.nonminimal; ports && vc < VCS; ports &= ports - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(ports), y = f->tin[x].peer[k];
        uint32_t there = f->tin[y].input[p->w->port_there[x * WEFT_GNET_PORTS_MAX + k]] * VCS + vc;
        uint32_t first = d == WEFT_NONE ? f->pod_first[pod] : d, end = d == WEFT_NONE ? f->pod_first[pod + 1] : d + 1;
        for (uint32_t to = first; to < end; to++) {
            if (to == y || (d == WEFT_NONE && p->single[to])) continue;
            uint32_t due = due_for(p, y, there, to);
            if (due > latest) latest = due;
            if (d == WEFT_NONE && f->tin[y].pod != pod) break; // one flow for all of them
        }
    }
    return latest;
}

/// When the flow of the pod is as it shall be.
static uint32_t due_for_pod(struct plan *p, uint32_t x, uint32_t row, uint32_t pod) {
    uint32_t column = p->columns->places + pod;
    uint16_t *m = memo(p->due, p, column, x, row);
    if (*m == UNDER_WAY) return 0; // back where it came from: entries of ports leave that out
    if (*m != UNKNOWN) return *m;
    *m = UNDER_WAY;
    uint32_t latest = due_next(p, weft__sdn_get(&p->target, column, x, row), x, row, WEFT_NONE, pod);
    if (changed(p, column, x, row))
        for (uint32_t d = p->f->pod_first[pod]; d < p->f->pod_first[pod + 1]; d++) {
            uint32_t own =
                p->columns->special_of[d] ? p->columns->places + p->f->pods + p->columns->special_of[d] - 1 : 0;
            if (!own || !weft__sdn_get(&p->target, own, x, row) || !changed(p, own, x, row)) continue;
            uint32_t due = due_for(p, x, row, d); // turns to its own flow first
            if (due > latest) latest = due;
        }
    m = memo(p->due, p, column, x, row);
    return *m = (uint16_t)(latest + changed(p, column, x, row));
}

/// When cells for `d` in a state meet what they shall.
static uint32_t due_for(struct plan *p, uint32_t x, uint32_t row, uint32_t d) {
    uint32_t pod = p->f->tin[d].pod, column = p->f->tin[d].place, group;
    bool goes = false;
    if (pod != p->f->tin[x].pod) {
        if (!p->single[d]) return due_for_pod(p, x, row, pod);
        column = p->columns->places + p->f->pods + p->columns->special_of[d] - 1;
        group = weft__sdn_get(&p->target, column, x, row);
        goes = !group && weft__sdn_get(p->meant, column, x, row);
        if (!group) group = weft__sdn_get(&p->target, p->columns->places + pod, x, row);
    } else {
        group = weft__sdn_get(&p->target, column, x, row);
    }
    uint16_t *m = memo(p->due, p, column, x, row);
    if (*m == UNDER_WAY) return 0;
    if (*m != UNKNOWN) return *m;
    *m = UNDER_WAY;
    uint32_t latest = due_next(p, group, x, row, d, pod);
    if (pod != p->f->tin[x].pod && !weft__sdn_get(&p->target, column, x, row)) {
        uint32_t due = due_for_pod(p, x, row, pod);
        if (due > latest) latest = due;
    }
    return *m = (uint16_t)(latest + (goes || changed(p, column, x, row)));
}

static void add(struct weft__sdn_plan *ret, struct weft__sdn_change change) {
    if (ret->n == ret->capacity) {
        uint32_t wanted = ret->capacity ? 2 * ret->capacity : 1024;
        ret->change =
            weft_memory_resize(KIND, ret->change, ret->capacity * sizeof *ret->change, wanted * sizeof *ret->change);
        ret->capacity = wanted;
    }
    ret->change[ret->n++] = change;
}

static int by_batch(const void *a, const void *b) {
    const struct weft__sdn_change *x = a, *y = b;
    if (x->batch != y->batch) return x->batch < y->batch ? -1 : 1;
    if (x->tin != y->tin) return x->tin < y->tin ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void collect(struct plan *p, struct weft__sdn_plan *ret) {
    uint32_t pods0 = p->columns->places, own0 = pods0 + p->f->pods;
    for (uint32_t x = 0; x < p->f->tins; x++)
        for (uint32_t column = 0; column < weft__sdn_columns(p->columns); column++)
            for (uint32_t row = 0; row < ROWS; row++) {
                if (!changed(p, column, x, row)) continue;
                uint32_t group = weft__sdn_get(&p->target, column, x, row), batch = 0;
                if (column >= own0)
                    batch = due_for(p, x, row, p->columns->special[column - own0]);
                else if (group && column >= pods0)
                    batch = due_for_pod(p, x, row, column - pods0);
                else if (group)
                    batch = due_for(p, x, row, p->f->pod_first[p->f->tin[x].pod] + column);
                if (batch > ret->batches) ret->batches = batch;
                add(ret, (struct weft__sdn_change){x, column, row, group, batch});
            }
    bool late = false;
    for (uint32_t i = 0; i < ret->n; i++)
        if (!ret->change[i].batch) { // nothing leads there any more
            ret->change[i].batch = ret->batches + 1;
            late = true;
        }
    ret->batches += late;
    if (ret->n) qsort(ret->change, ret->n, sizeof *ret->change, by_batch);
}

void weft__sdn_plan(struct weft__sdn_plan *ret, const struct weft__sdn_wiring *w, struct weft__sdn_columns *columns,
                    struct weft__sdn_groups *groups, const struct weft__sdn_tables *meant,
                    const struct weft_gnet_routes *routes) {
    const struct weft_dragonfly *f = w->f;
    struct plan p = {.w = w, .f = f, .columns = columns, .groups = groups, .meant = meant};
    weft__sdn_tables_init(&p.target, columns, ROWS);
    p.single = weft_memory_new(KIND, f->tins, sizeof *p.single);
    fill_target(&p, routes);
    p.due = weft_memory_new(KIND, p.target.capacity, sizeof *p.due);
    *ret = (struct weft__sdn_plan){0};
    collect(&p, ret);
    for (uint32_t i = 0; i < p.target.capacity; i++)
        if (p.due[i]) weft_memory_free(KIND, p.due[i], (size_t)f->tins * ROWS * sizeof **p.due);
    weft_memory_free(KIND, p.due, p.target.capacity * sizeof *p.due);
    weft_memory_free(KIND, p.single, f->tins * sizeof *p.single);
    weft__sdn_tables_deinit(&p.target);
}

void weft__sdn_plan_flatten(struct weft__sdn_plan *plan) {
    for (uint32_t i = 0; i < plan->n; i++)
        plan->change[i].batch = 1;
    if (plan->n) qsort(plan->change, plan->n, sizeof *plan->change, by_batch);
    plan->batches = plan->n > 0;
}

void weft__sdn_plan_deinit(struct weft__sdn_plan *plan) {
    weft_memory_free(KIND, plan->change, plan->capacity * sizeof *plan->change);
    *plan = (struct weft__sdn_plan){0};
}
