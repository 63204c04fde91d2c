// SPDX-License-Identifier: Apache-2.0
// What is said about a scenario or run besides its figures: hints, once; and why a lone flow was slow.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "command.h"

static int setup(void **state) {
    static struct fixture fixture = {.dir = "/tmp/weft-hints-XXXXXX"};
    *state = &fixture;
    return mkdtemp(fixture.dir) ? 0 : -1;
}

static uint32_t count(const char *text, const char *part) {
    uint32_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

static const char incast[] = "topology: {kind: single, hosts: 17, rate: 400G}\n"
                             "host: {cc: dcqcn, pfc: {priorities: [3]}}\n"
                             "switch: {aqm: wred, pfc: {priorities: [3]}}\n"
                             "workload: [{kind: incast, sources: \"host-*\", dst: host-0, size: 80KB}]\n"
                             "variants: {a: {}, b: {run.seed: 2}}\n";

/// What it says is what weft plan dcqcn advises for the same file.
static void once(void **state) {
    static const char *const commands[] = {"check a.yaml", "run a.yaml --variant a --quiet", "compare a.yaml --quiet"};
    struct fixture *f = *state;
    write_text(f, "a.yaml", incast);
    assert_int_equal(weft(f, "plan dcqcn a.yaml --variant a --run off"), 0);
    char advised[64];
    assert_int_equal(
        sscanf(strstr(f->out, "host.cc.additive_increase: "), "host.cc.additive_increase: %63[^,]", advised), 1);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        assert_int_equal(weft(f, commands[i]), 0);
        assert_int_equal(
            count(f->err, "dcqcn has values of 40Gbps (additive_increase: 40Mbps), and host-0 has 400Gbps"), 1);
        assert_non_null(strstr(f->err, "weft plan dcqcn would set"));
        if (!strstr(f->err, advised)) fail_msg("%s: %s is not in %s", commands[i], advised, f->err);
    }
    assert_int_equal(weft(f, "run a.yaml --variant a --quiet --json"), 0);
    assert_string_equal(f->err, "");
}

static void by_model(void **state) {
    static const struct {
        const char *settings, *hint; // NULL: none
    } cases[] = {
        {"--set topology.rate=40G", NULL},
        {"--set topology.rate=50G", NULL},
        {"--set topology.rate=10G", "values of 40Gbps"},
        {"--set host.cc.additive_increase=400M", NULL},
        {"--set host.cc=none", NULL},
        {"--set host.cc=swift", NULL},
        {"--set 'host.cc={kind: dcqcn, preset: ns3_rdma}'", "values of 40Gbps"},
        {"--set host.cc=dcqcn_connectx", "dcqcn_connectx has values of 100Gbps (additive_increase: 50Mbps)"},
        {"--set 'host.cc={kind: dcqcn_connectx, preset: hpcc}'", "values of 100Gbps (additive_increase: 20Mbps)"},
        {"--set 'host.cc={kind: dcqcn_connectx, preset: connectx}'", NULL},
        {"--set host.cc=dcqcn_connectx --set topology.rate=200G", NULL},
        {"--set host.cc=timely",
         "values of 10Gbps (additive_increase: 10Mbps), and host-0 has 400Gbps; in proportion to "
         "the rate it would be additive_increase: 400Mbps"},
        {"--set host.cc=hpcc", "values of 100Gbps (w_ai: 80B), and host-0 has 400Gbps; in proportion to the "
                               "rate it would be w_ai: 320B"},
        {"--set host.cc=none --set 'devices=[{match: host-3, host: {cc: timely}}]'", "and host-3 has 400Gbps"},
        {"--set 'workload=[{kind: permutation, size: 1MB}]'",
         "in proportion to the rate it would be additive_increase: 400Mbps"},
    };
    struct fixture *f = *state;
    write_text(f, "a.yaml", incast);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "check a.yaml --variant a %s", cases[i].settings);
        if (weft(f, arguments)) fail_msg("%s: %s", arguments, f->err);
        if (!strstr(f->err, cases[i].hint ? cases[i].hint : "hint:") ||
            (!cases[i].hint && strstr(f->err, "has values of")))
            fail_msg("%s: %s", arguments, f->err);
    }
}

/// The summary names what made a flow alone in the network slower than its ideal, and nothing where it was not.
static void alone(void **state) {
    static const struct {
        const char *settings, *reason; // NULL: none
    } cases[] = {
        {"", NULL},
        {"--set host.cc=dcqcn", NULL},
        {"--set host.cc=swift", "host.cc swift keeps the flow below the line rate"},
        {"--set host.window=8KB", "host.window allows 8000 B in flight"},
        {"--set 'topology={kind: dsf_l1_zone, rdsws: 2, fdsws: 2, hosts_per_rdsw: 2, rails: 1}'", "credit"},
        {"--set switch.packet_rate=1000000", "acknowledgements take turns of switch.packet_rate too"},
        {"--set switch.route=load_aware --set workload.0.size=1MB --set 'topology={kind: leaf_spine, leaves: 2, "
         "spines: 4, hosts_per_leaf: 3, rate: 100G, host_rate: 400G}'",
         "packets sent again (see drops)"},
    };
    struct fixture *f = *state;
    write_text(f, "l.yaml",
               "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 400G}\n"
               "workload: [{kind: flow, src: host-0, dst: host-3, size: 100KB}]\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "run l.yaml --quiet %s", cases[i].settings);
        assert_int_equal(weft(f, arguments), 0);
        const char *line = strstr(f->out, "\nalone  a slowdown of ");
        if (!line != !cases[i].reason || (line && !strstr(line, cases[i].reason)))
            fail_msg("%s: %s", arguments, line ? line : "no such line");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(once), cmocka_unit_test(by_model), cmocka_unit_test(alone)};
    return cmocka_run_group_tests(tests, setup, remove_folder);
}
