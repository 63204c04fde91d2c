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
void weft__cliques_free(struct weft__cliques *cliques);

#endif
