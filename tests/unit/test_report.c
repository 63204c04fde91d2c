// SPDX-License-Identifier: Apache-2.0
// Statistics behind the reports: nearest-rank percentiles by group, and the ports that paused longest.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "box/sums.h"
#include "report/text.h"

enum { FLOWS = 1000 };

struct fixture {
    struct weft_flow flow[FLOWS];
    struct weft_flow_outcome flow_outcome[FLOWS];
    const char *group[3];
    struct weft_workload workload;
    struct weft_outcome outcome;
    struct weft_run run;
    struct weft_arena *arena;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.group = {"hundred", "one", "none"}, .arena = weft_arena_new(WEFT_MEMORY_RESULT)};
    f.workload = (struct weft_workload){.groups = 3, .flow = f.flow, .group = f.group};
    f.outcome = (struct weft_outcome){.flow = f.flow_outcome};
    f.run = (struct weft_run){.workload = &f.workload, .outcome = &f.outcome};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    weft_arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static void add(struct fixture *f, uint32_t group, weft_time_ps end) {
    uint32_t i = f->workload.flows++;
    f->outcome.flows = f->workload.flows;
    f->flow[i] = (struct weft_flow){.group = group, .bytes = 10, .start_ps = 1000};
    f->flow_outcome[i] = (struct weft_flow_outcome){.start_ps = 1000, .end_ps = end, .ideal_ps = 4};
}

static void equal(double value, double expected) {
    if (fabs(value - expected) > 1e-12 * expected) fail_msg("%.17g instead of %.17g", value, expected);
}

/// Of 1..100 the p-th percentile by nearest rank is p; in an order that no sort could leave as it is.
static void percentiles(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < 100; i++) {
        add(f, 0, 1001 + i * 37 % 100);
        if (i == 50) add(f, 1, 1008);
    }
    add(f, 2, WEFT_TIME_NEVER);
    const struct weft_group_stats *g = weft_report_groups(&f->run, f->arena);
    assert_string_equal(g[0].name, "hundred");
    assert_int_equal(g[0].count, 100);
    assert_int_equal(g[0].finished, 100);
    assert_int_equal(g[0].bytes, 1000);
    equal(g[0].fct_ps.mean, 50.5);
    equal(g[0].fct_ps.p50, 50);
    equal(g[0].fct_ps.p95, 95);
    equal(g[0].fct_ps.p99, 99);
    equal(g[0].fct_ps.max, 100);
    equal(g[0].slowdown.p99, 99 / 4.0);
    equal(g[1].fct_ps.p50, 8);
    equal(g[1].fct_ps.max, 8);
    equal(g[1].slowdown.mean, 2);
    assert_int_equal(g[2].count, 1);
    assert_int_equal(g[2].finished, 0);
    assert_true(isnan(g[2].fct_ps.mean) && isnan(g[2].slowdown.max));
}

/// ceil(0.99 * 101) = 100, ceil(0.5 * 101) = 51.
static void ranks_are_rounded_up(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 1; i <= 101; i++)
        add(f, 0, 1000 + i);
    const struct weft_group_stats *g = weft_report_groups(&f->run, f->arena);
    equal(g[0].fct_ps.p50, 51);
    equal(g[0].fct_ps.p95, 96);
    equal(g[0].fct_ps.p99, 100);
}

static void paused_longest(void **state) {
    (void)state;
    enum { PORTS = 8 };
    static const weft_time_ps paused[PORTS] = {5, 0, 9, 5, 7, 0, 9, 1};
    struct weft_counters counters[PORTS * WEFT_PRIORITIES] = {{0}};
    struct weft_outcome outcome = {.ports = PORTS, .counters = counters};
    struct weft__paused_port got[PORTS];
    for (unsigned p = 0; p < PORTS; p++) { // over two priorities
        weft_outcome_at(&outcome, p, 3)->paused_ps = paused[p] / 2;
        weft_outcome_at(&outcome, p, 4)->paused_ps = paused[p] - paused[p] / 2;
    }
    assert_int_equal(weft__paused_ports(&outcome, got, PORTS), 6);
    assert_int_equal(weft__paused_ports(&outcome, got, 4), 4);
    static const uint32_t expected[4] = {2, 6, 4, 0};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(got[i].port, expected[i]);
        assert_int_equal(got[i].paused_ps, paused[expected[i]]);
    }
    assert_int_equal(weft_outcome_counters(&outcome).paused_ps, 36);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Few numbers are compared and many are sorted by digits: in the same order, negative ones and infinity too.
static void many_are_sorted_as_few_are(void **state) {
    enum { MOST = 5000 };
    static double value[MOST], sorted[MOST];
    uint64_t random = 1;
    for (size_t n = 1; n <= MOST; n += n < 300 ? 1 : 1567) {
        for (size_t i = 0; i < n; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            double real = (double)(random >> 20), sign = random >> 12 & 1 ? -1 : 1;
            sorted[i] = value[i] = i % 97 == 5 ? INFINITY : i % 3 ? real : sign * real * 1e-15;
        }
        qsort(sorted, n, sizeof *sorted, by_value);
        struct weft_quantiles q = weft__quantiles(value, n);
        assert_memory_equal(value, sorted, n * sizeof *value);
        assert_true(q.p50 == sorted[(n * 50 + 99) / 100 - 1] && q.max == sorted[n - 1]);
    }
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(percentiles), T(ranks_are_rounded_up), T(paused_longest),
                                       cmocka_unit_test(many_are_sorted_as_few_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
