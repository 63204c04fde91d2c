// SPDX-License-Identifier: Apache-2.0
// Cells that wait in a TiN, and the FIFOs they wait in. A TiN has thousands of FIFOs, one a virtual channel at each
// input and output, of which a few have cells: those have a record, in a list of their port. So what is touched is as
// little as there are cells, and stays in the cache.
#ifndef WEFT_DEVICE_GNET_QUEUE_H
#define WEFT_DEVICE_GNET_QUEUE_H

#include "weft/packet.h"

/// Slots, each in a FIFO or free. Of a cell in a FIFO `node` is the slot of the next; `port` the number of its ways in
/// the tables, if they are known.
struct weft__gnet_cells {
    struct weft_packet *slot; ///< 0 is nobody's
    uint32_t *spare;          ///< those that are free again, the last first; [capacity]
    uint32_t n, capacity, spares;
};

void weft__gnet_cells_grow(struct weft__gnet_cells *cells);

static inline uint32_t weft__gnet_cells_take(struct weft__gnet_cells *cells) {
    if (__builtin_expect(cells->spares == 0, 0)) {
        if (cells->n == cells->capacity) weft__gnet_cells_grow(cells);
        return cells->n++;
    }
    return cells->spare[--cells->spares];
}

static inline void weft__gnet_cells_free(struct weft__gnet_cells *cells, uint32_t slot) {
    cells->spare[cells->spares++] = slot;
}

/// The FIFO of a VC with cells, at an input or at an output.
struct weft__gnet_queue {
    uint32_t head, last; ///< slots; head 0: it is empty
    uint16_t next;       ///< in the list of its port, or of those that are free; 0: there is none
    uint16_t units;      ///< of links, in a FIFO at an input
    uint8_t vc;
    uint8_t out, out_vc; ///< at an input: what its first cell requests (WEFT__GNET_NO_OUT: nothing now)
};
enum { WEFT__GNET_NO_OUT = 0xff };
_Static_assert(sizeof(struct weft__gnet_queue) == 16, "four to a line");

struct weft__gnet_queues {
    struct weft__gnet_queue *queue; ///< 0 is nobody's
    uint32_t n, capacity;
    uint16_t spare; ///< the first of the list of those that are free
};

void weft__gnet_queues_grow(struct weft__gnet_queues *queues);

/// That of a VC, which has cells.
static inline uint32_t weft__gnet_queue_find(const struct weft__gnet_queues *queues, uint32_t first, uint32_t vc) {
    while (queues->queue[first].vc != vc)
        first = queues->queue[first].next;
    return first;
}

/// One for a VC that has none; `first` begins the list of its port.
static inline uint32_t weft__gnet_queue_open(struct weft__gnet_queues *queues, uint16_t *first, uint32_t vc) {
    if (__builtin_expect(!queues->spare, 0)) weft__gnet_queues_grow(queues);
    uint16_t q = queues->spare;
    queues->spare = queues->queue[q].next;
    queues->queue[q] = (struct weft__gnet_queue){.next = *first, .vc = (uint8_t)vc, .out = WEFT__GNET_NO_OUT};
    return *first = q;
}

/// It is empty.
static inline void weft__gnet_queue_close(struct weft__gnet_queues *queues, uint16_t *first, uint32_t q) {
    while (*first != q)
        first = &queues->queue[*first].next;
    *first = queues->queue[q].next;
    queues->queue[q].next = queues->spare;
    queues->spare = (uint16_t)q;
}

/// A slot joins a FIFO, or leaves it as its head.
static inline void weft__gnet_queue_push(struct weft__gnet_queue *queue, const struct weft__gnet_cells *cells,
                                         uint32_t slot) {
    cells->slot[slot].node = 0;
    if (queue->head)
        cells->slot[queue->last].node = slot;
    else
        queue->head = slot;
    queue->last = slot;
}
static inline uint32_t weft__gnet_queue_pop(struct weft__gnet_queue *queue, const struct weft__gnet_cells *cells) {
    uint32_t slot = queue->head;
    queue->head = cells->slot[slot].node;
    return slot;
}

/// Cells that endpoints have sent, in order of time, until they are at the switch: a ring.
struct weft__gnet_coming {
    struct weft_packet *cell;
    uint32_t first, n, capacity;
};
void weft__gnet_coming_push(struct weft__gnet_coming *coming, const struct weft_packet *cell);

#endif
