// SPDX-License-Identifier: Apache-2.0
// Inference with prefill and decode on GPUs of their own: requests arrive, an instance of the prefill pool computes
// their keys and values, these go to an instance of the decode pool as flows, and that one writes the answer, a token a
// step. A workload of `kind: inference` decides before the run who serves a request and when its flows start; when
// tokens come follows from the ends of the flows (weft_inference_calc).
#pragma once

#include "weft/memory.h"

struct weft_flow_outcome; // weft/outcome.h
struct weft_param_table;
/// Sections of such an entry.
extern const struct weft_param_table weft_inference_arrivals_table, weft_inference_prefill_table,
    weft_inference_decode_table, weft_inference_transfer_table, weft_inference_gpu_table, weft_inference_slo_table;

/// Seconds that work takes at an instance of the decode pool, and its room.
struct weft_inference_decode {
    double weights_s; ///< of a step: to read what every token uses
    double experts_s; ///< of a step: to read all experts that a GPU has
    double unused;    ///< part of the experts that a token does not go to; 1: there are none
    double group;     ///< instances that share the experts
    double token_s;   ///< of a step: to read keys and values of a token
    double compute_s; ///< of a step and request
    double ep_s;      ///< of a step and request: to send it to its experts and back
    uint64_t batch_max, tokens_max;
};
/// A step of `batch` requests with so many tokens in all: the longest of reading memory, computing and sending.
weft_time_ps weft_inference_step(const struct weft_inference_decode *d, uint64_t batch, uint64_t tokens);

struct weft_inference_request {
    weft_time_ps arrival_ps, prefill_ps, prefilled_ps; ///< prefill_ps: its prefill begins
    weft_time_ps inside_ps;                            ///< end of what goes over the network of a server; 0: nothing
    uint32_t input, output;                            ///< tokens
    uint32_t reused, kept; ///< tokens of the input that the prefill instance, and that the decode instance, had before
    uint32_t prefill, decode; ///< numbers of instances
    uint32_t flow, flows;     ///< of the workload: the first one, and how many
    weft_bytes bytes;         ///< of its keys and values that are sent, also within a server
};

/// A workload entry.
struct weft_inference {
    const char *model, *router;
    uint32_t group; ///< index into weft_workload.group, of its flows too
    uint32_t requests, prefills, decodes;
    struct weft_inference_request *request; ///< by arrival
    struct weft_inference_decode decode;
    weft_time_ps ttft_ps, tpot_ps; ///< objectives
    weft_bytes token_bytes;        ///< keys and values of a token, at all layers
    double active;                 ///< parameters that a token uses
};

/// When a request's answer was written; WEFT_TIME_NEVER: its flows have not ended.
struct weft_inference_served {
    weft_time_ps ready_ps; ///< its keys and values are at the decode instance
    weft_time_ps start_ps; ///< its first step begins
    weft_time_ps first_ps, last_ps;
};
/// [requests], in `arena`: the decode pool after a run. `flow`: of the whole workload.
struct weft_inference_served *weft_inference_calc(const struct weft_inference *inference,
                                                  const struct weft_flow_outcome *flow, struct weft_arena *arena);
