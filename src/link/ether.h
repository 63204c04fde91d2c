// SPDX-License-Identifier: Apache-2.0
// The Ethernet side of a box: what ports of boxes have in common beyond one end of a link (port.h). Frames that come
// are marked and admitted to the ingress buffer; its state makes pauses, which are sent, refreshed and obeyed; there
// are a watchdog for storms, and LLDP and what it agrees on. For boxes without a queueing model there are output
// queues, one a priority, with a scheduler.
//
// A box keeps a struct weft__ether. When it is made it calls weft__ether_init, and weft__ether_start when the node's
// timers are there; the caller connects ether.port[] as any ports. In a run it calls
//
//   weft__ether_on_local   for what neighbours send to it alone (weft_packet_is_local)
//   weft__ether_judge      for a frame to be marked or dropped by the depth of its queue, where the box has one by then
//   weft__ether_enter      for a frame to be admitted; weft__ether_hold when it has not left at once
//   weft__ether_release    when a frame leaves the ingress buffer, sent or discarded
//   weft__ether_send       to send a frame by one of its ports, over an output queue
//   weft__ether_on_timer   for timers of ports, up to WEFT__ETHER_KEY_OWN
//   weft__ether_sample, weft__ether_finish
//
// and says by its operations what is its own. A box that keeps what waits elsewhere (the switch) has no output queues
// and gives ready, purge and kick.
#ifndef WEFT_LINK_ETHER_H
#define WEFT_LINK_ETHER_H

#include "base/fifo.h"
#include "link/port.h"
#include "link/share.h"
#include "weft/aqm.h"
#include "weft/buffer.h"
#include "weft/device.h"

/// Timer keys of a node: eight a port, first those of the Ethernet side; the box's own after all ports.
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

/// What a box does its own way. `k`: one of the ports of its struct weft__ether. All optional with output queues.
struct weft__ether_ops {
    /// Priorities with something that waits to leave by the port.
    uint8_t (*ready)(const struct weft__node *node, uint32_t k);
    /// Discards what waits to leave by the port at these priorities.
    void (*purge)(struct weft__node *node, struct weft__worker *w, uint32_t k, uint8_t priorities);
    /// Something may be sent at the port now, or a pause frame is to be.
    void (*kick)(struct weft__node *node, struct weft__worker *w, uint32_t k);
    /// For the record: an ingress group is above XOFF, by a packet for `out`, or at XON.
    void (*trace_pause)(struct weft__node *node, weft_time_ps now, uint32_t k, uint32_t priority, uint32_t out,
                        bool xoff);
    /// A frame of so many bytes has left its output queue, sent or discarded.
    void (*on_left)(struct weft__node *node, struct weft__worker *w, uint32_t k, uint32_t priority, uint32_t bytes);
    /// Pauses of the neighbour may have changed.
    void (*on_pauses)(struct weft__node *node, struct weft__worker *w, uint32_t k);
};

/// What waits to leave by a port, of all priorities.
struct weft__ether_queues {
    weft_bytes bytes, bytes_max;
};

/// Ports whose frames go through one serialiser behind their queues, in fair turns: no two at a time.
struct weft__ether_group {
    uint32_t ports;
    const uint32_t *port;     ///< [ports], WEFT__SHARERS at most
    struct weft__speed speed; ///< in it; a link is as slow at least
    struct weft__share share;
};

struct weft__ether {
    uint32_t xoffs[WEFT_PRIORITIES]; ///< ports whose neighbour is to pause that priority
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
    bool full; ///< the box has little room, whatever the buffer model says: what comes is above XOFF
    // output queues
    struct weft__ether_queues *queues; ///< [ports]; NULL: what waits is elsewhere
    struct weft__ether_group **group;  ///< [ports] with output queues; NULL: a port by itself
    weft_bytes queues_bytes;           ///< at a port at most
    struct weft_packet_pool *pool;
};

struct weft__ether_setup {
    const struct weft__port_rows *rows;
    uint32_t place; ///< of the first port in them
    const struct weft_switch_conf *conf;
    const struct weft__ether_ops *ops;
    uint32_t ports;
    uint64_t seed;
    uint32_t who;                  ///< names its random numbers
    struct weft_packet_pool *pool; ///< NULL: without output queues
    weft_bytes queues_bytes;
    struct weft_arena *arena;
};
void weft__ether_init(struct weft__ether *e, const struct weft__ether_setup *setup);
/// The queue of a port and priority, without a look at the port.
static inline struct weft__port_queue *weft__ether_queue(const struct weft__ether *e, uint32_t k, uint32_t priority) {
    return weft__port_queue_in(&e->queue[k], e->row_bytes, priority);
}
/// Timers at the beginning. `lldp`: its ports have LLDP.
void weft__ether_start(const struct weft__ether *e, struct weft__node *node, bool lldp);

/// Counted at port `k`.
void weft__ether_drop(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, uint32_t k,
                      enum weft_drop reason);

// --- frames that come ---------------------------------------------------------------------------------------------

/// AQM verdict by `depth` of the queue that it joins; false: dropped and counted at p->port. *ret_mark: to be marked,
/// if it is admitted, and counted at that queue.
bool weft__ether_judge(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, weft_bytes depth,
                       bool *ret_mark);
/// Admission at p->port; false: dropped and counted. *ret_xoff: its ingress group is above XOFF now.
bool weft__ether_enter(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p, bool *ret_xoff);
/// Tells the neighbour at `k` to pause or resume a priority; `out`: because of a packet for that port, or WEFT_NONE.
void weft__ether_tell_pause(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                            uint32_t priority, uint32_t out, bool xoff);
static inline void weft__ether_want_pause(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                                          uint32_t k, uint32_t priority, uint32_t out, bool xoff) {
    const struct weft__port *port = &e->port[k];
    if (port->lossless >> priority & 1 && (port->pfc_xoff >> priority ^ (uint32_t)xoff) & 1)
        weft__ether_tell_pause(e, node, w, k, priority, out, xoff);
}
/// A packet was admitted above XOFF and may still be here: its neighbour is to pause, unless all is well again.
void weft__ether_hold(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k,
                      uint32_t priority);
/// A frame that comes finds no room in the box.
void weft__ether_drop_full(struct weft__ether *e, struct weft__worker *w, const struct weft_packet *p);
/// The box has room again (e->full): neighbours may resume.
void weft__ether_has_room(struct weft__ether *e, struct weft__node *node, struct weft__worker *w);
/// A packet leaves the ingress buffer: its neighbour may be let resume.
static inline void weft__ether_release(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                                       const struct weft_packet *p) {
    if (e->buffer->release(e->buffer_state, e->conf->buffer.conf, p->port, WEFT_NONE, p->priority, p->bytes) ==
            WEFT_BUFFER_XON &&
        e->xoffs[p->priority] && !e->full)
        weft__ether_want_pause(e, node, w, p->port, p->priority, WEFT_NONE, false);
}
/// A pause or LLDP frame came.
void weft__ether_on_local(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                          const struct weft_packet *p);

// --- frames that leave --------------------------------------------------------------------------------------------

/// Priorities of `ready` that may be sent; the watchdog may overrule a pause.
static inline uint8_t weft__ether_sendable(const struct weft_pfc_conf *pfc, struct weft__port *port, weft_time_ps now,
                                           uint8_t ready) {
    if (__builtin_expect(!port->paused, 1)) return ready;
    uint8_t paused = weft__port_paused(port, now);
    if (pfc->watchdog_action != WEFT_PFC_WATCHDOG_ALERT) paused &= (uint8_t)~port->storm;
    return ready & (uint8_t)~paused;
}
/// Sends what goes to the neighbour and no further: pause frames before LLDP. The port must be free. `host`: whose it
/// is.
void weft__ether_send_local(struct weft__port *port, const struct weft_pfc_conf *pfc, uint32_t host,
                            struct weft__node *node, struct weft__worker *w, uint32_t k);
/// Has the port's turn come then; of a port whose turn is not set.
static inline void weft__ether_first_turn(struct weft__port *port, struct weft__node *node, uint32_t k,
                                          weft_time_ps at) {
    weft__timer_add(&node->timers, weft__ether_key(WEFT__ETHER_KEY_TX, k), at);
    port->turn_ps = at;
}
/// Likewise, of any port.
static inline void weft__ether_set_turn(struct weft__port *port, struct weft__node *node, uint32_t k, weft_time_ps at) {
    if (port->turn_ps == at) return;
    if (__builtin_expect(port->turn_ps == WEFT_TIME_NEVER, 1)) {
        weft__ether_first_turn(port, node, k, at);
    } else {
        weft__timer_set(&node->timers, weft__ether_key(WEFT__ETHER_KEY_TX, k), at);
        port->turn_ps = at;
    }
}
/// Arms the port's timer for the next moment at which it could send what is `ready`, or what is pending.
static inline void weft__ether_arm(struct weft__port *port, struct weft__node *node, weft_time_ps now, uint32_t k,
                                   uint8_t ready) {
    if (!ready && !port->pending) return;
    weft_time_ps at = port->busy_until_ps;
    if (at <= now) at = weft__port_pause_end(port, ready); // free, so all that is ready is paused
    if (at == WEFT_TIME_NEVER) return;                     // until it is resumed
    weft__ether_set_turn(port, node, k, at);
}
/// The port may be able to send something.
void weft__ether_kick(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k);
/// A frame joins an output queue, or is dropped: the port's queues are full, or there is a storm.
void weft__ether_send(struct weft__ether *e, struct weft__node *node, struct weft__worker *w,
                      const struct weft_packet *p, uint32_t k);
/// Every packet in output queues.
void weft__ether_each(const struct weft__ether *e,
                      void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context);

// --- otherwise ----------------------------------------------------------------------------------------------------

/// The watchdog of one port, whose priorities `ready` have something to send: those whose storm has begun. Sets its
/// timer.
uint8_t weft__ether_watch(struct weft__port *port, const struct weft_pfc_conf *pfc, struct weft__node *node,
                          struct weft__worker *w, uint32_t k, uint8_t ready, uint8_t *ret_ended);
/// After a pause came, or when its timer fires.
void weft__ether_watchdog(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t k);
/// A timer of port `k`, below WEFT__ETHER_KEY_OWN. (A box that takes WEFT__ETHER_KEY_TX itself unsets port->turn_ps.)
void weft__ether_on_timer(struct weft__ether *e, struct weft__node *node, struct weft__worker *w, uint32_t what,
                          uint32_t k);
void weft__ether_sample(const struct weft__ether *e, struct weft__worker *w, uint32_t k);
/// Watermarks and lasting pauses into the counters, at the end of a run.
void weft__ether_finish(struct weft__ether *e, weft_time_ps now);

#endif
