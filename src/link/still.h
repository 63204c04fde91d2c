// SPDX-License-Identifier: Apache-2.0
// The state of a network in which nothing is under way, as numbers that are equal if and only if, for all that is
// known, what comes of it is the same: all times are told relative to now, and sequence numbers relative to each other.
// What is past and can only be compared with what is to come does not count.
#ifndef WEFT_LINK_STILL_H
#define WEFT_LINK_STILL_H

#include "base/digest.h"
#include "base/timers.h"
#include "weft/random.h"

struct weft__port;

struct weft__still {
    weft_time_ps now_ps; ///< of the last event
    uint64_t all[2];     ///< two digests of all words but those below, by different mixes
    uint64_t within[2]; ///< likewise, of how far jobs are in their iterations; `all` has what kind of operation is next
    /// Likewise, of what matters only if a message is waited for longer than its transport's patience: a look whether
    /// it was lost. kept: with the times of looks as the engine has them; looks_ps: the first of them; 0: none.
    uint64_t looks[2], kept[2];
    weft_time_ps looks_ps;
};

static inline void weft__still_mix_into(uint64_t digest[2], uint64_t word) {
    digest[0] = weft__digest_mix(digest[0], word);
    digest[1] = weft__digest_mix(digest[1], ~word * UINT64_C(0xd6e8feb86659fd93));
}

static inline void weft__still_mix(struct weft__still *s, uint64_t word) {
    weft__still_mix_into(s->all, word);
}

/// A time from when on something is possible: only what lies ahead matters.
static inline void weft__still_mix_until(struct weft__still *s, weft_time_ps time) {
    weft__still_mix(s, time == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : time > s->now_ps ? time - s->now_ps : 0);
}

/// A time in the past that what comes is measured from.
static inline void weft__still_mix_since(struct weft__still *s, weft_time_ps time) {
    weft__still_mix(s, time - s->now_ps);
}

/// Whatever was drawn in between shows.
void weft__still_mix_random(struct weft__still *s, const struct weft_random *random);
/// An end of a link.
void weft__port_still(const struct weft__port *port, struct weft__still *s);

#endif
