// SPDX-License-Identifier: Apache-2.0
// The source flow control message. The format is weft's own: no text of IEEE P802.1Qdw with one was to be had. Like the
// codecs of weft/wire.h: pure, total, `ret` written only with WEFT_WIRE_OK.
//
// It goes back to the source of the packet that found the queue too deep: IP addresses are those of that packet,
// swapped, UDP destination port WEFT_UDP_PORT_SFCM (of the range for private use; a frame of 64 bytes in all).
//
//   octet 0      version (4 bits), flags (4)      8 to 11   time to pause, ns
//         1      priority (3), reserved (5)      12 to 15   congestion point: number of the switch
//         2, 3   UDP source port of the packet   16, 17     reserved
//         4      reserved
//         5 to 7 DestQP of the packet
#pragma once

#include "weft/wire.h"

#define WEFT_UDP_PORT_SFCM 49802u
#define WEFT_SFCM_VERSION 1u
#define WEFT_SFCM_BYTES 18u
struct weft_sfcm {
    uint8_t version, flags; ///< 4 bits each
    uint8_t priority;       ///< of the packet: what a pause frame in its stead would name
    uint8_t reserved1;      ///< 5 bits
    uint16_t src_port;
    uint8_t reserved4;
    uint32_t dest_qp; ///< 24 bits
    uint32_t pause_ns;
    uint32_t congestion_point;
    uint16_t reserved16;
};

size_t weft_sfcm_encode(const struct weft_sfcm *, uint8_t *ret, size_t size);
