// SPDX-License-Identifier: Apache-2.0
// The DSF interface node (IN): Ethernet ports on one side, lanes of cells on the other. See dsf_in.c for the life of a
// packet in it.
//
// Control cells have the fields of cells, plus:
//   request  qp: the port at the destination and the priority; dscp: the VOQ's state; psn: the VOQ at the source;
//            entropy: number of the request among those of the VOQ, because one may overtake another on other lanes
//   credit   qp: bytes; psn: the VOQ at the source; entropy: the priority (for the record only)
#pragma once

#include "box/dsf/dsf_known.h"
#include "box/dsf/dsf_llfc.h"
#include "box/dsf/dsf_outside.h"
#include "link/ether.h"
#include "transport/qp.h"

/// The state that a VOQ last reported to the scheduler of its port: how many eighths of its turns it takes.
enum {
    WEFT__VOQ_SATISFIED = 0, ///< it needs nothing
    WEFT__VOQ_REQUEST = 8,   ///< it asks at the full rate; below, slowly
};

/// Fewer than half of these are in flight for a VOQ at any time: the bits that a record has for them.
enum { WEFT__REQUEST_NUMBERS = 1 << 14 };

/// At the source: packets for one port of one interface node, in one priority.
struct weft__voq {
    struct weft__fifo fifo;
    int64_t balance;  ///< bytes that may be sent; the last packet may overdraw it
    weft_bytes bytes; ///< held
    uint32_t to;      ///< interface node
    uint16_t port;    ///< its number among the Ethernet ports
    uint8_t priority, state;
    bool waits;             ///< it is in the ring of those that wait for lanes
    uint32_t next;          ///< the next one in that ring
    weft_time_ps credit_ps; ///< time of the last credit, or when it began to hold packets
    weft_time_ps asked_ps;  ///< last request
    weft_time_ps active_ps; ///< time of the last packet in or out
    weft_bytes bytes_max;
    uint32_t hbm;   ///< how many of its packets are in HBM: the last ones
    uint16_t asked; ///< number of the next request, modulo WEFT__REQUEST_NUMBERS
};

/// At the destination: a VOQ as its port sees it.
struct weft__credit_flow {
    uint32_t from, voq; ///< its interface node, and its number there
    uint32_t next;      ///< the next one in the ring of those that ask
    uint16_t port;
    uint8_t priority, state;
    bool ringed;
    uint8_t turns;       ///< eighths of a turn saved up
    uint16_t heard;      ///< number of the next request that is new
    int64_t outstanding; ///< granted and not yet arrived
};

/// Open addressing from keys to numbers, which start at 0 in the order of appearance.
struct weft__number_table {
    struct weft__numbered {
        uint64_t key; ///< key + 1; 0: empty
        uint32_t number;
    } * slot;
    uint32_t n, mask; ///< mask + 1 slots
};
/// Where a search for the key begins; it mostly ends there as well.
static inline const struct weft__numbered *weft__number_slot(const struct weft__number_table *table, uint64_t key) {
    return &table->slot[(uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & table->mask];
}
/// The number of `key` if the search ends where it begins; else any number, or WEFT_NONE. For prefetching.
static inline uint32_t weft__number_guess(const struct weft__number_table *table, uint64_t key) {
    if (!table->slot) return WEFT_NONE;
    const struct weft__numbered *slot = weft__number_slot(table, key);
    return slot->key ? slot->number : WEFT_NONE;
}
/// The number of `key`; *ret_new: it was new.
uint32_t weft__number_of(struct weft__number_table *table, uint64_t key, bool *ret_new);
void weft__numbers_deinit(struct weft__number_table *table);

/// At the destination: packets from one interface node at one priority, reassembled and put in order.
struct weft__in_stream {
    struct weft__assembly *slot; ///< [mask + 1], indexed by sequence
    uint32_t mask, from;
    uint16_t expected; ///< number of the next packet to be delivered
    uint8_t priority;
    uint32_t pending; ///< slots in use
};
/// A packet of which cells have arrived, two to a cache line. bytes: of these cells, 0: none has arrived. dst: how many
/// cells (or trains) have arrived, and of how many, as below.
struct weft__assembly {
    struct weft_packet packet;
};
_Static_assert(sizeof(struct weft__assembly) == sizeof(struct weft_packet), "no more than that");
static inline bool weft__assembly_is_used(const struct weft__assembly *a) {
    return a->packet.bytes;
}
enum { WEFT__ASSEMBLY_OF = 16 }; ///< in dst, above the number that have arrived: the total; 0: not yet known
static inline bool weft__assembly_is_whole(const struct weft__assembly *a) {
    return a->packet.dst >> WEFT__ASSEMBLY_OF == (a->packet.dst & ((1u << WEFT__ASSEMBLY_OF) - 1));
}

/// The credit scheduler of an Ethernet port.
struct weft__in_port {
    uint32_t ring[WEFT_PRIORITIES]; ///< last of the asking flows, in a ring; WEFT_NONE: none
    uint8_t ring_mask;              ///< priorities with asking flows
    uint16_t node_port;             ///< among all ports of the node
    weft_time_ps credit_ps,
        slow_credit_ps;          ///< time per credit: at the port's rate times the speed-up, and divided by it
    weft_time_ps next_credit_ps; ///< not before
    struct weft_scheduler_state scheduler;
};

/// The deep buffer. Every packet in a VOQ is on chip, in HBM, or being written there.
struct weft__hbm {
    struct weft__hbm_direction {
        weft_time_ps busy_until_ps;
        uint64_t rem;
    } write, read;
    weft_bytes bytes;
    weft_bytes watch_bytes; ///< while all VOQs together hold no more, none can hold too much on chip
    weft_bytes voq_room;    ///< room for VOQs on chip
};

struct weft__in {
    // line 1: used by every cell that arrives
    uint32_t *stream_of; ///< [ins * WEFT_PRIORITIES]: stream + 1; 0: none yet
    struct weft__in_stream *stream;
    const uint16_t *slot; ///< per port: its lane, or WEFT__IN_ETHERNET + its number among Ethernet ports
    const struct weft__hosts *hosts;
    const struct weft_interface_conf *conf;
    const uint32_t *in_of_host; ///< [hosts]
    const uint16_t *port_of_host;
    uint32_t self;                       ///< own number
    const struct weft__outside *outside; ///< NULL: all hosts are inside the fabric
    struct weft__known *known;           ///< NULL: it always knows all other interface nodes
    // used by every packet
    struct weft__in_port *port; ///< [ether.ports]
    struct weft__voq *voq;
    uint64_t *voq_marked; ///< per VOQ: marked packets; not stored with what every packet touches
    struct weft__number_table voqs;
    uint16_t *sequence; ///< [ins * WEFT_PRIORITIES]: number of the next packet
    struct weft__ether ether;
    struct weft_dsf_preset preset; ///< of its VOQs
    struct weft__spray spray;
    struct weft__lanes lanes;
    struct weft__lane_queues *queues; ///< NULL: no link-level flow control
    uint32_t waiting;                 ///< last of the ring of VOQs that wait for lanes; WEFT_NONE: none
    struct weft__credit_flow *flow;
    struct weft__number_table flows;
    uint32_t voq_capacity, flow_capacity, streams, stream_capacity;
    weft_bytes voq_bytes, voq_bytes_max, reassembly_bytes, reassembly_bytes_max;
    struct weft__hbm hbm;
    // congestion of the fabric
    uint8_t *port_rci;  ///< [node_ports]: of the last cell that came by a lane since the last check
    double rci_ports;   ///< rate of all Ethernet ports over that of the chip for which counts of cells hold; at least 1
    uint32_t rci_level; ///< 0 to 7
    weft_time_ps rci_ps;                          ///< time of the next check
    weft_time_ps throttled_until_ps, throttle_ps; ///< when the box may grant its next credit; time between two, 0: no
                                                  ///< limit
    // rarely used
    struct weft__trace *trace;
    uint32_t throttle_event, throttle_level; ///< the event that began a throttle, and its highest level
    uint32_t node_ports;
    const bool *sampled; ///< [node_ports] or NULL
    struct weft__sampling sampling;
    uint32_t port0;                 ///< its first port among all
    struct weft_dsf_outcome counts; ///< of this box; the rest is filled in at the end
};

enum { WEFT__IN_ETHERNET = 0x8000 };

/// Timer keys after those of the Ethernet side: of an Ethernet port, those of the box, and one per lane where there is
/// link-level flow control.
enum { WEFT__IN_KEY_CREDIT = WEFT__ETHER_KEY_OWN };
enum {
    WEFT__IN_KEY_REASSEMBLY,
    WEFT__IN_KEY_VOQS,
    WEFT__IN_KEY_ROOM,
    WEFT__IN_KEY_CHIP,
    WEFT__IN_KEY_SAMPLE,
    WEFT__IN_KEY_LANES
};

static inline uint32_t weft__in_box_key(const struct weft__in *in, uint32_t what) {
    return in->ether.ports * WEFT__ETHER_KEYS_A_PORT + what;
}

/// The key of a VOQ at its source, which is the same at its port.
static inline uint64_t weft__in_voq_key(uint32_t in, uint32_t port, uint32_t priority) {
    return ((uint64_t)in << 16 | port) << 3 | priority;
}

static inline bool weft__in_is_outside(const struct weft__in *in, uint32_t host) {
    return __builtin_expect(in->outside != NULL, 0) && in->outside->fabric_of_host[host] != in->outside->fabric;
}

/// Whether a lane leads to the interface node `to`. Must be called in the order of times.
static inline bool weft__in_has_way(struct weft__in *in, weft_time_ps now, uint32_t to) {
    return to == in->self || weft__spray_to(&in->spray, now, to)->n;
}

struct weft__in_setup {
    const struct weft__port_rows *rows;
    const struct weft_interface_conf *conf;
    const struct weft_switch_conf *ethernet;
    const struct weft__hosts *hosts;
    const struct weft_eligible_box *eligible;
    const uint32_t *in_of_host;
    const uint16_t *port_of_host;
    const struct weft__outside *outside;
    struct weft__known *known;
    uint32_t self, ins, who, node_ports;
    const bool *is_fabric; ///< [node_ports]
    const bool *sampled;
    struct weft__sampling sampling;
    uint64_t seed;
    struct weft_packet_pool *pool;
    bool lldp, llfc;                  ///< llfc: some box of the fabric has it
    struct weft_dsf_histograms *seen; ///< of its worker
    uint32_t node, port0, events_max;
    struct weft_arena *arena;
};
extern const struct weft__node_ops weft__in_ops;
extern const struct weft__ether_ops weft__in_ether_ops;
/// The caller connects ports and lanes, then calls weft__in_start. Initialises the node's timers.
struct weft__in *weft__in_new(const struct weft__in_setup *setup, struct weft__node *node);
/// Computes what depends on the rates of ports and lanes.
void weft__in_start(void *state);
/// Fills in the counters of its ports, and adds its counts to the sum.
void weft__in_finish(struct weft__in *in, weft_time_ps now, struct weft_dsf_outcome *sum);
void weft__in_deinit(void *state);
weft_bytes weft__in_held(const void *state);
/// Packets that wait here for an Ethernet port of the same box; packet->port and `out` are numbers among all ports of
/// the node.
void weft__in_each_waiting(const void *state,
                           void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context);

// dsf_in_voq.c: VOQs
/// A packet joins a VOQ.
void weft__in_enqueue(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p,
                      uint32_t voq);
/// The VOQ for a port of the interface node `to`.
uint32_t weft__in_voq(struct weft__in *in, uint32_t to, uint32_t port, uint32_t priority);
void weft__in_on_credit(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t voq,
                        uint32_t bytes);
/// Lanes have room again: serves the VOQs that wait for them, in turn.
void weft__in_on_lanes(struct weft__node *node, struct weft__in *in, struct weft__worker *w);
void weft__in_look_at_voqs(struct weft__node *node, struct weft__in *in, struct weft__worker *w);

// dsf_in_hbm.c: the deep buffer
void weft__in_hbm_start(struct weft__in *in);
/// Whether an arriving packet finds room on chip. Called if VOQs hold more than hbm.watch_bytes.
bool weft__in_hbm_room(const struct weft__in *in, weft_time_ps now, uint32_t bytes);
/// A packet has joined a VOQ: decides whether it goes to HBM. Called if VOQs hold more than hbm.watch_bytes or this one
/// has packets there.
void weft__in_hbm_store(struct weft__node *node, struct weft__in *in, weft_time_ps now, struct weft__voq *v,
                        uint32_t bytes);
/// Whether the first packet of a VOQ is in HBM.
static inline bool weft__voq_is_in_hbm(const struct weft__voq *v) {
    return __builtin_expect(v->hbm > 0, 0) && v->hbm == v->fifo.n;
}
/// The first packet leaves HBM, read or discarded.
void weft__in_hbm_take(struct weft__in *in, weft_time_ps now, struct weft__voq *v, uint32_t bytes, bool read);
/// There may be room on chip again.
void weft__in_hbm_look(struct weft__node *node, struct weft__in *in, struct weft__worker *w);

// dsf_in_credit.c: the scheduler of credits
void weft__in_on_request(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t from,
                         const struct weft_packet *request);
void weft__in_grant(struct weft__node *node, struct weft__in *in, struct weft__worker *w, uint32_t port);
/// Something has changed that credits may have been waiting for.
void weft__in_arm_credits(struct weft__node *node, struct weft__in *in, weft_time_ps now, uint32_t port);
/// RCI: a score of congestion. `links`: how many are at each level; `egress_cells`: what waits at the Ethernet ports.
uint32_t weft__in_rci_score(const double links[WEFT__CELL_RCI_LEVELS], double severe_links, uint64_t egress_cells);
/// The level of a score, from 0 to 7.
uint32_t weft__in_rci_level(uint32_t score);
/// The time between two credits of a box with this total rate of its lanes; 0: no limit.
weft_time_ps weft__in_rci_gap(weft_rate_bps lanes_bps, uint32_t level, weft_bytes credit);
/// A packet of this size has arrived.
void weft__in_on_arrived(struct weft__in *in, uint32_t from, uint32_t port, uint32_t priority, uint32_t bytes);
/// Sends a control cell to another interface node.
void weft__in_send_control(struct weft__in *in, struct weft__worker *w, struct weft_packet *cell, uint32_t to);

// dsf_in_reassembly.c
void weft__in_on_cell(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                      const struct weft_packet *cell);
void weft__in_give_up(struct weft__node *node, struct weft__in *in, struct weft__worker *w);
