// SPDX-License-Identifier: Apache-2.0
// What a congestion control that steers by telemetry leaves unused of a link that several senders share: their windows
// swing, and a fluid has no swings. So 2, 4 and 8 senders run by the model's own functions, packet by packet, over one
// link, with round trips and messages as long as theirs on average, and what they leave unused is measured. A link's
// level then goes by how many times its capacity the flows could send that cross it (level.c).
#include <math.h>

#include "estimate/fluid.h"
#include "weft/cc.h"

enum { SENDERS = 1 << (WEFT__LEVEL_USED - 1), PACKETS = 1 << 12 }; ///< packets: of a sender, at most

struct sender {
    void *state;
    struct weft_cc_act act;
    weft_time_ps next_ps;
    weft_bytes flight; ///< payload
    uint32_t left;     ///< packets that it has not sent
};

/// One link, and what is on its way: packets in order, those before `sent` have left it, those before `acked` are
/// known.
struct shared_link {
    const struct weft_cc_ops *ops;
    const void *conf;
    struct sender sender[SENDERS];
    uint32_t senders;
    struct shared_packet {
        weft_time_ps sent_ps, left_ps;
        struct weft_telemetry telemetry;
        uint32_t sender;
    } * packet;
    uint32_t sent, left, acked; ///< packets so far
    weft_time_ps free_ps, took_ps, back_ps;
    uint32_t frame, mtu;
    weft_rate_bps rate_bps;
};

static struct weft_cc_fact fact_at(const struct shared_link *l, const struct sender *s, weft_time_ps now) {
    return (struct weft_cc_fact){
        .now_ps = now, .line_rate_bps = l->rate_bps, .packet_bytes = l->mtu, .flight_bytes = s->flight, .senders = 1};
}

/// The sender that may send next; its time.
static weft_time_ps find_sender(const struct shared_link *l, uint32_t *ret) {
    weft_time_ps least = WEFT_TIME_NEVER;
    for (uint32_t k = 0; k < l->senders; k++) {
        const struct sender *s = &l->sender[k];
        if (!s->left || s->next_ps >= least || (s->flight && s->flight + l->mtu > s->act.window_bytes)) continue;
        least = s->next_ps;
        *ret = k;
    }
    return least;
}

static void send_packet(struct shared_link *l, uint32_t sender, weft_time_ps now) {
    struct sender *s = &l->sender[sender];
    l->packet[l->sent++] = (struct shared_packet){.sender = sender, .sent_ps = now};
    s->left--;
    s->flight += l->mtu;
    s->next_ps = now + weft_time_of_real((double)l->frame * 8 * (double)WEFT_PS_PER_S / (double)s->act.rate_bps);
}

static void leave_link(struct shared_link *l, weft_time_ps now) {
    struct shared_packet *p = &l->packet[l->left];
    p->telemetry.hops = 1;
    p->telemetry.time_ps[0] = now;
    p->telemetry.sent_bytes[0] = l->left * l->frame;
    p->telemetry.queue_bytes[0] = (l->sent - ++l->left) * l->frame;
    p->telemetry.rate_mbps[0] = (uint32_t)(l->rate_bps / 1000000);
    p->left_ps = l->free_ps = now + l->took_ps;
}

static void take_ack(struct shared_link *l, weft_time_ps now) {
    const struct shared_packet *p = &l->packet[l->acked++];
    struct sender *s = &l->sender[p->sender];
    s->flight -= l->mtu;
    struct weft_cc_fact fact = fact_at(l, s, now);
    fact.bytes = l->mtu;
    fact.rtt_ps = now - p->sent_ps;
    fact.telemetry = &p->telemetry;
    l->ops->on_ack(s->state, l->conf, &fact, &s->act);
    if (s->next_ps < now) s->next_ps = now;
}

/// What happens next: a packet leaves, one is sent, or an acknowledgement comes.
static void take_step(struct shared_link *l) {
    uint32_t sender = 0;
    weft_time_ps send = find_sender(l, &sender), leave = WEFT_TIME_NEVER, ack = WEFT_TIME_NEVER;
    if (l->left < l->sent) leave = l->packet[l->left].sent_ps;
    if (leave < l->free_ps) leave = l->free_ps;
    if (l->acked < l->left) ack = l->packet[l->acked].left_ps + l->back_ps;
    if (leave <= send && leave <= ack)
        leave_link(l, leave);
    else if (send < ack)
        send_packet(l, sender, send);
    else
        take_ack(l, ack);
}

/// The part of the time for which the link is busy until all have sent so many packets.
static double measure_share(const struct weft_model_conf *cc, const struct weft_cc_path *path, uint32_t frame,
                            uint32_t senders, uint32_t packets) {
    const struct weft_cc_ops *ops = cc->model->ops;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_QP);
    struct shared_link *l = weft_arena_alloc(arena, 1, sizeof *l);
    l->ops = ops;
    l->conf = cc->conf;
    l->senders = senders;
    l->frame = frame;
    l->mtu = path->packet_bytes;
    l->rate_bps = path->line_rate_bps;
    l->took_ps = weft_time_of_real((double)frame * 8 * (double)WEFT_PS_PER_S / (double)path->line_rate_bps);
    l->back_ps = path->rtt_ps > l->took_ps ? path->rtt_ps - l->took_ps : 1;
    for (uint32_t k = 0; k < senders; k++) {
        struct sender *s = &l->sender[k];
        s->state = weft_arena_alloc(arena, 1, ops->state_size(cc->conf));
        s->act = (struct weft_cc_act){l->rate_bps, WEFT_TIME_NEVER, UINT64_MAX, false, false};
        struct weft_cc_fact fact = fact_at(l, s, 0);
        ops->on_start(s->state, cc->conf, &fact, &s->act);
        s->next_ps = k;
        s->left = packets;
    }
    l->packet = weft_arena_alloc(arena, (size_t)senders * packets, sizeof *l->packet);
    while (l->left < senders * packets)
        take_step(l);
    double share = (double)(senders * packets) * (double)l->took_ps / (double)l->free_ps;
    weft_arena_free(arena);
    return share < 1 ? share : 1;
}

/// The queue pairs of a link; logarithms, means.
struct sharing {
    const struct weft_host_conf *host;
    uint32_t flows, frame, mtu;
    double rtt, packets;
};

/// What has been measured. Round trips within 2% of one another, and messages within 10%, are alike.
struct known {
    const struct weft_host_conf *host;
    uint32_t frame;
    int32_t rtt, packets;
    float used[WEFT__LEVEL_USED];
    struct known *next;
};
#define RTT_STEP 0.02
#define PACKETS_STEP 0.1

static const float *find_used(struct known **all, const struct sharing *s, double line, struct weft_arena *arena) {
    int32_t rtt = (int32_t)round(s->rtt / RTT_STEP), packets = (int32_t)round(s->packets / PACKETS_STEP);
    for (struct known *k = *all; k; k = k->next)
        if (k->host == s->host && k->frame == s->frame && k->rtt == rtt && k->packets == packets) return k->used;
    struct known *k = weft_arena_alloc(arena, 1, sizeof *k);
    *k = (struct known){.host = s->host, .frame = s->frame, .rtt = rtt, .packets = packets, .used = {1}, .next = *all};
    const struct weft_cc_path path = {weft_time_of_real(exp(rtt * RTT_STEP)),
                                      (weft_rate_bps)(line * 8 * (double)WEFT_PS_PER_S), s->mtu};
    double each = fmin(exp(packets * PACKETS_STEP), PACKETS);
    for (uint32_t n = 1; n < WEFT__LEVEL_USED; n++)
        k->used[n] = (float)measure_share(&s->host->cc, &path, s->frame, 1u << n, (uint32_t)ceil(each));
    *all = k;
    return k->used;
}

void weft__controls_share(struct weft__fluid *x) {
    struct sharing *at = NULL;
    for (uint32_t q = 0; q < x->net.qps; q++) {
        const struct weft_qp_conf *qp = &x->net.qp[q];
        const struct weft_host_conf *host = weft__fluid_host(x, qp->src);
        const struct weft__level_flow *f = &x->levels.flow[q];
        if (!((const struct weft_cc_ops *)host->cc.model->ops)->telemetry_bytes) continue;
        if (!at) at = weft_arena_alloc(x->arena, x->levels.links, sizeof *at);
        for (uint32_t e = f->first + 1; e < f->first + f->entries; e++) { // but for the NIC's own
            if (x->levels.entry[e].weight < 0) continue;
            struct sharing *s = &at[x->levels.entry[e].link];
            double n = ++s->flows;
            s->rtt += (log((double)x->way[q].rtt_ps) - s->rtt) / n;
            s->packets += (log(fmax((double)qp->bytes / qp->mtu, 1)) - s->packets) / n;
            if (s->host) continue;
            s->host = host;
            s->mtu = qp->mtu;
            s->frame = weft__fluid_frame(x, q);
        }
    }
    struct known *all = NULL;
    for (uint32_t k = 0; at && k < x->levels.links; k++) {
        struct weft__level_link *link = &x->levels.link[k];
        if (at[k].flows > 1) link->used_of = find_used(&all, &at[k], link->capacity, x->arena);
    }
}
