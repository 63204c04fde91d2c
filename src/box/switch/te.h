// SPDX-License-Identifier: Apache-2.0
// A switch under a controller: it sends its measurements there at the end of each interval, and entries come back.
// Messages use a management network of which only the delay is modelled. Their content is too long for a packet: it is
// in memory that both can access, written by one of them in an earlier window than the other reads it.
#pragma once

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
    const struct weft_cspf_entry *entry; ///< the plan's or, if there is room, the agent's own
    uint32_t n, room;
};

/// Both are kept for as many rounds as are in progress at the same time, plus two. The reader empties them, so that
/// over ranks nothing is sent for empty ones.
struct weft__te_agent {
    struct weft_route_schedule schedule;
    uint32_t controller, inbox;     ///< its node; of that
    uint32_t kept;                  ///< rounds
    struct weft__te_report *report; ///< [round % kept]; NULL: demands are not needed
    struct weft__te_orders *orders; ///< [round % kept]
};

/// For orders to the switch: their messages arrive by no port of the switch.
enum { WEFT__TE_PORT = UINT16_MAX };

/// Round k covers the interval that ends at k times its length.
static inline uint64_t weft__te_round(const struct weft_route_schedule *schedule, weft_time_ps end) {
    return end / schedule->interval_ps;
}

/// Called at the end of an interval.
void weft__switch_te_report(struct weft__switch *sw, struct weft__worker *w);
/// Installs the entries of a plan in place of those in force.
void weft__switch_te_install(struct weft__switch *sw, struct weft__te_orders *orders);
