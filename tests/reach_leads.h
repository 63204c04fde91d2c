// SPDX-License-Identifier: Apache-2.0
// The ports of a DSF's nodes that lead to an interface node when nothing has failed, by the levels of the fabric.
#pragma once

#include "weft/topology.h"

/// Whether node `node` sends cells for interface node `dst` by its port `port`; for DSF nodes of one fabric.
static inline bool reach_leads(const struct weft_topology *t, uint32_t node, uint32_t port, uint32_t dst) {
    const struct weft_port_info *p = weft_topology_port(t, node, port);
    if (node == dst || !weft_topology_link_is_fabric(t, p->link)) return false;
    const struct weft_node_info *n = &t->node[node];
    uint32_t peer = t->port[p->peer].node;
    if (!n->fabric_level) return true;
    if (n->fabric_level == 2) return t->node[peer].cluster == t->node[dst].cluster;
    return n->cluster == t->node[dst].cluster ? peer == dst : t->node[peer].fabric_level == 2;
}
