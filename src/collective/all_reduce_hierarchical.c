// SPDX-License-Identifier: Apache-2.0
// Hierarchical all-reduce: a ring reduce-scatter among the G ranks of a server, a ring all-reduce of each part among
// the ranks with the same number in their servers (a rail), a ring all-gather in the server. Source: the usual scheme
// of multi-rail clusters, e.g. "hierarchical collectives" in Meta, SIGCOMM 2024, section 2. Volume, over M servers:
// each rank sends 2 (G - 1) / G of the size within its server and 2 (M - 1) / M of a G-th over the network.
#include "hierarchy.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4")};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("all_reduce_hierarchical", struct conf, rows, weft__collective_check);

static uint64_t hier_reduce_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                  uint32_t lane) {
    (void)rank;
    return weft__hierarchy_steps(conf, shape, lane, true);
}

static void hier_reduce_plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                             void *ret_plan) {
    *(struct weft__hierarchy_plan *)ret_plan = weft__hierarchy_plan(conf, shape, rank, lane, true);
}

static void hier_reduce_planned(const void *plan, uint64_t index, struct weft_step *ret_step) {
    weft__hierarchy_step(plan, index, ret_step);
}

static void hier_reduce_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                             uint64_t index, struct weft_step *ret_step) {
    struct weft__hierarchy_plan p = weft__hierarchy_plan(conf, shape, rank, lane, true);
    weft__hierarchy_step(&p, index, ret_step);
}

static uint32_t hier_reduce_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                 uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return weft__hierarchy_sent(conf, shape, rank, lane, true, ret_sent);
}

static const struct weft_collective_ops ops = {
    .goal = WEFT_GOAL_ALL_REDUCE,
    .lanes = weft__ring_lanes,
    .steps = hier_reduce_steps,
    .step = hier_reduce_step,
    .plan_size = sizeof(struct weft__hierarchy_plan),
    .plan = hier_reduce_plan,
    .planned = hier_reduce_planned,
    .sent = hier_reduce_sent,
};

const struct weft_model weft__collective_all_reduce_hierarchical = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "all_reduce_hierarchical",
    .summary = "all-reduce in three stages: within servers, along each rail, within servers",
    .source = "hierarchical all-reduce of multi-rail clusters; rings as in NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
