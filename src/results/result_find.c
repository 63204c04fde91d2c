// SPDX-License-Identifier: Apache-2.0
// From a path in the JSON of an answer to the row with its value: groups.victims.fct_ps.mean.
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { NAMES = sizeof((struct weft_result_found *)0)->name / sizeof(char *) };

/// A search. Without a subject, every key matches.
struct search {
    const struct weft_answer *answer;
    const void *subject;
    const char **part;
    uint32_t parts;
    struct weft_arena *arena;
    void **state; ///< [tables]: what earlier walks have computed
    struct weft_result_found found;
};

static void suggest_name(struct search *s, const char *name, size_t length) {
    struct weft_result_found *f = &s->found;
    if (f->names == NAMES) return;
    for (uint32_t i = 0; i < f->names; i++)
        if (!strncmp(f->name[i], name, length) && !f->name[i][length]) return;
    f->name[f->names++] = weft_arena_format(s->arena, "%.*s", (int)length, name);
}

/// The parts of "fct_ps.mean" that the path contains from `at` on; *ret_rest: the remaining ones.
static uint32_t match_parts(const struct search *s, uint32_t at, const char *name, const char **ret_rest) {
    uint32_t n = 0;
    while (*name && at + n < s->parts) {
        size_t length = strcspn(name, ".");
        if (strncmp(s->part[at + n], name, length) || s->part[at + n][length]) break;
        name += length + (name[length] == '.');
        n++;
    }
    *ret_rest = name;
    return n;
}

static bool is_shown(const struct weft_result_table *table, const struct weft_result_column *column) {
    return !(column->flags & (WEFT_RESULT_ABOVE | WEFT_RESULT_TABLES)) && column != weft__result_key(table);
}

/// The path reaches a column: its value, if the path ends there.
static const struct weft_result_column *arrive_at(struct search *s, struct weft_result_cursor *row, uint32_t at,
                                                  const struct weft_result_column *column) {
    s->found.parts = at;
    s->found.names = 0;
    if (at < s->parts) return NULL;
    if (s->subject) s->found.value = weft_result_value(row, column);
    return s->found.column = column;
}

/// Replaces a former name of a column by its present one.
static bool was_called(struct search *s, uint32_t at, const struct weft_result_column *column) {
    if (!column->was || strchr(column->name, '.') || strcmp(s->part[at], column->was)) return false;
    s->part[at] = column->name;
    return true;
}

static const struct weft_result_column *find_in(struct search *s, struct weft_result_cursor *row,
                                                const struct weft_result_table *table, uint32_t at);

/// Whether a key of the row, other than that of the JSON's object, or its name is that text; otherwise suggests these.
static bool has_key(struct search *s, struct weft_result_cursor *row, const char *text) {
    for (uint32_t i = 0; i < row->table->columns; i++) {
        const struct weft_result_column *c = &row->table->column[i];
        bool names = c->flags & WEFT_RESULT_KEY || !strcmp(c->name, "name");
        if (c->type != WEFT_RESULT_TEXT || !names || c->flags & WEFT_RESULT_ABOVE) continue;
        struct weft_result_value value = weft_result_value(row, c);
        if (value.known && !strcmp(value.text, text)) return true;
        if (value.known) suggest_name(s, value.text, strlen(value.text));
    }
    return false;
}

/// The first row that the path may refer to: by key, by number, or the only one.
static bool choose_row(struct search *s, struct weft_result_cursor *row, uint32_t at) {
    const struct weft_result_table *table = row->table;
    const struct weft_result_column *key = weft__result_key(table);
    bool list = table->shape == WEFT_RESULT_LIST || table->shape == WEFT_RESULT_ARRAY;
    char text[32], *end = "";
    unsigned long number = list && at < s->parts ? strtoul(s->part[at], &end, 10) : 0;
    bool numbered = list && at < s->parts && !*end && *s->part[at] >= '0' && *s->part[at] <= '9';
    for (uint64_t i = 0; weft__result_next(row); i++) {
        if (table->shape == WEFT_RESULT_OBJECT || (numbered && i == number)) return true;
        s->found.entries = list ? (uint32_t)i + 1 : 0;
        if (list && at < s->parts && !numbered && has_key(s, row, s->part[at])) return true;
        if (list) continue;
        struct weft_result_value value = weft_result_value(row, key);
        const char *name = weft_result_text(&value, text, sizeof text);
        if (at < s->parts && !strcmp(name, s->part[at])) return true;
        suggest_name(s, name, strlen(name));
    }
    return false;
}

/// How many rows a list has: the path ends with "count" in place of a row.
static const struct weft_result_column *find_count(struct search *s, const struct weft_result_table *table,
                                                   uint32_t at) {
    static const struct weft_result_column count = {
        .name = "count", .type = WEFT_RESULT_COUNT, .help = "how many entries the list has"};
    bool list = table->shape == WEFT_RESULT_LIST || table->shape == WEFT_RESULT_ARRAY;
    if (!list || at + 1 != s->parts || strcmp(s->part[at], "count")) return NULL;
    if (s->subject) s->found.value = (struct weft_result_value){WEFT_RESULT_COUNT, true, {s->found.entries}};
    s->found.parts = s->parts;
    s->found.entries = 0;
    return s->found.column = &count;
}

/// The rest of the path leads on in the answer whose subject the row is.
static const struct weft_result_column *find_in_answer(struct search *s, const struct weft_answer *answer,
                                                       const void *subject, uint32_t at) {
    struct weft_result_finder finder = weft_answer_finder(answer, subject, s->arena);
    s->found = weft_result_find(&finder, s->part + at, s->parts - at);
    s->found.parts += at;
    return s->found.column;
}

static const struct weft_result_column *find_row(struct search *s, struct weft_result_cursor *above,
                                                 const struct weft_result_table *table, uint32_t at, void **state) {
    struct weft_result_cursor row = {.answer = s->answer, .table = table, .above = above, .arena = s->arena};
    row.subject = above ? above->subject : s->subject; // rows may have a subject of their own
    const struct weft_result_column *key = weft__result_key(table);
    bool single = table->shape == WEFT_RESULT_NUMBERS || table->shape == WEFT_RESULT_ARRAY;
    bool keyed = table->shape != WEFT_RESULT_OBJECT, there = !s->subject && at + keyed <= s->parts;
    s->found.parts = at;
    s->found.names = s->found.entries = 0;
    if (s->subject) {
        row.state = *state;
        there = choose_row(s, &row, at);
        if (!above) *state = row.state;
    }
    if (!there) return find_count(s, table, at);
    s->found.entries = 0;
    if (table->whole && s->subject) return find_in_answer(s, table->whole(), row.part[0], at + 1);
    return single ? arrive_at(s, &row, at + 1, key + 1) : find_in(s, &row, table, at + keyed);
}

static bool is_merged(const struct search *s, const struct weft_result_table *table) {
    return table->merged && (!s->subject || table->merged(s->subject));
}

/// In a merged table, whose members are those of the object that it is part of; else the path goes on there.
static const struct weft_result_column *find_merged(struct search *s, struct weft_result_cursor *above,
                                                    const struct weft_result_table *table, uint32_t at) {
    struct weft_result_cursor row = {
        .subject = s->subject, .answer = s->answer, .table = table, .above = above, .arena = s->arena};
    struct weft_result_found before = s->found;
    if (weft__result_key(table)) return find_row(s, above, table, at, &(void *){NULL});
    if (s->subject && !weft__result_next(&row)) return NULL;
    const struct weft_result_column *column = find_in(s, &row, table, at);
    if (column || s->found.parts > at) return column;
    struct weft_result_found inside = s->found;
    s->found = before;
    for (uint32_t i = 0; i < inside.names; i++)
        suggest_name(s, inside.name[i], strlen(inside.name[i]));
    return NULL;
}

static const struct weft_result_column *find_in(struct search *s, struct weft_result_cursor *row,
                                                const struct weft_result_table *table, uint32_t at) {
    uint32_t deepest = 0;
    const char *rest;
    s->found.parts = at;
    s->found.names = 0;
    for (uint32_t i = 0; i < table->columns; i++) {
        const struct weft_result_column *c = &table->column[i];
        if (!is_shown(table, c)) continue;
        uint32_t n = match_parts(s, at, c->name, &rest);
        if (!*rest || (at < s->parts && was_called(s, at, c))) return arrive_at(s, row, at + (n ? n : 1), c);
        if (n > deepest) s->found.names = 0;
        if (n >= deepest) suggest_name(s, rest, strcspn(rest, "."));
        if (n > deepest) s->found.parts = at + (deepest = n);
    }
    bool top = table == s->answer->table[0];
    for (uint32_t i = 1; i < s->answer->tables && !deepest; i++) {
        const struct weft_result_table *t = s->answer->table[i];
        if (t->shape == WEFT_RESULT_APART || weft_answer_above(s->answer, t) != (top ? NULL : table)) continue;
        if (s->subject && !weft_answer_has(s->answer, t, s->subject)) continue;
        const char *dot = strrchr(t->name, '.'), *name = dot ? dot + 1 : t->name;
        if (at < s->parts && !strcmp(name, s->part[at]))
            return find_row(s, top ? NULL : row, t, at + 1, s->subject ? &s->state[i] : NULL);
        if (is_merged(s, t)) {
            const struct weft_result_column *column = find_merged(s, top ? NULL : row, t, at);
            if (column || s->found.parts > at) return column;
        } else {
            suggest_name(s, name, strlen(name));
        }
    }
    return NULL;
}

struct weft_result_finder weft_answer_finder(const struct weft_answer *answer, const void *subject,
                                             struct weft_arena *arena) {
    void **state = weft_arena_alloc(arena, answer->tables, sizeof *state);
    return (struct weft_result_finder){answer, subject, arena, state};
}

struct weft_result_found weft_result_find(const struct weft_result_finder *f, const char *const *part, uint32_t parts) {
    struct search s = {
        .answer = f->answer, .subject = f->subject, .parts = parts, .arena = f->arena, .state = f->state};
    struct weft_result_cursor row = {
        .subject = f->subject, .answer = f->answer, .table = f->answer->table[0], .arena = f->arena};
    s.part = weft_arena_alloc(f->arena, parts, sizeof *s.part);
    memcpy(s.part, part, parts * sizeof *s.part);
    weft__result_next(&row);
    find_in(&s, &row, row.table, 0);
    return s.found;
}

const struct weft_result_column *weft_answer_column_of(const struct weft_answer *answer, const char **part,
                                                       uint32_t parts, struct weft_arena *arena) {
    struct search s = {.answer = answer, .part = part, .parts = parts, .arena = arena};
    return find_in(&s, NULL, answer->table[0], 0);
}
