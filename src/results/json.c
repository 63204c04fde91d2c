// SPDX-License-Identifier: Apache-2.0
// An answer as JSON: an object, and its tables are objects, lists or numbers in it. A missing value (the end of an
// unfinished flow, a mean over nothing) is null.
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

/// Without the column `key`, and those that `around` (or NULL) has as well.
static void make_form(struct form *form, const struct weft_result_table *table, const struct weft_result_column *key,
                      const struct weft_result_table *around) {
    size_t used = 0;
    form->n = 0;
    for (uint32_t i = 0; i < table->columns; i++) {
        const struct weft_result_column *c = &table->column[i];
        if (c == key || c->flags & (WEFT_RESULT_ABOVE | WEFT_RESULT_TABLES)) continue;
        if (around && weft_result_column_find(around, c->name)) continue;
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
        bool together = m->column->flags & WEFT_RESULT_TOGETHER && before && before->column == m->column - 1;
        if (m->column->flags & WEFT_RESULT_SPARSE && !value.known && !together) continue;
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
            if (value.known && m->column->flags & WEFT_RESULT_LISTED)
                fprintf(weft__json_value(j), "[%s]", value.text);
            else
                write_value(j, &value);
        }
        before = m;
    }
    if (before && before->object) weft__json_end_object(j);
}

static void write_table(struct weft__json *j, const char *name, struct weft_result_cursor *c);
static void write_merged(struct weft__json *j, struct weft_result_cursor *row);

/// Whether a table is part of rows of `above`; NULL: of the object itself.
static bool is_below(const struct weft_answer *answer, const struct weft_result_table *table,
                     const struct weft_result_table *above) {
    return table != answer->table[0] && table->shape != WEFT_RESULT_APART && weft_answer_above(answer, table) == above;
}

/// Writes the tables that are part of a row; `row` without a table: those at the top.
static void write_parts(struct weft__json *j, struct weft_result_cursor *row) {
    const struct weft_answer *answer = row->answer;
    const struct weft_result_table *above = row->table == answer->table[0] ? NULL : row->table;
    for (uint32_t i = 1; i < answer->tables; i++) {
        const struct weft_result_table *t = answer->table[i];
        if (!is_below(answer, t, above) || (t->present && !t->present(row->run))) continue;
        const char *dot = strrchr(t->name, '.');
        struct weft_result_cursor c = {
            .subject = row->subject, .answer = answer, .table = t, .above = above ? row : NULL, .arena = row->arena};
        if (t->merged && t->merged(row->subject))
            write_merged(j, &c);
        else
            write_table(j, dot ? dot + 1 : t->name, &c);
    }
}

static bool has_parts(const struct weft_answer *answer, const struct weft_result_table *table) {
    bool has = false;
    for (uint32_t i = 1; i < answer->tables; i++)
        has |= is_below(answer, answer->table[i], table);
    return has;
}

static void write_row(struct weft__json *j, struct weft_result_cursor *row, const struct form *form, bool parts) {
    weft__json_begin_object(j);
    write_columns(j, row, form);
    if (parts) write_parts(j, row);
    weft__json_end_object(j);
}

static void write_key(struct weft__json *j, struct weft_result_cursor *row, const struct weft_result_column *key) {
    char text[32];
    struct weft_result_value name = weft_result_value(row, key);
    weft__json_key(j, weft_result_text(&name, text, sizeof text));
}

static void write_merged(struct weft__json *j, struct weft_result_cursor *row) {
    struct form form;
    const struct weft_result_column *key = weft__result_key(row->table);
    make_form(&form, row->table, key, key ? NULL : row->above ? row->above->table : row->answer->table[0]);
    while (key && weft__result_next(row)) {
        write_key(j, row, key);
        write_row(j, row, &form, false);
    }
    if (key || !weft__result_next(row)) return;
    write_columns(j, row, &form);
    write_parts(j, row);
}

static void write_rows(struct weft__json *j, struct weft_result_cursor *c, const struct form *form, bool more) {
    enum weft_result_shape shape = c->table->shape;
    bool array = shape == WEFT_RESULT_LIST || shape == WEFT_RESULT_ARRAY, single = shape >= WEFT_RESULT_NUMBERS;
    bool parts = has_parts(c->answer, c->table);
    const struct weft_result_column *key = weft__result_key(c->table);
    (array ? weft__json_begin_array : weft__json_begin_object)(j);
    for (; more; more = weft__result_next(c)) {
        if (!array) write_key(j, c, key);
        if (single) {
            struct weft_result_value value = weft_result_value(c, key + 1);
            write_value(j, &value);
        } else if (c->table->whole) {
            weft_answer_json(j, c->table->whole(), c->part[0]);
        } else {
            write_row(j, c, form, parts);
        }
    }
    (array ? weft__json_end_array : weft__json_end_object)(j);
}

/// `name`: its key; NULL: it is the value of a key that the caller wrote. An object without a row is left out.
static void write_table(struct weft__json *j, const char *name, struct weft_result_cursor *c) {
    struct form form;
    bool object = c->table->shape == WEFT_RESULT_OBJECT, there = weft__result_next(c);
    if (!there && name && (object ? !c->table->null : c->table->sparse)) return;
    if (name) weft__json_key(j, name);
    make_form(&form, c->table, weft__result_key(c->table), NULL);
    if (!object)
        write_rows(j, c, &form, there);
    else if (there)
        write_row(j, c, &form, has_parts(c->answer, c->table));
    else
        weft__json_null(j);
}

void weft_answer_json(struct weft__json *j, const struct weft_answer *answer, const void *subject) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_result_cursor c = {.subject = subject, .answer = answer, .table = answer->table[0], .arena = arena};
    struct form form;
    make_form(&form, c.table, NULL, NULL);
    weft__result_next(&c);
    write_row(j, &c, &form, true);
}

void weft_answer_json_row(struct weft__json *j, struct weft_result_cursor *row) {
    struct form form;
    make_form(&form, row->table, NULL, NULL);
    write_row(j, row, &form, false);
}

void weft_answer_json_table(struct weft__json *j, const struct weft_answer *answer,
                            const struct weft_result_table *table, const void *subject) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    write_table(j, NULL,
                &(struct weft_result_cursor){.subject = subject, .answer = answer, .table = table, .arena = arena});
}
