// SPDX-License-Identifier: Apache-2.0
// The window and the round trip that HPCC's simulator gives every flow (HAS_WIN, GLOBAL_T).
#pragma once

#include "import/hpcc/hpcc_read.h"

#define WEFT__HPCC_WINDOW_STEPS UINT64_C(2000000000) ///< more steps than this take too long

struct weft__hpcc_longest {
    weft_bytes window; ///< the greatest bandwidth-delay product of two hosts
    uint64_t rtt_ns;   ///< the longest round trip of two
};
/// All 0 if there are fewer than two hosts, or if the network is too large to search.
struct weft__hpcc_longest weft__hpcc_window(const struct weft__hpcc_topology *topology, weft_bytes mtu,
                                            struct weft_arena *arena);
