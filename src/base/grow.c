// SPDX-License-Identifier: Apache-2.0
#include "base/grow.h"

#include <string.h>

void *weft__arena_grow(struct weft_arena *arena, void *list, size_t n, size_t size) {
    if (n & (n - 1)) return list;
    void *more = weft_arena_alloc(arena, n ? 2 * n : 1, size);
    if (n) memcpy(more, list, n * size);
    return more;
}

void *weft__memory_grow_to(void *list, size_t n, size_t *room, size_t size) {
    if (n <= *room) return list;
    size_t more = *room ? *room : 64;
    while (more < n)
        more *= 2;
    list = weft_memory_resize(WEFT_MEMORY_SCENARIO, list, *room * size, more * size);
    *room = more;
    return list;
}

void *weft__memory_grow_small(enum weft_memory_kind kind, void *list, uint32_t *room, uint32_t n, size_t size) {
    if (n <= *room) return list;
    uint32_t after = 2 * n + 6;
    list = weft_memory_resize(kind, list, *room * size, after * size);
    *room = after;
    return list;
}

void *weft__memory_double_now(enum weft_memory_kind kind, void *list, uint32_t *room, uint32_t first, size_t size) {
    uint32_t more = *room ? 2 * *room : first;
    list = weft_memory_resize(kind, list, *room * size, more * size);
    *room = more;
    return list;
}
