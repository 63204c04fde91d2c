// SPDX-License-Identifier: Apache-2.0
// Starts each run as a process and keeps several running at a time. Verify and sweep share this.
#ifndef WEFT_CLI_PROCESSES_H
#define WEFT_CLI_PROCESSES_H

#include <stdio.h>

#include "cli.h"

/// How a run ended.
struct weft_cli_ended {
    enum weft_status status; ///< its exit status if it is one of a simulation; else SYSTEM
    int signal;              ///< that ended it; 0: none
    FILE *out, *err;         ///< what it printed
};

struct weft_cli_processes {
    const char *name; ///< of the command, for the progress
    uint32_t runs;    ///< numbered from 0
    uint32_t at_a_time;
    bool quiet;              ///< no progress
    weft_time_ps timeout_ps; ///< SIGALRM ends a run after so much wall time; 0: no limit
    /// What a run costs, in any unit: the dearest begin first, so that none is left alone at the end. NULL: all the
    /// same, and begun in order.
    double (*cost)(void *context, uint32_t run);
    bool (*is_done)(void *context, uint32_t run); ///< it needs no process; asked before it would begin
    int (*work)(void *context, uint32_t run);     ///< in the process; returns its exit status, or executes a program
    void (*on_end)(void *context, uint32_t run, const struct weft_cli_ended *ended);
    void *context;

    bool interrupted; ///< Ctrl-C or SIGTERM ended it; the runs of that moment have ended before
    uint32_t known;   ///< were done already
};
/// Runs them all, or until it is interrupted. The error is of what keeps every run from beginning.
enum weft_status weft_cli_processes_run(struct weft_cli_processes *p, struct weft_error *ret_error);
/// All of what a run printed, with a 0 behind it, in `arena`.
char *weft_cli_printed(FILE *file, struct weft_arena *arena, size_t *ret_size);
/// --jobs N; NULL: one job for each processor that this process may use. False: a message was printed.
bool weft_cli_jobs_parse(const char *text, uint32_t *ret_jobs);
/// --seeds LIST, such as 1..5 or 1,2,7. False: a message was printed.
bool weft_cli_seeds_parse(const char *text, struct weft_arena *arena, uint64_t **ret_seed, uint32_t *ret_seeds);

#endif
