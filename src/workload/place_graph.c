// SPDX-License-Identifier: Apache-2.0
// Who talks to whom between servers, and what of it crosses racks and zones.
#include <stdlib.h>

#include "job.h"
#include "weft/place.h"

uint32_t weft__place_rack(const struct weft_topology *t, uint32_t host) {
    return t->port[weft_topology_port(t, t->host[host], 0)->peer].node;
}

void weft_place_hosts(const struct weft_job *job, const uint32_t *slot, uint32_t *ret_host) {
    uint32_t gpus = (uint32_t)job->server.gpus;
    for (uint32_t r = 0; r < job->ranks; r++)
        ret_host[r] = job->places->slot[slot[r / gpus]].host[r % gpus];
}

struct pair {
    uint32_t a, b;
    weft_bytes bytes;
};

static int by_units(const void *x, const void *y) {
    const struct pair *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/// Both ways round, each pair of units once; returns how many.
static uint32_t find_pairs(const struct weft_job *job, struct pair *list) {
    uint32_t n = 0, merged = 0, gpus = (uint32_t)job->server.gpus;
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        if (c->src / gpus == c->dst / gpus) continue;
        list[n++] = (struct pair){c->src / gpus, c->dst / gpus, c->bytes / job->iterations};
        list[n++] = (struct pair){c->dst / gpus, c->src / gpus, c->bytes / job->iterations};
    }
    if (n) qsort(list, n, sizeof *list, by_units);
    for (uint32_t i = 0; i < n; i++) {
        if (merged && !by_units(&list[merged - 1], &list[i]))
            list[merged - 1].bytes += list[i].bytes;
        else
            list[merged++] = list[i];
    }
    return merged;
}

void weft_place_graph(const struct weft_job *job, struct weft_arena *arena) {
    struct weft_place_problem *p = job->places;
    size_t room = 2 * (size_t)job->connections;
    struct pair *list = weft_memory_new(WEFT_MEMORY_SCENARIO, room, sizeof *list);
    uint32_t n = find_pairs(job, list);
    p->edge = weft_arena_alloc(arena, n, sizeof *p->edge);
    for (uint32_t u = 0, i = 0; u < p->units; u++) {
        for (; i < n && list[i].a == u; i++)
            p->edge[i] = (struct weft_place_edge){list[i].b, list[i].bytes};
        p->first[u + 1] = i;
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, list, room * sizeof *list);
}

/// Where a host is, as numbers to compare.
struct where {
    uint32_t server, rack, pod;
};

static struct where where_is(const struct weft_job *job, const struct weft_topology *t, uint32_t host) {
    uint32_t gpu, rack = weft__place_rack(t, host), pod = t->node[t->host[host]].pod;
    return (struct where){weft_server_of(&job->server, t, host, &gpu), rack, pod == WEFT_NONE ? rack : pod};
}

/// How many different ones there are; sorts them.
static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
static uint32_t count_different(uint32_t *list, uint32_t n) {
    uint32_t different = 0;
    qsort(list, n, sizeof *list, by_number);
    for (uint32_t i = 0; i < n; i++)
        different += !i || list[i] != list[i - 1];
    return different;
}

struct weft_place_cost weft_place_cost(const struct weft_job *job, const struct weft_topology *topology,
                                       const uint32_t *host) {
    struct weft_place_cost cost = {0};
    weft_bytes *zone =
        weft_memory_new(WEFT_MEMORY_SCENARIO, 2 * (size_t)topology->nodes, sizeof *zone); // sent, received
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        struct where a = where_is(job, topology, host[c->src]), b = where_is(job, topology, host[c->dst]);
        weft_bytes bytes = c->bytes / job->iterations;
        if (a.server == b.server) continue;
        cost.bytes += bytes;
        if (a.rack != b.rack) cost.rack_bytes += bytes;
        if (a.pod == b.pod) continue;
        cost.zone_bytes += bytes;
        zone[2 * (size_t)a.pod] += bytes;
        zone[2 * (size_t)b.pod + 1] += bytes;
    }
    for (size_t i = 0; i < 2 * (size_t)topology->nodes; i++)
        if (zone[i] > cost.zone_bytes_max) cost.zone_bytes_max = zone[i];
    weft_memory_free(WEFT_MEMORY_SCENARIO, zone, 2 * (size_t)topology->nodes * sizeof *zone);
    uint32_t *list = weft_memory_new(WEFT_MEMORY_SCENARIO, job->ranks, sizeof *list);
    for (uint32_t r = 0; r < job->ranks; r++)
        list[r] = where_is(job, topology, host[r]).rack;
    cost.racks = count_different(list, job->ranks);
    for (uint32_t r = 0; r < job->ranks; r++)
        list[r] = where_is(job, topology, host[r]).pod;
    cost.zones = count_different(list, job->ranks);
    weft_memory_free(WEFT_MEMORY_SCENARIO, list, job->ranks * sizeof *list);
    return cost;
}
