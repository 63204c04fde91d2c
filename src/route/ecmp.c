// SPDX-License-Identifier: Apache-2.0
// Equal-cost multipath by a hash of the 5-tuple: RFC 2992 (hash-threshold: the index is hash * n / 2^32, so that no
// division is needed and the rest of a modulo favours no port). The hash is the 32-bit finaliser of MurmurHash3
// (A. Appleby, public domain) over destination, entropy (UDP source port) and a seed. Real switches hash by CRC or XOR
// of header fields; a good finaliser is what vendors approach with their per-switch seeds, and `hash_seed: same` shows
// what happens without: the second layer decides as the first did and uses part of its links (polarisation).
#include "route/hash.h"
#include "weft/param.h"

struct ecmp_conf {
    struct weft__route_hash_conf hash;
};

static const struct weft_param_table ecmp_params =
    WEFT_PARAM_TABLE_OF("ecmp", struct ecmp_conf, WEFT_PARAM_UNCHECKED, WEFT__ROUTE_HASH_ROW(struct ecmp_conf));

static uint32_t ecmp_select(const void *conf, const struct weft_route_query *query) {
    return weft_route_index(query, weft_route_hash(query));
}

const struct weft_model weft__route_ecmp = WEFT_MODEL_OF(
    ROUTE, "ecmp", "one path for a 5-tuple, by hash", "RFC 2992 hash-threshold; MurmurHash3 finaliser", &ecmp_params,
    &(const struct weft_route_ops){.select = ecmp_select, .hash_seed = weft__route_hash_seed, .by_tuple = true});
