// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce: reduce-scatter round the ring, then all-gather round the ring; the rank that completes a block is
// the first to send it on. Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 69 (2009); order of blocks and loops as in NCCL. Volume: each rank sends 2 (n - 1) / n of the
// size.
#include "part.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("all_reduce_ring", struct conf, .check = weft__collective_check,
                        WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4"));

static uint64_t per_loop(const struct weft_collective_shape *shape) {
    return shape->ranks > 1 ? 2 * (uint64_t)shape->ranks - 1 : 0;
}

static uint64_t ring_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct conf *c = conf;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, shape->bytes, shape->ranks);
    return weft__loops_steps(&ring.loops, per_loop(shape));
}

/// What all steps of a lane share.
struct ring_plan {
    struct weft__ring ring;
    struct weft_collective_shape shape;
    uint32_t lane;
    bool by_kind; ///< steps that add and steps that keep take different times
};

static void plan_ring(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                      void *ret_plan) {
    const struct conf *c = conf;
    *(struct ring_plan *)ret_plan =
        (struct ring_plan){weft__ring_of(&c->common, shape, rank, lane, shape->bytes, shape->ranks), *shape, lane,
                           c->common.read_permille > 0};
}

static void ring_planned(const void *ring_plan, uint64_t index, struct weft_step *ret_step) {
    const struct ring_plan *p = ring_plan;
    const struct weft__ring *ring = &p->ring;
    uint32_t n = p->shape.ranks;
    struct weft__loop_step at = weft__loops_at(&ring->loops, per_loop(&p->shape), index);
    weft__step_clear(ret_step, p->lane);
    ret_step->offset = ring->start;
    weft__loop_piece(&at, (uint32_t)((ring->position + 2 * (uint64_t)n - 1 - at.j) % n), ret_step);
    if (at.j > 0) ret_step->recv[0] = ring->previous;
    if (at.j + 1 < per_loop(&p->shape)) ret_step->send[0] = ring->next;
    ret_step->own = at.j < n;
    ret_step->keep = at.j + 1 >= n;
}

static uint64_t ring_alike(const void *ring_plan, uint64_t index) {
    const struct ring_plan *p = ring_plan;
    uint64_t n = p->shape.ranks, alike = weft__loops_alike(&p->ring.loops, per_loop(&p->shape), index);
    if (alike == 1 || !p->by_kind) return alike;
    struct weft__loop_step at = weft__loops_at(&p->ring.loops, per_loop(&p->shape), index);
    if (at.j >= n) return alike; // they keep; those before add, and that between does both
    return (at.j + 1 < n ? n - 1 - at.j : 1) * at.loop.slices - at.slice;
}

static void ring_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                      uint64_t index, struct weft_step *ret_step) {
    struct ring_plan p;
    plan_ring(conf, shape, rank, lane, &p);
    ring_planned(&p, index, ret_step);
}

/// Every block twice, except those that the last two of 2 n steps would send: these steps do not exist.
static uint32_t ring_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                          struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct conf *c = conf;
    uint32_t n = shape->ranks;
    struct weft__ring ring = weft__ring_of(&c->common, shape, rank, lane, shape->bytes, n);
    if (n == 1) return 0;
    *ret_sent = (struct weft_sent){
        .peer = ring.next,
        .channel = lane,
        .bytes = 2 * ring.loops.bytes - weft__loops_bytes(&ring.loops, ring.position, n) -
                 weft__loops_bytes(&ring.loops, (ring.position + 1) % n, n),
        .message_bytes_max = weft__loops_slice_max(&ring.loops, 0, 1),
        .messages = 2 * weft__loops_slices(&ring.loops, 0, 1) - weft__loops_slices(&ring.loops, ring.position, n) -
                    weft__loops_slices(&ring.loops, (ring.position + 1) % n, n),
    };
    return 1;
}

const struct weft_model weft__collective_all_reduce_ring =
    WEFT_MODEL_OF(COLLECTIVE, "all_reduce_ring", "all-reduce round rings: each rank sends 2 (n - 1) / n of the size",
                  "Patarasuk and Yuan, JPDC 2009; blocks, loops, chunks and slices as in NCCL 2.x", &table,
                  &(const struct weft_collective_ops){
                      .goal = WEFT_GOAL_ALL_REDUCE,
                      .lanes = weft__ring_lanes,
                      .steps = ring_steps,
                      .step = ring_step,
                      .plan_size = sizeof(struct ring_plan),
                      .plan = plan_ring,
                      .planned = ring_planned,
                      .alike = ring_alike,
                      .sent = ring_sent,
                  });
