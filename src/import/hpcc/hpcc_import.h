// SPDX-License-Identifier: Apache-2.0
// What importers of ns-3's RDMA simulators share: the network, with its hosts and switches.
#pragma once

#include "weft/import.h"

/// "topology", "flows" or "configuration"; NULL: none of them.
const char *weft__hpcc_recognise(const struct weft_import_file *file);

struct weft__hpcc_network {
    uint32_t hosts;     ///< 0: no topology was given
    const char *chosen; ///< those of a workload; NULL: all
    const char *server; ///< the network within servers, of collectives and jobs; NULL: none
};
/// Says the sections of topology, switches, hosts, events and run from a topology and a configuration, each of which
/// may be missing, among the files or named by the configuration. `flows`: whether the files of flows are the workload.
enum weft_status weft__hpcc_make(const struct weft_import_common *common, const struct weft_import_file *file,
                                 uint32_t files, bool flows, struct weft_import *import,
                                 struct weft__hpcc_network *ret_network, struct weft_error *ret_error);
