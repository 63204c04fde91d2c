// SPDX-License-Identifier: Apache-2.0
// Flows of a group by their size.
#pragma once

#include "weft/report.h"

/// Flows whose size is at least from_bytes and less than below_bytes; percentiles are over finished ones.
struct weft__size_bin {
    const char *group;
    weft_bytes from_bytes, below_bytes;
    uint32_t flows, finished;
    struct weft_quantiles fct_ps, slowdown;
};
/// The non-empty bins of every group; in `arena`.
struct weft__size_bin *weft__report_sizes(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);
/// Prints nothing if no group has flows in different bins.
void weft__report_sizes_table(FILE *file, const struct weft_run *run);

/// Sorts `value`. Nearest rank: the p-th percentile is the ceil(p n / 100)-th smallest value; NAN if there are none.
struct weft_quantiles weft__quantiles(double *value, size_t n);
