// SPDX-License-Identifier: Apache-2.0
// Every rank with every other: one lane sends and another receives in parallel. Peers come by distance round the ranks,
// nearest first. What a peer gets is divided into parts, and the parts of all peers among the lanes in turn; a part is
// cut into chunks, each a message. A channel has as many lanes as it has operations at once.
#pragma once

#include "part.h"

/// NCCL: chunks of 128 KiB over the network, one for each of 8 steps.
#define WEFT__PAIRS_ROWS(T) WEFT_COLLECTIVE_ROWS(T, "128KiB", "128KiB", "8")

struct weft__pairs {
    uint32_t peers, parts, lanes; ///< parts of each peer's data; lanes that send, and as many that receive
    weft_bytes chunk;
};
struct weft__pairs weft__pairs_of(const struct weft_collective_common *common,
                                  const struct weft_collective_shape *shape, uint32_t parts, uint32_t at_once);
/// The number of chunks of so many bytes.
static inline uint64_t weft__pairs_chunks(const struct weft__pairs *pairs, weft_bytes bytes) {
    return bytes / pairs->chunk + (bytes % pairs->chunk != 0);
}
/// Steps of a lane of a direction, for data of at most `data_max` bytes a peer; less data leaves steps empty.
uint64_t weft__pairs_steps(const struct weft__pairs *pairs, uint32_t lane, weft_bytes data_max);
/// Of what `src` has for `dst`, the chunk that begins at `start` of a part.
struct weft__chunk {
    uint32_t src, dst, part, parts;
    weft_bytes start;
};
/// What a step of a lane is about.
struct weft__pairs_at {
    uint32_t distance, part;
    weft_bytes start; ///< of its chunk, in the part
};
struct weft__pairs_at weft__pairs_at(const struct weft__pairs *pairs, uint32_t lane, uint64_t index,
                                     weft_bytes data_max);
/// The peers and chunk of a step of lane 2 k, which sends, or 2 k + 1; its bytes as if there were data enough.
struct weft__chunk weft__pairs_step(const struct weft__pairs *pairs, uint32_t rank, uint32_t lane, uint64_t index,
                                    weft_bytes data_max, struct weft_step *ret_step);
/// A part of the data for the peer at `distance` round the ranks, of which there are `bytes` in all.
struct weft_sent weft__pairs_sent(const struct weft__pairs *pairs, uint32_t rank, uint32_t distance, uint32_t part,
                                  weft_bytes bytes);
/// Limits a step to its part of `bytes`, and moves its offset, until now that of the data, to the chunk.
static inline void weft__pairs_cut(struct weft_step *step, const struct weft__chunk *chunk, weft_bytes bytes) {
    weft_bytes from = weft__part(bytes, chunk->part, chunk->parts) + chunk->start;
    weft_bytes end = weft__part(bytes, chunk->part + UINT64_C(1), chunk->parts);
    step->offset += from;
    if (from >= end)
        step->bytes = 0;
    else if (step->bytes > end - from)
        step->bytes = end - from;
}
