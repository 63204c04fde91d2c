// SPDX-License-Identifier: Apache-2.0
// Words of other tools: the key that is suggested exists, and is the one that is meant.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "weft/model.h"
#include "weft/param.h"
#include "weft/scenario.h"

/// The key of the first mistake of a scenario, and what its message suggests.
static void assert_suggests(const char *text, const char *key, const char *suggestion) {
    struct weft_scenario_file *file = NULL;
    struct weft_scenario *scenario = NULL;
    struct weft_error error = {0};
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s: unknown key; did you mean \"%s\"?", key, suggestion);
    if (weft_scenario_file_parse("s.yaml", text, strlen(text), NULL, 0, &file, &error)) fail_msg("%s", error.text);
    assert_int_equal(weft_scenario_new(file, 0, &scenario, &error), WEFT_ERROR_INPUT);
    if (!strstr(error.text, wanted)) fail_msg("\"%s\"; expected \"%s\"", error.text, wanted);
    weft_scenario_file_free(file);
}

static void words_of_the_field(void **state) {
    (void)state;
    static const struct {
        const char *section, *word, *key;
    } cases[] = {
        {"topology: single\nswitch: {aqm: {kind: wred, %s: 1}}\n", "pmax", "max_probability"},
        {"topology: single\nswitch: {aqm: {kind: wred, %s: 1}}\n", "PMAX", "max_probability"},
        {"topology: single\nswitch: {aqm: {kind: wred, %s: 1}}\n", "kmin", "min"},
        {"topology: single\nswitch: {aqm: {kind: wred, %s: 1}}\n", "kmax", "max"},
        {"topology: single\nswitch: {aqm: {kind: wred, %s: 1}}\n", "min-th", "min"},
        {"topology: single\nswitch: {%s: 1}\n", "ecn", "aqm"},
        {"topology: single\nswitch: {%s: 1}\n", "shared-buffer", "buffer"},
        {"topology: single\nswitch: {%s: 1}\n", "ecmp", "route"},
        {"topology: single\nswitch: {%s: 1}\n", "WRED_PROFILE", "aqm"},
        {"topology: single\nswitch: {%s: 1}\n", "PORT_QOS_MAP", "pfc"},
        {"topology: single\nswitch: {%s: 1}\n", "trim", "aqm"},
        {"topology: single\nswitch: {buffer: {kind: dynamic, %s: 1}}\n", "size", "total"},
        {"topology: single\nworkload: [{kind: job, %s: 4}]\n", "tp", "dimensions"},
        {"topology: single\nworkload: [{kind: rma, %s: read}]\n", "op", "verb"},
        {"topology: single\nrun: {%s: 1us}\n", "sampling", "sample_interval"},
        {"topology: single\nswitch: {buffer: {kind: dynamic, %s: 1}}\n", "dynamic_th", "alpha"},
        {"topology: single\nswitch: {buffer: {kind: static, %s: 1}}\n", "pause_threshold", "xoff"},
        {"topology: single\nworkload: [{kind: incast, %s: 1}]\n", "srcs", "sources"},
        {"topology: single\nworkload: [{kind: incast, %s: 1}]\n", "src", "sources"},
        {"topology: single\nworkload: [{kind: incast, %s: 1}]\n", "senders", "sources"},
        {"topology: single\nworkload: [{kind: incast, %s: 1}]\n", "receivers", "dst"},
        {"topology: single\nworkload: [{kind: incast, %s: 1}]\n", "dsts", "dst"},
        {"topology: single\nworkload: [{kind: flow, %s: 1}]\n", "sources", "src"},
        {"topology: single\nworkload: [{kind: flow, %s: 1}]\n", "receiver", "dst"},
        {"topology: single\nworkload: [{kind: flow, %s: 1}]\n", "bytes", "size"},
        {"topology: single\nworkload: [{kind: flow, %s: 1}]\n", "queue_pairs", "qps"},
        {"topology: {kind: single, %s: 1}\n", "bw", "rate"},
        {"topology: {kind: single, %s: 1}\n", "bandwidth", "rate"},
        {"topology: {kind: single, %s: 1}\n", "latency", "delay"},
        {"topology: {kind: leaf_spine, %s: 1}\n", "hosts_per_rack", "hosts_per_leaf"},
        {"topology: single\nhost: {%s: 1}\n", "congestion_control", "cc"},
        {"topology: single\nhost: {%s: 1}\n", "rto", "timeout"},
        {"topology: single\nhost: {cc: {kind: dcqcn, %s: 1}}\n", "rai", "additive_increase"},
        {"topology: single\nhost: {cc: {kind: dcqcn, %s: 1}}\n", "ai_rate", "additive_increase"},
        {"topology: single\nhost: {cc: {kind: hpcc, %s: 1}}\n", "u_target", "eta"},
        {"topology: single\nswitch: {%s: 1}\n", "ets", "scheduler"},
        {"topology: {kind: leaf_spine, %s: 1}\n", "hosts", "hosts_per_leaf"},
        {"topology: single\nhost: {%s: 1}\n", "packet_size", "mtu"},
        {"topology: single\nrun: {%s: 1}\n", "duration", "until"},
        {"topology: single\n%s: 1\n", "rnu", "run"},
        {"topology: single\n%s: 1\n", "wrokload", "workload"},
        {"topology: single\n%s: 1\n", "traffic", "workload"},
        {"topology: single\n%s: 1\n", "nic", "host"},
        {"topology: single\n%s: 1\n", "ecn", "switch.aqm"},
        {"topology: single\n%s: 1\n", "mtu", "host.mtu"},
        {"topology: single\n%s: 1\n", "seed", "run.seed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        const char *hole = strstr(cases[i].section, "%s");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(hole - cases[i].section), cases[i].section, cases[i].word,
                 hole + 2);
        assert_suggests(text, cases[i].word, cases[i].key);
    }
}

static void other_names_are_left_alone(void **state) {
    (void)state;
    static const char *const names[] = {"min", "max"};
    char key[32], small[3];
    assert_null(weft__synonym_find("bandwidth", names, 2, key, sizeof key)); // the section has no such key
    assert_null(weft__synonym_find("", names, 2, key, sizeof key));
    assert_null(weft__synonym_find("min", names, 2, key, sizeof key));
    assert_null(weft__synonym_find("kmi", names, 2, key, sizeof key));
    assert_null(weft__synonym_find("kmin kmax", names, 2, key, sizeof key));
    assert_null(weft__synonym_find("kmin", names, 2, small, sizeof small)); // no room
    assert_string_equal(weft__synonym_find("K-Min", names, 2, key, sizeof key), "min");
}

/// Whatever a kind of model has, beside another kind of it the message names where it is.
static void parameters_of_other_kinds(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < WEFT_KINDS; kind++) {
        if (kind == WEFT_KIND_IMPORT || kind == WEFT_KIND_FABRIC || kind == WEFT_KIND_BOX) continue;
        for (uint32_t m = 0; m < weft_model_count(kind); m++) {
            const struct weft_param_table *table = weft_model_at(kind, m)->params;
            for (uint32_t i = 0; i < table->n; i++) {
                char text[256], wanted[100];
                snprintf(wanted, sizeof wanted, "section has \"%s\" with kind: ", table->rows[i].name);
                assert_true(weft__param_elsewhere(kind, "section", table->rows[i].name, text, sizeof text));
                if (strncmp(text, wanted, strlen(wanted)) != 0) fail_msg("%s", text);
                if (!strstr(text, weft_model_at(kind, m)->name) && !strstr(text, ", ...")) fail_msg("%s", text);
            }
        }
    }
    char text[256];
    assert_false(weft__param_elsewhere(WEFT_KIND_IMPORT, "import", "qps", text, sizeof text));
    assert_false(weft__param_elsewhere(WEFT_KINDS, "host", "no_such_thing", text, sizeof text));
    assert_false(weft__param_elsewhere(WEFT_KINDS, "host", "rate", text, sizeof text)); // of several sections
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_field),
        cmocka_unit_test(other_names_are_left_alone),
        cmocka_unit_test(parameters_of_other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
