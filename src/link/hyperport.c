// SPDX-License-Identifier: Apache-2.0
// Hyperports: several Ethernet ports that act as one. The source (Meta, "Disaggregated Scheduled Fabric", 2025, future
// work) says only that they combine several 800G ports at ASIC level to act as a single physical port. How is ASSUMED:
// each frame goes whole, at the rate of a member, over the member that is free first; it has a number; the far end
// releases frames in the order of their numbers, as multilink PPP does (RFC 1990, 4.1), one after the other at the rate
// of all together. Frames of a member stay in order, so a frame waits at most for those sent before it on the other
// members, and the far end holds at most one frame per member. The release time is known when a frame is sent, so the
// far end needs no event of its own. A lost frame delays no other frame (in RFC 1990 it does until each member has
// delivered a later one). Pause and LLDP frames are not numbered. Members fail together.
#include "link/port.h"

void weft__port_set_members(struct weft__port *port, uint32_t n, struct weft_arena *arena) {
    port->members = weft_arena_alloc(arena, 1, sizeof *port->members + n * sizeof *port->members->until_ps);
    port->members->n = n;
    port->special = WEFT__PORT_SPECIAL;
    port->part_ps = 0; // the far end needs the complete frame to release it in order
}

weft_time_ps weft__members_take(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet,
                                weft_time_ps time) {
    struct weft__members *m = port->members;
    uint32_t first = 0;
    for (uint32_t k = 1; k < m->n; k++)
        if (m->until_ps[k] < m->until_ps[first]) first = k;
    m->until_ps[first] = now + m->n * time;
    weft_time_ps last_bit = m->until_ps[first] - (weft_time_ps)m->n * port->gap_ps;
    port->busy_until_ps = m->until_ps[first];
    for (uint32_t k = 0; k < m->n; k++)
        if (m->until_ps[k] < port->busy_until_ps) port->busy_until_ps = m->until_ps[k];
    if (port->busy_until_ps < now) port->busy_until_ps = now;
    if (weft_packet_is_local(packet)) return last_bit;
    if (m->released_ps + time > last_bit) last_bit = m->released_ps + time;
    return m->released_ps = last_bit;
}
