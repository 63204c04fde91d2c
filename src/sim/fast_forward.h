// SPDX-License-Identifier: Apache-2.0
// Iterations of jobs that repeat the one before, taken over instead of run; see fast_forward.c.
#ifndef WEFT_SIM_FAST_FORWARD_H
#define WEFT_SIM_FAST_FORWARD_H

#include "sim/run.h"

/// Before the run, assembled. Without run.fast_forward it does nothing. It fails if what is stored cannot be read.
enum weft_status weft__fast_forward_start(struct weft__run *run, struct weft_error *error);
/// The engine has stopped. True: at rest, and it is to be run on.
bool weft__fast_forward_on(struct weft__run *run);
/// It has come to the run's end.
void weft__fast_forward_end(struct weft__run *run);
/// Simulated time that was skipped so far.
weft_time_ps weft__fast_forward_skipped(const struct weft__run *run);
/// When the engine has ended, before anything is collected: all noted times become true.
void weft__fast_forward_settle(struct weft__run *run);

#endif
