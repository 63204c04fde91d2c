// SPDX-License-Identifier: Apache-2.0
// Repeated iterations of jobs, taken over instead of run; see fast_forward.c.
#pragma once

#include "sim/run.h"

/// Call it before the run, after assembly. Without run.fast_forward it does nothing. It fails if the store cannot be
/// read.
enum weft_status weft__fast_forward_start(struct weft__run *run, struct weft_error *error);
/// The engine has stopped. True: it was at rest, and must run on.
bool weft__fast_forward_on(struct weft__run *run);
/// The run has ended.
void weft__fast_forward_end(struct weft__run *run);
/// The simulated time skipped so far.
weft_time_ps weft__fast_forward_skipped(const struct weft__run *run);
/// Call it when the engine has ended, before anything is collected: corrects all noted times.
void weft__fast_forward_settle(struct weft__run *run);
