// SPDX-License-Identifier: Apache-2.0
// Credit that a receiver grants (weft_cc_ops.pull): a data packet tells how much its sender wants; senders that want
// more than they were granted take turns; grants follow one another at the pace at which the line can take the granted
// data. A grant is an acknowledgement that acknowledges nothing and says how much has been granted since the start. A
// trimmed packet has used up its credit; the receiver, which has its header, grants that credit again. While no sender
// wants more, those that have what they wanted are granted more in advance, in turn, up to a limit.
#include "box/nic/nic.h"

#include <assert.h>

enum { QUANTUM = 256, MIN_QUANTA = 4 }; // uet-htsim: a grant of nothing takes the time of 1024 B

void weft__nic_pull_init(struct weft__nic *nic, uint32_t *keys, struct weft_arena *arena) {
    nic->pull = weft_arena_alloc(arena, 1, sizeof *nic->pull + nic->receives * sizeof(struct weft__nic_pulled));
    nic->pull->key = (*keys)++;
    nic->pull->list[WEFT__NIC_PULL_ASKED].first = nic->pull->list[WEFT__NIC_PULL_AHEAD].first = WEFT_NONE;
    nic->pull->conf = nic->cc->pull(nic->conf->cc.conf);
}

static void push_sender(struct weft__nic_pull *pull, enum weft__nic_pull_why why, uint32_t at) {
    struct weft__nic_pull_list *list = &pull->list[why];
    if (pull->of[at].waits[why]) return;
    pull->of[at].waits[why] = true;
    pull->of[at].next[why] = WEFT_NONE;
    if (list->first == WEFT_NONE)
        list->first = at;
    else
        pull->of[list->last].next[why] = at;
    list->last = at;
}

static uint32_t quanta_of(weft_bytes bytes) {
    return (uint32_t)((bytes + QUANTUM - 1) / QUANTUM);
}

void weft__nic_pull_wanted(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                           uint32_t target) {
    struct weft__nic_pull *pull = nic->pull;
    struct weft__nic_pulled *of = &pull->of[nic->end.hosts->qp[qp].at_dst];
    if (target > of->target) of->target = target;
    if (of->target <= of->granted || of->waits[WEFT__NIC_PULL_ASKED]) return;
    push_sender(pull, WEFT__NIC_PULL_ASKED, nic->end.hosts->qp[qp].at_dst);
    if (weft__timer_at(&node->timers, pull->key) != WEFT_TIME_NEVER) return;
    weft__timer_set(&node->timers, pull->key, pull->free_ps > w->now_ps ? pull->free_ps : w->now_ps);
}

void weft__nic_pull_again(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                          uint32_t psn) {
    const struct weft_qp_conf *conf = &nic->end.hosts->qp[qp];
    weft_bytes frame = weft__qp_frame_bytes(conf, psn, nic->end.hosts->data_header_bytes);
    weft__nic_pull_wanted(node, nic, w, qp, nic->pull->of[conf->at_dst].target + quanta_of(frame));
}

/// The sender whose turn it is, among those that have more to send; WEFT_NONE: there is none.
static uint32_t pop_sender(const struct weft__nic *nic, enum weft__nic_pull_why why) {
    struct weft__nic_pull *pull = nic->pull;
    for (uint32_t at; (at = pull->list[why].first) != WEFT_NONE;) {
        pull->list[why].first = pull->of[at].next[why];
        pull->of[at].waits[why] = false;
        uint32_t qp = nic->receive_qp[at];
        if (nic->end.hosts->receiver[qp].expected < nic->end.hosts->qp[qp].packets) return at;
    }
    return WEFT_NONE;
}

/// Quanta for a sender that wants more, or for one that does not: the most that any gets in one grant.
static uint32_t grant_to(const struct weft__nic *nic, enum weft__nic_pull_why why, uint32_t at) {
    struct weft__nic_pull *pull = nic->pull;
    struct weft__nic_pulled *of = &pull->of[at];
    uint32_t grant = pull->conf.packets * nic->end.hosts->qp[nic->receive_qp[at]].mtu / QUANTUM;
    double ahead = (double)nic->line_rate_bps * (double)pull->conf.ahead_ps / 8e12;
    if (why == WEFT__NIC_PULL_ASKED && of->target - of->granted < grant) grant = of->target - of->granted;
    assert(why == WEFT__NIC_PULL_AHEAD || of->target > of->granted); // it was asked for
    of->granted += grant;
    if (of->target > of->granted)
        push_sender(pull, WEFT__NIC_PULL_ASKED, at);
    else if ((double)(of->granted - of->target) * QUANTUM < ahead)
        push_sender(pull, WEFT__NIC_PULL_AHEAD, at);
    return grant;
}

void weft__nic_on_pull(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    struct weft__nic_pull *pull = nic->pull;
    enum weft__nic_pull_why why = WEFT__NIC_PULL_ASKED;
    uint32_t at = pop_sender(nic, why);
    if (at == WEFT_NONE) at = pop_sender(nic, why = WEFT__NIC_PULL_AHEAD);
    if (at == WEFT_NONE) return;
    uint32_t qp = nic->receive_qp[at], grant = grant_to(nic, why, at);
    struct weft_transport_reply reply = {.psn = pull->of[at].granted, .kind = WEFT_PACKET_ACK, .credit = true};
    reply.entropy = (uint16_t)(nic->end.hosts->qp[qp].entropy ^ (reply.psn & 63)); // grants take many paths
    reply.priority = nic->transport->control_priority ? nic->transport->control_priority(nic->conf->transport.conf) : 0;
    uint64_t bytes = (uint64_t)QUANTUM * (grant ? grant : MIN_QUANTA);
    pull->free_ps = w->now_ps + (weft_time_ps)((double)weft_time_of_bytes(bytes, nic->line_rate_bps) / pull->conf.rate);
    if (pull->list[WEFT__NIC_PULL_ASKED].first != WEFT_NONE || pull->list[WEFT__NIC_PULL_AHEAD].first != WEFT_NONE)
        weft__timer_set(&node->timers, pull->key, pull->free_ps);
    weft__nic_send_control(node, nic, w, qp, &reply);
}

uint32_t weft__nic_pull_quanta(weft_bytes target) {
    return quanta_of(target);
}

weft_bytes weft__nic_pull_bytes(uint32_t quanta) {
    return (weft_bytes)quanta * QUANTUM;
}
