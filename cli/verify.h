// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CLI_VERIFY_H
#define WEFT_CLI_VERIFY_H

#include <stdio.h>
#include <sys/types.h>

#include "claims.h"

/// A scenario whose claims are verified.
struct verified {
    const char *path, *name;
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
    uint32_t without; ///< files without claims
};

/// Runs every task, `jobs` at a time; values go to the claims, what went wrong to standard error and the scenario's
/// status. SYSTEM if it was interrupted.
enum weft_status verify_run(struct verify *v, struct weft_error *ret_error);

#endif
