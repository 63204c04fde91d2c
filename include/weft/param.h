// SPDX-License-Identifier: Apache-2.0
// A parameter is one row. From the row come the default, parsing with a mandatory unit, the range check, the help of
// `weft models`, the JSON schema and the effective configuration stored with every result. Defaults and bounds are text
// and go through the same parser as the user's text.
//
//   const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
//       "dcqcn", struct dcqcn_conf, .check = dcqcn_check,
//       WEFT_TIME(struct dcqcn_conf, alpha_timer_ps, "alpha_timer", "55us", "1us", "10ms", "decay alpha if no CNP
//       ..."));
#pragma once

#include <stddef.h>

#include "weft/error.h"
#include "weft/types.h"

struct weft_arena;
struct weft_param_table;
struct weft_tree;

enum weft_param_type {
    WEFT_PARAM_TIME,   ///< uint64_t ps.        "150ns", "55us"; units ps ns us ms s; "never" where max is "never"; the
                       ///< word of `choices`
    WEFT_PARAM_RATE,   ///< uint64_t bit/s.     "200Gbps"; units bps kbps Mbps Gbps Tbps
    WEFT_PARAM_BYTES,  ///< uint64_t bytes.     "4096B", "200KB" (1000), "2MiB" (1024)
    WEFT_PARAM_UINT,   ///< uint64_t.           "5"
    WEFT_PARAM_REAL,   ///< double.             "0.00390625", "1/256", "1%"; no unit
    WEFT_PARAM_BOOL,   ///< bool.               true | false | on | off | yes | no
    WEFT_PARAM_CHOICE, ///< uint32_t index into `choices`
    WEFT_PARAM_TEXT,   ///< const char * in the arena, of one line. A YAML list of texts is joined with ","
    WEFT_PARAM_PROSE,  ///< likewise, of several lines perhaps
    WEFT_PARAM_PRIORITIES, ///< uint8_t bit mask.   [3, 4] or "3,4" or "0-6" or all or none
    WEFT_PARAM_WEIGHTS,    ///< uint64_t[8], one a priority. [1,1,1,4,1,1,1,1]; a single number stands for all eight
    WEFT_PARAM_DSCP_MAP,   ///< uint8_t[64] -> priority. {24: 3, 48: 7}; unnamed code points get the class dscp >> 3
    WEFT_PARAM_MODEL,      ///< struct weft_model_conf. "dcqcn" or {kind: dcqcn, g: 1/256}
    WEFT_PARAM_SECTION,    ///< a struct inside the struct, with its own table
};

struct weft_param {
    const char *name;
    enum weft_param_type type;
    uint32_t model_kind; ///< for WEFT_PARAM_MODEL: enum weft_model_kind
    size_t offset;
    const char *dflt; ///< NULL: the user must give it
    const char *min, *max;
    const char *help;                     ///< one line; says "assumed" where the number is assumed rather than known
    const char *const *choices;           ///< for WEFT_PARAM_CHOICE, NULL-terminated; for TIME a word for "never"
    const struct weft_param_table *table; ///< for WEFT_PARAM_SECTION
    bool beside; ///< for WEFT_PARAM_MODEL: its parameters may stand beside it, as if they were those of this table
    const char *needs; ///< optional: "a", "a or b", "a: x": parameters of the same table by which it has an
                       ///< effect; refused where none of them is said, nor x the default of a (beside a kind: x alone)
    /// Optional, of a number: a text that begins with no digit is a value of this TEXT parameter of the same table, or
    /// the word `choices`[0], which is its default.
    const char *otherwise;
};

/// Values that a source gives together, under a name that the user chooses by the row "preset" (a CHOICE). What the
/// user says of a row holds before them, and they before its default. A dotted key reaches into a section or a model
/// ("pfc.reaction", "buffer.kind"); another kind of model named by the user drops what the preset says of its own.
struct weft_param_preset {
    const char *name;
    const struct weft_param_value { const char *key, *text; } * value; ///< ends with a key that is NULL
};

/// Rows (TEXT) by whose values a user names a class, which sets many rows at once: "chip" of a switch. Its values hold
/// below what the user and the preset say, and above defaults; those of a model that is not in use are left out.
struct weft_param_classes {
    const char *const *rows; ///< their names, and NULL
    /// The values of the class that `named`, a text, names in `row`, as of a preset; NULL: none. Errors begin with
    /// `path`.
    enum weft_status (*find)(const struct weft_param_table *table, const char *row, const struct weft_tree *named,
                             const char *path, struct weft_arena *arena, const struct weft_param_value **ret_value,
                             struct weft_error *ret_error);
};

struct weft_param_table {
    const char *name;
    const struct weft_param *rows;
    uint32_t n;
    size_t conf_size;
    /// Optional: checks between parameters (XON above XOFF). Returns NULL or what is wrong, naming keys and values.
    const char *(*check)(const void *conf, char *text, size_t size);
    /// Optional, NULL-terminated: keys that the loader leaves alone, because the model reads them from the tree itself.
    const char *const *lists;
    /// Optional, the same for keys with a map from names to models of the kind that this model is of itself.
    const char *const *models;
    /// Optional, ends with a name that is NULL. The row "preset" has these names, after one for none of them.
    const struct weft_param_preset *presets;
    const struct weft_param_classes *classes; ///< optional
};

// After the help may come .needs = "key".
/// Quantities are stored as 8 bytes: a field of another size does not compile.
#define WEFT__IS_QUANTITY(kind)                                                                                        \
    ((kind) == WEFT_PARAM_TIME || (kind) == WEFT_PARAM_RATE || (kind) == WEFT_PARAM_BYTES ||                           \
     (kind) == WEFT_PARAM_UINT || (kind) == WEFT_PARAM_REAL)
#define WEFT__OFFSET(T, field, kind)                                                                                   \
    (offsetof(T, field) + 0 * sizeof(char[!WEFT__IS_QUANTITY(kind) || sizeof(((T *)0)->field) == 8 ? 1 : -1]))
#define WEFT__ROW(T, field, key, kind, ...)                                                                            \
    { .name = key, .type = kind, .offset = WEFT__OFFSET(T, field, kind), __VA_ARGS__ }
#define WEFT__RANGE(T, field, key, kind, least, most, dflt_, ...)                                                      \
    WEFT__ROW(T, field, key, kind, .dflt = dflt_, .min = least, .max = most, .help = __VA_ARGS__)
#define WEFT_TIME(T, field, key, dflt, lo, hi, ...)                                                                    \
    WEFT__RANGE(T, field, key, WEFT_PARAM_TIME, lo, hi, dflt, __VA_ARGS__)
/// A time, or a word that says where it comes from (`words`: that one, then NULL), stored as WEFT_TIME_NEVER.
#define WEFT_TIME_OR(T, field, key, words, dflt, lo, hi, ...)                                                          \
    WEFT__RANGE(T, field, key, WEFT_PARAM_TIME, lo, hi, dflt, __VA_ARGS__, .choices = words)
#define WEFT_RATE(T, field, key, dflt, lo, hi, ...)                                                                    \
    WEFT__RANGE(T, field, key, WEFT_PARAM_RATE, lo, hi, dflt, __VA_ARGS__)
#define WEFT_BYTES(T, field, key, dflt, lo, hi, ...)                                                                   \
    WEFT__RANGE(T, field, key, WEFT_PARAM_BYTES, lo, hi, dflt, __VA_ARGS__)
#define WEFT_UINT(T, field, key, dflt, lo, hi, ...)                                                                    \
    WEFT__RANGE(T, field, key, WEFT_PARAM_UINT, lo, hi, dflt, __VA_ARGS__)
/// A number, `word`, or a value of the TEXT parameter `other`.
#define WEFT_UINT_OR(T, field, key, word, other, dflt, lo, hi, ...)                                                    \
    WEFT__RANGE(T, field, key, WEFT_PARAM_UINT, lo, hi, dflt, __VA_ARGS__, .choices = word, .otherwise = other)
#define WEFT_REAL(T, field, key, dflt, lo, hi, ...)                                                                    \
    WEFT__RANGE(T, field, key, WEFT_PARAM_REAL, lo, hi, dflt, __VA_ARGS__)
#define WEFT_WEIGHTS(T, field, key, dflt, lo, hi, ...)                                                                 \
    WEFT__RANGE(T, field, key, WEFT_PARAM_WEIGHTS, lo, hi, dflt, __VA_ARGS__)
#define WEFT_BOOL(T, field, key, dflt, ...) WEFT__RANGE(T, field, key, WEFT_PARAM_BOOL, NULL, NULL, dflt, __VA_ARGS__)
#define WEFT_TEXT(T, field, key, dflt, ...) WEFT__RANGE(T, field, key, WEFT_PARAM_TEXT, NULL, NULL, dflt, __VA_ARGS__)
#define WEFT_PROSE(T, field, key, dflt, ...) WEFT__RANGE(T, field, key, WEFT_PARAM_PROSE, NULL, NULL, dflt, __VA_ARGS__)
#define WEFT_PRIORITY_SET(T, field, key, dflt, ...)                                                                    \
    WEFT__RANGE(T, field, key, WEFT_PARAM_PRIORITIES, NULL, NULL, dflt, __VA_ARGS__)
#define WEFT_DSCP_MAP(T, field, key, dflt, ...)                                                                        \
    WEFT__RANGE(T, field, key, WEFT_PARAM_DSCP_MAP, NULL, NULL, dflt, __VA_ARGS__)
#define WEFT_CHOICE(T, field, key, dflt_, names, ...)                                                                  \
    WEFT__ROW(T, field, key, WEFT_PARAM_CHOICE, .dflt = dflt_, .choices = names, .help = __VA_ARGS__)
#define WEFT_MODEL_PARAM(T, field, key, kind, dflt_, ...)                                                              \
    WEFT__ROW(T, field, key, WEFT_PARAM_MODEL, .model_kind = kind, .dflt = dflt_, .help = __VA_ARGS__)
#define WEFT_MODEL_BESIDE(T, field, key, kind, dflt_, ...)                                                             \
    WEFT__ROW(T, field, key, WEFT_PARAM_MODEL, .model_kind = kind, .dflt = dflt_, .beside = true, .help = __VA_ARGS__)
#define WEFT_SECTION(T, field, key, section, ...)                                                                      \
    WEFT__ROW(T, field, key, WEFT_PARAM_SECTION, .dflt = "", .table = section, .help = __VA_ARGS__)
#define WEFT_PARAM_ROWS(list) .rows = list, .n = sizeof(list) / sizeof *(list)
/// A table: other members may follow. _OF: rows of its own stand behind the other members.
#define WEFT_PARAM_TABLE(title, T, list, ...)                                                                          \
    { .name = title, .conf_size = sizeof(T), WEFT_PARAM_ROWS(list), __VA_ARGS__ }
#define WEFT_PARAM_TABLE_OF(title, T, more, ...)                                                                       \
    { .name = title, .conf_size = sizeof(T), more, WEFT_PARAM_ROWS(((const struct weft_param[]){__VA_ARGS__})) }
#define WEFT_PARAM_UNCHECKED .check = NULL ///< there are no other members
#define WEFT_PARAM_AND(...) __VA_ARGS__    ///< several: WEFT_PARAM_AND(.check = f, .lists = keys)
