// SPDX-License-Identifier: Apache-2.0
// Circles of buffers that may wait for one another. A packet that holds a buffer behind a link, and goes on by the next
// link of some route, makes the first link wait for the second; a circle of such waits can deadlock if links pause or
// need credit. Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection
// networks", IEEE Transactions on Computers, 1987 (the channel dependency graph). All priorities count as one; static
// routes are left out.
#include <string.h>

#include "base/bits.h"
#include "weft/memory.h"
#include "weft/waits.h"

enum { LARGEST = 1 << 20, MOST_BITS = 1 << 28 }; // switches times edges; larger networks are not searched

struct waits {
    const struct weft_topology *t;
    const struct weft_routes *r;
    uint64_t *waits; ///< [first[switch] + input * ports + output]: a packet goes from one to the other
    size_t *first, bits;
};

static uint32_t switch_of(const struct waits *w, uint32_t port) {
    return w->t->node[w->t->port[port].node].index;
}

static const uint16_t *next_ports(const struct waits *w, uint32_t sw, uint32_t edge, uint32_t *ret_n) {
    const struct weft_route_set *set = &w->r->set[w->r->set_first[sw] + w->r->set_of[(size_t)sw * w->r->edges + edge]];
    *ret_n = set->n;
    return &w->r->ports[set->first];
}

/// From every switch with hosts, along all routes to one edge.
static void follow_routes(struct waits *w, uint32_t edge, bool *seen, uint32_t *stack) {
    uint32_t depth = 0;
    memset(seen, 0, w->t->switches * sizeof *seen);
    for (uint32_t s = 0; s < w->t->switches; s++)
        if (w->r->edge_of_switch[s] != WEFT_NONE) seen[s] = true, stack[depth++] = s;
    while (depth) {
        uint32_t sw = stack[--depth], n, m;
        if (w->r->edge_of_switch[sw] == edge) continue;
        const uint16_t *port = next_ports(w, sw, edge, &n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t in = weft_topology_port(w->t, w->t->switch_node[sw], port[i])->peer, next = switch_of(w, in);
            const struct weft_node_info *node = &w->t->node[w->t->port[in].node];
            if (!seen[next]) seen[next] = true, stack[depth++] = next;
            if (w->r->edge_of_switch[next] == edge) continue;
            const uint16_t *out = next_ports(w, next, edge, &m);
            for (uint32_t k = 0; k < m; k++)
                weft__bits_set(w->waits,
                               (uint32_t)(w->first[next] + (in - node->port0) * (size_t)node->ports + out[k]));
        }
    }
}

/// A depth-first search from a link; meeting a link of the current path again closes a circle.
static bool closes_circle(const struct waits *w, uint32_t start, uint8_t *colour, uint32_t (*path)[2]) {
    enum { NEW, ON_PATH, DONE };
    uint32_t depth = 0;
    if (colour[start] != NEW) return false;
    colour[start] = ON_PATH;
    path[depth][0] = start;
    path[depth++][1] = 0;
    while (depth) {
        uint32_t link = path[depth - 1][0], k = path[depth - 1][1]++, in = w->t->port[link].peer;
        const struct weft_node_info *node = &w->t->node[w->t->port[in].node];
        if (node->role == WEFT_NODE_HOST || k >= node->ports) {
            colour[link] = DONE;
            depth--;
            continue;
        }
        if (!weft__bits_has(w->waits, (uint32_t)(w->first[node->index] + (in - node->port0) * (size_t)node->ports + k)))
            continue;
        uint32_t next = node->port0 + k;
        if (colour[next] == ON_PATH) return true;
        if (colour[next] == DONE) continue;
        colour[next] = ON_PATH;
        path[depth][0] = next;
        path[depth++][1] = 0;
    }
    return false;
}

uint32_t weft_routes_find_wait(const struct weft_routes *r, const struct weft_topology *t) {
    if ((uint64_t)t->switches * r->edges > LARGEST) return WEFT_NONE;
    for (uint32_t s = 0; s < t->switches; s++)
        if (t->node[t->switch_node[s]].box != WEFT_BOX_ETHERNET_SWITCH) return WEFT_NONE; // cells wait otherwise
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_ROUTES);
    struct waits w = {.t = t, .r = r, .first = weft_arena_alloc(arena, t->switches, sizeof *w.first)};
    for (uint32_t s = 0; s < t->switches; s++) {
        uint32_t ports = t->node[t->switch_node[s]].ports;
        w.first[s] = w.bits;
        w.bits += (size_t)ports * ports;
    }
    if (w.bits > MOST_BITS) {
        weft_arena_free(arena);
        return WEFT_NONE;
    }
    w.waits = weft_arena_alloc(arena, w.bits / 64 + 1, sizeof *w.waits);
    bool *seen = weft_arena_alloc(arena, t->switches, sizeof *seen);
    uint32_t *stack = weft_arena_alloc(arena, t->switches, sizeof *stack), found = WEFT_NONE;
    uint8_t *colour = weft_arena_alloc(arena, t->ports, sizeof *colour);
    uint32_t(*path)[2] = weft_arena_alloc(arena, t->ports, sizeof *path);
    for (uint32_t s = 0; s < t->switches; s++)
        if (r->edge_of_switch[s] != WEFT_NONE) follow_routes(&w, r->edge_of_switch[s], seen, stack);
    for (uint32_t p = 0; p < t->ports && found == WEFT_NONE; p++)
        if (closes_circle(&w, p, colour, path)) found = p;
    weft_arena_free(arena);
    return found;
}
