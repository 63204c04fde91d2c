// SPDX-License-Identifier: Apache-2.0
// Two collectives in which the data goes round the ring as a pipeline, chunk by chunk.
//   broadcast  from the root on, each rank passing it on and keeping a copy; source: NCCL's ring broadcast. Volume:
//   each
//              rank but the last of the ring sends the size once.
//   reduce     from the rank after the root to the root, each rank adding its own; source: NCCL's ring reduce. Volume:
//              each rank but the root sends the size once.
#include "part.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "512KiB", "512KiB", "8")};
static const struct weft_param_table broadcast_table =
    WEFT_PARAM_TABLE("broadcast", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table reduce_table =
    WEFT_PARAM_TABLE("reduce", struct conf, rows, .check = weft__collective_check);

static uint64_t ring_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    struct weft__ring ring = weft__ring_of(conf, shape, rank, lane, shape->bytes, 1);
    return weft__loops_steps(&ring.loops, shape->ranks > 1);
}

static void ring_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                      uint64_t index, bool reduces, struct weft_step *ret_step) {
    struct weft__ring ring = weft__ring_of(conf, shape, rank, lane, shape->bytes, 1);
    struct weft__loop_step at = weft__loops_at(&ring.loops, 1, index);
    weft__step_clear(ret_step, lane);
    ret_step->offset = ring.start;
    weft__loop_piece(&at, 0, ret_step);
    if ((reduces ? ring.previous : rank) != shape->root) ret_step->recv[0] = ring.previous;
    if ((reduces ? rank : ring.next) != shape->root) ret_step->send[0] = ring.next;
    ret_step->own = reduces || rank == shape->root;
    ret_step->keep = reduces == (rank == shape->root);
}

static uint32_t ring_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                          bool reduces, struct weft_sent *ret_sent) {
    struct weft__ring ring = weft__ring_of(conf, shape, rank, lane, shape->bytes, 1);
    if ((reduces ? rank : ring.next) == shape->root) return 0;
    *ret_sent = weft__loops_sent(&ring.loops, ring.next, lane);
    return 1;
}

static void broadcast_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                           uint64_t index, struct weft_step *ret_step) {
    ring_step(conf, shape, rank, lane, index, false, ret_step);
}

static uint32_t broadcast_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                               uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return ring_sent(conf, shape, rank, lane, false, ret_sent);
}

const struct weft_model weft__collective_broadcast =
    WEFT_MODEL_OF(COLLECTIVE, "broadcast", "from one rank to all, as a pipeline round rings",
                  "ring broadcast of NCCL 2.x", &broadcast_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_BROADCAST,
                                                      .lanes = weft__ring_lanes,
                                                      .steps = ring_steps,
                                                      .step = broadcast_step,
                                                      .sent = broadcast_sent});

static void reduce_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        uint64_t index, struct weft_step *ret_step) {
    ring_step(conf, shape, rank, lane, index, true, ret_step);
}

static uint32_t reduce_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                            struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return ring_sent(conf, shape, rank, lane, true, ret_sent);
}

const struct weft_model weft__collective_reduce =
    WEFT_MODEL_OF(COLLECTIVE, "reduce", "the sum of all ranks at one, as a pipeline round rings",
                  "ring reduce of NCCL 2.x", &reduce_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_REDUCE,
                                                      .lanes = weft__ring_lanes,
                                                      .steps = ring_steps,
                                                      .step = reduce_step,
                                                      .sent = reduce_sent});
