// SPDX-License-Identifier: Apache-2.0
// Cells that wait in a TiN, and their FIFOs. A TiN has thousands of FIFOs, one per virtual channel at each input and
// output, of which only a few hold cells: those have a record, in a list of their port. So the memory in use is
// proportional to the number of cells, and stays in the cache.
#pragma once

#include "weft/packet.h"

/// Free numbers, from 1 on. The lowest is taken first, so that those in use are close together.
struct weft__gnet_free {
    uint64_t *word;
    uint32_t words, low; ///< words below `low` have none
};

/// WEFT_NONE: there is none.
static inline uint32_t weft__gnet_free_take(struct weft__gnet_free *numbers) {
    for (; numbers->low < numbers->words; numbers->low++) {
        uint64_t *word = &numbers->word[numbers->low];
        if (__builtin_expect(!*word, 0)) continue;
        uint32_t bit = (uint32_t)__builtin_ctzll(*word);
        *word &= *word - 1;
        return numbers->low * 64 + bit;
    }
    return WEFT_NONE;
}

static inline void weft__gnet_free_give(struct weft__gnet_free *numbers, uint32_t number) {
    numbers->word[number / 64] |= UINT64_C(1) << number % 64;
    if (__builtin_expect(number / 64 < numbers->low, 0)) numbers->low = number / 64;
}

/// Slots, each in a FIFO or free. For a cell in a FIFO, `node` is the slot of the next cell, and `port` the number of
/// its paths in the tables, if they are known.
struct weft__gnet_cells {
    struct weft_packet *slot; ///< slot 0 is reserved
    struct weft__gnet_free spare;
};

void weft__gnet_cells_grow(struct weft__gnet_cells *cells);
void weft__gnet_cells_deinit(struct weft__gnet_cells *cells);

static inline uint32_t weft__gnet_cells_take(struct weft__gnet_cells *cells) {
    uint32_t slot;
    while (__builtin_expect((slot = weft__gnet_free_take(&cells->spare)) == WEFT_NONE, 0))
        weft__gnet_cells_grow(cells);
    return slot;
}

static inline void weft__gnet_cells_free(struct weft__gnet_cells *cells, uint32_t slot) {
    weft__gnet_free_give(&cells->spare, slot);
}

/// The FIFO of a VC with cells, at an input or at an output.
struct weft__gnet_queue {
    uint32_t head, last; ///< slots; head 0: it is empty
    uint16_t next;       ///< in the list of its port; 0: there is none
    uint16_t units;      ///< at an input, for links
    uint8_t vc;
    /// At an input: the output that its first cell requests, and the VC there; with an extra bit, see below.
    uint8_t out, out_vc;
};
/// Nothing is requested now. With allocation in steps (gnet_channel.c): the first cell has not yet taken its channel.
enum { WEFT__GNET_NO_OUT = 0xff, WEFT__GNET_NO_CHANNEL = 0x80 };
_Static_assert(sizeof(struct weft__gnet_queue) == 16, "four to a line");

struct weft__gnet_queues {
    struct weft__gnet_queue *queue; ///< entry 0 is reserved
    struct weft__gnet_free spare;
};

void weft__gnet_queues_grow(struct weft__gnet_queues *queues);
void weft__gnet_queues_deinit(struct weft__gnet_queues *queues);

/// The queue of a VC, which has cells.
static inline uint32_t weft__gnet_queue_find(const struct weft__gnet_queues *queues, uint32_t first, uint32_t vc) {
    while (queues->queue[first].vc != vc)
        first = queues->queue[first].next;
    return first;
}

/// Opens a queue for a VC that has none; `first` begins the list of its port.
static inline uint32_t weft__gnet_queue_open(struct weft__gnet_queues *queues, uint16_t *first, uint32_t vc) {
    uint32_t q;
    while (__builtin_expect((q = weft__gnet_free_take(&queues->spare)) == WEFT_NONE, 0))
        weft__gnet_queues_grow(queues);
    queues->queue[q] = (struct weft__gnet_queue){.next = *first, .vc = (uint8_t)vc, .out = WEFT__GNET_NO_OUT};
    return *first = (uint16_t)q;
}

/// It is empty.
static inline void weft__gnet_queue_close(struct weft__gnet_queues *queues, uint16_t *first, uint32_t q) {
    while (*first != q)
        first = &queues->queue[*first].next;
    *first = queues->queue[q].next;
    weft__gnet_free_give(&queues->spare, q);
}

/// A slot joins a FIFO, or leaves it as its head.
static inline void weft__gnet_queue_push(struct weft__gnet_queue *queue, const struct weft__gnet_cells *cells,
                                         uint32_t slot) {
    cells->slot[slot].node = 0;
    if (queue->head)
        weft_packet_set_node(&cells->slot[queue->last], slot);
    else
        queue->head = slot;
    queue->last = slot;
}
static inline uint32_t weft__gnet_queue_pop(struct weft__gnet_queue *queue, const struct weft__gnet_cells *cells) {
    uint32_t slot = queue->head;
    queue->head = cells->slot[slot].node;
    return slot;
}

/// Cells that endpoints have sent and that have not reached the switch yet, in order of time: a ring.
struct weft__gnet_coming {
    struct weft_packet *cell;
    uint32_t first, n, capacity;
};
void weft__gnet_coming_push(struct weft__gnet_coming *coming, const struct weft_packet *cell);

static inline struct weft_packet weft__gnet_coming_pop(struct weft__gnet_coming *c) {
    struct weft_packet cell = c->cell[c->first];
    c->first = --c->n ? (c->first + 1) & (c->capacity - 1) : 0;
    return cell;
}
