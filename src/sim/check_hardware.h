// SPDX-License-Identifier: Apache-2.0
// Whether the hardware that a scenario names can be what its network asks of it.
#pragma once

#include "box/box.h"

/// Refuses a chip or NIC with fewer ports, or of less rate, than its node has.
enum weft_status weft__check_hardware(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error);
