// SPDX-License-Identifier: Apache-2.0
// Bytes divided: into parts as even as whole bytes allow, and a channel's part into loops, blocks and slices.
#pragma once

#include <assert.h>

#include "weft/collective.h"

/// Where the k-th of n parts begins; the n-th ends where the whole does.
static inline weft_bytes weft__part(weft_bytes bytes, uint64_t k, uint64_t n) {
    uint64_t product;
    if (__builtin_expect(!__builtin_mul_overflow(bytes, k, &product), 1)) return product / n;
    return (weft_bytes)((unsigned __int128)bytes * k / n);
}

/// The NCCL scheme: a channel's bytes are handled in loops; in each, the array is this many blocks of a chunk (in the
/// last loop, of the rest), and each step handles a block, slice by slice.
struct weft__loops {
    weft_bytes bytes, loop_bytes;
    uint64_t loops;
    uint32_t slices_max;
    weft_bytes slice_min;
    uint32_t full_blocks, last_blocks; ///< in loops before the last, in the last
    uint32_t full_slices, last_slices; ///< per block of these
};
/// The position of a loop, and its numbers of blocks and slices.
struct weft__loop {
    weft_bytes start, bytes;
    uint32_t blocks, slices;
};
/// A step: number `j` of its loop, and the slice.
struct weft__loop_step {
    struct weft__loop loop;
    uint64_t j;
    uint32_t slice;
};

struct weft__loops weft__loops_of(const struct weft_collective_common *common, weft_bytes bytes, uint32_t blocks);
/// Slices of a block of this size, 1 to slices_max.
uint32_t weft__loops_slices_of(const struct weft__loops *loops, weft_bytes block);
/// The same loops, each divided into `parts`, and the last loop's parts into only as many blocks of a chunk as they
/// need. `parts` divides the blocks of `loops`.
struct weft__loops weft__loops_whole_parts(const struct weft__loops *loops, uint32_t parts);
/// Steps (counting slices) if a loop has `per_loop` of them.
uint64_t weft__loops_steps(const struct weft__loops *loops, uint64_t per_loop);
struct weft__loop_step weft__loops_at(const struct weft__loops *loops, uint64_t per_loop, uint64_t index);
/// How many steps from `index` on, all of whose blocks are the loop's, have pieces of the same size before the last
/// number of the loop; at least 1.
uint64_t weft__loops_alike(const struct weft__loops *loops, uint64_t per_loop, uint64_t index);
struct weft__loop weft__loops_loop(const struct weft__loops *loops, uint64_t loop);
/// Bytes in part `part` of `parts` of all loops together, its slices that are not empty, and the largest of them.
/// `parts` divides the blocks.
weft_bytes weft__loops_bytes(const struct weft__loops *loops, uint32_t part, uint32_t parts);
uint64_t weft__loops_slices(const struct weft__loops *loops, uint32_t part, uint32_t parts);
weft_bytes weft__loops_slice_max(const struct weft__loops *loops, uint32_t part, uint32_t parts);
/// Everything that a lane sends if it passes all of `loops` on to one rank.
struct weft_sent weft__loops_sent(const struct weft__loops *loops, uint32_t peer, uint32_t channel);
/// A slice of block `block`: adds its start to ret_step->offset, and sets its bytes.
void weft__loop_piece(const struct weft__loop_step *at, uint32_t block, struct weft_step *ret_step);

/// The largest of the parts of `ranks`: loops are the same for all.
static inline weft_bytes weft__part_max(const struct weft_collective_shape *shape) {
    return shape->bytes / shape->ranks + (shape->bytes % shape->ranks != 0);
}
static inline weft_bytes weft__part_bytes(const struct weft_collective_shape *shape, uint32_t part) {
    return weft__part(shape->bytes, part + UINT64_C(1), shape->ranks) - weft__part(shape->bytes, part, shape->ranks);
}
/// Limits a piece of a part of the largest size to the size of part `part`, and moves its offset into the array.
void weft__placement_in_part(const struct weft_collective_shape *shape, uint32_t part, struct weft_step *step);

/// For every collective's table; conf begins with common. In a ring every rank has sent a chunk before it takes the
/// first slice out, and then takes one out only when it can pass it on: without room for one slice more than a chunk,
/// no rank would ever advance.
const char *weft__collective_check(const void *conf, char *text, size_t size);

/// A step without peers.
static inline void weft__step_clear(struct weft_step *step, uint32_t channel) {
    *step = (struct weft_step){.channel = channel};
    for (uint32_t k = 0; k < WEFT_STEP_PEERS; k++)
        step->recv[k] = step->send[k] = WEFT_NONE;
}

/// The rings of NCCL: through all ranks of a server, then to the next server. Channel c enters a server at its c-th
/// rank; every other server is traversed backwards, so that each hop between servers connects ranks with the same
/// number, which rail-optimised cabling puts on one switch. (With an odd number of servers the closing hop does not.)
uint32_t weft__ring_rank(const struct weft_collective_shape *shape, uint32_t channel, uint32_t position);

/// A channel's part of `bytes`, if there are as many channels as lanes, and the loops over it.
struct weft__channel {
    weft_bytes start;
    struct weft__loops loops;
};
uint32_t weft__ring_lanes(const void *conf, const struct weft_collective_shape *shape); ///< conf: begins with common
struct weft__channel weft__channel_of(const struct weft_collective_common *common,
                                      const struct weft_collective_shape *shape, uint32_t channel, weft_bytes bytes,
                                      uint32_t blocks);
/// Makes what a lane sends of the largest part, cut into loops by the channel, what it sends of so many parts, of which
/// `smaller` lack the last byte. Only the channel that ends there sends less, and one message less if its last slice is
/// that byte.
void weft__sent_parts(const struct weft__channel *channel, const struct weft_collective_shape *shape, uint64_t parts,
                      uint64_t smaller, struct weft_sent *sent);

/// What the ring collectives share: one channel per lane, and a rank's position in its ring.
struct weft__ring {
    uint32_t position, previous, next;
    weft_bytes start; ///< of the channel's part
    struct weft__loops loops;
};
struct weft__ring weft__ring_of(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                                uint32_t rank, uint32_t channel, weft_bytes bytes, uint32_t blocks);
/// For a ring over which each rank sends every part except `left_out`; its loops are over the largest part.
struct weft_sent weft__ring_parts_sent(const struct weft__ring *ring, const struct weft_collective_shape *shape,
                                       uint32_t channel, uint32_t left_out);
