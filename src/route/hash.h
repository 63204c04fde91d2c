// SPDX-License-Identifier: Apache-2.0
// What route models share: the hash of header fields, and seeds.
#ifndef WEFT_ROUTE_HASH_H
#define WEFT_ROUTE_HASH_H

#include "weft/random.h"
#include "weft/route.h"

enum { WEFT__ROUTE_SEED_PER_SWITCH, WEFT__ROUTE_SEED_SAME };
extern const char *const weft__route_seed_names[]; // "per_switch", "same", NULL

/// First member of the configuration of a model that hashes.
struct weft__route_hash_conf {
    uint32_t seed; ///< WEFT__ROUTE_SEED_...
};
/// Its row for a model's table; T must have it as member `hash`.
#define WEFT__ROUTE_HASH_ROW(T)                                                                                        \
    WEFT_CHOICE(T, hash.seed, "hash_seed", "per_switch", weft__route_seed_names,                                       \
                "whether switches hash with a seed of their own or all with the same")

/// For weft_route_ops.hash_seed of a model with that member, and of one without.
uint32_t weft__route_hash_seed(const void *conf, uint64_t seed, uint32_t sw);
uint32_t weft__route_own_seed(const void *conf, uint64_t seed, uint32_t sw);

/// The 32-bit finaliser of MurmurHash3 (A. Appleby, public domain).
static inline uint32_t weft__route_mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/// Of the 5-tuple: destination and UDP source port; the other fields of RoCEv2 are the same for all, and the source is
/// told apart by the port that its NIC draws.
static inline uint32_t weft__route_hash(const struct weft_route_query *query) {
    return weft__route_mix(weft__route_mix(query->hash_seed ^ query->packet->dst) + query->packet->entropy);
}

/// Of the 5-tuple and the destination queue pair of the BTH. A source flow control message has no BTH.
static inline uint32_t weft__route_hash_qp(const struct weft_route_query *query) {
    const struct weft_packet *p = query->packet;
    uint32_t qp = p->kind == WEFT_PACKET_SFCM ? 0 : weft_packet_dest_qp(p, query->qp_numbers);
    return weft__route_mix(weft__route_hash(query) + qp);
}

/// The candidate of a hash: RFC 2992, hash-threshold.
static inline uint32_t weft__route_index(const struct weft_route_query *query, uint32_t hash) {
    return (uint32_t)((uint64_t)hash * query->ports >> 32);
}

/// Its index among the candidates; WEFT_NONE: it is none.
static inline uint32_t weft__route_find(const struct weft_route_query *query, uint32_t port) {
    for (uint32_t i = 0; i < query->ports; i++)
        if (query->port[i] == port) return i;
    return WEFT_NONE;
}

#endif
