// SPDX-License-Identifier: Apache-2.0
#include "results.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"

enum { TABLES_MAX = 128, NAME = 64 };

enum weft_status weft_cli_table_find(const char *name, const struct weft_result_table **ret_table,
                                     struct weft_error *ret_error) {
    const char *names[TABLES_MAX];
    uint32_t n = 0;
    char flat[NAME], expected[512];
    for (; n < weft_result_table_count(); n++) {
        assert(n < TABLES_MAX);
        *ret_table = weft_result_table_at(n);
        names[n] = (*ret_table)->name;
        if (!strcmp(names[n], name) || !strcmp(weft_result_flat(names[n], flat, sizeof flat), name)) return WEFT_OK;
    }
    weft__names_expected(name, names, n, expected, sizeof expected);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "no table of results \"%s\"; %s", name, expected);
}

static const char *place_of(const struct weft_result_table *t) {
    static const char *const shapes[] = {
        [WEFT_RESULT_OBJECT] = "an object",         [WEFT_RESULT_LIST] = "a list of objects",
        [WEFT_RESULT_MAP] = "an object of objects", [WEFT_RESULT_NUMBERS] = "an object of numbers",
        [WEFT_RESULT_ARRAY] = "a list of numbers",  [WEFT_RESULT_APART] = "not in the JSON"};
    return t == weft_result_table_at(0) ? "the object itself" : shapes[t->shape];
}

void weft_cli_tables_list(void) {
    for (uint32_t i = 0; i < weft_result_table_count(); i++) {
        const struct weft_result_table *t = weft_result_table_at(i);
        printf("  %-20s %-21s %s\n", t->name, place_of(t), t->row);
    }
    printf("\nweft models results NAME lists the columns of one\n");
}

void weft_cli_table_show(const struct weft_result_table *t) {
    char flat[NAME];
    printf("%s: %s\n  in the JSON %s; in results.sqlite and CSV the table %s\n\n", t->name, t->row, place_of(t),
           weft_result_flat(t->name, flat, sizeof flat));
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        const char *unit = weft_result_unit(c);
        printf("  %s   (%s%s%s%s%s%s)\n      %s\n", c->name, weft_result_types[c->type].name, *unit ? ", " : "", unit,
               c->flags & WEFT_RESULT_KEY ? "; key" : "", c->references ? "; of " : "",
               c->references ? c->references : "", c->help);
    }
}

/// How many columns from this one on belong together, "fct_ps.mean" and so on.
static uint32_t count_alike(const struct weft_result_table *t, uint32_t first) {
    const char *name = t->column[first].name, *dot = strrchr(name, '.');
    uint32_t n = 1;
    while (dot && first + n < t->columns && !strncmp(name, t->column[first + n].name, (size_t)(dot - name) + 1))
        n++;
    return n;
}

/// The common beginning of the help of related columns, in whole words, without the comma or colon before the
/// difference.
static int common_help(const struct weft_result_column *first, const struct weft_result_column *second) {
    size_t n = 0;
    while (first->help[n] && first->help[n] == second->help[n])
        n++;
    while (n && first->help[n - 1] != ' ')
        n--;
    while (n && strchr(" ,:", first->help[n - 1]))
        n--;
    return (int)n;
}

static void print_columns(const struct weft_result_table *t) {
    for (uint32_t i = 0, n; i < t->columns; i += n) {
        const struct weft_result_column *c = &t->column[i];
        const char *dot = strrchr(c->name, '.'), *unit = weft_result_unit(&t->column[i + (n = count_alike(t, i)) - 1]);
        printf("| `%.*s", (int)(n > 1 ? dot + 1 - c->name : (long)strlen(c->name)), c->name);
        for (uint32_t k = 0; n > 1 && k < n; k++)
            printf("%s%s", k ? "," : "{", strrchr(t->column[i + k].name, '.') + 1);
        printf("%s` | %s | %.*s", n > 1 ? "}" : "", unit,
               n > 1 ? common_help(c, &t->column[i + 1]) : (int)strlen(c->help), c->help);
        printf("%s |\n", c->flags & WEFT_RESULT_TABLES && t->shape != WEFT_RESULT_APART ? " (not in the JSON)" : "");
    }
}

void weft_cli_table_columns(const struct weft_result_table *t) {
    printf("\n### `%s`: %s\n\n| column | unit | meaning |\n|---|---|---|\n", t->name, t->row);
    print_columns(t);
}

bool weft_cli_tables_markdown(const char *family) {
    bool any = false;
    for (uint32_t i = 0; i < weft_result_table_count(); i++) {
        const struct weft_result_table *t = weft_result_table_at(i);
        if (strcmp(weft_result_family_at(i), family)) continue;
        printf("%s## `%s` (JSON: %s): %s\n", any ? "\n" : "", t->name,
               t->shape == WEFT_RESULT_APART ? "nothing" : place_of(t), t->row);
        printf("| column | unit | meaning |\n|---|---|---|\n");
        print_columns(t);
        any = true;
    }
    return any;
}
