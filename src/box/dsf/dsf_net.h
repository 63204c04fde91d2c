// SPDX-License-Identifier: Apache-2.0
// What the boxes of a disaggregated scheduled fabric share in a run.
#pragma once

#include "box/box.h"
#include "box/dsf/dsf_conf.h"
#include "box/dsf/dsf_eligible.h"
#include "box/dsf/dsf_known.h"
#include "box/dsf/dsf_outcome.h"
#include "box/dsf/dsf_outside.h"
#include "box/mechanism.h"
#include "weft/exits.h"

struct weft__dsf {
    struct weft_eligible *eligible;
    uint32_t *in_of_host;          ///< number of the interface node; WEFT_NONE: the host is at none
    uint16_t *port_of_host;        ///< its number among the Ethernet ports
    struct weft__outside *outside; ///< [fabrics]; NULL: no host is outside a fabric
    uint32_t *fabric_of_node;
    struct weft__known *known;         ///< [ins]; NULL: all always know everything
    bool changes;                      ///< its nodes have events, or are drained
    bool llfc;                         ///< some fabric node has link-level flow control
    bool packing;                      ///< some interface node packs
    struct weft_dsf_histograms **seen; ///< [workers]
};

/// Events of fabrics other than those of links.
struct weft__dsf_story {
    struct weft_control_event *event;
    uint32_t events;
};

static inline struct weft__dsf *weft__dsf_of(const struct weft__network *net) {
    return net->shared[WEFT_BOX_DSF_INTERFACE];
}
static inline const struct weft_interface_conf *weft__interface_conf(const struct weft_device_conf *device) {
    return device->section[WEFT_BOX_DSF_INTERFACE];
}
static inline const struct weft_fabric_conf *weft__fabric_conf(const struct weft_device_conf *device) {
    return device->section[WEFT_BOX_DSF_FABRIC];
}
extern const struct weft__shared weft__dsf_shared;
/// Where the node's worker counts distributions.
struct weft_dsf_histograms *weft__dsf_seen(struct weft__network *net, uint32_t node);
extern const struct weft__box_results weft__dsf_results;
extern const struct weft__mechanisms weft__interface_mechanisms, weft__fabric_mechanisms; ///< dsf_mechanisms.c
extern const struct weft__box_view weft__dsf_view;                                        ///< dsf_topo.c
void *weft__dsf_outcome_new(struct weft_outcome *outcome, const struct weft_topology *t);
uint64_t weft__dsf_outcome_mix(uint64_t digest, const void *part);
// For interface nodes: see struct weft__box.
bool weft__dsf_cross(const struct weft__forwarding *forwarding, const struct weft__lone_frame *frame,
                     struct weft__crossing *ret);
void weft__dsf_credit(const struct weft__forwarding *forwarding, uint32_t node, uint32_t dst,
                      struct weft__box_credit *ret);
uint32_t weft__dsf_exit(const struct weft__network *net, uint32_t node, const struct weft_packet *p);
void weft__dsf_explain(FILE *text, const struct weft__network *net);
/// The k-th Ethernet port of an interface node, among all ports.
uint32_t weft__dsf_ethernet_port(const struct weft_topology *t, uint32_t node, uint32_t k);

/// For the boxes' operation `check_state`; see dsf_check_state.c.
void weft__in_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c);
void weft__fn_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c);

/// Fills exits and what follows; does nothing if all hosts are in one fabric.
void weft__outside_new(struct weft__network *net, struct weft__dsf *dsf, const struct weft__dsf_story *story);
/// Refuses what its boxes cannot share.
enum weft_status weft__dsf_check_shared(const struct weft__plan *plan, struct weft_error *ret_error);

/// NULL: the timeline is empty.
struct weft__known *weft__known_new(const struct weft_known_timeline *timeline, const struct weft_eligible *eligible,
                                    struct weft_arena *arena);

/// Eligible links by shortest paths through the fabric, with all links up.
struct weft_eligible *weft__eligible_by_paths(const struct weft_topology *t);
/// Applies the changes of the timeline to them.
void weft__eligible_change(struct weft_eligible *e, const struct weft_reach_timeline *timeline);
