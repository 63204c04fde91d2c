// SPDX-License-Identifier: Apache-2.0
// weft compare with several seeds, and with several runs at a time.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "command.h"
#include "signalled.h"

/// The second variant is the first again, the third takes other links, and the last is slower with every seed.
static const char scenario[] =
    "name: small\n"
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
    "workload:\n"
    "  - {kind: incast, sources: host-4..6, dst: host-0, size: 100KB, group: incast}\n"
    "  - {kind: permutation, hosts: \"*\", size: 100KB, group: others}\n"
    "variants: {one: {}, same: {}, other: {switch.route: spray}, slow: {topology.rate: 50Gbps}}\n"
    "claims: [{text: t, that: one.incast.finished == 3}]\n";

/// What the last command printed, which may be longer than f->out.
static json_t *json_of(const struct fixture *f) {
    char path[128];
    snprintf(path, sizeof path, "%s/out.txt", f->dir);
    return json_load_file(path, 0, NULL);
}

static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-compare-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "s.yaml", scenario);
    *state = &f;
    return 0;
}

/// What no two runs have in common.
static void cut_times(json_t *root) {
    static const char *const keys[] = {"wall_s", "cpu_s", "packet_hops_per_cpu_s", "peak_rss_bytes", "memory"};
    size_t i;
    json_t *variant;
    json_array_foreach(json_object_get(root, "variants"), i, variant) {
        for (unsigned k = 0; k < sizeof keys / sizeof *keys; k++)
            json_object_del(variant, keys[k]);
    }
}

/// Several at a time: the same table, the same claims, the same JSON.
static void beside(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml"), 0);
    char *text = strdup(f->out);
    assert_int_equal(weft(f, "compare s.yaml --jobs 3"), 0);
    assert_string_equal(f->out, text);
    assert_non_null(strstr(text, "holds"));
    assert_int_equal(weft(f, "compare s.yaml --json --seeds 3,5"), 0);
    json_t *one = json_of(f);
    assert_int_equal(weft(f, "compare s.yaml --json --seeds 3,5 --jobs 5"), 0);
    json_t *other = json_of(f);
    assert_non_null(one);
    assert_non_null(other);
    cut_times(one);
    cut_times(other);
    assert_int_equal(json_array_size(json_object_get(one, "variants")), 8);
    assert_true(json_equal(one, other));
    json_decref(one);
    json_decref(other);
    free(text);
}

static double fct_of(const json_t *root, size_t run, const char *group) {
    const json_t *variant = json_array_get(json_object_get(root, "variants"), run);
    const json_t *g = json_object_get(json_object_get(variant, "groups"), group);
    return json_number_value(json_object_get(json_object_get(g, "fct_ps"), "mean"));
}

/// Means with their intervals; equal values show no change, and changes that may be noise are marked.
static void means(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml --seeds 1..4 --out o --json"), 0);
    json_t *root = json_of(f);
    assert_non_null(root);
    double mean = 0, squares = 0;
    for (unsigned k = 0; k < 4; k++)
        mean += fct_of(root, k, "incast") / 4;
    for (unsigned k = 0; k < 4; k++)
        squares += (fct_of(root, k, "incast") - mean) * (fct_of(root, k, "incast") - mean);
    double half = 3.18245 * __builtin_sqrt(squares / 3 / 4); // t of 0.975 and 3 degrees of freedom
    json_decref(root);
    assert_int_equal(weft(f, "compare s.yaml --seeds 1..4"), 0);
    assert_non_null(strstr(f->out, "4 variants, 4 seeds; changes are against one\n"));
    assert_non_null(strstr(f->err, "with --seeds no claim is judged"));
    assert_null(strstr(f->out, "holds"));
    const char *row = strstr(f->out, "FCT mean, us");
    assert_non_null(row);
    double shown_mean, shown_half, same_mean, same_half;
    char change[8];
    assert_int_equal(
        sscanf(row, "FCT mean, us %lf +/-%lf %lf +/-%lf %7s", &shown_mean, &shown_half, &same_mean, &same_half, change),
        5);
    assert_true(shown_mean > mean / 1e6 - 0.006 && shown_mean < mean / 1e6 + 0.006);
    assert_true(shown_half > half / 1e6 - 0.006 && shown_half < half / 1e6 + 0.006);
    assert_string_equal(change, "=");
    assert_non_null(strstr(f->out, "%~")); // spraying, some figure
    char *end = strchr(row, '\n');
    assert_non_null(end);
    assert_memory_equal(end - 1, "%", 1); // half the rate is no noise
}

/// One line a variant, seed and group.
static void rows(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml --csv"), 0);
    assert_memory_equal(f->out, "scenario,variant,seed,", 22);
    assert_int_equal(weft(f, "compare s.yaml --csv --seeds 1..2 --jobs 2"), 0);
    assert_memory_equal(f->out, "scenario,variant,seed,", 22);
    assert_memory_equal(f->out, "scenario,variant,seed,switch.route.kind,topology.rate,name,", 59); // what differs
    assert_non_null(strstr(f->out, "\nsmall,other,2,spray,"));
    unsigned lines = 0;
    for (const char *at = f->out; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 1 + 4 * 2 * 2);
}

static void wrong(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml --seeds 1..2 --seed 3"), 2);
    assert_non_null(strstr(f->err, "weft: --set run.seed=3: --seeds sets it too"));
    assert_int_equal(weft(f, "compare s.yaml --seeds 2..1"), 2);
    assert_non_null(strstr(f->err, "weft: --seeds: '2..1' is not understood"));
    assert_int_equal(weft(f, "compare s.yaml --jobs 0"), 2);
    assert_int_equal(weft(f, "compare s.yaml --seeds 1..2 --set capture.ports=leaf-0/0"), 2);
    assert_non_null(strstr(f->err, "every seed would write the same file"));
}

/// Whole variants are shown; a mean of some of the seeds is none.
static void interrupted(void **state) {
    struct fixture *f = *state;
    long id;
    write_text(f, "long.yaml",
               "topology: {kind: single, hosts: 3}\n"
               "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB, group: g}]\n"
               "variants: {short: {}, long: {workload.0.size: 1TB}, other: {}}\n");
    assert_int_equal(signalled(f, SIGINT, "compare long.yaml --seeds 1..2 --jobs 3", &id), 130);
    assert_non_null(strstr(f->out, "short"));
    assert_non_null(strstr(f->err, "weft: interrupted"));
}

/// A service has the figures of its run: what of it is within both objectives is in both lines.
static void services(void **state) {
    struct fixture *f = *state;
    write_text(f, "service.yaml",
               "topology: {kind: single, hosts: 8, rate: 100Gbps}\n"
               "workload:\n"
               "- kind: inference\n"
               "  group: chat\n"
               "  model: {kind: llama3-8b, layers: 4}\n"
               "  server: {gpus: 4}\n"
               "  arrivals: {requests: 10, rate: 900, input: 1024, output: 20}\n"
               "  prefill: {tp: 4, hosts: host-0..3}\n"
               "  decode: {tp: 4, hosts: host-4..7, cache: 100000}\n"
               "  slo: {ttft: 10ms, tpot: 1ms}\n"
               "variants: {fast: {}, slow: {topology.rate: 10Gbps}}\n");
    assert_int_equal(weft(f, "compare service.yaml --quiet"), 0);
    const char *line = strstr(f->out, "share in both SLOs");
    assert_non_null(strstr(f->out, "chat     TTFT mean, "));
    assert_non_null(line);
    double fast, slow;
    assert_int_equal(sscanf(line, "share in both SLOs %lf %lf", &fast, &slow), 2);
    assert_true(slow < fast);
    assert_int_equal(weft(f, "run service.yaml --variant slow --quiet"), 0);
    double both;
    assert_int_equal(sscanf(strstr(f->out, "later ones (1ms), "), "later ones (1ms), %lf%% by both", &both), 1);
    assert_true(both / 100 > slow - 1e-3 && both / 100 < slow + 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside),      cmocka_unit_test(means),
                                       cmocka_unit_test(rows),        cmocka_unit_test(wrong),
                                       cmocka_unit_test(interrupted), cmocka_unit_test(services)};
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
