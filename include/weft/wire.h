// SPDX-License-Identifier: Apache-2.0
// Frames as bytes: Ethernet, IP, RoCEv2 and MAC control, each header a struct with a codec, and the whole frame.
//
// Everything here is pure, allocates nothing and is total: any bytes and any struct may be given.
//   size_t weft_<x>_encode(const struct weft_<x> *, uint8_t *ret, size_t size)
//       the bytes written, or 0: it does not fit, or a field holds more than the wire has bits for
//   enum weft_wire_status weft_<x>_decode(const uint8_t *bytes, size_t size, struct weft_<x> *ret)
//       `ret` is written only with WEFT_WIRE_OK
// A struct keeps every bit of its header, reserved ones too, so that decoding and encoding gives the same bytes.
// Fields are in host order. Layouts and their sources: docs/wire.md.
#pragma once

#include "weft/types.h"

enum weft_wire_status {
    WEFT_WIRE_OK,
    WEFT_WIRE_TRUNCATED, ///< there are fewer bytes than a header or a length in one asks for
    WEFT_WIRE_MALFORMED, ///< a field contradicts the format or another field
};

/// Declares both for a struct.
#define WEFT_CODEC(x)                                                                                                  \
    size_t weft_##x##_encode(const struct weft_##x *, uint8_t *ret, size_t size);                                      \
    enum weft_wire_status weft_##x##_decode(const uint8_t *bytes, size_t size, struct weft_##x *ret);

// ---- Ethernet: IEEE 802.3, 802.1Q ----

enum weft_ethertype {
    WEFT_ETHERTYPE_IPV4 = 0x0800,
    WEFT_ETHERTYPE_VLAN = 0x8100,
    WEFT_ETHERTYPE_ROCE_V1 = 0x8915,
    WEFT_ETHERTYPE_IPV6 = 0x86dd,
    WEFT_ETHERTYPE_MAC_CONTROL = 0x8808,
    WEFT_ETHERTYPE_LLDP = 0x88cc,
};

#define WEFT_ETHERNET_BYTES 14u
struct weft_ethernet {
    uint8_t dst[6], src[6];
    uint16_t ethertype; ///< the first one: WEFT_ETHERTYPE_VLAN if a tag follows
};

#define WEFT_VLAN_BYTES 4u
/// What follows ethertype 0x8100: tag control information and the type of what is behind it.
struct weft_vlan {
    uint8_t priority; ///< PCP, 3 bits
    bool drop_eligible;
    uint16_t id; ///< 12 bits
    uint16_t ethertype;
};

WEFT_CODEC(ethernet)
WEFT_CODEC(vlan)

// ---- MAC control: IEEE 802.3 annex 31B (pause), 31D and 802.1Qbb (PFC) ----

extern const uint8_t WEFT_MAC_CONTROL_ADDRESS[6]; ///< 01-80-C2-00-00-01
#define WEFT_PAUSE_OPCODE 0x0001u
#define WEFT_PFC_OPCODE 0x0101u
#define WEFT_QUANTUM_BITS 512u ///< a quantum of pause is the time of so many bits

#define WEFT_PAUSE_BYTES 4u ///< opcode and quanta
struct weft_pause {
    uint16_t quanta;
};

#define WEFT_PFC_BYTES 20u ///< opcode, vector and quanta
struct weft_pfc {
    uint16_t classes;                 ///< class-enable vector: bit i is priority i; the high octet is reserved
    uint16_t quanta[WEFT_PRIORITIES]; ///< 0 in an enabled class is XON
};

WEFT_CODEC(pause)
WEFT_CODEC(pfc)

// ---- IP and UDP: RFC 791, 8200, 2474, 3168, 768 ----

#define WEFT_IP_UDP 17u

#define WEFT_IPV4_BYTES 20u ///< without options
struct weft_ipv4 {
    uint8_t dscp, ecn; ///< 6 and 2 bits; ecn: enum weft_ecn
    uint16_t total_length;
    uint16_t identification;
    bool reserved_flag, dont_fragment, more_fragments;
    uint16_t fragment_offset; ///< 13 bits, in units of 8 bytes
    uint8_t ttl, protocol;
    uint16_t checksum;
    uint32_t src, dst;
    uint8_t options_bytes; ///< a multiple of 4, at most 40
    uint8_t options[40];
};

#define WEFT_IPV6_BYTES 40u
struct weft_ipv6 {
    uint8_t dscp, ecn;
    uint32_t flow_label; ///< 20 bits
    uint16_t payload_length;
    uint8_t next_header, hop_limit;
    uint8_t src[16], dst[16];
};

/// The global route header of RoCEv1, behind Ethernet's type 0x8915: laid out as an IPv6 header, addresses are GIDs.
#define WEFT_GRH_BYTES WEFT_IPV6_BYTES
#define WEFT_GRH_NEXT_BTH 0x1bu
size_t weft_grh_encode(const struct weft_ipv6 *, uint8_t *ret, size_t size);
enum weft_wire_status weft_grh_decode(const uint8_t *bytes, size_t size, struct weft_ipv6 *ret);

#define WEFT_UDP_BYTES 8u
#define WEFT_UDP_PORT_ROCE 4791u
struct weft_udp {
    uint16_t src_port, dst_port;
    uint16_t length;
    uint16_t checksum; ///< 0: none
};

/// Writes the fields as they are, the checksum too; weft_ipv4_calc_checksum computes the right one.
size_t weft_ipv4_encode(const struct weft_ipv4 *, uint8_t *ret, size_t size);
/// MALFORMED if the version is not 4 or the header length is below 5 words. The checksum is not judged.
enum weft_wire_status weft_ipv4_decode(const uint8_t *bytes, size_t size, struct weft_ipv4 *ret);
/// The checksum of this header, whatever its field says; 0 also if the header cannot be encoded.
uint16_t weft_ipv4_calc_checksum(const struct weft_ipv4 *);
size_t weft_ipv6_encode(const struct weft_ipv6 *, uint8_t *ret, size_t size);
enum weft_wire_status weft_ipv6_decode(const uint8_t *bytes, size_t size, struct weft_ipv6 *ret);
WEFT_CODEC(udp)

// ---- RoCEv2: IBTA vol. 1 chapter 9, annex A17 ----

enum weft_rc_opcode {
    WEFT_RC_SEND_FIRST = 0x00,
    WEFT_RC_SEND_MIDDLE = 0x01,
    WEFT_RC_SEND_LAST = 0x02,
    WEFT_RC_SEND_LAST_IMMEDIATE = 0x03,
    WEFT_RC_SEND_ONLY = 0x04,
    WEFT_RC_SEND_ONLY_IMMEDIATE = 0x05,
    WEFT_RC_WRITE_FIRST = 0x06,
    WEFT_RC_WRITE_MIDDLE = 0x07,
    WEFT_RC_WRITE_LAST = 0x08,
    WEFT_RC_WRITE_LAST_IMMEDIATE = 0x09,
    WEFT_RC_WRITE_ONLY = 0x0a,
    WEFT_RC_WRITE_ONLY_IMMEDIATE = 0x0b,
    WEFT_RC_READ_REQUEST = 0x0c,
    WEFT_RC_READ_RESPONSE_FIRST = 0x0d,
    WEFT_RC_READ_RESPONSE_MIDDLE = 0x0e,
    WEFT_RC_READ_RESPONSE_LAST = 0x0f,
    WEFT_RC_READ_RESPONSE_ONLY = 0x10,
    WEFT_RC_ACK = 0x11, ///< and NAK: the AETH says which
    WEFT_RC_ATOMIC_ACK = 0x12,
    WEFT_RC_COMPARE_SWAP = 0x13,
    WEFT_RC_FETCH_ADD = 0x14,
    WEFT_RC_SEND_LAST_INVALIDATE = 0x16,
    WEFT_RC_SEND_ONLY_INVALIDATE = 0x17,
    WEFT_ROCE_CNP = 0x81,
};

#define WEFT_QP_MAX 0xffffffu ///< queue pair and packet sequence numbers have 24 bits
#define WEFT_PSN_MASK 0xffffffu

#define WEFT_BTH_BYTES 12u
struct weft_bth {
    uint8_t opcode; ///< enum weft_rc_opcode, or any other
    bool solicited, migration;
    uint8_t pad_count; ///< 2 bits: octets of padding between payload and ICRC
    uint8_t version;   ///< 4 bits: 0
    uint16_t pkey;     ///< 0xffff: the default partition
    bool fecn, becn;
    uint8_t reserved6;
    uint32_t dest_qp;
    bool ack_request;
    uint8_t reserved7;
    uint32_t psn;
};

#define WEFT_RETH_BYTES 16u
struct weft_reth {
    uint64_t address;
    uint32_t rkey;
    uint32_t length;
};

enum weft_aeth_code { WEFT_AETH_ACK = 0, WEFT_AETH_RNR_NAK = 1, WEFT_AETH_RESERVED = 2, WEFT_AETH_NAK = 3 };
enum weft_nak {
    WEFT_NAK_PSN_SEQUENCE = 0,
    WEFT_NAK_INVALID_REQUEST = 1,
    WEFT_NAK_REMOTE_ACCESS = 2,
    WEFT_NAK_REMOTE_OPERATION = 3,
    WEFT_NAK_INVALID_RD_REQUEST = 4,
};
#define WEFT_AETH_NO_CREDITS 31u ///< as value of an ACK: end-to-end credits are not used

#define WEFT_AETH_BYTES 4u
struct weft_aeth {
    bool reserved;
    uint8_t code;  ///< enum weft_aeth_code
    uint8_t value; ///< 5 bits: credits of an ACK, timer of an RNR NAK, enum weft_nak of a NAK
    uint32_t msn;  ///< message sequence number, 24 bits
};

#define WEFT_IMMDT_BYTES 4u
struct weft_immdt {
    uint32_t data;
};

#define WEFT_IETH_BYTES 4u
struct weft_ieth {
    uint32_t rkey; ///< to be invalidated
};

#define WEFT_ATOMIC_ETH_BYTES 28u
struct weft_atomic_eth {
    uint64_t address;
    uint32_t rkey;
    uint64_t swap_add;
    uint64_t compare;
};

#define WEFT_ATOMIC_ACK_ETH_BYTES 8u
struct weft_atomic_ack_eth {
    uint64_t original; ///< what was there before
};

#define WEFT_ICRC_BYTES 4u

WEFT_CODEC(bth)
WEFT_CODEC(reth)
WEFT_CODEC(aeth)
WEFT_CODEC(immdt)
WEFT_CODEC(ieth)
WEFT_CODEC(atomic_eth)
WEFT_CODEC(atomic_ack_eth)

/// A congestion notification packet: its BTH is followed by 16 reserved octets of zero.
#define WEFT_CNP_RESERVED_BYTES 16u
#define WEFT_CNP_DSCP 48u ///< the default of NICs
/// Which bit of the BTH says "congestion" in a CNP. The annex has BECN; some descriptions say FECN.
enum weft_cnp_mark { WEFT_CNP_BECN, WEFT_CNP_FECN };

struct weft_bth weft_bth_cnp(uint32_t dest_qp, enum weft_cnp_mark mark);

/// What an opcode brings with it.
struct weft_roce_opcode {
    const char *name; ///< such as "RC RDMA WRITE Only with Immediate"
    uint8_t opcode;
    uint8_t payload; ///< may it carry payload?
    uint16_t layers; ///< enum weft_frame_layer: the extended headers behind the BTH
};

/// NULL if it is none of enum weft_rc_opcode.
const struct weft_roce_opcode *weft_roce_opcode_find(uint8_t opcode);

// ---- Check sums over bytes ----

/// The ICRC of a RoCEv2 packet. `ip` begins with the IP header (version 4 or 6, next header UDP) and ends with the last
/// octet before the ICRC. What routers change is masked: TOS, TTL and checksum, or traffic class, flow label and hop
/// limit; the UDP checksum; FECN, BECN and the reserved bits beside them. It stands on the wire lowest octet first.
/// MALFORMED or TRUNCATED if these are not there.
enum weft_wire_status weft_icrc_calc(const uint8_t *ip, size_t size, uint32_t *ret_icrc);

/// The UDP checksum of a packet from its IP header to the end of the datagram, whatever its field says; never 0.
/// MALFORMED or TRUNCATED if these are not there.
enum weft_wire_status weft_udp_checksum_calc(const uint8_t *ip, size_t size, uint16_t *ret_checksum);

/// The frame check sequence of the frame without it. It stands on the wire lowest octet first.
uint32_t weft_fcs_calc(const uint8_t *frame, size_t size);

// ---- The whole frame ----

#define WEFT_FCS_BYTES 4u
#define WEFT_FRAME_MIN_NO_FCS 60u ///< IEEE 802.3; a shorter frame is padded

/// The layers a frame can have above its Ethernet header, in the order in which they stand.
enum weft_frame_layer {
    WEFT_LAYER_VLAN = 1 << 0,
    WEFT_LAYER_PAUSE = 1 << 1,
    WEFT_LAYER_PFC = 1 << 2,
    WEFT_LAYER_IPV4 = 1 << 3,
    WEFT_LAYER_IPV6 = 1 << 4,
    WEFT_LAYER_GRH = 1 << 5,
    WEFT_LAYER_UDP = 1 << 6,
    WEFT_LAYER_BTH = 1 << 7,
    WEFT_LAYER_RETH = 1 << 8,
    WEFT_LAYER_AETH = 1 << 9,
    WEFT_LAYER_ATOMIC_ETH = 1 << 10,
    WEFT_LAYER_ATOMIC_ACK_ETH = 1 << 11,
    WEFT_LAYER_IMMDT = 1 << 12,
    WEFT_LAYER_IETH = 1 << 13,
    WEFT_LAYER_ICRC = 1 << 14, ///< the octets of `pad`, bth.pad_count of them, and the ICRC
    WEFT_LAYER_FCS = 1 << 15,
};

/// Bytes: Ethernet and the headers in `layers`, payload, pad and ICRC, padding, FCS. A struct whose layer is not set
/// is ignored. Payload and padding belong to the caller; NULL stands for zeros.
struct weft_frame {
    uint32_t layers; ///< enum weft_frame_layer
    struct weft_ethernet ethernet;
    struct weft_vlan vlan;
    struct weft_pause pause;
    struct weft_pfc pfc;
    struct weft_ipv4 ipv4;
    struct weft_ipv6 ipv6, grh;
    struct weft_udp udp;
    struct weft_bth bth;
    struct weft_reth reth;
    struct weft_aeth aeth;
    struct weft_atomic_eth atomic_eth;
    struct weft_atomic_ack_eth atomic_ack_eth;
    struct weft_immdt immdt;
    struct weft_ieth ieth;
    const uint8_t *payload; ///< behind the last header
    size_t payload_bytes;
    uint8_t pad[3]; ///< RoCE: up to a multiple of 4
    uint32_t icrc;
    const uint8_t *padding; ///< behind what the lengths in the headers cover: Ethernet padding
    size_t padding_bytes;
    uint32_t fcs;
};

/// Takes a frame apart, as far as its headers are known; what is behind the last of them is payload. With `has_fcs` the
/// last four bytes are the FCS. The pointers in `ret` point into `bytes`.
/// Whatever the status, `ret` holds what could be read, and encoding it gives the same bytes again, as long as there
/// are 14 bytes (18 with FCS) at all:
///   TRUNCATED  a header or a length asks for more than there is (a capture of headers only); ICRC is then payload
///   MALFORMED  lengths contradict each other; what is behind the contradiction is payload
/// Check sums are not judged.
enum weft_wire_status weft_frame_decode(const uint8_t *bytes, size_t size, bool has_fcs, struct weft_frame *ret);

/// The frame as it stands, with its lengths and check sums as they stand. 0: see above, or `layers` is no order of
/// headers that exists (UDP without IP, BTH without UDP or GRH, two kinds of IP, ...).
size_t weft_frame_encode(const struct weft_frame *, uint8_t *ret, size_t size);

/// The headers only, up to where the payload begins: what a capture of headers keeps.
size_t weft_frame_encode_headers(const struct weft_frame *, uint8_t *ret, size_t size);

/// How many bytes weft_frame_encode and weft_frame_encode_headers write, if they write any.
size_t weft_frame_bytes(const struct weft_frame *);
size_t weft_frame_header_bytes(const struct weft_frame *);

/// Fills in what follows from the rest: ethertypes and the next protocol from `layers`, UDP port 4791 below a BTH,
/// lengths, IPv4 checksum, no UDP checksum, pad count (zeros), Ethernet padding (zeros) up to 60 bytes. Not what needs
/// the bytes: ICRC, FCS, and the UDP checksum that IPv6 demands. A length that its field cannot hold becomes 0xffff:
/// such a frame does not exist.
void weft_frame_complete(struct weft_frame *);

/// weft_frame_complete, weft_frame_encode, and what needs the bytes, in the struct and in `ret`: the ICRC and the FCS
/// if `layers` has them, and the UDP checksum over IPv6.
size_t weft_frame_build(struct weft_frame *, uint8_t *ret, size_t size);
