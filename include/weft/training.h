// SPDX-License-Identifier: Apache-2.0
// Training jobs by model and plan: what a model of published shape sends and computes on so many GPUs under a plan of
// parallelism. From these come a job's operations (src/workload/training_job.c) and an answer without a network, at the
// full rate of each dimension.
#pragma once

#include "weft/error.h"
#include "weft/types.h"

struct weft_param_table;

/// The shape of a transformer. Rows of the key `model` of a job.
struct weft_training_model {
    const char *kind; ///< a model by name, or "own"
    uint64_t layers, hidden, heads, kv_heads, head_dim, attention, ffn, matrices, vocabulary;
    uint64_t dense_layers, experts, shared_experts, top_k, expert_ffn, expert_servers;
    uint64_t kv_width;
};

/// What does not fit together, or is missing: the key ("model.heads") and a text; true: nothing. Fills in what is 0.
bool weft_training_model_check(struct weft_training_model *m, const char **ret_key, char *text, size_t size);
/// Parameters of a model that was checked.
struct weft_training_parameters {
    double dense;  ///< of all that every token uses: attention, embedding and head, shared experts
    double expert; ///< of a routed expert
    double layers; ///< that have routed experts
};
struct weft_training_parameters weft_training_parameters(const struct weft_training_model *m);

enum weft_training_order { WEFT_TRAINING_PP_DP, WEFT_TRAINING_DP_PP };

/// Rows of the key `plan` of a job.
struct weft_training_plan {
    const char *kind; ///< a published plan by name, or "own"
    uint64_t tp, cp, pp, dp, ep, chunks, end_layers;
    uint64_t sequence, sequences, batch, micro_batch;
    uint32_t order; ///< enum weft_training_order
    bool sharded, overlap, expert_overlap, once, deepep, causal, recompute;
    uint64_t gradient_bytes;
    double dispatch_bytes, combine_bytes;
    double peak, efficiency, communication;
};
extern const struct weft_param_table weft_training_model_table, weft_training_plan_table;

/// What a GPU sends in a step for one purpose; the mean over stages.
struct weft_training_traffic {
    const char *dimension, *purpose, *collective;
    uint32_t ranks;        ///< of a group
    bool in_server;        ///< its groups are within servers
    weft_bytes size_bytes; ///< of one collective, as nccl-tests counts it
    double times;          ///< a GPU and step
    weft_bytes bytes;      ///< sent by a GPU in a step
    weft_rate_bps rate_bps;
    weft_time_ps time_ps;    ///< of these bytes at that rate, of a server those that leave it
    weft_time_ps exposed_ps; ///< of it, not hidden behind compute
};
enum { WEFT_TRAINING_TRAFFIC_MAX = 12 };

struct weft_training {
    struct weft_training_model model;
    struct weft_training_plan plan;
    uint64_t gpus, microbatches; ///< microbatches: of a replica in a step
    double parameters, active_parameters, gpu_parameters;
    double flops, model_flops; ///< of a GPU in a step; model_flops: without recomputation
    weft_time_ps compute_ps;   ///< of the busiest stage
    weft_time_ps layer_ps;     ///< of that stage: communication within its passes
    weft_time_ps bubble_ps;    ///< what the pipeline's schedule adds to these
    weft_time_ps exposed_ps;   ///< beyond: of parameters and gradients, of the pipeline's fill and drain
    weft_time_ps iteration_ps; ///< the sum
    double tflops, mfu;        ///< tflops: flops over iteration; mfu: model_flops of the peak
    uint32_t traffics;
    struct weft_training_traffic traffic[WEFT_TRAINING_TRAFFIC_MAX];
};

/// What calculations need to know of the network: a GPU's rate within its server, and over the network.
struct weft_training_rates {
    uint32_t server_gpus;
    weft_rate_bps server_bps, network_bps;
};
/// Fills in all that follows from model, plan and gpus, which weft_training_check accepts.
void weft_training_calc(struct weft_training *t, const struct weft_training_rates *rates);
/// What does not divide, or is missing: the key ("plan.tp") and a text; true: nothing. Fills in plan.dp,
/// plan.sequences, gpus and microbatches.
bool weft_training_check(struct weft_training *t, const char **ret_key, char *text, size_t size);
