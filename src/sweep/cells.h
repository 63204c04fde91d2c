// SPDX-License-Identifier: Apache-2.0
// Runs and cells of the table: what the file of a run and the table as SQLite, CSV, JSON and text share.
#pragma once

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>

#include "weft/sweep_results.h"

static inline const struct weft_sweep_run *weft__sweep_run_at(const struct weft_sweep_results *r, uint32_t point,
                                                              uint32_t seed) {
    assert(point < r->sweep->points && seed < r->sweep->seeds);
    return &r->run[(size_t)point * r->sweep->seeds + seed];
}

static inline const char *weft__sweep_variant(const struct weft_sweep_results *r, uint32_t point) {
    return weft_scenario_variant_name(r->sweep->file, r->sweep->point[point].variant);
}

static inline bool weft__sweep_is_real(const struct weft_sweep_column *column) {
    return column->column->type == WEFT_RESULT_REAL;
}

/// What the file of an estimated run keeps of its interval.
struct weft_sweep_kept *weft__sweep_keep_interval(const struct weft_estimate *e, struct weft_arena *arena,
                                                  uint32_t *ret_n);
/// Whether a fluid knows nothing of a column: counters, reordering, round trips.
bool weft__sweep_is_of_packets(const char *table, const char *name);

/// , "fct_ps_mean" INTEGER, ...
static inline void weft__sweep_column_definitions(FILE *sql, const struct weft_sweep_column *column, uint32_t columns) {
    for (uint32_t i = 0; i < columns; i++)
        fprintf(sql, ", \"%s\" %s", column[i].name, weft__sweep_is_real(&column[i]) ? "REAL" : "INTEGER");
}

/// Of a number.
static inline int weft__sweep_bind(sqlite3_stmt *s, int k, const struct weft_result_value *v) {
    if (!v->known) return sqlite3_bind_null(s, k);
    if (v->type == WEFT_RESULT_REAL) return sqlite3_bind_double(s, k, v->real);
    return sqlite3_bind_int64(s, k, (sqlite3_int64)v->whole);
}
