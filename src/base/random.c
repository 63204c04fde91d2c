// SPDX-License-Identifier: Apache-2.0
#include "weft/random.h"

#include <assert.h>
#include <math.h>

// The library's header does not compile cleanly with our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

struct weft_random weft_random_stream(uint64_t seed, uint32_t who, enum weft_random_purpose purpose) {
    return (struct weft_random){.seed = seed, .who = who, .purpose = purpose};
}

uint64_t weft_random_u64(struct weft_random *random) {
    // Key: the run's seed. Counter: owner, purpose and the number of earlier draws.
    philox4x32_key_t key = {{(uint32_t)random->seed, (uint32_t)(random->seed >> 32)}};
    philox4x32_ctr_t counter = {
        {(uint32_t)random->drawn, (uint32_t)(random->drawn >> 32), random->who, random->purpose}};
    random->drawn++;
    philox4x32_ctr_t out = philox4x32(counter, key);
    return (uint64_t)out.v[0] << 32 | out.v[1];
}

double weft_random_unit(struct weft_random *random) {
    return (double)(weft_random_u64(random) >> 11) * 0x1p-53;
}

uint64_t weft_random_below(struct weft_random *random, uint64_t n) {
    assert(n > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % n; // reject the tail that would favour small numbers
    uint64_t x;
    do
        x = weft_random_u64(random);
    while (x >= limit);
    return x % n;
}

double weft_random_exponential(struct weft_random *random, double mean) {
    return -mean * log1p(-weft_random_unit(random));
}
