// SPDX-License-Identifier: Apache-2.0
// Where packets leave a Clique for the rest of the data centre: by TiNs whose Ethernet port leads to a spine (NSDI
// 2022, sections 2 and 4.1). Which of them reach a destination on a shortest way outside the Clique is what the data
// centre's routing would tell them.
#include <string.h>

#include "sim/tin.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

/// Hosts of one switch are a class.
static uint32_t find_classes(struct weft__tin_places *places, const struct weft_topology *t, uint32_t **ret_edge,
                             struct weft_arena *arena) {
    uint32_t *class_of_host = weft_arena_alloc(arena, t->hosts, sizeof *class_of_host), n = 0;
    uint32_t *class_of_node = weft_memory_new(KIND, t->nodes, sizeof *class_of_node);
    *ret_edge = weft_memory_new(KIND, t->hosts, sizeof **ret_edge);
    memset(class_of_node, 0xff, t->nodes * sizeof *class_of_node);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t edge = t->port[weft_topology_port(t, t->host[h], 0)->peer].node;
        class_of_host[h] = WEFT_NONE;
        if (places->tin_of_host[h] != WEFT_TIN_NONE) continue;
        if (class_of_node[edge] == WEFT_NONE) {
            class_of_node[edge] = n;
            (*ret_edge)[n++] = edge;
        }
        class_of_host[h] = class_of_node[edge];
    }
    weft_memory_free(KIND, class_of_node, t->nodes * sizeof *class_of_node);
    places->class_of_host = class_of_host;
    return n;
}

/// The first Ethernet port of each TiN to a switch: among all ports in `ret_port` (WEFT_NONE: none), among the TiN's
/// Ethernet ports in what it returns.
static uint16_t *find_ports_out(const struct weft_topology *t, const struct weft_dragonfly *f, uint32_t *ret_port,
                                struct weft_arena *arena) {
    uint16_t *out = weft_arena_alloc(arena, f->tins, sizeof *out);
    for (uint32_t i = 0; i < f->tins; i++) {
        const struct weft_node_info *node = &t->node[f->tin[i].node];
        uint16_t number = 0;
        out[i] = WEFT_TIN_NONE;
        ret_port[i] = WEFT_NONE;
        for (uint32_t k = 0; k < node->ports && out[i] == WEFT_TIN_NONE; k++) {
            enum weft_tin_port_class class = weft_tin_port_class(t, f->tin[i].node, k);
            if (class == WEFT_TIN_ETHERNET) {
                out[i] = number;
                ret_port[i] = node->port0 + k;
            }
            number = (uint16_t)(number + (class == WEFT_TIN_HOST || class == WEFT_TIN_ETHERNET));
        }
    }
    return out;
}

/// Hops to `edge` from every node outside the Clique by links in service; WEFT_NONE: none.
static void search(const struct weft_topology *t, const uint32_t *fabric_of_node, uint32_t fabric, const bool *down,
                   uint32_t edge, uint32_t *hops, uint32_t *queue) {
    uint32_t filled = 1;
    memset(hops, 0xff, t->nodes * sizeof *hops);
    hops[edge] = 0;
    queue[0] = edge;
    for (uint32_t i = 0; i < filled; i++) {
        const struct weft_node_info *node = &t->node[queue[i]];
        for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
            uint32_t to = t->port[t->port[p].peer].node;
            if (hops[to] != WEFT_NONE || down[t->port[p].link] || fabric_of_node[to] == fabric) continue;
            hops[to] = hops[queue[i]] + 1;
            queue[filled++] = to;
        }
    }
}

static struct weft__tin_exits nearest(const struct weft_topology *t, const struct weft_dragonfly *f,
                                      const uint32_t *port, const bool *down, const uint32_t *hops,
                                      struct weft_arena *arena) {
    uint32_t least = WEFT_NONE, n = 0;
    uint16_t *tin = weft_memory_new(KIND, f->tins, sizeof *tin);
    for (uint32_t i = 0; i < f->tins; i++) {
        if (port[i] == WEFT_NONE || down[t->port[port[i]].link]) continue;
        uint32_t here = hops[t->port[t->port[port[i]].peer].node];
        if (here == WEFT_NONE || here > least) continue;
        if (here < least) n = 0;
        least = here;
        tin[n++] = (uint16_t)i;
    }
    uint16_t *kept = weft_arena_alloc(arena, n, sizeof *kept);
    if (n) memcpy(kept, tin, n * sizeof *kept);
    weft_memory_free(KIND, tin, f->tins * sizeof *tin);
    return (struct weft__tin_exits){kept, n};
}

void weft__tin_find_exits(struct weft__tin_places *places, const struct weft_topology *t,
                          const struct weft_dragonflies *shape, uint32_t fabric, const bool *down, uint32_t epochs,
                          struct weft_arena *arena) {
    const struct weft_dragonfly *f = &shape->fabric[fabric];
    uint32_t *edge, *port = weft_memory_new(KIND, f->tins, sizeof *port);
    uint32_t *hops = weft_memory_new(KIND, t->nodes, sizeof *hops);
    uint32_t *queue = weft_memory_new(KIND, t->nodes, sizeof *queue);
    places->classes = find_classes(places, t, &edge, arena);
    places->port_out = find_ports_out(t, f, port, arena);
    struct weft__tin_exits *exits = weft_arena_alloc(arena, (size_t)epochs * places->classes, sizeof *exits);
    for (uint32_t e = 0; e < epochs; e++)
        for (uint32_t c = 0; c < places->classes; c++) {
            search(t, shape->fabric_of_node, fabric, down + (size_t)e * t->links, edge[c], hops, queue);
            exits[e * places->classes + c] = nearest(t, f, port, down + (size_t)e * t->links, hops, arena);
        }
    places->exits = exits;
    weft_memory_free(KIND, edge, t->hosts * sizeof *edge);
    weft_memory_free(KIND, port, f->tins * sizeof *port);
    weft_memory_free(KIND, hops, t->nodes * sizeof *hops);
    weft_memory_free(KIND, queue, t->nodes * sizeof *queue);
}
