// SPDX-License-Identifier: Apache-2.0
// weft tune from a user's view: it finds an optimum that can be computed, stays within its budget, continues where it
// was, and refuses what it does not understand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "command_json.h"

/// A broadcast as a pipeline over ten ranks, whole chunks at a time.
static const char pipeline[] = "name: pipe\n"
                               "topology: {kind: single, hosts: 10, rate: 100Gbps}\n"
                               "workload:\n"
                               "  - kind: collective\n"
                               "    collective: {kind: broadcast, channels: 1, chunk: 1MB, slice: 8MB, slots: 8, "
                               "step_delay: 20us}\n"
                               "    size: 16MB\n"
                               "    hosts: \"host-0..9\"\n"
                               "    group: pipe\n";
/// The seed draws what decides.
static const char noisy[] = "name: noisy\n"
                            "topology: {kind: single, hosts: 8, rate: 100Gbps}\n"
                            "workload: [{kind: poisson, load: 50%, size: 20KB, duration: 200us, group: g}]\n"
                            "sweep: {vary: {host.mtu: [1024B, 2048B, 4096B], switch.processing: [300ns, 3us]}}\n";

static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-tune-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "pipe.yaml", pipeline);
    write_text(&f, "noisy.yaml", noisy);
    setenv("XDG_CACHE_HOME", f.dir, 1);
    *state = &f;
    return 0;
}

#define CHUNKS "workload.0.collective.chunk=[64KB,125KB,250KB,500KB,1MB,2MB,4MB,8MB]"

/// S = 16 MB in chunks of c over n = 10 ranks: T(c) = (S/c - 1) max(c/B, a) + (n - 1)(c/B + a). With a = 20 us and B =
/// 12.5 GB/s the last term grows with c, and the first is least where c/B = a: c = 250 KB.
static void test_known_optimum(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "tune pipe.yaml --objective p99 --quiet --json --over '" CHUNKS "'"), 0);
    json_t *json = printed_json(f);
    const json_t *points = json_object_get(json, "points");
    assert_int_equal(json_array_size(points), 8); // the whole curve
    assert_string_equal(json_string_value(json_object_get(json, "objective")), "pipe.fct.p99");
    const json_t *first = json_array_get(points, 0);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(first, "values"), "workload.0.collective.chunk")), "250KB");
    assert_int_equal(json_integer_value(json_object_get(json, "best")), 2);
    // 64 chunks: 63 x 20 us + 9 x 40 us = 1.62 ms of payload; headers and hops are at most a tenth.
    double mean = json_number_value(json_object_get(first, "mean"));
    assert_true(mean > 1.62e9 && mean < 1.1 * 1.62e9);
    assert_true(json_is_true(json_object_get(json_array_get(points, 7), "left")));
    json_decref(json);
}

static uint64_t runs_of(const json_t *json) {
    uint64_t runs = 0, before = 0;
    size_t i;
    json_t *rung;
    json_array_foreach(json_object_get(json, "rungs"), i, rung) {
        uint64_t seeds = (uint64_t)json_integer_value(json_object_get(rung, "seeds"));
        runs += (uint64_t)json_integer_value(json_object_get(rung, "points")) * (seeds - before);
        before = seeds;
    }
    return runs;
}

/// Six points: 6 x 2 + 3 x 2 + 2 x 4 = 26 runs of 48.
static void test_budget_and_noise(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "tune noisy.yaml --objective g.fct.mean --quiet --json --seeds 1..8"), 0);
    json_t *json = printed_json(f);
    assert_int_equal(runs_of(json), 26);
    // A frame less and ten times the processing decide; the seed does not.
    const json_t *values = json_object_get(json_array_get(json_object_get(json, "points"), 0), "values");
    assert_string_equal(json_string_value(json_object_get(values, "switch.processing")), "300ns");
    json_decref(json);
    assert_int_equal(weft(f, "tune noisy.yaml --objective g.fct.mean --quiet --json --seeds 1..8 --budget 20"), 0);
    json = printed_json(f);
    assert_true(runs_of(json) <= 20 && runs_of(json) >= 12);
    json_decref(json);
}

/// Points with the same values cannot be told apart, and it says so.
static void test_equal_points(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "tune noisy.yaml --objective g.fct.mean --quiet --json --seeds 1..4 --over "
                             "'host.mtu=[4096B]' --over 'switch.processing=[300ns]' --over "
                             "'run.stall=[1ms,2ms]'"),
                     0);
    json_t *json = printed_json(f);
    assert_int_equal(json_array_size(json_object_get(json, "not_told_apart")), 1);
    json_decref(json);
}

/// What has run stays in --out, and a second call shows the same.
static void test_goes_on(void **state) {
    struct fixture *f = *state;
    static char first[sizeof f->out];
    assert_int_equal(weft(f, "tune noisy.yaml --objective g.fct.mean --out kept --csv points --quiet --jobs 2"), 0);
    strcpy(first, f->out);
    assert_non_null(strstr(first, "point,variant,seeds,mean,median,half,rung,left,estimated"));
    assert_int_equal(weft(f, "tune noisy.yaml --objective g.fct.mean --out kept --csv points --jobs 1"), 0);
    assert_string_equal(f->out, first);
    assert_int_equal(weft(f, "sweep noisy.yaml --seeds 1..8 --out kept --merge --metrics g.fct.mean --quiet"), 1);
}

/// The short names of a figure of the only group, and of the only job, are those of the results.
static void test_short_names(void **state) {
    struct fixture *f = *state;
    write_text(f, "job.yaml",
               "topology: {kind: single, hosts: 4, rate: 100Gbps}\n"
               "workload: [{kind: job, group: train, operations: [{collective: all_reduce_ring, size: 100KB}]}]\n");
    static const char *const names[][2] = {{"iteration", "jobs.train.iteration_ps"}, {"p50", "train.fct.p50"}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char command[160];
        snprintf(command, sizeof command, "tune job.yaml --objective %s --over host.mtu=[1024B,4096B] --quiet --json",
                 names[i][0]);
        assert_int_equal(weft(f, command), 0);
        json_t *json = printed_json(f);
        assert_string_equal(json_string_value(json_object_get(json, "objective")), names[i][1]);
        assert_true(json_number_value(json_object_get(json_array_get(json_object_get(json, "points"), 0), "mean")) > 0);
        json_decref(json);
    }
}

static void test_refused(void **state) {
    struct fixture *f = *state;
    static const char *const bad[][2] = {
        {"tune pipe.yaml --over '" CHUNKS "'", "--objective is missing"},
        {"tune pipe.yaml --objective p99", "there is one point"},
        {"tune pipe.yaml --objective p98 --over '" CHUNKS "'", "has no metric of that name"},
        {"tune pipe.yaml --objective p99 --budget 7 --over '" CHUNKS "'", "expected so many at least"},
        {"tune pipe.yaml --objective p99 --budget soon --over '" CHUNKS "'", "expected a number of runs, or a time"},
        {"tune pipe.yaml --objective p99 --over host.mtuu=[1KB,2KB]", "unknown key"},
        {"tune pipe.yaml --objective p99 --csv points --json --over '" CHUNKS "'", "expected one of them"},
        {"tune noisy.yaml --objective iteration", "names no job; expected one"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(weft(f, bad[i][0]), 2);
        if (!strstr(f->err, bad[i][1])) fail_msg("%s: %s", bad[i][0], f->err);
        assert_string_equal(f->out, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_optimum), cmocka_unit_test(test_budget_and_noise),
        cmocka_unit_test(test_equal_points),  cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_short_names),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
