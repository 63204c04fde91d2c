// SPDX-License-Identifier: Apache-2.0
// Counts the connections of all-to-alls for a job that will not run: there is one for each pair of ranks.
#pragma once

#include "job.h"

struct weft__pair_counter {
    struct weft_job *job;
    /// [communicators * stages][ranks of a group]: bytes to a rank from each other one of the stage; NULL: not counted
    weft_bytes **bytes;
};
void weft__pair_counter_init(struct weft__pair_counter *c, struct weft_job *job);
/// Adds what is sent in an operation that occurs times[stage] times in an iteration, if it is an all-to-all.
void weft__pair_counter_add(struct weft__pair_counter *c, const struct weft_job_op *op, const uint64_t *times);
bool weft__pair_counter_has(const struct weft__pair_counter *c, const struct weft_job_op *op);
/// Adds the flows between servers to the workload; an error if they are too many or too large.
enum weft_status weft__pair_counter_take(const struct weft__pair_counter *c, const struct weft__job_common *common,
                                         struct weft_place place, const struct weft_topology *topology,
                                         struct weft_workload *w, struct weft_error *ret_error);
void weft__pair_counter_deinit(struct weft__pair_counter *c);
