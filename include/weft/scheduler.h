// SPDX-License-Identifier: Apache-2.0
// Which priority an output serves next.
#pragma once

#include "weft/model.h"

/// State of one output port; small, inside the port. A box compares all of it before a stretch of a run is skipped.
struct weft_scheduler_state {
    int32_t credit[WEFT_PRIORITIES]; ///< bytes a weighted priority may still send in its turn
    uint8_t turn;                    ///< the weighted priority whose turn it is
};

struct weft_scheduler_ops {
    /// Required, hot. Returns one of the priorities in `mask`, those that could send now; `mask` is not 0. The caller
    /// may call it without sending: only `turn`, and `credit` of a turn that begins, may change.
    uint32_t (*pick)(struct weft_scheduler_state *state, const void *conf, uint8_t mask);
    /// Optional, hot. `bytes` of `priority` were sent.
    void (*on_sent)(struct weft_scheduler_state *state, const void *conf, uint32_t priority, uint32_t bytes);
    /// Optional: the weight of each priority, 0 for a strict one. Without this function all priorities are strict.
    void (*weights)(const void *conf, uint64_t ret_weight[WEFT_PRIORITIES]);
};
