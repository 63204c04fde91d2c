// SPDX-License-Identifier: Apache-2.0
// Hosts that are not at the interface nodes of a fabric. The interface node at which a packet comes in chooses the
// Ethernet port, of whichever of them, by which it leaves the fabric, by the hash of ECMP over all there are; the one
// that has the port comes to the same choice. So a fabric hashes once, with one seed.
#ifndef WEFT_DEVICE_DSF_OUTSIDE_H
#define WEFT_DEVICE_DSF_OUTSIDE_H

#include "weft/exits.h"
#include "weft/route.h"

struct weft__outside_exit {
    uint32_t in;   ///< interface node, by its number
    uint16_t port; ///< among its Ethernet ports
};

/// Of a fabric, in force from a time on.
struct weft__outside_epoch {
    weft_time_ps from_ps;
    const uint32_t *edge_of_host;
    const uint32_t *set_of; ///< [edge]
    const struct weft_exit_set *set;
    const struct weft__outside_exit *exit; ///< as weft_exits has them
};

struct weft__outside {
    const struct weft__outside_epoch *epoch;
    uint32_t epochs;
    const uint32_t *fabric_of_host; ///< [hosts], WEFT_NONE: in none
    const uint16_t *index;          ///< 0, 1, 2 ..: candidates of the route model
    uint32_t fabric, hash_seed;
    const struct weft_route_ops *route;
    const void *route_conf;
};

/// Where a packet leaves by now; false: nowhere. Times may go back by what it takes to cross the fabric.
bool weft__outside_exit(const struct weft__outside *outside, weft_time_ps now, const struct weft_packet *p,
                        struct weft__outside_exit *ret_exit);
/// Where it leaves by at interface node `in`, which a choice that is no longer in force has led it to; false: nowhere.
bool weft__outside_own_exit(const struct weft__outside *outside, weft_time_ps now, const struct weft_packet *p,
                            uint32_t in, struct weft__outside_exit *ret_exit);

#endif
