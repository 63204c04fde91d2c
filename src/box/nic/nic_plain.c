// SPDX-License-Identifier: Apache-2.0
// A plain NIC: one port, RoCE connections that go back N and take packets in order, congestion control that goes by
// CNPs alone (weft__nic_is_plain says exactly). Most packets of most runs begin and end at such NICs, so what happens
// to nearly all of them is written out here, with the transport as part of the code: a packet comes in its order and is
// acknowledged, an acknowledgement comes, the next packet leaves when it is the port's turn. All else is left to nic.c,
// whose way does the same with the same state: what a record notes, first and last packets, marks, losses, messages
// that begin or end, pauses, round trips that are noted, other packets and other timers. What is counted is counted by
// the functions that nic.c uses, too; tests/contract/test_plain.c compares both paths.
#include "box/nic/nic.h"
#include "transport/roce_rc.h"
#include "weft/credit.h"

/// A frame that the NIC has made leaves at once. Where it goes, for the caller to fill in as a whole, with the time
/// that it arrives: a packet written elsewhere and copied then would be waited for.
static inline struct weft_packet *put_frame(struct weft__nic *nic, struct weft__worker *w, uint32_t priority,
                                            uint32_t bytes, weft_time_ps *ret_time) {
    struct weft__port *port = &nic->port;
    struct weft__port_queue *queue = weft__port_queue_of(port, priority);
    weft__nic_count_sent(w, queue, bytes);
    *ret_time = weft__port_take_plain(port, w, bytes, false);
    return weft__send_slot(w, port->peer_inbox, *ret_time);
}

// --- data comes ---------------------------------------------------------------------------------------------------

static inline void acknowledge_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                                    const struct weft_packet *data, const struct weft_qp_conf *qp, uint32_t psn) {
    struct weft__port *port = &nic->port;
    uint32_t priority = weft__roce_rc_ack_priority(nic->conf->transport.conf, data->priority);
    bool pass = port->busy_until_ps <= w->now_ps && !port->hindrances && !weft__nic_backlog(nic);
    weft_time_ps time = 0; // of one that waits: unknown
    struct weft_packet *p = pass ? put_frame(nic, w, priority, nic->ack_bytes, &time)
                                 : weft__fifo_add(&nic->backlog[priority].control, nic->end.pool);
    *p = (struct weft_packet){
        .time_ps = time,
        .node = port->peer_node & (WEFT_PACKET_NODES - 1),
        .port = port->peer_port,
        .bytes = nic->ack_bytes,
        .dst = qp->src,
        .qp = data->qp,
        .psn = psn,
        .entropy = qp->entropy & 0x3fffu,
        .kind = WEFT_PACKET_ACK,
        .priority = priority & 7u,
        .dscp = nic->conf->dscp[priority] & 63u,
    };
    if (pass) return;
    nic->control_mask |= (uint8_t)(1u << priority);
    weft__nic_kick(node, nic, w);
}

/// False: it is not a packet like most, and nothing has changed. So for what follows.
static inline bool take_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                             const struct weft_packet *p) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft_qp_conf *qp = &hosts->qp[p->qp];
    struct weft_qp_receiver *r = &hosts->receiver[p->qp];
    if (p->side | p->spare || !weft__roce_rc_is_expected(r, qp, p)) return false;
    if (p->flags & WEFT_PACKET_LAST) return false; // of a message
    weft__nic_count_payload(w, r, p, qp->mtu);
    r->progress_ps = w->now_ps;
    r->expected = p->psn + 1;
    r->nak_sent = false;
    if (!weft__roce_rc_owes_ack(r, nic->conf->transport.conf, p)) return true;
    r->unacked = 0;
    acknowledge_data(node, nic, w, p, qp, p->psn + 1);
    return true;
}

// --- an acknowledgement comes -------------------------------------------------------------------------------------

static inline bool take_ack(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                            const struct weft_packet *p) {
    const struct weft__hosts *hosts = nic->end.hosts;
    struct weft_qp_sender *s = &hosts->sender[p->qp];
    if (p->side | p->spare | p->flags) return false;
    if (!weft__roce_rc_just_acknowledges(s, &hosts->qp[p->qp], &hosts->sample[p->qp], p->psn)) return false;
    w->tally.delivered_bytes += p->bytes;
    weft__roce_rc_acknowledge(s, w->now_ps, p->psn);
    if (!s->ready) weft__nic_schedule(node, nic, p->qp, w->now_ps);
    if (weft__nic_backlog(nic) || nic->port.pending) weft__nic_kick(node, nic, w);
    return true;
}

// --- it is the port's turn ----------------------------------------------------------------------------------------

static inline void send_control(struct weft__nic *nic, struct weft__worker *w, uint32_t priority) {
    struct weft__fifo *fifo = &nic->backlog[priority].control;
    const struct weft_packet *p = weft__fifo_head(fifo);
    weft__nic_count_sent(w, weft__port_queue_of(&nic->port, priority), p->bytes);
    weft__port_transmit(&nic->port, w, p, nic->port.delay_data_ps);
    weft__fifo_drop(fifo, nic->end.pool);
    if (!fifo->n) nic->control_mask &= (uint8_t) ~(1u << priority);
}

static inline void send_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                             uint32_t priority) {
    const struct weft__hosts *hosts = nic->end.hosts;
    const struct weft_qp_conf *conf = &hosts->qp[qp];
    struct weft_qp_sender *s = &hosts->sender[qp];
    const struct weft__port *port = &nic->port;
    uint32_t bytes = weft__qp_frame_least(conf->mtu) + hosts->framing_bytes;
    weft_time_ps time;
    struct weft_packet *p = put_frame(nic, w, priority, bytes, &time);
    *p = (struct weft_packet){
        .time_ps = time,
        .node = port->peer_node & (WEFT_PACKET_NODES - 1),
        .port = port->peer_port,
        .bytes = (uint16_t)bytes,
        .dst = conf->dst,
        .qp = qp,
        .psn = weft__roce_rc_send(s, w->now_ps),
        .entropy = conf->entropy & 0x3fffu,
        .kind = WEFT_PACKET_DATA,
        .priority = priority & 7u,
        .ecn = nic->data_ecn & 3u,
        .dscp = nic->conf->dscp[priority] & 63u,
    };
    uint32_t wire = bytes + (uint32_t)nic->conf->wire.overhead_bytes;
    if (nic->idles) weft__nic_may_idle(nic, w->now_ps);
    weft__nic_tell_sent(node, nic, w, qp, wire);
    weft__nic_pace(nic, s, w->now_ps, wire);
    bool goes_on = s->next_send_ps <= port->busy_until_ps && weft__nic_may_send(conf, s);
    if (!goes_on || qp != nic->backlog[priority].ready_last) weft__nic_pass_turn(node, nic, priority);
}

/// Where one priority alone has something to send.
static inline bool serve_priority(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    uint32_t mask = weft__nic_backlog(nic);
    struct weft__port *port = &nic->port;
    if (!mask || mask & (mask - 1) || port->hindrances || port->busy_until_ps > w->now_ps) return false;
    if (__builtin_expect(nic->hold_until_ps > w->now_ps, 0)) return false;
    uint32_t priority = (uint32_t)__builtin_ctz(mask), qp = nic->backlog[priority].ready;
    const struct weft__hosts *hosts = nic->end.hosts;
    if (nic->control_mask) {
        if (nic->ready_mask && !weft__nic_may_send(&hosts->qp[qp], &hosts->sender[qp])) return false;
        send_control(nic, w, priority);
    } else {
        if (!weft__roce_rc_just_sends(&hosts->sender[qp], &hosts->qp[qp])) return false;
        send_data(node, nic, w, qp, priority);
    }
    return true;
}

// --- the node -----------------------------------------------------------------------------------------------------

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__nic *nic = node->state;
    if (p->kind == WEFT_PACKET_DATA && take_data(node, nic, w, p)) return;
    if (p->kind == WEFT_PACKET_ACK && take_ack(node, nic, w, p)) return;
    weft__nic_on_packet(node, nic, w, p);
}

static inline weft_time_ps on_turn(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__nic *nic = node->state;
    if (__builtin_expect(key != WEFT__ETHER_KEY_TX, 0) || !serve_priority(node, nic, w)) return 0;
    return nic->port.turn_ps = weft__nic_backlog(nic) ? nic->port.busy_until_ps : WEFT_TIME_NEVER;
}

static inline void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    weft__nic_on_timer(node, node->state, w, key);
}

static void nic_plain_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival,
                          uint32_t n, weft_time_ps end) {
    weft__node_run_turns(node, w, arrival, n, end, on_packet, on_turn, on_timer);
}

/// Nothing that it needs is far away.
static void fetch_nothing(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                          weft_time_ps end) {}

static void prepare_nothing(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}

bool weft__nic_is_plain(const struct weft__nic *nic) {
    bool takes_all = nic->room_bytes == INT64_MAX && !nic->conf->drain_rate_bps && !nic->downs &&
                     !weft_credit_grants(&nic->conf->credit);
    bool keeps_up = !weft__full_frames_have_gaps(nic->conf, nic->line_rate_bps); // no other frames leave here
    return takes_all && keeps_up && !nic->planes && !nic->end.driven && !nic->end.raw && !nic->pull &&
           nic->conf->arbitration == WEFT_ARBITRATE_PACKETS && !nic->collects && !nic->scheduler->on_sent &&
           !nic->cc->on_ack && !nic->cc->moves_path && !nic->end.hosts->data_header_bytes &&
           nic->conf->transport.model == &weft__transport_roce_rc && weft__roce_rc_is_plain(nic->conf->transport.conf);
}

const struct weft__node_ops weft__nic_plain_ops = {
    .fetch = fetch_nothing, .prepare = prepare_nothing, .run = nic_plain_run};
