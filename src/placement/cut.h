// SPDX-License-Identifier: Apache-2.0
// Distributes the units of a graph over bins of limited room, so that little traffic crosses between bins. The limit is
// strict: a bin never gets more units than it has free servers.
#pragma once

#include "weft/placement.h"

struct weft__cut {
    uint32_t units, bins;
    const uint32_t *first; ///< [units + 1]
    const struct weft_placement_edge *edge;
    const uint32_t *room; ///< per bin; in total, at least `units`
    struct weft_arena *arena;
    /// The parts of a bin: parts inner_first[bin].. with inner_room of each, largest first; NULL: not considered.
    const uint32_t *inner_first, *inner_room;
};

/// Traffic between bins; each edge counts once.
weft_bytes weft__cut_bytes(const struct weft__cut *cut, const uint32_t *bin);
/// Puts units in order into bins in the given order, as many as fit.
void weft__cut_fill(const struct weft__cut *cut, const uint32_t *order, uint32_t *ret_bin);
/// Moves and exchanges units while that reduces the traffic between bins.
void weft__cut_refine(const struct weft__cut *cut, uint32_t *bin);
/// The best of the given initial solutions and of `tries` partitions per number of bins, each refined.
void weft__cut_search(const struct weft__cut *cut, uint32_t tries, const uint32_t *const *start, uint32_t starts,
                      uint32_t *ret_bin);

/// Divides unit[0..n-1] in two with METIS, `left` of them on the left (0 < left < n); afterwards the left ones come
/// first, both sides in ascending order. The same seed gives the same result.
void weft__cut_bisect(const struct weft__cut *cut, uint32_t *unit, uint32_t n, uint32_t left, uint32_t seed);
