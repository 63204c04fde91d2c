// SPDX-License-Identifier: Apache-2.0
// The figures of a run by the names that users write in claims, sweeps and objectives: victims.fct.mean, counters.cnp.
#include <stdio.h>
#include <string.h>

#include "results/rows.h"
#include "weft/error.h"

enum {
    NAMES_MAX = 4096,      ///< more are of no help to a reader
    NAMES_OF_TABLE = 1024, ///< so that a table of many ports leaves room for others
    EXAMPLES_OF_TABLE = 4,
    EXAMPLES_MAX = 2 * EXAMPLES_OF_TABLE
};

struct names {
    struct weft_arena *arena;
    const char *name[NAMES_MAX];
    const char *example[EXAMPLES_MAX];
    uint32_t n, examples, examples_max;
};

static bool is_number(const struct weft_result_column *column) {
    return column->type != WEFT_RESULT_TEXT && column->type != WEFT_RESULT_BOOL &&
           column->type != WEFT_RESULT_PRIORITIES && !(column->flags & (WEFT_RESULT_KEY | WEFT_RESULT_ABOVE));
}

static const char *quoted_key(struct weft_arena *arena, const char *key) {
    return strchr(key, '.') ? weft_arena_format(arena, "\"%s\"", key) : key;
}

static void add_row(struct names *names, const struct weft_result_table *table, const char *row) {
    const struct weft_result_column *key = weft__result_key(table);
    bool groups = !strcmp(table->name, "groups"), single = table->shape == WEFT_RESULT_NUMBERS;
    for (uint32_t i = 0; i < table->columns && names->n < NAMES_MAX; i++) {
        const struct weft_result_column *c = &table->column[i];
        if (!is_number(c) || c->flags & WEFT_RESULT_TABLES || (single && c != key + 1)) continue;
        const char *name = c->name, *fct = "fct_ps.";
        if (groups && !strncmp(name, fct, strlen(fct)))
            name = weft_arena_format(names->arena, "fct.%s", name + strlen(fct));
        name = single ? row : weft_arena_format(names->arena, "%s%s%s", row, *row ? "." : "", name);
        if ((c->compared || (groups && strchr(c->name, '.'))) && names->examples < names->examples_max)
            names->example[names->examples++] = name;
        names->name[names->n++] = name;
    }
}

/// The column by whose value a path chooses a row; NULL: rows have no names.
static const struct weft_result_column *name_column(const struct weft_result_table *table) {
    if (table->shape == WEFT_RESULT_MAP || table->shape == WEFT_RESULT_NUMBERS) return weft__result_key(table);
    const struct weft_result_column *c =
        table->shape == WEFT_RESULT_LIST ? weft_result_column_find(table, "name") : NULL;
    return c && c->type == WEFT_RESULT_TEXT ? c : NULL;
}

static void add_table(struct names *names, const struct weft_run *run, const struct weft_result_table *table) {
    const struct weft_result_table *above = weft_answer_above(weft_run_answer(), table);
    const struct weft_result_column *key = name_column(table);
    if ((!key && table->shape != WEFT_RESULT_OBJECT) || (above && above->shape != WEFT_RESULT_OBJECT) ||
        !weft_result_table_present(table, run))
        return;
    const char *top = table == weft_result_table_at(0) || !strcmp(table->name, "groups") ? "" : table->name;
    struct weft_result_walk walk = weft_result_walk(run, table, names->arena);
    uint32_t before = names->n;
    names->examples_max = names->examples + EXAMPLES_OF_TABLE;
    if (names->examples_max > EXAMPLES_MAX) names->examples_max = EXAMPLES_MAX;
    for (struct weft_result_cursor *row; names->n < before + NAMES_OF_TABLE && (row = weft_result_next(&walk));) {
        if (!key) {
            add_row(names, table, top);
            continue;
        }
        char text[32];
        struct weft_result_value value = weft_result_value(row, key);
        const char *name = quoted_key(names->arena, weft_result_text(&value, text, sizeof text));
        add_row(names, table, weft_arena_format(names->arena, "%s%s%s", top, *top ? "." : "", name));
    }
}

/// The first name with `wanted` as some of its parts, the last of them perhaps without its unit: "victims.fct" or
/// "fct.p99" for victims.fct.p99, "jobs.train.iteration" for jobs.train.iteration_ps.
static const char *find_longer(const struct names *names, const char *wanted) {
    size_t length = strlen(wanted);
    for (uint32_t i = 0; i < names->n && length; i++)
        for (const char *name = names->name[i], *at = strstr(name, wanted); at; at = strstr(at + 1, wanted))
            if ((at == name || at[-1] == '.') && strchr("._", at[length])) return name; // strchr also finds the end
    return NULL;
}

/// The path as a user writes it.
static const char *written_path(const char *const *part, uint32_t parts, struct weft_arena *arena) {
    const char *text = "";
    for (uint32_t i = parts > 1 && !strcmp(part[0], "groups"); i < parts; i++)
        text = weft_arena_format(arena, "%s%s%s", text, *text ? "." : "",
                                 strcmp(part[i], "fct_ps") ? quoted_key(arena, part[i]) : "fct");
    return text;
}

void weft_result_expected(const struct weft_run *run, const char *const *part, uint32_t parts, char *text,
                          size_t size) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct names *names = weft_arena_alloc(arena, 1, sizeof *names);
    names->arena = arena;
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        add_table(names, run, weft_result_table_at(i));
    const char *wanted = written_path(part, parts, arena), *near = find_longer(names, wanted);
    bool numbered = parts > 2 && part[1][0] >= '0' && part[1][0] <= '9'; // "jobs.0.iteration"
    if (!near && numbered) near = find_longer(names, part[parts - 1]);
    if (!near) near = weft_error_nearest(wanted, names->name, names->n);
    int used = near ? snprintf(text, size, "did you mean \"%.200s\"?", near)
                    : snprintf(text, size, "expected a figure such as");
    for (uint32_t i = 0; !near && i < names->examples && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s %s", i ? "," : "", names->example[i]);
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s weft models results lists all", near ? "" : ";");
}
