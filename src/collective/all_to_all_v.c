// SPDX-License-Identifier: Apache-2.0
// All-to-all with unequal parts, like tokens that go to experts: rank 0 is the most popular, the last rank the least,
// and the others are on a straight line in between (an assumption; the measured popularity of experts varies with the
// model). Otherwise like all_to_all.
#include <math.h>

#include "exchange.h"
#include "weft/param.h"

struct conf {
    struct weft__exchange_conf exchange;
    double skew;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("all_to_all_v", struct conf, .check = weft__collective_check,
                        WEFT__PAIRS_ROWS(struct weft__exchange_conf), WEFT__EXCHANGE_ROWS(struct weft__exchange_conf),
                        WEFT_REAL(struct conf, skew, "skew", "2", "1", "1000000",
                                  "the first rank gets this many times the bytes of the last (assumed)"));

/// Where the data for `dst` begins in a sender's data: the weight of d is skew - (skew - 1) d / (n - 1).
static weft_bytes begin_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t dst) {
    double n = shape->ranks, d = dst;
    if (dst == shape->ranks) return shape->bytes;
    double slope = n > 1 ? (c->skew - 1) / (n - 1) : 0;
    double before = d * c->skew - slope * d * (d - 1) / 2, all = n * (c->skew + 1) / 2;
    weft_bytes begin = (weft_bytes)floor((double)shape->bytes * (before / all));
    return begin < shape->bytes ? begin : shape->bytes;
}

static weft_bytes all_to_all_v_part(const void *conf, const struct weft_collective_shape *shape, uint32_t src,
                                    uint32_t dst) {
    return begin_of(conf, shape, dst + 1) - begin_of(conf, shape, dst);
}

/// An upper bound of all parts: rounding may give one a byte more than the first.
static weft_bytes part_max(const struct conf *c, const struct weft_collective_shape *shape) {
    return all_to_all_v_part(c, shape, 0, 0) + 1;
}

static uint64_t all_to_all_v_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                   uint32_t lane) {
    const struct conf *c = conf;
    return weft__exchange_steps(&c->exchange, shape, lane, part_max(c, shape));
}

static void all_to_all_v_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                              uint64_t index, struct weft_step *ret_step) {
    const struct conf *c = conf;
    struct weft__chunk k = weft__exchange_step(&c->exchange, shape, rank, lane, index, part_max(c, shape), ret_step);
    ret_step->offset = k.src * shape->bytes + begin_of(c, shape, k.dst);
    weft__pairs_cut(ret_step, &k, all_to_all_v_part(c, shape, k.src, k.dst));
}

static weft_bytes part_for(const void *conf, const struct weft_collective_shape *shape, uint32_t dst) {
    return all_to_all_v_part(conf, shape, 0, dst);
}

static void send_to(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                    struct weft_sent *ret_sent) {
    *ret_sent = weft__exchange_sent(conf, shape, rank, index, part_for);
}

/// No part is empty if the smallest, for the last rank, should have two bytes: rounding takes away less than one.
static uint32_t peers_min(const void *conf, const struct weft_collective_shape *shape) {
    const struct conf *c = conf;
    double least = (double)shape->bytes * 2 / (shape->ranks * (c->skew + 1));
    return least >= 2 ? shape->ranks - 1 : 0;
}

const struct weft_model weft__collective_all_to_all_v = WEFT_MODEL_OF(
    COLLECTIVE, "all_to_all_v", "every rank sends to every other, more to some than to others, as tokens to experts",
    "all_to_all with a linear popularity of destinations, which is assumed", &table,
    &(const struct weft_collective_ops){.goal = WEFT_GOAL_EXCHANGE,
                                        .lanes = weft__exchange_lanes,
                                        .channels = weft__exchange_channels,
                                        .relays = weft__exchange_relays,
                                        .steps = all_to_all_v_steps,
                                        .step = all_to_all_v_step,
                                        .sends = weft__exchange_sends,
                                        .send = send_to,
                                        .peers_min = peers_min,
                                        .part_for = part_for,
                                        .part = all_to_all_v_part});
