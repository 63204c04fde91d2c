// SPDX-License-Identifier: Apache-2.0
// Credit of a port: what it has for sending to its peer, and what it gives back of what its peer has sent. A priority
// without credit for a frame of the largest size is paused until there is.
#ifndef WEFT_LINK_PORT_CREDIT_H
#define WEFT_LINK_PORT_CREDIT_H

#include "link/port.h"
#include "weft/credit.h"

struct weft__port_credit {
    weft_bytes left[WEFT_PRIORITIES];
    weft_time_ps sent_ps[WEFT_PRIORITIES]; ///< the last frame
    uint32_t unit, frame_take;             ///< of the peer; what the largest frame takes
    uint8_t priorities;                    ///< that need the peer's credit
    uint8_t granted;                       ///< that the peer has our credit for
    uint32_t granted_unit;
};

/// A frame that ends at `sent` was sent and will arrive.
void weft__port_credit_spend(struct weft__port *port, weft_time_ps now, weft_time_ps sent,
                             const struct weft_packet *packet);
/// How long credit was missing that comes now, from when the frame that took the last had been sent.
static inline weft_time_ps weft__port_credit_waited(const struct weft__port *port, uint32_t priority,
                                                    weft_time_ps now) {
    weft_time_ps sent = port->credit->sent_ps[priority];
    return now > sent ? now - sent : 0;
}
/// Credit came from the peer. The port may be able to send.
void weft__port_credit_come(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet);
/// A frame of the peer, of that priority, needs no room any more.
void weft__port_credit_return(struct weft__port *port, struct weft__worker *w, uint32_t priority, uint32_t bytes);

static inline void weft__port_freed(struct weft__port *port, struct weft__worker *w, uint32_t priority,
                                    uint32_t bytes) {
    if (__builtin_expect(port->credit != NULL, 0)) weft__port_credit_return(port, w, priority, bytes);
}

#endif
