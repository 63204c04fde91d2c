// SPDX-License-Identifier: Apache-2.0
// Maps triggers onto the network.
#pragma once

#include "box/network.h"
#include "transport/trigger.h"

/// Call it when the queue pairs exist. NULL: there is none.
struct weft__triggers *weft__triggers_new(const struct weft__network *net);
/// The minimum time from host to host.
weft_time_ps weft__triggers_lookahead(const struct weft_workload *w);
/// Queue pairs that wait for triggers.
uint64_t weft__triggers_waiting(const struct weft_workload *w);
