// SPDX-License-Identifier: Apache-2.0
// The digest of results: a number into which every word of them is mixed, in one order.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "weft/histogram.h"
#include "weft/random.h"

/// Histograms enter a digest in coarser buckets than they have: values below 32 individually, then four per doubling.
enum { WEFT__DIGEST_EXACT = 32, WEFT__DIGEST_BANDS = 128 };

/// The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA'14). It is
/// a bijection of `digest` for every word and of `word` for every digest, so a single changed word always changes the
/// result.
static inline uint64_t weft__digest_mix(uint64_t digest, uint64_t word) {
    uint64_t z = (digest ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
uint64_t weft__digest_mix_histogram(uint64_t digest, const struct weft_histogram *h);

/// Words of later features are mixed in only if they are not 0, so that runs without these features keep their digests.
/// `place` distinguishes such words: a histogram takes one place per band, 8 apart.
static inline uint64_t weft__digest_mix_used(uint64_t digest, uint64_t place, uint64_t word) {
    return word ? weft__digest_mix(weft__digest_mix(digest, place), word) : digest;
}
uint64_t weft__digest_mix_used_histogram(uint64_t digest, uint64_t place, const struct weft_histogram *h);

// FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): to distinguish texts, not to prevent forgery.
#define WEFT__HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t weft__hash(uint64_t hash, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
/// Includes its end, so that "ab", "c" differs from "a", "bc".
static inline uint64_t weft__hash_text(uint64_t hash, const char *text) {
    return weft__hash(hash, text, strlen(text) + 1);
}

// The state of a network with nothing in flight, as numbers. As far as can be known, they are equal if and only if the
// same events follow: all times are relative to now, and sequence numbers relative to each other. Past times that only
// matter compared with future ones do not count.
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
