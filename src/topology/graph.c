// SPDX-License-Identifier: Apache-2.0
#include "topology/graph.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/order.h"
#include "weft/memory.h"
#include <stdlib.h>

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
                g->arc[g->arcs++] =
                    (struct weft__arc){peer->index, port->link, (uint16_t)k, t->link[port->link].preferred};
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

// Dinic's algorithm ("Algorithm for solution of a problem of maximum flow in networks with power estimation", Soviet
// Math. Doklady 1970): blocking flows on the levels of a breadth-first search, without recursion because a listed
// network may be a long chain.

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

struct weft__flow {
    uint32_t nodes, arcs, capacity;
    struct arc {
        uint64_t left; ///< unused capacity
        uint32_t to, next;
    } * arc;                 ///< arc a and a ^ 1 are the two directions
    uint32_t *first;         ///< [nodes]: head of the list of arcs
    uint32_t *current;       ///< [nodes]: first arc not yet known to be useless on this level graph
    uint32_t *level, *queue; ///< [nodes]
    uint32_t *path;          ///< [nodes]: arcs from the source to here
};

struct weft__flow *weft__flow_new(uint32_t nodes) {
    struct weft__flow *f = weft_memory_new(KIND, 1, sizeof *f);
    f->nodes = nodes;
    f->first = weft_memory_new(KIND, 5 * (size_t)nodes, sizeof *f->first);
    f->current = f->first + nodes;
    f->level = f->current + nodes;
    f->queue = f->level + nodes;
    f->path = f->queue + nodes;
    for (uint32_t n = 0; n < nodes; n++)
        f->first[n] = WEFT_NONE;
    return f;
}

void weft__flow_free(struct weft__flow *f) {
    weft_memory_free(KIND, f->first, 5 * (size_t)f->nodes * sizeof *f->first);
    weft_memory_free(KIND, f->arc, f->capacity * sizeof *f->arc);
    weft_memory_free(KIND, f, sizeof *f);
}

void weft__flow_connect(struct weft__flow *f, uint32_t from, uint32_t to, uint64_t capacity, uint64_t back) {
    f->arc = weft__memory_double(KIND, f->arc, f->arcs + 1, &f->capacity, 256, sizeof *f->arc); // for two
    f->arc[f->arcs] = (struct arc){capacity, to, f->first[from]};
    f->first[from] = f->arcs++;
    f->arc[f->arcs] = (struct arc){back, from, f->first[to]};
    f->first[to] = f->arcs++;
}

static bool find_levels(struct weft__flow *f, uint32_t source, uint32_t sink) {
    for (uint32_t n = 0; n < f->nodes; n++) {
        f->level[n] = WEFT_NONE;
        f->current[n] = f->first[n];
    }
    uint32_t filled = 1;
    f->level[source] = 0;
    f->queue[0] = source;
    for (uint32_t i = 0; i < filled; i++) {
        uint32_t n = f->queue[i];
        for (uint32_t a = f->first[n]; a != WEFT_NONE; a = f->arc[a].next)
            if (f->arc[a].left && f->level[f->arc[a].to] == WEFT_NONE) {
                f->level[f->arc[a].to] = f->level[n] + 1;
                f->queue[filled++] = f->arc[a].to;
            }
    }
    return f->level[sink] != WEFT_NONE;
}

/// Sends what the path can carry and returns how much of the path is still open.
static uint32_t augment_path(struct weft__flow *f, uint32_t length, uint64_t *total) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < length; i++)
        if (f->arc[f->path[i]].left < least) least = f->arc[f->path[i]].left;
    uint32_t open = length;
    for (uint32_t i = length; i-- > 0;) {
        f->arc[f->path[i]].left -= least;
        f->arc[f->path[i] ^ 1].left += least;
        if (!f->arc[f->path[i]].left) open = i;
    }
    *total += least;
    return open;
}

static uint64_t blocking_flow(struct weft__flow *f, uint32_t source, uint32_t sink) {
    uint64_t total = 0;
    uint32_t length = 0, n = source;
    for (;;) {
        if (n == sink) {
            length = augment_path(f, length, &total);
            n = length ? f->arc[f->path[length - 1]].to : source;
        }
        uint32_t a = f->current[n];
        while (a != WEFT_NONE && !(f->arc[a].left && f->level[f->arc[a].to] == f->level[n] + 1))
            a = f->arc[a].next;
        f->current[n] = a;
        if (a != WEFT_NONE) {
            f->path[length++] = a;
            n = f->arc[a].to;
        } else if (n == source) {
            return total;
        } else { // a dead end: go back, and do not come here again
            f->level[n] = WEFT_NONE;
            n = f->arc[f->path[--length] ^ 1].to;
        }
    }
}

uint64_t weft__flow_max(struct weft__flow *f, uint32_t source, uint32_t sink) {
    uint64_t total = 0;
    while (find_levels(f, source, sink))
        total += blocking_flow(f, source, sink);
    return total;
}

struct end {
    uint64_t to, sort;
};

struct finder {
    const struct weft__graph *g;
    const unsigned char *key;
    size_t key_bytes;
    const struct end *end; ///< [arcs], grouped by switch
    uint64_t *hash;        ///< [switches]
};

WEFT__ORDER(by_end, struct end, WEFT__UP(to) ?: WEFT__UP(sort))

static bool are_twins(const struct finder *f, uint32_t a, uint32_t b) {
    const uint32_t *first = f->g->first;
    uint32_t arcs = first[a + 1] - first[a];
    if (f->hash[a] != f->hash[b] || arcs != first[b + 1] - first[b]) return false;
    if (memcmp(f->key + a * f->key_bytes, f->key + b * f->key_bytes, f->key_bytes)) return false;
    return !arcs || !memcmp(&f->end[first[a]], &f->end[first[b]], arcs * sizeof *f->end);
}

/// Uses a hash table twice as large as the number of switches.
static void find_twins(const struct finder *f, uint32_t *ret_first) {
    uint32_t room = 2, switches = f->g->switches;
    while (room < 2 * switches)
        room *= 2;
    WEFT_FREED uint32_t *table = weft_memory_new(KIND, room, sizeof *table);
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t at = (uint32_t)f->hash[s] & (room - 1);
        while (table[at] && !are_twins(f, table[at] - 1, s))
            at = (at + 1) & (room - 1);
        if (!table[at]) table[at] = s + 1;
        ret_first[s] = table[at] - 1;
    }
}

void weft__equal_switches_find(const struct weft__graph *g, const void *key, size_t key_bytes, const uint64_t *sort,
                               uint32_t *ret_first) {
    WEFT_FREED struct end *end = weft_memory_new(KIND, g->arcs, sizeof *end);
    struct finder f = {g, key, key_bytes, end, weft_memory_new(KIND, g->switches, sizeof *f.hash)};
    for (uint32_t s = 0; s < g->switches; s++) {
        uint32_t first = g->first[s], arcs = g->first[s + 1] - first;
        for (uint32_t a = first; a < first + arcs; a++)
            end[a] = (struct end){g->arc[a].to, sort[g->arc[a].link]};
        if (arcs) qsort(&end[first], arcs, sizeof *end, by_end);
        uint64_t hash = weft__hash(WEFT__HASH_START, f.key + s * key_bytes, key_bytes);
        f.hash[s] = arcs ? weft__hash(hash, &end[first], arcs * sizeof *end) : hash;
        f.hash[s] ^= f.hash[s] >> 32;
    }
    find_twins(&f, ret_first);
    weft_memory_free(KIND, f.hash, g->switches * sizeof *f.hash);
}
