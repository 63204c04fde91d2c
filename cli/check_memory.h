// SPDX-License-Identifier: Apache-2.0
// weft check --memory: what a run will need.
#pragma once

#include "cli.h"
#include "simulation.h"
#include "weft/check.h"

/// In the options' arena; *ret is NULL if there was not enough memory to try it. Call it before anything of the variant
/// is built: the trial process starts with a copy of this one. If the scenario is wrong, nothing is known.
enum weft_status weft_cli_memory(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                 uint32_t variant, const struct weft_check_estimate **ret,
                                 struct weft_error *ret_error);
