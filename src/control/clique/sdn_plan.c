// SPDX-License-Identifier: Apache-2.0
// Sequenced batches. A cell is in a state: at a TiN, having arrived by a class of ports, with a routing VC. Its sets of
// ports lead to other states and, by the rules of the tables, never back. So the changes for a destination are made in
// the order of distance from it: a state is changed only when all states that its new set leads to have their final
// form, and then cells there are bound to arrive. A state that is not yet changed leads to states in their old or final
// form; if cells there were bound to arrive they still are.
// A flow covers more than one state, and its change is due when it is due for all of them:
// - A flow of a pod covers all its TiNs that have no flow of their own there, whether or not they once had one. A
//   destination gets its own flow before that of its pod turns away from it, and loses it afterwards.
// - A flow covers all ports of a class. For some of them it may lead only back to where a cell comes from: new
//   sets do not send any that way, but old ones may, so all that do are changed first.
// Flows of destinations that can no longer be reached are removed last, when no set leads to them.
#include "control/clique/sdn_plan.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
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
    const uint64_t *up;
    struct weft__sdn_tables target;
    bool *own;      ///< [tins]: the destination will have its own flows
    bool *reached;  ///< [tins]: and these reach it from some other pod
    uint16_t **due; ///< [columns] [tins * rows]: batch after which a state has its final form, for that column
};

/// Converts the routes' columns to ours: for each pod that of most of its TiNs, for the others their own.
static void fill_target(struct plan *p, const struct weft_gnet_routes *r) {
    const struct weft_dragonfly *f = p->f;
    WEFT_FREED uint32_t *column = weft_memory_new(KIND, f->pods, sizeof *column);
    for (uint32_t pod = 0; pod < f->pods; pod++)
        for (uint32_t d = f->pod_first[pod], most = 0; d < f->pod_first[pod + 1]; d++) {
            uint32_t same = 0;
            for (uint32_t e = f->pod_first[pod]; e < f->pod_first[pod + 1]; e++)
                same += r->column_of[e] == r->column_of[d];
            if (same > most) column[pod] = r->column_of[d];
            if (same > most) most = same;
        }
    for (uint32_t d = 0; d < f->tins; d++) {
        p->own[d] = r->column_of[d] != column[f->tin[d].pod];
        if (p->own[d]) weft__sdn_special(p->columns, d);
    }
    WEFT_FREED uint32_t *number = weft_memory_new(KIND, UINT16_MAX, sizeof *number);
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
                uint32_t group = number[set_of[r->column_of[d]]];
                *weft__sdn_entry(&p->target, p->columns->places + f->pods + i, x, row) = group;
                p->reached[d] = p->reached[d] || group;
            }
        }
    }
}

static uint32_t is_changed(const struct plan *p, uint32_t column, uint32_t x, uint32_t row) {
    return weft__sdn_get(p->meant, column, x, row) != weft__sdn_get(&p->target, column, x, row);
}

static uint16_t *memo_of(uint16_t **table, const struct plan *p, uint32_t column, uint32_t x, uint32_t row) {
    size_t n = (size_t)p->f->tins * ROWS;
    if (!table[column]) {
        table[column] = weft_memory_new(KIND, n, sizeof **table);
        memset(table[column], 0xff, n * sizeof **table);
    }
    return &table[column][x * ROWS + row];
}

static uint64_t ports_of(const struct plan *p, uint32_t x, uint32_t group) {
    struct weft_gnet_set set = group ? p->groups->tin[x].set[group] : (struct weft_gnet_set){0, 0};
    return set.minimal | set.nonminimal;
}

static uint32_t later_of(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/// Flows of the destination's own, which it has, once had or will have; WEFT_NONE: never.
static uint32_t own_column(const struct plan *p, uint32_t d) {
    uint32_t special = p->columns->special_of[d];
    return special ? p->columns->places + p->f->pods + special - 1 : WEFT_NONE;
}

/// The group of its own flow; 0: none.
static uint32_t own_group(const struct plan *p, const struct weft__sdn_tables *t, uint32_t x, uint32_t row,
                          uint32_t d) {
    uint32_t column = own_column(p, d);
    return column == WEFT_NONE ? 0 : weft__sdn_get(t, column, x, row);
}

/// Whether cells for `d` use the flow of its pod, both before the change and after. It does not matter if it once had
/// its own flows, or has them elsewhere.
static bool meets_pod(const struct plan *p, uint32_t x, uint32_t row, uint32_t d) {
    return !p->own[d] && !own_group(p, p->meant, x, row, d);
}

static uint32_t due_for(struct plan *p, uint32_t x, uint32_t row, uint32_t d);

/// The last of the states to which a set leads by port `k`, for all TiNs of a pod that use its flow.
static uint32_t due_by_port(struct plan *p, uint32_t x, uint32_t row, uint32_t k, uint32_t there, uint32_t pod) {
    const struct weft_dragonfly *f = p->f;
    uint32_t y = f->tin[x].peer[k], latest = 0;
    bool asked = false;
    for (uint32_t to = f->pod_first[pod]; to < f->pod_first[pod + 1]; to++) {
        bool one_for_all = f->tin[y].pod != pod && own_column(p, to) == WEFT_NONE;
        if (to == y || (one_for_all && asked) || !meets_pod(p, x, row, to)) continue;
        latest = later_of(latest, due_for(p, y, there, to));
        asked = asked || one_for_all;
    }
    return latest;
}

/// The last of the states to which the new set of a state leads, for one destination or (WEFT_NONE) for all of a pod.
static uint32_t due_next(struct plan *p, uint32_t group, uint32_t x, uint32_t row, uint32_t d, uint32_t pod) {
    const struct weft_dragonfly *f = p->f;
    uint32_t latest = 0, vc = weft_gnet_next_vc((enum weft_gnet_input)(row / VCS), row % VCS);
    for (uint64_t ports = ports_of(p, x, group); ports && vc < VCS; ports &= ports - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(ports), y = f->tin[x].peer[k];
        uint32_t there = f->tin[y].input[p->w->port_there[x * WEFT_GNET_PORTS_MAX + k]] * VCS + vc;
        if (d == WEFT_NONE)
            latest = later_of(latest, due_by_port(p, x, row, k, there, pod));
        else if (d != y)
            latest = later_of(latest, due_for(p, y, there, d));
    }
    return latest;
}

/// The group that the routes have for cells for `d` in a state; 0: none, such cells must not come there.
static uint32_t shall_meet(const struct plan *p, uint32_t x, uint32_t row, uint32_t d) {
    bool own = p->own[d] && p->f->tin[d].pod != p->f->tin[x].pod;
    return own ? own_group(p, &p->target, x, row, d) : weft__sdn_lookup(&p->target, x, row, d);
}

static bool is_of_class(const struct plan *p, uint32_t x, uint32_t port, uint32_t row) {
    const struct weft_tin *tin = &p->f->tin[x];
    return ((tin->local | tin->global) >> port & 1) && tin->input[port] == row / VCS;
}

/// When cells for `d` no longer arrive by a port with a VC: because what led there has changed, or because they do not
/// get there either.
static uint32_t due_not_to_come(struct plan *p, uint32_t x, uint32_t port, uint32_t vc, uint32_t d) {
    uint32_t y = p->f->tin[x].peer[port], k = p->w->port_there[x * WEFT_GNET_PORTS_MAX + port], latest = 0;
    if (y == d || !(p->up[y] >> k & 1)) return 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        if (weft_gnet_next_vc((enum weft_gnet_input)(row / VCS), row % VCS) != vc) continue;
        if (!(ports_of(p, y, weft__sdn_lookup(p->meant, y, row, d)) >> k & 1)) continue;
        if (shall_meet(p, y, row, d)) latest = later_of(latest, due_for(p, y, row, d));
        for (uint32_t l = 0; l < p->w->slots - 1 && !shall_meet(p, y, row, d); l++)
            if (is_of_class(p, y, l, row) && !(p->f->tin[y].back[l] >> k & 1))
                latest = later_of(latest, due_not_to_come(p, y, l, row % VCS, d));
    }
    return latest;
}

/// Ports from which a set leads nowhere: all ports to the only TiN that it leads to; any port, if it is empty.
static uint64_t closed_ports(const struct plan *p, uint32_t x, uint64_t set) {
    const struct weft_tin *tin = &p->f->tin[x];
    if (!set) return tin->local | tin->global;
    uint64_t closed = tin->back[__builtin_ctzll(set)];
    return set & ~closed ? 0 : closed;
}

/// When cells for `d` no longer arrive by the ports from which they have a path now, but none by the new set, which may
/// lead only back to where they come from.
static uint32_t due_to_close(struct plan *p, uint32_t group, uint32_t x, uint32_t row, uint32_t d) {
    uint64_t closed = closed_ports(p, x, ports_of(p, x, group));
    uint32_t latest = 0;
    if (!closed) return 0;
    uint64_t now = ports_of(p, x, weft__sdn_lookup(p->meant, x, row, d)) & p->up[x];
    for (; closed; closed &= closed - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(closed);
        if (p->f->tin[x].input[port] == row / VCS && (now & ~p->f->tin[x].back[port]))
            latest = later_of(latest, due_not_to_come(p, x, port, row % VCS, d));
    }
    return latest;
}

/// When the flow of its pod may change, for cells for `d`, which it covers now but will not cover then.
static uint32_t due_to_leave(struct plan *p, uint32_t x, uint32_t row, uint32_t d) {
    uint32_t own = own_column(p, d);
    if (weft__sdn_get(p->meant, own, x, row)) return 0;
    return weft__sdn_get(&p->target, own, x, row) ? due_for(p, x, row, d) : due_to_close(p, 0, x, row, d);
}

/// When the flow of the pod has its final form.
static uint32_t due_for_pod(struct plan *p, uint32_t x, uint32_t row, uint32_t pod) {
    uint32_t column = p->columns->places + pod;
    uint16_t *m = memo_of(p->due, p, column, x, row);
    if (*m == UNDER_WAY) return 0; // back where it came from: entries of ports exclude that
    if (*m != UNKNOWN) return *m;
    *m = UNDER_WAY;
    uint32_t group = weft__sdn_get(&p->target, column, x, row);
    uint32_t latest = due_next(p, group, x, row, WEFT_NONE, pod);
    if (is_changed(p, column, x, row))
        for (uint32_t d = p->f->pod_first[pod]; d < p->f->pod_first[pod + 1]; d++) {
            if (p->own[d] && p->reached[d]) latest = later_of(latest, due_to_leave(p, x, row, d));
            if (meets_pod(p, x, row, d)) latest = later_of(latest, due_to_close(p, group, x, row, d));
        }
    return *m = (uint16_t)(latest + is_changed(p, column, x, row));
}

/// When cells for `d` in a state find the final entry.
static uint32_t due_for(struct plan *p, uint32_t x, uint32_t row, uint32_t d) {
    uint32_t pod = p->f->tin[d].pod, column = p->f->tin[d].place;
    bool to_pod = false; // from its own flow to that of its pod
    if (pod != p->f->tin[x].pod) {
        if (meets_pod(p, x, row, d)) return due_for_pod(p, x, row, pod);
        column = own_column(p, d);
        to_pod = !p->own[d];
    }
    uint16_t *m = memo_of(p->due, p, column, x, row);
    if (*m == UNDER_WAY) return 0;
    if (*m != UNKNOWN) return *m;
    *m = UNDER_WAY;
    uint32_t group = weft__sdn_get(&p->target, to_pod ? p->columns->places + pod : column, x, row);
    uint32_t latest = due_next(p, group, x, row, d, pod);
    if (to_pod) latest = later_of(latest, due_for_pod(p, x, row, pod));
    if (is_changed(p, column, x, row)) latest = later_of(latest, due_to_close(p, group, x, row, d));
    return *m = (uint16_t)(latest + is_changed(p, column, x, row));
}

static void add_change(struct weft__sdn_plan *ret, struct weft__sdn_change change) {
    WEFT__ADD_DOUBLE(KIND, ret->change, ret->n, ret->capacity, 1024) = change;
}

WEFT__ORDER(by_batch, struct weft__sdn_change, WEFT__UP(batch) ?: WEFT__UP(tin) ?: WEFT__UP(column) ?: WEFT__UP(row))

/// The batch of a change. 0: the last, because nothing must come there any more.
static uint32_t batch_of(struct plan *p, uint32_t x, uint32_t column, uint32_t row) {
    uint32_t pods0 = p->columns->places, own0 = pods0 + p->f->pods;
    if (column >= pods0 && column < own0)
        return weft__sdn_get(&p->target, column, x, row) ? due_for_pod(p, x, row, column - pods0) : 0;
    uint32_t d = column < own0 ? p->f->pod_first[p->f->tin[x].pod] + column : p->columns->special[column - own0];
    return shall_meet(p, x, row, d) ? due_for(p, x, row, d) : 0;
}

static void collect_changes(struct plan *p, struct weft__sdn_plan *ret) {
    for (uint32_t x = 0; x < p->f->tins; x++)
        for (uint32_t column = 0; column < weft__sdn_columns(p->columns); column++)
            for (uint32_t row = 0; row < ROWS; row++) {
                if (!is_changed(p, column, x, row)) continue;
                uint32_t group = weft__sdn_get(&p->target, column, x, row), batch = batch_of(p, x, column, row);
                if (batch > ret->batches) ret->batches = batch;
                add_change(ret, (struct weft__sdn_change){x, column, row, group, batch});
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
                    const struct weft_gnet_routes *routes, const uint64_t *up) {
    const struct weft_dragonfly *f = w->f;
    struct plan p = {.w = w, .f = f, .columns = columns, .groups = groups, .meant = meant, .up = up};
    weft__sdn_tables_init(&p.target, columns, ROWS);
    p.own = weft_memory_new(KIND, f->tins, sizeof *p.own);
    p.reached = weft_memory_new(KIND, f->tins, sizeof *p.reached);
    fill_target(&p, routes);
    p.due = weft_memory_new(KIND, p.target.capacity, sizeof *p.due);
    *ret = (struct weft__sdn_plan){0};
    collect_changes(&p, ret);
    for (uint32_t i = 0; i < p.target.capacity; i++)
        if (p.due[i]) weft_memory_free(KIND, p.due[i], (size_t)f->tins * ROWS * sizeof **p.due);
    weft_memory_free(KIND, p.due, p.target.capacity * sizeof *p.due);
    weft_memory_free(KIND, p.reached, f->tins * sizeof *p.reached);
    weft_memory_free(KIND, p.own, f->tins * sizeof *p.own);
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
