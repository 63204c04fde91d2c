// SPDX-License-Identifier: Apache-2.0
// From a path in the JSON of a run to the row with its value: groups.victims.fct_ps.mean.
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { NAMES = sizeof((struct weft_result_found *)0)->name / sizeof(char *) };

/// A search. Without a run, every key matches.
struct search {
    const struct weft_run *run;
    const char **part;
    uint32_t parts;
    struct weft_arena *arena;
    void **state; ///< [tables]: what earlier walks have computed
    struct weft_result_found found;
};

static void suggest_name(struct search *s, const char *name, size_t length) {
    struct weft_result_found *f = &s->found;
    if (f->names == NAMES) return;
    if (f->names && !strncmp(f->name[f->names - 1], name, length) && !f->name[f->names - 1][length]) return;
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
    if (s->run) s->found.value = weft_result_value(row, column);
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

/// The first row that the path may refer to: by key, by number, or the only one.
static bool choose_row(struct search *s, struct weft_result_cursor *row, uint32_t at) {
    const struct weft_result_table *table = row->table;
    const struct weft_result_column *key = weft__result_key(table);
    bool numbered = table->shape == WEFT_RESULT_LIST || table->shape == WEFT_RESULT_ARRAY;
    char text[32], *end = "";
    unsigned long number = numbered && at < s->parts ? strtoul(s->part[at], &end, 10) : 0;
    bool sound = at < s->parts && !*end && *s->part[at] >= '0' && *s->part[at] <= '9';
    for (uint64_t i = 0; table->next(row); i++) {
        if (table->shape == WEFT_RESULT_OBJECT || (numbered && sound && i == number)) return true;
        s->found.entries = numbered ? (uint32_t)i + 1 : 0;
        if (numbered) continue;
        struct weft_result_value value = weft_result_value(row, key);
        const char *name = weft_result_text(&value, text, sizeof text);
        if (at < s->parts && !strcmp(name, s->part[at])) return true;
        suggest_name(s, name, strlen(name));
    }
    return false;
}

static const struct weft_result_column *find_row(struct search *s, struct weft_result_cursor *above,
                                                 const struct weft_result_table *table, uint32_t at, void **state) {
    struct weft_result_cursor row = {.run = s->run, .table = table, .above = above, .arena = s->arena};
    const struct weft_result_column *key = weft__result_key(table);
    bool single = table->shape == WEFT_RESULT_NUMBERS || table->shape == WEFT_RESULT_ARRAY;
    bool keyed = table->shape != WEFT_RESULT_OBJECT, there = !s->run && at + keyed <= s->parts;
    s->found.parts = at;
    s->found.names = 0;
    if (s->run) {
        row.state = *state;
        there = choose_row(s, &row, at);
        if (!above) *state = row.state;
    }
    if (!there) return NULL;
    s->found.entries = 0;
    return single ? arrive_at(s, &row, at + 1, key + 1) : find_in(s, &row, table, at + keyed);
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
    bool top = table == weft_result_table_at(0);
    for (uint32_t i = 1; i < weft_result_table_count() && !deepest; i++) {
        const struct weft_result_table *t = weft_result_table_at(i), *above = weft_result_table_above(t);
        if (t->shape == WEFT_RESULT_APART || above != (top ? NULL : table)) continue;
        if (s->run && !weft_result_table_present(t, s->run)) continue;
        const char *dot = strrchr(t->name, '.'), *name = dot ? dot + 1 : t->name;
        if (at < s->parts && !strcmp(name, s->part[at]))
            return find_row(s, top ? NULL : row, t, at + 1, s->run ? &s->state[i] : NULL);
        suggest_name(s, name, strlen(name));
    }
    return NULL;
}

struct weft_result_finder weft_result_finder(const struct weft_run *run, struct weft_arena *arena) {
    void **state = weft_arena_alloc(arena, weft_result_table_count(), sizeof *state);
    return (struct weft_result_finder){run, arena, state};
}

struct weft_result_found weft_result_find(const struct weft_result_finder *f, const char *const *part, uint32_t parts) {
    struct search s = {.run = f->run, .parts = parts, .arena = f->arena, .state = f->state};
    struct weft_result_cursor row = {.run = f->run, .table = weft_result_table_at(0), .arena = f->arena};
    s.part = weft_arena_alloc(f->arena, parts, sizeof *s.part);
    memcpy(s.part, part, parts * sizeof *s.part);
    weft_result_table_at(0)->next(&row);
    find_in(&s, &row, weft_result_table_at(0), 0);
    return s.found;
}

const struct weft_result_column *weft_result_column_of(const char **part, uint32_t parts, struct weft_arena *arena) {
    struct search s = {.part = part, .parts = parts, .arena = arena};
    return find_in(&s, NULL, weft_result_table_at(0), 0);
}
