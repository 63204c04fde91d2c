// SPDX-License-Identifier: Apache-2.0
// Tables of results: what all of them share.
#include "rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "box/results.h"
#include "box/sums.h"

const struct weft_result_type_info weft_result_types[WEFT_RESULT_TYPES] = {
    [WEFT_RESULT_COUNT] = {"whole number", ""}, [WEFT_RESULT_TIME] = {"time", "ps"},
    [WEFT_RESULT_BYTES] = {"size", "bytes"},    [WEFT_RESULT_RATE] = {"rate", "bit/s"},
    [WEFT_RESULT_REAL] = {"number", ""},        [WEFT_RESULT_TEXT] = {"text", ""},
    [WEFT_RESULT_BOOL] = {"1 or 0", ""},        [WEFT_RESULT_PRIORITIES] = {"priorities", ""},
};

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
static struct member all[TABLES_MAX];
static uint32_t count;

static void add_table(const struct weft_result_table *table, const char *family) {
    assert(count < TABLES_MAX);
    all[count++] = (struct member){table, family, NULL};
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

uint32_t weft_result_table_count(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, add_all);
    return count;
}

const struct weft_result_table *weft_result_table_at(uint32_t index) {
    return index < weft_result_table_count() ? all[index].table : NULL;
}

const char *weft_result_family_at(uint32_t index) {
    return index < weft_result_table_count() ? all[index].family : NULL;
}

// --- names --------------------------------------------------------------------------------------------------------

const struct weft_result_table *weft_result_table_find(const char *name) {
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        if (!strcmp(weft_result_table_at(i)->name, name)) return weft_result_table_at(i);
    return NULL;
}

static bool is_part_of(const struct weft_result_table *table, const struct weft_result_table *above) {
    size_t n = strlen(above->name);
    return !strncmp(table->name, above->name, n) && table->name[n] == '.' && !strchr(table->name + n + 1, '.');
}

const struct weft_result_table *weft_result_table_above(const struct weft_result_table *table) {
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        if (is_part_of(table, weft_result_table_at(i))) return weft_result_table_at(i);
    return NULL;
}

bool weft_result_table_present(const struct weft_result_table *table, const struct weft_run *run) {
    const struct weft_result_table *above = weft_result_table_above(table);
    return (!above || weft_result_table_present(above, run)) && (!table->present || table->present(run));
}

const struct weft_result_column *weft_result_column_find(const struct weft_result_table *table, const char *name) {
    for (uint32_t i = 0; i < table->columns; i++)
        if (!strcmp(table->column[i].name, name)) return &table->column[i];
    return NULL;
}

const struct weft_result_column *weft__result_key(const struct weft_result_table *table) {
    if (table->shape != WEFT_RESULT_MAP && table->shape != WEFT_RESULT_NUMBERS && table->shape != WEFT_RESULT_ARRAY)
        return NULL;
    const struct weft_result_column *c = table->column;
    while (c->flags & WEFT_RESULT_ABOVE)
        c++;
    return c;
}

const char *weft_result_unit(const struct weft_result_column *column) {
    return column->unit ? column->unit : weft_result_types[column->type].unit;
}

const char *weft_result_flat(const char *name, char *text, size_t size) {
    snprintf(text, size, "%s", name);
    for (char *c = text; *c; c++)
        if (*c == '.') *c = '_';
    return text;
}

const char *weft_result_flat_column(const struct weft_result_table *table, const struct weft_result_column *column,
                                    char *text, size_t size) {
    const char *dot = strrchr(column->name, '.');
    weft_result_flat(column->name, text, size);
    if (dot && weft_result_column_find(table, text))
        snprintf(text, size, "%.*s__%s", (int)(dot - column->name), column->name, dot + 1);
    return text;
}

// --- rows and values ----------------------------------------------------------------------------------------------

struct weft_result_walk weft_result_walk(const struct weft_run *run, const struct weft_result_table *table,
                                         struct weft_arena *arena) {
    const struct weft_result_table *above = weft_result_table_above(table);
    return (struct weft_result_walk){
        .cursor = {.run = run, .table = table, .arena = arena},
        .above = {.run = run, .table = above, .arena = arena},
        .inside = !above,
    };
}

struct weft_result_cursor *weft_result_next(struct weft_result_walk *walk) {
    struct weft_result_cursor *c = &walk->cursor;
    if (walk->inside && c->table->next(c)) return c;
    if (!walk->above.table) return NULL;
    while (walk->above.table->next(&walk->above)) {
        *c = (struct weft_result_cursor){.run = c->run, .table = c->table, .arena = c->arena, .above = &walk->above};
        walk->inside = true;
        if (c->table->next(c)) return c;
    }
    walk->inside = false;
    return NULL;
}

static struct weft_result_value real_value(uint8_t type, double value) {
    if (type != WEFT_RESULT_REAL)
        return isfinite(value) ? weft__result_whole(type, (uint64_t)llround(value), UINT64_MAX)
                               : (struct weft_result_value){.type = type};
    return (struct weft_result_value){.type = type, .known = isfinite(value), .real = value};
}

static struct weft_result_value of_histogram(uint8_t type, uint8_t source, const struct weft_histogram *h) {
    static const double quantile[] = {[WEFT_RESULT_FROM_P50] = .5,
                                      [WEFT_RESULT_FROM_P90] = .9,
                                      [WEFT_RESULT_FROM_P99] = .99,
                                      [WEFT_RESULT_FROM_P999] = .999};
    if (source == WEFT_RESULT_FROM_COUNTED) return weft__result_whole(type, h->n, UINT64_MAX);
    if (source == WEFT_RESULT_FROM_MEAN) return real_value(type, weft_histogram_mean(h));
    if (source == WEFT_RESULT_FROM_MAX) return weft__result_whole(type, h->max, UINT64_MAX);
    return weft__result_whole(type, weft_histogram_quantile(h, quantile[source]), UINT64_MAX);
}

struct weft_result_value weft__result_calculate(uint8_t type, uint8_t source, const void *at) {
    if (source == WEFT_RESULT_FROM_DOUBLE) return real_value(type, *(const double *)at);
    return of_histogram(type, source, at);
}

struct weft_result_value weft_result_value(struct weft_result_cursor *row, const struct weft_result_column *column) {
    return weft__result_value(row, column);
}

static const char *priorities_text(uint64_t set, char *text, size_t size) {
    size_t n = 0;
    *text = 0;
    for (unsigned p = 0; p < WEFT_PRIORITIES && n + 2 < size; p++)
        if (set >> p & 1) n += (size_t)snprintf(text + n, size - n, "%s%u", n ? "," : "", p);
    return text;
}

const char *weft_result_text(const struct weft_result_value *value, char *text, size_t size) {
    if (!value->known) return "";
    if (value->type == WEFT_RESULT_TEXT) return value->text;
    if (value->type == WEFT_RESULT_PRIORITIES) return priorities_text(value->whole, text, size);
    if (value->type == WEFT_RESULT_REAL)
        snprintf(text, size, "%.9g", value->real);
    else
        snprintf(text, size, "%" PRIu64, value->whole);
    return text;
}

double weft_result_number(const struct weft_result_value *value) {
    if (!value->known || value->type == WEFT_RESULT_TEXT || value->type == WEFT_RESULT_PRIORITIES) return NAN;
    return value->type == WEFT_RESULT_REAL ? value->real : (double)value->whole;
}
