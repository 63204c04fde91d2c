// SPDX-License-Identifier: Apache-2.0
// What one port keeps of flows that are followed (weft/follow.h). Only the worker of its node touches it.
#ifndef WEFT_LINK_FOLLOW_H
#define WEFT_LINK_FOLLOW_H

#include "weft/follow.h"
#include "weft/packet.h"

struct weft__follow {
    const uint8_t *qp; ///< [queue pairs]: whether it is followed
    bool all;          ///< every frame of the port is kept
    uint32_t port;     ///< among all ports
    uint64_t n, capacity;
    struct weft_followed *followed;
};

/// Appends one; the port is filled in.
void weft__follow_add(struct weft__follow *f, const struct weft_followed *one);
void weft__follow_release(struct weft__follow *f);

static inline bool weft__follow_has(const struct weft__follow *f, const struct weft_packet *p) {
    return f->all || (p->kind < WEFT_PACKET_PFC && f->qp[p->qp]);
}

static inline void weft__follow_pause(struct weft__follow *f, weft_time_ps at, uint32_t priority, bool paused) {
    weft__follow_add(f, &(struct weft_followed){.time_ps = at,
                                                .what = paused ? WEFT_FOLLOWED_PAUSED : WEFT_FOLLOWED_RESUMED,
                                                .priority = (uint8_t)priority});
}

#endif
