// SPDX-License-Identifier: Apache-2.0
// What the sending end of a link does about a frame that bit errors have destroyed. A model is told about each such
// frame, and says when the port begins to send it again.
#pragma once

#include "weft/model.h"
#include "weft/types.h"

struct weft_retry_fact {
    weft_time_ps link_delay_ps; ///< one way
    weft_rate_bps rate_bps;     ///< of the link
    uint32_t tries;             ///< of this frame so far, all destroyed; 1 at least
};

struct weft_retry_ops {
    /// Required. Time from the frame's last bit to its next try; WEFT_TIME_NEVER: none, the frame is lost.
    weft_time_ps (*wait)(const void *conf, const struct weft_retry_fact *fact);
    bool replays; ///< a protocol between the ends of a link: both must have it
};
