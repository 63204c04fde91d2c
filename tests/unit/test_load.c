// SPDX-License-Identifier: Apache-2.0
// Collisions and load over time, compared with figures computed by hand, and for runs with known figures.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "query.h"
#include "run.h"
#include "weft/report.h"

static struct weft_run run_of(const struct run *r) {
    return (struct weft_run){
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
}

static uint32_t port_of(const struct run *r, const char *name) {
    uint32_t port = weft_topology_find_port(r->topology, name);
    assert_int_not_equal(port, WEFT_NONE);
    return port;
}

static void near(double found, double expected) {
    if (!(fabs(found - expected) < 1e-9)) fail_msg("%.15g, expected %.15g", found, expected);
}

// Leaf 0: 0, 3, 1 flows on its uplinks; leaf 1: 1, 1, 0; leaf 2 sends none and made no choice. Most: 3 and 1, mean 2.
static void three_leaves(void **state) {
    struct run r = run_once("topology: {kind: leaf_spine, leaves: 3, spines: 3, hosts_per_leaf: 2, rate: 100Gbps}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\nrun: {count_flows: on}\n");
    static const uint32_t flows[2][3] = {{0, 3, 1}, {1, 1, 0}};
    uint32_t *port_flows = calloc(r.outcome->ports, sizeof *port_flows);
    assert_memory_equal(r.outcome->port_flows, port_flows, r.outcome->ports * sizeof *port_flows); // within a leaf
    for (unsigned leaf = 0; leaf < 2; leaf++)
        for (unsigned spine = 0; spine < 3; spine++) {
            char name[40];
            snprintf(name, sizeof name, "leaf-%u->spine-%u", leaf, spine);
            port_flows[port_of(&r, name)] = flows[leaf][spine];
        }
    r.outcome->port_flows = port_flows;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_run run = run_of(&r);
    uint32_t n;
    const struct weft_collisions *c = weft_report_collisions(&run, arena, &n);
    assert_int_equal(n, 2);
    assert_string_equal(c[0].key, "leaf-spine");
    assert_int_equal(c[0].switches, 2);
    assert_int_equal(c[0].links, 6);
    assert_int_equal(c[0].flows, 6);
    assert_int_equal(c[0].most, 3);
    near(c[0].switch_most, 2);
    assert_int_equal(c[0].clear, 1);
    assert_int_equal(c[0].shared, 1);
    assert_int_equal(c[0].empty, 2);
    static const uint32_t with[] = {2, 3, 0, 1};
    assert_memory_equal(c[0].with, with, sizeof with);
    assert_string_equal(c[1].key, "spine-leaf");
    assert_int_equal(c[1].switches, 0);
    assert_true(isnan(c[1].switch_most));
    weft_arena_free(arena);

    char dir[] = "/tmp/weft-load-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    assert_int_equal(weft_report_sqlite(dir, &run, 1, &(struct weft_error){0}), WEFT_OK);
    expect_rows(
        dir,
        "SELECT from_layer, to_layer, direction, switches, clear, links, flows, most, switch_most, shared, empty"
        " FROM collisions ORDER BY from_layer",
        "leaf|spine|up|2|1|6|6|3|2.0|1|2\nspine|leaf|down|0|0|0|0|0|NULL|0|0");
    expect_rows(dir,
                "SELECT flows, links FROM collisions_with WHERE layers = 'leaf-spine' AND links > 0 ORDER BY flows",
                "0|2\n1|3\n3|1");
    snprintf(path, sizeof path, "%s/results.sqlite", dir);
    assert_int_equal(unlink(path) || rmdir(dir), 0);
    free(port_flows);
    run_free(&r);
}

// Three flows of 40 KB of payload, one of 4 KB, over the only uplink of a leaf. Each counts on both links of its way;
// from 10 KB on, only three do. ACKs go the other way and are no flows.
static void counts_queue_pairs(void **state) {
#define NETWORK                                                                                                        \
    "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, rate: 100Gbps}\n"                           \
    "workload: [{kind: flow, src: host-0..2, dst: host-4..6, size: 40KB}, {kind: flow, src: host-3, dst: host-7, "     \
    "size: 4KB}]\n"
    static const uint32_t expected[] = {4, 3};
    for (unsigned k = 0; k < 2; k++) {
        struct run r = RUN(run_text, NETWORK "run: {count_flows: on, count_flows_from: %s}\n", k ? "10KB" : "1B");
        assert_int_equal(r.outcome->port_flows[port_of(&r, "leaf-0->spine-0")], expected[k]);
        assert_int_equal(r.outcome->port_flows[port_of(&r, "spine-0->leaf-1")], expected[k]);
        assert_int_equal(r.outcome->port_flows[port_of(&r, "leaf-1->spine-0")], 0);
        assert_int_equal(r.outcome->port_flows[port_of(&r, "host-0->leaf-0")], 0); // not between switches
        struct run plain = run_once(NETWORK);
        assert_int_equal(plain.outcome->digest, r.outcome->digest); // looking changes nothing
        assert_null(plain.outcome->port_flows);
        run_free(&plain);
        run_free(&r);
    }
}

// 300 queue pairs on one link: the table grows.
static void counts_many(void **state) {
    struct run r =
        RUN(run_once, "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1, rate: 100Gbps}\n"
                      "workload: [{kind: flow, src: host-0, dst: host-1, size: 600KB, qps: 300}]\n"
                      "run: {count_flows: on, sample_interval: 1ms}\n");
    assert_int_equal(r.outcome->port_flows[port_of(&r, "leaf-0->spine-0")], 300);
    run_free(&r);
}

// Links of 100 Gbit/s, intervals of 10 us: 125 KB is all of a link. Up: 62.5 KB and 25 KB, then nothing, then 125 KB
// and 0. Means of the two active intervals: 75% and 10%. Busiest over the mean: .5 / .35 and 2.
static void over_time(void **state) {
    struct run r = run_once("topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 1, rate: 100Gbps}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\n"
                            "run: {sample_interval: 10us, sample_ports: leaf-0/*}\n");
    uint32_t a = port_of(&r, "leaf-0->spine-0"), b = port_of(&r, "leaf-0->spine-1");
    struct weft_sample sample[] = {
        {.time_ps = 10 * WEFT_PS_PER_US, .port = a, .priority = 2, .tx_bytes = 60000, .flows = 2},
        {.time_ps = 10 * WEFT_PS_PER_US, .port = a, .priority = 3, .tx_bytes = 2500, .flows = 1},
        {.time_ps = 10 * WEFT_PS_PER_US, .port = b, .priority = 3, .tx_bytes = 25000, .flows = 1},
        {.time_ps = 30 * WEFT_PS_PER_US, .port = a, .priority = 3, .tx_bytes = 125000, .flows = 1},
    };
    r.outcome->sample = sample;
    r.outcome->samples = sizeof sample / sizeof *sample;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_run run = run_of(&r);
    uint32_t n;
    const struct weft_load *l = weft_report_load(&run, arena, &n);
    assert_int_equal(n, 1); // spines are not sampled
    assert_string_equal(l[0].key, "leaf-spine");
    assert_int_equal(l[0].links, 2);
    assert_int_equal(l[0].intervals, 3);
    assert_int_equal(l[0].active, 2);
    near(l[0].interval[0].min, .2);
    near(l[0].interval[0].max, .5);
    near(l[0].interval[0].max_mean, .5 / .35);
    assert_int_equal(l[0].interval[0].flows_max, 3);
    assert_int_equal(l[0].interval[0].shared, 1);
    near(l[0].interval[1].max, 0);
    assert_true(isnan(l[0].interval[1].max_mean));
    near(l[0].interval[2].max, 1);
    assert_int_equal(l[0].interval[2].unused, 1);
    near(l[0].min, .1);
    near(l[0].max, .75);
    near(l[0].mean, .425);
    near(l[0].max_mean_p50, .5 / .35);
    near(l[0].max_mean_worst, 2);
    weft_arena_free(arena);
    run_free(&r);
}

// NICs of 100 Gbit/s, intervals of 10 us: 125 KB is all of a link. host-0 sends in the first two (100%, 20%), pauses
// for two, the second with 12 KB, which is less than a tenth, and sends once more (50%): two bursts of 15 us in the
// mean and a gap of 20. host-1 is silent.
static void bursts_and_gaps(void **state) {
    struct run r = run_once("topology: {kind: single, hosts: 3, rate: 100Gbps}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\n"
                            "run: {sample_interval: 10us, sample_ports: 'host-[01]/*'}\n");
    uint32_t a = port_of(&r, "host-0->switch-0"), other = port_of(&r, "host-2->switch-0");
    struct weft_sample sample[] = {
        {.time_ps = 10 * WEFT_PS_PER_US, .port = a, .priority = 3, .tx_bytes = 100000},
        {.time_ps = 10 * WEFT_PS_PER_US, .port = a, .priority = 4, .tx_bytes = 25000},
        {.time_ps = 20 * WEFT_PS_PER_US, .port = a, .priority = 3, .tx_bytes = 25000},
        {.time_ps = 20 * WEFT_PS_PER_US, .port = other, .priority = 3, .tx_bytes = 125000}, // not asked for
        {.time_ps = 40 * WEFT_PS_PER_US, .port = a, .priority = 3, .tx_bytes = 12000},
        {.time_ps = 50 * WEFT_PS_PER_US, .port = a, .priority = 3, .tx_bytes = 62500},
    };
    r.outcome->sample = sample;
    r.outcome->samples = sizeof sample / sizeof *sample;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_run run = run_of(&r);
    uint32_t n;
    const struct weft_bursts *b = weft_report_bursts(&run, arena, &n);
    assert_int_equal(n, 1);
    assert_string_equal(b[0].layer, "host");
    assert_int_equal(b[0].nics, 2);
    assert_int_equal(b[0].bursts, 2);
    near(b[0].on, .3); // 3 of 5 intervals of one of two
    near(b[0].burst_ps, 15e6);
    near(b[0].gap_ps, 20e6);
    near(b[0].used, (1 + .2 + .5) / 3);
    near(b[0].most, 1);
    weft_arena_free(arena);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_leaves), cmocka_unit_test(counts_queue_pairs), cmocka_unit_test(counts_many),
        cmocka_unit_test(over_time),    cmocka_unit_test(bursts_and_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
