// SPDX-License-Identifier: Apache-2.0
// Parameters of Ultra Ethernet's transport. See uet.c.
#pragma once

#include "transport/reorder.h"
#include "weft/transport.h"

enum weft__uet_delivery { WEFT__UET_RUD, WEFT__UET_ROD };

struct weft__uet_conf {
    uint32_t delivery; ///< enum weft__uet_delivery
    struct weft_model_conf spray;
    weft_bytes sack_bytes;
    uint64_t sack_bits; ///< of a SACK
    uint64_t control_priority;
    weft_time_ps timeout_ps;
    struct weft__reorder_conf reorder; ///< packets: the window of PSNs
};
