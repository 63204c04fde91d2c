// SPDX-License-Identifier: Apache-2.0
// Messages of a job's connections: what a step sends to a peer and receives from one.
//
// A connection over the network is one or several queue pairs that carry messages one after another, each an RDMA
// WRITE. When its rank reaches an operation, the receiver posts buffers for the operation's messages, as many as there
// are slots, and one more each time it has taken a message; for each buffer it sends a clear-to-send. The sender puts a
// message into a slot of its buffer and sends it once its proxy knows of it and the clear-to-send has arrived; the slot
// is free when this message and all earlier ones are acknowledged. A message travels whole on the next queue pair, or
// in parts on all of them; it has arrived when all of it has, and the program gets messages in order, whatever the
// order in which queue pairs deliver. Source: the net transport of NCCL 2.x (proxies, NCCL_STEPS slots at both ends, a
// receiver that writes a FIFO entry for each receive it posts) and its net_ib.cc (NCCL_IB_QPS_PER_CONNECTION and
// NCCL_IB_SPLIT_DATA_ON_QPS: parts in multiples of 128 B, and a WRITE on each queue pair even if no data is left for
// it; clear-to-send on the first queue pair). Differences: a lost clear-to-send is repeated after the NIC's timeout,
// then after twice as long, and so on (NCCL's is a reliable WRITE of its own); no immediate data (4 B).
//
// Within a server messages do not use the network: each GPU sends and receives at the rate of the server, one message
// after another in each direction, with a fixed latency. Buffers are free from the beginning, like the buffers that
// NCCL's GPUs share within a server. These messages are not frames, and no counter of the network includes them.
#include "transport/program.h"
#include "transport/rma.h"

enum { DOUBLINGS_MAX = 10, PART_ALIGN = 128 };
enum { LOCAL_DATA, LOCAL_CREDIT }; // flags of a packet within a server
/// How long before its arrival the first byte of a message came, in ps: the unit, and the longest that fits.
enum { LEAD_UNIT = 4096, LEAD_MAX = LEAD_UNIT * ((1 << WEFT_PACKET_ENTROPY_BITS) - 1) };

// --- parts --------------------------------------------------------------------------------------------------------

/// The queue pair of the connection that carries part k of message m.
static uint32_t carrier_of(uint32_t qps, uint32_t parts, uint32_t m, uint32_t k) {
    return parts > 1 ? k : m % qps;
}

static uint32_t part_bytes(uint32_t bytes, uint32_t parts, uint32_t k) {
    if (parts == 1) return bytes;
    uint32_t each = (bytes / parts + (bytes % parts != 0) + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    uint64_t before = (uint64_t)k * each;
    if (before >= bytes) return 0;
    return bytes - before < each ? bytes - (uint32_t)before : each;
}

/// A part without data is also a packet.
static uint32_t part_packets(uint32_t bytes, uint32_t mtu) {
    return bytes ? bytes / mtu + (bytes % mtu != 0) : 1;
}

static struct weft__span *span_of(const struct weft__sending *s, uint32_t m, uint32_t k) {
    return &s->span[m % s->slots * s->parts + k];
}

/// Whether all parts of message m have arrived.
static bool has_come(const struct weft__receiving *r, uint32_t m) {
    if (r->parts == 1) return r->came[m % r->qps] > m / r->qps;
    for (uint32_t k = 0; k < r->parts; k++)
        if (r->came[k] <= m) return false;
    return true;
}

// --- what lanes wait for ------------------------------------------------------------------------------------------

static void wake_sending(struct weft__at *at, struct weft__sending *s) {
    uint32_t lane = s->lane;
    if (s->sends) {
        weft__schedule_run_on_acked(at, s);
        return;
    }
    if (lane == WEFT_NONE) return;
    s->lane = WEFT_NONE;
    weft__lane_run(at, s->stream, lane);
}

/// This many more messages have arrived; 0: only parts of one.
static void wake_receiving(struct weft__at *at, struct weft__receiving *r, uint32_t messages) {
    uint32_t lane = r->lane;
    at->w->tally.progress_ps = at->w->now_ps;
    for (uint32_t k = 0; k < messages; k++)
        weft__program_note(at, WEFT_RANK_ARRIVED, r->connection, r->arrived + k, 0);
    r->arrived += messages;
    if (at->p->schedule && !r->messages) {
        weft__schedule_run_on_arrived(at, r);
        return;
    }
    if (lane == WEFT_NONE || !messages) return;
    r->lane = WEFT_NONE;
    weft__lane_run(at, r->stream, lane);
}

// --- within a server ----------------------------------------------------------------------------------------------

/// At the other host, packets appear to come from two ports of this GPU's, so that no two arrivals there are equal.
/// `m`: the number of the message on its connection. GPUs write into one another's memory, so a message leaves while it
/// is copied: how long before its arrival its first byte came is in `entropy`.
static void send_local(struct weft__at *at, uint32_t connection, uint32_t node, uint32_t flag, weft_time_ps time,
                       const struct weft_packet *what) {
    uint16_t port = (uint16_t)(1 + 2 * (at->p->port->number % 16384) + flag);
    struct weft_packet p = *what;
    p.qp = connection;
    p.kind = WEFT_PACKET_SERVER;
    p.flags = flag & 7u;
    weft__endpoint_send(at->end->hosts, at->w, node, port, time, &p);
}

/// `shared`: so many messages occupy the port as long as one.
static weft_time_ps local_time(const struct weft_job *job, uint32_t bytes, uint32_t shared) {
    weft_time_ps time = weft_time_of_bytes(bytes, job->server.rate_bps);
    if (shared > 1) time /= shared;
    return time ? time : 1;
}

static void fill_local(struct weft__at *at, const struct weft__sending *s, uint32_t m, uint32_t bytes,
                       const struct weft__pace *pace) {
    struct weft__inner_port *port = at->p->port;
    weft_time_ps now = at->w->now_ps, begun = now - pace->copy_ps, length = local_time(at->p->job, bytes, pace->copied);
    weft_time_ps first = port->out_free_ps > begun ? port->out_free_ps : begun, last = first + length, lead = 0;
    port->out_free_ps = last + pace->idle_ps;
    if (pace->copy_ps > port->lead_ps) port->lead_ps = pace->copy_ps;
    if (first < now) { // some of it has left while it was copied
        lead = now - first > LEAD_MAX ? LEAD_MAX : now - first;
        first = now;
    }
    weft_time_ps time = first + at->p->job->server.latency_ps + pace->inner_latency_ps;
    if (time <= port->data_last_ps) time = port->data_last_ps + 1;
    port->data_last_ps = time;
    at->end->gpu->sent_bytes += bytes;
    struct weft_packet p = {.dst = m, .psn = bytes, .bytes = pace->merged};
    p.entropy = (uint32_t)(lead / LEAD_UNIT) & (LEAD_MAX / LEAD_UNIT);
    send_local(at, s->connection, s->peer_node, LOCAL_DATA, time, &p);
}

static void credit_local(struct weft__at *at, const struct weft__receiving *r) {
    struct weft__inner_port *port = at->p->port;
    weft_time_ps time = at->w->now_ps + at->p->job->server.latency_ps;
    if (time <= port->credit_last_ps) time = port->credit_last_ps + 1;
    port->credit_last_ps = time;
    send_local(at, r->connection, r->peer_node, LOCAL_CREDIT, time, &(struct weft_packet){0});
}

void weft__gpu_on_arrival(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                          struct weft__inner_port *port) {
    struct weft_packet p;
    weft__fifo_pop(&port->in, end->pool, &p);
    if (port->in.n) weft__timer_set(&node->timers, port->key, weft__fifo_head(&port->in)->time_ps);
    struct weft__receiving *r = weft__programs_of(end)->wire[p.qp].receiving;
    wake_receiving(&(struct weft__at){node, end, w, r->program}, r, 1);
}

void weft__gpu_on_packet(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                         const struct weft_packet *packet) {
    const struct weft__wire *wire = &weft__programs_of(end)->wire[packet->qp];
    if (packet->flags == LOCAL_CREDIT) {
        struct weft__sending *s = wire->sending;
        struct weft__at at = {node, end, w, s->program};
        weft__program_note(&at, WEFT_RANK_FREED, s->connection, s->granted++ - s->slots, 0);
        wake_sending(&at, s);
        return;
    }
    struct weft_packet p = *packet;
    struct weft__inner_port *port = wire->receiving->program->port;
    weft_time_ps lead = p.entropy * (weft_time_ps)LEAD_UNIT, first = w->now_ps - lead;
    if (lead > port->lead_ps) port->lead_ps = lead;
    if (port->in_free_ps > first) first = port->in_free_ps;
    port->in_free_ps = first + local_time(wire->receiving->program->job, p.psn, p.bytes);
    p.time_ps = port->in_free_ps > w->now_ps ? port->in_free_ps : w->now_ps;
    if (!port->in.n) weft__timer_set(&node->timers, port->key, p.time_ps);
    weft__fifo_push(&port->in, end->pool, &p);
}

// --- over the network ---------------------------------------------------------------------------------------------

static weft_bytes message_bytes(const struct weft__sending *s, uint32_t m) {
    weft_bytes bytes = 0;
    for (uint32_t k = 0; k < s->parts; k++)
        bytes += span_of(s, m, k)->bytes;
    return bytes;
}

/// A proxy thread serves all connections of its rank in turn. Returns the wait for its turn, and that turn.
static weft_time_ps take_turn(struct weft__program *p, weft_time_ps now, weft_time_ps turn) {
    if (p->proxy_free_ps < now) p->proxy_free_ps = now;
    p->proxy_free_ps += turn;
    return p->proxy_free_ps - now;
}

/// Hands the messages in the buffer that may be sent to the queue pairs.
static void post_messages(struct weft__at *at, struct weft__sending *s) {
    uint32_t may = s->handed < s->granted ? s->handed : s->granted;
    for (uint32_t m = s->posted; m < may; m++) {
        s->posted = m + 1;
        if (s->proxy_ps) take_turn(at->p, at->w->now_ps, s->proxy_ps); // it is sent at once; others wait for that
        weft__program_note(at, WEFT_RANK_POSTS, s->connection, m, 0);
        weft_histogram_add(&at->p->waits->sender, at->w->now_ps - s->handed_ps[m % s->slots]);
        at->p->in_flight_bytes += message_bytes(s, m);
        if (at->p->in_flight_bytes > at->p->in_flight_bytes_max) at->p->in_flight_bytes_max = at->p->in_flight_bytes;
        for (uint32_t k = 0; k < s->parts; k++)
            at->end->hosts->ops->post(at->node, at->end, at->w, s->qp + carrier_of(s->qps, s->parts, m, k),
                                      span_of(s, m, k)->psn_end, span_of(s, m, k)->bytes);
    }
}

/// Notes a message and what it is part of, if the rank is followed.
static void note_fill(const struct weft__at *at, const struct weft__sending *s, uint32_t m) {
    const struct weft__program *p = at->p;
    uint32_t communicator = p->job->connection[s->connection - p->connection0].communicator;
    weft__program_note(at, WEFT_RANK_FILLS, s->connection, m,
                       s->sends ? s->sends->step[m % s->slots] : weft__program_op(p, communicator));
}

static uint32_t hand_key(const struct weft__program *p) {
    return p->key0 + p->keys - 1;
}

/// The proxy sees a message some time after its GPU has filled the slot; it sees messages in order.
static void tell_proxy(struct weft__at *at, struct weft__sending *s, uint32_t m) {
    struct weft__fifo *handing = &at->p->handing;
    weft_time_ps time = at->w->now_ps + s->hand_ps;
    weft_time_ps last = handing->n ? handing->tail->packet[handing->end - 1].time_ps : 0;
    if (last > time) time = last;
    s->handed_ps[m % s->slots] = time;
    if (time == at->w->now_ps) {
        s->handed++;
        post_messages(at, s);
        return;
    }
    if (!handing->n) weft__timer_set(&at->node->timers, hand_key(at->p), time);
    weft__fifo_push(handing, at->end->pool, &(struct weft_packet){.qp = s->connection, .time_ps = time});
}

void weft__message_hand(struct weft__at *at) {
    struct weft__fifo *handing = &at->p->handing;
    struct weft_packet p;
    weft__fifo_pop(handing, at->end->pool, &p);
    if (handing->n) weft__timer_set(&at->node->timers, hand_key(at->p), weft__fifo_head(handing)->time_ps);
    struct weft__sending *s = weft__programs_of(at->end)->wire[p.qp].sending;
    s->handed++;
    post_messages(at, s);
}

void weft__message_fill(struct weft__at *at, struct weft__sending *s, uint32_t bytes, const struct weft__pace *pace) {
    uint32_t m = s->filled++;
    if (__builtin_expect(at->p->log != NULL, 0)) note_fill(at, s, m);
    if (s->qp == WEFT_NONE) {
        fill_local(at, s, m, bytes, pace);
        return;
    }
    uint32_t mtu = at->end->hosts->qp[s->qp].mtu;
    for (uint32_t k = 0; k < s->parts; k++) {
        uint32_t own = part_bytes(bytes, s->parts, k);
        uint32_t carrier = carrier_of(s->qps, s->parts, m, k), *psn = &at->end->hosts->carrier[s->qp + carrier].psn_end;
        *span_of(s, m, k) = (struct weft__span){*psn, *psn + part_packets(own, mtu), own, carrier};
        *psn += part_packets(own, mtu);
    }
    tell_proxy(at, s, m);
}

bool weft__message_has_room(const struct weft__sending *s) {
    return s->qp == WEFT_NONE ? s->filled < s->granted : s->filled - s->acked < s->slots;
}

/// Among messages from m to before `end`: the part on a queue pair that ends beyond psn; NULL: there is none.
static const struct weft__span *find_span(const struct weft__sending *s, uint32_t carrier, uint32_t m, uint32_t end,
                                          uint32_t psn) {
    uint32_t step = 1, k = carrier;
    if (s->parts == 1) {
        m += (carrier + s->qps - m % s->qps) % s->qps;
        step = s->qps;
        k = 0;
    }
    for (; m < end; m += step)
        if (span_of(s, m, k)->psn_end > psn) return span_of(s, m, k);
    return NULL;
}

static uint32_t last_payload(const struct weft__span *span, uint32_t mtu) {
    return span->bytes - (span->psn_end - span->psn - 1) * mtu;
}

/// Finds the next part, or an earlier one again.
static __attribute__((noinline)) void find_now(const struct weft__endpoint *end, uint32_t qp, uint32_t psn) {
    const struct weft__sending *s = end->hosts->carrier[qp].sending;
    const struct weft__span *span = find_span(s, qp - s->qp, s->acked, s->filled, psn);
    assert(span && span->psn_end <= end->hosts->sender[qp].posted);
    end->hosts->carrier[qp].now = *span;
}

void weft__message_packet(struct weft__endpoint *end, uint32_t qp, struct weft_packet *p) {
    if (weft__rma_has(end, qp)) {
        weft__rma_packet(end, qp, p);
        return;
    }
    const struct weft__span *now = &end->hosts->carrier[qp].now;
    if (p->psn < now->psn || p->psn >= now->psn_end) find_now(end, qp, p->psn);
    uint32_t mtu = end->hosts->qp[qp].mtu;
    bool first = p->psn == now->psn, last = p->psn + 1 == now->psn_end;
    uint32_t payload = last ? last_payload(now, mtu) : mtu;
    p->bytes = (uint16_t)weft__message_frame_bytes(payload, first, end->hosts->data_header_bytes);
    if (first) p->flags |= WEFT_PACKET_FIRST;
    if (last) p->flags |= WEFT_PACKET_LAST | WEFT_PACKET_ACK_REQUEST;
}

weft_time_ps weft__message_pace(struct weft__endpoint *end, uint32_t qp, uint32_t psn, weft_time_ps next_ps) {
    if (weft__rma_has(end, qp)) return weft__rma_pace(end, qp, psn, next_ps);
    struct weft__carrier *carrier = &end->hosts->carrier[qp];
    if (psn == carrier->now.psn) carrier->next_ps = next_ps;
    return psn + 1 == carrier->now.psn_end ? carrier->next_ps : 0;
}

uint32_t weft__message_last_payload(const struct weft__endpoint *end, const struct weft_packet *p) {
    if (weft__rma_has(end, p->qp)) return weft__rma_last_payload(end, p);
    const struct weft__receiving *r = weft__programs_of(end)->receiving[p->qp];
    const struct weft__sending *s = weft__programs_of(end)->wire[r->connection].sending;
    uint32_t carrier = p->qp - r->qp, m = r->came[carrier] * (r->parts == 1 ? r->qps : 1u);
    const struct weft__span *span = find_span(s, carrier, m, UINT32_MAX, p->psn);
    assert(span->psn_end == p->psn + 1);
    return last_payload(span, end->hosts->qp[p->qp].mtu);
}

weft_time_ps weft__message_latency(const struct weft__endpoint *end, uint32_t qp, weft_time_ps now) {
    if (weft__rma_has(end, qp)) return 0;
    const struct weft__receiving *r = weft__programs_of(end)->receiving[qp];
    return r->latency_ps + (r->proxy_ps ? take_turn(r->program, now, r->proxy_ps) : 0);
}

uint32_t weft__message_came(const struct weft__endpoint *end, uint32_t qp) {
    if (weft__rma_has(end, qp)) return 1;
    struct weft__receiving *r = weft__programs_of(end)->receiving[qp];
    uint32_t before = r->whole;
    r->came[qp - r->qp]++;
    while (has_come(r, r->whole))
        r->whole++;
    return r->whole - before;
}

void weft__message_arrived(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                           uint32_t messages) {
    if (weft__rma_has(end, qp)) {
        weft__rma_arrived(node, end, w, qp);
        return;
    }
    struct weft__receiving *r = weft__programs_of(end)->receiving[qp];
    wake_receiving(&(struct weft__at){node, end, w, r->program}, r, messages);
}

static bool is_acked(const struct weft__endpoint *end, const struct weft__sending *s, uint32_t m) {
    for (uint32_t k = 0; k < s->parts; k++) {
        uint32_t qp = s->qp + carrier_of(s->qps, s->parts, m, k);
        if (span_of(s, m, k)->psn_end > end->hosts->sample[qp].seen) return false;
    }
    return true;
}

bool weft__message_completes(const struct weft__endpoint *end, uint32_t qp) {
    if (weft__rma_has(end, qp)) return true;
    struct weft__carrier *carrier = &end->hosts->carrier[qp];
    const struct weft__sending *s = carrier->sending;
    uint32_t una = weft__qp_acked(end->hosts, qp);
    if (una < carrier->part_end) return false;
    const struct weft__span *part = find_span(s, qp - s->qp, s->acked, s->filled, una);
    carrier->part_end = part ? part->psn_end : 0;
    return true;
}

bool weft__message_acked(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp) {
    if (weft__rma_has(end, qp)) {
        weft__rma_acked(node, end, w, qp);
        return false;
    }
    struct weft__sending *s = end->hosts->carrier[qp].sending;
    struct weft__at at = {node, end, w, s->program};
    uint32_t before = s->acked;
    for (; s->acked < s->posted && is_acked(end, s, s->acked); s->acked++) {
        s->left_bytes -= message_bytes(s, s->acked);
        at.p->in_flight_bytes -= message_bytes(s, s->acked);
    }
    if (s->acked != before) {
        weft__program_note(&at, WEFT_RANK_ACKED, s->connection, s->acked - 1, 0);
        wake_sending(&at, s);
    }
    return s->left_bytes == 0;
}

void weft__message_granted(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                           uint32_t granted) {
    struct weft__sending *s = end->hosts->carrier[qp].sending;
    struct weft__at at = {node, end, w, s->program};
    const weft_time_ps *granted_ps = weft__programs_of(end)->wire[s->connection].granted_ps;
    if (granted <= s->granted) return;
    weft__program_note(&at, WEFT_RANK_CLEARED, s->connection, granted - 1, 0);
    for (; s->granted < granted; s->granted++)
        weft_histogram_add(&at.p->waits->cts, w->now_ps - granted_ps[s->granted % s->slots]);
    post_messages(&at, s);
}

/// Posts one more buffer, and sends the clear-to-send for it.
static void post_receive(struct weft__at *at, struct weft__receiving *r) {
    weft__program_note(at, WEFT_RANK_CLEARS, r->connection, r->posted, 0);
    weft__programs_of(at->end)->wire[r->connection].granted_ps[r->posted++ % r->slots] = at->w->now_ps;
    at->end->hosts->ops->grant(at->node, at->end, at->w, r->qp, r->posted, (uint32_t)at->p->job->cts_priority, 0);
}

void weft__message_take(struct weft__at *at, struct weft__receiving *r, uint32_t bytes) {
    assert(r->qp == WEFT_NONE || has_come(r, r->consumed));
    r->consumed++;
    r->left_bytes -= bytes;
    if (r->qp == WEFT_NONE) {
        at->end->gpu->received_bytes += bytes;
        weft__program_note(at, WEFT_RANK_FREES, r->connection, r->consumed - 1, 0);
        credit_local(at, r);
        return;
    }
    at->end->hosts->ops->consumed(at->node, at->end, at->w, r->qp, r->left_bytes == 0);
    if (r->posted < r->due) post_receive(at, r);
}

void weft__message_skip_sent(const struct weft__hosts *hosts, struct weft__gpu *gpu, struct weft__sending *s,
                             struct weft__left_out out) {
    if (s->qp == WEFT_NONE) {
        gpu->sent_bytes += out.n * out.bytes;
        return;
    }
    s->left_bytes -= out.n * out.bytes;
    for (uint32_t part = 0; s->parts > 1 && part < s->parts; part++)
        hosts->receiver[s->qp + part].delivered_bytes += out.n * part_bytes(out.bytes, s->parts, part);
    // The first of them on each queue pair, then every so many after it.
    for (uint64_t i = 0; s->parts == 1 && i < s->qps && i < out.n; i++) {
        uint32_t qp = s->qp + carrier_of(s->qps, s->parts, (uint32_t)(s->filled + out.k + i), 0);
        hosts->receiver[qp].delivered_bytes += ((out.n - 1 - i) / s->qps + 1) * out.bytes;
    }
}

void weft__message_skip_taken(struct weft__gpu *gpu, struct weft__receiving *r, struct weft__left_out out) {
    r->left_bytes -= out.n * out.bytes;
    if (r->qp == WEFT_NONE)
        gpu->received_bytes += out.n * out.bytes;
    else if (!r->program->job->unadmitted)
        r->due -= (uint32_t)out.n;
}

void weft__message_expect(struct weft__at *at, const struct weft__stream *stream, uint32_t volume) {
    uint32_t rounds = 0;
    if (at->p->job->unadmitted) return;
    for (uint32_t k = 0; k < stream->receivings; k++) {
        struct weft__receiving *r = &stream->receiving[k];
        if (r->qp == WEFT_NONE) continue;
        assert(r->posted == r->due && r->consumed == r->due);
        r->due += r->messages[volume];
        uint32_t now = r->due - r->posted < r->slots ? r->due - r->posted : r->slots;
        if (now > rounds) rounds = now;
    }
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t k = 0; k < stream->receivings; k++) {
            struct weft__receiving *r = &stream->receiving[k];
            if (r->posted < r->due && r->posted - r->consumed == round && round < r->slots) post_receive(at, r);
        }
}

void weft__message_look(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp) {
    struct weft__receiving *r = weft__programs_of(end)->receiving[qp];
    bool moved = r->arrived != r->arrived_before;
    r->arrived_before = r->arrived;
    r->doublings = moved ? 0 : r->doublings < DOUBLINGS_MAX ? r->doublings + 1 : r->doublings;
    if (r->arrived == r->posted) return; // until the next one is posted
    bool lost = !moved && r->arrived == r->consumed;
    end->hosts->ops->grant(node, end, w, qp, lost ? r->posted : 0, (uint32_t)r->program->job->cts_priority,
                           r->doublings);
}
