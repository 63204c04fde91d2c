// SPDX-License-Identifier: Apache-2.0
// The tables of a run: those of results.def, of the mechanisms of ports, and of kinds of boxes.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "box/results.h"
#include "box/sums.h"
#include "weft/result.h"

#define WEFT_RESULTS(name, family) extern const struct weft_result_table weft__results_##name;
#define WEFT_RESULTS_OF_SUMS()
#define WEFT_RESULTS_OF_BOXES()
#include "results.def"
#undef WEFT_RESULTS
#undef WEFT_RESULTS_OF_SUMS
#undef WEFT_RESULTS_OF_BOXES

struct member {
    const struct weft_result_table *table;
    const char *family;
    void (*add)(void); ///< NULL: itself
};
static void add_sums(void), add_boxes(void);
static const struct member own[] = {
#define WEFT_RESULTS(name, of) {&weft__results_##name, of, NULL},
#define WEFT_RESULTS_OF_SUMS() {.add = add_sums},
#define WEFT_RESULTS_OF_BOXES() {.add = add_boxes},
#include "results.def"
#undef WEFT_RESULTS
#undef WEFT_RESULTS_OF_SUMS
#undef WEFT_RESULTS_OF_BOXES
};

/// These and those of boxes, combined once, because rows look up their tables.
enum { TABLES_MAX = 128 };
static const struct weft_result_table *all[TABLES_MAX];
static const char *families[TABLES_MAX];
static struct weft_answer run_answer = {.name = "run", .about = "weft run: the results of a run", .table = all};

static void add_table(const struct weft_result_table *table, const char *family) {
    assert(run_answer.tables < TABLES_MAX);
    families[run_answer.tables] = family;
    all[run_answer.tables++] = table;
}

static void add_sums(void) {
    const struct weft__sums *sums;
    add_table(weft__sums_table(), "network");
    for (uint32_t i = 0; (sums = weft__sums_at(i)); i++)
        if (sums->table) add_table(sums->table, "network");
}

static void add_boxes(void) {
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box_results *results = weft__box_results_of(kind);
        for (uint32_t i = 0; results && i < results->tables; i++)
            add_table(results->table[i], results->family);
    }
}

static void add_all(void) {
    for (uint32_t i = 0; i < sizeof own / sizeof *own; i++)
        own[i].add ? own[i].add() : add_table(own[i].table, own[i].family);
}

const struct weft_answer *weft_run_answer(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, add_all);
    return &run_answer;
}

uint32_t weft_result_table_count(void) {
    return weft_run_answer()->tables;
}

const struct weft_result_table *weft_result_table_at(uint32_t index) {
    return index < weft_result_table_count() ? all[index] : NULL;
}

const char *weft_result_family_at(uint32_t index) {
    return index < weft_result_table_count() ? families[index] : NULL;
}

const struct weft_result_table *weft_result_table_find(const char *name) {
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        if (!strcmp(all[i]->name, name)) return all[i];
    return NULL;
}

bool weft_result_table_present(const struct weft_result_table *table, const struct weft_run *run) {
    return weft_answer_has(weft_run_answer(), table, run);
}

struct weft_result_walk weft_result_walk(const struct weft_run *run, const struct weft_result_table *table,
                                         struct weft_arena *arena) {
    return weft_answer_walk(weft_run_answer(), run, table, arena);
}

struct weft_result_finder weft_result_finder(const struct weft_run *run, struct weft_arena *arena) {
    return weft_answer_finder(weft_run_answer(), run, arena);
}

const struct weft_result_column *weft_result_column_of(const char **part, uint32_t parts, struct weft_arena *arena) {
    return weft_answer_column_of(weft_run_answer(), part, parts, arena);
}
