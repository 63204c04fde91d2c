// SPDX-License-Identifier: Apache-2.0
// Invariants of a NIC: its ports, what waits to be sent and to be taken by the host, and both ends of its queue pairs.
#include "box/box.h"
#include "box/nic/nic.h"
#include "link/port_check.h"
#include "weft/credit.h"

/// A number at the port for the text: planes of a NIC are nodes of their own with one port each.
enum { ONLY_PORT = 0 };

/// The list of queue pairs that may send. Returns how many are in it.
static uint32_t check_ready(const struct weft__nic *nic, uint32_t priority, struct weft__check *c) {
    const struct weft__nic_backlog *backlog = &nic->backlog[priority];
    const struct weft__hosts *hosts = nic->end.hosts;
    uint32_t n = 0;
    weft__check_equal(c, "the NIC's mark that queue pairs may send", nic->ready_mask >> priority & 1,
                      "whether the list has any", backlog->ready != WEFT_NONE);
    for (uint32_t qp = backlog->ready; qp != WEFT_NONE && n <= nic->sends; n++) {
        weft__check_equal(c, "the mark of a queue pair in the list", hosts->sender[qp].ready, "in the list", 1);
        weft__check_equal(c, "priority of a queue pair in the list", hosts->qp[qp].priority, "that of the list",
                          priority);
        qp = qp == backlog->ready_last ? WEFT_NONE : hosts->sender[qp].ready_next;
    }
    weft__check_at_most(c, "queue pairs in the list", n, "queue pairs that the NIC sends", nic->sends);
    return n;
}

/// Frames that wait for a host slower than its link.
static void check_received(const struct weft__nic *nic, struct weft__check *c) {
    weft_bytes bytes[WEFT_PRIORITIES] = {0};
    struct weft__fifo_cursor cursor = weft__fifo_begin(&nic->received);
    for (const struct weft_packet *p; (p = weft__fifo_next(&cursor));)
        bytes[p->priority] += p->bytes;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        weft__check_at(c, ONLY_PORT, p);
        weft__check_equal(c, "bytes in the receive buffer", nic->received_bytes[p], "bytes of the frames in it",
                          bytes[p]);
        weft__check_at_most(c, "bytes in the receive buffer", bytes[p], "its watermark", nic->received_bytes_max[p]);
        weft__check_at_most(c, "bytes in the receive buffer", bytes[p], "its size", nic->conf->rx_buffer_bytes);
        bool wants = nic->port.pfc_xoff >> p & 1, may = nic->port.lossless >> p & 1;
        if (may && bytes[p] > nic->conf->rx_xoff_bytes)
            weft__check_equal(c, "the port's wish for a pause", wants, "above XOFF", 1);
        if (bytes[p] <= nic->conf->rx_xon_bytes)
            weft__check_equal(c, "the port's wish for a pause", wants, "at or below XON", 0);
    }
}

/// One of the NIC's ports, whose timers are those of the NIC's node.
static void check_port(const struct weft__nic *nic, const struct weft__timers *timers, weft_time_ps until,
                       struct weft__check *c) {
    uint32_t ready = 0;
    weft__port_check(&nic->port, timers, nic->port_number, ONLY_PORT, until, c);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        weft__check_at(c, ONLY_PORT, p);
        weft__check_equal(c, "the NIC's mark that control packets wait", nic->control_mask >> p & 1, "whether any wait",
                          nic->backlog[p].control.n > 0);
        ready += check_ready(nic, p, c);
    }
    weft__check_at(c, ONLY_PORT, WEFT_NONE);
    weft__check_equal(c, "queue pairs counted as able to send", nic->ready_qps, "queue pairs in the lists",
                      ready & UINT16_MAX);
    if (nic->conf->drain_rate_bps) check_received(nic, c);
}

/// The answer of congestion control that is in force. False: the NIC limits the window, so the answer is not known.
static bool find_answer(const struct weft__nic *nic, const struct weft__timers *timers, uint32_t qp,
                        struct weft_cc_act *ret) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    const struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    *ret = (struct weft_cc_act){.rate_bps = s->rate_bps,
                                .timer_ps = weft__timer_at(timers, weft__key_cc(conf->at_src)),
                                .window_bytes = s->window_bytes,
                                .rests = s->cc_rests};
    bool limited = nic->conf->window_bytes && s->window_bytes >= nic->conf->window_bytes;
    return !limited && !(conf->verb == WEFT_VERB_READ && !nic->transport->acknowledges_reads);
}

/// Messages that a flow has posted, and that have completed.
static void check_posting(const struct weft__nic *nic, uint32_t qp, struct weft__check *c) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft_qp_sample *sample = &hosts->sample[qp];
    uint64_t depth = hosts->flow[hosts->qp[qp].flow].depth, packets = hosts->qp[qp].message_packets;
    weft__check_at_most(c, "packets that the NIC knows of", hosts->sender[qp].posted, "packets posted", sample->issued);
    weft__check_at_most(c, "packets whose completion the host has seen", sample->seen, "packets acknowledged",
                        weft__qp_acked(hosts, qp));
    weft__check_at_most(c, "packets posted and not complete", sample->issued - sample->seen / packets * packets,
                        "those of as many messages as may be outstanding", depth * packets);
}

static void check_sender(const struct weft__nic *nic, const struct weft__timers *timers, uint32_t qp,
                         struct weft__check *c) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft_qp_sender *s = &hosts->sender[qp];
    struct weft_transport_fact fact = {.conf = nic->conf->transport.conf,
                                       .qp = &hosts->qp[qp],
                                       .sample = &hosts->sample[qp],
                                       .state = hosts->sender_state ? hosts->sender_state[qp] : NULL};
    struct weft_cc_act act;
    if (!s->started || s->done || hosts->qp[qp].verb == WEFT_VERB_RAW) return;
    weft__check_model(c, "sender of queue pair", qp, nic->transport->check_sender(s, &fact));
    if (find_answer(nic, timers, qp, &act))
        weft__check_model(c, "congestion control of queue pair", qp, nic->cc->check(s->cc, nic->conf->cc.conf, &act));
    weft__check_at_most(c, "rate of a queue pair, bit/s", s->rate_bps, "the line rate", nic->line_rate_bps);
    if (hosts->qp[qp].message_packets) check_posting(nic, qp, c);
    if (!s->ready && weft__nic_may_send(&hosts->qp[qp], s))
        weft__check_at_most(c, "whether a queue pair that may send has no turn",
                            weft__timer_at(timers, weft__key_pace(hosts->qp[qp].at_src)) == WEFT_TIME_NEVER,
                            "it has a turn or a timer", 0);
}

static void check_receiver(const struct weft__nic *nic, uint32_t qp, struct weft__check *c) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft_qp_receiver *r = &hosts->receiver[qp];
    struct weft_transport_fact fact = {.conf = nic->conf->transport.conf,
                                       .qp = &hosts->qp[qp],
                                       .state = hosts->receiver_state ? hosts->receiver_state[qp] : NULL};
    if (hosts->qp[qp].verb == WEFT_VERB_RAW) return; // frames of real hosts have no transport of ours
    weft__check_model(c, "receiver of queue pair", qp, nic->transport->check_receiver(r, &fact));
    if (hosts->qp[qp].packets != WEFT_QP_MESSAGES)
        weft__check_at_most(c, "bytes delivered of a queue pair", r->delivered_bytes, "bytes that it has",
                            hosts->qp[qp].bytes);
}

/// The lists of senders that are to get credit.
static void check_pull(const struct weft__nic *nic, const struct weft__timers *timers, struct weft__check *c) {
    const struct weft__nic_pull *pull = nic->pull;
    bool any = false;
    for (uint32_t why = WEFT__NIC_PULL_ASKED; why <= WEFT__NIC_PULL_AHEAD; why++) {
        uint32_t n = 0, marked = 0;
        for (uint32_t at = pull->list[why].first; at != WEFT_NONE && n <= nic->receives; at = pull->of[at].next[why])
            n++;
        for (uint32_t at = 0; at < nic->receives; at++)
            marked += pull->of[at].waits[why];
        weft__check_equal(c, "senders that wait for credit", n, "senders with the mark", marked);
        any |= n > 0;
    }
    weft__check_at_most(c, "whether senders wait for credit", any, "whether the timer of grants is set",
                        weft__timer_at(timers, pull->key) != WEFT_TIME_NEVER);
}

/// What the NIC does later is in order of time, and its timer is set for the first.
static void check_later(const struct weft__nic *nic, const struct weft__timers *timers, uint32_t what,
                        struct weft__check *c) {
    struct weft__fifo_cursor cursor = weft__fifo_begin(&nic->later[what]);
    weft_time_ps first = nic->later[what].n ? weft__fifo_head(&nic->later[what])->time_ps : WEFT_TIME_NEVER, before = 0;
    weft__check_equal(c, "timer of what the NIC does later", weft__timer_at(timers, WEFT__KEY_LATER + what),
                      "time of the first of it", first);
    for (const struct weft_packet *p; (p = weft__fifo_next(&cursor)); before = p->time_ps)
        weft__check_at_most(c, "time of something to do later", before, "that of the next", p->time_ps);
}

void weft__nic_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c) {
    const struct weft__nic *nic = net->engine.node[node].state;
    const struct weft__timers *timers = &net->engine.node[node].timers;
    if (nic->plane) return; // the NIC's first port acts for all
    check_port(nic, timers, until, c);
    for (uint32_t k = 1; nic->planes && k < nic->planes->n; k++)
        check_port(nic->planes->nic[k], timers, until, c);
    weft__check_at(c, ONLY_PORT, WEFT_NONE);
    for (uint32_t k = 0; k < nic->sends; k++)
        check_sender(nic, timers, nic->send_qp[k], c);
    for (uint32_t k = 0; k < nic->receives; k++)
        check_receiver(nic, nic->receive_qp[k], c);
    if (nic->pull) check_pull(nic, timers, c);
    for (uint32_t k = 0; k < WEFT__NIC_LATERS; k++)
        check_later(nic, timers, k, c);
}
