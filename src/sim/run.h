// SPDX-License-Identifier: Apache-2.0
// A run from the assembly of its network to its outcome. In between, its engine runs: once (weft_simulate) or, if a
// program drives it, many times (drive.c).
#pragma once

#include "box/network.h"
#include "weft/drive.h"
#include "weft/ranks.h"

struct weft__run {
    struct weft__network net;
    struct weft_sim_options options;
    struct weft_progress progress;
    struct weft__fast_forward *fast_forward;      ///< see fast_forward.h; NULL: run.fast_forward is off
    double begun_s, told_s, assembled_s, saved_s; ///< wall time
    double begun_cpu_s;
};

/// The run must not move in memory until it has ended. `driver`: NULL unless it is driven. After an error it has ended.
enum weft_status weft__run_begin(struct weft__run *run, const struct weft_scenario *scenario,
                                 const struct weft_topology *topology, const struct weft_workload *workload,
                                 const struct weft_sim_options *options, struct weft__driver *driver,
                                 struct weft_error *ret_error);
/// Ends the run as weft_simulate does. `ret_outcome` NULL: the outcome is not needed and is not computed.
enum weft_status weft__run_end(struct weft__run *run, struct weft_outcome **ret_outcome, struct weft_error *ret_error);

/// Runs the engine to the end, with checkpoints, then calls weft__run_end.
enum weft_status weft__run_finish(struct weft__run *run, struct weft_outcome **ret_outcome,
                                  struct weft_error *ret_error);

/// How the engine has ended.
enum weft_end weft__network_end(const struct weft__network *net);

// For a run over several ranks; see ranks.c. Each builds what is common, then only its own nodes.
/// Called when it is known what is to be run: refuses what ranks cannot share, and agrees on the number of threads.
enum weft_status weft__ranks_begin(struct weft__run *run, struct weft_error *ret_error);
/// Called when everything but the devices is built.
enum weft_status weft__ranks_part(struct weft__run *run, struct weft_error *ret_error);
/// Replaces the two above in a run that continues from a checkpoint.
void weft__ranks_go_on(struct weft__run *run);
/// Exchanges a word with the other ranks. An error if one of them has ended.
enum weft_status weft__ranks_meet(struct weft_ranks *ranks, const struct weft_ranks_word *own,
                                  struct weft_ranks_word *ret_word, struct weft_error *ret_error);
/// The engine has stopped: rank 0 collects everything. Other ranks do not return.
enum weft_status weft__ranks_join(struct weft__run *run, struct weft_error *ret_error);

/// For a driven run; see drive.c.
const struct weft__network *weft__drive_network(const struct weft_drive *drive);
bool weft__driver_on_window(void *run);
void weft__driver_collect(struct weft__network *net);
/// After assembly: sets where its hosts are.
void weft__driver_start(struct weft__network *net);
