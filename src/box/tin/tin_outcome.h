// SPDX-License-Identifier: Apache-2.0
// What a run measured inside the Cliques of a network, summed over their TiNs or the most at any of them.
#pragma once

#include "box/tin/cell_path.h"
#include "weft/histogram.h"
#include "weft/outcome.h"
#include "weft/tin.h"

/// X(field, type, meaning), as of other counters. What seldom happens comes last, and is not in the digest of runs
/// without it.
#define WEFT_TIN_COUNTERS(X) WEFT_TIN_ALWAYS(X) WEFT_TIN_OPTIONS(X)
#define WEFT_TIN_OPTIONS(X)                                                                                            \
    X(punts_refused, COUNT, "frames for the control processor beyond the processor's rate")                            \
    X(punts_missed, COUNT, "frames for the control processor that came while its firmware started again")
#define WEFT_TIN_ALWAYS(X)                                                                                             \
    X(cell_hops, COUNT, "cells of any kind over one link")                                                             \
    X(cells_lost, COUNT, "cells lost by links, or because of their hop count")                                         \
    X(cells_unroutable, COUNT, "cells without a route to their destination")                                           \
    X(ways_minimal, COUNT, "minimal routes chosen by adaptive routing")                                                \
    X(ways_nonminimal, COUNT, "non-minimal routes chosen by adaptive routing")                                         \
    X(escapes, COUNT, "cells that took to the escape VCs")                                                             \
    X(cells_late, COUNT, "cells of packets or requests that had been given up")                                        \
    X(credit_records, COUNT, "returns of credits to the TiN at the other end of a link")                               \
    X(credit_stalls, COUNT, "times that the first cell of a VC at an output began to lack credits")                    \
    X(credit_stall_ps, TIME, "time that first cells of VCs at outputs lacked credits, summed over VCs")                \
    X(rts, COUNT, "requests to send")                                                                                  \
    X(cts, COUNT, "clear-to-sends")                                                                                    \
    X(ctd, COUNT, "clear-to-drops: packets discarded at their ingress, not fetched")                                   \
    X(marked, COUNT, "packets marked CE because of the depth of their RTS queue")                                      \
    X(punted, COUNT, "frames for the control processor: LLDP, and packets without an exit")                            \
    X(packets_lost, COUNT,                                                                                             \
      "packets given up because some of their cells, or the message that asked for them, did not come")
/// The most at any one. X(field, type, meaning)
#define WEFT_TIN_WATERMARKS(X)                                                                                         \
    X(fifo_bytes_max, BYTES, "most bytes in the FIFO of a VC at an input")                                             \
    X(output_bytes_max, BYTES, "most bytes in the queue of a VC at an output")                                         \
    X(ingress_bytes_max, BYTES, "most bytes of packets in the ingress buffer of a TiN")                                \
    X(rts_packets_max, COUNT, "most packets announced in an RTS queue")                                                \
    X(rts_bytes_max, BYTES, "most bytes of packets announced in an RTS queue")                                         \
    X(egress_bytes_max, BYTES, "most bytes asked for, in reassembly or waiting to leave, at a port")                   \
    X(rma_window_bytes_max, BYTES, "most bytes that a TiN had asked for by 1RMA and not got")
/// X(field, type, unit, meaning). Optional ones are in the digest of runs that have any.
#define WEFT_TIN_HISTOGRAMS(X) WEFT_TIN_HISTOGRAMS_ALWAYS(X) WEFT_TIN_HISTOGRAMS_OPTIONS(X)
#define WEFT_TIN_HISTOGRAMS_ALWAYS(X)                                                                                  \
    X(clear_ns, COUNT, "ns", "time from the RTS of a packet to its CTS or CTD, both at its ingress, in ns")            \
    X(fetch_ns, COUNT, "ns", "time from the CTS of a packet until it is whole, both at its egress, in ns")             \
    X(rts_wait_ns, COUNT, "ns", "time that an RTS waited in its queue, in ns")                                         \
    X(rts_packets, COUNT, "packets", "packets announced that an RTS found in its queue")
#define WEFT_TIN_HISTOGRAMS_OPTIONS(X)                                                                                 \
    X(nic_wait_ns, COUNT, "ns", "time that a host's frame waited for its shared NIC, in ns")
/// Types of cells. X(name, meaning)
#define WEFT_TIN_CELLS(X)                                                                                              \
    X(rts, "RTS cells that endpoints sent")                                                                            \
    X(cts, "CTS cells that endpoints sent")                                                                            \
    X(ctd, "CTD cells that endpoints sent")                                                                            \
    X(data, "cells of IP packets that endpoints sent")                                                                 \
    X(req, "Req cells of 1RMA that endpoints sent")                                                                    \
    X(resp, "Resp cells of 1RMA that endpoints sent")
/// While the controller had not yet reacted to a failure or repair of links. X(field, type, meaning)
#define WEFT_TIN_TRANSITION_COUNTERS(X)                                                                                \
    X(cells_lost, COUNT, "cells lost before the tables followed")                                                      \
    X(escapes, COUNT, "cells that took to the escape VCs before the tables followed")                                  \
    X(packets, COUNT, "packets that became whole before the tables followed")                                          \
    X(packets_lost, COUNT, "packets given up before the tables followed")                                              \
    X(fetch_ps, TIME, "time from the CTS until the packet was whole, summed over the packets that became whole")
struct weft_tin_transition {
    weft_time_ps from_ps, to_ps; ///< to: WEFT_TIME_NEVER: it never did
    uint32_t down, up;           ///< links
#define X(field, type, help) uint64_t field;
    WEFT_TIN_TRANSITION_COUNTERS(X)
#undef X
    weft_time_ps fetch_max_ps;
};
enum { WEFT_TIN_HOPS = 16, WEFT_TIN_CELL_TYPES = 8 };
struct weft_tin_histograms {
#define X(field, type, unit, help) struct weft_histogram field;
    WEFT_TIN_HISTOGRAMS(X)
#undef X
};
struct weft_tin_outcome {
#define X(field, type, help) uint64_t field;
    WEFT_TIN_COUNTERS(X)
    WEFT_TIN_WATERMARKS(X)
#undef X
    struct weft_tin_histograms *seen;       ///< of all TiNs together
    uint64_t hops[WEFT_TIN_HOPS];           ///< cells that came to an endpoint after so many links
    uint64_t cells[WEFT_TIN_CELL_TYPES];    ///< sent by endpoints, in the order of WEFT_TIN_CELLS
    struct weft_tin_transition *transition; ///< by time, of all Cliques together
    uint32_t transitions;
    uint64_t table_changes; ///< entries of tables that the controller changed
    bool walked;            ///< every write was followed by a walk through all tables
    uint64_t holes;         ///< times that a write took two TiNs their way
};

/// How deep VCs of links were, in bytes, at each sample (run.sample_interval) of each link, empty ones included.
struct weft_gnet_depths {
    struct weft_histogram output[WEFT_GNET_VCS]; ///< the queue of the VC at the output
    struct weft_histogram fifo[WEFT_GNET_VCS];   ///< its FIFO at the input
};

/// A TiN by itself.
struct weft_tin_part {
    uint32_t node;
    struct weft_tin_outcome counts;
};
/// A port with a GNet link. X(field, type, meaning)
#define WEFT_GNET_PORT_COUNTERS(X)                                                                                     \
    X(cells, COUNT, "cells sent")                                                                                      \
    X(bytes, BYTES, "bytes of cells sent")                                                                             \
    X(output_bytes_max, BYTES, "most bytes in the queue of a VC at this output")                                       \
    X(fifo_bytes_max, BYTES, "most bytes in the FIFO of a VC, of cells that came by this port")                        \
    X(credit_stalls, COUNT, "times that the first cell of a VC at this output began to lack credits")                  \
    X(credit_stall_ps, TIME, "time that first cells of VCs at this output lacked credits, summed over VCs")
struct weft_gnet_port {
    uint32_t port; ///< among all
    bool global;   ///< to another pod
#define X(field, type, help) uint64_t field;
    WEFT_GNET_PORT_COUNTERS(X)
#undef X
};

struct weft_clique_outcome {
    struct weft_tin_outcome sum; ///< over all TiNs, or the most at any of them
    uint32_t tins, gnet_ports;
    struct weft_tin_part *tin;        ///< [tins]
    struct weft_gnet_port *gnet_port; ///< [gnet_ports]
    struct weft_cell_paths *cells;    ///< traced ones
    struct weft_gnet_depths *depths;  ///< NULL: no GNet link was sampled
};

/// NULL: there is no TiN.
static inline struct weft_clique_outcome *weft_outcome_cliques(const struct weft_outcome *outcome) {
    return (struct weft_clique_outcome *)outcome->part[WEFT_BOX_TIN];
}
static inline struct weft_tin_outcome *weft_outcome_tin(const struct weft_outcome *outcome) {
    struct weft_clique_outcome *cliques = weft_outcome_cliques(outcome);
    return cliques ? &cliques->sum : NULL;
}
