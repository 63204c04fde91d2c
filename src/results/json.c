// SPDX-License-Identifier: Apache-2.0
// Tables of results as JSON: a run is an object, and its tables are objects, lists or numbers in it. A missing value
// (the end of an unfinished flow, a mean over nothing) is null.
#include <assert.h>
#include <string.h>

#include "rows.h"

static void write_value(struct weft__json *j, const struct weft_result_value *v) {
    if (!v->known) {
        weft__json_null(j);
        return;
    }
    switch (v->type) {
    case WEFT_RESULT_REAL:
        weft__json_real(j, v->real);
        break;
    case WEFT_RESULT_TEXT:
        weft__json_string(j, v->text);
        break;
    case WEFT_RESULT_BOOL:
        weft__json_bool(j, v->whole);
        break;
    case WEFT_RESULT_PRIORITIES:
        weft__json_begin_array(j);
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
            if (v->whole >> p & 1) weft__json_u64(j, p);
        weft__json_end_array(j);
        break;
    default:
        weft__json_u64(j, v->whole);
    }
}

/// How the columns of a table appear in a row of the JSON, the same for all its rows. Columns a.b and a.c are members
/// of an object a.
enum { COLUMNS_MAX = 100, KEYS_MAX = 4096 };
struct form {
    uint32_t n;
    struct member {
        const struct weft_result_column *column;
        const char *key; ///< in quotes, with a colon
        uint8_t length;
        uint8_t object; ///< length of "a.", 0: it is a member of the row itself
    } member[COLUMNS_MAX];
    char keys[KEYS_MAX + WEFT__JSON_KEY];
};

static void make_form(struct form *form, const struct weft_result_table *table, const struct weft_result_column *key) {
    size_t used = 0;
    form->n = 0;
    for (uint32_t i = 0; i < table->columns; i++) {
        const struct weft_result_column *c = &table->column[i];
        if (c == key || c->flags & (WEFT_RESULT_ABOVE | WEFT_RESULT_TABLES)) continue;
        const char *dot = strrchr(c->name, '.');
        size_t object = dot ? (size_t)(dot - c->name) + 1 : 0;
        int length = snprintf(form->keys + used, KEYS_MAX - used, "\"%s\":", c->name + object);
        assert(form->n < COLUMNS_MAX && used + (size_t)length < KEYS_MAX);
        form->member[form->n++] = (struct member){c, form->keys + used, (uint8_t)length, (uint8_t)object};
        used += (size_t)length;
    }
}

static bool is_same_object(const struct member *a, const struct member *b) {
    return a && a->object == b->object && !strncmp(a->column->name, b->column->name, a->object);
}

static bool is_number(enum weft_result_type type) {
    return type != WEFT_RESULT_REAL && type != WEFT_RESULT_TEXT && type != WEFT_RESULT_BOOL &&
           type != WEFT_RESULT_PRIORITIES;
}

static void write_columns(struct weft__json *j, struct weft_result_cursor *row, const struct form *form) {
    const struct member *before = NULL; // the last one written
    for (const struct member *m = form->member; m < form->member + form->n; m++) {
        struct weft_result_value value = weft__result_value(row, m->column);
        if (m->column->flags & WEFT_RESULT_SPARSE && !value.known) continue;
        if ((m->object || (before && before->object)) && !is_same_object(before, m)) {
            if (before && before->object) weft__json_end_object(j);
            if (m->object) {
                char name[64];
                snprintf(name, sizeof name, "%.*s", m->object - 1, m->column->name);
                weft__json_key(j, name);
                weft__json_begin_object(j);
            }
        }
        if (value.known && is_number(value.type)) {
            weft__json_member_u64(j, m->key, m->length, value.whole);
        } else {
            weft__json_key_ready(j, m->key, m->length);
            write_value(j, &value);
        }
        before = m;
    }
    if (before && before->object) weft__json_end_object(j);
}

static void write_table(struct weft__json *j, struct weft_result_cursor *c);

/// Writes the tables that are part of a row; without a row, those at the top.
static void write_parts(struct weft__json *j, struct weft_result_cursor *row, const struct weft_run *run,
                        struct weft_arena *arena) {
    for (uint32_t i = 1; i < weft_result_table_count(); i++) {
        const struct weft_result_table *t = weft_result_table_at(i);
        if (t->shape == WEFT_RESULT_APART || weft_result_table_above(t) != (row ? row->table : NULL)) continue;
        if (!weft_result_table_present(t, run)) continue;
        const char *dot = strrchr(t->name, '.');
        struct weft_result_cursor c = {.run = run, .table = t, .above = row, .arena = arena};
        weft__json_key(j, dot ? dot + 1 : t->name);
        write_table(j, &c);
    }
}

static bool has_parts(const struct weft_result_table *table) {
    bool has = false;
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        has |= weft_result_table_above(weft_result_table_at(i)) == table;
    return has;
}

static void write_row(struct weft__json *j, struct weft_result_cursor *row, const struct form *form, bool parts) {
    weft__json_begin_object(j);
    write_columns(j, row, form);
    if (parts) write_parts(j, row, row->run, row->arena);
    weft__json_end_object(j);
}

static void write_key(struct weft__json *j, struct weft_result_cursor *row, const struct weft_result_column *key) {
    char text[32];
    struct weft_result_value name = weft_result_value(row, key);
    weft__json_key(j, weft_result_text(&name, text, sizeof text));
}

static void write_table(struct weft__json *j, struct weft_result_cursor *c) {
    enum weft_result_shape shape = c->table->shape;
    bool array = shape == WEFT_RESULT_LIST || shape == WEFT_RESULT_ARRAY, single = shape >= WEFT_RESULT_NUMBERS;
    bool parts = has_parts(c->table);
    const struct weft_result_column *key = weft__result_key(c->table);
    struct form form;
    make_form(&form, c->table, key);
    if (shape == WEFT_RESULT_OBJECT) {
        bool there = c->table->next(c);
        assert(there); // of what is present
        write_row(j, c, &form, parts && there);
        return;
    }
    (array ? weft__json_begin_array : weft__json_begin_object)(j);
    while (c->table->next(c)) {
        if (!array) write_key(j, c, key);
        if (single) {
            struct weft_result_value value = weft_result_value(c, key + 1);
            write_value(j, &value);
        } else {
            write_row(j, c, &form, parts);
        }
    }
    (array ? weft__json_end_array : weft__json_end_object)(j);
}

void weft__result_json(struct weft__json *j, const struct weft_run *run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_result_cursor c = {.run = run, .table = weft_result_table_at(0), .arena = arena};
    struct form form;
    make_form(&form, c.table, NULL);
    weft__json_begin_object(j);
    c.table->next(&c);
    write_columns(j, &c, &form);
    write_parts(j, NULL, run, arena);
    weft__json_end_object(j);
    weft_arena_free(arena);
}

void weft_result_json(FILE *file, const struct weft_result_table *table, const struct weft_run *run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft__json j = {.file = file};
    struct weft_result_cursor c = {.run = run, .table = table, .arena = arena};
    write_table(&j, &c);
    weft_arena_free(arena);
}

void weft_report_json(FILE *file, const struct weft_run *run) {
    struct weft__json j = {.file = file};
    weft__result_json(&j, run);
    putc('\n', file);
}
