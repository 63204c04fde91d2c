// SPDX-License-Identifier: Apache-2.0
// Equal-cost shortest-path next hops (hop count) from every switch to every edge switch, for one state of the links.
// Kept per edge switch rather than per host, and equal port sets are stored once per switch.
// Memory: 2 bytes x switches x edge switches, plus the sets. A host with static routes has an edge of its own, at which
// no switch is, so that nobody has to ask for static routes.
#pragma once

#include "weft/topology.h"

struct weft_routes {
    uint32_t edges; ///< switches with hosts, and hosts with static routes
    uint32_t hosts;
    uint32_t *edge_of_host;   ///< host index -> edge index (WEFT_NONE: the host's link is down)
    uint16_t *port_of_host;   ///< host index -> port of its edge switch
    uint32_t *edge_of_switch; ///< switch index -> edge index or WEFT_NONE
    uint16_t *set_of;         ///< [switch * edges + edge] -> set of that switch; 0 is the empty set
    uint32_t *set_first;      ///< switch index -> its first set in `set`
    struct weft_route_set {
        uint32_t first; ///< in `ports`
        uint32_t n;
    } * set;
    uint16_t *ports; ///< ascending within a set
};

/// Routes for the topology with the links marked in `down` (bool per link, or NULL) out of service. A static route
/// keeps those of its ports that are in service; without any, and where with links out of service packets would go in a
/// circle, the computed route holds.
struct weft_routes *weft_routes_new(const struct weft_topology *t, const bool *down);
void weft_routes_free(struct weft_routes *routes);
/// A switch on a circle in which packets to a host with static routes could go, and that host; WEFT_NONE: there is
/// none.
uint32_t weft_routes_find_circle(const struct weft_routes *routes, const struct weft_topology *t, uint32_t *ret_host);

/// The candidate ports of switch `sw` (switch index) towards `host`. n == 0: unreachable.
static inline const uint16_t *weft_routes_at(const struct weft_routes *r, uint32_t sw, uint32_t host, uint32_t *ret_n) {
    uint32_t edge = r->edge_of_host[host];
    if (edge == WEFT_NONE) {
        *ret_n = 0;
        return NULL;
    }
    if (r->edge_of_switch[sw] == edge) {
        *ret_n = 1;
        return &r->port_of_host[host];
    }
    const struct weft_route_set *set = &r->set[r->set_first[sw] + r->set_of[(size_t)sw * r->edges + edge]];
    *ret_n = set->n;
    return &r->ports[set->first];
}
