// SPDX-License-Identifier: Apache-2.0
// Lists that grow as a file is read: a file says anything of how long they will be.
#ifndef WEFT_BASE_GROW_H
#define WEFT_BASE_GROW_H

#include "weft/memory.h"

/// Room for one more behind the `n` elements of a list, which has a power of two of places and is NULL at first. A full
/// one moves, and the old one stays in the arena.
void *weft__arena_grow(struct weft_arena *arena, void *list, size_t n, size_t size);
/// Likewise outside an arena: `*room` is the number of places, for weft_memory_free (WEFT_MEMORY_SCENARIO).
void *weft__memory_grow(void *list, size_t n, uint32_t *room, size_t size);
/// Room for `n` elements in all; the number of places is a power of two.
void *weft__memory_grow_to(void *list, size_t n, size_t *room, size_t size);

#endif
