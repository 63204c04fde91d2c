// SPDX-License-Identifier: Apache-2.0
#include "route/hash.h"

const char *const weft__route_seed_names[] = {"per_switch", "same", NULL};

uint32_t weft__route_own_seed(const void *conf, uint64_t seed, uint32_t sw) {
    struct weft_random random = weft_random_stream(seed, sw, WEFT_RANDOM_HASH_SEED);
    return (uint32_t)weft_random_u64(&random);
}

uint32_t weft__route_hash_seed(const void *conf, uint64_t seed, uint32_t sw) {
    const struct weft__route_hash_conf *hash = conf;
    return weft__route_own_seed(conf, seed, hash->seed == WEFT__ROUTE_SEED_SAME ? 0 : sw);
}
