// SPDX-License-Identifier: Apache-2.0
// Walks through the programmed tables: whether a cell for a destination is bound to arrive, whichever candidate it
// takes. A cell is in a state: at a TiN, having arrived by a port, with a routing VC. Results for states are kept, and
// when an entry or a port changes only dependent states are walked again, so that every write into a full Clique can be
// checked.
#pragma once

#include "control/clique/sdn_tables.h"

/// A state, for one destination.
struct weft__sdn_state {
    uint16_t tin;
    uint8_t slot, vc;
};

/// The first six are the caller's. One byte per state and destination.
struct weft__sdn_walk {
    const struct weft__sdn_wiring *wiring;
    const struct weft__sdn_tables *tables;
    const struct weft__sdn_groups *groups;
    bool *const *present;         ///< [tin][group]
    const uint64_t *up;           ///< [tins]: mask of ports; others are ignored
    const bool *kept;             ///< [tins * tins], by destination and source: paths that no write may break
    uint8_t **known;              ///< [tins] by destination: [tins * slots * 3]
    bool *arrives;                ///< [tins * tins], by destination and source, as last settled
    struct weft__sdn_state *list; ///< states whose predecessors must be updated
    uint16_t *turned;             ///< sources to be settled, some perhaps twice
    uint32_t n, capacity, turns, turn_capacity;
    bool too_far;
};

/// The sources of a destination from which cells are no longer bound to arrive, with and without a path that must be
/// kept; and those from which they are again.
struct weft__sdn_turned {
    uint32_t broken, given_up, found;
};

/// Walks from every TiN to every other.
void weft__sdn_walk_begin(struct weft__sdn_walk *w);
/// The same, copied from another walk over the same tables.
void weft__sdn_walk_copy(struct weft__sdn_walk *w, const struct weft__sdn_walk *from);
void weft__sdn_walk_deinit(struct weft__sdn_walk *w);
/// The candidates of a state may have changed. Call it for any number of states before settling.
void weft__sdn_walk_renew(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state state);
/// The results for one destination.
struct weft__sdn_turned weft__sdn_walk_settle(struct weft__sdn_walk *w, uint32_t dst);
