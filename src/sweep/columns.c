// SPDX-License-Identifier: Apache-2.0
// Columns of the table of a sweep, and metrics that are among them or additional.
#include <string.h>

#include "sweep/cells.h"

const char *const weft_sweep_state_names[] = {
    [WEFT_SWEEP_MISSING] = "missing",
    [WEFT_SWEEP_DONE] = "done",
    [WEFT_SWEEP_STALLED] = "stalled",
    [WEFT_SWEEP_FAILED] = "failed",
};

static const char *const tables[] = {"groups", "jobs", "counters"};
enum { TABLES = sizeof tables / sizeof *tables, NAME = 64 };

static bool is_number(const struct weft_result_column *c) {
    return c->type != WEFT_RESULT_TEXT && c->type != WEFT_RESULT_BOOL && c->type != WEFT_RESULT_PRIORITIES;
}

struct weft_sweep_column *weft_sweep_columns(struct weft_arena *arena, uint32_t *ret_n) {
    uint32_t room = 0, n = 0;
    for (unsigned t = 0; t < TABLES; t++)
        room += weft_result_table_find(tables[t])->columns;
    struct weft_sweep_column *column = weft_arena_alloc(arena, room, sizeof *column);
    for (unsigned t = 0; t < TABLES; t++) {
        const struct weft_result_table *table = weft_result_table_find(tables[t]);
        for (uint32_t i = 0; i < table->columns; i++) {
            const struct weft_result_column *c = &table->column[i];
            char flat[NAME];
            if (!is_number(c)) continue;
            column[n++] =
                (struct weft_sweep_column){weft_arena_format(arena, "%s%s%s", t ? tables[t] : "", t ? "_" : "",
                                                             weft_result_flat_column(table, c, flat, sizeof flat)),
                                           table, c};
        }
    }
    *ret_n = n;
    return column;
}

/// The path from part `first` on, with dots.
static const char *joined_path(const struct weft_claim_metric *m, uint32_t first, struct weft_arena *arena) {
    const char *text = "";
    for (uint32_t i = first; i < m->parts; i++)
        text = weft_arena_format(arena, "%s%s%s", text, i > first ? "." : "", m->part[i]);
    return text;
}

/// Every row of the table has it.
static bool is_fixed(const char *name) {
    static const char *const fixed[] = {"point", "variant", "seed", "group", "end", "digest", "sim_time_ps"};
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (!strcmp(fixed[i], name)) return true;
    return false;
}

bool weft_sweep_metric_parse(const char *text, struct weft_place place, bool direction,
                             const struct weft_sweep_column *column, uint32_t columns, struct weft_arena *arena,
                             struct weft_sweep_metric *ret) {
    const char *colon = direction ? strrchr(text, ':') : NULL;
    bool max = colon && !strcmp(colon, ":max"), min = colon && !strcmp(colon, ":min");
    const char *name =
        max || min ? weft_arena_format(arena, "%.*s", (int)(colon - text), text) : weft_arena_text(arena, text);
    *ret = (struct weft_sweep_metric){.name = name, .place = place, .column = WEFT_NONE, .max = max};
    ret->heading = weft_arena_format(arena, "%s%s", is_fixed(name) ? "run." : "", name);
    struct weft_claim_metric *m = &ret->path;
    if (!weft_claim_metric_parse(name, arena, m) || m->from != WEFT_CLAIM_FROM_RUN) return false;
    bool group = !strcmp(m->part[0], "groups");
    uint32_t first = group ? 2 : 1;
    for (uint32_t i = 0; i < columns && m->parts > first; i++)
        if (!strcmp(column[i].table->name, m->part[0]) && strcmp(m->part[0], "jobs") &&
            !strcmp(column[i].column->name, joined_path(m, first, arena)))
            ret->column = i;
    if (group && ret->column != WEFT_NONE) ret->group = m->part[1];
    return true;
}

bool weft_sweep_run_has(const struct weft_sweep_run *run, const struct weft_sweep_metric *metric, uint32_t metrics) {
    for (uint32_t i = 0; i < metrics; i++) {
        bool has = metric[i].column != WEFT_NONE;
        for (uint32_t k = 0; k < run->keeps && !has; k++)
            has = !strcmp(run->kept[k], metric[i].name);
        if (!has) return false;
    }
    return true;
}

const double *weft_sweep_run_kept(const struct weft_sweep_run *run, const char *name) {
    for (uint32_t k = 0; k < run->keeps; k++)
        if (!strcmp(run->kept[k], name)) return &run->kept_value[k];
    return NULL;
}

double weft_sweep_run_value(const struct weft_sweep_run *run, const struct weft_sweep_metric *m) {
    const double *kept = m->column == WEFT_NONE ? weft_sweep_run_kept(run, m->name) : NULL;
    if (kept) return *kept;
    for (uint32_t r = 0; r < run->rows && m->column != WEFT_NONE; r++)
        if (!m->group || !strcmp(run->row[r].group, m->group)) return weft_result_number(&run->row[r].value[m->column]);
    return NAN;
}

// --- of all runs --------------------------------------------------------------------------------------------------

const char **weft_sweep_groups(const struct weft_sweep_results *r, struct weft_arena *arena, uint32_t *ret_n) {
    uint32_t n = 0, room = 0;
    const char **group = NULL;
    for (size_t i = 0; i < (size_t)r->sweep->points * r->sweep->seeds; i++)
        for (uint32_t k = 0; k < r->run[i].rows; k++) {
            const char *name = r->run[i].row[k].group;
            uint32_t at = 0;
            while (at < n && strcmp(group[at], name))
                at++;
            if (at < n) continue;
            if (n == room) {
                const char **more = weft_arena_alloc(arena, room = room ? 2 * room : 16, sizeof *more);
                if (n) memcpy(more, group, n * sizeof *more);
                group = more;
            }
            group[n++] = name;
        }
    *ret_n = n;
    return group;
}

double *weft_sweep_values(const struct weft_sweep_results *r, uint32_t point, const char *group, uint32_t column,
                          struct weft_arena *arena) {
    double *value = weft_arena_alloc(arena, r->sweep->seeds, sizeof *value);
    for (uint32_t k = 0; k < r->sweep->seeds; k++) {
        const struct weft_sweep_run *run = weft__sweep_run_at(r, point, k);
        value[k] = NAN;
        for (uint32_t i = 0; i < run->rows; i++)
            if (!strcmp(run->row[i].group, group)) value[k] = weft_result_number(&run->row[i].value[column]);
    }
    return value;
}

double *weft_sweep_metric_values(const struct weft_sweep_results *r, uint32_t point,
                                 const struct weft_sweep_metric *metric, struct weft_arena *arena) {
    double *value = weft_arena_alloc(arena, r->sweep->seeds, sizeof *value);
    for (uint32_t k = 0; k < r->sweep->seeds; k++)
        value[k] = weft_sweep_run_value(weft__sweep_run_at(r, point, k), metric);
    return value;
}

uint32_t weft_sweep_count(const struct weft_sweep_results *r, enum weft_sweep_state state) {
    uint32_t n = 0;
    for (size_t i = 0; i < (size_t)r->sweep->points * r->sweep->seeds; i++)
        n += r->run[i].state == state;
    return n;
}
