// SPDX-License-Identifier: Apache-2.0
// LLDP of one port: when it sends, what it has heard, and which priorities are lossless for it therefore. See lldp.c.
#ifndef WEFT_LINK_LLDP_H
#define WEFT_LINK_LLDP_H

#include "link/port.h"
#include "weft/dcbx.h"

/// The LLDP frame of every port, without FCS, for the whole run; what a packet in flight refers to. Ports without LLDP
/// have none (size 0).
struct weft__lldp_frame {
    const uint8_t *bytes;
    size_t size;
};

struct weft__lldp {
    const struct weft__lldp_frame *frame; ///< [ports of the network]
    weft_time_ps interval_ps;
    weft_time_ps send_ps, expires_ps; ///< next frame; end of what the neighbour said, never: it said nothing
    uint32_t changes;                 ///< of the link so far
    uint8_t configured;               ///< priorities lossless as configured
    uint8_t in_force;
    bool peer_sfc; ///< the neighbour has said that it understands source flow control messages
    uint64_t sent, received;
};

/// What the neighbour would see of the frame: bytes from destination MAC to FCS, padding included.
uint16_t weft__lldp_frame_bytes(const struct weft__lldp_frame *frame);

/// Sets timer `key` to when the port wants weft__lldp_on_timer to be called.
void weft__lldp_set_timer(const struct weft__port *port, struct weft__timers *timers, uint32_t key);
/// Time, or the link, has come so far: perhaps a frame is pending now. True if what is in force has changed.
bool weft__lldp_on_timer(struct weft__port *port, weft_time_ps now);
/// A frame came, perhaps to a port without LLDP. True likewise.
bool weft__lldp_on_frame(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet);
/// A frame came that nobody has time for.
void weft__lldp_ignore(struct weft__worker *w, const struct weft_packet *packet);
/// Sends the pending frame; the port must be free.
void weft__lldp_send(struct weft__port *port, struct weft__worker *w);

#endif
