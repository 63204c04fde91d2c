// SPDX-License-Identifier: Apache-2.0
// Two collectives between the root and every other rank. Source: NCCL has no kernels for them; nccl-tests (gather.cu,
// scatter.cu) issues one send or receive per peer at the root and its counterpart at each other rank in a group, and so
// do we. Volume: (n - 1) / n of the size, which is that of the root's array.
//   gather   the root takes the parts in turn in each channel, and in parallel across channels; an incast, as far as
//            clear-to-send allows
//   scatter  the root sends each rank its part, one after the other in each channel, and in parallel across channels
#include "pairs.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT__PAIRS_ROWS(struct conf)};
static const struct weft_param_table gather_table =
    WEFT_PARAM_TABLE("gather", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table scatter_table =
    WEFT_PARAM_TABLE("scatter", struct conf, rows, .check = weft__collective_check);

/// Those of weft__pairs_steps that have a peer: only the root sends, or only the root receives, and other ranks have
/// steps with the root only. *ret_first is where they begin among those of weft__pairs_step.
static uint64_t rooted_steps(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                             uint32_t rank, uint32_t lane, bool root_sends, uint64_t *ret_first) {
    struct weft__pairs pairs = weft__pairs_of(common, shape, 1, 1);
    uint32_t n = shape->ranks, channels = pairs.lanes;
    bool sends = lane % 2 == 0, is_root = rank == shape->root;
    weft_bytes part_max = weft__part_max(shape);
    *ret_first = 0;
    if (sends == root_sends) return is_root ? weft__pairs_steps(&pairs, lane / 2, part_max) : 0;
    uint32_t distance = ((root_sends ? rank + n - shape->root : shape->root + n - rank) % n);
    if (is_root || (distance - 1) % channels != lane / 2) return 0;
    *ret_first = (distance - 1) / channels * weft__pairs_chunks(&pairs, part_max);
    return weft__pairs_chunks(&pairs, part_max);
}

static weft_bytes rooted_part(const struct weft_collective_shape *shape, uint32_t src, uint32_t dst, bool root_sends) {
    return (root_sends ? src : dst) == shape->root ? weft__part_bytes(shape, root_sends ? dst : src) : 0;
}

static void rooted_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        uint64_t index, bool root_sends, struct weft_step *ret_step) {
    uint64_t first;
    rooted_steps(conf, shape, rank, lane, root_sends, &first);
    struct weft__pairs pairs = weft__pairs_of(conf, shape, 1, 1);
    struct weft__chunk k = weft__pairs_step(&pairs, rank, lane, first + index, weft__part_max(shape), ret_step);
    ret_step->offset = k.src * shape->bytes;
    if (root_sends) ret_step->offset += weft__part(shape->bytes, k.dst, shape->ranks);
    weft__pairs_cut(ret_step, &k, rooted_part(shape, k.src, k.dst, root_sends));
}

static uint32_t rooted_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return 2 * weft__pairs_of(conf, shape, 1, 1).lanes;
}

static weft_bytes gather_part(const void *conf, const struct weft_collective_shape *shape, uint32_t src, uint32_t dst) {
    return rooted_part(shape, src, dst, false);
}

static uint64_t gather_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                             uint32_t lane) {
    uint64_t first;
    return rooted_steps(conf, shape, rank, lane, false, &first);
}

static void gather_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        uint64_t index, struct weft_step *ret_step) {
    rooted_step(conf, shape, rank, lane, index, false, ret_step);
}

static uint32_t gather_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return rank != shape->root;
}

static void gather_send(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                        struct weft_sent *ret_sent) {
    uint32_t distance = (uint32_t)((shape->root + (uint64_t)shape->ranks - rank) % shape->ranks);
    struct weft__pairs pairs = weft__pairs_of(conf, shape, 1, 1);
    *ret_sent = weft__pairs_sent(&pairs, rank, distance, 0, weft__part_bytes(shape, rank));
}

const struct weft_model weft__collective_gather =
    WEFT_MODEL_OF(COLLECTIVE, "gather", "every rank sends its part to the first one",
                  "a send and a receive a peer, as nccl-tests does over NCCL 2.x", &gather_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_EXCHANGE,
                                                      .lanes = rooted_lanes,
                                                      .steps = gather_steps,
                                                      .step = gather_step,
                                                      .sends = gather_sends,
                                                      .send = gather_send,
                                                      .part = gather_part});

static weft_bytes scatter_part(const void *conf, const struct weft_collective_shape *shape, uint32_t src,
                               uint32_t dst) {
    return rooted_part(shape, src, dst, true);
}

static uint64_t scatter_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                              uint32_t lane) {
    uint64_t first;
    return rooted_steps(conf, shape, rank, lane, true, &first);
}

static void scatter_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                         uint64_t index, struct weft_step *ret_step) {
    rooted_step(conf, shape, rank, lane, index, true, ret_step);
}

static uint32_t scatter_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return rank == shape->root ? shape->ranks - 1 : 0;
}

static void scatter_send(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                         struct weft_sent *ret_sent) {
    uint32_t dst = (uint32_t)((rank + index + UINT64_C(1)) % shape->ranks);
    struct weft__pairs pairs = weft__pairs_of(conf, shape, 1, 1);
    *ret_sent = weft__pairs_sent(&pairs, rank, index + 1, 0, rooted_part(shape, rank, dst, true));
}

const struct weft_model weft__collective_scatter =
    WEFT_MODEL_OF(COLLECTIVE, "scatter", "one rank sends every other its part",
                  "a send and a receive a peer, as nccl-tests does over NCCL 2.x", &scatter_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_EXCHANGE,
                                                      .lanes = rooted_lanes,
                                                      .steps = scatter_steps,
                                                      .step = scatter_step,
                                                      .sends = scatter_sends,
                                                      .send = scatter_send,
                                                      .part = scatter_part});
