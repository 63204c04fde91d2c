// SPDX-License-Identifier: Apache-2.0
// Percentiles of more values than one wants to keep: counts in buckets. Values below 256 have a bucket each; above,
// there are 128 buckets to a doubling, and a percentile is the middle of its bucket, so it is off by 0.4 % at most. The
// count, the mean, the least and the greatest value are exact. Histograms of parts add up to that of the whole. One
// takes 58 KB, so nodes share those of their worker.
#pragma once

#include "weft/types.h"

enum { WEFT_HISTOGRAM_BITS = 7, WEFT_HISTOGRAM_BUCKETS = (64 - WEFT_HISTOGRAM_BITS + 1) << WEFT_HISTOGRAM_BITS };

/// Zero: empty.
struct weft_histogram {
    uint64_t n, min, max;
    uint64_t sum, sum_high; ///< of 128 bits
    uint64_t bucket[WEFT_HISTOGRAM_BUCKETS];
};

/// Of a value: below 128 itself, then by the seven bits after the leading one.
static inline uint32_t weft_histogram_bucket(uint64_t value) {
    if (value < 1u << WEFT_HISTOGRAM_BITS) return (uint32_t)value;
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - WEFT_HISTOGRAM_BITS;
    return (shift << WEFT_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}
/// The least value in a bucket; UINT64_MAX beyond the last.
uint64_t weft_histogram_value(uint32_t bucket);

static inline void weft_histogram_add(struct weft_histogram *h, uint64_t value) {
    if (!h->n++ || value < h->min) h->min = value;
    if (value > h->max) h->max = value;
    h->sum += value;
    h->sum_high += h->sum < value;
    h->bucket[weft_histogram_bucket(value)]++;
}
void weft_histogram_merge(struct weft_histogram *h, const struct weft_histogram *other);
/// Nearest rank: the least value that a part `quantile` of all is not above; 0 of nothing.
uint64_t weft_histogram_quantile(const struct weft_histogram *h, double quantile);
double weft_histogram_mean(const struct weft_histogram *h);         ///< NAN of nothing
uint64_t weft_histogram_mean_floor(const struct weft_histogram *h); ///< 0 of nothing
