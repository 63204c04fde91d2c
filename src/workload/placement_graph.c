// SPDX-License-Identifier: Apache-2.0
// Who communicates with whom between servers, and how much of it crosses racks and zones.
#include <stdlib.h>

#include "base/order.h"
#include "job.h"
#include "weft/placement.h"

void weft_placement_hosts(const struct weft_job *job, const uint32_t *slot, uint32_t *ret_host, uint32_t *ret_gpu) {
    uint32_t gpus = (uint32_t)job->server.gpus;
    for (uint32_t r = 0; r < job->ranks; r++) {
        ret_host[r] = job->places->slot[slot[r / gpus]].host[r % gpus];
        ret_gpu[r] = job->places->slot[slot[r / gpus]].gpu[r % gpus];
    }
}

/// The bytes of a connection per iteration; for a schedule, which has no iterations, in total.
static weft_bytes bytes_of(const struct weft_job *job, const struct weft_connection *c) {
    return c->bytes / (job->iterations ? job->iterations : 1);
}

struct pair {
    uint32_t a, b;
    weft_bytes bytes, rack_bytes;
};

WEFT__ORDER(by_units, struct pair, WEFT__UP(a) ?: WEFT__UP(b))

/// The part that placement can keep within a pod, or at a switch: data for another rail leaves it wherever the two
/// units are.
static struct pair pair_of(const struct weft_job *job, const struct weft_connection *c) {
    uint32_t gpus = (uint32_t)job->server.gpus, from = c->src % gpus, to = c->dst % gpus;
    const struct weft_placement_problem *p = job->places;
    weft_bytes bytes = bytes_of(job, c);
    return (struct pair){c->src / gpus, c->dst / gpus, p->zone_rail[from] == p->zone_rail[to] ? bytes : 0,
                         p->rack_rail[from] == p->rack_rail[to] ? bytes : 0};
}

/// Both directions together, each pair of units once; returns how many.
static uint32_t find_pairs(const struct weft_job *job, struct pair *list) {
    uint32_t n = 0, merged = 0;
    for (uint32_t i = 0; i < job->connections; i++) {
        struct pair pair = pair_of(job, &job->connection[i]);
        if (pair.a == pair.b || !pair.bytes) continue;
        list[n++] = pair;
        list[n++] = (struct pair){pair.b, pair.a, pair.bytes, pair.rack_bytes};
    }
    if (n) qsort(list, n, sizeof *list, by_units);
    for (uint32_t i = 0; i < n; i++) {
        if (merged && !by_units(&list[merged - 1], &list[i])) {
            list[merged - 1].bytes += list[i].bytes;
            list[merged - 1].rack_bytes += list[i].rack_bytes;
        } else {
            list[merged++] = list[i];
        }
    }
    return merged;
}

void weft_placement_graph(const struct weft_job *job, struct weft_arena *arena) {
    struct weft_placement_problem *p = job->places;
    size_t room = 2 * (size_t)job->connections;
    struct pair *list = weft_memory_new(WEFT_MEMORY_SCENARIO, room, sizeof *list);
    uint32_t n = find_pairs(job, list);
    p->edge = weft_arena_alloc(arena, n, sizeof *p->edge);
    for (uint32_t u = 0, i = 0; u < p->units; u++) {
        for (; i < n && list[i].a == u; i++)
            p->edge[i] = (struct weft_placement_edge){list[i].b, list[i].bytes, list[i].rack_bytes};
        p->first[u + 1] = i;
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, list, room * sizeof *list);
}

/// The slot of each host of the topology; 0 for hosts without one.
static uint32_t *find_slots(const struct weft_job *job, const struct weft_topology *t) {
    uint32_t *slot_of = weft_memory_new(WEFT_MEMORY_SCENARIO, t->hosts, sizeof *slot_of);
    for (uint32_t s = 0; s < job->places->slots; s++)
        for (uint32_t g = 0; g < job->server.gpus; g++)
            slot_of[job->places->slot[s].host[g]] = s;
    return slot_of;
}

static void add_connection(const struct weft_topology *t, uint32_t src, uint32_t dst, weft_bytes bytes,
                           weft_bytes *sends, weft_bytes *receives, struct weft_placement_cost *cost) {
    cost->bytes += bytes;
    if (weft__placement_switch(t, src) != weft__placement_switch(t, dst)) cost->rack_bytes += bytes;
    if (weft__placement_pod(t, src) == weft__placement_pod(t, dst)) return;
    cost->zone_bytes += bytes;
    *sends += bytes;
    *receives += bytes;
}

/// How many different zones, racks and blocks the ranks are in.
static void count_used(const struct weft_job *job, const uint32_t *slot_of, const uint32_t *host,
                       struct weft_placement_cost *cost) {
    const struct weft_placement_problem *p = job->places;
    bool *zone = weft_memory_new(WEFT_MEMORY_SCENARIO, p->zones, sizeof *zone);
    bool *rack = weft_memory_new(WEFT_MEMORY_SCENARIO, p->racks, sizeof *rack);
    bool *block = weft_memory_new(WEFT_MEMORY_SCENARIO, p->blocks, sizeof *block);
    for (uint32_t r = 0; r < job->ranks; r++) {
        const struct weft_placement_slot *slot = &p->slot[slot_of[host[r]]];
        cost->zones += !zone[slot->zone];
        cost->racks += !rack[slot->rack];
        cost->blocks += !block[slot->block];
        zone[slot->zone] = rack[slot->rack] = block[slot->block] = true;
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, zone, p->zones * sizeof *zone);
    weft_memory_free(WEFT_MEMORY_SCENARIO, rack, p->racks * sizeof *rack);
    weft_memory_free(WEFT_MEMORY_SCENARIO, block, p->blocks * sizeof *block);
}

struct weft_placement_cost weft_placement_cost(const struct weft_job *job, const struct weft_topology *topology,
                                               const uint32_t *host) {
    const struct weft_placement_problem *p = job->places;
    struct weft_placement_cost cost = {0};
    uint32_t *slot_of = find_slots(job, topology);
    weft_bytes *zone = weft_memory_new(WEFT_MEMORY_SCENARIO, 2 * (size_t)p->zones, sizeof *zone); // sent, received
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        uint32_t src = host[c->src], dst = host[c->dst], from = slot_of[src], to = slot_of[dst];
        if (p->slot[from].block != p->slot[to].block) cost.block_bytes += bytes_of(job, c);
        if (from != to)
            add_connection(topology, src, dst, bytes_of(job, c), &zone[2 * (size_t)p->slot[from].zone],
                           &zone[2 * (size_t)p->slot[to].zone + 1], &cost);
    }
    for (size_t i = 0; i < 2 * (size_t)p->zones; i++)
        if (zone[i] > cost.zone_bytes_max) cost.zone_bytes_max = zone[i];
    count_used(job, slot_of, host, &cost);
    weft_memory_free(WEFT_MEMORY_SCENARIO, zone, 2 * (size_t)p->zones * sizeof *zone);
    weft_memory_free(WEFT_MEMORY_SCENARIO, slot_of, topology->hosts * sizeof *slot_of);
    return cost;
}
