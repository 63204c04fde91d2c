// SPDX-License-Identifier: Apache-2.0
// What an estimate says, from its outcome and from what links carried.
#pragma once

#include "estimate/fluid.h"

struct weft_estimate *weft__estimate_describe(const struct weft__fluid *x, const struct weft_estimate_options *options,
                                              struct weft_arena *arena);
