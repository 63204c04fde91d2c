// SPDX-License-Identifier: Apache-2.0
// UGAL as BookSim 2 has it for a dragonfly (src/networks/dragonfly.cpp, ugal_dragonflynew; Kim et al., ISCA 2008).
// Where a cell starts, it is decided once whether it takes its minimal path, or goes through another TiN, any of them,
// and from there on the minimal path. It takes the minimal path within its pod; if the TiN drawn is in its own pod or
// in that of its destination; and unless
//   used(its first output on the minimal path) > nonminimal_weight x used(the one to the TiN drawn) + nonminimal_bias,
// where used is what an output has to send, or has sent without getting credits back, over all VCs: so cells in flight
// count, and credits on their way back. Of parallel links the least used is taken.
//
// Its VCs are also BookSim's: 0 to the TiN drawn; 1 from there on, or on a minimal path; 2 after that, from the link
// between pods on, and within a pod. They do not prevent deadlocks: cells to TiNs drawn in two pods may wait for each
// other with VC 0 full.
#include "box/tin/gnet_switch.h"

struct weft__gnet_ugal {
    uint64_t *to_place, *to_pod; ///< ports of minimal paths: to TiNs of its pod, and to pods
};

static uint64_t exits_to(const struct weft_dragonfly *f, uint32_t tin, uint32_t pod) {
    uint64_t ports = 0;
    for (uint64_t left = f->tin[tin].global; left; left &= left - 1)
        if (f->tin[f->tin[tin].peer[__builtin_ctzll(left)]].pod == pod) ports |= left & -left;
    return ports;
}

/// By a link of its own, or through TiNs of its pod that have one.
static uint64_t ways_to_pod(const struct weft__gnet *g, const struct weft_dragonfly *f, uint32_t pod) {
    uint64_t ports = exits_to(f, g->self, pod);
    for (uint64_t left = ports ? 0 : g->tin->local; left; left &= left - 1)
        if (exits_to(f, g->tin->peer[__builtin_ctzll(left)], pod)) ports |= left & -left;
    return ports;
}

struct weft__gnet_ugal *weft__gnet_ugal_new(const struct weft__gnet *g, struct weft_arena *arena) {
    const struct weft_dragonfly *f = g->tables->routes[0]->f;
    struct weft__gnet_ugal *u = weft_arena_alloc(arena, 1, sizeof *u);
    u->to_pod = weft_arena_alloc(arena, f->pods, sizeof *u->to_pod);
    u->to_place = weft_arena_alloc(arena, f->tins, sizeof *u->to_place);
    for (uint32_t pod = 0; pod < f->pods; pod++)
        if (pod != g->tin->pod) u->to_pod[pod] = ways_to_pod(g, f, pod);
    for (uint64_t left = g->tin->local; left; left &= left - 1)
        u->to_place[f->tin[g->tin->peer[__builtin_ctzll(left)]].place] |= left & -left;
    return u;
}

static int64_t used_bytes(const struct weft__gnet *g, uint32_t o) {
    int32_t units = g->port[o].credits;
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++)
        units -= g->out[o].credits[vc];
    return (int64_t)units * WEFT_GNET_CREDIT_UNIT + (int64_t)weft__gnet_output_bytes(g, o);
}

/// The least used output on a minimal path, and how much it is used; WEFT_NONE: there is none.
static uint32_t find_output(const struct weft__gnet *g, uint32_t to, int64_t *ret_used) {
    const struct weft_tin *tin = &g->tables->routes[0]->f->tin[to];
    uint64_t ways = tin->pod == g->tin->pod ? g->ugal->to_place[tin->place] : g->ugal->to_pod[tin->pod];
    uint32_t best = WEFT_NONE;
    *ret_used = INT64_MAX / WEFT_GNET_CREDIT_UNIT;
    for (uint64_t left = ways & ~g->down; left; left &= left - 1) {
        int64_t used = used_bytes(g, (uint32_t)__builtin_ctzll(left));
        if (used >= *ret_used) continue;
        *ret_used = used;
        best = (uint32_t)__builtin_ctzll(left);
    }
    return best;
}

/// The TiN through which a cell goes: drawn from fields that stay the same along the whole path.
static uint32_t draw_via(const struct weft__gnet *g, const struct weft_packet *cell) {
    uint64_t x = ((uint64_t)cell->qp << 32 | cell->psn) + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30 ^ (uint64_t)cell->dst << 13) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(((x ^ x >> 31) >> 32) * g->tables->routes[0]->f->tins >> 32);
}

void weft__gnet_ugal_begin(struct weft__gnet *g, struct weft_packet *cell) {
    const struct weft_tin *tin = g->tables->routes[0]->f->tin;
    uint32_t to = weft__gnet_to(cell), via = draw_via(g, cell), own = g->tin->pod;
    int64_t minimal, other;
    cell->spare = 0;
    if (tin[to].pod != own && tin[via].pod != own && tin[via].pod != tin[to].pod) {
        find_output(g, to, &minimal);
        find_output(g, via, &other);
        cell->spare =
            minimal > (int64_t)(g->conf->nonminimal_weight * (uint64_t)other + g->conf->nonminimal_bias_bytes);
    }
    *(cell->spare ? &g->ways_nonminimal : &g->ways_minimal) += 1;
}

void weft__gnet_ugal_pass(const struct weft__gnet *g, struct weft_packet *cell) {
    if (cell->spare && draw_via(g, cell) == g->self) cell->spare = 0;
}

uint32_t weft__gnet_ugal_vc(const struct weft__gnet *g, const struct weft_packet *cell, uint32_t out) {
    uint32_t vc = weft__gnet_vc(cell), class = vc - vc % WEFT_GNET_ROUTING_VCS;
    if (cell->spare) return class;
    bool is_last = g->tables->routes[0]->f->tin[weft__gnet_to(cell)].pod == g->tin->pod;
    return class + (is_last || g->tin->global >> out & 1 ? 2 : 1);
}

uint32_t weft__gnet_ugal_output(const struct weft__gnet *g, const struct weft_packet *cell) {
    int64_t used;
    return find_output(g, cell->spare ? draw_via(g, cell) : weft__gnet_to(cell), &used);
}
