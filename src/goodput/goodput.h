// SPDX-License-Identifier: Apache-2.0
// Between the files of this folder.
#pragma once

#include "weft/goodput.h"
#include "weft/memory.h"

/// Crashes an hour.
double weft__goodput_crash_rate(const struct weft_goodput_conf *conf);
/// Simulates g->conf.months of 30 days with the interval of `g`: fills in what is simulated.
void weft__goodput_simulate(struct weft_goodput *g, struct weft_arena *arena);
