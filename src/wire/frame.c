// SPDX-License-Identifier: Apache-2.0
// Encodes a frame to bytes. `layers` says which headers there are; their order on the wire is that of enum
// weft_frame_layer.
#include <string.h>

#include "weft/wire.h"
#include "wire/bytes.h"

enum {
    MAC_CONTROL = WEFT_LAYER_PAUSE | WEFT_LAYER_PFC,
    IP = WEFT_LAYER_IPV4 | WEFT_LAYER_IPV6,
    EXTENDED = WEFT_LAYER_RETH | WEFT_LAYER_AETH | WEFT_LAYER_ATOMIC_ETH | WEFT_LAYER_ATOMIC_ACK_ETH |
               WEFT_LAYER_IMMDT | WEFT_LAYER_IETH,
    KNOWN = 2 * WEFT_LAYER_FCS - 1,
};

static bool layers_make_sense(uint32_t layers) {
    uint32_t network = layers & (MAC_CONTROL | IP | WEFT_LAYER_GRH);
    if (layers & ~(uint32_t)KNOWN || network & (network - 1)) return false;
    if ((layers & WEFT_LAYER_UDP) && !(layers & IP)) return false;
    if ((layers & WEFT_LAYER_BTH) && !(layers & (WEFT_LAYER_UDP | WEFT_LAYER_GRH))) return false;
    return !(layers & (EXTENDED | WEFT_LAYER_ICRC)) || (layers & WEFT_LAYER_BTH);
}

size_t weft_frame_header_bytes(const struct weft_frame *f) {
    static const struct {
        uint32_t layer, bytes;
    } sizes[] = {
        {WEFT_LAYER_VLAN, WEFT_VLAN_BYTES},
        {WEFT_LAYER_PAUSE, WEFT_PAUSE_BYTES},
        {WEFT_LAYER_PFC, WEFT_PFC_BYTES},
        {WEFT_LAYER_IPV4, WEFT_IPV4_BYTES},
        {WEFT_LAYER_IPV6, WEFT_IPV6_BYTES},
        {WEFT_LAYER_GRH, WEFT_GRH_BYTES},
        {WEFT_LAYER_UDP, WEFT_UDP_BYTES},
        {WEFT_LAYER_BTH, WEFT_BTH_BYTES},
        {WEFT_LAYER_RETH, WEFT_RETH_BYTES},
        {WEFT_LAYER_AETH, WEFT_AETH_BYTES},
        {WEFT_LAYER_ATOMIC_ETH, WEFT_ATOMIC_ETH_BYTES},
        {WEFT_LAYER_ATOMIC_ACK_ETH, WEFT_ATOMIC_ACK_ETH_BYTES},
        {WEFT_LAYER_IMMDT, WEFT_IMMDT_BYTES},
        {WEFT_LAYER_IETH, WEFT_IETH_BYTES},
    };
    size_t bytes = WEFT_ETHERNET_BYTES;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (f->layers & sizes[i].layer) bytes += sizes[i].bytes;
    return bytes + (f->layers & WEFT_LAYER_IPV4 ? f->ipv4.options_bytes : 0);
}

static size_t ethernet_bytes(const struct weft_frame *f) {
    return WEFT_ETHERNET_BYTES + (f->layers & WEFT_LAYER_VLAN ? WEFT_VLAN_BYTES : 0);
}

static size_t trailer_bytes(const struct weft_frame *f) {
    return f->layers & WEFT_LAYER_ICRC ? f->bth.pad_count + WEFT_ICRC_BYTES : 0;
}

size_t weft_frame_bytes(const struct weft_frame *f) {
    return weft_frame_header_bytes(f) + f->payload_bytes + trailer_bytes(f) + f->padding_bytes +
           (f->layers & WEFT_LAYER_FCS ? WEFT_FCS_BYTES : 0);
}

/// Writes one header if it is present.
#define PUT(layer, name)                                                                                               \
    if (f->layers & (layer)) {                                                                                         \
        size_t n = weft_##name##_encode(&f->name, ret + at, size - at);                                                \
        if (!n) return 0;                                                                                              \
        at += n;                                                                                                       \
    }

size_t weft_frame_encode_headers(const struct weft_frame *f, uint8_t *ret, size_t size) {
    if (!layers_make_sense(f->layers)) return 0;
    size_t at = weft_ethernet_encode(&f->ethernet, ret, size);
    if (!at) return 0;
    PUT(WEFT_LAYER_VLAN, vlan)
    PUT(WEFT_LAYER_PAUSE, pause)
    PUT(WEFT_LAYER_PFC, pfc)
    PUT(WEFT_LAYER_IPV4, ipv4)
    PUT(WEFT_LAYER_IPV6, ipv6)
    PUT(WEFT_LAYER_GRH, grh)
    PUT(WEFT_LAYER_UDP, udp)
    PUT(WEFT_LAYER_BTH, bth)
    PUT(WEFT_LAYER_RETH, reth)
    PUT(WEFT_LAYER_AETH, aeth)
    PUT(WEFT_LAYER_ATOMIC_ETH, atomic_eth)
    PUT(WEFT_LAYER_ATOMIC_ACK_ETH, atomic_ack_eth)
    PUT(WEFT_LAYER_IMMDT, immdt)
    PUT(WEFT_LAYER_IETH, ieth)
    return at;
}

static size_t put_bytes(uint8_t *ret, const uint8_t *bytes, size_t size) {
    if (!size) return 0;
    if (bytes)
        memcpy(ret, bytes, size);
    else
        memset(ret, 0, size);
    return size;
}

size_t weft_frame_encode(const struct weft_frame *f, uint8_t *ret, size_t size) {
    if (f->payload_bytes > size || f->padding_bytes > size || weft_frame_bytes(f) > size) return 0;
    size_t at = weft_frame_encode_headers(f, ret, size);
    if (!at) return 0;
    at += put_bytes(ret + at, f->payload, f->payload_bytes);
    if (f->layers & WEFT_LAYER_ICRC) {
        at += put_bytes(ret + at, f->pad, f->bth.pad_count);
        weft__put32_low_first(ret + at, f->icrc);
        at += WEFT_ICRC_BYTES;
    }
    at += put_bytes(ret + at, f->padding, f->padding_bytes);
    if (f->layers & WEFT_LAYER_FCS) {
        weft__put32_low_first(ret + at, f->fcs);
        at += WEFT_FCS_BYTES;
    }
    return at;
}

/// `bytes` as a length field; a value that does not fit is shown as the maximum.
static uint16_t length_field(size_t bytes) {
    return bytes > 0xffff ? 0xffff : (uint16_t)bytes;
}

static void complete_ethertype(struct weft_frame *f) {
    uint16_t *inner = f->layers & WEFT_LAYER_VLAN ? &f->vlan.ethertype : &f->ethernet.ethertype;
    if (f->layers & WEFT_LAYER_VLAN) f->ethernet.ethertype = WEFT_ETHERTYPE_VLAN;
    if (f->layers & MAC_CONTROL) *inner = WEFT_ETHERTYPE_MAC_CONTROL;
    if (f->layers & WEFT_LAYER_IPV4) *inner = WEFT_ETHERTYPE_IPV4;
    if (f->layers & WEFT_LAYER_IPV6) *inner = WEFT_ETHERTYPE_IPV6;
    if (f->layers & WEFT_LAYER_GRH) *inner = WEFT_ETHERTYPE_ROCE_V1;
}

void weft_frame_complete(struct weft_frame *f) {
    complete_ethertype(f);
    if (f->layers & WEFT_LAYER_BTH) {
        f->bth.pad_count = (uint8_t)(-f->payload_bytes & 3);
        f->udp.dst_port = WEFT_UDP_PORT_ROCE;
        memset(f->pad, 0, sizeof f->pad);
    }
    size_t bytes = weft_frame_header_bytes(f) + f->payload_bytes + trailer_bytes(f);
    f->padding = NULL;
    f->padding_bytes = bytes < WEFT_FRAME_MIN_NO_FCS ? WEFT_FRAME_MIN_NO_FCS - bytes : 0;
    size_t packet = bytes - ethernet_bytes(f); // from the IP header on
    if (f->layers & (WEFT_LAYER_IPV6 | WEFT_LAYER_GRH)) packet -= WEFT_IPV6_BYTES;
    size_t datagram = f->layers & WEFT_LAYER_IPV4 ? packet - WEFT_IPV4_BYTES - f->ipv4.options_bytes : packet;
    if (f->layers & WEFT_LAYER_UDP) {
        f->udp.length = length_field(datagram);
        f->udp.checksum = 0;
        f->ipv4.protocol = f->ipv6.next_header = WEFT_IP_UDP;
    }
    f->ipv6.payload_length = f->grh.payload_length = length_field(datagram);
    f->grh.next_header = WEFT_GRH_NEXT_BTH;
    f->ipv4.total_length = length_field(packet);
    f->ipv4.checksum = weft_ipv4_calc_checksum(&f->ipv4);
}

/// UDP over IPv6 must have a checksum (RFC 8200); over IPv4 it is left out, as RoCEv2 senders do.
static bool build_udp_checksum(struct weft_frame *f, uint8_t *ip, size_t size) {
    if (weft_udp_checksum_calc(ip, size, &f->udp.checksum)) return false;
    weft__put16(ip + WEFT_IPV6_BYTES + 6, f->udp.checksum);
    return true;
}

size_t weft_frame_build(struct weft_frame *f, uint8_t *ret, size_t size) {
    weft_frame_complete(f);
    size_t bytes = weft_frame_encode(f, ret, size);
    if (!bytes) return 0;
    size_t fcs_at = bytes - (f->layers & WEFT_LAYER_FCS ? WEFT_FCS_BYTES : 0);
    uint8_t *ip = ret + ethernet_bytes(f), *ip_end = ret + fcs_at - f->padding_bytes;
    if (f->layers & WEFT_LAYER_ICRC) {
        uint8_t *icrc = ip_end - WEFT_ICRC_BYTES;
        if (weft_icrc_calc(ip, (size_t)(icrc - ip), &f->icrc)) return 0;
        weft__put32_low_first(icrc, f->icrc);
    }
    uint32_t udp_ipv6 = WEFT_LAYER_UDP | WEFT_LAYER_IPV6;
    if ((f->layers & udp_ipv6) == udp_ipv6 && !build_udp_checksum(f, ip, (size_t)(ip_end - ip))) return 0;
    if (f->layers & WEFT_LAYER_FCS) {
        f->fcs = weft_fcs_calc(ret, fcs_at);
        weft__put32_low_first(ret + fcs_at, f->fcs);
    }
    return bytes;
}
