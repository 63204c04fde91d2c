// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CONTROL_TRACE_H
#define WEFT_CONTROL_TRACE_H

#include "weft/control.h"

/// Fills trace->nodes[fabric].
void weft__control_trace_nodes(struct weft_control_trace *trace, const struct weft_topology *t,
                               const struct weft_control_conf *conf, uint64_t seed, uint32_t fabric,
                               struct weft_arena *arena);

#endif
