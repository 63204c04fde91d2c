// SPDX-License-Identifier: Apache-2.0
// A network under construction, and what the kinds of topology share.
#pragma once

#include "base/order.h"
#include "weft/topology.h"

#define WEFT__NODES_MAX ((UINT64_C(1) << 24) - 1) // a packet has 24 bits for a node; one number is the controller
#define WEFT__LINKS_MAX (UINT64_C(1) << 24)
#define WEFT__PORTS_MAX 65535u           // per node: a packet keeps its port in 16 bits
#define WEFT__EDGES_MAX 65535u           // switches with hosts: the number of a route set has 16 bits
#define WEFT__TIER_BY_DISTANCE UINT8_MAX // tier of an added node: its hops to the nearest host, at most 254
#define WEFT__RATE_MIN UINT64_C(10000000)
#define WEFT__RATE_MAX UINT64_C(100000000000000)

struct weft__link {
    uint32_t node[2];
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
    struct weft_place place;
    uint16_t members;
    bool preferred;
};

struct weft__network {
    struct weft__network *next; ///< the previously added one
    const char *name, *wiring;
    const char *prefix; ///< of the names of its nodes and layers, before a dash; NULL: none
    uint32_t node0;
};

/// Another name of a network.
struct weft__alias {
    struct weft__alias *next;
    const char *name, *of;
};

/// A layer's name in a generator, and the name that the user sees.
struct weft__layer {
    const char *name, *full;
};

/// The user's name of a port; in the builder's arena.
struct weft__port_name {
    struct weft__port_name *next;
    const char *name;
    uint32_t link, end;
};

struct weft_topology_builder {
    struct weft_arena *arena; ///< holds names and layers
    struct weft_place place;  ///< in the user's text, of what is added next
    bool preferred;           ///< of the links added next, see weft_link_info
    uint32_t nodes, nodes_capacity, links, links_capacity, layers;
    struct weft_node_info *node;
    struct weft_place *node_place;
    struct weft__link *link;
    struct weft__port_name *port_name; ///< last first
    struct weft__network *network;     ///< last first
    const char *scope; ///< prefix for the networks of a generator that makes only part of the topology; or NULL
    uint32_t networks;
    struct weft__alias *alias;
    struct weft_machine_info *machine; ///< in the arena
    struct weft_nic_info *nic;         ///< in the arena; `host` is a node number at this point
    uint32_t machines, nics;
    struct weft_tin_packaging packaging;
    struct weft__layer layer[16]; ///< layers seen in this network, shared by its nodes
};

/// An error if adding this many exceeds any sensible size; called before anything is allocated.
enum weft_status weft__topology_check_size(const struct weft_topology_builder *b, uint64_t nodes, uint64_t links,
                                           struct weft_error *ret_error);
static inline uint64_t weft__plus(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/// Checks everything that weft_topology_new promises, except the name table. `degree`: links of each node.
enum weft_status weft__topology_validate(const struct weft_topology_builder *b, const uint32_t *degree,
                                         struct weft_error *ret_error);
/// Adds a network of its own, of the kind and parameters in `tree`; `path` is where that stands. `bare`: its nodes have
/// the names of the kind, without the network's before them.
enum weft_status weft__topology_build_network(const struct weft_tree *tree, const char *path, const char *name,
                                              bool bare, struct weft_topology_builder *b, struct weft_error *ret_error);
/// Reads `machines:` of a topology section. Call it when all nodes and aliases have been added.
enum weft_status weft__topology_read_machines(const struct weft_tree *tree, struct weft_topology_builder *b,
                                              struct weft_error *ret_error);
/// A machine with NICs in the current network, which it sets; their `host` are node numbers. `machines:` in the
/// topology section takes the place of such machines.
void weft__topology_add_machine(struct weft_topology_builder *b, const char *name, struct weft_nic_info *nic,
                                uint32_t nics);
/// A machine for each device that has hosts among the nodes from `node0` on: device[k] is that of node0 + k; NULL: as
/// the host's name says (weft__topology_device_length). Where no device is known at all, there are no machines.
void weft__topology_add_devices(struct weft_topology_builder *b, uint32_t node0, const char *const *device);
/// The length of the device in a name of a device and its port, "gpu-1.mlx5_0", "gpu-1:eth2" or "gpu-1/ib0"; 0: the
/// name is that of a device. Ports are recognised by their customary names, as dots occur in names of devices too.
size_t weft__topology_device_length(const char *name);
/// Moves machines from the builder to the topology, whose nodes have their final numbers.
void weft__topology_keep_machines(struct weft_topology *t, const struct weft_topology_builder *b);
/// Names of networks and machines: letters, digits, _ and -, starting with a letter, at most 31 characters.
bool weft__topology_name_is_good(const char *name);

/// Names of nodes. They appear in "name/port", "a->b", "a--b", "host-0..7" and in lists; names that would be ambiguous
/// there are refused.
bool weft__topology_node_name_is_good(const char *name);
/// Names of ports. They appear after "node/" and must not look like a number or like "a--b".
bool weft__topology_port_name_is_good(const char *name);

/// Fills t->name_table. If a name is used twice, the error is at the second use.
enum weft_status weft__topology_hash_names(struct weft_topology *t, const struct weft_place *place,
                                           struct weft_error *ret_error);
/// Fills t->port_name. If a name is bad, or used twice at a node, the error is at the link.
enum weft_status weft__topology_name_ports(struct weft_topology *t, const struct weft_topology_builder *b,
                                           struct weft_error *ret_error);
enum weft_status weft__topology_read_events(struct weft_topology *t, const struct weft_tree *events,
                                            struct weft_error *ret_error);
/// Applies `override:` of the topology section to single links. Kinds that do not list their links accept it, and
/// `routes`: their tables use weft__topology_lists, or name both themselves.
extern const char *const weft__topology_lists[];
enum weft_status weft__topology_override(struct weft_topology *t, const struct weft_tree *tree,
                                         struct weft_error *ret_error);
/// Reads `routes:` of the topology section, a list or the name of a table.
enum weft_status weft__topology_read_routes(struct weft_topology *t, const struct weft_tree *tree,
                                            struct weft_error *ret_error);
/// The node name nearest to `name`, or NULL.
const char *weft__topology_nearest_node(const struct weft_topology *t, const char *name, size_t length);
/// Reads the next of several names and patterns separated by commas into `item` (as long as the text), without
/// surrounding blanks; *text advances, and is NULL after the last one. False: there was none.
bool weft__choice_next(const char **text, char *item);

/// Rate, delay and bit error rate of the links between two layers.
struct weft__line {
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
};
/// Rows for a layer's own rate and delay: T has members KEY_rate_bps and KEY_delay_ps. 0 means "the common value",
/// which is never 0 itself.
#define WEFT__LINE_ROWS(T, key, which)                                                                                 \
    WEFT_RATE(T, key##_rate_bps, #key "_rate", "0bps", "0bps", "100Tbps", "rate of " which "; 0bps: as rate"),         \
        WEFT_TIME(T, key##_delay_ps, #key "_delay", "0s", "0s", "1s", "delay of " which "; 0s: as delay")
/// Rate, delay and bit error rate of every link without its own: members rate_bps, delay_ps, bit_error_rate.
#define WEFT__COMMON_LINE_ROWS(T)                                                                                      \
    WEFT_RATE(T, rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps", "rate of every link"),                              \
        WEFT_TIME(T, delay_ps, "delay", "150ns", "1ps", "1s", "propagation delay of every link, one way"),             \
        WEFT_REAL(T, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "bit error rate of every link, after FEC")
static inline struct weft__line weft__line_or(weft_rate_bps own_rate_bps, weft_time_ps own_delay_ps,
                                              struct weft__line common) {
    return (struct weft__line){own_rate_bps ? own_rate_bps : common.rate_bps,
                               own_delay_ps ? own_delay_ps : common.delay_ps, common.bit_error_rate};
}
/// NULL, or what is wrong with a layer's own rate.
const char *weft__check_own_rate(const char *key, weft_rate_bps rate, char *text, size_t size);
void weft__topology_connect(struct weft_topology_builder *b, uint32_t from, uint32_t to, struct weft__line line);
/// Adds this many parallel links.
void weft__topology_connect_times(struct weft_topology_builder *b, uint32_t from, uint32_t to, uint64_t times,
                                  struct weft__line line);
/// Makes the link added last a Hyperport with this many ports of its rate.
void weft__topology_set_members(struct weft_topology_builder *b, uint64_t members);
/// Adds a node named after its layer: "access-3".
uint32_t weft__topology_add_numbered(struct weft_topology_builder *b, enum weft_node_role role, const char *layer,
                                     uint8_t tier, uint32_t pod, uint64_t number);
/// How many of `total` things must have been placed after `done` of `units`, when they are spread evenly.
static inline uint64_t weft__due(uint64_t total, uint64_t done, uint64_t units) {
    return total * done / units;
}
/// The host at downlink `down` of an access switch with `hosts` hosts: with rails, one GPU of the down-th server of its
/// group of `rails` access switches.
static inline uint64_t weft__rail_host(uint64_t rails, uint64_t hosts, uint64_t access, uint64_t down) {
    uint64_t rail = access % rails;
    return (access - rail) * hosts + down * rails + rail;
}

/// Pods of access and aggregation switches below a layer of core switches: what ai_zone, clos3, fat_tree and leaf_spine
/// share.
struct weft__tiers {
    uint64_t pods;                ///< without a core layer: 1, and names have no pod number
    uint64_t access, aggregation; ///< per pod
    uint64_t core;                ///< in total; 0: two layers
    uint64_t hosts;               ///< per access switch
    uint64_t rails;               ///< access switches that share their servers, one GPU of each; 0 or 1: no rails
    uint64_t access_parallel;     ///< links between an access switch and an aggregation switch
    uint64_t core_parallel;       ///< links between an aggregation switch and a core switch that are connected
    bool planes;                  ///< aggregation switch j of every pod connects to the j-th share of the cores
    const char *access_layer, *aggregation_layer, *core_layer;
    struct weft__line host_line, access_line, core_line;
};
enum weft_status weft__tiers_build(const struct weft__tiers *tiers, struct weft_topology_builder *b,
                                   struct weft_error *ret_error);
/// The root of the set that `n` is in, in a forest of parents (union-find); paths are halved.
static inline uint32_t weft__root_of(uint32_t *parent, uint32_t n) {
    while (parent[n] != n)
        n = parent[n] = parent[parent[n]];
    return n;
}
