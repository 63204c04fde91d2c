// SPDX-License-Identifier: Apache-2.0
// Percentiles from buckets against those of the sorted values.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "weft/histogram.h"
#include "weft/random.h"

enum { VALUES = 10000 };

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct weft_histogram *new_histogram(void) {
    struct weft_histogram *h = calloc(1, sizeof *h);
    assert_non_null(h);
    return h;
}

/// Values of any size, 2^0 to 2^63: half of a bucket of 1/128 at most, that is 0.4 %.
static void as_of_sorted_values(void **state) {
    static uint64_t value[VALUES];
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_SIZE);
    struct weft_histogram *h = new_histogram(), *part[2] = {new_histogram(), new_histogram()};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        value[i] = weft_random_u64(&random) >> (i % 64);
        weft_histogram_add(h, value[i]);
        weft_histogram_add(part[i % 3 != 0], value[i]);
        sum += value[i] / VALUES;
    }
    qsort(value, VALUES, sizeof *value, by_value);
    weft_histogram_merge(part[0], part[1]);
    for (uint32_t i = 0; i <= 1024; i++) { // parts of a power of two have no rounding
        uint32_t rank = i ? (i * VALUES + 1023) / 1024 : 1;
        double exact = (double)value[rank - 1], found = (double)weft_histogram_quantile(h, i / 1024.);
        if (fabs(found - exact) > exact / 250) fail_msg("%u: %.0f, expected %.0f", i, found, exact);
        assert_true(weft_histogram_quantile(part[0], i / 1024.) == weft_histogram_quantile(h, i / 1024.));
    }
    assert_true(weft_histogram_quantile(h, 1) == value[VALUES - 1] || h->max == value[VALUES - 1]);
    assert_true(h->min == value[0] && h->n == VALUES);
    assert_true(fabs((double)weft_histogram_mean_floor(h) / (double)sum - 1) < 1e-9);
    free(h);
    free(part[0]);
    free(part[1]);
}

/// Small ones are exact, and so is a single value.
static void exact_where_it_can_be(void **state) {
    struct weft_histogram *h = new_histogram();
    assert_int_equal(weft_histogram_quantile(h, 0.5), 0);
    for (uint64_t v = 100; v > 0; v--)
        weft_histogram_add(h, v);
    assert_int_equal(weft_histogram_quantile(h, 0.5), 50);
    assert_int_equal(weft_histogram_quantile(h, 0.99), 99);
    assert_int_equal(weft_histogram_mean_floor(h), 50);
    free(h);
    h = new_histogram();
    weft_histogram_add(h, 123456789);
    assert_int_equal(weft_histogram_quantile(h, 0.01), 123456789);
    assert_int_equal(weft_histogram_quantile(h, 1), 123456789);
    weft_histogram_add(h, UINT64_MAX);
    assert_true(h->max == UINT64_MAX && weft_histogram_quantile(h, 1) > UINT64_MAX / 256 * 255);
    free(h);
}

/// Where buckets begin: each of 0 to 255 has its own, then 128 to a doubling. A value is found as its bucket's middle.
static void edges_of_buckets(void **state) {
    static const struct {
        uint64_t value, middle;
    } rows[] = {
        {0, 0},       {127, 127},   {128, 128},   {255, 255},
        {256, 256},   {257, 256},   {258, 258},   {511, 510},
        {512, 513},   {515, 513},   {516, 517},   {1023, 1021},
        {1024, 1027}, {1031, 1027}, {1032, 1035}, {UINT64_C(1) << 63, (UINT64_C(1) << 63) + (UINT64_C(1) << 55) - 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_histogram *h = new_histogram();
        weft_histogram_add(h, 0); // so that the least and the greatest are not the results
        weft_histogram_add(h, rows[i].value);
        weft_histogram_add(h, UINT64_MAX);
        assert_true(weft_histogram_quantile(h, 0.5) == rows[i].middle);
        uint32_t used = 0, held = 0;
        for (uint32_t b = 0; b < WEFT_HISTOGRAM_BUCKETS; b++) {
            used += h->bucket[b] != 0;
            held += (uint32_t)h->bucket[b];
        }
        assert_int_equal(used, rows[i].value ? 3 : 2);
        assert_int_equal(held, 3);
        free(h);
    }
}

/// Nothing added to something, something to nothing, and quantiles at and beside a rank.
static void merged_with_nothing(void **state) {
    struct weft_histogram *h = new_histogram(), *empty = new_histogram(), *into = new_histogram();
    weft_histogram_merge(into, empty);
    assert_true(!into->n && !weft_histogram_quantile(into, 1) && !weft_histogram_mean_floor(into));
    for (uint64_t v = 10; v <= 40; v += 10)
        weft_histogram_add(h, v);
    weft_histogram_merge(h, empty);
    weft_histogram_merge(into, h);
    assert_true(into->n == 4 && into->min == 10 && into->max == 40);
    assert_int_equal(weft_histogram_mean_floor(into), 25);
    assert_int_equal(weft_histogram_quantile(into, 0), 10);
    assert_int_equal(weft_histogram_quantile(into, 0.25), 10); // the first of four
    assert_int_equal(weft_histogram_quantile(into, 0.26), 20);
    assert_int_equal(weft_histogram_quantile(into, 0.75), 30);
    assert_int_equal(weft_histogram_quantile(into, 1), 40);
    weft_histogram_merge(into, h);
    assert_true(into->n == 8 && weft_histogram_quantile(into, 0.25) == 10);
    assert_int_equal(weft_histogram_quantile(into, 0.26), 20);
    free(h);
    free(empty);
    free(into);
}

/// Buckets follow one another without a gap, and each holds its least value.
static void buckets_follow_one_another(void **state) {
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++) {
        uint64_t least = weft_histogram_value(i);
        assert_int_equal(weft_histogram_bucket(least), i);
        if (i) assert_int_equal(weft_histogram_bucket(least - 1), i - 1);
    }
    assert_true(weft_histogram_value(WEFT_HISTOGRAM_BUCKETS) == UINT64_MAX);
}

/// A sum beyond 64 bits.
static void mean_of_great_values(void **state) {
    struct weft_histogram *h = new_histogram();
    assert_true(isnan(weft_histogram_mean(h)));
    for (unsigned i = 0; i < 5; i++)
        weft_histogram_add(h, UINT64_MAX - i);
    assert_true(weft_histogram_mean_floor(h) == UINT64_MAX - 2);
    assert_true(fabs(weft_histogram_mean(h) / (double)UINT64_MAX - 1) < 1e-9);
    free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_of_sorted_values),        cmocka_unit_test(exact_where_it_can_be),
        cmocka_unit_test(edges_of_buckets),           cmocka_unit_test(merged_with_nothing),
        cmocka_unit_test(buckets_follow_one_another), cmocka_unit_test(mean_of_great_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
