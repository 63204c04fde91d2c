// SPDX-License-Identifier: Apache-2.0
// What a run keeps of chosen flows, so that it can be told where their time went (weft_sim_options.follow): every frame
// of theirs on every Ethernet link, what kept their senders from sending, pauses of the ports that they used, and what
// ranks of jobs did.
// Nothing that is followed changes what a run does, nor its digest.
#pragma once

#include "weft/memory.h"

enum weft_followed_what {
    WEFT_FOLLOWED_FRAME,    ///< begins to be sent at time_ps
    WEFT_FOLLOWED_PAUSED,   ///< the port may not send `priority`
    WEFT_FOLLOWED_RESUMED,  ///< it may again
    WEFT_FOLLOWED_SENDER,   ///< from now on `state` is what a queue pair's sender is in
    WEFT_FOLLOWED_CELL,     ///< of a cell fabric: came at came_ps, goes out at time_ps
    WEFT_FOLLOWED_CROSS,    ///< a cell of a Clique, came at came_ps: begins to cross a switch to `port` at time_ps
    WEFT_FOLLOWED_STAGE,    ///< a packet enters `state` of its life in a cell fabric
    WEFT_FOLLOWED_FINISHED, ///< packet `psn` of `qp` was the last that the flow's receiver needed
};

/// What a sender that is not sending waits for.
enum weft_sender_state {
    WEFT_SENDER_READY,   ///< its turn, or that its port may send
    WEFT_SENDER_EMPTY,   ///< something to send; an acknowledgement, if all has been sent
    WEFT_SENDER_WINDOW,  ///< an acknowledgement: as much as may be is under way
    WEFT_SENDER_PACED,   ///< the time that its congestion control allows
    WEFT_SENDER_HELD,    ///< the end of a pause by source flow control
    WEFT_SENDER_POSTING, ///< a posted work request: the first bit of its data may not leave yet
    WEFT_SENDER_TELLING, ///< its host, which has not seen that all has completed
};

/// Of a packet in a cell fabric.
enum weft_packet_stage {
    WEFT_STAGE_BLOCKED,   ///< DSF: first of its VOQ, with credits, and no lane or deep buffer lets it go
    WEFT_STAGE_ASKED,     ///< Clique: its RTS is sent; psn and its slot, in busy_ps
    WEFT_STAGE_GRANTED,   ///< Clique: its CTS is sent at time_ps, its RTS came at came_ps; psn is its slot
    WEFT_STAGE_CLEARED,   ///< its credits, or its CTS, are there
    WEFT_STAGE_CUT,       ///< it becomes cells
    WEFT_STAGE_WHOLE,     ///< Clique: all its cells have come
    WEFT_STAGE_DELIVERED, ///< whole and in turn: it joins the queue of its port
};

/// What a cell of a Clique carries.
enum weft_followed_cell {
    WEFT_CARRIES_PACKET,  ///< a packet, whose kind is `kind`; so do all cells of a DSF
    WEFT_CARRIES_SOLICIT, ///< an RTS, CTS or CTD
    WEFT_CARRIES_REQUEST, ///< of 1RMA; qp, psn: the slot of the request and its use, or of a SEND when it began
    WEFT_CARRIES_ANSWER,  ///< likewise
};

struct weft_followed {
    weft_time_ps time_ps;
    // FRAME
    weft_time_ps busy_ps;    ///< until when the port can send nothing else
    weft_time_ps sent_ps;    ///< what the far end waits for has left: all of it, or to cut through its first bytes
    weft_time_ps arrival_ps; ///< the far end acts on it; WEFT_TIME_NEVER: lost on the link
    weft_time_ps came_ps;    ///< CELL, CROSS, STAGE
    uint32_t port;           ///< that it happened at
    uint32_t qp, psn;
    uint8_t what;     ///< enum weft_followed_what
    uint8_t kind;     ///< FRAME, CELL, CROSS: enum weft_packet_kind
    uint8_t priority; ///< FRAME, PAUSED, RESUMED
    uint8_t state;    ///< SENDER: enum weft_sender_state; STAGE; CROSS: it is at its end; CELL, CROSS: VC
    uint8_t cell;     ///< CELL, CROSS: enum weft_followed_cell
    uint16_t box;     ///< REQUEST, ANSWER: the box that asks
};

/// Facts that a rank of a job learns, and acts of the rank. A rank acts as soon as it learns the last fact that it
/// waits for, so the cause of an act is the last fact before it in the rank's list.
enum weft_rank_what {
    // facts
    WEFT_RANK_STARTED,
    WEFT_RANK_TIMED,   ///< a timer has run out: `connection` is which; of a compute, or of a step of a collective
    WEFT_RANK_ARRIVED, ///< a message has come
    WEFT_RANK_ACKED,   ///< a message is acknowledged, its slot is free
    WEFT_RANK_CLEARED, ///< the clear-to-send of a message has come
    WEFT_RANK_FREED,   ///< within a server: so many messages have been taken, `message` is the last of them
    // acts
    WEFT_RANK_COMPUTES, ///< sets timer `connection`
    WEFT_RANK_STEPS,    ///< likewise, for its own part of a step of a collective
    WEFT_RANK_FILLS,    ///< a message is ready to go
    WEFT_RANK_POSTS,    ///< a message goes
    WEFT_RANK_CLEARS,   ///< sends the clear-to-send of a message
    WEFT_RANK_FREES,    ///< within a server: has taken a message
    WEFT_RANK_ENDS,     ///< its iteration `message`, or its schedule
};
enum { WEFT_RANK_FACTS = WEFT_RANK_COMPUTES };
struct weft_rank_note {
    weft_time_ps time_ps;
    uint32_t connection, message; ///< connection: among those of all jobs
    uint32_t op;                  ///< COMPUTES, STEPS, FILLS: iteration * ops + operation; of a schedule, the step
    uint32_t what;                ///< enum weft_rank_what
};

/// What became of an operation of remote memory access, where its client is; and of the requests it makes, where they
/// come. A request of software is a message of a connection: `box` is the connection, `slot` the message, and `flow`
/// what carries it.
enum weft_rma_what {
    // of an operation
    WEFT_RMA_BEGAN,
    WEFT_RMA_SUBMITTED, ///< the client's software has done its part
    WEFT_RMA_COMMANDED, ///< congestion control has let it go: the command goes to the hardware
    WEFT_RMA_READY,     ///< it is at the solicitation window; of software: its request is sent
    WEFT_RMA_LEFT,      ///< its request is sent; no answer will come
    WEFT_RMA_LANDED,    ///< the completion is in the client's memory
    WEFT_RMA_UNSENT,    ///< it waited too long for the window, and begins again
    WEFT_RMA_UNHEARD,   ///< its answer did not come in time, and it begins again
    WEFT_RMA_CHAINED,   ///< the next of its reads begins
    WEFT_RMA_ENDED,
    // of a request: of an operation, or for the data of a write
    WEFT_RMA_ASKED,    ///< its cell is sent
    WEFT_RMA_ANSWERED, ///< the last cell of its answer has come
    WEFT_RMA_CAME,     ///< where it is executed: its cell has come, or its message
    WEFT_RMA_SERVED,   ///< there: software has executed it
    WEFT_RMA_SENT,     ///< there: the last cell of its answer is sent, or its answer is
    WEFT_RMA_PULLS,    ///< there: of a write; it is to be asked for by the request `own_slot`
};
struct weft_rma_note {
    weft_time_ps time_ps;
    uint32_t entry, client, op; ///< of an operation: its entry, the client among those of it, its place there, which
                                ///< another takes when it has ended. client WEFT_NONE: of none
    uint32_t server;            ///< of an operation: the server among those of its entry
    uint32_t box, slot, use;    ///< of a request: the box that asks, where it stands there, and the how many-th there
    uint32_t own_box, own_slot, own_use; ///< PULLS
    uint32_t flow;                       ///< READY, SENT of software
    uint32_t what;                       ///< enum weft_rma_what
};

struct weft_follow_log;
struct weft_follow {
    bool ranks;                  ///< also what ranks of jobs do
    bool rma;                    ///< also what becomes of every operation of 1RMA
    const bool *flow;            ///< [flows]: those whose data is followed; NULL: all
    const bool *port;            ///< [ports]: those of which every frame is kept; NULL: none
    struct weft_follow_log *log; ///< what came of it; lives as long as the outcome. Free it before that.
};
void weft_follow_free(struct weft_follow *follow);

struct weft_followed_list {
    const struct weft_followed
        *followed;      ///< by port: plain frames by time, then senders, then all else, in the order they were noted
    uint64_t *first, n; ///< first: [ports + 1]
};
/// All that was kept, in `arena`. What was noted later of a sender holds, even if it is of an earlier time.
struct weft_followed_list weft_follow_list(const struct weft_follow *follow, struct weft_arena *arena);

/// What a rank noted, in order; ranks are numbered through over all jobs. Lives as long as the log.
const struct weft_rank_note *weft_follow_rank(const struct weft_follow *follow, uint32_t rank, uint32_t *ret_n);
/// Likewise what a node noted of remote memory access.
const struct weft_rma_note *weft_follow_rma(const struct weft_follow *follow, uint32_t node, uint32_t *ret_n);
