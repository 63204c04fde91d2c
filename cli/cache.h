// SPDX-License-Identifier: Apache-2.0
// Where runs that were killed are gone on with: what is kept in the user's cache between two calls of weft.
#ifndef WEFT_CLI_CACHE_H
#define WEFT_CLI_CACHE_H

#include "weft/memory.h"

/// weft's folder in the user's cache (XDG Base Directory specification); NULL: he has none.
const char *weft_cli_cache(struct weft_arena *arena);
/// Over every byte of this program: what another one has measured may not hold.
uint64_t weft_cli_program_hash(uint64_t hash);

#endif
