// SPDX-License-Identifier: Apache-2.0
// Every rank with every other, straight or by PXN: in NCCL, a message for another server first crosses NVLink to the
// GPU whose NIC is on the rail of its destination, which sends it, so that nothing goes from rail to rail. GPUs with
// the same number in their servers are on one rail; those that share a NIC send for one another without that. Peers
// come nearest first, or server by server in NCCL's order: the distances between servers are the triangular numbers
// modulo a power of two, so that at any time each server talks to another. Source: NVIDIA/nccl, src/graph/paths.cc
// (ncclTopoGetPxnRanks), src/transport/net.cc, src/init.cc (order of peers); NCCL_P2P_PXN_LEVEL, 2 by default.
// Differences: the proxy of the other GPU is a lane, which also takes `step_delay` and `copy_rate`; messages of several
// GPUs for one destination are not joined into one; NCCL orders groups of 8 ranks, which are servers of 8.
#pragma once

#include "pairs.h"

/// First member of the configurations of all-to-alls.
struct weft__exchange_conf {
    struct weft_collective_common common;
    uint32_t pxn, order;
    uint64_t peer_channels, at_once;
};
enum weft__pxn { WEFT__PXN_AUTO, WEFT__PXN_ON, WEFT__PXN_OFF };
enum weft__peers_order { WEFT__PEERS_NEAREST, WEFT__PEERS_NCCL };
extern const char *const weft__pxn_names[], *const weft__peers_order_names[];
/// The rows of T, which has the member `exchange`.
#define WEFT__EXCHANGE_ROWS(T)                                                                                         \
    WEFT_CHOICE(                                                                                                       \
        T, pxn, "pxn", "auto", weft__pxn_names,                                                                        \
        "a message for another server goes over NVLink to the GPU whose NIC is on the rail of its destination, "       \
        "which sends it (NCCL_P2P_PXN_LEVEL); auto: on for servers from NCCL's files, as NCCL does"),                  \
        WEFT_CHOICE(T, order, "order", "nearest", weft__peers_order_names,                                             \
                    "peers nearest first round the ranks; or server by server at NCCL's distances"),                   \
        WEFT_UINT(T, peer_channels, "peer_channels", "1", "1", "64",                                                   \
                  "channels among which the data for a peer is divided"),                                              \
        WEFT_UINT(T, at_once, "at_once", "1", "1", "8",                                                                \
                  "peers that a channel serves at once, each in lanes of its own (NCCL: up to 8)")

/// As in weft_collective_ops.
uint32_t weft__exchange_lanes(const void *conf, const struct weft_collective_shape *shape);
uint32_t weft__exchange_channels(const void *conf, const struct weft_collective_shape *shape);
uint32_t weft__exchange_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank);
bool weft__exchange_relays(const void *conf, const struct weft_collective_shape *shape);
/// Same contract as weft__pairs_steps and weft__pairs_step.
uint64_t weft__exchange_steps(const struct weft__exchange_conf *conf, const struct weft_collective_shape *shape,
                              uint32_t lane, weft_bytes data_max);
struct weft__chunk weft__exchange_step(const struct weft__exchange_conf *conf,
                                       const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                                       uint64_t index, weft_bytes data_max, struct weft_step *ret_step);
/// The index-th of what a rank sends, its own messages first, then those of others. `part_for`: as in
/// weft_collective_ops.
struct weft_sent weft__exchange_sent(const struct weft__exchange_conf *conf, const struct weft_collective_shape *shape,
                                     uint32_t rank, uint32_t index,
                                     weft_bytes (*part_for)(const void *conf, const struct weft_collective_shape *shape,
                                                            uint32_t dst));
