// SPDX-License-Identifier: Apache-2.0
// Which priority an output serves next.
#ifndef WEFT_SCHEDULER_H
#define WEFT_SCHEDULER_H

#include "weft/model.h"

/// State of one output port; small, inside the port. A box compares all of it before a stretch of a run is skipped.
struct weft_scheduler_state {
    int32_t credit[WEFT_PRIORITIES]; ///< bytes a weighted priority may still send in its turn
    uint8_t turn;                    ///< the weighted priority whose turn it is
};

struct weft_scheduler_ops {
    /// Required, hot. `mask`: priorities that could send now, not 0. Returns one of them. Changes no state but turns
    /// and credits of turns that began.
    uint32_t (*pick)(struct weft_scheduler_state *state, const void *conf, uint8_t mask);
    /// Optional, hot. `bytes` of `priority` were sent.
    void (*on_sent)(struct weft_scheduler_state *state, const void *conf, uint32_t priority, uint32_t bytes);
    /// Optional: how bandwidth is shared out, 0 for a strict priority. Without it all are strict.
    void (*weights)(const void *conf, uint64_t ret_weight[WEFT_PRIORITIES]);
};

#endif
