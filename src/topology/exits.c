// SPDX-License-Identifier: Apache-2.0
#include "weft/exits.h"

#include <string.h>

#include "base/grow.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

/// An interface node with links to nodes other than hosts.
struct gate {
    uint32_t node, fabric;
};

struct work {
    const struct weft_topology *t;
    const struct weft_routes *routes;
    struct weft_exits *x;
    struct gate *gate; ///< sorted by fabric, then node
    uint32_t gates;
    uint32_t *edge_fabric; ///< [edge]: the fabric of a switch with hosts, or WEFT_NONE
};

/// Numbers every node that cells can reach from `first`.
static void mark_fabric(const struct weft_topology *t, uint32_t first, uint32_t number, uint32_t *queue,
                        uint32_t *ret_fabric) {
    uint32_t filled = 1;
    queue[0] = first;
    ret_fabric[first] = number;
    for (uint32_t i = 0; i < filled; i++) {
        const struct weft_node_info *node = &t->node[queue[i]];
        for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
            uint32_t to = t->port[t->port[p].peer].node;
            if (ret_fabric[to] != WEFT_NONE || !weft_topology_link_is_fabric(t, t->port[p].link)) continue;
            ret_fabric[to] = number;
            queue[filled++] = to;
        }
    }
}

uint32_t weft_fabrics_find(const struct weft_topology *t, uint32_t *ret_fabric) {
    uint32_t *queue = weft_memory_new(KIND, t->nodes, sizeof *queue), fabrics = 0;
    memset(ret_fabric, 0xff, t->nodes * sizeof *ret_fabric);
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].box == WEFT_BOX_DSF_INTERFACE && ret_fabric[n] == WEFT_NONE)
            mark_fabric(t, n, fabrics++, queue, ret_fabric);
    weft_memory_free(KIND, queue, t->nodes * sizeof *queue);
    return fabrics;
}

static bool is_gate(const struct weft_topology *t, const struct weft_node_info *node) {
    if (node->box != WEFT_BOX_DSF_INTERFACE) return false;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++)
        if (!weft_topology_link_is_fabric(t, t->port[p].link) &&
            t->node[t->port[t->port[p].peer].node].role != WEFT_NODE_HOST)
            return true;
    return false;
}

static void find_gates(struct work *w) {
    w->gate = weft_memory_new(KIND, w->t->nodes, sizeof *w->gate);
    for (uint32_t f = 0; f < w->x->fabrics; f++)
        for (uint32_t n = 0; n < w->t->nodes; n++)
            if (w->x->fabric_of_node[n] == f && is_gate(w->t, &w->t->node[n]))
                w->gate[w->gates++] = (struct gate){n, f};
    w->edge_fabric = weft_memory_new(KIND, w->routes->edges, sizeof *w->edge_fabric);
    for (uint32_t s = 0; s < w->t->switches; s++)
        if (w->routes->edge_of_switch[s] != WEFT_NONE)
            w->edge_fabric[w->routes->edge_of_switch[s]] = w->x->fabric_of_node[w->t->switch_node[s]];
}

/// Appends the Ethernet next hops of a gate.
static void add_gate(struct work *w, uint32_t node, uint32_t edge) {
    const struct weft_routes *r = w->routes;
    uint32_t sw = w->t->node[node].index;
    const struct weft_route_set *set = &r->set[r->set_first[sw] + r->set_of[(size_t)sw * r->edges + edge]];
    struct weft_exits *x = w->x;
    x->exit = weft__memory_grow_small(KIND, x->exit, &x->exits_capacity, x->exits + set->n, sizeof *x->exit);
    for (uint32_t i = 0; i < set->n; i++) {
        uint16_t port = r->ports[set->first + i];
        if (!weft_topology_link_is_fabric(w->t, weft_topology_port(w->t, node, port)->link))
            x->exit[x->exits++] = (struct weft_exit){node, port};
    }
}

static bool is_same_set(const struct weft_exits *x, uint32_t set, uint32_t first) {
    if (x->set[set].n != x->exits - first) return false;
    for (uint32_t i = 0; i < x->set[set].n; i++) {
        const struct weft_exit *a = &x->exit[x->set[set].first + i], *b = &x->exit[first + i];
        if (a->node != b->node || a->port != b->port) return false;
    }
    return true;
}

/// The set of what was appended since `first`; switches with hosts in the same building share one.
static uint32_t take_set(struct weft_exits *x, uint32_t first, uint32_t from_set) {
    uint32_t s = first == x->exits ? 0 : from_set;
    while (s && s < x->sets && !is_same_set(x, s, first))
        s++;
    if (s < x->sets) {
        x->exits = first;
        return s;
    }
    x->set = weft__memory_grow_small(KIND, x->set, &x->sets_capacity, x->sets + 1, sizeof *x->set);
    x->set[x->sets] = (struct weft_exit_set){first, x->exits - first};
    return x->sets++;
}

static void find_exits(struct work *w) {
    struct weft_exits *x = w->x;
    for (uint32_t g = 0, end; g < w->gates; g = end) {
        uint32_t fabric = w->gate[g].fabric, from_set = x->sets;
        for (end = g; end < w->gates && w->gate[end].fabric == fabric;)
            end++;
        for (uint32_t edge = 0; edge < x->edges; edge++) {
            uint32_t first = x->exits;
            if (w->edge_fabric[edge] == fabric) continue;
            for (uint32_t i = g; i < end; i++)
                add_gate(w, w->gate[i].node, edge);
            x->set_of[(size_t)fabric * x->edges + edge] = take_set(x, first, from_set);
        }
    }
}

struct weft_exits *weft_exits_new(const struct weft_topology *t, const struct weft_routes *routes) {
    struct weft_exits *x = weft_memory_new(KIND, 1, sizeof *x);
    struct work w = {.t = t, .routes = routes, .x = x};
    x->nodes = t->nodes;
    x->edges = routes->edges;
    x->fabric_of_node = weft_memory_new(KIND, t->nodes, sizeof *x->fabric_of_node);
    x->fabrics = weft_fabrics_find(t, x->fabric_of_node);
    find_gates(&w);
    x->set_of = weft_memory_new(KIND, (size_t)x->fabrics * x->edges, sizeof *x->set_of);
    x->set = weft__memory_grow_small(KIND, x->set, &x->sets_capacity, 1, sizeof *x->set);
    x->set[0] = (struct weft_exit_set){0, 0};
    x->sets = 1;
    find_exits(&w);
    weft_memory_free(KIND, w.gate, t->nodes * sizeof *w.gate);
    weft_memory_free(KIND, w.edge_fabric, routes->edges * sizeof *w.edge_fabric);
    return x;
}

void weft_exits_free(struct weft_exits *x) {
    if (!x) return;
    weft_memory_free(KIND, x->fabric_of_node, x->nodes * sizeof *x->fabric_of_node);
    weft_memory_free(KIND, x->set_of, (size_t)x->fabrics * x->edges * sizeof *x->set_of);
    weft_memory_free(KIND, x->set, x->sets_capacity * sizeof *x->set);
    weft_memory_free(KIND, x->exit, x->exits_capacity * sizeof *x->exit);
    weft_memory_free(KIND, x, sizeof *x);
}
