// SPDX-License-Identifier: Apache-2.0
// The Ethernet side of a box: what ports of boxes share beyond one end of a link (port.h). It marks arriving frames and
// admits them to the ingress buffer, whose state causes pauses; it sends, refreshes and obeys pauses; it runs the storm
// watchdog, and LLDP with what LLDP agrees on. Boxes without a queueing model also get output queues from it, one per
// priority, with a scheduler.
//
// A box keeps a struct weft__ether. It calls weft__ether_init when it is made, and weft__ether_start once the node's
// timers exist; the caller connects ether.port[] like any ports. During a run it calls
//
//   weft__ether_on_local   for frames that end at this port (weft_packet_is_local)
//   weft__ether_judge      to mark or drop a frame that joins a queue, if the box has a queue at that point
//   weft__ether_enter      to admit a frame; weft__ether_hold if the frame has not left at once
//   weft__ether_release    when a frame leaves the ingress buffer, sent or discarded
//   weft__ether_send       to send a frame by one of its ports, through an output queue
//   weft__ether_on_timer   for timers of ports, up to WEFT__ETHER_KEY_OWN
//   weft__ether_sample, weft__ether_finish
//
// and supplies its own part as operations. A box that keeps waiting frames elsewhere (the switch) has no output queues
// and supplies ready, purge and kick.
#pragma once

#include "base/fifo.h"
#include "link/port.h"
#include "link/share.h"
#include "weft/aqm.h"
#include "weft/buffer.h"
#include "weft/device.h"

/// Timer keys of a node: eight per port, those of the Ethernet side first; the box's own keys follow those of all
/// ports.
enum {
    WEFT__ETHER_KEY_TX,
    WEFT__ETHER_KEY_REFRESH,
    WEFT__ETHER_KEY_WATCHDOG,
    WEFT__ETHER_KEY_LLDP,
    WEFT__ETHER_KEY_OWN, ///< from here on: the box's
    WEFT__ETHER_KEYS_A_PORT = 8
};
static inline uint32_t weft__ether_key(uint32_t what, uint32_t port) {
    return port * WEFT__ETHER_KEYS_A_PORT + what;
}

/// What a box supplies itself. `k`: one of the ports of its struct weft__ether. All are optional with output queues.
struct weft__ether_ops {
    /// The priorities at which frames wait to leave by the port.
    uint8_t (*ready)(const struct weft__node *node, uint32_t k);
    /// Discards the frames that wait to leave by the port at these priorities.
    void (*purge)(struct weft__node *node, struct weft__worker *w, uint32_t k, uint8_t priorities);
    /// The port may now be able to send, or has a pause frame to send.
    void (*kick)(struct weft__node *node, struct weft__worker *w, uint32_t k);
    /// For the record: an ingress group is above XOFF because of a packet for `out`, or is back at XON.
    void (*trace_pause)(struct weft__node *node, weft_time_ps now, uint32_t k, uint32_t priority, uint32_t out,
                        bool xoff);
    /// A frame of this size has left its output queue, sent or discarded.
    void (*on_left)(struct weft__node *node, struct weft__worker *w, uint32_t k, uint32_t priority, uint32_t bytes);
    /// If asks_leaving: a frame at the head of its output queue leaves for the wire; it may be marked. False: it is to
    /// be dropped instead.
    bool (*on_leaving)(struct weft__node *node, struct weft__worker *w, uint32_t k, struct weft_packet *p);
    /// Pauses from the neighbour may have changed.
    void (*on_pauses)(struct weft__node *node, struct weft__worker *w, uint32_t k);
};

/// The frames that wait to leave by a port, at all priorities.
struct weft__ether_queues {
    weft_bytes bytes, bytes_max;
};

/// Ports whose frames share one serialiser behind their queues in fair turns: never two at once.
struct weft__ether_group {
    uint32_t ports;
    const uint32_t *port;     ///< [ports], at most WEFT__SHARERS
    struct weft__speed speed; ///< of the serialiser; a link is no faster
    struct weft__share share;
};

struct weft__ether {
    uint32_t xoffs[WEFT_PRIORITIES]; ///< how many ports require the neighbour to pause that priority
    struct weft__port *port;         ///< [ports]
    uint32_t ports;
    uint32_t row_bytes;             ///< as in its ports
    struct weft__port_queue *queue; ///< of port 0 and priority 0; ports have theirs one after the other
    const struct weft__ether_ops *ops;
    const struct weft_switch_conf *conf;
    const struct weft_buffer_ops *buffer;
    void *buffer_state;
    const struct weft_aqm_ops *aqm;
    const struct weft_scheduler_ops *scheduler;
    struct weft_random ecn_random;
    bool asks_leaving;     ///< the AQM is asked about frames that leave, too
    uint32_t aqm_bytes;    ///< of the AQM's state of a queue; 0: it has none
    unsigned char *aqm_at; ///< [queues]: states, of aqm_bytes each; a box that adds queues moves it
    bool full; ///< the box is nearly full: whatever the buffer model says, every arriving frame counts as above XOFF
    // output queues
    struct weft__ether_queues *queues; ///< [ports]; NULL: frames wait elsewhere
    struct weft__ether_group **group;  ///< [ports], with output queues; NULL: the port has its own serialiser
    weft_bytes queues_bytes;           ///< limit per port
    struct weft_packet_pool *pool;
};

struct weft__ether_setup {
    const struct weft__port_rows *rows;
    uint32_t place; ///< of the first port in them
    const struct weft_switch_conf *conf;
    const struct weft__ether_ops *ops;
    uint32_t ports;
    uint64_t seed;
    uint32_t who;                  ///< seeds its random numbers
    struct weft_packet_pool *pool; ///< NULL: no output queues
    weft_bytes queues_bytes;
    uint32_t aqm_queues; ///< that the AQM is asked about, numbered from 0; 0: they are added during the run
    struct weft_arena *arena;
};
void weft__ether_init(struct weft__ether *e, const struct weft__ether_setup *setup);
/// The queue of a port and priority, without a look at the port.
static inline struct weft__port_queue *weft__ether_queue(const struct weft__ether *e, uint32_t k, uint32_t priority) {
    return weft__port_queue_in(&e->queue[k], e->row_bytes, priority);
}
/// Timers at the beginning. `lldp`: its ports have LLDP.
void weft__ether_start(const struct weft__ether *e, struct weft__node *node, bool lldp);

/// Counts a drop at port `k`.
void weft__ether_drop(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, uint32_t k,
                      enum weft_drop reason);

// --- frames that come ---------------------------------------------------------------------------------------------

/// A queue that the AQM is asked about: its number, and its bytes besides the frame in question.
struct weft__ether_aqm_queue {
    uint32_t number;
    weft_bytes bytes;
};
/// The AQM's state of a queue, or NULL.
static inline void *weft__ether_aqm_state(const struct weft__ether *e, uint32_t queue) {
    return e->aqm_bytes ? e->aqm_at + (size_t)queue * e->aqm_bytes : NULL;
}
/// Describes a frame and its queue to the AQM.
static inline void weft__ether_aqm_describe(weft_time_ps now, const struct weft_packet *p,
                                            struct weft__ether_aqm_queue queue, weft_time_ps waited,
                                            struct weft_aqm_fact *ret) {
    ret->now_ps = now;
    ret->waited_ps = waited;
    ret->queue_bytes = queue.bytes;
    ret->bytes = p->bytes;
    ret->ecn_capable = p->ecn != WEFT_ECN_NOT_ECT;
}
/// The AQM's verdict on a frame that joins the queue, and, if asks_leaving, on the next that leaves it, which joined it
/// at p->time_ps. `conf`: the AQM's, of that port.
static inline enum weft_aqm_verdict weft__ether_judge_arriving(struct weft__ether *e, const void *conf,
                                                               weft_time_ps now, const struct weft_packet *p,
                                                               struct weft__ether_aqm_queue queue) {
    if (!(e->conf->aqm_priorities >> p->priority & 1)) return WEFT_AQM_PASS;
    struct weft_aqm_fact fact;
    weft__ether_aqm_describe(now, p, queue, 0, &fact);
    return e->aqm->on_enqueue(weft__ether_aqm_state(e, queue.number), conf, &fact, &e->ecn_random);
}
enum weft_aqm_verdict weft__ether_judge_leaving(struct weft__ether *e, const void *conf, weft_time_ps now,
                                                const struct weft_packet *p, struct weft__ether_aqm_queue queue);
/// Asks about a frame that joins a queue in a box whose ports have one configuration. False: dropped, and counted at
/// port `k`. *ret_mark: mark the frame, and count it at that queue, if it is admitted.
bool weft__ether_judge(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, uint32_t k,
                       struct weft__ether_aqm_queue queue, bool *ret_mark);
/// The number of the queue of a port and priority, for boxes whose queues are of ports.
static inline uint32_t weft__ether_aqm_number(uint32_t k, uint32_t priority) {
    return k * WEFT_PRIORITIES + priority;
}
/// Admission at p->port. False: dropped and counted. *ret_xoff: its ingress group is now above XOFF.
bool weft__ether_enter(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, bool *ret_xoff);
/// Tells the neighbour at `k` to pause or resume a priority. `out`: the port whose packet caused it, or WEFT_NONE.
void weft__ether_tell_pause(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                            uint32_t priority, uint32_t out, bool xoff);
static inline void weft__ether_want_pause(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                                          uint32_t k, uint32_t priority, uint32_t out, bool xoff) {
    const struct weft__port *port = &e->port[k];
    if (port->lossless >> priority & 1 && (port->pfc_xoff >> priority ^ (uint32_t)xoff) & 1)
        weft__ether_tell_pause(e, node, w, k, priority, out, xoff);
}
/// An admitted packet above XOFF may still be here: pauses its neighbour, unless the group has fallen below XON since.
void weft__ether_hold(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                      uint32_t priority);
/// Drops an arriving frame that finds no room in the box.
void weft__ether_drop_full(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p);
/// The box has room again (e->full): neighbours may resume.
void weft__ether_has_room(struct weft__ether *e, struct weft__node *node, struct weft__worker *w);
/// A packet leaves the ingress buffer: its neighbour may resume.
static inline void weft__ether_release(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                                       const struct weft_packet *p) {
    if (e->buffer->release(e->buffer_state, e->conf->buffer.conf, p->port, WEFT_NONE, p->priority, p->bytes) ==
            WEFT_BUFFER_XON &&
        e->xoffs[p->priority] && !e->full)
        weft__ether_want_pause(e, node, w, p->port, p->priority, WEFT_NONE, false);
}
/// A pause or LLDP frame has arrived.
void weft__ether_on_local(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                          const struct weft_packet *p);

// --- frames that leave --------------------------------------------------------------------------------------------

/// The priorities of `ready` that may be sent; the watchdog may overrule a pause.
static inline uint8_t weft__ether_sendable(const struct weft_pfc_conf *pfc, struct weft__port *port, weft_time_ps now,
                                           uint8_t ready) {
    if (__builtin_expect(!port->paused, 1)) return ready;
    uint8_t paused = weft__port_paused(port, now);
    if (pfc->watchdog_action != WEFT_PFC_WATCHDOG_ALERT) paused &= (uint8_t)~port->storm;
    return ready & (uint8_t)~paused;
}
/// Sends frames that end at the neighbour: pause frames before LLDP. The port must be free. `host`: the host that owns
/// it.
void weft__ether_send_local(struct weft__port *port, const struct weft_pfc_conf *pfc, uint32_t host,
                            struct weft__node *node, struct weft__worker *w, uint32_t k);
/// Schedules the port's turn; it must not be set already.
static inline void weft__ether_first_turn(struct weft__port *port, struct weft__node *node, uint32_t k,
                                          weft_time_ps at) {
    weft__timer_add(&node->timers, weft__ether_key(WEFT__ETHER_KEY_TX, k), at);
    port->turn_ps = at;
}
/// The same for any port.
static inline void weft__ether_set_turn(struct weft__port *port, struct weft__node *node, uint32_t k, weft_time_ps at) {
    if (port->turn_ps == at) return;
    if (__builtin_expect(port->turn_ps == WEFT_TIME_NEVER, 1)) {
        weft__ether_first_turn(port, node, k, at);
    } else {
        weft__timer_set(&node->timers, weft__ether_key(WEFT__ETHER_KEY_TX, k), at);
        port->turn_ps = at;
    }
}
/// Arms the port's timer for the next time at which it could send a priority of `ready` or a pending frame.
static inline void weft__ether_arm(struct weft__port *port, struct weft__node *node, weft_time_ps now, uint32_t k,
                                   uint8_t ready) {
    if (!ready && !port->pending) return;
    weft_time_ps at = port->busy_until_ps;
    if (at <= now) at = weft__port_pause_end(port, ready); // the port is free, so every ready priority is paused
    if (at == WEFT_TIME_NEVER) return;                     // a pause without an end: wait for the resume
    weft__ether_set_turn(port, node, k, at);
}
/// The port may be able to send something.
void weft__ether_kick(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k);
/// A frame joins an output queue. False: it is dropped because the port's queues are full or there is a storm.
bool weft__ether_send(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                      const struct weft_packet *p, uint32_t k);
/// Visits every packet in output queues.
void weft__ether_each(const struct weft__ether *e,
                      void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context);

// --- otherwise ----------------------------------------------------------------------------------------------------

/// Runs the watchdog of one port, which has frames to send at the priorities `ready`. Returns the priorities whose
/// storm has begun, and sets its timer.
uint8_t weft__ether_watch(struct weft__port *port, const struct weft_pfc_conf *pfc, struct weft__node *node,
                          struct weft__worker *w, uint32_t k, uint8_t ready, uint8_t *ret_ended);
/// Called after a pause arrives or its timer fires.
void weft__ether_watchdog(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k);
/// A timer of port `k`, below WEFT__ETHER_KEY_OWN. (A box that handles WEFT__ETHER_KEY_TX itself unsets port->turn_ps.)
void weft__ether_on_timer(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t what,
                          uint32_t k);
void weft__ether_sample(const struct weft__ether *e, struct weft__worker *w, uint32_t k);
/// At the end of a run: adds watermarks and ongoing pauses to the counters.
void weft__ether_finish(struct weft__ether *e, weft_time_ps now);
