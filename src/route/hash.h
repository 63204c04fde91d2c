// SPDX-License-Identifier: Apache-2.0
// What route models share: the hash of header fields, and seeds.
#pragma once

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
                "each switch hashes with its own seed, or all with the same")

/// For weft_route_ops.hash_seed of a model with that member, and of one without.
uint32_t weft__route_hash_seed(const void *conf, uint64_t seed, uint32_t sw);
uint32_t weft__route_own_seed(const void *conf, uint64_t seed, uint32_t sw);

/// Hash of the 5-tuple and the destination queue pair of the BTH. A source flow control message has no BTH.
static inline uint32_t weft__route_hash_qp(const struct weft_route_query *query) {
    const struct weft_packet *p = query->packet;
    uint32_t qp = p->kind == WEFT_PACKET_SFCM ? 0 : weft_packet_dest_qp(p, query->qp_numbers);
    return weft_route_mix(weft_route_hash(query) + qp);
}

/// The port's index among the candidates; WEFT_NONE: it is none of them.
static inline uint32_t weft__route_find(const struct weft_route_query *query, uint32_t port) {
    for (uint32_t i = 0; i < query->ports; i++)
        if (query->port[i] == port) return i;
    return WEFT_NONE;
}
