// SPDX-License-Identifier: Apache-2.0
// A division in two by METIS (Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular
// graphs", SIAM J. Sci. Comput. 20, 1998), then adjusted to the exact sizes, which METIS only approximates. Only
// bisections are used: with more parts at the same time METIS may run out of vertices half-way, and says so on standard
// output.
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cut.h"

/// Edge weights are 32 bits in Debian's METIS, and so are their sums.
#define WEIGHT_MAX (UINT64_C(1) << 28)

struct halves {
    const struct weft__cut *cut;
    uint32_t *unit, n;
    uint32_t *place; ///< [units of the graph]: place in `unit`; WEFT_NONE: not in it
    idx_t *part;     ///< [n], 0 left, 1 right
    struct weft_arena *arena;
};

static weft_bytes bytes_inside(const struct halves *h, uint32_t *ret_edges) {
    weft_bytes bytes = 0;
    *ret_edges = 0;
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t e = h->cut->first[h->unit[i]]; e < h->cut->first[h->unit[i] + 1]; e++) {
            if (h->place[h->cut->edge[e].unit] == WEFT_NONE) continue;
            bytes += h->cut->edge[e].bytes;
            ++*ret_edges;
        }
    return bytes;
}

/// METIS draws from rand(), and unwinds by SIGABRT and SIGTERM, whose handlers it replaces while it runs. So only one
/// thread at a time calls it (the only lock of the whole process), and its changes are undone afterwards. When memory
/// runs out it says so on standard error, and then returns an error.
static pthread_mutex_t metis = PTHREAD_MUTEX_INITIALIZER;

struct borrowed {
    struct sigaction abort, term;
    char *random_before, random[128]; ///< as large as rand()'s own state, to get the same numbers
};

static void borrow_state(struct borrowed *b) {
    pthread_mutex_lock(&metis);
    sigaction(SIGABRT, NULL, &b->abort);
    sigaction(SIGTERM, NULL, &b->term);
    b->random_before = initstate(1, b->random, sizeof b->random);
}

static void give_back(const struct borrowed *b) {
    setstate(b->random_before);
    sigaction(SIGABRT, &b->abort, NULL);
    sigaction(SIGTERM, &b->term, NULL);
    pthread_mutex_unlock(&metis);
}

static void ask_metis(struct halves *h, uint32_t left, uint32_t seed) {
    uint32_t edges;
    weft_bytes scale = bytes_inside(h, &edges) / WEIGHT_MAX + 1;
    if (!edges) return;
    idx_t *first = weft_arena_alloc(h->arena, h->n + 1, sizeof *first);
    idx_t *to = weft_arena_alloc(h->arena, edges, sizeof *to);
    idx_t *weight = weft_arena_alloc(h->arena, edges, sizeof *weight);
    for (uint32_t i = 0, k = 0; i < h->n; i++) {
        for (uint32_t e = h->cut->first[h->unit[i]]; e < h->cut->first[h->unit[i] + 1]; e++) {
            const struct weft_placement_edge *edge = &h->cut->edge[e];
            if (h->place[edge->unit] == WEFT_NONE) continue;
            to[k] = (idx_t)h->place[edge->unit];
            weight[k++] = (idx_t)(edge->bytes / scale + 1);
        }
        first[i + 1] = (idx_t)k;
    }
    idx_t n = (idx_t)h->n, constraints = 1, parts = 2, crossing, options[METIS_NOPTIONS];
    real_t share = (real_t)left / (real_t)h->n, shares[2] = {share, 1 - share};
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)seed;
    options[METIS_OPTION_UFACTOR] = 1;
    int answer;
    do {
        struct borrowed before;
        borrow_state(&before);
        answer = METIS_PartGraphRecursive(&n, &constraints, first, to, NULL, NULL, weight, &parts, shares, NULL,
                                          options, &crossing, h->part);
        give_back(&before);
        if (answer == METIS_ERROR) raise(SIGTERM); // it arrived meanwhile, and was meant for the program
    } while (answer == METIS_ERROR);
    if (answer != METIS_OK) weft_memory_fail(); // nothing else can go wrong with this input
}

/// What unit i would save by changing sides.
static int64_t gain_of(const struct halves *h, uint32_t i) {
    int64_t gain = 0;
    for (uint32_t e = h->cut->first[h->unit[i]]; e < h->cut->first[h->unit[i] + 1]; e++) {
        uint32_t k = h->place[h->cut->edge[e].unit];
        if (k == WEFT_NONE) continue;
        gain += h->part[k] == h->part[i] ? -(int64_t)h->cut->edge[e].bytes : (int64_t)h->cut->edge[e].bytes;
    }
    return gain;
}

/// Moves units, each time the one that costs least, until `left` are on the left.
static void even_out(struct halves *h, uint32_t left) {
    uint32_t now = 0;
    for (uint32_t i = 0; i < h->n; i++)
        now += h->part[i] == 0;
    while (now != left) {
        idx_t from = now > left ? 0 : 1;
        uint32_t best = WEFT_NONE;
        int64_t best_gain = 0;
        for (uint32_t i = 0; i < h->n; i++) {
            if (h->part[i] != from) continue;
            int64_t gain = gain_of(h, i);
            if (best != WEFT_NONE && gain <= best_gain) continue;
            best = i;
            best_gain = gain;
        }
        h->part[best] = 1 - from;
        now = from ? now + 1 : now - 1;
    }
}

void weft__cut_bisect(const struct weft__cut *cut, uint32_t *unit, uint32_t n, uint32_t left, uint32_t seed) {
    struct halves h = {.cut = cut, .unit = unit, .n = n, .arena = weft_arena_new(WEFT_MEMORY_SCENARIO)};
    h.place = weft_arena_alloc(h.arena, cut->units, sizeof *h.place);
    h.part = weft_arena_alloc(h.arena, n, sizeof *h.part);
    for (uint32_t u = 0; u < cut->units; u++)
        h.place[u] = WEFT_NONE;
    for (uint32_t i = 0; i < n; i++) {
        h.place[unit[i]] = i;
        h.part[i] = i >= left; // METIS is not asked about units that do not communicate
    }
    if (n > 3) ask_metis(&h, left, seed);
    even_out(&h, left);
    uint32_t *sorted = weft_arena_alloc(h.arena, n, sizeof *sorted), k = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < n; i++)
            if (h.part[i] == side) sorted[k++] = unit[i];
    for (uint32_t i = 0; i < n; i++)
        unit[i] = sorted[i];
    weft_arena_free(h.arena);
}
