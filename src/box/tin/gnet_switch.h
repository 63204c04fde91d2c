// SPDX-License-Identifier: Apache-2.0
// The cell switch of a TiN: input FIFOs, one per virtual channel (VC), with credits at the far end; a crossbar; at each
// output a short queue per VC. See gnet_switch.c.
//
// Ports are numbers below 64, so that sets of them are words: a GNet port has its number at the node, endpoints have
// the remaining numbers. An endpoint injects cells (weft__gnet_inject) and receives cells for it (on_cell).
#pragma once

#include "box/tin/gnet_queue.h"
#include "box/tin/gnet_trace.h"
#include "box/tin/tin_outcome.h"
#include "control/clique/clique_timeline.h"
#include "link/port.h"
#include "weft/random.h"

enum { WEFT__GNET_PORTS = 64 };

/// Times of cells, and trains of them, at one rate, by size, rounded up.
struct weft__gnet_times {
    weft_rate_bps rate;
    double overhead;
    uint32_t ps[WEFT_GNET_TRAIN_MAX * WEFT_GNET_CELL_MAX + 1];
};

enum { WEFT__GNET_SET_UNKNOWN = 0xffff, WEFT__GNET_NOT_DRAWN = 0xff };

/// A cell's paths as known before its turn: their number in the tables, and two of the minimal ones, drawn at random.
struct weft__gnet_known {
    uint16_t set;
    uint8_t drawn[2];
};
static inline struct weft__gnet_known weft__gnet_known_set(uint16_t set) {
    return (struct weft__gnet_known){set, {WEFT__GNET_NOT_DRAWN, WEFT__GNET_NOT_DRAWN}};
}

/// What a cell needs that meets no other, in one cache line.
struct weft__gnet_in {
    weft_time_ps busy_until_ps; ///< a cell is crossing until then
    uint64_t back;              ///< outputs that its cells must not take
    uint32_t waiting;           ///< VCs with cells
    uint32_t peer_node;         ///< of credits
    uint16_t queue;             ///< first queue of its VCs; 0: no cell waits
    uint8_t peer_port, peer_inbox;
    uint8_t accept_at, vc_at; ///< iSLIP: the pointer over outputs, and one over VCs
    /// rate: of its link, in the table (WEFT__GNET_NO_LINK: an endpoint); cross: for the time of a crossing.
    uint8_t rate : 4, cross : 4;
    uint8_t batch_units;         ///< credits that are returned together
    uint8_t owed[WEFT_GNET_VCS]; ///< units of credit not yet returned
};
_Static_assert(sizeof(struct weft__gnet_in) == 64, "a line");

/// The same for outputs: one cache line, and one for credits.
struct weft__gnet_out {
    weft_time_ps busy_until_ps, delay_ps;
    uint64_t requests;                 ///< inputs with a cell that requests it
    uint32_t room, queued, creditable; ///< VCs with room for a cell, with cells, and with credits for a cell
    uint32_t peer_node;
    uint32_t tx_cells, tx_bytes; ///< since they were last carried over
    uint16_t queue;              ///< as for an input
    int16_t turn_bytes;          ///< bytes that VC `turn` may still send
    uint8_t turn;                ///< VC whose turn it is
    uint8_t grant_at;            ///< iSLIP: the pointer over inputs
    uint8_t peer_port, peer_inbox;
    uint8_t rate : 4, cross : 4; ///< as for an input
    union {
        _Alignas(64) int16_t credits[WEFT_GNET_VCS]; ///< for FIFOs at the far end
        struct weft_packet cell;                     ///< the one crossing to an endpoint, which has no queues
    };
};
_Static_assert(sizeof(struct weft__gnet_out) == 2 * 64, "two lines");

/// Rarely needed data of a port.
struct weft__gnet_port {
    uint64_t tx_cells, tx_bytes;            ///< carried over
    weft_time_ps starved_ps[WEFT_GNET_VCS]; ///< since when a VC's first cell has lacked credits; 0: it does not
    uint64_t stalls;                        ///< of the output: for lack of credits
    weft_time_ps stall_ps;
    int32_t credits; ///< units over all VCs when the far end is empty
    struct weft__port_faults *faults;
    const struct weft__port_tap *tap; ///< NULL: not captured
};

/// Turns at an output whose VCs have their own turns.
struct weft__gnet_turns {
    uint8_t vc_at;                   ///< VC that is granted next
    uint8_t input_at[WEFT_GNET_VCS]; ///< input that a VC is granted to next
    uint8_t first_at;                ///< next VC among those with strict priority
};

/// Timers of ports, soonest first. They are many, and most are set to be the last. A word is the time, then the key.
enum { WEFT__GNET_DUE_BITS = 7, WEFT__GNET_DUES = 1 << WEFT__GNET_DUE_BITS };
enum { WEFT__GNET_DUE_FIRST = 16 }; ///< after a visit the soonest stands no further back
_Static_assert(WEFT__GNET_DUES == 2 * WEFT__GNET_PORTS, "inputs, then outputs");
struct weft__gnet_due {
    uint32_t first, end;                ///< of the timers that are set; word[end] is UINT64_MAX
    uint64_t word[2 * WEFT__GNET_DUES]; ///< the word before the first is an expired one, or 0
};

/// Moves them to the front, where the cache has them.
static inline void weft__gnet_due_settle(struct weft__gnet_due *d) {
    uint32_t n = 1;
    for (uint32_t i = d->first; i <= d->end; i++)
        d->word[n++] = d->word[i];
    d->first = 1;
    d->end = n - 1;
}

static inline void weft__gnet_due_set(struct weft__gnet_due *d, uint32_t key, weft_time_ps time) {
    uint64_t word = time << WEFT__GNET_DUE_BITS | key;
    if (__builtin_expect(d->end == 2 * WEFT__GNET_DUES - 1, 0)) weft__gnet_due_settle(d);
    uint32_t i = d->end++;
    d->word[d->end] = UINT64_MAX;
    for (; d->word[i - 1] > word; i--)
        d->word[i] = d->word[i - 1];
    d->word[i] = word;
}

/// The soonest time; if there is none, later than any.
static inline weft_time_ps weft__gnet_due_next(const struct weft__gnet_due *d) {
    return d->word[d->first] >> WEFT__GNET_DUE_BITS;
}

static inline uint32_t weft__gnet_due_pop(struct weft__gnet_due *d) {
    return (uint32_t)d->word[d->first++] & (WEFT__GNET_DUES - 1);
}

/// Tables of a Clique. The first are those with all links up; the controller's changes are in `timeline`. Of the
/// others, only the escape paths are used, each from a certain time on.
struct weft__gnet_tables {
    uint32_t n;
    const weft_time_ps *from_ps;
    const struct weft_gnet_routes *const *routes;
    const struct weft_clique_timeline *timeline; ///< NULL: nothing changes
    /// [pod * tins + destination]: columns of the first tables, and of changing ones.
    const uint16_t *column, *column_changing;
};
/// Finds the columns, in `arena`.
void weft__gnet_find_columns(struct weft__gnet_tables *tables, struct weft_arena *arena);

/// Rows of weft__gnet.depth: of outputs the most bytes that a VC had, of inputs the most units, and those of a FIFO.
enum { WEFT__GNET_MOST_BYTES = WEFT_GNET_VCS, WEFT__GNET_MOST_UNITS, WEFT__GNET_FIFO_UNITS, WEFT__GNET_DEPTHS };

/// Kinds of endpoints that cells use. Those of IP are the NIC's and the Ethernet port's; the control processor shares
/// the latter.
enum weft__gnet_endpoint {
    WEFT__GNET_IP,
    WEFT__GNET_RMA,
    WEFT__GNET_NIC,
    WEFT__GNET_ETHERNET,
    WEFT__GNET_ENDPOINTS,
};
enum { WEFT__GNET_FETCH_BITS = 12 }; ///< of a slot of the egress buffer

enum { WEFT__GNET_HEAD_LINES = 15, WEFT__GNET_RATES = 16, WEFT__GNET_NO_LINK = WEFT__GNET_RATES - 1 };

struct weft__gnet {
    // what every visit needs, in WEFT__GNET_HEAD_LINES
    uint64_t crossing_armed, sending_armed; ///< inputs, outputs with a timer
    uint64_t down;                          ///< outputs whose link has failed
    uint64_t links, endpoints;              ///< ports of each kind
    uint64_t special;                       ///< outputs whose link may lose cells, or is captured
    uint64_t wanted;                        ///< outputs that inputs request
    uint64_t taken; ///< inputs from which a cell is crossing, or was the last to, that its endpoint has taken

    struct weft__gnet_in *in;            ///< [ports]
    struct weft__gnet_out *out;          ///< [ports]
    uint16_t (*depth)[WEFT__GNET_PORTS]; ///< [VC][output]: waiting bytes, and some more rows
    const uint16_t *set_of;              ///< of the tables in force
    const struct weft_gnet_set *set;
    const uint16_t *column; ///< [destination]
    const struct weft_tin_conf *conf;
    const struct weft__gnet_times *const *times; ///< [WEFT__GNET_RATES]

    struct weft__gnet_cells cells;
    struct weft__gnet_queues queues;
    weft_time_ps change_ps; ///< the tables are in force until then
    uint64_t random;        ///< of ways

    uint16_t columns, self;
    bool draws;       ///< most cells use randomly drawn paths
    bool has_outward; ///< some packets leave by the Ethernet port
    /// A cell for an endpoint of this TiN has arrived.
    void (*on_cell)(struct weft__node *node, struct weft__worker *w, struct weft_packet *cell, uint32_t port);
    /// A cell starts to cross to an endpoint, until `end`. The endpoint may take it at once if nothing happens before
    /// the next one. Returns the input of the crossing cell for which on_cell must be called: `in`, for this cell, or
    /// the input of one taken earlier; WEFT_NONE: this cell is taken. NULL: no cell is taken early.
    uint32_t (*on_crossing)(struct weft__node *node, const struct weft_packet *cell, uint32_t in, weft_time_ps end);
    struct weft__gnet_tracer *tracer;     ///< NULL: no cell is traced
    struct weft__gnet_ugal *ugal;         ///< NULL: cells take the ways of the tables
    struct weft__gnet_channels *channels; ///< allocated in steps; NULL: with outputs, as soon as may be
    uint64_t inter_pod;                   ///< inputs after which a cell has the next VC, see weft_gnet_next_vc
    uint64_t lates, insistent; ///< outputs that keep an input in mind (`late`); that have passed over it too often
    uint64_t held;             ///< inputs that are held for such an output

    weft_time_ps lag_ps;                    ///< for cells that endpoints inject
    uint64_t ways_minimal, ways_nonminimal; ///< chosen by adaptive routing
    /// By kind of endpoint: for sending, and for receiving.
    uint16_t turn[WEFT__GNET_ENDPOINTS], arrival_turn[WEFT__GNET_ENDPOINTS];
    uint16_t lump;                                                ///< bytes of the longest cell, or train of them
    uint8_t first[WEFT__GNET_ENDPOINTS], n[WEFT__GNET_ENDPOINTS]; ///< of each kind, in `endpoint`
    weft_time_ps *credit_delay_ps;                                ///< [ports] of links
    uint8_t endpoint[WEFT__GNET_PORTS];                           ///< ports
    uint8_t row0[WEFT__GNET_PORTS]; ///< first row of the table for cells that arrive by a port
    /// By key of a timer: the output of the crossing (or last) cell of an input, or the sending output.
    uint8_t crossing_to[WEFT__GNET_DUES];
    uint8_t crossing_from[WEFT__GNET_PORTS]; ///< input of the crossing (or last) cell to an output
    struct weft__gnet_coming coming;
    struct weft__gnet_due due;
    // rarely used
    uint32_t key0; ///< the key of the timer for failures of links
    const struct weft__gnet_tables *tables;
    const struct weft_gnet_routes *routes;      ///< of which the escape paths are used
    uint32_t epoch;                             ///< the next of them
    uint32_t changed;                           ///< changes of the timeline that are in force
    const struct weft_clique_tin_timeline *own; ///< NULL: its table does not change
    const struct weft_clique_transition *transition;
    struct weft_tin_transition *seen; ///< [transitions]
    uint32_t transitions, transition_at;
    const struct weft_tin *tin;
    /// Per output: an input that was busy when the output was free, and how many others it has taken since.
    uint8_t late[WEFT__GNET_PORTS], passed[WEFT__GNET_PORTS];
    uint8_t held_for[WEFT__GNET_PORTS];                  ///< the output for which an input is held
    struct weft__gnet_port *port;                        ///< [ports]
    struct weft__gnet_turns *turns;                      ///< [ports]; NULL: an output takes turns over all VCs together
    uint64_t outward[(1 << WEFT__GNET_FETCH_BITS) / 64]; ///< slots of the egress buffer whose packets leave by the
                                                         ///< Ethernet port
    struct weft__trace *trace;                           ///< NULL: not recorded
    struct weft__follow *follow_log;                     ///< NULL: nothing is followed
    struct weft_tin_outcome counts;
};
_Static_assert(offsetof(struct weft__gnet, cells) == 2 * 64 && offsetof(struct weft__gnet, columns) == 3 * 64, "lines");
_Static_assert(offsetof(struct weft__gnet, due.word[WEFT__GNET_DUE_FIRST + 10]) < WEFT__GNET_HEAD_LINES * 64,
               "most of a visit's timers");

/// The kind of endpoint that a cell is for. Data belong to that of the port by which their packet leaves.
static inline enum weft__gnet_endpoint weft__gnet_endpoint_of(const struct weft__gnet *g,
                                                              const struct weft_packet *cell) {
    enum weft__cell_type type = weft__gnet_type(cell);
    if (type == WEFT__GNET_REQ || type == WEFT__GNET_RESP) return WEFT__GNET_RMA;
    if (type != WEFT__GNET_DATA) return WEFT__GNET_IP;
    uint32_t slot = weft__gnet_from(cell) & ((1u << WEFT__GNET_FETCH_BITS) - 1);
    return g->has_outward && g->outward[slot / 64] >> slot % 64 & 1 ? WEFT__GNET_ETHERNET : WEFT__GNET_NIC;
}

/// Keys of ports' timers.
enum { WEFT__GNET_CROSSED = 0, WEFT__GNET_SENT = WEFT__GNET_PORTS }; ///< + input, + output

/// A cell arrived over a link at port `port`; cell->time_ps: arrival of its head.
void weft__gnet_on_cell(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, struct weft_packet *cell,
                        uint32_t port, struct weft__gnet_known known);
/// Credits arrived for the output `port`.
void weft__gnet_on_credits(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w,
                           const struct weft_packet *record, uint32_t port);
/// A port's timer is due.
void weft__gnet_on_due(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, uint32_t key);
/// The timer key0: links fail or come back. The one after it: a step of allocation.
void weft__gnet_on_fault(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w);
void weft__gnet_on_step(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w);
enum { WEFT__GNET_NODE_KEYS = 2 };

/// Notes whether the slot of the egress buffer awaits a packet that leaves by the Ethernet port, or one for a host.
static inline void weft__gnet_note_slot(struct weft__gnet *g, uint32_t slot, bool outward) {
    uint64_t own = UINT64_C(1) << slot % 64;
    g->has_outward |= outward;
    g->outward[slot / 64] = (g->outward[slot / 64] & ~own) | (outward ? own : 0);
}

/// An endpoint of the cell's `class` sends it: chosen by hash or, for WEFT_NONE, in turn. The caller sets everything
/// but the VC and the time: dst is a weft__gnet_pair, entropy a weft__gnet_head. It leaves after a lag (fall-through
/// and processing).
void weft__gnet_inject(struct weft__node *node, struct weft__gnet *g, struct weft__worker *w, struct weft_packet *cell,
                       enum weft__gnet_endpoint endpoint, uint32_t hash, uint32_t class);

/// A path: an output, and a VC there.
enum { WEFT__GNET_WAY_VC = 8 };
/// A FIFO for a VC's cells that endpoints send.
uint32_t weft__gnet_entry_vc(struct weft__gnet *g, uint32_t vc);
/// Draws two paths for an arriving cell before its turn.
void weft__gnet_draw(struct weft__gnet *g, uint32_t in, struct weft__gnet_known *known);
static inline uint32_t weft__gnet_way_out(uint32_t way) {
    return way & ((1u << WEFT__GNET_WAY_VC) - 1);
}
static inline uint32_t weft__gnet_way_vc(uint32_t way) {
    return way >> WEFT__GNET_WAY_VC;
}
/// The cell's VC from here on; the next VC of the class is the next number.
static inline uint32_t weft__gnet_next_vc(const struct weft__gnet *g, uint32_t port, uint32_t vc) {
    return weft_gnet_next_vc(g->inter_pod >> port & 1 ? WEFT_GNET_INTER_POD : WEFT_GNET_TERMINAL, vc);
}
/// Switches to the tables that are in force now.
void weft__gnet_use_tables(struct weft__gnet *g, weft_time_ps now);
/// The minimum that an output must be allowed to send.
static inline int32_t weft__gnet_lump_units(const struct weft__gnet *g) {
    return g->lump / WEFT_GNET_CREDIT_UNIT;
}
/// Whether a cell is crossing from an input, or to an output. While some cell waits there the timer says it exactly.
/// Without branches, which could not be foreseen.
static inline bool weft__gnet_is_in_busy(const struct weft__gnet *g, weft_time_ps now, uint32_t i) {
    return (g->crossing_armed >> i & 1) | (g->in[i].busy_until_ps > now);
}
static inline bool weft__gnet_is_out_busy(const struct weft__gnet *g, weft_time_ps now, uint32_t o) {
    uint32_t i = g->crossing_from[o];
    return (g->crossing_to[i] == o) & weft__gnet_is_in_busy(g, now, i);
}
/// The table's entry for a cell to `to` at a port, see weft_gnet_at; meaningless if the cell has arrived, or escapes.
static inline const uint16_t *weft__gnet_entry_to(const struct weft__gnet *g, const struct weft_packet *cell,
                                                  uint32_t port, uint32_t to) {
    uint32_t row = g->row0[port] + weft__gnet_vc(cell) % WEFT_GNET_ROUTING_VCS;
    return &g->set_of[row * g->columns + g->column[to]];
}
static inline const uint16_t *weft__gnet_entry(const struct weft__gnet *g, const struct weft_packet *cell,
                                               uint32_t port) {
    return weft__gnet_entry_to(g, cell, port, weft__gnet_to(cell));
}
/// The counts of the transition in progress; NULL: there is none.
static inline struct weft_tin_transition *weft__gnet_transition(struct weft__gnet *g, weft_time_ps now) {
    if (__builtin_expect(g->transition_at == g->transitions, 1)) return NULL;
    while (g->transition_at < g->transitions && g->transition[g->transition_at].to_ps <= now)
        g->transition_at++;
    bool open = g->transition_at < g->transitions && g->transition[g->transition_at].from_ps <= now;
    return open ? &g->seen[g->transition_at] : NULL;
}
/// The same for all packets of a queue pair in the same direction.
uint32_t weft__gnet_hash(const struct weft_packet *cell);

/// gnet_check_state.c. Notes in `c` the first invariant that the switch breaks.
struct weft__check;
void weft__gnet_check(const struct weft__gnet *g, struct weft__check *c);

// gnet_ugal.c
struct weft__gnet_ugal *weft__gnet_ugal_new(const struct weft__gnet *g, struct weft_arena *arena);
/// A cell starts here: decides its path. Then: a cell has arrived, perhaps at its intermediate TiN.
void weft__gnet_ugal_begin(struct weft__gnet *g, struct weft_packet *cell);
void weft__gnet_ugal_pass(const struct weft__gnet *g, struct weft_packet *cell);
/// Its output, and its VC there; WEFT_NONE: all links that lead there have failed.
uint32_t weft__gnet_ugal_output(const struct weft__gnet *g, const struct weft_packet *cell);
uint32_t weft__gnet_ugal_vc(const struct weft__gnet *g, const struct weft_packet *cell, uint32_t out);

// gnet_channel.c
struct weft__gnet_channels *weft__gnet_channels_new(weft_time_ps step, struct weft_arena *arena);
/// Some cell waits: schedules a step, with the timer key0 + 1.
void weft__gnet_channel_ask(struct weft__node *node, struct weft__gnet *g, weft_time_ps now);
/// A cell returns its channel.
void weft__gnet_channel_give(struct weft__gnet *g, uint32_t o, uint32_t vc);
/// In a step: gives free channels to cells, which request outputs in the next step.
void weft__gnet_channel_find(struct weft__gnet *g);
void weft__gnet_channel_take(struct weft__node *node, struct weft__gnet *g, weft_time_ps now);

// gnet_new.c
struct weft__gnet_setup {
    const struct weft_tin_conf *conf;
    const struct weft_tin *tin;
    const struct weft__gnet_tables *tables;
    const struct weft__gnet_times *const *times; ///< [WEFT__GNET_RATES]
    uint8_t endpoint_rate;
    uint32_t self, who, key0;
    uint64_t seed;
    struct weft_arena *arena;
};
/// The caller sets on_cell and on_crossing. False: there are more ports and endpoints than the switch can have.
bool weft__gnet_init(struct weft__gnet *g, const struct weft__gnet_setup *setup);
void weft__gnet_deinit(struct weft__gnet *g);

struct weft__gnet_link {
    uint8_t rate, cross; ///< of the link and of the crossbar, as numbers in the table of rates
    bool global;
    weft_time_ps delay_ps, credit_delay_ps; ///< to the effect at the far end; of its credits, to the effect here
    weft_bytes far_fifo_bytes;
    uint32_t peer_node, peer_inbox;
    uint16_t peer_port;
    struct weft__port_faults *faults;
    const struct weft__port_tap *tap;
};
void weft__gnet_connect(struct weft__gnet *g, uint32_t port, const struct weft__gnet_link *link);
void weft__gnet_times_init(struct weft__gnet_times *times, weft_rate_bps rate, double overhead);
/// Saves what an output has sent before 32 bits overflow.
void weft__gnet_carry_over(struct weft__gnet *g, uint32_t o);
weft_bytes weft__gnet_held(const struct weft__gnet *g);
void weft__gnet_finish(struct weft__gnet *g);

// gnet_view.c
/// The counts of a port with a link; the caller sets `port` and `global`.
struct weft_gnet_port weft__gnet_port_counts(const struct weft__gnet *g, uint32_t port);
/// Bytes in the queues of an output, and in the FIFOs of an input.
weft_bytes weft__gnet_output_bytes(const struct weft__gnet *g, uint32_t port);
weft_bytes weft__gnet_fifo_bytes(const struct weft__gnet *g, uint32_t port);
/// How much of its credit an output uses, of the VC that uses most, in 1/1000.
uint32_t weft__gnet_credit_permille(const struct weft__gnet *g, uint32_t port);
/// In the FIFO of a VC at an input.
weft_bytes weft__gnet_vc_bytes(const struct weft__gnet *g, uint32_t port, uint32_t vc);
/// A followed cell is sent to output o, or starts to cross to it (link/follow.h). time: from when, until when, and that
/// of weft__follow_two.
__attribute__((cold)) void weft__gnet_follow(struct weft__gnet *g, const struct weft_packet *cell,
                                             enum weft_followed_what what, uint32_t o, uint32_t vc,
                                             const weft_time_ps time[4]);
/// A cell is lost at a port: an event.
void weft__gnet_note_loss(const struct weft__gnet *g, weft_time_ps now, uint32_t port, const struct weft_packet *cell,
                          enum weft_drop reason);
struct weft__gnet_wait {
    weft_bytes bytes;
    weft_time_ps since_ps;
};
/// Whether cells of a VC wait at an output because the FIFO at the far end has no room.
bool weft__gnet_starves(const struct weft__gnet *g, uint32_t port, uint32_t vc, struct weft__gnet_wait *ret_wait);
/// Whether the first cell of a FIFO waits for room at an output with a link, and on which VC there.
bool weft__gnet_blocks(const struct weft__gnet *g, uint32_t port, uint32_t vc, uint32_t *ret_out, uint32_t *ret_vc);
