// SPDX-License-Identifier: Apache-2.0
// The ways that data takes with all links up: the same routes, seeds and route model as in a run, one packet at a time.
#include "sim/network.h"

#include "weft/memory.h"

enum { HOPS_MAX = 64 };

struct tracer {
    const struct weft_topology *t;
    const struct weft_device_conf **device;
    const struct weft_routes *routes;
    uint32_t *hash_seed; ///< of a switch
    struct weft_arena *arena;
};

/// The port of switch `node` that the packet leaves by; WEFT_NONE: no route.
static uint32_t choose(const struct tracer *tr, uint32_t node, const struct weft_packet *packet) {
    uint32_t sw = tr->t->node[node].index, n;
    const struct weft_switch_conf *conf = &tr->device[node]->sw;
    const struct weft_route_ops *ops = conf->route.model->ops;
    const uint16_t *ports = weft_routes_at(tr->routes, sw, packet->dst, &n);
    struct weft_route_query query = {.packet = packet, .hash_seed = tr->hash_seed[sw], .ports = n, .port = ports};
    if (!n) return WEFT_NONE;
    return ports[n > 1 ? ops->select(conf->route.conf, &query) : 0];
}

static void trace(const struct tracer *tr, const struct weft_flow *f, uint16_t entropy, struct weft_path *path) {
    const struct weft_topology *t = tr->t;
    struct weft_packet packet = {.dst = f->dst, .entropy = entropy & 0x3fffu, .priority = f->priority & 7u};
    uint32_t port[HOPS_MAX], node = t->host[f->src];
    while (node != t->host[f->dst] && path->hops < HOPS_MAX) {
        uint32_t k = t->node[node].role == WEFT_NODE_SWITCH ? choose(tr, node, &packet) : 0;
        if (k == WEFT_NONE) break;
        port[path->hops] = t->node[node].port0 + k;
        node = t->port[t->port[port[path->hops++]].peer].node;
    }
    path->port = weft_arena_alloc(tr->arena, path->hops, sizeof *path->port);
    for (uint32_t i = 0; i < path->hops; i++)
        path->port[i] = port[i];
}

static void seed_switches(struct tracer *tr, uint64_t seed) {
    tr->hash_seed = weft_arena_alloc(tr->arena, tr->t->switches, sizeof *tr->hash_seed);
    for (uint32_t i = 0; i < tr->t->switches; i++) {
        const struct weft_model_conf *route = &tr->device[tr->t->switch_node[i]]->sw.route;
        tr->hash_seed[i] = ((const struct weft_route_ops *)route->model->ops)->hash_seed(route->conf, seed, i);
    }
}

struct weft_path *weft_paths_trace(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   const struct weft_workload *w, struct weft_arena *arena, uint64_t *ret_paths) {
    struct tracer tr = {.t = topology, .arena = arena};
    struct weft_routes *routes = weft_routes_new(topology, NULL);
    tr.device = weft_device_confs(scenario, topology, arena);
    tr.routes = routes;
    seed_switches(&tr, scenario->run.seed);
    uint32_t *sends = weft_arena_alloc(arena, topology->hosts, sizeof *sends);
    struct weft_path *path = weft_arena_alloc(arena, w->qps, sizeof *path);
    *ret_paths = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        for (uint32_t q = 0; q < f->qps && q < f->bytes; q++) {
            path[*ret_paths] = (struct weft_path){.flow = i, .qp = q};
            trace(&tr, f, weft__qp_entropy(scenario->run.seed, f->src, sends[f->src]++), &path[(*ret_paths)++]);
        }
    }
    weft_routes_free(routes);
    return path;
}
