// SPDX-License-Identifier: Apache-2.0
#include "weft/summary.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#include "topology/graph.h"
#include "weft/gnet_routes.h"
#include "weft/packet.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

enum { PREAMBLE_BYTES = 8 };

static void *append_room(void *array, uint32_t n, size_t size) {
    if (n & (n - 1)) return array; // grows whenever n is 0 or a power of two
    return weft_memory_resize(KIND, array, n * size, (n ? 2 * n : 1) * size);
}

/// Moves an array grown by append() into the arena.
static void *settle_array(void *array, uint32_t n, size_t size, struct weft_arena *arena) {
    size_t room = 1;
    while (room < n)
        room *= 2;
    void *kept = weft_arena_alloc(arena, n, size);
    memcpy(kept, array, n * size);
    weft_memory_free(KIND, array, room * size);
    return kept;
}

static struct weft_layer_summary *layer_of(struct weft_topology_summary *s, const struct weft_node_info *node) {
    for (uint32_t i = 0; i < s->layers; i++)
        if (s->layer[i].tier == node->tier && !strcmp(s->layer[i].name, node->layer)) return &s->layer[i];
    s->layer = append_room(s->layer, s->layers, sizeof *s->layer);
    uint32_t at = s->layers++;
    for (; at > 0 && s->layer[at - 1].tier < node->tier; at--)
        s->layer[at] = s->layer[at - 1];
    s->layer[at] = (struct weft_layer_summary){.name = node->layer, .tier = node->tier, .ports_min = UINT32_MAX};
    return &s->layer[at];
}

static bool is_processor(const struct weft_topology *t, uint32_t n) {
    return weft_node_is_processor(&t->node[n]);
}

static void add_node(struct weft_topology_summary *s, const struct weft_topology *t, uint32_t n) {
    const struct weft_node_info *node = &t->node[n];
    struct weft_layer_summary *layer = layer_of(s, node);
    weft_rate_bps down = 0, up = 0;
    for (uint32_t k = 0; k < node->ports; k++) {
        const struct weft_port_info *port = &t->port[node->port0 + k];
        uint32_t peer = t->port[port->peer].node;
        uint8_t tier = t->node[peer].tier;
        if (tier < node->tier && !is_processor(t, peer)) down += t->link[port->link].rate_bps;
        if (tier > node->tier) up += t->link[port->link].rate_bps;
    }
    layer->nodes++;
    layer->down_bps += down;
    layer->up_bps += up;
    if (node->ports < layer->ports_min) layer->ports_min = node->ports;
    if (node->ports > layer->ports_max) layer->ports_max = node->ports;
    if (!up || !down) return;
    double ratio = (double)down / (double)up;
    if (layer->oversubscription_min <= 0 || ratio < layer->oversubscription_min) layer->oversubscription_min = ratio;
    if (ratio > layer->oversubscription_max) layer->oversubscription_max = ratio;
}

uint32_t weft_topology_layers(const struct weft_topology *t, struct weft_arena *arena,
                              struct weft_layer_summary **ret_layer) {
    struct weft_topology_summary s = {0};
    for (uint32_t n = 0; n < t->nodes; n++)
        if (!is_processor(t, n)) add_node(&s, t, n);
    *ret_layer = settle_array(s.layer, s.layers, sizeof *s.layer, arena);
    return s.layers;
}

WEFT__ORDER(by_line, struct weft_line_summary,
            WEFT__DOWN(tier[0]) ?: WEFT__DOWN(tier[1]) ?: WEFT__TEXT(layer[0]) ?: WEFT__TEXT(layer[1])
            ?: WEFT__DOWN(rate_bps) ?: WEFT__UP(delay_ps) ?: WEFT__UP(bit_error_rate))

static struct weft_line_summary line_of(const struct weft_topology *t, const struct weft_link_info *l) {
    const struct weft_node_info *a = &t->node[t->port[l->port[0]].node], *b = &t->node[t->port[l->port[1]].node];
    bool swap = a->tier < b->tier || (a->tier == b->tier && strcmp(a->layer, b->layer) > 0);
    const struct weft_node_info *high = swap ? b : a, *low = swap ? a : b;
    return (struct weft_line_summary){
        {high->layer, low->layer}, {high->tier, low->tier}, l->rate_bps, l->delay_ps, l->bit_error_rate, 1};
}

/// Sorts all links by their properties and counts equal ones.
static void group_links(struct weft_topology_summary *s, const struct weft_topology *t,
                        const struct weft_network_info *network, struct weft_arena *arena) {
    WEFT_FREED struct weft_line_summary *line = weft_memory_new(KIND, t->links, sizeof *line);
    uint32_t links = 0;
    for (uint32_t l = 0; l < t->links; l++)
        if (t->port[t->link[l].port[0]].node - network->node0 < network->nodes) line[links++] = line_of(t, &t->link[l]);
    qsort(line, links, sizeof *line, by_line);
    for (uint32_t l = 0; l < links; l++) {
        if (s->lines && !by_line(&line[s->lines - 1], &line[l]))
            line[s->lines - 1].links++;
        else
            line[s->lines++] = line[l];
    }
    s->line = weft_arena_alloc(arena, s->lines, sizeof *s->line);
    memcpy(s->line, line, s->lines * sizeof *s->line);
}

/// Parallel links become one arc.
static void connect_switches(struct weft__flow *f, const struct weft_topology *t, const struct weft__graph *g) {
    WEFT_FREED uint64_t *capacity = weft_memory_new(KIND, g->switches, sizeof *capacity);
    for (uint32_t s = 0; s < g->switches; s++) {
        for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
            capacity[g->arc[a].to] += t->link[g->arc[a].link].rate_bps;
        for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
            uint32_t to = g->arc[a].to;
            if (to > s && capacity[to]) weft__flow_connect(f, s, to, capacity[to], capacity[to]);
            capacity[to] = 0;
        }
    }
}

static void bisect_network(struct weft_topology_summary *s, const struct weft_topology *t,
                           const struct weft_network_info *network, const struct weft__graph *g) {
    uint32_t source = t->switches, sink = t->switches + 1;
    struct weft__flow *f = weft__flow_new(t->switches + 2);
    connect_switches(f, t, g);
    uint64_t *half[2], total[2] = {0, 0};
    for (unsigned i = 0; i < 2; i++)
        half[i] = weft_memory_new(KIND, t->switches, sizeof *half[i]);
    for (uint32_t i = 0, h = 0; i < network->hosts; i++) {
        uint32_t node = t->host[network->host0 + i];
        if (is_processor(t, node)) continue;
        const struct weft_port_info *port = weft_topology_port(t, node, 0);
        weft_rate_bps rate = t->link[port->link].rate_bps;
        unsigned side = h >= s->hosts / 2;
        if (h == 0 || h == s->hosts / 2) s->half_ends[2 * side] = node;
        s->half_ends[2 * side + 1] = node;
        h++;
        half[side][t->node[t->port[port->peer].node].index] += rate;
        total[side] += rate;
    }
    for (uint32_t sw = 0; sw < t->switches; sw++) {
        if (half[0][sw]) weft__flow_connect(f, source, sw, half[0][sw], 0);
        if (half[1][sw]) weft__flow_connect(f, sw, sink, half[1][sw], 0);
    }
    s->bisection_bps = weft__flow_max(f, source, sink);
    s->half_bps = total[0] < total[1] ? total[0] : total[1];
    for (unsigned i = 0; i < 2; i++)
        weft_memory_free(KIND, half[i], t->switches * sizeof *half[i]);
    weft__flow_free(f);
}

/// The costs of an edge switch's host links: the two smallest and the two largest.
struct edge {
    uint32_t hosts;
    weft_time_ps low[2], high[2];
};

/// What the searches from all edge switches share.
struct walk {
    const struct weft_topology *t;
    struct weft__graph graph;
    const weft_time_ps *processing_ps;
    const struct weft_cell_costs *cells; ///< NULL: not given
    weft_time_ps *cost_ps;               ///< [link]
    struct edge *edge;                   ///< [switch]
    uint32_t *hops, *order;
    const struct weft_dragonflies *cliques; ///< NULL: there are none, or not given
    uint32_t *clique_of;                    ///< [switch] or WEFT_NONE; NULL: none
    struct reach {
        weft_time_ps low, high; ///< from the first switch to here, both included, over shortest paths
        double paths;
    } * reach; ///< [switch]
};

static weft_time_ps link_cost(const struct weft_link_info *l) {
    uint64_t bits = 8 * (uint64_t)(WEFT_FRAME_MIN + PREAMBLE_BYTES);
    return l->delay_ps + bits * WEFT_PS_PER_S / l->rate_bps;
}

static void note_host(struct edge *e, weft_time_ps cost) {
    e->hosts++;
    if (cost < e->low[0]) {
        e->low[1] = e->low[0];
        e->low[0] = cost;
    } else if (cost < e->low[1]) {
        e->low[1] = cost;
    }
    if (cost > e->high[0]) {
        e->high[1] = e->high[0];
        e->high[0] = cost;
    } else if (cost > e->high[1]) {
        e->high[1] = cost;
    }
}

static bool is_gnet(const struct weft_topology *t, uint32_t link) {
    return weft_topology_link_is_fabric(t, link) && weft_node_is_flat(&t->node[t->port[t->link[link].port[0]].node]);
}

static void walk_init(struct walk *w, const struct weft_topology *t, const weft_time_ps *processing_ps,
                      const struct weft_cell_costs *cells) {
    *w = (struct walk){.t = t, .processing_ps = processing_ps, .cells = cells};
    weft__graph_init(&w->graph, t, NULL);
    w->cost_ps = weft_memory_new(KIND, t->links, sizeof *w->cost_ps);
    w->edge = weft_memory_new(KIND, t->switches, sizeof *w->edge);
    w->hops = weft_memory_new(KIND, t->switches, sizeof *w->hops);
    w->order = weft_memory_new(KIND, t->switches, sizeof *w->order);
    w->reach = weft_memory_new(KIND, t->switches, sizeof *w->reach);
    for (uint32_t l = 0; l < t->links; l++)
        w->cost_ps[l] = cells && is_gnet(t, l) ? cells->link_ps[l] : link_cost(&t->link[l]);
    for (uint32_t s = 0; s < t->switches; s++)
        w->edge[s].low[0] = w->edge[s].low[1] = WEFT_TIME_NEVER;
    for (uint32_t h = 0; h < t->hosts; h++) {
        if (is_processor(t, t->host[h])) continue;
        const struct weft_port_info *port = weft_topology_port(t, t->host[h], 0);
        note_host(&w->edge[t->node[t->port[port->peer].node].index], w->cost_ps[port->link]);
    }
}

static void walk_deinit(struct walk *w) {
    weft_memory_free(KIND, w->cost_ps, w->t->links * sizeof *w->cost_ps);
    weft_memory_free(KIND, w->edge, w->t->switches * sizeof *w->edge);
    weft_memory_free(KIND, w->hops, w->t->switches * sizeof *w->hops);
    weft_memory_free(KIND, w->order, w->t->switches * sizeof *w->order);
    weft_memory_free(KIND, w->reach, w->t->switches * sizeof *w->reach);
    weft__graph_deinit(&w->graph);
}

static struct reach reach_of(const struct walk *w, uint32_t s) {
    struct reach r = {.low = WEFT_TIME_NEVER};
    uint32_t nearer = w->hops[s] - 1;
    for (uint32_t a = w->graph.first[s]; a < w->graph.first[s + 1]; a++) {
        const struct weft__arc *arc = &w->graph.arc[a];
        if (w->hops[arc->to] != nearer) continue;
        const struct reach *from = &w->reach[arc->to];
        weft_time_ps here = w->cells && is_gnet(w->t, arc->link) ? 0 : w->processing_ps[s];
        weft_time_ps low = from->low + w->cost_ps[arc->link] + here, high = from->high + w->cost_ps[arc->link] + here;
        if (low < r.low) r.low = low;
        if (high > r.high) r.high = high;
        r.paths += from->paths;
    }
    return r;
}

static void note_pair(struct weft_topology_summary *s, uint32_t hops, weft_time_ps low, weft_time_ps high) {
    if (hops + 2 > s->diameter_links) s->diameter_links = hops + 2;
    if (2 * low < s->rtt_min_ps) s->rtt_min_ps = 2 * low;
    if (2 * high > s->rtt_max_ps) s->rtt_max_ps = 2 * high;
}

static void note_paths(struct weft_topology_summary *s, double paths) {
    if (s->paths_min <= 0 || paths < s->paths_min) s->paths_min = paths;
    if (paths > s->paths_max) s->paths_max = paths;
}

static void walk_from(struct weft_topology_summary *s, struct walk *w, uint32_t source) {
    const struct edge *from = &w->edge[source];
    weft_time_ps here = w->processing_ps[source];
    uint32_t reached = weft__graph_search(&w->graph, source, w->hops, w->order);
    w->reach[source] = (struct reach){here, here, 1};
    if (from->hosts > 1) note_pair(s, 0, from->low[0] + from->low[1] + here, from->high[0] + from->high[1] + here);
    for (uint32_t i = 1; i < reached; i++) {
        uint32_t sw = w->order[i];
        const struct edge *to = &w->edge[sw];
        struct reach r = w->reach[sw] = reach_of(w, sw);
        if (!to->hosts ||
            (w->clique_of && w->clique_of[source] != WEFT_NONE && w->clique_of[sw] == w->clique_of[source]))
            continue;
        note_pair(s, w->hops[sw], r.low + from->low[0] + to->low[0], r.high + from->high[0] + to->high[0]);
        note_paths(s, r.paths);
    }
}

// --- Cliques ------------------------------------------------------------------------------------------------------

/// Minimal paths between two TiNs: links, and their cost.
struct path_sum {
    uint32_t links;
    struct reach reach;
};

static struct path_sum find_paths(const struct walk *w, const struct weft_gnet_routes *r, uint32_t x, uint32_t input,
                                  uint32_t vc, uint32_t dst) {
    struct path_sum sum = {0, {.low = WEFT_TIME_NEVER}};
    if (x == dst) return (struct path_sum){0, {0, 0, 1}};
    const struct weft_tin *tin = &r->f->tin[x];
    uint64_t ports = weft_gnet_at(r, x, (enum weft_gnet_input)input, vc, dst)->minimal;
    for (; ports; ports &= ports - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(ports), to = tin->peer[k];
        const struct weft_port_info *port = weft_topology_port(w->t, tin->node, k);
        uint32_t there = port->peer - w->t->node[r->f->tin[to].node].port0;
        struct path_sum on =
            find_paths(w, r, to, r->f->tin[to].input[there], weft_gnet_next_vc((enum weft_gnet_input)input, vc), dst);
        weft_time_ps cost = w->cells->link_ps[port->link];
        if (on.links + 1 > sum.links) sum.links = on.links + 1;
        if (on.reach.low + cost < sum.reach.low) sum.reach.low = on.reach.low + cost;
        if (on.reach.high + cost > sum.reach.high) sum.reach.high = on.reach.high + cost;
        sum.reach.paths += on.reach.paths;
    }
    return sum;
}

static void walk_clique(struct weft_topology_summary *s, struct walk *w, const struct weft_dragonfly *f) {
    struct weft_gnet_routes *routes = weft_gnet_routes_new(w->t, f, w->cells->tables, NULL);
    for (uint32_t x = 0; x < f->tins; x++) {
        uint32_t from = w->t->node[f->tin[x].node].index;
        if (!w->edge[from].hosts) continue;
        for (uint32_t d = 0; d < f->tins; d++) {
            uint32_t to = w->t->node[f->tin[d].node].index;
            if (x == d || !w->edge[to].hosts) continue;
            struct path_sum sum = find_paths(w, routes, x, WEFT_GNET_TERMINAL, 0, d);
            weft_time_ps ends = w->cells->tin_ps[from];
            note_pair(s, sum.links, sum.reach.low + ends + w->edge[from].low[0] + w->edge[to].low[0],
                      sum.reach.high + ends + w->edge[from].high[0] + w->edge[to].high[0]);
            note_paths(s, sum.reach.paths);
        }
    }
    weft_gnet_routes_free(routes);
}

static void find_cliques(struct walk *w, struct weft_arena *arena) {
    w->cliques = weft_dragonflies_new(w->t, arena);
    if (!w->cliques->n) return;
    w->clique_of = weft_arena_alloc(arena, w->t->switches, sizeof *w->clique_of);
    for (uint32_t i = 0; i < w->t->switches; i++)
        w->clique_of[i] = w->cliques->fabric_of_node[w->t->switch_node[i]];
}

/// For edge switches that are interchangeable, the searches of the first one give the results of all.
static void walk_edges(struct weft_topology_summary *s, struct walk *w, const struct weft_network_info *network,
                       const uint32_t *twin) {
    for (uint32_t i = network->switch0; i < network->switch0 + network->switches; i++)
        if (w->edge[i].hosts && twin[i] == i) walk_from(s, w, i);
}

/// The properties of a switch, besides its links, that searches use.
struct key {
    weft_time_ps processing_ps, low[2], high[2];
    uint64_t hosts, clique, network;
};

static uint32_t *find_twins(const struct walk *w, struct weft_arena *arena) {
    uint32_t switches = w->graph.switches, *twin = weft_arena_alloc(arena, switches, sizeof *twin);
    WEFT_FREED struct key *key = weft_memory_new(KIND, switches, sizeof *key);
    WEFT_FREED uint64_t *sort = weft_memory_new(KIND, w->t->links, sizeof *sort);
    for (uint32_t s = 0; s < switches; s++) {
        const struct edge *e = &w->edge[s];
        key[s] = (struct key){.processing_ps = w->processing_ps[s],
                              .low = {e->low[0], e->low[1]},
                              .high = {e->high[0], e->high[1]},
                              .hosts = e->hosts,
                              .clique = w->clique_of ? w->clique_of[s] : WEFT_NONE};
    }
    for (uint32_t i = 0; i < w->t->networks; i++) // each network has searches of its own
        for (uint32_t s = 0; s < w->t->network[i].switches; s++)
            key[w->t->network[i].switch0 + s].network = i;
    for (uint32_t l = 0; l < w->t->links; l++)
        sort[l] = w->cost_ps[l] << 1 | (w->cells && is_gnet(w->t, l));
    weft__equal_switches_find(&w->graph, key, sizeof *key, sort, twin);
    return twin;
}

static void summarise_network(struct weft_topology_summary *s, struct walk *w, const uint32_t *twin,
                              const struct weft_network_info *network, struct weft_arena *arena) {
    const struct weft_topology *t = w->t;
    for (uint32_t n = 0; n < network->nodes; n++)
        add_node(s, t, network->node0 + n);
    s->info = network;
    s->layer = settle_array(s->layer, s->layers, sizeof *s->layer, arena);
    group_links(s, t, network, arena);
    for (uint32_t h = 0; h < network->hosts; h++)
        s->hosts += !is_processor(t, t->host[network->host0 + h]);
    bisect_network(s, t, network, &w->graph);
    s->rtt_min_ps = WEFT_TIME_NEVER;
    walk_edges(s, w, network, twin);
    for (uint32_t f = 0; w->cliques && f < w->cliques->n; f++)
        if (w->cliques->fabric[f].tin[0].node - network->node0 < network->nodes)
            walk_clique(s, w, &w->cliques->fabric[f]);
}

struct weft_topology_summary *weft_topology_summarise(const struct weft_topology *t, const weft_time_ps *processing_ps,
                                                      const struct weft_cell_costs *cells, struct weft_arena *arena) {
    struct weft_topology_summary *s = weft_arena_alloc(arena, t->networks, sizeof *s);
    struct walk w;
    walk_init(&w, t, processing_ps, cells);
    if (cells) find_cliques(&w, arena);
    const uint32_t *twin = find_twins(&w, arena);
    for (uint32_t i = 0; i < t->networks; i++)
        summarise_network(&s[i], &w, twin, &t->network[i], arena);
    for (uint32_t i = 0; cells && i < t->networks; i++)
        s[i].cells_computed = cells->computed;
    walk_deinit(&w);
    return s;
}
