// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <string.h>

static uint32_t band_of(uint64_t value) {
    if (value < WEFT__DIGEST_EXACT) return (uint32_t)value;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(value); // 5 or more
    uint32_t band = WEFT__DIGEST_EXACT + (log - 5) * 4 + (uint32_t)(value >> (log - 2) & 3);
    return band < WEFT__DIGEST_BANDS ? band : WEFT__DIGEST_BANDS - 1;
}

static void count_bands(const struct weft_histogram *h, uint64_t band[WEFT__DIGEST_BANDS]) {
    memset(band, 0, WEFT__DIGEST_BANDS * sizeof *band);
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++)
        if (h->bucket[i]) band[band_of(weft_histogram_value(i))] += h->bucket[i];
}

uint64_t weft__digest_mix_histogram(uint64_t digest, const struct weft_histogram *h) {
    uint64_t band[WEFT__DIGEST_BANDS];
    count_bands(h, band);
    for (uint32_t i = 0; i < WEFT__DIGEST_BANDS; i++)
        digest = weft__digest_mix(digest, band[i]);
    return digest;
}

uint64_t weft__digest_mix_used_histogram(uint64_t digest, uint64_t place, const struct weft_histogram *h) {
    uint64_t band[WEFT__DIGEST_BANDS];
    count_bands(h, band);
    for (uint32_t i = 0; i < WEFT__DIGEST_BANDS; i++)
        digest = weft__digest_mix_used(digest, place + i * sizeof *band, band[i]);
    return digest;
}
