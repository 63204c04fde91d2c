// SPDX-License-Identifier: Apache-2.0
// Tables of results for programs that use the library: descriptions, and walks over their rows, each with its own
// memory, because several threads may read one result.
#include <stdlib.h>

#include "weft/result.h"

const char *weft_result_table_name(const struct weft_result_table *table) {
    return table->name;
}

const char *weft_result_table_row(const struct weft_result_table *table) {
    return table->row;
}

uint32_t weft_result_column_count(const struct weft_result_table *table) {
    return table->columns;
}

const struct weft_result_column *weft_result_column_at(const struct weft_result_table *table, uint32_t index) {
    return index < table->columns ? &table->column[index] : NULL;
}

const char *weft_result_column_name(const struct weft_result_column *column) {
    return column->name;
}

enum weft_result_type weft_result_column_type(const struct weft_result_column *column) {
    return column->type;
}

const char *weft_result_column_help(const struct weft_result_column *column) {
    return column->help;
}

struct weft_rows {
    const struct weft_run *run;
    const struct weft_result_table *table;
    struct weft_result_walk walk;
    struct weft_result_cursor *row; ///< NULL: there is none
    struct weft_memory *own;        ///< NULL: the caller's
    struct weft_arena *texts;       ///< of the rows that weft_rows_read returned last; NULL: none
    enum weft_status status;
    const struct weft_result_column *column; ///< asked for
    struct weft_result_value value;
};

static enum weft_status begin_rows(void *context, struct weft_error *ret_error) {
    struct weft_rows *rows = context;
    if (weft_result_table_present(rows->table, rows->run))
        rows->walk = weft_result_walk(rows->run, rows->table, weft_arena_new(WEFT_MEMORY_RESULT));
    else
        rows->table = NULL;
    return WEFT_OK;
}

enum weft_status weft_rows_new(const struct weft_result *result, const struct weft_result_table *table,
                               struct weft_rows **ret_rows, struct weft_error *ret_error) {
    *ret_rows = NULL;
    struct weft_rows *rows = calloc(1, sizeof *rows);
    if (!rows) return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "out of memory");
    rows->run = weft__result_run(result);
    rows->table = table;
    enum weft_status status = weft_memory_enter(&rows->own, begin_rows, rows, ret_error);
    if (status)
        weft_rows_free(rows);
    else
        *ret_rows = rows;
    return status;
}

void weft_rows_free(struct weft_rows *rows) {
    if (!rows) return;
    if (!rows->own && rows->table) weft_arena_free(rows->walk.level[0].arena);
    if (!rows->own) weft_arena_free(rows->texts);
    weft_memory_close(rows->own);
    free(rows);
}

static enum weft_status go_on(void *context, struct weft_error *ret_error) {
    struct weft_rows *rows = context;
    rows->row = weft_result_next(&rows->walk);
    return WEFT_OK;
}

bool weft_rows_next(struct weft_rows *rows) {
    if (!rows->table || rows->status) return false;
    rows->status = weft_memory_enter(&rows->own, go_on, rows, NULL);
    return !rows->status && rows->row;
}

enum weft_status weft_rows_status(const struct weft_rows *rows) {
    return rows->status;
}

static enum weft_status look_up(void *context, struct weft_error *ret_error) {
    struct weft_rows *rows = context;
    rows->value = weft_result_value(rows->row, rows->column);
    return WEFT_OK;
}

struct weft_result_value weft_rows_value(struct weft_rows *rows, const struct weft_result_column *column) {
    rows->column = column;
    rows->value = (struct weft_result_value){.type = column->type};
    if (rows->row && !rows->status) rows->status = weft_memory_enter(&rows->own, look_up, rows, NULL);
    return rows->value;
}

struct reading {
    struct weft_rows *rows;
    const struct weft_result_column *const *column;
    struct weft_result_value *value;
    uint32_t columns, most, n;
};

/// A table may keep the texts of only one row at a time.
static enum weft_status read_rows(void *context, struct weft_error *ret_error) {
    struct reading *r = context;
    weft_arena_free(r->rows->texts);
    r->rows->texts = weft_arena_new(WEFT_MEMORY_RESULT);
    while (r->n < r->most && (r->rows->row = weft_result_next(&r->rows->walk))) {
        for (uint32_t i = 0; i < r->columns; i++) {
            struct weft_result_value *v = &r->value[(size_t)r->n * r->columns + i];
            *v = weft_result_value(r->rows->row, r->column[i]);
            if (v->known && v->type == WEFT_RESULT_TEXT) v->text = weft_arena_text(r->rows->texts, v->text);
        }
        r->n++;
    }
    r->rows->row = NULL;
    return WEFT_OK;
}

uint32_t weft_rows_read(struct weft_rows *rows, const struct weft_result_column *const *column, uint32_t columns,
                        struct weft_result_value *value, uint32_t most) {
    struct reading r = {rows, column, value, columns, most, 0};
    if (rows->table && !rows->status) rows->status = weft_memory_enter(&rows->own, read_rows, &r, NULL);
    return rows->status ? 0 : r.n;
}

double weft_rows_number(struct weft_rows *rows, const struct weft_result_column *column) {
    struct weft_result_value value = weft_rows_value(rows, column);
    return weft_result_number(&value);
}
