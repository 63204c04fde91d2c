// SPDX-License-Identifier: Apache-2.0
// What the controller of a Clique makes of a scenario's events, for the data plane: which entry of which TiN's table
// changes when.
#pragma once

#include "weft/clique_trace.h"

/// An entry becomes another set of ports.
struct weft_clique_change {
    weft_time_ps time_ps;
    uint16_t row, column, set;
};
/// From `time_ps` on a TiN knows the ways out of the Clique as they followed from what happened at `state_ps`.
struct weft_clique_egress {
    weft_time_ps time_ps, state_ps;
};
/// Of a TiN.
struct weft_clique_tin_timeline {
    uint32_t changes, egresses, sets;
    const struct weft_clique_change *change; ///< by time
    const struct weft_clique_egress *egress; ///< by time
    uint16_t *set_of;                ///< [rows * columns] at first; NULL: nothing changes. The TiN's, to be changed
    const struct weft_gnet_set *set; ///< 0: none
};
/// Between a failure or repair of links and the end of the plan that is for it.
struct weft_clique_transition {
    weft_time_ps from_ps, to_ps; ///< to: WEFT_TIME_NEVER: never ends
    uint32_t down, up;           ///< links
};
/// The firmware of a TiN does not answer.
struct weft_clique_absence {
    uint32_t tin;
    weft_time_ps from_ps, to_ps;
};

static inline bool weft_clique_is_absent(const struct weft_clique_absence *absence, uint32_t n, uint32_t tin,
                                         weft_time_ps now) {
    for (uint32_t i = 0; i < n; i++)
        if (absence[i].tin == tin && now >= absence[i].from_ps && now < absence[i].to_ps) return true;
    return false;
}

struct weft_clique_timeline {
    /// Rows: WEFT_GNET_ROUTING_VCS for the terminals, then as many for each port of the node.
    uint32_t rows, columns;
    const uint16_t *column_of; ///< [tins] of a destination, seen from other pods
    struct weft_clique_tin_timeline *tin;
    uint32_t escapes; ///< tables of which the ways of escape are in force from a time on
    const weft_time_ps *escape_ps;
    struct weft_gnet_routes **escape;
    uint32_t transitions;
    const struct weft_clique_transition *transition; ///< by time; none begins before the last has ended
    uint32_t absences;
    const struct weft_clique_absence *absence;
    const struct weft_sdn_result *sdn; ///< outcomes of `events`
    uint32_t events;
    const struct weft_clique_event *event;
    uint64_t differences; ///< at the end
    weft_time_ps last_ps; ///< last change of anything
};
/// `egress` ([t->events] or NULL): events of links elsewhere in the data centre that change the ways out. NULL if
/// nothing happens to the Clique. In `arena`, but for what weft_clique_timeline_free frees.
struct weft_clique_timeline *weft_clique_timeline_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                      const struct weft_gnet_conf *gnet,
                                                      const struct weft_control_given *given, const bool *egress,
                                                      struct weft_arena *arena);
void weft_clique_timeline_free(struct weft_clique_timeline *timeline);
