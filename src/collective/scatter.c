// SPDX-License-Identifier: Apache-2.0
// Scatter: the root sends each rank its part, one after the other in each channel, and in parallel across channels.
// Source: NCCL has no kernel for it; nccl-tests (scatter.cu) issues one send per peer at the root and one receive at
// each other rank in a group, and so do we. Volume: (n - 1) / n of the size, which is that of the root's array.
#include "pairs.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT__PAIRS_ROWS(struct conf)};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("scatter", struct conf, rows, weft__collective_check);

static weft_bytes scatter_part(const void *conf, const struct weft_collective_shape *shape, uint32_t src,
                               uint32_t dst) {
    if (src != shape->root) return 0;
    return weft__part(shape->bytes, dst + UINT64_C(1), shape->ranks) - weft__part(shape->bytes, dst, shape->ranks);
}

static uint64_t scatter_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                              uint32_t lane) {
    const struct conf *c = conf;
    uint64_t first;
    return weft__rooted_steps(&c->common, shape, rank, lane, weft__part_max(shape), true, &first);
}

static void scatter_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                         uint64_t index, struct weft_step *ret_step) {
    const struct conf *c = conf;
    uint64_t first;
    weft_bytes part_max = weft__part_max(shape);
    weft__rooted_steps(&c->common, shape, rank, lane, part_max, true, &first);
    struct weft__chunk k = weft__pairs_step(&c->common, shape, rank, lane, first + index, part_max, ret_step);
    weft__pairs_cut(ret_step, k.start, scatter_part(conf, shape, k.src, k.dst));
    ret_step->offset = k.src * shape->bytes + weft__part(shape->bytes, k.dst, shape->ranks) + k.start;
}

static uint32_t scatter_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return rank == shape->root ? shape->ranks - 1 : 0;
}

static void send_to(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                    struct weft_sent *ret_sent) {
    uint32_t dst = (uint32_t)((rank + index + UINT64_C(1)) % shape->ranks);
    *ret_sent = weft__pairs_sent(conf, shape, rank, index + 1, scatter_part(conf, shape, rank, dst));
}

static const struct weft_collective_ops ops = {.goal = WEFT_GOAL_EXCHANGE,
                                               .lanes = weft__pairs_lanes,
                                               .steps = scatter_steps,
                                               .step = scatter_step,
                                               .sends = scatter_sends,
                                               .send = send_to,
                                               .part = scatter_part};

const struct weft_model weft__collective_scatter = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "scatter",
    .summary = "one rank sends every other its part",
    .source = "a send and a receive a peer, as nccl-tests does over NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
