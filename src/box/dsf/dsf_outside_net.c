// SPDX-License-Identifier: Apache-2.0
// What interface nodes know of hosts outside their fabric through BGP, with the numbers that the devices use.
#include <string.h>

#include "box/dsf/dsf_net.h"
#include "weft/memory.h"

/// The number of a node's port among its Ethernet ports.
static uint16_t ethernet_number(const struct weft_topology *t, uint32_t node, uint32_t port) {
    uint32_t number = 0;
    for (uint32_t k = 0; k < port; k++)
        number += !weft_topology_link_is_fabric(t, weft_topology_port(t, node, k)->link);
    return (uint16_t)number;
}

static uint32_t *find_fabrics(const struct weft_topology *t, const struct weft_exits *x, struct weft_arena *arena) {
    uint32_t *fabric = weft_arena_alloc(arena, t->hosts, sizeof *fabric);
    for (uint32_t h = 0; h < t->hosts; h++)
        fabric[h] = x->fabric_of_node[t->port[weft_topology_port(t, t->host[h], 0)->peer].node];
    return fabric;
}

/// The route model of a fabric's interface nodes, which all have the same: weft__dsf_check_shared.
static const struct weft_model_conf *find_route(const struct weft__network *net, uint32_t fabric,
                                                const uint32_t *fabric_of_node) {
    uint32_t n = 0;
    while (fabric_of_node[n] != fabric || net->topology->node[n].box != WEFT_BOX_DSF_INTERFACE)
        n++;
    return &net->device[n]->sw.route;
}

// --- what each interface node knows -------------------------------------------------------------------------------

/// Sets of exits as interface nodes know them. Most know the same, so each state of knowledge is stored once: paths by
/// class and EDSW.
struct views {
    const struct weft_exit_timeline *x;
    const struct weft__dsf *dsf;
    const struct weft_topology *t;
    uint64_t width_max; ///< of ECMP
    uint32_t words;     ///< per state of knowledge
    uint64_t *known;    ///< [n * words]
    struct weft_exit_set **set;
    uint32_t n, capacity;
    struct weft__outside_exit *exit;
    uint32_t exits, exits_capacity, most;
    struct weft_arena *arena;
};

static void add_exit(struct views *v, uint32_t edsw, uint32_t way) {
    if (v->exits == v->exits_capacity) {
        uint32_t wanted = 2 * v->exits_capacity + 64;
        v->exit = weft_memory_resize(WEFT_MEMORY_ROUTES, v->exit, v->exits_capacity * sizeof *v->exit,
                                     wanted * sizeof *v->exit);
        v->exits_capacity = wanted;
    }
    uint32_t node = v->x->edsw[edsw];
    v->exit[v->exits++] = (struct weft__outside_exit){
        v->dsf->eligible->in_of_node[node], ethernet_number(v->t, node, v->x->port[edsw * WEFT_BGP_LINKS_MAX + way])};
}

static struct weft_exit_set add_class(struct views *v, const uint64_t *ways) {
    uint32_t first = v->exits;
    for (uint32_t e = 0; e < v->x->setup.edsws; e++)
        for (uint64_t bits = ways[e]; bits && v->exits - first < v->width_max; bits &= bits - 1)
            add_exit(v, e, (uint32_t)__builtin_ctzll(bits));
    uint32_t n = v->exits - first;
    if (n > v->most) v->most = n;
    return (struct weft_exit_set){first, n};
}

/// The number of a state of knowledge; another interface node has probably just reached the same.
static uint32_t view_of(struct views *v, const uint64_t *known) {
    size_t size = v->words * sizeof *known;
    for (uint32_t i = v->n; i-- > 0;)
        if (!memcmp(&v->known[(size_t)i * v->words], known, size)) return i;
    if (v->n == v->capacity) {
        uint32_t wanted = 2 * v->capacity + 4;
        v->known = weft_memory_resize(WEFT_MEMORY_ROUTES, v->known, v->capacity * size, wanted * size);
        v->set = weft_memory_resize(WEFT_MEMORY_ROUTES, v->set, v->capacity * sizeof *v->set, wanted * sizeof *v->set);
        v->capacity = wanted;
    }
    memcpy(&v->known[(size_t)v->n * v->words], known, size);
    v->set[v->n] = weft_arena_alloc(v->arena, v->x->setup.classes, sizeof **v->set);
    for (uint32_t c = 0; c < v->x->setup.classes; c++)
        v->set[v->n][c] = add_class(v, &known[(size_t)c * v->x->setup.edsws]);
    return v->n++;
}

/// An interface node whose view is being built.
struct viewer {
    uint32_t node, changes, epochs;
    uint64_t *known;
    weft_time_ps since_ps; ///< time of the last change
    struct weft__outside_epoch *epoch;
};

static void end_epoch(struct views *v, struct viewer *viewer) {
    uint32_t set = view_of(v, viewer->known);
    viewer->epoch[viewer->epochs++] = (struct weft__outside_epoch){viewer->since_ps, v->set[set]};
}

/// Whom a change concerns: an interface node that BGP tells, or an EDSW that is told of no others but knows its own
/// links.
static uint32_t viewer_of(const struct weft_exit_timeline *x, const struct weft_bgp_change *c) {
    return c->rdsw != WEFT_NONE ? c->rdsw : x->setup.rdsws + c->edsw;
}

static void run_changes(struct views *v, struct viewer *viewer) {
    const struct weft_exit_timeline *x = v->x;
    for (uint32_t i = 0; x->bgp && i < x->bgp->changes_n; i++) {
        const struct weft_bgp_change *c = &x->bgp->change[i];
        struct viewer *who = &viewer[viewer_of(x, c)];
        if (c->time_ps > who->since_ps) {
            end_epoch(v, who);
            who->since_ps = c->time_ps;
        }
        who->known[(size_t)c->class_index * x->setup.edsws + c->edsw] = c->links;
    }
}

/// The views of a fabric's interface nodes, by their numbers.
static struct weft__outside_view *make_views(struct views *v, struct weft_arena *scratch) {
    const struct weft_exit_timeline *x = v->x;
    uint32_t edsws = x->setup.edsws, classes = x->setup.classes, viewers = x->setup.rdsws + edsws;
    struct weft__outside_view *view = weft_arena_alloc(v->arena, v->dsf->eligible->ins, sizeof *view);
    struct viewer *viewer = weft_arena_alloc(scratch, viewers, sizeof *viewer);
    v->words = edsws * classes;
    for (uint32_t i = 0; x->bgp && i < x->bgp->changes_n; i++)
        viewer[viewer_of(x, &x->bgp->change[i])].changes++;
    for (uint32_t i = 0; i < viewers; i++) {
        viewer[i].node = i < x->setup.rdsws ? x->rdsw[i] : x->edsw[i - x->setup.rdsws];
        viewer[i].epoch = weft_arena_alloc(v->arena, viewer[i].changes + 1, sizeof *viewer[i].epoch);
        viewer[i].known = weft_arena_alloc(scratch, v->words, sizeof *viewer[i].known);
        for (uint32_t e = 0; e < edsws; e++)
            for (uint32_t c = 0; c < classes; c++)
                viewer[i].known[c * edsws + e] = x->setup.heard[e * classes + c];
    }
    run_changes(v, viewer);
    for (uint32_t i = viewers; i-- > 0;) { // an EDSW that is told of others counts as one of those
        end_epoch(v, &viewer[i]);
        view[v->dsf->eligible->in_of_node[viewer[i].node]] =
            (struct weft__outside_view){viewer[i].epochs, viewer[i].epoch};
    }
    return view;
}

static const uint16_t *count_up(uint32_t n, struct weft_arena *arena) {
    uint16_t *index = weft_arena_alloc(arena, n, sizeof *index);
    for (uint32_t i = 0; i < n; i++)
        index[i] = (uint16_t)i;
    return index;
}

/// Builds classes and views.
static void tell_views(const struct weft__network *net, const struct weft__dsf *dsf, const struct weft_exit_timeline *x,
                       struct weft__outside *o, struct weft_arena *scratch) {
    struct weft_arena *arena = net->arena_switch;
    const struct weft_topology *t = net->topology;
    const uint32_t *edge_of_host = net->epoch[0].routes->edge_of_host;
    struct views v = {.x = x, .dsf = dsf, .t = t, .arena = arena, .width_max = net->scenario->control.bgp.width_max};
    uint32_t *class_of_host = weft_arena_alloc(arena, t->hosts, sizeof *class_of_host);
    for (uint32_t h = 0; h < t->hosts; h++)
        class_of_host[h] =
            x->class_of_edge && edge_of_host[h] != WEFT_NONE ? x->class_of_edge[edge_of_host[h]] : WEFT_NONE;
    if (x->setup.classes) o->view = make_views(&v, scratch);
    struct weft__outside_exit *exit = weft_arena_alloc(arena, v.exits, sizeof *exit);
    if (v.exits) memcpy(exit, v.exit, v.exits * sizeof *exit);
    o->exit = exit;
    o->class_of_host = class_of_host;
    o->index = count_up(v.most, arena);
    weft_memory_free(WEFT_MEMORY_ROUTES, v.exit, v.exits_capacity * sizeof *v.exit);
    weft_memory_free(WEFT_MEMORY_ROUTES, v.known, v.capacity * v.words * sizeof *v.known);
    weft_memory_free(WEFT_MEMORY_ROUTES, v.set, v.capacity * sizeof *v.set);
}

/// The true state of exits, at the times of the links' own events.
static struct weft_exit_states find_states(const struct weft__network *net, struct weft_exits *all_up,
                                           struct weft_arena *scratch) {
    weft_time_ps *time = weft_arena_alloc(scratch, net->epochs, sizeof *time);
    struct weft_exits **exits = weft_arena_alloc(scratch, net->epochs, sizeof *exits);
    for (uint32_t e = 0; e < net->epochs; e++) {
        time[e] = e ? net->epoch[e].from_ps - net->scenario->run.detection_ps : 0;
        exits[e] = e ? weft_exits_new(net->topology, net->epoch[e].routes) : all_up;
    }
    return (struct weft_exit_states){net->epochs, time, (const struct weft_exits *const *)exits, net->epoch[0].routes};
}

static void make_fabric(struct weft__network *net, struct weft__dsf *dsf, const struct weft_exits *all_up,
                        const struct weft_exit_states *states, const struct weft__dsf_story *story, uint32_t f,
                        struct weft_arena *scratch) {
    const struct weft_scenario *s = net->scenario;
    const struct weft_model_conf *route = find_route(net, f, all_up->fabric_of_node);
    struct weft_exit_timeline *x;
    uint32_t nodes = 0, *node = weft_arena_alloc(scratch, dsf->eligible->ins, sizeof *node);
    for (uint32_t in = 0; in < dsf->eligible->ins; in++)
        if (all_up->fabric_of_node[dsf->eligible->node_of_in[in]] == f) node[nodes++] = dsf->eligible->node_of_in[in];
    const struct weft_control_given given = {&s->control, story->event, story->events, s->run.seed + f, states};
    enum weft_status status = weft_exit_timeline_new(net->topology, node, nodes, &given, false, scratch, &x, NULL);
    assert(!status); // weft__dsf_check_shared
    (void)status;
    const struct weft_route_ops *ops = route->model->ops;
    struct weft__outside *o = &dsf->outside[f];
    o->fabric = f;
    // A number that no switch has, so that no switch hashes like a fabric.
    o->hash_seed = ops->hash_seed(route->conf, s->run.seed, net->topology->switches + f);
    o->route = ops;
    o->route_conf = route->conf;
    o->resilient = s->control.bgp.resilient;
    o->qp_numbers = net->hosts.qp_numbers;
    tell_views(net, dsf, x, o, scratch);
}

void weft__outside_new(struct weft__network *net, struct weft__dsf *dsf, const struct weft__dsf_story *story) {
    struct weft_arena *arena = net->arena_switch, *scratch = weft_arena_new(WEFT_MEMORY_ROUTES);
    struct weft_exits *all_up = weft_exits_new(net->topology, net->epoch[0].routes);
    if (all_up->sets > 1) { // some host is outside
        struct weft_exit_states states = find_states(net, all_up, scratch);
        dsf->fabric_of_node = weft_arena_alloc(arena, net->topology->nodes, sizeof *dsf->fabric_of_node);
        memcpy(dsf->fabric_of_node, all_up->fabric_of_node, net->topology->nodes * sizeof *dsf->fabric_of_node);
        dsf->outside = weft_arena_alloc(arena, all_up->fabrics, sizeof *dsf->outside);
        const uint32_t *fabric_of_host = find_fabrics(net->topology, all_up, arena);
        for (uint32_t f = 0; f < all_up->fabrics; f++)
            make_fabric(net, dsf, all_up, &states, story, f, scratch);
        for (uint32_t f = 0; f < all_up->fabrics; f++)
            dsf->outside[f].fabric_of_host = fabric_of_host;
        for (uint32_t e = 1; e < states.n; e++)
            weft_exits_free((struct weft_exits *)states.exits[e]);
    }
    weft_exits_free(all_up);
    weft_arena_free(scratch);
}
