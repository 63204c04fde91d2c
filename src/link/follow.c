// SPDX-License-Identifier: Apache-2.0
#include "link/follow.h"

#include "weft/memory.h"

enum { CHUNK_FIRST = 32, CHUNK_MOST = 2048 }; // records

static size_t chunk_bytes(uint32_t room) {
    return sizeof(struct weft__follow_chunk) + room * sizeof(struct weft__follow_record);
}

void weft__follow_grow(struct weft__follow *f) {
    uint32_t room = !f->last ? CHUNK_FIRST : f->last->room < CHUNK_MOST ? 4 * f->last->room : CHUNK_MOST;
    struct weft__follow_chunk *chunk = weft_memory_resize(WEFT_MEMORY_SERIES, NULL, 0, chunk_bytes(room)); // not zeroed
    chunk->next = NULL;
    chunk->n = 0;
    chunk->room = room;
    weft__follow_settle(f);
    if (f->last)
        f->last->next = chunk;
    else
        f->first = chunk;
    f->last = chunk;
    f->at = chunk->record;
    f->end = chunk->record + room;
}

void weft__follow_release(struct weft__follow *f) {
    for (struct weft__follow_chunk *chunk = f->first, *next; chunk; chunk = next) {
        next = chunk->next;
        weft_memory_free(WEFT_MEMORY_SERIES, chunk, chunk_bytes(chunk->room));
    }
    f->first = f->last = NULL;
    f->at = f->end = NULL;
}

void weft__rank_note(struct weft__rank_log *log, struct weft_rank_note note) {
    if (log->n == log->room) {
        uint32_t room = log->room ? 2 * log->room : CHUNK_FIRST;
        log->note = weft_memory_resize(WEFT_MEMORY_SERIES, log->note, log->room * sizeof note, room * sizeof note);
        log->room = room;
    }
    log->note[log->n++] = note;
}

void weft__rank_log_release(struct weft__rank_log *log) {
    weft_memory_free(WEFT_MEMORY_SERIES, log->note, log->room * sizeof *log->note);
    *log = (struct weft__rank_log){0};
}
