// SPDX-License-Identifier: Apache-2.0
// Ring all-gather: each rank sends its part, then what it received before. Source and order: the second half of
// Patarasuk and Yuan, JPDC 2009, as in NCCL. Volume: each rank sends (n - 1) / n of the size.
#include "part.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4")};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("all_gather", struct conf, rows, weft__collective_check);

static uint64_t per_loop(const struct weft_collective_shape *shape) {
    return shape->ranks > 1 ? shape->ranks : 0;
}

static uint64_t all_gather_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                 uint32_t lane) {
    const struct conf *c = conf;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, weft__part_max(shape), 1);
    return weft__loops_steps(&ring.loops, per_loop(shape));
}

static void all_gather_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                            uint64_t index, struct weft_step *ret_step) {
    const struct conf *c = conf;
    uint32_t n = shape->ranks;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, weft__part_max(shape), 1);
    struct weft__loop_step at = weft__loops_at(&ring.loops, per_loop(shape), index);
    weft__step_clear(ret_step, lane);
    uint32_t block = weft__ring_rank(shape, lane, (uint32_t)((ring.position + (uint64_t)n - at.j) % n));
    ret_step->offset = ring.start;
    weft__loop_piece(&at, 0, ret_step);
    weft__place_in_part(shape, block, ret_step);
    if (at.j > 0) ret_step->recv[0] = ring.previous;
    if (at.j + 1 < n) ret_step->send[0] = ring.next;
    ret_step->own = at.j == 0;
    ret_step->keep = at.j > 0;
}

/// Every part except that of the next rank.
static uint32_t all_gather_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct conf *c = conf;
    if (shape->ranks == 1) return 0;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, weft__part_max(shape), 1);
    *ret_sent =
        weft__ring_parts_sent(&ring, shape, lane, weft__ring_rank(shape, lane, (ring.position + 1) % shape->ranks));
    return 1;
}

static const struct weft_collective_ops ops = {.goal = WEFT_GOAL_ALL_GATHER,
                                               .lanes = weft__ring_lanes,
                                               .steps = all_gather_steps,
                                               .step = all_gather_step,
                                               .sent = all_gather_sent};

const struct weft_model weft__collective_all_gather = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "all_gather",
    .summary = "all-gather round rings: each rank sends (n - 1) / n of the size",
    .source = "Patarasuk and Yuan, JPDC 2009; chunks and slices as in NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
