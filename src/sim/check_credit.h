// SPDX-License-Identifier: Apache-2.0
// Credit-based flow control of links, and what it cannot be combined with.
#pragma once

#include "box/box.h"

enum weft_status weft__check_credit(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error);
/// The largest frame that a host may send.
uint32_t weft__frame_bytes_max(const struct weft_scenario *scenario, const struct weft_topology *t);
