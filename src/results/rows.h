// SPDX-License-Identifier: Apache-2.0
// What the writers of results and the tables share.
#pragma once

#include "base/json.h"
#include "weft/result.h"

/// The key by which the JSON names rows, instead of a member: that of an object of objects, or before single values.
/// NULL: there is none.
const struct weft_result_column *weft__result_key(const struct weft_result_table *table);
#define WEFT__RESULT_WHOLE(value) ((struct weft_result_value){.known = true, .whole = value})
#define WEFT__RESULT_REAL(value) ((struct weft_result_value){.known = isfinite(value), .real = value})
#define WEFT__RESULT_TEXT(value) ((struct weft_result_value){.known = (value) != NULL, .text = value})

/// The next row at its table's `place`.
bool weft__result_next_at_place(struct weft_result_cursor *c);
static inline bool weft__result_next(struct weft_result_cursor *c) {
    return c->table->next ? c->table->next(c) : weft__result_next_at_place(c);
}

/// Writes the answers to a new SQLite database; `run` numbers them in each table, and `views` is more SQL.
struct weft__answer_database {
    const char *path;
    const struct weft_answer *answer;
    const void *const *subject; ///< [subjects]
    uint32_t subjects, version;
    bool numbered; ///< every table begins with `run`, the number of the subject from 1
    const char *views;
};
enum weft_status weft__answer_database_write(const struct weft__answer_database *d, struct weft_error *ret_error);

/// From a double, or from a histogram.
struct weft_result_value weft__result_calculate(uint8_t type, uint8_t source, const void *at);

/// From an enumeration, or from the row above.
struct weft_result_value weft__result_name(const struct weft_result_column *column, uint32_t value, uint32_t none);
struct weft_result_value weft__result_above(const struct weft_result_cursor *row,
                                            const struct weft_result_column *column);

/// The largest whole number means "no value".
static inline struct weft_result_value weft__result_whole(uint8_t type, uint64_t value, uint64_t none) {
    return (struct weft_result_value){.type = type, .known = value != none, .whole = value};
}

static inline struct weft_result_value weft__result_read(struct weft_result_cursor *row,
                                                         const struct weft_result_column *column) {
    uint8_t type = column->type;
    const void *at = (const char *)row->part[column->part] + column->offset;
    switch ((enum weft_result_source)column->source) {
    case WEFT_RESULT_FROM_U8: // in a set of priorities, all bits set is a value
        return weft__result_whole(type, *(const uint8_t *)at, type == WEFT_RESULT_PRIORITIES ? UINT64_MAX : UINT8_MAX);
    case WEFT_RESULT_FROM_U16:
        return weft__result_whole(type, *(const uint16_t *)at, UINT16_MAX);
    case WEFT_RESULT_FROM_U32:
        return weft__result_whole(type, *(const uint32_t *)at, UINT32_MAX);
    case WEFT_RESULT_FROM_U64:
        return weft__result_whole(type, *(const uint64_t *)at, UINT64_MAX);
    case WEFT_RESULT_FROM_BOOL:
        return weft__result_whole(type, *(const bool *)at, UINT64_MAX);
    case WEFT_RESULT_FROM_TEXT: {
        const char *text = *(const char *const *)at;
        return (struct weft_result_value){.type = type, .known = text, .text = text};
    }
    case WEFT_RESULT_FROM_NAMED_U8:
        return weft__result_name(column, *(const uint8_t *)at, UINT8_MAX);
    case WEFT_RESULT_FROM_NAMED_U32:
        return weft__result_name(column, *(const uint32_t *)at, UINT32_MAX);
    case WEFT_RESULT_FROM_CELL: {
        struct weft_result_value value = (*(const struct weft_result_value *const *)at)[column->cell];
        value.type = type;
        return value;
    }
    case WEFT_RESULT_FROM_ABOVE:
        return weft__result_above(row, column);
    case WEFT_RESULT_FROM_FUNCTION: {
        struct weft_result_value value = column->value(row);
        value.type = type;
        return value;
    }
    default:
        return weft__result_calculate(type, column->source, at);
    }
}

/// weft_result_value for the loops over all rows: values that are simply in memory are read inline.
static inline struct weft_result_value weft__result_value(struct weft_result_cursor *row,
                                                          const struct weft_result_column *column) {
    struct weft_result_value value = weft__result_read(row, column);
    if (column->flags & WEFT_RESULT_NONZERO)
        value.known &= value.type == WEFT_RESULT_TEXT   ? value.known && *value.text
                       : value.type == WEFT_RESULT_REAL ? value.real != 0
                                                        : value.whole != 0;
    return value;
}
