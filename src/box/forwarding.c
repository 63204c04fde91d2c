// SPDX-License-Identifier: Apache-2.0
#include "box/forwarding.h"

#include <assert.h>
#include <stdlib.h>

/// The number of a node, or 0.
static uint32_t number_of(const struct weft_node_info *node) {
    uint32_t number = weft_node_number(node);
    return number == WEFT_NONE ? 0 : number;
}

static const uint32_t *number_hosts(const struct weft_topology *t, struct weft_arena *arena) {
    uint32_t *id = weft_arena_alloc(arena, t->hosts, sizeof *id);
    for (uint32_t h = 0; h < t->hosts; h++)
        id[h] = number_of(&t->node[t->host[h]]);
    return id;
}

void *weft__route_state_new(const struct weft_topology *t, uint32_t node, const struct weft_switch_conf *conf,
                            uint32_t edges, uint64_t seed, struct weft_arena *arena) {
    const struct weft_route_ops *ops = conf->route.model->ops;
    const struct weft_node_info *info = &t->node[node];
    if (!ops->choose) return NULL;
    struct weft_route_port *port = weft_arena_alloc(arena, info->ports, sizeof *port);
    for (uint32_t k = 0; k < info->ports; k++) {
        uint32_t peer = t->port[t->port[info->port0 + k].peer].node, tier = t->node[peer].tier;
        port[k] =
            (struct weft_route_port){peer, t->node[peer].pod,
                                     tier < info->tier   ? WEFT_ROUTE_DOWN
                                     : tier > info->tier ? WEFT_ROUTE_UP
                                                         : WEFT_ROUTE_ACROSS,
                                     t->node[peer].role == WEFT_NODE_HOST, ops->by_id ? number_of(&t->node[peer]) : 0};
    }
    struct weft_route_setup setup = {
        .seed = seed, .sw = info->index, .ports = info->ports, .edges = edges, .port = port, .downlink = t->downlink};
    if (ops->by_id) setup.id = number_of(info);
    if (ops->by_id) setup.host_id = number_hosts(t, arena);
    void *state = weft_arena_alloc(arena, 1, ops->state_size(conf->route.conf, &setup));
    ops->init(state, conf->route.conf, &setup);
    return state;
}

static weft_bytes no_depth(const void *context, uint32_t port, uint32_t priority) {
    return 0;
}

uint32_t weft__forwarding_port(const struct weft__forwarding *forwarding, uint32_t node,
                               const struct weft_packet *packet) {
    if (forwarding->t->node[node].role == WEFT_NODE_HOST) return 0;
    uint32_t sw = forwarding->t->node[node].index, n;
    const struct weft_switch_conf *conf = &forwarding->device[node]->sw;
    const struct weft_route_ops *ops = conf->route.model->ops;
    const uint16_t *ports =
        forwarding->path ? weft__path_port(forwarding->path, NULL, sw, packet, forwarding->qp_numbers) : NULL;
    if (ports) return *ports;
    ports = weft_routes_at(forwarding->routes, sw, packet->dst, &n);
    struct weft_route_query query = {.packet = packet,
                                     .hash_seed = forwarding->hash_seed[sw],
                                     .ports = n,
                                     .port = ports,
                                     .qp_numbers = forwarding->qp_numbers};
    if (!n) return WEFT_NONE;
    if (n == 1) return ports[0];
    query.edge = forwarding->routes->edge_of_host[packet->dst];
    uint32_t i = ops->choose ? ops->choose(forwarding->route_state[sw], conf->route.conf, &query, &forwarding->queues)
                             : ops->select(conf->route.conf, &query);
    assert(i < n);
    return ports[i];
}

struct weft__forwarding weft__forwarding_new(const struct weft_topology *t, const struct weft_device_conf **device,
                                             const struct weft_routes *routes, uint64_t seed,
                                             struct weft_arena *arena) {
    struct weft__forwarding forwarding = {
        .t = t, .device = device, .routes = routes, .seed = seed, .queues = {.depth = no_depth}, .arena = arena};
    forwarding.kept = weft_arena_alloc(arena, WEFT_BOXES, sizeof *forwarding.kept);
    forwarding.hash_seed = weft_arena_alloc(arena, t->switches, sizeof *forwarding.hash_seed);
    forwarding.route_state = weft_arena_alloc(arena, t->switches, sizeof *forwarding.route_state);
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_switch_conf *conf = &device[t->switch_node[i]]->sw;
        const struct weft_model_conf *route = &conf->route;
        forwarding.route_state[i] = weft__route_state_new(t, t->switch_node[i], conf, routes->edges, seed, arena);
        forwarding.hash_seed[i] = ((const struct weft_route_ops *)route->model->ops)->hash_seed(route->conf, seed, i);
    }
    return forwarding;
}
