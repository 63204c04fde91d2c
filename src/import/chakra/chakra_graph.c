// SPDX-License-Identifier: Apache-2.0
// Dependencies of a trace: ids become numbers, and implied ones are omitted. A trace of PyTorch has fifty dependencies
// per node, because every synchronisation waits for all earlier nodes; one or two per node are equivalent.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/grow.h"
#include "base/order.h"
#include "import/chakra/chakra.h"
#include "import/chakra/chakra_read.h"

/// Implied dependencies are searched among this many consecutive nodes, which takes at most 32 MiB.
enum { BLOCK = 1 << 14 };

void weft__chakra_graph_clear(struct weft__chakra_graph *g) {
    g->vertices = g->deps = g->edges = 0;
}

void weft__chakra_graph_deinit(struct weft__chakra_graph *g) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->vertex, g->vertices_room * sizeof *g->vertex);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->dep, g->deps_room * sizeof *g->dep);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->edge, g->edges_room * sizeof *g->edge);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->row, g->rows_room * sizeof *g->row);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->slot, g->slots * sizeof *g->slot);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->list, g->list_room * sizeof *g->list);
}

static void add_deps(struct weft__chakra_graph *g, const uint64_t *dep, size_t n) {
    if (!n) return;
    g->dep = weft__memory_grow_to(g->dep, g->deps + n, &g->deps_room, sizeof *g->dep);
    memcpy(g->dep + g->deps, dep, n * sizeof *dep);
    g->deps += n;
}

void weft__chakra_graph_add(struct weft__chakra_graph *g, const struct weft__chakra_node *node, bool ctrl_deps) {
    g->vertex = weft__memory_grow_to(g->vertex, g->vertices + 1, &g->vertices_room, sizeof *g->vertex);
    g->vertex[g->vertices++] = (struct weft__chakra_vertex){node->id, node->at, g->deps, (uint32_t)node->n_data_deps};
    add_deps(g, node->data_deps, node->n_data_deps);
    if (ctrl_deps) add_deps(g, node->ctrl_deps, node->n_ctrl_deps);
}

// --- ids ----------------------------------------------------------------------------------------------------------

static uint32_t *slot_of(const struct weft__chakra_graph *g, uint64_t id) {
    uint64_t hash = id * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (g->slots - 1);
    while (g->slot[at] && g->vertex[g->slot[at] - 1].id != id)
        at = (at + 1) & (g->slots - 1);
    return &g->slot[at];
}

static enum weft_status number_all(struct weft__chakra_graph *g, const struct weft__chakra_reader *r,
                                   struct weft_error *ret_error) {
    char where[32];
    size_t slots = g->slots ? g->slots : 64;
    while (slots < 2 * g->vertices)
        slots *= 2;
    if (slots != g->slots) {
        weft_memory_free(WEFT_MEMORY_SCENARIO, g->slot, g->slots * sizeof *g->slot);
        g->slot = weft_memory_new(WEFT_MEMORY_SCENARIO, slots, sizeof *g->slot);
        g->slots = slots;
    } else {
        memset(g->slot, 0, slots * sizeof *g->slot);
    }
    for (uint32_t i = 0; i < g->vertices; i++) {
        uint32_t *slot = slot_of(g, g->vertex[i].id);
        if (*slot)
            return weft__chakra_fail(r, g->vertex[i].at, ret_error,
                                     "a second node with the id %" PRIu64 "; the first one is at %s", g->vertex[i].id,
                                     weft__chakra_where(r, g->vertex[*slot - 1].at, where, sizeof where));
        *slot = i + 1;
    }
    return WEFT_OK;
}

/// Adds what vertex i waits for to the list: later ones first.
static enum weft_status find_deps(struct weft__chakra_graph *g, uint32_t i, size_t *ret_n,
                                  const struct weft__chakra_reader *r, struct weft_error *ret_error) {
    const struct weft__chakra_vertex *v = &g->vertex[i];
    size_t end = i + (size_t)1 < g->vertices ? v[1].dep0 : g->deps, n = 0;
    g->list = weft__memory_grow_to(g->list, end - v->dep0, &g->list_room, sizeof *g->list);
    for (size_t k = v->dep0; k < end; k++) {
        uint32_t slot = *slot_of(g, g->dep[k]);
        bool data = k - v->dep0 < v->data;
        if (!slot && data)
            return weft__chakra_fail(r, v->at, ret_error,
                                     "node %" PRIu64 " waits for data of node %" PRIu64 ", which is not there", v->id,
                                     g->dep[k]);
        if (slot)
            g->list[n++] = slot - 1;
        else
            g->absent++;
    }
    *ret_n = n;
    return WEFT_OK;
}

// --- edges --------------------------------------------------------------------------------------------------------

WEFT__ORDER(later_first, uint32_t, (*x < *y) - (*x > *y))

static uint64_t *row_of(const struct weft__chakra_graph *g, uint32_t i, uint32_t words) {
    return g->row + (size_t)(i % BLOCK) * words;
}

/// Edges to vertex i. A predecessor in the same block is implied if another predecessor waits for it. `words`: per row.
static void add_edges(struct weft__chakra_graph *g, uint32_t i, size_t n, uint32_t words) {
    uint64_t *own = row_of(g, i, words);
    memset(own, 0, words * sizeof *own);
    if (n) qsort(g->list, n, sizeof *g->list, later_first);
    for (size_t k = 0; k < n; k++) {
        uint32_t from = g->list[k];
        bool near = from < i && from / BLOCK == i / BLOCK;
        if ((k && from == g->list[k - 1]) || (near && weft__bits_has(own, from % BLOCK))) {
            g->implied++;
            continue;
        }
        g->edge = weft__memory_grow_to(g->edge, g->edges + 1, &g->edges_room, sizeof *g->edge);
        g->edge[g->edges++] = (struct weft_schedule_pair){from, i};
        if (!near) continue;
        const uint64_t *before = row_of(g, from, words);
        for (uint32_t w = 0; w < words; w++)
            own[w] |= before[w];
        weft__bits_set(own, from % BLOCK);
    }
}

enum weft_status weft__chakra_graph_connect(struct weft__chakra_graph *g, const struct weft__chakra_reader *r,
                                            struct weft_error *ret_error) {
    uint32_t rows = g->vertices < BLOCK ? (uint32_t)g->vertices : BLOCK, words = weft__bits_words(rows);
    enum weft_status status = number_all(g, r, ret_error);
    g->row = weft__memory_grow_to(g->row, (size_t)rows * words, &g->rows_room, sizeof *g->row);
    for (uint32_t i = 0; i < g->vertices && !status; i++) {
        size_t n = 0;
        status = find_deps(g, i, &n, r, ret_error);
        if (!status) add_edges(g, i, n, words);
    }
    return status;
}
