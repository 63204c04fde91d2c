// SPDX-License-Identifier: Apache-2.0
// The order in which a stage of a pipeline processes microbatches, and its turns.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "weft/job.h"

struct weft__pass {
    uint32_t microbatch, chunk;
    bool backward;
};

/// A pipeline of a job: what its stages do for microbatches, and what they send one another in between. A stage has
/// `chunks` chunks of layers: a microbatch goes through all stages, then through their next chunks.
struct weft__pipeline {
    uint32_t stages, microbatches, chunks;
    /// The operation that sends microbatch 0 of chunk 0 on, forward and backward: from a stage to the next one, and
    /// from the last stage to the first one for the next chunk (and back). Those of the others follow, by chunk.
    uint32_t hop[2], wrap[2];
    void *context;
    /// The work of a pass, without the hops: turns that the stage takes.
    void (*take_work)(void *context, struct weft_job_stage *stage, struct weft__pass pass);
};

/// Into ret_pass[2 * microbatches * chunks].
void weft__pipeline_order(const struct weft__pipeline *p, uint32_t stage, struct weft__pass *ret_pass);
void weft__pipeline_take_turn(struct weft_job_stage *stage, uint32_t op, uint32_t part);
/// All turns of the pipeline, into job->stage[0 .. stages).
void weft__pipeline_take(const struct weft__pipeline *p, struct weft_job *job, struct weft_arena *arena);
/// Why stages cannot use this collective; NULL: they can.
const char *weft__pipeline_refuse(const struct weft_model_conf *collective);

/// How long an iteration takes if a hop takes no time.
struct weft__pipeline_times {
    const void *context;
    double (*pass)(const void *context, uint32_t stage, uint32_t chunk, bool backward);
    double gather, reduce; ///< before the first forward pass of a chunk, after its last backward pass
    bool overlap;          ///< beside passes; otherwise before and after all of them
};
double weft__pipeline_time(const struct weft__pipeline *p, const struct weft__pipeline_times *times);
