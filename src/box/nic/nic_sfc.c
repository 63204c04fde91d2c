// SPDX-License-Identifier: Apache-2.0
// Source flow control at the source (IEEE P802.1Qdw): a message pauses queue pairs. A paused queue pair leaves the ring
// of those that may send when its turn comes, and its pace timer brings it back, so it blocks no other.
//
// Our own choices, because no text of the procedure was available: a pause lasts from the arrival of its message. Of
// two pauses the one that ends later counts, because there is no message to resume, and one congestion point does not
// know of the pause that another has asked for.
#include "box/nic/nic.h"

/// Counts the part of a queue pair's last pause before `now`.
static void count_pause(const struct weft__nic *nic, uint32_t qp, weft_time_ps now) {
    const struct weft__qp_hold *h = &nic->end.hosts->hold[qp];
    weft_time_ps end = h->until_ps < now ? h->until_ps : now;
    if (end > h->from_ps) nic->end.hosts->outcome[nic->end.hosts->qp[qp].flow].sfc_paused_ps += end - h->from_ps;
}

static bool has_more(const struct weft__nic *nic, uint32_t qp) {
    const struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    return s->started && !s->done && s->next < nic->end.hosts->qp[qp].packets;
}

static void hold_qp(const struct weft__nic *nic, uint32_t qp, weft_time_ps now, weft_time_ps until) {
    struct weft__qp_hold *h = &nic->end.hosts->hold[qp];
    if (h->until_ps <= now) {
        count_pause(nic, qp, now);
        h->from_ps = has_more(nic, qp) ? now : WEFT_TIME_NEVER; // a pause that stops nothing is not counted
    }
    if (until > h->until_ps) h->until_ps = until;
}

void weft__nic_on_sfcm(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    const struct weft_qp_conf *blamed = &nic->end.hosts->qp[p->qp];
    w->tally.delivered_bytes += p->bytes;
    weft__port_counters(&nic->port, blamed->priority)->sfc_received++;
    nic->end.hosts->outcome[blamed->flow].sfc_messages++;
    weft_time_ps pause = weft_packet_sfcm_pause_ns(p) * WEFT_PS_PER_NS, until = w->now_ps + pause;
    if (__builtin_expect(nic->trace != NULL, 0))
        weft__trace_sfc_received(nic->trace, w->now_ps, 0, blamed->priority, p);
    if (!nic->conf->sfc) return;
    if (until > nic->hold_until_ps) nic->hold_until_ps = until;
    if (nic->conf->sfc_scope == WEFT_SFC_FLOW) {
        hold_qp(nic, p->qp, w->now_ps, until);
        return;
    }
    for (uint32_t k = 0; k < nic->sends; k++) { // including those that start later
        const struct weft_qp_conf *qp = &nic->end.hosts->qp[nic->send_qp[k]];
        bool same_priority = qp->priority == blamed->priority, same_host = qp->dst == blamed->dst;
        if (nic->conf->sfc_scope == WEFT_SFC_PRIORITY ? same_priority : same_host)
            hold_qp(nic, nic->send_qp[k], w->now_ps, until);
    }
}

void weft__nic_finish_holds(const struct weft__nic *nic, weft_time_ps now) {
    bool any = nic->hold_until_ps > 0;
    for (uint32_t k = 0; nic->planes && k < nic->planes->n; k++)
        any |= nic->planes->nic[k]->hold_until_ps > 0;
    if (!any) return;
    for (uint32_t k = 0; k < nic->sends; k++)
        count_pause(nic, nic->send_qp[k], now);
}
