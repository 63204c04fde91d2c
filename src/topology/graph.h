// SPDX-License-Identifier: Apache-2.0
// The switches of a topology and the links between them, packed for searching.
#ifndef WEFT_TOPOLOGY_GRAPH_H
#define WEFT_TOPOLOGY_GRAPH_H

#include "weft/topology.h"

struct weft__graph {
    uint32_t switches, arcs;
    uint32_t *first; ///< [switches + 1]: arcs of switch s are first[s] .. first[s + 1] - 1, by port
    struct weft__arc {
        uint32_t to; ///< switch index
        uint32_t link;
        uint32_t port; ///< port of the switch it leaves
    } * arc;
};

/// Leaves out links marked in `down` (NULL: none).
void weft__graph_init(struct weft__graph *g, const struct weft_topology *t, const bool *down);
void weft__graph_deinit(struct weft__graph *g);
/// Hops from `source` to every switch (WEFT_NONE: not reachable) into hops[switches], and the reached ones in order of
/// hops into order[switches]. Returns how many were reached.
uint32_t weft__graph_search(const struct weft__graph *g, uint32_t source, uint32_t *hops, uint32_t *order);

#endif
