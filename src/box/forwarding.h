// SPDX-License-Identifier: Apache-2.0
// Where packets go: the routes over time, and the choices of an Ethernet port's route model.
#pragma once

#include "weft/route.h"
#include "weft/routes.h"
#include "weft/sim.h"

/// Routes in force from a time on; the end of the last one is never reached.
struct weft__epoch {
    weft_time_ps from_ps;
    const struct weft_routes *routes;
    const bool *severed; ///< [paths of the workload]: one of its links is out of service
};

/// The port of a switch (index) that a flow's path names for a packet; NULL: none. `path`: the workload's; `severed`:
/// those out of service, or NULL.
static inline const uint16_t *weft__path_port(const struct weft_flow_path *path, const bool *severed, uint32_t sw,
                                              const struct weft_packet *packet, const struct weft_qp_numbers *numbers) {
    uint32_t k = packet->kind == WEFT_PACKET_DATA ? numbers[packet->qp].path : 0;
    if (!k || (severed && severed[k])) return NULL;
    for (uint32_t i = 0; i < path[k].switches; i++)
        if (path[k].hop[i].sw == sw) return &path[k].hop[i].port;
    return NULL;
}

/// The initial state of a switch's route model; NULL: it has none. `edges`: of the routes. In `arena`.
void *weft__route_state_new(const struct weft_topology *topology, uint32_t node, const struct weft_switch_conf *conf,
                            uint32_t edges, uint64_t seed, struct weft_arena *arena);

/// Where packets go with the links in one state: the same routes, seeds and route models as in a run. Models with state
/// remember earlier calls.
struct weft__forwarding {
    const struct weft_topology *t;
    const struct weft_device_conf **device;
    const struct weft_routes *routes;
    uint32_t *hash_seed; ///< of a switch
    void **route_state;  ///< likewise
    const struct weft_qp_numbers *qp_numbers;
    const struct weft_flow_path *path; ///< of the workload; NULL: no flow names one
    const void **programmed; ///< [switches] states of a run, whose entries new ones have, too; NULL: there are none
    uint64_t seed;
    struct weft_route_queues queues; ///< queue depths for route models with state; at first 0
    void **kept; ///< [WEFT_BOXES]: what a kind of box keeps from one crossing to the next, in `arena`
    struct weft_arena *arena;
};
struct weft__forwarding weft__forwarding_new(const struct weft_topology *topology,
                                             const struct weft_device_conf **device, const struct weft_routes *routes,
                                             uint64_t seed, struct weft_arena *arena);
/// The port (from 0) by which a packet that arrived by packet->port leaves `node` towards packet->dst; WEFT_NONE: no
/// route.
uint32_t weft__forwarding_port(const struct weft__forwarding *forwarding, uint32_t node,
                               const struct weft_packet *packet);
