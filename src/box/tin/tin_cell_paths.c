// SPDX-License-Identifier: Apache-2.0
// The collector of traced cells: combines the notes of all TiNs into paths. A cell that left a TiN is the one that
// arrived at the next TiN over that link at that time. Each step is compared with the tables for the state of the links
// at that time or earlier: entries of an older table may still be in force, and are not faults. The first TiN that sent
// a cell by another path is to blame.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "box/tin/tin_net.h"
#include "weft/memory.h"

/// Tables that should be in force from a time on.
struct meant {
    weft_time_ps from_ps;
    struct weft_gnet_routes *routes;
};

struct collector {
    const struct weft__network *net;
    struct weft_cell_hop *note; ///< of all TiNs
    const struct weft_cell_hop **by_arrival;
    uint32_t notes;
    struct meant **meant; ///< [Cliques][meants]
    uint32_t meants;
    bool *incomplete; ///< [nodes]: TiNs that have not kept all notes
    struct weft_arena *arena;
};

// --- notes --------------------------------------------------------------------------------------------------------

static const struct weft__gnet_tracer *tracer_of(const struct weft__network *net, uint32_t node) {
    if (net->topology->node[node].box != WEFT_BOX_TIN) return NULL;
    return ((const struct weft__tin *)net->engine.node[node].state)->gnet.tracer;
}

static void gather_notes(struct collector *c) {
    const struct weft_topology *t = c->net->topology;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (tracer_of(c->net, n)) c->notes += tracer_of(c->net, n)->hops;
    c->note = weft_arena_alloc(c->arena, c->notes, sizeof *c->note);
    c->by_arrival = weft_arena_alloc(c->arena, c->notes, sizeof *c->by_arrival);
    c->incomplete = weft_arena_alloc(c->arena, t->nodes, sizeof *c->incomplete);
    uint32_t at = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft__gnet_tracer *tracer = tracer_of(c->net, n);
        if (!tracer) continue;
        if (tracer->hops) memcpy(c->note + at, tracer->hop, tracer->hops * sizeof *c->note);
        at += tracer->hops;
        c->incomplete[n] = tracer->unnoted;
        weft_outcome_cliques(c->net->outcome)->cells->unnoted += tracer->unnoted;
    }
    for (uint32_t i = 0; i < c->notes; i++)
        c->by_arrival[i] = &c->note[i];
}

static int compare_arrival(const struct weft_cell_hop *x, uint32_t node, uint32_t port, weft_time_ps time) {
    if (x->node != node) return x->node < node ? -1 : 1;
    if (x->port_in != port) return x->port_in < port ? -1 : 1;
    return (x->in_ps > time) - (x->in_ps < time);
}

/// Several endpoints may send at the same time.
WEFT__ORDER_OF_POINTERS(by_arrival, struct weft_cell_hop,
                        compare_arrival(x, y->node, y->port_in, y->in_ps) ?: WEFT__PLACE)
WEFT__ORDER_OF_POINTERS(by_time, struct weft_cell_hop, WEFT__UP(in_ps) ?: WEFT__PLACE)

/// Where the cell arrived next; NULL: not noted by any TiN.
static const struct weft_cell_hop *find_next(const struct collector *c, const struct weft_cell_hop *hop) {
    const struct weft_topology *t = c->net->topology;
    const struct weft_port_info *port = weft_topology_port(t, hop->node, hop->port_out);
    uint32_t node = t->port[port->peer].node, k = port->peer - t->node[node].port0;
    uint32_t low = WEFT__FIRST_WITHOUT(0, c->notes, compare_arrival(c->by_arrival[middle], node, k, hop->next_ps) < 0);
    bool found = low < c->notes && !compare_arrival(c->by_arrival[low], node, k, hop->next_ps);
    return found ? c->by_arrival[low] : NULL;
}

// --- what was meant -----------------------------------------------------------------------------------------------

static void make_meant(struct collector *c) {
    const struct weft__network *net = c->net;
    const struct weft_topology *t = net->topology;
    const struct weft_dragonflies *shape = weft__cliques_of(net)->shape;
    bool *down = weft_arena_alloc(c->arena, t->links, sizeof *down);
    c->meant = weft_arena_alloc(c->arena, shape->n, sizeof *c->meant);
    for (uint32_t f = 0; f < shape->n; f++)
        c->meant[f] = weft_arena_alloc(c->arena, t->events + 1, sizeof **c->meant);
    for (uint32_t e = 0; e <= t->events; e++) {
        if (e) down[t->event[e - 1].link] = !t->event[e - 1].up;
        if (e && e < t->events && t->event[e].time_ps == t->event[e - 1].time_ps) continue;
        if (e && !weft_outcome_reached(net->outcome, t->event[e - 1].time_ps)) break;
        for (uint32_t f = 0; f < shape->n; f++)
            c->meant[f][c->meants] = (struct meant){
                e ? t->event[e - 1].time_ps : 0,
                weft_gnet_routes_new(t, &shape->fabric[f],
                                     &weft__tin_conf(net->device[shape->fabric[f].tin[0].node])->gnet, down)};
        c->meants++;
    }
}

static enum weft_cell_route way_by(const struct weft_gnet_routes *r, uint32_t tin, const struct weft_cell_hop *hop) {
    const struct weft_tin *own = &r->f->tin[tin];
    bool sent = hop->port_in == WEFT_CELL_ENDPOINT;
    uint64_t port = UINT64_C(1) << hop->port_out;
    for (uint32_t others = 0; others < 2 && hop->vc_out >= WEFT_GNET_ESCAPE_VC; others++) {
        const struct weft_gnet_escape *e =
            weft_gnet_escape_at(r, tin, hop->vc_in == WEFT_GNET_ESCAPE_VC + 1, others, hop->to);
        if ((e->up | e->down) & port) return WEFT_CELL_ROUTE_ESCAPE;
    }
    if (hop->vc_out >= WEFT_GNET_ESCAPE_VC || (!sent && own->back[hop->port_in] & port)) return WEFT_CELL_ROUTE_ASTRAY;
    enum weft_gnet_input input = sent ? WEFT_GNET_TERMINAL : (enum weft_gnet_input)own->input[hop->port_in];
    const struct weft_gnet_set *set = weft_gnet_at(r, tin, input, hop->vc_in % WEFT_GNET_ROUTING_VCS, hop->to);
    if (set->minimal & port) return WEFT_CELL_ROUTE_MINIMAL;
    return set->nonminimal & port ? WEFT_CELL_ROUTE_NONMINIMAL : WEFT_CELL_ROUTE_ASTRAY;
}

static enum weft_cell_route way_of(const struct collector *c, const struct weft_cell_hop *hop) {
    const struct weft_dragonflies *shape = weft__cliques_of(c->net)->shape;
    uint32_t tin = shape->tin_of_node[hop->node];
    if (hop->end == WEFT_CELL_END_ARRIVED) return WEFT_CELL_ROUTE_HOME;
    if (hop->port_out == WEFT_CELL_ENDPOINT) return WEFT_CELL_ROUTE_NONE;
    enum weft_cell_route way = WEFT_CELL_ROUTE_ASTRAY;
    for (uint32_t m = c->meants; m-- && way == WEFT_CELL_ROUTE_ASTRAY;) {
        const struct meant *meant = &c->meant[shape->fabric_of_node[hop->node]][m];
        if (meant->from_ps <= hop->out_ps) way = way_by(meant->routes, tin, hop);
    }
    return way;
}

// --- paths --------------------------------------------------------------------------------------------------------

/// Follows a cell from the endpoint that sent it. `ret_hop` has room for all its notes.
static struct weft_cell_path follow_cell(const struct collector *c, const struct weft_cell_hop *from,
                                         struct weft_cell_hop *ret_hop) {
    const struct weft_topology *t = c->net->topology;
    const struct weft_dragonflies *shape = weft__cliques_of(c->net)->shape;
    struct weft_cell_path path = {.suspect = WEFT_NONE};
    path.to = shape->fabric[shape->fabric_of_node[from->node]].tin[from->to].node;
    for (const struct weft_cell_hop *at = from;;) {
        struct weft_cell_hop *hop = &ret_hop[path.hops++];
        *hop = *at;
        hop->way = (uint8_t)way_of(c, hop);
        if (hop->way == WEFT_CELL_ROUTE_ASTRAY && path.suspect == WEFT_NONE) path.suspect = hop->node;
        path.end = hop->end;
        path.drop = hop->drop;
        if (hop->end != WEFT_CELL_END_GONE_ON) return path;
        at = find_next(c, hop);
        if (at) continue;
        uint32_t next = t->port[weft_topology_port(t, hop->node, hop->port_out)->peer].node;
        path.end = c->incomplete[next] ? WEFT_CELL_END_UNKNOWN : WEFT_CELL_END_UNDER_WAY; // on the link
        return path;
    }
}

static void count_path(struct weft_cell_paths *p, const struct weft_cell_path *path) {
    p->arrived += path->end == WEFT_CELL_END_ARRIVED;
    p->lost += path->end == WEFT_CELL_END_LOST;
    p->under_way += path->end == WEFT_CELL_END_UNDER_WAY;
    p->unknown += path->end == WEFT_CELL_END_UNKNOWN;
    p->astray += path->suspect != WEFT_NONE;
    for (uint32_t h = 0; h < path->hops; h++) {
        const struct weft_cell_hop *hop = &p->hop[path->hop0 + h];
        if (hop->out_ps != WEFT_TIME_NEVER) weft_histogram_add(&p->hop_ns, (hop->out_ps - hop->in_ps) / WEFT_PS_PER_NS);
    }
}

static void find_suspect(const struct weft_topology *t, struct weft_cell_paths *p, struct weft_arena *arena) {
    uint64_t *against = weft_arena_alloc(arena, t->nodes, sizeof *against);
    for (uint64_t i = 0; i < p->cells; i++)
        if (p->path[i].suspect != WEFT_NONE) against[p->path[i].suspect]++;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (against[n] > p->suspicions) {
            p->suspect = n;
            p->suspicions = against[n];
        }
}

void weft__cell_paths_collect(struct weft__network *net) {
    struct weft_outcome *o = net->outcome;
    struct weft_cell_paths *p = weft_outcome_cliques(o)->cells;
    struct collector c = {.net = net, .arena = weft_arena_new(WEFT_MEMORY_RESULT)};
    gather_notes(&c);
    make_meant(&c);
    const struct weft_cell_hop **sent = weft_arena_alloc(c.arena, c.notes, sizeof *sent);
    for (uint32_t i = 0; i < c.notes; i++)
        if (c.note[i].port_in == WEFT_CELL_ENDPOINT) sent[p->cells++] = &c.note[i];
    if (c.notes) qsort(c.by_arrival, c.notes, sizeof *c.by_arrival, by_arrival);
    if (p->cells) qsort(sent, p->cells, sizeof *sent, by_time);
    p->path = weft_arena_alloc(o->arena, p->cells, sizeof *p->path);
    p->hop = weft_arena_alloc(o->arena, c.notes, sizeof *p->hop);
    uint32_t hops = 0;
    for (uint64_t i = 0; i < p->cells; i++) {
        p->path[i] = follow_cell(&c, sent[i], &p->hop[hops]);
        p->path[i].hop0 = hops;
        hops += p->path[i].hops;
        count_path(p, &p->path[i]);
    }
    find_suspect(net->topology, p, c.arena);
    for (uint32_t f = 0; f < weft__cliques_of(net)->shape->n; f++)
        for (uint32_t m = 0; m < c.meants; m++)
            weft_gnet_routes_free(c.meant[f][m].routes);
    weft_arena_free(c.arena);
}
