// SPDX-License-Identifier: Apache-2.0
// An answer of weft is rows: those of a run, and those of every command that prints something. A figure is described
// once: name, type, unit, help and where its value is. Figures with the same subject are the columns of a table, and
// the table says what its own rows are and where they are. From that come text, JSON, CSV, SQLite, docs/results/, `weft
// models results` and the names that claims may use.
//
//   static const struct weft_result_table line_table = WEFT_RESULT_TABLE_OF(
//       "lines", LIST, "a sort of link",
//       WEFT_RESULT_EACH(struct plan_answer, line, lines), // struct line *line; uint32_t lines;
//       WEFT_RESULT(struct line, from, TEXT, "layer of the sender", .flags = WEFT_RESULT_KEY, .title = "from"),
//       WEFT_RESULT(struct line, headroom_bytes, BYTES, "headroom above XOFF", .title = "headroom"));
//   const struct weft_answer weft__answer_plan = WEFT_ANSWER_OF("plan", "weft plan: ...", &plan_table, &line_table);
//
// A table stands in the JSON where its name says: "te.round" is the key `round` of the object `te`, and
// "variants.lines" is a member of each row of `variants`. In SQLite dots become underscores: the table te_round, and
// the column fct_ps.mean is fct_ps_mean.
#pragma once

#include "weft/histogram.h"
#include "weft/report.h"
#include "weft/rows.h"

/// Of the form of results, in SQLite (PRAGMA user_version) and JSON (results_version). 1 is what did not yet say so.
enum { WEFT_RESULTS_VERSION = 2 };

struct weft__json; // base/json.h
struct weft_result_type_info {
    const char *name, *unit; ///< unit: "" if it has none of its own
};
extern const struct weft_result_type_info weft_result_types[WEFT_RESULT_TYPES];

/// How a column's value lies in memory. The largest whole number (WEFT_TIME_NEVER, WEFT_NONE) and NAN are no value.
enum weft_result_source {
    WEFT_RESULT_FROM_U8,
    WEFT_RESULT_FROM_U16,
    WEFT_RESULT_FROM_U32,
    WEFT_RESULT_FROM_U64,
    WEFT_RESULT_FROM_DOUBLE,
    WEFT_RESULT_FROM_BOOL,
    WEFT_RESULT_FROM_TEXT,
    WEFT_RESULT_FROM_COUNTED, ///< of a struct weft_histogram: how many values, and so on
    WEFT_RESULT_FROM_MEAN,
    WEFT_RESULT_FROM_P50,
    WEFT_RESULT_FROM_P90,
    WEFT_RESULT_FROM_P99,
    WEFT_RESULT_FROM_P999,
    WEFT_RESULT_FROM_MAX,
    WEFT_RESULT_FROM_NAMED_U8, ///< of an enumeration: the text at `names`
    WEFT_RESULT_FROM_NAMED_U32,
    WEFT_RESULT_FROM_CELL,  ///< number `cell` of the values to which a pointer leads: of a column made at run time
    WEFT_RESULT_FROM_ABOVE, ///< the column `above` of the row that the row is part of
    WEFT_RESULT_FROM_FUNCTION
};

enum {
    WEFT_RESULT_KEY = 1,      ///< the keys together tell a table's rows apart
    WEFT_RESULT_ABOVE = 2,    ///< a key that the JSON has further up: of the object that the row is part of
    WEFT_RESULT_SPARSE = 4,   ///< left out of the JSON where it has no value, rather than null
    WEFT_RESULT_TABLES = 8,   ///< in tables (SQLite, CSV) only: the JSON says it elsewhere, or would say it too often
    WEFT_RESULT_EXACT = 16,   ///< text shows every digit: 56658B rather than 56.7KB; CSV those of a REAL
    WEFT_RESULT_NONZERO = 32, ///< 0 and "" are no value
    WEFT_RESULT_OPTIONAL = WEFT_RESULT_NONZERO | WEFT_RESULT_SPARSE,
    WEFT_RESULT_LISTED = 64,    ///< whole numbers as a text, "3,4": a list of them in the JSON
    WEFT_RESULT_TOGETHER = 128, ///< of a SPARSE one: null, where the column before it is written
};

struct weft_result_cursor;
struct weft_result_column {
    const char *name; ///< "fct_ps.mean" stands in an object fct_ps
    uint8_t type, source, part, flags;
    uint32_t offset; ///< in the row's part
    struct weft_result_value (*value)(struct weft_result_cursor *c);
    const char *help;
    const char *unit;       ///< NULL: that of its type
    const char *references; ///< the table whose key it is; NULL: none
    const char *was;        ///< its name in tables of version 1; NULL: the same
    const char *compared;   ///< its name in weft compare; NULL: it is not shown there
    const char *title;      ///< its heading in text; NULL: text leaves it out
    union {
        const char *const *names; ///< NAMED: by value; NULL there: no value
        const char *above;        ///< ABOVE: a column's name
        uint32_t cell;
    };
};

enum weft_result_shape {
    WEFT_RESULT_OBJECT,  ///< one row
    WEFT_RESULT_LIST,    ///< an array of objects
    WEFT_RESULT_MAP,     ///< an object of objects, by the first key that is not ABOVE
    WEFT_RESULT_NUMBERS, ///< an object of single values, those of the column after that key
    WEFT_RESULT_ARRAY,   ///< an array of such
    WEFT_RESULT_APART,   ///< not in the JSON
};

/// Where rows lie in the row that they are part of; of a table that is part of none, in the answer's subject.
struct weft_result_place {
    enum {
        WEFT_RESULT_ITSELF,   ///< one row: that row, or subject, itself
        WEFT_RESULT_ELEMENTS, ///< an array: a pointer and a count of elements
        WEFT_RESULT_POINTED,  ///< one row, if the pointer is not NULL
        WEFT_RESULT_INSIDE,   ///< an array in that row
    } is;
    uint32_t pointer, count; ///< offsets; of INSIDE the first is that of the array
    uint32_t size;           ///< of an element
    uint8_t count_size;      ///< of the count: 4 or 8 bytes; 0: `count` is the number itself
};

struct weft_result_table {
    const char *name;
    enum weft_result_shape shape;
    const char *row; ///< what one is: "a flow"
    const struct weft_result_column *column;
    uint32_t columns;
    /// The next row: fills c->part; false: there is none. c->at counts them, c->state is the function's own. NULL: rows
    /// lie at `place`, and part[0] is the row, part[1] the row that it is part of, part[2] that one's, and so on.
    bool (*next)(struct weft_result_cursor *c);
    struct weft_result_place place;
    /// Each row is the subject of this answer, with all its tables; the columns are only keys. NULL: of none.
    const struct weft_answer *(*whole)(void);
    bool (*present)(const struct weft_run *run); ///< NULL: in every run, and in every other answer
    bool sparse;                                 ///< left out of the JSON where it has no rows
    bool null;                                   ///< an object that is null in the JSON where it has no row
    /// True: its row is merged into the object that it is part of, which has its members, except those that the object
    /// has itself: the JSON has no key for it. There is one row at most then; of a MAP any number, whose keys are
    /// members of that object. NULL: never.
    bool (*merged)(const void *subject);
    const char *was;                                       ///< as of a column
    void (*print)(FILE *file, const struct weft_run *run); ///< a paragraph in the table for people; NULL: none
};

/// The tables of one kind of answer. The data are a struct of the command, its subject; of a run, struct weft_run.
struct weft_answer {
    /// Of its page in docs/results and, unless another table has that name, of its first table in SQLite: "versus".
    const char *name;
    const char *about; ///< "weft versus: fabrics side by side on one job"
    /// [tables]: the first is the object itself; the others are in the order of the JSON, parts behind their
    /// whole.
    const struct weft_result_table *const *table;
    uint32_t tables;
};
#define WEFT_ANSWER_TABLES(list) .table = list, .tables = sizeof(list) / sizeof *(list)
/// An answer: its tables follow, each with &.
#define WEFT_ANSWER_OF(title, what, ...)                                                                               \
    { .name = title, .about = what, WEFT_ANSWER_TABLES(((const struct weft_result_table *const[]){__VA_ARGS__})) }

enum { WEFT_RESULT_PARTS = 4 };
/// A walk over the rows of a table, or over those that are part of a row of another table.
struct weft_result_cursor {
    union {
        const struct weft_run *run;
        const void *subject; ///< of any other answer
    };
    const struct weft_answer *answer;
    const struct weft_result_table *table;
    struct weft_result_cursor *above; ///< at the row that these are part of; NULL: there is none
    struct weft_arena *arena;
    uint64_t at;
    void *state;
    const void *part[WEFT_RESULT_PARTS]; ///< of the row at hand: structs that columns read
};

#define WEFT__RESULT_SOURCE(T, field)                                                                                  \
    _Generic(((T *)0)->field, uint8_t: WEFT_RESULT_FROM_U8, uint16_t: WEFT_RESULT_FROM_U16,                            \
             uint32_t: WEFT_RESULT_FROM_U32, uint64_t: WEFT_RESULT_FROM_U64, double: WEFT_RESULT_FROM_DOUBLE,          \
             bool: WEFT_RESULT_FROM_BOOL, const char *: WEFT_RESULT_FROM_TEXT, char *: WEFT_RESULT_FROM_TEXT)
/// More members may follow the help, as in WEFT_RESULT(..., "help", .flags = WEFT_RESULT_KEY).
#define WEFT_RESULT_AT(n, T, field, key, kind, ...)                                                                    \
    {                                                                                                                  \
        .name = key, .type = WEFT_RESULT_##kind, .source = WEFT__RESULT_SOURCE(T, field), .part = n,                   \
        .offset = offsetof(T, field), .help = __VA_ARGS__                                                              \
    }
#define WEFT_RESULT(T, field, kind, ...) WEFT_RESULT_AT(0, T, field, #field, kind, __VA_ARGS__)
#define WEFT_RESULT_NAMED(T, field, key, kind, ...) WEFT_RESULT_AT(0, T, field, key, kind, __VA_ARGS__)
#define WEFT_RESULT_CALL(function, key, kind, ...)                                                                     \
    {                                                                                                                  \
        .name = key, .type = WEFT_RESULT_##kind, .source = WEFT_RESULT_FROM_FUNCTION, .value = function,               \
        .help = __VA_ARGS__                                                                                            \
    }
#define WEFT__RESULT_SEEN(n, T, field, key, from, kind, what, ...)                                                     \
    {                                                                                                                  \
        .name = key, .type = WEFT_RESULT_##kind, .source = WEFT_RESULT_FROM_##from, .part = n,                         \
        .offset = offsetof(T, field), .help = what, __VA_ARGS__                                                        \
    }
/// A column whose value is a text for a number: `names` has one for each.
#define WEFT_RESULT_OF_NAMES(n, T, field, key, list, ...)                                                              \
    {                                                                                                                  \
        .name = key, .type = WEFT_RESULT_TEXT, .part = n, .offset = offsetof(T, field), .names = list,                 \
        .source = _Generic(((T *)0)->field, uint8_t                                                                    \
                           : WEFT_RESULT_FROM_NAMED_U8, default                                                        \
                           : WEFT_RESULT_FROM_NAMED_U32),                                                              \
        .help = __VA_ARGS__                                                                                            \
    }
/// The columns of a struct weft_histogram; its unit may follow as .unit = "ns".
#define WEFT_RESULT_HISTOGRAM(n, T, field, key, kind, help, ...)                                                       \
    WEFT__RESULT_SEEN(n, T, field, key ".count", COUNTED, COUNT, help ": how many"),                                   \
        WEFT__RESULT_SEEN(n, T, field, key ".mean", MEAN, REAL, help ": mean", __VA_ARGS__),                           \
        WEFT__RESULT_SEEN(n, T, field, key ".p50", P50, kind, help ": median", __VA_ARGS__),                           \
        WEFT__RESULT_SEEN(n, T, field, key ".p90", P90, kind, help ": 90th percentile", __VA_ARGS__),                  \
        WEFT__RESULT_SEEN(n, T, field, key ".p99", P99, kind, help ": 99th percentile", __VA_ARGS__),                  \
        WEFT__RESULT_SEEN(n, T, field, key ".p999", P999, kind, help ": 99.9th percentile", __VA_ARGS__),              \
        WEFT__RESULT_SEEN(n, T, field, key ".max", MAX, kind, help ": greatest", __VA_ARGS__)
/// Columns that say between which layers, of rows that are pairs; T has key, from and to.
#define WEFT_RESULT_BETWEEN(T, what_from, what_to)                                                                     \
    WEFT_RESULT_NAMED(T, key, "layers", TEXT, "both layers, such as leaf-spine; within one layer also the direction",  \
                      .flags = WEFT_RESULT_KEY),                                                                       \
        WEFT_RESULT_NAMED(T, from, "from_layer", TEXT, what_from), WEFT_RESULT_NAMED(T, to, "to_layer", TEXT, what_to)
#define WEFT_RESULT_COLUMNS(list) .column = list, .columns = sizeof(list) / sizeof *(list)
/// A table of columns that others have too: its place and other members may follow. _OF: columns of its own stand
/// behind its place.
#define WEFT_RESULT_TABLE(table, kind, what, list, ...)                                                                \
    { .name = table, .shape = WEFT_RESULT_##kind, .row = what, WEFT_RESULT_COLUMNS(list), __VA_ARGS__ }
#define WEFT_RESULT_TABLE_OF(table, kind, what, where, ...)                                                            \
    {                                                                                                                  \
        .name = table, .shape = WEFT_RESULT_##kind, .row = what, where,                                                \
        WEFT_RESULT_COLUMNS(((const struct weft_result_column[]){__VA_ARGS__}))                                        \
    }
#define WEFT_RESULT_AND(...) __VA_ARGS__ ///< a place with other members: WEFT_RESULT_AND(.next = f, .sparse = true)
#define WEFT_RESULT_SUBJECT .place = {.is = WEFT_RESULT_ITSELF} ///< one row: the answer's subject
/// 0, of a member that is a pointer; an array within the struct does not compile: it takes WEFT_RESULT_FIRST.
#define WEFT__RESULT_POINTER(T, field) (0 * sizeof(char[sizeof((T *)0)->field == sizeof(void *) ? 1 : -1]))
/// A row an element of an array: `T *field; uint32_t number;`.
#define WEFT_RESULT_EACH(T, field, number)                                                                             \
    .place = {.is = WEFT_RESULT_ELEMENTS,                                                                              \
              .pointer = offsetof(T, field) + WEFT__RESULT_POINTER(T, field),                                          \
              .count = offsetof(T, number),                                                                            \
              .size = sizeof *((T *)0)->field,                                                                         \
              .count_size = sizeof((T *)0)->number}
/// A row an element of an array that is a member, from `first` on: WEFT_RESULT_WITHIN(T, field[0], 4), or as many as
/// another member says: WEFT_RESULT_FIRST(T, field[0], number). A member that is no array is one row.
#define WEFT_RESULT_FIRST(T, first, number)                                                                            \
    .place = {.is = WEFT_RESULT_INSIDE,                                                                                \
              .pointer = offsetof(T, first),                                                                           \
              .count = offsetof(T, number),                                                                            \
              .size = sizeof((T *)0)->first,                                                                           \
              .count_size = sizeof((T *)0)->number}
#define WEFT_RESULT_WITHIN(T, first, n)                                                                                \
    .place = {.is = WEFT_RESULT_INSIDE, .pointer = offsetof(T, first), .count = n, .size = sizeof((T *)0)->first}
/// A column whose value is the row itself, an element of type T of an array: `const char *warning[n]`.
#define WEFT_RESULT_ITEM(T, key, kind, ...)                                                                            \
    {                                                                                                                  \
        .name = key, .type = WEFT_RESULT_##kind, .help = __VA_ARGS__,                                                  \
        .source = WEFT__RESULT_SOURCE(                                                                                 \
            struct { T item; }, item)                                                                                  \
    }
/// A function for WEFT_RESULT_CALL in one line: its value, of the cursor c; likewise of `row`, which is part 0 as a T.
#define WEFT_RESULT_VALUE(name, ...)                                                                                   \
    static struct weft_result_value name(struct weft_result_cursor *c) {                                               \
        return __VA_ARGS__;                                                                                            \
    }
#define WEFT_RESULT_VALUE_OF(name, T, row, ...)                                                                        \
    static struct weft_result_value name(struct weft_result_cursor *c) {                                               \
        const T *row = c->part[0];                                                                                     \
        return __VA_ARGS__;                                                                                            \
    }
static inline struct weft_result_value weft_result_words(const char *text) { ///< NULL: no value
    return (struct weft_result_value){.known = text, .text = text};
}
static inline struct weft_result_value weft_result_whole(bool known, uint64_t value) {
    return (struct weft_result_value){.known = known, .whole = value};
}
/// The same for `next`, where `upper` is the row above as a T.
#define WEFT_RESULT_NEXT(name, T, upper, ...)                                                                          \
    static bool name(struct weft_result_cursor *c) {                                                                   \
        const T *upper = c->above->part[0];                                                                            \
        return __VA_ARGS__;                                                                                            \
    }
/// For `next`: the only row, if it is there, with its parts 0 and 1; and the next of `n` elements of an array.
static inline bool weft_result_take(struct weft_result_cursor *c, const void *row, const void *more) {
    c->part[0] = row;
    c->part[1] = more;
    return row && !c->at++;
}
static inline bool weft_result_take_from(struct weft_result_cursor *c, uint64_t n, const void *array, size_t size) {
    if (c->at == n) return false;
    c->part[0] = (const char *)array + c->at++ * size;
    return true;
}
/// A function for `next` in one line: a row an element of an array; and the only row, if the pointer is not NULL.
#define WEFT_RESULT_ROWS(name, n, array)                                                                               \
    static bool name(struct weft_result_cursor *c) {                                                                   \
        return weft_result_take_from(c, n, array, sizeof *(array));                                                    \
    }
#define WEFT_RESULT_ONE(name, row)                                                                                     \
    static bool name(struct weft_result_cursor *c) {                                                                   \
        return weft_result_take(c, row, NULL);                                                                         \
    }
/// One for `present`, of the run (or subject) `run`.
#define WEFT_RESULT_PRESENT(name, ...)                                                                                 \
    static bool name(const struct weft_run *run) {                                                                     \
        return __VA_ARGS__;                                                                                            \
    }
/// The row's number in its list, from 0.
struct weft_result_value weft_result_index(struct weft_result_cursor *c);
#define WEFT_RESULT_INDEX(key, what) WEFT_RESULT_CALL(weft_result_index, key, COUNT, what, .flags = WEFT_RESULT_KEY)
/// For `merged`: always.
bool weft_result_always(const void *subject);
/// The same, in tables only: the key of rows that have no name.
#define WEFT_RESULT_NUMBER(key, what)                                                                                  \
    WEFT_RESULT_CALL(weft_result_index, key, COUNT, what, .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES)
/// The version of weft, with which the JSON of an answer begins.
struct weft_result_value weft_result_version(struct weft_result_cursor *c);
#define WEFT_RESULT_VERSION WEFT_RESULT_CALL(weft_result_version, "weft", TEXT, "version of weft")
/// A table of single values of type `item`, an array in the JSON. `place`: WEFT_RESULT_EACH(...); `also`: one more
/// member, such as .sparse = true. Keys of rows further up follow.
#define WEFT_RESULT_VALUES(symbol, path, what, place, also, item, kind, ...)                                           \
    static const struct weft_result_column symbol##_columns[] = {WEFT_RESULT_INDEX("number", "in this order, from 0"), \
                                                                 WEFT_RESULT_ITEM(item, "value", kind, what),          \
                                                                 __VA_ARGS__};                                         \
    static const struct weft_result_table symbol = {                                                                   \
        .name = path, .shape = WEFT_RESULT_ARRAY, .row = what, WEFT_RESULT_COLUMNS(symbol##_columns), place, also}
/// One row, where a pointer leads to one.
#define WEFT_RESULT_IF(T, field) .place = {.is = WEFT_RESULT_POINTED, .pointer = offsetof(T, field)}
/// A column that repeats a key of the row that these are part of: in tables only, as the JSON has it further up.
#define WEFT_RESULT_OF(T, field, kind, ...) WEFT_RESULT_ABOVE_AT(1, T, field, #field, kind, __VA_ARGS__)
/// The same of a row further up: of part[n].
#define WEFT_RESULT_ABOVE_AT(n, T, field, key, kind, ...)                                                              \
    WEFT_RESULT_AT(n, T, field, key, kind, __VA_ARGS__, .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE)

/// The same, whatever the key's source: `column` is its name there.
#define WEFT_RESULT_ABOVE_KEY(key, column, kind, ...)                                                                  \
    {                                                                                                                  \
        .name = key, .type = WEFT_RESULT_##kind, .source = WEFT_RESULT_FROM_ABOVE, .above = column,                    \
        .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE, .help = __VA_ARGS__                                              \
    }

// All tables of a run, weft_result_table_at(0) onwards, are in the order of the JSON; those that are part of others
// come behind them.
/// The tables of a run as an answer.
const struct weft_answer *weft_run_answer(void);
/// The family of a run's table: those that one page of docs/results/ shows. NULL: there is no such table.
const char *weft_result_family_at(uint32_t index);
/// Whether the run has it at all.
bool weft_result_table_present(const struct weft_result_table *table, const struct weft_run *run);
/// The same of any answer; `subject`: its data.
bool weft_answer_has(const struct weft_answer *answer, const struct weft_result_table *table, const void *subject);
/// The table that it is part of; NULL: none.
const struct weft_result_table *weft_answer_above(const struct weft_answer *answer,
                                                  const struct weft_result_table *table);
/// The table of that name, with dots or as SQLite has it; the answer's own name is its first table's. NULL: there is
/// none.
const struct weft_result_table *weft_answer_table(const struct weft_answer *answer, const char *name);
/// A table's name as SQLite and CSV have it, in `text`, which it returns.
const char *weft_answer_table_name(const struct weft_answer *answer, const struct weft_result_table *table, char *text,
                                   size_t size);
/// The same of any name.
const char *weft_result_flat(const char *name, char *text, size_t size);
/// A column's name there, in `text` or, of one made at run time, as it is. Where another column has that name already a
/// dot becomes two underscores.
const char *weft_result_flat_column(const struct weft_result_table *table, const struct weft_result_column *column,
                                    char *text, size_t size);

/// A walk over all rows of a table: of one that is part of others, over those of each in turn.
enum { WEFT_RESULT_DEPTH = 5 };
struct weft_result_walk {
    struct weft_result_cursor
        level[WEFT_RESULT_DEPTH]; ///< [depth]: the last is the table's; those before are of the tables that contain it
    uint32_t depth, open;         ///< open: levels that are at a row
};
struct weft_result_walk weft_answer_walk(const struct weft_answer *answer, const void *subject,
                                         const struct weft_result_table *table, struct weft_arena *arena);
struct weft_result_walk weft_result_walk(const struct weft_run *run, const struct weft_result_table *table,
                                         struct weft_arena *arena);
/// The next row; NULL: there is none.
struct weft_result_cursor *weft_result_next(struct weft_result_walk *walk);
struct weft_result_value weft_result_value(struct weft_result_cursor *row, const struct weft_result_column *column);
/// As text, as tables have it: whole numbers, "3,4"; "" of no value. Returns `text` or the value's own text.
const char *weft_result_text(const struct weft_result_value *value, char *text, size_t size);
/// A number as claims see it: NAN of text and of no value.
double weft_result_number(const struct weft_result_value *value);

/// As people read it: "3.21us", "64KiB", "400Gbps", "yes", "-" of no value.
const char *weft_result_shown(const struct weft_result_value *value, char *text, size_t size);

/// The answer as one JSON object.
void weft_answer_json(struct weft__json *j, const struct weft_answer *answer, const void *subject);
/// The row at hand as an object, without what is part of it.
void weft_answer_json_row(struct weft__json *j, struct weft_result_cursor *row);
/// A table of an answer, as it stands at its place in the JSON: an object or a list.
void weft_answer_json_table(struct weft__json *j, const struct weft_answer *answer,
                            const struct weft_result_table *table, const void *subject);
/// A table of an answer for people: its columns with a title, one line a row. Nothing, if it has no rows.
void weft_answer_text_table(FILE *file, const struct weft_answer *answer, const struct weft_result_table *table,
                            const void *subject);
/// A table as comma-separated values: a line of names, then one a row.
void weft_answer_csv(FILE *file, const struct weft_answer *answer, const struct weft_result_table *table,
                     const void *subject);
/// The names of its columns, and the values of a row, to the end of the line; `first`: nothing is before them.
void weft_answer_csv_names(FILE *file, const struct weft_result_table *table, bool first);
void weft_answer_csv_row(FILE *file, struct weft_result_cursor *row, bool first);
/// All tables as an SQLite database; it takes the place of a file of that name when it is complete.
enum weft_status weft_answer_sqlite(const char *path, const struct weft_answer *answer, const void *subject,
                                    struct weft_error *ret_error);

/// What a path in the JSON of a run leads to.
struct weft_result_found {
    const struct weft_result_column *column; ///< NULL: to no value
    struct weft_result_value value;
    uint32_t parts;          ///< that led somewhere
    const char *name[64];    ///< what could stand there instead
    uint32_t names, entries; ///< entries: it is a list of so many
};
/// Looks up figures of an answer; caches resolved names in `arena`.
struct weft_result_finder {
    const struct weft_answer *answer;
    const void *subject;
    struct weft_arena *arena;
    void **state;
};
struct weft_result_finder weft_answer_finder(const struct weft_answer *answer, const void *subject,
                                             struct weft_arena *arena);
struct weft_result_finder weft_result_finder(const struct weft_run *run, struct weft_arena *arena);
/// A path such as {"groups", "victims", "fct_ps", "mean"}. An entry of a list is named by its number or by a text among
/// its keys; "count" in its place is how many there are.
struct weft_result_found weft_result_find(const struct weft_result_finder *finder, const char *const *part,
                                          uint32_t parts);
/// What could stand in place of a path that leads to no figure, by the names that users write: `did you mean
/// "victims.fct.p99"?` or `expected a figure such as victims.fct.mean, ...`, in `text`.
void weft_result_expected(const struct weft_run *run, const char *const *part, uint32_t parts, char *text, size_t size);
/// The column that a path leads to whatever keys (names of groups, numbers) there are; NULL: to none. A part that is a
/// column's name of version 1 becomes its name.
const struct weft_result_column *weft_answer_column_of(const struct weft_answer *answer, const char **part,
                                                       uint32_t parts, struct weft_arena *arena);
const struct weft_result_column *weft_result_column_of(const char **part, uint32_t parts, struct weft_arena *arena);
