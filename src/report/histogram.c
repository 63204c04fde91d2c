// SPDX-License-Identifier: Apache-2.0
#include "weft/dsf_outcome.h"

#include <math.h>

uint64_t weft_histogram_value(uint32_t bucket) {
    if (bucket < WEFT_HISTOGRAM_EXACT) return bucket;
    uint32_t part = bucket - WEFT_HISTOGRAM_EXACT;
    return (uint64_t)(4 + part % 4) << (3 + part / 4);
}

uint64_t weft_histogram_total(const struct weft_histogram *h) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < WEFT_HISTOGRAM; i++)
        n += h->count[i];
    return n;
}

uint64_t weft_histogram_quantile(const struct weft_histogram *h, double share) {
    double left = share * (double)weft_histogram_total(h);
    uint64_t value = 0;
    for (uint32_t i = 0; i < WEFT_HISTOGRAM; i++) {
        if (!h->count[i]) continue;
        value = weft_histogram_value(i);
        left -= (double)h->count[i];
        if (left <= 0) break;
    }
    return value;
}

double weft_histogram_mean(const struct weft_histogram *h) {
    double sum = 0;
    for (uint32_t i = 0; i < WEFT_HISTOGRAM; i++) {
        // values from..from + width - 1
        uint64_t from = weft_histogram_value(i), width = weft_histogram_value(i + 1) - from;
        sum += (double)h->count[i] * ((double)from + (double)(width - 1) / 2);
    }
    uint64_t n = weft_histogram_total(h);
    return n ? sum / (double)n : NAN;
}

void weft_histogram_add(struct weft_histogram *sum, const struct weft_histogram *h) {
    for (uint32_t i = 0; i < WEFT_HISTOGRAM; i++)
        sum->count[i] += h->count[i];
}
