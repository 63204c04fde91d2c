// SPDX-License-Identifier: Apache-2.0
// Reports by layers, compared with figures computed by hand: load balance of links, and pauses.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/report.h"

static void set_bytes(struct run *r, const char *name, weft_bytes bytes) {
    uint32_t port = weft_topology_find_port(r->topology, name);
    assert_int_not_equal(port, WEFT_NONE);
    weft_outcome_at(r->outcome, port, 2)->tx_bytes = bytes / 2; // over all priorities
    weft_outcome_at(r->outcome, port, 3)->tx_bytes = bytes - bytes / 2;
}

static struct run leaf_spine(void) {
    struct run r = run_once("topology: {kind: leaf_spine, leaves: 2, spines: 3, hosts_per_leaf: 2, rate: 100Gbps}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\n");
    memset(r.outcome->counters, 0, (size_t)r.outcome->ports * WEFT_PRIORITIES * sizeof *r.outcome->counters);
    return r;
}

static const struct weft_balance *balance_of(const struct run *r, struct weft_arena *arena, uint32_t n_expected) {
    uint32_t n;
    struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    const struct weft_balance *b = weft_report_balance(&run, arena, &n);
    assert_int_equal(n, n_expected);
    return b;
}

static void near(double found, double expected) {
    if (!(fabs(found - expected) < 1e-12)) fail_msg("%.15g, expected %.15g", found, expected);
}

// Up: 30, 60, 0 from one leaf, 10, 10, 10 from the other. Sum 120, mean 20, most 60, squares 4800: 3; 14400 / (6 4800)
// = 1/2. The worst leaf: 60 of a mean of 30. Down nothing.
static void two_leaves(void **state) {
    struct run r = leaf_spine();
    static const weft_bytes bytes[2][3] = {{30, 60, 0}, {10, 10, 10}};
    for (unsigned leaf = 0; leaf < 2; leaf++)
        for (unsigned spine = 0; spine < 3; spine++) {
            char name[40];
            snprintf(name, sizeof name, "leaf-%u->spine-%u", leaf, spine);
            set_bytes(&r, name, bytes[leaf][spine]);
        }
    set_bytes(&r, "leaf-0->host-0", 1000000); // not between switches
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const struct weft_balance *b = balance_of(&r, arena, 2);
    assert_string_equal(b[0].key, "leaf-spine");
    assert_int_equal(b[0].direction, WEFT_BALANCE_UP);
    assert_int_equal(b[0].links, 6);
    assert_int_equal(b[0].idle, 1);
    assert_int_equal(b[0].bytes, 120);
    near(b[0].max_mean, 3);
    near(b[0].switch_max_mean, 2);
    near(b[0].jain, .5);
    assert_string_equal(b[1].key, "spine-leaf");
    assert_int_equal(b[1].direction, WEFT_BALANCE_DOWN);
    assert_int_equal(b[1].idle, 6);
    assert_true(isnan(b[1].max_mean) && isnan(b[1].switch_max_mean) && isnan(b[1].jain));
    weft_arena_free(arena);
    run_free(&r);
}

// Equal links: 1, 1, 1. One link with it all: 6, 3, 1/6.
static void extremes(void **state) {
    struct run r = leaf_spine();
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    set_bytes(&r, "leaf-0->spine-1", 7);
    const struct weft_balance *b = balance_of(&r, arena, 2);
    near(b[0].max_mean, 6);
    near(b[0].min_mean, 0);
    near(b[0].switch_max_mean, 3);
    near(b[0].jain, 1. / 6);
    for (unsigned i = 0; i < 6; i++) {
        char name[40];
        snprintf(name, sizeof name, "leaf-%u->spine-%u", i / 3, i % 3);
        set_bytes(&r, name, 7);
    }
    b = balance_of(&r, arena, 2);
    near(b[0].max_mean, 1);
    near(b[0].min_mean, 1);
    near(b[0].switch_max_mean, 1);
    near(b[0].jain, 1);
    weft_arena_free(arena);
    run_free(&r);
}

static const struct weft_pfc_layers *layers_of(const struct run *r, struct weft_arena *arena, const char *key) {
    uint32_t n;
    struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    const struct weft_pfc_layers *l = weft_report_pfc_layers(&run, arena, &n);
    assert_int_equal(n, 4); // hosts and leaves, leaves and spines, each way
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(l[i].key, key)) return &l[i];
    fail_msg("no %s", key);
    return NULL;
}

static struct weft_counters *counters_of(struct run *r, const char *name, unsigned priority) {
    return weft_outcome_at(r->outcome, weft_topology_find_port(r->topology, name), priority);
}

// A spine sends 3 + 2 pause frames to a leaf, which is paused for 70 and 30 at two priorities of one port, 50 at
// another. That leaf has 700 to send to spines at most, and a spine holds 400 of leaves; what its hosts do is theirs.
static void pauses(void **state) {
    struct run r = leaf_spine();
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    counters_of(&r, "spine-1->leaf-0", 3)->pfc_tx_xoff = 3;
    counters_of(&r, "spine-1->leaf-0", 4)->pfc_tx_xoff = 2;
    counters_of(&r, "leaf-0->spine-1", 3)->paused_ps = 70;
    counters_of(&r, "leaf-0->spine-1", 4)->paused_ps = 30;
    counters_of(&r, "leaf-1->spine-2", 3)->paused_ps = 50;
    counters_of(&r, "host-3/0", 3)->pfc_tx_xoff = 9;
    counters_of(&r, "leaf-0->spine-1", 3)->queue_bytes_max = 700;
    counters_of(&r, "leaf-0->spine-1", 4)->queue_bytes_max = 600;
    counters_of(&r, "leaf-1->host-2", 3)->queue_bytes_max = 900;
    counters_of(&r, "spine-1->leaf-0", 3)->ingress_bytes_max = 300;
    counters_of(&r, "spine-2->leaf-1", 4)->ingress_bytes_max = 400;
    const struct weft_pfc_layers *l = layers_of(&r, arena, "spine-leaf");
    assert_int_equal(l->frames, 5);
    assert_int_equal(l->ports, 6);
    assert_int_equal(l->paused_ports, 2);
    assert_int_equal(l->paused_ps, 150);
    assert_int_equal(l->paused_max_ps, 100);
    assert_int_equal(l->queue_bytes_max, 700);
    assert_int_equal(l->ingress_bytes_max, 400);
    assert_int_equal(layers_of(&r, arena, "leaf-spine")->frames, 0);
    assert_int_equal(layers_of(&r, arena, "leaf-spine")->queue_bytes_max, 0);
    assert_int_equal(layers_of(&r, arena, "host-leaf")->queue_bytes_max, 900);
    assert_int_equal(layers_of(&r, arena, "host-leaf")->frames, 9);
    assert_int_equal(layers_of(&r, arena, "host-leaf")->ports, 4);
    assert_int_equal(layers_of(&r, arena, "leaf-host")->paused_ps, 0);
    weft_arena_free(arena);
    run_free(&r);
}

/// An incast through a spine pauses hosts by leaves and leaves by spines; layers add up to the network.
static void pauses_add_up(void **state) {
    struct run r = run_once("topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 2, rate: 100Gbps}\n"
                            "switch: {buffer: {kind: static, size: 300KB, xoff: 60KB, xon: 50KB}}\n"
                            "workload: [{kind: incast, sources: host-0..3, dst: host-4, size: 1MB, qps: 8}]\n");
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    static const char *const key[] = {"host-leaf", "leaf-host", "leaf-spine", "spine-leaf"};
    uint64_t frames = 0, paused = 0;
    const struct weft_counters all = weft_outcome_counters(r.outcome);
    for (unsigned i = 0; i < 4; i++) {
        const struct weft_pfc_layers *l = layers_of(&r, arena, key[i]);
        frames += l->frames;
        paused += l->paused_ps;
        assert_int_equal(l->frames > 0, i > 0); // receivers are as fast as their links
    }
    assert_int_equal(frames, all.pfc_tx_xoff);
    assert_int_equal(paused, all.paused_ps);
    weft_arena_free(arena);
    run_free(&r);
}

// 12 TiNs: 3 others of the pod by 2 links each, and 2 links to other pods. Two of 72 local ones have 300 and 60: of a
// mean of 5 the busiest is 60 times; two of 24 global ones 40 each: 480 of 80, 12 times.
static void links_of_tins_are_local_or_global(void **state) {
    struct run r = run_once("topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_parallel: 4, "
                            "local_ports: 6, global_ports: 2}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\n");
    memset(r.outcome->counters, 0, (size_t)r.outcome->ports * WEFT_PRIORITIES * sizeof *r.outcome->counters);
    set_bytes(&r, "tin-0/0", 300);
    set_bytes(&r, "tin-5/1", 60);
    set_bytes(&r, "tin-0/6", 40);
    set_bytes(&r, "tin-7/7", 40);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const struct weft_balance *b = balance_of(&r, arena, 2);
    assert_string_equal(b[0].key, "tin-tin-local");
    assert_int_equal(b[0].links, 72);
    assert_int_equal(b[0].bytes, 360);
    near(b[0].max_mean, 60);
    assert_string_equal(b[1].key, "tin-tin-global");
    assert_int_equal(b[1].links, 24);
    assert_int_equal(b[1].idle, 22);
    near(b[1].max_mean, 12);
    weft_arena_free(arena);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_leaves),
        cmocka_unit_test(extremes),
        cmocka_unit_test(links_of_tins_are_local_or_global),
        cmocka_unit_test(pauses),
        cmocka_unit_test(pauses_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
