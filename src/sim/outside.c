// SPDX-License-Identifier: Apache-2.0
// What interface nodes know of hosts outside their fabric: the exits of every epoch, with the numbers that the devices
// use.
#include "sim/dsf.h"

/// Number of a node's Ethernet port among those of it.
static uint16_t ethernet_number(const struct weft_topology *t, uint32_t node, uint32_t port) {
    uint32_t number = 0;
    for (uint32_t k = 0; k < port; k++)
        number += !weft_topology_link_is_fabric(t, weft_topology_port(t, node, k)->link);
    return (uint16_t)number;
}

static struct weft__outside_exit *number_exits(const struct weft__dsf *dsf, const struct weft_topology *t,
                                               const struct weft_exits *x, struct weft_arena *arena) {
    struct weft__outside_exit *exit = weft_arena_alloc(arena, x->exits, sizeof *exit);
    for (uint32_t i = 0; i < x->exits; i++)
        exit[i] = (struct weft__outside_exit){dsf->eligible->in_of_node[x->exit[i].node],
                                              ethernet_number(t, x->exit[i].node, x->exit[i].port)};
    return exit;
}

static uint32_t *find_fabrics(const struct weft_topology *t, const struct weft_exits *x, struct weft_arena *arena) {
    uint32_t *fabric = weft_arena_alloc(arena, t->hosts, sizeof *fabric);
    for (uint32_t h = 0; h < t->hosts; h++)
        fabric[h] = x->fabric_of_node[t->port[weft_topology_port(t, t->host[h], 0)->peer].node];
    return fabric;
}

/// The route model of a fabric: that of its interface nodes, all the same. Both ends of a way have to agree.
static enum weft_status find_route(const struct weft__network *net, uint32_t fabric, const uint32_t *fabric_of_node,
                                   const struct weft_model_conf **ret_route, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    uint32_t first = WEFT_NONE;
    *ret_route = NULL;
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (fabric_of_node[n] != fabric || t->node[n].box != WEFT_BOX_DSF_INTERFACE) continue;
        const struct weft_model_conf *route = &net->device[n]->sw.route;
        if (((const struct weft_route_ops *)route->model->ops)->choose)
            return weft_error_set(
                ret_error, WEFT_ERROR_INPUT, route->place,
                "switch.route of %s: %s keeps state; interface nodes choose where packets leave their "
                "fabric by ecmp or e_ecmp",
                t->node[n].name, route->model->name);
        if (first == WEFT_NONE) {
            first = n;
            *ret_route = route;
        } else if (route->model != (*ret_route)->model) {
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, route->place,
                                  "switch.route of %s is %s, and of %s %s; expected one for all interface nodes of a "
                                  "fabric, which choose alike",
                                  t->node[first].name, (*ret_route)->model->name, t->node[n].name, route->model->name);
        }
    }
    return WEFT_OK;
}

static const uint16_t *count_up(const struct weft__dsf *dsf, struct weft_arena *arena) {
    uint32_t most = 0;
    for (uint32_t e = 0; e < dsf->epochs; e++)
        for (uint32_t s = 0; s < dsf->exits[e]->sets; s++)
            if (dsf->exits[e]->set[s].n > most) most = dsf->exits[e]->set[s].n;
    uint16_t *index = weft_arena_alloc(arena, most, sizeof *index);
    for (uint32_t i = 0; i < most; i++)
        index[i] = (uint16_t)i;
    return index;
}

enum weft_status weft__outside_new(struct weft__network *net, struct weft__dsf *dsf, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = net->arena_switch;
    struct weft_exits *all_up = weft_exits_new(t, net->epoch[0].routes);
    if (all_up->sets == 1) { // nobody is outside
        weft_exits_free(all_up);
        return WEFT_OK;
    }
    dsf->epochs = net->epochs;
    dsf->exits = weft_arena_alloc(arena, net->epochs, sizeof *dsf->exits);
    struct weft__outside_exit **exit = weft_arena_alloc(arena, net->epochs, sizeof *exit);
    for (uint32_t e = 0; e < net->epochs; e++) {
        dsf->exits[e] = e ? weft_exits_new(t, net->epoch[e].routes) : all_up;
        exit[e] = number_exits(dsf, t, dsf->exits[e], arena);
    }
    const uint32_t *fabric_of_host = find_fabrics(t, all_up, arena);
    const uint16_t *index = count_up(dsf, arena);
    dsf->fabric_of_node = all_up->fabric_of_node;
    dsf->outside = weft_arena_alloc(arena, all_up->fabrics, sizeof *dsf->outside);
    for (uint32_t f = 0; f < all_up->fabrics; f++) {
        const struct weft_model_conf *route;
        enum weft_status status = find_route(net, f, all_up->fabric_of_node, &route, ret_error);
        if (status) return status;
        const struct weft_route_ops *ops = route->model->ops;
        struct weft__outside_epoch *epoch = weft_arena_alloc(arena, net->epochs, sizeof *epoch);
        for (uint32_t e = 0; e < net->epochs; e++) {
            const struct weft_exits *x = dsf->exits[e];
            epoch[e] = (struct weft__outside_epoch){net->epoch[e].from_ps, net->epoch[e].routes->edge_of_host,
                                                    &x->set_of[(size_t)f * x->edges], x->set, exit[e]};
        }
        // A number that no switch has, so that none hashes as a fabric does.
        uint32_t seed = ops->hash_seed(route->conf, net->scenario->run.seed, t->switches + f);
        dsf->outside[f] = (struct weft__outside){epoch, net->epochs, fabric_of_host, index, f, seed, ops, route->conf};
    }
    return WEFT_OK;
}
