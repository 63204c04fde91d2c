// SPDX-License-Identifier: Apache-2.0
// Messages and receives that meet at one rank, by source and tag, in the order of MPI: first arrived or posted, first
// matched. A receive may leave source or tag open (WEFT_NONE). A message is matched in constant time, and so is a
// receive without an open field; a receive with an open one searches the waiting messages in order.
#pragma once

#include "weft/types.h"

/// All zero: nothing waits.
struct weft__match {
    struct weft__match_node *node;
    struct weft__match_queue *queue;  ///< a hash table
    uint32_t nodes, nodes_room, free; ///< free: number + 1 of the first free node
    uint32_t queues, queues_room;
    uint32_t oldest, newest; ///< numbers + 1 of waiting messages
    uint64_t order;
    uint64_t waiting_messages;
};
void weft__match_deinit(struct weft__match *m);
/// A message has arrived: returns the receive that takes it; WEFT_NONE: it waits.
uint32_t weft__match_message(struct weft__match *m, uint32_t src, uint32_t tag, uint32_t message);
/// A receive is posted: returns the message that it takes; WEFT_NONE: it waits.
uint32_t weft__match_receive(struct weft__match *m, uint32_t src, uint32_t tag, uint32_t receive);
