// SPDX-License-Identifier: Apache-2.0
// What the TiNs of a network share in a run: builds it, and collects its counts at the end.
#include "box/tin/tin_net.h"

static void find_hosts(struct weft__clique *clique, const struct weft_topology *t, const struct weft_dragonflies *shape,
                       uint32_t fabric, struct weft_arena *arena) {
    uint16_t *tin = weft_arena_alloc(arena, t->hosts, sizeof *tin);
    uint16_t *port = weft_arena_alloc(arena, t->hosts, sizeof *port);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t peer = t->port[weft_topology_port(t, t->host[h], 0)->peer].node;
        tin[h] = WEFT_TIN_NONE;
        if (shape->fabric_of_node[peer] != fabric) continue;
        tin[h] = shape->tin_of_node[peer];
        for (uint32_t k = t->node[peer].port0; t->port[k].peer != t->node[t->host[h]].port0; k++)
            port[h] = (uint16_t)(port[h] + !weft_topology_port_is_fabric(t, k));
    }
    clique->places.tin_of_host = tin;
    clique->places.port_of_host = port;
}

/// The number of a rate in the table that all TiNs share; WEFT__GNET_NO_LINK: there are too many rates.
static uint8_t find_rate(struct weft__cliques *cliques, weft_rate_bps rate, double overhead, struct weft_arena *arena) {
    uint8_t k = 0;
    while (k < WEFT__GNET_NO_LINK && cliques->times[k] &&
           (cliques->times[k]->rate != rate || cliques->times[k]->overhead != overhead))
        k++;
    if (k < WEFT__GNET_NO_LINK && !cliques->times[k]) {
        struct weft__gnet_times *times = weft_arena_alloc(arena, 1, sizeof *times);
        weft__gnet_times_init(times, rate, overhead);
        cliques->times[k] = times;
    }
    return k;
}

/// The times of cells at all rates; false: there are too many rates.
static bool find_rates(const struct weft_topology *t, const struct weft_device_conf *const *device,
                       struct weft__cliques *cliques, struct weft_arena *arena) {
    cliques->rate_of_port = weft_arena_alloc(arena, t->ports, 1);
    cliques->cross_of_port = weft_arena_alloc(arena, t->ports, 1);
    cliques->rate_of_endpoint = weft_arena_alloc(arena, t->nodes, 1);
    uint8_t most = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (t->node[n].box != WEFT_BOX_TIN) continue;
        uint8_t rate = cliques->rate_of_endpoint[n] =
            find_rate(cliques, weft__tin_conf(device[n])->endpoint_rate_bps, 0, arena);
        if (rate > most) most = rate;
    }
    for (uint32_t p = 0; p < t->ports; p++) {
        uint32_t node = t->port[p].node, far = t->port[t->port[p].peer].node;
        if (t->node[node].box != WEFT_BOX_TIN || !weft_topology_port_is_fabric(t, p)) continue;
        const struct weft_tin_conf *conf = weft__tin_conf(device[node]);
        weft_rate_bps rate = t->link[t->port[p].link].rate_bps;
        double overhead = t->node[node].cluster != t->node[far].cluster ? conf->fec_overhead : 0;
        uint8_t own = cliques->rate_of_port[p] = find_rate(cliques, rate, overhead, arena);
        uint8_t cross = cliques->cross_of_port[p] =
            find_rate(cliques, (weft_rate_bps)((double)rate * conf->speedup), 0, arena);
        if (own > most) most = own;
        if (cross > most) most = cross;
    }
    return most < WEFT__GNET_NO_LINK;
}

static enum weft_status check_rates(const struct weft__plan *plan, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_ROUTES);
    struct weft__cliques *cliques = weft_arena_alloc(arena, 1, sizeof *cliques);
    bool fits = find_rates(plan->topology, plan->device, cliques, arena);
    if (fits) return WEFT_OK;
    return WEFT_REFUSE(ret_error, plan->scenario->topology.place,
                       "links and endpoints of TiNs have more than %d different rates", WEFT__GNET_NO_LINK);
}

static void *make_cliques(struct weft__network *net) {
    struct weft_arena *arena = net->arena_switch;
    struct weft_dragonflies *shape = weft_dragonflies_new(net->topology, arena);
    struct weft__cliques *cliques = weft_arena_alloc(arena, 1, sizeof *cliques);
    cliques->shape = shape;
    cliques->depths = weft_arena_alloc(arena, WEFT__WORKERS_MAX, sizeof *cliques->depths);
    cliques->seen = weft_arena_alloc(arena, WEFT__WORKERS_MAX, sizeof *cliques->seen);
    for (uint32_t n = 0; n < net->topology->nodes; n++)
        cliques->traces |= net->topology->node[n].box == WEFT_BOX_TIN && weft__tin_conf(net->device[n])->trace;
    cliques->clique = weft_arena_alloc(arena, shape->n, sizeof *cliques->clique);
    for (uint32_t f = 0; f < shape->n; f++) {
        find_hosts(&cliques->clique[f], net->topology, shape, f, arena);
        weft__clique_tables(net, &cliques->clique[f], shape, f);
    }
    find_rates(net->topology, net->device, cliques, arena); // check
    return cliques;
}

static void release_cliques(void *state) {
    struct weft__cliques *cliques = state;
    for (uint32_t f = 0; f < cliques->shape->n; f++)
        for (uint32_t e = 0; e < cliques->clique[f].tables.n; e++)
            weft_gnet_routes_free(cliques->clique[f].routes[e]);
}

struct weft_gnet_depths *weft__tin_depths(struct weft__network *net, uint32_t node) {
    struct weft__cliques *cliques = weft__cliques_of(net);
    struct weft_gnet_depths **depths = &cliques->depths[weft__engine_worker_of(&net->engine, node)];
    if (!*depths) *depths = weft_arena_alloc(net->arena_switch, 1, sizeof **depths);
    return *depths;
}

struct weft_tin_histograms *weft__tin_seen(struct weft__network *net, uint32_t node) {
    struct weft__cliques *cliques = weft__cliques_of(net);
    struct weft_tin_histograms **seen = &cliques->seen[weft__engine_worker_of(&net->engine, node)];
    if (!*seen) *seen = weft_arena_alloc(net->arena_switch, 1, sizeof **seen);
    return *seen;
}

static void collect_depths(struct weft__network *net) {
    bool any = false;
    for (uint32_t w = 0; w < net->engine.conf.workers; w++)
        any |= weft__cliques_of(net)->depths[w] != NULL;
    if (!any) return;
    struct weft_gnet_depths *sum = weft_arena_alloc(net->outcome->arena, 1, sizeof *sum);
    for (uint32_t w = 0; w < net->engine.conf.workers; w++)
        for (uint32_t vc = 0; weft__cliques_of(net)->depths[w] && vc < WEFT_GNET_VCS; vc++) {
            weft_histogram_merge(&sum->output[vc], &weft__cliques_of(net)->depths[w]->output[vc]);
            weft_histogram_merge(&sum->fifo[vc], &weft__cliques_of(net)->depths[w]->fifo[vc]);
        }
    weft_outcome_cliques(net->outcome)->depths = sum;
}

static void collect_cliques(struct weft__network *net) {
    struct weft_tin_histograms *sum = weft_outcome_tin(net->outcome)->seen;
    for (uint32_t w = 0; w < net->engine.conf.workers; w++) {
        const struct weft_tin_histograms *one = weft__cliques_of(net)->seen[w];
        if (!one) continue;
#define X(field, type, unit, help) weft_histogram_merge(&sum->field, &one->field);
        WEFT_TIN_HISTOGRAMS(X)
#undef X
    }
    collect_depths(net);
    if (weft__cliques_of(net)->traces) weft__cell_paths_collect(net);
}

static const char *tin_unskippable(const struct weft__network *net) {
    const struct weft__cliques *cliques = weft__cliques_of(net);
    if (cliques->traces) return "cells are traced (tin.trace)";
    for (uint32_t f = 0; f < cliques->shape->n; f++)
        if (cliques->clique[f].timeline) return "something happens to nodes (control.events)";
    return NULL;
}

static void each_histogram(struct weft__network *net, weft__on_histogram *on_histogram, void *context) {
    for (uint32_t w = 0; w < net->engine.conf.workers; w++) {
        struct weft_tin_histograms *one = weft__cliques_of(net)->seen[w];
        if (one) weft__histograms_each((struct weft_histogram *)one, sizeof *one, on_histogram, context);
    }
}

const struct weft__shared weft__cliques_shared = {
    .check = check_rates,
    .make = make_cliques,
    .free = release_cliques,
    .settled = weft__cliques_settled,
    .tell = weft__cliques_tell,
    .collect = collect_cliques,
    .explain = weft__cliques_explain,
    .unskippable = tin_unskippable,
    .each_histogram = each_histogram,
};
