// SPDX-License-Identifier: Apache-2.0
// What boxes report about the fabrics that they form in a network, before anything runs on it.
#pragma once

#include <stdio.h>

#include "weft/scenario.h"
#include "weft/summary.h"

/// Boxes of several kinds may share it. Nothing is written for a network without such a fabric.
struct weft__box_view {
    void (*describe)(FILE *file, const struct weft_topology *t, const struct weft_topology_summary *network);
    /// Optional: what packets pay for crossing such a fabric as cells, in `arena`. `processing_ps`: by switch index.
    const struct weft_cell_costs *(*costs)(const struct weft_topology *t, const struct weft_device_conf **device,
                                           const weft_time_ps *processing_ps, struct weft_arena *arena);
};

/// "3" or "3 to 5", in `text`.
const char *weft__view_range(uint32_t min, uint32_t max, char *text, size_t size);
