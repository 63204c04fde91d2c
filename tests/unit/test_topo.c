// SPDX-License-Identifier: Apache-2.0
// weft topo as a user runs it.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char output[1 << 20];

/// Runs "weft topo - OPTIONS" with `scenario` on standard input. Returns the exit status; `output` has what it printed.
static int topo(const char *scenario, const char *options) {
    char command[4096];
    int n = snprintf(command, sizeof command, "cat <<'END' | \"$WEFT\" topo - %s 2>&1\n%s\nEND\n", options, scenario);
    assert_in_range(n, 1, sizeof command - 1);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = 0;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static json_int_t integer(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) fail_msg("%s is not a number", key);
    return json_integer_value(value);
}

static void json(void **state) {
    (void)state;
    const char *scenario = "name: two\n"
                           "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, parallel: 3}\n"
                           "switch: {processing: 1us}\n"
                           "devices: [{match: 'leaf-*', switch: {processing: 10ns}}]\n"
                           "events: [{at: 2ms, link: leaf-0/2, state: down}]";
    assert_int_equal(topo(scenario, "--json"), 0);
    json_error_t error;
    json_t *root = json_loads(output, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    assert_int_equal(integer(root, "hosts"), 4);
    assert_int_equal(integer(root, "switches"), 3);
    assert_int_equal(integer(root, "diameter_links"), 4);
    assert_int_equal(json_array_size(json_object_get(root, "nodes")), 7);
    assert_int_equal(json_array_size(json_object_get(root, "links")), 10);
    assert_int_equal(json_array_size(json_object_get(root, "events")), 1);
    assert_int_equal(integer(json_object_get(root, "bisection"), "bps"), INT64_C(400000000000));
    json_t *round_trip = json_object_get(root, "round_trip"); // 72 byte times at 200G: 2.88 ns
    assert_int_equal(integer(round_trip, "min_ps"), 2 * (2 * (150000 + 2880) + 10000));
    assert_int_equal(integer(round_trip, "max_ps"), 2 * (4 * (150000 + 2880) + 2 * 10000 + 1000000));
    json_decref(root);
}

static void assert_says(const char *const *said) {
    for (; *said; said++)
        if (!strstr(output, *said)) fail_msg("'%s' is not in:\n%s", *said, output);
}

// What Meta's text and FBOSS's constants say of an L2 zone, and of a building of a region.
static void scheduled_fabrics(void **state) {
    (void)state;
    assert_int_equal(topo("topology: dsf_l2_zone", ""), 0);
    assert_says((const char *const[]){
        "rdsw         512 boxes, each 36 ports of 400Gbps and 160 lanes of 100Gbps: 1.11 times the ports, 1.06 after",
        "fdsw         160 boxes of 4 virtual devices, each 128 lanes down and 128 up: 1:1\n",
        "sdsw         128 boxes of 4 virtual devices, each 160 lanes down\n",
        "one fabric of 18432 NIC ports, 7372.8Tbps\n", NULL});
    // a small region with the ratios of the text, and rates that IEEE 802.3 has no figure for
    assert_int_equal(
        topo("topology: {kind: dsf_region, l2_zones: 2, zones: 4, rdsws: 8, fdsws: 10, sdsws: 8, edsws: 8, "
             "edge_fdsws: 10, superspine_groups: 4, lane_rate: 425Gbps, hosts_per_rdsw: 9, host_rate: "
             "1.6Tbps}",
             ""),
        0);
    assert_says((const char *const[]){
        "sdsw         16 boxes of 4 virtual devices, each 40 lanes down and 10 up: 4:1\n",
        "edge-fdsw    20 boxes of 4 virtual devices, each 8 lanes down and 8 up: 1:1\n",
        "edsw         16 boxes, each 16 ports of 800Gbps and 40 lanes of 400Gbps: 1.25 times the ports, 1.19 after",
        "2 fabrics, each of 288 NIC ports, 460.8Tbps; 128 links out of it, 102.4Tbps: 4.5:1, 22.2% of what", NULL});
    assert_int_equal(topo("topology: {kind: dsf_l1_zone, planes: 2, rdsws: 8, fdsws: 3, hosts_per_rdsw: 2}", "--json"),
                     0);
    json_t *root = json_loads(output, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    json_t *dsf = json_object_get(json_array_get(json_object_get(root, "networks"), 1), "dsf");
    json_t *fdsw = json_array_get(json_object_get(dsf, "layers"), 1);
    assert_string_equal(json_string_value(json_object_get(fdsw, "layer")), "plane-1-fdsw");
    assert_int_equal(integer(fdsw, "boxes"), 3);
    assert_int_equal(integer(fdsw, "nodes"), 12);
    assert_int_equal(integer(fdsw, "lanes_down_max"), 8);
    assert_int_equal(integer(json_object_get(dsf, "first_fabric"), "hosts_bps"), INT64_C(16 * 400000000000));
    json_decref(root);
    // 72 byte times: 1.44 ns at 400G, 5.76 ns on a lane; each box has a processing of its own
    assert_int_equal(topo("topology: {kind: dsf_l1_zone, rails: 1, rdsws: 2, fdsws: 1, hosts_per_rdsw: 1}\n"
                          "interface_node: {processing: 1us}\nfabric_node: {processing: 100ns}",
                          "--json"),
                     0);
    root = json_loads(output, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_int_equal(integer(json_object_get(root, "round_trip"), "max_ps"),
                     2 * (2 * (100000 + 1440) + 2 * (350000 + 5760) + 2 * 1000000 + 100000));
    json_decref(root);
}

/// A frame of 64 B crosses a Clique as RTS, CTS and data, 16, 16 and 54 B, one after the other: tests/theory/
/// test_aquila_run.c has a packet alone take the same parts. At the spine it is a frame like any other.
static void round_trips_of_cells(void **state) {
    (void)state;
    assert_int_equal(topo("topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_delay: 100ns, "
                          "global_parallel: 4, local_ports: 6, global_ports: 2}",
                          "--json"),
                     0);
    json_t *root = json_loads(output, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    json_t *round_trip = json_object_get(root, "round_trip");
    int64_t ends = 2 * (5000 + 72 * 160) + 50000 + 3 * (50000 + 20000) + 2 * 4715 + 15912; // at 27.15G
    int64_t local = 3 * (20000 + 20000 + 2000), global = 3 * (20000 + 20000 + 100000 + 30000) + 2 * 283 + 955;
    assert_int_equal(integer(round_trip, "min_ps"), 2 * (ends + local));
    assert_int_equal(integer(round_trip, "max_ps"), 2 * (ends + 2 * local + global));
    json_decref(root);
}

static void text_and_dot(void **state) {
    (void)state;
    assert_int_equal(topo("topology: clos3", ""), 0);
    static const char *const said[] = {"1024 hosts, 168 switches, 2304 links",
                                       "wiring assumed: 4 pods",
                                       "25.6Tbps, 25%",
                                       "maximum flow",
                                       "4:1",
                                       "6 links, 5 switches"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(output, said[i])) fail_msg("no '%s' in\n%s", said[i], output);
    assert_int_equal(topo("topology: {kind: leaf_spine, parallel: 2}", "--dot"), 0);
    assert_int_equal(strncmp(output, "graph ", 6), 0);
    assert_non_null(strstr(output, "\"spine-7\" -- \"leaf-0\" [label=\"2 x 200Gbps\""));
    assert_non_null(strstr(output, "\"leaf-0\" -- \"host-0\""));
    assert_int_equal(topo("topology: clos3", "--dot"), 0);
    assert_non_null(strstr(output, "8 hosts"));
    assert_null(strstr(output, "\"host-0\""));
}

static void variants_and_mistakes(void **state) {
    (void)state;
    const char *scenario = "topology: single\nvariants: {small: {}, big: {topology: {kind: single, hosts: 99}}}";
    assert_int_equal(topo(scenario, "--variant big"), 0);
    assert_non_null(strstr(output, "99 hosts"));
    assert_int_equal(topo(scenario, "--set topology.hosts=7"), 0);
    assert_non_null(strstr(output, "7 hosts"));
    assert_int_equal(topo(scenario, "--variant huge"), 2);
    assert_int_equal(topo("topology: {kind: single, hosts: 0}", ""), 2);
    assert_non_null(strstr(output, "hosts"));
    assert_int_equal(topo("topology: single", "--svg"), 2);
    assert_int_equal(topo("topology: single", "--json --help"), 0);
}

// What the Aquila paper counts in a Clique (NSDI 2022, section 3 and appendix A).
static void clique(void **state) {
    (void)state;
    assert_int_equal(topo("topology: {kind: dragonfly, gateways: 512, spines: 16}", ""), 0);
    assert_says((const char *const[]){
        "Clique     48 pods of 12 TiNs, 1152 hosts; 24 racks, 288 line cards\n",
        "TiN        50 ports: 24 local, 22 used; 8 global, 7 to 8 used; 18 endpoints\n",
        "pod        96 global, 94 used; 2 to each other pod\n",
        "1128 pairs of pods, or 66 bundles of 4 cables between shuffles of 4 pods\n",
        "576 ports: 512 to spines, 24 for management of racks, 40 unused\n",
        "lost with  a TiN 2 hosts, a line card 4 hosts, a pod 24 hosts, a rack 48 hosts at most\n", NULL});
    assert_int_equal(topo("topology: {kind: dragonfly, pods: 2, tins: 4, global_parallel: 1}", "--json"), 0);
    json_t *root = json_loads(output, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    json_t *found = json_object_get(root, "clique"), *card = json_array_get(json_object_get(found, "blast_radius"), 1);
    assert_int_equal(integer(found, "global_links"), 1);
    assert_string_equal(json_string_value(json_object_get(card, "failed")), "line card");
    assert_int_equal(integer(card, "hosts_lost"), 8); // the link between the pods goes with it, and one of them
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(text_and_dot),
        cmocka_unit_test(scheduled_fabrics),
        cmocka_unit_test(round_trips_of_cells),
        cmocka_unit_test(clique),
        cmocka_unit_test(variants_and_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
