// SPDX-License-Identifier: Apache-2.0
#include "results.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64 };

#define WEFT_ANSWER(name) extern const struct weft_answer weft__answer_##name;
#include "answers.def"
#undef WEFT_ANSWER
static const struct weft_answer *const answers[] = {
#define WEFT_ANSWER(name) &weft__answer_##name,
#include "answers.def"
#undef WEFT_ANSWER
};
enum { ANSWERS = sizeof answers / sizeof *answers };

const struct weft_answer *weft_cli_answer_find(const char *name) {
    for (uint32_t i = 0; i < ANSWERS; i++)
        if (!strcmp(answers[i]->name, name)) return answers[i];
    return NULL;
}

static const char *place_of(const struct weft_answer *answer, const struct weft_result_table *t) {
    static const char *const shapes[] = {
        [WEFT_RESULT_OBJECT] = "an object",         [WEFT_RESULT_LIST] = "a list of objects",
        [WEFT_RESULT_MAP] = "an object of objects", [WEFT_RESULT_NUMBERS] = "an object of values",
        [WEFT_RESULT_ARRAY] = "a list of values",   [WEFT_RESULT_APART] = "not in the JSON"};
    if (t->merged == weft_result_always) return "part of the object around";
    return t == answer->table[0] ? "the object itself" : shapes[t->shape];
}

static void list_tables(const struct weft_answer *answer) {
    for (uint32_t i = 0; i < answer->tables; i++) {
        const struct weft_result_table *t = answer->table[i];
        printf("  %-20s %-21s %s\n", t->name, place_of(answer, t), t->row);
    }
}

void weft_cli_tables_list(void) {
    list_tables(weft_run_answer());
    printf("\nweft models results NAME lists the columns of one. Answers of other commands, each with tables of its "
           "own:\n");
    for (uint32_t i = 0; i < ANSWERS; i++)
        printf("  %-20s %s\n", answers[i]->name, answers[i]->about);
}

static void show_table(const struct weft_answer *answer, const struct weft_result_table *t) {
    char flat[NAME];
    printf("%s: %s\n  in the JSON %s; in %s and CSV the table %s\n\n", t->name, t->row, place_of(answer, t),
           answer == weft_run_answer() ? "results.sqlite" : "SQLite",
           weft_answer_table_name(answer, t, flat, sizeof flat));
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        const char *unit = weft_result_unit(c);
        printf("  %s   (%s%s%s%s%s%s)\n      %s\n", c->name, weft_result_types[c->type].name, *unit ? ", " : "", unit,
               c->flags & WEFT_RESULT_KEY ? "; key" : "", c->references ? "; of " : "",
               c->references ? c->references : "", c->help);
    }
}

void weft_cli_table_show(const struct weft_result_table *table) {
    show_table(weft_run_answer(), table);
}

void weft_cli_answer_show(const struct weft_answer *answer) {
    printf("%s\n", answer->about);
    for (uint32_t i = 0; i < answer->tables; i++) {
        putchar('\n');
        show_table(answer, answer->table[i]);
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

/// The common beginning of the help of `n` related columns, in whole words, without the comma or colon before the
/// difference; 0: their help or units have nothing in common. Only counts among them may lack a unit.
static int common_help(const struct weft_result_column *column, uint32_t n, const char **ret_unit) {
    const char *help = column->help;
    size_t length = strlen(help);
    *ret_unit = "";
    for (uint32_t i = 0; i < n; i++) {
        const char *unit = weft_result_unit(&column[i]);
        size_t same = 0;
        if (*unit && **ret_unit && strcmp(unit, *ret_unit)) return 0;
        if (*unit) *ret_unit = unit;
        while (same < length && help[same] == column[i].help[same])
            same++;
        length = same;
    }
    while (help[length] && length && help[length - 1] != ' ')
        length--;
    while (length && strchr(" ,:", help[length - 1]))
        length--;
    return (int)length;
}

static void print_columns(const struct weft_result_table *t) {
    for (uint32_t i = 0, n; i < t->columns; i += n) {
        const struct weft_result_column *c = &t->column[i];
        const char *unit, *dot = strrchr(c->name, '.');
        int length = common_help(c, n = count_alike(t, i), &unit);
        if (!length) length = common_help(c, n = 1, &unit);
        printf("| `%.*s", (int)(n > 1 ? dot + 1 - c->name : (long)strlen(c->name)), c->name);
        for (uint32_t k = 0; n > 1 && k < n; k++)
            printf("%s%s", k ? "," : "{", strrchr(t->column[i + k].name, '.') + 1);
        printf("%s` | %s | %.*s%s |\n", n > 1 ? "}" : "", unit, length, c->help,
               c->flags & WEFT_RESULT_TABLES && t->shape != WEFT_RESULT_APART ? " (not in the JSON)" : "");
    }
}

static void print_markdown(const struct weft_answer *answer, const struct weft_result_table *t) {
    printf("%s `%s` (JSON: %s): %s\n", answer == weft_run_answer() ? "##" : "###", t->name,
           t->shape == WEFT_RESULT_APART ? "nothing" : place_of(answer, t), t->row);
    printf("| column | unit | meaning |\n|---|---|---|\n");
    print_columns(t);
}

bool weft_cli_tables_markdown(const char *family) {
    const struct weft_answer *answer = weft_cli_answer_find(family), *run = weft_run_answer();
    bool any = false;
    for (uint32_t i = 0; i < (answer ? answer : run)->tables; i++) {
        if (!answer && strcmp(weft_result_family_at(i), family)) continue;
        if (any) putchar('\n');
        print_markdown(answer ? answer : run, (answer ? answer : run)->table[i]);
        any = true;
    }
    return any;
}
