// SPDX-License-Identifier: Apache-2.0
// What the TiNs of a network share in a run.
#ifndef WEFT_SIM_TIN_H
#define WEFT_SIM_TIN_H

#include "device/tin.h"
#include "sim/network.h"

struct weft__cliques {
    struct weft_dragonflies *shape;
    struct weft__clique {
        struct weft__gnet_tables tables;
        struct weft_gnet_routes **routes; ///< [tables.n]
        struct weft__tin_places places;
    } * clique;                     ///< [shape->n]
    struct weft__gnet_rates *rates; ///< times of cells by rate, shared by all
};

/// NULL if there is no TiN; in net's arenas, but for what weft__cliques_free frees.
struct weft__cliques *weft__cliques_new(const struct weft__network *net);
/// Fills what `places` says of hosts that are not in the Clique, for each state of the links: down[epoch * links +
/// link].
void weft__tin_find_exits(struct weft__tin_places *places, const struct weft_topology *t,
                          const struct weft_dragonflies *shape, uint32_t fabric, const bool *down, uint32_t epochs,
                          struct weft_arena *arena);
void weft__cliques_free(struct weft__cliques *cliques);

#endif
