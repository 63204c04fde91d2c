// SPDX-License-Identifier: Apache-2.0
// The switches of a topology and the links between them, in a compact form for searching.
#pragma once

#include "weft/topology.h"
#include "weft/types.h"

struct weft__graph {
    uint32_t switches, arcs;
    uint32_t *first; ///< [switches + 1]: arcs of switch s are first[s] .. first[s + 1] - 1, by port
    struct weft__arc {
        uint32_t to; ///< switch index
        uint32_t link;
        uint16_t port;  ///< the port by which it leaves its switch
        bool preferred; ///< see weft_link_info
    } * arc;
};

/// Omits links marked in `down` (NULL: none).
void weft__graph_init(struct weft__graph *g, const struct weft_topology *t, const bool *down);
void weft__graph_deinit(struct weft__graph *g);
/// Writes the hops from `source` to every switch (WEFT_NONE: not reachable) to hops[switches], and the reached switches
/// in order of hops to order[switches]. Returns how many were reached.
uint32_t weft__graph_search(const struct weft__graph *g, uint32_t source, uint32_t *hops, uint32_t *order);

// Maximum flow on a small directed graph.
struct weft__flow;
struct weft__flow *weft__flow_new(uint32_t nodes);
void weft__flow_free(struct weft__flow *f);
/// `back`: capacity of the other direction.
void weft__flow_connect(struct weft__flow *f, uint32_t from, uint32_t to, uint64_t capacity, uint64_t back);
/// Call it once per graph. The sum of capacities out of `source` must fit in 64 bits.
uint64_t weft__flow_max(struct weft__flow *f, uint32_t source, uint32_t sink);

// Switches that may be swapped without changing the network, because each has the same neighbours over the same links:
// for example the access switches of a pod. What is true of one is true of the other.
/// For each switch, the first of its twins (maybe itself), into ret_first[switches]. Twins have equal keys (key_bytes
/// per switch) and links of equal sorts, sort[link].
void weft__equal_switches_find(const struct weft__graph *g, const void *key, size_t key_bytes, const uint64_t *sort,
                               uint32_t *ret_first);
