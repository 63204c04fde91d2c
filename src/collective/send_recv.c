// SPDX-License-Identifier: Apache-2.0
// Every rank sends to the next one: what stages of a pipeline do (a chain), or a halo exchange (closed to a ring).
// Source: ncclSend and ncclRecv in a group; sendrecv_perf of nccl-tests is the ring.
#include "pairs.h"

struct conf {
    struct weft_collective_common common;
    bool ring;
};
static const struct weft_param rows[] = {
    WEFT__PAIRS_ROWS(struct conf),
    WEFT_BOOL(struct conf, ring, "ring", "off", "the last rank sends to the first"),
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("send_recv", struct conf, rows, weft__collective_check);

static uint32_t channels_of(const struct conf *c) {
    return c->common.channels ? (uint32_t)c->common.channels : 1;
}

static uint32_t lanes(const void *conf, const struct weft_collective_shape *shape) {
    return 2 * channels_of(conf);
}

static struct weft__loops loops_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t channel,
                                   weft_bytes *ret_start) {
    *ret_start = weft__part(shape->bytes, channel, channels_of(c));
    return weft__loops_of(&c->common, weft__part(shape->bytes, channel + UINT64_C(1), channels_of(c)) - *ret_start, 1);
}

static uint64_t steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct conf *c = conf;
    weft_bytes start;
    struct weft__loops loops = loops_of(c, shape, lane / 2, &start);
    uint32_t end = lane % 2 ? 0 : shape->ranks - 1; // who has nobody to receive from, or to send to
    return shape->ranks > 1 && (c->ring || rank != end) ? weft__loops_steps(&loops, 1) : 0;
}

static void step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 uint64_t index, struct weft_step *ret_step) {
    uint32_t n = shape->ranks, previous = (rank + n - 1) % n;
    bool sends = lane % 2 == 0;
    weft__step_clear(ret_step, lane / 2);
    struct weft__loops loops = loops_of(conf, shape, lane / 2, &ret_step->offset);
    struct weft__loop_step at = weft__loops_at(&loops, 1, index);
    weft__loop_piece(&at, 0, ret_step);
    ret_step->offset += (sends ? rank : previous) * shape->bytes;
    if (sends)
        ret_step->send[0] = (rank + 1) % n;
    else
        ret_step->recv[0] = previous;
    ret_step->own = sends;
    ret_step->keep = !sends;
}

static uint32_t sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                     struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    bool is_end = shape->ranks == 1 || (!((const struct conf *)conf)->ring && rank == shape->ranks - 1);
    if (lane % 2 || is_end) return 0;
    weft_bytes start;
    struct weft__loops loops = loops_of(conf, shape, lane / 2, &start);
    *ret_sent = weft__loops_sent(&loops, (rank + 1) % shape->ranks, lane / 2);
    return 1;
}

static const struct weft_collective_ops ops = {
    .goal = WEFT_GOAL_NEXT, .lanes = lanes, .steps = steps, .step = step, .sent = sent};

const struct weft_model weft__collective_send_recv = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "send_recv",
    .summary = "every rank sends to the next one: a pipeline's stages, or a ring",
    .source = "point-to-point operations of NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
