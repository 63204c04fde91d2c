// SPDX-License-Identifier: Apache-2.0
// Flows that hold their rate, and are not run while they do; see coast.c.
#pragma once

#include "skip/fast_forward.h"
#include "skip/repeat.h"

struct weft__coast;

/// NULL: nothing in this run may be skipped; *ret_refused says why.
struct weft__coast *weft__coast_new(struct weft__skips *skips, weft__trace_paths *trace, const char **ret_refused);
/// The engine has stopped between two windows. Returns when it should stop again.
weft_time_ps weft__coast_look(struct weft__coast *c);
/// The run has ended at `now`.
void weft__coast_end(struct weft__coast *c, weft_time_ps now);
