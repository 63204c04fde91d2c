// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_setaffinity
#include "base/numa.h"

#include <assert.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stream.h"

_Static_assert(sizeof(cpu_set_t) == sizeof(struct weft__processor_set), "what the system's calls take");

static void add_processors(struct weft__processor_set *set, unsigned long first, unsigned long last) {
    for (unsigned long k = first; k <= last && k < WEFT__NUMA_PROCESSORS_MAX; k++)
        set->word[k / 64] |= UINT64_C(1) << k % 64;
}

/// A list as in "0-15,32-47"; an empty one of a node that has only memory.
static void read_list(const char *text, struct weft__processor_set *ret) {
    memset(ret, 0, sizeof *ret);
    for (char *end;; text = end + 1) {
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (end == text) return;
        if (*end == '-') last = strtoul(end + 1, &end, 10);
        add_processors(ret, first, last);
        if (*end != ',') return;
    }
}

static bool read_node(const char *folder, uint32_t node, struct weft__processor_set *ret) {
    char path[512], text[4096];
    snprintf(path, sizeof path, "%s/node%u/cpulist", folder, node);
    FILE *file = weft__file_open(path, "r");
    if (!file) return false;
    bool read = fgets(text, sizeof text, file);
    fclose(file);
    if (read) read_list(text, ret);
    return read;
}

void weft__numa_read(struct weft__numa *numa, const char *folder) {
    memset(numa, 0, sizeof *numa);
    if (!folder || sched_getaffinity(0, sizeof numa->allowed, (cpu_set_t *)(void *)&numa->allowed)) return;
    for (uint32_t k = 0; k < WEFT__NUMA_NODES_MAX; k++) { // numbers may have gaps
        struct weft__processor_set *set = &numa->node[numa->nodes];
        uint32_t n = 0;
        if (!read_node(folder, k, set)) continue;
        for (uint32_t i = 0; i < WEFT__NUMA_PROCESSORS_MAX / 64; i++)
            n += (uint32_t)__builtin_popcountll(set->word[i] &= numa->allowed.word[i]);
        if (n) numa->processors[numa->nodes++] = n;
    }
}

uint32_t weft__numa_node_of(const struct weft__numa *numa, uint32_t part, uint32_t parts) {
    assert(part < parts && numa->nodes);
    uint64_t all = 0, before = 0;
    for (uint32_t k = 0; k < numa->nodes; k++)
        all += numa->processors[k];
    uint32_t node = 0;
    while ((before += numa->processors[node]) * 2 * parts <= (2 * (uint64_t)part + 1) * all)
        node++;
    return node;
}

static void bind_to(const struct weft__processor_set *set) {
    sched_setaffinity(0, sizeof *set, (const cpu_set_t *)(const void *)set); // where it fails, a thread moves as before
}

void weft__numa_bind(const struct weft__numa *numa, uint32_t part, uint32_t parts) {
    if (numa->nodes > 1) bind_to(&numa->node[weft__numa_node_of(numa, part, parts)]);
}

void weft__numa_release(const struct weft__numa *numa) {
    if (numa->nodes > 1) bind_to(&numa->allowed);
}

uint32_t weft__processors(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    return weft__processors_online(); // more than a set has room for
}

uint32_t weft__processors_online(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}
