// SPDX-License-Identifier: Apache-2.0
// Invariants of ports and of the Ethernet side of a box (base/check.h): queues, pauses, credit, timers, ingress buffer.
// A box adds up what it holds, then calls weft__ether_check, or weft__port_check for a port without an Ethernet side.
#pragma once

#include "base/check.h"
#include "link/ether.h"

/// Bytes of packets that a box holds: by the port at which they arrived, and by the port by which they will leave.
struct weft__held {
    weft_bytes *in, *out; ///< [ports * WEFT_PRIORITIES]
    uint32_t ports;
    uint32_t cell_bytes; ///< of the ingress buffer: `in` is of occupied bytes
};
void weft__held_init(struct weft__held *held, const struct weft__ether *e);
void weft__held_deinit(struct weft__held *held);
static inline void weft__held_add_in(struct weft__held *held, const struct weft_packet *p) {
    held->in[p->port * WEFT_PRIORITIES + p->priority] += weft_buffer_occupied(held->cell_bytes, p->bytes);
}
/// For the functions that visit waiting packets; `held` is a struct weft__held. The second leaves `in` alone.
void weft__held_waiting(void *held, const struct weft_packet *p, uint32_t out);
void weft__held_leaving(void *held, const struct weft_packet *p, uint32_t out);

/// Checks port `k` of a node that has run all events before `until`. `at`: the port's number at its node, for the text.
void weft__port_check(const struct weft__port *port, const struct weft__timers *timers, uint32_t k, uint32_t at,
                      weft_time_ps until, struct weft__check *c);
/// Checks all ports and the ingress buffer against what the box holds. `port0`: the number of the node's first port.
/// `wakes`: a port with packets at its output queues always has a timer or a pause without an end.
void weft__ether_check(const struct weft__ether *e, const struct weft__timers *timers, uint32_t port0, bool wakes,
                       weft_time_ps until, const struct weft__held *held, struct weft__check *c);
