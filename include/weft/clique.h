// SPDX-License-Identifier: Apache-2.0
// A Clique as its controller knows it: ToR-in-NIC chips (TiNs) in pods, the GNet links between them, and which of them
// have a link to the datacenter network.
#pragma once

#include "weft/dragonfly.h"

struct weft_arena;

struct weft_clique_tin {
    const char *name;
    uint32_t node;         ///< of the topology; WEFT_NONE: there is none
    uint32_t pod, place;   ///< place: in the pod, from 0; filled in
    bool dcn;              ///< has a link to the datacenter network
    uint32_t link0, links; ///< its links: clique->at[link0 ..]
};
struct weft_clique_link {
    uint32_t tin[2];
    uint16_t port[2]; ///< of its nodes
    bool global;      ///< between pods
    weft_time_ps delay_ps;
    uint32_t link; ///< of the topology
};
struct weft_clique {
    uint32_t pods, tins, links;
    struct weft_clique_tin *tin;
    struct weft_clique_link *link;
    uint32_t *at; ///< links of the TiNs, one after the other
};

/// Name, node, pod and dcn of TiNs and all of links as given; TiNs in the order of pods; fills in the rest. In `arena`.
struct weft_clique *weft_clique_new(const struct weft_clique_tin *tin, uint32_t tins,
                                    const struct weft_clique_link *link, uint32_t links, struct weft_arena *arena);

/// Of a topology's dragonfly; TiNs have its numbers. In `arena`.
struct weft_clique *weft_clique_of(const struct weft_topology *t, const struct weft_dragonfly *f,
                                   struct weft_arena *arena);

/// The k-th link of a TiN, and the TiN at its other end.
static inline uint32_t weft_clique_link_at(const struct weft_clique *c, uint32_t tin, uint32_t k) {
    return c->at[c->tin[tin].link0 + k];
}
static inline uint32_t weft_clique_peer(const struct weft_clique *c, uint32_t tin, uint32_t link) {
    return c->link[link].tin[c->link[link].tin[0] == tin];
}
