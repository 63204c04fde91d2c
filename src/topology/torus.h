// SPDX-License-Identifier: Apache-2.0
// The size of a torus: what its generator and its solver share.
#pragma once

#include "weft/types.h"

enum { WEFT__TORUS_DIMENSIONS = 4 };

struct weft__torus {
    uint32_t dimensions, size[WEFT__TORUS_DIMENSIONS];
    uint32_t turn; ///< how far the wrap of a short dimension moves along the long ones; 0: not twisted
    uint64_t chips;
};
/// Reads "4x4x8". NULL, or what is wrong, in `text`.
const char *weft__torus_read(const char *size, bool twist, struct weft__torus *t, char *text, size_t room);
uint64_t weft__torus_links(const struct weft__torus *t);
