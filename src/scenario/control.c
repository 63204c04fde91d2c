// SPDX-License-Identifier: Apache-2.0
#include "weft/control.h"
#include "weft/param.h"

static const struct weft_param rows[] = {
    WEFT_SECTION(struct weft_control_conf, reach, "reachability", &weft_reach_table,
                 "cells between devices of a fabric, and input balanced mode"),
    WEFT_SECTION(struct weft_control_conf, fsdb, "fsdb", &weft_fsdb_table,
                 "subscriptions of interface nodes to each other's state"),
    WEFT_SECTION(struct weft_control_conf, bgp, "bgp", &weft_bgp_table, "routes to other buildings by EDSWs"),
    WEFT_SECTION(struct weft_control_conf, bootstrap, "bootstrap", &weft_bootstrap_table,
                 "in-band bootstrap of a Clique of TiNs"),
    WEFT_SECTION(struct weft_control_conf, sdn, "sdn", &weft_sdn_table, "the controller of a Clique and its TiNs"),
    WEFT_SECTION(struct weft_control_conf, timesync, "timesync", &weft_timesync_table, "clocks of a Clique"),
};
static const char *const lists[] = {"events", NULL};
const struct weft_param_table weft_control_table =
    WEFT_PARAM_TABLE_LISTS("control", struct weft_control_conf, rows, NULL, lists);
