// SPDX-License-Identifier: Apache-2.0
// What happened inside the network, and because of what: the record of a run, kept only when asked for
// (weft_sim_options.record). The events of an outcome stand in one order, by time, then node (before them links that go
// down or up), then as they happened there; the id of an event is its place in that order from 1, so that a cause has a
// smaller id than its effect. The order does not depend on the number of threads. docs/events.md says how causes are
// found.
#pragma once

#include "weft/types.h"

/// What can happen. X(enumerator, name, `value`, `more`, meaning). `port` is where; an event that ends or repeats
/// another names it in `begins`.
#define WEFT_EVENTS(X)                                                                                                 \
    X(FLOW_STARTED, "flow_started", "bytes", "", "a flow starts at its sender (a READ: at its requester)")             \
    X(FLOW_FINISHED, "flow_finished", "completion time, ps", "", "its last byte is at the receiver")                   \
    X(CLASSIFIED, "classified", "DSCP", "ingress port", "the first packet of a DSCP for this egress queue")            \
    X(QUEUE_ABOVE, "queue_above", "bytes", "threshold, bytes", "an egress queue exceeds WRED's min, max or drop")      \
    X(QUEUE_BELOW, "queue_below", "bytes", "threshold, bytes", "and is back at or below it, for 10us at least")        \
    X(MARKING_BEGAN, "marking_began", "bytes queued", "", "the first ECN mark since the queue exceeded WRED's min")    \
    X(MARKING_ENDED, "marking_ended", "packets marked", "", "the last one before it was back at or below WRED's min")  \
    X(FLOW_MARKED, "flow_marked", "bytes queued", "", "the first mark of this queue pair since marking began there")   \
    X(CNP_SENT, "cnp_sent", "", "", "a receiver tells the sender of a queue pair that packets came marked")            \
    X(CNP_RECEIVED, "cnp_received", "", "", "at the sender")                                                           \
    X(RATE_CUT, "rate_cut", "bit/s", "bit/s before", "congestion control slows a queue pair")                          \
    X(RATE_RAISED, "rate_raised", "bit/s", "bit/s before", "by a quarter since the last such event, or to line rate")  \
    X(CONGESTED, "congested", "bytes queued", "queue pairs in it",                                                     \
      "an egress queue that is not paused fills an ingress buffer above XOFF, or up")                                  \
    X(CONGESTED_BY, "congested_by", "bytes queued", "", "one of the queue pairs with most in that queue")              \
    X(DRAINED, "drained", "", "", "that egress queue is empty")                                                        \
    X(SFC_SENT, "sfc_sent", "pause, ns", "bytes queued", "a switch asks the source of a queue pair to pause")          \
    X(SFC_RECEIVED, "sfc_received", "pause, ns", "", "at the source, or at the switch that stands in for it")          \
    X(XOFF, "xoff", "bytes", "egress port that holds most of them",                                                    \
      "a lossless priority's ingress buffer (at a NIC: its receive buffer) exceeds XOFF")                              \
    X(XON, "xon", "bytes", "", "and is at or below XON")                                                               \
    X(PAUSE_SENT, "pause_sent", "quanta; 0: go on", "time at which the peer acts, ps",                                 \
      "a pause frame, for each priority of its class-enable vector (`detail`)")                                        \
    X(PAUSE_RECEIVED, "pause_received", "quanta; 0: go on", "1: obeyed, 0: the priority is not lossless here",         \
      "the frame takes effect at the peer")                                                                            \
    X(PAUSED, "paused", "bytes waiting", "", "a priority that could be sent may not be sent any more")                 \
    X(RESUMED, "resumed", "time paused, ps", "",                                                                       \
      "and may again: by a frame with 0 quanta, by time, or lossless no more")                                         \
    X(STORM_BEGAN, "storm_began", "time paused, ps", "", "the watchdog takes a pause for a storm")                     \
    X(STORM_ENDED, "storm_ended", "", "", "no pause came for the restoration time")                                    \
    X(LOSSLESS, "lossless", "priorities, a bit each", "as before", "agreed with the neighbour (DCBX), or no longer")   \
    X(DROPPED, "dropped", "bytes", "packets", "for one reason, at most 10us apart; the time is that of the first")     \
    X(CELLS_LOST, "cells_lost", "bytes", "cells",                                                                      \
      "in a fabric, likewise summed up; at the port that they were to leave, or came by")                              \
    X(RMA_TIMEOUT, "rma_timeout", "time waited, ps", "port of the server",                                             \
      "1RMA hands a request back to software: no answer in time, or no room in the window (`detail`)")                 \
    X(VOQ_PURGED, "voq_purged", "bytes", "port that gave no credit", "the credit watchdog empties a VOQ of a DSF")     \
    X(THROTTLE_BEGAN, "throttle_began", "level, 1 to 7", "score of congested links",                                   \
      "a DSF interface node grants credits more slowly: too many links are congested (RCI)")                           \
    X(THROTTLE_ENDED, "throttle_ended", "highest level", "", "and does no longer")                                     \
    X(LANE_STOP_SENT, "lane_stop_sent", "1: stop, 0: go on", "time at which the peer acts, ps",                        \
      "link-level flow control of a fabric link")                                                                      \
    X(LANE_STOPPED, "lane_stopped", "cells waiting", "", "a fabric link may carry no more data")                       \
    X(LANE_RESUMED, "lane_resumed", "time stopped, ps", "", "and may again")                                           \
    X(LINK_DOWN, "link_down", "", "", "as scheduled")                                                                  \
    X(LINK_UP, "link_up", "", "", "as scheduled")

enum weft_event_kind {
#define X(e, name, value, more, help) WEFT_EVENT_##e,
    WEFT_EVENTS(X)
#undef X
        WEFT_EVENT_KINDS
};
struct weft_event_info {
    const char *name, *value, *more, *help;
};
extern const struct weft_event_info weft_event_infos[WEFT_EVENT_KINDS];

/// `detail` of QUEUE_ABOVE and QUEUE_BELOW: which of WRED's thresholds.
enum weft_event_threshold { WEFT_EVENT_MIN, WEFT_EVENT_MAX, WEFT_EVENT_DROP, WEFT_EVENT_THRESHOLDS };
/// `detail` of RMA_TIMEOUT: what it waited for.
enum weft_event_rma { WEFT_EVENT_RMA_ANSWER, WEFT_EVENT_RMA_WINDOW };
/// `detail` of RESUMED. That of CLASSIFIED is an enum weft_packet_kind.
enum weft_event_resumed { WEFT_EVENT_BY_FRAME, WEFT_EVENT_BY_TIME, WEFT_EVENT_BY_AGREEMENT };

#define WEFT_EVENT_NO_PRIORITY 255u

struct weft_event {
    weft_time_ps time_ps;
    uint64_t value, more; ///< see WEFT_EVENTS
    uint32_t cause;       ///< id of the event that led to this one; 0: none is known
    uint32_t begins;      ///< id of the event that this one ends or repeats; 0: none
    uint32_t node, port;  ///< port: among all ports
    uint32_t flow, qp;    ///< WEFT_NONE where there is none
    uint8_t kind;         ///< enum weft_event_kind
    uint8_t priority;     ///< or WEFT_EVENT_NO_PRIORITY
    uint8_t
        detail; ///< threshold, packet kind, class-enable vector, by frame or time, drop reason (of cells, too); else 0
};
