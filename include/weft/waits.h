// SPDX-License-Identifier: Apache-2.0
// Circles of links that may wait for one another's buffers.
#pragma once

#include "weft/routes.h"

/// A port at which a circle of links begins, each of which may wait for room behind the next (src/topology/waits.c);
/// WEFT_NONE: there is none, the network is too large to look, or has boxes of cells.
uint32_t weft_routes_find_wait(const struct weft_routes *routes, const struct weft_topology *t);
