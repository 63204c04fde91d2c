// SPDX-License-Identifier: Apache-2.0
// What a NIC does later, because the host, the NIC and the PCIe between them take time. All of it is off by default.
//
// A work request is posted by the host's one thread (host.post_cost each), then processed by the NIC (host.work_request
// each), one after another; then the request fetches its entry and the payload of its first packet
// (host.send_latency, host.pcie_rate), which delays no other request. A message, each part of a message split over
// queue pairs, and a clear-to-send are one request each. The host sees data host.receive_latency after its last bit,
// and a completion host.completion_latency after the last bit of the acknowledgement or READ response. The responder of
// a READ fetches the payload when it is asked (host.pcie_round_trip). Meanwhile the NIC acknowledges, and sends what
// else it has.
//
// Each request's latency may jitter (host.jitter): median times lognormal, over send_latency + receive_latency, as NIC
// and PCIe of both ends were measured together: p99 is 1.06 times the median on a ConnectX-5 (simllm, measurements; a
// ConnectX-7 and a 40G NIC: 1.07). One in a thousand stalls (host.stall, exponential; assumed from the longest of
// 1000). Draws are keyed by the host's name, the queue pair's number there and its PSN, so other hosts change none. The
// requests of READs are drawn alike, but may overtake one another.
//
// Source: Kalia, Kaminsky, Andersen, "Design guidelines for high performance RDMA systems", USENIX ATC 2016, for what a
// request consists of; Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018, for
// latency and rate of PCIe. Difference: one pipeline for all queue pairs, which holds one request at a time (NVIDIA,
// "ConnectX-6 VPI card product brief": up to 215 million messages per second for the whole NIC). The rate of a single
// queue pair is another parameter, work_request_qp (nic_send.c); it is not published, and assumed.
#include "box/nic/nic.h"

#include <assert.h>

#include "transport/program.h"

static struct weft__fifo *later_queues(struct weft__nic *nic) {
    return nic->planes ? nic->planes->nic[0]->later : nic->later;
}

void weft__nic_later(struct weft__node *node, struct weft__nic *nic, enum weft__nic_later what,
                     const struct weft_packet *p) {
    if (nic->planes) nic = nic->planes->nic[0];
    struct weft__fifo *later = &nic->later[what];
    assert(!later->n || later->tail->packet[later->end - 1].time_ps <= p->time_ps);
    if (!later->n) weft__timer_set(&node->timers, WEFT__KEY_LATER + what, p->time_ps);
    weft__fifo_push(later, nic->end.pool, p);
}

struct weft_packet weft__nic_take_due(struct weft__node *node, struct weft__nic *nic, enum weft__nic_later what) {
    struct weft__fifo *later = &nic->later[what];
    struct weft_packet p;
    weft__fifo_pop(later, nic->end.pool, &p);
    if (later->n) weft__timer_set(&node->timers, WEFT__KEY_LATER + what, weft__fifo_head(later)->time_ps);
    return p;
}

weft_time_ps weft__nic_read_time(const struct weft__nic *nic, uint32_t qp, weft_time_ps start) {
    const struct weft_packet request = {.kind = WEFT_PACKET_READ, .qp = qp};
    weft_time_ps time = weft__request_time(nic->conf, nic->draw_seed, &nic->end.hosts->qp[qp], &request,
                                           start + nic->conf->send_latency_ps);
    return time < start ? start : time;
}

void weft__nic_request(struct weft__node *node, struct weft__nic *nic, weft_time_ps now, struct weft_packet request,
                       weft_bytes bytes) {
    struct weft__nic *first = nic->planes ? nic->planes->nic[0] : nic;
    request.time_ps = weft__poster_take(&first->poster, nic->conf, now, bytes);
    request.time_ps =
        weft__request_issue(&first->poster, nic->conf, first->draw_seed, &nic->end.hosts->qp[request.qp], &request);
    weft__nic_later(node, first, WEFT__NIC_POSTS, &request);
}

void weft__nic_tell(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, struct weft_packet notice) {
    const struct weft_qp_conf *qp = &nic->end.hosts->qp[notice.qp];
    bool completes = notice.flags == WEFT__NIC_COMPLETED || qp->verb == WEFT_VERB_READ;
    weft_time_ps latency = weft__notice_latency(nic->conf, completes);
    if (notice.flags == WEFT__NIC_ARRIVED) latency += weft__message_latency(&nic->end, notice.qp, w->now_ps);
    if (!latency) {
        weft__nic_on_notice(node, nic, w, &notice);
        return;
    }
    struct weft__fifo *queue = &later_queues(nic)[completes ? WEFT__NIC_COMPLETIONS : WEFT__NIC_ARRIVALS];
    notice.time_ps = w->now_ps + latency;
    weft_time_ps last = queue->n ? queue->tail->packet[queue->end - 1].time_ps : 0;
    if (notice.time_ps < last) notice.time_ps = last; // behind what takes longer
    w->tally.delivered_bytes -= notice.bytes;         // the frame is held until the host sees it
    weft__nic_later(node, nic, completes ? WEFT__NIC_COMPLETIONS : WEFT__NIC_ARRIVALS, &notice);
}

weft_bytes weft__nic_held(const void *state) {
    const struct weft__nic *nic = state;
    weft_bytes bytes = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        bytes += nic->received_bytes[p];
    for (uint32_t k = 0; k < WEFT__NIC_LATERS; k++) {
        struct weft__fifo_cursor cursor = weft__fifo_begin(&nic->later[k]);
        for (const struct weft_packet *p; (p = weft__fifo_next(&cursor));)
            bytes += p->bytes;
    }
    return bytes;
}
