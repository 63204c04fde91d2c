// SPDX-License-Identifier: Apache-2.0
// weft plan ecn, dcqcn, sfc, admission and buffers on scenarios of a user: their findings, that both runs are of the
// scenario and of the patch, and what they refuse.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "command_json.h"

static const char incast[] = "name: mine\n"
                             "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 8, rate: 100Gbps}\n"
                             "switch:\n"
                             "  buffer: {kind: dynamic, total: 8MB, alpha: 1/8, headroom: 20KB}\n"
                             "  aqm: {kind: wred, min: 2MB, max: 4MB}\n"
                             "host: {cc: {kind: dcqcn, min_rate: 10Gbps}}\n"
                             "workload:\n"
                             "  - {kind: incast, sources: \"host-8..23\", dst: host-0, size: 100KB, group: incast}\n"
                             "variants: {plain: {}, tagged: {switch.aqm.max: 5MB}}\n";

/// Marks begin late: earlier ones do better.
static const char marked[] =
    "name: marked\n"
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 8, rate: 100G}\n"
    "switch:\n"
    "  aqm: {kind: wred, min: 600KB, max: 700KB, max_probability: 100%}\n"
    "  buffer: {kind: static, size: 400KB, xoff: 340KB, xon: 330KB}\n"
    "  pfc: {priorities: [3]}\n"
    "host: {cc: {kind: dcqcn, additive_increase: 1G, hyper_increase: 2G}, pfc: {priorities: [3]}}\n"
    "workload:\n"
    "  - {kind: incast, sources: \"host-8..11\", dst: host-0, size: 4MB, group: incast}\n"
    "variants: {plain: {}, tagged: {switch.aqm.max: 800KB}}\n";

static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-advice-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "s.yaml", incast);
    write_text(&f, "marked.yaml", marked);
    write_text(&f, "alone.yaml",
               "name: alone\ntopology: {kind: single, hosts: 4}\n"
               "workload: [{kind: flow, src: host-1, dst: host-0, size: 1MB}]\n");
    write_text(&f, "cells.yaml",
               "name: cells\ntopology: {kind: dsf_l1_zone, rdsws: 8}\n"
               "workload: [{kind: incast, sources: \"host-1..3\", dst: host-0, size: 1MB}]\n");
    *state = &f;
    return 0;
}

static const char *recommended(const json_t *json, const char *path) {
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(json, "values"), i,
                       value) if (!strcmp(json_string_value(json_object_get(value, "path")),
                                          path)) return json_string_value(json_object_get(value, "recommended"));
    fail_msg("no value for %s", path);
    return NULL;
}

static double measured(const json_t *json, const char *metric, const char *which) {
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(json, "runs"), i,
                       value) if (!strcmp(json_string_value(json_object_get(value, "metric")),
                                          metric)) return json_number_value(json_object_get(value, which));
    fail_msg("no metric %s", metric);
    return 0;
}

/// A dynamic threshold falls with what other inputs hold: eight of them have 8 / 9 of the 3460 KB that 4 MB less nine
/// headrooms leave, not eight times the half that one has, which is more than the memory.
static void test_inputs_share_a_dynamic_pool(void **state) {
    struct fixture *f = *state;
    write_text(f, "eight.yaml",
               "topology: {kind: single, hosts: 9, rate: 100Gbps}\n"
               "switch: {buffer: {kind: dynamic, total: 4MB, headroom: 60KB, reserve: 0B, alpha: 1}}\n"
               "workload: [{kind: incast, sources: \"host-1..8\", dst: host-0, size: 2MB}]\n");
    assert_int_equal(weft(f, "plan ecn eight.yaml --run off"), 0);
    if (!strstr(f->out, "XOFF           1730KB for a single input; the queue has 8 x 384445B = 3075560B"))
        fail_msg("%s", f->out);
    // So marks at 3.6 MB never come, headroom in use or not.
    static const char late[] = " --set 'switch.aqm={kind: wred, min: 3600KB, max: 3700KB}' --set host.cc=dcqcn";
    char line[192];
    snprintf(line, sizeof line, "plan ecn eight.yaml --run off%s", late);
    assert_int_equal(weft(f, line), 0);
    assert_non_null(strstr(f->out, "above the XOFF of all inputs (3075560B): PFC always precedes ECN"));
    snprintf(line, sizeof line, "run eight.yaml --quiet --json%s", late);
    assert_int_equal(weft(f, line), 0);
    json_t *run = printed_json(f), *counters = json_object_get(run, "counters");
    assert_int_equal(json_integer_value(json_object_get(counters, "ecn_marked")), 0);
    assert_true(json_integer_value(json_object_get(counters, "pfc_xoff_frames")) > 0);
    json_decref(run);
}

static void test_wrong_values_are_found(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan ecn s.yaml --variant plain --run off"), 0);
    assert_non_null(strstr(f->out, "incast         16 to 1: host-0, queue of leaf-0"));
    assert_non_null(strstr(f->out, "inputs         2 of 10 ports"));
    assert_non_null(strstr(f->out, "wrong: ECN begins at Kmin 2MB, above the XOFF of all inputs"));
    assert_int_equal(weft(f, "plan buffers s.yaml --variant plain --run off"), 0);
    assert_non_null(strstr(f->out, "wrong: XOFF leaves 20KB of headroom for leaf -> spine"));
    assert_non_null(strstr(f->out, "wrong: alpha 0.125 pauses one congested group at"));
    assert_int_equal(weft(f, "plan dcqcn s.yaml --variant plain --run off"), 0);
    assert_non_null(strstr(f->out, "wrong: min_rate 10Gbps x 16 flows is more than 100Gbps"));
    assert_non_null(strstr(f->out, "host.cc.min_rate: 100Mbps, now 10Gbps"));
    assert_int_equal(weft(f, "plan sfc s.yaml --variant plain --run off"), 0);
    assert_non_null(strstr(f->out, "wrong: switch.sfc is none"));
    assert_int_equal(weft(f, "plan admission s.yaml --variant plain --run off"), 0);
    assert_non_null(strstr(f->out, "of each sender at most: all that a flow has"));
}

/// Good values are not called wrong.
static void test_good_values_are_left(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan ecn s.yaml --variant plain --run off --set switch.aqm.min=20KB --set "
                             "switch.aqm.max=80KB --set switch.buffer.headroom=60KB --set switch.buffer.alpha=1"),
                     0);
    assert_null(strstr(f->out, "wrong:"));
    assert_int_equal(weft(f, "plan buffers s.yaml --variant plain --run off --set switch.aqm.min=20KB --set "
                             "switch.aqm.max=80KB --set switch.buffer.headroom=60KB --set switch.buffer.alpha=1"),
                     0);
    assert_null(strstr(f->out, "wrong:"));
    assert_non_null(strstr(f->out, "switch.buffer.alpha: 1 as it is")); // a smaller one would only pause sooner
}

/// The patch is a scenario, with the result that the advice was shown with, whatever the variant of the base says.
static void assert_patch(struct fixture *f, const char *subject) {
    char line[256];
    const char *scenario = strcmp(subject, "ecn") ? "s" : "marked";
    snprintf(line, sizeof line, "plan %s %s.yaml --variant tagged --run full --json --quiet --out patch-%s.yaml",
             subject, scenario, subject);
    assert_int_equal(weft(f, line), 0);
    json_t *plan = printed_json(f);
    assert_true(json_array_size(json_object_get(plan, "values")) > 0);
    snprintf(line, sizeof line, "run patch-%s.yaml --variant tagged --json --quiet", subject);
    assert_int_equal(weft(f, line), 0);
    json_t *run = printed_json(f);
    const json_t *group = json_object_get(json_object_get(run, "groups"), "incast");
    double mean = json_number_value(json_object_get(json_object_get(group, "fct_ps"), "mean"));
    assert_true(mean > 0);
    assert_true(mean == measured(plan, "incast: completion, mean", "recommended"));
    json_decref(run);
    json_decref(plan);
}

static void test_patches(void **state) {
    assert_patch(*state, "ecn");
    assert_patch(*state, "dcqcn");
    assert_patch(*state, "sfc");
    assert_patch(*state, "admission");
    assert_patch(*state, "buffers");
}

/// A scenario that has all that is advised: that is said, and no empty scenario is written.
static void assert_nothing(struct fixture *f, const char *subject) {
    char line[256], path[128];
    snprintf(line, sizeof line, "plan %s s.yaml --variant plain --run off --quiet --out first-%s.yaml", subject,
             subject);
    assert_int_equal(weft(f, line), 0);
    bool first = !strstr(f->out, "nothing to change");
    if (!first) assert_non_null(strstr(f->out, "yaml is not written"));
    snprintf(path, sizeof path, "%s/first-%s.yaml", f->dir, subject);
    assert_int_equal(access(path, F_OK) == 0, first);
    if (!first) return;
    snprintf(line, sizeof line, "plan %s first-%s.yaml --variant plain --quiet --out second-%s.yaml", subject, subject,
             subject);
    assert_int_equal(weft(f, line), 0);
    snprintf(line, sizeof line, "\nnothing to change: second-%s.yaml is not written\n", subject);
    const char *said = strstr(f->out, line);
    if (!said) fail_msg("%s", f->out);
    assert_int_equal(said[strlen(line)], 0); // nothing is run
    snprintf(path, sizeof path, "%s/second-%s.yaml", f->dir, subject);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(line, sizeof line, "plan %s first-%s.yaml --variant plain --run full --quiet --json", subject, subject);
    assert_int_equal(weft(f, line), 0);
    json_t *plan = printed_json(f);
    assert_true(json_is_true(json_object_get(plan, "nothing_to_change")));
    assert_null(json_object_get(plan, "runs"));
    json_decref(plan);
}

static void test_nothing_to_change(void **state) {
    assert_nothing(*state, "ecn");
    assert_nothing(*state, "dcqcn");
    assert_nothing(*state, "sfc");
    assert_nothing(*state, "admission");
    assert_nothing(*state, "buffers");
}

/// With headroom and alpha as advised the incast causes no pauses and no losses.
static void test_advice_helps(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan buffers s.yaml --variant plain --set workload.0.size=500KB --json --quiet"), 0);
    json_t *plan = printed_json(f);
    assert_string_equal(recommended(plan, "switch.buffer.headroom"), "46KB"); // 45382 B by weft plan pfc
    assert_true(measured(plan, "pause frames", "recommended") < measured(plan, "pause frames", "current"));
    json_decref(plan);
}

/// What is said to be best is not worse than the values in force in any of the runs of the curve, and the best of
/// those.
static void assert_best(json_t *plan) {
    size_t i, k, advised = 0;
    json_t *trial, *pair;
    json_t *curve = json_object_get(plan, "curve"), *before = json_object_get(json_array_get(curve, 0), "values");
    assert_int_equal(json_array_size(curve), 6);
    json_array_foreach(curve, i, trial) advised += json_is_true(json_object_get(trial, "advised"));
    assert_int_equal(advised, 1);
    json_array_foreach(json_object_get(plan, "runs"), i, pair)
        assert_false(json_is_true(json_object_get(pair, "worse")));
    json_array_foreach(curve, k, trial) {
        if (!json_is_true(json_object_get(trial, "advised"))) continue;
        json_array_foreach(json_object_get(plan, "runs"), i, pair) {
            const char *name = json_string_value(json_object_get(pair, "metric"));
            const json_t *value = json_object_get(json_object_get(trial, "values"), name);
            assert_true(json_equal((json_t *)(uintptr_t)value, json_object_get(pair, "recommended")));
            assert_true(json_equal(json_object_get(before, name), json_object_get(pair, "current")));
        }
        assert_true(json_is_true(json_object_get(plan, "nothing_to_change")) == !k);
    }
}

/// Marks that hold an incast back: no threshold does better, and none is advised. Where marks come late,
/// others do. Buffers change nothing.
static void test_never_worse(void **state) {
    static const char *const leave[] = {"\"$WEFT_ROOT\"/scenarios/foundation/leaf_spine_victim.yaml",
                                        "\"$WEFT_ROOT\"/scenarios/foundation/leaf_spine_victim.yaml --run 10ms",
                                        "s.yaml --variant tagged --run full"};
    struct fixture *f = *state;
    char line[256], path[128];
    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++) {
        snprintf(line, sizeof line, "plan ecn %s --quiet --out left.yaml", leave[i]);
        assert_int_equal(weft(f, line), 0);
        assert_non_null(strstr(f->out, "Leave it: no threshold that was tried does better than yours."));
        assert_non_null(strstr(f->out, "nothing to change: left.yaml is not written"));
        assert_non_null(strstr(f->out, "\nthresholds       Kmin       Kmax  incast: completion, mean"));
        assert_null(strstr(f->out, "Worse"));
        snprintf(line, sizeof line, "plan ecn %s --quiet --json", leave[i]);
        assert_int_equal(weft(f, line), 0);
        json_t *plan = printed_json(f);
        assert_best(plan);
        assert_true(json_is_true(json_object_get(plan, "nothing_to_change")));
        json_decref(plan);
    }
    snprintf(path, sizeof path, "%s/left.yaml", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(weft(f, "plan ecn marked.yaml --variant plain --run full --quiet --json"), 0);
    json_t *plan = printed_json(f);
    assert_best(plan);
    assert_true(measured(plan, "incast: completion, mean", "recommended") <
                measured(plan, "incast: completion, mean", "current"));
    json_decref(plan);
    assert_int_equal(weft(f, "plan buffers \"$WEFT_ROOT\"/scenarios/foundation/leaf_spine_victim.yaml --quiet"), 0);
    assert_null(strstr(f->out, "Worse"));
}

/// The iterations of jobs are compared too: those that weft run says. The formulas' marks make one of them 10% longer.
static void test_iterations(void **state) {
    struct fixture *f = *state;
    static const char scenario[] = "\"$WEFT_ROOT\"/scenarios/jobs/mixtral.yaml --variant mixed --json --quiet";
    char line[256];
    snprintf(line, sizeof line, "run %s", scenario);
    assert_int_equal(weft(f, line), 0);
    json_t *run = printed_json(f);
    const json_t *job = json_array_get(json_object_get(run, "jobs"), 1);
    double iteration = json_number_value(json_object_get(job, "iteration_ps"));
    assert_true(iteration > 0);
    snprintf(line, sizeof line, "plan ecn %s", scenario);
    assert_int_equal(weft(f, line), 0);
    json_t *plan = printed_json(f);
    assert_best(plan);
    assert_true(iteration == measured(plan, "other: iteration", "current"));
    const json_t *formula = json_object_get(json_array_get(json_object_get(plan, "curve"), 1), "values");
    assert_true(json_number_value(json_object_get(formula, "other: iteration")) > 1.1 * iteration);
    json_decref(plan);
    json_decref(run);
}

static void test_refused(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "plan ecn alone.yaml --out none.yaml"), 2);
    assert_non_null(strstr(f->err, "alone.yaml:3:"));
    assert_non_null(strstr(f->err, "no host has two senders; expected an incast"));
    assert_int_equal(weft(f, "plan buffers cells.yaml --out none.yaml"), 2);
    assert_non_null(strstr(f->err, "is not an Ethernet switch; expected one"));
    assert_int_equal(weft(f, "plan buffers s.yaml --set switch.pfc.priorities=none --out none.yaml"), 2);
    assert_non_null(strstr(f->err, "no lossless priority; expected one"));
    assert_int_equal(weft(f, "plan dcqcn s.yaml --set host.cc=swift --out none.yaml"), 2);
    assert_non_null(strstr(f->err, "is not DCQCN"));
    assert_int_equal(weft(f, "plan ecn s.yaml --run soon --out none.yaml"), 2);
    assert_non_null(strstr(f->err, "expected a time such as 5ms, full or off"));
    assert_int_equal(weft(f, "plan ecn missing.yaml --out none.yaml"), 2);
    assert_int_equal(weft(f, "plan ecn"), 2);
    assert_int_equal(weft(f, "plan ecn s.yaml --variant other"), 2);
    char path[128];
    snprintf(path, sizeof path, "%s/none.yaml", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs_share_a_dynamic_pool),
        cmocka_unit_test(test_wrong_values_are_found),
        cmocka_unit_test(test_good_values_are_left),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_nothing_to_change),
        cmocka_unit_test(test_advice_helps),
        cmocka_unit_test(test_never_worse),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
