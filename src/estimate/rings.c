// SPDX-License-Identifier: Apache-2.0
// An operation whose ranks pass pieces round a ring (all-reduce, all-gather, reduce-scatter) is one flow: all members
// send at one rate, that of the slowest hop, over all links of the ring together. It takes as long as its pieces do, or
// as the longest chain of pieces that wait for others does: each for the one before it on its way round the ring, or
// for a slot of its connection, which is free again when the clear-to-send is back; the slowest hop then sets the pace.
// The ring begins when the last member has come, and ends at all members at once. Where a piece and its way take about
// as long, chains are off by up to a quarter: such pieces are sent one by one, unless they are too many. So are small
// pieces that go within servers and between them. Channels of a rank take turns at its proxy, and at its port of
// NVLink.
//
// What a stage of a pipeline passes to the next one (a hop) is one flow, too, if it has many more pieces than there are
// slots. It begins when both stages have come to it and the clear-to-send is there; its sender goes on when only as
// many pieces are left as there are slots, and its receiver when the last one has arrived.
#include "estimate/rings.h"

#include <math.h>

#include "base/grow.h"

enum { SHORT = 8 }; ///< times one time may be another one, and is short beside it

struct ring {
    uint32_t flow;                 ///< of levels; WEFT_NONE: its messages are sent one by one
    uint32_t program, stream;      ///< of its first member
    uint32_t members, came, lanes; ///< lanes: of a member
    double way_ps, grant_ps;       ///< of a piece, mean of its hops; of the first clear-to-send
    double stall_ps;               ///< of a step, by which chains of pieces are longer
    double turns_ps, *turn_ps;     ///< of a step at the busiest proxy; [members] at each
    double loop_ps, slow_ps;       ///< of the hop whose slots are free again the latest: until one is, its way
    uint32_t loop_slots;           ///< of that hop
    double most;                   ///< rate of a member's lane at most, alone
    bool inner, mixed;             ///< all hops are within servers; some are
    bool fits;                     ///< is one flow
    uint32_t known;                ///< volume of the operations that these are of, + 1
    double steps, piece, volume;   ///< of the operation under way, bytes on the wire of a lane
    double pieces, at_once;        ///< of a lane: of a hop; of a step that share the line
    double packet;                 ///< bytes on the wire
    double slots;                  ///< bytes of all slots of a connection
    uint32_t *line, lines;         ///< where its members send, one for each lane
    weft_bytes sent_bytes;         ///< by the first member: with that, and these, hops were measured
    weft_time_ps latency_ps, inner_latency_ps;

    // Of a hop, whose first member is its sender.
    bool hop, drains;                        ///< drains: one is under way
    uint32_t receiver, sent, granted, begun; ///< receiver: its program; counts of operations
    double ack_ps;                           ///< from the end of a piece's drain until its slot is free
    double rest;                             ///< what drains after the sender has gone on; 0: it has
};

struct weft__rings {
    struct ring *ring;
    uint32_t rings, room;
    uint32_t *of_stream, *stream0; ///< by stream of the first member: number + 1; [programs] a program's first stream
    uint32_t *ring_of_flow, flow0, flows_room; ///< of levels, from flow0 on
    struct weft__crossed *crossed;             ///< of the ring that is looked at
    uint32_t crosseds, crossed_room;
    uint32_t *place; ///< [2 * links of levels]: of the link, or its load, in `crossed`, + 1
};

void weft__rings_new(struct weft__fluid *x) {
    const struct weft__programs *all = x->net.programs;
    uint32_t streams = 0;
    if (!all) return;
    x->rings = weft_arena_alloc(x->arena, 1, sizeof *x->rings);
    x->rings->stream0 = weft_arena_alloc(x->arena, all->n, sizeof *x->rings->stream0);
    for (uint32_t p = 0; p < all->n; p++) {
        x->rings->stream0[p] = streams;
        streams += all->program[p].job->communicators;
    }
    x->rings->of_stream = weft_arena_alloc(x->arena, streams, sizeof *x->rings->of_stream);
    x->rings->flow0 = x->net.qps;
    x->rings->place = weft_arena_alloc(x->arena, 2 * (size_t)x->levels.links, sizeof *x->rings->place);
}

void weft__rings_free(struct weft__fluid *x) {
    if (!x->rings) return;
    weft_memory_free(WEFT_MEMORY_QP, x->rings->ring, x->rings->room * sizeof *x->rings->ring);
    weft_memory_free(WEFT_MEMORY_QP, x->rings->crossed, x->rings->crossed_room * sizeof *x->rings->crossed);
    weft_memory_free(WEFT_MEMORY_QP, x->rings->ring_of_flow, x->rings->flows_room * sizeof(uint32_t));
}

/// Steps of such an operation; 0: it is none.
static uint32_t count_steps(const struct weft_job_op *op) {
    uint32_t n = op->shape.ranks;
    if (n < 3 || !op->ops->sent) return 0;
    if (op->ops->goal == WEFT_GOAL_ALL_REDUCE) return 2 * (n - 1);
    return op->ops->goal == WEFT_GOAL_ALL_GATHER || op->ops->goal == WEFT_GOAL_REDUCE_SCATTER ? n - 1 : 0;
}

/// What a lane of a member sends; false: not to one other member alone.
static bool find_sent(const struct weft_job_op *op, uint32_t number, uint32_t lane, struct weft_sent *ret) {
    struct weft_sent sent[WEFT_STEP_PEERS];
    if (op->ops->sent(op->conf, &op->shape, number, lane, sent) != 1 || !sent[0].messages) return false;
    *ret = sent[0];
    return true;
}

static const struct weft__receiving *receiving_of(const struct weft__fluid *x, const struct weft__sending *s) {
    return x->net.programs->wire[s->connection].receiving;
}

/// How long a piece of a connection is on its way, without its own length, which is `ret_wire` on the wire.
static double find_way(const struct weft__fluid *x, const struct weft__sending *s, weft_bytes piece, double *ret_wire) {
    const struct weft__way *way = &x->way[s->qp];
    const struct weft_host_conf *host = weft__fluid_host(x, x->net.qp[s->qp].dst);
    struct weft__poster idle = {0};
    uint32_t last;
    *ret_wire = weft__piece_wire(x, s->qp, piece, &last);
    return way->base_ps + way->byte_ps * last + (double)(s->hand_ps + receiving_of(x, s)->latency_ps) +
           (double)weft__notice_latency(host, false) + (double)weft__poster_take(&idle, host, 0, 0);
}

static double line_of(const struct weft__fluid *x, uint32_t qp) {
    return x->levels.link[x->levels.entry[x->levels.flow[qp].first].link].capacity;
}

static const struct weft__sending *sending_of(const struct weft__program *p, const struct weft_job_op *op,
                                              const struct weft_sent *sent) {
    uint32_t fellow = weft_job_fellow(op, p->rank, weft_job_number(op, p->rank), sent->peer);
    return &p->sending[weft_job_find_connection(p->job, p->rank, op->communicator, sent->channel, fellow) -
                       p->job->first[p->rank]];
}

/// Adds the links of a connection to those of the ring.
static void add_links(struct weft__fluid *x, uint32_t qp, uint32_t qps) {
    struct weft__rings *rings = x->rings;
    for (uint32_t q = qp; q < qp + qps; q++) {
        const struct weft__level_flow *f = &x->levels.flow[q];
        for (uint32_t e = f->first; e < f->first + f->entries; e++) {
            const struct weft__crossed *entry = &x->levels.entry[e];
            uint32_t *place = &rings->place[2 * entry->link + (entry->weight < 0)];
            if (!*place) {
                WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, rings->crossed, rings->crosseds, rings->crossed_room, 64) =
                    (struct weft__crossed){.link = entry->link};
                *place = rings->crosseds;
            }
            rings->crossed[*place - 1].weight += entry->weight / (float)qps;
        }
    }
}

/// The connection by which a lane of a member sends; NULL: it sends to not one other member alone.
static const struct weft__sending *find_sending(const struct weft__program *first, const struct weft_job_op *op,
                                                uint32_t member, uint32_t lane, struct weft_sent *ret) {
    uint32_t rank = weft_job_member(op, first->rank, member);
    if (!find_sent(op, weft_job_number(op, rank), lane, ret)) return NULL;
    return sending_of(first - first->rank + rank, op, ret);
}

/// Adds the links of all members; false: the operation is no ring, or its windows grow.
static bool look_at_members(struct weft__fluid *x, struct ring *r, const struct weft__program *first,
                            const struct weft_job_op *op) {
    uint32_t hops = 0, network = 0;
    double bound = INFINITY; // by windows
    struct weft_sent sent;
    r->lanes = op->ops->lanes(op->conf, &op->shape);
    for (uint32_t k = 0; k < r->members; k++)
        for (uint32_t lane = 0; lane < r->lanes; lane++) {
            const struct weft__sending *s = find_sending(first, op, k, lane, &sent);
            if (!s) return false;
            hops++;
            if (s->qp == WEFT_NONE) continue;
            if (x->way[s->qp].step > 0) return false;
            add_links(x, s->qp, s->qps);
            if (x->levels.flow[s->qp].most > 0) bound = fmin(bound, (double)x->levels.flow[s->qp].most * s->qps);
            if (!network++) r->turn_ps = weft_arena_alloc(x->arena, r->members, sizeof *r->turn_ps);
            if (!r->line) r->line = weft_arena_alloc(x->arena, (size_t)r->members * r->lanes, sizeof *r->line);
            r->line[r->lines++] = weft__fluid_line(x, s->qp);
        }
    r->inner = !network;
    r->mixed = network && network < hops;
    r->most = (double)first->job->server.rate_bps / 8 / (double)WEFT_PS_PER_S / r->lanes;
    if (network == hops) r->most = 0;
    if (bound < INFINITY) r->most = r->most > 0 ? fmin(r->most, bound) : bound;
    return true;
}

/// How much longer stalls make each step of the longest chain. Of the chains that lead through the members and steps of
/// a ring, the one with the most stalls has about sqrt(chance) a step (the longest increasing sequence of random
/// points; Hammersley, Sixth Berkeley Symposium, 1972).
static double stall_of(const struct weft_host_conf *host) {
    return (double)host->stall_ps * sqrt(host->stall_chance);
}

/// What a rank does with a piece before it passes it on: it adds what comes to its own, or keeps it (an all-reduce does
/// the one half of the time, and the other). From within its server it works on what arrives as it arrives.
static double work_of(const struct weft_job_op *op, weft_bytes piece, bool inner) {
    const struct weft_collective_common *c = op->conf;
    double time = (double)weft_job_step_time(op, piece), step = (double)c->step_ps;
    double adds = op->ops->goal == WEFT_GOAL_REDUCE_SCATTER ? 1 : op->ops->goal == WEFT_GOAL_ALL_GATHER ? 0 : 0.5;
    double cost = (1 + adds) * c->read_permille + (2 - adds) * c->write_permille;
    if (c->read_permille) time = step + (time - step) * cost / 1000;
    return inner && c->grain_bytes && c->grain_bytes < piece ? time * (double)c->grain_bytes / (double)piece : time;
}

/// A message over the network takes a turn at the proxies of both its ranks.
static void add_turns(const struct weft__fluid *x, struct ring *r, const struct weft_job_op *op,
                      const struct weft__sending *s) {
    const struct weft__receiving *to = receiving_of(x, s);
    r->turn_ps[weft_job_number(op, s->program->rank)] += (double)s->proxy_ps;
    r->turn_ps[weft_job_number(op, to->program->rank)] += (double)to->proxy_ps;
}

/// Times of the hops with pieces as of this operation.
static void measure_hops(struct weft__fluid *x, struct ring *r, const struct weft_job_op *op) {
    enum { MEMBERS = 64, MANY = 1 << 20 }; // many pieces: some seconds
    const struct weft__program *first = &x->net.programs->program[r->program];
    const struct weft_collective_common *common = op->conf;
    double longest = 0, shortest = INFINITY; // pieces, in lengths of their ways
    bool pauses = false, stalls = false;
    struct weft_sent sent = {.messages = 1};
    r->way_ps = r->grant_ps = r->loop_ps = r->stall_ps = r->turns_ps = 0;
    for (uint32_t k = 0; k < r->members && r->turn_ps; k++)
        r->turn_ps[k] = 0;
    r->loop_slots = 0;
    r->fits = false;
    r->latency_ps = common->latency_ps;
    r->inner_latency_ps = common->inner_latency_ps;
    for (uint32_t k = 0; k < r->members; k++) {
        double port_ps = 0; // of its lanes within the server, one message after another
        for (uint32_t lane = 0; lane < r->lanes; lane++) {
            const struct weft__sending *s = find_sending(first, op, k, lane, &sent);
            if (!s) return; // too small for all to have a piece
            if (s->qp == WEFT_NONE) {
                weft_bytes piece = sent.bytes / sent.messages;
                double length = (double)weft_time_of_bytes(piece, first->job->server.rate_bps);
                double way_ps = (double)(first->job->server.latency_ps + common->inner_latency_ps) + length;
                port_ps += common->idle_ps ? length + (double)common->idle_ps : 0;
                r->way_ps += way_ps + work_of(op, piece, true);
                continue;
            }
            add_turns(x, r, op, s);
            const struct weft__way *way = &x->way[s->qp];
            double wire, way_ps = find_way(x, s, sent.bytes / sent.messages, &wire);
            const struct weft_host_conf *host = weft__fluid_host(x, x->net.qp[s->qp].src);
            pauses |= wire / line_of(x, s->qp) < (double)host->work_request_qp_ps;
            r->stall_ps = fmax(r->stall_ps, stall_of(host));
            stalls |= stall_of(host) * SHORT > way_ps + wire / line_of(x, s->qp);
            double loop_ps = way_ps + way->control_ps - (double)s->hand_ps, part = wire / line_of(x, s->qp) / way_ps;
            r->way_ps += way_ps + work_of(op, sent.bytes / sent.messages, false);
            r->grant_ps = fmax(r->grant_ps, first->job->unadmitted ? 0 : way->control_ps);
            if (loop_ps * r->loop_slots >= r->loop_ps * s->slots) {
                r->loop_ps = loop_ps;
                r->slow_ps = way_ps;
                r->loop_slots = s->slots;
            }
            longest = fmax(longest, way->queue == WEFT_NONE ? part : INFINITY);
            if (way->queue != WEFT_NONE) part *= way_ps / (way_ps + (double)x->queue[way->queue].conf.loop_ps);
            shortest = fmin(shortest, part);
        }
        r->turns_ps = fmax(r->turns_ps, port_ps);
    }
    r->way_ps /= r->members * r->lanes;
    for (uint32_t k = 0; k < r->members && r->turn_ps; k++)
        r->turns_ps = fmax(r->turns_ps, r->turn_ps[k]);
    if (pauses) return;
    uint64_t pieces = sent.messages, steps = count_steps(op);
    bool few = pieces <= steps && 2 * pieces > steps && r->members >= MEMBERS; // one a step; ends do not matter
    bool many = r->members * r->lanes * (double)pieces > MANY;
    if (stalls && !many) return;
    r->fits = shortest > 1 || (few && !r->mixed && longest * SHORT < 1) || (many && longest < INFINITY);
}

/// A hop: from the first member to the next one.
static bool look_at_hop(struct weft__fluid *x, struct ring *r, const struct weft__program *p,
                        const struct weft_job_op *op) {
    struct weft_sent sent;
    uint32_t number = weft_job_number(op, p->rank);
    if (op->ops->lanes(op->conf, &op->shape) != 2 || !find_sent(op, number, 0, &sent)) return false;
    const struct weft__sending *s = sending_of(p, op, &sent);
    if (s->qp == WEFT_NONE || x->way[s->qp].step > 0 || sent.messages < 4 * s->slots) return false;
    double wire, control_ps = x->way[s->qp].control_ps;
    r->way_ps = find_way(x, s, sent.bytes / sent.messages, &wire);
    const struct weft_host_conf *host = weft__fluid_host(x, x->net.qp[s->qp].src);
    if (wire / line_of(x, s->qp) < (double)host->work_request_qp_ps) return false;
    if (stall_of(host) * SHORT > r->way_ps) return false;
    r->hop = true;
    r->lanes = 1;
    r->receiver = (uint32_t)(p - x->net.programs->program) + s->peer - p->rank;
    r->grant_ps = p->job->unadmitted ? 0 : control_ps;
    r->ack_ps = r->way_ps + control_ps;
    r->most = s->slots * wire / (wire / line_of(x, s->qp) + r->ack_ps + r->grant_ps);
    add_links(x, s->qp, s->qps);
    r->line = weft_arena_alloc(x->arena, 1, sizeof *r->line);
    r->line[r->lines++] = weft__fluid_line(x, s->qp);
    return true;
}

/// That of an operation at a program: the first member of a ring, or the sender of a hop.
static struct ring *ring_of(struct weft__fluid *x, const struct weft__program *first, uint32_t stream,
                            const struct weft_job_op *op, bool hop) {
    struct weft__rings *rings = x->rings;
    uint32_t program = (uint32_t)(first - x->net.programs->program);
    uint32_t *number = &rings->of_stream[rings->stream0[program] + stream];
    if (*number) return &rings->ring[*number - 1];
    struct ring r = {.flow = WEFT_NONE, .program = program, .stream = stream, .members = op->shape.ranks};
    if ((hop ? look_at_hop : look_at_members)(x, &r, first, op)) {
        uint32_t at = x->levels.flows - rings->flow0;
        r.flow = weft__levels_add_flow(&x->levels, rings->crossed, rings->crosseds, r.most);
        weft__fluid_add_drain(x, r.flow);
        WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, rings->ring_of_flow, at, rings->flows_room, 64) = rings->rings;
    }
    while (rings->crosseds) {
        const struct weft__crossed *last = &rings->crossed[--rings->crosseds];
        rings->place[2 * last->link + (last->weight < 0)] = 0;
    }
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, rings->ring, rings->rings, rings->room, 64) = r;
    *number = rings->rings;
    return &rings->ring[rings->rings - 1];
}

/// Data of a lane of an operation, as on the wire.
static void find_volume(struct weft__fluid *x, struct ring *r, const struct weft_job_op *op) {
    const struct weft__program *p = &x->net.programs->program[r->program];
    struct weft_sent sent = {.messages = 1};
    uint32_t last;
    if (r->known == op->volume + 1) return;
    r->known = op->volume + 1;
    if (!find_sent(op, weft_job_number(op, p->rank), 0, &sent)) { // too small for that
        r->fits = false;
        r->sent_bytes = 0;
        return;
    }
    const struct weft__sending *s = sending_of(p, op, &sent);
    double bytes = (double)sent.bytes / (double)sent.messages, steps = count_steps(op);
    bool network = s->qp != WEFT_NONE;
    r->piece = network ? weft__piece_wire(x, s->qp, (weft_bytes)bytes, &last) : bytes;
    r->packet = network ? weft__piece_wire(x, s->qp, x->net.qp[s->qp].mtu, &last) : bytes;
    bool alike = sent.bytes == r->sent_bytes && sent.messages == (uint64_t)r->pieces;
    r->sent_bytes = sent.bytes;
    r->pieces = (double)sent.messages;
    r->volume = r->piece * r->pieces;
    r->slots = fmin(r->piece * s->slots, r->volume / 2);
    if (r->hop) return;
    const struct weft_collective_common *common = op->conf;
    alike &= common->latency_ps == r->latency_ps && common->inner_latency_ps == r->inner_latency_ps;
    if (!alike) measure_hops(x, r, op);
    r->steps = steps * fmax(ceil((double)sent.bytes / (steps * (double)common->chunk_bytes)), 1);
    r->at_once = network && s->parts == 1 ? fmin(s->qps, ceil(r->pieces / r->steps)) : 1;
}

/// How long the longest chain of pieces takes, each of `own_ps`. A piece goes round the ring; pieces of a step on queue
/// pairs of their own share the line, until one is ahead of the others, by a packet more with each step. Or a piece
/// waits for a slot of the slowest hop: after the last one that does, it has that hop before it.
static double find_chain(const struct ring *r, double own_ps) {
    double packet_ps = fmin(own_ps / r->piece * r->packet, own_ps), step_ps = own_ps + r->way_ps + r->stall_ps;
    double shared = fmin(r->steps, own_ps / packet_ps);
    double round = r->steps * step_ps + (r->at_once - 1) * shared * (own_ps - packet_ps * (shared - 1) / 2);
    round = fmax(round, (r->pieces - 1) * r->turns_ps + step_ps);
    if (!r->loop_slots) return round;
    double waits = floor((r->pieces - 1) / r->loop_slots);
    double rest = r->steps * (1 - waits * r->loop_slots / fmax(r->pieces, r->steps)) - 1;
    return fmax(round, waits * (own_ps + r->loop_ps) + own_ps + r->slow_ps + fmax(rest, 0) * step_ps);
}

/// When all have the last piece of a ring whose lanes have drained after `took_ps`.
static void note_end(struct weft__fluid *x, const struct ring *r, double took_ps, weft_time_ps drained) {
    double chain_ps = find_chain(r, fmax(took_ps, 1) / r->pieces / r->lanes);
    weft__fluid_note(x, drained + weft_time_of_real(r->grant_ps + fmax(r->way_ps, chain_ps - took_ps)),
                     WEFT__FLUID_RING, (uint32_t)(r - x->rings->ring));
}

/// Its queue pairs take turns with others of its members' NICs, from now on or no more.
static void take_turns(struct weft__fluid *x, const struct ring *r, bool begins) {
    int32_t pairs = (int32_t)x->drain[r->flow].pairs;
    for (uint32_t i = 0; i < r->lines; i++)
        weft__fluid_turns(x, r->line[i], begins ? pairs : -pairs);
}

static void begin_turns(struct weft__fluid *x, const struct ring *r, uint32_t pairs, double volume) {
    x->drain[r->flow].pairs = pairs;
    take_turns(x, r, true);
    weft__fluid_begin(x, r->flow, volume);
    weft__levels_share(&x->levels, r->flow, weft__rings_share(x, r->flow));
}

/// The last member has come. Only this ring uses the network inside its server.
static void begin_ring(struct weft__fluid *x, struct ring *r) {
    r->came = 0;
    if (r->inner) {
        weft_time_ps took = weft_time_of_real(r->volume / r->most + 0.5);
        note_end(x, r, (double)took, x->now_ps + took);
    } else {
        begin_turns(x, r, (uint32_t)fmax(r->at_once, 1), r->volume);
    }
}

static void begin_hop(struct weft__fluid *x, struct ring *r) {
    if (r->drains || r->begun == r->sent || r->begun == r->granted) return;
    find_volume(x, r, x->net.programs->program[r->receiver].stream[r->stream].op); // the sender may be at a later one
    r->begun++;
    r->drains = true;
    r->rest = r->slots;
    begin_turns(x, r, 1, r->volume - r->rest);
}

/// A stage has come to its part of a hop.
static bool take_hop(struct weft__fluid *x, const struct weft__at *at, uint32_t stream) {
    const struct weft__stream *st = &at->p->stream[stream];
    const struct weft_job_op *op = st->op;
    const struct weft__program *sender = at->p;
    bool sends = st->part == WEFT_TURN_SEND;
    if (st->part == WEFT_TURN_WHOLE || op->goal != WEFT_GOAL_NEXT || !op->ops->sent || op->group) return false;
    uint32_t before = (st->number ? st->number : op->shape.ranks) - 1;
    if (!sends) sender = at->p - at->p->rank + weft_job_fellow(op, at->p->rank, st->number, before);
    struct ring *r = ring_of(x, sender, stream, op, true);
    if (r->flow == WEFT_NONE) return false;
    if (sends)
        r->sent++;
    else
        weft__fluid_note(x, x->now_ps + weft_time_of_real(r->grant_ps), WEFT__FLUID_HOP_GRANT,
                         (uint32_t)(r - x->rings->ring));
    begin_hop(x, r);
    return true;
}

bool weft__rings_take(struct weft__at *at, uint32_t stream) {
    struct weft__fluid *x = at->w->notes;
    struct weft__stream *st = &at->p->stream[stream];
    if (!x->rings || at->p->job->split) return false;
    if (take_hop(x, at, stream)) return true;
    if (st->part != WEFT_TURN_WHOLE || !count_steps(st->op)) return false;
    const struct weft__program *first = at->p - at->p->rank + weft_job_member(st->op, at->p->rank, 0);
    struct ring *r = ring_of(x, first, stream, st->op, false);
    if (r->flow == WEFT_NONE) return false;
    find_volume(x, r, st->op);
    if (!r->fits) return false;
    if (++r->came == r->members) begin_ring(x, r);
    return true;
}

static double hop_drained(struct weft__fluid *x, struct ring *r, uint32_t number) {
    double rest = r->rest;
    if (rest > 0) {
        r->rest = 0;
        weft__fluid_note(x, x->now_ps + weft_time_of_real(r->ack_ps), WEFT__FLUID_HOP_SENT, number);
        weft__fluid_begin(x, r->flow, rest);
        return r->volume - rest;
    }
    r->drains = false;
    weft__levels_end(&x->levels, r->flow);
    take_turns(x, r, false);
    weft__fluid_note(x, x->now_ps + weft_time_of_real(r->way_ps), WEFT__FLUID_HOP_CAME, number);
    rest = r->slots;
    begin_hop(x, r);
    return rest;
}

float weft__rings_share(const struct weft__fluid *x, uint32_t flow) {
    const struct ring *r = &x->rings->ring[x->rings->ring_of_flow[flow - x->rings->flow0]];
    float share = 1;
    for (uint32_t i = 0; i < r->lines; i++)
        if (r->line[i] != WEFT_NONE && x->line[r->line[i]].active)
            share = fminf(share, (float)x->drain[flow].pairs / (float)x->line[r->line[i]].active);
    return share;
}

double weft__rings_drained(struct weft__fluid *x, uint32_t flow) {
    uint32_t number = x->rings->ring_of_flow[flow - x->rings->flow0];
    if (x->rings->ring[number].hop) return hop_drained(x, &x->rings->ring[number], number);
    const struct ring *r = &x->rings->ring[number];
    weft__levels_end(&x->levels, flow);
    take_turns(x, r, false);
    note_end(x, r, (double)(x->now_ps - x->drain[flow].begun_ps), x->now_ps);
    return r->volume;
}

static void end_at(struct weft__fluid *x, struct weft__program *p, uint32_t stream) {
    struct weft__at at = {&x->node, &x->end[p->job->host[p->rank]], weft__fluid_worker(x), p};
    weft__stream_end(&at, stream);
}

void weft__rings_on(struct weft__fluid *x, enum weft__fluid_what what, uint32_t number) {
    const struct ring r = x->rings->ring[number];
    struct weft__program *first = &x->net.programs->program[r.program];
    if (what == WEFT__FLUID_HOP_GRANT) {
        x->rings->ring[number].granted++;
        begin_hop(x, &x->rings->ring[number]);
    } else if (what != WEFT__FLUID_RING) {
        end_at(x, what == WEFT__FLUID_HOP_SENT ? first : &x->net.programs->program[r.receiver], r.stream);
    } else {
        const struct weft_job_op *op = first->stream[r.stream].op;
        for (uint32_t k = 0; k < r.members; k++)
            end_at(x, first - first->rank + weft_job_member(op, first->rank, k), r.stream);
    }
}
