// SPDX-License-Identifier: Apache-2.0
#include "weft/histogram.h"

#include <math.h>

#define PER_OCTAVE (UINT64_C(1) << WEFT_HISTOGRAM_BITS)

uint64_t weft_histogram_value(uint32_t bucket) {
    if (bucket < PER_OCTAVE) return bucket;
    if (bucket >= WEFT_HISTOGRAM_BUCKETS) return UINT64_MAX;
    uint32_t shift = (uint32_t)(bucket / PER_OCTAVE - 1);
    return (PER_OCTAVE + bucket % PER_OCTAVE) << shift;
}

static uint64_t middle_of(uint32_t bucket) {
    uint32_t shift = bucket < PER_OCTAVE ? 0 : (uint32_t)(bucket / PER_OCTAVE - 1);
    return weft_histogram_value(bucket) + ((UINT64_C(1) << shift) - 1) / 2;
}

void weft_histogram_merge(struct weft_histogram *h, const struct weft_histogram *other) {
    if (!other->n) return;
    if (!h->n || other->min < h->min) h->min = other->min;
    if (other->max > h->max) h->max = other->max;
    h->n += other->n;
    h->sum += other->sum;
    h->sum_high += other->sum_high + (h->sum < other->sum);
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++)
        h->bucket[i] += other->bucket[i];
}

uint64_t weft_histogram_quantile(const struct weft_histogram *h, double quantile) {
    if (!h->n) return 0;
    uint64_t rank = (uint64_t)ceil(quantile * (double)h->n), before = 0;
    uint32_t i = 0;
    while (i + 1 < WEFT_HISTOGRAM_BUCKETS && before + h->bucket[i] < (rank ? rank : 1))
        before += h->bucket[i++];
    uint64_t value = middle_of(i);
    return value < h->min ? h->min : value > h->max ? h->max : value;
}

static unsigned __int128 sum_of(const struct weft_histogram *h) {
    return (unsigned __int128)h->sum_high << 64 | h->sum;
}

double weft_histogram_mean(const struct weft_histogram *h) {
    return h->n ? (double)sum_of(h) / (double)h->n : (double)NAN;
}

uint64_t weft_histogram_mean_floor(const struct weft_histogram *h) {
    return h->n ? (uint64_t)(sum_of(h) / h->n) : 0;
}
