// SPDX-License-Identifier: Apache-2.0
// Draws: their moments, and that they are the same to the last bit on every machine.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "weft/random.h"

enum { DRAWS = 1000000 };

static struct weft_random stream(uint64_t seed) {
    return weft_random_stream(seed, 1, WEFT_RANDOM_TEST);
}

/// Four standard errors of a million draws.
static void moments(void **state) {
    (void)state;
    struct weft_random random = stream(5);
    double sum[5] = {0}, logs = 0, squares = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        double x = weft_random_normal(&random, HUGE_VAL), power = 1;
        for (uint32_t k = 0; k < 5; k++, power *= x)
            sum[k] += power / DRAWS;
        double l = log(weft_random_lognormal(&random, 700, 0.03) / 700) / 0.03;
        logs += l / DRAWS;
        squares += l * l / DRAWS;
    }
    assert_true(fabs(sum[1]) < 4e-3 && fabs(sum[2] - 1) < 4e-3 * sqrt(2));
    assert_true(fabs(sum[3]) < 4e-3 * sqrt(15) && fabs(sum[4] - 3) < 4e-3 * sqrt(96));
    assert_true(fabs(logs) < 4e-3 && fabs(squares - 1) < 4e-3 * sqrt(2));
}

static void bound_holds(void **state) {
    (void)state;
    static const double bounds[] = {0.05, 1, 2.5, 0.005, 1e-9}; // the last ones end at once, too
    struct weft_random random = stream(6);
    for (uint32_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        double most = 0, sum = 0, squares = 0;
        for (uint32_t i = 0; i < 10000; i++) {
            double x = weft_random_normal(&random, bounds[b]) / bounds[b];
            most = fmax(most, fabs(x));
            sum += x / 10000;
            squares += x * x / 10000;
        }
        assert_true(most <= 1 && most > 0.95);
        // so near, the density is even: the mean of squares is a third, four deviations of the mean wide
        if (bounds[b] < 0.01) assert_true(fabs(sum) < 0.024 && fabs(squares - 1. / 3) < 0.012);
    }
}

/// The logarithm is the library's to a few of the last bits, over all sizes.
static void logarithm(void **state) {
    (void)state;
    struct weft_random random = stream(7);
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct weft_random again = random;
        double is = weft_random_exponential(&random, 1), expected = -log1p(-weft_random_unit(&again));
        if (fabs(is - expected) > 4 * 0x1p-52 * expected) fail_msg("%.17g, and log1p has %.17g", is, expected);
    }
}

/// What came out when this was written (x86-64, gcc 12).
static void same_everywhere(void **state) {
    (void)state;
    struct weft_random random = stream(8);
    assert_true(weft_random_normal(&random, 3) == -0x1.e00738aa4d882p-1);
    assert_true(weft_random_lognormal(&random, 6.1e6, 0.2) == 0x1.004751ed319a2p+22);
    assert_true(weft_random_exponential(&random, 1e6) == 0x1.30242e4034768p+18);
}

/// Streams of devices: each name and each seed another.
static void seeds_of_names(void **state) {
    (void)state;
    uint64_t a = weft_random_seed_of(1, "host-1");
    assert_true(a == weft_random_seed_of(1, "host-1"));
    assert_true(a != weft_random_seed_of(2, "host-1") && a != weft_random_seed_of(1, "host-10"));
    struct weft_random first = stream(a), second = stream(weft_random_seed_of(1, "host-2"));
    double product = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        product += weft_random_normal(&first, HUGE_VAL) * weft_random_normal(&second, HUGE_VAL) / DRAWS;
    assert_true(fabs(product) < 4e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments),         cmocka_unit_test(bound_holds),    cmocka_unit_test(logarithm),
        cmocka_unit_test(same_everywhere), cmocka_unit_test(seeds_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
