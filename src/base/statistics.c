// SPDX-License-Identifier: Apache-2.0
// Means over seeds, their intervals, and whether two of them differ.
//
// Student's t for whole degrees of freedom: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 (odd) and
// 26.7.4 (even); its quantile by bisection.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "weft/statistics.h"

/// The probability of -t..t.
static double student_within(double t, uint32_t freedom) {
    double theta = atan(t / sqrt(freedom)), cos2 = cos(theta) * cos(theta);
    bool odd = freedom & 1;
    double term = odd ? cos(theta) : 1, sum = 0;
    for (uint32_t k = odd ? 3 : 2; k <= freedom; k += 2) {
        sum += term;
        term *= cos2 * (k - 1) / k;
    }
    return odd ? 2 / M_PI * (theta + sin(theta) * sum) : sin(theta) * sum;
}

double weft_student_quantile(double p, uint32_t freedom) {
    assert(p >= 0.5 && p < 1 && freedom);
    double low = 0, high = 1;
    while (student_within(high, freedom) < 2 * p - 1)
        high *= 2;
    for (unsigned i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (student_within(middle, freedom) < 2 * p - 1)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/// `p`: the probability below the upper end of the interval.
static struct weft_spread spread_of(const double *value, uint32_t n, double p, struct weft_arena *arena) {
    struct weft_spread s = {0, 0, NAN, NAN};
    double *sorted = weft_arena_alloc(arena, n, sizeof *sorted), squares = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(value[i])) sorted[s.n++] = value[i];
    for (uint32_t i = 0; i < s.n; i++)
        s.mean += sorted[i] / s.n;
    for (uint32_t i = 0; i < s.n; i++)
        squares += (sorted[i] - s.mean) * (sorted[i] - s.mean);
    if (!s.n) s.mean = NAN;
    qsort(sorted, s.n, sizeof *sorted, weft__by_double);
    if (s.n) s.median = (sorted[(s.n - 1) / 2] + sorted[s.n / 2]) / 2;
    // The mean of equal values may be off in its last bit.
    if (s.n && sorted[0] >= sorted[s.n - 1]) s.mean = sorted[0], squares = 0;
    if (s.n > 1) s.half = weft_student_quantile(p, s.n - 1) * sqrt(squares / (s.n - 1) / s.n);
    return s;
}

struct weft_spread weft_spread_of(const double *value, uint32_t n, struct weft_arena *arena) {
    return spread_of(value, n, 0.975, arena);
}

enum weft_difference weft_difference_of(const double *a, const double *b, uint32_t n, uint32_t comparisons,
                                        struct weft_spread *ret_difference, struct weft_arena *arena) {
    double *difference = weft_arena_alloc(arena, n, sizeof *difference);
    for (uint32_t i = 0; i < n; i++)
        difference[i] = b[i] - a[i];
    struct weft_spread s = spread_of(difference, n, 1 - 0.025 / (comparisons ? comparisons : 1), arena);
    *ret_difference = s;
    if (s.n < 2) return WEFT_DIFFERENCE_UNKNOWN;
    return fabs(s.mean) > s.half ? WEFT_DIFFERENCE_REAL : WEFT_DIFFERENCE_NOISE;
}
