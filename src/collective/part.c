// SPDX-License-Identifier: Apache-2.0
// How NCCL divides the data of a collective, and its rings. Facts: NCCL 2.x, src/device (loops, chunks, slices; a slice
// is never less than a 32nd of its full size), src/graph/rings. Differences: parts are even to the byte, not aligned
// to 16 or to elements; rings are the ones of part.h, not searched.
#include "part.h"

#include <assert.h>
#include <inttypes.h>

#include "base/units.h"

enum { SLICE_SHRINKS = 32 };

uint32_t weft__loops_slices_of(const struct weft__loops *loops, weft_bytes block) {
    weft_bytes n = (block + loops->slice_min - 1) / loops->slice_min;
    return n < 1 ? 1 : n > loops->slices_max ? loops->slices_max : (uint32_t)n;
}

static weft_bytes divide_up(weft_bytes bytes, uint64_t by) {
    return bytes / by + (bytes % by != 0);
}

const char *weft__collective_check(const void *conf, char *text, size_t size) {
    const struct weft_collective_common *c = conf;
    weft_bytes slices = divide_up(c->chunk_bytes, c->slice_bytes);
    if (slices < c->slots) return NULL;
    return WEFT_SAY(
        text, size,
        "a chunk of %s is %s of %s and a connection has %s: expected one more than slices, or ranks wait for one "
        "another for ever",
        weft__short_bytes(c->chunk_bytes).text, weft__counted(slices, "slice").text,
        weft__short_bytes(c->slice_bytes).text, weft__counted(c->slots, "slot").text);
}

/// Bytes in the last loop: all others are full.
static weft_bytes last_bytes(const struct weft__loops *loops) {
    return loops->bytes - (loops->loops - 1) * loops->loop_bytes;
}

static void slice_loops(struct weft__loops *loops) {
    if (!loops->loops) return;
    loops->last_slices = weft__loops_slices_of(loops, divide_up(last_bytes(loops), loops->last_blocks));
    if (loops->loops > 1)
        loops->full_slices = weft__loops_slices_of(loops, divide_up(loops->loop_bytes, loops->full_blocks));
}

struct weft__loops weft__loops_of(const struct weft_collective_common *common, weft_bytes bytes, uint32_t blocks) {
    weft_bytes slice_bytes = common->slice_bytes < common->chunk_bytes ? common->slice_bytes : common->chunk_bytes;
    struct weft__loops loops = {
        .bytes = bytes,
        .loop_bytes = blocks * common->chunk_bytes,
        .slices_max = (uint32_t)divide_up(common->chunk_bytes, slice_bytes),
        .slice_min = slice_bytes / SLICE_SHRINKS + 1,
        .full_blocks = blocks,
        .last_blocks = blocks,
    };
    loops.loops = divide_up(bytes, loops.loop_bytes);
    slice_loops(&loops);
    return loops;
}

struct weft__loops weft__loops_whole_parts(const struct weft__loops *loops, uint32_t parts) {
    struct weft__loops whole = *loops;
    if (!loops->loops) return whole;
    weft_bytes chunk = loops->loop_bytes / loops->full_blocks, part = divide_up(last_bytes(loops), parts);
    whole.last_blocks = parts * (uint32_t)divide_up(part, chunk);
    slice_loops(&whole);
    return whole;
}

uint64_t weft__loops_steps(const struct weft__loops *loops, uint64_t per_loop) {
    if (!loops->loops) return 0;
    return per_loop * ((loops->loops - 1) * loops->full_slices + loops->last_slices);
}

struct weft__loop weft__loops_loop(const struct weft__loops *loops, uint64_t loop) {
    bool last = loop + 1 == loops->loops;
    weft_bytes start = loop * loops->loop_bytes;
    return (struct weft__loop){
        .start = start,
        .bytes = last ? loops->bytes - start : loops->loop_bytes,
        .blocks = last ? loops->last_blocks : loops->full_blocks,
        .slices = last ? loops->last_slices : loops->full_slices,
    };
}

struct weft__loop_step weft__loops_at(const struct weft__loops *loops, uint64_t per_loop, uint64_t index) {
    assert(loops->loops);
    uint64_t full = per_loop * loops->full_slices, loop = full ? index / full : 0;
    if (loop >= loops->loops) loop = loops->loops - 1; // it has fewer slices
    index -= loop * full;
    struct weft__loop_step at = {.loop = weft__loops_loop(loops, loop)};
    assert(at.loop.slices);
    at.j = index / at.loop.slices;
    at.slice = (uint32_t)(index - at.j * at.loop.slices);
    return at;
}

uint64_t weft__loops_alike(const struct weft__loops *loops, uint64_t per_loop, uint64_t index) {
    struct weft__loop_step at = weft__loops_at(loops, per_loop, index);
    bool even = at.loop.bytes % ((uint64_t)at.loop.blocks * at.loop.slices) == 0;
    if (!even || !at.j || at.j + 1 >= per_loop) return 1; // the first and the last have other peers
    return (per_loop - 1 - at.j) * at.loop.slices - at.slice;
}

void weft__loop_piece(const struct weft__loop_step *at, uint32_t block, struct weft_step *ret_step) {
    const struct weft__loop *loop = &at->loop;
    weft_bytes begin = weft__part(loop->bytes, block, loop->blocks);
    weft_bytes bytes = weft__part(loop->bytes, block + UINT64_C(1), loop->blocks) - begin;
    weft_bytes from = weft__part(bytes, at->slice, loop->slices);
    ret_step->offset += loop->start + begin + from;
    ret_step->bytes = weft__part(bytes, at->slice + UINT64_C(1), loop->slices) - from;
}

/// In the last loop.
static weft_bytes last_part(const struct weft__loops *loops, uint32_t part, uint32_t parts) {
    weft_bytes last = last_bytes(loops);
    return weft__part(last, part + UINT64_C(1), parts) - weft__part(last, part, parts);
}

weft_bytes weft__loops_bytes(const struct weft__loops *loops, uint32_t part, uint32_t parts) {
    if (!loops->loops) return 0;
    return (loops->loops - 1) * (loops->loop_bytes / parts) + last_part(loops, part, parts);
}

uint64_t weft__loops_slices(const struct weft__loops *loops, uint32_t part, uint32_t parts) {
    if (!loops->loops) return 0;
    // Blocks of the last loop may be empty, but not if the largest has two slices.
    uint64_t filled =
        last_bytes(loops) < loops->last_blocks ? last_part(loops, part, parts) : loops->last_blocks / parts;
    return (loops->loops - 1) * loops->full_slices * (loops->full_blocks / parts) + filled * loops->last_slices;
}

weft_bytes weft__loops_slice_max(const struct weft__loops *loops, uint32_t part, uint32_t parts) {
    if (!loops->loops) return 0;
    // blocks differ by at most one byte
    weft_bytes largest = divide_up(last_part(loops, part, parts), loops->last_blocks / parts);
    weft_bytes last = divide_up(largest, loops->last_slices);
    if (loops->loops == 1) return last;
    weft_bytes full = divide_up(loops->loop_bytes / loops->full_blocks, loops->full_slices);
    return full > last ? full : last;
}

struct weft_sent weft__loops_sent(const struct weft__loops *loops, uint32_t peer, uint32_t channel) {
    return (struct weft_sent){
        .peer = peer,
        .channel = channel,
        .bytes = loops->bytes,
        .message_bytes_max = weft__loops_slice_max(loops, 0, 1),
        .messages = weft__loops_slices(loops, 0, 1),
    };
}

uint32_t weft__ring_rank(const struct weft_collective_shape *shape, uint32_t channel, uint32_t position) {
    uint32_t g = shape->per_server, server = position / g, k = position % g, c = channel % g;
    if (shape->order) return server * g + weft_channel_row(shape->order, shape->order->rank, server, channel)[k];
    uint32_t at = server % 2 ? (c + 2 * g - 1 - k) % g : (c + k) % g;
    return server * g + at;
}

static uint32_t ring_position(const struct weft_collective_shape *shape, uint32_t channel, uint32_t rank) {
    uint32_t g = shape->per_server, server = rank / g, at = rank % g, c = channel % g;
    if (shape->order) return server * g + weft_channel_row(shape->order, shape->order->place, server, channel)[at];
    uint32_t k = server % 2 ? (c + 2 * g - 1 - at) % g : (at + g - c) % g;
    return server * g + k;
}

uint32_t weft__ring_lanes(const void *conf, const struct weft_collective_shape *shape) {
    const struct weft_collective_common *common = conf;
    return common->channels ? (uint32_t)common->channels : shape->per_server;
}

void weft__placement_in_part(const struct weft_collective_shape *shape, uint32_t part, struct weft_step *step) {
    weft_bytes bytes = weft__part_bytes(shape, part);
    if (step->offset >= bytes)
        step->bytes = 0;
    else if (step->bytes > bytes - step->offset)
        step->bytes = bytes - step->offset;
    step->offset += weft__part(shape->bytes, part, shape->ranks);
}

struct weft__channel weft__channel_of(const struct weft_collective_common *common,
                                      const struct weft_collective_shape *shape, uint32_t channel, weft_bytes bytes,
                                      uint32_t blocks) {
    uint32_t channels = weft__ring_lanes(common, shape);
    weft_bytes start = weft__part(bytes, channel, channels);
    return (struct weft__channel){
        start, weft__loops_of(common, weft__part(bytes, channel + UINT64_C(1), channels) - start, blocks)};
}

struct weft__ring weft__ring_of(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                                uint32_t rank, uint32_t channel, weft_bytes bytes, uint32_t blocks) {
    uint32_t n = shape->ranks, position = ring_position(shape, channel, rank);
    struct weft__channel part = weft__channel_of(common, shape, channel, bytes, blocks);
    return (struct weft__ring){
        .position = position,
        .previous = weft__ring_rank(shape, channel, (position ? position : n) - 1),
        .next = weft__ring_rank(shape, channel, position + 1 == n ? 0 : position + 1),
        .start = part.start,
        .loops = part.loops,
    };
}

void weft__sent_parts(const struct weft__channel *channel, const struct weft_collective_shape *shape, uint64_t parts,
                      uint64_t smaller, struct weft_sent *sent) {
    sent->bytes *= parts;
    sent->messages *= parts;
    if (!channel->loops.loops || channel->start + channel->loops.bytes < weft__part_max(shape)) return;
    bool last_is_a_byte = last_bytes(&channel->loops) == channel->loops.last_slices;
    sent->bytes -= smaller;
    sent->messages -= last_is_a_byte ? smaller : 0;
}

struct weft_sent weft__ring_parts_sent(const struct weft__ring *ring, const struct weft_collective_shape *shape,
                                       uint32_t channel, uint32_t left_out) {
    struct weft_sent sent = weft__loops_sent(&ring->loops, ring->next, channel);
    bool is_whole = shape->bytes % shape->ranks == 0;
    uint64_t smaller = is_whole ? 0 : shape->ranks - shape->bytes % shape->ranks;
    smaller -= weft__part_bytes(shape, left_out) < weft__part_max(shape);
    weft__sent_parts(&(struct weft__channel){ring->start, ring->loops}, shape, shape->ranks - 1, smaller, &sent);
    return sent;
}
