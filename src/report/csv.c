// SPDX-License-Identifier: Apache-2.0
// A table of results as comma-separated values, a line a row, for plots.
#include <inttypes.h>

#include "base/csv.h"
#include "weft/result.h"

static void put_head(FILE *file, const struct weft_result_table *table, bool seeds) {
    char name[64];
    bool run = table == weft_result_table_at(0); // has these itself
    fputs(run ? "id" : seeds ? "scenario,variant,seed" : "scenario,variant", file);
    for (uint32_t i = 0; i < table->columns; i++)
        fprintf(file, ",%s", weft_result_flat_column(table, &table->column[i], name, sizeof name));
    putc('\n', file);
}

static void put_rows(FILE *file, const struct weft_result_table *table, const struct weft_run *run, uint32_t id,
                     bool seeds) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_result_walk walk = weft_result_walk(run, table, arena);
    struct weft_result_cursor *row;
    char text[32];
    while ((row = weft_result_next(&walk))) {
        if (table == weft_result_table_at(0)) {
            fprintf(file, "%u", id);
        } else {
            weft__csv_text(file, run->scenario->name);
            putc(',', file);
            weft__csv_text(file, run->scenario->variant);
            if (seeds) fprintf(file, ",%" PRIu64, run->scenario->run.seed);
        }
        for (uint32_t i = 0; i < table->columns; i++) {
            struct weft_result_value value = weft_result_value(row, &table->column[i]);
            putc(',', file);
            weft__csv_text(file, weft_result_text(&value, text, sizeof text));
        }
        putc('\n', file);
    }
    weft_arena_free(arena);
}

void weft_report_csv(FILE *file, const struct weft_result_table *table, const struct weft_run *run, uint32_t runs,
                     bool seeds) {
    put_head(file, table, seeds);
    for (uint32_t r = 0; r < runs; r++)
        if (weft_result_table_present(table, &run[r])) put_rows(file, table, &run[r], r + 1, seeds);
}
