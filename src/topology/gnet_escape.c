// SPDX-License-Identifier: Apache-2.0
// Ways out for cells without a route: up*/down* routing (Schroeder et al., Autonet, 1991) with its two phases on the
// two escape VCs. Every link has an upper end, nearer to the first TiN of the intact Clique, by number where equally
// near: the order is the same in every state of the links, so tables of different states may be mixed. Cells go up any
// number of times, then down. The paper says only that escape VCs serve "certain dynamic failure avoidance scenarios".
#include <string.h>

#include "topology/gnet.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

struct escape {
    const struct weft__gnet_build *b;
    uint32_t *rank;     ///< [tins] the root has 0
    uint64_t *up;       ///< [tins] ports to lower ranks, in service or not
    uint16_t *distance; ///< [phase * tins + tin] to the destination at hand, UINT16_MAX: none
    uint32_t *queue;    ///< of such states
};

/// Breadth first over the intact Clique.
static void rank(struct escape *e) {
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

/// From a state back to those before it.
static uint32_t step_back(struct escape *e, uint32_t state, uint32_t filled) {
    const struct weft_dragonfly *f = e->b->f;
    uint32_t x = state % f->tins;
    bool down = state >= f->tins; // the cell that is here has come down
    uint64_t ports = e->b->live[x] & (down ? e->up[x] : ~e->up[x]);
    for (; ports; ports &= ports - 1) {
        uint32_t from = f->tin[x].peer[__builtin_ctzll(ports)];
        for (uint32_t phase = 0; phase <= down; phase++) { // down after up or down; up after up
            uint32_t before = phase * f->tins + from;
            if (e->distance[before] != UINT16_MAX) continue;
            e->distance[before] = (uint16_t)(e->distance[state] + 1);
            e->queue[filled++] = before;
        }
    }
    return filled;
}

static void search(struct escape *e, uint32_t d) {
    uint32_t tins = e->b->f->tins, filled = 2;
    memset(e->distance, 0xff, 2 * tins * sizeof *e->distance);
    e->queue[0] = d;
    e->queue[1] = tins + d;
    e->distance[d] = e->distance[tins + d] = 0;
    for (uint32_t i = 0; i < filled; i++)
        filled = step_back(e, e->queue[i], filled);
}

/// By phase: ports to states one nearer, and then ports to all other states from which it is reached: as ways only go
/// up and then down, none of them comes back.
static void ways_on(const struct escape *e, uint32_t x, struct weft_gnet_escape ret_set[4]) {
    const struct weft_dragonfly *f = e->b->f;
    const uint16_t *up = e->distance, *down = &e->distance[f->tins];
    uint32_t here[2] = {up[x], down[x]};
    memset(ret_set, 0, 4 * sizeof *ret_set);
    for (uint64_t ports = e->b->live[x]; ports; ports &= ports - 1) {
        uint32_t to = f->tin[x].peer[__builtin_ctzll(ports)];
        uint64_t port = ports & -ports;
        bool is_up = e->up[x] & port;
        uint32_t there = is_up ? up[to] : down[to];
        if (there == UINT16_MAX) continue;
        for (uint32_t phase = 0; phase < (is_up ? 1u : 2u); phase++) {
            struct weft_gnet_escape *set = &ret_set[phase + (there + 1 != here[phase] ? 2 : 0)];
            *(is_up ? &set->up : &set->down) |= port;
        }
    }
    for (uint32_t phase = 0; phase < 2; phase++)
        if (here[phase] == UINT16_MAX || !here[phase])
            ret_set[phase] = ret_set[phase + 2] = (struct weft_gnet_escape){0, 0};
}

static void fill(struct escape *e) {
    const struct weft_dragonfly *f = e->b->f;
    for (uint32_t x = 0; x < f->tins; x++) {
        e->b->r->tin[x].escape_of = weft_arena_alloc(e->b->r->arena, 4 * (size_t)f->tins, sizeof(uint16_t));
        weft__gnet_sets_init(&e->b->sets[x]);
    }
    for (uint32_t d = 0; d < f->tins; d++) {
        search(e, d);
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
                       weft_memory_new(KIND, 2 * (size_t)tins, sizeof *e.queue)};
    rank(&e);
    fill(&e);
    weft_memory_free(KIND, e.rank, tins * sizeof *e.rank);
    weft_memory_free(KIND, e.up, tins * sizeof *e.up);
    weft_memory_free(KIND, e.distance, 2 * (size_t)tins * sizeof *e.distance);
    weft_memory_free(KIND, e.queue, 2 * (size_t)tins * sizeof *e.queue);
}
