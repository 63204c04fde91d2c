// SPDX-License-Identifier: Apache-2.0
// What the configuration of a switch says about buffers and pauses.
#pragma once

#include "weft/plan.h"
#include "weft/result.h"

struct weft__plan_switch {
    weft_bytes buffer_bytes;        ///< of a port and priority: what a single congested group may use, headroom
                                    ///< included
    weft_bytes pfc_threshold_bytes; ///< at which it sends XOFF
    weft_bytes headroom_bytes;      ///< above it
    weft_bytes cell_bytes;          ///< that packets occupy; 0: their own bytes
    const char *buffer_text, *headroom_text;
    bool sfc; ///< SFC with a fixed threshold and pause; both are 0 for a model that computes its own, or for none
    weft_bytes sfc_threshold_bytes;
    weft_time_ps sfc_pause_ps, sfc_interval_ps;
};
/// The Ethernet ports, which share the buffer of a box.
uint32_t weft__plan_ports(const struct weft_topology *t, uint32_t node);
/// `ports`: as above. Texts are in `arena`.
struct weft__plan_switch weft__plan_switch(const struct weft_switch_conf *sw, uint32_t ports, struct weft_arena *arena);

/// Values have no scenario: their tables begin after the columns of a scenario, of which there are n.
#define WEFT__PLAN_AFTER(list, n) .column = (list) + n, .columns = sizeof(list) / sizeof *(list)-n
/// The first tables of an answer whose subject is a struct weft_plan_variants.
extern const struct weft_result_table weft__plan_variants_table, weft__plan_variant_table;
