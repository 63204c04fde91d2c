// SPDX-License-Identifier: Apache-2.0
// The outcome of Cliques.
#include "base/digest.h"
#include "box/tin/tin_net.h"

const char *const weft_cell_route_names[WEFT_CELL_ROUTE_COUNT] = {
#define X(e, name) name,
    WEFT_CELL_ROUTES(X)
#undef X
};

const char *const weft_cell_end_names[WEFT_CELL_END_COUNT] = {
#define X(e, name) name,
    WEFT_CELL_ENDS(X)
#undef X
};

void *weft__clique_outcome_new(struct weft_outcome *outcome, const struct weft_topology *t) {
    struct weft_arena *arena = outcome->arena;
    struct weft_clique_outcome *o = weft_arena_alloc(arena, 1, sizeof *o);
    o->sum.seen = weft_arena_alloc(arena, 1, sizeof *o->sum.seen);
    o->tin = weft_arena_alloc(arena, t->nodes, sizeof *o->tin);
    o->gnet_port = weft_arena_alloc(arena, t->ports, sizeof *o->gnet_port);
    o->cells = weft_arena_alloc(arena, 1, sizeof *o->cells);
    o->cells->suspect = WEFT_NONE;
    // The round trip measures the fabric of a Clique, so every run has it.
    outcome->round_trip = weft_arena_alloc(arena, WEFT_PRIORITIES, sizeof *outcome->round_trip);
    return o;
}

/// For a rarely used histogram: a number that no counter of a TiN has.
static size_t histogram_place(size_t offset) {
    return offsetof(struct weft_tin_outcome, seen) +
           offset / sizeof(struct weft_histogram) * WEFT__DIGEST_BANDS * sizeof(uint64_t);
}

uint64_t weft__clique_outcome_mix(uint64_t digest, const void *part) {
    const struct weft_tin_outcome *tin = &((const struct weft_clique_outcome *)part)->sum;
#define X(field, type, help) digest = weft__digest_mix(digest, tin->field);
    WEFT_TIN_ALWAYS(X)
    WEFT_TIN_WATERMARKS(X)
#undef X
#define X(field, type, help)                                                                                           \
    digest = weft__digest_mix_used(digest, offsetof(struct weft_tin_outcome, field), tin->field);
    WEFT_TIN_OPTIONS(X)
#undef X
#define X(field, type, unit, help) digest = weft__digest_mix_histogram(digest, &tin->seen->field);
    WEFT_TIN_HISTOGRAMS_ALWAYS(X)
#undef X
#define X(field, type, unit, help)                                                                                     \
    digest = weft__digest_mix_used_histogram(digest, histogram_place(offsetof(struct weft_tin_histograms, field)),     \
                                             &tin->seen->field);
    WEFT_TIN_HISTOGRAMS_OPTIONS(X)
#undef X
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++)
        digest = weft__digest_mix(digest, tin->hops[h]);
    for (uint32_t c = 0; c < WEFT_TIN_CELL_TYPES; c++)
        digest = weft__digest_mix(digest, tin->cells[c]);
    return digest;
}
