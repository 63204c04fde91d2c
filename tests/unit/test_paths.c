// SPDX-License-Identifier: Apache-2.0
// Paths of flows compared with what a run's ports have sent: data follows the path and nothing else.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"

static struct weft_path *trace(const struct run *r, uint64_t *ret_n) {
    return weft_paths_trace(r->scenario, r->topology, r->workload, r->scenario->arena, ret_n);
}

/// ACKs have priority 7 here, so that every byte of priority 3 is data.
static void test_data_goes_there(void **state) {
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct run r = RUN(run_once,
                           "topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 4, core: 4, "
                           "hosts_per_access: 2}\n"
                           "host: {ack_own_priority: true, source_port: %s}\n"
                           "switch: {route: %s}\n"
                           "workload:\n"
                           "  - {kind: flow, src: host-0, dst: host-7, size: 40KB, qps: 3}\n"
                           "  - {kind: flow, src: host-0, dst: host-5, size: 10KB}\n"
                           "  - {kind: flow, src: host-3, dst: host-1, size: 1B, qps: 2}\n"
                           "run: {seed: %u}\n",
                           seed % 2 ? "queue_pair" : "host_pair", seed % 2 ? "ecmp" : "e_ecmp", seed);
        uint64_t n, *sent = calloc(r.topology->ports, sizeof *sent);
        struct weft_path *path = trace(&r, &n);
        assert_int_equal(n, 3 + 1 + 1); // a queue pair carries at least a byte
        for (uint64_t i = 0; i < n; i++) {
            const struct weft_flow *f = &r.workload->flow[path[i].flow];
            uint64_t bytes = f->bytes / f->qps + (path[i].qp < f->bytes % f->qps);
            assert_int_equal(path[i].hops, path[i].flow == 2 ? 4 : 6);
            for (uint32_t h = 0; h < path[i].hops; h++)
                sent[path[i].port[h]] += (bytes + 4095) / 4096;
        }
        for (uint32_t p = 0; p < r.topology->ports; p++)
            assert_int_equal(weft_outcome_at(r.outcome, p, 3)->tx_packets, sent[p]);
        free(sent);
        run_free(&r);
    }
}

/// One more flow of another host changes no path.
static void test_independent(void **state) {
    const char *head = "topology: {kind: fat_tree, k: 4}\n"
                       "workload:\n"
                       "  - {kind: flow, src: host-0, dst: host-15, size: 1KB}\n";
    struct run a = RUN(run_once, "%s", head);
    struct run b = RUN(run_once, "%s  - {kind: flow, src: host-1, dst: host-15, size: 1KB}\n", head);
    uint64_t n;
    struct weft_path *x = trace(&a, &n), *y = trace(&b, &n);
    assert_int_equal(n, 2);
    assert_int_equal(x->hops, y->hops);
    assert_memory_equal(x->port, y->port, x->hops * sizeof *x->port);
    run_free(&a);
    run_free(&b);
}

/// Nor does a flow, of however many queue pairs, from the same host to another one, written before it.
static void test_independent_of_the_same_host(void **state) {
    struct run with = run_once("topology: {kind: leaf_spine, leaves: 2, hosts_per_leaf: 8, spines: 8}\n"
                               "workload: [{kind: flow, src: host-0, dst: host-10, size: 1MB, qps: 5}, "
                               "{kind: flow, src: host-0, dst: host-9, size: 1MB}]\n");
    struct run without = run_once("topology: {kind: leaf_spine, leaves: 2, hosts_per_leaf: 8, spines: 8}\n"
                                  "workload: [{kind: flow, src: host-0, dst: host-9, size: 1MB}]\n");
    uint64_t n;
    struct weft_path *x = trace(&with, &n);
    assert_int_equal(n, 6);
    struct weft_path *y = trace(&without, &n);
    assert_int_equal(x[5].hops, y->hops);
    assert_memory_equal(x[5].port, y->port, y->hops * sizeof *y->port);
    bool spread = false;
    for (unsigned q = 1; q < 5; q++)
        spread |= x[q].port[1] != x[0].port[1];
    assert_true(spread); // five queue pairs of one flow do not all take the same path
    run_free(&with);
    run_free(&without);
}

/// Under E-ECMP what differs between queue pairs of two hosts is the number that the destination gives them: flows to
/// other hosts change none, one to the same host written before does.
static void test_numbers_are_of_the_destination(void **state) {
    static const char *const before[] = {"", "{kind: flow, src: host-0, dst: host-14, size: 1KB, qps: 9}, ",
                                         "{kind: flow, src: host-3, dst: host-15, size: 1KB, qps: 9}, "};
    uint32_t port[3][32];
    for (unsigned k = 0; k < 3; k++) {
        struct run r = RUN(run_once,
                           "topology: {kind: leaf_spine, leaves: 4, hosts_per_leaf: 4, spines: 16}\n"
                           "switch: {route: e_ecmp}\nhost: {source_port: host_pair}\n"
                           "workload: [%s{kind: flow, src: host-0, dst: host-15, size: 1KB, qps: 32}]\n",
                           before[k]);
        uint64_t n;
        const struct weft_path *path = trace(&r, &n);
        for (unsigned q = 0; q < 32; q++)
            port[k][q] = path[n - 32 + q].port[1];
        run_free(&r);
    }
    assert_memory_equal(port[0], port[1], sizeof port[0]);
    assert_memory_equal(&port[0][9], port[2], 23 * sizeof **port); // the same numbers, nine queue pairs earlier
    assert_memory_not_equal(port[0], port[2], sizeof port[0]);
}

/// Through a region: where a queue pair leaves its building, by the hash over all exits, and at which interface node it
/// arrives; what its exit sends is its data, and no other exit sends any. Three hops more than a network of switches
/// names: host, exit, superspine, interface node of the destination.
static void test_exits_of_a_region(void **state) {
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct run r = RUN(run_once,
                           "topology: {kind: dsf_region, l2_zones: 2, zones: 2, rdsws: 4, rails: 1, fdsws: 2, "
                           "sdsws: 2, virtual_devices: 2, lane_rate: 850Gbps, hosts_per_rdsw: 2, edsws: 4, "
                           "edge_fdsws: 2, superspine_groups: 2, edsw_superspines: 2, superspine_links: 2}\n"
                           "host: {ack_own_priority: true}\n"
                           "events: [{at: 1s, link: edsw-0/0, state: down}]\n"
                           "workload:\n"
                           "  - {kind: flow, src: host-0, dst: host-17, size: 40KB, qps: 6}\n"
                           "  - {kind: flow, src: host-3, dst: host-1, size: 4KB}\n"
                           "run: {seed: %u}\n",
                           seed);
        uint64_t n, *sent = calloc(r.topology->ports, sizeof *sent);
        struct weft_path *path = trace(&r, &n);
        assert_int_equal(n, 6 + 1);
        for (uint64_t i = 0; i < n; i++) {
            assert_int_equal(path[i].hops, path[i].flow ? 2 : 4);
            uint64_t bytes = path[i].flow ? 4000 : 40000 / 6 + (path[i].qp < 40000 % 6);
            for (uint32_t h = 0; h < path[i].hops; h++)
                sent[path[i].port[h]] += (bytes + 4095) / 4096;
        }
        for (uint32_t p = 0; p < r.topology->ports; p++)
            if (!weft_topology_link_is_fabric(r.topology, r.topology->port[p].link))
                assert_int_equal(weft_outcome_at(r.outcome, p, 3)->tx_packets, sent[p]);
        free(sent);
        run_free(&r);
    }
}

#define LEAVES "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 4}\n"

static uint64_t data_at(const struct run *r, const char *port) {
    return run_counters(r, port, 3)->tx_packets;
}

/// The path that a flow names, as text or as a list, with its hosts or without them, by whatever hash of the switches;
/// ACKs, of priority 7, are routed as ever.
static void test_named(void **state) {
    static const char *const routes[] = {"ecmp", "ecmp_murmur3", "spray"};
    for (size_t i = 0; i < 3; i++) {
        struct run r =
            RUN(run_once,
                LEAVES "host: {ack_own_priority: true}\nswitch: {route: %s}\nworkload:\n"
                       "- {kind: flow, src: host-0, dst: host-4, size: 40KB, path: leaf-0 > spine-3 > leaf-1}\n"
                       "- {kind: flow, src: host-1, dst: host-5, size: 80KB, path: [leaf-0, spine-1, leaf-1]}\n"
                       "- {kind: flow, src: host-2, dst: host-6, size: 120KB, qps: 3,\n"
                       "   path: 'host-2 > leaf-0/6,spine-2>leaf-1 > host-6'}\n",
                routes[i]);
        assert_int_equal(data_at(&r, "leaf-0->spine-0"), 0);
        assert_int_equal(data_at(&r, "leaf-0->spine-1"), 20);
        assert_int_equal(data_at(&r, "leaf-0->spine-2"), 30);
        assert_int_equal(data_at(&r, "spine-3->leaf-1"), 10);
        uint64_t n;
        struct weft_path *path = trace(&r, &n);
        assert_int_equal(n, 5);
        assert_int_equal(path[0].port[1], weft_topology_find_port(r.topology, "leaf-0->spine-3"));
        assert_int_equal(path[4].port[1], weft_topology_find_port(r.topology, "leaf-0->spine-2"));
        for (uint32_t f = 0; f < 2; f++)
            assert_int_equal(run_fct(&r, f), r.outcome->flow[f].ideal_ps);
        run_free(&r);
    }
}

/// A path longer than the shortest, over slower links: its ideal time is that of the path.
static void test_detour(void **state) {
    static const char links[] =
        "topology:\n  kind: list\n  nodes: [{name: a, role: host}, {name: b, role: host}, {name: s, role: switch}, "
        "{name: u, role: switch}, {name: v, role: switch}]\n  links: [{from: a, to: s}, {from: b, to: v}, {from: s, "
        "to: "
        "v}, {from: s, to: u, rate: 10Gbps}, {from: u, to: v, rate: 10Gbps}]\n";
    struct run straight = RUN(run_once, "%sworkload: [{kind: flow, src: a, dst: b, size: 1MB}]\n", links);
    struct run detour =
        RUN(run_once, "%sworkload: [{kind: flow, src: a, dst: b, size: 1MB, path: [s, u, v]}]\n", links);
    assert_int_equal(run_fct(&straight, 0), straight.outcome->flow[0].ideal_ps);
    assert_int_equal(run_fct(&detour, 0), detour.outcome->flow[0].ideal_ps);
    assert_true(run_fct(&detour, 0) > 9 * run_fct(&straight, 0));
    run_free(&straight);
    run_free(&detour);
}

/// While a link of it is out of service, and this is known, data goes as routed.
static void test_severed(void **state) {
    struct run r = RUN(run_once, LEAVES
                       "host: {ack_own_priority: true}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-4, size: 40KB, repeat: 3, interval: 1ms,\n"
                       "            path: leaf-0 > spine-3 > leaf-1}]\n"
                       "events: [{at: 500us, link: spine-3->leaf-1, state: down}, {at: 1500us, link: spine-3->leaf-1, "
                       "state: up}]\nrun: {detection: 1us}\n");
    assert_int_equal(data_at(&r, "leaf-0->spine-3"), 20);
    assert_int_equal(data_at(&r, "leaf-0->spine-0") + data_at(&r, "leaf-0->spine-1") + data_at(&r, "leaf-0->spine-2"),
                     10);
    run_free(&r);
}

static void test_no_path(void **state) {
    static const struct {
        const char *path, *expected;
    } bad[] = {
        {"leaf-0 > spine-9", "no switch 'spine-9'"},
        {"leaf-0 > leaf-1", "no link from leaf-0 to leaf-1;"},
        {"leaf-0 > spine-1 > leaf-0", "'leaf-0' is on the path twice"},
        {"leaf-0 > spine-1", "no link from spine-1 to host-4"},
        {"host-1 > leaf-0 > spine-1 > leaf-1", "no link from host-0 to host-1"},
        {"leaf-0/5 > spine-0 > leaf-1", "no link from leaf-0 to spine-0 by the port that is named"},
        {"leaf-0 > > leaf-1", "'leaf-0 > > leaf-1': expected names of switches"},
        {"leaf-0 > host-1 > leaf-1", "'host-1' is not an Ethernet switch"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        struct run r = {0};
        snprintf(text, sizeof text, LEAVES "workload:\n- {kind: flow, src: host-0, dst: host-4,\n   path: '%s'}\n",
                 bad[i].path);
        assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
        assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
        if (!strstr(r.error.text, bad[i].expected) || !strstr(r.error.text, "t.yaml:3:"))
            fail_msg("%s: %s", bad[i].path, r.error.text);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_goes_there),
        cmocka_unit_test(test_independent),
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_detour),
        cmocka_unit_test(test_severed),
        cmocka_unit_test(test_no_path),
        cmocka_unit_test(test_numbers_are_of_the_destination),
        cmocka_unit_test(test_independent_of_the_same_host),
        cmocka_unit_test(test_exits_of_a_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
