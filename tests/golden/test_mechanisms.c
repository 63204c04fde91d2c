// SPDX-License-Identifier: Apache-2.0
// A mechanism that is configured and never acts is named, with how near it came.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "command.h"
#include "query.h"

/// Two NICs send 100 KB each to a third: their packets meet in one queue of the switch.
static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-mechanisms-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(
        &f, "s.yaml",
        "name: small\ntopology: {kind: single, hosts: 3, rate: 100Gbps}\n"
        "workload: [{kind: incast, sources: host-1..2, dst: host-0, size: 100KB, group: all}]\n"
        "switch: {sfc: {kind: fixed, threshold: 400KB, priorities: 3}, aqm: {kind: wred, min: 300KB, max: 500KB}}\n"
        "host: {cc: dcqcn}\n");
    write_text(&f, "dsf.yaml",
               "name: dsf\ntopology: {kind: dsf_l1_zone, rdsws: 2, fdsws: 2, hosts_per_rdsw: 2, rails: 1, "
               "virtual_devices: 1}\n"
               "workload: [{kind: incast, sources: host-2, dst: host-0, size: 100KB, group: all}]\n");
    *state = &f;
    return 0;
}

static json_t *mechanisms(struct fixture *f, const char *arguments, json_t **ret_root) {
    assert_int_equal(weft(f, arguments), 0);
    *ret_root = json_loads(f->out, 0, NULL);
    assert_non_null(*ret_root);
    json_t *all = json_object_get(*ret_root, "mechanisms");
    assert_non_null(all);
    return all;
}

static long long number(json_t *mechanism, const char *key) {
    json_t *value = json_object_get(mechanism, key);
    assert_true(json_is_integer(value));
    return (long long)json_integer_value(value);
}

static void idle_ones_are_named(void **state) {
    struct fixture *f = *state;
    json_t *root, *all = mechanisms(f, "run s.yaml --json", &root);
    json_t *pfc = json_object_get(all, "PFC"), *sfc = json_object_get(all, "SFC");
    assert_int_equal(number(pfc, "acts"), 0);
    assert_int_equal(number(pfc, "devices"), 1);
    assert_int_equal(number(pfc, "limit_bytes"), 760000); // switch.buffer.xoff
    assert_string_equal(json_string_value(json_object_get(sfc, "idle")), "no message");
    assert_int_equal(number(sfc, "limit_bytes"), 400000);
    // 100 KB of each arrive at the same time, and 100 KB leave meanwhile: half of the 200 KB and their headers wait.
    assert_in_range(number(sfc, "nearest_bytes"), 90000, 115000);
    assert_int_equal(number(json_object_get(all, "ECN"), "limit_bytes"), 300000);
    assert_int_equal(number(json_object_get(all, "DCQCN"), "devices"), 3);
    assert_int_equal(weft(f, "run s.yaml"), 0);
    assert_non_null(strstr(f->out, "\nidle   "));
    assert_non_null(strstr(f->out, "PFC: no switch sent a pause frame; fullest input "));
    assert_non_null(strstr(f->out, "SFC: no message; deepest watched queue 10"));
    assert_non_null(strstr(f->out, " of 400KB\n"));
    assert_non_null(strstr(f->out, "DCQCN: no CNP: no packet marked or dropped by AQM\n"));
    json_decref(root);
    assert_int_equal(weft(f, "run s.yaml --set switch.aqm=none"), 0);
    assert_non_null(strstr(f->out, "DCQCN: no CNP: no switch marks packets (switch.aqm)\n"));
    assert_int_equal(weft(f, "compare s.yaml"), 0);
    assert_non_null(strstr(f->out, "\nidle   PFC: no switch sent a pause frame"));
}

static void those_that_act_are_not(void **state) {
    struct fixture *f = *state;
    const char *low = "run s.yaml --set switch.aqm.min=10KB --set switch.aqm.max=20KB --set switch.sfc.threshold=60KB "
                      "--set switch.buffer.xoff=20KB --set switch.buffer.xon=10KB";
    char json[300];
    snprintf(json, sizeof json, "%s --json", low);
    json_t *root, *all = mechanisms(f, json, &root);
    static const char *const names[] = {"PFC", "SFC", "ECN", "DCQCN"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(number(json_object_get(all, names[i]), "acts") > 0);
        assert_null(json_object_get(json_object_get(all, names[i]), "idle"));
    }
    json_t *counters = json_object_get(root, "counters");
    assert_int_equal(number(json_object_get(all, "PFC"), "acts"), number(counters, "pfc_xoff_frames"));
    assert_int_equal(number(json_object_get(all, "SFC"), "acts"), number(counters, "sfc_messages"));
    assert_int_equal(number(json_object_get(all, "ECN"), "acts"), number(counters, "ecn_marked"));
    assert_int_equal(weft(f, low), 0);
    assert_null(strstr(f->out, "\nidle "));
    json_decref(root);
}

/// With several switches, ports of one are not those of another: each has its own pauses, storms, messages and marks.
static void acts_are_what_ports_counted(void **state) {
    struct fixture *f = *state;
    write_text(f, "leaves.yaml",
               "topology: {kind: leaf_spine, leaves: 2, hosts_per_leaf: 8, spines: 1}\n"
               "workload: [{kind: incast, sources: host-8..15, dst: host-0, size: 4MB}]\n");
    write_text(f, "storms.yaml",
               "topology: {kind: leaf_spine, leaves: 5, hosts_per_leaf: 4, spines: 2}\n"
               "switch: {pfc: {watchdog: 20us}, sfc: {kind: fixed, threshold: 400KB, priorities: 3},\n"
               "  aqm: {kind: wred, min: 300KB, max: 500KB}}\n"
               "host: {sfc: false, pfc: {watchdog: 20us}}\n"
               "workload: [{kind: incast, sources: host-4..19, dst: host-0, size: 1MB}]\n");
    write_text(f, "voqs.yaml", // AQM at two boxes alone; marks are shown at a third, by which the packets leave
               "topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 4, rails: 1}\nhost: {cc: dcqcn}\n"
               "devices: [{match: 'rdsw-[1-2]', switch: {aqm: {kind: wred, preset: hpcc}}}]\n"
               "workload: [{kind: incast, sources: 'host-[4-11]', dst: host-0, size: 5MB}]\n");
    static const struct {
        const char *arguments, *name, *counter;
    } cases[] = {
        {"leaves.yaml", "PFC", "pfc_tx_xoff"},
        {"voqs.yaml", "ECN", "ecn_marked"},
        {"storms.yaml", "PFC", "pfc_tx_xoff"},
        {"storms.yaml", "SFC", "sfc_sent"},
        {"storms.yaml", "ECN", "ecn_marked"},
        {"storms.yaml", "PFC watchdog", "watchdog_storms"}, // of switches and of NICs
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, "run %s --out out --force", cases[i].arguments);
        assert_int_equal(weft(f, text), 0);
        snprintf(text, sizeof text, "\nidle   %s:", cases[i].name);
        assert_null(strstr(f->out, text));
        snprintf(text, sizeof text,
                 "SELECT acts = (SELECT sum(%s) FROM port_counters), acts > 0 FROM mechanisms WHERE name = '%s'",
                 cases[i].counter, cases[i].name);
        char dir[200];
        snprintf(dir, sizeof dir, "%s/out", f->dir);
        expect_rows(dir, text, "1|1");
    }
}

/// What is not configured has no row.
static void only_what_is_configured(void **state) {
    struct fixture *f = *state;
    json_t *root, *all = mechanisms(f,
                                    "run s.yaml --json --set host.cc=none --set switch.sfc=none --set switch.aqm=none "
                                    "--set switch.pfc.priorities=none --set host.pfc.priorities=none",
                                    &root);
    assert_int_equal(json_object_size(all), 0);
    json_decref(root);
}

static void a_scheduled_fabric(void **state) {
    struct fixture *f = *state;
    json_t *root, *all = mechanisms(f, "run dsf.yaml --json", &root);
    json_t *rci = json_object_get(all, "RCI");
    assert_int_equal(number(rci, "acts"), 0);
    assert_int_equal(number(rci, "limit_cells"), 64); // fabric_node.mark
    assert_int_equal(weft(f, "run dsf.yaml"), 0);
    assert_non_null(strstr(f->out, "RCI: no cell marked; deepest FIFO of a fabric node "));
    assert_int_equal(weft(f, "run dsf.yaml --set interface_node.rci=off"), 0);
    assert_null(strstr(f->out, "RCI:"));
    json_decref(root);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, remove_folder)
    const struct CMUnitTest tests[] = {
        T(idle_ones_are_named),     T(those_that_act_are_not), T(acts_are_what_ports_counted),
        T(only_what_is_configured), T(a_scheduled_fabric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
