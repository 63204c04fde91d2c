// SPDX-License-Identifier: Apache-2.0
// The state of a network with nothing in flight, as numbers. As far as can be known, they are equal if and only if the
// same events follow: all times are relative to now, and sequence numbers relative to each other. Past times that only
// matter compared with future ones do not count.
#pragma once

#include "base/digest.h"
#include "weft/random.h"

struct weft__fingerprint {
    weft_time_ps now_ps; ///< time of the last event
    uint64_t all[2];     ///< two digests of all words except those below, with different mixes
    uint64_t within[2];  ///< likewise, of how far jobs are in their iterations; `all` contains which kind of operation
                         ///< is next
    /// Likewise, of what matters only if a wait for a message exceeds its transport's patience: a check whether it was
    /// lost. kept: with the times of checks as the engine has them. looks_ps: the first check; 0: none.
    uint64_t looks[2], kept[2];
    weft_time_ps looks_ps;
};

static inline void weft__fingerprint_mix_into(uint64_t digest[2], uint64_t word) {
    digest[0] = weft__digest_mix(digest[0], word);
    digest[1] = weft__digest_mix(digest[1], ~word * UINT64_C(0xd6e8feb86659fd93));
}

static inline void weft__fingerprint_mix(struct weft__fingerprint *s, uint64_t word) {
    weft__fingerprint_mix_into(s->all, word);
}

/// A time after which something becomes possible: it matters only if it lies ahead.
static inline void weft__fingerprint_mix_until(struct weft__fingerprint *s, weft_time_ps time) {
    weft__fingerprint_mix(s, time == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : time > s->now_ps ? time - s->now_ps : 0);
}

/// A time in the past from which something later is measured.
static inline void weft__fingerprint_mix_since(struct weft__fingerprint *s, weft_time_ps time) {
    weft__fingerprint_mix(s, time - s->now_ps);
}

/// Shows whether anything was drawn in between.
static inline void weft__fingerprint_mix_random(struct weft__fingerprint *s, const struct weft_random *random) {
    weft__fingerprint_mix(s, random->drawn);
}
