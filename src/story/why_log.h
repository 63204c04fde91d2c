// SPDX-License-Identifier: Apache-2.0
// What a port did when, from its log.
#pragma once

#include "story/why.h"

/// Times of one sort and key do not overlap; `from` is before `to`.
struct weft__why_span {
    weft_time_ps from_ps, to_ps;
    const struct weft_followed *of; ///< the log entry
    uint32_t key;                   ///< for a pause its priority, for a sender's state its queue pair
    bool again;                     ///< a frame that had been sent before
};
struct weft__why_spans {
    struct weft__why_span *span; ///< in order
    uint64_t n;
};

/// Each returns the spans that overlap the time between `from` and `to`.
struct weft__why_spans weft__why_frames(const struct weft_whys *y, uint32_t port, weft_time_ps from, weft_time_ps to);
struct weft__why_spans weft__why_pauses(const struct weft_whys *y, uint32_t port, uint32_t priority, weft_time_ps from,
                                        weft_time_ps to);
struct weft__why_spans weft__why_states(const struct weft_whys *y, uint32_t port, uint32_t qp, weft_time_ps from,
                                        weft_time_ps to);
