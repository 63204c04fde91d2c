// SPDX-License-Identifier: Apache-2.0
// Jobs in a run.
#pragma once

#include "box/network.h"
#include "transport/program.h"

/// Call it when the queue pairs exist. NULL: there is no job.
struct weft__programs *weft__jobs_new(struct weft__network *net);
/// Call it when it is known which worker runs which node.
void weft__jobs_start(struct weft__network *net);
/// The longest time that a rank computes, and the shortest path within a server (never: none).
weft_time_ps weft__jobs_patience(const struct weft_workload *workload);
weft_time_ps weft__jobs_lookahead(const struct weft_workload *workload);
/// Puts the ranks' measurements into the outcome.
void weft__jobs_collect(struct weft__network *net);

struct weft_wait_outcome weft__wait_quantiles(const struct weft_histogram *h);
