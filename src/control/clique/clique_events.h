// SPDX-License-Identifier: Apache-2.0
// The events of a scenario that concern a Clique, one list for the story and for runs.
#pragma once

#include "weft/clique_trace.h"

struct weft__clique_events {
    uint32_t n;
    const struct weft_sdn_event *sdn;     ///< sorted by time; at the same time links come first
    const struct weft_clique_event *told; ///< what each represents
};
/// Links of `t` that fail and come back, and the `given` events. `egress` ([t->events], or NULL): links elsewhere in
/// the data centre that change the exits of the Clique. In `arena`.
struct weft__clique_events weft__clique_events_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                   const struct weft_control_event *given, uint32_t givens,
                                                   const bool *egress, struct weft_arena *arena);
/// Numbers of TiNs by node of the topology; WEFT_NONE: not in this Clique. In `arena`.
uint32_t *weft__clique_tin_of(const struct weft_topology *t, const struct weft_dragonfly *f, struct weft_arena *arena);
