// SPDX-License-Identifier: Apache-2.0
// Reads what weft only writes: the check sums of its frames, and its source flow control messages.
#pragma once

#include "weft/wire_sfcm.h"
#include "wire/bytes.h"

enum frame_fault {
    FAULT_IPV4_CHECKSUM = 1,
    FAULT_ICRC = 2,
    FAULT_FCS = 4,
    FAULT_UDP_CHECKSUM = 8, ///< not of a datagram that is cut off or has none
};

static inline size_t ip_header_bytes(const struct weft_frame *f) {
    return f->layers & WEFT_LAYER_IPV4 ? WEFT_IPV4_BYTES + f->ipv4.options_bytes : WEFT_IPV6_BYTES;
}

/// Checks the packet from its IP header on, including the ICRC.
static inline uint32_t packet_faults(const struct weft_frame *f, const uint8_t *ip, size_t size) {
    uint32_t faults = 0, icrc;
    uint16_t checksum;
    if ((f->layers & WEFT_LAYER_IPV4) && f->ipv4.checksum != weft_ipv4_calc_checksum(&f->ipv4))
        faults |= FAULT_IPV4_CHECKSUM;
    if (f->layers & WEFT_LAYER_UDP && f->udp.checksum && f->udp.length == size - ip_header_bytes(f) &&
        (weft_udp_checksum_calc(ip, size, &checksum) || checksum != f->udp.checksum))
        faults |= FAULT_UDP_CHECKSUM;
    if (f->layers & WEFT_LAYER_ICRC && (weft_icrc_calc(ip, size - WEFT_ICRC_BYTES, &icrc) || icrc != f->icrc))
        faults |= FAULT_ICRC;
    return faults;
}

/// Which check sums that are there do not agree with `bytes`, which weft_frame_decode took apart into `f`.
static inline uint32_t frame_faults(const struct weft_frame *f, const uint8_t *bytes, size_t size) {
    if (weft_frame_bytes(f) != size) return 0; // not encoded from these bytes
    size_t fcs = f->layers & WEFT_LAYER_FCS ? WEFT_FCS_BYTES : 0;
    size_t ip_at = WEFT_ETHERNET_BYTES + (f->layers & WEFT_LAYER_VLAN ? WEFT_VLAN_BYTES : 0);
    uint32_t faults = packet_faults(f, bytes + ip_at, size - fcs - f->padding_bytes - ip_at);
    return faults | (fcs && f->fcs != weft_fcs_calc(bytes, size - fcs) ? FAULT_FCS : 0);
}

/// MALFORMED: another version.
static inline enum weft_wire_status sfcm_decode(const uint8_t *bytes, size_t size, struct weft_sfcm *ret) {
    if (size < WEFT_SFCM_BYTES) return WEFT_WIRE_TRUNCATED;
    if (bytes[0] >> 4 != WEFT_SFCM_VERSION) return WEFT_WIRE_MALFORMED;
    *ret = (struct weft_sfcm){
        .version = bytes[0] >> 4,
        .flags = bytes[0] & 15,
        .priority = bytes[1] >> 5,
        .reserved1 = bytes[1] & 31,
        .src_port = weft__get16(bytes + 2),
        .reserved4 = bytes[4],
        .dest_qp = weft__get24(bytes + 5),
        .pause_ns = weft__get32(bytes + 8),
        .congestion_point = weft__get32(bytes + 12),
        .reserved16 = weft__get16(bytes + 16),
    };
    return WEFT_WIRE_OK;
}
