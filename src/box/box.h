// SPDX-License-Identifier: Apache-2.0
// A box: all that the rest of weft asks of a kind of device. Its folder holds the device, and its entry, a model of
// kind `box` whose parameters are its section of a scenario and whose operations are these. A new box is a folder and a
// line in weft/boxes.def.
#ifndef WEFT_BOX_BOX_H
#define WEFT_BOX_BOX_H

#include <stdio.h>

#include "box/control.h"
#include "box/network.h"
#include "box/results.h"
#include "box/view.h"
#include "link/still.h"
#include "weft/histogram.h"

/// How a box acts on what comes by one of its ports, from the last bit received.
struct weft__box_reaction {
    weft_time_ps processing_ps;  ///< to a frame
    weft_time_ps pause_ps;       ///< to a pause frame
    bool cut_through;            ///< from the last bit of the header instead
    weft_time_ps frame_least_ps; ///< the shortest that comes by a link of this rate takes so long
};

/// A scenario and a topology, before anything is made of them.
struct weft__plan {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_device_conf *const *device; ///< [nodes]
    uint32_t frame_bytes;                         ///< the largest frame that a host would send
    uint32_t first[WEFT_BOXES];                   ///< the first node of a kind; WEFT_NONE: there is none
};

/// A frame that has come to a box, alone in the empty network.
struct weft__lone_frame {
    uint32_t node, dst; ///< dst: a host
    uint32_t bytes;
    weft_time_ps rest_ps; ///< from its header to its last bit, on the link that it came by
    bool crossed;         ///< it has just crossed a fabric, to here
};
struct weft__crossing {
    uint32_t node;        ///< by which it leaves the fabric
    weft_time_ps time_ps; ///< from when it came until it is whole there
    bool whole;           ///< it is no cut-through: it must have come whole before
};

/// What a box grants the host at one of its ports.
struct weft__host_terms {
    int64_t room_bytes;            ///< in the NIC that the host shares, at first; INT64_MAX: it shares none
    const struct weft__down *down; ///< [downs] when it does not answer
    uint32_t downs;
    enum weft_drop down_drop; ///< what becomes then of what comes
};

/// Captures of links that carry cells.
struct weft__cell_capture {
    uint32_t bytes_min; ///< of a cell
    /// Whether cells of this topology can be written, and with this configuration.
    enum weft_status (*check)(const struct weft_topology *t, struct weft_place place, struct weft_error *ret_error);
    enum weft_status (*check_conf)(const struct weft_device_conf *conf, struct weft_place place,
                                   struct weft_error *ret_error);
    /// The cell that the port `sender`, among all, sends; how many bytes were written.
    size_t (*build)(const struct weft__network *net, const struct weft_packet *cell, uint32_t sender, uint8_t *ret);
};

/// Told of a number that is counted up.
typedef void weft__on_count(void *context, uint64_t *count);
/// `which`: the same of each worker.
typedef void weft__on_histogram(void *context, uint32_t which, struct weft_histogram *histogram);
/// A struct of histograms and nothing else, by its first one and its bytes.
static inline void weft__histograms_each(struct weft_histogram *first, size_t bytes, weft__on_histogram *on_histogram,
                                         void *context) {
    for (uint32_t i = 0; i < bytes / sizeof *first; i++)
        on_histogram(context, i, &first[i]);
}

/// What boxes of one network have in common in a run. Boxes of several kinds may have the same.
struct weft__shared {
    /// *ret_state: in net's arenas but for what `free` frees; it is freed even if this fails.
    enum weft_status (*make)(struct weft__network *net, void **ret_state, struct weft_error *ret_error);
    void (*free)(void *state);                    ///< NULL: nothing
    weft_time_ps (*settled)(const void *state);   ///< optional: when the last of them knows of the last event
    weft_time_ps (*lookahead)(const void *state); ///< optional: from a message between them to its effect, at least
    /// Optional: makes a node of the engine beside those of the topology, when all boxes are made and connected.
    void (*start)(struct weft__network *net, uint32_t node);
    /// Optional, into the outcome: before the boxes finish, and after.
    void (*tell)(struct weft__network *net, const struct weft__tally *sum);
    void (*collect)(struct weft__network *net);
    void (*explain)(FILE *text, const struct weft__network *net); ///< optional: who waits for what, in a stall

    // Optional, of a run over ranks, where `start` makes only the rank's own node and what is said to its own boxes.
    /// What goes with a message between them: how many bytes, and where they are. 0: the packet is none of theirs.
    uint32_t (*give)(struct weft__network *net, const struct weft_packet *message, const unsigned char **ret);
    void (*take)(struct weft__network *net, const struct weft_packet *message, const unsigned char *bytes, uint32_t n);
    /// After the run: what was written here and is another's is as it was before the run (base/image.h).
    void (*forget)(struct weft__network *net);

    /// Optional: why no stretch of the run may be taken over instead of run; NULL: it may.
    const char *(*unskippable)(const struct weft__network *net);
    /// Optional: each histogram that the boxes fill, of all workers.
    void (*each_histogram)(struct weft__network *net, weft__on_histogram *on_histogram, void *context);
};

/// Queue pairs of a host that hold their rate and are not run meanwhile. All between windows.
struct weft__box_coast {
    const char *(*refuse)(const struct weft__network *net, uint32_t node); ///< why it has none such; NULL: it may
    /// It sends nothing more, but one packet at most; what is under way arrives.
    void (*hold)(struct weft__network *net, uint32_t node, uint32_t qp);
    /// Its congestion control is told that it has sent so much.
    void (*sent)(struct weft__network *net, uint32_t node, uint32_t qp, uint32_t bytes, weft_time_ps now);
    /// Something is to happen at that time, so that the engine comes there. It is held.
    void (*wake)(struct weft__network *net, uint32_t node, uint32_t qp, weft_time_ps time);
    /// It sends on, from that time; its queue pair may have fewer packets than before.
    void (*release)(struct weft__network *net, uint32_t node, uint32_t qp, weft_time_ps time);
};

struct weft__box {
    /// Makes the device: its state and operations into net->engine.node[node], ports not yet connected.
    void (*make)(struct weft__network *net, uint32_t node);
    /// Its k-th port, or NULL if that is no Ethernet port.
    struct weft__port *(*port)(void *state, uint32_t k);
    /// Optional: connects a port that is no Ethernet port. `port`: among all.
    void (*connect)(struct weft__network *net, uint32_t port, const struct weft__port_setup *setup);
    void (*start)(void *state); ///< optional: all its ports are connected
    struct weft__box_reaction (*reaction)(const struct weft_device_conf *conf, const struct weft_topology *t,
                                          uint32_t port);
    const struct weft_pfc_conf *(*pfc)(const struct weft_device_conf *conf); ///< of its Ethernet ports
    /// Optional: whether it never sends its neighbours pause frames or LLDP.
    bool (*is_quiet)(const struct weft_device_conf *conf);
    struct weft__trace *(*trace)(const void *state); ///< NULL: not recorded
    weft_bytes (*held)(const void *state);
    /// Optional, while no packet is under way: mixes into `ret` all that what it does from now on depends on, times
    /// relative to ret->now_ps. NULL, or why that cannot be told, ever. Without it: it cannot.
    const char *(*still)(const struct weft__network *net, uint32_t node, struct weft__still *ret);
    /// Optional: moves the timers that look for lost messages nearer by `time`; none of them is due before.
    void (*pass_looks)(struct weft__network *net, uint32_t node, weft_time_ps time);
    /// Optional, of a stretch of a run that is taken over instead of run: each number that adds up which the box keeps
    /// itself, beside those of its Ethernet ports. Always in the same order; what has come into being since, last.
    void (*each_count)(struct weft__network *net, uint32_t node, weft__on_count *on_count, void *context);
    /// Everything that was counted into the outcome, at the end of a run.
    void (*finish)(struct weft__network *net, uint32_t node, weft_time_ps now);
    void (*deinit)(void *state); ///< optional: frees what the arena does not
    /// Optional, for who waits for whom: every packet that waits here (packet->port: where it came in), and the port
    /// that it is to leave by.
    void (*each_waiting)(const void *state, void (*on_packet)(void *context, const struct weft_packet *, uint32_t out),
                         void *context);

    // before a run
    /// Optional: what can be wrong only where it stands.
    enum weft_status (*check)(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error);
    /// Optional: how long it may be before it gives up what is lost; never: it does not.
    weft_time_ps (*patience)(const struct weft_device_conf *conf);
    /// Optional: what a frame of 64 bytes takes that meets no other.
    weft_time_ps (*crossing)(const struct weft_device_conf *conf);
    /// Optional: what it grants a host at its port, among all; `ret` has what is usual.
    void (*host_terms)(const struct weft__network *net, uint32_t port, struct weft__host_terms *ret);

    // of the entrance to a fabric that frames cross as cells
    /// Optional: whether the frame crosses one from here.
    bool (*cross)(const struct weft__ways *ways, const struct weft__lone_frame *frame, struct weft__crossing *ret);
    /// Optional: the port, among all, by which a packet that comes in here leaves the fabric; WEFT_NONE: none.
    uint32_t (*exit)(const struct weft__network *net, uint32_t node, const struct weft_packet *p);
    /// Optional: the port, among all, that its records call so (weft__event_voq).
    uint32_t (*recorded_port)(const struct weft__network *net, uint64_t more);
    const struct weft__cell_capture *cells; ///< NULL: its cells cannot be captured

    const struct weft__shared *shared;         ///< NULL: nothing
    const struct weft__box_results *results;   ///< NULL: nothing
    const struct weft__mechanisms *mechanisms; ///< NULL: none
    const struct weft__box_control *control;   ///< NULL: it has no part in a control plane
    const struct weft__box_view *view;         ///< NULL: it says nothing of a network
    const struct weft__endpoint_ops *endpoint; ///< of a host's: where queue pairs end
    const struct weft__box_coast *coast;       ///< of a host's; NULL: its queue pairs are always run
    bool takes_routes;                         ///< of a controller
    bool draws;                                ///< random numbers, whatever it is told to do
    /// Random numbers are drawn for all that arrives in a window before it is run, beside those drawn as it is run:
    /// which it draws depends on where windows begin.
    bool draws_ahead;
    bool has_leaves; ///< hosts that follow it and have a link to it alone are run with it, even
                     ///< if a program drives them
    bool orders;     ///< a network of such boxes loses packets, or delivers them in the order in which they were sent
    uint32_t weight, port_weight; ///< expected work, for cutting nodes into workers
};

const struct weft__box *weft__box_of(const struct weft_node_info *node);
const struct weft__box *weft__box_of_kind(uint32_t kind);
/// The box's name, which is that of its section in a scenario.
const char *weft__box_name(uint32_t kind);
/// Whether the node is told something by the section of boxes of that kind.
bool weft__box_reads(const struct weft_node_info *node, uint32_t kind);
/// The box at the port's end of its link.
const struct weft__box *weft__box_at(const struct weft_topology *t, uint32_t port);

/// The state of a node's device.
static inline void *weft__network_state(const struct weft__network *net, uint32_t node) {
    return net->engine.node[node].state;
}

/// Of the node's worker.
static inline struct weft_packet_pool *weft__network_pool(struct weft__network *net, uint32_t node) {
    return &net->engine.worker[weft__engine_worker_of(&net->engine, node)].pool;
}

/// Makes net->shared for the boxes that there are; `exits`: only for those that know where packets leave a fabric.
enum weft_status weft__shared_new(struct weft__network *net, bool exits, struct weft_error *ret_error);
void weft__shared_free(struct weft__network *net);
/// From *kind on, the next kind of node whose boxes share something that those of no kind before share; NULL: none.
const struct weft__shared *weft__shared_next(const struct weft__network *net, uint32_t *kind);

// Of the Ethernet ports of all boxes but NICs, by the section `switch`.
struct weft__box_reaction weft__ethernet_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                                  uint32_t port);
const struct weft_pfc_conf *weft__ethernet_pfc(const struct weft_device_conf *conf);
enum weft_status weft__ethernet_check(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error);
/// The links of a switch's ports, for its buffer; NULL: the buffer does not go by them.
const struct weft_buffer_port *weft__ethernet_links(const struct weft_switch_conf *conf, const struct weft_topology *t,
                                                    uint32_t node, struct weft_arena *arena);
/// Of the slowest link of a host.
weft_rate_bps weft__host_rate_least(const struct weft_topology *t);
/// From a pause frame at this port to the stop of what it pauses.
weft_time_ps weft__pause_reaction(const struct weft_pfc_conf *pfc, const struct weft_topology *t, uint32_t port);
/// What the shortest frame takes that comes by this port.
weft_time_ps weft__frame_least_ps(const struct weft_topology *t, uint32_t port);

#endif
