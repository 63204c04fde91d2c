// SPDX-License-Identifier: Apache-2.0
// Process groups: who takes part in a collective. They come from a file of ASTRA-sim (--comm-group-configuration), from
// metadata nodes, where PyTorch writes them ("## process_group:init ##"), or from the traces that name them.
// Source: astra-sim/astra-sim, astra-sim/workload/Workload.cc; pytorch/pytorch, torch/profiler/profiler.py;
// mlcommons/chakra, src/pg_extractor/pg_extractor.py.
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/json_read.h"
#include "base/tree.h"
#include "import/chakra/chakra.h"

void weft__chakra_groups_init(struct weft__chakra_groups *g, struct weft_arena *arena) {
    *g = (struct weft__chakra_groups){.arena = arena, .slots = 64};
    g->slot = weft_memory_new(WEFT_MEMORY_SCENARIO, g->slots, sizeof *g->slot);
}

void weft__chakra_groups_deinit(struct weft__chakra_groups *g) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->slot, g->slots * sizeof *g->slot);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->name, g->names_room * sizeof *g->name);
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->group, g->groups_room * sizeof *g->group);
}

// --- names --------------------------------------------------------------------------------------------------------

static uint32_t *slot_of(const struct weft__chakra_groups *g, const char *name) {
    uint64_t hash = weft__hash_text(WEFT__HASH_START, name);
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (g->slots - 1);
    while (g->slot[at] && strcmp(g->name[g->slot[at] - 1].text, name))
        at = (at + 1) & (g->slots - 1);
    return &g->slot[at];
}

static void rehash_names(struct weft__chakra_groups *g) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, g->slot, g->slots * sizeof *g->slot);
    g->slots *= 2;
    g->slot = weft_memory_new(WEFT_MEMORY_SCENARIO, g->slots, sizeof *g->slot);
    for (uint32_t i = 0; i < g->names; i++)
        *slot_of(g, g->name[i].text) = i + 1;
}

uint32_t weft__chakra_name(struct weft__chakra_groups *g, const char *name) {
    const uint32_t *there = slot_of(g, name);
    if (*there) return *there - 1;
    if (g->names >= g->slots / 2) rehash_names(g);
    g->name = weft__memory_grow(g->name, g->names, &g->names_room, sizeof *g->name);
    g->name[g->names] = (struct weft__chakra_name){weft_arena_text(g->arena, name), WEFT_NONE};
    *slot_of(g, name) = g->names + 1;
    return g->names++;
}

// --- groups -------------------------------------------------------------------------------------------------------

static bool is_of(const struct weft__chakra_group *group, const uint32_t *rank, uint32_t ranks) {
    return group->ranks == ranks && !memcmp(group->rank, rank, ranks * sizeof *rank);
}

/// Appends to the existing groups.
static uint32_t add_group(struct weft__chakra_groups *g, uint32_t name, uint32_t *rank, uint32_t ranks) {
    g->group = weft__memory_grow(g->group, g->groups, &g->groups_room, sizeof *g->group);
    g->group[g->groups] = (struct weft__chakra_group){name, g->name[name].group, ranks, rank};
    g->name[name].group = g->groups;
    return g->groups++;
}

void weft__chakra_define(struct weft__chakra_groups *g, uint32_t name, const uint32_t *rank, uint32_t ranks) {
    bool all = !ranks;
    if (all) ranks = g->ranks;
    WEFT_FREED uint32_t *list = weft_memory_new(WEFT_MEMORY_SCENARIO, ranks, sizeof *list);
    for (uint32_t i = 0; i < ranks; i++)
        list[i] = all ? i : rank[i];
    uint32_t i = g->name[name].group;
    while (i != WEFT_NONE && !is_of(&g->group[i], list, ranks))
        i = g->group[i].next;
    if (i == WEFT_NONE) {
        uint32_t *kept = weft_arena_alloc(g->arena, ranks, sizeof *kept);
        memcpy(kept, list, ranks * sizeof *kept);
        add_group(g, name, kept, ranks);
    }
}

static bool has_member(const struct weft__chakra_group *group, uint32_t rank) {
    for (uint32_t i = 0; i < group->ranks; i++)
        if (group->rank[i] == rank) return true;
    return false;
}

uint32_t weft__chakra_group_of(const struct weft__chakra_groups *g, uint32_t name, uint32_t rank, bool *ret_several) {
    uint32_t found = WEFT_NONE;
    *ret_several = false;
    for (uint32_t i = g->name[name].group; i != WEFT_NONE; i = g->group[i].next) {
        if (!has_member(&g->group[i], rank)) continue;
        *ret_several |= found != WEFT_NONE;
        found = i;
    }
    return *ret_several ? WEFT_NONE : found;
}

/// The distance of members, if it is constant within blocks that divide `ranks` evenly; 0: it is not.
static uint32_t distance_of(const struct weft__chakra_group *group, uint32_t ranks) {
    uint32_t distance = group->ranks > 1 ? group->rank[1] - group->rank[0] : 1;
    uint64_t block = (uint64_t)distance * group->ranks;
    if (!block || block > ranks || ranks % block) return 0;
    uint32_t first = group->rank[0];
    if (first % block >= distance) return 0;
    for (uint32_t i = 0; i < group->ranks; i++)
        if (group->rank[i] != first + i * distance) return 0;
    return distance;
}

uint32_t weft__chakra_group_like(struct weft__chakra_groups *g, uint32_t group, uint32_t model, uint32_t rank,
                                 const uint32_t *taken, uint32_t n) {
    const struct weft__chakra_group *own = &g->group[group];
    uint32_t distance = distance_of(own, g->ranks), ranks = own->ranks, name = own->name;
    if (!distance || !has_member(own, model)) return WEFT_NONE;
    uint32_t block = distance * ranks, *list = weft_arena_alloc(g->arena, ranks, sizeof *list);
    for (uint32_t i = 0; i < ranks; i++)
        list[i] = rank / block * block + rank % distance + i * distance;
    for (uint32_t i = 0; i < g->groups; i++) {
        bool free = is_of(&g->group[i], list, ranks);
        for (uint32_t k = 0; k < n && free; k++)
            free = taken[k] != i;
        if (free) return i;
    }
    return add_group(g, name, list, ranks);
}

// --- a file of ASTRA-sim ------------------------------------------------------------------------------------------

static bool is_rank(const json_t *value) {
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < WEFT_SCHEDULE_RANKS_MAX;
}

static enum weft_status read_group(struct weft__chakra_groups *g, const struct weft__json_file *file, const char *name,
                                   const json_t *value, uint32_t *ret_ranks, struct weft_error *ret_error) {
    struct weft_place place = {.file = file->path, .line = 1, .column = 1};
    if (!weft__text_is_plain(name))
        return WEFT_REFUSE(ret_error, place, "a name with control characters; expected another");
    if (!json_array_size(value)) return WEFT_REFUSE(ret_error, place, "group '%.60s': expected a list of ranks", name);
    uint32_t n = (uint32_t)json_array_size(value), *rank = weft_arena_alloc(g->arena, n, sizeof *rank);
    const struct weft_place *at = weft__json_places(file, name, n, g->arena);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(value, i);
        if (!is_rank(one))
            return WEFT_REFUSE(ret_error, at[i], "group '%.60s': expected a rank, 0 to %u", name,
                               WEFT_SCHEDULE_RANKS_MAX - 1);
        rank[i] = (uint32_t)json_integer_value(one);
        if (rank[i] >= *ret_ranks) *ret_ranks = rank[i] + 1;
    }
    weft__chakra_define(g, weft__chakra_name(g, name), rank, n);
    return WEFT_OK;
}

enum weft_status weft__chakra_groups_read(struct weft__chakra_groups *g, const char *path, struct weft_place place,
                                          uint32_t *ret_ranks, struct weft_error *ret_error) {
    struct weft__json_file file;
    const char *name;
    json_t *value;
    *ret_ranks = 0;
    enum weft_status status = weft__json_open(&file, path, place, ret_error);
    if (status) return status;
    json_object_foreach(file.root, name, value) {
        status = read_group(g, &file, name, value, ret_ranks, ret_error);
        if (status) break;
    }
    weft__json_close(&file);
    return status;
}

// --- metadata nodes -----------------------------------------------------------------------------------------------

/// Without a list it is a group of all ranks. False: it is not a list of ranks.
static bool parse_group(struct weft__chakra_groups *g, const json_t *one, uint32_t *ret_ranks) {
    const char *name = json_string_value(json_object_get(one, "pg_name"));
    const json_t *list = json_object_get(one, "ranks");
    if (!name || !weft__text_is_plain(name) || (list && !json_is_array(list))) return false;
    uint32_t n = (uint32_t)json_array_size(list), *rank = weft_arena_alloc(g->arena, n, sizeof *rank);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        if (!is_rank(value)) return false;
        rank[i] = (uint32_t)json_integer_value(value);
        if (rank[i] >= *ret_ranks) *ret_ranks = rank[i] + 1;
    }
    weft__chakra_define(g, weft__chakra_name(g, name), rank, n);
    return true;
}

bool weft__chakra_groups_parse(struct weft__chakra_groups *g, const char *text, uint32_t *ret_ranks) {
    struct weft_memory_cleanup cleanup;
    json_error_t why;
    const char *begin = strstr(text, "[{"), *end = NULL;
    for (const char *at = begin; at && (at = strstr(at, "}]")); at++)
        end = at + 2;
    if (!end) return false;
    json_t *root = json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, &why);
    if (!root && json_error_code(&why) == json_error_out_of_memory) weft_memory_fail();
    if (!root) return false;
    weft_memory_cleanup_add(&cleanup, weft__json_release, root);
    bool good = json_is_array(root);
    *ret_ranks = 0;
    for (size_t i = 0; i < json_array_size(root) && good; i++)
        good = parse_group(g, json_array_get(root, i), ret_ranks);
    weft_memory_cleanup_remove(&cleanup);
    json_decref(root);
    return good;
}
