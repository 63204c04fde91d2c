// SPDX-License-Identifier: Apache-2.0
// Parts of the routes of a dragonfly, under construction.
#ifndef WEFT_TOPOLOGY_GNET_H
#define WEFT_TOPOLOGY_GNET_H

#include "weft/gnet_routes.h"

/// Port sets of one TiN, each once; set 0 is the empty one.
struct weft__gnet_sets {
    struct weft_gnet_set *set; ///< of escapes: up and down
    uint16_t *slot;            ///< number + 1 at its hash, 0: free
    uint32_t n, capacity, slots;
};
void weft__gnet_sets_init(struct weft__gnet_sets *s);
void weft__gnet_sets_deinit(struct weft__gnet_sets *s);
uint16_t weft__gnet_sets_add(struct weft__gnet_sets *s, struct weft_gnet_set set);

struct weft__gnet_build {
    const struct weft_dragonfly *f;
    const struct weft_gnet_conf *conf;
    struct weft_gnet_routes *r;
    uint64_t *live;               ///< [tins] GNet ports in service
    uint64_t *to;                 ///< [tins * places] those to each place of the own pod
    struct weft__gnet_sets *sets; ///< [tins]
};

/// Local ports of TiN `x` in service that lead to `place` of its pod.
static inline uint64_t weft__gnet_to(const struct weft__gnet_build *b, uint32_t x, uint32_t place) {
    return b->to[(size_t)x * b->r->places + place];
}

/// Fills escape_of and escape of every TiN.
void weft__gnet_escape(const struct weft__gnet_build *b);

#endif
