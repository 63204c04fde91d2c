// SPDX-License-Identifier: Apache-2.0
// The digest of results: a number into which every word of them is mixed, in one order.
#pragma once

#include "weft/histogram.h"

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
