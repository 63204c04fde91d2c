// SPDX-License-Identifier: Apache-2.0
// What a run will cost, before it runs.
#pragma once

#include "simulation.h"

/// Seconds of a processor, about, with nothing skipped by run.fast_forward.
double weft_cli_cost_s(const struct weft_cli_simulation *sim);
