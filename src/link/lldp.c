// SPDX-License-Identifier: Apache-2.0
// IEEE 802.1AB-2016 clause 9: a frame when the link comes up and one per interval; the neighbour's information is
// forgotten when its time to live expires or the link goes down. (Differences: no second, fast frames for a new
// neighbour, no shutdown frame.) Each received frame is negotiated with: IEEE 802.1Q clause 38. What a port announces
// does not change during a run: it announces its configuration, not what it has adopted from its neighbour.
#include "link/lldp.h"

#include <assert.h>

#include "weft/wire_sfcm.h"

uint16_t weft__lldp_frame_bytes(const struct weft__lldp_frame *frame) {
    size_t bytes = frame->size + WEFT_FCS_BYTES;
    return (uint16_t)(bytes < WEFT_FRAME_MIN ? WEFT_FRAME_MIN : bytes);
}

/// The next change of the link's state; the link is up after an even number of changes.
static weft_time_ps next_change(const struct weft__port *port) {
    const struct weft__port_faults *f = port->faults;
    uint32_t k = port->lldp->changes;
    if (!f || k / 2 >= f->downs) return WEFT_TIME_NEVER;
    return k % 2 ? f->down[k / 2].to_ps : f->down[k / 2].from_ps;
}

void weft__lldp_set_timer(const struct weft__port *port, struct weft__timers *timers, uint32_t key) {
    const struct weft__lldp *l = port->lldp;
    weft_time_ps due = l->changes % 2 ? WEFT_TIME_NEVER : l->send_ps, change = next_change(port);
    if (l->expires_ps < due) due = l->expires_ps;
    if (change < due) due = change;
    if (due == WEFT_TIME_NEVER)
        weft__timer_cancel(timers, key);
    else
        weft__timer_set(timers, key, due);
}

static bool put_in_force(struct weft__lldp *l, uint8_t priorities) {
    bool changed = l->in_force != priorities;
    l->in_force = priorities;
    return changed;
}

bool weft__lldp_on_timer(struct weft__port *port, weft_time_ps now) {
    struct weft__lldp *l = port->lldp;
    for (; next_change(port) <= now; l->changes++) {
        l->expires_ps = now;
        l->send_ps = now;
    }
    if (l->changes % 2)
        port->pending &= WEFT__PENDING_PFC;
    else if (l->send_ps <= now) {
        port->pending |= WEFT__PENDING_LLDP;
        l->send_ps = now + l->interval_ps;
    }
    if (l->expires_ps > now) return false;
    l->expires_ps = WEFT_TIME_NEVER;
    l->peer_sfc = false;
    return put_in_force(l, l->configured);
}

static bool takes_sfcm(const struct weft_dcbx *says) {
    const struct weft_app *app = says->apps.app;
    if (!(says->has & WEFT_DCBX_APPS)) return false;
    for (unsigned i = 0; i < says->apps.n; i++)
        if (app[i].selector == WEFT_APP_UDP && app[i].protocol == WEFT_UDP_PORT_SFCM) return true;
    return false;
}

void weft__lldp_ignore(struct weft__worker *w, const struct weft_packet *packet) {
    w->tally.delivered_bytes += packet->bytes;
    w->tally.unawaited_bytes -= packet->bytes;
}

bool weft__lldp_on_frame(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet) {
    struct weft__lldp *l = port->lldp;
    weft__lldp_ignore(w, packet);
    if (!l) return false;
    const struct weft__lldp_frame *own = &l->frame[port->id], *peer = &l->frame[packet->psn];
    struct weft_lldpdu own_pdu, peer_pdu;
    struct weft_dcbx_end own_end, peer_end;
    struct weft_dcbx_operation operation;
    enum weft_wire_status status = weft_dcbx_frame_decode(own->bytes, own->size, &own_pdu, &own_end);
    assert(status == WEFT_WIRE_OK);
    status = weft_dcbx_frame_decode(peer->bytes, peer->size, &peer_pdu, &peer_end);
    assert(status == WEFT_WIRE_OK);
    weft_dcbx_negotiate(&own_end, &peer_end, &operation);
    l->received++;
    l->peer_sfc = takes_sfcm(&peer_end.says);
    l->expires_ps = w->now_ps + peer_pdu.ttl_s * WEFT_PS_PER_S;
    return put_in_force(l, operation.pfc);
}

void weft__lldp_send(struct weft__port *port, struct weft__worker *w) {
    struct weft_packet frame = {
        .bytes = weft__lldp_frame_bytes(&port->lldp->frame[port->id]),
        .dst = WEFT_NONE,
        .psn = port->id,
        .kind = WEFT_PACKET_LLDP,
        .priority = 7,
    };
    port->pending &= WEFT__PENDING_PFC;
    port->lldp->sent++;
    w->tally.injected_bytes += frame.bytes;
    w->tally.unawaited_bytes += frame.bytes;
    weft__port_transmit(port, w, &frame, port->delay_data_ps);
}
