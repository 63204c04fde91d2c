// SPDX-License-Identifier: Apache-2.0
// FIFO of packets by value, in chunks from a pool. A queue uses memory only while packets wait in it, and the chunk
// emptied last is the next one filled, so it is in cache. One pool per worker; not thread-safe.
#pragma once

#include <assert.h>

#include "weft/packet.h"

enum { WEFT__CHUNK_PACKETS = 15 };

struct weft__chunk {
    struct weft__chunk *next; ///< in a FIFO: towards the tail; in the pool: the next free one
    uint64_t unused[3];       ///< packets start on a 32-byte boundary and never straddle a cache line
    struct weft_packet packet[WEFT__CHUNK_PACKETS];
};
_Static_assert(sizeof(struct weft__chunk) == 512, "eight cache lines");

struct weft_packet_pool {
    struct weft__chunk *free;
    struct weft__slab *slab;
};

struct weft__fifo {
    struct weft__chunk *head, *tail; ///< valid while n > 0
    uint32_t n;
    uint8_t first, end; ///< first packet in the head chunk; one past the last in the tail chunk
};

void weft__pool_init(struct weft_packet_pool *pool);
void weft__pool_deinit(struct weft_packet_pool *pool);
void weft__pool_grow(struct weft_packet_pool *pool); ///< puts more chunks on the free list

static inline struct weft__chunk *weft__pool_take(struct weft_packet_pool *pool) {
    if (__builtin_expect(!pool->free, 0)) weft__pool_grow(pool);
    struct weft__chunk *c = pool->free;
    pool->free = c->next;
    return c;
}

/// Where a packet that joins goes.
static inline struct weft_packet *weft__fifo_add(struct weft__fifo *f, struct weft_packet_pool *pool) {
    if (!f->n) {
        f->head = f->tail = weft__pool_take(pool);
        f->first = f->end = 0;
    } else if (f->end == WEFT__CHUNK_PACKETS) {
        struct weft__chunk *c = weft__pool_take(pool);
        f->tail->next = c;
        f->tail = c;
        f->end = 0;
    }
    f->n++;
    return &f->tail->packet[f->end++];
}

static inline void weft__fifo_push(struct weft__fifo *f, struct weft_packet_pool *pool, const struct weft_packet *p) {
    *weft__fifo_add(f, pool) = *p;
}

static inline const struct weft_packet *weft__fifo_head(const struct weft__fifo *f) {
    assert(f->n);
    return &f->head->packet[f->first];
}

/// The head, which has been read, leaves; it may be read until the pool is used again.
static inline void weft__fifo_drop(struct weft__fifo *f, struct weft_packet_pool *pool) {
    struct weft__chunk *head = f->head;
    f->first++;
    if (--f->n == 0) {
        f->head = f->tail = NULL;
    } else if (f->first == WEFT__CHUNK_PACKETS) {
        f->head = head->next;
        f->first = 0;
        __builtin_prefetch(f->head->packet);
    } else {
        __builtin_prefetch(&head->packet[f->first]); // its turn may come in the same window
        return;
    }
    head->next = pool->free;
    pool->free = head;
}

static inline void weft__fifo_pop(struct weft__fifo *f, struct weft_packet_pool *pool, struct weft_packet *ret_packet) {
    *ret_packet = *weft__fifo_head(f);
    weft__fifo_drop(f, pool);
}

/// Prefetches the head. An empty FIFO has none; prefetching an invalid address is harmless.
static inline __attribute__((always_inline)) void weft__fifo_fetch(const struct weft__fifo *f) {
    __builtin_prefetch((const void *)((uintptr_t)f->head + offsetof(struct weft__chunk, packet) +
                                      f->first * sizeof(struct weft_packet)));
}

/// A cursor over a FIFO, which does not change it.
struct weft__fifo_cursor {
    const struct weft__chunk *chunk;
    uint32_t left;
    uint8_t at;
};

static inline struct weft__fifo_cursor weft__fifo_begin(const struct weft__fifo *f) {
    return (struct weft__fifo_cursor){f->head, f->n, f->first};
}

/// The next packet, or NULL at the end.
static inline const struct weft_packet *weft__fifo_next(struct weft__fifo_cursor *c) {
    if (!c->left) return NULL;
    if (c->at == WEFT__CHUNK_PACKETS) {
        c->chunk = c->chunk->next;
        c->at = 0;
    }
    c->left--;
    return &c->chunk->packet[c->at++];
}
