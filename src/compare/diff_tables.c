// SPDX-License-Identifier: Apache-2.0
// Two results side by side as rows.
#include "weft/diff.h"
#include "weft/result.h"

WEFT_RESULT_VALUE(is_equal, weft_result_whole(true, weft_diff_is_equal(c->subject)))

static const struct weft_result_table diff_table =
    WEFT_RESULT_TABLE_OF("diff", OBJECT, "two results side by side", WEFT_RESULT_SUBJECT,
                         WEFT_RESULT_CALL(is_equal, "equal", BOOL,
                                          "whether no parameter and no figure differs, and every run has its like"));

static const struct weft_result_column side_columns[] = {
    WEFT_RESULT(struct weft_diff_part, dir, TEXT, "folder of the results"),
    WEFT_RESULT(struct weft_diff_part, made_by, TEXT, "version of weft that made the runs"),
};
static const struct weft_result_table a_table =
    WEFT_RESULT_TABLE("a", OBJECT, "the first side", side_columns, WEFT_RESULT_WITHIN(struct weft_diff, side[0], 1));
static const struct weft_result_table b_table =
    WEFT_RESULT_TABLE("b", OBJECT, "the second side", side_columns, WEFT_RESULT_WITHIN(struct weft_diff, side[1], 1));
#define ONLY WEFT_RESULT_EACH(struct weft_diff_part, only, onlys)
WEFT_RESULT_VALUES(a_only_table, "a.only", "a variant that the second side has not", ONLY, .sparse = false,
                   const char *, TEXT, );
WEFT_RESULT_VALUES(b_only_table, "b.only", "a variant that the first side has not", ONLY, .sparse = false, const char *,
                   TEXT, );

// --- pairs of runs ------------------------------------------------------------------------------------------------

#define PAIR(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_diff_pair, field, key, kind, __VA_ARGS__)
static const struct weft_result_table pairs_table =
    WEFT_RESULT_TABLE_OF("pairs", LIST, "a variant of each side, with the seeds that both have",
                         WEFT_RESULT_EACH(struct weft_diff, pair, pairs),
                         PAIR(variant[0], "variant_a", TEXT, "variant of the first side", .flags = WEFT_RESULT_KEY),
                         PAIR(variant[1], "variant_b", TEXT, "variant of the second side", .flags = WEFT_RESULT_KEY),
                         PAIR(equal, "equal_digests", COUNT, "seeds with which the digests are equal"),
                         PAIR(compared, "compared", COUNT, "figures compared"));
#define PAIR_KEYS                                                                                                      \
    WEFT_RESULT_ABOVE_AT(1, struct weft_diff_pair, variant[0], "variant_a", TEXT, "variant of the first side"),        \
        WEFT_RESULT_ABOVE_AT(1, struct weft_diff_pair, variant[1], "variant_b", TEXT, "variant of the second side")
WEFT_RESULT_VALUES(seeds_table, "pairs.seeds", "a seed that both sides have",
                   WEFT_RESULT_EACH(struct weft_diff_pair, seed, seeds), .sparse = false, uint64_t, COUNT, PAIR_KEYS);

#define SETTING(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_diff_setting, field, key, kind, __VA_ARGS__)
static const struct weft_result_table config_table = WEFT_RESULT_TABLE_OF(
    "pairs.config", LIST, "a parameter that differs", WEFT_RESULT_EACH(struct weft_diff_pair, setting, settings),
    PAIR_KEYS, SETTING(path, "path", TEXT, "path of the parameter", .flags = WEFT_RESULT_KEY),
    SETTING(value[0], "a", TEXT, "value on the first side; none: the parameter is not there"),
    SETTING(value[1], "b", TEXT, "value on the second side; none: the parameter is not there"));

#define MISSING(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_diff_missing, field, key, kind, __VA_ARGS__)
static const struct weft_result_table only_table =
    WEFT_RESULT_TABLE_OF("pairs.only", LIST, "a table with rows that one side has alone",
                         WEFT_RESULT_EACH(struct weft_diff_pair, missing, missings), PAIR_KEYS,
                         MISSING(table, "table", TEXT, "table of results", .flags = WEFT_RESULT_KEY),
                         MISSING(rows[0], "rows_a", COUNT, "rows that only the first side has"),
                         MISSING(rows[1], "rows_b", COUNT, "rows that only the second side has"));

WEFT_RESULT_VALUE_OF(figure_unit, struct weft_diff_figure, f, weft_result_words(weft_result_types[f->type].unit))

static struct weft_result_value figure_difference(struct weft_result_cursor *c) {
    static const char *const word[] = {
        [WEFT_DIFFERENCE_UNKNOWN] = NULL, [WEFT_DIFFERENCE_NOISE] = "noise", [WEFT_DIFFERENCE_REAL] = "real"};
    const char *text = word[((const struct weft_diff_figure *)c->part[0])->difference];
    return (struct weft_result_value){.known = text, .text = text};
}

#define FIGURE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_diff_figure, field, key, kind, __VA_ARGS__)
static const struct weft_result_table figures_table = WEFT_RESULT_TABLE_OF(
    "pairs.figures", LIST, "a figure that differs", WEFT_RESULT_EACH(struct weft_diff_pair, figure, figures), PAIR_KEYS,
    FIGURE(table, "table", TEXT, "table of results", .flags = WEFT_RESULT_KEY),
    FIGURE(row, "row", TEXT, "keys of the row; empty: the table has one", .flags = WEFT_RESULT_KEY),
    FIGURE(column, "column", TEXT, "name of the figure", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(figure_unit, "unit", TEXT, "unit of the figure"),
    FIGURE(mean[0], "a", REAL, "the figure on the first side, mean over seeds"),
    FIGURE(mean[1], "b", REAL, "the figure on the second side, mean over seeds"),
    FIGURE(seeds, "seeds", COUNT, "seeds with which both sides have it"),
    WEFT_RESULT_CALL(figure_difference, "difference", TEXT,
                     "noise or real; none: with one seed nothing is known of noise"),
    FIGURE(change.mean, "change", REAL, "the second less the first, mean over seeds", .flags = WEFT_RESULT_SPARSE),
    FIGURE(change.half, "change_half", REAL, "half of the 95% interval of that mean", .flags = WEFT_RESULT_SPARSE));

const struct weft_answer weft__answer_diff =
    WEFT_ANSWER_OF("diff", "weft diff: two results side by side", &diff_table, &a_table, &a_only_table, &b_table,
                   &b_only_table, &pairs_table, &seeds_table, &config_table, &only_table, &figures_table);
