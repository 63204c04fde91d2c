// SPDX-License-Identifier: Apache-2.0
// Parts of the data of a report's page (src/report/page/): page.c makes the page and what there is of a run,
// page_sweep.c what there is of a sweep, page_matrix.c figures side by side.
#ifndef WEFT_REPORT_PAGE_H
#define WEFT_REPORT_PAGE_H

#include "base/json.h"
#include "report/reader.h"
#include "weft/report.h"

/// A table of the page: {"sql", "columns", "rows"}, with what `sql` gives.
void weft__page_table(struct weft__json *j, struct weft__reader *r, const char *name, const char *sql);
/// The value of a column in the row at hand.
void weft__page_value(struct weft__json *j, sqlite3_stmt *s, int column);

/// What `weft sweep --out` has put together in a folder. `no_data`: without the row of each seed.
enum weft_status weft__page_sweep(struct weft__json *j, const char *dir, bool no_data, struct weft_error *ret_error);

/// A matrix, as the page reads it.
void weft__page_matrix(struct weft__json *j, const struct weft_report_matrix *matrix);

/// Runs of one variant in one folder.
struct weft__page_column {
    const char *dir, *variant, *name; ///< name: as it is shown; no two are the same
    uint32_t runs;
    uint64_t seed; ///< of its first run
};
/// All runs of some folders, to be compared: runs of the same seed are pairs.
struct weft__page_comparison;
struct weft__page_comparison *weft__page_comparison_new(struct weft_arena *arena);
/// Takes the groups and jobs of a folder's runs.
void weft__page_compare(struct weft__page_comparison *c, struct weft__reader *r, const char *dir);
const struct weft__page_column *weft__page_columns(struct weft__page_comparison *c, uint32_t *ret_n);
/// A row a figure, a column a variant, each against the first.
struct weft_report_matrix weft__page_comparison_matrix(struct weft__page_comparison *c);

#endif
