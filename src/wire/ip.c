// SPDX-License-Identifier: Apache-2.0
// IPv4 (RFC 791), IPv6 (RFC 8200) with DSCP (RFC 2474) and ECN (RFC 3168), UDP (RFC 768).
#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "weft/types.h"
#include "weft/wire.h"
#include "wire/bytes.h"
#include "wire/checksum.h"

// The sum of RFC 1071 that IPv4 and UDP use, and the two 32-bit CRCs of a RoCEv2 frame. Both CRCs are the CRC-32 of
// IEEE 802.3 (reflected, preset and inverted), which is zlib's crc32, and both are sent lowest octet first. FCS: IEEE
// 802.3 clause 3.2.9. ICRC: IBTA vol. 1 clause 7.8.1 with annex A17: it is computed as if a local route header of eight
// octets of ones preceded IP. For RoCEv1 likewise, preceding its global route header (annex A16; assumed, because no
// implementation was available for comparison).

enum { LRH = 8, HEAD_MAX = LRH + WEFT_IPV4_BYTES + 40 + WEFT_UDP_BYTES + WEFT_BTH_BYTES };

static uint32_t crc_of(uint32_t so_far, const uint8_t *bytes, size_t size) {
    return (uint32_t)crc32_z(so_far, bytes, size);
}

/// The bytes of the IP header, or 0 if it is not followed by UDP and `behind` bytes; `ret_status` says why.
static size_t ip_header(const uint8_t *ip, size_t size, size_t behind, enum weft_wire_status *ret_status) {
    *ret_status = WEFT_WIRE_TRUNCATED;
    if (size < WEFT_IPV4_BYTES) return 0;
    size_t bytes = ip[0] >> 4 == 4 ? 4u * (ip[0] & 15) : WEFT_IPV6_BYTES;
    if (size < bytes + WEFT_UDP_BYTES + behind) return 0;
    *ret_status = WEFT_WIRE_MALFORMED;
    if (ip[0] >> 4 == 4) return bytes >= WEFT_IPV4_BYTES && ip[9] == WEFT_IP_UDP ? bytes : 0;
    return ip[0] >> 4 == 6 && ip[6] == WEFT_IP_UDP ? bytes : 0;
}

/// `header_bytes`: before the BTH; the last eight are UDP, except for RoCEv1.
static void mask_fields(uint8_t *ip, size_t header_bytes) {
    if (ip[0] >> 4 == 4 || ip[6] == WEFT_IP_UDP) ip[header_bytes - 2] = ip[header_bytes - 1] = 0xff;
    if (ip[0] >> 4 == 4) {
        ip[1] = ip[8] = ip[10] = ip[11] = 0xff; // TOS, TTL, checksum
    } else {
        ip[0] = 0x6f; // traffic class and flow label
        ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
    }
    ip[header_bytes + 4] = 0xff; // of the BTH
}

/// The bytes before the BTH, or 0: then `ret_status` says what is wrong.
static size_t before_bth(const uint8_t *ip, size_t size, enum weft_wire_status *ret_status) {
    if (size >= WEFT_GRH_BYTES && ip[0] >> 4 == 6 && ip[6] == WEFT_GRH_NEXT_BTH) {
        *ret_status = WEFT_WIRE_TRUNCATED;
        return size < WEFT_GRH_BYTES + WEFT_BTH_BYTES ? 0 : WEFT_GRH_BYTES;
    }
    size_t header_bytes = ip_header(ip, size, WEFT_BTH_BYTES, ret_status);
    return header_bytes ? header_bytes + WEFT_UDP_BYTES : 0;
}

enum weft_wire_status weft_icrc_calc(const uint8_t *ip, size_t size, uint32_t *ret_icrc) {
    enum weft_wire_status status;
    size_t header_bytes = before_bth(ip, size, &status);
    if (!header_bytes) return status;
    uint8_t head[HEAD_MAX];
    size_t head_bytes = header_bytes + WEFT_BTH_BYTES;
    assert(LRH + head_bytes <= sizeof head);
    memset(head, 0xff, LRH);
    memcpy(head + LRH, ip, head_bytes);
    mask_fields(head + LRH, header_bytes);
    uint32_t value = crc_of(0, head, LRH + head_bytes);
    *ret_icrc = size > head_bytes ? crc_of(value, ip + head_bytes, size - head_bytes) : value;
    return WEFT_WIRE_OK;
}

uint16_t weft__internet_checksum(const uint8_t *bytes, size_t size, uint64_t sum) {
    for (size_t i = 0; i + 1 < size; i += 2)
        sum += weft__get16(bytes + i);
    if (size % 2) sum += (uint32_t)bytes[size - 1] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

enum weft_wire_status weft_udp_checksum_calc(const uint8_t *ip, size_t size, uint16_t *ret_checksum) {
    enum weft_wire_status status;
    size_t header_bytes = ip_header(ip, size, 0, &status);
    if (!header_bytes) return status;
    // the pseudo header without its addresses, and without the old checksum
    size_t datagram = size - header_bytes;
    uint64_t sum = WEFT_IP_UDP + datagram + (uint16_t)~weft__get16(ip + header_bytes + 6);
    size_t addresses = ip[0] >> 4 == 4 ? 12 : 8, addresses_bytes = ip[0] >> 4 == 4 ? 8 : 32;
    sum += (uint16_t)~weft__internet_checksum(ip + addresses, addresses_bytes, 0);
    uint16_t checksum = weft__internet_checksum(ip + header_bytes, datagram, sum);
    *ret_checksum = checksum ? checksum : 0xffff;
    return WEFT_WIRE_OK;
}

uint32_t weft_fcs_calc(const uint8_t *frame, size_t size) {
    return size ? crc_of(0, frame, size) : 0;
}

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

#define UDP_FIELDS(F) F(16, src_port) F(16, dst_port) F(16, length) F(16, checksum)
WEFT__CODEC(udp, WEFT_UDP_BYTES, UDP_FIELDS)

size_t weft_grh_encode(const struct weft_ipv6 *grh, uint8_t *ret, size_t size) {
    return weft_ipv6_encode(grh, ret, size);
}

enum weft_wire_status weft_grh_decode(const uint8_t *bytes, size_t size, struct weft_ipv6 *ret) {
    return weft_ipv6_decode(bytes, size, ret);
}
