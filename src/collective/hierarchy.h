// SPDX-License-Identifier: Apache-2.0
// Collectives by servers and rails: M servers of G ranks; a rail is the M ranks with the same number in their servers.
// In the whole array, each loop of a channel is G parts, one per rail, of M blocks, one per server. One lane per
// channel performs the stages in turn, loop by loop:
//   that reduce       a reduce-scatter in the server, an all-reduce along each rail, an all-gather in the server
//   that only gather  an all-gather along each rail, and one in the server; block (k, s) is of rank k of server s
// Stages are rings. A server passes a rail's complete part on, in as many messages as it has chunks.
#ifndef WEFT_COLLECTIVE_HIERARCHY_H
#define WEFT_COLLECTIVE_HIERARCHY_H

#include "part.h"

/// What all steps of a lane share.
struct weft__hierarchy_plan {
    uint32_t g, m;
    bool reduces;
    struct weft__loops rail, inside;
    weft_bytes start; ///< of the channel's bytes
    uint64_t full;    ///< steps of a loop before the last
    uint32_t lane, rank;
    uint32_t server, number; ///< number: in its server
};

/// As in weft_collective_ops; conf begins with common.
uint64_t weft__hierarchy_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t lane,
                               bool reduces);
struct weft__hierarchy_plan weft__hierarchy_plan(const void *conf, const struct weft_collective_shape *shape,
                                                 uint32_t rank, uint32_t lane, bool reduces);
void weft__hierarchy_step(const struct weft__hierarchy_plan *plan, uint64_t index, struct weft_step *ret_step);
uint32_t weft__hierarchy_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                              bool reduces, struct weft_sent ret_sent[WEFT_STEP_PEERS]);
/// The owner of the block at `offset`, and where the block ends.
uint32_t weft__hierarchy_owner(const void *conf, const struct weft_collective_shape *shape, weft_bytes offset,
                               weft_bytes *ret_end);

#endif
