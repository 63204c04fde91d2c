// SPDX-License-Identifier: Apache-2.0
// Credit that the receiving end of a link grants to the sending end, so that a frame is sent only if it has room. A
// model determines the amount; ports count it: a frame takes whole units when it is sent, and the receiver returns them
// when the frame leaves its buffer.
#pragma once

#include "weft/model.h"
#include "weft/types.h"

struct weft_credit_fact {
    weft_time_ps loop_ps;   ///< from a frame's first bit sent to its credit's return, if it leaves the receiver at once
    weft_rate_bps rate_bps; ///< of the link
    uint32_t frame_bytes;   ///< of the largest frame
};

struct weft_credit_ops {
    /// Required, all three. priorities: mask of those that send by credit. unit: bytes, at least 1. grant: the credit
    /// of each of these priorities in bytes, constant during a run, and no less than the largest frame takes.
    uint8_t (*priorities)(const void *conf);
    uint32_t (*unit)(const void *conf);
    weft_bytes (*grant)(const void *conf, const struct weft_credit_fact *fact);
};

/// Credit that a frame takes.
static inline uint32_t weft_credit_take(uint32_t unit, uint32_t bytes) {
    return (bytes + unit - 1) / unit * unit;
}

/// The priorities for which a device grants credit to its neighbours; 0: none.
static inline uint8_t weft_credit_grants(const struct weft_model_conf *credit) {
    return ((const struct weft_credit_ops *)credit->model->ops)->priorities(credit->conf);
}
