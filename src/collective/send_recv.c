// SPDX-License-Identifier: Apache-2.0
// Every rank sends to the next one, like the stages of a pipeline (a chain) or a halo exchange (closed to a ring).
// Source: ncclSend and ncclRecv in a group; sendrecv_perf of nccl-tests is the ring.
#include "pairs.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
    bool ring;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("send_recv", struct conf, .check = weft__collective_check, WEFT__PAIRS_ROWS(struct conf),
                        WEFT_BOOL(struct conf, ring, "ring", "off", "the last rank sends to the first"));

static uint32_t channels_of(const struct conf *c) {
    return c->common.channels ? (uint32_t)c->common.channels : 1;
}

static uint32_t send_recv_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return 2 * channels_of(conf);
}

static struct weft__loops loops_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t channel,
                                   weft_bytes *ret_start) {
    *ret_start = weft__part(shape->bytes, channel, channels_of(c));
    return weft__loops_of(&c->common, weft__part(shape->bytes, channel + UINT64_C(1), channels_of(c)) - *ret_start, 1);
}

static uint64_t send_recv_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                uint32_t lane) {
    const struct conf *c = conf;
    weft_bytes start;
    struct weft__loops loops = loops_of(c, shape, lane / 2, &start);
    uint32_t end = lane % 2 ? 0 : shape->ranks - 1; // the rank that has no rank to receive from, or to send to
    return shape->ranks > 1 && (c->ring || rank != end) ? weft__loops_steps(&loops, 1) : 0;
}

/// What all steps of a lane share.
struct end_plan {
    struct weft__loops loops;
    weft_bytes start; ///< in the channel's part of the data of the previous rank, or of this one
    uint32_t peer, channel;
    bool sends;
};

static void plan_end(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                     void *ret_plan) {
    struct end_plan *p = ret_plan;
    uint32_t n = shape->ranks, previous = (rank + n - 1) % n;
    p->sends = lane % 2 == 0;
    p->channel = lane / 2;
    p->loops = loops_of(conf, shape, p->channel, &p->start);
    p->start += (p->sends ? rank : previous) * shape->bytes;
    p->peer = p->sends ? (rank + 1) % n : previous;
}

static void end_planned(const void *end_plan, uint64_t index, struct weft_step *ret_step) {
    const struct end_plan *p = end_plan;
    struct weft__loop_step at = weft__loops_at(&p->loops, 1, index);
    weft__step_clear(ret_step, p->channel);
    ret_step->offset = p->start;
    weft__loop_piece(&at, 0, ret_step);
    (p->sends ? ret_step->send : ret_step->recv)[0] = p->peer;
    ret_step->own = p->sends;
    ret_step->keep = !p->sends;
}

static void send_recv_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                           uint64_t index, struct weft_step *ret_step) {
    struct end_plan p;
    plan_end(conf, shape, rank, lane, &p);
    end_planned(&p, index, ret_step);
}

static uint32_t send_recv_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                               uint32_t lane, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    bool is_end = shape->ranks == 1 || (!((const struct conf *)conf)->ring && rank == shape->ranks - 1);
    if (lane % 2 || is_end) return 0;
    weft_bytes start;
    struct weft__loops loops = loops_of(conf, shape, lane / 2, &start);
    *ret_sent = weft__loops_sent(&loops, (rank + 1) % shape->ranks, lane / 2);
    return 1;
}

const struct weft_model weft__collective_send_recv =
    WEFT_MODEL_OF(COLLECTIVE, "send_recv", "every rank sends to the next one: a pipeline's stages, or a ring",
                  "point-to-point operations of NCCL 2.x", &table,
                  &(const struct weft_collective_ops){
                      .goal = WEFT_GOAL_NEXT,
                      .lanes = send_recv_lanes,
                      .steps = send_recv_steps,
                      .step = send_recv_step,
                      .plan_size = sizeof(struct end_plan),
                      .plan = plan_end,
                      .planned = end_planned,
                      .sent = send_recv_sent,
                  });
