// SPDX-License-Identifier: Apache-2.0
// Sizes of a disaggregated scheduled fabric (DSF): credits, request presets of VOQs, speed-up, buffers, distance. As in
// weft/plan.h: what is named calc_ is pure, a need is rounded up and an allowance down.
#pragma once

#include "weft/plan.h"

/// An interface node (RDSW, EDSW), a port of it, and the way through the fabric to another one.
struct weft_plan_dsf_conf {
    weft_rate_bps rate_bps; ///< of an Ethernet port
    uint64_t ports;         ///< of that rate
    // fabric side
    uint64_t lanes;
    weft_rate_bps lane_rate_bps; ///< as signalled
    double lane_coding;          ///< of it left for cells
    weft_bytes cell_bytes, cell_header_bytes, packet_header_bytes;
    weft_bytes mtu_bytes; ///< payload of a full packet
    // credit loop
    weft_bytes credit_bytes;
    double speedup;               ///< rate of a port's credits over its rate
    weft_time_ps delay_ps;        ///< of all cables between two interface nodes, one way
    uint64_t nodes;               ///< fabric nodes on the way
    weft_time_ps processing_ps;   ///< of each, and of an interface node
    weft_time_ps rtt_ps;          ///< of the loop; 0: from these
    uint64_t credits;             ///< in flight; 0: as many as needed
    weft_time_ps fabric_delay_ps; ///< that the presets of VOQs reckon with
    uint32_t voq_preset;          ///< enum weft_voq_preset
    // buffers
    weft_bytes sram_bytes, buffer_bytes;
    weft_bytes egress_stop_bytes;
    uint64_t interfaces;  ///< of the fabric
    weft_time_ps skew_ps; ///< between the fastest and the slowest cell of a time
    uint64_t fifo_cells;  ///< of an output of a fabric node
    uint64_t incast;
    weft_time_ps host_delay_ps; ///< to a NIC
    double distance_km;         ///< between two regions; 0: one
};
extern const struct weft_param_table weft_plan_dsf_table;

enum { WEFT_PLAN_RCI_LEVELS = 8, WEFT_PLAN_BACKOFFS = 3 };

/// What is wrong with values; a mask.
enum weft_plan_dsf_warning {
    WEFT_PLAN_DSF_BLOCKING = 1,  ///< less fabric than NIC ports, after cell headers
    WEFT_PLAN_DSF_STARVING = 2,  ///< fewer credits in flight than the loop needs
    WEFT_PLAN_DSF_ABOVE_CAP = 4, ///< it needs more than a VOQ's balance may be by the preset
    WEFT_PLAN_DSF_LOSSY = 8,     ///< PFC headroom of all ports does not fit in the on-chip buffer
    WEFT_PLAN_DSF_SKEW = 16,     ///< nor does what reassembly may hold
};
enum { WEFT_PLAN_DSF_WARNINGS = 5 };
extern const char *const weft_plan_dsf_warning_names[WEFT_PLAN_DSF_WARNINGS]; ///< by bit: "blocking", ...

struct weft_plan_dsf {
    // speed-up
    weft_rate_bps ports_bps, raw_bps, coded_bps,
        payload_bps;                      ///< ports; lanes: signalled, after FEC, after cell headers
    weft_bytes frame_bytes, fabric_bytes; ///< a full packet on the Ethernet wire, and as cells
    uint64_t frame_cells;
    double raw_speedup, coded_speedup, net_speedup, frame_speedup; ///< over the ports; frame: with full packets
    // credit loop
    weft_time_ps rtt_ps, credit_interval_ps; ///< interval: between the credits of a port
    uint64_t credits_needed;
    weft_bytes needed_bytes;
    uint64_t credits; ///< in flight
    weft_rate_bps throughput_bps;
    // presets
    uint64_t inflight;
    weft_bytes empty_bytes, balance_bytes_max, slow_bytes, backoff_bytes[WEFT_PLAN_BACKOFFS];
    // congestion
    weft_rate_bps rci_lane_bps, rci_bps[WEFT_PLAN_RCI_LEVELS]; ///< level 0: no limit
    // buffers
    weft_rate_bps arriving_bps;  ///< at most, by credits and by lanes
    weft_bytes reassembly_bytes; ///< at most, with the skew given
    weft_time_ps skew_ps_max;    ///< with full FIFOs on one way and empty ones on another
    weft_bytes egress_bytes;
    weft_time_ps sram_ps, buffer_ps; ///< until it is full, if nothing leaves the node
    weft_rate_bps incast_excess_bps; ///< of each of the sources of an incast
    weft_time_ps voq_ps;             ///< until a VOQ has its half of the buffer, in the incast
    struct weft_plan_pfc pfc;        ///< towards a NIC
    weft_bytes headroom_bytes;       ///< of all ports
    weft_bytes xoff_bytes_max;       ///< of a port
    // distance
    weft_time_ps far_ps;          ///< one way
    weft_bytes far_bytes;         ///< under way on one port, there and back
    uint64_t far_credits;         ///< if the credit loop spanned it
    struct weft_plan_pfc far_pfc; ///< of one port
    uint32_t warnings;            ///< enum weft_plan_dsf_warning
};
struct weft_plan_dsf weft_plan_calc_dsf(const struct weft_plan_dsf_conf *conf);

/// Credits that a rate uses in a time: ceil(rate x time / credit).
uint64_t weft_plan_calc_credits(weft_rate_bps rate, weft_time_ps time, weft_bytes credit);

/// Interface nodes of a topology that are alike, or one that is given by values.
struct weft_plan_dsf_sort {
    const char *plan;            ///< "dsf", of values; else NULL
    const char *layer, *example; ///< layer, and the first of them; NULL: of values
    uint32_t nodes;
    struct weft_plan_dsf_conf conf; ///< over the caller's: ports, lanes, rates, delays, nodes on the way
    // From here on: what weft_plan_dsf_judge adds.
    struct weft_plan_dsf dsf; ///< without a distance its figures are the largest number
    const char *warning[WEFT_PLAN_DSF_WARNINGS];
    uint32_t warnings;
};
void weft_plan_dsf_judge(struct weft_plan_dsf_sort *sort);
/// Every sort, in the order of nodes, not yet judged; none if the topology has no DSF. In `arena`, which may outlive
/// the topology.
struct weft_plan_dsf_sort *weft_plan_topology_dsf(const struct weft_topology *topology,
                                                  const struct weft_plan_dsf_conf *base, struct weft_arena *arena,
                                                  uint32_t *ret_sorts);
