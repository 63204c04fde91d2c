// SPDX-License-Identifier: Apache-2.0
#include "box/tin/gnet_queue.h"

#include <string.h>

#include "weft/memory.h"

static void gnet_free_grow(struct weft__gnet_free *numbers, uint32_t words) {
    numbers->word = weft_memory_resize(WEFT_MEMORY_QUEUE, numbers->word, numbers->words * sizeof *numbers->word,
                                       words * sizeof *numbers->word);
    for (uint32_t i = numbers->words; i < words; i++)
        numbers->word[i] = i ? UINT64_MAX : UINT64_MAX - 1; // 0 is reserved
    numbers->words = words;
}

void weft__gnet_cells_grow(struct weft__gnet_cells *cells) {
    uint32_t words = cells->spare.words, more = words ? 2 * words : 1;
    cells->slot = weft_memory_resize(WEFT_MEMORY_QUEUE, cells->slot, words * 64 * sizeof *cells->slot,
                                     more * 64 * sizeof *cells->slot);
    gnet_free_grow(&cells->spare, more);
}

void weft__gnet_queues_grow(struct weft__gnet_queues *queues) {
    uint32_t words = queues->spare.words, more = words ? 2 * words : 1;
    queues->queue = weft_memory_resize(WEFT_MEMORY_QUEUE, queues->queue, words * 64 * sizeof *queues->queue,
                                       more * 64 * sizeof *queues->queue);
    gnet_free_grow(&queues->spare, more);
}

void weft__gnet_coming_push(struct weft__gnet_coming *c, const struct weft_packet *cell) {
    if (c->n == c->capacity) {
        uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        c->cell =
            weft_memory_resize(WEFT_MEMORY_QUEUE, c->cell, c->capacity * sizeof *c->cell, capacity * sizeof *c->cell);
        memcpy(c->cell + c->capacity, c->cell, c->first * sizeof *c->cell); // moves the wrapped part behind the rest
        c->capacity = capacity;
    }
    c->cell[(c->first + c->n++) & (c->capacity - 1)] = *cell;
}

static void free_deinit(struct weft__gnet_free *numbers) {
    weft_memory_free(WEFT_MEMORY_QUEUE, numbers->word, numbers->words * sizeof *numbers->word);
}

void weft__gnet_cells_deinit(struct weft__gnet_cells *cells) {
    weft_memory_free(WEFT_MEMORY_QUEUE, cells->slot, cells->spare.words * 64 * sizeof *cells->slot);
    free_deinit(&cells->spare);
}

void weft__gnet_queues_deinit(struct weft__gnet_queues *queues) {
    weft_memory_free(WEFT_MEMORY_QUEUE, queues->queue, queues->spare.words * 64 * sizeof *queues->queue);
    free_deinit(&queues->spare);
}
