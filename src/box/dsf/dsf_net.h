// SPDX-License-Identifier: Apache-2.0
// What the boxes of a disaggregated scheduled fabric share in a run.
#ifndef WEFT_BOX_DSF_DSF_NET_H
#define WEFT_BOX_DSF_DSF_NET_H

#include "box/dsf/dsf_known.h"
#include "box/dsf/dsf_outside.h"
#include "box/network.h"
#include "weft/eligible.h"
#include "weft/exits.h"

struct weft__dsf {
    struct weft_eligible *eligible;
    uint32_t *in_of_host;          ///< interface node, by its number; WEFT_NONE: the host is at none
    uint16_t *port_of_host;        ///< among its Ethernet ports
    struct weft__outside *outside; ///< [fabrics]; NULL: no host is outside a fabric
    uint32_t *fabric_of_node;
    struct weft__known *known;         ///< [ins]; NULL: everybody knows everything, always
    bool llfc;                         ///< some fabric node has link-level flow control
    bool packing;                      ///< some interface node packs
    struct weft_dsf_histograms **seen; ///< [workers]
};

/// What happens to fabrics besides links.
struct weft__dsf_story {
    struct weft_control_event *event;
    uint32_t events;
};

/// *ret_dsf: NULL if there is no such box; in net's arenas, but for what weft__dsf_free frees.
enum weft_status weft__dsf_new(struct weft__network *net, struct weft__dsf **ret_dsf, struct weft_error *ret_error);
void weft__dsf_free(struct weft__dsf *dsf);
/// Distributions into the outcome.
void weft__dsf_collect(struct weft__network *net);
/// The k-th Ethernet port of an interface node, among all ports.
uint32_t weft__dsf_ethernet_port(const struct weft_topology *t, uint32_t node, uint32_t k);

/// Fills exits and what follows; nothing if all hosts are in one fabric.
enum weft_status weft__outside_new(struct weft__network *net, struct weft__dsf *dsf,
                                   const struct weft__dsf_story *story, struct weft_error *ret_error);

/// NULL: the timeline has nothing to say.
struct weft__known *weft__known_new(const struct weft_known_timeline *timeline, const struct weft_eligible *eligible,
                                    struct weft_arena *arena);

/// Eligible links by shortest paths through the fabric, all links up.
struct weft_eligible *weft__eligible_by_paths(const struct weft_topology *t);
/// What becomes of them in the timeline.
void weft__eligible_change(struct weft_eligible *e, const struct weft_reach_timeline *timeline);

#endif
