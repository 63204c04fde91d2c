// SPDX-License-Identifier: Apache-2.0
// A network assembled for one run, as boxes see it: devices on an engine, queue pairs, routes of every epoch. It knows
// no kind of box.
#pragma once

#include "box/forwarding.h"
#include "link/lldp.h"
#include "transport/driven.h"
#include "transport/qp.h"
#include "weft/sim.h"

struct weft__network {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_workload *workload;
    struct weft_outcome *outcome;
    struct weft__engine engine;
    const struct weft_device_conf **device; ///< [nodes]
    struct weft__epoch *epoch;
    uint32_t epochs;
    void *shared[WEFT_BOXES]; ///< shared by the boxes of a kind of node, see struct weft__shared; NULL: nothing
    uint32_t qps;
    weft_rate_bps host_rate_bps; ///< of the slowest link of a host
    weft_time_ps sfc_pause_ps;   ///< the longest pause that source flow control may ask for; 0: no device has it
    struct weft_qp_conf *qp;
    struct weft__hosts hosts;
    struct weft__programs *programs;     ///< NULL: there is no job
    struct weft_histogram **round_trips; ///< [workers][priorities]; NULL: not measured
    struct weft__driver *driver;         ///< NULL: no program drives the hosts
    struct weft__rma_run *rma;           ///< NULL: no remote memory access
    struct weft__raw *raw;               ///< NULL: no host is attached
    struct weft__qp_lists {
        uint32_t *send_first, *receive_first; ///< [hosts + 1]
        uint32_t *send, *receive;             ///< queue pairs that each host sends, or receives
    } qp_lists;
    bool made;                           ///< the devices exist
    uint32_t frame_bytes;                ///< the largest frame that a host sends
    bool telemetry;                      ///< some host's packets collect telemetry
    struct weft__gpu **gpu;              ///< [hosts], NULL for a host in no job; NULL: there is no job
    const struct weft__lldp_frame *lldp; ///< [ports]; NULL: no device sends LLDP
    struct weft__capture *capture;       ///< NULL: none
    struct weft__following *following;   ///< NULL: nothing is followed
    struct weft__follow *follow_node;    ///< [nodes] likewise
    uint32_t events_max;                 ///< to be recorded of a node; 0: none
    struct weft__sampling sampling;      ///< of all ports that are sampled
    struct weft__film film;              ///< without `most`: none
    struct weft__port_rows port_rows;    ///< by number of a port, or of its node's first and its number there
    struct weft_arena *arena_switch, *arena_host, *arena_qp;
};

/// What a link does to the frames that a port sends.
struct weft__port_setup {
    struct weft__port_faults *faults; ///< NULL: a perfect link
    struct weft__port_tap *tap;       ///< NULL: not captured
};

/// How many networks have the k-th host as a port of one NIC; 1: every host is a NIC.
uint32_t weft__planes(const struct weft_topology *t, const struct weft_device_conf *const *device);
/// The node that acts for this one: for a NIC with ports in several networks, its first port; else the node itself.
uint32_t weft__actor(const struct weft_topology *t, const struct weft_device_conf *const *device, uint32_t node);
uint32_t weft__network_actor(const struct weft__network *net, uint32_t node);
/// Whether it runs in this process.
bool weft__network_is_own(const struct weft__network *net, uint32_t node);
/// The port structure of a port of the topology; NULL: it is no Ethernet port. See box.h.
struct weft__port *weft__network_port(const struct weft__network *net, uint32_t port);
/// What is at the far end of a port's link, and how it reacts to arrivals.
struct weft__port_peer weft__network_peer(const struct weft__network *net, uint32_t port);
/// What may happen to frames sent by a port; NULL: nothing.
struct weft__port_faults *weft__network_faults(const struct weft__network *net, uint32_t port,
                                               struct weft_arena *arena);
/// The credit that a node's ports grant to their peers, struct weft_credit_ops.
const struct weft_model_conf *weft__credit_of(const struct weft_device_conf *device, const struct weft_node_info *node);
/// The credit that the far end of the port's link grants per priority, in a network with frames up to this size.
weft_bytes weft__credit_granted(const struct weft_topology *t, const struct weft_device_conf *const *device,
                                uint32_t frame_bytes, uint32_t port);
/// Whether that is less than full rate takes with the largest frames.
bool weft__credit_is_short(const struct weft_topology *t, const struct weft_device_conf *const *device,
                           uint32_t frame_bytes, uint32_t port);
/// The credit of a port; NULL: neither end uses credit.
struct weft__port_credit *weft__network_credit(const struct weft__network *net, uint32_t port,
                                               struct weft_arena *arena);
/// The record of a node; NULL: none.
struct weft__trace *weft__network_trace(const struct weft__network *net, uint32_t node);
/// Where the node notes followed flows; NULL: nothing is followed.
static inline struct weft__follow *weft__network_follow(const struct weft__network *net, uint32_t node) {
    return net->follow_node ? &net->follow_node[node] : NULL;
}
/// Which of a node's ports are sampled, in `arena`; NULL: none.
bool *weft__network_sampled(const struct weft__network *net, uint32_t node, struct weft_arena *arena);
