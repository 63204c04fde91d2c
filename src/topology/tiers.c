// SPDX-License-Identifier: Apache-2.0
// Builds two and three layers of switches. Node order: an access switch and its hosts side by side; the aggregation
// switches spread over their pod and the core switches over everything, so that any contiguous part of the order has
// its share of each. With rails, the GPUs of a server follow one another all the same.
// Ports: an access switch has its hosts first, then its uplinks; an aggregation switch its access
// switches first; a core switch the pods in order. Parallel links are neighbours.
#include <stdio.h>

#include "topology/builder.h"

struct numbers {
    uint32_t *access, *aggregation, *core; // node numbers
    uint64_t cores, accesses;              // placed so far
};

static uint32_t add(struct weft_topology_builder *b, enum weft_node_role role, const char *layer, uint8_t tier,
                    uint64_t pod, uint64_t number) {
    char name[64];
    snprintf(name, sizeof name, "%s-%llu", layer, (unsigned long long)number);
    return weft_topology_add_node(b, role, layer, tier, (uint32_t)pod, name);
}

/// How many of `total` things stand in the order once `done` of `units` have been placed, when spread evenly.
static uint64_t due(uint64_t total, uint64_t done, uint64_t units) {
    return total * done / units;
}

static void add_pod(const struct weft__tiers *s, uint64_t pod, struct weft_topology_builder *b, struct numbers *n) {
    uint64_t label = s->core ? pod : WEFT_NONE, aggregations = 0;
    for (uint64_t a = 0; a < s->access; a++) {
        uint64_t access = pod * s->access + a;
        n->access[access] = add(b, WEFT_NODE_SWITCH, s->access_layer, 1, label, access);
        for (uint64_t h = 0; h < s->hosts; h++)
            add(b, WEFT_NODE_HOST, "host", 0, label, access * s->hosts + h);
        n->accesses++;
        for (; aggregations < due(s->aggregation, a + 1, s->access); aggregations++) {
            uint64_t g = pod * s->aggregation + aggregations;
            n->aggregation[g] = add(b, WEFT_NODE_SWITCH, s->aggregation_layer, 2, label, g);
        }
        for (; n->cores < due(s->core, n->accesses, s->pods * s->access); n->cores++)
            n->core[n->cores] = add(b, WEFT_NODE_SWITCH, s->core_layer, 3, WEFT_NONE, n->cores);
    }
}

static void connect_times(struct weft_topology_builder *b, uint32_t from, uint32_t to, uint64_t times,
                          struct weft__line line) {
    for (uint64_t i = 0; i < times; i++)
        weft__topology_connect(b, from, to, line);
}

/// The host at downlink `down` of an access switch: with rails, one GPU of the down-th server of its group.
static uint32_t host_below(const struct weft__tiers *s, const struct numbers *n, uint64_t access, uint64_t down) {
    uint64_t rails = s->rails ? s->rails : 1, rail = access % rails;
    uint64_t host = (access - rail) * s->hosts + down * rails + rail;
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
            connect_times(b, access, aggregation[g], s->access_parallel, s->access_line);
    }
    uint64_t share = s->planes ? s->core / s->aggregation : s->core;
    for (uint64_t g = 0; g < s->aggregation; g++)
        for (uint64_t c = 0; c < share; c++)
            connect_times(b, aggregation[g], n->core[(s->planes ? g * share : 0) + c], s->core_parallel, s->core_line);
}

enum weft_status weft__tiers_build(const struct weft__tiers *s, struct weft_topology_builder *b,
                                   struct weft_error *ret_error) {
    uint64_t accesses = weft__times(s->pods, s->access), aggregations = weft__times(s->pods, s->aggregation);
    uint64_t hosts = weft__times(accesses, s->hosts);
    uint64_t uplinks = weft__times(weft__times(accesses, s->aggregation), s->access_parallel);
    uint64_t core_links =
        weft__times(weft__times(aggregations, s->planes ? s->core / s->aggregation : s->core), s->core_parallel);
    uint64_t nodes, links;
    if (__builtin_add_overflow(hosts, accesses, &nodes) || __builtin_add_overflow(nodes, aggregations, &nodes) ||
        __builtin_add_overflow(nodes, s->core, &nodes))
        nodes = UINT64_MAX;
    if (__builtin_add_overflow(hosts, uplinks, &links) || __builtin_add_overflow(links, core_links, &links))
        links = UINT64_MAX;
    enum weft_status status = weft__topology_check_size(b, nodes, links, ret_error);
    if (status) return status;
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
