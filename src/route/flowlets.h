// SPDX-License-Identifier: Apache-2.0
// A switch's table of flowlets: bursts of one flow, separated by a pause longer than the difference between paths, so
// that the next burst may take another path and still arrive after this one. As in switches the table is indexed by a
// hash: flows that share an entry share a path, and extend one another's flowlets.
#pragma once

#include "route/hash.h"

struct weft__flowlets_conf {
    weft_time_ps gap_ps;
    uint64_t entries;
};
/// Its rows for a model's table; T must have it as member `flowlets`.
#define WEFT__FLOWLETS_ROWS(T)                                                                                         \
    WEFT_TIME(T, flowlets.gap_ps, "gap", "256us", "0ns", "1s",                                                         \
              "after a pause longer than this a flow may change its path (Meta: 256us to 512us at 200G for less than " \
              "a packet a second out of order)"),                                                                      \
        WEFT_UINT(T, flowlets.entries, "entries", "4096", "1", "1048576",                                              \
                  "entries of a switch's flowlet table (assumed)")

struct weft__flowlet {
    weft_time_ps last_ps;
    uint16_t port;
    bool used;
};

/// The entry of the packet's flow: destination, UDP source port and destination queue pair.
static inline struct weft__flowlet *weft__flowlets_at(struct weft__flowlet *table,
                                                      const struct weft__flowlets_conf *conf,
                                                      const struct weft_route_query *query) {
    return &table[(uint64_t)weft__route_hash_qp(query) * conf->entries >> 32];
}

/// Index of the path that the packet must keep; WEFT_NONE: it may take any (or its own has failed).
static inline uint32_t weft__flowlets_kept(const struct weft__flowlet *flowlet, const struct weft__flowlets_conf *conf,
                                           const struct weft_route_query *query) {
    if (!flowlet->used || query->packet->time_ps > flowlet->last_ps + conf->gap_ps) return WEFT_NONE;
    return weft__route_find(query, flowlet->port);
}

static inline void weft__flowlets_note(struct weft__flowlet *flowlet, const struct weft_route_query *query,
                                       uint32_t index) {
    *flowlet = (struct weft__flowlet){query->packet->time_ps, query->port[index], true};
}
