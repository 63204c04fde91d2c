// SPDX-License-Identifier: Apache-2.0
// What the files of the inference workload share.
#pragma once

#include "base/lines.h"
#include "base/table.h"
#include "job.h"
#include "weft/inference.h"
#include "weft/training.h"

// --- requests of a file -------------------------------------------------------------------------------------------

enum weft__arrivals { WEFT__ARRIVALS_POISSON, WEFT__ARRIVALS_MOONCAKE, WEFT__ARRIVALS_AZURE };
enum { WEFT__PREFIX_TOKENS = 512 };                     ///< tokens of a block that a hash of Mooncake's stands for
enum { WEFT__REQUEST_TOKENS_MAX = 1 << 24 };            ///< of an input, and of an output
extern const struct weft__column weft__azure_columns[]; ///< three

struct weft__arrival {
    weft_time_ps at_ps; ///< from the first one on
    uint32_t input, output;
    uint32_t hashes;      ///< 0: the file has none
    const uint64_t *hash; ///< [hashes] of blocks: equal ones have equal tokens before their end
};
/// A trace of requests, of which one line is in memory.
struct weft__inference_trace {
    uint32_t kind;
    struct weft__lines lines;
    struct weft__table table;
    uint64_t *hash;
    size_t hash_room; ///< elements of `hash`
    bool begun;
    int64_t first_s; ///< the first time, and the last one from there on
    uint64_t first_part_ps;
    weft_time_ps last_ps;
};
enum weft_status weft__inference_trace_open(struct weft__inference_trace *trace, uint32_t kind, const char *path,
                                            struct weft_place place, struct weft_error *ret_error);
/// *ret_more false: there is none. A line that is no request, or earlier than the one before, is an error there.
enum weft_status weft__inference_trace_next(struct weft__inference_trace *trace, struct weft__arrival *ret_arrival,
                                            bool *ret_more, struct weft_error *ret_error);
void weft__inference_trace_close(struct weft__inference_trace *trace);

// --- configuration ------------------------------------------------------------------------------------------------

struct weft__inference_arrivals {
    uint32_t kind;
    const char *file;
    double rate, speed;
    uint64_t requests, input, output, longest, sessions;
    double input_spread, output_spread, shared;
};
struct weft__inference_pool {
    const char *hosts;
    uint64_t instances, tp, cache;
};
enum weft__inference_router { WEFT__ROUTER_ROUND_ROBIN, WEFT__ROUTER_LOAD, WEFT__ROUTER_CACHE, WEFT__ROUTER_NETWORK };
struct weft__inference_conf {
    struct weft_workload_common common;
    struct weft_training_model model;
    struct weft__inference_arrivals arrivals;
    struct weft__inference_pool prefill;
    struct {
        struct weft__inference_pool pool;
        uint64_t batch, ep;
        weft_rate_bps ep_rate_bps;
        double dispatch_bytes, combine_bytes;
    } decode;
    struct {
        uint32_t kind, connections;
        uint64_t pieces, block, merge, depth;
    } transfer;
    struct {
        double peak, mfu, hbm, hbm_part, memory_part, weight_bytes;
        weft_bytes memory_bytes;
        uint64_t kv_bytes;
    } gpu;
    struct {
        weft_time_ps ttft_ps, tpot_ps;
    } slo;
    uint32_t router;
    double cache_weight;
    struct weft_server_conf server;
};

// --- who serves what ----------------------------------------------------------------------------------------------

/// What a rank of a prefill instance sends to one of a decode instance.
struct weft__inference_lane {
    uint32_t from, to;      ///< from: the first of the ranks that have it
    weft_bytes token_bytes; ///< of a token and layer
};
struct weft__inference_ranks {
    uint32_t instances, tp;
    uint32_t *host, *server; ///< [instances x tp]
};
struct weft__inference_plan {
    const struct weft__inference_conf *conf;
    const struct weft_topology *topology;
    struct weft_arena *arena;
    struct weft_inference *inference;
    struct weft__inference_ranks prefill, decode;
    uint32_t lanes;
    struct weft__inference_lane *lane;
    uint32_t copies;  ///< prefill ranks of an instance that have the same keys and values
    double prefill_s; ///< of a token
    uint64_t block;   ///< tokens of a block of keys and values
    uint32_t **hash;  ///< [requests] its blocks of WEFT__PREFIX_TOKENS, numbered; NULL: it has none
    uint32_t *hashes; ///< [requests]
    uint32_t numbers; ///< of different blocks
};
/// Bytes of one layer of a request over a lane: whole blocks.
static inline weft_bytes weft__inference_layer(const struct weft__inference_plan *p,
                                               const struct weft__inference_lane *lane,
                                               const struct weft_inference_request *r) {
    uint64_t tokens = r->input - r->kept;
    return (tokens + p->block - 1) / p->block * p->block * lane->token_bytes;
}
/// Layers of the first k pieces of a request.
static inline uint64_t weft__inference_layers(const struct weft__inference_plan *p, uint64_t k) {
    return p->conf->model.layers * k / p->conf->transfer.pieces;
}
/// The time at which these layers are computed.
static inline weft_time_ps weft__inference_computed(const struct weft__inference_plan *p,
                                                    const struct weft_inference_request *r, uint64_t layers) {
    unsigned __int128 time = (unsigned __int128)(r->prefilled_ps - r->prefill_ps) * layers / p->conf->model.layers;
    return r->prefill_ps + (weft_time_ps)time;
}
/// The GPUs between which a lane of a request is: numbers among all of their pools. Ranks with the same keys and values
/// serve decode ranks in turn.
static inline uint32_t weft__inference_to(const struct weft__inference_plan *p, const struct weft_inference_request *r,
                                          const struct weft__inference_lane *lane) {
    return r->decode * p->decode.tp + lane->to;
}
static inline uint32_t weft__inference_from(const struct weft__inference_plan *p,
                                            const struct weft_inference_request *r,
                                            const struct weft__inference_lane *lane) {
    return r->prefill * p->prefill.tp + lane->from + weft__inference_to(p, r, lane) % p->copies;
}
static inline bool weft__inference_inside(const struct weft__inference_plan *p, const struct weft_inference_request *r,
                                          const struct weft__inference_lane *lane) {
    return p->conf->server.within == WEFT_WITHIN_SERVER &&
           p->prefill.server[weft__inference_from(p, r, lane)] == p->decode.server[weft__inference_to(p, r, lane)];
}
/// Fills in when requests are prefilled and where, and where they are decoded.
void weft__inference_route(struct weft__inference_plan *plan);
