// SPDX-License-Identifier: Apache-2.0
// Walks through what is programmed: whether a cell for a destination is bound to arrive, whichever candidate it takes.
// A cell is in a state: at a TiN, come in by a port, with a routing VC. What is known of states is kept, and when an
// entry or a port changes only what depends on it is walked anew, so that every write into a full Clique can be
// watched.
#ifndef WEFT_CONTROL_CLIQUE_SDN_WALK_H
#define WEFT_CONTROL_CLIQUE_SDN_WALK_H

#include "control/clique/sdn_tables.h"

/// A state, for one destination.
struct weft__sdn_state {
    uint16_t tin;
    uint8_t slot, vc;
};

/// The first six are the caller's. A byte a state and destination.
struct weft__sdn_walk {
    const struct weft__sdn_wiring *wiring;
    const struct weft__sdn_tables *tables;
    const struct weft__sdn_groups *groups;
    bool *const *present;         ///< [tin][group]
    const uint64_t *up;           ///< [tins] mask of ports; others are left out
    const bool *kept;             ///< [tins * tins] by destination and source: ways that no write is to break
    uint8_t **known;              ///< [tins] by destination: [tins * slots * 3]
    bool *arrives;                ///< [tins * tins] by destination and source, as settled last
    struct weft__sdn_state *list; ///< states whose predecessors are to be told
    uint16_t *turned;             ///< sources that are to be settled, maybe some of them twice
    uint32_t n, capacity, turns, turn_capacity;
    bool too_far;
};

/// Sources of a destination that cells from are no longer bound to arrive, with and without a way that is to be kept,
/// and that they are again.
struct weft__sdn_turned {
    uint32_t broken, given_up, found;
};

/// Walks from every TiN to every other.
void weft__sdn_walk_begin(struct weft__sdn_walk *w);
/// The same, known from another walk over what is the same.
void weft__sdn_walk_copy(struct weft__sdn_walk *w, const struct weft__sdn_walk *from);
void weft__sdn_walk_deinit(struct weft__sdn_walk *w);
/// The candidates of a state may have changed. Any number of states, before the next is settled.
void weft__sdn_walk_renew(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state state);
/// What came of that for one destination.
struct weft__sdn_turned weft__sdn_walk_settle(struct weft__sdn_walk *w, uint32_t dst);

#endif
