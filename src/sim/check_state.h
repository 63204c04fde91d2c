// SPDX-License-Identifier: Apache-2.0
// A run that checks itself: after every window, each node that ran checks its own state (check_state of its box), and
// at the end of the run the credit of every link must add up. A broken invariant is a bug of weft: the text on stderr
// names time, node, port, priority and both values, and the process aborts as it does after an assert. Checks change
// nothing, so the results and the digest are the same.
#pragma once

#include "base/check.h"
#include "sim/run.h"

/// Whether runs check themselves: builds without optimisation and those for fuzzing always do; other builds do if the
/// environment variable WEFT_CHECK is set, as it is for tests.
bool weft__state_is_checked(void);
/// The engine's `check` (struct weft__engine_conf); `run` is a struct weft__run.
void weft__check_node(void *run, uint32_t node, weft_time_ps until);
/// Called once when the run has ended, before its boxes finish.
void weft__check_end(const struct weft__network *net, weft_time_ps now);
