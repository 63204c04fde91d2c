// SPDX-License-Identifier: Apache-2.0
// Choices of input balanced mode that a scenario makes itself (control.reachability.picks).
#pragma once

#include "weft/control.h"

/// The links that a device withdraws before others, in order; in `arena`.
const uint16_t *weft__picks_of(const struct weft_fabric *f, uint32_t device, const char *picks, uint32_t *ret_n,
                               struct weft_arena *arena);
