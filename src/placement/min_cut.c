// SPDX-License-Identifier: Apache-2.0
// Minimum cut: units over zones, at most as many as a zone has free servers, so that little traffic crosses between
// zones; then, in each zone, over racks in the same manner; in a rack in order. So neighbours in the job's graph
// (neighbours of rings and trees, weighted by what they send) are near each other in the network. Source: Meta, "RDMA
// over Ethernet for distributed AI training at Meta scale", SIGCOMM 2024, section 3, names the idea (a minimum cut over
// zones, ranks assigned by the logical position of servers) but no algorithm; this one is ours. Partitions by METIS.
// Scotch was tried too: on a graph of 256 servers (four rings of 64, neighbours joined) over rooms of 70, 90 and 96 its
// cut was 8540 with every seed, while METIS by bisections gave 8010 to 9350, so some seeds are better than either, and
// METIS has the same licence as weft.
#include "cut.h"
#include "fill.h"
#include "weft/param.h"

struct conf {
    uint64_t tries;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "min_cut", struct conf, WEFT_PARAM_UNCHECKED,
    WEFT_UINT(struct conf, tries, "tries", "8", "1", "1000", "partitions tried for each distribution over the bins"));

/// The racks of each zone, those with most free servers first.
static void list_racks(const struct weft_placement_problem *p, struct weft_arena *arena, struct weft__cut *cut) {
    uint32_t *room = weft_arena_alloc(arena, p->racks, sizeof *room),
             *zone = weft_arena_alloc(arena, p->racks, sizeof *zone);
    uint32_t *order = weft_arena_alloc(arena, p->racks, sizeof *order);
    uint32_t *first = weft_arena_alloc(arena, p->zones + 1, sizeof *first);
    uint32_t *list = weft_arena_alloc(arena, p->racks, sizeof *list);
    for (uint32_t s = 0; s < p->slots; s++) {
        if (!room[p->slot[s].rack]++) first[p->slot[s].zone + 1]++;
        zone[p->slot[s].rack] = p->slot[s].zone;
    }
    for (uint32_t z = 0; z < p->zones; z++)
        first[z + 1] += first[z];
    weft__by_room(room, p->racks, order);
    uint32_t *next = weft_arena_alloc(arena, p->zones, sizeof *next);
    for (uint32_t k = 0; k < p->racks && room[order[k]]; k++)
        list[first[zone[order[k]]] + next[zone[order[k]]]++] = room[order[k]];
    cut->inner_first = first;
    cut->inner_room = list;
}

/// The zone of each unit.
static void choose_zones(const struct weft_placement_problem *p, uint32_t tries, struct weft_arena *arena,
                         uint32_t *ret_zone) {
    uint32_t *room = weft_arena_alloc(arena, p->zones, sizeof *room);
    for (uint32_t s = 0; s < p->slots; s++)
        room[p->slot[s].zone]++;
    uint32_t *slot = weft_arena_alloc(arena, p->units, sizeof *slot), *start[2];
    weft__placement_packed(p, arena, slot);
    for (uint32_t k = 0; k < 2; k++) { // the solutions of the other strategies: never worse than these
        start[k] = weft_arena_alloc(arena, p->units, sizeof *start[k]);
        for (uint32_t u = 0; u < p->units; u++)
            start[k][u] = p->slot[k ? slot[u] : u].zone;
    }
    struct weft__cut cut = {p->units, p->zones, p->first, p->edge, room, arena, NULL, NULL};
    list_racks(p, arena, &cut);
    weft__cut_search(&cut, tries, (const uint32_t *const *)start, 2, ret_zone);
}

/// The units of one zone as a separate problem, and its racks.
struct zone {
    uint32_t units, *unit, racks, *rack, *room;
    uint32_t *first;
    struct weft_placement_edge *edge;
};

static void find_racks(const struct weft_placement_problem *p, uint32_t zone, struct weft_arena *arena,
                       struct zone *z) {
    uint32_t *number = weft_arena_alloc(arena, p->racks, sizeof *number); // + 1
    z->rack = weft_arena_alloc(arena, p->racks, sizeof *z->rack);
    z->room = weft_arena_alloc(arena, p->racks, sizeof *z->room);
    for (uint32_t s = 0; s < p->slots; s++) {
        uint32_t rack = p->slot[s].rack;
        if (p->slot[s].zone != zone) continue;
        if (!number[rack]) {
            z->rack[z->racks] = rack;
            number[rack] = ++z->racks;
        }
        z->room[number[rack] - 1]++;
    }
}

static void find_units(const struct weft_placement_problem *p, const uint32_t *zone_of, uint32_t zone,
                       struct weft_arena *arena, struct zone *z) {
    uint32_t *number = weft_arena_alloc(arena, p->units, sizeof *number), edges = 0;
    z->unit = weft_arena_alloc(arena, p->units, sizeof *z->unit);
    for (uint32_t u = 0; u < p->units; u++) {
        if (zone_of[u] != zone) continue;
        number[u] = z->units;
        z->unit[z->units++] = u;
        edges += p->first[u + 1] - p->first[u];
    }
    z->first = weft_arena_alloc(arena, z->units + 1, sizeof *z->first);
    z->edge = weft_arena_alloc(arena, edges, sizeof *z->edge);
    for (uint32_t i = 0, k = 0; i < z->units; i++) {
        for (uint32_t e = p->first[z->unit[i]]; e < p->first[z->unit[i] + 1]; e++)
            if (zone_of[p->edge[e].unit] == zone)
                z->edge[k++] = (struct weft_placement_edge){number[p->edge[e].unit], p->edge[e].rack_bytes, 0};
        z->first[i + 1] = k;
    }
}

/// Gives the slots of a rack, in order, to the units assigned to it.
static void take_slots(const struct weft_placement_problem *p, const struct zone *z, const uint32_t *rack,
                       struct weft_arena *arena, uint32_t *ret_slot) {
    uint32_t *next = weft_arena_alloc(arena, p->racks, sizeof *next);
    for (uint32_t i = 0; i < z->units; i++) {
        uint32_t *s = &next[z->rack[rack[i]]];
        while (p->slot[*s].rack != z->rack[rack[i]])
            ++*s;
        ret_slot[z->unit[i]] = (*s)++;
    }
}

static void choose_racks(const struct weft_placement_problem *p, uint32_t tries, const uint32_t *zone_of, uint32_t zone,
                         uint32_t *ret_slot) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct zone z = {0};
    find_racks(p, zone, arena, &z);
    find_units(p, zone_of, zone, arena, &z);
    const struct weft__cut cut = {z.units, z.racks, z.first, z.edge, z.room, arena, NULL, NULL};
    uint32_t *rack = weft_arena_alloc(arena, z.units, sizeof *rack), *order[2], *start[2];
    for (uint32_t k = 0; k < 2; k++) {
        order[k] = weft_arena_alloc(arena, z.racks, sizeof *order[k]);
        start[k] = weft_arena_alloc(arena, z.units, sizeof *start[k]);
        for (uint32_t i = 0; i < z.racks; i++)
            order[k][i] = i;
        if (k) weft__by_room(z.room, z.racks, order[k]);
        weft__cut_fill(&cut, order[k], start[k]);
    }
    if (z.units) weft__cut_search(&cut, tries, (const uint32_t *const *)start, 2, rack);
    take_slots(p, &z, rack, arena, ret_slot);
}

static void min_cut_place(const void *conf, const struct weft_placement_problem *p, struct weft_arena *arena,
                          uint32_t *ret_slot) {
    const struct conf *c = conf;
    uint32_t *zone = weft_arena_alloc(arena, p->units, sizeof *zone);
    choose_zones(p, (uint32_t)c->tries, arena, zone);
    for (uint32_t z = 0; z < p->zones; z++)
        choose_racks(p, (uint32_t)c->tries, zone, z, ret_slot);
}

const struct weft_model weft__placement_min_cut = WEFT_MODEL_OF(
    PLACEMENT, "min_cut", "a minimum cut over zones, then over the racks of each: who talks much is near",
    "Meta, SIGCOMM 2024, section 3 (the idea); METIS (Karypis and Kumar, 1998) and Kernighan and Lin (1970)", &table,
    &(const struct weft_placement_ops){.place = min_cut_place, .graph = true});
