// SPDX-License-Identifier: Apache-2.0
// The attach point of a host from outside: in place of transports a FIFO per priority, from which the port takes frames
// as it takes control packets, and which a pause holds. What arrives is counted, and a driver is told.
#include "box/nic/nic.h"
#include "link/port_credit.h"
#include "transport/driven.h"
#include "transport/raw.h"

void weft__nic_raw_look(struct weft__node *node, struct weft__nic *nic) {
    const struct weft__raw_host *h = nic->end.raw;
    if (h->first < h->dues) weft__timer_set(&node->timers, h->key, h->raw->frame[h->due[h->first]].time_ps);
}

uint32_t weft__nic_raw_waiting(const struct weft__endpoint *end) {
    const struct weft__nic *nic = (const struct weft__nic *)end;
    uint32_t n = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        n += (uint32_t)nic->backlog[p].control.n;
    return n;
}

static void queue_frame(struct weft__nic *nic, uint32_t number) {
    const struct weft__raw *raw = nic->end.raw->raw;
    const struct weft__raw_frame *f = &raw->frame[number];
    const struct weft__raw_conversation *c = &raw->conversation[f->conversation];
    const struct weft_qp_conf *qp = &nic->end.hosts->qp[c->qp];
    struct weft_packet p = {
        .bytes = (uint16_t)weft__raw_frame_bytes(f->length),
        .dst = c->dst,
        .qp = c->qp,
        .psn = number,
        .entropy = qp->entropy & 0x3fffu,
        .kind = WEFT_PACKET_DATA,
        .priority = qp->priority & 7u,
        .ecn = f->ecn & 3u,
        .dscp = c->dscp & 63u,
    };
    weft__fifo_push(&nic->backlog[qp->priority].control, nic->end.pool, &p);
    nic->control_mask |= (uint8_t)(1u << qp->priority);
}

/// Frames whose time has come join the queues.
static void queue_frames(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft__raw_host *h = nic->end.raw;
    while (h->first < h->dues && h->raw->frame[h->due[h->first]].time_ps <= w->now_ps)
        queue_frame(nic, h->due[h->first++]);
    weft__nic_raw_look(node, nic);
    weft__nic_kick(node, nic, w);
}

/// For `weft why`: the frame that took longest so far; the receiver has no CNPs to send, and its field has that time.
static void note_longest(const struct weft__nic *nic, weft_time_ps now, const struct weft_packet *p,
                         struct weft_qp_receiver *r, weft_time_ps sent_ps) {
    if (!weft__follow_has_qp(nic->port.follow, p->qp) || now - sent_ps <= r->cnp_ps) return;
    r->cnp_ps = now - sent_ps;
    weft__follow_note(nic->port.follow, now, WEFT_FOLLOWED_FINISHED, 0, p->qp, p->psn);
}

static void take_frame(const struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    const struct weft__hosts *hosts = nic->end.hosts;
    struct weft_qp_receiver *r = &hosts->receiver[p->qp];
    struct weft_flow_outcome *outcome = &hosts->outcome[hosts->qp[p->qp].flow];
    struct weft__raw_frame *f = &nic->end.raw->raw->frame[p->psn];
    if (p->psn < r->expected)
        outcome->out_of_order++;
    else
        r->expected = p->psn + 1;
    weft__nic_count_payload(w, r, p, f->length);
    outcome->end_ps = outcome->acked_ps = w->now_ps;
    if (nic->port.follow) note_longest(nic, w->now_ps, p, r, f->time_ps);
    if (!nic->end.driven) return;
    f->arrived_ecn = p->ecn; // a recorded frame is of all runs of its workload
    weft__driven_note(nic->end.driven, w, WEFT_DRIVE_FRAME, p->psn);
}

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__nic *nic = node->state;
    if (p->kind != WEFT_PACKET_DATA || nic->is_down) {
        weft__nic_on_packet(node, nic, w, p);
        return;
    }
    weft__port_freed(&nic->port, w, p->priority, p->bytes);
    take_frame(nic, w, p);
}

static inline void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__nic *nic = node->state;
    if (key == nic->end.raw->key)
        queue_frames(node, nic, w);
    else
        weft__nic_on_timer(node, nic, w, key);
}

static bool is_paused(const struct weft__node *node) {
    const struct weft__driven *d = ((const struct weft__nic *)node->state)->end.driven;
    return d && d->told < d->notices;
}

static void nic_raw_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival,
                        uint32_t n, weft_time_ps end) {
    struct weft__node_parts parts = {.on_packet = on_packet, .on_timer = on_timer, .is_paused = is_paused};
    uint32_t taken = weft__node_run_parts(node, w, arrival, n, end, parts);
    if (is_paused(node))
        weft__driven_pause(((struct weft__nic *)node->state)->end.driven, w, arrival + taken, n - taken, end);
}

static void fetch_nothing(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                          weft_time_ps end) {}

static void prepare_nothing(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}

const struct weft__node_ops weft__nic_raw_ops = {
    .fetch = fetch_nothing, .prepare = prepare_nothing, .run = nic_raw_run};
