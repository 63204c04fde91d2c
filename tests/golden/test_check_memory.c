// SPDX-License-Identifier: Apache-2.0
// weft check --memory against the run itself: memory within 20% of its peak, and as many packet-hops within 20%, for
// Ethernet, DSF and Aquila; for flows, many flows and jobs; whether the trial is the whole run or a part of it.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "weft/sim.h"

enum { HOST_BYTES = 9 << 10, PROGRAM_BYTES = 10 << 20 };

static const struct {
    const char *text;
    bool cells; ///< hops are of cells, which `weft run` does not tell
} scenarios[] = {
    {"topology: {kind: fat_tree, k: 8}\nworkload: [{kind: permutation, size: 500KB}]\n", false},
    {"topology: {kind: fat_tree, k: 16}\nworkload: [{kind: permutation, size: 500KB}]\n", false},
    {"topology: {kind: fat_tree, k: 8}\nworkload: [{kind: permutation, size: 60MB}]\n", false}, // longer than the trial
    {"topology: {kind: clos3, pods: 2}\nworkload: [{kind: all_to_all, size: 4KB}]\n", false},   // 261,632 flows
    {"topology: {kind: leaf_spine, leaves: 8}\nworkload: [{kind: incast, sources: '*', dst: host-0, size: 1MB}]\n",
     false},
    {"topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 16}\nworkload: [{kind: permutation, size: 1MB}]\n", true},
    {"topology: {kind: dsf_l1_zone, rdsws: 16, hosts_per_rdsw: 16}\nworkload: [{kind: all_to_all, size: 4KB}]\n", true},
    {"topology: {kind: dragonfly, pods: 8}\nworkload: [{kind: poisson, size: 4KB, load: 50%, duration: 20us}]\n", true},
    {"topology: {kind: dragonfly, pods: 24}\nworkload: [{kind: permutation, size: 20KB}]\n", true},
    {"topology: {kind: clos3, pods: 1}\nworkload: [{kind: collective, size: 4MiB}]\n", false},
    {"topology: {kind: clos3, pods: 1}\nworkload: [{kind: collective, collective: all_to_all, size: 4MiB}]\n", false},
};

static int make_folder(void **state) {
    static struct fixture f;
    snprintf(f.dir, sizeof f.dir, "/tmp/weft-memory-XXXXXX");
    *state = &f;
    return mkdtemp(f.dir) ? 0 : -1;
}

static json_t *run_json(struct fixture *f, const char *arguments) {
    if (weft(f, arguments)) fail_msg("%s", f->err);
    char path[128]; // flows are many: more than the fixture keeps
    snprintf(path, sizeof path, "%s/out.txt", f->dir);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    return json;
}

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_msg("no number %s", key);
    return json_number_value(value);
}

static void assert_within(double value, double wanted, double part, const char *what, const char *of) {
    if (fabs(value - wanted) > part * wanted) fail_msg("%s: %.4g, not %.4g\n%s", what, value, wanted, of);
}

static void memory_and_work_of_runs(void **state) {
    struct fixture *f = *state;
    uint32_t whole = 0, parts = 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        write_text(f, "s.yaml", scenarios[i].text);
        json_t *check = run_json(f, "check --memory s.yaml --json"), *run = run_json(f, "run s.yaml --json --quiet");
        const json_t *estimate = json_object_get(json_array_get(json_object_get(check, "variants"), 0), "estimate");
        const char *by = json_string_value(json_object_get(estimate, "by"));
        assert_within(number(estimate, "peak_rss_bytes"), number(run, "peak_rss_bytes"), 0.2, "memory",
                      scenarios[i].text);
        if (scenarios[i].cells)
            assert_true(number(estimate, "cell_hops") > number(run, "packet_hops"));
        else
            assert_within(number(estimate, "packet_hops"), number(run, "packet_hops"), 0.2, "hops", scenarios[i].text);
        assert_true(number(estimate, "cpu_s") > 0 && number(estimate, "hops_per_cpu_s") > 0);
        whole += !strcmp(by, "run");
        parts += !strcmp(by, "trial");
        json_decref(check);
        json_decref(run);
    }
    assert_true(whole >= 3 && parts >= 1);
}

/// Figures that are only computed, for more connections than are tried: the same formula, with as many as a test has
/// time for.
static void memory_by_connections(void **state) {
    struct fixture *f = *state;
    write_text(
        f, "s.yaml",
        "topology: {kind: clos3, pods: 2}\nworkload: [{kind: collective, collective: all_to_all, size: 1MiB}]\n");
    json_t *run = run_json(f, "run s.yaml --json --quiet");
    double bytes = 512. * 511 * (double)weft_simulation_connection_bytes() + 512. * HOST_BYTES + PROGRAM_BYTES;
    assert_within(bytes, number(run, "peak_rss_bytes"), 0.2, "memory", "512 ranks");
    json_decref(run);
    write_text(f, "s.yaml",
               "topology: {kind: clos3, pods: 16}\nworkload: [{kind: collective, collective: all_to_all}]\n");
    json_t *check = run_json(f, "check --memory s.yaml --json");
    const json_t *estimate = json_object_get(json_array_get(json_object_get(check, "variants"), 0), "estimate");
    assert_string_equal(json_string_value(json_object_get(estimate, "by")), "connections");
    assert_within(number(estimate, "peak_rss_bytes"), 4096. * 4095 * (double)weft_simulation_connection_bytes(), 0.05,
                  "memory", "4096 ranks");
    json_decref(check);
}

static void nothing_to_do(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", "topology: {kind: single, hosts: 4}\nworkload: []\n");
    assert_int_equal(weft(f, "check --memory s.yaml"), 0);
    assert_non_null(strstr(f->out, " for 0 M packet-hops (all of it was run)\n"));
}

static void what_is_wrong_is_said_once(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", "topology: {kind: single}\nworkload: [{kind: permutation, sise: 1MB}]\n");
    assert_int_equal(weft(f, "check --memory s.yaml"), 2);
    assert_string_equal(f->out, "");
    const char *first = strstr(f->err, "sise");
    assert_non_null(first);
    assert_null(strstr(first + 1, "sise"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_work_of_runs),
        cmocka_unit_test(memory_by_connections),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(what_is_wrong_is_said_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
