// SPDX-License-Identifier: Apache-2.0
// Percentiles from buckets against those of the sorted values.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/histogram.h"
#include "weft/dsf_outcome.h"
#include "weft/random.h"

enum { VALUES = 10000 };

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct weft__histogram *new_histogram(void) {
    struct weft__histogram *h = calloc(1, sizeof *h);
    assert_non_null(h);
    return h;
}

/// Values of any size, 2^0 to 2^63: half of a bucket of 1/128 at most, that is 0.4 %.
static void as_of_sorted_values(void **state) {
    static uint64_t value[VALUES];
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_SIZE);
    struct weft__histogram *h = new_histogram(), *part[2] = {new_histogram(), new_histogram()};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        value[i] = weft_random_u64(&random) >> (i % 64);
        weft__histogram_add(h, value[i]);
        weft__histogram_add(part[i % 3 != 0], value[i]);
        sum += value[i] / VALUES;
    }
    qsort(value, VALUES, sizeof *value, by_value);
    weft__histogram_merge(part[0], part[1]);
    for (uint32_t i = 0; i <= 1024; i++) { // parts of a power of two have no rounding
        uint32_t rank = i ? (i * VALUES + 1023) / 1024 : 1;
        double exact = (double)value[rank - 1], found = (double)weft__histogram_quantile(h, i / 1024.);
        if (fabs(found - exact) > exact / 250) fail_msg("%u: %.0f, expected %.0f", i, found, exact);
        assert_true(weft__histogram_quantile(part[0], i / 1024.) == weft__histogram_quantile(h, i / 1024.));
    }
    assert_true(weft__histogram_quantile(h, 1) == value[VALUES - 1] || h->max == value[VALUES - 1]);
    assert_true(h->min == value[0] && h->n == VALUES);
    assert_true(fabs((double)weft__histogram_mean(h) / (double)sum - 1) < 1e-9);
    free(h);
    free(part[0]);
    free(part[1]);
}

/// Small ones are exact, and so is a single value.
static void exact_where_it_can_be(void **state) {
    struct weft__histogram *h = new_histogram();
    assert_int_equal(weft__histogram_quantile(h, 0.5), 0);
    for (uint64_t v = 100; v > 0; v--)
        weft__histogram_add(h, v);
    assert_int_equal(weft__histogram_quantile(h, 0.5), 50);
    assert_int_equal(weft__histogram_quantile(h, 0.99), 99);
    assert_int_equal(weft__histogram_mean(h), 50);
    free(h);
    h = new_histogram();
    weft__histogram_add(h, 123456789);
    assert_int_equal(weft__histogram_quantile(h, 0.01), 123456789);
    assert_int_equal(weft__histogram_quantile(h, 1), 123456789);
    weft__histogram_add(h, UINT64_MAX);
    assert_true(h->max == UINT64_MAX && weft__histogram_quantile(h, 1) > UINT64_MAX / 256 * 255);
    free(h);
}

/// The distributions of a fabric: exact below 32, four parts to a doubling above. 1000 values 0 to 999.
static void of_a_fabric(void **state) {
    struct weft_histogram h = {0};
    assert_true(isnan(weft_histogram_mean(&h)));
    for (uint64_t i = 0; i < 1000; i++)
        h.count[weft_histogram_bucket(i)]++;
    assert_int_equal(weft_histogram_total(&h), 1000);
    assert_int_equal(weft_histogram_quantile(&h, 0.031), 30);
    assert_int_equal(weft_histogram_quantile(&h, 0.5), 448); // 448 to 511
    assert_int_equal(weft_histogram_quantile(&h, 1), 896);   // 896 to 1023
    // Buckets up to 895 are full, so their middles are exact; the last holds 104 values with a middle of 959.5.
    assert_true(fabs(weft_histogram_mean(&h) - (895. * 896 / 2 + 104 * 959.5) / 1000) < 1e-9);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(weft_histogram_value(weft_histogram_bucket(i)) <= i &&
                    i < weft_histogram_value(weft_histogram_bucket(i) + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_of_sorted_values),
        cmocka_unit_test(exact_where_it_can_be),
        cmocka_unit_test(of_a_fabric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
