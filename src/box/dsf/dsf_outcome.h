// SPDX-License-Identifier: Apache-2.0
// What a run measured inside a disaggregated scheduled fabric, summed over its boxes or the most at any of them.
#pragma once

#include "weft/histogram.h"
#include "weft/outcome.h"

/// X(field, type, meaning), as of other counters. What happens only where an option is on comes last, and is not in the
/// digest of runs without it.
#define WEFT_DSF_COUNTERS(X) WEFT_DSF_ALWAYS(X) WEFT_DSF_OPTIONS(X)
#define WEFT_DSF_OPTIONS(X)                                                                                            \
    X(llfc_stops, COUNT, "times that a FIFO stopped a lane that feeds it (link-level flow control)")                   \
    X(llfc_stopped_ps, TIME, "time that lanes were stopped by link-level flow control, summed over lanes")             \
    X(hbm_packets, COUNT, "packets that VOQs kept in HBM")                                                             \
    X(chip_full, COUNT, "times that so little on-chip memory was left that NICs were paused")
#define WEFT_DSF_ALWAYS(X)                                                                                             \
    X(cell_hops, COUNT, "cells of any kind over one link")                                                             \
    X(cells_lost, COUNT, "cells that links lost")                                                                      \
    X(cells_dropped, COUNT, "cells dropped because a FIFO had no room")                                                \
    X(cells_unreachable, COUNT, "cells dropped because no link led towards their destination")                         \
    X(cells_marked, COUNT, "cells marked as congested (RCI)")                                                          \
    X(cells_late, COUNT, "cells of a packet that had been given up, or that reassembly had no room for")               \
    X(packets_lost, COUNT, "packets that reassembly gave up")                                                          \
    X(credits, COUNT, "credits that reached their VOQ")                                                                \
    X(credit_bytes_given_up, BYTES, "bytes of credits that VOQs had no use for")                                       \
    X(requests, COUNT, "requests of VOQs: for credits, or that no more are wanted")                                    \
    X(voqs, COUNT, "virtual output queues that were used")                                                             \
    X(voqs_purged, COUNT, "times that the credit watchdog emptied a VOQ")
/// The most at any one. X(field, type, meaning)
#define WEFT_DSF_WATERMARKS(X)                                                                                         \
    X(voq_bytes_max, BYTES, "most bytes in one VOQ")                                                                   \
    X(buffer_bytes_max, BYTES, "most bytes in the VOQs of one interface node")                                         \
    X(hbm_bytes_max, BYTES, "most bytes in the HBM of one interface node")                                             \
    X(egress_bytes_max, BYTES, "most bytes that waited to leave by one Ethernet port")                                 \
    X(reassembly_bytes_max, BYTES, "most bytes in reassembly at one interface node")                                   \
    X(reassembly_packets_max, COUNT,                                                                                   \
      "most packets of one source and priority between the one in turn and the last that came")
/// X(field, type, unit, meaning)
#define WEFT_DSF_HISTOGRAMS(X)                                                                                         \
    X(fabric_cells, COUNT, "cells", "full cells that a cell waited for at the output of a fabric node")                \
    X(voq_ns, COUNT, "ns", "time that a packet waited in its VOQ, in ns")                                              \
    X(reassembly_packets, COUNT, "packets", "packets between the one in turn and the one whose first cell came")
struct weft_dsf_histograms {
#define X(field, type, unit, help) struct weft_histogram field;
    WEFT_DSF_HISTOGRAMS(X)
#undef X
};
struct weft_dsf_outcome {
#define X(field, type, help) uint64_t field;
    WEFT_DSF_COUNTERS(X)
    WEFT_DSF_WATERMARKS(X)
#undef X
    struct weft_dsf_histograms *seen; ///< of all boxes together
};

/// NULL: there is no DSF box.
static inline struct weft_dsf_outcome *weft_outcome_dsf(const struct weft_outcome *outcome) {
    return (struct weft_dsf_outcome *)outcome->part[WEFT_BOX_DSF_INTERFACE];
}
