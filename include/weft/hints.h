// SPDX-License-Identifier: Apache-2.0
// Hints: what a newcomer should know about a scenario or a run, one sentence each, once.
#pragma once

#include "weft/report.h"

enum { WEFT_HINTS_MAX = 32 };

struct weft_hints {
    struct weft_arena *arena;
    struct {
        const char *text;
        uint32_t runs; ///< number of runs with this hint
    } hint[WEFT_HINTS_MAX];
    uint32_t n, runs;
    uint32_t seeds;             ///< of each variant
    const struct weft_run *now; ///< the run that weft_hints_add examines
};

/// A congestion control whose values are of another line rate than the hosts have: no default and no preset is scaled.
/// One line for the first such host, in `arena`; NULL: there is none.
const char *weft_hint_values(const struct weft_scenario *scenario, const struct weft_topology *topology,
                             const struct weft_workload *workload, struct weft_arena *arena);
/// Adds the hints about a run, or about a scenario that is only checked (its outcome is NULL).
void weft_hints_add(struct weft_hints *h, const struct weft_run *run);
/// One line each: "weft: hint: ...", with the number of runs if it is not for all.
void weft_hints_print(FILE *file, const struct weft_hints *h);
