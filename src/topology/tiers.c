// SPDX-License-Identifier: Apache-2.0
// Builds two and three layers of switches. Node order: an access switch is followed by its hosts; the aggregation
// switches are spread over their pod and the core switches over the whole network, so that any contiguous part of the
// order has its share of each. With rails, the GPUs of a server are still consecutive.
// Ports: an access switch has its hosts first, then its uplinks; an aggregation switch has its access switches first; a
// core switch has the pods in order. Parallel links are adjacent.
#include "topology/builder.h"

struct numbers {
    uint32_t *access, *aggregation, *core; // node numbers
    uint64_t cores, accesses;              // placed so far
};

static void add_pod(const struct weft__tiers *s, uint64_t pod, struct weft_topology_builder *b, struct numbers *n) {
    uint32_t label = s->core ? (uint32_t)pod : WEFT_NONE;
    uint64_t aggregations = 0;
    for (uint64_t a = 0; a < s->access; a++) {
        uint64_t access = pod * s->access + a;
        n->access[access] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, s->access_layer, 1, label, access);
        for (uint64_t h = 0; h < s->hosts; h++)
            weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, label, access * s->hosts + h);
        n->accesses++;
        for (; aggregations < weft__due(s->aggregation, a + 1, s->access); aggregations++) {
            uint64_t g = pod * s->aggregation + aggregations;
            n->aggregation[g] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, s->aggregation_layer, 2, label, g);
        }
        for (; n->cores < weft__due(s->core, n->accesses, s->pods * s->access); n->cores++)
            n->core[n->cores] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, s->core_layer, 3, WEFT_NONE, n->cores);
    }
}

static uint32_t host_below(const struct weft__tiers *s, const struct numbers *n, uint64_t access, uint64_t down) {
    uint64_t host = weft__rail_host(s->rails ? s->rails : 1, s->hosts, access, down);
    return n->access[host / s->hosts] + 1 + (uint32_t)(host % s->hosts);
}

static void connect_pod(const struct weft__tiers *s, uint64_t pod, struct weft_topology_builder *b,
                        const struct numbers *n) {
    const uint32_t *aggregation = &n->aggregation[pod * s->aggregation];
    for (uint64_t a = 0; a < s->access; a++) {
        uint32_t access = n->access[pod * s->access + a];
        for (uint64_t h = 0; h < s->hosts; h++)
            weft__topology_connect(b, access, host_below(s, n, pod * s->access + a, h), s->host_line);
        for (uint64_t g = 0; g < s->aggregation; g++)
            weft__topology_connect_times(b, access, aggregation[g], s->access_parallel, s->access_line);
    }
    uint64_t share = s->planes ? s->core / s->aggregation : s->core;
    for (uint64_t g = 0; g < s->aggregation; g++)
        for (uint64_t c = 0; c < share; c++)
            weft__topology_connect_times(b, aggregation[g], n->core[(s->planes ? g * share : 0) + c], s->core_parallel,
                                         s->core_line);
}

enum weft_status weft__tiers_build(const struct weft__tiers *s, struct weft_topology_builder *b,
                                   struct weft_error *ret_error) {
    uint64_t accesses = weft__times(s->pods, s->access), aggregations = weft__times(s->pods, s->aggregation);
    uint64_t hosts = weft__times(accesses, s->hosts);
    uint64_t uplinks = weft__times(weft__times(accesses, s->aggregation), s->access_parallel);
    uint64_t core_links =
        weft__times(weft__times(aggregations, s->planes ? s->core / s->aggregation : s->core), s->core_parallel);
    uint64_t nodes = weft__plus(weft__plus(hosts, accesses), weft__plus(aggregations, s->core));
    uint64_t links = weft__plus(weft__plus(hosts, uplinks), core_links);
    WEFT_TRY(weft__topology_check_size(b, nodes, links, ret_error));
    struct numbers n = {.access = weft_memory_new(WEFT_MEMORY_TOPOLOGY, accesses, sizeof(uint32_t)),
                        .aggregation = weft_memory_new(WEFT_MEMORY_TOPOLOGY, aggregations, sizeof(uint32_t)),
                        .core = weft_memory_new(WEFT_MEMORY_TOPOLOGY, s->core, sizeof(uint32_t))};
    for (uint64_t pod = 0; pod < s->pods; pod++)
        add_pod(s, pod, b, &n);
    for (uint64_t pod = 0; pod < s->pods; pod++)
        connect_pod(s, pod, b, &n);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, n.access, accesses * sizeof(uint32_t));
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, n.aggregation, aggregations * sizeof(uint32_t));
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, n.core, s->core * sizeof(uint32_t));
    return WEFT_OK;
}
