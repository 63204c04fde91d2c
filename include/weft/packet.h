// SPDX-License-Identifier: Apache-2.0
// A packet as the simulator moves it: 32 bytes, by value, nothing to chase. It carries what a forwarding decision
// needs; whatever never changes during a run (a queue pair's addresses, a flow's size) is looked up by `qp` at the
// ends. Header sizes: IBTA vol. 1 (BTH 12, RETH 16, AETH 4, ICRC 4), RoCEv2 annex A17 (UDP 4791), IEEE 802.3.
#pragma once

#include "weft/types.h"

enum weft_packet_kind {
    WEFT_PACKET_DATA, ///< WRITE/SEND request or READ response with payload
    WEFT_PACKET_ACK,  ///< psn: everything below is acknowledged; with GRANT or ASK something else
    WEFT_PACKET_NAK,  ///< psn: send again from here
    WEFT_PACKET_CNP,  ///< congestion notification for `qp`; psn: when it was sent, ps modulo 2^32, for the record only
    WEFT_PACKET_READ, ///< READ request; psn: respond from here
    WEFT_PACKET_CTS,  ///< clear to send: the receiver of `qp` has room for its messages below psn
    WEFT_PACKET_SFCM, ///< source flow control message: `qp` is to pause; see weft_packet_sfcm_pause_ns
    // what follows goes to the neighbour and no further: weft_packet_is_local
    WEFT_PACKET_PFC,     ///< IEEE 802.1Qbb pause frame; see weft_packet_pfc
    WEFT_PACKET_LLDP,    ///< LLDP frame; psn: the port that sends it, among all ports
    WEFT_PACKET_SERVER,  ///< no frame (bytes 0): between GPUs of a server, over its own network; qp: the connection
    WEFT_PACKET_CONTROL, ///< no frame (bytes 0): between a controller and a switch, outside the network; psn: a round
    WEFT_PACKET_REQUEST, ///< DSF: a VOQ asks for credits, or for no more; see src/box/dsf/dsf_in.h
    WEFT_PACKET_CREDIT,  ///< DSF: a VOQ may send
    WEFT_PACKET_LLFC,    ///< DSF, no frame (bytes 0): flow control of a fabric link; flags: stop
    WEFT_PACKET_ROOM,    ///< no frame (bytes 0): room at the end of a link. To a host: psn bytes were taken; between
                         ///< TiNs: see src/box/tin/gnet_cell.h
    WEFT_PACKET_TRIGGER, ///< no frame (bytes 0): from host to host, outside the network; see src/transport/trigger.h
    WEFT_PACKET_KINDS
};

enum weft_ecn { WEFT_ECN_NOT_ECT = 0, WEFT_ECN_ECT1 = 1, WEFT_ECN_ECT0 = 2, WEFT_ECN_CE = 3 };

enum weft_packet_flag {
    WEFT_PACKET_ACK_REQUEST = 1, ///< BTH AckReq
    WEFT_PACKET_ECHO = 1,        ///< of an ACK or NAK: its data was marked CE
    WEFT_PACKET_FIRST = 2,       ///< of a message, on queue pairs that carry several
    WEFT_PACKET_LAST = 4,
    // of an ACK that acknowledges nothing
    WEFT_PACKET_GRANT = 2, ///< psn: credit granted since the start, in units of 256 B
    WEFT_PACKET_ASK = 4,   ///< it goes with the data, and its receiver is to acknowledge what came, from psn on
};

/// Bits of fields.
enum {
    WEFT_PACKET_NODE_BITS = 24,
    WEFT_PACKET_HOPS_BITS = 5,
    WEFT_PACKET_ENTROPY_BITS = 14,
    WEFT_PACKET_KIND_BITS = 4,
    WEFT_PACKET_PRIORITY_BITS = 3,
    WEFT_PACKET_ECN_BITS = 2,
    WEFT_PACKET_FLAG_BITS = 3,
    WEFT_PACKET_DSCP_BITS = 6,
};

struct weft_packet {
    weft_time_ps time_ps; ///< when it arrives at `node`; in a queue: when it got there
    uint32_t late : 1;    ///< arrives after what comes to the same port at the same time and is not late
    uint32_t side : 1;    ///< has a record beside it: psn is its number (src/engine/side.h)
    uint32_t spare : 1;   ///< of a frame: trimmed (weft/aqm.h); within a fabric of cells, what its boxes say
    uint32_t hops : WEFT_PACKET_HOPS_BITS; ///< routers that it has come to, at most all that fit; for captures
    uint32_t node : WEFT_PACKET_NODE_BITS; ///< the node it arrives at; written at each hop, so in the upper bits
    uint16_t port;                         ///< that node's port, from 0
    uint16_t bytes;                        ///< frame from destination MAC to FCS; the wire adds WEFT_WIRE_OVERHEAD
    uint32_t dst;                          ///< destination host (index among hosts)
    uint32_t qp;                           ///< queue pair, global
    uint32_t psn;                          ///< packet sequence number; not wrapped to 24 bits
    /// Of the UDP source port, 0xC000 to 0xFFFF: with `dst` the input of every ECMP hash.
    uint32_t entropy : WEFT_PACKET_ENTROPY_BITS;
    uint32_t kind : WEFT_PACKET_KIND_BITS;         ///< enum weft_packet_kind
    uint32_t priority : WEFT_PACKET_PRIORITY_BITS; ///< where it is now: a switch sets it from dscp, or from what it
                                                   ///< was, by its own map
    uint32_t ecn : WEFT_PACKET_ECN_BITS;           ///< enum weft_ecn
    uint32_t flags : WEFT_PACKET_FLAG_BITS;        ///< enum weft_packet_flag
    uint32_t dscp : WEFT_PACKET_DSCP_BITS;
};
_Static_assert(sizeof(struct weft_packet) == 32, "packets are copied by value; two to a cache line");
_Static_assert(WEFT_PACKET_NODE_BITS + 1 + 1 + 1 + WEFT_PACKET_HOPS_BITS == 32, "a word of bits, all named");
_Static_assert(WEFT_PACKET_ENTROPY_BITS + WEFT_PACKET_KIND_BITS + WEFT_PACKET_PRIORITY_BITS + WEFT_PACKET_ECN_BITS +
                       WEFT_PACKET_FLAG_BITS + WEFT_PACKET_DSCP_BITS ==
                   32,
               "a word of bits, all named");
_Static_assert(WEFT_PACKET_KINDS <= 1 << WEFT_PACKET_KIND_BITS, "a packet can say them all");
_Static_assert(WEFT_PRIORITIES <= 1 << WEFT_PACKET_PRIORITY_BITS, "a packet can say them all");
_Static_assert(WEFT_ECN_CE < 1 << WEFT_PACKET_ECN_BITS, "a packet can say them all");
_Static_assert(2 * WEFT_PACKET_LAST - 1 < 1 << WEFT_PACKET_FLAG_BITS, "a packet can have them all");
#define WEFT_PACKET_NODES (1u << WEFT_PACKET_NODE_BITS) ///< that a packet can tell apart

/// Says to which node it goes, or what else a box keeps there while it has the packet.
static inline void weft_packet_set_node(struct weft_packet *p, uint32_t node) {
    p->node = node & (WEFT_PACKET_NODES - 1);
}

/// A switch or a fabric has it from outside, with this priority: a hop more.
static inline void weft_packet_enter(struct weft_packet *p, uint32_t priority) {
    p->priority = priority & 7u;
    if (p->hops < (1u << WEFT_PACKET_HOPS_BITS) - 1) p->hops++;
}

#define WEFT_WIRE_OVERHEAD 20u ///< preamble 8 and inter-packet gap 12
#define WEFT_FRAME_MIN 64u     ///< IEEE 802.3 minimum frame; also the size of a PFC frame
#define WEFT_FRAME_DATA 62u    ///< headers of a data frame: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4
#define WEFT_FRAME_RETH 16u    ///< more on a first or only WRITE packet and on a READ request
#define WEFT_FRAME_AETH 4u     ///< more on an ACK, NAK or READ response
#define WEFT_FRAME_ACK 66u
#define WEFT_FRAME_READ 78u
#define WEFT_FRAME_CTS 142u ///< an RDMA WRITE of 64 B, the entry of NCCL's FIFO
#define WEFT_FRAME_CNP 78u  ///< 16 reserved octets after the BTH
#define WEFT_FRAME_TAG 4u   ///< more on any with an 802.1Q tag
#define WEFT_FRAME_GRH 12u  ///< more on any of RoCEv1: GRH 40 in place of IPv4 20 and UDP 8
#define WEFT_FRAME_SFCM 64u ///< our own format: Ethernet 14, IPv4 20, UDP 8, message 18, FCS 4

/// A queue pair has a number on each of the two NICs, which number their own: where its data comes from, and where it
/// goes. The BTH of a packet has that of the NIC that it goes to.
struct weft_qp_numbers {
    uint32_t at_src, at_dst;
    uint32_t src, dst;         ///< hosts
    uint32_t path;             ///< of its data (weft_workload.path); 0: as routed
    uint16_t destination_port; ///< UDP port for a hash; 0: that of the route model
};
/// And not against it: to the data's receiver.
static inline bool weft_packet_goes_with_data(const struct weft_packet *p) {
    return p->kind == WEFT_PACKET_DATA || (p->kind == WEFT_PACKET_ACK && p->flags & WEFT_PACKET_ASK);
}
/// `numbers`: of all queue pairs.
static inline uint32_t weft_packet_dest_qp(const struct weft_packet *p, const struct weft_qp_numbers *numbers) {
    return weft_packet_goes_with_data(p) ? numbers[p->qp].at_dst : numbers[p->qp].at_src;
}

static inline bool weft_packet_is_local(const struct weft_packet *p) {
    return p->kind >= WEFT_PACKET_PFC;
}

/// A PFC frame keeps its class-enable vector and quanta in fields that it has no other use for. One priority, named by
/// `flags`, may have quanta of its own: a switch then stands in for source flow control.
static inline uint8_t weft_packet_pfc_classes(const struct weft_packet *p) {
    return (uint8_t)p->psn;
}
static inline bool weft_packet_pfc_is_proxied(const struct weft_packet *p, unsigned priority) {
    return p->psn >> 16 && p->flags == priority;
}
static inline uint32_t weft_packet_pfc_quanta(const struct weft_packet *p, unsigned priority) {
    if (weft_packet_pfc_is_proxied(p, priority)) return p->psn >> 16;
    return (p->psn >> 8 >> priority & 1) ? p->qp : 0;
}

/// A source flow control message has the time to pause, 1 s at most, where others have their PSN, and above it and in
/// its flags when it was sent, ns modulo 32, for the record only. Its entropy is the number of the switch that sends
/// it.
#define WEFT_PACKET_SFCM_PAUSE_BITS 30u
static inline uint32_t weft_packet_sfcm_pause_ns(const struct weft_packet *p) {
    return p->psn & ((1u << WEFT_PACKET_SFCM_PAUSE_BITS) - 1);
}
static inline uint32_t weft_packet_sfcm_sent_ns(const struct weft_packet *p) {
    return p->psn >> WEFT_PACKET_SFCM_PAUSE_BITS << 3 | p->flags;
}
