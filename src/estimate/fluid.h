// SPDX-License-Identifier: Apache-2.0
// An estimate under way. Queue pairs are flows of a fluid: a message of one drains at the flow's rate (level.h), then
// it is on its way for as long as its last frame takes alone, and arrives. Ranks step as in a run
// (transport/program.h): they see the same endpoint, with this behind it instead of a NIC and a network. Time is in
// whole picoseconds.
#pragma once

#include "box/box.h"
#include "estimate/level.h"
#include "transport/program.h"
#include "weft/estimate.h"
#include "weft/poster.h"

/// How frames of a queue pair get there, alone.
struct weft__way {
    double base_ps, byte_ps;    ///< from the last bit sent by the NIC: base + byte * bytes of the frame
    double control_ps;          ///< of a control frame from the other end, from its first bit
    uint32_t queue, back;       ///< that waits for credit, of data and of control frames; WEFT_NONE: none
    float acked;                ///< bytes on the wire that one acknowledgement is for
    bool by_nic;                ///< shares links by what its NIC sends
    uint32_t lines;             ///< of its NIC, over which its packets go side by side
    float reach_ps;             ///< later than of the nearest, its first bit is at the receiver's line
    float rtt_ps, window, step; ///< of a window that grows, in bytes on the wire: the first, and by how much; 0: none
};

/// A queue at the entrance to a fabric that waits for credit (credits.c).
enum { WEFT__CREDIT_TURNS = 8 };
struct weft__credit_queue {
    struct weft__box_credit conf;
    double at_ps, surplus, inflow; ///< until when it has been followed; surplus: less than 0: data waits
    double active_ps, line;        ///< when something last came or left; rate of the port where it leaves
    bool asks, granted;            ///< what it said last; whether credit comes
    uint32_t turns, pieces;        ///< pieces: under way
    weft_time_ps drained_ps;       ///< when so many of them drained
    uint32_t drained;
    struct weft__credit_turn {
        double at_ps;
        bool granted;
    } turn[WEFT__CREDIT_TURNS]; ///< when credit will begin to come, or end, in order
};

enum weft__fluid_what {
    WEFT__FLUID_START,  ///< flow `index` starts
    WEFT__FLUID_POST,   ///< piece `index` may be sent
    WEFT__FLUID_BEGIN,  ///< the first piece of queue pair `index` begins to drain, after a pause
    WEFT__FLUID_ARRIVE, ///< its last bit is at the receiver
    WEFT__FLUID_ACK,    ///< its sender knows
    WEFT__FLUID_NOTICE, ///< a rank can use a message of queue pair `index`; or of a flow's last byte its host knows
    WEFT__FLUID_GRANT,  ///< the clear-to-send in piece `index` is there
    WEFT__FLUID_CARRY,  ///< packet `index`, beside the network
    WEFT__FLUID_PIECES, ///< those above are of pieces (pieces.c), those from here on of rings (rings.c)
    WEFT__FLUID_RING = WEFT__FLUID_PIECES, ///< ring `index` is over
    WEFT__FLUID_HOP_GRANT,                 ///< the clear-to-send of hop `index` is there
    WEFT__FLUID_HOP_SENT,                  ///< its sender can go on
    WEFT__FLUID_HOP_CAME,                  ///< its last piece has arrived
};
struct weft__fluid_event {
    weft_time_ps time_ps;
    uint32_t index;
    enum weft__fluid_what what;
};

/// All that is to happen (events.c).
enum { WEFT__EVENT_BLOCK = 62, WEFT__EVENT_LISTS = 65 };
struct weft__events {
    weft_time_ps last_ps, next_ps; ///< the time last taken; the least: WEFT_TIME_NEVER: there is nothing
    uint64_t some;                 ///< bit k - 1: list k has some
    struct weft__event_list {
        uint32_t first, last; ///< blocks; first: WEFT_NONE: empty
        weft_time_ps least_ps, most_ps;
    } list[WEFT__EVENT_LISTS]; ///< 0: those of the time last taken
    uint32_t taken;            ///< from the first block of list 0
    struct weft__event_block *block;
    uint32_t blocks, room, free;
};
void weft__events_init(struct weft__events *e);
void weft__events_deinit(struct weft__events *e);
/// Its time is not before the one last taken.
void weft__events_add(struct weft__events *e, struct weft__fluid_event event);
/// Those of one time in the order in which they were added; there must be one.
struct weft__fluid_event weft__events_take(struct weft__events *e);

/// A message, or the part of it that goes by one queue pair; or a clear-to-send.
struct weft__piece {
    weft_bytes bytes; ///< payload
    double wire;      ///< bytes on the wire
    uint32_t qp, next;
    float took_ps;    ///< to drain
    uint32_t psn_end; ///< of a clear-to-send: what is granted
    uint32_t last;    ///< bytes of the last frame, or of the one before it that it waits for
};

/// A flow of levels, as it drains.
struct weft__drain {
    double left, rate;                ///< bytes on the wire; bytes a picosecond
    weft_time_ps since_ps, begun_ps;  ///< begun: the piece under way
    double acked;                     ///< bytes on the wire for which the window has grown
    weft_bytes posted, arrived, done; ///< of a flow
    weft_time_ps ended_ps;            ///< of the piece before, with such a window; 0: there was none
    uint32_t pairs;                   ///< of a ring: queue pairs that take turns at a member's line
    uint32_t divided;                 ///< of a ring: when its part was found last
    uint32_t first, last;             ///< pieces in order, the first under way; WEFT_NONE: none
    bool begun;                       ///< some piece has
    uint32_t turn;                    ///< of flows of a NIC that end together, those that began earlier are ahead
};

struct weft__fluid {
    struct weft__network net;
    struct weft__forwarding forwarding;
    struct weft__endpoint_ops ops;
    weft_time_ps now_ps;
    struct weft__levels levels; ///< its flows: all queue pairs, then rings
    struct weft__way *way;      ///< [queue pairs]
    struct weft__drain *drain;  ///< [flows of levels]
    uint32_t drains_room, turns;
    struct weft__fluid_port {
        uint32_t link;          ///< of levels; WEFT_NONE: nothing crosses it
        float share;            ///< of what crosses that
    } * port;                   ///< [ports of the topology]
    struct weft__timers drains; ///< by flow: when the piece under way has left
    struct weft__events events;
    struct weft__piece *piece;
    uint32_t pieces, pieces_room, piece_free;
    struct weft__carried {
        struct weft_packet packet;
        uint32_t next;
    } * carried;
    uint32_t carrieds, carrieds_room, carried_free;
    struct weft__credit_queue *queue;
    uint32_t queues, queues_room;
    struct weft__node node; ///< of all programs: their timers
    struct weft__endpoint *end;
    struct weft__poster *poster; ///< [hosts] both
    uint64_t *seed;              ///< [hosts] of draws
    struct weft__line {
        weft_time_ps alone_ps;   ///< until when a packet that found it idle has it
        weft_time_ps drained_ps; ///< when so many of its flows drained
        uint32_t drained;
        uint32_t pieces;         ///< that are posted and have not drained
        weft_time_ps busy_ps;    ///< since when there have been some
        uint32_t drains;         ///< of those that have drained since, how many
        double sent;             ///< and their bytes
        uint32_t active, shared; ///< queue pairs with data; by how many it is divided now
        bool uneven;             ///< in the list of those where that differs too much
    } * line;                    ///< [links of levels], of those where flows begin
    uint32_t *uneven, unevens;   ///< [links]
    uint32_t divisions;
    uint32_t *host_of_key, keys; ///< of timers of programs
    struct weft__rings *rings;
    uint32_t *qp_of_flow;    ///< [flows]: the first one
    uint64_t happened;       ///< events
    double batch, drain_ps;  ///< changes within this part of the time that a drain takes, on average, change rates once
    weft_time_ps settled_ps; ///< when rates last changed
    uint32_t settlings;      ///< so often
    struct weft_arena *arena;
};

static inline struct weft__worker *weft__fluid_worker(struct weft__fluid *x) {
    return &x->net.engine.worker[0];
}
static inline const struct weft_host_conf *weft__fluid_host(const struct weft__fluid *x, uint32_t host) {
    return &x->net.device[x->net.topology->host[host]]->host;
}

/// Bytes on the wire of a full packet of a queue pair.
static inline uint32_t weft__fluid_frame(const struct weft__fluid *x, uint32_t qp) {
    uint32_t more = x->net.hosts.framing_bytes + (uint32_t)weft__fluid_host(x, x->net.qp[qp].src)->wire.overhead_bytes;
    return weft__message_frame_bytes(x->net.qp[qp].mtu, false, x->net.hosts.data_header_bytes) + more;
}

/// Notes what will happen.
void weft__fluid_note(struct weft__fluid *x, weft_time_ps time, enum weft__fluid_what what, uint32_t index);
/// A flow of levels that has just been added: it drains nothing yet.
void weft__fluid_add_drain(struct weft__fluid *x, uint32_t flow);
/// The line where a queue pair begins that shares links by what its NIC sends; WEFT_NONE: of another one.
uint32_t weft__fluid_line(const struct weft__fluid *x, uint32_t qp);
/// So many queue pairs more, or less, take turns at a line.
void weft__fluid_turns(struct weft__fluid *x, uint32_t line, int32_t more);
/// So many bytes of a flow are to drain from now on; `weft__fluid_drained` is called when they have.
void weft__fluid_begin(struct weft__fluid *x, uint32_t flow, double wire);
void weft__fluid_run(struct weft__fluid *x);

/// Links, and the queue pairs' flows over them (ways.c). An error: packets go by a way that is not estimated.
enum weft_status weft__ways_new(struct weft__fluid *x, struct weft_error *ret_error);

/// What queue pairs that share links leave unused of them (controls.c).
void weft__controls_share(struct weft__fluid *x);

// What a queue pair's own end does (bounds.c).
/// The rate at most, for its window and its congestion control; 0: no bound. `way` is known, and gets the window.
double weft__bound_of(const struct weft__fluid *x, uint32_t qp);
/// A piece with so many bytes has drained: how much longer it took because the window grows.
double weft__bound_wait(struct weft__fluid *x, uint32_t qp, double wire);

/// A piece has drained: how long its last packet waits on its way where senders draw ports, or have several lines
/// (draws.c).
double weft__draws_wait(struct weft__fluid *x, uint32_t qp, const struct weft__piece *piece);

// Messages (pieces.c).
/// What hosts of an estimate do instead of a NIC.
extern const struct weft__endpoint_ops weft__fluid_endpoint;
/// Whether a queue pair pauses between messages; then its next one begins later. The first piece of a queue pair begins
/// to drain; it has drained.
bool weft__pieces_pause(struct weft__fluid *x, uint32_t qp);
void weft__pieces_begin(struct weft__fluid *x, uint32_t qp);
void weft__pieces_drained(struct weft__fluid *x, uint32_t qp);
void weft__pieces_on(struct weft__fluid *x, enum weft__fluid_what what, uint32_t index);
/// Bytes on the wire, and what weft__piece.last is.
double weft__piece_wire(const struct weft__fluid *x, uint32_t qp, weft_bytes bytes, uint32_t *ret_last);

// Credits (credits.c).
uint32_t weft__credits_add(struct weft__fluid *x, uint32_t node, uint32_t dst);
/// The data of a queue pair comes at a rate that is so much more, from now on.
void weft__credits_flow(struct weft__fluid *x, uint32_t qp, double more);
/// A piece begins to drain, behind others of its queue pair or not. It has drained: how much later its last frame
/// comes.
void weft__credits_begin(struct weft__fluid *x, uint32_t qp, double wire);
double weft__credits_wait(struct weft__fluid *x, uint32_t qp);
/// A control frame leaves the receiver of a queue pair, the last of some that have left since `first_ps`: how long it
/// waits.
double weft__credits_control(struct weft__fluid *x, uint32_t qp, double first_ps);

// Rings and hops, each as one flow (rings.c).
bool weft__rings_take(struct weft__at *at, uint32_t stream);
/// Its part of a level: that of its slowest member, which takes turns with most others.
float weft__rings_share(const struct weft__fluid *x, uint32_t flow);
/// The bytes that each lane of its members sent.
double weft__rings_drained(struct weft__fluid *x, uint32_t flow);
void weft__rings_on(struct weft__fluid *x, enum weft__fluid_what what, uint32_t ring);
