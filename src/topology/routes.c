// SPDX-License-Identifier: Apache-2.0
// A breadth-first search from every edge switch, or one for those in a row that have the same neighbours. A switch's
// next hops towards it are the ports to switches that are one hop nearer (the preferred ones, if any is). Most switches
// have few different sets of next hops (an edge switch of a fat tree: all its uplinks), so a set is stored once and
// looked up by hash; sets of one port, the usual case downwards, are looked up by the port.
#include "weft/routes.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "topology/graph.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

/// What weft_routes_free needs besides.
struct owner {
    struct weft_routes routes;
    uint32_t switches, sets, ports;
};

struct made_set {
    uint32_t sw, first, n;
    uint32_t number; ///< among the sets of its switch; 0 is the empty set, which is not stored
    uint32_t hash;
};

struct work {
    struct weft__graph graph;
    uint32_t *hops, *order;
    uint32_t *count;  ///< [switch]: how many sets, including the empty one
    uint32_t *latest; ///< [switch]: its newest set of several ports, or WEFT_NONE
    uint16_t *alone;  ///< [arc]: number of the set with only that port, or 0
    struct made_set *made;
    uint32_t mades, mades_capacity;
    uint32_t *table, table_size; ///< hash table of stored sets; a power of two
    uint16_t *ports;
    uint32_t used, ports_capacity;
};

static void append_ports(struct work *w, const uint16_t *port, uint32_t n) {
    if (w->used + n > w->ports_capacity) {
        uint32_t wanted = 2 * (w->used + n) + 1024;
        w->ports = weft_memory_resize(KIND, w->ports, w->ports_capacity * sizeof *w->ports, wanted * sizeof *w->ports);
        w->ports_capacity = wanted;
    }
    memcpy(&w->ports[w->used], port, n * sizeof *port);
    w->used += n;
}

/// Returns the index of the new set among the stored ones.
static uint32_t make_set(struct work *w, uint32_t sw, const uint16_t *port, uint32_t n, uint32_t hash) {
    w->made = weft__memory_double(KIND, w->made, w->mades, &w->mades_capacity, 1024, sizeof *w->made);
    assert(w->count[sw] <= UINT16_MAX);
    w->made[w->mades] = (struct made_set){sw, w->used, n, w->count[sw]++, hash};
    append_ports(w, port, n);
    return w->mades++;
}

static void put_set(struct work *w, uint32_t made) {
    uint32_t slot = w->made[made].hash & (w->table_size - 1);
    while (w->table[slot] != WEFT_NONE)
        slot = (slot + 1) & (w->table_size - 1);
    w->table[slot] = made;
}

/// Grows the table to at least twice the number of stored sets.
static void make_room(struct work *w) {
    if (2 * (w->mades + 1) <= w->table_size) return;
    weft_memory_free(KIND, w->table, w->table_size * sizeof *w->table);
    w->table_size = w->table_size ? 2 * w->table_size : 4096;
    w->table = weft_memory_new(KIND, w->table_size, sizeof *w->table);
    memset(w->table, 0xff, w->table_size * sizeof *w->table);
    for (uint32_t i = 0; i < w->mades; i++)
        if (w->made[i].n > 1) put_set(w, i);
}

static bool is_same_set(const struct work *w, uint32_t made, uint32_t sw, const uint16_t *port, uint32_t n) {
    const struct made_set *m = &w->made[made];
    return m->sw == sw && m->n == n && !memcmp(&w->ports[m->first], port, n * sizeof *port);
}

static uint16_t set_of_several(struct work *w, uint32_t sw, const uint16_t *port, uint32_t n) {
    if (w->latest[sw] != WEFT_NONE && is_same_set(w, w->latest[sw], sw, port, n))
        return (uint16_t)w->made[w->latest[sw]].number;
    uint32_t hash = sw * 2654435761u; // Knuth's multiplicative hash, then FNV-1a over the ports
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ port[i]) * 16777619u;
    hash ^= hash >> 15;
    make_room(w);
    uint32_t slot = hash & (w->table_size - 1);
    while (w->table[slot] != WEFT_NONE && !is_same_set(w, w->table[slot], sw, port, n))
        slot = (slot + 1) & (w->table_size - 1);
    if (w->table[slot] == WEFT_NONE) w->table[slot] = make_set(w, sw, port, n, hash);
    w->latest[sw] = w->table[slot];
    return (uint16_t)w->made[w->latest[sw]].number;
}

/// The set of `sw` towards the source of the last search.
static uint16_t next_hops(struct work *w, uint32_t sw, uint16_t *port) {
    const struct weft__graph *g = &w->graph;
    uint32_t n = 0, arc = 0, nearer = w->hops[sw] - 1;
    for (uint32_t a = g->first[sw]; a < g->first[sw + 1]; a++) {
        if (w->hops[g->arc[a].to] != nearer || (n && g->arc[arc].preferred > g->arc[a].preferred)) continue;
        if (n && g->arc[a].preferred > g->arc[arc].preferred) n = 0;
        arc = a;
        port[n++] = g->arc[a].port;
    }
    if (n > 1) return set_of_several(w, sw, port, n);
    if (!w->alone[arc]) {
        uint32_t made = make_set(w, sw, port, 1, 0);
        w->alone[arc] = (uint16_t)w->made[made].number;
    }
    return w->alone[arc];
}

static void find_hosts(struct weft_routes *r, const struct weft_topology *t, const bool *down) {
    r->hosts = t->hosts;
    r->edge_of_host = weft_memory_new(KIND, t->hosts, sizeof *r->edge_of_host);
    r->port_of_host = weft_memory_new(KIND, t->hosts, sizeof *r->port_of_host);
    r->edge_of_switch = weft_memory_new(KIND, t->switches, sizeof *r->edge_of_switch);
    memset(r->edge_of_switch, 0xff, t->switches * sizeof *r->edge_of_switch);
    for (uint32_t s = 0; s < t->switches; s++) {
        const struct weft_node_info *node = &t->node[t->switch_node[s]];
        for (uint32_t k = 0; k < node->ports; k++) {
            const struct weft_port_info *port = &t->port[node->port0 + k];
            const struct weft_node_info *peer = &t->node[t->port[port->peer].node];
            if (peer->role != WEFT_NODE_HOST) continue;
            if (r->edge_of_switch[s] == WEFT_NONE) r->edge_of_switch[s] = r->edges++;
            r->edge_of_host[peer->index] = down && down[port->link] ? WEFT_NONE : r->edge_of_switch[s];
            r->port_of_host[peer->index] = (uint16_t)k;
        }
    }
}

static void work_init(struct work *w, const struct weft_topology *t, const bool *down) {
    weft__graph_init(&w->graph, t, down);
    w->hops = weft_memory_new(KIND, t->switches, sizeof *w->hops);
    w->order = weft_memory_new(KIND, t->switches, sizeof *w->order);
    w->count = weft_memory_new(KIND, t->switches, sizeof *w->count);
    w->latest = weft_memory_new(KIND, t->switches, sizeof *w->latest);
    w->alone = weft_memory_new(KIND, w->graph.arcs, sizeof *w->alone);
    for (uint32_t s = 0; s < t->switches; s++) {
        w->count[s] = 1;
        w->latest[s] = WEFT_NONE;
    }
}

static void work_deinit(struct work *w) {
    uint32_t switches = w->graph.switches;
    weft_memory_free(KIND, w->hops, switches * sizeof *w->hops);
    weft_memory_free(KIND, w->order, switches * sizeof *w->order);
    weft_memory_free(KIND, w->count, switches * sizeof *w->count);
    weft_memory_free(KIND, w->latest, switches * sizeof *w->latest);
    weft_memory_free(KIND, w->alone, w->graph.arcs * sizeof *w->alone);
    weft_memory_free(KIND, w->made, w->mades_capacity * sizeof *w->made);
    weft_memory_free(KIND, w->table, w->table_size * sizeof *w->table);
    weft__graph_deinit(&w->graph);
}

static bool has_same_neighbours(const struct weft__graph *g, uint32_t a, uint32_t b) {
    uint32_t n = g->first[a + 1] - g->first[a];
    if (!n || g->first[b + 1] - g->first[b] != n) return false;
    for (uint32_t k = 0; k < n; k++)
        if (g->arc[g->first[a] + k].to != g->arc[g->first[b] + k].to) return false;
    return true;
}

static void search_all(struct weft_routes *r, struct work *w) {
    uint16_t *port = weft_memory_new(KIND, UINT16_MAX, sizeof *port);
    uint32_t twin = WEFT_NONE, reached = 0; // of the last search
    for (uint32_t s = 0; s < w->graph.switches; s++) {
        uint32_t edge = r->edge_of_switch[s];
        if (edge == WEFT_NONE) continue;
        // Of a switch with the same neighbours everything is as far away, by the same ports but at the neighbours.
        bool alike = twin != WEFT_NONE && has_same_neighbours(&w->graph, s, twin);
        if (alike) {
            w->hops[twin] = w->hops[s];
            w->hops[s] = 0;
        } else {
            reached = weft__graph_search(&w->graph, s, w->hops, w->order);
        }
        for (uint32_t i = 1; i < reached; i++) {
            uint32_t sw = alike && w->order[i] == s ? twin : w->order[i];
            uint16_t *set = &r->set_of[(size_t)sw * r->edges];
            bool known = alike && sw != twin && w->hops[sw] > 1;
            set[edge] = known ? set[r->edge_of_switch[twin]] : next_hops(w, sw, port);
        }
        if (alike) {
            w->hops[s] = w->hops[twin];
            w->hops[twin] = 0;
        } else {
            twin = s;
        }
    }
    weft_memory_free(KIND, port, UINT16_MAX * sizeof *port);
}

// --- static routes ------------------------------------------------------------------------------------------------

/// The set of one port of a switch, or of several ports.
static uint16_t set_of_ports(struct work *w, uint32_t sw, const uint16_t *port, uint32_t n) {
    const struct weft__graph *g = &w->graph;
    if (n > 1) return set_of_several(w, sw, port, n);
    uint32_t arc = g->first[sw];
    while (arc < g->first[sw + 1] && g->arc[arc].port != *port)
        arc++;
    bool known = arc < g->first[sw + 1]; // otherwise the port leads to a host
    if (known && w->alone[arc]) return w->alone[arc];
    uint16_t number = (uint16_t)w->made[make_set(w, sw, port, 1, 0)].number;
    if (known) w->alone[arc] = number;
    return number;
}

/// The column of a host is that of its edge switch, except for its port at its own switch and the static routes at
/// other switches.
static void pin_host(struct weft_routes *r, struct work *w, const struct weft_topology *t, const bool *down,
                     const struct weft_static_route *route, uint32_t routes, uint32_t column) {
    uint32_t host = route->host, edge = r->edge_of_host[host];
    if (edge == WEFT_NONE) return;
    for (uint32_t s = 0; s < t->switches; s++)
        r->set_of[(size_t)s * r->edges + column] = r->edge_of_switch[s] == edge
                                                       ? set_of_ports(w, s, &r->port_of_host[host], 1)
                                                       : r->set_of[(size_t)s * r->edges + edge];
    uint16_t *port = weft_memory_new(KIND, UINT16_MAX, sizeof *port);
    for (uint32_t i = 0; i < routes; i++) {
        uint32_t n = 0, port0 = t->node[t->switch_node[route[i].sw]].port0;
        for (uint32_t k = 0; k < route[i].ports; k++)
            if (!(down && down[t->port[port0 + route[i].port[k]].link])) port[n++] = route[i].port[k];
        if (n) r->set_of[(size_t)route[i].sw * r->edges + column] = set_of_ports(w, route[i].sw, port, n);
    }
    weft_memory_free(KIND, port, UINT16_MAX * sizeof *port);
    r->edge_of_host[host] = column;
}

static void pin_hosts(struct weft_routes *r, struct work *w, const struct weft_topology *t, const bool *down,
                      uint32_t column) {
    for (uint32_t i = 0, n; i < t->static_routes; i += n, column++) {
        for (n = 1; i + n < t->static_routes && t->static_route[i + n].host == t->static_route[i].host;)
            n++;
        pin_host(r, w, t, down, &t->static_route[i], n, column);
    }
}

/// A depth-first search from every switch along the candidates towards a host; meeting a switch of the current path
/// again is a circle.
static uint32_t circle_of(const struct weft_routes *r, const struct weft_topology *t, uint32_t host, uint8_t *colour,
                          uint32_t (*way)[2]) {
    enum { NEW, ON_THE_WAY, DONE };
    memset(colour, NEW, t->switches);
    for (uint32_t start = 0; start < t->switches; start++) {
        uint32_t depth = 0;
        if (colour[start] == NEW) {
            way[depth][0] = start;
            way[depth++][1] = 0;
            colour[start] = ON_THE_WAY;
        }
        while (depth) {
            uint32_t n, sw = way[depth - 1][0], k = way[depth - 1][1]++;
            const uint16_t *port = weft_routes_at(r, sw, host, &n);
            if (k >= n) {
                colour[sw] = DONE;
                depth--;
                continue;
            }
            const struct weft_port_info *p = weft_topology_port(t, t->switch_node[sw], port[k]);
            const struct weft_node_info *next = &t->node[t->port[p->peer].node];
            if (next->role == WEFT_NODE_HOST || colour[next->index] == DONE) continue;
            if (colour[next->index] == ON_THE_WAY) return next->index;
            colour[next->index] = ON_THE_WAY;
            way[depth][0] = next->index;
            way[depth++][1] = 0;
        }
    }
    return WEFT_NONE;
}

/// Finds the first circle; with `mend` none is left, because hosts with a circle use computed routes.
static uint32_t find_circles(const struct weft_routes *r, const struct weft_topology *t, bool mend,
                             uint32_t *ret_host) {
    uint8_t *colour = weft_memory_new(KIND, t->switches, sizeof *colour);
    uint32_t(*way)[2] = weft_memory_new(KIND, t->switches, sizeof *way), found = WEFT_NONE;
    for (uint32_t i = 0; i < t->static_routes && found == WEFT_NONE; i++) {
        uint32_t host = t->static_route[i].host;
        if (i && t->static_route[i - 1].host == host) continue;
        found = circle_of(r, t, host, colour, way);
        *ret_host = host;
        if (found == WEFT_NONE || !mend) continue;
        uint32_t leaf = t->port[weft_topology_port(t, t->host[host], 0)->peer].node;
        r->edge_of_host[host] = r->edge_of_switch[t->node[leaf].index];
        found = WEFT_NONE;
    }
    weft_memory_free(KIND, way, t->switches * sizeof *way);
    weft_memory_free(KIND, colour, t->switches * sizeof *colour);
    return found;
}

uint32_t weft_routes_find_circle(const struct weft_routes *r, const struct weft_topology *t, uint32_t *ret_host) {
    return find_circles(r, t, false, ret_host);
}

// --- the whole ----------------------------------------------------------------------------------------------------

/// Groups the sets by switch and takes over the list of ports.
static void keep_sets(struct owner *o, struct work *w) {
    struct weft_routes *r = &o->routes;
    r->set_first = weft_memory_new(KIND, o->switches, sizeof *r->set_first);
    for (uint32_t s = 0; s < o->switches; s++) {
        r->set_first[s] = o->sets;
        o->sets += w->count[s];
    }
    r->set = weft_memory_new(KIND, o->sets, sizeof *r->set);
    for (uint32_t i = 0; i < w->mades; i++)
        r->set[r->set_first[w->made[i].sw] + w->made[i].number] =
            (struct weft_route_set){w->made[i].first, w->made[i].n};
    o->ports = w->used;
    r->ports = weft_memory_resize(KIND, w->ports, w->ports_capacity * sizeof *w->ports, w->used * sizeof *w->ports);
}

struct weft_routes *weft_routes_new(const struct weft_topology *t, const bool *down) {
    struct owner *o = weft_memory_new(KIND, 1, sizeof *o);
    struct work w = {0};
    o->switches = t->switches;
    find_hosts(&o->routes, t, down);
    work_init(&w, t, down);
    uint32_t edges = o->routes.edges, host;
    o->routes.edges += t->static_hosts;
    o->routes.set_of = weft_memory_new(KIND, (size_t)t->switches * o->routes.edges, sizeof *o->routes.set_of);
    search_all(&o->routes, &w);
    pin_hosts(&o->routes, &w, t, down, edges);
    keep_sets(o, &w);
    work_deinit(&w);
    if (down) find_circles(&o->routes, t, true, &host);
    return &o->routes;
}

void weft_routes_free(struct weft_routes *r) {
    if (!r) return;
    struct owner *o = (struct owner *)r;
    weft_memory_free(KIND, r->edge_of_host, r->hosts * sizeof *r->edge_of_host);
    weft_memory_free(KIND, r->port_of_host, r->hosts * sizeof *r->port_of_host);
    weft_memory_free(KIND, r->edge_of_switch, o->switches * sizeof *r->edge_of_switch);
    weft_memory_free(KIND, r->set_of, (size_t)o->switches * r->edges * sizeof *r->set_of);
    weft_memory_free(KIND, r->set_first, o->switches * sizeof *r->set_first);
    weft_memory_free(KIND, r->set, o->sets * sizeof *r->set);
    weft_memory_free(KIND, r->ports, o->ports * sizeof *r->ports);
    weft_memory_free(KIND, o, sizeof *o);
}
