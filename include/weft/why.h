// SPDX-License-Identifier: Apache-2.0
// Where the completion time of a flow went: parts that do not overlap and add up to it, along the critical path of its
// last byte. From the packet that completed the flow back over every hop to its sender; there, from the flow's start
// until that packet was sent, by what the sender did or waited for.
//
// At one time one part counts. At the sender, where causes overlap, the first of these: a frame of the flow's queue
// pair on the wire; the packet is sent again; nothing to send; the window; a pause of the port; source flow control;
// the pace of congestion control; a frame of another; arbitration. At a port on the way, of frames or cells: a pause;
// a frame or cell of another; arbitration, or at a link with credits: credits.
#ifndef WEFT_WHY_H
#define WEFT_WHY_H

#include "weft/follow.h"
#include "weft/report.h"

/// X(enumerator, name, meaning)
#define WEFT_WHY_KINDS(X)                                                                                              \
    X(SERIALISATION, "serialisation", "frames of the flow are put on the wire")                                        \
    X(PROPAGATION, "propagation", "on a link")                                                                         \
    X(PROCESSING, "processing", "at a switch or NIC before it acts on the frame")                                      \
    X(QUEUEING, "queueing", "the port sends frames of others")                                                         \
    X(PAUSE, "pause", "the port is paused by PFC")                                                                     \
    X(SFC, "source flow control", "the sender is told to pause")                                                       \
    X(PACE, "pace", "congestion control has lowered the rate")                                                         \
    X(WINDOW, "window", "as much as may be is under way")                                                              \
    X(EMPTY, "nothing to send", "all is sent and unacknowledged, or the job has not given it yet")                     \
    X(REQUEST, "request", "of a READ, until its responder begins")                                                     \
    X(RETRANSMISSION, "retransmission", "what was lost is sent again")                                                 \
    X(ARBITRATION, "arbitration", "its turn has not come, though its port is free")                                    \
    X(CREDITS, "credits", "a virtual output queue waits for credits, or a cell for those of the next switch")          \
    X(CLEAR, "clear-to-send", "from the request to send until it is answered")                                         \
    X(REASSEMBLY, "reassembly", "whole, and those before it are not, or its other cells have not come")                \
    X(FABRIC, "fabric", "of a cell fabric, where no other part was seen")                                              \
    X(HOST, "host", "the receiver takes its data more slowly than it comes, or the job consumes it later")
enum weft_why_kind {
#define X(e, name, help) WEFT_WHY_##e,
    WEFT_WHY_KINDS(X)
#undef X
        WEFT_WHYS
};
extern const char *const weft_why_names[WEFT_WHYS], *const weft_why_helps[WEFT_WHYS];

struct weft_why_part {
    enum weft_why_kind kind;
    const char *where;      ///< a port, a node or a host
    const char *because_of; ///< "" where nothing else is to blame
    weft_time_ps time_ps;
};

struct weft_why {
    uint32_t flow;
    weft_time_ps fct_ps;
    struct weft_why_part *part; ///< in the order of the path; those of one kind, place and cause are one
    uint32_t parts;
};

/// What was followed, by packet; for any number of flows.
struct weft_whys;
/// `follow`: what a run has kept of the flows to be explained. `others` (or NULL): of all frames of the ports that they
/// used; without it nobody is blamed for queueing. In `arena`.
struct weft_whys *weft_whys_new(const struct weft_run *run, const struct weft_follow *follow,
                                const struct weft_follow *others, struct weft_arena *arena);
/// A flow that has not finished, is of remote memory access or was not followed: WEFT_ERROR_INPUT.
enum weft_status weft_why(const struct weft_whys *whys, uint32_t flow, struct weft_why *ret_why,
                          struct weft_error *ret_error);
/// Says in `ret_port` ([ports]) which ports the flow's critical packet and its sender used.
enum weft_status weft_why_ports(const struct weft_whys *whys, uint32_t flow, bool *ret_port,
                                struct weft_error *ret_error);

#endif
