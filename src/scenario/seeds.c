// SPDX-License-Identifier: Apache-2.0
#include "scenario/seeds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weft/memory.h"

bool weft__seed_read(const char **at, uint64_t *ret) {
    char *end;
    if (**at < '0' || **at > '9') return false;
    errno = 0;
    *ret = strtoull(*at, &end, 10);
    *at = end;
    return !errno;
}

bool weft__seed_add(uint64_t *seed, uint32_t *seeds, uint64_t added) {
    for (uint32_t i = 0; i < *seeds; i++)
        if (seed[i] == added) return false;
    if (*seeds == WEFT_SWEEP_SEEDS_MAX) return false;
    seed[(*seeds)++] = added;
    return true;
}

bool weft_seeds_parse(const char *text, struct weft_arena *arena, uint64_t **ret_seed, uint32_t *ret_seeds) {
    *ret_seed = weft_arena_alloc(arena, WEFT_SWEEP_SEEDS_MAX, sizeof **ret_seed);
    *ret_seeds = 0;
    for (const char *at = text;; at++) {
        uint64_t first, last;
        if (!weft__seed_read(&at, &first)) return false;
        last = first;
        if (!strncmp(at, "..", 2)) {
            at += 2;
            if (!weft__seed_read(&at, &last) || last < first || last - first >= WEFT_SWEEP_SEEDS_MAX) return false;
        }
        for (uint64_t seed = first; seed - first <= last - first; seed++)
            if (!weft__seed_add(*ret_seed, ret_seeds, seed)) return false;
        if (!*at) return true;
        if (*at != ',') return false;
    }
}
