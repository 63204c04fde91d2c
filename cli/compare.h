// SPDX-License-Identifier: Apache-2.0
// weft compare in parts: the command (compare.c), and its runs, one after the other or several at the same time
// (compare_run.c).
#pragma once

#include "claims.h"

struct compare {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    uint32_t n, seeds; ///< variants to run, and seeds for each
    uint32_t *variant; ///< their numbers in the file
    uint64_t *seed;    ///< NULL: only the scenario's own
    uint32_t jobs;
    uint32_t ran;                  ///< of n * seeds runs, how many were started
    struct weft_cli_simulation *s; ///< [n][seeds]
    struct weft_run *run;          ///< likewise
    struct weft_memory **memory;   ///< [n * seeds]: the memory of a run that ran in parallel; NULL: the command's own
    struct weft_cli_claims claims;
    const struct weft_result_table *table;     ///< NULL: collectives as nccl-tests prints them
    const struct weft_result_table *of_claims; ///< of --csv: claims or a table below them; NULL: a table of the runs
};

/// Builds run `i`.
enum weft_status compare_prepare(struct compare *c, uint32_t i, struct weft_error *ret_error);
/// Runs until the user interrupts. Returns the status and the error of the most serious end.
enum weft_status compare_run(struct compare *c, struct weft_error *ret_error);
