// SPDX-License-Identifier: Apache-2.0
// weft plan capacity compared with the closed form of one queue, on a job's size, where the metric decreases, and what
// it refuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "command_json.h"

/// 32 hosts send frames of one packet to one.
static const char queue[] = "name: queue\n"
                            "topology: {kind: single, hosts: 33, rate: 100Gbps}\n"
                            "workload: [{kind: poisson, hosts: \"host-1..32\", dst: host-0, size: 4096B, load: 1%, "
                            "duration: 2ms, group: q}]\n";
/// Two flows of the same link: the later one begins after the first has ended if that is short.
static const char sizes[] = "name: sizes\n"
                            "topology: {kind: single, hosts: 3, rate: 100Gbps}\n"
                            "workload:\n"
                            "  - {kind: flow, src: host-1, dst: host-0, size: 100KB, group: job}\n"
                            "  - {kind: flow, src: host-2, dst: host-0, size: 1MB, start: 40us, group: other}\n";

static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-capacity-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "q.yaml", queue);
    write_text(&f, "sizes.yaml", sizes);
    setenv("XDG_CACHE_HOME", f.dir, 1);
    *state = &f;
    return 0;
}

static double number(const json_t *json, const char *key) {
    return json_number_value(json_object_get(json, key));
}

/// M/D/1: a frame waits rho / (2 (1 - rho)) services; of 32 inputs each brings its own in order, (n - 1) / n of that
/// (Karol, Hluchyj, Morgan, 1987), and at its host a frame waits as in an M/D/1 of a 32nd of the load.
static double slowdown(double rho, double service_ns, double ideal_ns) {
    double own = rho / 32;
    double wait = 31.0 / 32 * rho / (2 * (1 - rho)) + own / (2 * (1 - own));
    return 1 + wait * service_ns / ideal_ns;
}

static void test_one_queue(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run q.yaml --set workload.0.duration=300us --json --quiet"), 0);
    json_t *run = printed_json(f);
    const json_t *group = json_object_get(json_object_get(run, "groups"), "q");
    double ideal =
        number(json_object_get(group, "fct_ps"), "mean") / number(json_object_get(group, "slowdown"), "mean");
    json_decref(run);
    // 4096 B of payload, 62 B of headers, RETH of 16 B and 20 B of preamble and gap at 100 Gbit/s.
    const double service = (4096 + 62 + 16 + 20) * 8 / 100.0, rho = 0.7;
    char line[256];
    snprintf(line, sizeof line,
             "plan capacity q.yaml --slowdown %.6f --metric mean --load workload.0.load=0.01..0.03 --json --quiet",
             slowdown(rho, service, ideal / 1000));
    assert_int_equal(weft(f, line), 0);
    json_t *plan = printed_json(f);
    double expected = rho * 4096 / (4096 + 62 + 16 + 20) / 32; // load is of payload, of one host
    double got = number(plan, "capacity"), half = number(plan, "half");
    if (!(fabs(got - expected) <= half)) fail_msg("%g +/- %g, expected %g", got, half, expected);
    assert_true(half < 0.1 * expected);
    assert_true(json_is_true(json_object_get(plan, "monotone")));
    assert_true(json_array_size(json_object_get(plan, "probes")) < 15); // 5, and 4 halvings of 16
    json_decref(plan);
}

/// The first flow alone takes the link for 40 us less the hops: 0.49 MB; up to then the other one is as fast as alone.
static void test_size_of_a_job(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan capacity sizes.yaml --slowdown 1.01 --metric other.slowdown.max --load "
                             "workload.0.size=100KB..1100KB:101 --seeds 1 --json --quiet"),
                     0);
    json_t *plan = printed_json(f);
    double got = number(plan, "capacity");
    // 40 us x 12.5 B/ns x 4096 / 4178 = 490 KB, and 1% of 82 us, the other's time, at the half rate that both have then
    assert_true(got > 490e3 && got < 490e3 + 0.01 * 82e3 * 12.5 + 10e3);
    json_decref(plan);
}

static void test_ends_of_the_range(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan capacity q.yaml --slowdown 100 --metric mean --load workload.0.load=0.01..0.02 "
                             "--seeds 1..2 --quiet"),
                     0);
    assert_non_null(strstr(f->out, "all of the range is carried: 0.02 or more"));
    assert_int_equal(weft(f, "plan capacity q.yaml --slowdown 0.5 --metric mean --load workload.0.load=0.01..0.02 "
                             "--seeds 1..2 --quiet"),
                     0);
    assert_non_null(strstr(f->out, "no load of the range is carried: less than 0.01"));
}

/// A higher rate of the link is no load: the slowdown of a fixed delay rises, the completion time falls.
static void test_not_monotone(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan capacity q.yaml --slowdown 1 --metric q.fct.mean --load "
                             "topology.rate=25Gbps..400Gbps --seeds 1..3 --quiet"),
                     0);
    assert_non_null(strstr(f->out, "\n\nload "));
    assert_non_null(strstr(f->out, "not monotone: at 25Gbps it is"));
    bool crosses = !strstr(f->out, "all of the range") && !strstr(f->out, "no load of the range");
    assert_int_equal(strstr(f->out, "the first crossing is shown") != NULL, crosses);
}

static void test_refused(void **state) {
    struct fixture *f = *state;
    static const char *const bad[][2] = {
        {"plan capacity q.yaml", "--slowdown: is missing; expected a number above 0"},
        {"plan capacity q.yaml --slowdown fast", "'fast' is not understood; expected a number above 0"},
        {"plan capacity q.yaml --slowdown -1", "expected a number above 0"},
        {"plan capacity sizes.yaml --slowdown 2 --metric other.slowdown.max",
         "0 entries of kind poisson; expected one"},
        {"plan capacity sizes.yaml --slowdown 2",
         "the default, p99 names no group, and there are several; expected one"},
        {"plan capacity q.yaml --slowdown 2 --load workload.0.load=0.3..0.1", "expected LO below HI"},
        {"plan capacity q.yaml --slowdown 2 --load workload.0.load=[a,b,c]", "expected PATH=LO..HI"},
        {"plan capacity q.yaml --slowdown 2 --metric other.fct.mean", "other"},
        {"plan capacity q.yaml --slowdown 2 --load workload.0.lod=0.1..0.3", "unknown key"},
        {"plan capacity none.yaml --slowdown 2", "none.yaml"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(weft(f, bad[i][0]), 2);
        if (!strstr(f->err, bad[i][1])) fail_msg("%s: %s", bad[i][0], f->err);
        assert_string_equal(f->out, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_queue),         cmocka_unit_test(test_size_of_a_job),
        cmocka_unit_test(test_ends_of_the_range), cmocka_unit_test(test_not_monotone),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
