// SPDX-License-Identifier: Apache-2.0
// The Ethernet switch. Life of a packet: it arrives (on_packet) a fixed processing delay after its last bit or, with
// cut-through, after its header (weft__switch_keeps_back decides what becomes of it then); the routes
// give the equal-cost ports and the route model picks one; the AQM model may mark or drop it as it joins that egress
// queue, or as it leaves it; the buffer model admits it at its ingress port and priority, or not, and reports whether
// that group is now above XOFF; the packet is sent at once if nothing blocks it, else the queueing model keeps it. When
// the port is free the scheduler picks a priority and, in input-queued architectures, the arbiter picks the input. When
// its first bit is sent, the packet stops counting, and its ingress group may fall to XON.
//
// Sources: IEEE 802.1Q clauses 8.6 and 36; queueing architectures as in IEEE 802.1 dw-chen-sfc. Differences: buffer
// space is freed when transmission begins rather than cell by cell; a frame in the ingress pipeline is not yet in the
// buffer.
#include "box/switch/switch_path.h"

#include <assert.h>

#include "base/bits.h"
#include "link/port_credit.h"
#include "weft/memory.h"

static void count_drop(struct weft__switch *sw, struct weft__worker *w, const struct weft_packet *p, uint32_t port,
                       uint32_t out, enum weft_drop reason) {
    weft__count_drop(w, reason, p);
    weft__port_counters(&sw->port[port], p->priority)->drops++;
    if (__builtin_expect(sw->trace != NULL, 0)) weft__switch_trace_drop(sw, w->now_ps, p, port, out, reason);
}

void weft__switch_drop(struct weft__switch *sw, struct weft__worker *w, const struct weft_packet *p, uint32_t port,
                       uint32_t out, enum weft_drop reason) {
    weft__port_freed(&sw->port[p->port], w, p->priority, p->bytes);
    count_drop(sw, w, p, port, out, reason);
}

/// The packet's first bit leaves: it no longer counts.
static inline void leave_buffer(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                                const struct weft_packet *p, uint32_t out) {
    weft__port_queue_of(&sw->port[out], p->priority)->bytes -= p->bytes;
    if (__builtin_expect(sw->trace != NULL, 0)) weft__switch_trace_left(sw, w->now_ps, p, out);
    weft__port_freed(&sw->port[p->port], w, p->priority, p->bytes);
    if (sw->buffer->release(sw->buffer_state, sw->conf->buffer.conf, p->port, out, p->priority, p->bytes) ==
            WEFT_BUFFER_XON &&
        sw->ether.xoffs[p->priority])
        weft__ether_want_pause(&sw->ether, node, w, p->port, p->priority, out, false);
}

/// The priorities with something to send at `out`.
static inline uint8_t ready_at(const struct weft__switch *sw, uint32_t out) {
    return sw->arbitrated ? sw->queueing->ready(sw->queueing_state, out) : sw->port[out].ready;
}

/// Arms the port's timer for the next time at which it could send a waiting packet.
static inline void arm_port(struct weft__node *node, struct weft__switch *sw, weft_time_ps now, uint32_t out) {
    weft__ether_arm(&sw->port[out], node, now, out, ready_at(sw, out));
}

static inline uint8_t sendable_of(struct weft__switch *sw, weft_time_ps now, uint32_t out, uint8_t ready) {
    return weft__ether_sendable(&sw->conf->pfc, &sw->port[out], now, ready);
}

static inline uint32_t pick_priority(struct weft__switch *sw, uint32_t out, uint8_t mask) {
    if (!(mask & (mask - 1)) && !sw->scheduler->on_sent) return (uint32_t)__builtin_ctz(mask); // nothing is charged
    return sw->scheduler->pick(&sw->port[out].scheduler, sw->conf->scheduler.conf, mask);
}

/// The AQM's verdict on a packet that is the next to leave. False: it is dropped and counted, and the port is still
/// free, unless a neighbour had to be told that there is room.
static __attribute__((noinline)) bool judge_leaving(struct weft__node *node, struct weft__switch *sw,
                                                    struct weft__worker *w, struct weft_packet *p, uint32_t out) {
    weft_bytes depth = weft__port_queue_of(&sw->port[out], p->priority)->bytes - p->bytes;
    if (depth < sw->leave_ask_bytes) return true;
    struct weft__ether_aqm_queue queue = {weft__ether_aqm_number(out, p->priority), depth};
    enum weft_aqm_verdict verdict = weft__ether_judge_leaving(&sw->ether, sw->aqm_conf[out], w->now_ps, p, queue);
    if (verdict == WEFT_AQM_MARK) {
        p->ecn = WEFT_ECN_CE;
        weft__port_counters(&sw->port[out], p->priority)->ecn_marked++;
        if (__builtin_expect(sw->trace != NULL, 0)) weft__trace_marked(sw->trace, w->now_ps, p, out, depth);
    }
    if (verdict < WEFT_AQM_DROP) return true;
    count_drop(sw, w, p, out, out, WEFT_DROP_AQM);
    leave_buffer(node, sw, w, p, out);
    return false;
}

/// The chip's packet rate delays the next packet of the port.
static __attribute__((noinline)) void take_turn(struct weft__switch *sw, weft_time_ps now, uint32_t out) {
    struct weft__pipe *pipe = &sw->pipe[(uint64_t)out * sw->conf->pipes / sw->ports];
    weft_time_ps over = weft__pipe_take(pipe, &sw->turn, now);
    if (sw->port[out].busy_until_ps < over) sw->port[out].busy_until_ps = over;
}

/// False: the AQM has dropped the packet instead.
static inline bool transmit_packet(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                                   struct weft_packet *p, uint32_t out) {
    struct weft__port *port = &sw->port[out];
    if (__builtin_expect(sw->aqm_leaving, 0) && !judge_leaving(node, sw, w, p, out)) return false;
    weft__port_send(port, w, p);
    if (__builtin_expect(sw->pipe != NULL, 0)) take_turn(sw, w->now_ps, out);
    if (sw->scheduler->on_sent)
        sw->scheduler->on_sent(&port->scheduler, sw->conf->scheduler.conf, p->priority, p->bytes + WEFT_WIRE_OVERHEAD);
    leave_buffer(node, sw, w, p, out);
    return true;
}

/// A free port of an output-queued switch sends the next packet.
static void serve_port(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t out) {
    struct weft__port *port = &sw->port[out];
    struct weft_packet p;
    do {
        uint8_t ready = port->ready;
        if (!ready) return;
        uint8_t mask = sendable_of(sw, w->now_ps, out, ready);
        if (!mask) return;
        weft__port_pop(port, sw->pool, pick_priority(sw, out, mask), &p);
    } while (!transmit_packet(node, sw, w, &p, out) && port->busy_until_ps <= w->now_ps);
}

static inline enum weft_aqm_verdict verdict_at(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p,
                                               uint32_t out) {
    const struct weft__port *port = &sw->port[out];
    return weft__switch_verdict(sw, now, p, port, weft__port_queue_of(port, p->priority));
}

void weft__switch_kick(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t out) {
    struct weft__port *port = &sw->port[out];
    if (sw->arbitrated) weft__bits_clear(sw->asleep, out);
    if (port->busy_until_ps <= w->now_ps) {
        if (__builtin_expect(port->pending, 0))
            weft__ether_send_local(port, &sw->conf->pfc, WEFT_NONE, node, w, out);
        else if (sw->arbitrated)
            sw->arbitrate = true;
        else
            serve_port(node, sw, w, out);
    }
    if (!sw->arbitrated || port->busy_until_ps > w->now_ps) arm_port(node, sw, w->now_ps, out);
}

/// A packet waits for `out`.
static inline void await_turn(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t out) {
    struct weft__port *port = &sw->port[out];
    if (port->busy_until_ps <= w->now_ps)
        weft__switch_kick(node, sw, w, out);
    else if (port->turn_ps > port->busy_until_ps)
        weft__ether_set_turn(port, node, out, port->busy_until_ps);
}

/// Takes from the first input that has something.
static void take_first(struct weft__switch *sw, uint32_t out, uint32_t priority, struct weft_packet *ret_packet) {
    const uint64_t *inputs = sw->queueing->inputs(sw->queueing_state, out, priority);
    uint32_t in = 0;
    while (!weft__bits_has(inputs, in))
        in++;
    assert(in < sw->ports && sw->queued[in] && sw->port[out].waiting);
    sw->queueing->pop(sw->queueing_state, in, out, priority, ret_packet);
    sw->port[out].waiting--;
    sw->queued[in]--;
    sw->arbitrate = true; // input queues have new heads
}

/// Discards the packets that wait for `out` at these priorities; of an input queue, those at its head.
static void purge_port(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t out,
                       uint8_t mask) {
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(mask >> p & 1)) continue;
        while (ready_at(sw, out) >> p & 1) {
            struct weft_packet packet;
            if (sw->arbitrated)
                take_first(sw, out, p, &packet);
            else
                weft__port_pop(&sw->port[out], sw->pool, p, &packet);
            count_drop(sw, w, &packet, out, out, WEFT_DROP_PFC_WATCHDOG);
            leave_buffer(node, sw, w, &packet, out);
        }
    }
}

// --- arbitration (IQ, VOQ) ----------------------------------------------------------------------------------------

// The arbiter sees only free inputs. In a switch of cells, where all ports become free together, every input is free in
// turn. Here ports become free when their frames end, and an input that receives at line rate for one output may be
// busy each time another output becomes free, for as long as the frames stay in step; no arbiter can help that. With a
// patience, the other output lets its line idle until such an input is free and then takes its frame, which breaks the
// step.

/// Keeps in `requests` only the inputs that `out` has passed over too often, if there are any.
static __attribute__((cold, noinline)) void insist_on_inputs(struct weft__switch *sw, uint32_t out,
                                                             uint64_t *requests) {
    const uint16_t *passed = &sw->passed[(size_t)out * sw->ports];
    bool any = false;
    for (uint32_t k = 0; k < sw->words; k++) {
        sw->inputs[k] = 0;
        for (uint64_t bits = requests[k]; bits; bits &= bits - 1) {
            uint32_t in = k * 64 + (uint32_t)__builtin_ctzll(bits);
            if (passed[in] < sw->conf->fabric_patience) continue;
            sw->inputs[k] |= UINT64_C(1) << in % 64;
            any = true;
        }
    }
    for (uint32_t k = 0; k < sw->words && any; k++) {
        requests[k] = sw->inputs[k];
        sw->insisted[k] |= requests[k];
    }
    if (any) weft__bits_set(sw->insisting, out);
}

/// The other outputs leave these inputs alone.
static __attribute__((cold, noinline)) void give_way(struct weft__switch *sw) {
    for (uint32_t k = 0; k < sw->words; k++)
        for (uint64_t bits = sw->requesting[k] & ~sw->insisting[k]; bits; bits &= bits - 1) {
            uint64_t *requests = &sw->requests[(k * 64 + (uint32_t)__builtin_ctzll(bits)) * sw->words];
            for (uint32_t i = 0; i < sw->words; i++)
                requests[i] &= ~sw->insisted[i];
        }
    for (uint32_t k = 0; k < sw->words; k++)
        sw->insisting[k] = sw->insisted[k] = 0;
}

/// `out` takes a frame of `in`: the other inputs that have one for it are passed over.
static __attribute__((cold, noinline)) void pass_over(struct weft__switch *sw, uint32_t in, uint32_t out) {
    uint16_t *passed = &sw->passed[(size_t)out * sw->ports];
    const uint64_t *inputs = sw->queueing->inputs(sw->queueing_state, out, sw->chosen[out]);
    for (uint32_t k = 0; k < sw->words; k++)
        for (uint64_t bits = inputs[k]; bits; bits &= bits - 1) {
            uint32_t other = k * 64 + (uint32_t)__builtin_ctzll(bits);
            if (passed[other] < sw->conf->fabric_patience) passed[other]++;
        }
    passed[in] = 0;
}

/// The priorities of `mask` that a free input has for `out`.
static uint8_t find_able(const struct weft__switch *sw, uint32_t out, uint8_t mask) {
    uint8_t able = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(rest);
        const uint64_t *inputs = sw->queueing->inputs(sw->queueing_state, out, p);
        uint64_t any = 0;
        for (uint32_t k = 0; k < sw->words; k++)
            any |= inputs[k] & ~sw->busy_inputs[k];
        if (any) able |= (uint8_t)(1u << p);
    }
    return able;
}

/// What output `out` requests: a priority, chosen by the scheduler among those of free inputs, and those inputs.
static bool request_inputs(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t out) {
    struct weft__port *port = &sw->port[out];
    if (port->busy_until_ps >
        w->now_ps) { // an input queue's new head may be for an output that has started another frame
        arm_port(node, sw, w->now_ps, out);
        if (port->turn_ps == port->busy_until_ps) weft__bits_set(sw->asleep, out);
        return false;
    }
    if (port->storm && sw->conf->pfc.watchdog_action == WEFT_PFC_WATCHDOG_DROP)
        purge_port(node, sw, w, out, port->storm); // likewise
    uint8_t mask = sendable_of(sw, w->now_ps, out, sw->queueing->ready(sw->queueing_state, out));
    if (!mask) {
        arm_port(node, sw, w->now_ps, out);
        return false;
    }
    uint8_t able = find_able(sw, out, mask);
    if (!able) return false; // requests again when an input is free
    sw->unmatched = true;    // so far
    sw->chosen[out] = (uint8_t)pick_priority(sw, out, able);
    const uint64_t *inputs = sw->queueing->inputs(sw->queueing_state, out, sw->chosen[out]);
    uint64_t *requests = &sw->requests[out * sw->words], any = 0;
    for (uint32_t k = 0; k < sw->words; k++)
        requests[k] = inputs[k];
    if (__builtin_expect(sw->passed != NULL, 0)) insist_on_inputs(sw, out, requests);
    for (uint32_t k = 0; k < sw->words; k++)
        any |= requests[k] &= ~sw->busy_inputs[k];
    return any; // requests again when an input is free
}

/// Sets an input's timer if it matters: a frame waits there, or an output may find it free.
static void arm_input(struct weft__node *node, struct weft__switch *sw, weft_time_ps now, uint32_t in) {
    uint32_t key = weft__ether_key(WEFT__SWITCH_KEY_INPUT, in);
    if (!weft__bits_has(sw->busy_inputs, in) || weft__timer_at(&node->timers, key) != WEFT_TIME_NEVER) return;
    if (sw->input_until_ps[in] > now)
        weft__timer_set(&node->timers, key, sw->input_until_ps[in]);
    else
        weft__bits_clear(sw->busy_inputs, in);
}

static void arm_inputs(struct weft__node *node, struct weft__switch *sw, weft_time_ps now) {
    for (uint32_t k = 0; k < sw->words; k++)
        for (uint64_t bits = sw->busy_inputs[k]; bits; bits &= bits - 1)
            arm_input(node, sw, now, k * 64 + (uint32_t)__builtin_ctzll(bits));
}

static void cross_fabric(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t in,
                         uint32_t out) {
    struct weft_packet p;
    if (__builtin_expect(sw->passed != NULL, 0)) pass_over(sw, in, out);
    sw->queueing->pop(sw->queueing_state, in, out, sw->chosen[out], &p);
    sw->port[out].waiting--;
    sw->queued[in]--;
    weft_time_ps time = weft__port_time(&sw->port[in], p.bytes + WEFT_WIRE_OVERHEAD);
    if (sw->conf->fabric_speedup > 1) time = (weft_time_ps)((double)time / sw->conf->fabric_speedup);
    if (!transmit_packet(node, sw, w, &p, out)) {
        sw->arbitrate = true; // the input and the output are still free
        return;
    }
    weft__bits_set(sw->busy_inputs, in);
    sw->input_until_ps[in] = w->now_ps + time;
    if (sw->queued[in]) arm_input(node, sw, w->now_ps, in);
    arm_port(node, sw, w->now_ps, out);
}

/// Collects the outputs that have something to request in sw->requesting; returns how many.
static uint32_t collect_requests(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w) {
    uint32_t n = 0;
    sw->unmatched = false;
    for (uint32_t k = 0; k < sw->words; k++) {
        sw->requesting[k] = 0;
        for (uint64_t bits = sw->waiting[k] & ~sw->asleep[k]; bits; bits &= bits - 1) {
            uint32_t out = k * 64 + (uint32_t)__builtin_ctzll(bits);
            if (!sw->port[out].waiting) { // neither at the head of a queue nor behind one
                weft__bits_clear(sw->waiting, out);
            } else if (request_inputs(node, sw, w, out)) {
                weft__bits_set(sw->requesting, out);
                n++;
            }
        }
    }
    return n;
}

/// Sends matched frames across, if their output is still free; returns how many.
static uint32_t cross_matched(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w) {
    uint32_t crossed = 0;
    for (uint32_t k = 0; k < sw->words; k++)
        for (uint64_t bits = sw->requesting[k]; bits; bits &= bits - 1) {
            uint32_t out = k * 64 + (uint32_t)__builtin_ctzll(bits);
            if (sw->match[out] == WEFT_ARBITER_NONE) continue;
            if (sw->port[out].busy_until_ps <= w->now_ps) {
                cross_fabric(node, sw, w, sw->match[out], out);
                crossed++;
            } else { // room freed by another crossing has just sent a pause frame there
                sw->arbitrate = true;
            }
        }
    return crossed;
}

static void arbitrate_ports(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w) {
    uint32_t asked = collect_requests(node, sw, w);
    if (__builtin_expect(sw->passed != NULL, 0)) give_way(sw);
    if (asked) {
        sw->arbiter->match(sw->arbiter_state, sw->conf->arbiter.conf, sw->ports, sw->requesting, sw->requests,
                           sw->match);
        if (cross_matched(node, sw, w) == asked && !sw->passed) sw->unmatched = false;
    }
    if (sw->unmatched) arm_inputs(node, sw, w->now_ps);
}

/// All events at this time have happened: now the arbiter decides which frames cross the fabric.
static inline bool on_settled(struct weft__node *node, struct weft__worker *w) {
    struct weft__switch *sw = node->state;
    if (__builtin_expect(!sw->arbitrate, 1)) return false;
    sw->arbitrate = false;
    arbitrate_ports(node, sw, w);
    return true;
}

/// An input's frame has crossed. If everything that could be matched was, only frames that wait there are new.
static void on_input_free(struct weft__switch *sw, uint32_t in) {
    weft__bits_clear(sw->busy_inputs, in);
    if (sw->queued[in] || sw->unmatched) sw->arbitrate = true;
}

// --- a packet arrives ---------------------------------------------------------------------------------------------

void weft__switch_next_epoch(struct weft__switch *sw) {
    assert(sw->epochs_left); // the last one lasts for ever
    const struct weft_routes *r = sw->epoch->routes;
    sw->epoch_until_ps = --sw->epochs_left ? sw->epoch[1].from_ps : WEFT_TIME_NEVER;
    sw->routes_until_ps = sw->path ? 0 : sw->epoch_until_ps;
    sw->severed = sw->epoch->severed;
    sw->epoch++;
    sw->edge_of_host = r->edge_of_host;
    sw->port_of_host = r->port_of_host;
    sw->edge = r->edge_of_switch[sw->index];
    sw->set_of = &r->set_of[(size_t)sw->index * r->edges];
    sw->edges = r->edges;
    sw->set = &r->set[r->set_first[sw->index]];
    sw->set_ports = r->ports;
}

const uint16_t *weft__switch_look_at(struct weft__switch *sw, const struct weft_packet *p) {
    while (p->time_ps >= sw->epoch_until_ps)
        weft__switch_next_epoch(sw);
    return sw->path ? weft__path_port(sw->path, sw->severed, sw->index, p, sw->qp_numbers) : NULL;
}

/// Routes by the packet alone.
static inline uint32_t route_packet(struct weft__switch *sw, const struct weft_packet *p) {
    const uint16_t *port;
    uint32_t n = weft__switch_candidates(sw, p, &port);
    if (n < 2) return n ? *port : WEFT_NONE;
    struct weft_route_query query = {
        .packet = p, .hash_seed = sw->hash_seed, .ports = n, .port = port, .qp_numbers = sw->qp_numbers};
    return port[sw->route->select(sw->conf->route.conf, &query)];
}

struct moment {
    const struct weft__switch *sw;
    weft_time_ps now_ps;
};

static weft_bytes depth_at(const void *context, uint32_t out, uint32_t priority) {
    const struct moment *moment = context;
    const struct weft__port *port = &moment->sw->port[out];
    weft_time_ps busy = port->busy_until_ps > moment->now_ps ? port->busy_until_ps - moment->now_ps : 0;
    return weft__port_queue_of(port, priority)->bytes + busy * port->speed.byte_den / port->speed.byte_num;
}

/// Routes by the route model's state, when the packet is there; WEFT_NONE for a model without state.
static __attribute__((cold, noinline)) uint32_t route_now(struct weft__switch *sw, weft_time_ps now,
                                                          const struct weft_packet *p) {
    if (!sw->route_state) return WEFT_NONE;
    const uint16_t *port;
    uint32_t n = weft__switch_candidates(sw, p, &port);
    if (n < 2) return n ? *port : WEFT_NONE;
    struct weft_route_query query = {.packet = p,
                                     .hash_seed = sw->hash_seed,
                                     .ports = n,
                                     .port = port,
                                     .edge = sw->edge_of_host[p->dst],
                                     .qp_numbers = sw->qp_numbers};
    struct weft_route_queues queues = {.depth = depth_at, .context = &(struct moment){sw, now}};
    return port[sw->route->choose(sw->route_state, sw->conf->route.conf, &query, &queues)];
}

enum weft_aqm_verdict weft__switch_judge(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p,
                                         uint32_t out, weft_bytes depth) {
    struct weft__ether_aqm_queue queue = {weft__ether_aqm_number(out, p->priority), depth};
    return weft__ether_judge_arriving(&sw->ether, sw->aqm_conf[out], now, p, queue);
}

/// Applies the AQM's verdict, then admission; false: dropped and counted. *ret_xoff: its ingress group is now above
/// XOFF.
static inline bool enter_buffer(struct weft__switch *sw, struct weft__worker *w, struct weft_packet *p, uint32_t out,
                                enum weft_aqm_verdict verdict, bool *ret_xoff) {
    if (__builtin_expect(verdict == WEFT_AQM_DROP, 0)) {
        weft__switch_drop(sw, w, p, out, out, WEFT_DROP_AQM);
        return false;
    }
    if (__builtin_expect(verdict > WEFT_AQM_DROP, 0) && !weft__switch_trim(sw, w, p, out)) return false;
    struct weft__port *port = &sw->port[out];
    uint32_t priority = p->priority; // a trimmed packet has changed its priority
    if (__builtin_expect(port->storm >> priority & 1, 0) && sw->conf->pfc.watchdog_action == WEFT_PFC_WATCHDOG_DROP) {
        weft__switch_drop(sw, w, p, out, out, WEFT_DROP_PFC_WATCHDOG);
        return false;
    }
    enum weft_buffer_answer answer =
        sw->buffer->admit(sw->buffer_state, sw->conf->buffer.conf, p->port, out, priority, p->bytes);
    if (__builtin_expect(answer == WEFT_BUFFER_DROP, 0)) {
        weft__switch_drop(sw, w, p, p->port, out,
                          sw->port[p->port].lossless >> priority & 1 ? WEFT_DROP_HEADROOM : WEFT_DROP_BUFFER_FULL);
        return false;
    }
    *ret_xoff = answer == WEFT_BUFFER_XOFF;
    weft__switch_queue(port, weft__port_queue_of(port, p->priority), p, verdict);
    if (__builtin_expect(sw->trace != NULL, 0))
        weft__switch_trace_entered(sw, w->now_ps, p, out, weft__port_queue_of(port, p->priority)->bytes,
                                   verdict == WEFT_AQM_MARK);
    return true;
}

/// The packet waits for `out`, at its input or there.
static inline void enqueue_packet(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                                  const struct weft_packet *p, uint32_t out) {
    if (!sw->arbitrated) {
        weft__port_push(&sw->port[out], sw->pool, p->priority, p);
        return;
    }
    sw->queueing->push(sw->queueing_state, p, out);
    sw->port[out].waiting++;
    if (!sw->queued[p->port]++) arm_input(node, sw, w->now_ps, p->port);
    weft__bits_set(sw->waiting, out);
}

static inline void forward_packet(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                                  struct weft_packet *p, uint32_t out, enum weft_aqm_verdict verdict) {
    bool xoff;
    if (!enter_buffer(sw, w, p, out, verdict, &xoff)) return;
    struct weft__port *port = &sw->port[out];
    bool free = port->busy_until_ps <= w->now_ps;
    if (!sw->arbitrated && free && !port->pending && !port->ready &&
        sendable_of(sw, w->now_ps, out, (uint8_t)(1u << p->priority))) {
        pick_priority(sw, out, (uint8_t)(1u << p->priority));
        transmit_packet(node, sw, w, p, out); // it never waited, so it pauses no neighbour
        return;
    }
    if (__builtin_expect(xoff, 0)) weft__ether_want_pause(&sw->ether, node, w, p->port, p->priority, out, true);
    enqueue_packet(node, sw, w, p, out);
    if (__builtin_expect(weft__port_queue_of(port, p->priority)->bytes > sw->sfc_watch_bytes, 0))
        weft__switch_judge_source(node, sw, w, p, out);
    await_turn(node, sw, w, out);
}

/// Frames of the rare kind: a call rather than a copy of the code.
void weft__switch_forward(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                          struct weft_packet *p, uint32_t out, enum weft_aqm_verdict verdict) {
    forward_packet(node, sw, w, p, out, verdict);
}

static void on_local(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                     const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_CONTROL) {
        weft__switch_te_install(sw, &sw->te->orders[p->psn % sw->te->kept]);
        return;
    }
    weft__ether_on_local(&sw->ether, node, w, p);
}

/// Forwards a message of source flow control.
static void pass_message(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                         struct weft_packet *p, uint32_t out) {
    if (out == WEFT_NONE) out = route_now(sw, w->now_ps, p);
    if (out == WEFT_NONE)
        weft__switch_drop(sw, w, p, p->port, WEFT_NONE, WEFT_DROP_NO_ROUTE);
    else if (weft__switch_intercept(sw, w, p, out))
        weft__switch_kick(node, sw, w, out);
    else
        weft__switch_forward(node, sw, w, p, out, verdict_at(sw, w->now_ps, p, out));
}

void weft__switch_emit(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                       struct weft_packet *packet) {
    pass_message(node, sw, w, packet, sw->route_state ? WEFT_NONE : route_packet(sw, packet));
}

void weft__switch_defer(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                        const struct weft_packet *p, uint32_t out) {
    struct weft_packet *kept = &sw->deferred[p->port];
    assert(!kept->bytes); // a link brings one frame at a time
    *kept = *p;
    weft_packet_set_node(kept, out);
    kept->time_ps = w->now_ps + weft__port_time(&sw->port[p->port], p->bytes - WEFT__HEADER);
    weft__timer_set(&node->timers, weft__ether_key(WEFT__SWITCH_KEY_DEFERRED, p->port), kept->time_ps);
}

struct weft_packet *weft__switch_complete(struct weft__switch *sw, struct weft__worker *w, uint32_t in) {
    struct weft_packet *kept = &sw->deferred[in];
    assert(in < sw->ports && kept->bytes && kept->time_ps == w->now_ps);
    return kept;
}

static inline bool defer_packet(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                                const struct weft_packet *p, uint32_t out) {
    if (!weft__switch_keeps_back(sw, w->now_ps, p, &sw->port[out])) return false;
    weft__switch_defer(node, sw, w, p, out);
    return true;
}

static inline void fetch_packet(const struct weft__switch *sw, const struct weft_packet *p) {
    if (weft_packet_is_local(p)) return;
    weft__switch_fetch_route(sw, p);
    if (sw->buffer->prefetch) sw->buffer->prefetch(sw->buffer_state, p->port, weft_switch_priority(sw->conf, p));
}

static void switch_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                         weft_time_ps end) {
    const struct weft__switch *sw = node->state;
    weft__switch_fetch_sets(sw);
    for (uint32_t i = 0; i < n; i++)
        fetch_packet(sw, arrival[i].packet);
    weft__timers_fetch(node, end, weft__switch_fetch_timer);
}

/// Determines the priority and the next hop, and prefetches its port and queue.
static inline uint32_t prepare_packet(struct weft__switch *sw, struct weft_packet *p) {
    if (weft_packet_is_local(p)) return WEFT_NONE;
    weft_packet_enter(p, weft_switch_priority(sw->conf, p));
    uint32_t out = route_packet(sw, p);
    if (out == WEFT_NONE) return out;
    __builtin_prefetch(&sw->port[out]);
    __builtin_prefetch(weft__ether_queue(&sw->ether, out, p->priority));
    if (sw->queueing->fetch) sw->queueing->fetch(sw->queueing_state, p->port, out, p->priority);
    return out;
}

/// For switches that route packets only when these arrive.
static __attribute__((cold, noinline)) void prepare_unrouted(struct weft__switch *sw, struct weft__arrival *arrival,
                                                             uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        struct weft_packet *p = arrival[i].packet;
        arrival[i].word = WEFT_NONE;
        if (!weft_packet_is_local(p)) weft_packet_enter(p, weft_switch_priority(sw->conf, p));
    }
}

static void switch_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__switch *sw = node->state;
    if (__builtin_expect(sw->route_state != NULL, 0))
        prepare_unrouted(sw, arrival, n);
    else
        for (uint32_t i = 0; i < n; i++)
            arrival[i].word = prepare_packet(sw, arrival[i].packet);
    weft__timers_fetch(node, end, weft__switch_prepare_timer);
}

/// Frames for switches, too.
static void on_signal(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                      struct weft_packet *packet, uint32_t out) {
    if (weft_packet_is_local(packet))
        on_local(node, sw, w, packet);
    else
        pass_message(node, sw, w, packet, out);
}

/// For a packet with no decision made in advance.
static __attribute__((cold, noinline)) void on_unrouted(struct weft__node *node, struct weft__switch *sw,
                                                        struct weft__worker *w, struct weft_packet *packet) {
    uint32_t out = route_now(sw, w->now_ps, packet);
    if (out == WEFT_NONE)
        weft__switch_drop(sw, w, packet, packet->port, WEFT_NONE, WEFT_DROP_NO_ROUTE);
    else if (!sw->has_cut_through || !defer_packet(node, sw, w, packet, out))
        weft__switch_forward(node, sw, w, packet, out, verdict_at(sw, w->now_ps, packet, out));
}

void weft__switch_take_rare(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                            struct weft_packet *packet, uint32_t out) {
    if (packet->kind >= WEFT_PACKET_SFCM)
        on_signal(node, sw, w, packet, out);
    else
        on_unrouted(node, sw, w, packet);
}

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *packet,
                             uint64_t word) {
    struct weft__switch *sw = node->state;
    uint32_t out = (uint32_t)word;
    if (__builtin_expect(packet->kind >= WEFT_PACKET_SFCM || out == WEFT_NONE, 0))
        weft__switch_take_rare(node, sw, w, packet, out);
    else if (!sw->has_cut_through || !defer_packet(node, sw, w, packet, out))
        forward_packet(node, sw, w, packet, out, verdict_at(sw, w->now_ps, packet, out));
}

// --- timers -------------------------------------------------------------------------------------------------------

static void on_sample(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w) {
    for (uint32_t port = 0; port < sw->ports; port++)
        if (sw->sampled[port]) weft__ether_sample(&sw->ether, w, port);
    weft__timer_set(&node->timers, weft__switch_key_sample(sw), weft__sampling_next(&sw->sampling, w->now_ps));
    weft__node_looked(w);
}

/// A deferred frame is now complete.
static void on_deferred(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t port) {
    struct weft_packet p = *weft__switch_complete(sw, w, port);
    sw->deferred[port].bytes = 0; // no longer held there
    weft__switch_forward(node, sw, w, &p, p.node, verdict_at(sw, w->now_ps, &p, p.node));
}

void weft__switch_on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__switch *sw = node->state;
    uint32_t port = key / WEFT__ETHER_KEYS_A_PORT;
    if (key == weft__switch_key_sample(sw)) {
        on_sample(node, sw, w);
        return;
    }
    if (key == weft__switch_key_te(sw)) {
        weft__switch_te_report(sw, w);
        weft__timer_set(&node->timers, key, w->now_ps + sw->te->schedule.interval_ps);
        return;
    }
    switch (key % WEFT__ETHER_KEYS_A_PORT) {
    case WEFT__SWITCH_KEY_INPUT:
        on_input_free(sw, port);
        break;
    case WEFT__SWITCH_KEY_DEFERRED:
        on_deferred(node, sw, w, port);
        break;
    default:
        weft__ether_on_timer(&sw->ether, node, w, key % WEFT__ETHER_KEYS_A_PORT, port);
    }
}

static inline void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    weft__switch_on_due(node, w, key, weft__switch_kick);
}

static void switch_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                       weft_time_ps end) {
    weft__node_run_instants(node, w, arrival, n, end, on_packet, on_timer, on_settled);
}

// --- what is its own of the Ethernet side -------------------------------------------------------------------------

static uint8_t ether_ready(const struct weft__node *node, uint32_t k) {
    const struct weft__switch *sw = node->state;
    return ready_at(sw, k);
}

static void ether_purge(struct weft__node *node, struct weft__worker *w, uint32_t k, uint8_t priorities) {
    purge_port(node, node->state, w, k, priorities);
}

static void ether_kick(struct weft__node *node, struct weft__worker *w, uint32_t k) {
    weft__switch_kick(node, node->state, w, k);
}

static void ether_trace_pause(struct weft__node *node, weft_time_ps now, uint32_t k, uint32_t priority, uint32_t out,
                              bool xoff) {
    weft__switch_trace_pause(node->state, now, k, priority, out, xoff);
}

const struct weft__ether_ops weft__switch_ether_ops = {
    .ready = ether_ready, .purge = ether_purge, .kick = ether_kick, .trace_pause = ether_trace_pause};

const struct weft__node_ops weft__switch_ops = {.fetch = switch_fetch, .prepare = switch_prepare, .run = switch_run};
