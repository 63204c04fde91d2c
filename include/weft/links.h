// SPDX-License-Identifier: Apache-2.0
// The links of a network as LLDP and DCBX see them: what both ends are configured to, what is in force, and what a
// difference costs.
#pragma once

#include "weft/scenario.h"

/// A difference, in words, as the end at `port` sees it ("here" is there).
struct weft_link_note {
    uint32_t port; ///< among all ports
    uint8_t priorities;
    const char *found, *consequence;
};

/// End k is at topology->link[].port[k].
struct weft_link_dcbx {
    bool speaks[2];                ///< sends LLDP
    bool hears[2];                 ///< has heard the other end, and it counts still
    uint8_t configured[2];         ///< PFC: priorities
    uint8_t in_force[2];           ///< that the end pauses for and obeys
    uint8_t lossless;              ///< in force at both ends
    uint64_t sent[2], received[2]; ///< LLDP frames in the run
    uint32_t notes;
    const struct weft_link_note *note;
};

/// Negotiates every link as it is configured, as if all had been heard. One entry a link, in `arena`.
struct weft_link_dcbx *weft_links_negotiate(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                            struct weft_arena *arena);
