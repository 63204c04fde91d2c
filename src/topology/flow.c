// SPDX-License-Identifier: Apache-2.0
// Dinic's algorithm ("Algorithm for solution of a problem of maximum flow in networks with power estimation", Soviet
// Math. Doklady 1970): blocking flows on the levels of a breadth-first search, without recursion because a listed
// network may be a long chain.
#include "topology/graph.h"

#include "base/grow.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

struct weft__flow {
    uint32_t nodes, arcs, capacity;
    struct arc {
        uint64_t left; ///< unused capacity
        uint32_t to, next;
    } * arc;                 ///< arc a and a ^ 1 are the two directions
    uint32_t *first;         ///< [nodes]: head of the list of arcs
    uint32_t *current;       ///< [nodes]: first arc not yet known to be useless on this level graph
    uint32_t *level, *queue; ///< [nodes]
    uint32_t *path;          ///< [nodes]: arcs from the source to here
};

struct weft__flow *weft__flow_new(uint32_t nodes) {
    struct weft__flow *f = weft_memory_new(KIND, 1, sizeof *f);
    f->nodes = nodes;
    f->first = weft_memory_new(KIND, 5 * (size_t)nodes, sizeof *f->first);
    f->current = f->first + nodes;
    f->level = f->current + nodes;
    f->queue = f->level + nodes;
    f->path = f->queue + nodes;
    for (uint32_t n = 0; n < nodes; n++)
        f->first[n] = WEFT_NONE;
    return f;
}

void weft__flow_free(struct weft__flow *f) {
    weft_memory_free(KIND, f->first, 5 * (size_t)f->nodes * sizeof *f->first);
    weft_memory_free(KIND, f->arc, f->capacity * sizeof *f->arc);
    weft_memory_free(KIND, f, sizeof *f);
}

void weft__flow_connect(struct weft__flow *f, uint32_t from, uint32_t to, uint64_t capacity, uint64_t back) {
    f->arc = weft__memory_double(KIND, f->arc, f->arcs + 1, &f->capacity, 256, sizeof *f->arc); // for two
    f->arc[f->arcs] = (struct arc){capacity, to, f->first[from]};
    f->first[from] = f->arcs++;
    f->arc[f->arcs] = (struct arc){back, from, f->first[to]};
    f->first[to] = f->arcs++;
}

static bool find_levels(struct weft__flow *f, uint32_t source, uint32_t sink) {
    for (uint32_t n = 0; n < f->nodes; n++) {
        f->level[n] = WEFT_NONE;
        f->current[n] = f->first[n];
    }
    uint32_t filled = 1;
    f->level[source] = 0;
    f->queue[0] = source;
    for (uint32_t i = 0; i < filled; i++) {
        uint32_t n = f->queue[i];
        for (uint32_t a = f->first[n]; a != WEFT_NONE; a = f->arc[a].next)
            if (f->arc[a].left && f->level[f->arc[a].to] == WEFT_NONE) {
                f->level[f->arc[a].to] = f->level[n] + 1;
                f->queue[filled++] = f->arc[a].to;
            }
    }
    return f->level[sink] != WEFT_NONE;
}

/// Sends what the path can carry and returns how much of the path is still open.
static uint32_t augment_path(struct weft__flow *f, uint32_t length, uint64_t *total) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < length; i++)
        if (f->arc[f->path[i]].left < least) least = f->arc[f->path[i]].left;
    uint32_t open = length;
    for (uint32_t i = length; i-- > 0;) {
        f->arc[f->path[i]].left -= least;
        f->arc[f->path[i] ^ 1].left += least;
        if (!f->arc[f->path[i]].left) open = i;
    }
    *total += least;
    return open;
}

static uint64_t blocking_flow(struct weft__flow *f, uint32_t source, uint32_t sink) {
    uint64_t total = 0;
    uint32_t length = 0, n = source;
    for (;;) {
        if (n == sink) {
            length = augment_path(f, length, &total);
            n = length ? f->arc[f->path[length - 1]].to : source;
        }
        uint32_t a = f->current[n];
        while (a != WEFT_NONE && !(f->arc[a].left && f->level[f->arc[a].to] == f->level[n] + 1))
            a = f->arc[a].next;
        f->current[n] = a;
        if (a != WEFT_NONE) {
            f->path[length++] = a;
            n = f->arc[a].to;
        } else if (n == source) {
            return total;
        } else { // a dead end: go back, and do not come here again
            f->level[n] = WEFT_NONE;
            n = f->arc[f->path[--length] ^ 1].to;
        }
    }
}

uint64_t weft__flow_max(struct weft__flow *f, uint32_t source, uint32_t sink) {
    uint64_t total = 0;
    while (find_levels(f, source, sink))
        total += blocking_flow(f, source, sink);
    return total;
}
