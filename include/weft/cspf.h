// SPDX-License-Identifier: Apache-2.0
// Centralised traffic engineering: paths for demands by constrained shortest path first. A demand is what comes in by a
// port of a switch (a host's) for a destination switch; its path is an entry (ingress port, destination) -> egress port
// at each switch of it that has a choice.
//
// Demands are placed one after the other, the largest first (of equal ones by switch, port, destination), on the links
// that are in service. Paths are those of weft/routes.h: shortest in hops. Of these a demand takes the one whose
// fullest link, with the demand on it, is the least full in relation to its rate; of equal ones that with the lowest
// sum of its links' utilisations; then the one it had before; then the lowest port. The search decides link by link
// from the destination backwards, so that the sum is minimised among paths that are equal from each switch on. It goes
// on a link beyond its rate only if every path has one: it is placed nevertheless, and counted. At a switch in
// mid-path, demands that came by the same port for the same destination share an entry: the first one placed decides
// for all.
//
// Demands may be of several phases, which are never at the same time: then a link has a load of its own in each, and is
// as full as in the fullest of those in which the demand is there. The largest demand is that which is the largest in
// any.
#pragma once

#include "weft/routes.h"

struct weft_cspf_demand {
    uint32_t sw;                    ///< switch index: where it comes in
    uint32_t edge;                  ///< destination, of the routes' edge switches
    weft_rate_bps rate_bps;         ///< of several phases: in the one in which it is most
    uint16_t port;                  ///< that it comes in by, of that switch
    const weft_rate_bps *phase_bps; ///< [phases]; NULL: the same in each
};

struct weft_cspf_entry {
    uint32_t sw, edge;
    uint16_t in, out; ///< ports of that switch
    bool used;        ///< by the plan: its table of entries has free places
};

struct weft_cspf_plan {
    uint32_t entries;
    struct weft_cspf_entry *entry; ///< by switch, port, destination
    uint32_t *first;               ///< [switches + 1]: the entries of a switch
    uint32_t phases;
    weft_rate_bps *load;          ///< [phases * ports], of links between switches
    uint32_t demands, beyond;     ///< placed; of these, over a link's rate
    uint32_t unreachable;         ///< not placed: there is no way
    double utilisation_max;       ///< of a link between switches, as planned, in any phase
    struct weft_cspf_entry *slot; ///< the same entries, hashed
    uint32_t mask;                ///< slots less one
};

/// In `arena`. `before`: the plan in force, or NULL. Demands of 0 bit/s, and those that come in where they are to go,
/// are left out.
struct weft_cspf_plan *weft_cspf_place_phases(const struct weft_topology *topology, const struct weft_routes *routes,
                                              uint32_t phases, const struct weft_cspf_demand *demand, uint32_t demands,
                                              const struct weft_cspf_plan *before, struct weft_arena *arena);
static inline struct weft_cspf_plan *weft_cspf_place(const struct weft_topology *topology,
                                                     const struct weft_routes *routes,
                                                     const struct weft_cspf_demand *demand, uint32_t demands,
                                                     const struct weft_cspf_plan *before, struct weft_arena *arena) {
    return weft_cspf_place_phases(topology, routes, 1, demand, demands, before, arena);
}
/// The egress port; WEFT_NONE: there is no entry.
uint32_t weft_cspf_find(const struct weft_cspf_plan *plan, uint32_t sw, uint32_t in, uint32_t edge);
