// SPDX-License-Identifier: Apache-2.0
// LLDP and DCBX of a whole network.
#pragma once

#include "box/network.h"
#include "link/lldp.h"
#include "weft/links.h"

/// The longest pause that source flow control may ask for; 0: no device has it.
weft_time_ps weft__sfc_pause_max(const struct weft_topology *topology, const struct weft_device_conf **device);
/// The LLDP frame of every port, in `arena`; NULL if no device speaks LLDP.
struct weft__lldp_frame *weft__lldp_frames(const struct weft_topology *topology, const struct weft_device_conf **device,
                                           struct weft_arena *arena);
/// The LLDP of a port; NULL if its device speaks none.
struct weft__lldp *weft__lldp_new(const struct weft__network *net, uint32_t port, struct weft_arena *arena);
/// The state of all links at the end of a run, in `arena`.
struct weft_link_dcbx *weft__lldp_collect(const struct weft__network *net, struct weft_arena *arena);
/// The first link of which an end has other lossless priorities than that; WEFT_NONE: there is none.
uint32_t weft__lldp_find_odd(const struct weft__network *net, const struct weft_link_dcbx *links);
