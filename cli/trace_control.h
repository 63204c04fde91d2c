// SPDX-License-Identifier: Apache-2.0
// The parts of weft trace-control's text.
#pragma once

#include "weft/clique_trace.h"

/// Of a Clique; FSDB and BGP of a DSF.
void trace_clique_print(const struct weft_control_answer *answer);
void trace_control_print_nodes(const struct weft_control_answer *answer);
