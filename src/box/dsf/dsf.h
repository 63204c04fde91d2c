// SPDX-License-Identifier: Apache-2.0
// What both DSF boxes consist of: cells, lanes that carry them, and the choice of a lane.
//
// A cell is a record of the engine like a packet, and carries its packet's fields, so that a fabric node needs no
// further memory and an interface node can rebuild the packet from any of them. It differs from a frame in:
//   bytes    the bytes of the frame in this cell (or train of cells), so that bytes are conserved cell by cell
//   dst      its destination and source (interface nodes), and its number in the packet
//   entropy  number of the packet among those from one interface node to another in a priority, its lower bits; the
//            frame's own is that of its queue pair
//   spare    this is the packet's last cell
//   qp       above the queue pair: the upper bits of that number; it is a part of a cell; the congestion that the cell
//            met (RCI): 0 none, else 1 more than a level of 0 to 2
// With packing, a cell may hold the end of a packet and the beginning of the next, or of several. Each part is a record
// of its own, adjacent on the same lane; the first one has the cell's header.
#pragma once

#include "box/dsf/dsf_conf.h"
#include "box/dsf/dsf_eligible.h"
#include "box/dsf/dsf_outcome.h"
#include "link/port.h"

enum {
    WEFT__CELL_NODE_BITS = 13, ///< interface nodes of a fabric: 8192
    WEFT__CELL_INDEX_BITS = 6,
    WEFT__CELL_SEQUENCE_BITS = 16, ///< lower bits in entropy, the rest in qp
    WEFT__CELL_QP_BITS = 29 - (WEFT__CELL_SEQUENCE_BITS - WEFT_PACKET_ENTROPY_BITS),
};
#define WEFT__CELL_NODES (1u << WEFT__CELL_NODE_BITS)
#define WEFT__CELL_SEQUENCES (1u << WEFT__CELL_SEQUENCE_BITS)
enum { WEFT__CELL_RCI_SHIFT = 30, WEFT__CELL_RCI_LEVELS = 3 }; ///< in qp
#define WEFT__CELL_PART (UINT32_C(1) << 29) ///< in qp: it continues a cell that another packet has begun
#define WEFT__CELL_QP ((UINT32_C(1) << WEFT__CELL_QP_BITS) - 1) ///< the queue pair

static inline uint32_t weft__cell_dst(uint32_t to, uint32_t from, uint32_t index) {
    return to << (WEFT__CELL_NODE_BITS + WEFT__CELL_INDEX_BITS) | from << WEFT__CELL_INDEX_BITS | index;
}
static inline uint32_t weft__cell_to(const struct weft_packet *p) {
    return p->dst >> (WEFT__CELL_NODE_BITS + WEFT__CELL_INDEX_BITS);
}
static inline uint32_t weft__cell_from(const struct weft_packet *p) {
    return p->dst >> WEFT__CELL_INDEX_BITS & (WEFT__CELL_NODES - 1);
}
static inline uint32_t weft__cell_index(const struct weft_packet *p) {
    return p->dst & ((1u << WEFT__CELL_INDEX_BITS) - 1);
}
static inline uint32_t weft__cell_sequence(const struct weft_packet *p) {
    return p->entropy | (p->qp >> WEFT__CELL_QP_BITS << WEFT_PACKET_ENTROPY_BITS & (WEFT__CELL_SEQUENCES - 1));
}
static inline void weft__cell_set_sequence(struct weft_packet *p, uint32_t sequence) {
    p->entropy = sequence & ((1u << WEFT_PACKET_ENTROPY_BITS) - 1);
    p->qp |= sequence >> WEFT_PACKET_ENTROPY_BITS << WEFT__CELL_QP_BITS;
}
static inline bool weft__cell_is_last(const struct weft_packet *p) {
    return p->spare;
}
/// Serial arithmetic: how far a is beyond b; negative if a is before b.
static inline int32_t weft__cell_beyond(uint32_t a, uint32_t b) {
    uint32_t d = (a - b) & (WEFT__CELL_SEQUENCES - 1);
    return d < WEFT__CELL_SEQUENCES / 2 ? (int32_t)d : (int32_t)d - (int32_t)WEFT__CELL_SEQUENCES;
}

static inline uint32_t weft__cell_rci(const struct weft_packet *p) {
    return p->qp >> WEFT__CELL_RCI_SHIFT;
}
/// A cell that finds `found` (cells, or their time) before it, with the first level at `mark`: each level begins at
/// twice the one below.
static inline void weft__cell_mark(struct weft_packet *p, uint64_t found, uint64_t mark) {
    uint32_t rci = found >= 4 * mark ? 3 : found >= 2 * mark ? 2 : 1;
    if (rci > weft__cell_rci(p)) p->qp = (p->qp & ~(UINT32_MAX << WEFT__CELL_RCI_SHIFT)) | rci << WEFT__CELL_RCI_SHIFT;
}

static inline bool weft__cell_is_control(const struct weft_packet *p) {
    return p->kind >= WEFT_PACKET_REQUEST;
}
static inline uint32_t weft__cell_payload(const struct weft_packet *p) {
    return p->bytes + (weft__cell_index(p) ? 0u : (uint32_t)WEFT_CELL_PACKET);
}
static inline bool weft__cell_is_part(const struct weft_packet *p) {
    return p->qp & WEFT__CELL_PART;
}
/// How many cells of data the record stands for: 1 unless it is a train; 0 for a part.
static inline uint32_t weft__cell_count(const struct weft_packet *p) {
    return (weft__cell_payload(p) + WEFT_CELL_PAYLOAD - 1) / WEFT_CELL_PAYLOAD - weft__cell_is_part(p);
}
/// Bytes on the lane.
static inline uint32_t weft__cell_wire(const struct weft_packet *p) {
    if (weft__cell_is_control(p)) return WEFT_CELL_CONTROL;
    return weft__cell_payload(p) + weft__cell_count(p) * WEFT_CELL_HEADER;
}

/// One end of a fabric link. Cells leave in the order in which they arrive, so the time at which a cell leaves is known
/// on arrival, and a lane is not a queue but the time at which it will be free. Control cells overtake data: they wait
/// only for one another, and data is delayed by their time. (A real lane first finishes the cell that it is sending: 21
/// ns at 100G.)
struct weft__cell_lane {
    weft_time_ps busy_until_ps, control_until_ps;
    weft_time_ps delay_ps; ///< from the last bit sent to the effect at the far end
    uint64_t tx_bytes, tx_cells;
    uint32_t peer_node;
    uint16_t peer_port;
    uint8_t peer_inbox;
    uint8_t rate : 7;    ///< index in the box's table
    uint8_t through : 1; ///< the peer is a fabric node, which forwards a train's first cell as soon as that has arrived
    uint32_t rem;        ///< carried remainder of back-to-back cells
    uint32_t wait_ps_max;
    struct weft__port_faults *faults; ///< NULL: a perfect link
};
_Static_assert(sizeof(struct weft__cell_lane) == 64, "one cache line");

struct weft__lane_rate {
    struct weft__speed speed;
    weft_time_ps cell_ps;     ///< time of a full cell, rounded down
    uint64_t cell_reciprocal; ///< 2^64 / cell_ps, rounded up; 0 if cell_ps is 1
    uint32_t cell_rem;
};
struct weft__lane_rate weft__lane_rate_of(struct weft__speed speed);
enum { WEFT__LANE_RATES = 8 }; ///< different rates at one box

/// A box's choice of lanes.
struct weft__spray {
    const uint16_t *set_of; ///< [ins]
    struct weft__lane_set {
        uint32_t first;
        uint16_t n, at; ///< at: the next lane, counted from first
    } * set;
    uint16_t *lane;         ///< in the order of use
    weft_time_ps change_ps; ///< when the next change takes effect
    const struct weft_eligible_change *change;
    uint32_t changes_left;
    bool shuffled;        ///< WEFT_SPRAY_PERMUTATION
    uint16_t *own_set_of; ///< the copy of set_of if it changes
    struct weft_random random;
};

/// `slot`: the lane of a port.
void weft__spray_init(struct weft__spray *spray, const struct weft_eligible_box *eligible, uint32_t ins,
                      const uint16_t *slot, bool shuffled, uint64_t seed, uint32_t who, struct weft_arena *arena);
void weft__spray_change(struct weft__spray *spray, weft_time_ps now);
void weft__spray_shuffle(struct weft__spray *spray, struct weft__lane_set *way);

static inline const struct weft__lane_set *weft__spray_to(struct weft__spray *spray, weft_time_ps now, uint32_t in) {
    if (__builtin_expect(now >= spray->change_ps, 0)) weft__spray_change(spray, now);
    return &spray->set[spray->set_of[in]];
}

/// The lane for the next cell towards `in`; WEFT_NONE: there is none. Must be called in the order of times.
static inline uint32_t weft__spray_pick(struct weft__spray *spray, weft_time_ps now, uint32_t in) {
    struct weft__lane_set *way = (struct weft__lane_set *)weft__spray_to(spray, now, in);
    if (way->n == 1) return spray->lane[way->first];
    if (__builtin_expect(!way->n, 0)) return WEFT_NONE;
    uint32_t lane = spray->lane[way->first + way->at];
    if (++way->at == way->n) {
        way->at = 0;
        if (spray->shuffled) weft__spray_shuffle(spray, way);
    }
    return lane;
}

/// What a box's lanes share.
struct weft__lanes {
    struct weft__cell_lane *lane;
    uint32_t n, rates;
    struct weft__lane_rate rate[WEFT__LANE_RATES];
    weft_rate_bps rate_bps;       ///< of all
    uint64_t lost;                ///< cells lost by links
    struct weft_histogram *cells; ///< cells waiting ahead of each cell on arrival, of its worker; NULL: not counted
    struct weft__trace *trace;    ///< the box's; NULL: not recorded
    const uint16_t *port;         ///< [n] ports of the node; set if recorded
    struct weft__follow *follow;  ///< NULL: not followed
    uint16_t *follow_port;        ///< [n] ports of the node; set if something is followed
    weft_time_ps came_ps;         ///< when the cell to be sent arrived, if it has waited in a queue; 0: it has not
};

/// False: the box has more different rates than it can hold.
bool weft__lanes_connect(struct weft__lanes *lanes, uint32_t lane, const struct weft_link_info *link,
                         struct weft__speed speed, const struct weft__port_peer *peer,
                         struct weft__port_faults *faults);

weft_time_ps weft__lane_time(struct weft__cell_lane *lane, const struct weft__lane_rate *rate, weft_time_ps now,
                             uint32_t wire);
bool weft__lane_loses(struct weft__lanes *lanes, struct weft__cell_lane *lane, struct weft__worker *w,
                      const struct weft_packet *cell, weft_time_ps begin, weft_time_ps end);

/// Records the loss of a cell at this port of the node.
void weft__lanes_note_loss(const struct weft__lanes *lanes, weft_time_ps at, uint32_t port,
                           const struct weft_packet *cell, enum weft_drop reason);
/// Sets lanes->port from the number of each of the node's ports: a lane if below n.
void weft__lanes_record(struct weft__lanes *lanes, struct weft__trace *trace, const uint16_t *slot, uint32_t ports,
                        struct weft_arena *arena);

/// The time until a cell that arrives now would leave.
static inline weft_time_ps weft__lane_wait(const struct weft__cell_lane *lane, weft_time_ps now) {
    return lane->busy_until_ps > now ? lane->busy_until_ps - now : 0;
}

static inline void weft__lane_arrive(const struct weft__cell_lane *lane, struct weft__worker *w,
                                     const struct weft_packet *cell, weft_time_ps arrival) {
    weft__send(w, (struct weft__to){lane->peer_inbox, lane->peer_node, lane->peer_port}, arrival, cell);
}

/// wait / cell_ps without a division: the product's error is below 1 / cell_ps as long as wait * cell_ps is below 2^64,
/// which the comparison ensures.
static inline uint64_t weft__lane_cells(const struct weft__lane_rate *rate, weft_time_ps wait) {
    if (__builtin_expect(wait >= rate->cell_reciprocal, 0)) return wait / rate->cell_ps;
    return (uint64_t)((unsigned __int128)wait * rate->cell_reciprocal >> 64);
}

/// Records how long a cell waits.
static inline void weft__lane_note_wait(struct weft__lanes *lanes, struct weft__cell_lane *lane, weft_time_ps wait) {
    if (lanes->cells) weft_histogram_add(lanes->cells, weft__lane_cells(&lanes->rate[lane->rate], wait));
    if (__builtin_expect(wait > lane->wait_ps_max, 0))
        lane->wait_ps_max = wait < UINT32_MAX ? (uint32_t)wait : UINT32_MAX;
}

/// Notes a data cell that leaves, if it is followed.
void weft__lane_follow(struct weft__lanes *lanes, const struct weft__cell_lane *lane, weft_time_ps now,
                       const struct weft_packet *cell, weft_time_ps begin, weft_time_ps arrival);
/// Notes a data packet that enters a stage, if it is followed.
static inline void weft__lanes_follow_stage(const struct weft__lanes *lanes, weft_time_ps now,
                                            const struct weft_packet *p, uint32_t qp, enum weft_packet_stage stage) {
    if (p->kind == WEFT_PACKET_DATA && weft__follow_has_qp(lanes->follow, qp))
        weft__follow_note(lanes->follow, now, WEFT_FOLLOWED_STAGE, stage, qp, p->psn);
}

/// A data cell leaves at `begin`, when the lane is free.
static inline void weft__lane_transmit(struct weft__lanes *lanes, struct weft__cell_lane *lane, struct weft__worker *w,
                                       const struct weft_packet *cell, weft_time_ps begin) {
    const struct weft__lane_rate *rate = &lanes->rate[lane->rate];
    uint32_t cells = 1, wire = WEFT_CELL_PAYLOAD + WEFT_CELL_HEADER;
    weft_time_ps time = rate->cell_ps;
    if (__builtin_expect(weft__cell_payload(cell) != WEFT_CELL_PAYLOAD || rate->cell_rem, 0)) {
        cells = weft__cell_count(cell);
        wire = weft__cell_payload(cell) + cells * WEFT_CELL_HEADER;
        time = weft__lane_time(lane, rate, begin, wire);
    }
    lane->busy_until_ps = begin + time;
    lane->tx_bytes += wire;
    lane->tx_cells += cells;
    weft__count(w, WEFT__COUNT_CELL_HOPS, cells);
    if (__builtin_expect(lane->faults != NULL, 0) && weft__lane_loses(lanes, lane, w, cell, begin, begin + time))
        return;
    if (__builtin_expect(cells > 1, 0) && lane->through) time = rate->cell_ps;
    if (__builtin_expect(lanes->follow != NULL, 0))
        weft__lane_follow(lanes, lane, w->now_ps, cell, begin, begin + time + lane->delay_ps);
    weft__lane_arrive(lane, w, cell, begin + time + lane->delay_ps);
}

/// A data cell joins the lane; its wait is known to be `wait`.
static inline void weft__lane_send(struct weft__lanes *lanes, struct weft__cell_lane *lane, struct weft__worker *w,
                                   const struct weft_packet *cell, weft_time_ps wait) {
    weft__lane_note_wait(lanes, lane, wait);
    weft__lane_transmit(lanes, lane, w, cell, w->now_ps + wait);
}

/// A control cell overtakes data.
void weft__lane_send_control(struct weft__lanes *lanes, struct weft__cell_lane *lane, struct weft__worker *w,
                             const struct weft_packet *cell);

/// At the end of a run: writes maxima and counts to the counters of the lane's port (at priority 0).
void weft__lane_finish(const struct weft__lanes *lanes, const struct weft__cell_lane *lane,
                       struct weft_counters *counters);

/// Adds what one box counted.
void weft__dsf_sum(struct weft_dsf_outcome *sum, const struct weft_dsf_outcome *one);
