// SPDX-License-Identifier: Apache-2.0
// Virtual output queues of an interface node, one for each port of the fabric and priority for which packets have
// arrived. A VOQ reports its state to the scheduler of its port when it changes:
//
//   request    it has less credit than it wants
//   slow       likewise, and it lacks little: it takes some of its turns
//   satisfied  it has the credit that it wants
//
// A packet leaves while the balance is positive, and may overdraw it by less than its own size. Presets as in
// Broadcom's SDK (OpenBCM, iqs_tune.c) with n credits in flight:
//
//   slow disabled  (the low-latency flag) a VOQ wants n + 1 credits more than it holds, so that future packets need not
//                  wait for the loop of request and credit; an empty one keeps min(500 KB, 3 n - 1 credits), and does
//                  not want more than that (assumed; 500 KB bind from 123 credits on); never slow
//   slow enabled   it wants what it holds; an empty one keeps 2 credits; while it lacks no more than 2 (n + 1) credits
//                  (6.5.20; 6.5.24 has n + 2) it is slow, at 8 levels that begin at eighths of that. Assumed: the share
//                  of turns at each level.
//
// Credits lost in flight are requested again.
//
// Credits do not depend on the node's own lanes. When the lanes carry less than its ports can fill (after link
// failures), packets wait in their VOQs, in turn, until the lane of their next cell has little waiting.
#include <string.h>

#include "box/dsf/dsf_in.h"
#include "weft/memory.h"

#include <assert.h>

enum { VOQS_FIRST = 16 };

uint32_t weft__in_voq(struct weft__in *in, uint32_t to, uint32_t port, uint32_t priority) {
    bool is_new;
    uint32_t v = weft__number_of(&in->voqs, weft__in_voq_key(to, port, priority), &is_new);
    if (!is_new) return v;
    if (v == in->voq_capacity) {
        uint32_t capacity = v ? 2 * v : VOQS_FIRST;
        in->voq = weft_memory_resize(WEFT_MEMORY_QUEUE, in->voq, v * sizeof *in->voq, capacity * sizeof *in->voq);
        in->voq_marked = weft_memory_resize(WEFT_MEMORY_QUEUE, in->voq_marked, v * sizeof *in->voq_marked,
                                            capacity * sizeof *in->voq_marked);
        unsigned char *aqm = in->ether.aqm_at;
        uint32_t bytes = in->ether.aqm_bytes;
        if (bytes) in->ether.aqm_at = weft_memory_resize(WEFT_MEMORY_QUEUE, aqm, v * bytes, capacity * bytes);
        in->voq_capacity = capacity;
    }
    in->voq[v] = (struct weft__voq){.to = to, .port = (uint16_t)port, .priority = (uint8_t)priority};
    in->voq_marked[v] = 0;
    if (in->ether.aqm_bytes) memset(weft__ether_aqm_state(&in->ether, v), 0, in->ether.aqm_bytes);
    return v;
}

/// Sets a timer to check VOQs for lost requests and for missing credits, as long as any holds packets.
static void arm_look(struct weft__node *node, struct weft__in *in, weft_time_ps now) {
    uint32_t key = weft__in_box_key(in, WEFT__IN_KEY_VOQS);
    weft_time_ps every = in->conf->refresh_ps;
    if (in->conf->watchdog_ps < every) every = in->conf->watchdog_ps;
    if (weft__timer_at(&node->timers, key) == WEFT_TIME_NEVER) weft__timer_set(&node->timers, key, now + every);
}

static void tell_state(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t number) {
    struct weft__voq *v = &in->voq[number];
    v->asked_ps = w->now_ps;
    in->counts.requests++;
    struct weft_packet cell = {
        .late = true,
        .bytes = WEFT_CELL_CONTROL,
        .qp = v->port * WEFT_PRIORITIES + v->priority,
        .psn = number,
        .kind = WEFT_PACKET_REQUEST,
        .dscp = v->state & 0xfu,
        .entropy = v->asked & 0x3fffu,
    };
    v->asked = (uint16_t)((v->asked + 1u) & (WEFT__REQUEST_NUMBERS - 1));
    if (v->to == in->self)
        weft__in_on_request(node, in, w, in->self, &cell);
    else
        weft__in_send_control(in, w, &cell, v->to);
}

/// The state of a VOQ that lacks so many bytes of credit and no more than the preset's.
static uint8_t slow_state(const struct weft__in *in, uint64_t lacks) {
    uint64_t eighths = in->conf->slow_eighths + lacks * 8 / in->preset.slow;
    return (uint8_t)(eighths < WEFT__VOQ_REQUEST ? eighths : WEFT__VOQ_REQUEST);
}

/// Determines the VOQ's state now, and reports it if it has changed.
static void review_voq(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t number) {
    struct weft__voq *v = &in->voq[number];
    int64_t lacks = (int64_t)(v->bytes + in->preset.surplus) - v->balance;
    uint8_t state = WEFT__VOQ_REQUEST;
    if (lacks <= 0)
        state = WEFT__VOQ_SATISFIED;
    else if (__builtin_expect((uint64_t)lacks <= in->preset.slow, 0))
        state = slow_state(in, (uint64_t)lacks);
    if (state == v->state) return;
    v->state = state;
    tell_state(node, in, w, number);
}

/// A cell that may leave now.
static inline void send_cell(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                             const struct weft_packet *p, uint32_t out) {
    struct weft__cell_lane *lane = &in->lanes.lane[out];
    if (__builtin_expect(in->queues != NULL, 0))
        weft__lane_queue_send(in->queues, node, w, out, p);
    else
        weft__lane_send(&in->lanes, lane, w, p, weft__lane_wait(lane, w->now_ps));
}

/// Cuts what is `left` of a packet into cells, or trains of them, and spreads them. `index`: number of the first one.
/// Returns the lane of the last one, which p has become.
static inline uint32_t send_cells(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                                  struct weft_packet *p, const struct weft__voq *v, uint32_t index, uint32_t left) {
    uint32_t most = (uint32_t)in->conf->train * WEFT_CELL_PAYLOAD, out = WEFT_NONE;
    while (left) {
        uint32_t part = index ? most : most - WEFT_CELL_PACKET;
        if (part > left) part = left;
        left -= part;
        out = weft__spray_pick(&in->spray, w->now_ps, v->to);
        if (__builtin_expect(out == WEFT_NONE, 0)) {
            weft__count_lost_bytes(w, WEFT_DROP_NO_ROUTE, part);
            p->bytes = (uint16_t)part;
            p->dst = weft__cell_dst(v->to, in->self, index++);
            in->counts.cells_unreachable += weft__cell_count(p);
            if (in->trace) weft__lanes_note_loss(&in->lanes, w->now_ps, in->lanes.port[0], p, WEFT_DROP_NO_ROUTE);
            continue;
        }
        p->bytes = (uint16_t)part;
        p->dst = weft__cell_dst(v->to, in->self, index++);
        p->spare = !left;
        send_cell(node, in, w, p, out);
    }
    return out;
}

/// The cell sent last, and the room left in it.
struct cell {
    uint32_t out, room;
};

/// With packing: a packet begins in the last cell and leaves the room of its own last cell for the next packet.
static __attribute__((noinline)) void send_packed(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                                                  struct weft_packet *p, const struct weft__voq *v, struct cell *last) {
    uint32_t left = p->bytes, index = 0;
    if (last->room > WEFT_CELL_PACKET) {
        uint32_t part = last->room - WEFT_CELL_PACKET;
        if (part > left) part = left;
        left -= part;
        p->bytes = (uint16_t)part;
        p->qp |= WEFT__CELL_PART;
        p->dst = weft__cell_dst(v->to, in->self, index++);
        p->spare = !left;
        send_cell(node, in, w, p, last->out);
        p->qp &= ~WEFT__CELL_PART;
        last->room -= weft__cell_payload(p);
        if (!left) return;
    }
    last->out = send_cells(node, in, w, p, v, index, left);
    last->room = last->out == WEFT_NONE ? 0 : WEFT_CELL_PAYLOAD - weft__cell_payload(p);
}

/// Prefetches the next lanes towards an interface node.
static inline void fetch_lanes(struct weft__in *in, weft_time_ps now, uint32_t to, uint32_t n) {
    const struct weft__lane_set *way = weft__spray_to(&in->spray, now, to);
    for (uint32_t i = 0; i <= n && way->at + i < way->n; i++)
        __builtin_prefetch(&in->lanes.lane[in->spray.lane[way->first + way->at + i]], 1);
}

/// Sends a packet to another interface node.
static inline void cross_fabric(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                                struct weft_packet *p, const struct weft__voq *v, struct cell *last) {
    uint16_t *next = &in->sequence[v->to * WEFT_PRIORITIES + v->priority];
    uint32_t sequence = *next;
    fetch_lanes(in, w->now_ps, v->to, p->bytes / (WEFT_CELL_PAYLOAD * (uint32_t)in->conf->train));
    *next = (uint16_t)((sequence + 1) & (WEFT__CELL_SEQUENCES - 1));
    weft__cell_set_sequence(p, sequence);
    if (__builtin_expect(in->conf->packing, 0))
        send_packed(node, in, w, p, v, last);
    else
        send_cells(node, in, w, p, v, 0, p->bytes);
}

/// When the next lane towards the VOQ's destination will have so little waiting that a packet may leave; 0: now.
static inline weft_time_ps lanes_free(struct weft__in *in, weft_time_ps now, const struct weft__voq *v) {
    if (v->to == in->self) return 0;
    const struct weft__lane_set *way = weft__spray_to(&in->spray, now, v->to);
    if (!way->n) return 0;
    uint32_t k = in->spray.lane[way->first + way->at];
    const struct weft__cell_lane *lane = &in->lanes.lane[k];
    weft_time_ps cell = in->lanes.rate[lane->rate].cell_ps, most = in->conf->backlog_cells * in->conf->train * cell;
    if (__builtin_expect(in->queues != NULL, 0)) { // a stopped lane continues at an unknown time
        weft_time_ps wait = weft__lane_wait(lane, now) + in->queues->queue[k].cells * cell;
        return wait > most ? now + wait - most + cell : 0;
    }
    return lane->busy_until_ps > now + most ? lane->busy_until_ps - most : 0;
}

/// When its first packet may leave, given credits; 0: now.
static inline weft_time_ps may_leave(struct weft__in *in, weft_time_ps now, const struct weft__voq *v) {
    weft_time_ps free_ps = lanes_free(in, now, v);
    if (!weft__voq_is_in_hbm(v) || in->hbm.read.busy_until_ps <= now) return free_ps;
    return in->hbm.read.busy_until_ps > free_ps ? in->hbm.read.busy_until_ps : free_ps;
}

/// Joins the VOQs that wait for lanes or for HBM.
static void wait_for_lanes(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t number,
                           weft_time_ps until) {
    struct weft__voq *v = &in->voq[number];
    uint32_t key = weft__in_box_key(in, WEFT__IN_KEY_ROOM);
    if (until < weft__timer_at(&node->timers, key)) weft__timer_set(&node->timers, key, until);
    if (__builtin_expect(in->lanes.follow != NULL, 0)) {
        const struct weft_packet *p = weft__fifo_head(&v->fifo);
        weft__lanes_follow_stage(&in->lanes, w->now_ps, p, p->qp, WEFT_STAGE_BLOCKED);
    }
    if (v->waits) return;
    v->waits = true;
    v->next = in->waiting == WEFT_NONE ? number : in->voq[in->waiting].next;
    if (in->waiting != WEFT_NONE) in->voq[in->waiting].next = number;
    in->waiting = number;
}

/// A VOQ gives up credit beyond the most that it may hold. True: it had more.
static bool cap_balance(struct weft__in *in, struct weft__voq *v) {
    int64_t most = (int64_t)(v->bytes > in->preset.balance_max ? v->bytes : in->preset.balance_max);
    if (v->balance <= most) return false;
    in->counts.credit_bytes_given_up += (uint64_t)(v->balance - most);
    v->balance = most;
    return true;
}

/// The AQM's verdict on a packet that leaves its VOQ. False: dropped and counted; its balance remains.
static bool judge_leaving(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p,
                          struct weft__voq *v) {
    uint32_t number = (uint32_t)(v - in->voq);
    enum weft_aqm_verdict verdict = weft__ether_judge_leaving(&in->ether, in->ether.conf->aqm.conf, w->now_ps, p,
                                                              (struct weft__ether_aqm_queue){number, v->bytes});
    if (verdict == WEFT_AQM_MARK) {
        p->ecn = WEFT_ECN_CE;
        in->voq_marked[number]++;
    }
    if (verdict < WEFT_AQM_DROP) return true;
    v->balance += p->bytes;
    cap_balance(in, v); // the VOQ is shorter now
    weft__ether_drop(&in->ether, w, p, p->port, WEFT_DROP_AQM);
    weft__ether_release(&in->ether, node, w, p);
    return false;
}

static void send_first(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft__voq *v,
                       struct cell *last) {
    struct weft_packet p;
    bool in_hbm = weft__voq_is_in_hbm(v);
    weft__fifo_pop(&v->fifo, in->ether.pool, &p);
    if (__builtin_expect(in_hbm, 0)) weft__in_hbm_take(in, w->now_ps, v, p.bytes, true);
    v->balance -= p.bytes;
    v->bytes -= p.bytes;
    in->voq_bytes -= p.bytes;
    v->active_ps = w->now_ps;
    if (__builtin_expect(in->ether.asks_leaving, 0) && !judge_leaving(node, in, w, &p, v)) return;
    weft_histogram_add(&in->counts.seen->voq_ns, (w->now_ps - p.time_ps) / WEFT_PS_PER_NS);
    if (__builtin_expect(in->lanes.follow != NULL, 0)) {
        weft__lanes_follow_stage(&in->lanes, w->now_ps, &p, p.qp, WEFT_STAGE_CLEARED);
        if (v->to == in->self) weft__lanes_follow_stage(&in->lanes, w->now_ps, &p, p.qp, WEFT_STAGE_DELIVERED);
    }
    weft__ether_release(&in->ether, node, w, &p);
    if (v->to == in->self)
        weft__ether_send(&in->ether, node, w, &p, v->port);
    else
        cross_fabric(node, in, w, &p, v, last);
    if (in->conf->window_bytes && v->to == in->self) weft__in_on_arrived(in, in->self, v->port, v->priority, p.bytes);
}

/// Sends what the balance and the lanes allow.
static void serve_voq(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t number) {
    struct weft__voq *v = &in->voq[number];
    struct cell last = {0};
    while (v->fifo.n && v->balance > 0 && !v->waits) {
        weft_time_ps free_ps = may_leave(in, w->now_ps, v);
        if (__builtin_expect(free_ps > 0, 0))
            wait_for_lanes(node, in, w, number, free_ps);
        else
            send_first(node, in, w, v, &last);
    }
    review_voq(node, in, w, number);
}

/// Takes all VOQs out of the ring; returns the first of a list of them.
static uint32_t all_waiting(struct weft__in *in) {
    if (in->waiting == WEFT_NONE) return WEFT_NONE;
    uint32_t first = in->voq[in->waiting].next;
    in->voq[in->waiting].next = WEFT_NONE;
    in->waiting = WEFT_NONE;
    return first;
}

/// Sends one packet of each in turn. VOQs that find no room stay ahead of those that found some.
void weft__in_on_lanes(struct weft__node *node, struct weft__in *in, struct weft__worker *w) {
    for (uint32_t list = all_waiting(in), again; list != WEFT_NONE; list = again) {
        uint32_t *tail = &again;
        for (uint32_t number = list, next; number != WEFT_NONE; number = next) {
            struct weft__voq *v = &in->voq[number];
            weft_time_ps free_ps = may_leave(in, w->now_ps, v);
            next = v->next;
            v->waits = false;
            if (!v->fifo.n || v->balance <= 0) continue; // it asks again when it has packets
            if (free_ps) {
                wait_for_lanes(node, in, w, number, free_ps);
                continue;
            }
            send_first(node, in, w, v, &(struct cell){0}); // others come between its packets, so no cell is shared
            review_voq(node, in, w, number);
            *tail = number;
            tail = &v->next;
        }
        *tail = WEFT_NONE;
    }
}

void weft__in_enqueue(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p,
                      uint32_t number) {
    struct weft__voq *v = &in->voq[number];
    if (!v->fifo.n) {
        v->credit_ps = w->now_ps;
        if (v->balance > 0 && in->conf->balance_age_ps != WEFT_TIME_NEVER &&
            w->now_ps - v->active_ps > in->conf->balance_age_ps) {
            in->counts.credit_bytes_given_up += (uint64_t)v->balance;
            v->balance = 0;
        }
        arm_look(node, in, w->now_ps);
    }
    v->active_ps = w->now_ps;
    v->bytes += p->bytes;
    if (v->bytes > v->bytes_max) v->bytes_max = v->bytes;
    in->voq_bytes += p->bytes;
    if (in->voq_bytes > in->voq_bytes_max) in->voq_bytes_max = in->voq_bytes;
    weft__fifo_push(&v->fifo, in->ether.pool, p);
    if (__builtin_expect(in->voq_bytes > in->hbm.watch_bytes || v->hbm, 0))
        weft__in_hbm_store(node, in, w->now_ps, v, p->bytes);
    serve_voq(node, in, w, number);
}

void weft__in_on_credit(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t number,
                        uint32_t bytes) {
    assert(number < in->voqs.n); // another box says so
    struct weft__voq *v = &in->voq[number];
    in->counts.credits++;
    v->credit_ps = w->now_ps;
    v->balance += bytes;
    if (cap_balance(in, v) && v->state == WEFT__VOQ_SATISFIED)
        tell_state(node, in, w, number); // the report may have been lost
    serve_voq(node, in, w, number);
}

static void note_purge(const struct weft__in *in, weft_time_ps now, const struct weft__voq *v) {
    struct weft__fifo_cursor first = weft__fifo_begin(&v->fifo);
    uint32_t port = in->port[weft__fifo_next(&first)->port].node_port;
    struct weft_event *event = weft__trace_add(in->trace, now, WEFT_EVENT_VOQ_PURGED, port, v->priority);
    if (!event) return;
    event->value = v->bytes;
    event->more = weft__event_voq(v->to, v->port);
}

/// The credit watchdog: discards waiting packets.
static void purge_voq(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t number) {
    struct weft__voq *v = &in->voq[number];
    in->counts.voqs_purged++;
    if (__builtin_expect(in->trace != NULL, 0)) note_purge(in, w->now_ps, v);
    while (v->fifo.n) {
        struct weft_packet p;
        bool in_hbm = weft__voq_is_in_hbm(v);
        weft__fifo_pop(&v->fifo, in->ether.pool, &p);
        if (in_hbm) weft__in_hbm_take(in, w->now_ps, v, p.bytes, false);
        v->bytes -= p.bytes;
        in->voq_bytes -= p.bytes;
        weft__ether_drop(&in->ether, w, &p, p.port, WEFT_DROP_CREDIT_WATCHDOG);
        weft__ether_release(&in->ether, node, w, &p);
    }
    v->balance = 0;
    v->state = WEFT__VOQ_SATISFIED;
    tell_state(node, in, w, number);
}

void weft__in_look_at_voqs(struct weft__node *node, struct weft__in *in, struct weft__worker *w) {
    weft_time_ps next = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < in->voqs.n; i++) {
        struct weft__voq *v = &in->voq[i];
        if (!v->fifo.n) continue;
        weft_time_ps patience = in->conf->watchdog_ps;
        if (patience != WEFT_TIME_NEVER && w->now_ps - v->credit_ps >= patience) {
            purge_voq(node, in, w, i);
            continue;
        }
        weft_time_ps last = v->asked_ps > v->credit_ps ? v->asked_ps : v->credit_ps;
        if (w->now_ps - last >= in->conf->refresh_ps) {
            tell_state(node, in, w, i);
            last = w->now_ps;
        }
        weft_time_ps at = last + in->conf->refresh_ps;
        if (patience != WEFT_TIME_NEVER && v->credit_ps + patience < at) at = v->credit_ps + patience;
        if (at < next) next = at;
    }
    if (next != WEFT_TIME_NEVER) weft__timer_set(&node->timers, weft__in_box_key(in, WEFT__IN_KEY_VOQS), next);
}
