// SPDX-License-Identifier: Apache-2.0
// Broadcast as a pipeline: the data goes round the ring from the root, chunk by chunk, each rank passing it on and
// keeping a copy. Source: NCCL's ring broadcast. Volume: each rank but the last of the ring sends the size once.
#include "part.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "512KiB", "512KiB", "8")};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("broadcast", struct conf, rows, weft__collective_check);

static uint64_t bcast_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct conf *c = conf;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, shape->bytes, 1);
    return weft__loops_steps(&ring.loops, shape->ranks > 1);
}

static void bcast_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                       uint64_t index, struct weft_step *ret_step) {
    const struct conf *c = conf;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, shape->bytes, 1);
    struct weft__loop_step at = weft__loops_at(&ring.loops, 1, index);
    weft__step_clear(ret_step, lane);
    ret_step->offset = ring.start;
    weft__loop_piece(&at, 0, ret_step);
    if (rank != shape->root) ret_step->recv[0] = ring.previous;
    if (ring.next != shape->root) ret_step->send[0] = ring.next;
    ret_step->own = rank == shape->root;
    ret_step->keep = rank != shape->root;
}

static uint32_t bcast_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                           struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct conf *c = conf;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, shape->bytes, 1);
    if (ring.next == shape->root) return 0;
    *ret_sent = weft__loops_sent(&ring.loops, ring.next, lane);
    return 1;
}

static const struct weft_collective_ops ops = {.goal = WEFT_GOAL_BROADCAST,
                                               .lanes = weft__ring_lanes,
                                               .steps = bcast_steps,
                                               .step = bcast_step,
                                               .sent = bcast_sent};

const struct weft_model weft__collective_broadcast = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "broadcast",
    .summary = "from one rank to all, as a pipeline round rings",
    .source = "ring broadcast of NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
