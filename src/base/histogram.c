// SPDX-License-Identifier: Apache-2.0
#include "base/histogram.h"

#include <math.h>

#define PER_OCTAVE (UINT64_C(1) << WEFT__HISTOGRAM_BITS)

/// Values below PER_OCTAVE have a bucket each; of others the bits after the leading one count.
static uint32_t bucket_of(uint64_t value) {
    if (value < PER_OCTAVE) return (uint32_t)value;
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - WEFT__HISTOGRAM_BITS;
    return (uint32_t)((shift + 1) * PER_OCTAVE + ((value >> shift) & (PER_OCTAVE - 1)));
}

static uint64_t middle_of(uint32_t bucket) {
    if (bucket < PER_OCTAVE) return bucket;
    uint32_t shift = (uint32_t)(bucket / PER_OCTAVE - 1);
    uint64_t begin = (PER_OCTAVE + bucket % PER_OCTAVE) << shift;
    return begin + ((UINT64_C(1) << shift) - 1) / 2;
}

void weft__histogram_add(struct weft__histogram *h, uint64_t value) {
    if (!h->n || value < h->min) h->min = value;
    if (value > h->max) h->max = value;
    h->n++;
    h->sum += value;
    h->bucket[bucket_of(value)]++;
}

void weft__histogram_merge(struct weft__histogram *h, const struct weft__histogram *other) {
    if (!other->n) return;
    if (!h->n || other->min < h->min) h->min = other->min;
    if (other->max > h->max) h->max = other->max;
    h->n += other->n;
    h->sum += other->sum;
    for (uint32_t i = 0; i < WEFT__HISTOGRAM_BUCKETS; i++)
        h->bucket[i] += other->bucket[i];
}

uint64_t weft__histogram_quantile(const struct weft__histogram *h, double quantile) {
    if (!h->n) return 0;
    uint64_t rank = (uint64_t)ceil(quantile * (double)h->n), before = 0;
    uint32_t i = 0;
    while (i + 1 < WEFT__HISTOGRAM_BUCKETS && before + h->bucket[i] < (rank ? rank : 1))
        before += h->bucket[i++];
    uint64_t value = middle_of(i);
    return value < h->min ? h->min : value > h->max ? h->max : value;
}

uint64_t weft__histogram_mean(const struct weft__histogram *h) {
    return h->n ? (uint64_t)(h->sum / h->n) : 0;
}
