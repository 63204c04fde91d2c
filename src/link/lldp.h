// SPDX-License-Identifier: Apache-2.0
// LLDP of one port: when it sends, what it has received, and which priorities are lossless as a result. See lldp.c.
#pragma once

#include "link/port.h"
#include "weft/dcbx.h"

/// The LLDP frame of every port, without FCS, for the whole run; a packet in flight refers to it. Ports without LLDP
/// have none (size 0).
struct weft__lldp_frame {
    const uint8_t *bytes;
    size_t size;
};

struct weft__lldp {
    const struct weft__lldp_frame *frame; ///< [ports of the network]
    weft_time_ps interval_ps;
    weft_time_ps send_ps, expires_ps; ///< next frame; when the neighbour's information expires, never if it sent none
    uint32_t changes;                 ///< link changes so far
    uint8_t configured;               ///< priorities lossless as configured
    uint8_t in_force;
    bool peer_sfc; ///< the neighbour has announced that it understands source flow control messages
    uint64_t sent, received;
};

/// The bytes of the frame that the neighbour sees, from destination MAC to FCS, padding included.
uint16_t weft__lldp_frame_bytes(const struct weft__lldp_frame *frame);

/// Sets timer `key` to the time at which weft__lldp_on_timer must be called for the port.
void weft__lldp_set_timer(const struct weft__port *port, struct weft__timers *timers, uint32_t key);
/// The timer fired or the link changed: a frame may now be pending. True if the settings in force have changed.
bool weft__lldp_on_timer(struct weft__port *port, weft_time_ps now);
/// A frame arrived, even at a port without LLDP. True likewise.
bool weft__lldp_on_frame(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet);
/// Drops a frame at a box that does not process LLDP.
void weft__lldp_ignore(struct weft__worker *w, const struct weft_packet *packet);
/// Sends the pending frame; the port must be free.
void weft__lldp_send(struct weft__port *port, struct weft__worker *w);
