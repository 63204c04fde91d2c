// SPDX-License-Identifier: Apache-2.0
// Headers that wrap a frame or an IP packet: stacked VLAN tags, GRE, ERSPAN, VXLAN, GENEVE and IP in IP. Pure and
// total: any bytes may be given.
//
// Sources: IEEE 802.1ad (service tag 0x88a8; 0x9100 and 0x9200 stand in frames of older switches), RFC 2784 and 2890
// (GRE), RFC 7637 (NVGRE), draft-foschiano-erspan-03 (ERSPAN I to III), RFC 7348 (VXLAN; port 8472 is Linux's from
// before that), draft-ietf-nvo3-vxlan-gpe-13 (VXLAN-GPE), RFC 8926 (GENEVE), RFC 2003 and 2473
// (IP in IP).
#pragma once

#include "weft/types.h"

enum weft_tunnel_kind {
    WEFT_TUNNEL_QINQ, ///< more than one VLAN tag, or a service tag
    WEFT_TUNNEL_GRE,
    WEFT_TUNNEL_ERSPAN_1,
    WEFT_TUNNEL_ERSPAN_2,
    WEFT_TUNNEL_ERSPAN_3,
    WEFT_TUNNEL_VXLAN,
    WEFT_TUNNEL_GENEVE,
    WEFT_TUNNEL_IP_IN_IP,
    WEFT_TUNNEL_KINDS,
};

/// One layer of wrapping. `at` and `end` are offsets into the frame; `end` follows from the outer lengths and may lie
/// behind the bytes that a truncated capture has kept.
struct weft_tunnel {
    enum weft_tunnel_kind kind;
    bool ethernet;    ///< the inner packet begins with an Ethernet header; else with IP. QinQ: with the innermost tag
    bool ce;          ///< the outer IP header is marked CE
    size_t at, end;   ///< of the inner packet
    uint8_t src[16];  ///< ERSPAN: the IP address that sent the copy, an IPv4 address in the first 4 octets
    bool ipv6;        ///< ERSPAN: src is IPv6
    bool egress;      ///< ERSPAN III: copied where the frame left the switch
    uint16_t session; ///< ERSPAN II and III: 10 bits
    uint32_t port;    ///< ERSPAN II: index (20 bits); III: hardware number (6 bits)
};

/// Finds the outermost layer of an Ethernet frame of which `size` bytes are kept of `bytes`. False: the frame is not
/// wrapped, or its wrapping is cut, a fragment, or of a version that is not known.
bool weft__tunnel_decode(const uint8_t *frame, size_t size, size_t bytes, struct weft_tunnel *ret);
/// "ERSPAN II"
const char *weft__tunnel_name(enum weft_tunnel_kind kind);
