// SPDX-License-Identifier: Apache-2.0
// Parts of a dragonfly's routes, under construction.
#pragma once

#include "weft/gnet_routes.h"

/// The port sets of one TiN, each stored once; set 0 is the empty one.
struct weft__gnet_sets {
    struct weft_gnet_set *set; ///< for escapes: up and down
    uint16_t *slot;            ///< its number + 1, indexed by its hash; 0: free
    uint32_t n, capacity, slots;
};
void weft__gnet_sets_init(struct weft__gnet_sets *s);
void weft__gnet_sets_deinit(struct weft__gnet_sets *s);
uint16_t weft__gnet_sets_add(struct weft__gnet_sets *s, struct weft_gnet_set set);

struct weft__gnet_build {
    const struct weft_dragonfly *f;
    const struct weft_gnet_conf *conf;
    struct weft_gnet_routes *r;
    uint64_t *live;               ///< [tins]: GNet ports in service
    uint64_t *to;                 ///< [tins * places]: the ports to each place of the TiN's own pod
    struct weft__gnet_sets *sets; ///< [tins]
};

/// Local ports of TiN `x`, in service, that lead to `place` of its pod.
static inline uint64_t weft__gnet_to(const struct weft__gnet_build *b, uint32_t x, uint32_t place) {
    return b->to[(size_t)x * b->r->places + place];
}

/// Fills escape_of and escape of every TiN.
void weft__gnet_escape(const struct weft__gnet_build *b);
