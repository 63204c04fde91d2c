// SPDX-License-Identifier: Apache-2.0
// The record of one node, and the state needed to decide what is an event and what caused it. It exists only if a run
// is recorded, so devices test for it once per event. It does not change what a device does.
//
// During a run, `cause` and `begins` hold an event's number at its own node, from 1. Causes at another node are filled
// in when the records are merged (sim/events.c).
#pragma once

#include "weft/event.h"
#include "weft/outcome.h"
#include "weft/packet.h"

/// What is open at one port and priority, as event numbers; 0: none.
struct weft__trace_queue {
    // egress queue; what every packet checks is in one line
    _Alignas(64) uint64_t dscps; ///< code points seen
    weft_bytes above;            ///< the next threshold
    int64_t below;               ///< the threshold that it is above, or 0 while it is congested; -1: none
    uint8_t level;               ///< how many thresholds it is above
    uint32_t exceeded[WEFT_EVENT_THRESHOLDS];
    weft_time_ps fell_ps[WEFT_EVENT_THRESHOLDS]; ///< when it fell below a threshold, until that is an event; never: it
                                                 ///< has not
    weft_bytes fell_bytes[WEFT_EVENT_THRESHOLDS];
    uint32_t marking, marks;
    weft_time_ps marked_ps;
    uint32_t congested;
    uint32_t paused, resumed; ///< the last events
    weft_time_ps resumed_ps;
    // ingress
    uint32_t xoff, xon;
    weft_time_ps xoff_ps;
    uint32_t blamed;     ///< egress port
    uint32_t pause_sent; ///< the first frame of a pause
    uint32_t pause_received, storm;
    uint32_t sfc; ///< the message for a source behind this port, to be sent as a pause
};

/// Lost packets or cells, as one event together with other losses shortly before.
struct weft__trace_loss {
    enum weft_event_kind kind; ///< DROPPED or CELLS_LOST; a port has only one of the two
    uint32_t port, priority, qp;
    enum weft_drop reason;
    weft_bytes bytes;
    uint32_t n;
};
struct weft__trace_drop {
    uint32_t event; ///< 0: none yet
    weft_time_ps last_ps;
};

/// A queue pair marked by a queue; numbers below the queue's `marking` are outdated.
struct weft__trace_mark {
    uint32_t qp, queue, marking;
};

/// When a message was sent and by which node. The event of its arrival keeps this in `more` until the records are
/// merged, where it is joined with the event that has the same tag.
static inline uint64_t weft__event_tag_cnp(weft_time_ps sent) {
    return (uint32_t)sent;
}
static inline uint64_t weft__event_tag_sfcm(uint32_t sender, uint64_t sent_ns) {
    return (uint64_t)(sender & 0x3fffu) << 32 | (sent_ns & 31u);
}

/// The destination port of a VOQ, in `more` until the records are merged: the interface node, and which of its Ethernet
/// ports.
static inline uint64_t weft__event_voq(uint32_t in, uint32_t port) {
    return (uint64_t)in << 16 | port;
}

struct weft__port_pause;
struct weft__trace {
    uint32_t node, port0, ports;
    uint32_t limit; ///< events
    uint64_t unrecorded;
    weft_time_ps unrecorded_ps; ///< time of the first one
    struct weft_event *event;
    uint32_t n, capacity;
    struct weft__trace_queue *queue; ///< [ports * WEFT_PRIORITIES]; NULL: ports have no queues
    weft_bytes threshold[WEFT_EVENT_THRESHOLDS];
    uint8_t thresholds_of;         ///< the priorities to which they apply
    struct weft__trace_drop *drop; ///< [ports * WEFT_PRIORITIES * WEFT_DROPS]; NULL before the first
    struct weft__trace_mark *mark; ///< hash table, a power of two
    uint32_t marks, marks_capacity;
    weft_rate_bps *rate_bps; ///< of a NIC: the last recorded rate of its queue pairs
    uint32_t cnp;            ///< the CNP being handled
};

/// `thresholds`: of the AQM for these priorities; NULL: none.
struct weft__trace *weft__trace_new(uint32_t node, uint32_t port0, uint32_t ports, uint32_t limit,
                                    const weft_bytes *thresholds, uint8_t priorities, struct weft_arena *arena);
/// For a box without Ethernet ports.
struct weft__trace *weft__trace_new_of_lanes(uint32_t node, uint32_t port0, uint32_t ports, uint32_t limit,
                                             struct weft_arena *arena);
/// Pending changes become events; nothing may be recorded afterwards.
void weft__trace_finish(struct weft__trace *t);
/// Frees the memory taken during the run, events included.
void weft__trace_release(struct weft__trace *t);

static inline struct weft__trace_queue *weft__trace_queue(const struct weft__trace *t, uint32_t port,
                                                          uint32_t priority) {
    return &t->queue[port * WEFT_PRIORITIES + priority];
}

/// Adds an event of this kind at a port (from 0); the caller may fill in more. NULL: there is no room (counted).
struct weft_event *weft__trace_add(struct weft__trace *t, weft_time_ps now, enum weft_event_kind kind, uint32_t port,
                                   uint32_t priority);
/// The number of an event just added; 0 for NULL.
static inline uint32_t weft__trace_id(const struct weft__trace *t, const struct weft_event *event) {
    return event ? (uint32_t)(event - t->event) + 1 : 0;
}

void weft__trace_on_enqueued(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                             weft_bytes queue_bytes, bool paused);
void weft__trace_on_dequeued(struct weft__trace *t, weft_time_ps now, uint32_t out, uint32_t priority,
                             weft_bytes queue_bytes);

/// A packet was added to an egress queue, which has `queue_bytes` with it.
static inline void weft__trace_enqueued(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p,
                                        uint32_t out, weft_bytes queue_bytes, bool paused) {
    const struct weft__trace_queue *q = weft__trace_queue(t, out, p->priority);
    if (queue_bytes > q->above || !(q->dscps >> p->dscp & 1))
        weft__trace_on_enqueued(t, now, p, out, queue_bytes, paused);
}
/// A packet was removed from it.
static inline void weft__trace_dequeued(struct weft__trace *t, weft_time_ps now, uint32_t out, uint32_t priority,
                                        weft_bytes queue_bytes) {
    if ((int64_t)queue_bytes <= weft__trace_queue(t, out, priority)->below)
        weft__trace_on_dequeued(t, now, out, priority, queue_bytes);
}
void weft__trace_marked(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                        weft_bytes queue_bytes);
/// `cause`: the number of an event, or 0.
void weft__trace_dropped(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t port,
                         enum weft_drop reason, uint32_t cause);

void weft__trace_lost(struct weft__trace *t, weft_time_ps now, const struct weft__trace_loss *loss, uint32_t cause);

/// The port acts on a pause frame. `paused`: what was paused before it; `waiting`: the bytes behind it.
void weft__trace_pause_received(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority,
                                uint8_t classes, uint32_t quanta, bool obeyed);
void weft__trace_paused(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority, weft_bytes waiting);
void weft__trace_resumed(struct weft__trace *t, weft_time_ps at, uint32_t port, uint32_t priority,
                         weft_time_ps paused_ps, enum weft_event_resumed how);
void weft__trace_pause_sent(struct weft__trace *t, weft_time_ps now, uint32_t port, const struct weft_packet *frame,
                            weft_time_ps arrival);
void weft__trace_storms(struct weft__trace *t, weft_time_ps now, uint32_t port, uint8_t begun, uint8_t ended,
                        const struct weft__port_pause *pause, uint32_t row);
/// What keeps an egress queue from being sent, as far back as `since`: a pause there, or else 0.
uint32_t weft__trace_pause_since(const struct weft__trace *t, uint32_t port, uint32_t priority, bool paused,
                                 weft_time_ps since);

void weft__trace_xoff(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority, weft_bytes bytes,
                      uint32_t blamed, uint32_t cause);
void weft__trace_xon(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority, weft_bytes bytes);

/// Source flow control: a message goes to the source of `p`, or arrived for a queue pair behind this port.
void weft__trace_sfc_sent(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                          weft_time_ps pause, weft_bytes queue_bytes);
void weft__trace_sfc_received(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority,
                              const struct weft_packet *message);

/// An event of a queue pair at a NIC.
struct weft_event *weft__trace_qp(struct weft__trace *t, weft_time_ps now, enum weft_event_kind kind, uint32_t flow,
                                  uint32_t qp);
void weft__trace_rate(struct weft__trace *t, weft_time_ps now, uint32_t at_src, uint32_t flow, uint32_t qp,
                      weft_rate_bps rate, weft_rate_bps before, weft_rate_bps line_rate);
