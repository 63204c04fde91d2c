// SPDX-License-Identifier: Apache-2.0
// All-gather and reduce-scatter over parallel trees (PAT), of one rank a server. Each part has a binomial tree of its
// own, whose root is the rank of the part: a rank at offset o from the root has its parent where the lowest bit of o is
// cleared. An all-gather goes down all trees at once, far hops first, so that what goes far is little; a reduce-scatter
// goes up, near hops first. So a chunk is done after log2 n hops. A lane sends and another receives; what is passed on
// waits for the other lane. Source: NVIDIA/nccl, src/include/collectives.h (PatAGAlgorithm, PatRSAlgorithm); S.
// Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", arXiv 2506.20252. Differs: the
// parts that a hop carries are messages of their own (there, as many are joined as buffers hold), of which `slots` may
// be under way; nothing is said of GPUs of the same server. Volume: each rank sends (n - 1) / n of the size.
#include "part.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "512KiB", "512KiB", "32")};
static const struct weft_param_table gather_table =
    WEFT_PARAM_TABLE("all_gather_pat", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table scatter_table =
    WEFT_PARAM_TABLE("reduce_scatter_pat", struct conf, rows, .check = weft__collective_check);

/// Trees in which a rank has a hop of this length: those at whose offsets 0, 2 hop, 4 hop ... there is one.
static uint32_t trees_with(uint32_t n, uint32_t hop) {
    return hop < n ? (n - hop - 1) / (2 * hop) + 1 : 0;
}

static uint32_t longest_hop(uint32_t n) {
    uint32_t hop = 1;
    while (2 * hop < n)
        hop *= 2;
    return hop;
}

/// A transfer between the ends of a hop in one of these trees: the end nearer to the root is at offset 2 hop tree.
struct transfer {
    uint32_t hop, tree;
};

/// The number-th in the order of the collective, or the reverse.
static struct transfer transfer_at(uint32_t n, bool reduces, uint64_t number) {
    uint32_t hop = reduces ? 1 : longest_hop(n);
    while (number >= trees_with(n, hop)) {
        number -= trees_with(n, hop);
        hop = reduces ? 2 * hop : hop / 2;
    }
    return (struct transfer){hop, (uint32_t)number};
}
static uint64_t number_of(uint32_t n, bool reduces, struct transfer t) {
    uint64_t number = t.tree;
    for (uint32_t hop = reduces ? 1 : longest_hop(n); hop != t.hop; hop = reduces ? 2 * hop : hop / 2)
        number += trees_with(n, hop);
    return number;
}

/// The transfer by which a rank has received the last that it needs before it sends; hop 0: there is none.
static struct transfer needed_before(uint32_t n, bool reduces, struct transfer sent) {
    uint32_t offset = 2 * sent.hop * sent.tree;
    if (!reduces) { // what it passes down came up to its own offset
        uint32_t hop = offset & -offset;
        return (struct transfer){hop, hop ? (offset - hop) / (2 * hop) : 0};
    }
    offset += sent.hop; // of the rank itself: its last child in the tree is the farthest
    uint32_t hop = sent.hop / 2;
    while (hop && offset + hop >= n)
        hop /= 2;
    return (struct transfer){hop, hop ? offset / (2 * hop) : 0};
}

static uint32_t pat_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return 2 * weft__ring_lanes(conf, shape);
}

static uint64_t pat_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    struct weft__channel channel = weft__channel_of(conf, shape, lane / 2, weft__part_max(shape), 1);
    return weft__loops_steps(&channel.loops, shape->ranks - UINT64_C(1));
}

/// The rank at the other end of a hop; all-gathers go up in numbers, reduce-scatters down.
static uint32_t peer_of(uint32_t n, uint32_t rank, uint32_t hop, bool up) {
    return (uint32_t)((rank + (uint64_t)(up ? hop : n - hop)) % n);
}

static void pat_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                     uint64_t index, bool reduces, struct weft_step *ret_step) {
    uint32_t n = shape->ranks;
    bool sends = lane % 2 == 0;
    struct weft__channel channel = weft__channel_of(conf, shape, lane / 2, weft__part_max(shape), 1);
    struct weft__loop_step at = weft__loops_at(&channel.loops, n - UINT64_C(1), index);
    struct transfer t = transfer_at(n, reduces, at.j);
    weft__step_clear(ret_step, lane / 2);
    *(sends ? ret_step->send : ret_step->recv) = peer_of(n, rank, t.hop, sends != reduces);
    bool outer = sends == reduces; // this rank is the end farther from the root
    uint32_t offset = (2 * t.tree + outer) * t.hop;
    ret_step->offset = channel.start;
    weft__loop_piece(&at, 0, ret_step);
    weft__placement_in_part(shape, (rank + n - offset) % n, ret_step);
    ret_step->own = sends || reduces;
    ret_step->keep = !sends;
    struct transfer before = needed_before(n, reduces, t);
    if (!sends || !before.hop || !ret_step->bytes) return;
    ret_step->wait_lane = lane + 1;
    ret_step->wait_steps = index + 1 - (at.j - number_of(n, reduces, before)) * at.loop.slices;
}

static uint32_t hops_of(uint32_t n) {
    uint32_t hops = 0;
    while (1u << hops < n)
        hops++;
    return hops;
}

static uint32_t pat_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return hops_of(shape->ranks) * weft__ring_lanes(conf, shape);
}

static void pat_send(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                     bool reduces, struct weft_sent *ret_sent) {
    uint32_t n = shape->ranks, hops = hops_of(n), hop = 1u << index % hops, smaller = 0;
    struct weft__channel channel = weft__channel_of(conf, shape, index / hops, weft__part_max(shape), 1);
    for (uint32_t tree = 0; tree < trees_with(n, hop) && shape->bytes % n; tree++)
        smaller += weft__part_bytes(shape, (rank + n - (2 * tree + reduces) * hop) % n) < weft__part_max(shape);
    *ret_sent = weft__loops_sent(&channel.loops, peer_of(n, rank, hop, !reduces), index / hops);
    weft__sent_parts(&channel, shape, trees_with(n, hop), smaller, ret_sent);
}

#define WEFT__PAT(name, reduces)                                                                                       \
    static void name##_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane, \
                            uint64_t index, struct weft_step *ret_step) {                                              \
        pat_step(conf, shape, rank, lane, index, reduces, ret_step);                                                   \
    }                                                                                                                  \
    static void name##_send(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,                \
                            uint32_t index, struct weft_sent *ret_sent) {                                              \
        pat_send(conf, shape, rank, index, reduces, ret_sent);                                                         \
    }
WEFT__PAT(gather, false)
WEFT__PAT(scatter, true)

#define WEFT__PAT_OPS(name)                                                                                            \
    .lanes = pat_lanes, .channels = weft__ring_lanes, .steps = pat_steps, .step = name##_step, .sends = pat_sends,     \
    .send = name##_send

const struct weft_model weft__collective_all_gather_pat =
    WEFT_MODEL_OF(COLLECTIVE, "all_gather_pat", "all-gather down a binomial tree of each rank, all at once (PAT)",
                  "NVIDIA/nccl, src/include/collectives.h; Jeaugey, arXiv 2506.20252", &gather_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_ALL_GATHER, WEFT__PAT_OPS(gather)});
const struct weft_model weft__collective_reduce_scatter_pat =
    WEFT_MODEL_OF(COLLECTIVE, "reduce_scatter_pat", "reduce-scatter up a binomial tree of each rank, all at once (PAT)",
                  "NVIDIA/nccl, src/include/collectives.h; Jeaugey, arXiv 2506.20252", &scatter_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_REDUCE_SCATTER, WEFT__PAT_OPS(scatter)});
