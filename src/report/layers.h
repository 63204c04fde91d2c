// SPDX-License-Identifier: Apache-2.0
// Links between switches, grouped by the layers that they connect and their direction. Load is reported per group.
#pragma once

#include "weft/report.h"

struct weft__layers {
    uint32_t n; ///< at most 64: layers of a list of links may have any names
    struct weft__layer_pair {
        const char *key; ///< "leaf-spine"; within one layer also the direction, "switch-switch-up"
        const char *from, *to;
        enum weft_balance_direction direction;
        uint32_t links;
    } * pair;          ///< upwards first
    uint32_t *of_port; ///< [ports] -> pair; WEFT_NONE: to or from a host, or one pair too many
};

struct weft__layers weft__report_layers(const struct weft_topology *topology, struct weft_arena *arena);
