// SPDX-License-Identifier: Apache-2.0
// Runs a scenario again to find where time went, for weft why and weft report.
#pragma once

#include "simulation.h"
#include "weft/why.h"

/// `jobs` gives the slowest operations of at most this many groups of remote memory access.
enum { WEFT_CLI_WHY_GROUPS = 32 };

/// What of a run must be explained.
struct weft_cli_why_wanted {
    const char *flow;            ///< a number; NULL: none
    uint32_t slowest;            ///< this many flows
    const char *group;           ///< its 99th percentile and its median; NULL: none
    const char *job, *iteration; ///< iteration NULL: the longest; job NULL: none
    const char *rma; ///< for a group of remote memory access, like `group`, or like `slowest` if that is given; NULL:
                     ///< none
    bool jobs;       ///< for every job, its last complete iteration; for groups of remote memory access, the slowest
    bool as_it_is;   ///< unfinished ones are omitted, without an error
};

struct weft_cli_why {
    struct weft_cli_simulation first, second;
    struct weft_run run; ///< of the first
    struct weft_follow follow, others;
    uint32_t *flow, *job, *number; ///< of the run: chosen flows; jobs and their iterations
    const char *const *title;      ///< why each flow or operation was chosen; NULL: it was asked for
    struct weft_why_answer found;
};

/// The first run shows which flows there are and what they did, the second what was in their way. Deinit it whatever it
/// returns; its results are in `arena`. If the run does not repeat the stored one (`stored->digest`, unless NULL):
/// WEFT_ERROR_CLAIM.
enum weft_status weft_cli_why_explain(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      uint32_t variant, const struct weft_stored *stored,
                                      const struct weft_cli_why_wanted *wanted, struct weft_arena *arena,
                                      struct weft_cli_why *ret, struct weft_error *ret_error);
/// What the jobs of a scenario cost one another; likewise.
enum weft_status weft_cli_why_jobs(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   uint32_t variant, const struct weft_stored *stored, struct weft_arena *arena,
                                   struct weft_cli_why *ret, struct weft_error *ret_error);
/// Runs a job while the others never start, as long as beside them (`with`) and half as long again.
enum weft_status weft_cli_why_alone(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                    uint32_t variant, const struct weft_run *with, uint32_t job,
                                    struct weft_ledger_job *ret_job, struct weft_error *ret_error);
void weft_cli_why_deinit(struct weft_cli_why *why);

/// Part i of a step with all others of its kind and place, if it is the largest of them (else false): their time, and
/// how many others there are.
bool weft_cli_why_together(const struct weft_why_step *step, uint32_t i, weft_time_ps *ret_time, uint32_t *ret_others);
/// The shortest step of the `shown` longest ones.
weft_time_ps weft_cli_why_shown_from(const struct weft_why_iteration *why, uint32_t shown, struct weft_arena *arena);

/// Everything for the page of a report: {"flows", "iterations", "operations"}. Of a flow or an operation only the
/// longest parts, and the others summed; of an iteration only the longest steps, with parts of at least 1% of it.
void weft_cli_why_json_page(struct weft__json *j, struct weft_cli_why *why, struct weft_arena *arena);
