// SPDX-License-Identifier: Apache-2.0
// All-to-all: every rank sends a part of its own to every other. Source: NCCL has no kernel for it; nccl-tests and
// frameworks issue one send and one receive per peer in a group, and so do we. Volume: each rank sends (n - 1) / n of
// the size; with PXN (exchange.h) what is for other rails crosses the server first.
#include "exchange.h"
#include "weft/param.h"

static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("all_to_all", struct weft__exchange_conf, .check = weft__collective_check,
                        WEFT__PAIRS_ROWS(struct weft__exchange_conf), WEFT__EXCHANGE_ROWS(struct weft__exchange_conf));

static uint64_t all_to_all_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                 uint32_t lane) {
    return weft__exchange_steps(conf, shape, lane, weft__part_max(shape));
}

static void all_to_all_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                            uint64_t index, struct weft_step *ret_step) {
    struct weft__chunk c = weft__exchange_step(conf, shape, rank, lane, index, weft__part_max(shape), ret_step);
    ret_step->offset = c.src * shape->bytes + weft__part(shape->bytes, c.dst, shape->ranks);
    weft__pairs_cut(ret_step, &c, weft__part_bytes(shape, c.dst));
}

static weft_bytes part_for(const void *conf, const struct weft_collective_shape *shape, uint32_t dst) {
    return weft__part_bytes(shape, dst);
}

static void send_to(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                    struct weft_sent *ret_sent) {
    *ret_sent = weft__exchange_sent(conf, shape, rank, index, part_for);
}

/// The number of non-empty parts is at most the number of bytes.
static uint32_t peers_min(const void *conf, const struct weft_collective_shape *shape) {
    uint64_t parts = shape->bytes < shape->ranks ? shape->bytes : shape->ranks;
    return parts ? (uint32_t)parts - 1 : 0;
}

const struct weft_model weft__collective_all_to_all =
    WEFT_MODEL_OF(COLLECTIVE, "all_to_all", "every rank sends an equal part of its data to every other",
                  "a send and a receive a peer, as frameworks do over NCCL 2.x", &table,
                  &(const struct weft_collective_ops){.goal = WEFT_GOAL_EXCHANGE,
                                                      .lanes = weft__exchange_lanes,
                                                      .channels = weft__exchange_channels,
                                                      .relays = weft__exchange_relays,
                                                      .steps = all_to_all_steps,
                                                      .step = all_to_all_step,
                                                      .sends = weft__exchange_sends,
                                                      .send = send_to,
                                                      .peers_min = peers_min,
                                                      .part_for = part_for});
