// SPDX-License-Identifier: Apache-2.0
// Where packets leave a Clique for the rest of the data centre: at TiNs whose Ethernet port leads to a spine (NSDI
// 2022, sections 2 and 4.1). Which of them are on a shortest path to a destination outside the Clique is what the data
// centre's routing would tell them. How often each is used: WCMP (Zhou et al., EuroSys 2014), a group that lists a path
// as often as its remaining capacity requires; if all links are equal, this is equal-cost multipath.
#include <math.h>
#include <string.h>

#include "box/tin/tin_net.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

/// Hosts of one switch form a class.
static uint32_t find_classes(struct weft__tin_places *places, const struct weft_topology *t, uint32_t **ret_edge,
                             struct weft_arena *arena) {
    uint32_t *class_of_host = weft_arena_alloc(arena, t->hosts, sizeof *class_of_host), n = 0;
    WEFT_FREED uint32_t *class_of_node = weft_memory_new(KIND, t->nodes, sizeof *class_of_node);
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
    places->class_of_host = class_of_host;
    return n;
}

/// The first Ethernet port of each TiN that leads to a switch: its number among all ports in `ret_port` (WEFT_NONE:
/// none), its number among the TiN's Ethernet ports in the return value.
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

/// Hops to `edge` from every node outside the Clique over links in service; WEFT_NONE: unreachable. Lists nodes in the
/// order of hops.
static void search_from(const struct weft_topology *t, const uint32_t *fabric_of_node, uint32_t fabric,
                        const bool *down, uint32_t edge, uint32_t *hops, uint32_t *queue) {
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
    if (filled < t->nodes) queue[filled] = WEFT_NONE;
}

/// The capacity from each node to `edge` on shortest paths over links in service; nodes in the order of their hops.
static void find_capacities(const struct weft_topology *t, const uint32_t *fabric_of_node, uint32_t fabric,
                            const bool *down, const uint32_t *hops, const uint32_t *queue, double *capacity) {
    for (uint32_t n = 0; n < t->nodes; n++)
        capacity[n] = 0;
    capacity[queue[0]] = INFINITY;
    for (uint32_t i = 0; i < t->nodes && queue[i] != WEFT_NONE; i++) {
        const struct weft_node_info *node = &t->node[queue[i]];
        for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
            uint32_t from = t->port[t->port[p].peer].node;
            const struct weft_link_info *link = &t->link[t->port[p].link];
            if (hops[from] != hops[queue[i]] + 1 || down[t->port[p].link] || fabric_of_node[from] == fabric) continue;
            capacity[from] += fmin((double)link->rate_bps, capacity[queue[i]]);
        }
    }
}

/// A TiN that leads out, and its capacity: that of its own link, and its share of what its spine has left.
struct exit {
    uint16_t tin;
    uint32_t spine;
    double rate, weight;
};

static void weigh_exits(struct exit *exit, uint32_t n, const double *capacity, double *sum_of_node) {
    for (uint32_t i = 0; i < n; i++)
        sum_of_node[exit[i].spine] = 0;
    for (uint32_t i = 0; i < n; i++)
        sum_of_node[exit[i].spine] += exit[i].rate;
    for (uint32_t i = 0; i < n; i++)
        exit[i].weight = fmin(exit[i].rate, capacity[exit[i].spine] * exit[i].rate / sum_of_node[exit[i].spine]);
}

/// How often each exit is listed in a group of `size`: at least once, and otherwise by weight; remainders go to those
/// furthest below their share. Returns by how much the exit furthest above its share exceeds it.
static double divide_entries(const struct exit *exit, uint32_t n, double sum, uint32_t size, uint32_t *entries) {
    uint32_t all = 0;
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double share = exit[i].weight / sum * size;
        entries[i] = share < 1 ? 1 : (uint32_t)(share + 1e-9);
        all += entries[i];
    }
    for (; all < size; all++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < n; i++)
            if (exit[i].weight * entries[best] > exit[best].weight * entries[i] * (1 + 1e-9)) best = i;
        entries[best]++;
    }
    for (uint32_t i = 0; i < n; i++) { // not fmax, which gcc 12 for arm64 cannot vectorise
        double of_share = entries[i] / (double)all / (exit[i].weight / sum);
        if (of_share > most) most = of_share;
    }
    return most;
}

/// The group of a WCMP: the smallest of at most `most` entries that comes closest to the weights.
static struct weft__tin_exits make_group(const struct exit *exit, uint32_t n, uint32_t most, struct weft_arena *arena) {
    uint32_t *entries = weft_memory_new(KIND, n, sizeof *entries), size = n, all = 0;
    double sum = 0, least = INFINITY;
    for (uint32_t i = 0; i < n; i++)
        sum += exit[i].weight;
    for (uint32_t tried = n; n && tried <= (most > n ? most : n); tried++) {
        double excess = divide_entries(exit, n, sum, tried, entries);
        if (excess > least - 1e-9) continue;
        least = excess;
        size = tried;
        if (excess < 1 + 1e-9) break;
    }
    if (n) divide_entries(exit, n, sum, size, entries);
    for (uint32_t i = 0; i < n; i++)
        all += entries[i];
    uint16_t *tin = weft_arena_alloc(arena, all, sizeof *tin);
    for (uint32_t i = 0, at = 0; i < n; i++)
        for (uint32_t k = 0; k < entries[i]; k++)
            tin[at++] = exit[i].tin;
    weft_memory_free(KIND, entries, n * sizeof *entries);
    return (struct weft__tin_exits){tin, all};
}

/// What a search for the exits to a destination needs.
struct ways_out {
    const struct weft_topology *t;
    const struct weft_dragonflies *shape;
    uint32_t fabric;
    const struct weft_tin_conf *conf;
    uint32_t *port; ///< [tins]
    uint32_t *hops, *queue;
    double *capacity, *sum;
    struct exit *exit;
    struct weft_arena *arena;
};

static struct weft__tin_exits nearest_exits(struct ways_out *o, const bool *down) {
    const struct weft_dragonfly *f = &o->shape->fabric[o->fabric];
    const struct weft_topology *t = o->t;
    uint32_t least = WEFT_NONE, n = 0;
    for (uint32_t i = 0; i < f->tins; i++) {
        if (o->port[i] == WEFT_NONE || down[t->port[o->port[i]].link]) continue;
        uint32_t spine = t->port[t->port[o->port[i]].peer].node, here = o->hops[spine];
        if (here == WEFT_NONE || here > least) continue;
        if (here < least) n = 0;
        least = here;
        o->exit[n++] = (struct exit){(uint16_t)i, spine, (double)t->link[t->port[o->port[i]].link].rate_bps, 1};
    }
    if (o->conf->exits == WEFT_TIN_WCMP) weigh_exits(o->exit, n, o->capacity, o->sum);
    return make_group(o->exit, n, (uint32_t)o->conf->exit_entries, o->arena);
}

void weft__tin_find_exits(struct weft__tin_places *places, const struct weft_topology *t,
                          const struct weft_dragonflies *shape, uint32_t fabric, const struct weft_tin_conf *conf,
                          const bool *down, uint32_t states, struct weft_arena *arena) {
    const struct weft_dragonfly *f = &shape->fabric[fabric];
    WEFT_SCRATCH(scratch, KIND);
    struct ways_out o = {.t = t, .shape = shape, .fabric = fabric, .conf = conf, .arena = arena};
    uint32_t *edge;
    o.port = weft_arena_alloc(scratch, f->tins, sizeof *o.port);
    o.hops = weft_arena_alloc(scratch, t->nodes, sizeof *o.hops);
    o.queue = weft_arena_alloc(scratch, t->nodes, sizeof *o.queue);
    o.capacity = weft_arena_alloc(scratch, t->nodes, sizeof *o.capacity);
    o.sum = weft_arena_alloc(scratch, t->nodes, sizeof *o.sum);
    o.exit = weft_arena_alloc(scratch, f->tins, sizeof *o.exit);
    places->classes = find_classes(places, t, &edge, arena);
    places->port_out = find_ports_out(t, f, o.port, arena);
    struct weft__tin_exits *exits = weft_arena_alloc(arena, (size_t)states * places->classes, sizeof *exits);
    for (uint32_t s = 0; s < states; s++)
        for (uint32_t c = 0; c < places->classes; c++) {
            const bool *links = down + (size_t)s * t->links;
            search_from(t, shape->fabric_of_node, fabric, links, edge[c], o.hops, o.queue);
            find_capacities(t, shape->fabric_of_node, fabric, links, o.hops, o.queue, o.capacity);
            exits[s * places->classes + c] = nearest_exits(&o, links);
        }
    places->exits = exits;
    weft_memory_free(KIND, edge, t->hosts * sizeof *edge);
}
