// SPDX-License-Identifier: Apache-2.0
// Gather: every rank sends its part to the root, which takes the parts in turn in each channel, and in parallel across
// channels; an incast, as far as clear-to-send allows. Source: NCCL has no kernel for it; nccl-tests (gather.cu) issues
// one receive per peer at the root and one send at each other rank in a group, and so do we. Volume: (n - 1) / n of the
// size, which is that of the root's array.
#include "pairs.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT__PAIRS_ROWS(struct conf)};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("gather", struct conf, rows, weft__collective_check);

static weft_bytes gather_part(const void *conf, const struct weft_collective_shape *shape, uint32_t src, uint32_t dst) {
    if (dst != shape->root) return 0;
    return weft__part(shape->bytes, src + UINT64_C(1), shape->ranks) - weft__part(shape->bytes, src, shape->ranks);
}

static uint64_t gather_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                             uint32_t lane) {
    const struct conf *c = conf;
    uint64_t first;
    return weft__rooted_steps(&c->common, shape, rank, lane, weft__part_max(shape), false, &first);
}

static void gather_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        uint64_t index, struct weft_step *ret_step) {
    const struct conf *c = conf;
    uint64_t first;
    weft_bytes part_max = weft__part_max(shape);
    weft__rooted_steps(&c->common, shape, rank, lane, part_max, false, &first);
    struct weft__chunk k = weft__pairs_step(&c->common, shape, rank, lane, first + index, part_max, ret_step);
    weft__pairs_cut(ret_step, k.start, gather_part(conf, shape, k.src, k.dst));
    ret_step->offset = k.src * shape->bytes + k.start;
}

static uint32_t gather_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return rank != shape->root;
}

static void send_to(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                    struct weft_sent *ret_sent) {
    uint32_t distance = (uint32_t)((shape->root + (uint64_t)shape->ranks - rank) % shape->ranks);
    *ret_sent = weft__pairs_sent(conf, shape, rank, distance, gather_part(conf, shape, rank, shape->root));
}

static const struct weft_collective_ops ops = {.goal = WEFT_GOAL_EXCHANGE,
                                               .lanes = weft__pairs_lanes,
                                               .steps = gather_steps,
                                               .step = gather_step,
                                               .sends = gather_sends,
                                               .send = send_to,
                                               .part = gather_part};

const struct weft_model weft__collective_gather = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "gather",
    .summary = "every rank sends its part to the first one",
    .source = "a send and a receive a peer, as nccl-tests does over NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
