// SPDX-License-Identifier: Apache-2.0
// In-band network telemetry (INT): what a data packet notes of each switch port that it leaves by, and what its
// acknowledgement brings back to the sender. In a frame it is as long as the congestion control says
// (weft_cc_ops.telemetry_bytes); the simulator keeps it beside the packet.
#pragma once

#include "weft/types.h"

enum { WEFT_TELEMETRY_HOPS = 5 }; ///< that have room; those beyond them are not noted

struct weft_telemetry {
    weft_time_ps time_ps[WEFT_TELEMETRY_HOPS]; ///< when the packet began to leave
    uint32_t queue_bytes[WEFT_TELEMETRY_HOPS]; ///< that stayed behind it at the port, of all priorities
    uint32_t sent_bytes[WEFT_TELEMETRY_HOPS];  ///< by the port so far, preambles and gaps included; modulo 2^32
    uint32_t rate_mbps[WEFT_TELEMETRY_HOPS];   ///< of the port
    uint16_t path;                             ///< XOR of the numbers of the ports: another path has another one
    uint8_t hops;                              ///< that are noted
};
