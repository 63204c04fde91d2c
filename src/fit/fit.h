// SPDX-License-Identifier: Apache-2.0
// What the parts of a fit share.
#pragma once

#include "weft/fit.h"
#include "weft/nccl.h"

/// The names of collectives in all these files, and what runs them.
struct weft__fit_collective {
    const char *name, *inspector, *model; ///< model: as a scenario has it; NULL: refused
    uint32_t function;                    ///< enum weft_nccl_function; WEFT_NONE: none of NCCL's
};
/// "all_reduce", "AllReduce", "allreduce_perf"; NULL: no such collective.
const struct weft__fit_collective *weft__fit_collective(const char *name);
/// The names of all of them, in `text`.
void weft__fit_collective_names(char *text, size_t size);

/// Reads key=value and what nccl-tests prints from a comment. Returns the first pair that says nothing, or NULL.
const char *weft__fit_comment(struct weft_fit_setup *setup, const char *text, struct weft_place place,
                              struct weft_arena *arena);
/// Adds the tables of a file, and their rows.
enum weft_status weft__fit_read(const struct weft_fit_conf *conf, const char *path, struct weft_fit *fit,
                                struct weft_error *ret_error);
/// Marks what is no measurement, and what is held out.
enum weft_status weft__fit_sort_out(const struct weft_fit_conf *conf, struct weft_fit *fit,
                                    struct weft_error *ret_error);

/// The table's scenario.
enum weft_status weft__fit_scenario(const struct weft_fit_conf *conf, struct weft_fit *fit,
                                    struct weft_fit_table *table, struct weft_error *ret_error);
/// Runs all tables with the constants as they are at `at`; logarithms of times, in us, by row. `wanted`: only the times
/// of these rows; NULL: of all.
enum weft_status weft__fit_run(const struct weft_fit_conf *conf, struct weft_fit *fit, const bool *wanted,
                               double *ret_log, struct weft_error *ret_error);
/// The constants, as the server of the first table has them.
enum weft_status weft__fit_constants(const struct weft_fit_conf *conf, struct weft_fit *fit,
                                     struct weft_error *ret_error);
/// Finds them.
enum weft_status weft__fit_solve(const struct weft_fit_conf *conf, struct weft_fit *fit, double *log_time,
                                 struct weft_error *ret_error);
/// What would explain the differences of times by the class.
enum weft_status weft__fit_causes(const struct weft_fit_conf *conf, struct weft_fit *fit, const double *log_time,
                                  struct weft_error *ret_error);
/// Judges the predictions.
void weft__fit_judge(struct weft_fit *fit, const double *log_time);
