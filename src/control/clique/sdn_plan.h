// SPDX-License-Identifier: Apache-2.0
// The routing engine: from what is programmed and a state of the links to changes of flows, in sequenced batches.
#pragma once

#include "control/clique/sdn_tables.h"

struct weft__sdn_change {
    uint32_t tin, column, row; ///< of the intended tables
    uint32_t group;            ///< 0: the flow is removed
    uint32_t batch;            ///< from 1
};
struct weft__sdn_plan {
    struct weft__sdn_change *change; ///< by batch
    uint32_t n, capacity, batches;
};

/// The changes of `meant` for these routes. New groups are numbered in `groups`. `up`: [tins] the ports considered.
void weft__sdn_plan(struct weft__sdn_plan *ret, const struct weft__sdn_wiring *w, struct weft__sdn_columns *columns,
                    struct weft__sdn_groups *groups, const struct weft__sdn_tables *meant,
                    const struct weft_gnet_routes *routes, const uint64_t *up);
/// Puts everything in one batch.
void weft__sdn_plan_flatten(struct weft__sdn_plan *plan);
void weft__sdn_plan_deinit(struct weft__sdn_plan *plan);
