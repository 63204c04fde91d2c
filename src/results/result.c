// SPDX-License-Identifier: Apache-2.0
// Tables of results: names, walks over rows, values.
#include "rows.h"

#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct weft_result_type_info weft_result_types[WEFT_RESULT_TYPES] = {
    [WEFT_RESULT_COUNT] = {"whole number", ""}, [WEFT_RESULT_TIME] = {"time", "ps"},
    [WEFT_RESULT_BYTES] = {"size", "bytes"},    [WEFT_RESULT_RATE] = {"rate", "bit/s"},
    [WEFT_RESULT_REAL] = {"number", ""},        [WEFT_RESULT_TEXT] = {"text", ""},
    [WEFT_RESULT_BOOL] = {"1 or 0", ""},        [WEFT_RESULT_PRIORITIES] = {"priorities", ""},
};

// --- names --------------------------------------------------------------------------------------------------------

static bool is_part_of(const struct weft_result_table *table, const struct weft_result_table *above) {
    size_t n = strlen(above->name);
    return !strncmp(table->name, above->name, n) && table->name[n] == '.' && !strchr(table->name + n + 1, '.');
}

const struct weft_result_table *weft_answer_above(const struct weft_answer *answer,
                                                  const struct weft_result_table *table) {
    for (uint32_t i = 1; i < answer->tables && strchr(table->name, '.'); i++)
        if (is_part_of(table, answer->table[i])) return answer->table[i];
    return NULL;
}

const struct weft_result_table *weft_answer_table(const struct weft_answer *answer, const char *name) {
    char flat[64];
    for (uint32_t i = 0; i < answer->tables; i++) {
        const struct weft_result_table *t = answer->table[i];
        if (!strcmp(t->name, name) || !strcmp(weft_result_flat(t->name, flat, sizeof flat), name)) return t;
    }
    return strcmp(answer->name, name) != 0 ? NULL : answer->table[0];
}

const char *weft_answer_table_name(const struct weft_answer *answer, const struct weft_result_table *table, char *text,
                                   size_t size) {
    bool first = table == answer->table[0] && weft_answer_table(answer, answer->name) == table;
    return weft_result_flat(first ? answer->name : table->name, text, size);
}

bool weft_answer_has(const struct weft_answer *answer, const struct weft_result_table *table, const void *subject) {
    const struct weft_result_table *above = weft_answer_above(answer, table);
    return (!above || weft_answer_has(answer, above, subject)) && (!table->present || table->present(subject));
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
    if (column->source == WEFT_RESULT_FROM_CELL) return column->name;
    weft_result_flat(column->name, text, size);
    if (dot && weft_result_column_find(table, text))
        snprintf(text, size, "%.*s__%s", (int)(dot - column->name), column->name, dot + 1);
    return text;
}

// --- rows and values ----------------------------------------------------------------------------------------------

static uint64_t count_elements(const struct weft_result_place *place, const char *base) {
    if (!place->count_size) return place->count;
    const void *count = base + place->count;
    assert(place->count_size == sizeof(uint32_t) || place->count_size == sizeof(uint64_t));
    return place->count_size == sizeof(uint32_t) ? *(const uint32_t *)count : *(const uint64_t *)count;
}

bool weft__result_next_at_place(struct weft_result_cursor *c) {
    const struct weft_result_place *place = &c->table->place;
    const char *base = c->above ? c->above->part[0] : c->subject;
    const char *row = base;
    bool array = place->is == WEFT_RESULT_ELEMENTS || place->is == WEFT_RESULT_INSIDE;
    if (place->is == WEFT_RESULT_INSIDE)
        row += place->pointer;
    else if (place->is != WEFT_RESULT_ITSELF)
        row = *(const char *const *)(base + place->pointer);
    if (array ? c->at == count_elements(place, base) : c->at || !row) return false;
    c->part[0] = row + c->at++ * place->size;
    for (uint32_t i = 1; i < WEFT_RESULT_PARTS; i++)
        c->part[i] = c->above ? c->above->part[i - 1] : base;
    return true;
}

struct weft_result_walk weft_answer_walk(const struct weft_answer *answer, const void *subject,
                                         const struct weft_result_table *table, struct weft_arena *arena) {
    struct weft_result_walk walk = {.depth = 1};
    for (const struct weft_result_table *t = table; (t = weft_answer_above(answer, t));)
        walk.depth++;
    assert(walk.depth <= WEFT_RESULT_DEPTH);
    for (uint32_t i = walk.depth; i--; table = weft_answer_above(answer, table))
        walk.level[i] =
            (struct weft_result_cursor){.subject = subject, .answer = answer, .table = table, .arena = arena};
    return walk;
}

struct weft_result_cursor *weft_result_next(struct weft_result_walk *walk) {
    uint32_t i = walk->open == walk->depth ? walk->depth - 1 : 0;
    for (;;) {
        struct weft_result_cursor *c = &walk->level[i];
        if (weft__result_next(c)) {
            if (++i == walk->depth) {
                walk->open = i;
                return c;
            }
            struct weft_result_cursor *below = &walk->level[i];
            *below = (struct weft_result_cursor){
                .subject = c->subject, .answer = c->answer, .table = below->table, .above = c, .arena = c->arena};
        } else if (i) {
            i--;
        } else {
            walk->open = 0;
            return NULL;
        }
    }
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

struct weft_result_value weft__result_name(const struct weft_result_column *column, uint32_t value, uint32_t none) {
    const char *text = value == none ? NULL : column->names[value];
    return (struct weft_result_value){.type = column->type, .known = text, .text = text};
}

struct weft_result_value weft__result_above(const struct weft_result_cursor *row,
                                            const struct weft_result_column *column) {
    const struct weft_result_column *above = weft_result_column_find(row->above->table, column->above);
    assert(above);
    return weft__result_value(row->above, above);
}

bool weft_result_always(const void *subject) {
    return true;
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

const char *weft_result_shown(const struct weft_result_value *value, char *text, size_t size) {
    if (!value->known) return "-";
    switch (value->type) {
    case WEFT_RESULT_TIME:
        weft_format_time(value->whole, text, size);
        return text;
    case WEFT_RESULT_BYTES:
        weft_format_bytes(value->whole, text, size);
        return text;
    case WEFT_RESULT_RATE:
        weft_format_rate(value->whole, text, size);
        return text;
    case WEFT_RESULT_REAL:
        return WEFT_SAY(text, size, "%.4g", value->real);
    case WEFT_RESULT_BOOL:
        return value->whole ? "yes" : "no";
    default:
        return weft_result_text(value, text, size);
    }
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

struct weft_result_value weft_result_index(struct weft_result_cursor *c) {
    return WEFT__RESULT_WHOLE(c->at - 1);
}

struct weft_result_value weft_result_version(struct weft_result_cursor *c) {
    return WEFT__RESULT_TEXT(WEFT_VERSION);
}

double weft_result_number(const struct weft_result_value *value) {
    if (!value->known || value->type == WEFT_RESULT_TEXT || value->type == WEFT_RESULT_PRIORITIES) return NAN;
    return value->type == WEFT_RESULT_REAL ? value->real : (double)value->whole;
}
