// SPDX-License-Identifier: Apache-2.0
#include "link/follow.h"

#include <assert.h>

#include "weft/memory.h"

enum { CHUNK_FIRST = 1008, CHUNK_MOST = 8176, BLOCK = 4 << 20, NOTES_FIRST = 32 }; // bytes, without what comes before

struct weft__follow_block {
    struct weft__follow_block *next;
    _Alignas(16) unsigned char memory[];
};

void weft__follow_pool_init(struct weft__follow_pool *pool) {
    *pool = (struct weft__follow_pool){.block = NULL};
    pthread_mutex_init(&pool->lock, NULL);
}

void weft__follow_pool_deinit(struct weft__follow_pool *pool) {
    for (struct weft__follow_block *block = pool->block, *next; block; block = next) {
        next = block->next;
        weft_memory_free(WEFT_MEMORY_SERIES, block, BLOCK);
    }
    pthread_mutex_destroy(&pool->lock);
    pool->block = NULL;
}

/// From the last block; NULL: there is no room in it.
static void *cut(struct weft__follow_pool *pool, size_t bytes) {
    if ((size_t)(pool->end - pool->at) < bytes) return NULL;
    pool->at += bytes;
    return pool->at - bytes;
}

static void *take(struct weft__follow_pool *pool, size_t bytes) {
    pthread_mutex_lock(&pool->lock);
    void *memory = cut(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    if (memory) return memory;
    // memory that runs out does not come back from here, so the lock is free; not zeroed
    struct weft__follow_block *block = weft_memory_resize(WEFT_MEMORY_SERIES, NULL, 0, BLOCK);
    pthread_mutex_lock(&pool->lock);
    block->next = pool->block;
    pool->block = block;
    pool->at = block->memory;
    pool->end = (unsigned char *)block + BLOCK;
    memory = cut(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    return memory;
}

void weft__follow_grow(struct weft__follow *f, struct weft__follow_list *list) {
    uint32_t room = list->last ? CHUNK_MOST : CHUNK_FIRST;
    struct weft__follow_chunk *chunk = take(f->pool, sizeof *chunk + room);
    chunk->next = NULL;
    chunk->bytes = 0;
    weft__follow_settle(list);
    *(list->last ? &list->last->next : &list->first) = chunk;
    list->last = chunk;
    list->at = chunk->memory;
    list->end = chunk->memory + room;
}

void weft__follow_skip(struct weft__follow *f, weft_time_ps now) {
    assert(now >= f->last_ps);
    struct weft__follow_frame *frame = weft__follow_add_to(f, &f->frames, sizeof *frame);
    *frame = (struct weft__follow_frame){.where = now, .what = WEFT__FRAME_TIME};
    f->last_ps = now;
}

void weft__rank_note(struct weft__rank_log *log, struct weft_rank_note note) {
    if (log->n == log->room) {
        uint32_t room = log->room ? 2 * log->room : NOTES_FIRST;
        log->note = weft_memory_resize(WEFT_MEMORY_SERIES, log->note, log->room * sizeof note, room * sizeof note);
        log->room = room;
    }
    log->note[log->n++] = note;
}

void weft__rank_log_release(struct weft__rank_log *log) {
    weft_memory_free(WEFT_MEMORY_SERIES, log->note, log->room * sizeof *log->note);
    *log = (struct weft__rank_log){0};
}

void weft__rma_note(struct weft__rma_log *log, struct weft_rma_note note) {
    if (log->n == log->room) {
        uint32_t room = log->room ? 2 * log->room : NOTES_FIRST;
        log->note = weft_memory_resize(WEFT_MEMORY_SERIES, log->note, log->room * sizeof note, room * sizeof note);
        log->room = room;
    }
    log->note[log->n++] = note;
}

void weft__rma_log_release(struct weft__rma_log *log) {
    weft_memory_free(WEFT_MEMORY_SERIES, log->note, log->room * sizeof *log->note);
    *log = (struct weft__rma_log){0};
}
