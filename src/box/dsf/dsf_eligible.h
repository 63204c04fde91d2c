// SPDX-License-Identifier: Apache-2.0
// Eligible links of a DSF: by which of its links each box may send cells towards each interface node, at the start of a
// run and as it changes. Made before the run, by shortest paths (src/box/dsf/dsf_eligible.c) or by a control plane. A
// box has few different sets of links, each stored once.
#pragma once

#include "weft/topology.h"

struct weft_eligible_set {
    uint32_t first, n; ///< in `port`
};
/// From `time_ps` on the box uses `set` towards interface node `in`.
struct weft_eligible_change {
    weft_time_ps time_ps;
    uint32_t in;
    uint16_t set;
};
/// Of one box.
struct weft_eligible_box {
    uint16_t *set_of;                    ///< [ins]; set 0 is the empty one
    struct weft_eligible_set *set;       ///< [sets]
    uint16_t *port;                      ///< its ports, ascending within a set
    struct weft_eligible_change *change; ///< by time
    uint32_t sets, ports, changes;
    uint32_t sets_capacity, ports_capacity, changes_capacity;
    uint32_t latest; ///< the set that was put last
};
struct weft_eligible {
    uint32_t ins, nodes;
    uint32_t *in_of_node;          ///< [nodes]: number of an interface node, WEFT_NONE: of others
    uint32_t *node_of_in;          ///< [ins]
    struct weft_eligible_box *box; ///< [nodes]; all 0 if it is no DSF box
};

/// Numbers the interface nodes, in the order of nodes; no box may send anything anywhere yet.
void weft_eligible_free(struct weft_eligible *e);
