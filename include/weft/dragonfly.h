// SPDX-License-Identifier: Apache-2.0
// A cell-switched dragonfly (Aquila, NSDI 2022): ToR-in-NIC chips (TiNs) in pods, linked by GNet. What a topology says
// of one, in the numbers that routing and devices count in. TiNs are numbered pod by pod, in each in the order of
// nodes; a GNet address is such a number and an endpoint.
#pragma once

#include "weft/topology.h"

enum { WEFT_GNET_PORTS_MAX = 64, WEFT_GNET_TINS_MAX = 4096 };
#define WEFT_FIBRE_PS_PER_M 5000.0

/// What leads out of a port of a TiN. Generated dragonflies number ports in this order: local by peer, then global by
/// peer's pod, hosts, Ethernet.
enum weft_tin_port_class {
    WEFT_TIN_LOCAL,    ///< GNet, to a TiN of the same pod
    WEFT_TIN_GLOBAL,   ///< GNet, to a TiN of another pod
    WEFT_TIN_HOST,     ///< PCIe, to a server
    WEFT_TIN_ETHERNET, ///< to the data centre's spine
    WEFT_TIN_PORT_CLASSES
};

/// Local hops, by the places of the two TiNs in their pod: odd or even distance, to a higher or a lower place.
enum weft_gnet_hop { WEFT_GNET_ODD_UP, WEFT_GNET_ODD_DOWN, WEFT_GNET_EVEN_UP, WEFT_GNET_EVEN_DOWN, WEFT_GNET_HOPS };
static inline enum weft_gnet_hop weft_gnet_hop(uint32_t from, uint32_t to) {
    return (enum weft_gnet_hop)((((from ^ to) & 1) ? WEFT_GNET_ODD_UP : WEFT_GNET_EVEN_UP) + (to < from));
}

/// Where a cell came into a TiN, as far as routing cares: six classes of ports (section 4.2).
enum weft_gnet_input {
    WEFT_GNET_TERMINAL,
    WEFT_GNET_INTER_POD,
    WEFT_GNET_INTRA_POD, ///< and, up to three more, by the hop (enum weft_gnet_hop) that it has come
    WEFT_GNET_INPUTS = WEFT_GNET_INTRA_POD + WEFT_GNET_HOPS
};

/// Of TiN t. Its GNet ports are among its node's first 64 ports, so that sets of them are masks of 64 bits.
struct weft_tin {
    uint32_t node;
    uint16_t pod, place;                ///< place: in its pod, from 0
    uint64_t local, global;             ///< GNet ports, bit k is port k of the node
    uint16_t peer[WEFT_GNET_PORTS_MAX]; ///< TiN behind a GNet port; WEFT_TIN_NONE: of another class
    uint8_t input[WEFT_GNET_PORTS_MAX]; ///< enum weft_gnet_input of a GNet port
    uint64_t back[WEFT_GNET_PORTS_MAX]; ///< ports that a cell which came by a local port must not take: to the same TiN
    uint32_t gnet_ports, hosts, ethernets; ///< ports of each kind
};
#define WEFT_TIN_NONE UINT16_MAX

/// A fabric of TiNs that cells do not leave: a Clique.
struct weft_dragonfly {
    uint32_t pods, tins;
    struct weft_tin *tin; ///< pod by pod
    uint32_t *pod_first;  ///< [pods + 1] its first TiN
};

/// Every Clique of a topology.
struct weft_dragonflies {
    uint32_t n;
    struct weft_dragonfly *fabric;
    uint32_t *fabric_of_node; ///< [nodes], WEFT_NONE: no TiN
    uint16_t *tin_of_node;    ///< [nodes], WEFT_TIN_NONE: no TiN
};

/// In `arena`; n is 0 if there is no TiN. TiNs that GNet links join are a fabric; its pods are those of their clusters
/// (weft_node_info). The topology has been validated (see weft_topology_new).
struct weft_dragonflies *weft_dragonflies_new(const struct weft_topology *t, struct weft_arena *arena);

/// The class of port k of a TiN's node.
enum weft_tin_port_class weft_tin_port_class(const struct weft_topology *t, uint32_t node, uint32_t k);
