// SPDX-License-Identifier: Apache-2.0
// Two collectives in which every part but one goes round a ring. Source and order: Patarasuk and Yuan, JPDC 2009, as in
// NCCL. Volume of both: each rank sends (n - 1) / n of the size.
//   all_gather      the second half of a ring all-reduce: each rank sends its part, then what it received before
//   reduce_scatter  the first half: block r of the array travels round the ring, gathering contributions, and ends at
//                   rank r
#include "part.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4")};
static const struct weft_param_table all_gather_table =
    WEFT_PARAM_TABLE("all_gather", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table reduce_scatter_table =
    WEFT_PARAM_TABLE("reduce_scatter", struct conf, rows, .check = weft__collective_check);

static uint64_t per_loop(const struct weft_collective_shape *shape) {
    return shape->ranks > 1 ? shape->ranks : 0;
}

static uint64_t ring_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    struct weft__ring ring = weft__ring_of(conf, shape, rank, lane, weft__part_max(shape), 1);
    return weft__loops_steps(&ring.loops, per_loop(shape));
}

static void ring_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                      uint64_t index, bool reduces, struct weft_step *ret_step) {
    uint32_t n = shape->ranks;
    struct weft__ring ring = weft__ring_of(conf, shape, rank, lane, weft__part_max(shape), 1);
    struct weft__loop_step at = weft__loops_at(&ring.loops, per_loop(shape), index);
    weft__step_clear(ret_step, lane);
    uint32_t block = weft__ring_rank(shape, lane, (uint32_t)((ring.position + 2 * (uint64_t)n - reduces - at.j) % n));
    ret_step->offset = ring.start;
    weft__loop_piece(&at, 0, ret_step);
    weft__placement_in_part(shape, block, ret_step);
    if (at.j > 0) ret_step->recv[0] = ring.previous;
    if (at.j + 1 < n) ret_step->send[0] = ring.next;
    ret_step->own = reduces || at.j == 0;
    ret_step->keep = reduces ? at.j + 1 == n : at.j > 0;
}

/// Every part except that of the rank at position `left_out` after the sender.
static uint32_t ring_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                          uint32_t left_out, struct weft_sent *ret_sent) {
    if (shape->ranks == 1) return 0;
    struct weft__ring ring = weft__ring_of(conf, shape, rank, lane, weft__part_max(shape), 1);
    uint32_t position = (ring.position + left_out) % shape->ranks;
    *ret_sent = weft__ring_parts_sent(&ring, shape, lane, weft__ring_rank(shape, lane, position));
    return 1;
}

static void all_gather_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                            uint64_t index, struct weft_step *ret_step) {
    ring_step(conf, shape, rank, lane, index, false, ret_step);
}

static uint32_t all_gather_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return ring_sent(conf, shape, rank, lane, 1, ret_sent);
}

const struct weft_model weft__collective_all_gather =
    WEFT_MODEL_OF(COLLECTIVE, "all_gather", "all-gather round rings: each rank sends (n - 1) / n of the size",
                  "Patarasuk and Yuan, JPDC 2009; chunks and slices as in NCCL 2.x", &all_gather_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_ALL_GATHER,
                                                      .lanes = weft__ring_lanes,
                                                      .steps = ring_steps,
                                                      .step = all_gather_step,
                                                      .sent = all_gather_sent});

static void reduce_scatter_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                uint32_t lane, uint64_t index, struct weft_step *ret_step) {
    ring_step(conf, shape, rank, lane, index, true, ret_step);
}

static uint32_t reduce_scatter_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                    uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return ring_sent(conf, shape, rank, lane, 0, ret_sent);
}

const struct weft_model weft__collective_reduce_scatter =
    WEFT_MODEL_OF(COLLECTIVE, "reduce_scatter", "reduce-scatter round rings: each rank sends (n - 1) / n of the size",
                  "Patarasuk and Yuan, JPDC 2009; chunks and slices as in NCCL 2.x", &reduce_scatter_table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_REDUCE_SCATTER,
                                                      .lanes = weft__ring_lanes,
                                                      .steps = ring_steps,
                                                      .step = reduce_scatter_step,
                                                      .sent = reduce_scatter_sent});
