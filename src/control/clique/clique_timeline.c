// SPDX-License-Identifier: Apache-2.0
// Converts what the controller of a Clique writes to the tables that its TiNs forward by. An entry of a group that does
// not exist leads nowhere. A destination with its own flow has its own column, which follows that of its pod where the
// TiN has no such flow.
#include "control/clique/clique_timeline.h"

#include <string.h>

#include "base/grow.h"
#include "control/clique/clique_events.h"
#include "control/clique/sdn_run.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

/// A TiN's table during its writes.
struct replay {
    const struct weft_sdn *s;
    const struct weft_clique_timeline *timeline;
    uint32_t tin, presents;
    uint32_t *entry; ///< [columns * rows]: groups as written
    bool *present;   ///< [presents]
    uint16_t *shown; ///< [rows * columns]: of the data plane
    struct weft_clique_change *change;
    struct weft_clique_egress *egress;
    uint32_t changes, egresses, capacity;
};

static uint32_t entry_of(const struct replay *r, uint32_t column, uint32_t row) {
    uint32_t own0 = r->s->columns.places + r->s->f->pods, group = r->entry[column * r->timeline->rows + row];
    if (column < own0 || group) return group;
    uint32_t pod = r->s->f->tin[r->s->columns.special[column - own0]].pod;
    return r->entry[(r->s->columns.places + pod) * r->timeline->rows + row];
}

/// The set that a cell finds there.
static uint16_t set_at(const struct replay *r, uint32_t column, uint32_t row) {
    uint32_t group = entry_of(r, column, row);
    return group && group < r->presents && r->present[group] ? (uint16_t)group : 0;
}

static void show_set(struct replay *r, weft_time_ps now, uint32_t column, uint32_t row) {
    uint16_t set = set_at(r, column, row), *shown = &r->shown[row * r->timeline->columns + column];
    if (*shown == set) return;
    *shown = set;
    WEFT__ADD_DOUBLE(KIND, r->change, r->changes, r->capacity, 64) =
        (struct weft_clique_change){.time_ps = now, .row = (uint16_t)row, .column = (uint16_t)column, .set = set};
}

static void write_flow(struct replay *r, weft_time_ps now, uint32_t column, uint32_t row, uint32_t group) {
    uint32_t pods0 = r->s->columns.places, own0 = pods0 + r->s->f->pods;
    r->entry[column * r->timeline->rows + row] = group;
    show_set(r, now, column, row);
    if (column < pods0 || column >= own0) return;
    for (uint32_t i = 0; i < r->s->columns.specials; i++)
        if (r->s->f->tin[r->s->columns.special[i]].pod == column - pods0) show_set(r, now, own0 + i, row);
}

static void write_group(struct replay *r, weft_time_ps now, uint32_t group, bool present) {
    r->present[group] = present;
    for (uint32_t c = 0; c < r->timeline->columns; c++)
        for (uint32_t row = 0; row < r->timeline->rows; row++)
            if (entry_of(r, c, row) == group) show_set(r, now, c, row);
}

static void begin_replay(struct replay *r, const struct weft__sdn_before *before, uint32_t columns) {
    memset(r->entry, 0, (size_t)r->timeline->columns * r->timeline->rows * sizeof *r->entry);
    memcpy(r->entry, before->entry, (size_t)columns * r->timeline->rows * sizeof *r->entry);
    memset(r->present, 0, r->presents * sizeof *r->present);
    memcpy(r->present, before->present, before->presents * sizeof *r->present);
    for (uint32_t c = 0; c < r->timeline->columns; c++)
        for (uint32_t row = 0; row < r->timeline->rows; row++)
            r->shown[row * r->timeline->columns + c] = set_at(r, c, row);
}

static void write_op(struct replay *r, const struct weft__sdn_record *record) {
    struct weft__sdn_op op = record->op;
    if (op.kind == WEFT__SDN_FLOW)
        write_flow(r, record->time_ps, op.column, op.row, op.group);
    else if (op.kind == WEFT__SDN_EGRESS)
        r->egress[r->egresses++] =
            (struct weft_clique_egress){record->time_ps, r->timeline->event[op.group - 1].time_ps};
    else
        write_group(r, record->time_ps, op.group, op.kind == WEFT__SDN_GROUP_ADD);
}

/// The changes of a TiN from its `n` writes, by index.
static void replay_tin(const struct weft_sdn *s, struct weft_clique_timeline *timeline, uint32_t tin,
                       const uint32_t *index, uint32_t n, struct weft_arena *arena) {
    const struct weft__sdn_recorder *recorder = s->recorder;
    const struct weft__sdn_tin_groups *groups = &s->groups.tin[tin];
    struct weft_clique_tin_timeline *to = &timeline->tin[tin];
    size_t cells = (size_t)timeline->rows * timeline->columns;
    struct replay r = {.s = s, .timeline = timeline, .tin = tin, .presents = s->session[tin].presents};
    r.entry = weft_memory_new(KIND, cells, sizeof *r.entry);
    r.shown = weft_memory_new(KIND, cells, sizeof *r.shown);
    r.present = weft_memory_new(KIND, r.presents, sizeof *r.present);
    r.egress = weft_memory_new(KIND, n, sizeof *r.egress);
    begin_replay(&r, &recorder->before[tin], recorder->columns);
    to->set_of = weft_arena_alloc(arena, cells, sizeof *to->set_of);
    memcpy(to->set_of, r.shown, cells * sizeof *to->set_of);
    for (uint32_t i = 0; i < n; i++)
        write_op(&r, &recorder->record[index[i]]);
    struct weft_clique_change *change = weft_arena_alloc(arena, r.changes, sizeof *change);
    struct weft_clique_egress *egress = weft_arena_alloc(arena, r.egresses, sizeof *egress);
    struct weft_gnet_set *set = weft_arena_alloc(arena, groups->n + 1, sizeof *set);
    if (r.changes) memcpy(change, r.change, r.changes * sizeof *change);
    if (r.egresses) memcpy(egress, r.egress, r.egresses * sizeof *egress);
    memcpy(set + 1, groups->set + 1, groups->n * sizeof *set);
    to->change = change;
    to->changes = r.changes;
    to->egress = egress;
    to->egresses = r.egresses;
    to->set = set;
    to->sets = groups->n + 1;
    if (!r.changes) to->set_of = NULL;
    weft_memory_free(KIND, r.entry, cells * sizeof *r.entry);
    weft_memory_free(KIND, r.shown, cells * sizeof *r.shown);
    weft_memory_free(KIND, r.present, r.presents * sizeof *r.present);
    weft_memory_free(KIND, r.egress, n * sizeof *r.egress);
    weft_memory_free(KIND, r.change, r.capacity * sizeof *r.change);
}

static void replay_all(const struct weft_sdn *s, struct weft_clique_timeline *timeline, struct weft_arena *arena) {
    const struct weft__sdn_recorder *recorder = s->recorder;
    uint32_t tins = s->f->tins, *first = weft_memory_new(KIND, tins + 1, sizeof *first);
    WEFT_FREED uint32_t *index = weft_memory_new(KIND, recorder->n, sizeof *index);
    for (uint32_t i = 0; i < recorder->n; i++)
        first[recorder->record[i].tin + 1]++;
    for (uint32_t x = 0; x < tins; x++)
        first[x + 1] += first[x];
    for (uint32_t i = 0; i < recorder->n; i++) // first[x] moves to the end of x, which is where x + 1 begins
        index[first[recorder->record[i].tin]++] = i;
    for (uint32_t x = 0, from = 0; x < tins; from = first[x++])
        if (first[x] > from) replay_tin(s, timeline, x, &index[from], first[x] - from, arena);
    if (recorder->n) timeline->last_ps = recorder->record[recorder->n - 1].time_ps;
    weft_memory_free(KIND, first, (tins + 1) * sizeof *first);
}

/// Numbers the columns of destinations that ever have their own flows.
static void number_columns(const struct weft_sdn *s, struct weft_clique_timeline *timeline, struct weft_arena *arena) {
    uint16_t *column_of = weft_arena_alloc(arena, s->f->tins, sizeof *column_of);
    for (uint32_t d = 0; d < s->f->tins; d++) {
        uint32_t special = s->columns.special_of[d], pod0 = s->columns.places;
        column_of[d] = (uint16_t)(special ? pod0 + s->f->pods + special - 1 : pod0 + s->f->tin[d].pod);
    }
    timeline->rows = s->tables.rows;
    timeline->columns = weft__sdn_columns(&s->columns);
    timeline->column_of = column_of;
}

static void take_escapes(struct weft_sdn *s, struct weft_clique_timeline *timeline, struct weft_arena *arena) {
    struct weft__sdn_recorder *recorder = s->recorder;
    weft_time_ps *time = weft_arena_alloc(arena, recorder->solveds, sizeof *time);
    timeline->escape = weft_arena_alloc(arena, recorder->solveds, sizeof *timeline->escape);
    for (uint32_t i = 0; i < recorder->solveds; i++) {
        time[i] = recorder->solved[i].time_ps;
        timeline->escape[i] = recorder->solved[i].routes;
        recorder->solved[i].routes = NULL;
        if (time[i] > timeline->last_ps) timeline->last_ps = time[i];
    }
    timeline->escape_ps = time;
    timeline->escapes = recorder->solveds;
}

/// When events noticed at a time have been handled: the first plan finished after that.
static weft_time_ps solved_after(const struct weft_clique_timeline *timeline, weft_time_ps noticed) {
    for (uint32_t i = 0; i < timeline->escapes; i++)
        if (timeline->escape_ps[i] > noticed) return timeline->escape_ps[i];
    return WEFT_TIME_NEVER;
}

static void find_transitions(struct weft_clique_timeline *timeline, const struct weft__clique_events *what,
                             weft_time_ps report_ps, struct weft_arena *arena) {
    struct weft_clique_transition *transition = weft_arena_alloc(arena, what->n, sizeof *transition), *last = NULL;
    for (uint32_t i = 0; i < what->n; i++) {
        const struct weft_sdn_event *e = &what->sdn[i];
        if (e->what != WEFT_SDN_LINKS) continue;
        weft_time_ps noticed = timeline->sdn->outcome[i].noticed_ps;
        weft_time_ps to = solved_after(timeline, e->time_ps + (noticed ? noticed : report_ps));
        if (!last || e->time_ps >= last->to_ps) {
            last = &transition[timeline->transitions++];
            *last = (struct weft_clique_transition){.from_ps = e->time_ps};
        }
        last->to_ps = to;
        last->down += e->up ? 0 : e->links;
        last->up += e->up ? e->links : 0;
    }
    timeline->transition = transition;
}

static void find_absences(struct weft_clique_timeline *timeline, const struct weft__clique_events *what,
                          weft_time_ps reboot_ps, struct weft_arena *arena) {
    struct weft_clique_absence *absence = weft_arena_alloc(arena, what->n, sizeof *absence);
    for (uint32_t i = 0; i < what->n; i++)
        if (what->sdn[i].what == WEFT_SDN_REBOOT)
            absence[timeline->absences++] =
                (struct weft_clique_absence){what->sdn[i].tin, what->sdn[i].time_ps, what->sdn[i].time_ps + reboot_ps};
    timeline->absence = absence;
}

struct weft_clique_timeline *weft_clique_timeline_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                      const struct weft_gnet_conf *gnet,
                                                      const struct weft_control_given *given, const bool *egress,
                                                      struct weft_arena *arena) {
    const struct weft_sdn_conf *conf = &given->conf->sdn;
    struct weft__clique_events what = weft__clique_events_new(t, f, given->event, given->events, egress, arena);
    if (!what.n) return NULL;
    struct weft_clique_timeline *timeline = weft_arena_alloc(arena, 1, sizeof *timeline);
    struct weft_sdn *s = weft_sdn_new(t, f, gnet, conf, given->seed);
    weft__sdn_record(s);
    timeline->events = what.n;
    timeline->event = what.told;
    timeline->tin = weft_arena_alloc(arena, f->tins, sizeof *timeline->tin);
    timeline->sdn = weft_sdn_run(s, what.sdn, what.n, arena);
    timeline->differences = weft_sdn_differences(s);
    number_columns(s, timeline, arena);
    replay_all(s, timeline, arena);
    take_escapes(s, timeline, arena);
    weft_sdn_free(s);
    find_transitions(timeline, &what, conf->detect_ps + conf->latency_ps + conf->nib_write_ps + conf->nib_ps, arena);
    find_absences(timeline, &what, conf->reboot_ps, arena);
    return timeline;
}

void weft_clique_timeline_free(struct weft_clique_timeline *timeline) {
    for (uint32_t i = 0; timeline && i < timeline->escapes; i++)
        weft_gnet_routes_free(timeline->escape[i]);
}
