// SPDX-License-Identifier: Apache-2.0
// A box: everything that the rest of weft needs from a kind of device. A box's folder holds the device and its entry: a
// model of kind `box` whose parameters are its section of a scenario and whose operations are these. A new box is a
// folder and a line in weft/boxes.def.
#pragma once

#include <stdio.h>

#include "base/check.h"
#include "box/control.h"
#include "box/network.h"
#include "box/results.h"
#include "box/view.h"
#include "link/fingerprint.h"
#include "weft/histogram.h"
#include "weft/tin.h"

/// How a box reacts to what arrives at one of its ports, counted from the last bit received.
struct weft__box_reaction {
    weft_time_ps processing_ps;  ///< to a frame
    weft_time_ps pause_ps;       ///< to a pause frame
    bool cut_through;            ///< counted from the last bit of the header instead
    weft_time_ps frame_least_ps; ///< the time of the shortest frame on a link of this rate
};

/// A scenario and a topology, before a run is built from them.
struct weft__plan {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_device_conf *const *device; ///< [nodes]
    uint32_t frame_bytes;                         ///< the largest frame that a host may send
    weft_rate_bps host_rate_bps;                  ///< of the slowest link of a host
    uint32_t first[WEFT_BOXES];                   ///< [kind]: the first node of it; WEFT_NONE: there is none
};

/// A frame that has arrived at a box, alone in the empty network.
struct weft__lone_frame {
    uint32_t node, dst; ///< dst: a host
    uint32_t bytes;
    weft_time_ps rest_ps; ///< from its header to its last bit, on the link by which it arrived
    bool crossed;         ///< it has just crossed a fabric to get here
};
struct weft__crossing {
    uint32_t node;        ///< the node at which it leaves the fabric
    weft_time_ps time_ps; ///< from its arrival until it is complete there
    bool whole;           ///< no cut-through: it must be complete before it crosses
};

/// For weft estimate: credit that data waits for at the entrance to a fabric, a queue for each place where it leaves.
struct weft__box_credit {
    weft_bytes credit_bytes;
    weft_bytes surplus_bytes, balance_bytes; ///< that a queue asks for beyond its data; that it keeps at most
    weft_time_ps loop_ps;                    ///< from a request until its first credit is there
    weft_time_ps age_ps;                     ///< credit that is left is given up after that
    double speedup;                          ///< rate of the credits of a port, relative to that of the port
};

/// What a box grants the host at one of its ports.
struct weft__host_terms {
    int64_t room_bytes;            ///< initial room in the NIC that the host shares; INT64_MAX: it shares none
    const struct weft__down *down; ///< [downs]: times when it does not answer
    uint32_t downs;
    enum weft_drop down_drop; ///< how frames that arrive then are dropped
};

/// Captures of links that carry cells.
struct weft__cell_capture {
    uint32_t bytes_min; ///< of a cell
    /// Whether cells of this topology, with this configuration, can be written.
    enum weft_status (*check)(const struct weft_topology *t, struct weft_place place, struct weft_error *ret_error);
    enum weft_status (*check_conf)(const struct weft_device_conf *conf, struct weft_place place,
                                   struct weft_error *ret_error);
    /// Builds the cell that the port `sender` (among all ports) sends; returns how many bytes were written.
    size_t (*build)(const struct weft__network *net, const struct weft_packet *cell, uint32_t sender, uint8_t *ret);
};

/// Credit of all links that have any, added up at the end of a checked run: for each sending end (a port among all
/// ports) and priority or virtual channel, the credit granted, and where it is: left at the sender, taken by what is on
/// the link or in the receiver's buffer, owed, or on its way back. Both must be equal.
enum { WEFT__CREDIT_CLASSES = WEFT_GNET_VCS };
struct weft__credit_sums {
    uint64_t *granted, *found; ///< [ports * WEFT__CREDIT_CLASSES], in bytes or units
    bool *unknown;             ///< [ports]: the receiver cannot tell what it holds
};
static inline uint32_t weft__credit_at(uint32_t port, uint32_t class) {
    return port * WEFT__CREDIT_CLASSES + class;
}

/// Called with a number that counts up.
typedef void weft__on_count(void *context, uint64_t *count);
typedef void weft__on_histogram(void *context, struct weft_histogram *histogram);
/// Visits a struct that consists only of histograms, given its first one and its size.
static inline void weft__histograms_each(struct weft_histogram *first, size_t bytes, weft__on_histogram *on_histogram,
                                         void *context) {
    for (uint32_t i = 0; i < bytes / sizeof *first; i++)
        on_histogram(context, &first[i]);
}

/// What boxes of one network share in a run. Boxes of several kinds may share the same.
struct weft__shared {
    /// Optional: checks whether the box can be built. Only this may refuse, so that `weft check` and a run refuse the
    /// same.
    enum weft_status (*check)(const struct weft__plan *plan, struct weft_error *ret_error);
    /// Returns the state: in net's arenas, except for what `free` frees.
    void *(*make)(struct weft__network *net);
    void (*free)(void *state);                    ///< NULL: nothing
    weft_time_ps (*settled)(const void *state);   ///< optional: when the last box knows of the last event
    weft_time_ps (*lookahead)(const void *state); ///< optional: the minimum time from a message between boxes to its
                                                  ///< effect
    /// Optional: makes an engine node besides those of the topology, once all boxes are made and connected.
    void (*start)(struct weft__network *net, uint32_t node);
    /// Optional, writes to the outcome: before the boxes finish, and after.
    void (*tell)(struct weft__network *net, const struct weft__tally *sum);
    void (*collect)(struct weft__network *net);
    void (*explain)(FILE *text, const struct weft__network *net); ///< optional: who waits for what in a stall

    // Optional, for a run over ranks, where `start` makes only the rank's own node and tells only the rank's own boxes.
    /// The data that belongs to a message between boxes: returns its size, and where it is. 0: the packet is not such a
    /// message.
    uint32_t (*give)(struct weft__network *net, const struct weft_packet *message, const unsigned char **ret);
    void (*take)(struct weft__network *net, const struct weft_packet *message, const unsigned char *bytes, uint32_t n);
    /// After the run: restores memory that was written here but belongs to another rank to its state before the run
    /// (base/image.h).
    void (*forget)(struct weft__network *net);

    /// Optional: why no stretch of the run may be skipped; NULL: it may.
    const char *(*unskippable)(const struct weft__network *net);
    /// Optional: visits each histogram that the boxes fill, of all workers.
    void (*each_histogram)(struct weft__network *net, weft__on_histogram *on_histogram, void *context);
};

/// Queue pairs of a host that hold their rate and are not run meanwhile. All are called between windows.
struct weft__box_coast {
    const char *(*refuse)(const struct weft__network *net, uint32_t node); ///< why no queue pair of the host may coast;
                                                                           ///< NULL: they may
    /// The queue pair sends at most one more packet; what is in flight arrives.
    void (*hold)(struct weft__network *net, uint32_t node, uint32_t qp);
    /// Tells its congestion control that this much has been sent.
    void (*sent)(struct weft__network *net, uint32_t node, uint32_t qp, uint32_t bytes, weft_time_ps now);
    /// Sets a timer of a held queue pair, so that the engine stops at that time.
    void (*wake)(struct weft__network *net, uint32_t node, uint32_t qp, weft_time_ps time);
    /// The queue pair continues at that time; it may have fewer packets than before.
    void (*release)(struct weft__network *net, uint32_t node, uint32_t qp, weft_time_ps time);
};

struct weft__box {
    /// Makes the device: sets its state and operations in net->engine.node[node]. Its ports are not connected yet.
    void (*make)(struct weft__network *net, uint32_t node);
    /// Its k-th port, or NULL if that is not an Ethernet port.
    struct weft__port *(*port)(void *state, uint32_t k);
    /// Optional: connects a port that is not an Ethernet port. `port`: its number among all ports.
    void (*connect)(struct weft__network *net, uint32_t port, const struct weft__port_setup *setup);
    void (*start)(void *state); ///< optional: called when all its ports are connected
    struct weft__box_reaction (*reaction)(const struct weft_device_conf *conf, const struct weft_topology *t,
                                          uint32_t port);
    const struct weft_pfc_conf *(*pfc)(const struct weft_device_conf *conf); ///< of its Ethernet ports
    /// Optional: keys of the section `switch` that its Ethernet ports do not use; the last is NULL. A scenario
    /// that sets a key which no node uses is refused.
    const char *const *unasked;
    /// Optional: whether it never sends pause frames or LLDP to its neighbours.
    bool (*is_quiet)(const struct weft_device_conf *conf);
    struct weft__trace *(*trace)(const void *state); ///< NULL: not recorded
    weft_bytes (*held)(const void *state);
    /// Optional, called while no packet is in flight: mixes into `ret` everything that determines the box's future,
    /// with times relative to ret->now_ps. NULL, or why that can never be told. Without this operation it cannot be.
    const char *(*fingerprint)(const struct weft__network *net, uint32_t node, struct weft__fingerprint *ret);
    /// Optional: moves the timers that check for lost messages nearer by `time`; none of them is due before.
    void (*pass_looks)(struct weft__network *net, uint32_t node, weft_time_ps time);
    /// Optional, for a skipped stretch of a run: visits each number that adds up and that the box keeps itself, besides
    /// those of its Ethernet ports. The order is always the same; numbers that have been created since come last.
    void (*each_count)(struct weft__network *net, uint32_t node, weft__on_count *on_count, void *context);
    /// Writes everything counted to the outcome, at the end of a run.
    void (*finish)(struct weft__network *net, uint32_t node, weft_time_ps now);
    void (*deinit)(void *state); ///< optional: frees what is not in the arena
    /// Optional, for the explanation of stalls: visits every packet that waits here (packet->port: where it arrived)
    /// and the port by which it will leave.
    void (*each_waiting)(const void *state, void (*on_packet)(void *context, const struct weft_packet *, uint32_t out),
                         void *context);

    /// For runs that are checked (sim/check_state.c), after each window in which the node ran: all events before
    /// `until` have happened. Notes in `c` the first invariant that its state breaks, and changes nothing.
    void (*check_state)(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c);

    /// Optional, for boxes whose links go by credit. `flying` NULL: adds what the node itself has, as a sender and as
    /// a receiver; else what a packet on its way to the node takes or returns.
    void (*add_credit)(const struct weft__network *net, uint32_t node, const struct weft_packet *flying,
                       struct weft__credit_sums *sums);

    /// Optional: the state of its route model; NULL: it has none.
    const void *(*route_state)(const void *state);

    // called before a run
    /// Optional: checks for errors that show only at this place in the topology.
    enum weft_status (*check)(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error);
    /// Optional: the longest time before it gives up on something lost; never: it does not.
    weft_time_ps (*patience)(const struct weft_device_conf *conf);
    /// Optional: the time that a frame of 64 bytes takes if it meets no other.
    weft_time_ps (*crossing)(const struct weft_device_conf *conf);
    /// Optional: what it grants a host at its port (among all ports); `ret` holds the defaults.
    void (*host_terms)(const struct weft__network *net, uint32_t port, struct weft__host_terms *ret);

    // for entrances to a fabric that frames cross as cells
    /// Optional: whether the frame crosses a fabric from here.
    bool (*cross)(const struct weft__forwarding *forwarding, const struct weft__lone_frame *frame,
                  struct weft__crossing *ret);
    /// Optional: the credit of data for a host (index) that enters here. NULL: it waits for none.
    void (*credit)(const struct weft__forwarding *forwarding, uint32_t node, uint32_t dst,
                   struct weft__box_credit *ret);
    /// Optional: the port (among all ports) by which a packet that enters here leaves the fabric; WEFT_NONE: none.
    uint32_t (*exit)(const struct weft__network *net, uint32_t node, const struct weft_packet *p);
    /// Optional: the port (among all ports) that its records refer to like this (weft__event_voq).
    uint32_t (*recorded_port)(const struct weft__network *net, uint64_t more);
    const struct weft__cell_capture *cells; ///< NULL: its cells cannot be captured

    const struct weft__shared *shared;         ///< NULL: nothing
    const struct weft__box_results *results;   ///< NULL: nothing
    const struct weft__mechanisms *mechanisms; ///< NULL: none
    const struct weft__box_control *control;   ///< NULL: it does not take part in a control plane
    const struct weft__box_view *view;         ///< NULL: it has nothing to say about a network
    const struct weft__endpoint_ops *endpoint; ///< for boxes that are hosts: where queue pairs end
    const struct weft__box_coast *coast;       ///< for boxes that are hosts; NULL: its queue pairs always run
    bool takes_routes;                         ///< it is a controller
    bool draws;                                ///< it draws random numbers in every configuration
    /// Random numbers for all arrivals of a window are drawn before the window runs, besides those drawn while it runs;
    /// so which numbers are drawn depends on where windows begin.
    bool draws_ahead;
    bool has_leaves;  ///< hosts that follow it and have a link only to it run as its leaves, even if a program drives
                      ///< them
    bool fluid;       ///< weft estimate knows what it does; it refuses a network with other boxes
    bool orders;      ///< a network of such boxes delivers packets in the order sent, unless it loses them
    uint32_t qp_mask; ///< the bits of a packet's qp that are the queue pair, on the way to such a box; 0: all
    uint32_t weight, port_weight; ///< expected work, for cutting nodes into workers
};

const struct weft__box *weft__box_of(const struct weft_node_info *node);
const struct weft__box *weft__box_of_kind(uint32_t kind);
/// The box's name, which is also the name of its section in a scenario.
const char *weft__box_name(uint32_t kind);
/// Whether the node reads the section for boxes of that kind.
bool weft__box_reads(const struct weft_node_info *node, uint32_t kind);
/// The box at the port's end of its link.
const struct weft__box *weft__box_at(const struct weft_topology *t, uint32_t port);

/// The state of a node's device.
static inline void *weft__network_state(const struct weft__network *net, uint32_t node) {
    return net->engine.node[node].state;
}

/// The pool of the node's worker.
static inline struct weft_packet_pool *weft__network_pool(struct weft__network *net, uint32_t node) {
    return &net->engine.worker[weft__engine_worker_of(&net->engine, node)].pool;
}

/// Builds net->shared for the boxes present, which weft__sharing_check has accepted; `exits`: only what tells where
/// packets leave a fabric.
void weft__shared_new(struct weft__network *net, bool exits);
enum weft_status weft__sharing_check(const struct weft__plan *plan, bool exits, struct weft_error *ret_error);
/// In the arena.
struct weft__plan *weft__plan_new(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                  struct weft_arena *arena);
void weft__shared_free(struct weft__network *net);
/// The next kind of node, from *kind on, whose boxes share something that no earlier kind does; NULL: none.
const struct weft__shared *weft__shared_next(const struct weft__network *net, uint32_t *kind);

// For the Ethernet ports of all boxes but NICs, from the section `switch`.
struct weft__box_reaction weft__ethernet_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                                  uint32_t port);
const struct weft_pfc_conf *weft__ethernet_pfc(const struct weft_device_conf *conf);
enum weft_status weft__ethernet_check(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error);
/// The operation `add_credit` of boxes with Ethernet ports, NICs included (ethernet_credit.c).
void weft__ethernet_add_credit(const struct weft__network *net, uint32_t node, const struct weft_packet *flying,
                               struct weft__credit_sums *sums);
/// The links of a switch's ports, for its buffer; NULL: the buffer does not depend on them.
const struct weft_buffer_port *weft__ethernet_links(const struct weft_switch_conf *conf, const struct weft_topology *t,
                                                    uint32_t node, weft_rate_bps host_rate, struct weft_arena *arena);
/// The rate of the slowest link of a host.
weft_rate_bps weft__host_rate_least(const struct weft_topology *t);
/// The time from a pause frame at this port until what it pauses has stopped.
weft_time_ps weft__pause_reaction(const struct weft_pfc_conf *pfc, const struct weft_topology *t, uint32_t port);
/// The time of the shortest frame that arrives at this port.
weft_time_ps weft__frame_least_ps(const struct weft_topology *t, uint32_t port);
