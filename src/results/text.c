// SPDX-License-Identifier: Apache-2.0
// A table of an answer for people: a heading, then a line a row, each column as wide as its widest value. Texts stand
// on the left, figures on the right.
#include <string.h>

#include "base/grow.h"
#include "base/units.h"
#include "rows.h"

struct cells {
    const struct weft_result_column **column; ///< [columns] with a title
    size_t *width;
    uint32_t columns;
    const char **text; ///< [rows * columns]
    uint32_t n;
    struct weft_arena *arena;
};

static void add_cell(struct cells *c, uint32_t column, const char *text) {
    WEFT__ADD(c->arena, c->text, c->n) = weft_arena_text(c->arena, text);
    if (strlen(text) > c->width[column]) c->width[column] = strlen(text);
}

static void print_line(FILE *file, const struct cells *c, const char *const *text) {
    for (uint32_t i = 0; i < c->columns; i++) {
        bool left = c->column[i]->type == WEFT_RESULT_TEXT, last = i + 1 == c->columns;
        if (last && !*text[i]) break;
        int width = left && last ? 0 : (int)c->width[i];
        fprintf(file, left ? "%s%-*s" : "%s%*s", i ? "  " : "", width, text[i]);
    }
    putc('\n', file);
}

static const char *shown_value(const struct weft_result_column *column, const struct weft_result_value *value,
                               char *text, size_t size) {
    static const enum weft__quantity quantity[WEFT_RESULT_TYPES] = {
        [WEFT_RESULT_TIME] = WEFT__TIME, [WEFT_RESULT_BYTES] = WEFT__BYTES, [WEFT_RESULT_RATE] = WEFT__RATE};
    if (!value->known || !(column->flags & WEFT_RESULT_EXACT)) return weft_result_shown(value, text, size);
    weft__quantity_format(quantity[value->type], value->whole, text, size);
    return text;
}

void weft_answer_text_table(FILE *file, const struct weft_answer *answer, const struct weft_result_table *table,
                            const void *subject) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct cells c = {.arena = arena};
    c.column = weft_arena_alloc(arena, table->columns, sizeof(const struct weft_result_column *));
    c.width = weft_arena_alloc(arena, table->columns, sizeof *c.width);
    for (uint32_t i = 0; i < table->columns; i++)
        if (table->column[i].title) c.column[c.columns++] = &table->column[i];
    for (uint32_t i = 0; i < c.columns; i++)
        add_cell(&c, i, c.column[i]->title);
    struct weft_result_walk walk = weft_answer_walk(answer, subject, table, arena);
    for (struct weft_result_cursor *row; (row = weft_result_next(&walk));)
        for (uint32_t i = 0; i < c.columns; i++) {
            char text[64];
            struct weft_result_value value = weft_result_value(row, c.column[i]);
            add_cell(&c, i, shown_value(c.column[i], &value, text, sizeof text));
        }
    for (uint32_t at = 0; c.n > c.columns && at < c.n; at += c.columns)
        print_line(file, &c, &c.text[at]);
}
