// SPDX-License-Identifier: Apache-2.0
// The window that HPCC's simulator gives every flow (HAS_WIN, GLOBAL_T).
#ifndef WEFT_IMPORT_HPCC_WINDOW_H
#define WEFT_IMPORT_HPCC_WINDOW_H

#include "import/hpcc_read.h"

#define WEFT__HPCC_WINDOW_STEPS UINT64_C(2000000000) ///< more steps than this take too long

/// The greatest bandwidth-delay product of two hosts; 0: there is none, or the network is too large to search.
weft_bytes weft__hpcc_window(const struct weft__hpcc_topology *topology, weft_bytes mtu, struct weft_arena *arena);

#endif
