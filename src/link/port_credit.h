// SPDX-License-Identifier: Apache-2.0
// Credit of a port: what it has for sending to its peer, and what it returns for frames of its peer. A priority whose
// credit does not cover a frame of the largest size is paused until it does.
#pragma once

#include "link/port.h"
#include "weft/credit.h"

struct weft__port_credit {
    weft_bytes left[WEFT_PRIORITIES];
    weft_bytes grant;                      ///< what the peer has granted for each priority in all
    weft_time_ps sent_ps[WEFT_PRIORITIES]; ///< when the last frame was sent
    uint32_t unit, frame_take;             ///< the peer's credit unit; units that the largest frame takes
    uint8_t priorities;                    ///< priorities that need the peer's credit
    uint8_t granted;                       ///< priorities for which the peer has our credit
    uint32_t granted_unit;
};

/// A frame that ends at `sent` was sent and will arrive.
void weft__port_credit_spend(struct weft__port *port, weft_time_ps now, weft_time_ps sent,
                             const struct weft_packet *packet);
/// How long the credit that arrives now was missing, counted from when the frame that took the last of it was sent.
static inline weft_time_ps weft__port_credit_waited(const struct weft__port *port, uint32_t priority,
                                                    weft_time_ps now) {
    weft_time_ps sent = port->credit->sent_ps[priority];
    return now > sent ? now - sent : 0;
}
/// Credit has arrived from the peer; the port may be able to send.
void weft__port_credit_come(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet);
/// A frame of the peer, of that priority, no longer needs room.
void weft__port_credit_return(struct weft__port *port, struct weft__worker *w, uint32_t priority, uint32_t bytes);

static inline void weft__port_freed(struct weft__port *port, struct weft__worker *w, uint32_t priority,
                                    uint32_t bytes) {
    if (__builtin_expect(port->credit != NULL, 0)) weft__port_credit_return(port, w, priority, bytes);
}
