// SPDX-License-Identifier: Apache-2.0
// A table of runs as comma-separated values: each line begins with the run and the parameters in which runs differ.
#include <inttypes.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/order.h"
#include "results/rows.h"

// --- parameters in which runs differ ------------------------------------------------------------------------------

struct setting {
    const char *path, *value;
    uint32_t run;
    bool is_default;
};
struct settings {
    struct weft_arena *arena;
    struct setting *setting;
    uint32_t n, room, run;
};

/// A column: [runs], NULL where a run has no such parameter.
struct parameter {
    const char *path, **value;
};
struct parameters {
    struct parameter *parameter;
    uint32_t n;
};

/// These have their own columns, or are only for people.
static bool is_apart(const char *path) {
    return !strcmp(path, "name") || !strcmp(path, "about") || !strcmp(path, "run.seed");
}

static void count_setting(void *context, const char *path, const char *value, const char *dflt) {
    ((struct settings *)context)->room++;
}
static void keep_setting(void *context, const char *path, const char *value, const char *dflt) {
    struct settings *s = context;
    if (is_apart(path) || s->n == s->room) return;
    s->setting[s->n++] = (struct setting){weft_arena_text(s->arena, path), weft_arena_text(s->arena, value), s->run,
                                          dflt && !strcmp(value, dflt)};
}

WEFT__ORDER(by_path, struct setting, WEFT__TEXT(path) ?: WEFT__UP(run))

/// [n] settings of one path. If only some runs have the parameter (those with a certain model), it differs if one of
/// them sets it.
static void add_parameter(struct parameters *p, const struct setting *setting, uint32_t n, uint32_t runs,
                          struct weft_arena *arena) {
    bool differs = n != runs && !setting->is_default;
    for (uint32_t i = 1; i < n; i++)
        differs |= strcmp(setting[0].value, setting[i].value) != 0;
    if (!differs) return;
    struct parameter *add = &p->parameter[p->n++];
    *add = (struct parameter){setting->path, weft_arena_alloc(arena, runs, sizeof *add->value)};
    for (uint32_t i = 0; i < n; i++)
        add->value[setting[i].run] = setting[i].value;
}

static struct parameters find_parameters(const struct weft_run *run, uint32_t runs, struct weft_arena *arena) {
    struct settings s = {.arena = arena};
    struct parameters p = {0};
    if (runs < 2) return p;
    for (uint32_t r = 0; r < runs; r++)
        weft_scenario_each(run[r].scenario, count_setting, &s);
    s.setting = weft_arena_alloc(arena, s.room, sizeof *s.setting);
    p.parameter = weft_arena_alloc(arena, s.room, sizeof *p.parameter);
    for (s.run = 0; s.run < runs; s.run++)
        weft_scenario_each(run[s.run].scenario, keep_setting, &s);
    if (s.n) qsort(s.setting, s.n, sizeof *s.setting, by_path);
    for (uint32_t at = 0, end; at < s.n; at = end) {
        for (end = at + 1; end < s.n && !strcmp(s.setting[at].path, s.setting[end].path);)
            end++;
        add_parameter(&p, &s.setting[at], end - at, runs, arena);
    }
    return p;
}

// --- lines --------------------------------------------------------------------------------------------------------

static void put_head(FILE *file, const struct weft_result_table *table, const struct parameters *parameters) {
    bool run = table == weft_result_table_at(0); // it contains these itself
    fputs(run ? "id" : "scenario,variant,seed", file);
    for (uint32_t i = 0; i < parameters->n; i++) {
        putc(',', file);
        weft__csv_text(file, parameters->parameter[i].path);
    }
    weft_answer_csv_names(file, table, false);
}

static void put_run(FILE *file, const struct weft_result_table *table, const struct weft_run *run, uint32_t r,
                    const struct parameters *parameters) {
    if (table == weft_result_table_at(0)) {
        fprintf(file, "%u", r + 1);
    } else {
        weft__csv_text(file, run[r].scenario->name);
        putc(',', file);
        weft__csv_text(file, run[r].scenario->variant);
        fprintf(file, ",%" PRIu64, run[r].scenario->run.seed);
    }
    for (uint32_t i = 0; i < parameters->n; i++) {
        const char *value = parameters->parameter[i].value[r];
        putc(',', file);
        if (value) weft__csv_text(file, value);
    }
}

static void put_rows(FILE *file, const struct weft_result_table *table, const struct weft_run *run, uint32_t r,
                     const struct parameters *parameters) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_result_walk walk = weft_result_walk(&run[r], table, arena);
    for (struct weft_result_cursor *row; (row = weft_result_next(&walk));) {
        put_run(file, table, run, r, parameters);
        weft_answer_csv_row(file, row, false);
    }
}

void weft_report_csv(FILE *file, const struct weft_result_table *table, const struct weft_run *run, uint32_t runs) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct parameters parameters = find_parameters(run, runs, arena);
    put_head(file, table, &parameters);
    for (uint32_t r = 0; r < runs; r++)
        if (weft_result_table_present(table, &run[r])) put_rows(file, table, run, r, &parameters);
}
