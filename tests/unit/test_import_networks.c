// SPDX-License-Identifier: Apache-2.0
// Networks of other tools: what they become, and what is refused and where.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "import_files.h"

#define TIER(n, rate, down, up)                                                                                        \
    "Tier " n "\nDownlink_speed_Gbps " rate "\nradix_down " down "\n" up "DOWNLINK_LATENCY_NS 1000\n"
/// Two pods of two ToR switches with two hosts each; one aggregation switch a pod by two links each; two cores.
#define TREE                                                                                                           \
    "# a comment\nnodes 8\nTIERS 3\nPodsize 4\n" TIER("0", "100", "2", "Radix_Up 2\n") "Switch_Latency_ns 7\n" TIER(   \
        "1", "100", "4", "Radix_Up 2\nOversubscribed 2\n") "Bundle 2\nqueue_up 9\n" TIER("2", "100", "2", "")

static uint32_t peer(const struct weft_topology *t, const char *name) {
    uint32_t port = weft_topology_find_port(t, name);
    assert_int_not_equal(port, WEFT_NONE);
    return t->port[t->port[port].peer].node;
}

static void a_fat_tree_and_its_flows(void **state) {
    const char *path[] = {put("flows.cm", "Nodes 8\nConnections 2\nFailures 3\n0->7 start 1000.5 size 5000\n"
                                          "7->0 id 2 size 1 start 2e6 prio 5\n"
                                          "failure switch_type AGG switch_id 1 link_id 1\n"
                                          "failure switch_id 3 switch_type TOR link_id 0\n"
                                          "failure link_id 0 switch_type CORE switch_id 1\n"),
                          put("tree.topo", TREE)};
    struct weft_error error;
    char *text = import("htsim", path, 2, &error);
    assert_string_equal(error.text, "");
    assert_non_null(strstr(text, "8 hosts in 2 pods, 4 ToR, 2 aggregation and 2 core switches"));
    assert_non_null(strstr(text, "# - Queue_Up and Queue_Down"));
    assert_non_null(strstr(text, "- {match: \"tor-*\", switch: {processing: 7ns}}"));
    assert_non_null(strstr(text, "- {match: \"core-*\", switch: {processing: 0ns}}"));
    assert_non_null(strstr(text, "- {at: 0s, link: agg-1/5, state: down}"));
    assert_non_null(strstr(text, "- {at: 0s, link: tor-3/2, state: down}")); // the first of a bundle
    assert_non_null(strstr(text, "- {at: 0s, link: core-1/0, state: down}"));
    assert_non_null(strstr(text, "  preset: htsim     # docs/peers-htsim.md\n  mtu: 9000B\n"));
    assert_non_null(strstr(text, "  buffer: {xoff: 135000B, xon: 107999B, size: 18000000B}\n"));
    free(text);
    struct run r = run_import("htsim", path, 2);
    const struct weft_topology *t = r.topology;
    assert_int_equal(t->links, 8 + 8 + 4);
    assert_string_equal(t->node[peer(t, "tor-3/1")].name, "host-7");
    assert_string_equal(t->node[peer(t, "tor-3/3")].name, "agg-1");
    assert_string_equal(t->node[peer(t, "agg-1/5")].name, "core-1");
    assert_string_equal(t->node[peer(t, "core-1/0")].name, "agg-0");
    assert_int_equal(t->link[0].delay_ps, WEFT_PS_PER_US);
    assert_int_equal(t->link[0].rate_bps, UINT64_C(100000000000));
    assert_int_equal(r.workload->flow[0].start_ps, 1000);
    assert_int_equal(r.workload->flow[1].start_ps, 2 * WEFT_PS_PER_US);
    assert_int_equal(r.workload->flow[1].priority, 5);
    run_free(&r);
}

/// Two aggregation switches a pod: the first of each pod reaches even cores, the second odd ones.
static void aggregation_switches_have_their_own_cores(void **state) {
    const char *path = put("tree.topo", "Nodes 16\nTiers 3\nPodsize 4\n" TIER("0", "100", "2", "Radix_Up 2\n")
                                            TIER("1", "100", "2", "Radix_Up 2\n") TIER("2", "100", "4", ""));
    struct run r = run_import("htsim", &path, 1);
    assert_string_equal(r.topology->node[peer(r.topology, "agg-4/2")].name, "core-0");
    assert_string_equal(r.topology->node[peer(r.topology, "agg-4/3")].name, "core-2");
    assert_string_equal(r.topology->node[peer(r.topology, "agg-5/2")].name, "core-1");
    assert_string_equal(r.topology->node[peer(r.topology, "agg-5/3")].name, "core-3");
    run_free(&r);
}

#define CM(flows) "Nodes 4\nConnections 1\n" flows "\n"

static void what_htsim_files_cannot_say(void **state) {
    static const struct bad_file bad[] = {
        {"htsim", "nodes 4\ntiers 2\n", ":1:1: expected Nodes, Tiers (2 or 3) and Podsize"},
        {"htsim", "nodes 4\ntiers 4\n", ":2:7: tiers is 4; expected at most 3"},
        {"htsim", "nodes 4\ntiers 2\nnodes 4\n", ":3:1: a second line 'nodes'"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\nradix_up 2\n", ":4:1: 'radix_up' before the first line 'Tier'"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\ntier 0\nspeed 2\n", ":5:1: 'speed'; expected Nodes, Tiers"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\ntier 0\nbundle 2\nbundle 2\n", ":6:1: a second line 'bundle'"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\ntier 3\n", ":4:6: the tier is 3; expected at most 2"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\ntier 0\ntier 0\n", ":5:1: a second tier 0"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\ntier 0\n", ":4:1: expected Downlink_speed_Gbps"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\n" TIER("0", "1", "2", ""), ":4:1: expected Radix_Up above 0"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\n" TIER("0", "1", "2", "Radix_Up 2\n"), ":1:1: no tier 1"},
        {"htsim", "nodes 4\ntiers 2\npodsize 2\n" TIER("0", "1", "2", "Radix_Up 2\n") TIER("1", "1", "1", ""),
         ":1:1: Podsize 2 of two tiers; expected Nodes, 4"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\n" TIER("0", "1", "2", "Radix_Up 1\n") TIER("1", "1", "2", ""),
         ":4:1: Radix_Up 1 of 2 ToR switches a pod"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\n" TIER("0", "1", "2", "Radix_Up 2\n") TIER("1", "1", "4", ""),
         ":9:1: Radix_Down 4 and Bundle 1 for 2 ToR switches"},
        {"htsim", "nodes 4\ntiers 2\npodsize 3\n" TIER("0", "1", "2", "Radix_Up 2\n") TIER("1", "1", "2", ""),
         ":1:1: Nodes 4, Podsize 3"},
        {"htsim", CM("0->4 start 0 size 1"), ":3:1: from 0 to 4 of 4 nodes"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\n" TIER("0", "100001", "2", "Radix_Up 2\n"),
         "100001 Gbit/s; expected at most"},
        {"htsim", "nodes 4\ntiers 2\npodsize 4\ntier 0\nDownlink_Latency_ns 1000000001\n",
         ":5:21: 1000000001 ns; expected"},
        {"htsim", CM("0->1 id 1 msg start 0 size 1"), ":3:11: 'msg'; expected start, size"},
        {"htsim", CM("0->0 start 0 size 1"), ":3:1: from node 0 to itself"},
        {"htsim", CM("0->x start 0 size 1"), ":3:1: the destination: "},
        {"htsim", CM("0->1 start 0"), ":3:1: a flow needs start or trigger, and a size"},
        {"htsim", CM("0->1 start -1 size 1"), ":3:12: the start: "},
        {"htsim", CM("0->1 start 0 size 1 prio 8"), ":3:26: the priority is 8; expected at most 7"},
        {"htsim", CM("0->1 start 0 start 0 size 1"), ":3:14: 'start'; expected start, size, prio, id, trigger"},
        {"htsim", CM("0->1 start 0 size 1\ntrigger id 1 oneshot"), ":1:1: Triggers 0, but 1 follow"},
        {"htsim", CM("Triggers 1\n0->1 start 0 size 1"), ":1:1: Triggers 1, but 0 follow"},
        {"htsim", CM("0->1 trigger 5 size 1"), ":3:1: there is no trigger 5"},
        {"htsim", CM(""), ":1:1: Connections 1, but 0 follow"},
        {"htsim", CM("Failures 1\n0->1 start 0 size 1"), ":1:1: Failures 1, but 0 follow"},
        {"htsim", CM("failure switch_type LEAF"), ":3:21: switch_type LEAF; expected TOR, AGG or CORE"},
        {"htsim", CM("failure switch_type AGG switch_id 1"), ":3:1: a failure needs switch_type"},
        {"htsim", CM("failure switch_type AGG switch_id 1 link_id 0"), ":3:1: a failed link; expected the fat tree"},
        {"htsim", CM("0->1 start 0 size 9223372036854775808"),
         ":3:1: a flow of 9223372036854775808 bytes; expected at"},
        {"htsim", "hello\n", "does not begin a file of htsim"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
    struct weft_error error;
    const char *path[] = {
        put("two.topo", "nodes 4\ntiers 2\npodsize 4\n" TIER("0", "1", "2", "Radix_Up 2\n") TIER("1", "1", "2", "")),
        put("two.cm", CM("Failures 1\n0->1 start 0 size 1\n"
                         "failure switch_type AGG switch_id 0 link_id 0"))};
    free(import("htsim", path, 2, &error));
    assert_non_null(strstr(error.text, "two.cm:5:1: a failed link of an agg switch; in a fat tree of two tiers"));
    static const char *const others[] = {"2", "3", "5", "8"}; // htsim refuses a matrix of another number of nodes
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[100];
        snprintf(text, sizeof text, "Connections 1\nNodes %s\n0->1 start 0 size 1\n", others[i]);
        path[1] = put("two.cm", text);
        free(import("htsim", path, 2, &error));
        snprintf(text, sizeof text, "two.cm:2:1: Nodes %s, but the fat tree has 4; expected as many", others[i]);
        assert_non_null(strstr(error.text, text));
    }
}

/// A flow of size 0 sends until the run ends, at htsim_roce's -end: with frames of 9064 B its 200 Gbit/s are full, but
/// for the first round. A second one over a queue pair each, in half the time, shares with it.
static void endless_flows(void **state) {
    const char *path = put("endless.cm", "Nodes 4\nConnections 2\n0->1 start 0 size 0\n2->3 start 0 size 2000000\n");
    struct run r = run_import("htsim", &path, 1);
    const struct weft_flow_outcome *f = r.outcome->flow;
    assert_int_equal(r.outcome->end, WEFT_END_UNTIL);
    assert_true(f[0].end_ps == WEFT_TIME_NEVER && f[1].end_ps != WEFT_TIME_NEVER);
    double most = 1e-3 * 200e9 / 8 * 9000 / 9064;
    assert_true((double)f[0].delivered_bytes < most && (double)f[0].delivered_bytes > .998 * most);
    run_free(&r);
    r = run_once("topology: {kind: single, hosts: 3, rate: 100Gbps}\nrun: {until: 1ms}\n"
                 "workload:\n- {kind: flow, src: host-0, dst: host-2, size: 0B, qps: 2}\n"
                 "- {kind: flow, src: host-1, dst: host-2, size: 0B, qps: 2, start: 500us}\n");
    f = r.outcome->flow;
    assert_true(f[0].end_ps == WEFT_TIME_NEVER && f[1].end_ps == WEFT_TIME_NEVER);
    double ratio = (double)f[0].delivered_bytes / (double)f[1].delivered_bytes; // 1 + 1/2 halves to 1/2
    if (ratio < 2.9 || ratio > 3.1) fail_msg("%g", ratio);
    run_free(&r);
}

/// Flows alone: the headroom that is told is that of the network assumed, 3 x 200 Gbit/s x 150 ns.
static void hpcc_flows_alone(void **state) {
    struct weft_error error;
    const char *path = put("flows.txt", "1\n0 1 3 100 1000 2.0\n");
    char *text = import("hpcc", &path, 1, &error);
    assert_non_null(strstr(text, "on the longest link: 11250 bytes"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fat_tree_and_its_flows),
        cmocka_unit_test(aggregation_switches_have_their_own_cores),
        cmocka_unit_test(what_htsim_files_cannot_say),
        cmocka_unit_test(endless_flows),
        cmocka_unit_test(hpcc_flows_alone),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
