// SPDX-License-Identifier: Apache-2.0
// The sum of RFC 1071 that IPv4 and UDP use, and the two 32-bit CRCs of a RoCEv2 frame. Both CRCs are the CRC-32 of
// IEEE 802.3 (reflected, preset and inverted), which is zlib's crc32, and both are sent lowest octet first. FCS: IEEE
// 802.3 clause 3.2.9. ICRC: IBTA vol. 1 clause 7.8.1 with annex A17: it is computed as if a local route header of eight
// octets of ones preceded IP. For RoCEv1 likewise, preceding its global route header (annex A16; assumed, because no
// implementation was available for comparison).
#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "weft/wire.h"
#include "wire/bytes.h"
#include "wire/checksum.h"

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
