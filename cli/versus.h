// SPDX-License-Identifier: Apache-2.0
// weft versus in parts: the job (versus_job.c), the fabrics (versus_fabrics.c), the whole (versus.c).
#pragma once

#include <stdio.h>

#include "sweep.h"
#include "weft/versus.h"

/// What runs on every fabric.
struct versus_job {
    const char *path;             ///< NULL: none, only a battery
    const struct weft_tree *work; ///< its sections; NULL: none
    const struct weft_tree *run, *goodput;
    uint64_t hosts; ///< in the job's own network; 0: it has none
    weft_rate_bps rate_bps;
    const char **ignored; ///< sections that fabrics set themselves
    uint32_t n_ignored;
};
/// Reads a scenario, a file with only `workload:`, or a file of another tool.
enum weft_status versus_job_read(const struct weft_cli_options *o, struct versus_job *ret_job,
                                 struct weft_error *ret_error);

/// The cases requested: sizes of collectives, "1KiB..64MiB"; names, "moe*,incast". NULL: all.
struct versus_battery {
    const char *name, *sizes, *cases;
};
/// Adds the cases of a battery after the existing ones.
enum weft_status versus_battery_add(const struct versus_battery *battery, struct weft_versus *v,
                                    struct weft_arena *arena, struct weft_error *ret_error);

/// For each case without failures, adds cases in which one assumed number is halved or doubled, or at an end of its
/// band; `bands`: only numbers that have one.
enum weft_status versus_assumptions_add(const struct weft_cli_options *o, struct weft_versus *v, bool bands,
                                        struct weft_error *ret_error);
/// Whether the notes of ranks in a run fit into memory; if not, the last flow to finish is explained.
bool versus_why_has_room(const struct weft_workload *workload);
/// Where the time went of the longest iteration of the slowest job, or of the flow that finished last: [*ret_n]. Runs
/// twice more: with the flows of the critical path followed, then with all that its ports send. `ranks`: followed in
/// the run that was measured, or NULL.
struct weft_sweep_kept *versus_why(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   uint32_t variant, const struct weft_run *measured, const struct weft_follow *ranks,
                                   uint32_t *ret_n);

/// A blueprint by its name; a file by its path, whatever folder the scenario is seen from.
enum weft_status versus_find_base(const char *item, struct weft_arena *arena, const char **ret_base,
                                  struct weft_error *ret_error);
/// A figure of a bill by its name in --budget, such as "watts". False: there is none of that name.
bool versus_amount_of(const struct weft_fabric_bill *bill, const char *name, double *ret_amount);
/// Reads and sizes the fabrics in a list of blueprints and files (NULL: all that come with weft), at v->rate_bps and
/// the hosts of each `scale` [v->scales], which are v->scale. `budget`: "watts=20000,optics=800", or NULL.
enum weft_status versus_fabrics_read(const struct weft_cli_options *o, const char *list, const char *budget,
                                     struct weft_versus *v, struct weft_versus_scale *scale,
                                     struct weft_error *ret_error);

/// An earlier answer, for --diff: a folder of --out, or its versus.json.
enum weft_status versus_old_read(const char *path, struct weft_arena *arena, const struct weft_tree **ret_old,
                                 struct weft_error *ret_error);
/// What has changed since, [*ret_n] in `arena`: the leader, times, bills, and whether a fabric runs.
const struct weft_versus_change *versus_changes(const struct weft_versus *v, const struct weft_tree *old,
                                                struct weft_arena *arena, uint32_t *ret_n);
/// As a line.
void versus_change_print(FILE *file, const struct weft_versus_change *change);
