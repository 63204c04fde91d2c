// SPDX-License-Identifier: Apache-2.0
// What the files of training jobs share.
#pragma once

#include "job.h"
#include "weft/training.h"

/// The content of the key `plan`: the plan, and the algorithms of its collectives.
struct weft__training_conf {
    struct weft_training_plan plan;
    struct weft__schedule_models models;
};

/// Bytes and floating-point operations of a microbatch at a GPU, from which everything else follows.
struct weft__training_sizes {
    weft_bytes activation;                                         ///< of its tokens, whole
    weft_bytes kv;                                                 ///< keys and values that context parallelism gathers
    weft_bytes hop;                                                ///< to the next stage
    weft_bytes dispatch, combine;                                  ///< of a layer of experts
    double attention_flops, dense_flops, expert_flops, head_flops; ///< of a layer, forward
    double dense_parameters, expert_parameters;                    ///< of a GPU and chunk
    double seconds_a_flop;
};
struct weft__training_sizes weft__training_sizes(const struct weft_training *t, uint32_t server_gpus);

/// Groups along a dimension: `size` ranks, `stride` apart.
struct weft__training_group {
    uint32_t size, stride;
};
enum weft__training_dimension {
    WEFT__TRAINING_TP,
    WEFT__TRAINING_CP,
    WEFT__TRAINING_PP,
    WEFT__TRAINING_EP,
    WEFT__TRAINING_DP,        ///< all replicas
    WEFT__TRAINING_EXPERT_DP, ///< those with the same experts
    WEFT__TRAINING_REPLICAS,  ///< DP and CP as one, if their ranks are regularly spaced; else size 0
};
struct weft__training_group weft__training_group(const struct weft_training *t, enum weft__training_dimension d);
/// Layers of a chunk of a stage: [0] dense ones, [1] those with experts.
void weft__training_layers(const struct weft_training *t, uint32_t stage, uint32_t chunk, uint32_t ret_layers[2]);

/// A job of the model and plan that the entry has, with its operations and turns; not yet connected. `gpus`: the job's
/// key, 0: by the plan.
enum weft_status weft__training_schedule(const struct weft__job_common *common, const struct weft_model_conf *entry,
                                         const struct weft_topology *topology, uint64_t gpus, struct weft_workload *w,
                                         struct weft_job **ret_job, struct weft_error *ret_error);
