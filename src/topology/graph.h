// SPDX-License-Identifier: Apache-2.0
// The switches of a topology and the links between them, in a compact form for searching.
#pragma once

#include "weft/topology.h"

struct weft__graph {
    uint32_t switches, arcs;
    uint32_t *first; ///< [switches + 1]: arcs of switch s are first[s] .. first[s + 1] - 1, by port
    struct weft__arc {
        uint32_t to; ///< switch index
        uint32_t link;
        uint32_t port; ///< the port by which it leaves its switch
    } * arc;
};

/// Omits links marked in `down` (NULL: none).
void weft__graph_init(struct weft__graph *g, const struct weft_topology *t, const bool *down);
void weft__graph_deinit(struct weft__graph *g);
/// Writes the hops from `source` to every switch (WEFT_NONE: not reachable) to hops[switches], and the reached switches
/// in order of hops to order[switches]. Returns how many were reached.
uint32_t weft__graph_search(const struct weft__graph *g, uint32_t source, uint32_t *hops, uint32_t *order);
