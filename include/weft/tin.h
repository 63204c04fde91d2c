// SPDX-License-Identifier: Apache-2.0
// The ToR-in-NIC chip (TiN) of an Aquila Clique: a cell switch, and the endpoints that packets enter and leave it by.
// What it does with Ethernet frames at its ports is configured as for a switch (struct weft_switch_conf); here is what
// it does beyond that. Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI 2022.
#pragma once

#include "weft/gnet_routes.h"
#include "weft/packet.h"
#include "weft/tin_rma.h"
#include "weft/wire_gnet.h"

/// Cells, in bytes: those of the codec.
enum {
    WEFT_GNET_CELL_MAX = WEFT_GNET_CELL_BYTES_MAX,
    WEFT_GNET_CELL_MIN = WEFT_GNET_CELL_BYTES_MIN,
    WEFT_GNET_PAYLOAD = WEFT_GNET_DATA_BYTES_MAX, ///< of a packet, in a cell
    WEFT_GNET_CREDIT_UNIT = 8,                    ///< of FIFOs and their credits (assumed)
    WEFT_GNET_TRAIN_MAX = 8,                      ///< cells that may go as one, see weft_tin_conf.train
};

/// The ten classes of cells: five kinds, in two levels. "We map roughly half of GNet's virtual channels to carry
/// low-latency protocol messages, which 1RMA shares with low-latency IP" (section 3.4); that these are the ten classes
/// of section 3.2 is assumed.
enum weft_gnet_kind {
    WEFT_GNET_KIND_RTS,
    WEFT_GNET_KIND_CTS,
    WEFT_GNET_KIND_DATA,
    WEFT_GNET_KIND_REQ,
    WEFT_GNET_KIND_RESP,
    WEFT_GNET_KINDS
};
extern const char *const weft_gnet_kind_names[]; ///< "rts", "cts", "data", "req", "resp", NULL
enum weft_gnet_level { WEFT_GNET_LOW_LATENCY, WEFT_GNET_BULK };
static inline uint32_t weft_gnet_class(enum weft_gnet_kind kind, enum weft_gnet_level level) {
    return (uint32_t)level * WEFT_GNET_KINDS + (uint32_t)kind;
}
/// Routing VC `step` of a class.
static inline uint32_t weft_gnet_vc(uint32_t class, uint32_t step) {
    return class * WEFT_GNET_ROUTING_VCS + step;
}

/// How often each way out of the Clique is taken that is nearest to a destination.
enum weft_tin_exit_choice { WEFT_TIN_WCMP, WEFT_TIN_ECMP };

struct weft_tin_conf {
    // the cell switch and its links
    weft_time_ps fall_through_ps;                   ///< of the cell switch
    weft_time_ps link_ps;                           ///< of a GNet link beyond its cable
    weft_time_ps fec_ps;                            ///< and of one between pods
    double fec_overhead;                            ///< bandwidth of these
    weft_time_ps credit_ps;                         ///< from a credit's arrival to its effect
    double credit_batch;                            ///< of a FIFO: so much is owed before credits are returned
    weft_bytes local_fifo_bytes, global_fifo_bytes; ///< of a VC at an input
    weft_bytes output_bytes;                        ///< of a VC at an output
    double speedup;                                 ///< of the crossbar over links
    weft_time_ps step_ps; ///< of allocation: VCs of outputs, then outputs; 0: both at once, as soon as may be
    uint64_t patience;    ///< an input is held for an output that has taken so many cells of others; 0: it is not
    bool vc_turns;        ///< a VC has turns of its own at an output
    uint64_t train;       ///< so many cells of an IP packet are one event, and one lump for arbiters; 1: exact
    weft_rate_bps endpoint_rate_bps;
    uint64_t ip_endpoints, rma_endpoints, control_endpoints;
    uint64_t nic_endpoints; ///< by which cells of hosts' packets leave; by the others of IP all others; 0: by all, all
    bool rma_own;           ///< a host's cells of 1RMA use one endpoint, in turns of hosts
    uint64_t endpoint_vcs;  ///< FIFOs of a class at an endpoint
    // output QoS
    bool solicit_strict; ///< RTS, CTS and Req before other cells
    bool low_strict;     ///< the low-latency level before bulk
    uint64_t low_weight; ///< of it, else; bulk has 1
    // adaptive routing
    uint32_t routing;                             ///< enum weft_gnet_mode, of cells that need no order
    uint32_t ordered_routing;                     ///< of RTS cells
    uint64_t minimal_choices, nonminimal_choices; ///< drawn at random
    uint64_t nonminimal_weight;
    weft_bytes nonminimal_bias_bytes;
    // NICs of hosts
    weft_rate_bps nic_rate_bps;
    uint64_t nic_hosts;          ///< that share one
    weft_bytes nic_window_bytes; ///< of a host on its way to a shared one, or waiting there
    // IP over GNet
    weft_time_ps processing_ps; ///< from a packet or cell at an endpoint to the cell that it causes
    uint8_t low_latency;        ///< priorities whose cells are of the low-latency level
    weft_bytes rts_early_bytes; ///< longer packets are announced before they are complete
    weft_bytes fetch_bytes;     ///< asked for by a port and not complete, at most
    weft_bytes egress_bytes;    ///< of a port: asked for, in reassembly, or waiting to leave
    weft_bytes ctd_bytes;       ///< an RTS that finds more in its queue is answered by CTD
    weft_time_ps reassembly_timeout_ps, rts_timeout_ps;
    uint64_t trace, trace_kept; ///< one in so many cells; notes of a TiN
    // the control processor
    uint64_t punt_rate;    ///< frames a second that it takes
    uint64_t punt_packets; ///< that wait for it, at most
    // ways out of the Clique
    uint32_t exits;             ///< enum weft_tin_exit_choice
    uint64_t exit_entries;      ///< of a group of ways out
    struct weft_gnet_conf gnet; ///< tables
    struct weft_tin_rma_conf rma;
};
extern const struct weft_param_table weft_tin_table;

/// How long a cell of so many bytes is on a link of which FEC takes a part.
weft_time_ps weft_tin_cell_ps(uint32_t bytes, weft_rate_bps rate, double overhead);

/// What a frame of 64 bytes takes that meets no other, from its header at the TiN where it comes in to its last cell at
/// the TiN where it leaves: processing, and three cells (RTS, CTS, data) one after the other, if it leaves where it
/// came; and what each GNet link between adds to that.
weft_time_ps weft_tin_crossing_ps(const struct weft_tin_conf *conf);
weft_time_ps weft_tin_link_ps(const struct weft_tin_conf *conf, const struct weft_link_info *link, bool global);
