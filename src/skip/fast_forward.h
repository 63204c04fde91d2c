// SPDX-License-Identifier: Apache-2.0
// Repeated iterations of jobs, taken over instead of run; see fast_forward.c. All but the first may be called with
// NULL.
#pragma once

#include "box/network.h"
#include "weft/ranks.h"

struct weft__fast_forward;

/// Traces the paths of all queue pairs, as weft__paths_trace does.
typedef struct weft_path *weft__trace_paths(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                            const struct weft_workload *workload, bool back, struct weft_arena *arena,
                                            uint64_t *ret_paths);

/// Call it before the run, after assembly. NULL without run.fast_forward, and at ranks other than 0.
struct weft__fast_forward *weft__fast_forward_start(struct weft__network *net, const struct weft_ranks *ranks,
                                                    weft__trace_paths *trace);
/// The engine has stopped. True: it was at rest, and must run on.
bool weft__fast_forward_on(struct weft__fast_forward *f);
/// The run has ended.
void weft__fast_forward_end(struct weft__fast_forward *f);
/// The simulated time skipped so far.
weft_time_ps weft__fast_forward_skipped(const struct weft__fast_forward *f);
/// Call it when the engine has ended, before anything is collected: corrects all noted times.
void weft__fast_forward_settle(const struct weft__fast_forward *f);
