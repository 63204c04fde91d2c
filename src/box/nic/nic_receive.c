// SPDX-License-Identifier: Apache-2.0
// Queue pairs at their data's receiver. The transport's verdict on a packet is carried out here, in this order: a
// congestion notification, the payload, the end of the flow or of messages, the transport's reply. Also the operations
// that programs and messages use (transport/endpoint.h).
#include "box/nic/nic.h"
#include "transport/driven.h"
#include "transport/program.h"
#include "transport/trigger.h"

static struct weft_transport_fact fact_of(const struct weft__nic *nic, weft_time_ps now, uint32_t qp) {
    const struct weft__hosts *hosts = nic->end.hosts;
    return (struct weft_transport_fact){
        .now_ps = now,
        .conf = nic->conf->transport.conf,
        .qp = &hosts->qp[qp],
        .state = hosts->receiver_state ? hosts->receiver_state[qp] : NULL,
    };
}

static void finish_receiver(struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    struct weft_flow_outcome *outcome = &nic->end.hosts->outcome[conf->flow];
    bool last = --nic->end.hosts->qps_left[conf->flow] == 0;
    if (last) {
        outcome->end_ps = w->now_ps;
        if (__builtin_expect(nic->port.follow != NULL, 0) && weft__follow_has_qp(nic->port.follow, qp))
            weft__follow_note(nic->port.follow, w->now_ps, WEFT_FOLLOWED_FINISHED, 0, qp, psn);
        if (__builtin_expect(nic->trace != NULL, 0)) {
            struct weft_event *event = weft__nic_trace_qp(nic, w->now_ps, WEFT_EVENT_FLOW_FINISHED, qp);
            if (event) event->value = w->now_ps - outcome->start_ps;
        }
        weft__count(w, WEFT__COUNT_FLOWS_DONE, 1);
        if (nic->end.driven) weft__driven_note(nic->end.driven, w, WEFT_DRIVE_DELIVERED, conf->flow);
        if (nic->end.hosts->triggers) weft__trigger_on_flow(&nic->end, w, conf->flow, true);
    }
    if (conf->verb != WEFT_VERB_READ) return;
    w->tally.finished++; // responses need no acknowledgement
    if (!last) return;
    outcome->acked_ps = w->now_ps;
    if (nic->end.hosts->triggers) weft__trigger_on_flow(&nic->end, w, conf->flow, false);
}

static inline uint32_t payload_of(const struct weft__nic *nic, const struct weft_packet *p) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[p->qp];
    if (conf->packets != WEFT_QP_MESSAGES) return weft__qp_payload(conf, p->psn);
    return p->flags & WEFT_PACKET_LAST ? weft__message_last_payload(&nic->end, p) : conf->mtu;
}

static inline void deliver_payload(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    weft__nic_count_payload(w, &nic->end.hosts->receiver[p->qp], p, payload_of(nic, p));
}

static void notify_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                          const struct weft_transport_reply *cnp) {
    weft__count(w, WEFT__COUNT_CNPS, 1);
    if (__builtin_expect(nic->trace != NULL, 0)) {
        struct weft_event *event = weft__nic_trace_qp(nic, w->now_ps, WEFT_EVENT_CNP_SENT, qp);
        if (event) event->priority = cnp->priority;
    }
    weft__nic_send_control(node, nic, w, qp, cnp);
}

static void act_on_verdict(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p,
                           const struct weft_transport_receipt *receipt) {
    struct weft_flow_outcome *outcome = &nic->end.hosts->outcome[nic->end.hosts->qp[p->qp].flow];
    bool delivered = receipt->verdict == WEFT_TRANSPORT_DELIVERED;
    if (__builtin_expect(receipt->early, 0)) {
        outcome->out_of_order++;
        outcome->out_of_order_placed += delivered;
    }
    if (delivered)
        deliver_payload(nic, w, p);
    else
        weft__nic_discard(nic, w, p,
                          receipt->verdict == WEFT_TRANSPORT_REFUSED ? WEFT_DROP_OUT_OF_ORDER : WEFT_DROP_DUPLICATE);
}

/// Sends the transport's answer, and sets the timer that it asked for.
static void send_reply(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                       const struct weft_transport_receipt *receipt) {
    if (receipt->reply.kind) weft__nic_send_control(node, nic, w, qp, &receipt->reply);
    if (receipt->timer_ps)
        weft__timer_set(&node->timers, weft__key_read(nic, nic->end.hosts->qp[qp].at_dst), receipt->timer_ps);
}

/// A flow's last packet has arrived.
static void tell_finished(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                          const struct weft_packet *p) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[p->qp];
    if (conf->verb == WEFT_VERB_READ) weft__timer_cancel(&node->timers, weft__key_read(nic, conf->at_dst));
    weft__nic_tell(node, nic, w,
                   (struct weft_packet){.flags = WEFT__NIC_FINISHED, .qp = p->qp, .psn = p->psn, .bytes = p->bytes});
}

/// The last packets of so many messages, or of parts of some, have arrived.
static void tell_arrived(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                         const struct weft_packet *p, uint32_t messages) {
    struct weft_packet notice = {.flags = WEFT__NIC_ARRIVED, .qp = p->qp, .bytes = p->bytes};
    for (; messages; messages--, notice.bytes = 0) { // one notice holds the frame
        notice.psn = weft__message_came(&nic->end, p->qp);
        weft__nic_tell(node, nic, w, notice);
    }
}

void weft__nic_on_notice(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                         const struct weft_packet *notice) {
    switch ((enum weft__nic_notice)notice->flags) {
    case WEFT__NIC_FINISHED:
        finish_receiver(nic, w, notice->qp, notice->psn);
        break;
    case WEFT__NIC_ARRIVED:
        weft__message_arrived(node, &nic->end, w, notice->qp, notice->psn);
        break;
    case WEFT__NIC_COMPLETED:
        weft__nic_on_completed(node, nic, w, notice->qp, notice->psn);
        break;
    }
}

void weft__nic_on_notice_due(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                             enum weft__nic_later queue) {
    struct weft_packet notice = weft__nic_take_due(node, nic, queue);
    w->tally.delivered_bytes += notice.bytes;
    weft__nic_on_notice(node, nic, w, &notice);
}

void weft__nic_on_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                       const struct weft_packet *p) {
    if (__builtin_expect(nic->planes != NULL, 0))
        nic->planes->answering[nic->end.hosts->qp[p->qp].at_dst] = (uint8_t)nic->plane;
    struct weft_qp_receiver *r = &nic->end.hosts->receiver[p->qp];
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, p->qp);
    struct weft_transport_receipt receipt = {.messages = 0};
    uint32_t before = r->expected;
    nic->transport->on_data(r, &fact, p, &receipt);
    if (receipt.notify.kind) notify_sender(node, nic, w, p->qp, &receipt.notify);
    act_on_verdict(nic, w, p, &receipt);
    if (r->expected == fact.qp->packets && r->expected != before) tell_finished(node, nic, w, p);
    if (__builtin_expect(receipt.messages && fact.qp->packets == WEFT_QP_MESSAGES, 0))
        tell_arrived(node, nic, w, p, receipt.messages);
    send_reply(node, nic, w, p->qp, &receipt);
}

/// A switch has trimmed a data packet to its header.
void weft__nic_on_trimmed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                          const struct weft_packet *p) {
    if (!nic->transport->on_trimmed) {
        weft__nic_discard(nic, w, p, WEFT_DROP_TRIMMED);
        return;
    }
    w->tally.delivered_bytes += p->bytes;
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, p->qp);
    struct weft_transport_receipt receipt = {.messages = 0};
    nic->transport->on_trimmed(&nic->end.hosts->receiver[p->qp], &fact, p, &receipt);
    if (nic->pull && receipt.reply.kind == WEFT_PACKET_NAK) weft__nic_pull_again(node, nic, w, p->qp, p->psn);
    send_reply(node, nic, w, p->qp, &receipt);
}

/// The sender asks for an acknowledgement.
void weft__nic_on_asked(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                        const struct weft_packet *p) {
    w->tally.delivered_bytes += p->bytes;
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, p->qp);
    struct weft_transport_reply answer = {.kind = 0};
    nic->transport->on_asked(&nic->end.hosts->receiver[p->qp], &fact, p, &answer);
    if (answer.kind) weft__nic_send_control(node, nic, w, p->qp, &answer);
}

/// For READ: its start, and then its transport's timer.
void weft__nic_on_receiver_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp) {
    if (nic->end.hosts->qp[qp].packets == WEFT_QP_MESSAGES) {
        weft__message_look(node, &nic->end, w, qp);
        return;
    }
    struct weft_qp_receiver *r = &nic->end.hosts->receiver[qp];
    if (nic->planes) nic = weft__nic_plane_granting(nic, qp, r->progress_ps != WEFT_TIME_NEVER);
    if (r->progress_ps == WEFT_TIME_NEVER) {
        w->tally.started++;
        if (__builtin_expect(nic->trace != NULL, 0)) weft__nic_trace_start(nic, w->now_ps, qp);
        w->tally.progress_ps = w->now_ps;
    }
    struct weft_transport_fact fact = fact_of(nic, w->now_ps, qp);
    struct weft_transport_receipt receipt = {.messages = 0};
    nic->transport->on_receiver_timer(r, &fact, &receipt);
    send_reply(node, nic, w, qp, &receipt);
}

// --- the endpoint -------------------------------------------------------------------------------------------------

static struct weft__nic *nic_of(struct weft__endpoint *end) {
    return (struct weft__nic *)end;
}

static void on_post(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                    uint32_t psn, weft_bytes bytes) {
    weft__nic_post(node, nic_of(end), w, qp, psn, bytes);
}

static void on_consumed(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                        bool last) {
    uint32_t flow = end->hosts->qp[qp].flow;
    for (uint32_t k = 0; last && k < end->hosts->flow[flow].qps; k++)
        finish_receiver(nic_of(end), w, qp + k, WEFT_NONE);
}

static void on_grant(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                     uint32_t granted, uint32_t priority, uint32_t doublings) {
    struct weft__nic *nic = nic_of(end);
    if (nic->planes && granted) nic = weft__nic_plane_granting(nic, qp, doublings > 0);
    uint32_t key = weft__key_read(nic, end->hosts->qp[qp].at_dst);
    struct weft_packet cts = {.kind = WEFT_PACKET_CTS, .qp = qp, .psn = granted, .priority = priority & 7u};
    weft_time_ps patience = nic->transport->patience(nic->conf->transport.conf);
    if (granted && nic->posts_later)
        weft__nic_request(node, nic, w->now_ps, cts, 0);
    else if (granted)
        weft__nic_send_control(
            node, nic, w, qp,
            &(struct weft_transport_reply){.psn = granted, .kind = WEFT_PACKET_CTS, .priority = (uint8_t)priority});
    if (patience == WEFT_TIME_NEVER || weft__timer_at(&node->timers, key) != WEFT_TIME_NEVER) return;
    weft_time_ps look = patience > WEFT_TIME_MAX >> doublings ? WEFT_TIME_MAX : patience << doublings;
    weft__timer_set(&node->timers, key, w->now_ps + look);
}

static void on_start(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps time) {
    const struct weft_qp_conf *conf = &end->hosts->qp[qp];
    bool read = conf->verb == WEFT_VERB_READ;
    weft__timer_set(&node->timers, read ? weft__key_read(nic_of(end), conf->at_dst) : weft__key_pace(conf->at_src),
                    read ? weft__nic_read_time(nic_of(end), qp, time) : time);
}

static uint32_t start_key(uint32_t qp, const struct weft__hosts *hosts) {
    return weft__key_pace(hosts->qp[qp].at_src);
}

const struct weft__endpoint_ops weft__nic_endpoint_ops = {
    .post = on_post,
    .consumed = on_consumed,
    .grant = on_grant,
    .start = on_start,
    .start_key = start_key,
    .open = weft__nic_open,
    .waiting = weft__nic_raw_waiting,
    .cancel = weft__nic_cancel,
};
