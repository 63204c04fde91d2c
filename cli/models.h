// SPDX-License-Identifier: Apache-2.0
// What weft models shows of hardware.
#pragma once

#include "cli.h"

/// All classes, or the one called `name` (NULL: all).
enum weft_status weft_cli_models_hardware(const struct weft_cli_options *o, const char *name,
                                          struct weft_error *ret_error);
