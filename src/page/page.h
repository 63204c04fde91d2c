// SPDX-License-Identifier: Apache-2.0
// Parts of the data of a report's page (src/report/page/): page.c makes the page and the data of a run, page_sweep.c
// the data of a sweep, page_matrix.c figures side by side.
#pragma once

#include "base/json.h"
#include "results/run/reader.h"
#include "weft/report.h"

/// A table of the page: {"sql", "columns", "rows"}, with the result of `sql`.
void weft__page_table(struct weft__json *j, struct weft__reader *r, const char *name, const char *sql);
/// The value of a column in the current row.
void weft__page_value(struct weft__json *j, sqlite3_stmt *s, int column);

/// The results that `weft sweep --out` has collected in a folder. `no_data`: without the rows of single seeds.
enum weft_status weft__page_sweep(struct weft__json *j, const char *dir, bool no_data, struct weft_error *ret_error);

/// A matrix in the page's format.
void weft__page_matrix(struct weft__json *j, const struct weft_report_matrix *matrix);

/// Runs of one variant in one folder.
struct weft__page_column {
    const char *dir, *variant, *name; ///< name: as displayed; no two are equal
    uint32_t runs;
    uint64_t seed; ///< of its first run
};
/// All runs of some folders, to be compared: runs with the same seed form pairs.
struct weft__page_comparison;
struct weft__page_comparison *weft__page_comparison_new(struct weft_arena *arena);
/// Adds the groups and jobs of a folder's runs.
void weft__page_compare(struct weft__page_comparison *c, struct weft__reader *r, const char *dir);
const struct weft__page_column *weft__page_columns(struct weft__page_comparison *c, uint32_t *ret_n);
/// A row per figure, a column per variant, each compared with the first.
struct weft_report_matrix weft__page_comparison_matrix(struct weft__page_comparison *c);
