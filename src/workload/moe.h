// SPDX-License-Identifier: Apache-2.0
// Parts of the workload deepep: the routing of tokens, and collectives whose steps are a table.
#pragma once

#include "job.h"
#include "weft/moe.h"

// --- which experts ------------------------------------------------------------------------------------------------

#define WEFT__NO_EXPERT UINT16_MAX
enum { WEFT__MOE_TOP_K_MAX = 32, WEFT__MOE_TOKENS_MAX = 1 << 24 };

/// Token t of rank r has the experts expert[(first[r] + t) * top_k ...], the rest of its places are WEFT__NO_EXPERT.
/// Expert e is on rank e / per_rank.
struct weft__routing {
    uint32_t ranks, experts, per_rank, top_k; ///< set before it is drawn or read
    uint64_t *first;                          ///< [ranks + 1]
    uint16_t *expert;
};
struct weft__routing_conf {
    uint64_t tokens, experts, top_k, groups, top_groups;
    double skew;
};
/// A stream for each rank: more ranks do not change the tokens of the others, but for what experts they go to.
void weft__routing_draw(const struct weft__routing_conf *conf, uint64_t seed, uint32_t entry, struct weft_arena *arena,
                        struct weft__routing *ret);
/// From a file: a line a token, its rank and its experts, at most top_k.
enum weft_status weft__routing_read(const char *path, const struct weft_model_conf *entry, struct weft_arena *arena,
                                    struct weft__routing *ret, struct weft_error *ret_error);
static inline const uint16_t *weft__routing_of(const struct weft__routing *r, uint64_t token) {
    return &r->expert[token * r->top_k];
}
/// The different ranks that a token goes to, in the order of its experts; returns how many.
uint32_t weft__routing_ranks(const struct weft__routing *r, uint64_t token, uint32_t *ret_rank);
/// `per_node`: ranks of a node. All but bytes.
struct weft_moe weft__routing_count(const struct weft__routing *r, uint32_t per_node, struct weft_arena *arena);

// --- steps in a table ---------------------------------------------------------------------------------------------

struct weft__moe_step {
    uint32_t peer_sends; ///< peer << 1 | whether it sends
    uint32_t bytes;
    uint32_t waits; ///< steps that lane `wait_lane` has done before; 0: it waits for no lane
    uint16_t channel, wait_lane;
};
/// Configuration of weft__moe_ops.
struct weft__moe_table {
    struct weft_collective_common common;
    uint32_t ranks, lanes;
    uint64_t *first; ///< [ranks * lanes + 1]
    struct weft__moe_step *step;
    uint32_t *sent0; ///< [ranks + 1]
    struct weft_sent *sent;
};
extern const struct weft_collective_ops weft__moe_ops;

/// Steps are added twice, in the same order: first they are counted.
struct weft__moe_maker {
    struct weft__moe_table *table;
    uint64_t *at; ///< [ranks * lanes]
    bool fills;
};
/// A message from a lane to a lane.
struct weft__moe_message {
    uint32_t src, src_lane, dst, dst_lane, channel, bytes;
    uint32_t waits, wait_lane; ///< of the sender's step
};
void weft__moe_add(struct weft__moe_maker *m, const struct weft__moe_message *message);
/// Steps that a lane has so far.
static inline uint32_t weft__moe_steps(const struct weft__moe_maker *m, uint32_t rank, uint32_t lane) {
    size_t k = (size_t)rank * m->table->lanes + lane;
    return (uint32_t)(m->at[k] - (m->fills ? m->table->first[k] : 0));
}
/// Calls `add` twice; connections then have the slots of table->common.
void weft__moe_table_make(struct weft__moe_table *table, void (*add)(struct weft__moe_maker *m, const void *context),
                          const void *context, struct weft_arena *arena);

// --- what they send -----------------------------------------------------------------------------------------------

/// Of one direction, from tokens to experts or back.
struct weft__moe_phase {
    const struct weft__routing *routing;
    uint32_t per_node, channels, queue_pairs; ///< queue_pairs: to a peer; channels share them
    uint32_t rdma_chunk, nvlink_chunk;        ///< tokens of a message
    uint32_t rdma_ring, nvlink_ring;          ///< tokens that a channel's connection holds (normal)
    uint32_t slots;                           ///< messages that a connection of other modes holds
    weft_bytes token_bytes, chunk_bytes;      ///< chunk_bytes: of an all-to-all
    bool combines;
};
uint32_t weft__moe_normal_lanes(const struct weft__moe_phase *p);
void weft__moe_normal(struct weft__moe_maker *m, const void *phase);
/// Sets the slots of connections by the rings.
void weft__moe_normal_slots(struct weft__moe_table *table, const struct weft__moe_phase *p);
uint32_t weft__moe_notify_lanes(const struct weft__moe_phase *p);
void weft__moe_notify(struct weft__moe_maker *m, const void *phase);
uint32_t weft__moe_low_latency_lanes(const struct weft__moe_phase *p);
void weft__moe_low_latency(struct weft__moe_maker *m, const void *phase);
uint32_t weft__moe_all_to_all_lanes(const struct weft__moe_phase *p);
void weft__moe_all_to_all(struct weft__moe_maker *m, const void *phase);

// --- within other jobs --------------------------------------------------------------------------------------------

/// Groups of `ranks`, `stride` apart, in which every rank sends tokens to the experts of all.
struct weft__deepep_group {
    const char *job; ///< its group of flows
    uint32_t ranks, stride;
    struct weft__routing_conf routing;
    uint64_t hidden;
    bool bf16; ///< dispatch sends tokens in BF16; else in FP8
};
/// The dispatch and the combine of normal kernels as collectives, with DeepEP's own channels, rings and chunks. All
/// groups and operations, and all seeds, have the same tokens: job->moe.
enum weft_status weft__deepep_ways(struct weft_job *job, const struct weft__deepep_group *group,
                                   const struct weft_topology *topology, struct weft_workload *w,
                                   struct weft_model_conf ret[2], struct weft_error *ret_error);
