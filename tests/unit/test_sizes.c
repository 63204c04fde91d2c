// SPDX-License-Identifier: Apache-2.0
// Size distributions: exact means, sample means within their standard error, files good and bad.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/random.h"
#include "workload/sizes.h"

/// Mean of the square of a piecewise linear distribution: the integral of x^2 over a segment is part * (a^2+ab+b^2)/3.
static double mean_square(const struct weft__sizes *s) {
    double sum = s->point[0].bytes * s->point[0].bytes * s->point[0].part;
    for (uint32_t i = 1; i < s->n; i++) {
        double a = s->point[i - 1].bytes, b = s->point[i].bytes;
        sum += (s->point[i].part - s->point[i - 1].part) * (a * a + a * b + b * b) / 3;
    }
    return sum;
}

/// Five standard errors of the mean of n draws, and half a byte for rounding.
static void sample_mean_agrees(const struct weft__sizes *s) {
    enum { N = 400000 };
    struct weft_random random = weft_random_stream(1, 2, WEFT_RANDOM_TEST);
    double sum = 0, mean = weft__sizes_mean(s);
    for (int i = 0; i < N; i++)
        sum += (double)weft__sizes_at(s, weft_random_unit(&random));
    double error = sqrt((mean_square(s) - mean * mean) / N);
    assert_true(fabs(sum / N - mean) < 5 * error + 0.5);
    assert_true(error < mean / 50); // else the line above says nothing
}

/// Means by hand: sum of (x0 + x1) / 2 * (p1 - p0) over the published points.
static void published(void **state) {
    (void)state;
    assert_true(fabs(weft__sizes_mean(&weft__sizes_websearch) - 1711250) < 1e-3);
    assert_true(fabs(weft__sizes_mean(&weft__sizes_fbhdp) - 120420.75) < 1e-3);
    assert_true(fabs(weft__sizes_mean(&weft__sizes_alistorage2019) - 40869.8) < 1e-3);
    sample_mean_agrees(&weft__sizes_websearch);
    sample_mean_agrees(&weft__sizes_fbhdp);
    sample_mean_agrees(&weft__sizes_alistorage2019);
}

/// Points of GoogleRPC2008.txt, from every part of the file: sizes to the byte, parts to its last digit but one.
static void computed(void **state) {
    (void)state;
    static const struct {
        uint32_t at;
        double bytes, percent;
    } file[] = {{0, 0, 0},
                {3, 36, 10.8913},
                {12, 110, 31.8856},
                {81, 3171, 92.7344},
                {136, 10335, 97.2761},
                {202, 27136, 98.9217},
                {324, 85482, 99.5063},
                {565, 347256, 99.8965},
                {743, 1018296, 99.975},
                {834, 7143054, 99.998},
                {842, 15158197, 100}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft__sizes sizes;
    weft__sizes_googlerpc2008(arena, &sizes);
    assert_int_equal(sizes.n, 843);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        assert_true(sizes.point[file[i].at].bytes == file[i].bytes);
        assert_true(fabs(100 * sizes.point[file[i].at].part - file[i].percent) < 2e-4);
    }
    assert_true(fabs(weft__sizes_mean(&sizes) - 2891.8) < 2);
    weft_arena_free(arena);
}

static void points_and_between(void **state) {
    (void)state;
    const struct weft__sizes *w = &weft__sizes_websearch;
    assert_int_equal(weft__sizes_at(w, 0), 1);
    assert_int_equal(weft__sizes_at(w, .15), 10000);
    assert_int_equal(weft__sizes_at(w, .175), 15000);
    assert_int_equal(weft__sizes_at(w, .985), 20000000);
    assert_int_equal(weft__sizes_at(w, 1), 30000000);
    for (double u = 0, last = 0; u <= 1; u += 1e-4) {
        double at = (double)weft__sizes_at(w, u);
        assert_true(at >= last);
        last = at;
    }
}

static enum weft_status load(const char *text, struct weft_arena *arena, struct weft__sizes *sizes,
                             struct weft_error *error) {
    char path[] = "/tmp/weft-sizes-XXXXXX", name[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    snprintf(name, sizeof name, "file:%s", path + 5); // relative to the scenario's folder
    memset(error, 0, sizeof *error);
    enum weft_status status = weft__sizes_load(
        name, (struct weft_place){.file = "/tmp/scenario.yaml", .line = 7, .column = 3}, arena, sizes, error);
    unlink(path);
    return status;
}

static void from_a_file(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft__sizes sizes;
    struct weft_error error;
    // A quarter of the flows are of 100 bytes, half lie between 100 and 300, the rest are of 1000.
    assert_int_equal(load("# bytes percent\n100 25\n\n300 75 # half\n1000 75\n1000 100", arena, &sizes, &error),
                     WEFT_OK);
    assert_int_equal(sizes.n, 4);
    assert_true(fabs(weft__sizes_mean(&sizes) - (25 + 100 + 250)) < 1e-9);
    assert_int_equal(weft__sizes_at(&sizes, .1), 100);
    assert_int_equal(weft__sizes_at(&sizes, .5), 200);
    assert_int_equal(weft__sizes_at(&sizes, .9), 1000);
    sample_mean_agrees(&sizes);
    assert_int_equal(load("0 0\n10 1\n", arena, &sizes, &error), WEFT_OK);
    assert_int_equal(weft__sizes_at(&sizes, .5), 5);
    weft_arena_free(arena);
}

static void bad_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *says;
    } cases[] = {
        {"", ":1:1: ", "1 or 100"},
        {"0 0\n100 0.5\n", ":2:1: ", "1 or 100"},
        {"0 0\n100\n", ":2:1: ", "expected a line"},
        {"0 0\n100 1 x\n", ":2:1: ", "expected a line"},
        {"bytes part\n", ":1:1: ", "expected a line"},
        {"0 0\n100 0.5\n50 1\n", ":3:1: ", "never fall"},
        {"0 0\n100 0.5\n150 0.4\n200 1\n", ":3:1: ", "never fall"},
        {"-1 0\n100 1\n", ":1:1: ", "expected 0 to 1e14"},
        {"0 0\nnan 1\n", ":2:1: ", "expected 0 to 1e14"},
        {"0 0\n1e30 1\n", ":2:1: ", "expected 0 to 1e14"},
        {"0 0\n1 101\n", ":2:1: ", "expected 0 to 1e14"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft__sizes sizes;
        struct weft_error error;
        assert_int_equal(load(cases[i].text, arena, &sizes, &error), WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.text, cases[i].place));
        assert_non_null(strstr(error.text, cases[i].says));
        weft_arena_free(arena);
    }
}

static void bad_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"websaerch", "did you mean 'websearch'"},
        {"file:/no/such/file", "No such file"},
        {"file:/dev/zero", "expected lines of text"},
        {"file:/", "cannot be read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft__sizes sizes;
        struct weft_error error = {0};
        assert_int_equal(weft__sizes_load(cases[i].name, (struct weft_place){.file = "s.yaml", .line = 4, .column = 5},
                                          arena, &sizes, &error),
                         WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.text, cases[i].says));
        weft_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published),   cmocka_unit_test(computed),  cmocka_unit_test(points_and_between),
        cmocka_unit_test(from_a_file), cmocka_unit_test(bad_files), cmocka_unit_test(bad_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
