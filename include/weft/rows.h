// SPDX-License-Identifier: Apache-2.0
// Results as tables: the results of a run, row by row, each value by its column's name and type. `weft models results`
// and docs/results/ list the tables, which are those of results.sqlite.
//
//   const struct weft_result_table *flows = weft_result_table_find("flows");
//   const struct weft_result_column *fct = weft_result_column_find(flows, "fct_ps");
//   struct weft_rows *rows;
//   if (!weft_rows_new(result, flows, &rows, &error))
//       while (weft_rows_next(rows)) printf("%g\n", weft_rows_number(rows, fct));
//   weft_rows_free(rows);
//
// Tables and columns describe all possible results; they are constant, and any thread may read them.
#pragma once

#include "weft/status.h"
#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weft_result_type {
    WEFT_RESULT_COUNT,      ///< whole number
    WEFT_RESULT_TIME,       ///< ps
    WEFT_RESULT_BYTES,      ///< bytes
    WEFT_RESULT_RATE,       ///< bit/s
    WEFT_RESULT_REAL,       ///< number
    WEFT_RESULT_TEXT,       ///< text
    WEFT_RESULT_BOOL,       ///< yes or no
    WEFT_RESULT_PRIORITIES, ///< a set of them: a list in JSON, "3,4" in tables
    WEFT_RESULT_TYPES
};

struct weft_result_value {
    enum weft_result_type type;
    bool known; ///< false: it has no value, as the completion time of a flow that has not finished
    union {
        uint64_t whole; ///< COUNT, TIME, BYTES, RATE, BOOL, PRIORITIES
        double real;    ///< REAL
        const char *text;
    };
};

struct weft_result_table;
struct weft_result_column;

WEFT_API uint32_t weft_result_table_count(void);
WEFT_API const struct weft_result_table *weft_result_table_at(uint32_t index);
WEFT_API const struct weft_result_table *weft_result_table_find(const char *name); ///< NULL: there is none
WEFT_API const char *weft_result_table_name(const struct weft_result_table *table);
WEFT_API const char *weft_result_table_row(const struct weft_result_table *table); ///< what one is: "a flow"
WEFT_API uint32_t weft_result_column_count(const struct weft_result_table *table);
WEFT_API const struct weft_result_column *weft_result_column_at(const struct weft_result_table *table, uint32_t index);
/// NULL: there is none.
WEFT_API const struct weft_result_column *weft_result_column_find(const struct weft_result_table *table,
                                                                  const char *name);
WEFT_API const char *weft_result_column_name(const struct weft_result_column *column);
WEFT_API enum weft_result_type weft_result_column_type(const struct weft_result_column *column);
WEFT_API const char *weft_result_column_help(const struct weft_result_column *column);
WEFT_API const char *weft_result_unit(const struct weft_result_column *column); ///< "": it has none

/// An iterator over the rows of a table.
struct weft_result;
struct weft_rows;
/// Starts before the first row. A table that the run lacks has no rows. The result must outlive the iterator.
WEFT_API enum weft_status weft_rows_new(const struct weft_result *result, const struct weft_result_table *table,
                                        struct weft_rows **ret_rows, struct weft_error *ret_error);
WEFT_API void weft_rows_free(struct weft_rows *rows);
/// Goes to the next row; false: there is none, or memory has run out.
WEFT_API bool weft_rows_next(struct weft_rows *rows);
/// After the last row: WEFT_OK, or WEFT_ERROR_SYSTEM if memory has run out before it.
WEFT_API enum weft_status weft_rows_status(const struct weft_rows *rows);
/// A value of the current row, by a column of its table. Texts live until the next row.
WEFT_API struct weft_result_value weft_rows_value(struct weft_rows *rows, const struct weft_result_column *column);
/// The next rows, at most `most`, in one call: value[r * columns + i] is the value of column[i] in the r-th of them.
/// Returns their number: 0 after the last row, or if memory has run out. Texts live until the next call or until the
/// iterator is freed. Afterwards there is no current row.
WEFT_API uint32_t weft_rows_read(struct weft_rows *rows, const struct weft_result_column *const *column,
                                 uint32_t columns, struct weft_result_value *value, uint32_t most);
/// A value of the current row as a number: NAN for a text and for no value.
WEFT_API double weft_rows_number(struct weft_rows *rows, const struct weft_result_column *column);

#ifdef __cplusplus
}
#endif
