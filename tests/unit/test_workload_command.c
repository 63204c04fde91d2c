// SPDX-License-Identifier: Apache-2.0
// What weft workload prints, against sums worked out by hand.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "command.h"

/// Two leaves of four hosts. All but host-0 send 1 MB to it; rank r of 4, a host a rank, sends 3 MB to the next one,
/// servers of two: 0 to 1 and 2 to 3 stay within them.
static const char scenario[] = "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}\n"
                               "workload:\n"
                               "  - {kind: incast, group: in, sources: \"*\", dst: host-0, size: 1MB, start: 5us}\n"
                               "  - kind: job\n"
                               "    group: job\n"
                               "    hosts: host-2..5\n"
                               "    server: {gpus: 2}\n"
                               "    iterations: 2\n"
                               "    operations: [{compute: 3us, size: 3MB, collective: {kind: send_recv, chunk: 1MB, "
                               "slice: 1MB}}]\n";

static int make_folder(void **state) {
    static struct fixture f;
    snprintf(f.dir, sizeof f.dir, "/tmp/weft-workload-XXXXXX");
    if (!mkdtemp(f.dir)) return -1;
    write_text(&f, "s.yaml", scenario);
    *state = &f;
    return 0;
}

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) fail_msg("no number %s", key);
    return json_integer_value(value);
}

static json_t *run_json(struct fixture *f, const char *arguments) {
    assert_int_equal(weft(f, arguments), 0);
    json_t *json = json_loads(f->out, 0, NULL);
    assert_non_null(json);
    return json;
}

static void sums_by_group_and_host(void **state) {
    struct fixture *f = *state;
    json_t *json = run_json(f, "workload s.yaml --json");
    const json_t *groups = json_object_get(json, "groups");
    assert_int_equal(json_array_size(groups), 2);
    const json_t *job = json_array_get(groups, 0), *in = json_array_get(groups, 1);
    assert_string_equal(json_string_value(json_object_get(job, "name")), "job");
    assert_int_equal(number(job, "ranks"), 4);
    assert_int_equal(number(job, "messages"), 2 * 3 * 3);
    assert_int_equal(number(job, "bytes"), 2 * 3 * 3000000);
    assert_int_equal(number(job, "network_bytes"), 2 * 3000000); // from host-3 to host-4
    assert_string_equal(json_string_value(json_object_get(in, "of")), "flows");
    assert_int_equal(number(in, "ranks"), 7);
    assert_int_equal(number(in, "steps"), 2 * 7);
    assert_int_equal(number(in, "network_bytes"), 7000000);
    assert_int_equal(number(json, "compute_ps"), 6000000); // two iterations are later than the flows
    const json_t *sends = json_object_get(json, "sends_most"), *receives = json_object_get(json, "receives_most");
    assert_string_equal(json_string_value(json_object_get(sends, "host")), "host-3");
    assert_int_equal(number(sends, "bytes"), 1000000 + 2 * 3000000);
    assert_string_equal(json_string_value(json_object_get(receives, "host")), "host-0");
    assert_int_equal(number(receives, "time_ps"), 7000000 * 80); // ps a byte at 100 Gb/s
    json_decref(json);
}

static void assert_pair(const json_t *pairs, size_t i, const char *from, const char *to, json_int_t bytes) {
    const json_t *pair = json_array_get(pairs, i);
    assert_string_equal(json_string_value(json_object_get(pair, "from")), from);
    assert_string_equal(json_string_value(json_object_get(pair, "to")), to);
    assert_int_equal(number(pair, "bytes"), bytes);
}

static void who_sends_to_whom(void **state) {
    struct fixture *f = *state;
    json_t *json = run_json(f, "workload s.yaml --json --between rack");
    const json_t *pairs = json_object_get(json, "between");
    assert_int_equal(json_array_size(pairs), 3);
    assert_pair(pairs, 0, "leaf-0", "leaf-0", 3000000);
    assert_pair(pairs, 1, "leaf-0", "leaf-1", 6000000);
    assert_pair(pairs, 2, "leaf-1", "leaf-0", 4000000);
    json_decref(json);
    json = run_json(f, "workload s.yaml --json --between host");
    pairs = json_object_get(json, "between");
    assert_int_equal(json_array_size(pairs), 7 + 1);
    assert_pair(pairs, 0, "host-1", "host-0", 1000000);
    assert_pair(pairs, 3, "host-3", "host-4", 6000000);
    json_decref(json);
    assert_int_equal(weft(f, "workload s.yaml --between rack"), 0);
    assert_non_null(strstr(f->out, "\nleaf-0                    3MB          6MB\n"));
    assert_non_null(strstr(f->out, "host-0 receives most, 7MB: 560us at the rate of its link\n"));
}

static void what_is_left_out_is_said(void **state) {
    struct fixture *f = *state;
    write_text(f, "rma.yaml", "topology: {kind: single, hosts: 4}\nworkload: [{kind: rma}]\n");
    assert_int_equal(weft(f, "workload rma.yaml"), 0);
    assert_non_null(strstr(f->out, "remote memory access is left out"));
    assert_int_equal(weft(f, "workload s.yaml"), 0);
    assert_null(strstr(f->out, "left out"));
}

/// A scenario as a schedule: rank R is host R, and what is sent is the same; the file says so again.
static void written_as_a_schedule(void **state) {
    struct fixture *f = *state;
    json_t *json = run_json(f, "workload s.yaml --goal s.goal --json");
    assert_int_equal(number(json, "ranks"), 8);
    assert_int_equal(number(json, "messages"), 7 + 2 * 3 * 3);
    assert_int_equal(number(json, "bytes"), 7 * 1000000 + 2 * 3 * 3000000);
    json_t *again = run_json(f, "workload s.goal --json");
    assert_int_equal(number(again, "messages"), number(json, "messages"));
    assert_int_equal(number(again, "steps"), number(json, "steps"));
    assert_int_equal(number(again, "dependencies"), number(json, "dependencies"));
    json_decref(json);
    json_decref(again);
    json = run_json(f, "workload s.yaml --loggops 1000,0,0,0.08,0,4194304 --json");
    again = run_json(f, "workload s.goal --loggops 1000,0,0,0.08,0,4194304 --json");
    assert_true(json_equal(json_object_get(json, "rank_end_ps"), json_object_get(again, "rank_end_ps")));
    // host-1: it sends from 5us on, and takes no time
    assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "rank_end_ps"), 1)), 5000000);
    json_decref(json);
    json_decref(again);
    assert_int_equal(weft(f, "workload s.yaml --goal nowhere/s.goal"), 2);
    assert_non_null(strstr(f->err, "--goal: 'nowhere/s.goal' cannot be written"));
    assert_int_equal(weft(f, "workload s.yaml --loggops 1"), 2);
}

static void mistakes_are_said(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "workload s.yaml --between racks"), 2);
    assert_string_equal(f->err,
                        "weft: --between: no \"racks\"; did you mean \"rack\"? expected one of host, rack, pod\n");
    assert_string_equal(f->out, "");
    assert_int_equal(weft(f, "workload s.yaml --set topology.leaves=0"), 2);
    assert_string_equal(f->out, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_group_and_host),   cmocka_unit_test(who_sends_to_whom),
        cmocka_unit_test(what_is_left_out_is_said), cmocka_unit_test(written_as_a_schedule),
        cmocka_unit_test(mistakes_are_said),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
