// SPDX-License-Identifier: Apache-2.0
// The events of a scenario that concern BGP in a fabric: links of EDSWs, paths that superspines lose, EDSWs that die.
// Destinations are classified by who announces them: a fabric (a building), or an Ethernet switch with hosts that is in
// none. Those heard on the same links at all times form a class. This follows from routes; the loss of a single host is
// hidden by a fabric's aggregate and not announced.
#include <assert.h>
#include <string.h>

#include "control/dsf/nodes.h"
#include "weft/error.h"
#include "weft/memory.h"

#define BAD(...) WEFT_REFUSE(ret_error, t->place, __VA_ARGS__)

struct work {
    const struct weft_topology *t;
    const uint32_t *node; ///< the fabric's interface nodes
    uint32_t nodes;
    const struct weft_exit_states *states;
    struct weft_exit_timeline *x;
    struct weft_arena *arena, *scratch;
    uint32_t *edsw_of;        ///< [nodes] or WEFT_NONE
    uint16_t *way_of;         ///< [ports of the topology], of an EDSW's uplink
    uint32_t groups;          ///< aggregates: fabrics, then edges
    uint64_t *heard;          ///< [(group * states + state) * edsws + edsw]
    uint32_t *class_of_group; ///< [groups]
    uint64_t *remote;         ///< [edsws * classes], as last told
    struct weft_bgp_event *event;
    uint32_t events, events_capacity;
};

static bool is_uplink(const struct weft_topology *t, uint32_t port) {
    return !weft_topology_link_is_fabric(t, t->port[port].link) &&
           t->node[t->port[t->port[port].peer].node].role != WEFT_NODE_HOST;
}

static void add_rdsw(struct work *w, uint32_t node) {
    struct weft_exit_timeline *x = w->x;
    x->own_edsw[x->setup.rdsws] = w->edsw_of[node];
    x->rdsw[x->setup.rdsws++] = node;
}

/// Numbers EDSWs and their uplinks, and all that receive their announcements.
static enum weft_status find_nodes(struct work *w, struct weft_error *ret_error) {
    const struct weft_topology *t = w->t;
    struct weft_exit_timeline *x = w->x;
    x->edsw = weft_arena_alloc(w->arena, w->nodes, sizeof *x->edsw);
    x->rdsw = weft_arena_alloc(w->arena, w->nodes, sizeof *x->rdsw);
    x->setup.own_edsw = x->own_edsw = weft_arena_alloc(w->arena, w->nodes, sizeof *x->own_edsw);
    w->edsw_of = weft_arena_alloc(w->scratch, t->nodes, sizeof *w->edsw_of);
    w->way_of = weft_arena_alloc(w->scratch, t->ports, sizeof *w->way_of);
    memset(w->edsw_of, 0xff, t->nodes * sizeof *w->edsw_of);
    for (uint32_t d = 0; d < w->nodes; d++) {
        uint32_t node = w->node[d], port0 = t->node[node].port0, links = 0;
        for (uint32_t p = port0; p < port0 + t->node[node].ports; p++)
            if (is_uplink(t, p)) w->way_of[p] = (uint16_t)links++;
        if (links > WEFT_BGP_LINKS_MAX)
            return BAD("%s has %u links to Ethernet switches; expected at most %u of an interface node",
                       t->node[node].name, links, WEFT_BGP_LINKS_MAX);
        if (links) w->edsw_of[node] = x->setup.edsws;
        if (links) x->edsw[x->setup.edsws++] = node;
        if (links > x->setup.links) x->setup.links = links;
        if (!links || weft_topology_has_hosts(t, node)) add_rdsw(w, node);
    }
    bool transit = !x->setup.rdsws; // hosts are only behind Ethernet switches
    for (uint32_t e = 0; e < x->setup.edsws && transit; e++)
        add_rdsw(w, x->edsw[e]);
    x->port = weft_arena_alloc(w->arena, (size_t)x->setup.edsws * WEFT_BGP_LINKS_MAX, sizeof *x->port);
    for (uint32_t e = 0; e < x->setup.edsws; e++)
        for (uint32_t k = 0; k < t->node[x->edsw[e]].ports; k++)
            if (is_uplink(t, t->node[x->edsw[e]].port0 + k))
                x->port[e * WEFT_BGP_LINKS_MAX + w->way_of[t->node[x->edsw[e]].port0 + k]] = (uint16_t)k;
    return WEFT_OK;
}

static uint64_t *heard_at(const struct work *w, uint32_t group, uint32_t state) {
    return &w->heard[((size_t)group * w->states->n + state) * w->x->setup.edsws];
}

/// The links on which EDSWs hear of a group: those by which any of its switches can be reached.
static void add_exits(struct work *w, uint32_t state, uint32_t own_fabric, uint32_t group, uint32_t edge) {
    const struct weft_exits *e = w->states->exits[state];
    const struct weft_exit_set *set = &e->set[e->set_of[(size_t)own_fabric * e->edges + edge]];
    uint64_t *heard = heard_at(w, group, state);
    for (uint32_t i = 0; i < set->n; i++) {
        const struct weft_exit *exit = &e->exit[set->first + i];
        heard[w->edsw_of[exit->node]] |= UINT64_C(1) << w->way_of[w->t->node[exit->node].port0 + exit->port];
    }
}

/// Puts groups that are heard on the same links in one class. Returns the group's class.
static uint32_t class_of(struct work *w, uint32_t group, uint32_t *leader) {
    size_t size = (size_t)w->states->n * w->x->setup.edsws * sizeof *w->heard;
    uint32_t c = 0;
    while (c < w->x->setup.classes && memcmp(heard_at(w, leader[c], 0), heard_at(w, group, 0), size) != 0)
        c++;
    if (c == w->x->setup.classes) leader[w->x->setup.classes++] = group;
    w->x->buildings[c]++;
    return c;
}

/// The network of a node: no other network is announced to it.
static const struct weft_network_info *network_of(const struct weft_topology *t, uint32_t node) {
    const struct weft_network_info *network = t->network;
    while (node - network->node0 >= network->nodes)
        network++;
    return network;
}

static void find_classes(struct work *w) {
    const struct weft_exits *first = w->states->exits[0];
    const struct weft_routes *routes = w->states->routes;
    struct weft_exit_timeline *x = w->x;
    uint32_t own = first->fabric_of_node[w->node[0]], edsws = x->setup.edsws;
    w->groups = first->fabrics + first->edges;
    w->heard = weft_arena_alloc(w->scratch, (size_t)w->groups * w->states->n * edsws, sizeof *w->heard);
    uint32_t *group_of = weft_arena_alloc(w->scratch, first->edges, sizeof *group_of);
    memset(group_of, 0xff, first->edges * sizeof *group_of);
    bool *any = weft_arena_alloc(w->scratch, w->groups, sizeof *any);
    const struct weft_network_info *network = network_of(w->t, w->node[0]);
    for (uint32_t s = network->switch0; s < network->switch0 + network->switches; s++) {
        uint32_t edge = routes->edge_of_switch[s], fabric = first->fabric_of_node[w->t->switch_node[s]];
        if (edge == WEFT_NONE) continue;
        group_of[edge] = fabric == WEFT_NONE ? first->fabrics + edge : fabric;
        for (uint32_t i = 0; i < w->states->n && fabric != own; i++)
            add_exits(w, i, own, group_of[edge], edge);
        any[group_of[edge]] = fabric != own;
    }
    uint32_t *leader = weft_arena_alloc(w->scratch, w->groups, sizeof *leader);
    x->setup.buildings = x->buildings = weft_arena_alloc(w->arena, w->groups, sizeof *x->buildings);
    w->class_of_group = weft_arena_alloc(w->scratch, w->groups, sizeof *w->class_of_group);
    for (uint32_t g = 0; g < w->groups; g++)
        w->class_of_group[g] = any[g] ? class_of(w, g, leader) : WEFT_NONE;
    x->class_of_edge = weft_arena_alloc(w->arena, first->edges, sizeof *x->class_of_edge);
    for (uint32_t e = 0; e < first->edges; e++)
        x->class_of_edge[e] = group_of[e] == WEFT_NONE ? WEFT_NONE : w->class_of_group[group_of[e]];
    uint64_t *heard = weft_arena_alloc(w->arena, (size_t)edsws * x->setup.classes, sizeof *heard);
    for (uint32_t c = 0; c < x->setup.classes; c++)
        for (uint32_t e = 0; e < edsws; e++)
            heard[e * x->setup.classes + c] = heard_at(w, leader[c], 0)[e];
    x->setup.heard = heard;
}

// --- events -------------------------------------------------------------------------------------------------------

static void add_event(struct work *w, struct weft_bgp_event event) {
    if (w->events == w->events_capacity) {
        uint32_t wanted = w->events ? 2 * w->events : 64;
        struct weft_bgp_event *more = weft_arena_alloc(w->arena, wanted, sizeof *more);
        if (w->events) memcpy(more, w->event, w->events * sizeof *more);
        w->event = more;
        w->events_capacity = wanted;
    }
    w->event[w->events++] = event;
}

/// The life of an EDSW, in two parts: its agent, and links to the fabric.
struct life {
    bool *crashed;
    uint32_t *fabric_up;
    uint64_t *wire; ///< uplinks that are up
};

static bool is_dead(const struct life *life, uint32_t edsw) {
    return life->crashed[edsw] || !life->fabric_up[edsw];
}

/// The link events of one time.
static void add_link_events(struct work *w, struct life *life, uint32_t from, uint32_t to) {
    const struct weft_topology *t = w->t;
    weft_time_ps time = t->event[from].time_ps;
    uint32_t edsws = w->x->setup.edsws;
    bool *was_dead = weft_arena_alloc(w->scratch, edsws, sizeof *was_dead);
    uint64_t *was = weft_arena_alloc(w->scratch, edsws, sizeof *was);
    for (uint32_t e = 0; e < edsws; e++) {
        was_dead[e] = is_dead(life, e);
        was[e] = life->wire[e];
    }
    for (uint32_t i = from; i < to; i++)
        for (uint32_t end = 0; end < 2; end++) {
            uint32_t port = t->link[t->event[i].link].port[end], edsw = w->edsw_of[t->port[port].node];
            if (edsw == WEFT_NONE) continue;
            uint64_t bit = UINT64_C(1) << w->way_of[port];
            if (weft_topology_link_is_fabric(t, t->event[i].link))
                life->fabric_up[edsw] += t->event[i].up ? 1 : UINT32_MAX;
            else if (is_uplink(t, port))
                life->wire[edsw] = t->event[i].up ? life->wire[edsw] | bit : life->wire[edsw] & ~bit;
        }
    for (uint32_t e = 0; e < edsws; e++) {
        uint64_t down = was[e] & ~life->wire[e], up = life->wire[e] & ~was[e];
        if (down) add_event(w, (struct weft_bgp_event){time, WEFT_BGP_LINK_DOWN, e, 0, down, 0});
        if (up) add_event(w, (struct weft_bgp_event){time, WEFT_BGP_LINK_UP, e, 0, up, 0});
        if (is_dead(life, e) == was_dead[e]) continue;
        add_event(w, (struct weft_bgp_event){
                         .time_ps = time, .what = was_dead[e] ? WEFT_BGP_BACK : WEFT_BGP_LOST, .edsw = e});
    }
}

/// What superspines announce differently from a state on. On a link that is down nothing is heard, or forgotten.
static void add_way_events(struct work *w, const struct life *life, uint32_t state) {
    weft_time_ps time = w->states->time_ps[state];
    uint32_t classes = w->x->setup.classes;
    for (uint32_t g = 0, c = 0; g < w->groups && c < classes; g++) {
        if (w->class_of_group[g] != c) continue;
        for (uint32_t e = 0; e < w->x->setup.edsws; e++) {
            uint64_t *remote = &w->remote[e * classes + c], now = heard_at(w, g, state)[e] & life->wire[e];
            uint64_t down = *remote & ~now & life->wire[e], up = now & ~*remote;
            *remote = (*remote & ~down) | up;
            if (down) add_event(w, (struct weft_bgp_event){time, WEFT_BGP_WAY_DOWN, e, c, down, 0});
            if (up) add_event(w, (struct weft_bgp_event){time, WEFT_BGP_WAY_UP, e, c, up, 0});
        }
        c++;
    }
}

static void add_node_event(struct work *w, struct life *life, const struct weft_control_conf *conf,
                           const struct weft_control_event *event) {
    bool stops = event->what == WEFT_CONTROL_CRASH || event->what == WEFT_CONTROL_SHUT;
    if (!stops && event->what != WEFT_CONTROL_RESTART) return;
    uint32_t e = event->node == WEFT_NONE ? WEFT_NONE : w->edsw_of[event->node];
    if (e == WEFT_NONE || life->crashed[e] == stops) return;
    bool was_dead = is_dead(life, e);
    life->crashed[e] = stops;
    if (is_dead(life, e) == was_dead) return;
    add_event(w, (struct weft_bgp_event){.time_ps = event->time_ps,
                                         .what = !stops                             ? WEFT_BGP_BACK
                                                 : event->what == WEFT_CONTROL_SHUT ? WEFT_BGP_SHUT
                                                                                    : WEFT_BGP_LOST,
                                         .edsw = e,
                                         // its chip continues to forward: tracking follows what FSDB says of it
                                         .noticed_ps = conf->fsdb.latency_ps + conf->fsdb.hold_ps});
}

static struct life new_life(const struct work *w) {
    uint32_t edsws = w->x->setup.edsws;
    struct life life = {.crashed = weft_arena_alloc(w->scratch, edsws, sizeof *life.crashed),
                        .fabric_up = weft_arena_alloc(w->scratch, edsws, sizeof *life.fabric_up),
                        .wire = weft_arena_alloc(w->scratch, edsws, sizeof *life.wire)};
    for (uint32_t e = 0; e < edsws; e++) {
        uint32_t node = w->x->edsw[e], port0 = w->t->node[node].port0;
        for (uint32_t p = port0; p < port0 + w->t->node[node].ports; p++)
            if (is_uplink(w->t, p))
                life.wire[e] |= UINT64_C(1) << w->way_of[p];
            else
                life.fabric_up[e] += weft_topology_link_is_fabric(w->t, w->t->port[p].link);
    }
    return life;
}

static void find_events(struct work *w, const struct weft_control_given *given) {
    const struct weft_topology *t = w->t;
    const struct weft_control_event *event = given->event;
    struct life life = new_life(w);
    size_t words = (size_t)w->x->setup.edsws * w->x->setup.classes;
    w->remote = weft_arena_alloc(w->scratch, words, sizeof *w->remote);
    memcpy(w->remote, w->x->setup.heard, words * sizeof *w->remote);
    uint32_t state = 0;
    for (uint32_t i = 0, k = 0, end; i < given->events || k < t->events;) {
        if (k == t->events || (i < given->events && event[i].time_ps < t->event[k].time_ps)) {
            add_node_event(w, &life, given->conf, &event[i++]);
            continue;
        }
        for (end = k; end < t->events && t->event[end].time_ps == t->event[k].time_ps;)
            end++;
        add_link_events(w, &life, k, end);
        state++;
        assert(state < w->states->n && w->states->time_ps[state] == t->event[k].time_ps);
        add_way_events(w, &life, state);
        k = end;
    }
}

enum weft_status weft_exit_timeline_new(const struct weft_topology *t, const uint32_t *node, uint32_t nodes,
                                        const struct weft_control_given *given, bool always, struct weft_arena *arena,
                                        struct weft_exit_timeline **ret_timeline, struct weft_error *ret_error) {
    WEFT_SCRATCH(scratch, WEFT_MEMORY_ROUTES);
    struct weft_exit_timeline *x = *ret_timeline = weft_arena_alloc(arena, 1, sizeof *x);
    struct work w = {
        .t = t, .node = node, .nodes = nodes, .states = given->states, .x = x, .arena = arena, .scratch = scratch};
    enum weft_status status = find_nodes(&w, ret_error);
    if (!status && x->setup.edsws && x->setup.rdsws) {
        find_classes(&w);
        if (x->setup.classes) find_events(&w, given);
        x->events = w.events;
        x->event = w.event;
        if (x->setup.classes && (w.events || always))
            x->bgp = weft_bgp_run(&given->conf->bgp, &x->setup, w.event, w.events, given->seed, arena);
    }
    return status;
}
