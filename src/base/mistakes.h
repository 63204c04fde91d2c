// SPDX-License-Identifier: Apache-2.0
// Collects all mistakes of an input: a function that returns the first one continues and adds the others.
#pragma once

#include "weft/error.h"
#include "weft/memory.h"

enum { WEFT__MISTAKES_MAX = 50 };

struct weft__mistakes {
    struct weft_arena *arena;
    struct weft_error **error; ///< in the order in which they were found, each text once
    uint32_t n, left_out;      ///< left_out: how many more there are
};

/// Adds a copy of the error, unless one with the same text, or the same place and message, is there.
void weft__mistakes_add(struct weft__mistakes *m, const struct weft_error *error);
