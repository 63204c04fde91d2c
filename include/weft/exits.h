// SPDX-License-Identifier: Apache-2.0
// Where packets leave a disaggregated scheduled fabric (DSF) towards hosts that are not in it. The fabric is one
// switch: its interface node for a packet chooses among the Ethernet ports of all of its interface nodes, as iBGP with
// add-path tells them (in a building of a region: 128 EDSWs with 16 links each, 2048 next hops).
#pragma once

#include "weft/routes.h"

struct weft_exit {
    uint32_t node; ///< an interface node
    uint16_t port; ///< of that node, from 0
};

struct weft_exits {
    uint32_t fabrics, edges, nodes;
    uint32_t *fabric_of_node; ///< [nodes], WEFT_NONE: in none
    uint32_t *set_of;         ///< [fabric * edges + edge]; set 0 is the empty one
    struct weft_exit_set {
        uint32_t first, n; ///< in `exit`
    } * set;
    struct weft_exit *exit; ///< by node, then port, within a set
    uint32_t sets, exits, sets_capacity, exits_capacity;
};

/// Numbers the DSFs of a topology: ret_fabric [nodes], WEFT_NONE: in none. Returns how many there are.
uint32_t weft_fabrics_find(const struct weft_topology *t, uint32_t *ret_fabric);

/// Of every fabric towards every switch with hosts: the Ethernet ports of its interface nodes that are next hops by
/// `routes`. An interface node whose route leads through its own fabric has none. Routes within a fabric use no exit.
struct weft_exits *weft_exits_new(const struct weft_topology *t, const struct weft_routes *routes);
void weft_exits_free(struct weft_exits *exits);

/// The exits of the fabric that `node` is in towards a switch with hosts (weft_routes: its edge index). n == 0: none,
/// or the switch is in that fabric.
static inline const struct weft_exit *weft_exits_at(const struct weft_exits *x, uint32_t node, uint32_t edge,
                                                    uint32_t *ret_n) {
    const struct weft_exit_set *set = &x->set[x->set_of[(size_t)x->fabric_of_node[node] * x->edges + edge]];
    *ret_n = set->n;
    return &x->exit[set->first];
}
