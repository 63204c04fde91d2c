// SPDX-License-Identifier: Apache-2.0
// A recorded run in the JSON of trace viewers ("Trace Event Format", Google, 2016), which ui.perfetto.dev and
// chrome://tracing open: a process a node, a track a port and priority with its pauses and the congestion behind them,
// a track a rank of a job with when it computes and when it waits, flows and jobs as slices that may overlap, queues
// and rates as counters, an arrow from what caused a pause to the pause. Times are microseconds with six decimals, that
// is, whole picoseconds.
#pragma once

#include <stdio.h>

#include "weft/error.h"
#include "weft/memory.h"

/// What was written, for people.
struct weft_perfetto_counts {
    uint64_t flows, pauses, arrows, samples, operations;
};

struct weft_perfetto;
/// Reads the run of that variant (NULL: the first) in DIR/results.sqlite; everything is in `arena`.
enum weft_status weft_perfetto_read(const char *dir, const char *variant, struct weft_arena *arena,
                                    struct weft_perfetto **ret_perfetto, struct weft_error *ret_error);
/// Of all variants in the folder, their names.
const char *const *weft_perfetto_variants(const struct weft_perfetto *perfetto, uint32_t *ret_n);
struct weft_perfetto_counts weft_perfetto_count(const struct weft_perfetto *perfetto);
/// A struct weft_perfetto.
void weft_perfetto_write(FILE *file, const void *perfetto);
