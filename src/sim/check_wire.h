// SPDX-License-Identifier: Apache-2.0
// Frames that differ from RoCE on IEEE 802.3, to match other simulators (docs/peers.md).
#pragma once

#include "box/box.h"

/// Whether frames of this node have other sizes, or take other times on the wire, than those of RoCE on IEEE 802.3.
bool weft__has_own_frames(const struct weft_device_conf *conf, const struct weft_node_info *node);
/// Refuses what cannot be combined with such frames.
enum weft_status weft__check_wire(const struct weft_scenario *scenario, const struct weft_topology *t,
                                  struct weft_error *ret_error);
