// SPDX-License-Identifier: Apache-2.0
// Hierarchical all-gather: a ring all-gather among the ranks with the same number in their servers (a rail), then one
// among the G ranks of each server. Source: the usual scheme of multi-rail clusters, the second half of a hierarchical
// all-reduce. Volume, over M servers: each rank sends (G - 1) / G of the size within its server and (M - 1) / M of a
// G-th over the network. The ranks' parts are divided among channels, in the order in which rails gather them.
#include "hierarchy.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4")};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("all_gather_hierarchical", struct conf, rows, weft__collective_check);

static uint64_t hier_gather_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                  uint32_t lane) {
    (void)rank;
    return weft__hierarchy_steps(conf, shape, lane, false);
}

static void hier_gather_plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                             void *ret_plan) {
    *(struct weft__hierarchy_plan *)ret_plan = weft__hierarchy_plan(conf, shape, rank, lane, false);
}

static void hier_gather_planned(const void *plan, uint64_t index, struct weft_step *ret_step) {
    weft__hierarchy_step(plan, index, ret_step);
}

static void hier_gather_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                             uint64_t index, struct weft_step *ret_step) {
    struct weft__hierarchy_plan p = weft__hierarchy_plan(conf, shape, rank, lane, false);
    weft__hierarchy_step(&p, index, ret_step);
}

static uint32_t hier_gather_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                 uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return weft__hierarchy_sent(conf, shape, rank, lane, false, ret_sent);
}

static const struct weft_collective_ops ops = {
    .goal = WEFT_GOAL_ALL_GATHER,
    .lanes = weft__ring_lanes,
    .steps = hier_gather_steps,
    .step = hier_gather_step,
    .plan_size = sizeof(struct weft__hierarchy_plan),
    .plan = hier_gather_plan,
    .planned = hier_gather_planned,
    .sent = hier_gather_sent,
    .owner = weft__hierarchy_owner,
};

const struct weft_model weft__collective_all_gather_hierarchical = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "all_gather_hierarchical",
    .summary = "all-gather in two stages: along each rail, within servers",
    .source = "hierarchical all-gather of multi-rail clusters; rings as in NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
