// SPDX-License-Identifier: Apache-2.0
// What the TiNs of a network share in a run.
#pragma once

#include "box/box.h"
#include "box/mechanism.h"
#include "box/tin/tin.h"
#include "box/tin/tin_outcome.h"

struct weft__cliques {
    struct weft_dragonflies *shape;
    struct weft__clique {
        struct weft__gnet_tables tables;
        struct weft_gnet_routes **routes; ///< [tables.n]
        struct weft__tin_places places;
        struct weft_clique_timeline *timeline; ///< NULL: nothing changes
        struct weft__tin_egress **egress;      ///< [tins]: its exits over time, timeline->tin[].egresses of them
        uint32_t transition0;                  ///< of the outcome's
    } * clique;                                ///< [shape->n]
    const struct weft__gnet_times *times[WEFT__GNET_RATES]; ///< of cells at each rate
    uint8_t *rate_of_port, *cross_of_port;                  ///< [ports] of GNet links, and of the crossbar at them
    uint8_t *rate_of_endpoint;                              ///< [nodes]
    bool traces;                                            ///< a TiN marks cells
    struct weft_gnet_depths **depths;                       ///< [workers] NULL: none of its TiNs is sampled
    struct weft_tin_histograms **seen;                      ///< [workers]
};

static inline struct weft__cliques *weft__cliques_of(const struct weft__network *net) {
    return net->shared[WEFT_BOX_TIN];
}
static inline const struct weft_tin_conf *weft__tin_conf(const struct weft_device_conf *device) {
    return device->section[WEFT_BOX_TIN];
}
extern const struct weft__shared weft__cliques_shared;
/// Where the node's worker counts distributions, and depths of sampled VCs.
struct weft_tin_histograms *weft__tin_seen(struct weft__network *net, uint32_t node);
struct weft_gnet_depths *weft__tin_depths(struct weft__network *net, uint32_t node);
/// Builds tables and exits, and their changes over time.
void weft__clique_tables(const struct weft__network *net, struct weft__clique *clique,
                         const struct weft_dragonflies *shape, uint32_t fabric);
/// Adds to the outcome what the controllers did; TiNs add what they saw of it.
void weft__cliques_tell(struct weft__network *net, const struct weft__tally *sum);
/// When the last table changes.
weft_time_ps weft__cliques_settled(const void *state);
/// Fills in `places` for hosts outside the Clique, for each state of the links: down[state * links + link].
void weft__tin_find_exits(struct weft__tin_places *places, const struct weft_topology *t,
                          const struct weft_dragonflies *shape, uint32_t fabric, const struct weft_tin_conf *conf,
                          const bool *down, uint32_t states, struct weft_arena *arena);
/// tin_nics.c: no link of a shared NIC may be faster than the NIC.
enum weft_status weft__tin_nics_check(const struct weft_topology *t, uint32_t tin, const struct weft_tin_conf *conf,
                                      struct weft_place place, struct weft_error *ret_error);
/// The NICs that hosts of the TiN share; NULL: none.
struct weft__tin_nics *weft__tin_nics_find(const struct weft_topology *t, uint32_t tin,
                                           const struct weft_tin_conf *conf, struct weft_arena *arena);
/// The window that the shared NIC grants the host at `port`; INT64_MAX: it shares none.
int64_t weft__tin_nic_window(const struct weft__network *net, uint32_t port);
/// tin_cell_paths.c: puts the paths of traced cells into the outcome. Call it when the devices have finished.
void weft__cell_paths_collect(struct weft__network *net);
/// Puts the clients of 1RMA at a TiN, and its hosts, into the setup, in `arena`. False: there is no 1RMA.
bool weft__tin_rma_place(const struct weft__network *net, uint32_t node, struct weft_arena *arena,
                         struct weft__tin_rma_setup *ret_setup);
extern const struct weft__cell_capture weft__tin_capture; ///< tin_cells.c
extern const struct weft__box_results weft__clique_results;
extern const struct weft__mechanisms weft__tin_mechanisms; ///< tin_mechanisms.c
extern const struct weft__box_view weft__clique_view;      ///< tin_topo.c
// See struct weft__box and struct weft__box_results.
bool weft__tin_cross(const struct weft__forwarding *forwarding, const struct weft__lone_frame *frame,
                     struct weft__crossing *ret);
enum weft_status weft__tin_check(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error);
void *weft__clique_outcome_new(struct weft_outcome *outcome, const struct weft_topology *t);
uint64_t weft__clique_outcome_mix(uint64_t digest, const void *part);
void weft__cliques_explain(FILE *text, const struct weft__network *net);

/// For the box's operation `add_credit`; see tin_check_state.c.
struct weft__credit_sums;
void weft__tin_add_credit(const struct weft__network *net, uint32_t node, const struct weft_packet *flying,
                          struct weft__credit_sums *sums);
/// For the box's operation `check_state`; see tin_check_state.c.
void weft__tin_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c);
