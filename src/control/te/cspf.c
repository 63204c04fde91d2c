// SPDX-License-Identifier: Apache-2.0
// Constrained shortest path first: constraint-based routing on what bandwidth is left (D. Awduche et al., RFC 2702), as
// the centralised traffic engineering of "RDMA over Ethernet for Distributed AI Training at Meta Scale", SIGCOMM 2024,
// uses it. That source names CSPF, and not its order or ties: those (weft/cspf.h) are assumed. Differences: only paths
// with the fewest hops are used, because a longer one would go down and up again, which can deadlock with PFC; demands
// that fit nowhere are placed anyway.
#include "weft/cspf.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#include "weft/memory.h"

enum { SLOTS_MIN = 64, DEPTH_MAX = 64 };

/// How good the path from a switch on is.
struct cost {
    double fullest, sum; ///< utilisation
};

struct place {
    const struct weft_topology *t;
    const struct weft_routes *routes;
    const struct weft_cspf_plan *before;
    struct weft_cspf_plan *plan;
    struct weft_arena *arena;
    // for the current demand; indexed by the input port, among all ports
    uint32_t turn, *seen; ///< [ports]: the turn in which cost and choice were found
    struct cost *cost;
    uint16_t *choice; ///< egress port of the switch
    const struct weft_cspf_demand *demand;
};

static uint32_t hash_entry(uint32_t sw, uint32_t in, uint32_t edge) {
    uint64_t h = ((uint64_t)sw << 32 | in << 16) ^ (uint64_t)edge * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(h >> 32);
}

static struct weft_cspf_entry *slot_of(const struct weft_cspf_plan *plan, uint32_t sw, uint32_t in, uint32_t edge) {
    uint32_t i = hash_entry(sw, in, edge) & plan->mask;
    for (; plan->slot[i].used; i = (i + 1) & plan->mask) {
        const struct weft_cspf_entry *e = &plan->slot[i];
        if (e->sw == sw && e->in == in && e->edge == edge) break;
    }
    return &plan->slot[i];
}

uint32_t weft_cspf_find(const struct weft_cspf_plan *plan, uint32_t sw, uint32_t in, uint32_t edge) {
    const struct weft_cspf_entry *e = slot_of(plan, sw, in, edge);
    return e->used ? e->out : WEFT_NONE;
}

static void enter_choice(struct place *p, uint32_t sw, uint32_t in, uint32_t edge, uint32_t out) {
    struct weft_cspf_plan *plan = p->plan;
    if (2 * plan->entries > plan->mask) {
        struct weft_cspf_entry *old = plan->slot;
        uint32_t slots = plan->mask + 1;
        plan->mask = 2 * slots - 1;
        plan->slot = weft_arena_alloc(p->arena, 2 * (size_t)slots, sizeof *plan->slot);
        for (uint32_t i = 0; i < slots; i++)
            if (old[i].used) *slot_of(plan, old[i].sw, old[i].in, old[i].edge) = old[i];
    }
    struct weft_cspf_entry *e = slot_of(plan, sw, in, edge);
    plan->entries += !e->used;
    *e = (struct weft_cspf_entry){.sw = sw, .edge = edge, .in = (uint16_t)in, .out = (uint16_t)out, .used = true};
}

static weft_rate_bps rate_in(const struct weft_cspf_demand *demand, uint32_t phase) {
    return demand->phase_bps ? demand->phase_bps[phase] : demand->rate_bps;
}

/// Of the link, including the demand.
static double link_utilisation(const struct place *p, uint32_t port) {
    double rate = (double)p->t->link[p->t->port[port].link].rate_bps, most = 0;
    const weft_rate_bps *load = &p->plan->load[port];
    for (uint32_t phase = 0; phase < p->plan->phases; phase++, load += p->t->ports) {
        double own = (double)rate_in(p->demand, phase), used = ((double)*load + own) / rate;
        if (own > 0 && used > most) most = used;
    }
    return most;
}

static bool is_less(struct cost a, struct cost b) {
    return a.fullest != b.fullest ? a.fullest < b.fullest : a.sum < b.sum;
}

/// The candidates at a switch for packets that arrived by `in` (a port of it): only one if an entry binds them. NULL:
/// none.
static const uint16_t *ways_at(const struct place *p, uint32_t sw, uint32_t in, uint16_t *bound, uint32_t *ret_n) {
    const struct weft_routes *r = p->routes;
    const struct weft_route_set *set = &r->set[r->set_first[sw] + r->set_of[(size_t)sw * r->edges + p->demand->edge]];
    uint32_t out = set->n > 1 ? weft_cspf_find(p->plan, sw, in, p->demand->edge) : WEFT_NONE;
    *ret_n = set->n;
    if (out == WEFT_NONE) return set->n ? &r->ports[set->first] : NULL;
    *bound = (uint16_t)out;
    *ret_n = 1;
    return bound;
}

/// The best path onwards for packets that enter a switch by `port` (among all ports). Each link is visited once per
/// demand, and the routes have no loops: every step is a hop nearer.
static bool search_path(struct place *p, uint32_t port, struct cost *ret_cost) {
    const struct weft_topology *t = p->t;
    const struct weft_node_info *node = &t->node[t->port[port].node];
    *ret_cost = (struct cost){0, 0};
    if (p->routes->edge_of_switch[node->index] == p->demand->edge) return true;
    if (p->seen[port] != p->turn) {
        uint16_t bound;
        uint32_t in = port - node->port0, n;
        const uint16_t *out = ways_at(p, node->index, in, &bound, &n);
        uint32_t had = p->before ? weft_cspf_find(p->before, node->index, in, p->demand->edge) : WEFT_NONE;
        bool any = false;
        for (uint32_t i = 0; i < n; i++) {
            struct cost c;
            if (!search_path(p, t->port[node->port0 + out[i]].peer, &c)) continue;
            double own = link_utilisation(p, node->port0 + out[i]);
            c = (struct cost){own > c.fullest ? own : c.fullest, own + c.sum};
            bool better = !any || is_less(c, p->cost[port]) || (out[i] == had && !is_less(p->cost[port], c));
            if (!better) continue;
            p->cost[port] = c;
            p->choice[port] = out[i];
            any = true;
        }
        if (!any) p->choice[port] = UINT16_MAX;
        p->seen[port] = p->turn;
    }
    *ret_cost = p->cost[port];
    return p->choice[port] != UINT16_MAX;
}

/// Follows the choices, adding load and entries.
static void settle_path(struct place *p, uint32_t port) {
    const struct weft_topology *t = p->t;
    for (uint32_t hop = 0; hop < DEPTH_MAX; hop++) {
        const struct weft_node_info *node = &t->node[t->port[port].node];
        const struct weft_routes *r = p->routes;
        if (r->edge_of_switch[node->index] == p->demand->edge) return;
        uint32_t out = p->choice[port];
        if (r->set[r->set_first[node->index] + r->set_of[(size_t)node->index * r->edges + p->demand->edge]].n > 1)
            enter_choice(p, node->index, port - node->port0, p->demand->edge, out);
        for (uint32_t phase = 0; phase < p->plan->phases; phase++)
            p->plan->load[(size_t)phase * t->ports + node->port0 + out] += rate_in(p->demand, phase);
        port = t->port[node->port0 + out].peer;
    }
}

WEFT__ORDER(largest_first, struct weft_cspf_demand,
            WEFT__DOWN(rate_bps) ?: WEFT__UP(sw) ?: WEFT__UP(port) ?: WEFT__UP(edge))

WEFT__ORDER(by_switch, struct weft_cspf_entry, WEFT__UP(sw) ?: WEFT__UP(in) ?: WEFT__UP(edge))

static void list_entries(struct place *p) {
    struct weft_cspf_plan *plan = p->plan;
    plan->entry = weft_arena_alloc(p->arena, plan->entries, sizeof *plan->entry);
    plan->first = weft_arena_alloc(p->arena, p->t->switches + 1, sizeof *plan->first);
    uint32_t n = 0;
    for (uint32_t i = 0; i <= plan->mask; i++)
        if (plan->slot[i].used) plan->entry[n++] = plan->slot[i];
    if (n) qsort(plan->entry, n, sizeof *plan->entry, by_switch);
    for (uint32_t i = 0; i < n; i++)
        plan->first[plan->entry[i].sw + 1]++;
    for (uint32_t sw = 0; sw < p->t->switches; sw++)
        plan->first[sw + 1] += plan->first[sw];
}

static void place_one(struct place *p, const struct weft_cspf_demand *demand) {
    const struct weft_topology *t = p->t;
    uint32_t port = t->node[t->switch_node[demand->sw]].port0 + demand->port;
    struct cost cost;
    if (!demand->rate_bps || p->routes->edge_of_switch[demand->sw] == demand->edge) return;
    p->demand = demand;
    p->turn++;
    if (!search_path(p, port, &cost)) {
        p->plan->unreachable++;
        return;
    }
    settle_path(p, port);
    p->plan->demands++;
    p->plan->beyond += cost.fullest > 1;
}

static void find_fullest(const struct place *p) {
    for (size_t i = 0; i < (size_t)p->plan->phases * p->t->ports; i++) {
        double used = (double)p->plan->load[i] / (double)p->t->link[p->t->port[i % p->t->ports].link].rate_bps;
        if (used > p->plan->utilisation_max) p->plan->utilisation_max = used;
    }
}

struct weft_cspf_plan *weft_cspf_place_phases(const struct weft_topology *t, const struct weft_routes *routes,
                                              uint32_t phases, const struct weft_cspf_demand *demand, uint32_t demands,
                                              const struct weft_cspf_plan *before, struct weft_arena *arena) {
    struct weft_cspf_plan *plan = weft_arena_alloc(arena, 1, sizeof *plan);
    plan->mask = SLOTS_MIN - 1;
    plan->slot = weft_arena_alloc(arena, SLOTS_MIN, sizeof *plan->slot);
    plan->phases = phases;
    plan->load = weft_arena_alloc(arena, (size_t)phases * t->ports, sizeof *plan->load);
    struct place p = {.t = t, .routes = routes, .before = before, .plan = plan, .arena = arena};
    p.seen = weft_arena_alloc(arena, t->ports, sizeof *p.seen);
    p.cost = weft_arena_alloc(arena, t->ports, sizeof *p.cost);
    p.choice = weft_arena_alloc(arena, t->ports, sizeof *p.choice);
    struct weft_cspf_demand *sorted = weft_arena_alloc(arena, demands, sizeof *sorted);
    if (demands) {
        memcpy(sorted, demand, demands * sizeof *sorted);
        qsort(sorted, demands, sizeof *sorted, largest_first);
    }
    for (uint32_t i = 0; i < demands; i++)
        place_one(&p, &sorted[i]);
    find_fullest(&p);
    list_entries(&p);
    return plan;
}
