// SPDX-License-Identifier: Apache-2.0
// A network assembled for one run: devices on an engine, queue pairs, routes of every epoch.
#ifndef WEFT_BOX_NETWORK_H
#define WEFT_BOX_NETWORK_H

#include "box/nic/nic.h"
#include "box/switch/switch.h"
#include "link/lldp.h"
#include "weft/sim.h"

struct weft__network {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_workload *workload;
    struct weft_outcome *outcome;
    struct weft__engine engine;
    const struct weft_device_conf **device; ///< of a node
    struct weft__epoch *epoch;
    uint32_t epochs;
    struct weft__dsf *dsf;         ///< NULL: there is no DSF box
    struct weft__cliques *cliques; ///< NULL: there is no TiN
    uint32_t qps;
    weft_time_ps sfc_pause_ps; ///< the longest that source flow control may ask for; 0: it is nowhere
    struct weft__qp_conf *qp;
    struct weft__hosts hosts;
    struct weft__programs *programs;     ///< NULL: there is no job
    struct weft_histogram **round_trips; ///< [workers][priorities]; NULL: not measured
    struct weft__rma_run *rma;           ///< NULL: no remote memory access
    struct weft__qp_lists {
        uint32_t *send_first, *receive_first; ///< of a host; and one more
        uint32_t *send, *receive;             ///< queue pairs that each host sends, or receives
    } qp_lists;
    bool made;                           ///< the devices are
    struct weft__gpu **gpu;              ///< of a host, NULL if it is in no job; NULL: there is no job
    const struct weft__lldp_frame *lldp; ///< of every port; NULL: nobody speaks LLDP
    struct weft__te *te;                 ///< NULL: no controller
    struct weft__capture *capture;       ///< NULL: none
    uint32_t events_max;                 ///< to be recorded of a node; 0: none
    struct weft_arena *arena_switch, *arena_host, *arena_qp;
};

/// The port structure of a port of the topology; NULL: it is no Ethernet port. See box.h.
struct weft__port *weft__network_port(const struct weft__network *net, uint32_t port);

/// The entropy of the k-th queue pair from a host to another: so named, no flow changes that of one to elsewhere. Two
/// destinations may see the same; ECMP hashes them as well. `conf`: of the host.
static inline uint16_t weft__qp_entropy(const struct weft_host_conf *conf, uint64_t seed, uint32_t src, uint64_t k) {
    struct weft_random entropy = weft_random_stream(seed, src, WEFT_RANDOM_ENTROPY);
    entropy.drawn = conf->source_port == WEFT_SOURCE_PORT_HOST_PAIR ? 0 : k;
    return weft_random_u64(&entropy) & 0x3fff;
}
/// For each flow, how many queue pairs of earlier flows have the same source and destination. In `arena`.
uint64_t *weft__qps_before(const struct weft_workload *workload, struct weft_arena *arena);

/// Of all queue pairs. Each NIC counts its own in the order of the flows. In `arena`.
const struct weft_qp_numbers *weft__qp_numbers(const struct weft_workload *workload, uint32_t hosts,
                                               struct weft_arena *arena);

/// The longest pause that source flow control may ask for; 0: it is nowhere.
weft_time_ps weft__sfc_pause_max(const struct weft_topology *topology, const struct weft_device_conf **device);

/// What may happen to frames sent by a port; NULL: nothing.
struct weft__port_faults *weft__network_faults(const struct weft__network *net, uint32_t port,
                                               struct weft_arena *arena);

/// The record of a node; NULL: none.
struct weft__trace *weft__network_trace(const struct weft__network *net, uint32_t node);
/// The records of all nodes, merged and their causes joined, into the outcome. When the devices have finished.
void weft__network_collect_events(struct weft__network *net);

/// Text of who waits for whom, in the outcome's arena.
char *weft__network_explain_stall(const struct weft__network *net);

/// What the route model of a switch remembers, before the first packet; NULL: nothing. `edges`: of the routes. In
/// `arena`.
void *weft__route_state_new(const struct weft_topology *topology, uint32_t node, const struct weft_switch_conf *conf,
                            uint32_t edges, uint64_t seed, struct weft_arena *arena);

/// Where packets go with the links in one state: the same routes, seeds and route models as in a run. Models with state
/// remember what was asked before, and see empty queues.
struct weft__ways {
    const struct weft_topology *t;
    const struct weft_device_conf **device;
    const struct weft_routes *routes;
    uint32_t *hash_seed; ///< of a switch
    void **route_state;  ///< likewise
    const struct weft_qp_numbers *qp_numbers;
};
struct weft__ways weft__ways_new(const struct weft_topology *topology, const struct weft_device_conf **device,
                                 const struct weft_routes *routes, uint64_t seed, struct weft_arena *arena);
/// The port (from 0) by which a packet that came by packet->port leaves `node`, towards packet->dst; WEFT_NONE: no
/// route.
uint32_t weft__ways_port(const struct weft__ways *ways, uint32_t node, const struct weft_packet *packet);

/// See weft_calc_ideal_fct; for many flows of one network. `qp`, `entropy`: of the flow's first queue pair.
weft_time_ps weft__calc_ideal_fct(const struct weft__ways *ways, const struct weft_flow *flow, uint32_t qp,
                                  uint16_t entropy);

#endif
