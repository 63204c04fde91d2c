// SPDX-License-Identifier: Apache-2.0
// IPv4 (RFC 791), IPv6 (RFC 8200) with DSCP (RFC 2474) and ECN (RFC 3168), UDP (RFC 768).
#include <string.h>

#include "weft/wire.h"
#include "wire/bytes.h"
#include "wire/checksum.h"

size_t weft_ipv4_encode(const struct weft_ipv4 *ip, uint8_t *ret, size_t size) {
    size_t bytes = WEFT_IPV4_BYTES + ip->options_bytes;
    if (ip->options_bytes > sizeof ip->options || ip->options_bytes % 4 || size < bytes) return 0;
    if (ip->dscp > 63 || ip->ecn > 3 || ip->fragment_offset > 0x1fff) return 0;
    ret[0] = (uint8_t)(0x40 | bytes / 4);
    ret[1] = (uint8_t)(ip->dscp << 2 | ip->ecn);
    weft__put16(ret + 2, ip->total_length);
    weft__put16(ret + 4, ip->identification);
    weft__put16(ret + 6, (uint32_t)ip->reserved_flag << 15 | (uint32_t)ip->dont_fragment << 14 |
                             (uint32_t)ip->more_fragments << 13 | ip->fragment_offset);
    ret[8] = ip->ttl;
    ret[9] = ip->protocol;
    weft__put16(ret + 10, ip->checksum);
    weft__put32(ret + 12, ip->src);
    weft__put32(ret + 16, ip->dst);
    memcpy(ret + WEFT_IPV4_BYTES, ip->options, ip->options_bytes);
    return bytes;
}

enum weft_wire_status weft_ipv4_decode(const uint8_t *bytes, size_t size, struct weft_ipv4 *ret) {
    if (size < 1) return WEFT_WIRE_TRUNCATED;
    size_t header = 4u * (bytes[0] & 15);
    if (bytes[0] >> 4 != 4 || header < WEFT_IPV4_BYTES) return WEFT_WIRE_MALFORMED;
    if (size < header) return WEFT_WIRE_TRUNCATED;
    uint16_t fragment = weft__get16(bytes + 6);
    *ret = (struct weft_ipv4){
        .dscp = bytes[1] >> 2,
        .ecn = bytes[1] & 3,
        .total_length = weft__get16(bytes + 2),
        .identification = weft__get16(bytes + 4),
        .reserved_flag = fragment >> 15,
        .dont_fragment = fragment >> 14 & 1,
        .more_fragments = fragment >> 13 & 1,
        .fragment_offset = fragment & 0x1fff,
        .ttl = bytes[8],
        .protocol = bytes[9],
        .checksum = weft__get16(bytes + 10),
        .src = weft__get32(bytes + 12),
        .dst = weft__get32(bytes + 16),
        .options_bytes = (uint8_t)(header - WEFT_IPV4_BYTES),
    };
    memcpy(ret->options, bytes + WEFT_IPV4_BYTES, ret->options_bytes);
    return WEFT_WIRE_OK;
}

uint16_t weft_ipv4_calc_checksum(const struct weft_ipv4 *ip) {
    struct weft_ipv4 copy = *ip;
    copy.checksum = 0;
    uint8_t header[WEFT_IPV4_BYTES + sizeof ip->options];
    size_t bytes = weft_ipv4_encode(&copy, header, sizeof header);
    return bytes ? weft__internet_checksum(header, bytes, 0) : 0;
}

size_t weft_ipv6_encode(const struct weft_ipv6 *ip, uint8_t *ret, size_t size) {
    if (size < WEFT_IPV6_BYTES || ip->dscp > 63 || ip->ecn > 3 || ip->flow_label > 0xfffff) return 0;
    weft__put32(ret, UINT32_C(6) << 28 | (uint32_t)ip->dscp << 22 | (uint32_t)ip->ecn << 20 | ip->flow_label);
    weft__put16(ret + 4, ip->payload_length);
    ret[6] = ip->next_header;
    ret[7] = ip->hop_limit;
    memcpy(ret + 8, ip->src, 16);
    memcpy(ret + 24, ip->dst, 16);
    return WEFT_IPV6_BYTES;
}

enum weft_wire_status weft_ipv6_decode(const uint8_t *bytes, size_t size, struct weft_ipv6 *ret) {
    if (size < 1) return WEFT_WIRE_TRUNCATED;
    if (bytes[0] >> 4 != 6) return WEFT_WIRE_MALFORMED;
    if (size < WEFT_IPV6_BYTES) return WEFT_WIRE_TRUNCATED;
    uint32_t first = weft__get32(bytes);
    ret->dscp = first >> 22 & 63;
    ret->ecn = first >> 20 & 3;
    ret->flow_label = first & 0xfffff;
    ret->payload_length = weft__get16(bytes + 4);
    ret->next_header = bytes[6];
    ret->hop_limit = bytes[7];
    memcpy(ret->src, bytes + 8, 16);
    memcpy(ret->dst, bytes + 24, 16);
    return WEFT_WIRE_OK;
}

size_t weft_udp_encode(const struct weft_udp *udp, uint8_t *ret, size_t size) {
    if (size < WEFT_UDP_BYTES) return 0;
    weft__put16(ret, udp->src_port);
    weft__put16(ret + 2, udp->dst_port);
    weft__put16(ret + 4, udp->length);
    weft__put16(ret + 6, udp->checksum);
    return WEFT_UDP_BYTES;
}

enum weft_wire_status weft_udp_decode(const uint8_t *bytes, size_t size, struct weft_udp *ret) {
    if (size < WEFT_UDP_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->src_port = weft__get16(bytes);
    ret->dst_port = weft__get16(bytes + 2);
    ret->length = weft__get16(bytes + 4);
    ret->checksum = weft__get16(bytes + 6);
    return WEFT_WIRE_OK;
}

size_t weft_grh_encode(const struct weft_ipv6 *grh, uint8_t *ret, size_t size) {
    return weft_ipv6_encode(grh, ret, size);
}

enum weft_wire_status weft_grh_decode(const uint8_t *bytes, size_t size, struct weft_ipv6 *ret) {
    return weft_ipv6_decode(bytes, size, ret);
}
