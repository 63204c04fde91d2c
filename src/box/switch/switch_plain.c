// SPDX-License-Identifier: Apache-2.0
// A plain switch: output queues, any buffer, ECMP by the 5-tuple, priorities by DSCP, no weights
// (weft__switch_is_plain has the exact conditions). Most packet hops in most runs are through plain switches, so a
// frame's path through one is written out here, with those models inlined. Rare cases are left to switch.c, which does
// the same with the same state: a frame that the AQM drops or trims, a storm, a full buffer, a pause, signals. What is
// counted is counted by the functions that switch.c uses, too; tests/contract/test_plain.c compares both paths.
#include "box/switch/switch_path.h"
#include "weft/credit.h"

static inline struct weft_buffer_group *group_of(const struct weft__switch *sw, uint32_t in, uint32_t priority) {
    return &weft__ether_queue(&sw->ether, in, priority)->group;
}

static inline uint32_t number_of(const struct weft__switch *sw, const struct weft__port *port) {
    return (uint32_t)(port - sw->port);
}

// What is known of a switch beforehand, so that it is not asked for each packet.
enum {
    BYTES = 1, // its buffer has fixed thresholds in bytes, not cells; without: it may be any
    CUTS = 2,  // it cuts through; clocks of its ports may be off, too, as those of a class of hardware
    TRACED = 4 // it is recorded
};

// The arithmetic of a buffer with fixed thresholds is written out; any other buffer is called.

static inline __attribute__((always_inline)) bool has_fixed(const struct weft__switch *sw, uint32_t how) {
    return how & BYTES || __builtin_expect(sw->fixed.size_bytes != 0, 1);
}

static inline __attribute__((always_inline)) struct weft_buffer_fixed fixed_of(const struct weft__switch *sw,
                                                                               uint32_t how) {
    struct weft_buffer_fixed fixed = sw->fixed;
    if (how & BYTES) fixed.cell_inverse = 0;
    return fixed;
}

static inline __attribute__((always_inline)) enum weft_buffer_answer admit_packet(struct weft__switch *sw,
                                                                                  const struct weft_packet *p,
                                                                                  const struct weft__port *port,
                                                                                  uint32_t priority, uint32_t how) {
    bool lossless = sw->lossless >> priority & 1;
    struct weft_buffer_fixed fixed = fixed_of(sw, how);
    if (has_fixed(sw, how)) return weft_buffer_fixed_admit(&fixed, group_of(sw, p->port, priority), p->bytes, lossless);
    return sw->buffer->admit(sw->buffer_state, sw->conf->buffer.conf, p->port, number_of(sw, port), priority, p->bytes);
}

/// What is left of a packet that has been sent: where it came from, and its bytes.
struct sent {
    uint32_t port, bytes;
};

/// The group of the input `in` has shrunk, because a packet leaves by the port `out`; it may resume.
static inline void review_group(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t in,
                                bool resumes, uint32_t priority, const struct weft__port *out) {
    if (__builtin_expect(sw->ether.xoffs[priority], 0) && resumes)
        weft__ether_want_pause(&sw->ether, node, w, in, priority, number_of(sw, out), false);
}

/// `p` leaves by the port.
static inline __attribute__((always_inline)) void release_packet(struct weft__node *node, struct weft__switch *sw,
                                                                 struct weft__worker *w, struct sent p,
                                                                 uint32_t priority, const struct weft__port *port,
                                                                 uint32_t how) {
    bool resumes;
    if (has_fixed(sw, how)) {
        struct weft_buffer_group *group = group_of(sw, p.port, priority);
        struct weft_buffer_fixed fixed = fixed_of(sw, how);
        group->level -= weft_buffer_fixed_occupied(&fixed, p.bytes);
        resumes = group->level <= fixed.xon_bytes;
    } else {
        resumes = sw->buffer->release(sw->buffer_state, sw->conf->buffer.conf, p.port, number_of(sw, port), priority,
                                      p.bytes) == WEFT_BUFFER_XON;
    }
    review_group(node, sw, w, p.port, resumes, priority, port);
}

/// If the output is free and nothing blocks it, a frame that fits into the buffer is sent at once: it is counted in and
/// out, so that only maxima show it. False: it is not sent, and nothing has changed.
static inline __attribute__((always_inline)) bool pass_packet(struct weft__node *node, struct weft__switch *sw,
                                                              struct weft__worker *w, const struct weft_packet *p,
                                                              struct weft__port *port, uint32_t priority,
                                                              uint32_t how) {
    if (port->hindrances || port->busy_until_ps > w->now_ps) return false;
    struct sent was = {p->port, p->bytes};
    struct weft_buffer_group *group = group_of(sw, was.port, priority);
    struct weft_buffer_fixed fixed = fixed_of(sw, how);
    if (has_fixed(sw, how)) {
        uint32_t level = group->level + weft_buffer_fixed_occupied(&fixed, was.bytes);
        if (__builtin_expect(level > fixed.size_bytes, 0)) return false;
        weft_buffer_count_level(group, level);
    } else if (admit_packet(sw, p, port, priority, how) == WEFT_BUFFER_DROP) {
        return false;
    }
    struct weft__port_queue *queue = weft__port_queue_of(port, priority); // which is empty
    weft__port_count_depth(queue, was.bytes);
    weft__port_count_sent(queue, was.bytes);
    if (how & TRACED) weft__switch_trace_entered(sw, w->now_ps, p, number_of(sw, port), was.bytes, false);
    weft__port_transmit_plain(port, w, p, how & CUTS);
    if (how & TRACED) weft__switch_trace_left(sw, w->now_ps, p, number_of(sw, port));
    if (has_fixed(sw, how))
        review_group(node, sw, w, was.port, group->level <= sw->fixed.xon_bytes, priority, port);
    else
        release_packet(node, sw, w, was, priority, port, how);
    return true;
}

/// The head of a queue leaves.
static inline __attribute__((always_inline)) void send_head(struct weft__node *node, struct weft__switch *sw,
                                                            struct weft__worker *w, struct weft__port *port,
                                                            uint32_t priority, uint32_t how) {
    struct weft__port_queue *queue = weft__port_queue_of(port, priority);
    const struct weft_packet *p = weft__fifo_head(&queue->fifo);
    struct sent was = {p->port, p->bytes};
    weft__port_count_sent(queue, was.bytes);
    // which may note the bytes sent and the depth, with this packet
    weft__port_transmit_as(port, w, p, port->delay_data_ps, how & CUTS);
    queue->bytes -= was.bytes;
    if (how & TRACED) weft__switch_trace_left(sw, w->now_ps, p, number_of(sw, port));
    weft__fifo_drop(&queue->fifo, sw->pool);
    if (!queue->fifo.n) port->ready &= (uint8_t) ~(1u << priority);
    release_packet(node, sw, w, was, priority, port, how);
}

/// The port may send, and does: its next frame is in order. False: it is not as simple, and nothing has changed.
static inline __attribute__((always_inline)) bool send_next(struct weft__node *node, struct weft__switch *sw,
                                                            struct weft__worker *w, struct weft__port *port,
                                                            uint32_t how) {
    uint32_t ready = port->ready;
    if (__builtin_expect(!ready || port->pending || port->paused, 0) || port->busy_until_ps > w->now_ps) return false;
    bool choice = ready & (ready - 1);
    uint32_t priority = choice ? sw->scheduler->pick(&port->scheduler, sw->conf->scheduler.conf, (uint8_t)ready)
                               : (uint32_t)__builtin_ctz(ready);
    send_head(node, sw, w, port, priority, how);
    return true;
}

/// The turn of a port at which a packet has just arrived: rarer, so a call.
static __attribute__((noinline)) void serve_as_well(struct weft__node *node, struct weft__switch *sw,
                                                    struct weft__worker *w, struct weft__port *port) {
    if (!(sw->trace ? send_next(node, sw, w, port, TRACED) : send_next(node, sw, w, port, 0)))
        weft__switch_kick(node, sw, w, number_of(sw, port));
    else if (port->ready)
        weft__ether_set_turn(port, node, number_of(sw, port), port->busy_until_ps);
}

/// Something blocks the frame.
static inline __attribute__((always_inline)) void wait_packet(struct weft__node *node, struct weft__switch *sw,
                                                              struct weft__worker *w, struct weft_packet *p,
                                                              struct weft__port *port, uint32_t priority,
                                                              uint32_t how) {
    struct weft__port_queue *queue = weft__port_queue_of(port, priority);
    enum weft_aqm_verdict verdict = weft__switch_verdict(sw, w->now_ps, p, port, queue);
    bool busy = port->busy_until_ps > w->now_ps;
    bool rare = verdict >= WEFT_AQM_DROP || port->storm || (!busy && !port->ready);
    enum weft_buffer_answer answer =
        __builtin_expect(rare, 0) ? WEFT_BUFFER_DROP : admit_packet(sw, p, port, priority, how);
    if (__builtin_expect(answer == WEFT_BUFFER_DROP, 0)) { // which has changed nothing
        weft__switch_forward(node, sw, w, p, number_of(sw, port), verdict);
        return;
    }
    bool xoff = answer == WEFT_BUFFER_XOFF;
    weft__switch_queue(port, queue, p, verdict);
    if (how & TRACED)
        weft__switch_trace_entered(sw, w->now_ps, p, number_of(sw, port), queue->bytes, verdict == WEFT_AQM_MARK);
    if (__builtin_expect(xoff, 0))
        weft__ether_want_pause(&sw->ether, node, w, p->port, priority, number_of(sw, port), true);
    weft__fifo_push(&queue->fifo, sw->pool, p);
    port->ready |= (uint8_t)(1u << priority);
    if (__builtin_expect(!busy, 0))
        serve_as_well(node, sw, w, port);
    else if (port->turn_ps > port->busy_until_ps)
        weft__ether_set_turn(port, node, number_of(sw, port), port->busy_until_ps);
}

/// How many cache lines describe routes.
static inline uint32_t route_lines(const struct weft__switch *sw) {
    return (uint32_t)(sw->edges * sizeof *sw->set_of / 64 + 1);
}

/// So many packets arrive that prefetching for all ports and edges is cheaper than for each packet.
static inline bool comes_to_all(const struct weft__switch *sw, uint32_t n) {
    return n >= sw->ports && n >= route_lines(sw);
}

static inline __attribute__((always_inline)) void fetch_all(const struct weft__switch *sw) {
    const struct weft__port_queue *queue = weft__ether_queue(&sw->ether, 0, sw->fetched_priority);
    for (const struct weft__port *port = sw->port, *last = port + sw->ports; port < last; port++, queue++) {
        __builtin_prefetch(port);
        __builtin_prefetch(queue);
    }
    for (uint32_t line = 0; line < route_lines(sw); line++)
        __builtin_prefetch((const char *)sw->set_of + (size_t)line * 64);
}

static void plain_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                        weft_time_ps end) {
    const struct weft__switch *sw = node->state;
    weft__switch_fetch_sets(sw);
    if (comes_to_all(sw, n)) {
        fetch_all(sw);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        if (weft_packet_is_local(p)) continue;
        weft__switch_fetch_route(sw, p);
        __builtin_prefetch(weft__ether_queue(&sw->ether, p->port, sw->conf->dscp_map[p->dscp] & 7u));
    }
    weft__timers_fetch(node, end, weft__switch_fetch_timer);
}

/// `lasting`: the routes in force are those of the packet's time.
static inline uint32_t route_packet(struct weft__switch *sw, const struct weft_packet *p, bool lasting) {
    const uint16_t *port;
    uint32_t n = lasting ? weft__switch_candidates_now(sw, p, &port) : weft__switch_candidates(sw, p, &port);
    if (n < 2) return n ? *port : WEFT_NONE;
    struct weft_route_query query = {.packet = p, .hash_seed = sw->hash_seed, .ports = n};
    return port[weft_route_index(&query, weft_route_hash(&query))];
}

/// What is noted of an arrival: how many bytes after the first port that of its next hop lies, and above that its
/// priority. For what is rare that bit, and the next hop or WEFT_NONE.
#define RARE (UINT64_C(1) << 63)
enum { PRIORITY_BIT = 32 };
_Static_assert((UINT16_MAX + UINT64_C(1)) * sizeof(struct weft__port) <= UINT64_C(1) << PRIORITY_BIT, "all ports");

static __attribute__((cold, noinline)) uint64_t prepare_rare(struct weft__switch *sw, struct weft_packet *p) {
    if (weft_packet_is_local(p)) return RARE | WEFT_NONE;
    weft_packet_enter(p, weft_switch_priority(sw->conf, p));
    return RARE | route_packet(sw, p, false);
}

/// Determines the priority and the next hop, and prefetches its port and queue. (Writing to the packet now avoids a
/// stall when it is copied.) `usual`: ports were prefetched, routes last, and hops are not counted.
static inline __attribute__((always_inline)) uint64_t prepare_packet(struct weft__switch *sw, struct weft_packet *p,
                                                                     bool usual) {
    if (__builtin_expect(p->kind >= WEFT_PACKET_SFCM, 0)) return prepare_rare(sw, p);
    uint32_t priority = sw->conf->dscp_map[p->dscp] & 7u;
    if (usual)
        p->priority = priority & 7u;
    else
        weft_packet_enter(p, priority);
    uint32_t out = route_packet(sw, p, usual);
    if (__builtin_expect(out == WEFT_NONE, 0)) return RARE | out;
    const struct weft__port *port = &sw->port[out];
    if (!usual || priority != sw->fetched_priority) {
        __builtin_prefetch(port);
        __builtin_prefetch(weft__port_queue_of(port, priority));
    }
    return (uint64_t)((const char *)port - (const char *)sw->port) | (uint64_t)priority << PRIORITY_BIT;
}

static void plain_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__switch *sw = node->state;
    if (comes_to_all(sw, n) && arrival[n - 1].packet->time_ps < sw->routes_until_ps && !sw->counts_hops)
        for (uint32_t i = 0; i < n; i++)
            arrival[i].word = prepare_packet(sw, arrival[i].packet, true);
    else
        for (uint32_t i = 0; i < n; i++)
            arrival[i].word = prepare_packet(sw, arrival[i].packet, false);
    weft__timers_fetch(node, end, weft__switch_prepare_timer);
}

/// If the switch cuts through, this is the header of the frame.
static inline __attribute__((always_inline)) void take_packet(struct weft__node *node, struct weft__worker *w,
                                                              struct weft_packet *packet, uint64_t word, uint32_t how) {
    struct weft__switch *sw = node->state;
    if (__builtin_expect(word >= RARE, 0)) {
        weft__switch_take_rare(node, sw, w, packet, (uint32_t)word);
        return;
    }
    uint32_t priority = (uint32_t)(word >> PRIORITY_BIT);
    struct weft__port *port = (struct weft__port *)(void *)((char *)sw->port + (uint32_t)word);
    if (how & CUTS && weft__switch_keeps_back(sw, w->now_ps, packet, port))
        weft__switch_defer(node, sw, w, packet, number_of(sw, port));
    else if (!pass_packet(node, sw, w, packet, port, priority, how))
        wait_packet(node, sw, w, packet, port, priority, how);
}

static inline __attribute__((always_inline)) weft_time_ps take_turn(struct weft__node *node, struct weft__worker *w,
                                                                    uint32_t key, uint32_t how) {
    struct weft__switch *sw = node->state;
    uint32_t out = weft__switch_port_of_turn(sw, key);
    if (__builtin_expect(out == WEFT_NONE, 0)) return 0;
    struct weft__port *port = &sw->port[out];
    if (!send_next(node, sw, w, port, how)) return 0;
    return port->turn_ps = (port->ready || port->pending) ? port->busy_until_ps : WEFT_TIME_NEVER;
}

/// Of a switch that cuts through, a frame may now be complete.
static inline __attribute__((always_inline)) void take_due(struct weft__node *node, struct weft__worker *w,
                                                           uint32_t key, uint32_t how) {
    struct weft__switch *sw = node->state;
    uint32_t in = key / WEFT__ETHER_KEYS_A_PORT;
    if (!(how & CUTS) || key % WEFT__ETHER_KEYS_A_PORT != WEFT__SWITCH_KEY_DEFERRED) {
        weft__switch_on_due(node, w, key, weft__switch_kick);
        return;
    }
    struct weft_packet *p = weft__switch_complete(sw, w, in);
    struct weft__port *port = &sw->port[p->node];
    if (!pass_packet(node, sw, w, p, port, p->priority, how)) wait_packet(node, sw, w, p, port, p->priority, how);
    p->bytes = 0; // no longer held there
}

/// The operations of switches that cut through, or do not, with any buffer or with the usual one, or are recorded.
#define PLAIN(name, how)                                                                                               \
    static inline void name##_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *packet,      \
                                     uint64_t word) {                                                                  \
        take_packet(node, w, packet, word, how);                                                                       \
    }                                                                                                                  \
    static inline weft_time_ps name##_turn(struct weft__node *node, struct weft__worker *w, uint32_t key) {            \
        return take_turn(node, w, key, how);                                                                           \
    }                                                                                                                  \
    static inline void name##_due(struct weft__node *node, struct weft__worker *w, uint32_t key) {                     \
        take_due(node, w, key, how);                                                                                   \
    }                                                                                                                  \
    static void name##_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival,       \
                           uint32_t n, weft_time_ps end) {                                                             \
        weft__node_run_turns(node, w, arrival, n, end, name##_packet, name##_turn, name##_due);                        \
    }                                                                                                                  \
    static const struct weft__node_ops name##_ops = {.fetch = plain_fetch, .prepare = plain_prepare, .run = name##_run};
PLAIN(plain, BYTES)
PLAIN(plain_any, 0)
PLAIN(cut, CUTS | BYTES)
PLAIN(cut_any, CUTS)
PLAIN(traced, TRACED)
PLAIN(cut_traced, CUTS | TRACED)

const struct weft__node_ops *weft__switch_plain_ops(const struct weft__switch *sw) {
    if (sw->trace) return sw->has_cut_through ? &cut_traced_ops : &traced_ops;
    bool bytes = sw->fixed.size_bytes && !sw->fixed.cell_inverse;
    if (sw->has_cut_through) return bytes ? &cut_ops : &cut_any_ops;
    return bytes ? &plain_ops : &plain_any_ops;
}

bool weft__switch_is_plain(const struct weft__switch *sw, bool lldp) {
    bool queues = !sw->arbitrated && !sw->pipe && !sw->scheduler->on_sent;
    bool links = !lldp && !weft_credit_grants(&sw->conf->credit) && sw->conf->trust == WEFT_TRUST_DSCP;
    return queues && links && !sw->aqm_leaving && !sw->ether.aqm_bytes && !sw->route_state && sw->by_tuple &&
           sw->sfc_watch_bytes == UINT64_MAX;
}
