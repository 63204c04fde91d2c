// SPDX-License-Identifier: Apache-2.0
// The axes: the section of the file, overridden by the command line.
#pragma once

#include "weft/sweep.h"

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

// "100KB..400KB:4": ends, and the values between them.
enum weft__range_kind { WEFT__RANGE_NONE, WEFT__RANGE_VALUES, WEFT__RANGE_ANY };

/// Classifies a text: no range (NONE), a range of `*ret_n` values (VALUES), or one to draw from (ANY). False: it looks
/// like a range but is wrong; `why` says why.
bool weft__range_parse(const char *text, struct weft_arena *arena, enum weft__range_kind *ret_kind,
                       struct weft_sweep_range **ret_range, uint32_t *ret_n, char *why, size_t size);
/// The value at part `at` (0 to 1) of the distance between the ends, with its unit; 0 and 1 give the ends as written.
const char *weft__range_at(const struct weft_sweep_range *range, double at, struct weft_arena *arena);
