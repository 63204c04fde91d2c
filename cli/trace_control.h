// SPDX-License-Identifier: Apache-2.0
// weft trace-control, and its JSON.
#ifndef WEFT_CLI_TRACE_CONTROL_H
#define WEFT_CLI_TRACE_CONTROL_H

#include <stdio.h>

#include "base/json.h"
#include "weft/scenario.h"

struct trace_view {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_control_trace *trace;
};

/// FSDB and BGP.
void trace_control_print_nodes(const struct trace_view *view);
void trace_control_json_nodes(struct weft__json *j, const struct trace_view *view);
void trace_control_print_json(FILE *file, const struct trace_view *view);
/// The `i`-th link of the burst (from 0) that changed in the direction of `up`; WEFT_NONE: there are no more.
uint32_t trace_control_link(const struct weft_topology *t, weft_time_ps time, bool up, uint32_t i);

#endif
