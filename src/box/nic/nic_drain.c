// SPDX-License-Identifier: Apache-2.0
// Frames that arrive at a host slower than its link wait in the NIC, which pauses its neighbour above a level. If both
// ends of the link speak DCBX, that determines which priorities it may pause.
#include "box/nic/nic.h"
#include "link/lldp.h"
#include "link/port_credit.h"

void weft__nic_discard(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p,
                       enum weft_drop reason) {
    weft__count_drop(w, reason, p);
    if (__builtin_expect(nic->trace != NULL, 0)) weft__trace_dropped(nic->trace, w->now_ps, p, 0, reason, 0);
}

static void want_pause(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t priority,
                       bool xoff) {
    if (!(nic->port.lossless >> priority & 1) || (nic->port.pfc_xoff >> priority & 1) == (uint32_t)xoff) return;
    if (__builtin_expect(nic->trace != NULL, 0)) {
        if (xoff)
            weft__trace_xoff(nic->trace, w->now_ps, 0, priority, nic->received_bytes[priority], WEFT_NONE, 0);
        else
            weft__trace_xon(nic->trace, w->now_ps, 0, priority, nic->received_bytes[priority]);
    }
    if (weft__port_want_pause(&nic->port, priority, xoff)) weft__nic_kick(node, nic, w);
}

static weft_time_ps drain_time(const struct weft__nic *nic, uint32_t bytes) {
    return weft__drain_time(nic->conf, bytes);
}

void weft__nic_receive_slowly(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                              const struct weft_packet *p) {
    weft_bytes *level = &nic->received_bytes[p->priority];
    if (*level + p->bytes > nic->conf->rx_buffer_bytes) {
        weft__nic_discard(nic, w, p, WEFT_DROP_NIC_BUFFER);
        weft__port_counters(&nic->port, p->priority)->drops++;
        weft__port_freed(&nic->port, w, p->priority, p->bytes);
        return;
    }
    if (!nic->received.n) weft__timer_set(&node->timers, WEFT__KEY_DRAIN, w->now_ps + drain_time(nic, p->bytes));
    weft__fifo_push(&nic->received, nic->end.pool, p);
    *level += p->bytes;
    if (*level > nic->received_bytes_max[p->priority]) nic->received_bytes_max[p->priority] = *level;
    if (*level > nic->conf->rx_xoff_bytes) want_pause(node, nic, w, p->priority, true);
}

void weft__nic_on_drain(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft_packet p;
    weft__fifo_pop(&nic->received, nic->end.pool, &p);
    nic->received_bytes[p.priority] -= p.bytes;
    weft__port_freed(&nic->port, w, p.priority, p.bytes);
    if (nic->received.n)
        weft__timer_set(&node->timers, WEFT__KEY_DRAIN,
                        w->now_ps + drain_time(nic, weft__fifo_head(&nic->received)->bytes));
    if (nic->received_bytes[p.priority] <= nic->conf->rx_xon_bytes) want_pause(node, nic, w, p.priority, false);
    weft__nic_take(node, nic, w, &p);
}

void weft__nic_set_lossless(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    uint8_t before = nic->port.lossless, after = nic->port.lldp->in_force;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (before & ~after & 1u << p) want_pause(node, nic, w, p, false);
    weft__port_set_lossless(&nic->port, w->now_ps, after);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (after & ~before & 1u << p && nic->received_bytes[p] > nic->conf->rx_xoff_bytes)
            want_pause(node, nic, w, p, true);
    weft__nic_kick(node, nic, w);
}

void weft__nic_on_lldp_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    if (weft__lldp_on_timer(&nic->port, w->now_ps)) weft__nic_set_lossless(node, nic, w);
    weft__lldp_set_timer(&nic->port, &node->timers, WEFT__ETHER_KEY_LLDP);
    if (nic->port.pending) weft__nic_kick(node, nic, w);
}
