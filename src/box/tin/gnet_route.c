// SPDX-License-Identifier: Apache-2.0
// The path of a cell through the cell switch (Gibson et al., NSDI 2022, section 3.2). The tables (weft/gnet_routes.h)
// give ports by the cell's input, its VC and its destination. Adaptive modes draw some minimal paths and some others
// and compare the queues of the VC that the cell would have there; nonminimal ones are weighted. Deterministic modes
// use the same path for all cells of a flow. Links known here to have failed are excluded at once; tables follow, entry
// by entry, when the controller has changed them. If no path is left the cell escapes, and stays on the escape VCs.
#include "box/tin/gnet_route.h"
#include "box/tin/tin_rma.h"

static inline uint64_t bit_of(uint32_t i) {
    return UINT64_C(1) << i;
}

/// The same for all cells of a flow at this TiN.
uint32_t weft__gnet_hash_flow(const struct weft__gnet *g, const struct weft_packet *cell) {
    uint64_t x = ((uint64_t)cell->qp << 32 | weft__gnet_to(cell) << 16 | g->self) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29 ^ cell->kind) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x >> 32);
}

uint32_t weft__gnet_hash(const struct weft_packet *cell) {
    uint64_t x = ((uint64_t)cell->qp << 4 | cell->kind) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 33);
}

/// How soon a busy endpoint can take one more cell: by the cells that wait for it, then by the cell that crosses to it.
static uint64_t calc_wait(const struct weft__gnet *g, uint32_t o) {
    uint64_t waiting = (uint64_t)__builtin_popcountll(g->out[o].requests);
    return waiting << 57 | g->in[g->crossing_from[o]].busy_until_ps;
}

/// The port of an endpoint for the cell: an idle one, or the one that can take it soonest; except for cells that need
/// order.
uint32_t weft__gnet_find_endpoint(struct weft__gnet *g, weft_time_ps now, const struct weft_packet *cell) {
    enum weft__gnet_endpoint kind = weft__gnet_endpoint_of(g, cell);
    const uint8_t *endpoint = &g->endpoint[g->first[kind]];
    uint32_t n = g->n[kind];
    if (weft__gnet_type(cell) == WEFT__GNET_RTS) return endpoint[weft__gnet_hash(cell) % n];
    if (g->conf->rma_own && weft__gnet_type(cell) == WEFT__GNET_REQ) return endpoint[weft__tin_req_host(cell->psn) % n];
    uint32_t at = g->arrival_turn[kind]++ % n, best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < n; k++, at = at + 1 < n ? at + 1 : 0) {
        uint32_t o = endpoint[at];
        if (!(g->wanted & bit_of(o)) && !weft__gnet_is_out_busy(g, now, o)) return o;
        uint64_t wait = calc_wait(g, o);
        if (wait >= least) continue;
        least = wait;
        best = o;
    }
    return best;
}

uint32_t weft__gnet_entry_vc(struct weft__gnet *g, uint32_t vc) {
    return vc + (uint32_t)((weft__gnet_next_random(g) >> 32) * g->conf->endpoint_vcs >> 32);
}

void weft__gnet_draw(struct weft__gnet *g, uint32_t in, struct weft__gnet_known *known) {
    if (known->set == WEFT__GNET_SET_UNKNOWN) return;
    uint64_t minimal = g->set[known->set].minimal & ~(g->down | g->in[in].back);
    if (minimal) weft__gnet_draw_two(g, minimal, known);
}

/// The escape VCs, towards the root of a tree of the Clique and then away from it; if necessary back to where the cell
/// came from, on another VC.
uint32_t weft__gnet_escape_way(struct weft__gnet *g, weft_time_ps now, const struct weft_packet *cell) {
    uint32_t vc = weft__gnet_vc(cell), to = weft__gnet_to(cell), phase = vc == WEFT_GNET_ESCAPE_VC + 1;
    uint64_t down = 0, ports = 0;
    for (uint32_t others = 0; others < 2 && !ports; others++) {
        const struct weft_gnet_escape *e = weft_gnet_escape_at(g->routes, g->self, phase, others, to);
        down = e->down & ~g->down;
        ports = down ? down : e->up & ~g->down;
    }
    if (!ports) return WEFT_NONE;
    uint32_t way =
        weft__gnet_way_of(weft_gnet_nth(ports, weft__gnet_hash_flow(g, cell) % (uint32_t)__builtin_popcountll(ports)),
                          WEFT_GNET_ESCAPE_VC + (down != 0));
    if (vc >= WEFT_GNET_ESCAPE_VC) return way;
    struct weft_tin_transition *seen = weft__gnet_transition(g, now);
    g->counts.escapes++;
    if (seen) seen->escapes++;
    return way;
}

/// Makes waiting cells look up their paths again.
static void forget_sets(struct weft__gnet *g) {
    for (uint32_t slot = 1; slot < 64 * g->cells.spare.words; slot++)
        g->cells.slot[slot].port = WEFT__GNET_SET_UNKNOWN;
}

void weft__gnet_use_tables(struct weft__gnet *g, weft_time_ps now) {
    const struct weft__gnet_tables *t = g->tables;
    while (g->epoch < t->n && t->from_ps[g->epoch] <= now)
        g->routes = t->routes[g->epoch++];
    g->change_ps = g->epoch < t->n ? t->from_ps[g->epoch] : WEFT_TIME_NEVER;
    const struct weft_clique_tin_timeline *own = g->own;
    if (!own) return;
    uint32_t before = g->changed;
    for (; g->changed < own->changes && own->change[g->changed].time_ps <= now; g->changed++) {
        const struct weft_clique_change *c = &own->change[g->changed];
        own->set_of[c->row * g->columns + c->column] = c->set;
    }
    if (g->changed < own->changes && own->change[g->changed].time_ps < g->change_ps)
        g->change_ps = own->change[g->changed].time_ps;
    if (g->changed > before) forget_sets(g);
}
