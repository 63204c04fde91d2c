// SPDX-License-Identifier: Apache-2.0
// Kinds of boxes: what the assembly of a network, and the questions asked of it afterwards, must know of each. A new
// kind of box is one more entry of the table in box.c, with its device in src/device/.
#ifndef WEFT_BOX_BOX_H
#define WEFT_BOX_BOX_H

#include "box/network.h"

/// How a box acts on what comes by one of its ports, from the last bit received.
struct weft__box_reaction {
    weft_time_ps processing_ps;  ///< to a frame
    weft_time_ps pause_ps;       ///< to a pause frame
    bool cut_through;            ///< from the last bit of the header instead
    weft_time_ps frame_least_ps; ///< the shortest that comes by a link of this rate takes so long
};

/// A queue with packets that waits for leave (credits) from the port that they are for.
struct weft__starved {
    uint32_t node, port; ///< port: among all
    uint32_t priority, packets;
    bool cut; ///< no link leads there, or none back
    weft_bytes bytes;
    weft_time_ps since_ps; ///< the last leave, or its first packet
};

struct weft__box {
    const char *name;
    /// Makes the device: its state and operations into net->engine.node[node], ports not yet connected.
    void (*make)(struct weft__network *net, uint32_t node);
    /// Its k-th port, or NULL if that is no Ethernet port.
    struct weft__port *(*port)(void *state, uint32_t k);
    /// Optional: connects a port that is no Ethernet port. `port`: among all.
    void (*connect)(struct weft__network *net, uint32_t port);
    void (*start)(void *state); ///< optional: all its ports are connected
    struct weft__box_reaction (*reaction)(const struct weft_device_conf *conf, const struct weft_topology *t,
                                          uint32_t port);
    const struct weft_pfc_conf *(*pfc)(const struct weft_device_conf *conf); ///< of its Ethernet ports
    /// Optional: whether it never sends its neighbours pause frames or LLDP.
    bool (*is_quiet)(const struct weft_device_conf *conf);
    struct weft__trace *(*trace)(const void *state); ///< NULL: not recorded
    weft_bytes (*held)(const void *state);
    /// Everything that was counted into the outcome, at the end of a run.
    void (*finish)(struct weft__network *net, uint32_t node, weft_time_ps now);
    void (*deinit)(void *state); ///< optional: frees what the arena does not
    /// Optional, for who waits for whom: every packet that waits here (packet->port: where it came in), and the port
    /// that it is to leave by.
    void (*each_waiting)(const void *state, void (*on_packet)(void *context, const struct weft_packet *, uint32_t out),
                         void *context);
    /// Optional, likewise: every queue that waits for leave from a far box.
    void (*each_starved)(const struct weft__network *net, uint32_t node,
                         void (*on_queue)(void *context, const struct weft__starved *), void *context);
    uint32_t weight, port_weight; ///< expected work, for cutting nodes into workers
};

const struct weft__box *weft__box_of(const struct weft_node_info *node);
/// The box at the port's end of its link.
const struct weft__box *weft__box_at(const struct weft_topology *t, uint32_t port);

extern const struct weft__box weft__box_interface_node, weft__box_fabric_node; // box_dsf.c
extern const struct weft__box weft__box_tin;                                   // box_tin.c
// Of the Ethernet ports of all boxes but NICs.
struct weft__box_reaction weft__switch_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                                uint32_t port);
const struct weft_pfc_conf *weft__switch_pfc(const struct weft_device_conf *conf);

/// The state of a node's device.
static inline void *weft__network_state(const struct weft__network *net, uint32_t node) {
    return net->engine.node[node].state;
}

/// Of the node's worker.
static inline struct weft_packet_pool *weft__network_pool(struct weft__network *net, uint32_t node) {
    return &net->engine.worker[weft__engine_worker_of(&net->engine, node)].pool;
}

/// What is at the far end of a port's link, and how it acts on what comes.
struct weft__port_peer weft__network_peer(const struct weft__network *net, uint32_t port);

/// Which of a node's ports are sampled, in `arena`; NULL: none.
bool *weft__network_sampled(const struct weft__network *net, uint32_t node, struct weft_arena *arena);

#endif
