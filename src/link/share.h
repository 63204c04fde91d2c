// SPDX-License-Identifier: Apache-2.0
// Fair sharing of one server: start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996) with equal weights. Every
// user that has something to send gets the same number of bytes; the others share what one user does not take.
#pragma once

#include <assert.h>

#include "weft/types.h"

enum { WEFT__SHARERS = 16 };

struct weft__share {
    uint64_t start_bytes;                 ///< start tag of the frame in service, or of the last one
    uint64_t finish_bytes[WEFT__SHARERS]; ///< finish tag of each user's last frame
};

static inline uint64_t weft__share_start(const struct weft__share *s, uint32_t user) {
    return s->finish_bytes[user] > s->start_bytes ? s->finish_bytes[user] : s->start_bytes;
}

/// The user whose turn it is among those of `ready` (a non-empty mask).
static inline uint32_t weft__share_pick(const struct weft__share *s, uint32_t ready) {
    assert(ready && !(ready >> WEFT__SHARERS));
    uint32_t best = (uint32_t)__builtin_ctz(ready);
    for (uint32_t bits = ready & (ready - 1); bits; bits &= bits - 1) {
        uint32_t user = (uint32_t)__builtin_ctz(bits);
        if (weft__share_start(s, user) < weft__share_start(s, best)) best = user;
    }
    return best;
}

/// Charges the served bytes to the user.
static inline void weft__share_charge(struct weft__share *s, uint32_t user, uint32_t bytes) {
    s->start_bytes = weft__share_start(s, user);
    s->finish_bytes[user] = s->start_bytes + bytes;
}
