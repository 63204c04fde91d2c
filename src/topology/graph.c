// SPDX-License-Identifier: Apache-2.0
#include "topology/graph.h"

#include <string.h>

void weft__graph_init(struct weft__graph *g, const struct weft_topology *t, const bool *down) {
    g->switches = t->switches;
    g->arcs = 0;
    g->first = weft_memory_new(WEFT_MEMORY_ROUTES, t->switches + 1, sizeof *g->first);
    uint32_t most = 0;
    for (uint32_t s = 0; s < t->switches; s++)
        most += t->node[t->switch_node[s]].ports;
    g->arc = weft_memory_new(WEFT_MEMORY_ROUTES, most, sizeof *g->arc);
    for (uint32_t s = 0; s < t->switches; s++) {
        const struct weft_node_info *node = &t->node[t->switch_node[s]];
        g->first[s] = g->arcs;
        for (uint32_t k = 0; k < node->ports; k++) {
            const struct weft_port_info *port = &t->port[node->port0 + k];
            const struct weft_node_info *peer = &t->node[t->port[port->peer].node];
            if (peer->role == WEFT_NODE_SWITCH && !(down && down[port->link]))
                g->arc[g->arcs++] = (struct weft__arc){peer->index, port->link, k};
        }
    }
    g->first[t->switches] = g->arcs;
    g->arc = weft_memory_resize(WEFT_MEMORY_ROUTES, g->arc, most * sizeof *g->arc, g->arcs * sizeof *g->arc);
}

void weft__graph_deinit(struct weft__graph *g) {
    weft_memory_free(WEFT_MEMORY_ROUTES, g->first, (g->switches + 1) * sizeof *g->first);
    weft_memory_free(WEFT_MEMORY_ROUTES, g->arc, g->arcs * sizeof *g->arc);
}

uint32_t weft__graph_search(const struct weft__graph *g, uint32_t source, uint32_t *hops, uint32_t *order) {
    memset(hops, 0xff, g->switches * sizeof *hops);
    uint32_t reached = 1;
    hops[source] = 0;
    order[0] = source;
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t s = order[i], next = hops[s] + 1;
        for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
            uint32_t to = g->arc[a].to;
            if (hops[to] != WEFT_NONE) continue;
            hops[to] = next;
            order[reached++] = to;
        }
    }
    return reached;
}
