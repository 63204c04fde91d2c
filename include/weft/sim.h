// SPDX-License-Identifier: Apache-2.0
// One run: scenario, topology and workload in, outcome out.
#pragma once

#include <stdio.h>

#include "weft/outcome.h"
#include "weft/summary.h"
#include "weft/weft.h"

/// A variant bound, with its network and its flows.
struct weft_simulation {
    struct weft_scenario *scenario;
    struct weft_topology *topology; ///< in `arena`
    struct weft_workload *workload; ///< in the scenario's
    struct weft_arena *arena;
    struct weft_memory *own; ///< that all of it is in; NULL: the caller's
};

/// weft_simulation_new (weft/weft.h) for callers that will not run it: flows of jobs' all-to-alls are only counted.
enum weft_status weft_simulation_count(const struct weft_scenario_file *file, uint32_t variant,
                                       struct weft_simulation **ret_simulation, struct weft_error *ret_error);

/// What a run keeps for a connection of an all-to-all, with one queue pair and one message.
weft_bytes weft_simulation_connection_bytes(void);

/// Does the configuration of every device fit its place in the topology? weft_simulate asks too; ask first to fail
/// before anything runs.
enum weft_status weft_simulation_check(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                       struct weft_error *ret_error);

/// Can every flow be carried, and every job be done? Packets of a queue pair are numbered with 32 bits, and simulated
/// time ends. weft_simulate asks this, too.
enum weft_status weft_simulation_check_workload(const struct weft_scenario *scenario,
                                                const struct weft_topology *topology,
                                                const struct weft_workload *workload, struct weft_error *ret_error);

/// Runs to the end. WEFT_OK, WEFT_ERROR_STALL (or time was over; the outcome is filled all the same),
/// WEFT_ERROR_CONSERVATION (likewise), WEFT_ERROR_INPUT (no outcome) or WEFT_ERROR_SYSTEM (the capture cannot be
/// written; an outcome if it ran). Free with weft_outcome_free.
enum weft_status weft_simulate(const struct weft_scenario *scenario, const struct weft_topology *topology,
                               const struct weft_workload *workload, const struct weft_sim_options *options,
                               struct weft_outcome **ret_outcome, struct weft_error *ret_error);

/// Can run.seed make a difference? False is certain; true is not: a box that sprays draws, if only where to begin.
bool weft_simulation_draws(const struct weft_scenario *scenario, const struct weft_topology *topology);

/// weft_topology_summarise with what the scenario's boxes take, and with their fabrics.
struct weft_topology_summary *weft_boxes_summarise(const struct weft_scenario *scenario, const struct weft_topology *t,
                                                   struct weft_arena *arena);
/// What boxes say of the fabrics that they make up in a network, for people.
void weft_boxes_describe(FILE *file, const struct weft_topology *t, const struct weft_topology_summary *network);

/// Addresses of what is simulated, the same wherever bytes are shown. A port's MAC address: 02-00 and its number among
/// all ports, in network order (locally administered, IEEE 802). A host's IPv4 address: 10.0.0.1 and up. The QPN of the
/// NIC's queue pair with that number, from 0: 2 to 0xfffffe.
void weft_address_mac(uint32_t port, uint8_t *ret_mac);
uint32_t weft_address_ipv4(uint32_t host);
void weft_address_gid(const uint8_t *mac, uint8_t *ret_gid); ///< link-local, by EUI-64 (RFC 4291)
uint32_t weft_address_qp(uint32_t number);

/// The way of a queue pair's data: the ports (among all) that it leaves by, its host's first.
struct weft_path {
    uint32_t flow, qp; ///< the qp-th queue pair of the flow
    uint32_t hops;
    uint32_t *port;
};
/// The ways of all queue pairs of a workload with all links up, for route models that choose one by the packet's
/// headers. A DSF is crossed in one hop: after the port to its interface node comes that by which the packet leaves it,
/// of whichever interface node. In flow order, in `arena`.
struct weft_path *weft_paths_trace(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   const struct weft_workload *workload, struct weft_arena *arena, uint64_t *ret_paths);

/// About what the data frames of the workload take in the file of the scenario's capture, without its limit and times;
/// where packets are sprayed, if each queue pair took one way. 0: nothing is captured, or cells are.
weft_bytes weft_capture_expected_bytes(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                       const struct weft_workload *workload);
