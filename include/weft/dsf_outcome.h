// SPDX-License-Identifier: Apache-2.0
// What a run measured inside a disaggregated scheduled fabric, summed over its boxes or the most at any of them.
#ifndef WEFT_DSF_OUTCOME_H
#define WEFT_DSF_OUTCOME_H

#include "weft/histogram.h"

/// X(field, meaning). What happens only where an option is on comes last, and is not in the digest of runs without it.
#define WEFT_DSF_COUNTERS(X) WEFT_DSF_ALWAYS(X) WEFT_DSF_OPTIONS(X)
#define WEFT_DSF_OPTIONS(X)                                                                                            \
    X(llfc_stops, "times that a FIFO stopped a lane that feeds it (link-level flow control)")                          \
    X(llfc_stopped_ps, "time that lanes were stopped, summed over lanes")                                              \
    X(hbm_packets, "that VOQs kept in HBM")                                                                            \
    X(chip_full, "times that so little on-chip memory was left that NICs were paused")
#define WEFT_DSF_ALWAYS(X)                                                                                             \
    X(cell_hops, "cells of any kind over one link")                                                                    \
    X(cells_lost, "by links")                                                                                          \
    X(cells_dropped, "without room in a FIFO")                                                                         \
    X(cells_unreachable, "without a link towards their destination")                                                   \
    X(cells_marked, "as congested (RCI)")                                                                              \
    X(cells_late, "came for a packet that had been given up, or without room for reassembly")                          \
    X(packets_lost, "given up by reassembly")                                                                          \
    X(credits, "that reached their VOQ")                                                                               \
    X(credit_bytes_given_up, "bytes of credits that VOQs had no use for")                                              \
    X(requests, "of VOQs: asked, or told that nothing more is wanted")                                                 \
    X(voqs, "virtual output queues that were used")                                                                    \
    X(voqs_purged, "times that the credit watchdog emptied one")
/// The most at any one. X(field, meaning)
#define WEFT_DSF_WATERMARKS(X)                                                                                         \
    X(voq_bytes_max, "bytes in one VOQ")                                                                               \
    X(buffer_bytes_max, "bytes in the VOQs of an interface node")                                                      \
    X(hbm_bytes_max, "of these, bytes in HBM")                                                                         \
    X(egress_bytes_max, "bytes at an Ethernet port, waiting to leave")                                                 \
    X(reassembly_bytes_max, "bytes in reassembly at an interface node")                                                \
    X(reassembly_packets_max, "packets between the one in turn and the last that came, of one source and priority")
/// X(field, meaning)
#define WEFT_DSF_HISTOGRAMS(X)                                                                                         \
    X(fabric_cells, "full cells that a cell waited for at a fabric node's output")                                     \
    X(voq_ns, "time that a packet waited in its VOQ, in nanoseconds")                                                  \
    X(reassembly_packets, "packets between the one in turn and the one whose first cell came")
struct weft_dsf_histograms {
#define X(field, help) struct weft_histogram field;
    WEFT_DSF_HISTOGRAMS(X)
#undef X
};
struct weft_dsf_outcome {
#define X(field, help) uint64_t field;
    WEFT_DSF_COUNTERS(X)
    WEFT_DSF_WATERMARKS(X)
#undef X
    struct weft_dsf_histograms *seen; ///< of all boxes together
};

#endif
