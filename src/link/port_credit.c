// SPDX-License-Identifier: Apache-2.0
#include "link/port_credit.h"

void weft__port_credit_spend(struct weft__port *port, weft_time_ps now, weft_time_ps sent,
                             const struct weft_packet *packet) {
    struct weft__port_credit *c = port->credit;
    uint32_t p = packet->priority, take = weft_credit_take(c->unit, packet->bytes);
    if (!(c->priorities >> p & 1) || weft_packet_is_local(packet)) return;
    assert(c->left[p] >= take);
    c->left[p] -= take;
    c->sent_ps[p] = sent;
    if (c->left[p] < c->frame_take) weft__port_pause_begin(port, now, p, WEFT_TIME_NEVER);
}

void weft__port_credit_come(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet) {
    struct weft__port_credit *c = port->credit;
    uint32_t p = packet->priority;
    c->left[p] += packet->psn;
    if (c->left[p] >= c->frame_take && port->paused >> p & 1) weft__port_pause_over(port, now, p);
}

void weft__port_credit_return(struct weft__port *port, struct weft__worker *w, uint32_t priority, uint32_t bytes) {
    const struct weft__port_credit *c = port->credit;
    if (!(c->granted >> priority & 1)) return;
    struct weft_packet message = {
        .kind = WEFT_PACKET_ROOM,
        .priority = priority & 7u,
        .psn = weft_credit_take(c->granted_unit, bytes),
    };
    weft_time_ps sent = w->now_ps + weft__port_time(port, WEFT__PREAMBLE + WEFT_FRAME_MIN);
    weft__send(w, (struct weft__to){port->peer_inbox, port->peer_node, port->peer_port}, sent + port->delay_pause_ps,
               &message);
}
