// SPDX-License-Identifier: Apache-2.0
// Hosts that are not at the interface nodes of a fabric. The interface node at which a packet comes in chooses the
// Ethernet port, of whichever of them, by which it leaves the fabric, by the hash of ECMP over all that it has been
// told of; the one that has the port comes to the same choice, by what the other knows. So a fabric hashes once, with
// one seed.
#ifndef WEFT_BOX_DSF_DSF_OUTSIDE_H
#define WEFT_BOX_DSF_DSF_OUTSIDE_H

#include "weft/exits.h"
#include "weft/route.h"

struct weft__outside_exit {
    uint32_t in;   ///< interface node, by its number
    uint16_t port; ///< among its Ethernet ports
};

/// What an interface node knows from a time on.
struct weft__outside_epoch {
    weft_time_ps from_ps;
    const struct weft_exit_set *set; ///< [classes of destinations]
};
struct weft__outside_view {
    uint32_t epochs;
    const struct weft__outside_epoch *epoch;
};

/// Of a fabric.
struct weft__outside {
    const struct weft__outside_view *view; ///< [interface nodes], of those in the fabric
    const struct weft__outside_exit *exit; ///< of all sets
    const uint32_t *class_of_host;         ///< WEFT_NONE: there is no way, ever
    const uint32_t *fabric_of_host;        ///< [hosts], WEFT_NONE: in none
    const uint16_t *index;                 ///< 0, 1, 2 ..: candidates of the route model
    uint32_t fabric, hash_seed;
    const struct weft_route_ops *route;
    const void *route_conf;
    bool resilient; ///< who has an exit that is still there keeps it
    const struct weft_qp_numbers *qp_numbers;
};

/// Where a packet that came in at interface node `from` leaves by now; false: nowhere. Times may go back by what it
/// takes to cross the fabric.
bool weft__outside_exit(const struct weft__outside *outside, weft_time_ps now, const struct weft_packet *p,
                        uint32_t from, struct weft__outside_exit *ret_exit);
/// Where it leaves by at interface node `in`, which a choice that is no longer in force has led it to; false: nowhere.
bool weft__outside_own_exit(const struct weft__outside *outside, weft_time_ps now, const struct weft_packet *p,
                            uint32_t in, struct weft__outside_exit *ret_exit);

#endif
