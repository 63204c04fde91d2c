// SPDX-License-Identifier: Apache-2.0
// The clocks of boxes. See clock.c.
#pragma once

#include "box/network.h"

/// The most that the clock of a node may be off; 0: it is exact.
double weft__clock_bound_ppm(const struct weft_device_conf *device, const struct weft_node_info *node);
/// The speed of a port by the clock of its box.
struct weft__speed weft__clock_speed(const struct weft_topology *t, const struct weft_device_conf *const *device,
                                     uint64_t seed, uint32_t port);
/// How much shorter `time` may be at a port of this node.
weft_time_ps weft__clock_slack(const struct weft_device_conf *device, const struct weft_node_info *node,
                               weft_time_ps time);
