// SPDX-License-Identifier: Apache-2.0
// Escape paths for cells without a route: up*/down* routing (Schroeder et al., Autonet, 1991) with its two phases on
// the two escape VCs. The upper end of a link is the one nearer to the first TiN of the intact Clique, or, at equal
// distance, the one with the lower number. This order is the same in every state of the links, so tables of different
// states may be mixed. Cells go up any number of times, then down. The paper says only that escape VCs serve "certain
// dynamic failure avoidance scenarios".
#include <string.h>

#include "topology/gnet.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

struct escape {
    const struct weft__gnet_build *b;
    uint32_t *rank;     ///< [tins] the root has 0
    uint64_t *up;       ///< [tins] ports to lower ranks, in service or not
    uint16_t *distance; ///< [phase * tins + tin] to the destination at hand, UINT16_MAX: none
    uint32_t *queue;    ///< of such states, and a place more
};

/// Breadth first over the intact Clique.
static void rank_tins(struct escape *e) {
    const struct weft_dragonfly *f = e->b->f;
    uint32_t n = 1;
    memset(e->rank, 0xff, f->tins * sizeof *e->rank);
    e->rank[0] = 0;
    e->queue[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t ports = f->tin[e->queue[i]].local | f->tin[e->queue[i]].global; ports; ports &= ports - 1) {
            uint32_t to = f->tin[e->queue[i]].peer[__builtin_ctzll(ports)];
            if (e->rank[to] != UINT32_MAX) continue;
            e->rank[to] = n;
            e->queue[n++] = to;
        }
    for (uint32_t x = 0; x < f->tins; x++)
        for (uint64_t ports = f->tin[x].local | f->tin[x].global; ports; ports &= ports - 1)
            if (e->rank[f->tin[x].peer[__builtin_ctzll(ports)]] < e->rank[x]) e->up[x] |= ports & -ports;
}

/// A state is noted if it is new. Without a branch, which could not be foreseen.
static inline uint32_t reach_state(struct escape *e, uint32_t state, uint32_t distance, uint32_t filled) {
    bool is_new = e->distance[state] == UINT16_MAX;
    e->distance[state] = (uint16_t)(is_new ? distance : e->distance[state]);
    e->queue[filled] = state;
    return filled + is_new;
}

/// From a state back to those before it.
static uint32_t step_back(struct escape *e, uint32_t state, uint32_t filled) {
    const struct weft_dragonfly *f = e->b->f;
    bool down = state >= f->tins; // the cell that is here has come down
    uint32_t x = down ? state - f->tins : state, distance = e->distance[state] + 1u;
    const uint16_t *peer = f->tin[x].peer;
    for (uint64_t ports = e->b->live[x] & (down ? e->up[x] : ~e->up[x]); ports; ports &= ports - 1) {
        uint32_t from = peer[__builtin_ctzll(ports)];
        filled = reach_state(e, from, distance, filled);
        if (down) filled = reach_state(e, f->tins + from, distance, filled); // down after up or down; up after up
    }
    return filled;
}

static void search_from(struct escape *e, uint32_t d) {
    uint32_t tins = e->b->f->tins, filled = 2;
    memset(e->distance, 0xff, 2 * tins * sizeof *e->distance);
    e->queue[0] = d;
    e->queue[1] = tins + d;
    e->distance[d] = e->distance[tins + d] = 0;
    for (uint32_t i = 0; i < filled; i++)
        filled = step_back(e, e->queue[i], filled);
}

/// Of ports that lead to states of one phase, those from which there is a way, and of these, by the phase here, those
/// from which it is the shortest.
struct onward {
    uint64_t all, shortest[2];
};
static inline struct onward look_on(uint64_t ports, const uint16_t *peer, const uint16_t *distance,
                                    const uint32_t here[2]) {
    struct onward on = {0};
    for (; ports; ports &= ports - 1) {
        uint32_t there = distance[peer[__builtin_ctzll(ports)]];
        uint64_t port = ports & -ports;
        on.all |= there != UINT16_MAX ? port : 0;
        on.shortest[0] |= there + 1 == here[0] ? port : 0;
        on.shortest[1] |= there + 1 == here[1] ? port : 0;
    }
    return on;
}

/// By phase: ports to states one nearer, and then ports to all other states from which it is reached: as ways only go
/// up and then down, none of them comes back.
static void ways_on(const struct escape *e, uint32_t x, struct weft_gnet_escape ret_set[4]) {
    const struct weft_dragonfly *f = e->b->f;
    const uint16_t *up = e->distance, *down = &e->distance[f->tins], *peer = f->tin[x].peer;
    uint32_t here[2] = {up[x], down[x]};
    struct onward ups = look_on(e->b->live[x] & e->up[x], peer, up, here),
                  downs = look_on(e->b->live[x] & ~e->up[x], peer, down, here);
    memset(ret_set, 0, 4 * sizeof *ret_set);
    for (uint32_t phase = 0; phase < 2; phase++, ups = (struct onward){0}) { // what has come down goes up no more
        if (here[phase] == UINT16_MAX || !here[phase]) continue;
        uint64_t rise = ups.shortest[phase], sink = downs.shortest[phase];
        ret_set[phase] = (struct weft_gnet_escape){rise, sink};
        ret_set[phase + 2] = (struct weft_gnet_escape){ups.all & ~rise, downs.all & ~sink};
    }
}

static void fill_escapes(struct escape *e) {
    const struct weft_dragonfly *f = e->b->f;
    for (uint32_t x = 0; x < f->tins; x++) {
        e->b->r->tin[x].escape_of = weft_arena_alloc(e->b->r->arena, 4 * (size_t)f->tins, sizeof(uint16_t));
        weft__gnet_sets_init(&e->b->sets[x]);
    }
    for (uint32_t d = 0; d < f->tins; d++) {
        search_from(e, d);
        for (uint32_t x = 0; x < f->tins; x++) {
            struct weft_gnet_escape set[4];
            ways_on(e, x, set);
            for (uint32_t row = 0; row < 4; row++)
                e->b->r->tin[x].escape_of[row * f->tins + d] =
                    weft__gnet_sets_add(&e->b->sets[x], (struct weft_gnet_set){set[row].up, set[row].down});
        }
    }
    for (uint32_t x = 0; x < f->tins; x++) {
        struct weft_gnet_tin_routes *own = &e->b->r->tin[x];
        own->escapes = e->b->sets[x].n;
        own->escape = weft_arena_alloc(e->b->r->arena, own->escapes, sizeof *own->escape);
        for (uint32_t i = 0; i < own->escapes; i++)
            own->escape[i] = (struct weft_gnet_escape){e->b->sets[x].set[i].minimal, e->b->sets[x].set[i].nonminimal};
        weft__gnet_sets_deinit(&e->b->sets[x]);
    }
}

void weft__gnet_escape(const struct weft__gnet_build *b) {
    uint32_t tins = b->f->tins;
    struct escape e = {b, weft_memory_new(KIND, tins, sizeof *e.rank), weft_memory_new(KIND, tins, sizeof *e.up),
                       weft_memory_new(KIND, 2 * (size_t)tins, sizeof *e.distance),
                       weft_memory_new(KIND, 2 * (size_t)tins + 1, sizeof *e.queue)};
    rank_tins(&e);
    fill_escapes(&e);
    weft_memory_free(KIND, e.rank, tins * sizeof *e.rank);
    weft_memory_free(KIND, e.up, tins * sizeof *e.up);
    weft_memory_free(KIND, e.distance, 2 * (size_t)tins * sizeof *e.distance);
    weft_memory_free(KIND, e.queue, (2 * (size_t)tins + 1) * sizeof *e.queue);
}
