// SPDX-License-Identifier: Apache-2.0
// Features by port as in other simulators: source ports that flows name, marking thresholds by a port's rate.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "weft/aqm.h"
#include "weft/param.h"
#include "weft/param_load.h"

static uint64_t sum(const struct run *r, const char *port, size_t counter) {
    uint64_t all = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        all += *(const uint64_t *)((const char *)run_counters(r, port, p) + counter);
    return all;
}

/// Over how many of four spines 32 flows go, all from host-0 to host-1.
static uint32_t spines_used(const char *header, const char *sport, uint32_t step, const char *route) {
    char path[] = "/tmp/weft-ports-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "src,dst,bytes%s\n", header);
    for (uint32_t i = 0; i < 32; i++)
        *header ? fprintf(file, "0,1,4096,%ld\n", strtol(sport, NULL, 10) + (long)(i * step))
                : fprintf(file, "0,1,4096\n");
    fclose(file);
    struct run r = RUN(run_text,
                       "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 1}\n"
                       "switch: {route: %s}\nworkload: [{kind: csv, file: %s}]\n",
                       route, path);
    uint32_t used = 0;
    for (uint32_t s = 0; s < 4; s++) {
        char port[64];
        snprintf(port, sizeof port, "leaf-0->spine-%u", s);
        used += sum(&r, port, offsetof(struct weft_counters, tx_bytes)) > 0;
    }
    run_free(&r);
    unlink(path);
    return used;
}

/// One port, one path; several, several; without a column the NIC draws them. A hash sees the port itself.
static void source_ports_of_flows(void **state) {
    static const char *const routes[] = {"ecmp", "{kind: ecmp_murmur3, first_port: 0}"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(spines_used(",sport", "50000", 0, routes[i]), 1);
        assert_int_equal(spines_used(",udp_port", "10007", 0, routes[i]), 1);
        assert_int_equal(spines_used(",source port", "10007", 1, routes[i]), 4);
    }
    assert_int_equal(spines_used("", "", 0, "ecmp"), 4);
}

/// A table with ports and paths of flows, and the entry of a scenario. With one source port, only ecmp_murmur3 tells
/// flows apart by the other one; 100 is what it takes for flows without any.
static void destination_ports_and_paths(void **state) {
    static const char head[] = "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 1}\n";
    char table[] = "/tmp/weft-ports-XXXXXX";
    FILE *file = fdopen(mkstemp(table), "w");
    assert_non_null(file);
    fputs("src,dst,bytes,sport,dport,path\n", file);
    for (uint32_t i = 0; i < 32; i++)
        fprintf(file, "0,1,4096,10007,%u,%s\n", 100 + 7 * i, i < 30 ? "" : "leaf-0 > spine-2 > leaf-1");
    fclose(file);
    for (int i = 0; i < 2; i++) {
        struct run r = RUN(run_text, "%sswitch: {route: %s}\nworkload: [{kind: csv, file: %s}]\n", head,
                           i ? "{kind: ecmp_murmur3, first_port: 0}" : "ecmp", table);
        uint64_t n, used = 0;
        struct weft_path *path = weft_paths_trace(r.scenario, r.topology, r.workload, r.scenario->arena, &n);
        for (uint32_t s = 0; s < 4; s++) {
            char port[64];
            snprintf(port, sizeof port, "leaf-0->spine-%u", s);
            for (uint32_t f = 0; f < 30; f++)
                if (path[f].port[1] == weft_topology_find_port(r.topology, port)) used |= 1u << s;
        }
        assert_int_equal(__builtin_popcountll(used), i ? 4 : 1);
        assert_int_equal(path[31].port[1], weft_topology_find_port(r.topology, "leaf-0->spine-2"));
        run_free(&r);
    }
    unlink(table);
    uint32_t first[3];
    static const char *const ports[] = {"", ", destination_port: 100", ", destination_port: 101"};
    for (int i = 0; i < 3; i++) {
        struct run r = RUN(run_text,
                           "%sswitch: {route: {kind: ecmp_murmur3, first_port: 0}}\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, source_port: 10007%s}]\n",
                           head, ports[i]);
        uint64_t n;
        first[i] = weft_paths_trace(r.scenario, r.topology, r.workload, r.scenario->arena, &n)[0].port[1];
        run_free(&r);
    }
    assert_int_equal(first[0], first[1]);
    assert_int_not_equal(first[0], first[2]);
}

/// Kmin and Kmax of a port's own rate, of the greatest below it, of the least.
static void thresholds_by_rate(void **state) {
    const struct weft_model *wred = weft_model_find(WEFT_KIND_AQM, "wred");
    const struct weft_aqm_ops *ops = wred->ops;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    struct weft_tree *tree = NULL;
    static const char text[] = "{min: 5KB, max: 7KB, by_rate: [100Gbps 400KB 1600KB 20%, 25Gbps 100KB 400KB]}";
    static const struct {
        uint64_t gbps, min, max;
    } wanted[] = {{10, 100000, 400000},
                  {25, 100000, 400000},
                  {50, 100000, 400000},
                  {100, 400000, 1600000},
                  {400, 400000, 1600000}};
    void *conf = weft_arena_alloc(arena, 1, wred->params->conf_size);
    assert_int_equal(weft_tree_parse("t", text, sizeof text - 1, arena, &tree, &error), WEFT_OK);
    if (weft_params_load(wred->params, tree, conf, arena, &error)) fail_msg("%s", error.text);
    assert_true(ops->by_port(conf));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        weft_bytes threshold[WEFT_EVENT_THRESHOLDS];
        ops->thresholds(ops->for_port(conf, wanted[i].gbps * UINT64_C(1000000000), arena), threshold);
        assert_int_equal(threshold[WEFT_EVENT_MIN], wanted[i].min);
        assert_int_equal(threshold[WEFT_EVENT_MAX], wanted[i].max);
    }
    static const char *const bad[][2] = {
        {"{by_rate: 100Gbps 400KB}", "by_rate: '100Gbps 400KB'; expected a rate, min and max"},
        {"{by_rate: 100Gbps 400KB 100KB}", "by_rate: min"},
        {"{by_rate: [1Gbps 1KB 2KB, 100 400KB 500KB]}", "by_rate: \"100\" has no unit"},
        {"{by_rate: 100Gbps 1KB 2KB 200%}", "expected a probability"},
        {"{by_rate: 100Gbps 1KB 2KB 20% 3}", "expected a rate, min and max"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error = (struct weft_error){0};
        assert_int_equal(weft_tree_parse("t", bad[i][0], strlen(bad[i][0]), arena, &tree, &error), WEFT_OK);
        assert_int_equal(weft_params_load(wred->params, tree, conf, arena, &error), WEFT_ERROR_INPUT);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
    }
    weft_arena_free(arena);
}

/// Two equal incasts to hosts at 100G and at 400G: only the port whose threshold is low marks.
static void marks_by_rate(void **state) {
    for (int swapped = 0; swapped < 2; swapped++) {
        struct run r = RUN(
            run_text,
            "topology:\n  kind: list\n  nodes: [{name: s, role: switch}, {name: a, role: host}, {name: b, role: host}, "
            "{name: c, role: host}, {name: d, role: host}]\n  links: [{from: a, to: s, rate: 400Gbps}, {from: b, to: "
            "s, "
            "rate: 400Gbps}, {from: c, to: s, rate: 100Gbps}, {from: d, to: s, rate: 200Gbps}]\n"
            "switch: {aqm: {kind: wred, by_rate: [100Gbps %s 100%%, 200Gbps %s 100%%]}}\n"
            "workload: [{kind: incast, sources: 'a,b', dst: c, size: 1MB}, {kind: incast, sources: 'a,b', dst: d, "
            "size: "
            "1MB}]\n",
            swapped ? "100MB 100MB" : "10KB 10KB", swapped ? "10KB 10KB" : "100MB 100MB");
        size_t marked = offsetof(struct weft_counters, ecn_marked);
        assert_int_equal(sum(&r, "s->c", marked) > 0, !swapped);
        assert_int_equal(sum(&r, "s->d", marked) > 0, swapped);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_ports_of_flows),
        cmocka_unit_test(destination_ports_and_paths),
        cmocka_unit_test(thresholds_by_rate),
        cmocka_unit_test(marks_by_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
