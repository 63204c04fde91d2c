// SPDX-License-Identifier: Apache-2.0
// Choice of one next hop among the candidates of weft/routes.h. A model either knows nothing but the packet (select) or
// keeps state in every switch (choose). What needs no state is decided ahead, while the packet is still under way;
// state sees packets in the order in which the switch does, and egress queues as they are at that moment.
#ifndef WEFT_ROUTE_H
#define WEFT_ROUTE_H

#include "weft/model.h"
#include "weft/packet.h"

struct weft_route_query {
    const struct weft_packet *packet; ///< port: where it came in; time_ps: now (of a way traced without a run: 0)
    uint32_t hash_seed;               ///< of this switch
    uint32_t ports;                   ///< candidates
    const uint16_t *port;             ///< [ports], ascending
    uint32_t edge;                    ///< the destination's switch, among those with hosts; only for `choose`
    const struct weft_qp_numbers *qp_numbers;
};

/// The 32-bit finaliser of MurmurHash3 (A. Appleby, public domain).
static inline uint32_t weft_route_mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/// Of the 5-tuple: destination and UDP source port; the other fields of RoCEv2 are the same for all, and the source is
/// told apart by the port that its NIC draws.
static inline uint32_t weft_route_hash(const struct weft_route_query *query) {
    return weft_route_mix(weft_route_mix(query->hash_seed ^ query->packet->dst) + query->packet->entropy);
}

/// The candidate of a hash: RFC 2992, hash-threshold.
static inline uint32_t weft_route_index(const struct weft_route_query *query, uint32_t hash) {
    return (uint32_t)((uint64_t)hash * query->ports >> 32);
}

/// Where a port leads: nearer to hosts, away from them, or neither.
enum weft_route_direction { WEFT_ROUTE_DOWN, WEFT_ROUTE_UP, WEFT_ROUTE_ACROSS };
struct weft_route_port {
    uint32_t peer; ///< node at the other end
    uint32_t pod;  ///< of that node, or WEFT_NONE
    enum weft_route_direction direction;
    bool host;   ///< the peer is one
    uint32_t id; ///< the number that the peer's name ends with, or 0; only with weft_route_ops.by_id
};

/// A switch, for models that keep state.
struct weft_route_setup {
    uint64_t seed;
    uint32_t sw;
    uint32_t ports, edges;              ///< edges: switches with hosts, in the network
    const struct weft_route_port *port; ///< [ports]; only during state_size and init
    uint32_t id;                        ///< as that of a port
    const uint32_t *host_id;            ///< [hosts] likewise, for the whole run; NULL: a host's index
    const uint16_t *downlink;           ///< [hosts] which of its leaf's downlinks leads to a host; for the whole run
};

/// Egress queues of the switch.
struct weft_route_queues {
    /// Bytes of that priority that wait at a port, and what is left of the frame it is sending.
    weft_bytes (*depth)(const void *context, uint32_t port, uint32_t priority);
    const void *context;
};

/// Of models whose paths a controller computes from what switches measured (weft/cspf.h). Keys are an ingress port and
/// a destination's switch.
struct weft_route_program {
    /// When to measure, and how long messages take. Equal in all switches.
    struct weft_route_schedule {
        weft_time_ps interval_ps, collector_ps, programming_ps;
        bool known; ///< demands are known from the workload beforehand, and not measured
    } (*schedule)(const void *conf);
    /// What came in by ports of hosts since the last call, by key: those with any bytes, by port, then destination.
    void (*measured)(void *state, const void *conf,
                     void (*on_key)(void *context, uint32_t port, uint32_t edge, weft_bytes bytes), void *context);
    /// In place of all entries: none. Then those of the new plan, one by one.
    void (*clear)(void *state, const void *conf);
    void (*enter)(void *state, const void *conf, uint32_t in, uint32_t edge, uint32_t out);
    /// Replaces all entries of a switch's state by those of another state of the same switch.
    void (*copy)(void *state, const void *from);
    /// Packets so far that followed an entry, and that did not.
    void (*counts)(const void *state, uint64_t *ret_by_entry, uint64_t *ret_by_fallback);
};

struct weft_route_ops {
    /// Hot. Index into query->port, < query->ports. Called only with two candidates or more. Required without `choose`.
    uint32_t (*select)(const void *conf, const struct weft_route_query *query);
    /// Required. Seed of switch `sw` for a run with this seed.
    uint32_t (*hash_seed)(const void *conf, uint64_t seed, uint32_t sw);
    bool by_tuple; ///< `select` is weft_route_index of weft_route_hash: a switch may do that itself
    bool by_id;    ///< it goes by the numbers in names of nodes
    /// Instead of `select`, all three or none. The state is zeroed before init. The same calls give the same choices.
    size_t (*state_size)(const void *conf, const struct weft_route_setup *setup);
    void (*init)(void *state, const void *conf, const struct weft_route_setup *setup);
    uint32_t (*choose)(void *state, const void *conf, const struct weft_route_query *query,
                       const struct weft_route_queues *queues);
    const struct weft_route_program *program; ///< NULL: no controller
    weft_model_still *still;                  ///< optional, with a state
};

#endif
