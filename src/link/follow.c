// SPDX-License-Identifier: Apache-2.0
#include "link/follow.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "weft/memory.h"

enum { CHUNK_FIRST = 1008, CHUNK_MOST = 8176, BLOCK = 4 << 20, NOTES_FIRST = 32 }; // bytes, without the header

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

/// Cut from the last block; NULL: no room there.
static void *cut_bytes(struct weft__follow_pool *pool, size_t bytes) {
    if ((size_t)(pool->end - pool->at) < bytes) return NULL;
    pool->at += bytes;
    return pool->at - bytes;
}

static void *take_bytes(struct weft__follow_pool *pool, size_t bytes) {
    pthread_mutex_lock(&pool->lock);
    void *memory = cut_bytes(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    if (memory) return memory;
    // running out of memory does not return here, so the lock is not held then; not zeroed
    struct weft__follow_block *block = weft_memory_resize(WEFT_MEMORY_SERIES, NULL, 0, BLOCK);
    pthread_mutex_lock(&pool->lock);
    block->next = pool->block;
    pool->block = block;
    pool->at = block->memory;
    pool->end = (unsigned char *)block + BLOCK;
    memory = cut_bytes(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    return memory;
}

void weft__follow_grow(struct weft__follow *f, struct weft__follow_list *list) {
    uint32_t room = list->last ? CHUNK_MOST : CHUNK_FIRST;
    struct weft__follow_chunk *chunk = take_bytes(f->pool, sizeof *chunk + room);
    weft__follow_settle(list);
    chunk->next = list->last ? list->last->next : chunk;
    chunk->bytes = 0;
    if (list->last) list->last->next = chunk;
    *list = (struct weft__follow_list){.at = chunk->memory, .end = chunk->memory + room, .last = chunk};
}

#define QP ((UINT64_C(1) << WEFT__FRAME_NUMBER) - 1)
#define NUMBER (QP << 28)

static int64_t psn_of(uint64_t what) {
    return (int64_t)((what & NUMBER) >> 28);
}

static enum weft__frame_form form_of(const struct weft__follow_seen *seen, const struct weft__follow_seen *frame) {
    bool alike = !((frame->what ^ seen->what) & ~NUMBER) && (uint32_t)frame->where == (uint32_t)seen->where;
    int64_t ahead = psn_of(frame->what) - psn_of(seen->what);
    if (!alike || ahead < INT16_MIN || ahead > INT16_MAX) return WEFT__FRAME_FULL;
    return ahead == 1 && frame->where == seen->where ? WEFT__FRAME_NEXT : WEFT__FRAME_AWAY;
}

/// Whether a queue pair takes the other row: because it had that one, or because only that one is free.
static bool is_better(const struct weft__follow_seen *other, const struct weft__follow_seen *own,
                      const struct weft__follow_seen *frame) {
    bool was_own = !((own->what ^ frame->what) & QP) && own->where;
    bool was_other = !((other->what ^ frame->what) & QP) && other->where;
    return !was_own && (was_other || (own->where && !other->where));
}

void weft__follow_add_unlike(struct weft__follow *f, weft_time_ps now, struct weft__follow_seen frame) {
    assert(now >= f->last_ps);
    weft_time_ps since = now - f->last_ps;
    if (since >> WEFT__FRAME_SINCE) {
        uint32_t *time = weft__follow_add_to(f, &f->frames, 3 * sizeof *time);
        time[0] = (uint32_t)WEFT__FRAME_TIME << 30;
        memcpy(&time[1], &now, sizeof now);
        since = 0;
    }
    f->last_ps = now;
    uint32_t row = (uint32_t)frame.what & f->rows;
    enum weft__frame_form form = form_of(&f->seen[row], &frame), other = form_of(&f->seen[row ^ 1], &frame);
    if (other < form || (form == WEFT__FRAME_FULL && is_better(&f->seen[row ^ 1], &f->seen[row], &frame))) {
        row ^= 1;
        form = other;
    }
    uint32_t word = (uint32_t)since | row << WEFT__FRAME_SINCE | (uint32_t)form << 30;
    struct weft__follow_seen *seen = &f->seen[row];
    if (form == WEFT__FRAME_NEXT) {
        *(uint32_t *)weft__follow_add_to(f, &f->frames, sizeof word) = word;
    } else if (form == WEFT__FRAME_AWAY) {
        uint32_t *away = weft__follow_add_to(f, &f->frames, 2 * sizeof *away);
        away[0] = word;
        away[1] = (uint32_t)(frame.where >> 32) | (uint32_t)(psn_of(frame.what) - psn_of(seen->what)) << 16;
    } else {
        uint32_t *full = weft__follow_add_to(f, &f->frames, sizeof *full + sizeof frame);
        full[0] = word;
        memcpy(&full[1], &frame, sizeof frame);
    }
    *seen = frame;
}

bool weft__follow_read(const uint32_t **at, struct weft__follow_seen *seen, struct weft__follow_frame *frame) {
    const uint32_t *word = *at;
    struct weft__follow_seen *row = &seen[word[0] >> WEFT__FRAME_SINCE & ((1u << WEFT__FRAME_ROW) - 1)];
    frame->time_ps += word[0] & ((1u << WEFT__FRAME_SINCE) - 1);
    switch ((enum weft__frame_form)(word[0] >> 30)) {
    case WEFT__FRAME_NEXT:
        row->what += UINT64_C(1) << 28;
        *at += 1;
        break;
    case WEFT__FRAME_AWAY:
        row->what += (uint64_t)(int64_t)(int16_t)(word[1] >> 16) << 28;
        row->where = (uint32_t)row->where | (uint64_t)(word[1] & 0xffff) << 32;
        *at += 2;
        break;
    case WEFT__FRAME_FULL:
        memcpy(row, &word[1], sizeof *row);
        *at += 5;
        break;
    case WEFT__FRAME_TIME:
        memcpy(&frame->time_ps, &word[1], sizeof frame->time_ps);
        *at += 3;
        return false;
    }
    frame->frame = *row;
    return true;
}

void weft__follow_add_sender(struct weft__follow *f, struct weft__follow_sender sender) {
    int64_t since = (int64_t)(sender.time_ps - f->sender.time_ps), most = INT64_C(1) << (WEFT__SENDER_SINCE - 1);
    enum weft__sender_form form = sender.qp == f->sender.qp ? WEFT__SENDER_SAME : WEFT__SENDER_OTHER;
    if (since < -most || since >= most) form = WEFT__SENDER_FAR;
    static const uint8_t words[] = {[WEFT__SENDER_SAME] = 1, [WEFT__SENDER_OTHER] = 2, [WEFT__SENDER_FAR] = 4};
    uint32_t *word = weft__follow_add_to(f, &f->senders, words[form] * sizeof *word);
    word[0] = ((uint32_t)since & ((1u << WEFT__SENDER_SINCE) - 1)) | sender.state << WEFT__SENDER_SINCE |
              (uint32_t)form << 30;
    if (form != WEFT__SENDER_SAME) word[1] = sender.qp;
    if (form == WEFT__SENDER_FAR) memcpy(&word[2], &sender.time_ps, sizeof sender.time_ps);
    f->sender = sender;
}

void weft__follow_read_sender(const uint32_t **at, struct weft__follow_sender *sender) {
    const uint32_t *word = *at;
    enum weft__sender_form form = word[0] >> 30;
    int32_t since = (int32_t)(word[0] << (32 - WEFT__SENDER_SINCE)) >> (32 - WEFT__SENDER_SINCE);
    sender->time_ps += (weft_time_ps)since;
    sender->state = word[0] >> WEFT__SENDER_SINCE & ((1u << WEFT__SENDER_STATE) - 1);
    if (form != WEFT__SENDER_SAME) sender->qp = word[1];
    if (form == WEFT__SENDER_FAR) memcpy(&sender->time_ps, &word[2], sizeof sender->time_ps);
    *at += form == WEFT__SENDER_FAR ? 4 : form == WEFT__SENDER_OTHER ? 2 : 1;
}

void weft__rank_note(struct weft__rank_log *log, struct weft_rank_note note) {
    log->note = weft__memory_double(WEFT_MEMORY_SERIES, log->note, log->n, &log->room, NOTES_FIRST, sizeof note);
    log->note[log->n++] = note;
}

void weft__rank_log_release(struct weft__rank_log *log) {
    weft_memory_free(WEFT_MEMORY_SERIES, log->note, log->room * sizeof *log->note);
    *log = (struct weft__rank_log){0};
}

void weft__rma_note(struct weft__rma_log *log, struct weft_rma_note note) {
    log->note = weft__memory_double(WEFT_MEMORY_SERIES, log->note, log->n, &log->room, NOTES_FIRST, sizeof note);
    log->note[log->n++] = note;
}

void weft__rma_log_release(struct weft__rma_log *log) {
    weft_memory_free(WEFT_MEMORY_SERIES, log->note, log->room * sizeof *log->note);
    *log = (struct weft__rma_log){0};
}
