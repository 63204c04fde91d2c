// SPDX-License-Identifier: Apache-2.0
#include "base/fifo.h"

#include "weft/memory.h"

enum { SLAB_CHUNKS_MIN = 128, SLAB_CHUNKS_MAX = 8192 };

struct weft__slab {
    struct weft__slab *next;
    void *memory; ///< the allocation; its chunks start at the next cache line
    uint32_t chunks;
};

static size_t slab_bytes(uint32_t chunks) {
    return (chunks + 1) * sizeof(struct weft__chunk);
}

void weft__pool_init(struct weft_packet_pool *pool) {
    *pool = (struct weft_packet_pool){0};
}

void weft__pool_deinit(struct weft_packet_pool *pool) {
    for (struct weft__slab *s = pool->slab, *next; s; s = next) {
        next = s->next;
        weft_memory_free(WEFT_MEMORY_QUEUE, s->memory, slab_bytes(s->chunks));
        weft_memory_free(WEFT_MEMORY_QUEUE, s, sizeof *s);
    }
    *pool = (struct weft_packet_pool){0};
}

void weft__pool_grow(struct weft_packet_pool *pool) {
    struct weft__slab *slab = weft_memory_new(WEFT_MEMORY_QUEUE, 1, sizeof *slab);
    slab->chunks = !pool->slab                            ? SLAB_CHUNKS_MIN
                   : pool->slab->chunks < SLAB_CHUNKS_MAX ? pool->slab->chunks * 2
                                                          : SLAB_CHUNKS_MAX;
    slab->memory = weft_memory_new(WEFT_MEMORY_QUEUE, 1, slab_bytes(slab->chunks));
    slab->next = pool->slab;
    pool->slab = slab;
    struct weft__chunk *chunk = (struct weft__chunk *)(((uintptr_t)slab->memory + 63) & ~(uintptr_t)63);
    for (unsigned i = slab->chunks; i-- > 0;) {
        chunk[i].next = pool->free;
        pool->free = &chunk[i];
    }
}
