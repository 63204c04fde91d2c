// SPDX-License-Identifier: Apache-2.0
// A table of an answer as comma-separated values, a line a row, for plots.
#include "base/csv.h"
#include "base/units.h"
#include "rows.h"

void weft_answer_csv_names(FILE *file, const struct weft_result_table *table, bool first) {
    char name[64];
    for (uint32_t i = 0; i < table->columns; i++, first = false) {
        if (!first) putc(',', file);
        weft__csv_text(file, weft_result_flat_column(table, &table->column[i], name, sizeof name));
    }
    putc('\n', file);
}

void weft_answer_csv_row(FILE *file, struct weft_result_cursor *row, bool first) {
    char text[32];
    for (uint32_t i = 0; i < row->table->columns; i++, first = false) {
        struct weft_result_value value = weft_result_value(row, &row->table->column[i]);
        bool exact = value.known && value.type == WEFT_RESULT_REAL && row->table->column[i].flags & WEFT_RESULT_EXACT;
        if (!first) putc(',', file);
        if (exact) weft__real_format(value.real, text, sizeof text);
        weft__csv_text(file, exact ? text : weft_result_text(&value, text, sizeof text));
    }
    putc('\n', file);
}

void weft_answer_csv(FILE *file, const struct weft_answer *answer, const struct weft_result_table *table,
                     const void *subject) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_result_walk walk = weft_answer_walk(answer, subject, table, arena);
    weft_answer_csv_names(file, table, true);
    bool has = weft_answer_has(answer, table, subject);
    for (struct weft_result_cursor *row; has && (row = weft_result_next(&walk));)
        weft_answer_csv_row(file, row, true);
}
