// SPDX-License-Identifier: Apache-2.0
// weft versus in parts: the job (versus_job.c), the fabrics (versus_fabrics.c), the whole (versus.c).
#ifndef WEFT_CLI_VERSUS_H
#define WEFT_CLI_VERSUS_H

#include "sweep.h"
#include "weft/versus.h"

/// What is to be run on every fabric.
struct versus_job {
    const char *path;             ///< NULL: none, a battery alone
    const struct weft_tree *work; ///< sections; NULL: none
    const struct weft_tree *run;
    uint64_t hosts; ///< of its own network; 0: it has none
    weft_rate_bps rate_bps;
    const char **ignored; ///< sections that fabrics say themselves
    uint32_t n_ignored;
};
/// Files that what was read of them needs to the end.
struct versus_kept {
    struct weft_scenario_file *file;
    struct versus_kept *next;
};
void versus_keep(struct versus_kept **kept, struct weft_scenario_file *file, struct weft_arena *arena);

/// Reads a scenario, a file with `workload:` alone, or a file of another tool.
enum weft_status versus_job_read(const struct weft_cli_options *o, struct versus_job *ret_job,
                                 struct versus_kept **kept, struct weft_error *ret_error);

/// The cases of a battery behind those that there are. False: no battery is called so.
bool versus_battery_add(const char *name, struct weft_versus *v, struct weft_arena *arena);

/// Reads and sizes the fabrics of a list of blueprints and files (NULL: all that come with weft), at v->hosts and
/// v->rate_bps. `budget`: "watts=20000,optics=800", or NULL.
enum weft_status versus_fabrics_read(const struct weft_cli_options *o, const char *list, const char *budget,
                                     struct weft_versus *v, struct versus_kept **kept, struct weft_error *ret_error);

#endif
