// SPDX-License-Identifier: Apache-2.0
// Which bins are used, and how many units each gets, is open: as few bins as possible, or some more, filled completely
// or evenly. All of these are tried, by bisections down to single bins, and the best is kept.
#include "cut.h"
#include "fill.h"

struct search {
    const struct weft__cut *cut;
    const uint32_t *order; ///< bins, those with most room first
    uint32_t *size;        ///< units for order[k]
    uint32_t *unit, *bin;  ///< being divided, and the result
    uint32_t *best;
    weft_bytes best_bytes;
    uint32_t best_bins, best_parts;
};

void weft__cut_fill(const struct weft__cut *cut, const uint32_t *order, uint32_t *ret_bin) {
    for (uint32_t k = 0, u = 0; k < cut->bins; k++)
        for (uint32_t i = 0; i < cut->room[order[k]] && u < cut->units; i++)
            ret_bin[u++] = order[k];
}

/// The number of bins used, and the fewest parts of these that suffice.
static uint32_t count_bins(const struct weft__cut *cut, const uint32_t *bin, uint32_t *ret_parts) {
    uint32_t *units = weft_arena_alloc(cut->arena, cut->bins, sizeof *units), bins = 0;
    *ret_parts = 0;
    for (uint32_t u = 0; u < cut->units; u++)
        bins += !units[bin[u]]++;
    for (uint32_t b = 0; cut->inner_first && b < cut->bins; b++)
        for (uint32_t i = cut->inner_first[b], left = units[b]; left && i < cut->inner_first[b + 1]; i++, ++*ret_parts)
            left -= left < cut->inner_room[i] ? left : cut->inner_room[i];
    return bins;
}

/// Of two with the same cut, keeps the one with fewer bins; then with fewer parts of bins.
static void keep_better(struct search *s) {
    weft__cut_refine(s->cut, s->bin);
    weft_bytes bytes = weft__cut_bytes(s->cut, s->bin);
    uint32_t parts, bins = count_bins(s->cut, s->bin, &parts);
    if (s->best_bins) {
        if (bytes > s->best_bytes) return;
        if (bytes == s->best_bytes && bins > s->best_bins) return;
        if (bytes == s->best_bytes && bins == s->best_bins && parts >= s->best_parts) return;
    }
    s->best_bytes = bytes;
    s->best_bins = bins;
    s->best_parts = parts;
    for (uint32_t u = 0; u < s->cut->units; u++)
        s->best[u] = s->bin[u];
}

/// Divides unit[from..] among order[first..last-1] by their sizes.
static void divide_units(struct search *s, uint32_t first, uint32_t last, uint32_t from, uint32_t n, uint32_t seed) {
    if (last - first == 1) {
        for (uint32_t i = 0; i < n; i++)
            s->bin[s->unit[from + i]] = s->order[first];
        return;
    }
    uint32_t middle = first + 1, left = s->size[first];
    while (middle + 1 < last && 2 * left < n)
        left += s->size[middle++];
    weft__cut_bisect(s->cut, s->unit + from, n, left, seed);
    divide_units(s, first, middle, from, left, seed);
    divide_units(s, middle, last, from + left, n - left, seed);
}

/// Sizes of the first `bins` bins: as much as each holds, or evenly. False if one would be empty.
static bool set_sizes(struct search *s, uint32_t bins, bool even) {
    uint32_t left = s->cut->units;
    if (bins > left) return false;
    for (uint32_t k = 0; k < bins; k++) { // evenly: starting with the smallest, which may be full before it has its
                                          // share
        uint32_t i = even ? bins - 1 - k : k, share = even ? left / (bins - k) : left, room = s->cut->room[s->order[i]];
        s->size[i] = share < room ? share : room;
        left -= s->size[i];
    }
    return s->size[bins - 1] > 0 && left == 0;
}

static void try_bins(struct search *s, uint32_t bins, uint32_t tries) {
    for (uint32_t even = 0; even < 2; even++) {
        if (!set_sizes(s, bins, even)) continue;
        for (uint32_t seed = 1; seed <= tries; seed++) {
            for (uint32_t u = 0; u < s->cut->units; u++)
                s->unit[u] = u;
            divide_units(s, 0, bins, 0, s->cut->units, seed);
            keep_better(s);
        }
    }
}

void weft__cut_search(const struct weft__cut *cut, uint32_t tries, const uint32_t *const *start, uint32_t starts,
                      uint32_t *ret_bin) {
    uint32_t *order = weft_arena_alloc(cut->arena, cut->bins, sizeof *order);
    struct search s = {
        .cut = cut,
        .order = order,
        .size = weft_arena_alloc(cut->arena, cut->bins, sizeof *s.size),
        .unit = weft_arena_alloc(cut->arena, cut->units, sizeof *s.unit),
        .bin = weft_arena_alloc(cut->arena, cut->units, sizeof *s.bin),
        .best = ret_bin,
    };
    weft__by_room(cut->room, cut->bins, order);
    for (uint32_t k = 0; k < starts; k++) {
        for (uint32_t u = 0; u < cut->units; u++)
            s.bin[u] = start[k][u];
        keep_better(&s);
    }
    uint32_t least = 0;
    for (uint32_t room = 0; room < cut->units; least++)
        room += cut->room[order[least]];
    for (uint32_t bins = least, more = 1; s.best_bytes && bins <= cut->bins; more *= 2) {
        try_bins(&s, bins, tries);
        bins = bins < cut->bins && bins + more > cut->bins ? cut->bins : bins + more;
    }
}
