// SPDX-License-Identifier: Apache-2.0
// Figures side by side: of the variants and seeds in folders of results, or of anything else with rows and columns.
#include <math.h>
#include <string.h>

#include "page/page.h"
#include "weft/statistics.h"

static void write_cell(struct weft__json *j, const struct weft_report_cell *c) {
    weft__json_begin_object(j);
    weft__json_key_real(j, "mean", c->mean);
    weft__json_key_real(j, "half", c->half);
    weft__json_key_real(j, "median", c->median);
    weft__json_key_u64(j, "n", c->n);
    weft__json_key_real(j, "change", c->change);
    weft__json_key_real(j, "change_half", c->change_half);
    weft__json_key_string(j, "verdict", c->verdict);
    weft__json_end_object(j);
}

void weft__page_matrix(struct weft__json *j, const struct weft_report_matrix *m) {
    static const char *const forms[] = {
        [WEFT_REPORT_DOTS] = "dots", [WEFT_REPORT_MAP] = "map", [WEFT_REPORT_STACK] = "stack"};
    weft__json_begin_object(j);
    weft__json_key_string(j, "form", forms[m->form]);
    weft__json_key_string(j, "title", m->title);
    weft__json_key_string(j, "caption", m->caption);
    weft__json_key_string(j, "method", m->method);
    weft__json_key(j, "columns");
    weft__json_begin_array(j);
    for (uint32_t c = 0; c < m->columns; c++)
        weft__json_string(j, m->column[c]);
    weft__json_end_array(j);
    weft__json_key(j, "base");
    weft__json_begin_array(j);
    for (uint32_t c = 0; c < m->columns; c++)
        weft__json_u64(j, m->base ? m->base[c] : 0);
    weft__json_end_array(j);
    weft__json_key(j, "rows");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < m->rows; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "subject", m->row[i].subject);
        weft__json_key_string(j, "figure", m->row[i].figure);
        weft__json_key_string(j, "unit", m->row[i].unit);
        weft__json_key(j, "cells");
        weft__json_begin_array(j);
        for (uint32_t c = 0; c < m->columns; c++)
            write_cell(j, &m->cell[(size_t)i * m->columns + c]);
        weft__json_end_array(j);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

// --- comparing runs -----------------------------------------------------------------------------------------------

enum { FIGURES_MAX = 512, COLUMNS_MAX = 4096 };

struct value {
    uint32_t column, row;
    uint64_t seed;
    double value;
};
struct weft__page_comparison {
    struct weft_arena *arena;
    struct weft__page_column *column;
    struct weft_report_row *row;
    uint32_t columns, rows;
    struct value *value; ///< in the order of folders and runs
    size_t values, room;
};

static const char figures[] =
    "WITH f AS (SELECT run, name, 1 AS k, 'completion time, mean' AS figure, 'ps' AS unit, fct_ps_mean AS value FROM "
    "groups UNION ALL SELECT run, name, 2, 'completion time, median', 'ps', fct_ps_p50 FROM groups UNION ALL SELECT "
    "run, "
    "name, 3, 'completion time, 99th percentile', 'ps', fct_ps_p99 FROM groups UNION ALL SELECT run, name, 4, "
    "'slowdown, mean', '', slowdown_mean FROM groups UNION ALL SELECT run, 'job ' || name, 5, 'iteration, mean', 'ps', "
    "iteration_ps FROM jobs UNION ALL SELECT run, 'job ' || name, 6, 'exposed communication of an iteration', 'ps', "
    "exposed_ps FROM jobs) SELECT r.id, r.variant, r.seed, f.name, f.figure, f.unit, f.value FROM run AS r JOIN f ON "
    "f.run = r.id ORDER BY r.id, f.k > 4, f.name, f.k";

struct weft__page_comparison *weft__page_comparison_new(struct weft_arena *arena) {
    struct weft__page_comparison *c = weft_arena_alloc(arena, 1, sizeof *c);
    c->arena = arena;
    c->column = weft_arena_alloc(arena, COLUMNS_MAX, sizeof *c->column);
    c->row = weft_arena_alloc(arena, FIGURES_MAX, sizeof *c->row);
    return c;
}

/// The column of a variant in a folder, created if necessary.
static uint32_t column_of(struct weft__page_comparison *c, const char *dir, const char *variant, const char *scenario,
                          uint64_t seed) {
    for (uint32_t i = c->columns; i-- > 0;)
        if (c->column[i].dir == dir && !strcmp(c->column[i].variant, variant)) return i;
    if (c->columns == COLUMNS_MAX) return WEFT_NONE;
    const char *name = weft_arena_text(c->arena, *variant ? variant : scenario);
    bool there = false;
    for (uint32_t i = 0; i < c->columns; i++)
        there |= !strcmp(c->column[i].name, name);
    if (there) name = weft_arena_format(c->arena, "%s: %s", dir, name);
    c->column[c->columns] = (struct weft__page_column){dir, weft_arena_text(c->arena, variant), name, 0, seed};
    return c->columns++;
}

static uint32_t row_of(struct weft__page_comparison *c, const char *subject, const char *figure, const char *unit) {
    for (uint32_t i = 0; i < c->rows; i++)
        if (!strcmp(c->row[i].subject, subject) && !strcmp(c->row[i].figure, figure)) return i;
    if (c->rows == FIGURES_MAX) return WEFT_NONE;
    c->row[c->rows] = (struct weft_report_row){weft_arena_text(c->arena, subject), weft_arena_text(c->arena, figure),
                                               weft_arena_text(c->arena, unit)};
    return c->rows++;
}

static void add_value(struct weft__page_comparison *c, struct value value) {
    if (c->values == c->room) {
        struct value *more = weft_arena_alloc(c->arena, c->room = c->room ? 2 * c->room : 256, sizeof *more);
        if (c->values) memcpy(more, c->value, c->values * sizeof *more);
        c->value = more;
    }
    c->value[c->values++] = value;
}

void weft__page_compare(struct weft__page_comparison *c, struct weft__reader *r, const char *dir) {
    sqlite3_stmt *s = weft__reader_prepare(r, "SELECT variant, scenario, seed FROM run ORDER BY id");
    while (weft__reader_next(r, s)) {
        const char *variant = weft__reader_text(r, s, 0), *scenario = weft__reader_text(r, s, 1);
        uint32_t column = column_of(c, dir, variant, scenario, weft__reader_number(s, 2, 0));
        if (column != WEFT_NONE) c->column[column].runs++;
    }
    sqlite3_finalize(s);
    s = weft__reader_prepare(r, figures);
    while (weft__reader_next(r, s)) {
        uint64_t seed = weft__reader_number(s, 2, 0);
        uint32_t column = column_of(c, dir, weft__reader_text(r, s, 1), "", seed);
        const char *subject = weft__reader_text(r, s, 3), *figure = weft__reader_text(r, s, 4);
        uint32_t row = row_of(c, subject, figure, weft__reader_peek(s, 5));
        double value = sqlite3_column_type(s, 6) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, 6);
        if (column != WEFT_NONE && row != WEFT_NONE) add_value(c, (struct value){column, row, seed, value});
    }
    sqlite3_finalize(s);
}

const struct weft__page_column *weft__page_columns(struct weft__page_comparison *c, uint32_t *ret_n) {
    *ret_n = c->columns;
    return c->column;
}

/// Seeds of all runs, each once.
static uint64_t *seeds_of(const struct weft__page_comparison *c, uint32_t *ret_n) {
    uint64_t *seed = weft_arena_alloc(c->arena, c->values, sizeof *seed);
    uint32_t n = 0;
    for (size_t i = 0; i < c->values; i++) {
        uint32_t k = 0;
        while (k < n && seed[k] != c->value[i].seed)
            k++;
        if (k == n) seed[n++] = c->value[i].seed;
    }
    *ret_n = n;
    return seed;
}

static struct weft_report_cell cell_of(const double *first, const double *value, uint32_t seeds, bool is_first,
                                       struct weft_arena *arena) {
    struct weft_spread s = weft_spread_of(value, seeds, arena), base, difference;
    struct weft_report_cell cell = {s.mean, s.half, s.median, s.n, NAN, NAN, NULL};
    if (is_first || !s.n) return cell;
    uint32_t pairs = 0;
    double *a = weft_arena_alloc(arena, seeds, sizeof *a), *b = weft_arena_alloc(arena, seeds, sizeof *b);
    for (uint32_t i = 0; i < seeds; i++) {
        if (isnan(first[i]) || isnan(value[i])) continue;
        a[pairs] = first[i];
        b[pairs++] = value[i];
    }
    if (!pairs) return cell;
    base = weft_spread_of(a, pairs, arena);
    enum weft_difference d = weft_difference_of(a, b, pairs, 1, &difference, arena);
    if (base.mean > 0) cell.change = difference.mean / base.mean;
    if (base.mean > 0) cell.change_half = difference.half / base.mean;
    bool same = !(difference.mean < 0) && !(difference.mean > 0);
    if (same)
        cell.verdict = "the same";
    else if (d == WEFT_DIFFERENCE_NOISE)
        cell.verdict = "within noise";
    else
        cell.verdict = difference.mean < 0 ? "less" : "more";
    return cell;
}

/// What a column is compared with: the first column of its case ("case/variant") in its folder, without cases the first
/// of all.
static uint32_t base_of(const struct weft__page_comparison *c, uint32_t column) {
    const struct weft__page_column *own = &c->column[column];
    for (uint32_t i = 0; i < c->columns; i++)
        if (!strchr(c->column[i].variant, '/')) return 0;
    const char *slash = strchr(own->variant, '/');
    size_t n = (size_t)(slash - own->variant) + 1;
    for (uint32_t i = 0; i < column; i++)
        if (!strncmp(c->column[i].variant, own->variant, n) && !strcmp(c->column[i].dir, own->dir)) return i;
    return column;
}

struct weft_report_matrix weft__page_comparison_matrix(struct weft__page_comparison *c) {
    uint32_t seeds, columns = c->columns;
    const uint64_t *seed = seeds_of(c, &seeds);
    size_t cells = (size_t)c->rows * columns;
    double *value = weft_arena_alloc(c->arena, cells * seeds, sizeof *value);
    for (size_t i = 0; i < cells * seeds; i++)
        value[i] = (double)NAN;
    for (size_t i = 0; i < c->values; i++) {
        const struct value *v = &c->value[i];
        uint32_t k = 0;
        while (seed[k] != v->seed)
            k++;
        value[((size_t)v->row * columns + v->column) * seeds + k] = v->value;
    }
    struct weft_report_cell *cell = weft_arena_alloc(c->arena, cells, sizeof *cell);
    uint32_t *base = weft_arena_alloc(c->arena, columns, sizeof *base);
    for (uint32_t i = 0; i < columns; i++)
        base[i] = base_of(c, i);
    for (size_t i = 0; i < cells; i++) {
        size_t first = i / columns * columns + base[i % columns];
        cell[i] = cell_of(&value[first * seeds], &value[i * seeds], seeds, i == first, c->arena);
    }
    const char **name = weft_arena_alloc(c->arena, columns, sizeof *name);
    for (uint32_t i = 0; i < columns; i++)
        name[i] = c->column[i].name;
    return (struct weft_report_matrix){
        .title = "Side by side",
        .caption =
            seeds > 1
                ? "A dot is the mean over seeds, its bar the 95% interval of that mean (Student's t). Changes are "
                  "taken seed by "
                  "seed against the first line, with cases the first of its case; \"within noise\": the interval of "
                  "the differences has 0 in it. Each "
                  "verdict stands for itself: where nothing differs, about one in twenty says otherwise."
                : "One seed: nothing is known of noise. weft compare --seeds 1..5 tells whether a difference is more.",
        .method = figures,
        .columns = columns,
        .rows = c->rows,
        .column = name,
        .base = base,
        .row = c->row,
        .cell = cell};
}
