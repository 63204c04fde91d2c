// SPDX-License-Identifier: Apache-2.0
// weft trace-control as a user runs it, on the failures of Meta's figures 4 to 17.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "command.h"

static struct fixture fixture;

static int setup(void **state) {
    (void)state;
    strcpy(fixture.dir, "/tmp/weft-trace-XXXXXX");
    return mkdtemp(fixture.dir) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", fixture.dir);
    return system(command);
}

static json_t *trace(const char *variant, unsigned seed) {
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "trace-control \"$WEFT_ROOT\"/scenarios/dsf/input_balance.yaml --json --variant %s --seed %u", variant,
             seed);
    if (weft(&fixture, arguments)) fail_msg("%s", fixture.err);
    json_error_t error;
    json_t *root = json_loads(fixture.out, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    return root;
}

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) fail_msg("%s is not a number", key);
    return json_integer_value(value);
}

/// Links that the cluster has open towards the node; -1: all of them.
static json_int_t open_towards(const json_t *root, const char *towards, json_int_t cluster) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(root, "capacities"), i, c) {
        if (!strcmp(json_string_value(json_object_get(c, "towards")), towards) && number(c, "cluster") == cluster)
            return number(c, "links");
    }
    return -1;
}

static void capacities_of_the_figures(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++) {
        json_t *root = trace("rdsw-fdsw", seed);
        assert_int_equal(open_towards(root, "rdsw-3", 1), 4); // of 8
        assert_int_equal(open_towards(root, "rdsw-2", 1), -1);
        const json_t *burst = json_array_get(json_object_get(root, "bursts"), 0);
        assert_true(json_is_true(json_object_get(burst, "settled")));
        assert_int_equal(number(burst, "rounds"), 3);
        // noticed by the watchdog after 100 us, then three cells, each up to a cycle late
        assert_in_range(number(burst, "convergence_ps"), 100 * 1000000, (100 + 3 * 45 + 10) * 1000000);
        json_decref(root);
        root = trace("fdsw-sdsw", seed);
        assert_int_equal(open_towards(root, "rdsw-0", 1), 7);
        assert_int_equal(open_towards(root, "rdsw-7", 0), 7);
        assert_int_equal(open_towards(root, "rdsw-0", 0), -1);
        json_decref(root);
        root = trace("both", seed);
        assert_int_equal(open_towards(root, "rdsw-4", 0), 4);
        json_decref(root);
        root = trace("repaired", seed);
        assert_int_equal(json_array_size(json_object_get(root, "capacities")), 0);
        json_decref(root);
    }
}

/// Figure 6 without balancing: both SDSWs take cells for RDSW3 on four links and have two for them. A link between FDSW
/// and SDSW: 4 in and 3 out at both its ends, towards four destinations each.
static void without_balancing(void **state) {
    (void)state;
    static const struct {
        const char *variant;
        json_int_t groups, in, out;
    } expected[] = {{"rdsw-fdsw --set control.reachability.balance=off", 2, 4, 2},
                    {"fdsw-sdsw --set control.reachability.balance=off", 8, 4, 3},
                    {"rdsw-fdsw", 0, 0, 0},
                    {"both", 0, 0, 0}};
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        json_t *root = trace(expected[i].variant, 1);
        const json_t *over = json_object_get(root, "oversubscribed");
        assert_int_equal(number(over, "groups"), expected[i].groups);
        assert_int_equal(number(over, "worst_in"), expected[i].in);
        assert_int_equal(number(over, "worst_out"), expected[i].out);
        json_decref(root);
    }
}

static void same_seed_same_story(void **state) {
    (void)state;
    json_t *a = trace("both", 3), *b = trace("both", 3), *c = trace("both", 4);
    assert_true(json_equal(a, b));
    assert_false(json_equal(a, c));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

static void steps_name_cause_and_capacities(void **state) {
    (void)state;
    assert_int_equal(
        weft(&fixture, "trace-control \"$WEFT_ROOT\"/scenarios/dsf/input_balance.yaml --variant fdsw-sdsw"), 0);
    assert_non_null(strstr(fixture.out, "sees its link to sdsw-1 down (fdsw-1/6)"));
    assert_non_null(strstr(fixture.out, "towards rdsw-4, rdsw-5, rdsw-6 and rdsw-7 input 4, output 3: withdraws "));
    assert_int_equal(
        weft(&fixture, "trace-control \"$WEFT_ROOT\"/scenarios/dsf/input_balance.yaml --variant both --steps 2"), 0);
    assert_non_null(strstr(fixture.out, "more steps (--steps)"));
}

static void without_a_fabric(void **state) {
    (void)state;
    assert_int_equal(weft(&fixture, "trace-control \"$WEFT_ROOT\"/scenarios/foundation/incast.yaml"), 2);
    assert_non_null(strstr(fixture.err, "has no DSF fabric"));
    assert_string_equal(fixture.out, "");
    assert_int_equal(weft(&fixture, "trace-control \"$WEFT_ROOT\"/scenarios/dsf/input_balance.yaml --set "
                                    "control.reachability.watchdog=10us"),
                     2);
    assert_non_null(strstr(fixture.err, "watchdog is not longer than cycle"));
}

/// A superspine of two that EDSWs 0 and 1 share dies: of 16 next hops 12 are left, told in 8 UPDATEs by each of the
/// two; and an interface node that is not reached any more is named with its state.
static void superspines_and_drained_nodes(void **state) {
    (void)state;
    const char *arguments = "trace-control \"$WEFT_ROOT\"/scenarios/dsf/region.yaml --json "
                            "--set 'events=[{at: 1ms, link: \"superspine-0/*\", state: down}]' "
                            "--set 'control.events=[{at: 2ms, do: asic_error, node: rdsw-1}]'";
    if (weft(&fixture, arguments)) fail_msg("%s", fixture.err);
    json_t *root = json_loads(fixture.out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    const json_t *bgp = json_object_get(json_array_get(json_object_get(root, "nodes"), 0), "bgp");
    const json_t *events = json_object_get(bgp, "events");
    assert_int_equal(json_array_size(events), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *e = json_array_get(events, i);
        assert_string_equal(json_string_value(json_object_get(e, "what")), "link_down");
        assert_int_equal(number(e, "links"), 2);
        assert_int_equal(number(e, "next_hops"), 12);
        assert_int_equal(number(e, "updates"), 8);
        // noticed after 10 ms, eight UPDATEs of 10 us, 100 us on the way, and taken
        assert_int_equal(number(e, "convergence_ps"), (10000 + 8 * 10 + 100 + 10) * INT64_C(1000000));
    }
    const json_t *drained = json_object_get(root, "drained");
    assert_int_equal(json_array_size(drained), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(drained, 0), "state")),
                        "DRAINED_DUE_TO_ASIC_ERROR");
    json_decref(root);
}

static long long paths_rdsw(const char *scenario, const char *more) {
    char arguments[400];
    snprintf(arguments, sizeof arguments, "trace-control \"$WEFT_ROOT\"/scenarios/dsf/%s --json %s", scenario, more);
    if (weft(&fixture, arguments)) fail_msg("%s", fixture.err);
    json_t *root = json_loads(fixture.out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    const json_t *bgp = json_object_get(json_array_get(json_object_get(root, "nodes"), 0), "bgp");
    long long paths = number(bgp, "paths_rdsw");
    json_decref(root);
    return paths;
}

/// Paths at an RDSW: the buildings that there are, each with its aggregates, by every next hop; whether links fail or
/// not.
static void a_path_for_each_other_building(void **state) {
    (void)state;
    const char *failure = "--set 'events=[{at: 1ms, link: \"superspine-0/0\", state: down}]'";
    assert_int_equal(paths_rdsw("region.yaml", ""), 16);
    assert_int_equal(paths_rdsw("region.yaml", failure), 16);
    assert_int_equal(paths_rdsw("region.yaml", "--set topology.l2_zones=3"), 2 * 16);
    assert_int_equal(paths_rdsw("region.yaml", "--set control.bgp.aggregates=4"), 4 * 16);
    assert_int_equal(paths_rdsw("two_regions.yaml", ""), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacities_of_the_figures),
        cmocka_unit_test(without_balancing),
        cmocka_unit_test(same_seed_same_story),
        cmocka_unit_test(superspines_and_drained_nodes),
        cmocka_unit_test(a_path_for_each_other_building),
        cmocka_unit_test(steps_name_cause_and_capacities),
        cmocka_unit_test(without_a_fabric),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
