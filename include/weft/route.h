// SPDX-License-Identifier: Apache-2.0
// Choice of one next hop among the candidates of weft/routes.h.
#ifndef WEFT_ROUTE_H
#define WEFT_ROUTE_H

#include "weft/model.h"
#include "weft/packet.h"

struct weft_route_query {
    const struct weft_packet *packet;
    uint32_t hash_seed;   ///< of this switch
    uint32_t ports;       ///< candidates
    const uint16_t *port; ///< [ports], ascending
};

struct weft_route_ops {
    /// Required, hot. Index into query->port, < query->ports. Called only with two candidates or more.
    uint32_t (*select)(const void *conf, const struct weft_route_query *query);
    /// Required. Seed of switch `sw` for a run with this seed.
    uint32_t (*hash_seed)(const void *conf, uint64_t seed, uint32_t sw);
};

#endif
