// SPDX-License-Identifier: Apache-2.0
// A flow alone in the empty Ethernet network, frame by frame. Ports are tandem queues: a frame starts when it is there
// and the one before it has left, and nothing is lost, paused or acknowledged. What chooses paths (route models with
// their state, spraying senders, planes) is asked as in a run, at the same times and in the same order, so a run of
// this flow alone with `cc: none` takes exactly this long. Frames of long flows repeat: of those, three shorter flows
// are followed, and if their times grow evenly, the rest grows so, too.
#include "sim/lone.h"

#include <assert.h>
#include <math.h>

#include "base/grow.h"
#include "box/clock.h"
#include "weft/memory.h"
#include "weft/transport.h"

enum {
    FRAMES_WHOLE = 512,   ///< flows up to this length are followed to the end
    FRAMES_MAX = 1 << 20, ///< and no flow beyond this length
    FRAMES_HEAD = 192,    ///< at least so many frames of a shortened flow
    TURNS = 96,           ///< a multiple of most numbers of paths that packets take in turn
    STATES_MAX = 1 << 16,
};

struct frame {
    weft_time_ps at_ps;            ///< when the node behind its port acts on it
    weft_time_ps start_ps, end_ps; ///< on its port
    uint32_t next;                 ///< in the same queue
    uint32_t out;                  ///< port that it waits for
    uint16_t bytes, entropy, qp;   ///< qp: of the flow
    uint8_t plane;
    bool waited;
};

/// A port, all zero until the flow has used it.
struct line {
    struct weft__lone_hop hop;
    bool known, touched;
    uint64_t byte_rem;
    weft_time_ps free_ps;
    struct weft__pipe pipe; ///< as if no other port shared it
    struct members {
        weft_time_ps released_ps, until_ps[];
    } * members;
    // what a route model may ask of it: frames that have not left, in order
    uint32_t waiting;
    weft_bytes waiting_bytes;
    weft_time_ps sending_ps; ///< end of the last frame that has begun
};

struct queue {
    uint32_t first, last; ///< frames on their way to the node behind a port, by time
};

/// A queue pair at its sender.
struct sender {
    weft_time_ps start_ps, end_ps; ///< end: its last frame has come
    struct weft_qp_conf qp;        ///< of a shortened flow
    struct weft_qp_sender line;
    void *state;
    uint32_t sent, next; ///< next: in the list of a plane
    uint8_t plane;
};

struct plane {
    uint32_t port;
    uint32_t ready, ready_last, ready_qps; ///< queue pairs that may send, and how many
};
enum { PLANES_MAX = 32 };

struct weft__lone {
    struct weft__forwarding forwarding; ///< with route states of its own
    struct line *line;                  ///< [ports]
    struct queue *queue;                ///< [2 * ports]: on the wire; being received whole by a cut-through switch
    struct weft__timers timers;
    struct frame *frame;
    uint32_t frames, frames_capacity, free; ///< free: list of frames that have come
    uint32_t *touched, touches;             ///< ports
    weft_rate_bps rate_least;               ///< of any link
    double clock_ppm;                       ///< the most that a clock may be too fast
    uint64_t parts; ///< so many frames of one length take a whole number of ps on every link; 0: too many
    uint32_t states[STATES_MAX], states_n;
    struct weft_arena *arena;      ///< of the network
    struct weft_arena *arena_flow; ///< of a flow
    // the flow
    const struct weft__lone_flow *flow;
    const struct weft_host_conf *host;
    const struct weft_transport_ops *transport;
    struct sender *sender;
    struct plane plane[PLANES_MAX];
    uint32_t *order;                                   ///< of queue pairs, as they start
    uint32_t src, dst, planes, senders, begun, offset; ///< offset: of hosts from plane to plane
    uint32_t kind, node;                               ///< node: at which a route is chosen
    weft_time_ps now_ps, drained_ps;
    bool unreachable, gaps; ///< gaps: see weft__frame_gap
};

struct weft__lone_hop weft__lone_hop_of(const struct weft__forwarding *forwarding, uint32_t port) {
    const struct weft_topology *t = forwarding->t;
    const struct weft_port_info *info = &t->port[port];
    const struct weft_link_info *link = &t->link[info->link];
    const struct weft_device_conf *sender = forwarding->device[info->node];
    uint32_t peer = t->port[info->peer].node;
    struct weft__box_reaction r = weft__box_at(t, info->peer)->reaction(forwarding->device[peer], t, info->peer);
    bool host = t->node[info->node].role == WEFT_NODE_HOST;
    return (struct weft__lone_hop){
        .speed = weft__clock_speed(t, forwarding->device, forwarding->seed, port),
        .reach_ps = link->delay_ps + r.processing_ps,
        .members = link->members,
        .cut_through = r.cut_through && link->members < 2,
        .turn = host ? weft__turn_of(0, 1) : weft__turn_of(sender->sw.packet_rate, sender->sw.pipes),
        .wire = host ? &sender->host.wire : &sender->sw.wire,
    };
}

// --- frames and queues --------------------------------------------------------------------------------------------

static uint32_t frame_new(struct weft__lone *x) {
    uint32_t f = x->free;
    if (f != WEFT_NONE) {
        x->free = x->frame[f].next;
        return f;
    }
    x->frame =
        weft__memory_double(WEFT_MEMORY_RESULT, x->frame, x->frames, &x->frames_capacity, 1024, sizeof *x->frame);
    return x->frames++;
}

static void frame_free(struct weft__lone *x, uint32_t f) {
    x->frame[f].next = x->free;
    x->free = f;
}

static void queue_push(struct weft__lone *x, uint32_t key, uint32_t f) {
    struct queue *q = &x->queue[key];
    x->frame[f].next = WEFT_NONE;
    if (q->first == WEFT_NONE) {
        q->first = f;
        weft__timer_set(&x->timers, key, x->frame[f].at_ps);
    } else {
        x->frame[q->last].next = f;
    }
    q->last = f;
}

static uint32_t queue_pop(struct weft__lone *x, uint32_t key) {
    struct queue *q = &x->queue[key];
    uint32_t f = q->first;
    q->first = x->frame[f].next;
    if (q->first == WEFT_NONE)
        weft__timer_cancel(&x->timers, key);
    else
        weft__timer_set(&x->timers, key, x->frame[q->first].at_ps);
    return f;
}

static struct line *line_of(struct weft__lone *x, uint32_t port) {
    struct line *line = &x->line[port];
    if (!line->known) {
        line->hop = weft__lone_hop_of(&x->forwarding, port);
        line->hop.speed = weft__speed_of(x->forwarding.t->link[x->forwarding.t->port[port].link].rate_bps);
        line->known = true;
    }
    if (!line->touched) {
        x->touched[x->touches++] = port;
        line->touched = true;
        line->waiting = WEFT_NONE;
        if (line->hop.members > 1)
            line->members = weft_arena_alloc(
                x->arena_flow, 1, sizeof *line->members + line->hop.members * sizeof *line->members->until_ps);
    }
    return line;
}

// --- a frame takes a port -----------------------------------------------------------------------------------------

/// As weft__members_take: sets when the port is free; returns when the frame is released.
static weft_time_ps take_member(struct line *line, weft_time_ps start, weft_time_ps time) {
    struct members *m = line->members;
    uint32_t n = line->hop.members, first = 0;
    for (uint32_t k = 1; k < n; k++)
        if (m->until_ps[k] < m->until_ps[first]) first = k;
    m->until_ps[first] = start + n * time;
    weft_time_ps last_bit = m->until_ps[first] - n * weft__speed_time(line->hop.speed, WEFT__GAP);
    line->free_ps = m->until_ps[first];
    for (uint32_t k = 0; k < n; k++)
        if (m->until_ps[k] < line->free_ps) line->free_ps = m->until_ps[k];
    if (line->free_ps < start) line->free_ps = start;
    if (m->released_ps + time > last_bit) last_bit = m->released_ps + time;
    return m->released_ps = last_bit;
}

/// The frame starts; returns when its last bit leaves. As weft__port_take and weft__wire_take.
static weft_time_ps take_line(struct line *line, weft_time_ps start, uint32_t bytes) {
    const struct weft_wire_conf *wire = line->hop.wire;
    if (start != line->free_ps) line->byte_rem = 0;
    uint64_t overhead = line->members ? WEFT_WIRE_OVERHEAD : wire->overhead_bytes;
    uint64_t num = (bytes + overhead) * line->hop.speed.byte_num + line->byte_rem;
    weft_time_ps time = num / line->hop.speed.byte_den;
    line->byte_rem = wire->serialisation == WEFT_SERIALISATION_EXACT ? num % line->hop.speed.byte_den : 0;
    if (line->members) return take_member(line, start, time);
    line->free_ps = start + weft_wire_round(wire, time);
    uint64_t gap = overhead > WEFT__PREAMBLE ? overhead - WEFT__PREAMBLE : 0;
    return line->free_ps - weft_wire_round(wire, weft__speed_time(line->hop.speed, gap));
}

static void send_frame(struct weft__lone *x, uint32_t port, uint32_t f, weft_time_ps now) {
    struct line *line = line_of(x, port);
    struct frame *frame = &x->frame[f];
    frame->start_ps = now > line->free_ps ? now : line->free_ps;
    frame->waited = frame->start_ps > now;
    weft_time_ps last_bit = take_line(line, frame->start_ps, frame->bytes);
    weft_time_ps over = weft__pipe_take(&line->pipe, &line->hop.turn, frame->start_ps);
    if (line->free_ps < over) line->free_ps = over;
    frame->end_ps = line->free_ps;
    if (line->hop.cut_through && frame->bytes > WEFT__HEADER)
        last_bit = frame->start_ps + weft__speed_time(line->hop.speed, WEFT__PREAMBLE + WEFT__HEADER);
    frame->at_ps = last_bit + line->hop.reach_ps;
    if (line->waiting == WEFT_NONE) line->waiting = f;
    line->waiting_bytes += frame->bytes;
    queue_push(x, x->forwarding.t->port[port].peer, f);
}

/// Frames that have begun by now no longer wait. A frame that waited begins after all that comes at the same time.
static void let_begin(struct weft__lone *x, struct line *line) {
    for (; line->waiting != WEFT_NONE; line->waiting = x->frame[line->waiting].next) {
        const struct frame *frame = &x->frame[line->waiting];
        if (frame->start_ps + frame->waited > x->now_ps) return;
        line->waiting_bytes -= frame->bytes;
        line->sending_ps = frame->end_ps;
    }
}

/// As a switch's depth_at.
static weft_bytes depth_at(const void *context, uint32_t k, uint32_t priority) {
    struct weft__lone *x = *(struct weft__lone *const *)context;
    struct line *line = line_of(x, x->forwarding.t->node[x->node].port0 + k);
    let_begin(x, line);
    weft_time_ps busy = line->sending_ps > x->now_ps ? line->sending_ps - x->now_ps : 0;
    return line->waiting_bytes + busy * line->hop.speed.byte_den / line->hop.speed.byte_num;
}

// --- a frame arrives ----------------------------------------------------------------------------------------------

static void make_route_state(struct weft__lone *x, uint32_t node) {
    const struct weft_topology *t = x->forwarding.t;
    uint32_t sw = t->node[node].index;
    const struct weft_switch_conf *conf = &x->forwarding.device[node]->sw;
    const struct weft_route_ops *ops = conf->route.model->ops;
    if (x->forwarding.route_state[sw] || !ops->choose) return;
    void *state = weft__route_state_new(t, node, conf, x->forwarding.routes->edges, x->forwarding.seed, x->arena_flow);
    if (ops->program && x->forwarding.programmed && x->forwarding.programmed[sw])
        ops->program->copy(state, x->forwarding.programmed[sw]);
    x->forwarding.route_state[sw] = state;
    if (x->states_n < STATES_MAX) x->states[x->states_n++] = sw;
}

/// The port by which the frame leaves this switch; WEFT_NONE: none.
static uint32_t route_frame(struct weft__lone *x, const struct frame *frame, uint32_t node, uint32_t in) {
    make_route_state(x, node);
    const struct weft_qp_conf *qp = &x->flow->qp[frame->qp];
    struct weft_packet p = {
        .time_ps = x->now_ps,
        .dst = x->dst + frame->plane * x->offset,
        .qp = x->flow->number + frame->qp,
        .entropy = frame->entropy & 0x3fffu,
        .bytes = frame->bytes,
        .kind = x->kind & 15u,
        .port = (uint16_t)in,
        .priority = qp->priority & 7u,
    };
    x->node = node;
    uint32_t k = weft__forwarding_port(&x->forwarding, node, &p);
    assert(k == WEFT_NONE || k < x->forwarding.t->node[node].ports);
    return k == WEFT_NONE ? k : x->forwarding.t->node[node].port0 + k;
}

static void take_in(struct weft__lone *x, uint32_t f) {
    const struct frame *frame = &x->frame[f];
    weft_time_ps end = frame->at_ps;
    if (x->host->drain_rate_bps) {
        if (end < x->drained_ps) end = x->drained_ps;
        x->drained_ps = end = weft_time_plus(end, weft__drain_time(x->host, frame->bytes));
    }
    struct sender *s = &x->sender[frame->qp];
    assert(end >= x->now_ps);
    if (end > s->end_ps) s->end_ps = end;
    frame_free(x, f);
}

static void on_frame(struct weft__lone *x, uint32_t key) {
    const struct weft_topology *t = x->forwarding.t;
    bool deferred = key >= t->ports;
    uint32_t port = deferred ? key - t->ports : key, node = t->port[port].node;
    struct line *behind = &x->line[t->port[port].peer];
    if (behind->waiting == x->queue[key].first) let_begin(x, behind);
    uint32_t f = queue_pop(x, key);
    if (deferred) {
        send_frame(x, x->frame[f].out, f, x->now_ps);
        return;
    }
    if (t->node[node].role == WEFT_NODE_HOST) {
        take_in(x, f);
        return;
    }
    uint32_t out = route_frame(x, &x->frame[f], node, port - t->node[node].port0);
    if (out == WEFT_NONE) {
        x->unreachable = true;
        frame_free(x, f);
        return;
    }
    uint32_t bytes = x->frame[f].bytes;
    const struct line *ahead = line_of(x, out);
    weft_time_ps whole = x->now_ps;
    if (behind->hop.cut_through && bytes > WEFT__HEADER)
        whole += weft__speed_time(behind->hop.speed, bytes - WEFT__HEADER);
    bool idle = ahead->free_ps <= x->now_ps + weft__speed_time(ahead->hop.speed, WEFT__GAP);
    if (idle ? !weft__speed_is_faster(ahead->hop.speed, behind->hop.speed) : ahead->free_ps >= whole)
        whole = x->now_ps; // as weft__switch_keeps_back
    if (whole == x->now_ps) {
        send_frame(x, out, f, x->now_ps);
        return;
    }
    x->frame[f].out = out;
    x->frame[f].at_ps = whole;
    queue_push(x, t->ports + port, f);
}

// --- the sender's NIC ---------------------------------------------------------------------------------------------

static weft_time_ps plane_free(struct weft__lone *x, uint32_t plane) {
    return line_of(x, x->plane[plane].port)->free_ps;
}

/// As turn_of in nic_planes.c.
static weft_time_ps turn_of(struct weft__lone *x, uint32_t plane, uint32_t bytes) {
    struct line *line = line_of(x, x->plane[plane].port);
    weft_time_ps free = line->free_ps > x->now_ps ? line->free_ps : x->now_ps;
    return free + x->plane[plane].ready_qps * weft__speed_time(line->hop.speed, bytes);
}

/// As weft__nic_plane_of.
static uint32_t choose_plane(struct weft__lone *x, uint32_t q) {
    uint32_t first = x->sender[q].plane, best = first, bytes = x->sender[q].qp.mtu;
    if (x->host->planes != WEFT_PLANES_PACKET || x->kind == WEFT_PACKET_READ) return first;
    for (uint32_t k = 1; k < x->planes; k++) {
        uint32_t plane = (first + k) % x->planes;
        weft_time_ps at = turn_of(x, plane, bytes), best_ps = turn_of(x, best, bytes);
        if (at != best_ps ? at < best_ps : plane_free(x, plane) < plane_free(x, best)) best = plane;
    }
    return best;
}

/// The plane that the queue pair waits for.
static uint32_t make_ready(struct weft__lone *x, uint32_t q) {
    uint32_t number = choose_plane(x, q);
    struct plane *plane = &x->plane[number];
    x->sender[q].next = WEFT_NONE;
    if (plane->ready == WEFT_NONE)
        plane->ready = q;
    else
        x->sender[plane->ready_last].next = q;
    plane->ready_last = q;
    plane->ready_qps++;
    return number;
}

static struct weft_transport_fact fact_of(struct weft__lone *x, uint32_t q, uint32_t plane) {
    return (struct weft_transport_fact){
        .now_ps = x->now_ps,
        .conf = x->host->transport.conf,
        .qp = &x->flow->qp[q],
        .state = x->sender[q].state,
        .plane = (uint8_t)plane,
        .planes = x->host->planes == WEFT_PLANES_PACKET ? (uint8_t)x->planes : 1,
    };
}

static void send_next(struct weft__lone *x, uint32_t number);

/// The queue pair waits for a plane. A free plane sends at once, unless the caller is about to ask it (`asked`).
static void join_plane(struct weft__lone *x, uint32_t q, uint32_t asked) {
    uint32_t number = make_ready(x, q);
    if (number != asked && plane_free(x, number) <= x->now_ps) send_next(x, number);
}

static void start_sender(struct weft__lone *x, uint32_t q) {
    struct sender *s = &x->sender[q];
    if (x->kind == WEFT_PACKET_DATA && x->transport->path) {
        s->state = weft_arena_alloc(x->arena_flow, 1, x->transport->sender_size(x->host->transport.conf));
        struct weft_transport_fact fact = fact_of(x, q, 0);
        x->transport->on_start(&s->line, &fact);
    }
    join_plane(x, q, WEFT_NONE);
}

static void send_next(struct weft__lone *x, uint32_t number) {
    struct plane *plane = &x->plane[number];
    uint32_t q = plane->ready, f = frame_new(x);
    struct sender *s = &x->sender[q];
    plane->ready = s->next;
    plane->ready_qps--;
    uint32_t framing = weft_host_framing_bytes(x->host), header = (uint32_t)x->host->data_header_bytes;
    bool data = x->kind == WEFT_PACKET_DATA;
    struct frame *frame = &x->frame[f];
    *frame = (struct frame){.qp = (uint16_t)q, .plane = (uint8_t)number, .entropy = s->qp.entropy};
    frame->bytes = (uint16_t)((data ? weft__qp_frame_bytes(&s->qp, s->sent, header) : WEFT_FRAME_READ) + framing);
    if (s->state) {
        struct weft_transport_fact fact = fact_of(x, q, number);
        frame->entropy = x->transport->path(&fact);
    }
    s->sent++;
    send_frame(x, plane->port, f, x->now_ps);
    if (data && x->gaps) {
        struct line *line = line_of(x, plane->port);
        weft_time_ps until = x->now_ps + weft__frame_gap(x->host, x->frame[f].bytes);
        if (line->free_ps < until) line->free_ps = until;
    }
    if (data && x->host->planes == WEFT_PLANES_PACKET) s->plane = (uint8_t)((number + 1) % x->planes);
    if (s->sent < (data ? s->qp.packets : 1)) join_plane(x, q, number);
}

/// The time of the NIC's next action, and the plane that sends, or WEFT_NONE for a queue pair that starts.
static weft_time_ps next_action(struct weft__lone *x, uint32_t *ret_plane) {
    weft_time_ps next = WEFT_TIME_NEVER;
    *ret_plane = WEFT_NONE;
    if (x->begun < x->senders) next = x->sender[x->order[x->begun]].start_ps;
    for (uint32_t k = 0; k < x->planes; k++) {
        if (x->plane[k].ready == WEFT_NONE) continue;
        weft_time_ps at = plane_free(x, k);
        if (at < x->now_ps) at = x->now_ps;
        if (at > next || (at == next && *ret_plane != WEFT_NONE)) continue;
        next = at; // at equal times a port sends before another queue pair starts
        *ret_plane = k;
    }
    return next;
}

// --- a flow -------------------------------------------------------------------------------------------------------

static void forget_flow(struct weft__lone *x) {
    for (uint32_t i = 0; i < x->touches; i++) {
        struct line *line = &x->line[x->touched[i]];
        *line = (struct line){.hop = line->hop, .known = true};
    }
    for (uint32_t i = 0; i < x->states_n; i++)
        x->forwarding.route_state[x->states[i]] = NULL;
    x->touches = x->states_n = 0;
    weft_arena_free(x->arena_flow);
    x->arena_flow = NULL;
}

/// Sends all frames of all queue pairs, data or requests for it; their senders have what and when.
static void run_senders(struct weft__lone *x, uint32_t src, uint32_t dst, uint32_t kind) {
    const struct weft_topology *t = x->forwarding.t;
    x->kind = kind;
    x->src = src;
    x->dst = dst;
    for (uint32_t k = 0; k < x->planes; k++)
        x->plane[k] = (struct plane){t->node[t->host[src + k * x->offset]].port0, WEFT_NONE, WEFT_NONE, 0};
    x->begun = 0;
    x->now_ps = x->drained_ps = 0;
    for (;;) {
        uint32_t plane;
        weft_time_ps own = next_action(x, &plane), frames = weft__timers_next(&x->timers);
        if (own == WEFT_TIME_NEVER && frames == WEFT_TIME_NEVER) return;
        x->now_ps = own < frames ? own : frames;
        if (own >= frames)
            on_frame(x, weft__timers_next_key(&x->timers));
        else if (plane != WEFT_NONE)
            send_next(x, plane);
        else
            start_sender(x, x->order[x->begun++]);
    }
}

/// What arrives at the same time is taken by port; see weft__network_peer for the ports of planes.
static bool starts_before(const struct weft__lone *x, const struct sender *a, const struct sender *b) {
    uint32_t of_a = a->plane ? x->planes - a->plane : 0, of_b = b->plane ? x->planes - b->plane : 0;
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : of_a < of_b;
}

weft_time_ps weft__host_latency(const struct weft__forwarding *forwarding, const struct weft_flow *flow) {
    const struct weft_host_conf *to = &forwarding->device[forwarding->t->host[flow->dst]]->host;
    bool read = flow->verb == WEFT_VERB_READ;
    return weft__notice_latency(to, read) + (read ? to->send_latency_ps : 0);
}

/// The completion time of the flow with so many packets less per queue pair.
static weft_time_ps follow_flow(struct weft__lone *x, uint32_t less) {
    const struct weft_flow *flow = x->flow->flow;
    x->arena_flow = weft_arena_new(WEFT_MEMORY_RESULT);
    x->sender = weft_arena_alloc(x->arena_flow, x->senders, sizeof *x->sender);
    x->order = weft_arena_alloc(x->arena_flow, x->senders, sizeof *x->order);
    struct weft__poster poster = {0};
    for (uint32_t q = 0; q < x->senders; q++) {
        struct sender *s = &x->sender[q];
        x->order[q] = q;
        s->qp = x->flow->qp[q];
        s->qp.packets -= less;
        s->qp.bytes -= (weft_bytes)less * s->qp.mtu;
        s->plane = (uint8_t)(s->qp.at_src % x->planes);
        if (flow->verb != WEFT_VERB_READ) s->start_ps = weft__poster_take(&poster, x->host, 0, s->qp.bytes);
    }
    x->unreachable = false;
    if (flow->verb == WEFT_VERB_READ) {
        run_senders(x, flow->dst, flow->src, WEFT_PACKET_READ);
        for (uint32_t q = 0; q < x->senders; q++) {
            struct sender *s = &x->sender[q];
            s->start_ps = s->end_ps + x->host->pcie_round_trip_ps + weft__fetch_time(x->host, s->qp.bytes);
            s->sent = 0;
            for (uint32_t k = q; k && starts_before(x, s, &x->sender[x->order[k - 1]]); k--) {
                x->order[k] = x->order[k - 1];
                x->order[k - 1] = q;
            }
        }
    }
    run_senders(x, flow->src, flow->dst, WEFT_PACKET_DATA);
    weft_time_ps end = 0;
    for (uint32_t q = 0; q < x->senders; q++)
        if (x->sender[q].end_ps > end) end = x->sender[q].end_ps;
    forget_flow(x);
    end += weft__host_latency(&x->forwarding, flow);
    return x->unreachable || end > WEFT_TIME_MAX ? WEFT_TIME_NEVER : end;
}

/// Packets of each queue pair in a shortened flow: so many that the first still sends when the last starts, for only
/// then do more of them take longer evenly.
static uint64_t find_head(const struct weft__lone *x) {
    const struct weft_topology *t = x->forwarding.t;
    const struct weft_flow *flow = x->flow->flow;
    uint64_t head = FRAMES_HEAD / x->senders + 2;
    weft_time_ps each =
        x->host->work_request_ps > x->host->post_cost_ps ? x->host->work_request_ps : x->host->post_cost_ps;
    if (flow->verb == WEFT_VERB_READ || !each) return head;
    weft_rate_bps rate = t->link[weft_topology_port(t, t->host[flow->src], 0)->link].rate_bps;
    weft_time_ps time = weft__speed_time(weft__speed_of(rate), x->flow->qp->mtu);
    uint64_t until = x->planes * (x->senders * each / time + 1);
    return until > head ? until : head;
}

/// A long flow, if its time grows evenly with its packets; 0: it does not.
static weft_time_ps extend_flow(struct weft__lone *x, uint32_t packets) {
    uint64_t head = find_head(x);
    uint64_t step = x->parts * (x->senders > FRAMES_WHOLE / TURNS ? TURNS / 6 : TURNS);
    if (!step || packets < head + 4 * step) return 0;
    uint64_t steps = (packets - head) / step;
    weft_time_ps time[3];
    for (uint32_t i = 0; i < 3; i++) {
        time[i] = follow_flow(x, (uint32_t)((steps - i) * step));
        if (time[i] == WEFT_TIME_NEVER) return time[i];
    }
    weft_time_ps more = time[2] - time[1], whole;
    if (time[1] < time[0] || more != time[1] - time[0]) return 0;
    bool long_time = __builtin_mul_overflow(more, steps - 2, &whole) || whole > WEFT_TIME_MAX - time[2];
    return long_time ? WEFT_TIME_NEVER : time[2] + whole;
}

/// Whether every link is as fast as the sender's, so that it does not matter where packets go.
static bool never_waits(const struct weft__lone *x) {
    const struct weft_topology *t = x->forwarding.t;
    weft_rate_bps rate = t->link[weft_topology_port(t, t->host[x->flow->flow->src], 0)->link].rate_bps;
    return x->rate_least >= rate;
}

weft_time_ps weft__lone_fct(struct weft__lone *x, const struct weft__lone_flow *flow) {
    const struct weft_topology *t = x->forwarding.t;
    uint64_t frames = 0;
    uint32_t packets = UINT32_MAX;
    for (uint32_t q = 0; q < flow->qps; q++) {
        frames += flow->qp[q].packets;
        if (flow->qp[q].packets < packets) packets = flow->qp[q].packets;
    }
    assert(flow->planes <= PLANES_MAX);
    x->flow = flow;
    x->senders = flow->qps;
    x->planes = flow->planes;
    x->offset = flow->planes > 1 ? t->network[0].hosts : 0;
    x->host = &x->forwarding.device[t->host[flow->flow->src]]->host;
    x->transport = x->host->transport.model->ops;
    x->gaps =
        weft__any_frames_have_gaps(x->host, t->link[weft_topology_port(t, t->host[flow->flow->src], 0)->link].rate_bps);
    bool even = !weft__lone_draws(&x->forwarding, flow) || never_waits(x);
    weft_time_ps time = frames > FRAMES_WHOLE && even ? extend_flow(x, packets) : 0;
    if (!time && frames <= FRAMES_MAX) time = follow_flow(x, 0);
    // Frames are followed by exact clocks, or no two would take the same time; so it is a bound where a clock is off.
    return time == WEFT_TIME_NEVER ? time : time - (weft_time_ps)ceil((double)time * x->clock_ppm * 1e-6);
}

bool weft__lone_draws(const struct weft__forwarding *forwarding, const struct weft__lone_flow *flow) {
    const struct weft_topology *t = forwarding->t;
    const struct weft_host_conf *host = &forwarding->device[t->host[flow->flow->src]]->host;
    bool draws = t->events || ((const struct weft_transport_ops *)host->transport.model->ops)->path;
    for (uint32_t i = 0; i < t->switches && !draws; i++) {
        const struct weft_model *route = forwarding->device[t->switch_node[i]]->sw.route.model;
        draws = ((const struct weft_route_ops *)route->ops)->choose;
    }
    return draws;
}

static uint64_t count_parts(const struct weft_topology *t) {
    enum { PARTS_MAX = 4096 };
    uint64_t parts = 1;
    for (uint32_t i = 0; i < t->links; i++) {
        uint64_t a = weft__speed_of(t->link[i].rate_bps).byte_den, b = parts;
        parts *= a;
        while (a) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        parts /= b;
        if (parts > PARTS_MAX) return 0;
    }
    return parts;
}

struct weft__lone *weft__lone_new(const struct weft__forwarding *forwarding) {
    const struct weft_topology *t = forwarding->t;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft__lone *x = weft_arena_alloc(arena, 1, sizeof *x), **self = weft_arena_alloc(arena, 1, sizeof *self);
    *self = x;
    x->arena = arena;
    x->forwarding = *forwarding;
    x->forwarding.route_state = weft_arena_alloc(arena, t->switches, sizeof *x->forwarding.route_state);
    x->forwarding.queues = (struct weft_route_queues){depth_at, self};
    x->line = weft_arena_alloc(arena, t->ports, sizeof *x->line);
    x->touched = weft_arena_alloc(arena, t->ports, sizeof *x->touched);
    x->queue = weft_arena_alloc(arena, 2 * (size_t)t->ports, sizeof *x->queue);
    for (size_t i = 0; i < 2 * (size_t)t->ports; i++)
        x->queue[i].first = WEFT_NONE;
    x->free = WEFT_NONE;
    x->parts = count_parts(t);
    x->rate_least = UINT64_MAX;
    for (uint32_t i = 0; i < t->links; i++)
        if (t->link[i].rate_bps < x->rate_least) x->rate_least = t->link[i].rate_bps;
    for (uint32_t n = 0; n < t->nodes; n++)
        x->clock_ppm = fmax(x->clock_ppm, weft__clock_bound_ppm(forwarding->device[n], &t->node[n]));
    weft__timers_init(&x->timers, 2 * t->ports);
    return x;
}

void weft__lone_free(struct weft__lone *x) {
    if (!x) return;
    weft__timers_deinit(&x->timers);
    weft_memory_free(WEFT_MEMORY_RESULT, x->frame, x->frames_capacity * sizeof *x->frame);
    weft_arena_free(x->arena);
}
