// SPDX-License-Identifier: Apache-2.0
// Equal-cost multipath by a hash of the 5-tuple: RFC 2992 (hash-threshold: the index is hash * n / 2^32, so that no
// division is needed and the rest of a modulo favours no port). The hash is the 32-bit finaliser of MurmurHash3
// (A. Appleby, public domain) over destination, entropy (UDP source port) and a seed. Real switches hash by CRC or XOR
// of header fields; a good finaliser is what vendors approach with their per-switch seeds, and `hash_seed: same` shows
// what happens without: the second layer decides as the first did and uses part of its links (polarisation).
#include "weft/route.h"

#include "weft/random.h"

enum { SEED_PER_SWITCH, SEED_SAME };
static const char *const seed_names[] = {"per_switch", "same", NULL};

struct ecmp_conf {
    uint32_t hash_seed;
};

static const struct weft_param ecmp_rows[] = {
    WEFT_CHOICE(struct ecmp_conf, hash_seed, "hash_seed", "per_switch", seed_names,
                "whether switches hash with a seed of their own or all with the same"),
};
static const struct weft_param_table ecmp_params = WEFT_PARAM_TABLE("ecmp", struct ecmp_conf, ecmp_rows);

static uint32_t mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

static uint32_t ecmp_select(const void *conf, const struct weft_route_query *query) {
    uint32_t hash = mix(mix(query->hash_seed ^ query->packet->dst) + query->packet->entropy);
    return (uint32_t)((uint64_t)hash * query->ports >> 32);
}

static uint32_t ecmp_hash_seed(const void *conf, uint64_t seed, uint32_t sw) {
    const struct ecmp_conf *c = conf;
    uint32_t who = c->hash_seed == SEED_SAME ? 0 : sw;
    struct weft_random random = weft_random_stream(seed, who, WEFT_RANDOM_HASH_SEED);
    return (uint32_t)weft_random_u64(&random);
}

static const struct weft_route_ops ecmp_ops = {.select = ecmp_select, .hash_seed = ecmp_hash_seed};

const struct weft_model weft__route_ecmp = {
    .kind = WEFT_KIND_ROUTE,
    .name = "ecmp",
    .summary = "one path per queue pair, by hash",
    .source = "RFC 2992 hash-threshold; MurmurHash3 finaliser",
    .params = &ecmp_params,
    .ops = &ecmp_ops,
};
