// SPDX-License-Identifier: Apache-2.0
// The sections of hosts and switches from the configuration of HPCC's simulator.
#pragma once

#include "import/hpcc/hpcc_config.h"
#include "import/hpcc/hpcc_window.h"
#include "weft/import.h"

/// Figures of the topology that the configuration's sections need.
struct weft__hpcc_rates {
    weft_rate_bps host_bps, port_bps;  ///< of hosts, and the greatest of all links
    weft_bytes headroom_bytes;         ///< three times the data in flight on a link
    struct weft__hpcc_longest longest; ///< 0: not known
    unsigned priorities;               ///< of flows, a bit each
};

/// Lossless are the priorities of flows, but for 0, which has neither PFC nor marks there.
void weft__hpcc_say_pfc(struct weft_import *import, enum weft_import_section section,
                        const struct weft__hpcc_config *config, const struct weft__hpcc_rates *rates);
void weft__hpcc_say_host(struct weft_import *import, const struct weft__hpcc_config *config,
                         const struct weft__hpcc_rates *rates);
