// SPDX-License-Identifier: Apache-2.0
#include "topology/equal_switches.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

struct end {
    uint64_t to, sort;
};

struct finder {
    const struct weft__graph *g;
    const unsigned char *key;
    size_t key_bytes;
    const struct end *end; ///< [arcs], grouped by switch
    uint64_t *hash;        ///< [switches]
};

WEFT__ORDER(by_end, struct end, WEFT__UP(to) ?: WEFT__UP(sort))

static bool are_twins(const struct finder *f, uint32_t a, uint32_t b) {
    const uint32_t *first = f->g->first;
    uint32_t arcs = first[a + 1] - first[a];
    if (f->hash[a] != f->hash[b] || arcs != first[b + 1] - first[b]) return false;
    if (memcmp(f->key + a * f->key_bytes, f->key + b * f->key_bytes, f->key_bytes)) return false;
    return !arcs || !memcmp(&f->end[first[a]], &f->end[first[b]], arcs * sizeof *f->end);
}

/// Uses a hash table twice as large as the number of switches.
static void find_twins(const struct finder *f, uint32_t *ret_first) {
    uint32_t room = 2, switches = f->g->switches;
    while (room < 2 * switches)
        room *= 2;
    WEFT_FREED uint32_t *table = weft_memory_new(KIND, room, sizeof *table);
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t at = (uint32_t)f->hash[s] & (room - 1);
        while (table[at] && !are_twins(f, table[at] - 1, s))
            at = (at + 1) & (room - 1);
        if (!table[at]) table[at] = s + 1;
        ret_first[s] = table[at] - 1;
    }
}

void weft__equal_switches_find(const struct weft__graph *g, const void *key, size_t key_bytes, const uint64_t *sort,
                               uint32_t *ret_first) {
    WEFT_FREED struct end *end = weft_memory_new(KIND, g->arcs, sizeof *end);
    struct finder f = {g, key, key_bytes, end, weft_memory_new(KIND, g->switches, sizeof *f.hash)};
    for (uint32_t s = 0; s < g->switches; s++) {
        uint32_t first = g->first[s], arcs = g->first[s + 1] - first;
        for (uint32_t a = first; a < first + arcs; a++)
            end[a] = (struct end){g->arc[a].to, sort[g->arc[a].link]};
        if (arcs) qsort(&end[first], arcs, sizeof *end, by_end);
        uint64_t hash = weft__hash(WEFT__HASH_START, f.key + s * key_bytes, key_bytes);
        f.hash[s] = arcs ? weft__hash(hash, &end[first], arcs * sizeof *end) : hash;
        f.hash[s] ^= f.hash[s] >> 32;
    }
    find_twins(&f, ret_first);
    weft_memory_free(KIND, f.hash, g->switches * sizeof *f.hash);
}
