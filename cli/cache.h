// SPDX-License-Identifier: Apache-2.0
// What is kept in the user's cache between two calls of weft, so that runs that were killed can continue.
#pragma once

#include "weft/memory.h"

/// weft's folder in the user's cache (XDG Base Directory specification); NULL: the user has no cache.
const char *weft_cli_cache(struct weft_arena *arena);
/// A hash over every byte of this program, because results of another build may not hold.
uint64_t weft_cli_program_hash(uint64_t hash);
