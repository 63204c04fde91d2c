// SPDX-License-Identifier: Apache-2.0
// Messages and receives that meet at one rank, by source and tag, in the order of MPI: what came or was posted first
// goes first. A receive may leave source or tag open (WEFT_NONE). A message is found in constant time, and so is what a
// receive without an open end takes; one with an open end looks through the messages that wait, in their order.
#ifndef WEFT_BASE_MATCH_H
#define WEFT_BASE_MATCH_H

#include "weft/types.h"

/// Zeroed: nothing waits.
struct weft__match {
    struct weft__match_node *node;
    struct weft__match_queue *queue;  ///< a hash table
    uint32_t nodes, nodes_room, free; ///< free: number + 1 of the first node that is free again
    uint32_t queues, queues_room;
    uint32_t oldest, newest; ///< numbers + 1, of the messages that wait
    uint64_t order;
    uint64_t waiting_messages;
};
void weft__match_deinit(struct weft__match *m);
/// A message has come: the receive that takes it; WEFT_NONE: it waits.
uint32_t weft__match_message(struct weft__match *m, uint32_t src, uint32_t tag, uint32_t message);
/// A receive is posted: the message that it takes; WEFT_NONE: it waits.
uint32_t weft__match_receive(struct weft__match *m, uint32_t src, uint32_t tag, uint32_t receive);

#endif
