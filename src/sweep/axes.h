// SPDX-License-Identifier: Apache-2.0
// The axes: the section of the file, overridden by the command line.
#pragma once

#include "sweep/range.h"

/// The section without its axes.
struct weft__sweep_conf {
    bool zip;
    uint64_t sample, sample_seed;
    const char *best, *metrics;
};

/// Reads sweep->axis and, from the axis run.seed, sweep->seed.
enum weft_status weft__sweep_axes(struct weft_sweep *sweep, const struct weft_sweep_options *options,
                                  const struct weft_tree *vary, struct weft_error *ret_error);
/// The value of a text, as if it were written at the axis's place.
struct weft_sweep_value weft__sweep_text_value(const struct weft_sweep_axis *axis, const char *text,
                                               struct weft_arena *arena);
