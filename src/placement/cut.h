// SPDX-License-Identifier: Apache-2.0
// Units of a graph into bins of bounded room, so that little crosses between bins. The bound is strict: what a bin has
// room for is servers that are free.
#ifndef WEFT_PLACEMENT_CUT_H
#define WEFT_PLACEMENT_CUT_H

#include "weft/place.h"

struct weft__cut {
    uint32_t units, bins;
    const uint32_t *first; ///< [units + 1]
    const struct weft_place_edge *edge;
    const uint32_t *room; ///< of a bin; in all, at least `units`
    struct weft_arena *arena;
    /// What a bin consists of: parts inner_first[bin].. with inner_room of each, largest first; NULL: does not matter.
    const uint32_t *inner_first, *inner_room;
};

/// Between bins; each edge once.
weft_bytes weft__cut_bytes(const struct weft__cut *cut, const uint32_t *bin);
/// Units in order into bins in the given order, as full as they get.
void weft__cut_fill(const struct weft__cut *cut, const uint32_t *order, uint32_t *ret_bin);
/// Moves and exchanges units while that lessens what crosses.
void weft__cut_refine(const struct weft__cut *cut, uint32_t *bin);
/// The best of the given beginnings and of `tries` partitions a number of bins, each refined.
void weft__cut_search(const struct weft__cut *cut, uint32_t tries, const uint32_t *const *start, uint32_t starts,
                      uint32_t *ret_bin);

/// Divides unit[0..n-1] in two by METIS, `left` of them on the left (0 < left < n); the left ones come first then, both
/// in ascending order. The same for the same seed.
void weft__cut_bisect(const struct weft__cut *cut, uint32_t *unit, uint32_t n, uint32_t left, uint32_t seed);

/// What two units exchange.
weft_bytes weft__cut_between(const struct weft__cut *cut, uint32_t a, uint32_t b);

#endif
