// SPDX-License-Identifier: Apache-2.0
// A switch under a controller: what it measured goes there at the end of each interval, entries come back. Messages go
// over a management network of which nothing but the delay is modelled. What they say is too long for a packet: it lies
// where both can see it, written by one of them in a window before that in which the other reads.
#ifndef WEFT_BOX_SWITCH_TE_H
#define WEFT_BOX_SWITCH_TE_H

#include "engine/engine.h"
#include "weft/cspf.h"
#include "weft/route.h"

struct weft__switch;

/// What a switch measured in an interval.
struct weft__te_report {
    uint32_t n, capacity;
    struct weft__te_key {
        weft_bytes bytes;
        uint32_t edge;
        uint16_t port;
    } * key;
};

/// The entries of a switch in a plan.
struct weft__te_orders {
    const struct weft_cspf_entry *entry; ///< the plan's, or if there is room for some, the agent's own
    uint32_t n, room;
};

/// Both are kept for as many rounds as are under way at once, and two more. Whoever has read them empties them, so that
/// over ranks nothing has to be sent of those that are empty.
struct weft__te_agent {
    struct weft_route_schedule schedule;
    uint32_t controller, inbox;     ///< its node; of that
    uint32_t kept;                  ///< rounds
    struct weft__te_report *report; ///< [round % kept]; NULL: no demands are asked for
    struct weft__te_orders *orders; ///< [round % kept]
};

/// Of orders, to the switch: messages come by no port of the switch.
enum { WEFT__TE_PORT = UINT16_MAX };

/// Round k is about the interval that ends at k times its length.
static inline uint64_t weft__te_round(const struct weft_route_schedule *schedule, weft_time_ps end) {
    return end / schedule->interval_ps;
}

/// At the end of an interval.
void weft__switch_te_report(struct weft__switch *sw, struct weft__worker *w);
/// Those of a plan in place of the entries in force.
void weft__switch_te_install(struct weft__switch *sw, struct weft__te_orders *orders);

#endif
