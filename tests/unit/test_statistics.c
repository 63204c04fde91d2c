// SPDX-License-Identifier: Apache-2.0
// Student's t against the table of Abramowitz and Stegun, means and differences against figures worked out by hand.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "own_memory.h"
#include "weft/statistics.h"

static struct weft_arena *arena;

static int set_up(void **state) {
    open_memory(state);
    arena = weft_arena_new(WEFT_MEMORY_RESULT);
    return 0;
}

static int tear_down(void **state) {
    weft_arena_free(arena);
    return close_memory(state);
}

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within)) fail_msg("%.10g, expected %.10g", value, expected);
}

/// Abramowitz and Stegun, table 26.10, which has three to five digits; p there is of both tails.
static void quantiles(void **state) {
    (void)state;
    static const struct {
        double p, t;
        uint32_t freedom;
    } table[] = {{.975, 12.706, 1}, {.975, 4.303, 2},  {.975, 3.182, 3},  {.975, 2.776, 4},   {.975, 2.571, 5},
                 {.975, 2.262, 9},  {.975, 2.228, 10}, {.975, 2.045, 29}, {.975, 1.980, 120}, {.995, 63.657, 1},
                 {.995, 9.925, 2},  {.995, 4.604, 4},  {.995, 3.169, 10}, {.995, 2.617, 120}, {.75, 1.000, 1},
                 {.75, 0.816, 2},   {.95, 1.812, 10}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        assert_near(weft_student_quantile(table[i].p, table[i].freedom), table[i].t, 5.1e-4);
    assert_near(weft_student_quantile(.975, 999), 1.9623, 5.1e-5); // towards the normal distribution's 1.95996
    assert_near(weft_student_quantile(.5, 7), 0, 1e-9);
}

/// 2, 4, 4, 4, 5, 5, 7, 9 have the mean 5 and squared deviations of 32 in all.
static void spread(void **state) {
    (void)state;
    static const double values[] = {9, 4, 2, 4, 5, 7, 5, 4};
    struct weft_spread s = weft_spread_of(values, 8, arena);
    assert_int_equal(s.n, 8);
    assert_near(s.mean, 5, 1e-12);
    assert_near(s.median, 4.5, 1e-12);
    assert_near(s.half, 2.364624 * sqrt(32. / 7 / 8), 1e-5);
    static const double some[] = {3, NAN, 1};
    s = weft_spread_of(some, 3, arena);
    assert_int_equal(s.n, 2);
    assert_near(s.mean, 2, 1e-12);
    assert_near(s.half, 12.7062, 1e-3); // deviation sqrt(2), over sqrt(2)
    s = weft_spread_of(some, 1, arena);
    assert_near(s.mean, 3, 0);
    assert_near(s.median, 3, 0);
    assert_true(isnan(s.half));
    s = weft_spread_of(some + 1, 1, arena);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.mean) && isnan(s.median) && isnan(s.half));
}

/// Equal values have an interval of nothing, whatever their mean is rounded to.
static void equal(void **state) {
    (void)state;
    double values[7];
    for (unsigned i = 0; i < 7; i++)
        values[i] = 0.1;
    struct weft_spread s = weft_spread_of(values, 7, arena);
    assert_true(s.mean >= 0.1 && s.mean <= 0.1 && s.half <= 0);
}

/// Seeds move both alike: the difference is sure although the intervals overlap.
static void paired(void **state) {
    (void)state;
    static const double a[] = {10, 20, 30, 40}, b[] = {11, 21.2, 30.9, 41}, c[] = {11, 19, 31, 39};
    struct weft_spread d;
    assert_int_equal(weft_difference_of(a, b, 4, 1, &d, arena), WEFT_DIFFERENCE_REAL);
    assert_near(d.mean, 1.025, 1e-12);
    assert_int_equal(weft_difference_of(a, c, 4, 1, &d, arena), WEFT_DIFFERENCE_NOISE);
    assert_int_equal(weft_difference_of(a, a, 4, 1, &d, arena), WEFT_DIFFERENCE_NOISE);
    assert_int_equal(weft_difference_of(a, b, 1, 1, &d, arena), WEFT_DIFFERENCE_UNKNOWN);
}

/// A difference of 1.0, its deviation 0.8165: t is 2.449 of 4 values. One comparison needs 3.182: noise; with a
/// deviation half as large t is 4.899, which is enough for one, and not for ten (t of 0.9975 is 7.453).
static void many_comparisons(void **state) {
    (void)state;
    static const double zero[4] = {0}, wide[] = {0, 1, 1, 2}, narrow[] = {.5, 1, 1, 1.5};
    struct weft_spread d;
    assert_int_equal(weft_difference_of(zero, wide, 4, 1, &d, arena), WEFT_DIFFERENCE_NOISE);
    assert_int_equal(weft_difference_of(zero, narrow, 4, 1, &d, arena), WEFT_DIFFERENCE_REAL);
    assert_int_equal(weft_difference_of(zero, narrow, 4, 10, &d, arena), WEFT_DIFFERENCE_NOISE);
    assert_near(d.half, 7.453 * sqrt(.5 / 3) / 2, 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantiles), cmocka_unit_test(spread), cmocka_unit_test(equal),
                                       cmocka_unit_test(paired), cmocka_unit_test(many_comparisons)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
