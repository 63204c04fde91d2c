// SPDX-License-Identifier: Apache-2.0
// Hosts that are not at interface nodes of a fabric. The interface node where a packet enters chooses the Ethernet
// port, at any interface node, by which it leaves the fabric: by the hash of ECMP over all exits that it knows of. The
// node with that port makes the same choice from what it knows. So a fabric hashes once, with one seed.
#pragma once

#include "weft/exits.h"
#include "weft/route.h"

struct weft__outside_exit {
    uint32_t in;   ///< number of the interface node
    uint16_t port; ///< its number among the Ethernet ports
};

/// What an interface node knows from a certain time on.
struct weft__outside_epoch {
    weft_time_ps from_ps;
    const struct weft_exit_set *set; ///< [classes of destinations]
};
struct weft__outside_view {
    uint32_t epochs;
    const struct weft__outside_epoch *epoch;
};

/// Per fabric.
struct weft__outside {
    const struct weft__outside_view *view; ///< [interface nodes of the fabric]
    const struct weft__outside_exit *exit; ///< the exits of all sets
    const uint32_t *class_of_host;         ///< WEFT_NONE: it is never reachable
    const uint32_t *fabric_of_host;        ///< [hosts]; WEFT_NONE: in none
    const uint16_t *index;                 ///< 0, 1, 2, ...: candidates for the route model
    uint32_t fabric, hash_seed;
    const struct weft_route_ops *route;
    const void *route_conf;
    bool resilient; ///< a flow whose exit still exists keeps it
    const struct weft_qp_numbers *qp_numbers;
};

/// Where a packet that entered at interface node `from` leaves now; false: nowhere. Times may go back by the time that
/// crossing the fabric takes.
bool weft__outside_exit(const struct weft__outside *outside, weft_time_ps now, const struct weft_packet *p,
                        uint32_t from, struct weft__outside_exit *ret_exit);
/// Where it leaves at interface node `in`, to which a choice that is no longer in force has led it; false: nowhere.
bool weft__outside_own_exit(const struct weft__outside *outside, weft_time_ps now, const struct weft_packet *p,
                            uint32_t in, struct weft__outside_exit *ret_exit);
