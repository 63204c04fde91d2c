// SPDX-License-Identifier: Apache-2.0
// The logs of a worker, in rows, and the blocks that they are made of.
#include "engine/engine.h"
#include "weft/memory.h"

static size_t block_size(const struct weft__worker *w) {
    return sizeof(struct weft__block) + w->block_packets * sizeof(struct weft_packet);
}

static struct weft__block *last_block(const struct weft__worker *w, const struct weft__log *log) {
    return (struct weft__block *)(void *)((char *)log->end - block_size(w));
}

void weft__log_grow(struct weft__worker *w, struct weft__log *log) {
    struct weft__block *block = w->free_block;
    if (block)
        w->free_block = block->next;
    else
        block = weft_memory_new(WEFT_MEMORY_FLIGHT, 1, block_size(w));
    block->next = NULL;
    if (log->first)
        last_block(w, log)->next = block;
    else
        log->first = block;
    log->next = block->packet;
    log->end = &block->packet[w->block_packets];
}

void weft__log_clear(struct weft__worker *w, struct weft__log *log) {
    if (!log->first) return;
    last_block(w, log)->next = w->free_block;
    w->free_block = log->first;
    *log = (struct weft__log){0};
}

struct weft__log *weft__row_make(struct weft__worker *w, uint32_t slot) {
    struct weft__log *row;
    if (w->free_rows) {
        row = w->free_row[--w->free_rows];
    } else {
        w->free_row = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->free_row, w->rows * sizeof(void *),
                                         (w->rows + 1) * sizeof(void *)); // where the row goes when it is empty
        w->rows++;
        row = weft_memory_new(WEFT_MEMORY_FLIGHT, w->engine->inboxes, sizeof *row);
    }
    atomic_store_explicit(&w->row[slot], row, memory_order_release);
    weft__bits_set(w->written, slot);
    return row;
}

void weft__row_clear(struct weft__worker *w, uint32_t slot) {
    struct weft__log *row = weft__row_of(w, slot);
    if (!row) return;
    for (uint32_t to = 0; to < w->engine->inboxes; to++)
        weft__log_clear(w, &row[to]);
    w->free_row[w->free_rows++] = row;
    atomic_store_explicit(&w->row[slot], NULL, memory_order_relaxed);
}

/// A single worker gets 16 KiB of packets per block; with many workers, each has only few packets for each other one.
static uint32_t calc_block_packets(uint32_t workers) {
    uint32_t packets = 512;
    while (packets > 16 && packets * workers > 512)
        packets /= 2;
    return packets - 1; // the block's header takes the space of one packet
}

void weft__logs_init(struct weft__worker *w) {
    w->block_packets = calc_block_packets(w->engine->conf.workers);
}

void weft__logs_deinit(struct weft__worker *w) {
    for (uint32_t slot = 0; slot < WEFT__RING; slot++)
        weft__row_clear(w, slot);
    while (w->free_rows)
        weft_memory_free(WEFT_MEMORY_FLIGHT, w->free_row[--w->free_rows],
                         w->engine->inboxes * sizeof(struct weft__log));
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->free_row, w->rows * sizeof(void *));
    for (struct weft__block *next, *block = w->free_block; block; block = next) {
        next = block->next;
        weft_memory_free(WEFT_MEMORY_FLIGHT, block, block_size(w));
    }
}
