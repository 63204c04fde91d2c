// SPDX-License-Identifier: Apache-2.0
// Steps of a packet's path through a switch that any switch (switch.c) and a plain one (switch_plain.c) share, and the
// functions of the former that the latter calls in rare cases.
#pragma once

#include "box/switch/switch.h"

/// Checks whether `out` can act now.
void weft__switch_kick(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w, uint32_t out);
/// Counts a drop at `port` of a packet for `out`.
void weft__switch_drop(struct weft__switch *sw, struct weft__worker *w, const struct weft_packet *p, uint32_t port,
                       uint32_t out, enum weft_drop reason);
/// Any frame, with the AQM's verdict.
void weft__switch_forward(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                          struct weft_packet *p, uint32_t out, enum weft_aqm_verdict verdict);
/// Handles a packet that is not a frame to be forwarded to a next hop. `out`: the next hop, or WEFT_NONE.
void weft__switch_take_rare(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                            struct weft_packet *packet, uint32_t out);
/// Any timer except that of a port's turn.
void weft__switch_on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key);

// --- routes -------------------------------------------------------------------------------------------------------

/// The routes of the packet's time; returns the port on the path that its flow names, or NULL.
const uint16_t *weft__switch_look_at(struct weft__switch *sw, const struct weft_packet *p) __attribute__((cold));

/// The candidates according to the routes in force; returns how many.
static inline uint32_t weft__switch_candidates_now(const struct weft__switch *sw, const struct weft_packet *p,
                                                   const uint16_t **ret_port) {
    uint32_t edge = sw->edge_of_host[p->dst];
    if (edge == WEFT_NONE) return 0;
    if (edge == sw->edge) {
        *ret_port = &sw->port_of_host[p->dst];
        return 1;
    }
    struct weft_route_set set = sw->set[sw->set_of[edge]];
    *ret_port = &sw->set_ports[set.first];
    return set.n;
}

/// The candidates; returns how many. Packets must be routed in the order of their times. Like weft_routes_at, with this
/// switch's part at hand.
static inline uint32_t weft__switch_candidates(struct weft__switch *sw, const struct weft_packet *p,
                                               const uint16_t **ret_port) {
    if (__builtin_expect(p->time_ps >= sw->routes_until_ps, 0) && (*ret_port = weft__switch_look_at(sw, p))) return 1;
    return weft__switch_candidates_now(sw, p, ret_port);
}

// --- the AQM, and what waits --------------------------------------------------------------------------------------

/// The verdict of an AQM that does not pass all packets at this depth of the queue of `out`.
enum weft_aqm_verdict weft__switch_judge(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p,
                                         uint32_t out, weft_bytes depth);

/// Of a packet for that queue of the port.
static inline enum weft_aqm_verdict weft__switch_verdict(struct weft__switch *sw, weft_time_ps now,
                                                         const struct weft_packet *p, const struct weft__port *port,
                                                         const struct weft__port_queue *queue) {
    weft_bytes depth = queue->bytes;
    bool pass = __builtin_expect(depth < sw->aqm_ask_bytes, 1);
    return pass ? WEFT_AQM_PASS : weft__switch_judge(sw, now, p, (uint32_t)(port - sw->port), depth);
}

/// A packet that has been admitted is in the account of its queue, of that port.
static inline void weft__switch_queue(struct weft__port *port, struct weft__port_queue *queue, struct weft_packet *p,
                                      enum weft_aqm_verdict verdict) {
    if (__builtin_expect(verdict == WEFT_AQM_MARK, 0)) {
        p->ecn = WEFT_ECN_CE;
        weft__port_counters(port, p->priority)->ecn_marked++;
    }
    queue->bytes += p->bytes;
    weft__port_count_depth(queue, queue->bytes);
}

// --- cut-through --------------------------------------------------------------------------------------------------

/// A cut-through switch has the header of a frame for `port`. It begins to send before the last bit has come if the
/// port is idle, is not paused at any priority, and is no faster than the input. (Vendors' guides to cut-through list
/// the same conditions; no scheduler here shapes.) Any other frame is stored whole first; so it is kept back until it
/// is complete, unless frames before it in its queue occupy the port for longer than that: then it joins them at once.
static inline bool weft__switch_keeps_back(const struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p,
                                           struct weft__port *port) {
    const struct weft__port *from = &sw->port[p->port];
    if (p->bytes <= WEFT__HEADER) return false; // it is complete
    weft_time_ps until = now + port->gap_ps;    // in the gap after a frame the line is idle, too
    bool busy = port->busy_until_ps > now;
    if (port->busy_until_ps <= until && !port->pending && !port->ready && !weft__port_paused(port, now) &&
        !(sw->arbitrated && (port->waiting || sw->input_until_ps[p->port] > until)))
        return weft__port_is_faster(port, from);
    weft_time_ps wait = busy ? port->busy_until_ps - now : 0;
    if (!sw->arbitrated && !sw->aqm_leaving) { // so all of its queue is sent before it
        const struct weft__port_queue *queue = weft__port_queue_of(port, p->priority);
        wait += weft__port_time_fast(port, queue->bytes + (uint64_t)queue->fifo.n * WEFT_WIRE_OVERHEAD);
    }
    return wait < weft__port_time_fast(from, p->bytes - WEFT__HEADER);
}
/// Keeps it until its last bit has come.
void weft__switch_defer(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                        const struct weft_packet *p, uint32_t out);
/// A frame that was kept is complete: returns it, with its output in `node`.
struct weft_packet *weft__switch_complete(struct weft__switch *sw, struct weft__worker *w, uint32_t in);

// --- what will be needed is brought into the cache ----------------------------------------------------------------

/// For the switch.
static inline __attribute__((always_inline)) void weft__switch_fetch_sets(const struct weft__switch *sw) {
    __builtin_prefetch(sw->set);
    __builtin_prefetch(sw->set + 8);
}

/// For a packet. A host without an edge has no set, and prefetching an invalid address is harmless.
static inline __attribute__((always_inline)) void weft__switch_fetch_route(const struct weft__switch *sw,
                                                                           const struct weft_packet *p) {
    uint32_t edge = sw->edge_of_host[p->dst];
    __builtin_prefetch((const void *)((uintptr_t)sw->set_of + edge * sizeof *sw->set_of));
}

/// The port whose turn a timer signals; WEFT_NONE: it signals something else.
static inline uint32_t weft__switch_port_of_turn(const struct weft__switch *sw, uint32_t key) {
    uint32_t port = key / WEFT__ETHER_KEYS_A_PORT;
    return key % WEFT__ETHER_KEYS_A_PORT == WEFT__ETHER_KEY_TX && port < sw->ports ? port : WEFT_NONE;
}

/// A timer is due: a port's turn, which `serve` takes, or something else.
static inline void weft__switch_on_due(struct weft__node *node, struct weft__worker *w, uint32_t key,
                                       void serve(struct weft__node *, struct weft__switch *, struct weft__worker *,
                                                  uint32_t port)) {
    struct weft__switch *sw = node->state;
    uint32_t port = weft__switch_port_of_turn(sw, key);
    if (__builtin_expect(port == WEFT_NONE, 0)) {
        weft__switch_on_timer(node, w, key);
        return;
    }
    sw->port[port].turn_ps = WEFT_TIME_NEVER;
    serve(node, sw, w, port);
}

static inline __attribute__((always_inline)) void weft__switch_fetch_timer(const void *state, uint32_t key) {
    const struct weft__switch *sw = state;
    uint32_t port = weft__switch_port_of_turn(sw, key);
    if (port == WEFT_NONE) return;
    __builtin_prefetch(&sw->port[port]);
    __builtin_prefetch(weft__ether_queue(&sw->ether, port, sw->fetched_priority));
}

/// The packets that wait at a port whose timer is due.
static inline __attribute__((always_inline)) void weft__switch_prepare_timer(const void *state, uint32_t key) {
    const struct weft__switch *sw = state;
    uint32_t port = weft__switch_port_of_turn(sw, key);
    if (port == WEFT_NONE) return;
    for (uint32_t ready = sw->port[port].ready; ready; ready &= ready - 1)
        weft__fifo_fetch(&weft__ether_queue(&sw->ether, port, (uint32_t)__builtin_ctz(ready))->fifo);
}
