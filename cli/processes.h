// SPDX-License-Identifier: Apache-2.0
// Starts each run as a process and keeps several running at a time. Verify and sweep share this.
#pragma once

#include <stdio.h>

#include "cli.h"

/// How a run ended.
struct weft_cli_ended {
    enum weft_status status; ///< its exit status if that is one of a simulation; else SYSTEM
    int signal;              ///< the signal that ended it; 0: none
    FILE *out, *err;         ///< what it printed
};

struct weft_cli_processes {
    const char *name; ///< the command's, for the progress line
    uint32_t runs;    ///< numbered from 0
    uint32_t at_a_time;
    bool quiet;              ///< no progress
    weft_time_ps timeout_ps; ///< SIGALRM ends a run after this wall time; 0: no limit
    /// The cost of a run, in any unit: the most expensive start first, so that none is left alone at the end. NULL: all
    /// cost the same and start in order.
    double (*cost)(void *context, uint32_t run);
    bool (*is_done)(void *context, uint32_t run); ///< needs no process; called before it would start
    int (*work)(void *context, uint32_t run);     ///< runs in the process; returns its exit status, or executes a
                                                  ///< program
    /// Whether it is so short that one process makes several such runs, one after another. NULL: none is.
    bool (*is_short)(void *context, uint32_t run);
    void (*on_end)(void *context, uint32_t run, const struct weft_cli_ended *ended);
    void *context;

    bool interrupted; ///< Ctrl-C or SIGTERM ended it; all runs of that moment have ended
    uint32_t known;   ///< runs that were already done
};
/// Runs all of them, until it is interrupted. The error is one that prevents every run from starting.
enum weft_status weft_cli_processes_run(struct weft_cli_processes *p, struct weft_error *ret_error);
/// Everything that a run printed, followed by a 0, in `arena`.
char *weft_cli_printed(FILE *file, struct weft_arena *arena, size_t *ret_size);
/// --jobs N; NULL: one job per processor available to this process. False: a message was printed.
bool weft_cli_jobs_parse(const char *text, uint32_t *ret_jobs);
/// --seeds LIST, such as 1..5 or 1,2,7. False: a message was printed.
bool weft_cli_seeds_parse(const char *text, struct weft_arena *arena, uint64_t **ret_seed, uint32_t *ret_seeds);
/// --budget N|TIME: a number of runs or seconds of wall time; 0: no limit. NULL: neither.
enum weft_status weft_cli_budget_parse(const char *text, uint32_t *ret_runs, double *ret_seconds,
                                       struct weft_error *ret_error);
