// SPDX-License-Identifier: Apache-2.0
#include "base/match.h"

#include <assert.h>

#include "base/grow.h"
#include "weft/memory.h"

struct weft__match_node {
    uint64_t order; ///< of receives
    uint32_t item, src, tag;
    uint32_t next;         ///< in its queue, or in the list of free ones; number + 1
    uint32_t older, newer; ///< neighbours among messages; number + 1
};
/// The queue of those with the same source and tag; removed when it is empty.
struct weft__match_queue {
    uint32_t src, tag, head, tail; ///< head, tail: number + 1; head 0: the place is free
    bool receives;
};

void weft__match_deinit(struct weft__match *m) {
    weft_memory_free(WEFT_MEMORY_QP, m->node, m->nodes_room * sizeof *m->node);
    weft_memory_free(WEFT_MEMORY_QP, m->queue, m->queues_room * sizeof *m->queue);
    *m = (struct weft__match){0};
}

// --- queues -------------------------------------------------------------------------------------------------------

static uint32_t place_of(const struct weft__match *m, bool receives, uint32_t src, uint32_t tag) {
    uint64_t hash = ((uint64_t)src << 32 | tag) * UINT64_C(0x9e3779b97f4a7c15) + receives;
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(hash >> 32) & (m->queues_room - 1);
}

/// The place of a queue, or the place where it would go.
static uint32_t find_queue(const struct weft__match *m, bool receives, uint32_t src, uint32_t tag) {
    uint32_t at = place_of(m, receives, src, tag);
    for (; m->queue[at].head; at = (at + 1) & (m->queues_room - 1)) {
        const struct weft__match_queue *q = &m->queue[at];
        if (q->src == src && q->tag == tag && q->receives == receives) break;
    }
    return at;
}

static void grow_queues(struct weft__match *m) {
    struct weft__match_queue *old = m->queue;
    uint32_t room = m->queues_room;
    m->queues_room = room ? 2 * room : 16;
    m->queue = weft_memory_new(WEFT_MEMORY_QP, m->queues_room, sizeof *m->queue);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].head) m->queue[find_queue(m, old[i].receives, old[i].src, old[i].tag)] = old[i];
    weft_memory_free(WEFT_MEMORY_QP, old, room * sizeof *old);
}

/// Moves later entries up when a place becomes free, so that each can still be found.
static void remove_queue(struct weft__match *m, uint32_t at) {
    uint32_t mask = m->queues_room - 1;
    m->queues--;
    m->queue[at].head = 0;
    for (uint32_t i = (at + 1) & mask; m->queue[i].head; i = (i + 1) & mask) {
        const struct weft__match_queue *q = &m->queue[i];
        uint32_t wanted = place_of(m, q->receives, q->src, q->tag);
        if (((i - wanted) & mask) < ((i - at) & mask)) continue;
        m->queue[at] = *q;
        m->queue[i].head = 0;
        at = i;
    }
}

static uint32_t new_node(struct weft__match *m) {
    if (m->free) {
        uint32_t number = m->free;
        m->free = m->node[number - 1].next;
        return number;
    }
    m->node = weft__memory_double(WEFT_MEMORY_QP, m->node, m->nodes, &m->nodes_room, 8, sizeof *m->node);
    return ++m->nodes;
}

static uint32_t push_item(struct weft__match *m, bool receives, uint32_t src, uint32_t tag, uint32_t item) {
    if (2 * m->queues >= m->queues_room) grow_queues(m);
    uint32_t number = new_node(m);
    m->node[number - 1] = (struct weft__match_node){.order = m->order++, .item = item, .src = src, .tag = tag};
    struct weft__match_queue *q = &m->queue[find_queue(m, receives, src, tag)];
    if (!q->head) {
        *q = (struct weft__match_queue){src, tag, number, number, receives};
        m->queues++;
        return number;
    }
    m->node[q->tail - 1].next = number;
    q->tail = number;
    return number;
}

static uint32_t pop_item(struct weft__match *m, uint32_t at) {
    struct weft__match_queue *q = &m->queue[at];
    uint32_t number = q->head, item = m->node[number - 1].item;
    q->head = m->node[number - 1].next;
    if (!q->head) remove_queue(m, at);
    m->node[number - 1].next = m->free;
    m->free = number;
    return item;
}

// --- both sides ---------------------------------------------------------------------------------------------------

uint32_t weft__match_message(struct weft__match *m, uint32_t src, uint32_t tag, uint32_t message) {
    const uint32_t by[4][2] = {{src, tag}, {src, WEFT_NONE}, {WEFT_NONE, tag}, {WEFT_NONE, WEFT_NONE}};
    uint32_t best = WEFT_NONE;
    for (uint32_t k = 0; m->queues && k < 4; k++) {
        uint32_t at = find_queue(m, true, by[k][0], by[k][1]);
        if (!m->queue[at].head) continue;
        if (best == WEFT_NONE || m->node[m->queue[at].head - 1].order < m->node[m->queue[best].head - 1].order)
            best = at;
    }
    if (best != WEFT_NONE) return pop_item(m, best);
    uint32_t number = push_item(m, false, src, tag, message);
    m->node[number - 1].older = m->newest;
    if (m->newest)
        m->node[m->newest - 1].newer = number;
    else
        m->oldest = number;
    m->newest = number;
    m->waiting_messages++;
    return WEFT_NONE;
}

/// The first message that the receive takes; number + 1, or 0.
static uint32_t first_for(const struct weft__match *m, uint32_t src, uint32_t tag) {
    if (!m->waiting_messages) return 0;
    if (src != WEFT_NONE && tag != WEFT_NONE) return m->queue[find_queue(m, false, src, tag)].head;
    uint32_t number = m->oldest;
    while (number && ((src != WEFT_NONE && m->node[number - 1].src != src) ||
                      (tag != WEFT_NONE && m->node[number - 1].tag != tag)))
        number = m->node[number - 1].newer;
    return number;
}

uint32_t weft__match_receive(struct weft__match *m, uint32_t src, uint32_t tag, uint32_t receive) {
    uint32_t number = first_for(m, src, tag);
    if (!number) {
        push_item(m, true, src, tag, receive);
        return WEFT_NONE;
    }
    struct weft__match_node n = m->node[number - 1];
    uint32_t at = find_queue(m, false, n.src, n.tag);
    assert(m->queue[at].head == number); // the oldest of all matching messages is the oldest of its queue
    if (n.older)
        m->node[n.older - 1].newer = n.newer;
    else
        m->oldest = n.newer;
    if (n.newer)
        m->node[n.newer - 1].older = n.older;
    else
        m->newest = n.older;
    m->waiting_messages--;
    return pop_item(m, at);
}
