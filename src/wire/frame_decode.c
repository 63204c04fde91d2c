// SPDX-License-Identifier: Apache-2.0
// Decodes bytes to a frame. Each step takes one header off the front and names the next; the first step that cannot
// continue leaves the rest as payload, so that nothing is lost and the frame encodes to the original bytes.
#include <string.h>

#include "weft/wire.h"
#include "wire/bytes.h"

/// The bytes not yet decoded: bytes[at, end).
struct rest {
    const uint8_t *bytes;
    size_t at, end;
    bool bounded;   ///< a length in a header gives its end
    size_t missing; ///< how far that end lies beyond the end of the capture
};

static size_t rest_bytes(const struct rest *r) {
    return r->end - r->at;
}

/// A header does not fit into the rest: the capture ends before it, or a length left no room for it.
static enum weft_wire_status too_short(const struct rest *r) {
    return r->bounded && !r->missing ? WEFT_WIRE_MALFORMED : WEFT_WIRE_TRUNCATED;
}

/// Takes one header off the rest, or returns with what is wrong.
#define TAKE(layer, name, header_bytes)                                                                                \
    do {                                                                                                               \
        enum weft_wire_status taken = weft_##name##_decode(r->bytes + r->at, rest_bytes(r), &f->name);                 \
        if (taken) return taken == WEFT_WIRE_TRUNCATED ? too_short(r) : taken;                                         \
        f->layers |= (layer);                                                                                          \
        r->at += (header_bytes);                                                                                       \
    } while (0)

/// A header says that `bytes` follow: anything after them is padding.
static void bound_rest(struct weft_frame *f, struct rest *r, size_t bytes) {
    r->bounded = true;
    if (bytes > rest_bytes(r)) {
        r->missing = bytes - rest_bytes(r);
        return;
    }
    f->padding_bytes = rest_bytes(r) - bytes;
    if (f->padding_bytes) f->padding = r->bytes + r->at + bytes;
    r->end = r->at + bytes;
}

static enum weft_wire_status decode_extended(struct weft_frame *f, struct rest *r, uint32_t layers) {
    if (layers & WEFT_LAYER_RETH) TAKE(WEFT_LAYER_RETH, reth, WEFT_RETH_BYTES);
    if (layers & WEFT_LAYER_AETH) TAKE(WEFT_LAYER_AETH, aeth, WEFT_AETH_BYTES);
    if (layers & WEFT_LAYER_ATOMIC_ETH) TAKE(WEFT_LAYER_ATOMIC_ETH, atomic_eth, WEFT_ATOMIC_ETH_BYTES);
    if (layers & WEFT_LAYER_ATOMIC_ACK_ETH) TAKE(WEFT_LAYER_ATOMIC_ACK_ETH, atomic_ack_eth, WEFT_ATOMIC_ACK_ETH_BYTES);
    if (layers & WEFT_LAYER_IMMDT) TAKE(WEFT_LAYER_IMMDT, immdt, WEFT_IMMDT_BYTES);
    if (layers & WEFT_LAYER_IETH) TAKE(WEFT_LAYER_IETH, ieth, WEFT_IETH_BYTES);
    return WEFT_WIRE_OK;
}

static enum weft_wire_status decode_roce(struct weft_frame *f, struct rest *r) {
    TAKE(WEFT_LAYER_BTH, bth, WEFT_BTH_BYTES);
    const struct weft_roce_opcode *opcode = weft_roce_opcode_find(f->bth.opcode);
    enum weft_wire_status status = opcode ? decode_extended(f, r, opcode->layers) : WEFT_WIRE_OK;
    if (status) return status;
    if (r->missing) return WEFT_WIRE_TRUNCATED;
    size_t trailer = f->bth.pad_count + WEFT_ICRC_BYTES;
    if (rest_bytes(r) < trailer) return WEFT_WIRE_MALFORMED;
    const uint8_t *pad = r->bytes + r->end - trailer;
    memcpy(f->pad, pad, f->bth.pad_count);
    f->icrc = weft__get32_low_first(pad + f->bth.pad_count);
    f->layers |= WEFT_LAYER_ICRC;
    r->end -= trailer;
    return WEFT_WIRE_OK;
}

static enum weft_wire_status decode_udp(struct weft_frame *f, struct rest *r) {
    size_t datagram = rest_bytes(r) + r->missing;
    TAKE(WEFT_LAYER_UDP, udp, WEFT_UDP_BYTES);
    if (f->udp.length != datagram) return WEFT_WIRE_MALFORMED;
    if (f->udp.dst_port == WEFT_UDP_PORT_ROCE) return decode_roce(f, r);
    return r->missing ? WEFT_WIRE_TRUNCATED : WEFT_WIRE_OK;
}

static enum weft_wire_status decode_ipv4(struct weft_frame *f, struct rest *r) {
    size_t header = 0;
    if (rest_bytes(r)) header = 4u * (r->bytes[r->at] & 15);
    TAKE(WEFT_LAYER_IPV4, ipv4, header);
    if (f->ipv4.total_length < header) return WEFT_WIRE_MALFORMED;
    bound_rest(f, r, f->ipv4.total_length - header);
    if (f->ipv4.protocol == WEFT_IP_UDP && !f->ipv4.more_fragments && !f->ipv4.fragment_offset) return decode_udp(f, r);
    return r->missing ? WEFT_WIRE_TRUNCATED : WEFT_WIRE_OK;
}

static enum weft_wire_status decode_ipv6(struct weft_frame *f, struct rest *r) {
    TAKE(WEFT_LAYER_IPV6, ipv6, WEFT_IPV6_BYTES);
    bound_rest(f, r, f->ipv6.payload_length);
    if (f->ipv6.next_header == WEFT_IP_UDP) return decode_udp(f, r);
    return r->missing ? WEFT_WIRE_TRUNCATED : WEFT_WIRE_OK;
}

static enum weft_wire_status decode_roce_v1(struct weft_frame *f, struct rest *r) {
    TAKE(WEFT_LAYER_GRH, grh, WEFT_GRH_BYTES);
    bound_rest(f, r, f->grh.payload_length);
    if (f->grh.next_header == WEFT_GRH_NEXT_BTH) return decode_roce(f, r);
    return r->missing ? WEFT_WIRE_TRUNCATED : WEFT_WIRE_OK;
}

static enum weft_wire_status decode_mac_control(struct weft_frame *f, struct rest *r) {
    if (rest_bytes(r) < 2) return WEFT_WIRE_TRUNCATED;
    uint16_t opcode = weft__get16(r->bytes + r->at);
    if (opcode == WEFT_PAUSE_OPCODE) TAKE(WEFT_LAYER_PAUSE, pause, WEFT_PAUSE_BYTES);
    if (opcode == WEFT_PFC_OPCODE) TAKE(WEFT_LAYER_PFC, pfc, WEFT_PFC_BYTES);
    if (f->layers & (WEFT_LAYER_PAUSE | WEFT_LAYER_PFC)) bound_rest(f, r, 0);
    return WEFT_WIRE_OK;
}

static enum weft_wire_status decode_network(struct weft_frame *f, struct rest *r, uint16_t ethertype) {
    switch (ethertype) {
    case WEFT_ETHERTYPE_IPV4:
        return decode_ipv4(f, r);
    case WEFT_ETHERTYPE_IPV6:
        return decode_ipv6(f, r);
    case WEFT_ETHERTYPE_ROCE_V1:
        return decode_roce_v1(f, r);
    case WEFT_ETHERTYPE_MAC_CONTROL:
        return decode_mac_control(f, r);
    default:
        return WEFT_WIRE_OK;
    }
}

static enum weft_wire_status decode_ethernet(struct weft_frame *f, struct rest *r) {
    enum weft_wire_status status = weft_ethernet_decode(r->bytes, r->end, &f->ethernet);
    if (status) return status;
    r->at += WEFT_ETHERNET_BYTES;
    uint16_t ethertype = f->ethernet.ethertype;
    if (ethertype == WEFT_ETHERTYPE_VLAN) {
        TAKE(WEFT_LAYER_VLAN, vlan, WEFT_VLAN_BYTES);
        ethertype = f->vlan.ethertype;
    }
    return decode_network(f, r, ethertype);
}

enum weft_wire_status weft_frame_decode(const uint8_t *bytes, size_t size, bool has_fcs, struct weft_frame *ret) {
    *ret = (struct weft_frame){0};
    struct rest r = {.bytes = bytes, .end = size};
    if (has_fcs) {
        if (size < WEFT_ETHERNET_BYTES + WEFT_FCS_BYTES) return WEFT_WIRE_TRUNCATED;
        r.end -= WEFT_FCS_BYTES;
        ret->fcs = weft__get32_low_first(bytes + r.end);
        ret->layers = WEFT_LAYER_FCS;
    }
    enum weft_wire_status status = decode_ethernet(ret, &r);
    ret->payload_bytes = rest_bytes(&r);
    if (ret->payload_bytes) ret->payload = bytes + r.at;
    return status;
}
