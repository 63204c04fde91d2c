// SPDX-License-Identifier: Apache-2.0
#include "base/fifo.h"

#include "weft/memory.h"

enum { SLAB_CHUNKS = 128 };

struct weft__slab {
    struct weft__slab *next;
    void *memory; ///< as allocated; its chunks start at the next cache line
};
enum { SLAB_BYTES = (SLAB_CHUNKS + 1) * sizeof(struct weft__chunk) };

void weft__pool_init(struct weft_packet_pool *pool) {
    *pool = (struct weft_packet_pool){0};
}

void weft__pool_deinit(struct weft_packet_pool *pool) {
    for (struct weft__slab *s = pool->slab, *next; s; s = next) {
        next = s->next;
        weft_memory_free(WEFT_MEMORY_QUEUE, s->memory, SLAB_BYTES);
        weft_memory_free(WEFT_MEMORY_QUEUE, s, sizeof *s);
    }
    *pool = (struct weft_packet_pool){0};
}

void weft__pool_grow(struct weft_packet_pool *pool) {
    struct weft__slab *slab = weft_memory_new(WEFT_MEMORY_QUEUE, 1, sizeof *slab);
    slab->memory = weft_memory_new(WEFT_MEMORY_QUEUE, 1, SLAB_BYTES);
    slab->next = pool->slab;
    pool->slab = slab;
    struct weft__chunk *chunk = (struct weft__chunk *)(((uintptr_t)slab->memory + 63) & ~(uintptr_t)63);
    for (unsigned i = SLAB_CHUNKS; i-- > 0;) {
        chunk[i].next = pool->free;
        pool->free = &chunk[i];
    }
}
