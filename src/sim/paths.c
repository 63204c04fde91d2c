// SPDX-License-Identifier: Apache-2.0
// The ways that data takes with all links up: the same routes, seeds and route model as in a run, one packet at a time.
#include <stdlib.h>

#include "box/dsf/dsf_net.h"
#include "box/network.h"

#include "weft/memory.h"

enum { HOPS_MAX = 64 };

void *weft__route_state_new(const struct weft_topology *t, uint32_t node, const struct weft_switch_conf *conf,
                            uint32_t edges, uint64_t seed, struct weft_arena *arena) {
    const struct weft_route_ops *ops = conf->route.model->ops;
    const struct weft_node_info *info = &t->node[node];
    if (!ops->choose) return NULL;
    struct weft_route_port *port = weft_arena_alloc(arena, info->ports, sizeof *port);
    for (uint32_t k = 0; k < info->ports; k++) {
        uint32_t peer = t->port[t->port[info->port0 + k].peer].node, tier = t->node[peer].tier;
        port[k] = (struct weft_route_port){peer, t->node[peer].pod,
                                           tier < info->tier   ? WEFT_ROUTE_DOWN
                                           : tier > info->tier ? WEFT_ROUTE_UP
                                                               : WEFT_ROUTE_ACROSS,
                                           t->node[peer].role == WEFT_NODE_HOST};
    }
    struct weft_route_setup setup = {
        .seed = seed, .sw = info->index, .ports = info->ports, .edges = edges, .port = port, .downlink = t->downlink};
    void *state = weft_arena_alloc(arena, 1, ops->state_size(conf->route.conf, &setup));
    ops->init(state, conf->route.conf, &setup);
    return state;
}

static weft_bytes no_depth(const void *context, uint32_t port, uint32_t priority) {
    return 0;
}

uint32_t weft__ways_port(const struct weft__ways *ways, uint32_t node, const struct weft_packet *packet) {
    if (ways->t->node[node].role == WEFT_NODE_HOST) return 0;
    uint32_t sw = ways->t->node[node].index, n;
    const struct weft_switch_conf *conf = &ways->device[node]->sw;
    const struct weft_route_ops *ops = conf->route.model->ops;
    const uint16_t *ports = weft_routes_at(ways->routes, sw, packet->dst, &n);
    struct weft_route_query query = {
        .packet = packet, .hash_seed = ways->hash_seed[sw], .ports = n, .port = ports, .qp_numbers = ways->qp_numbers};
    if (!n) return WEFT_NONE;
    if (n == 1) return ports[0];
    if (!ops->choose) return ports[ops->select(conf->route.conf, &query)];
    struct weft_route_queues queues = {.depth = no_depth};
    query.edge = ways->routes->edge_of_host[packet->dst];
    return ports[ops->choose(ways->route_state[sw], conf->route.conf, &query, &queues)];
}

struct weft__ways weft__ways_new(const struct weft_topology *t, const struct weft_device_conf **device,
                                 const struct weft_routes *routes, uint64_t seed, struct weft_arena *arena) {
    struct weft__ways ways = {.t = t, .device = device, .routes = routes};
    ways.hash_seed = weft_arena_alloc(arena, t->switches, sizeof *ways.hash_seed);
    ways.route_state = weft_arena_alloc(arena, t->switches, sizeof *ways.route_state);
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_switch_conf *conf = &device[t->switch_node[i]]->sw;
        const struct weft_model_conf *route = &conf->route;
        ways.route_state[i] = weft__route_state_new(t, t->switch_node[i], conf, routes->edges, seed, arena);
        ways.hash_seed[i] = ((const struct weft_route_ops *)route->model->ops)->hash_seed(route->conf, seed, i);
    }
    return ways;
}

/// The fabrics of a run with all links up; NULL: none, or a run would refuse them.
static struct weft__dsf *find_dsf(const struct weft_scenario *scenario, const struct weft__ways *ways,
                                  struct weft_arena *arena) {
    struct weft_topology *all_up = weft_arena_alloc(arena, 1, sizeof *all_up);
    struct weft__epoch *epoch = weft_arena_alloc(arena, 1, sizeof *epoch);
    struct weft__dsf *dsf;
    struct weft_error error = {0};
    *all_up = *ways->t;
    all_up->events = 0;
    *epoch = (struct weft__epoch){0, ways->routes};
    struct weft__network net = {.scenario = scenario,
                                .topology = all_up,
                                .device = ways->device,
                                .epoch = epoch,
                                .epochs = 1,
                                .hosts = {.qp_numbers = ways->qp_numbers},
                                .arena_switch = arena};
    if (weft__dsf_new(&net, &dsf, &error) == WEFT_OK) return dsf;
    weft__dsf_free(dsf);
    return NULL;
}

/// The port by which a packet that came in at interface node `node` leaves its fabric, of whichever node. Cells between
/// go by all lanes, so there is no way to name. WEFT_NONE: none.
static uint32_t cross_fabric(const struct weft__dsf *dsf, const struct weft_topology *t, uint32_t node,
                             const struct weft_packet *p) {
    if (!dsf) return WEFT_NONE;
    uint32_t self = dsf->eligible->in_of_node[node];
    struct weft__outside_exit at = {dsf->in_of_host[p->dst], dsf->port_of_host[p->dst]};
    const struct weft__outside *o = dsf->outside ? &dsf->outside[dsf->fabric_of_node[node]] : NULL;
    if (o && o->fabric_of_host[p->dst] != o->fabric && !weft__outside_exit(o, 0, p, self, &at)) return WEFT_NONE;
    if (at.in == WEFT_NONE) return WEFT_NONE;
    return weft__dsf_ethernet_port(t, dsf->eligible->node_of_in[at.in], at.port);
}

static void trace(const struct weft__ways *ways, const struct weft__dsf *dsf, const struct weft_flow *f, uint32_t qp,
                  uint16_t entropy, struct weft_arena *arena, struct weft_path *path) {
    const struct weft_topology *t = ways->t;
    struct weft_packet packet = {.dst = f->dst, .qp = qp, .entropy = entropy & 0x3fffu, .priority = f->priority & 7u};
    uint32_t port[HOPS_MAX], node = t->host[f->src];
    while (node != t->host[f->dst] && path->hops < HOPS_MAX) {
        bool crosses = t->node[node].box == WEFT_BOX_DSF_INTERFACE;
        uint32_t k = crosses ? cross_fabric(dsf, t, node, &packet) : weft__ways_port(ways, node, &packet);
        if (k == WEFT_NONE) break;
        port[path->hops] = crosses ? k : t->node[node].port0 + k;
        uint32_t peer = t->port[port[path->hops++]].peer;
        node = t->port[peer].node;
        packet.port = (uint16_t)(peer - t->node[node].port0);
    }
    path->port = weft_arena_alloc(arena, path->hops, sizeof *path->port);
    for (uint32_t i = 0; i < path->hops; i++)
        path->port[i] = port[i];
}

struct pair {
    uint64_t hosts; ///< source << 32 | destination
    uint32_t flow;
};

static int by_pair(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->hosts != y->hosts) return x->hosts < y->hosts ? -1 : 1;
    return (x->flow > y->flow) - (x->flow < y->flow);
}

uint64_t *weft__qps_before(const struct weft_workload *w, struct weft_arena *arena) {
    uint64_t *before = weft_arena_alloc(arena, w->flows, sizeof *before);
    struct pair *pair = weft_memory_new(WEFT_MEMORY_QP, w->flows, sizeof *pair);
    for (uint32_t i = 0; i < w->flows; i++)
        pair[i] = (struct pair){(uint64_t)w->flow[i].src << 32 | w->flow[i].dst, i};
    if (w->flows) qsort(pair, w->flows, sizeof *pair, by_pair);
    for (uint32_t i = 1; i < w->flows; i++)
        if (pair[i].hosts == pair[i - 1].hosts)
            before[pair[i].flow] = before[pair[i - 1].flow] + w->flow[pair[i - 1].flow].qps;
    weft_memory_free(WEFT_MEMORY_QP, pair, w->flows * sizeof *pair);
    return before;
}

const struct weft_qp_numbers *weft__qp_numbers(const struct weft_workload *w, uint32_t hosts,
                                               struct weft_arena *arena) {
    struct weft_qp_numbers *numbers = weft_arena_alloc(arena, w->qps, sizeof *numbers);
    uint32_t *next = weft_memory_new(WEFT_MEMORY_QP, hosts, sizeof *next), n = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        for (uint32_t q = 0; q < f->qps && q < f->bytes; q++)
            numbers[n++] = (struct weft_qp_numbers){.at_src = weft_address_qp(next[f->src]++),
                                                    .at_dst = weft_address_qp(next[f->dst]++)};
    }
    weft_memory_free(WEFT_MEMORY_QP, next, hosts * sizeof *next);
    return numbers;
}

struct weft_path *weft_paths_trace(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   const struct weft_workload *w, struct weft_arena *arena, uint64_t *ret_paths) {
    struct weft_routes *routes = weft_routes_new(topology, NULL);
    struct weft__ways ways =
        weft__ways_new(topology, weft_device_confs(scenario, topology, arena), routes, scenario->run.seed, arena);
    ways.qp_numbers = weft__qp_numbers(w, topology->hosts, arena);
    struct weft__dsf *dsf = find_dsf(scenario, &ways, arena);
    const uint64_t *before = weft__qps_before(w, arena);
    struct weft_path *path = weft_arena_alloc(arena, w->qps, sizeof *path);
    *ret_paths = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        const struct weft_host_conf *conf = &ways.device[topology->host[f->src]]->host;
        for (uint32_t q = 0; q < f->qps && q < f->bytes; q++) {
            path[*ret_paths] = (struct weft_path){.flow = i, .qp = q};
            uint16_t entropy = weft__qp_entropy(conf, scenario->run.seed, f->src, before[i] + q);
            trace(&ways, dsf, f, (uint32_t)*ret_paths, entropy, arena, &path[*ret_paths]);
            ++*ret_paths;
        }
    }
    weft__dsf_free(dsf);
    weft_routes_free(routes);
    return path;
}
