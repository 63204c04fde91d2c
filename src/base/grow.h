// SPDX-License-Identifier: Apache-2.0
// Lists that grow while a file is read, because a file can claim any length.
#ifndef WEFT_BASE_GROW_H
#define WEFT_BASE_GROW_H

#include "weft/memory.h"

/// Makes room for one more element after the `n` elements of a list, whose capacity is a power of two and which is NULL
/// at first. A full list moves, and the old one stays in the arena.
void *weft__arena_grow(struct weft_arena *arena, void *list, size_t n, size_t size);
/// The same outside an arena: `*room` is the capacity, for weft_memory_free (WEFT_MEMORY_SCENARIO).
void *weft__memory_grow(void *list, size_t n, uint32_t *room, size_t size);
/// Makes room for `n` elements in total; the capacity is a power of two.
void *weft__memory_grow_to(void *list, size_t n, size_t *room, size_t size);
/// The same for small lists of which there are very many: memory of `kind`, and room for 2 n + 6 elements.
void *weft__memory_grow_small(enum weft_memory_kind kind, void *list, uint32_t *room, uint32_t n, size_t size);

#endif
