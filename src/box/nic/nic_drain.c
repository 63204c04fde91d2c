// SPDX-License-Identifier: Apache-2.0
// Frames that arrive at a host slower than its link wait in the NIC, which pauses its neighbour above a level. If both
// ends of the link speak DCBX, that determines which priorities it may pause.
//
// A host may be as fast as its link but for slow phases at equal intervals. Source: ConnectX-5 at 100 Gbit/s
// (openfabric-systems/simllm, paper/mlx5/sections/measurement.tex). A flow above some 92 Gbit/s loses 0.18% of its
// packets at the receiver, in bursts of 73 with one NAK each, and none below; 10 Gbit/s in the other direction prevent
// most bursts. What the NIC does then is not public. Inferred: a phase has one rate and comes at equal intervals; a NIC
// that has no room discards until its buffer is empty (73 packets are what arrives while 262 KB drain); a phase is left
// out while the NIC sends enough.
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

/// A period begins: its slow phase is left out if the NIC has sent enough since the last time it looked.
static void look_at_period(struct weft__nic *nic, weft_time_ps now, uint64_t period) {
    struct weft__nic_slow *slow = &nic->slow;
    weft_bytes sent = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        sent += weft__port_queue_of(&nic->port, p)->tx_bytes;
    slow->skips = (unsigned __int128)(sent - slow->tx_bytes) * 8 * WEFT_PS_PER_S >=
                  (unsigned __int128)nic->conf->drain_slow_below_bps * (now - slow->looked_ps);
    slow->tx_bytes = sent;
    slow->period = period;
    slow->looked_ps = now;
}

static bool is_slow(struct weft__nic *nic, weft_time_ps now) {
    const struct weft_host_conf *conf = nic->conf;
    if (conf->drain_slow_every_ps == WEFT_TIME_NEVER) return false;
    weft_time_ps at = now + nic->slow.phase_ps;
    uint64_t period = at / conf->drain_slow_every_ps;
    if (period != nic->slow.period) look_at_period(nic, now, period);
    return at % conf->drain_slow_every_ps < conf->drain_slow_ps && !nic->slow.skips;
}

/// How long the host takes for the next frame, from now on.
static weft_time_ps drain_time(struct weft__nic *nic, weft_time_ps now, uint32_t bytes) {
    return is_slow(nic, now) ? weft_time_of_bytes(bytes, nic->conf->drain_slow_bps)
                             : weft__drain_time(nic->conf, bytes);
}

void weft__nic_receive_slowly(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                              const struct weft_packet *p) {
    weft_bytes *level = &nic->received_bytes[p->priority];
    uint8_t bit = (uint8_t)(1u << p->priority);
    if (*level <= nic->conf->rx_resume_bytes) nic->discards &= (uint8_t)~bit;
    if (nic->discards & bit || *level + p->bytes > nic->conf->rx_buffer_bytes) {
        nic->discards |= bit;
        weft__nic_discard(nic, w, p, WEFT_DROP_NIC_BUFFER);
        weft__port_counters(&nic->port, p->priority)->drops++;
        weft__port_freed(&nic->port, w, p->priority, p->bytes);
        return;
    }
    if (!nic->received.n)
        weft__timer_set(&node->timers, WEFT__KEY_DRAIN, w->now_ps + drain_time(nic, w->now_ps, p->bytes));
    struct weft_packet *held = weft__fifo_add(&nic->received, nic->end.pool);
    *held = *p;
    if (nic->conf->rx_cnp && *level > nic->conf->rx_xoff_bytes && p->kind == WEFT_PACKET_DATA) held->ecn = WEFT_ECN_CE;
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
                        w->now_ps + drain_time(nic, w->now_ps, weft__fifo_head(&nic->received)->bytes));
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
