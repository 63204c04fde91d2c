// SPDX-License-Identifier: Apache-2.0
// Lists that grow while a file is read, because a file can claim any length.
#pragma once

#include "weft/memory.h"

/// Makes room for one more element after the `n` elements of a list, whose capacity is a power of two and which is NULL
/// at first. A full list moves, and the old one stays in the arena.
void *weft__arena_grow(struct weft_arena *arena, void *list, size_t n, size_t size);
/// A new element after the `n` of a list, to be assigned: WEFT__ADD(arena, x->name, x->names) = name.
#define WEFT__ADD(arena, list, n) (*((list) = weft__arena_grow(arena, list, n, sizeof *(list)), &(list)[(n)++]))
/// The same outside an arena, from room for `first` elements on: `*room` is the capacity, for weft_memory_free. _now:
/// of a list that is known to be full.
void *weft__memory_double_now(enum weft_memory_kind kind, void *list, uint32_t *room, uint32_t first, size_t size);
static inline void *weft__memory_double(enum weft_memory_kind kind, void *list, size_t n, uint32_t *room,
                                        uint32_t first, size_t size) {
    return n < *room ? list : weft__memory_double_now(kind, list, room, first, size);
}
#define WEFT__ADD_DOUBLE(kind, list, n, room, first)                                                                   \
    (*((list) = weft__memory_double(kind, list, n, &(room), first, sizeof *(list)), &(list)[(n)++]))
static inline void *weft__memory_grow(void *list, size_t n, uint32_t *room, size_t size) {
    return weft__memory_double(WEFT_MEMORY_SCENARIO, list, n, room, 64, size);
}
/// Makes room for `n` elements in total; the capacity is a power of two.
void *weft__memory_grow_to(void *list, size_t n, size_t *room, size_t size);
/// For small lists of which there are very many: memory of `kind`, and room for 2 n + 6 elements.
void *weft__memory_grow_small(enum weft_memory_kind kind, void *list, uint32_t *room, uint32_t n, size_t size);
