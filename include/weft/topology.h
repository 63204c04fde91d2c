// SPDX-License-Identifier: Apache-2.0
// Nodes, ports and links of a network, as built from a topology model or an explicit list. Read-only during a run.
// Nodes are numbered so that neighbours are close (pod by pod): the engine visits them in this order and cuts the order
// into workers. Hosts also have an index of their own, 0..hosts-1, in node order; a host is one NIC port.
#pragma once

#include "weft/model.h"

enum weft_node_role { WEFT_NODE_HOST, WEFT_NODE_SWITCH };

/// What stands there. A role says where a node is in the network, its box how it works.
enum weft_node_box {
#define WEFT_BOX(kind, name, box) WEFT_BOX_##kind,
#include "weft/boxes.def"
    WEFT_BOXES
};
extern const char *const weft_node_box_names[]; ///< as in weft/boxes.def, and NULL
enum { WEFT_CLUSTER_EDGE = 200 };               ///< the cluster of EDSWs and the FDSWs below them, as FBOSS numbers it

struct weft_node_info {
    const char *name;     ///< "host-12", "access-3"; unique
    const char *layer;    ///< "host", "access", "spine" ...: for summaries and globs
    uint8_t role;         ///< enum weft_node_role
    uint8_t tier;         ///< 0 host, 1 the switches next to hosts, ...
    uint8_t box;          ///< enum weft_node_box
    uint8_t fabric_level; ///< of a DSF fabric node: 1 next to interface nodes, 2 between clusters; else 0
    uint32_t cluster; ///< of a DSF node, unique in its fabric: 0.., or the edge's; of a TiN its pod; WEFT_NONE: none
    uint32_t pod;     ///< WEFT_NONE if it belongs to none
    uint32_t card;    ///< line card, unique in its network: nodes that are replaced together; WEFT_NONE: its own
    uint32_t port0;   ///< its first port among all ports
    uint32_t ports;
    uint32_t index; ///< among hosts, or among switches
};

/// One end of a link. Port k of node n is topology->port[node[n].port0 + k], and is called "access-3/7" (k = 7) or, if
/// the user gave it a name, "access-3/E1/24".
struct weft_port_info {
    uint32_t node;
    uint32_t peer; ///< port at the other end
    uint32_t link;
};

struct weft_link_info {
    uint32_t port[2];
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
    uint16_t members;  ///< of a Hyperport, of which rate_bps is the sum; 1: a port like any other
    bool preferred;    ///< of equally short ways those over such links alone are taken
    const char *cable; ///< class of its cable, which gives its delay; NULL: the topology does
};

/// Nodes that reach each other and no others. Its nodes, hosts and switches have consecutive numbers.
struct weft_network_info {
    const char *name; ///< "" if the topology is one network that was given none
    uint32_t node0, nodes, host0, hosts, switch0, switches;
    const char *wiring; ///< as of a topology, if its kind is not the topology's; else NULL
};

/// A NIC of a machine, and the network that it is in, as the user calls it: two names may mean one network, and a NIC
/// then stands under both.
struct weft_nic_info {
    const char *network;
    uint32_t host;
    uint32_t gpus;       ///< GPUs of the machine that share it; 0: not known, a GPU for each NIC
    const uint32_t *gpu; ///< their numbers in the machine, ascending
};

/// A box with NICs in one or several networks: a GPU server, a storage server.
struct weft_machine_info {
    const char *name; ///< "server-3"
    uint32_t nic0, nics;
};

/// A host among the NICs of its machine in its network, which are in the order of hosts.
struct weft_machine_nic {
    uint32_t number, nics;
    uint32_t machine_gpus; ///< GPUs that share these NICs; 0: not known, a GPU for each NIC
    uint32_t gpus;         ///< of these, the ones that share this NIC
    const uint32_t *gpu;   ///< their numbers in the machine, ascending
};

/// A link goes down or up.
struct weft_link_event {
    weft_time_ps time_ps;
    uint32_t link;
    bool up;
};

/// Next hops of a switch towards a host that hold in place of those on shortest paths.
struct weft_static_route {
    uint32_t sw, host; ///< indices
    uint16_t *port;    ///< ascending, all towards switches
    uint32_t ports;
};

/// Ports of the chip and how chips are built into racks, as a dragonfly was generated; all 0: nothing is known.
struct weft_tin_packaging {
    uint32_t local_ports, global_ports, endpoints; ///< of a TiN's cell switch
    uint32_t pods_per_rack;
    bool fibres; ///< delays of links between pods are those of their fibres
};

struct weft_topology {
    const char *kind;
    uint32_t networks, nodes, ports, links, hosts, switches, events;
    struct weft_network_info *network; ///< at least one
    uint32_t machines;
    struct weft_machine_info *machine;
    struct weft_nic_info *nic;            ///< of machines, one machine's after the other's
    uint32_t *machine_of;                 ///< [hosts], WEFT_NONE: of none; NULL: there are no machines
    struct weft_machine_nic *machine_nic; ///< [hosts], all 0 for a host of no machine; NULL: there are no machines
    struct weft_node_info *node;
    struct weft_port_info *port;
    struct weft_link_info *link;
    struct weft_link_event *event;          ///< by time, then link
    uint32_t static_routes, static_hosts;   ///< static_hosts: how many hosts have one
    struct weft_static_route *static_route; ///< by host, then switch
    uint32_t *host;                         ///< host index -> node
    uint16_t *downlink;                     ///< [hosts] which of its switch's links to hosts leads to it, from 0
    uint32_t *switch_node;                  ///< switch index -> node
    const char **port_name;                 ///< [ports], NULL where a port has its number for a name; NULL: all have
    struct weft_tin_packaging packaging;
    struct weft_place place;  ///< of what describes it
    const char *wiring;       ///< how it is wired and what of that is assumed, in a line; NULL: as the user listed
    uint32_t *name_table;     ///< names hashed to nodes, for weft_topology_find_node
    uint32_t name_mask;       ///< its size less one
    struct weft_arena *arena; ///< borrowed
};

/// Delay of a link that a list of links gives none.
#define WEFT_LIST_DELAY "150ns"
#define WEFT_LIST_DELAY_PS (150 * WEFT_PS_PER_NS)

/// A link as a topology model asks for it; `from` and `to` are node numbers.
struct weft_topology_builder;
/// Adds nodes in final order and links in any order; a node's ports are numbered as its links are added. Names are
/// copied. Returns the node's number.
uint32_t weft_topology_add_node(struct weft_topology_builder *b, enum weft_node_role role, const char *layer,
                                uint8_t tier, uint32_t pod, const char *name);
/// What box the node added last is, if not a host or an Ethernet switch.
void weft_topology_set_box(struct weft_topology_builder *b, enum weft_node_box box, uint8_t fabric_level,
                           uint32_t cluster);
/// The line card of the node added last.
void weft_topology_set_card(struct weft_topology_builder *b, uint32_t card);
/// What is added from now on is another network, apart from those before; names of its nodes and layers get its name
/// and a dash put before them. To be called before any node is added, or never. For planes of a kind of topology
/// ("plane-0") and the like. `name` is copied.
void weft_topology_add_network(struct weft_topology_builder *b, const char *name);
void weft_topology_add_link(struct weft_topology_builder *b, uint32_t from, uint32_t to, weft_rate_bps rate,
                            weft_time_ps delay, double bit_error_rate);
/// Names a port of the link added last: end 0 is that of `from`. Copied. Bad names are found by weft_topology_new.
void weft_topology_name_port(struct weft_topology_builder *b, uint32_t end, const char *name);

extern const struct weft_param_table weft_event_table; ///< an entry of `events`

struct weft_topology_ops {
    /// Required. Adds every node and link of `conf`. `tree` is the user's section, for kinds that hold lists (may be
    /// NULL). Errors name a place.
    enum weft_status (*build)(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                              struct weft_error *ret_error);
    /// Optional. One line for people: how `conf` is wired, and what of that is assumed. Text in `arena`.
    const char *(*wiring)(const void *conf, struct weft_arena *arena);
};

/// Builds and validates: in each network at least two hosts, every node reachable from every other and from no other
/// network; every host with exactly one link and that to a switch, links of DSF fabric nodes to DSF nodes only (and of
/// level 2 to fabric nodes only), links between TiNs among a TiN's first 64, at most 4096 TiNs, no node without links,
/// no self-link, names unique (of ports: at their node), rates 10 Mbit/s to 100 Tbit/s, at most 2^24 nodes and links,
/// 65535 ports a node and 65535 switches with hosts. `tree` and `events` are the user's `topology:` and `events:`
/// sections or NULL. Place of errors: the user's line where there is one. An event is {at: 1ms, link: NAME, state:
/// down|up}; NAME as for weft_topology_find_link, or a glob over port names
/// ("core-0/*": all its links).
enum weft_status weft_topology_new(const struct weft_model_conf *model, const struct weft_tree *tree,
                                   const struct weft_tree *events, struct weft_arena *arena,
                                   struct weft_topology **ret_topology, struct weft_error *ret_error);

/// The number that a node's name ends with (at most nine digits of it); WEFT_NONE if it ends with none.
uint32_t weft_node_number(const struct weft_node_info *node);
/// Node by name, WEFT_NONE if absent. Port by "node/name", "node/k" or "node->peer" (first link to that peer). Link by
/// either of its ports' names or "a--b".
uint32_t weft_topology_find_node(const struct weft_topology *t, const char *name);
uint32_t weft_topology_find_port(const struct weft_topology *t, const char *name);
uint32_t weft_topology_find_link(const struct weft_topology *t, const char *name);
/// The network of a host (index), as an index into t->network.
uint32_t weft_topology_network_of(const struct weft_topology *t, uint32_t host);
/// "access-3/7" into text; 128 bytes are enough.
int weft_topology_port_name(const struct weft_topology *t, uint32_t port, char *text, size_t size);
/// Shell glob over a name ("core-*", "access-[0-3]", "*"), comma-separated alternatives allowed.
bool weft_glob_match(const char *pattern, const char *name);
/// Hosts chosen by text: "host-3", "host-0..15", "host-*", the NICs of machines in a network, "server-3@backend",
/// "server-0..15@backend", "server-*@backend" (the network may be left out where there is one), several joined by ",";
/// in the order written, what patterns and machines choose again kept out. An empty choice, an unknown name or a name
/// already chosen is an error at `place`. Host indices, in the arena.
enum weft_status weft_topology_select_hosts(const struct weft_topology *t, const char *text, struct weft_place place,
                                            uint32_t **ret_hosts, uint32_t *ret_n, struct weft_error *ret_error);
/// Ports chosen by text: "leaf-0/3", "leaf-0->spine-1", "leaf-0" (all of its ports), globs over any of these, several
/// joined by ",". Ends of fabric links are left out. What chooses nothing is an error at `place`. Port numbers,
/// ascending, in the arena.
enum weft_status weft_topology_select_ports(const struct weft_topology *t, const char *text, struct weft_place place,
                                            uint32_t **ret_ports, uint32_t *ret_n, struct weft_error *ret_error);
/// Links chosen by text: as for weft_topology_find_link, or globs over the names of their ports and over "a--b", joined
/// by ",". What chooses nothing is an error at `place`. Ascending, in the arena.
enum weft_status weft_topology_select_links(const struct weft_topology *t, const char *text, struct weft_place place,
                                            uint32_t **ret_links, uint32_t *ret_n, struct weft_error *ret_error);

/// It has no tier: its links to its like are within a pod or between pods.
static inline bool weft_node_is_flat(const struct weft_node_info *node) {
    return node->box == WEFT_BOX_TIN;
}
/// A host that is part of a box, not one of those that the network is for.
static inline bool weft_node_is_processor(const struct weft_node_info *node) {
    return node->box == WEFT_BOX_PROCESSOR;
}

/// Cells travel on it, not frames.
static inline bool weft_topology_link_is_fabric(const struct weft_topology *t, uint32_t link) {
    const uint32_t *port = t->link[link].port;
    uint8_t from = t->node[t->port[port[0]].node].box, to = t->node[t->port[port[1]].node].box;
    return from == WEFT_BOX_DSF_FABRIC || to == WEFT_BOX_DSF_FABRIC || (from == WEFT_BOX_TIN && to == WEFT_BOX_TIN);
}

bool weft_topology_has_hosts(const struct weft_topology *t, uint32_t node);

static inline bool weft_topology_port_is_fabric(const struct weft_topology *t, uint32_t port) {
    return weft_topology_link_is_fabric(t, t->port[port].link);
}

static inline const struct weft_port_info *weft_topology_port(const struct weft_topology *t, uint32_t node,
                                                              uint32_t k) {
    return &t->port[t->node[node].port0 + k];
}
