// SPDX-License-Identifier: Apache-2.0
// The path of a cell through the cell switch, for most cells: inlined into the switch. Rare cases are in gnet_route.c,
// which explains how paths are chosen.
#pragma once

#include "box/tin/gnet_switch.h"

/// The same for all cells of a flow at this TiN.
uint32_t weft__gnet_hash_flow(const struct weft__gnet *g, const struct weft_packet *cell);
/// The port of the endpoint that the cell is for.
uint32_t weft__gnet_find_endpoint(struct weft__gnet *g, weft_time_ps now, const struct weft_packet *cell);
/// By the escape VCs.
uint32_t weft__gnet_escape_way(struct weft__gnet *g, weft_time_ps now, const struct weft_packet *cell);

static inline uint32_t weft__gnet_way_of(uint32_t out, uint32_t vc) {
    return out | vc << WEFT__GNET_WAY_VC;
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014), seeded by the run's
/// generator, which takes ten times as long: nothing is drawn as often as paths.
static inline uint64_t weft__gnet_next_random(struct weft__gnet *g) {
    uint64_t x = g->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/// A random member of a set, chosen by 12 bits of a random number.
static inline uint32_t weft__gnet_draw_one(uint64_t set, uint64_t random) {
    return weft_gnet_nth(set, (uint32_t)((random & 0xfff) * (uint32_t)__builtin_popcountll(set) >> 12));
}

static inline void weft__gnet_draw_two(struct weft__gnet *g, uint64_t minimal, struct weft__gnet_known *known) {
    uint64_t random = weft__gnet_next_random(g);
    known->drawn[0] = (uint8_t)weft__gnet_draw_one(minimal, random);
    known->drawn[1] = (uint8_t)weft__gnet_draw_one(minimal, random >> 12);
}

/// How much a cell would find ahead of it.
static inline uint32_t weft__gnet_depth_of(const struct weft__gnet *g, uint32_t o, uint32_t vc) {
    return g->depth[vc][o];
}

static inline uint32_t weft__gnet_choose(struct weft__gnet *g, uint64_t minimal, uint64_t others, uint32_t vc,
                                         struct weft__gnet_known known) {
    const struct weft_tin_conf *conf = g->conf;
    if (!(minimal & (minimal - 1)) && !others) return (uint32_t)__builtin_ctzll(minimal);
    bool is_drawn = known.drawn[0] < WEFT__GNET_PORTS && minimal >> known.drawn[0] & minimal >> known.drawn[1] & 1;
    if (!is_drawn && minimal) weft__gnet_draw_two(g, minimal, &known);
    uint32_t best = WEFT_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; minimal && k < conf->minimal_choices && least; k++) {
        uint32_t o = k < 2 ? known.drawn[k] : weft__gnet_draw_one(minimal, weft__gnet_next_random(g));
        if (weft__gnet_depth_of(g, o, vc) >= least) continue;
        least = weft__gnet_depth_of(g, o, vc);
        best = o;
    }
    bool is_minimal = true;
    // Other paths cannot win against less than the bias added to theirs.
    for (uint32_t k = 0; others && least > conf->nonminimal_bias_bytes && k < conf->nonminimal_choices; k++) {
        uint32_t o = weft__gnet_draw_one(others, weft__gnet_next_random(g));
        uint64_t weighted = weft__gnet_depth_of(g, o, vc) * conf->nonminimal_weight + conf->nonminimal_bias_bytes;
        if (weighted >= least) continue;
        least = weighted;
        best = o;
        is_minimal = false;
    }
    if (is_minimal)
        g->ways_minimal++;
    else
        g->ways_nonminimal++;
    return best;
}

/// VC of a cell that has reached its destination. Only allocation in steps distinguishes these, by the VC that a
/// further link would have.
static inline uint32_t weft__gnet_leaving_vc(const struct weft__gnet *g, uint32_t in, const struct weft_packet *cell) {
    uint32_t vc = weft__gnet_vc(cell);
    if (__builtin_expect(!g->channels, 1) || vc >= WEFT_GNET_ESCAPE_VC) return vc;
    return g->ugal ? weft__gnet_ugal_vc(g, cell, in) : weft__gnet_next_vc(g, in, vc);
}

/// The path of a cell at input `in`, as output and VC; WEFT_NONE: there is none.
static inline __attribute__((always_inline)) uint32_t weft__gnet_route(struct weft__gnet *g, weft_time_ps now,
                                                                       uint32_t in, const struct weft_packet *cell,
                                                                       struct weft__gnet_known known) {
    uint32_t vc = weft__gnet_vc(cell);
    if (weft__gnet_to(cell) == g->self)
        return weft__gnet_way_of(weft__gnet_find_endpoint(g, now, cell), weft__gnet_leaving_vc(g, in, cell));
    if (__builtin_expect(now >= g->change_ps, 0)) {
        weft__gnet_use_tables(g, now);
        known = weft__gnet_known_set(WEFT__GNET_SET_UNKNOWN);
    }
    uint64_t usable = ~(g->down | g->in[in].back);
    if (__builtin_expect(vc >= WEFT_GNET_ESCAPE_VC, 0)) return weft__gnet_escape_way(g, now, cell);
    if (__builtin_expect(g->ugal != NULL, 0) && weft__gnet_type(cell) != WEFT__GNET_RTS) {
        uint32_t out = weft__gnet_ugal_output(g, cell);
        return out == WEFT_NONE ? weft__gnet_escape_way(g, now, cell)
                                : weft__gnet_way_of(out, weft__gnet_ugal_vc(g, cell, out));
    }
    if (known.set == WEFT__GNET_SET_UNKNOWN) known.set = *weft__gnet_entry(g, cell, in);
    const struct weft_gnet_set *set = &g->set[known.set];
    uint32_t mode = weft__gnet_type(cell) == WEFT__GNET_RTS ? g->conf->ordered_routing : g->conf->routing;
    uint64_t minimal = set->minimal & usable, others = set->nonminimal & usable;
    if (mode != WEFT_GNET_FULLY_ADAPTIVE && mode != WEFT_GNET_DETERMINISTIC) others = minimal ? 0 : others;
    if (__builtin_expect(!(minimal | others), 0)) return weft__gnet_escape_way(g, now, cell);
    vc = weft__gnet_next_vc(g, in, vc);
    if (mode == WEFT_GNET_DETERMINISTIC || mode == WEFT_GNET_MINIMAL_DETERMINISTIC) {
        uint64_t all = minimal | others;
        return weft__gnet_way_of(
            weft_gnet_nth(all, weft__gnet_hash_flow(g, cell) % (uint32_t)__builtin_popcountll(all)), vc);
    }
    return weft__gnet_way_of(weft__gnet_choose(g, minimal, others, vc, known), vc);
}
