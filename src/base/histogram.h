// SPDX-License-Identifier: Apache-2.0
// Percentiles of more values than one wants to keep: counts in buckets, 128 to a power of two, so that a percentile is
// off by 0.4 % at most. How many, mean, least and most are exact. Histograms of parts add up to that of the whole.
#ifndef WEFT_BASE_HISTOGRAM_H
#define WEFT_BASE_HISTOGRAM_H

#include "weft/types.h"

enum { WEFT__HISTOGRAM_BITS = 7, WEFT__HISTOGRAM_BUCKETS = (64 - WEFT__HISTOGRAM_BITS + 1) << WEFT__HISTOGRAM_BITS };

/// Zero: empty.
struct weft__histogram {
    uint64_t n, min, max;
    unsigned __int128 sum;
    uint64_t bucket[WEFT__HISTOGRAM_BUCKETS];
};

void weft__histogram_add(struct weft__histogram *h, uint64_t value);
void weft__histogram_merge(struct weft__histogram *h, const struct weft__histogram *other);
/// Nearest rank: the least value that a part `quantile` of all is not above; 0 of nothing.
uint64_t weft__histogram_quantile(const struct weft__histogram *h, double quantile);
uint64_t weft__histogram_mean(const struct weft__histogram *h); ///< rounded down; 0 of nothing

#endif
