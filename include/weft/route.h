// SPDX-License-Identifier: Apache-2.0
// Choice of one next hop among the candidates of weft/routes.h. A model either decides by the packet alone (select) or
// keeps a state in every switch (choose). The switch may call select in advance, while the packet is on the link; it
// calls choose when the packet arrives, in the order of arrivals, with the egress queues of that moment.
#pragma once

#include "weft/model.h"
#include "weft/packet.h"

struct weft_route_query {
    const struct weft_packet *packet; ///< port: its input; time_ps: now (0 for a route that is traced without a run)
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

/// Hash of the 5-tuple, by destination and UDP source port: the other fields of RoCEv2 are constant, and the UDP source
/// port that a NIC draws distinguishes sources.
static inline uint32_t weft_route_hash(const struct weft_route_query *query) {
    return weft_route_mix(weft_route_mix(query->hash_seed ^ query->packet->dst) + query->packet->entropy);
}

/// The candidate of a hash: RFC 2992, hash-threshold.
static inline uint32_t weft_route_index(const struct weft_route_query *query, uint32_t hash) {
    return (uint32_t)((uint64_t)hash * query->ports >> 32);
}

/// Whether a port leads to a lower tier (nearer to hosts), a higher one, or the same one.
enum weft_route_direction { WEFT_ROUTE_DOWN, WEFT_ROUTE_UP, WEFT_ROUTE_ACROSS };
struct weft_route_port {
    uint32_t peer; ///< node at the other end
    uint32_t pod;  ///< of that node, or WEFT_NONE
    enum weft_route_direction direction;
    bool host;   ///< the peer is a host
    uint32_t id; ///< the number that the peer's name ends with, or 0; only with weft_route_ops.by_id
};

/// A switch, for models that keep state.
struct weft_route_setup {
    uint64_t seed;
    uint32_t sw;
    uint32_t ports, edges;              ///< edges: switches with hosts, in the network
    const struct weft_route_port *port; ///< [ports]; only during state_size and init
    uint32_t id;                        ///< the number that the switch's name ends with, or 0
    const uint32_t *host_id;            ///< [hosts] number that a host's name ends with; NULL: use its index. Valid
                                        ///< during the run
    const uint16_t *downlink;           ///< [hosts] which of its leaf's downlinks leads to a host. Valid during the run
};

/// Egress queues of the switch.
struct weft_route_queues {
    /// Bytes of that priority that wait at a port, plus the bytes left of the frame that the port is sending.
    weft_bytes (*depth)(const void *context, uint32_t port, uint32_t priority);
    const void *context;
};

/// For models whose paths a controller computes from traffic that switches have measured (weft/cspf.h). An entry maps
/// a key, an ingress port and the destination's switch, to an output.
struct weft_route_program {
    /// When to measure, and how long messages take. Equal in all switches.
    struct weft_route_schedule {
        weft_time_ps interval_ps, collector_ps, programming_ps;
        bool known; ///< demands are known from the workload beforehand, and not measured
    } (*schedule)(const void *conf);
    /// Calls on_key with the bytes received from hosts since the last call, for each key that has any, in the order of
    /// ports, then destinations.
    void (*measured)(void *state, const void *conf,
                     void (*on_key)(void *context, uint32_t port, uint32_t edge, weft_bytes bytes), void *context);
    /// clear removes all entries; enter then adds those of the new plan, one per call.
    void (*clear)(void *state, const void *conf);
    void (*enter)(void *state, const void *conf, uint32_t in, uint32_t edge, uint32_t out);
    /// Replaces all entries of a switch's state by those of another state of the same switch.
    void (*copy)(void *state, const void *from);
    /// Counts packets so far: those routed by an entry, and those routed by the fallback.
    void (*counts)(const void *state, uint64_t *ret_by_entry, uint64_t *ret_by_fallback);
};

/// Where packets of one queue pair go: all by one path, whatever else is on the way; or evenly by all candidates.
enum weft_route_paths { WEFT_ROUTE_PATHS_UNKNOWN, WEFT_ROUTE_PATHS_ONE, WEFT_ROUTE_PATHS_ALL };

struct weft_route_ops {
    /// Hot. Index into query->port, < query->ports. Called only with two candidates or more. Required without `choose`.
    uint32_t (*select)(const void *conf, const struct weft_route_query *query);
    /// Required. Seed of switch `sw` for a run with this seed.
    uint32_t (*hash_seed)(const void *conf, uint64_t seed, uint32_t sw);
    bool by_tuple; ///< `select` equals weft_route_index of weft_route_hash: a switch may compute that itself
    bool by_id;    ///< it uses the numbers in names of nodes
    /// Instead of `select`, all three or none. The caller zeroes the state before init. The same calls in the same
    /// order give the same choices. choose: as select.
    size_t (*state_size)(const void *conf, const struct weft_route_setup *setup);
    void (*init)(void *state, const void *conf, const struct weft_route_setup *setup);
    uint32_t (*choose)(void *state, const void *conf, const struct weft_route_query *query,
                       const struct weft_route_queues *queues);
    const struct weft_route_program *program; ///< NULL: no controller
    /// With `choose`, for weft estimate, which refuses a model without it. (What `select` decides is one path.)
    enum weft_route_paths (*paths)(const void *conf);
    weft_model_fingerprint *fingerprint; ///< optional, with a state
};
