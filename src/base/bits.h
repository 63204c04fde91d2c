// SPDX-License-Identifier: Apache-2.0
// Sets of small numbers as arrays of 64-bit words.
#pragma once

#include "weft/types.h"

#define WEFT__BITS_NONE UINT32_MAX

static inline uint32_t weft__bits_words(uint32_t n) {
    return (n + 63) / 64;
}

static inline void weft__bits_set(uint64_t *set, uint32_t i) {
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void weft__bits_clear(uint64_t *set, uint32_t i) {
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline bool weft__bits_has(const uint64_t *set, uint32_t i) {
    return set[i / 64] >> (i % 64) & 1;
}

static inline bool weft__bits_any(const uint64_t *set, uint32_t words) {
    uint64_t any = 0;
    for (uint32_t w = 0; w < words; w++)
        any |= set[w];
    return any;
}

/// The member if there is exactly one; else WEFT__BITS_NONE.
static inline uint32_t weft__bits_only(const uint64_t *set, uint32_t words) {
    uint32_t only = WEFT__BITS_NONE;
    for (uint32_t w = 0; w < words; w++) {
        if (!set[w]) continue;
        if (only != WEFT__BITS_NONE || set[w] & (set[w] - 1)) return WEFT__BITS_NONE;
        only = w * 64 + (uint32_t)__builtin_ctzll(set[w]);
    }
    return only;
}

/// The first member of `a` and not `b` at or after `from`, wrapping around; WEFT__BITS_NONE if there is none. b NULL:
/// nothing is excluded.
static inline uint32_t weft__bits_next_without(const uint64_t *a, const uint64_t *b, uint32_t words, uint32_t from) {
    uint32_t w = from / 64;
    uint64_t from_on = ~UINT64_C(0) << (from % 64);
    uint64_t hit = a[w] & ~(b ? b[w] : 0) & from_on;
    for (uint32_t k = 0; k < words; k++) {
        if (hit) return w * 64 + (uint32_t)__builtin_ctzll(hit);
        w = w + 1 == words ? 0 : w + 1;
        hit = a[w] & ~(b ? b[w] : 0);
    }
    hit &= ~from_on;
    return hit ? w * 64 + (uint32_t)__builtin_ctzll(hit) : WEFT__BITS_NONE;
}
