// SPDX-License-Identifier: Apache-2.0
// Queue pairs that hold their rate and are not run meanwhile (skip/coast.c): they send nothing, while packets in flight
// arrive. Their congestion control continues by its timers, and is told what they are assumed to have sent.
#include "box/box.h"
#include "box/nic/nic.h"

#include <assert.h>

static const char *why_refused(const struct weft__network *net, uint32_t node) {
    const struct weft__nic *nic = weft__network_state(net, node);
    if (nic->planes) return "host.planes: a NIC of several ports";
    if (!nic->transport->acks) return "a transport whose senders cannot stop and go on (host.transport)";
    if (nic->end.hosts->posting) return "flows that post messages in a closed loop (post)";
    if (nic->end.hosts->hold) return "source flow control";
    if (nic->end.hosts->sender_state || nic->end.hosts->receiver_state)
        return "a transport that keeps a state of its own: of packets out of order, or of selective acknowledgements";
    if (nic->conf->drain_rate_bps) return "host.drain_rate";
    if (nic->port.credit) return "credit-based flow control of links";
    if (nic->cc->on_ack || nic->pull) return "congestion control that goes by acknowledgements or credit (host.cc)";
    return NULL;
}

static struct weft_qp_sender *sender_of(const struct weft__nic *nic, uint32_t qp) {
    return &nic->end.hosts->sender[qp];
}

/// The last packet asks for an acknowledgement, unless every packet is acknowledged anyway.
static void hold_qp(struct weft__network *net, uint32_t node, uint32_t qp) {
    const struct weft__nic *nic = weft__network_state(net, node);
    struct weft_transport_acks acks = nic->transport->acks(nic->conf->transport.conf, nic->end.hosts->qp[qp].priority);
    assert(acks.packets);
    sender_of(nic, qp)->posted = sender_of(nic, qp)->next + (acks.packets > 1);
}

static void tell_sent(struct weft__network *net, uint32_t node, uint32_t qp, uint32_t bytes, weft_time_ps now) {
    struct weft__worker *w = &net->engine.worker[weft__engine_worker_of(&net->engine, node)];
    w->now_ps = now;
    weft__nic_tell_sent(&net->engine.node[node], weft__network_state(net, node), w, qp, bytes);
    weft__engine_reschedule(&net->engine, node);
}

static void release_qp(struct weft__network *net, uint32_t node, uint32_t qp, weft_time_ps time) {
    const struct weft__nic *nic = weft__network_state(net, node);
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    assert(sender_of(nic, qp)->next <= conf->packets); // no more was cut out than was left
    sender_of(nic, qp)->posted = conf->packets;
    sender_of(nic, qp)->next_send_ps = time;
    weft__timer_set(&net->engine.node[node].timers, weft__key_pace(conf->at_src), time);
    weft__engine_reschedule(&net->engine, node);
}

static void wake_qp(struct weft__network *net, uint32_t node, uint32_t qp, weft_time_ps time) {
    const struct weft__nic *nic = weft__network_state(net, node);
    weft__timer_set(&net->engine.node[node].timers, weft__key_pace(nic->end.hosts->qp[qp].at_src), time);
    weft__engine_reschedule(&net->engine, node);
}

const struct weft__box_coast weft__nic_coast = {
    .refuse = why_refused, .hold = hold_qp, .sent = tell_sent, .wake = wake_qp, .release = release_qp};
