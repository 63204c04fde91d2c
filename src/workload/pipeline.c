// SPDX-License-Identifier: Apache-2.0
// One forward, one backward: a stage with k stages after it does k forward passes to warm up, then a forward and a
// backward pass in turn, then the remaining backward passes. Source: Narayanan et al., "Efficient large-scale language
// model training on GPU clusters using Megatron-LM", SC 2021, section 2.2.1 (PipeDream-Flush); the time is (m + p - 1)
// passes both ways for m microbatches and p stages, of which p - 1 are the bubble.
#include "pipeline.h"

#include <string.h>

void weft__pipeline_order(uint32_t stage, uint32_t stages, uint32_t microbatches, struct weft__pass *ret_pass) {
    uint32_t warm_up = stages - 1 - stage < microbatches ? stages - 1 - stage : microbatches, n = 0;
    for (uint32_t i = 0; i < warm_up; i++)
        ret_pass[n++] = (struct weft__pass){i, false};
    for (uint32_t i = warm_up; i < microbatches; i++) {
        ret_pass[n++] = (struct weft__pass){i, false};
        ret_pass[n++] = (struct weft__pass){i - warm_up, true};
    }
    for (uint32_t i = microbatches - warm_up; i < microbatches; i++)
        ret_pass[n++] = (struct weft__pass){i, true};
}

void weft__pipeline_take_turn(struct weft_job_stage *stage, uint32_t op, uint32_t part) {
    stage->turn[stage->turns++] = (struct weft_job_turn){op, part};
}

/// Receives from the previous stage, does the work, sends to the next stage.
static void take_pass(const struct weft__pipeline *p, struct weft_job_stage *stage, struct weft__pass pass,
                      bool receives, bool sends) {
    uint32_t hop = p->hop[pass.backward] + pass.microbatch;
    if (receives) weft__pipeline_take_turn(stage, hop, WEFT_TURN_RECEIVE);
    p->take_work(p->context, stage, pass);
    if (sends) weft__pipeline_take_turn(stage, hop, WEFT_TURN_SEND);
}

void weft__pipeline_take(const struct weft__pipeline *p, struct weft_job *job, struct weft_arena *arena) {
    struct weft__pass *pass = weft_arena_alloc(arena, 2 * (size_t)p->microbatches, sizeof *pass);
    for (uint32_t s = 0; s < p->stages; s++) {
        weft__pipeline_order(s, p->stages, p->microbatches, pass);
        for (uint32_t i = 0; i < 2 * p->microbatches; i++) {
            uint32_t first = pass[i].backward ? p->stages - 1 : 0, last = p->stages - 1 - first;
            take_pass(p, &job->stage[s], pass[i], s != first, s != last);
        }
    }
}

/// Whether the last rank of a group also sends to the first one, so that a lane is active at both ends of a pair.
static bool is_ring(const struct weft_model_conf *collective) {
    const struct weft_collective_ops *ops = collective->model->ops;
    const struct weft_collective_shape pair = {.ranks = 2, .per_server = 1, .bytes = 1};
    for (uint32_t lane = 0; lane < ops->lanes(collective->conf, &pair); lane++)
        if (ops->steps(collective->conf, &pair, 0, lane) && ops->steps(collective->conf, &pair, 1, lane)) return true;
    return false;
}

const char *weft__pipeline_refuse(const struct weft_model_conf *collective) {
    if (strcmp(collective->model->name, "send_recv")) return "stages pass on by send_recv; expected no other";
    if (is_ring(collective)) return "the last stage passes nothing on to the first; expected ring: off";
    return NULL;
}
