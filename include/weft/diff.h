// SPDX-License-Identifier: Apache-2.0
// Two results side by side: what differs in their configuration, then in their figures. Runs are paired by variant and
// seed; with several seeds a figure is the mean over those that both have, and a difference is told from noise
// (weft/statistics.h).
#pragma once

#include <stdio.h>

#include "weft/error.h"
#include "weft/memory.h"
#include "weft/rows.h"
#include "weft/statistics.h"

struct weft_diff_side {
    const char *dir;
    const char *variant; ///< NULL: all
};

struct weft_diff_options {
    struct weft_diff_side side[2]; ///< folders that --out of run or compare has written, or both of sweep
    const char *table;             ///< only its figures; NULL: all but those with a row a flow, a port or an event
};

/// A parameter with another value; NULL: the configuration does not have it.
struct weft_diff_setting {
    const char *path, *value[2];
};

/// A number that differs with some seed.
struct weft_diff_figure {
    const char *table, *row, *column; ///< row: the values of its keys, "" if the table has one row
    enum weft_result_type type;
    double mean[2];
    uint32_t seeds;                  ///< that have it on both sides
    enum weft_difference difference; ///< UNKNOWN with fewer than two seeds
    struct weft_spread change;       ///< of the second less the first
};

/// Rows that one side has and the other has not.
struct weft_diff_missing {
    const char *table;
    uint32_t rows[2]; ///< only there
};

/// Runs of a variant of the first side, and those of the second with the same seeds.
struct weft_diff_pair {
    const char *variant[2];
    const uint64_t *seed;  ///< of the first side's
    uint32_t seeds, equal; ///< equal: with so many seeds the digests are
    struct weft_diff_setting *setting;
    struct weft_diff_figure *figure;
    struct weft_diff_missing *missing;
    uint32_t settings, figures, missings;
    uint64_t compared; ///< figures looked at
};

struct weft_diff {
    struct weft_diff_part {
        const char *dir, *made_by; ///< "weft 0.1.0 (e42c493695)"
        const char **only;         ///< variants that the other side has not
        uint32_t onlys;
    } side[2];
    struct weft_diff_pair *pair;
    uint32_t pairs;
};

/// All of it in `arena`. Errors (WEFT_ERROR_INPUT): a folder without results, results of another version of weft's
/// tables, nothing to pair, no such variant or table.
enum weft_status weft_diff_new(const struct weft_diff_options *options, struct weft_arena *arena,
                               struct weft_diff **ret_diff, struct weft_error *ret_error);
/// No setting and no figure differs, and every run has its like.
bool weft_diff_is_equal(const struct weft_diff *diff);
/// For people: of the figures of a pair the `most` that change most.
void weft_diff_print(FILE *file, const struct weft_diff *diff, uint32_t most);
extern const struct weft_answer weft__answer_diff; ///< weft/result.h; its subject is a struct weft_diff
