// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weft/control.h"

/// Exits over the link events of a topology.
struct weft__control_states {
    uint32_t n;
    weft_time_ps *time_ps;
    struct weft_exits **exits;
    struct weft_routes *routes;
    struct weft_exit_states all;
};
/// False: there are no exits.
bool weft__control_states_begin(struct weft__control_states *s, const struct weft_topology *t,
                                struct weft_arena *arena);
void weft__control_states_end(struct weft__control_states *s);

/// Fills trace->nodes[fabric].
enum weft_status weft__control_trace_nodes(struct weft_control_trace *trace, const struct weft_topology *t,
                                           const struct weft_control_conf *conf, const struct weft_exit_states *states,
                                           uint64_t seed, uint32_t fabric, struct weft_arena *arena,
                                           struct weft_error *ret_error);
