// SPDX-License-Identifier: Apache-2.0
// Every rank with every other: in a channel, one lane sends and another receives in parallel. Channels divide the peers
// by distance round the ranks, nearest first; the data for a peer is cut into chunks, each a message.
#pragma once

#include "part.h"

/// NCCL: chunks of 128 KiB over the network, one for each of 8 steps.
#define WEFT__PAIRS_ROWS(T) WEFT_COLLECTIVE_ROWS(T, "128KiB", "128KiB", "8")

/// The number of chunks of a part.
static inline uint64_t weft__pairs_chunks(const struct weft_collective_common *common, weft_bytes part) {
    return part / common->chunk_bytes + (part % common->chunk_bytes != 0);
}
uint32_t weft__pairs_lanes(const void *conf, const struct weft_collective_shape *shape); ///< conf: begins with common
/// For a largest part of `part_max` bytes; smaller ones leave steps empty.
uint64_t weft__pairs_steps(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                           uint32_t lane, weft_bytes part_max);
/// Of the part that `src` has for `dst`, the chunk that begins at `start`.
struct weft__chunk {
    uint32_t src, dst;
    weft_bytes start;
};
/// A step's peers and chunk; its bytes as if every part were the largest.
struct weft__chunk weft__pairs_step(const struct weft_collective_common *common,
                                    const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                                    uint64_t index, weft_bytes part_max, struct weft_step *ret_step);
/// Everything sent to the peer at `distance` round the ranks, for a part of `bytes`.
struct weft_sent weft__pairs_sent(const struct weft_collective_common *common,
                                  const struct weft_collective_shape *shape, uint32_t rank, uint32_t distance,
                                  weft_bytes bytes);
uint32_t weft__pairs_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank);
/// Limits a step at `start` of a part to the `bytes` of the part.
static inline void weft__pairs_cut(struct weft_step *step, weft_bytes start, weft_bytes bytes) {
    if (start >= bytes)
        step->bytes = 0;
    else if (step->bytes > bytes - start)
        step->bytes = bytes - start;
}
