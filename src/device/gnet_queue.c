// SPDX-License-Identifier: Apache-2.0
#include "device/gnet_queue.h"

#include <string.h>

#include "weft/memory.h"

void weft__gnet_cells_grow(struct weft__gnet_cells *cells) {
    uint32_t capacity = cells->capacity ? 2 * cells->capacity : 16;
    cells->slot = weft_memory_resize(WEFT_MEMORY_QUEUE, cells->slot, cells->capacity * sizeof *cells->slot,
                                     capacity * sizeof *cells->slot);
    cells->spare = weft_memory_resize(WEFT_MEMORY_QUEUE, cells->spare, cells->capacity * sizeof *cells->spare,
                                      capacity * sizeof *cells->spare);
    cells->capacity = capacity;
    if (!cells->n) cells->slot[cells->n++] = (struct weft_packet){0}; // nobody's
}

void weft__gnet_queues_grow(struct weft__gnet_queues *queues) {
    uint32_t capacity = queues->capacity ? 2 * queues->capacity : 16;
    queues->queue = weft_memory_resize(WEFT_MEMORY_QUEUE, queues->queue, queues->capacity * sizeof *queues->queue,
                                       capacity * sizeof *queues->queue);
    if (!queues->capacity) queues->n = 1; // nobody's
    queues->capacity = capacity;
    for (; queues->n < capacity; queues->n++) {
        queues->queue[queues->n].next = queues->spare;
        queues->spare = (uint16_t)queues->n;
    }
}

void weft__gnet_coming_push(struct weft__gnet_coming *c, const struct weft_packet *cell) {
    if (c->n == c->capacity) {
        uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        c->cell =
            weft_memory_resize(WEFT_MEMORY_QUEUE, c->cell, c->capacity * sizeof *c->cell, capacity * sizeof *c->cell);
        memcpy(c->cell + c->capacity, c->cell, c->first * sizeof *c->cell); // what has gone round comes behind the rest
        c->capacity = capacity;
    }
    c->cell[(c->first + c->n++) & (c->capacity - 1)] = *cell;
}
