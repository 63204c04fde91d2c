// SPDX-License-Identifier: Apache-2.0
// Which free servers are near each other. A rack is the servers on the same set of switches: one switch, if all GPUs of
// a server are on it; with rails, one per rail, which is also called a rail group or a scalable unit (NVIDIA, "DGX
// SuperPOD reference architecture": 32 servers on 8 leaf switches). Zones are formed from pods in the same manner.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "job.h"
#include "weft/dragonfly.h"
#include "weft/placement.h"

uint32_t weft__placement_switch(const struct weft_topology *t, uint32_t host) {
    return t->port[weft_topology_port(t, t->host[host], 0)->peer].node;
}

/// A host's switch, preceded by its pod, so that no two pods share a switch.
static uint64_t switch_key(const struct weft_topology *t, uint32_t host) {
    return (uint64_t)t->node[t->host[host]].pod << 32 | weft__placement_switch(t, host);
}

uint64_t weft__placement_pod(const struct weft_topology *t, uint32_t host) {
    uint32_t pod = t->node[t->host[host]].pod;
    return pod == WEFT_NONE ? switch_key(t, host) : pod;
}

typedef uint64_t key_fn(const struct weft_topology *t, uint32_t host);

/// The set of the keys of hosts, as a list of `n`: ascending, padded by repeating its last one.
static void make_set(const struct weft_topology *t, const uint32_t *host, uint32_t n, key_fn *key, uint64_t *ret_set) {
    uint32_t different = 0;
    for (uint32_t g = 0; g < n; g++)
        ret_set[g] = key(t, host[g]);
    qsort(ret_set, n, sizeof *ret_set, weft__by_u64);
    for (uint32_t g = 0; g < n; g++)
        if (!different || ret_set[g] != ret_set[different - 1]) ret_set[different++] = ret_set[g];
    for (uint32_t g = different; g < n; g++)
        ret_set[g] = ret_set[different - 1];
}

/// The number of the last of `list`, *n sets of `size` so far; appended if it is new.
static uint32_t number_of_last(const uint64_t *list, uint32_t *n, uint32_t size) {
    const uint64_t *last = &list[(size_t)*n * size];
    for (uint32_t i = *n; i-- > 0;)
        if (!memcmp(&list[(size_t)i * size], last, size * sizeof *last)) return i;
    return (*n)++;
}

/// GPUs with the same key in every server get one number.
static uint32_t *find_rails(const struct weft_placement_problem *p, const struct weft_topology *t, uint32_t gpus,
                            key_fn *key, struct weft_arena *arena) {
    uint32_t *rail = weft_arena_alloc(arena, gpus, sizeof *rail);
    for (uint32_t g = 0; g < gpus; g++)
        for (rail[g] = 0; rail[g] < g; rail[g]++) {
            uint32_t s = 0;
            while (s < p->slots && key(t, p->slot[s].host[g]) == key(t, p->slot[s].host[rail[g]]))
                s++;
            if (s == p->slots) break;
        }
    return rail;
}

/// All servers of a Clique are a block, elsewhere those of a zone (Aquila, NSDI 2022, section 2).
static void number_blocks(struct weft_placement_problem *p, const struct weft_topology *t, struct weft_arena *scratch) {
    const struct weft_dragonflies *cliques = weft_dragonflies_new(t, scratch);
    uint64_t *block = weft_arena_alloc(scratch, p->slots, sizeof *block);
    for (uint32_t s = 0; s < p->slots; s++) {
        uint32_t clique =
            cliques->n ? cliques->fabric_of_node[weft__placement_switch(t, p->slot[s].host[0])] : WEFT_NONE;
        p->cliques |= clique != WEFT_NONE;
        block[p->blocks] = clique == WEFT_NONE ? p->slot[s].zone : (uint64_t)clique + 1 + UINT32_MAX;
        p->slot[s].block = number_of_last(block, &p->blocks, 1);
    }
}

void weft__placement_number(struct weft_placement_problem *p, const struct weft_topology *t, uint32_t gpus,
                            struct weft_arena *arena) {
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    uint64_t *zone = weft_arena_alloc(scratch, (size_t)p->slots * gpus, sizeof *zone);
    uint64_t *rack = weft_arena_alloc(scratch, (size_t)p->slots * gpus, sizeof *rack);
    for (uint32_t s = 0; s < p->slots; s++) {
        struct weft_placement_slot *slot = &p->slot[s];
        make_set(t, slot->host, gpus, weft__placement_pod, &zone[(size_t)p->zones * gpus]);
        make_set(t, slot->host, gpus, switch_key, &rack[(size_t)p->racks * gpus]);
        p->rails |= rack[(size_t)p->racks * gpus] != rack[(size_t)p->racks * gpus + gpus - 1];
        slot->zone = number_of_last(zone, &p->zones, gpus);
        slot->rack = number_of_last(rack, &p->racks, gpus);
    }
    number_blocks(p, t, scratch);
    weft_arena_free(scratch);
    p->zone_rail = find_rails(p, t, gpus, weft__placement_pod, arena);
    p->rack_rail = find_rails(p, t, gpus, switch_key, arena);
}
