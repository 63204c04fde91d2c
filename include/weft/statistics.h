// SPDX-License-Identifier: Apache-2.0
// What values over seeds say: a mean with its interval, and whether two means differ by more than noise.
#pragma once

#include "weft/memory.h"

/// The interval, mean - half to mean + half, has the true mean in it with 95% if values are normal (Student,
/// Biometrika 6, 1908).
struct weft_spread {
    uint32_t n;                ///< values; those that are NAN do not count
    double mean, median, half; ///< NAN of none; half also of one
};
struct weft_spread weft_spread_of(const double *value, uint32_t n, struct weft_arena *arena);

/// Whether two sets of values that are paired (of the same seeds) differ: whether the interval of the mean of b - a,
/// which is *ret_difference, leaves out 0. `comparisons`: of so many that are made at once; they share the 5% in which
/// one of them errs (Bonferroni).
enum weft_difference { WEFT_DIFFERENCE_UNKNOWN, WEFT_DIFFERENCE_NOISE, WEFT_DIFFERENCE_REAL };
enum weft_difference weft_difference_of(const double *a, const double *b, uint32_t n, uint32_t comparisons,
                                        struct weft_spread *ret_difference, struct weft_arena *arena);

/// The value below which `p` (0.5 to 1) of Student's t with so many degrees of freedom lies.
double weft_student_quantile(double p, uint32_t freedom);
