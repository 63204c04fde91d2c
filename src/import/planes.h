// SPDX-License-Identifier: Apache-2.0
// Hosts that have several links each, as ports of one NIC in as many networks (host.planes): link k of a host is in the
// plane of its switch.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "weft/memory.h"

enum { WEFT__PLANES_MAX = 16 };

/// A network of a file; planes are sets of bits.
struct weft__planes {
    uint32_t nodes, links;
    const bool *host;         ///< [nodes]
    const uint32_t (*end)[2]; ///< [links], nodes
    uint32_t n;               ///< links of each host; 1: no planes
    uint16_t *node, *link;    ///< [nodes], [links]: the planes that have it; 0: none
    uint32_t shared, across;  ///< links that are in several planes; links from one plane to another, which are in none
};

/// Fills in everything from `n` on; in the arena. Planes are the parts into which the network falls without its hosts,
/// if each host has its links in different parts, else they are chosen so that a leaf is in one plane where that can
/// be; other switches are in all planes from which they can be reached. Returns NULL, or what is wrong with *ret_host:
/// "has 1 link, and host 0 has 2".
const char *weft__planes_find(struct weft__planes *planes, struct weft_arena *arena, uint32_t *ret_host);

/// The number of planes in a set.
static inline uint32_t weft__planes_in(uint16_t set) {
    return (uint32_t)__builtin_popcount(set);
}

/// Whether a plane has a node or link (`set`: planes->node or link); without planes there is one that has all.
static inline bool weft__planes_has(const struct weft__planes *planes, const uint16_t *set, uint32_t i,
                                    uint32_t plane) {
    return planes->n == 1 || set[i] >> plane & 1;
}

/// In how many planes the link is, each of which has a part of its rate.
static inline uint32_t weft__planes_parts(const struct weft__planes *planes, uint32_t link) {
    return planes->n == 1 ? 1 : weft__planes_in(planes->link[link]);
}

struct weft_import;
/// Says that the hosts of a scenario are in planes, and what is lost by that. Returns which of them a workload has;
/// NULL: all, as there are no planes.
const char *weft__planes_say(const struct weft__planes *planes, struct weft_import *import);
