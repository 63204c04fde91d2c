// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CLI_VERIFY_H
#define WEFT_CLI_VERIFY_H

#include <stdio.h>
#include <sys/types.h>

#include "claims.h"

/// A scenario whose claims are verified.
struct verified {
    const char *path, *name;
    uint64_t seed;        ///< with --seeds
    const char **setting; ///< of its runs
    uint32_t settings;
    struct weft_scenario_file *file;
    struct weft_cli_claims claims;
    uint32_t variants;       ///< that are run
    enum weft_status status; ///< the first of its runs that went wrong
    struct verified *next;
};

/// A variant to run.
struct verify_task {
    struct verified *scenario;
    uint32_t variant;
    pid_t pid;       ///< 0: not running
    FILE *out, *err; ///< what it prints
    struct verify_task *next;
};

struct verify {
    const struct weft_cli_options *o;
    struct verified *first, **last;
    struct verify_task *task, **last_task;
    uint32_t tasks, jobs;
    uint32_t seeds; ///< scenarios come so many times in a row, once for each; 0: once, with whatever seed they have
    uint64_t *seed;
    uint32_t without; ///< files without claims
};

/// "1..5,7" into v->seed, in the arena of the options; false and a message: it is not understood.
bool verify_seeds_parse(struct verify *v, const char *text);
/// What holds with how many seeds: a table, and each claim that does not with all of them.
void verify_seeds_print(const struct verify *v);
/// Whether a claim that is to hold with some seeds holds with none, or with all.
bool verify_seeds_unexpected(const struct verify *v);

/// Runs every task, `jobs` at a time; values go to the claims, what went wrong to standard error and the scenario's
/// status. SYSTEM if it was interrupted.
enum weft_status verify_run(struct verify *v, struct weft_error *ret_error);

#endif
