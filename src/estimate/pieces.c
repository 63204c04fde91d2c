// SPDX-License-Identifier: Apache-2.0
// Messages on their way, and flows, which are one message a queue pair. A request is posted, as in box/nic/nic_work.c;
// its bytes drain behind those of its queue pair before it; the last frame, stored and forwarded at its own length,
// arrives; the acknowledgement goes back. Queue pairs of one NIC take turns packet by packet, so of those whose last
// packets leave together, each leaves one packet after the one that began before it: a fluid alone would keep them
// equal for ever. One that finds the NIC idle sends its first packet before any of those that come with it.
#include "estimate/fluid.h"

#include <math.h>

#include "base/grow.h"
#include "transport/trigger.h"
#include "weft/transport.h"

static struct weft__fluid *fluid_of(const struct weft__worker *w) {
    return w->notes;
}

static uint32_t piece_new(struct weft__fluid *x) {
    uint32_t p = x->piece_free;
    if (p != WEFT_NONE) {
        x->piece_free = x->piece[p].next;
        return p;
    }
    x->piece = weft__memory_double(WEFT_MEMORY_FLIGHT, x->piece, x->pieces, &x->pieces_room, 1024, sizeof *x->piece);
    return x->pieces++;
}

static void piece_free(struct weft__fluid *x, uint32_t p) {
    x->piece[p].next = x->piece_free;
    x->piece_free = p;
}

static uint32_t first_link(const struct weft__fluid *x, uint32_t qp) {
    return x->levels.entry[x->levels.flow[qp].first].link;
}

/// A packet takes the NIC as long as the line, PCIe and the NIC's own rate need.
double weft__piece_wire(const struct weft__fluid *x, uint32_t number, weft_bytes bytes, uint32_t *ret_last) {
    const struct weft_qp_conf *qp = &x->net.qp[number];
    const struct weft_host_conf *host = weft__fluid_host(x, qp->src);
    const struct weft__hosts *hosts = &x->net.hosts;
    weft_bytes packets = bytes ? (bytes + qp->mtu - 1) / qp->mtu : 1;
    uint32_t header = hosts->data_header_bytes, framing = hosts->framing_bytes;
    uint32_t full = weft__message_frame_bytes(qp->mtu, false, header) + framing;
    *ret_last = weft__message_frame_bytes((uint32_t)(bytes - (packets - 1) * qp->mtu), packets == 1, header) + framing;
    double wire = (double)(packets - 1) * full + *ret_last + (double)packets * (double)host->wire.overhead_bytes;
    if (packets > 1 && !header) wire += WEFT_FRAME_RETH;
    uint32_t own = *ret_last;
    if (packets > 1) *ret_last = full; // a shorter last frame waits for the one before it, hop by hop
    double line = x->levels.link[first_link(x, number)].capacity;
    double gaps = (double)weft__frame_gap(host, full) * (double)(packets - 1) + (double)weft__frame_gap(host, own);
    return fmax(wire, gaps * line);
}

/// The host's part of a request: posting, its entry, and the payload's first packet; with what a run draws for it.
static weft_time_ps post_time(struct weft__fluid *x, uint32_t host, struct weft_packet request, weft_bytes bytes) {
    const struct weft_host_conf *c = weft__fluid_host(x, host);
    request.time_ps = weft__poster_take(&x->poster[host], c, x->now_ps, bytes);
    return weft__request_issue(&x->poster[host], c, x->seed[host], &x->net.qp[request.qp], &request);
}

static void post_piece(struct weft__fluid *x, uint32_t qp, uint32_t psn_end, weft_bytes bytes, weft_time_ps later) {
    struct weft_packet request = {.kind = WEFT_PACKET_DATA, .qp = qp, .psn = psn_end};
    uint32_t p = piece_new(x), host = x->net.qp[qp].src;
    struct weft__piece piece = {.qp = qp, .psn_end = psn_end, .bytes = bytes, .next = WEFT_NONE};
    piece.wire = weft__piece_wire(x, qp, bytes, &piece.last);
    x->piece[p] = piece;
    weft_time_ps time = post_time(x, host, request, bytes) + later;
    struct weft__line *line = &x->line[first_link(x, qp)];
    if (!line->pieces++) line->sent = line->drains = 0;
    if (line->pieces == 1 || time < line->busy_ps) line->busy_ps = time;
    time += weft_time_of_real((double)x->way[qp].reach_ps);
    if (time > x->now_ps)
        weft__fluid_note(x, time, WEFT__FLUID_POST, p);
    else
        weft__pieces_on(x, WEFT__FLUID_POST, p);
}

static bool is_of_job(const struct weft__fluid *x, uint32_t qp) {
    return x->net.workload->flow[x->net.qp[qp].flow].messages;
}

/// A message of a flow, or all of it if it posts none; after a pause if a burst has just completed.
static void post_next(struct weft__fluid *x, uint32_t qp) {
    const struct weft_flow *flow = &x->net.workload->flow[x->net.qp[qp].flow];
    struct weft__drain *d = &x->drain[qp];
    weft_bytes left = x->net.qp[qp].bytes - d->posted, bytes = flow->depth ? flow->message_bytes : left;
    weft_bytes burst = (weft_bytes)flow->burst * bytes, done = burst ? d->done - d->done % burst : 0;
    if (!left || (burst && d->posted == done + burst)) return;
    d->posted += bytes;
    uint32_t packets =
        flow->depth ? (uint32_t)(d->posted / bytes) * x->net.qp[qp].message_packets : x->net.qp[qp].packets;
    post_piece(x, qp, packets, bytes, done && d->done == done ? flow->pause_ps : 0);
}

/// As many messages of a flow as may be outstanding.
static void post_all(struct weft__fluid *x, uint32_t qp) {
    uint32_t depth = x->net.workload->flow[x->net.qp[qp].flow].depth;
    for (uint32_t k = 0; k < (depth ? depth : 1); k++)
        post_next(x, qp);
}

/// A queue pair of messages begins one as long after the one before as host.work_request_qp says.
bool weft__pieces_pause(struct weft__fluid *x, uint32_t qp) {
    const struct weft__drain *d = &x->drain[qp];
    weft_time_ps gap = weft__fluid_host(x, x->net.qp[qp].src)->work_request_qp_ps, next = d->begun_ps + gap;
    if (!gap || !d->begun || next <= x->now_ps || !is_of_job(x, qp)) return false;
    if (d->first != WEFT_NONE) weft__fluid_note(x, next, WEFT__FLUID_BEGIN, qp);
    return true;
}

void weft__pieces_begin(struct weft__fluid *x, uint32_t qp) {
    double wire = x->piece[x->drain[qp].first].wire;
    x->drain[qp].begun = true;
    weft__credits_begin(x, qp, wire);
    weft__fluid_begin(x, qp, wire);
}

static bool is_idle(const struct weft__level_link *line, const struct weft__levels *l) {
    for (uint32_t i = 0; i < line->members; i++)
        if (l->entry[line->member[i].entry].weight > 0) return false;
    return true;
}

/// The first packet of one that finds the NIC idle has the line before those of others that come with it.
static bool must_wait(struct weft__fluid *x, uint32_t p) {
    const struct weft__piece *piece = &x->piece[p];
    const struct weft__levels *l = &x->levels;
    uint32_t number = first_link(x, piece->qp);
    const struct weft__level_link *line = &l->link[number];
    weft_time_ps *alone_ps = &x->line[number].alone_ps;
    if (*alone_ps > x->now_ps) {
        weft__fluid_note(x, *alone_ps, WEFT__FLUID_POST, p);
        return true;
    }
    if (is_idle(line, l))
        *alone_ps = x->now_ps + weft_time_of_real((piece->last + WEFT_WIRE_OVERHEAD) / line->capacity);
    return false;
}

static void enqueue_piece(struct weft__fluid *x, uint32_t p) {
    uint32_t qp = x->piece[p].qp;
    struct weft__drain *d = &x->drain[qp];
    bool idle = d->first == WEFT_NONE;
    if (idle && must_wait(x, p)) return;
    if (idle)
        d->first = p;
    else
        x->piece[d->last].next = p;
    d->last = p;
    if (idle && !weft__pieces_pause(x, qp)) weft__pieces_begin(x, qp);
}

// --- a piece has left ---------------------------------------------------------------------------------------------

enum { MANY = 64 }; ///< queue pairs at a line, which are looked at one by one

/// When a piece can have left its NIC, at the earliest. Pieces to near and far share its line from the start, but those
/// to far begin to drain later. By the time that one has left, each
/// of the others has sent as many bytes, or all that it has.
static double sent_time(struct weft__fluid *x, uint32_t qp, double wire) {
    const struct weft__levels *l = &x->levels;
    const struct weft__level_link *link = &l->link[first_link(x, qp)];
    struct weft__line *line = &x->line[first_link(x, qp)];
    line->pieces--;
    line->sent += wire;
    double sent = fmin(line->sent, ++line->drains * wire);
    if (x->way[qp].reach_ps <= 0) return 0; // it drains when it is sent
    bool few = link->members <= 2 * MANY;   // data, and acknowledgements
    for (uint32_t i = 0; few && i < link->members; i++) {
        uint32_t number = link->member[i].flow;
        if (number == qp || number >= x->net.qps || l->entry[link->member[i].entry].weight < 0) continue;
        const struct weft__drain *other = &x->drain[number];
        double left = other->left - other->rate * (double)(x->now_ps - other->since_ps);
        sent += fmin(x->piece[other->first].wire - fmax(left, 0), wire);
    }
    return (double)line->busy_ps + sent / link->capacity;
}

/// How much sooner the last packet leaves than it would if all shared the line to the end: those of one rate, whether
/// the line bounds it or a link that they go on to, send in step.
static double lead_of(struct weft__fluid *x, uint32_t qp, uint32_t last) {
    const struct weft__levels *l = &x->levels;
    uint32_t at = first_link(x, qp);
    const struct weft__level_link *line = &l->link[at];
    const struct weft__drain *own = &x->drain[qp];
    struct weft__line *ended = &x->line[at];
    ended->drained = ended->drained_ps == x->now_ps ? ended->drained + 1 : 0;
    ended->drained_ps = x->now_ps;
    double ahead = 0, rate = own->rate * ended->drained; // those before it were in step until now
    if (line->members < 2 || line->members > MANY || own->rate <= 0) return 0;
    for (uint32_t i = 0; i < line->members; i++) {
        uint32_t number = line->member[i].flow;
        if (number >= x->net.qps || l->entry[line->member[i].entry].weight < 0) continue;
        const struct weft__drain *other = &x->drain[number];
        if (fabs(other->rate - own->rate) > own->rate * 1e-6) continue;
        rate += other->rate;
        if ((int32_t)(other->turn - own->turn) > 0) ahead += last + WEFT_WIRE_OVERHEAD;
    }
    return ahead / rate;
}

void weft__pieces_drained(struct weft__fluid *x, uint32_t qp) {
    struct weft__drain *d = &x->drain[qp];
    uint32_t p = d->first;
    const struct weft__piece *piece = &x->piece[p];
    const struct weft__way *way = &x->way[qp];
    double late = sent_time(x, qp, piece->wire) - (double)x->now_ps, lead = lead_of(x, qp, piece->last);
    double time = fmax(late, -(double)way->reach_ps) + way->base_ps + way->byte_ps * piece->last - lead;
    time += weft__credits_wait(x, qp) + weft__bound_wait(x, qp, piece->wire) + weft__draws_wait(x, qp, piece);
    x->piece[p].took_ps = (float)(x->now_ps - d->begun_ps);
    d->first = piece->next;
    weft__fluid_note(x, x->now_ps + (time > 0 ? weft_time_of_real(time) : 0), WEFT__FLUID_ARRIVE, p);
}

// --- what comes ---------------------------------------------------------------------------------------------------

static void note_delivered(struct weft__fluid *x, const struct weft__piece *piece) {
    struct weft_flow_outcome *o = &x->net.hosts.outcome[x->net.qp[piece->qp].flow];
    o->delivered_bytes += piece->bytes;
    x->net.outcome->delivered_bytes += (weft_bytes)piece->wire;
}

/// A clear-to-send, an acknowledgement: from the receiver of a queue pair back to its sender; others went before it.
static weft_time_ps control_time(struct weft__fluid *x, uint32_t qp, double first_ps) {
    return weft_time_of_real(x->way[qp].control_ps + weft__credits_control(x, qp, first_ps));
}

static void on_arrive(struct weft__fluid *x, uint32_t p) {
    const struct weft__piece piece = x->piece[p];
    const struct weft_qp_conf *qp = &x->net.qp[piece.qp];
    struct weft__endpoint *end = &x->end[qp->dst];
    bool read = qp->verb == WEFT_VERB_READ;
    double acks = (double)piece.took_ps * fmax(1 - (double)x->way[piece.qp].acked / piece.wire, 0);
    weft_time_ps notice = weft__notice_latency(weft__fluid_host(x, qp->dst), read);
    weft_time_ps ack = control_time(x, piece.qp, (double)x->now_ps - acks);
    note_delivered(x, &piece);
    weft__fluid_note(x, x->now_ps + ack + weft__notice_latency(weft__fluid_host(x, qp->src), true), WEFT__FLUID_ACK, p);
    if (!is_of_job(x, piece.qp)) {
        x->drain[piece.qp].arrived += piece.bytes;
        if (x->drain[piece.qp].arrived == qp->bytes)
            weft__fluid_note(x, x->now_ps + notice, WEFT__FLUID_NOTICE, piece.qp);
        return;
    }
    notice += weft__message_latency(end, piece.qp, x->now_ps);
    for (uint32_t n = weft__message_came(end, piece.qp); n; n--)
        weft__fluid_note(x, x->now_ps + notice, WEFT__FLUID_NOTICE, piece.qp);
}

static void on_notice(struct weft__fluid *x, uint32_t qp) {
    uint32_t flow = x->net.qp[qp].flow;
    struct weft__endpoint *end = &x->end[x->net.qp[qp].dst];
    struct weft_flow_outcome *o = &x->net.hosts.outcome[flow];
    o->end_ps = x->now_ps; // of a connection: its last message so far
    if (is_of_job(x, qp)) {
        weft__message_arrived(&x->node, end, weft__fluid_worker(x), qp, 1);
        return;
    }
    if (--x->net.hosts.qps_left[flow]) {
        o->end_ps = WEFT_TIME_NEVER;
        return;
    }
    if (x->net.hosts.triggers) weft__trigger_on_flow(end, weft__fluid_worker(x), flow, true);
}

static void on_ack(struct weft__fluid *x, uint32_t p) {
    const struct weft__piece piece = x->piece[p];
    uint32_t flow = x->net.qp[piece.qp].flow;
    struct weft__endpoint *end = &x->end[x->net.qp[piece.qp].src];
    piece_free(x, p);
    x->net.hosts.outcome[flow].acked_ps = x->now_ps;
    if (is_of_job(x, piece.qp)) {
        x->net.hosts.sample[piece.qp].seen = piece.psn_end;
        weft__message_acked(&x->node, end, weft__fluid_worker(x), piece.qp);
        return;
    }
    struct weft__drain *d = &x->drain[piece.qp];
    d->done += piece.bytes;
    if (d->done == d->posted)
        post_all(x, piece.qp);
    else
        post_next(x, piece.qp);
    if (d->done == x->net.qp[piece.qp].bytes && !--x->net.hosts.qps_unacked[flow] && x->net.hosts.triggers)
        weft__trigger_on_flow(end, weft__fluid_worker(x), flow, false);
}

static void on_grant(struct weft__fluid *x, uint32_t p) {
    uint32_t qp = x->piece[p].qp, granted = x->piece[p].psn_end;
    piece_free(x, p);
    weft__message_granted(&x->node, &x->end[x->net.qp[qp].src], weft__fluid_worker(x), qp, granted);
}

static void on_carried(struct weft__fluid *x, uint32_t index) {
    struct weft_packet p = x->carried[index].packet;
    struct weft__endpoint *end = &x->end[x->net.topology->node[p.node].index];
    x->carried[index].next = x->carried_free;
    x->carried_free = index;
    if (p.kind == WEFT_PACKET_TRIGGER)
        weft__trigger_on_packet(&x->node, end, weft__fluid_worker(x), &p);
    else
        weft__gpu_on_packet(&x->node, end, weft__fluid_worker(x), &p);
}

/// A READ's request goes to the sender of the data first, which fetches that.
static void start_qp(struct weft__fluid *x, uint32_t qp) {
    const struct weft_qp_conf *conf = &x->net.qp[qp];
    const struct weft_host_conf *sender = weft__fluid_host(x, conf->src);
    if (conf->verb == WEFT_VERB_READ) {
        x->drain[qp].posted = conf->bytes;
        post_piece(x, qp, 0, conf->bytes,
                   weft__fluid_host(x, conf->dst)->send_latency_ps + control_time(x, qp, (double)x->now_ps) +
                       sender->pcie_round_trip_ps);
        return;
    }
    post_all(x, qp);
}

static void start_flow(struct weft__fluid *x, uint32_t flow) {
    x->net.hosts.outcome[flow].start_ps = x->now_ps;
    for (uint32_t q = x->qp_of_flow[flow]; q < x->net.qps && x->net.qp[q].flow == flow; q++)
        start_qp(x, q);
}

void weft__pieces_on(struct weft__fluid *x, enum weft__fluid_what what, uint32_t index) {
    switch (what) {
    case WEFT__FLUID_START:
        start_flow(x, index);
        break;
    case WEFT__FLUID_POST:
        enqueue_piece(x, index);
        break;
    case WEFT__FLUID_BEGIN:
        weft__pieces_begin(x, index);
        break;
    case WEFT__FLUID_ARRIVE:
        on_arrive(x, index);
        break;
    case WEFT__FLUID_ACK:
        on_ack(x, index);
        break;
    case WEFT__FLUID_NOTICE:
        on_notice(x, index);
        break;
    case WEFT__FLUID_GRANT:
        on_grant(x, index);
        break;
    case WEFT__FLUID_CARRY:
        on_carried(x, index);
        break;
    default:
        break;
    }
}

// --- the endpoint -------------------------------------------------------------------------------------------------

static void on_post(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                    uint32_t psn, weft_bytes bytes) {
    struct weft__fluid *x = fluid_of(w);
    struct weft_flow_outcome *o = &x->net.hosts.outcome[x->net.qp[qp].flow];
    if (!o->delivered_bytes && o->start_ps == WEFT_TIME_NEVER) o->start_ps = w->now_ps;
    post_piece(x, qp, psn, bytes, 0);
}

static void on_consumed(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                        bool last) {}

static void grant_messages(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                           uint32_t granted, uint32_t priority, uint32_t doublings) {
    struct weft__fluid *x = fluid_of(w);
    uint32_t p = piece_new(x), host = x->net.qp[qp].dst;
    struct weft_packet request = {.kind = WEFT_PACKET_CTS, .qp = qp, .psn = granted};
    bool posts = weft__posting_takes_time(weft__fluid_host(x, host));
    weft_time_ps time = posts ? post_time(x, host, request, 0) : x->now_ps;
    x->piece[p] = (struct weft__piece){.qp = qp, .psn_end = granted};
    weft__fluid_note(x, time + control_time(x, qp, (double)x->now_ps), WEFT__FLUID_GRANT, p);
}

/// Of a flow that waited for a trigger; called for each of its queue pairs.
static void on_start(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps time) {
    start_qp(node->state, qp);
}

static void carry_packet(struct weft__worker *w, uint32_t node, weft_time_ps time, const struct weft_packet *p) {
    struct weft__fluid *x = fluid_of(w);
    uint32_t index = x->carried_free;
    if (index == WEFT_NONE) {
        index = x->carrieds;
        WEFT__ADD_DOUBLE(WEFT_MEMORY_FLIGHT, x->carried, x->carrieds, x->carrieds_room, 64) = (struct weft__carried){0};
    } else {
        x->carried_free = x->carried[index].next;
    }
    x->carried[index].packet = *p;
    x->carried[index].packet.time_ps = time;
    weft_packet_set_node(&x->carried[index].packet, node);
    weft__fluid_note(x, time, WEFT__FLUID_CARRY, index);
}

const struct weft__endpoint_ops weft__fluid_endpoint = {
    .post = on_post,
    .consumed = on_consumed,
    .grant = grant_messages,
    .start = on_start,
    .carry = carry_packet,
    .take = weft__rings_take,
};
