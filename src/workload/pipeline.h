// SPDX-License-Identifier: Apache-2.0
// The order in which a stage of a pipeline processes microbatches, and its turns.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "weft/job.h"

struct weft__pass {
    uint32_t microbatch;
    bool backward;
};

/// Into ret_pass[2 * microbatches].
void weft__pipeline_order(uint32_t stage, uint32_t stages, uint32_t microbatches, struct weft__pass *ret_pass);

/// A pipeline of a job: what its stages do for microbatches, and what they send one another in between.
struct weft__pipeline {
    uint32_t stages, microbatches;
    uint32_t hop[2]; ///< the operation that sends microbatch 0 on, forward and backward; those of the others follow
    void *context;
    /// The work of a pass, without the hops: turns that the stage takes.
    void (*take_work)(void *context, struct weft_job_stage *stage, struct weft__pass pass);
};

void weft__pipeline_take_turn(struct weft_job_stage *stage, uint32_t op, uint32_t part);
/// All turns of the pipeline, into job->stage[0 .. stages).
void weft__pipeline_take(const struct weft__pipeline *p, struct weft_job *job, struct weft_arena *arena);
/// Why stages cannot use this collective; NULL: they can.
const char *weft__pipeline_refuse(const struct weft_model_conf *collective);
