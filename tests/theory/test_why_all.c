// SPDX-License-Identifier: Apache-2.0
// Every flow that ended, and every iteration of a job, is explained to the picosecond, whatever the network, its
// routes, planes, transport and traffic; and no group's throughput is above what its links carry.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weft/result.h"
#include "why.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const networks[] = {
    "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2, host_rate: 400Gbps, spine_rate: 200Gbps}",
    "topology: {kind: fat_tree, k: 4}",
    "topology: {kind: networks, networks: {a: &n {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2}, b: *n}}",
    "topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 2, rails: 1}",
    "topology: {kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 2}",
};
enum { PLANES = 2, CELLS = 3 };

/// Of a network; the others have none of them.
static const char *const planes[] = {"separate", "queue_pair", "packet"};
static const char *const switches[] = {
    "{}",
    "{route: spray}",
    "{route: load_aware}",
    "{route: e_ecmp, forwarding: cut_through}",
    "{pfc: {priorities: none}, aqm: {kind: trim, min: 20KB, max: 60KB, depth: 100KB}}",
    "{aqm: {kind: wred, min: 20KB, max: 100KB}}",
    "{packet_rate: 20000000, forwarding: cut_through}",
};
enum { LOSSY = 4 };
static const char *const hosts[] = {
    "transport: roce_rc",
    "transport: roce_rc, cc: dcqcn",
    "transport: {kind: roce_rc, out_of_order: accept}, window: 64KB",
    "transport: roce_rc, work_request: 50ns",
    "transport: roce_rc, send_latency: 700ns, receive_latency: 600ns, completion_latency: 900ns, post_cost: 60ns, "
    "pcie_rate: 150Gbps, pcie_round_trip: 400ns, processing: 300ns, packet_rate: 20000000",
    "transport: uet, cc: none",
    "preset: uet",
    "transport: {kind: uet, spray: reps}",
    "preset: htsim",
};
static const char *const loads[] = {
    "{kind: incast, sources: \"%shost-0..3\", dst: %shost-5, size: 100KB, qps: 3}",
    "{kind: permutation, hosts: \"%shost-*\", mode: shift, shift: 3, size: 60001B, qps: 2, verb: read}",
    "{kind: flow, src: %shost-0, dst: %shost-5, size: 3B, qps: 7}",
    "{kind: incast, sources: \"%shost-0..2\", dst: %shost-5, post: {depth: 3, messages: 9, size: 10001B}}",
    "{kind: job, hosts: \"%shost-*\", group: j, iterations: 2, operations: [{collective: all_reduce_ring, size: "
    "200KB}]}",
    "{kind: job, hosts: \"%shost-*\", group: j, operations: [{collective: all_to_all, size: 100KB, compute: 3us}]}",
    "{kind: job, hosts: \"%shost-*\", group: j, qps: 2, operations: [{collective: all_gather, size: 300KB}]}",
    "{kind: rma, clients: \"%shost-0..2\", servers: %shost-5, duration: 20us, size: 4KB, rate: 20%%}",
};

static void assert_throughput(const struct run *r, const char *text) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    const struct weft_result_table *t = weft_result_table_at(0);
    for (uint32_t i = 0; strcmp((t = weft_result_table_at(i))->name, "groups"); i++)
        ;
    double most = 0; // of what all hosts can send
    for (uint32_t h = 0; h < r->topology->hosts; h++)
        most += (double)r->topology->link[weft_topology_port(r->topology, r->topology->host[h], 0)->link].rate_bps;
    struct weft_result_walk walk = weft_result_walk(&run, t, arena);
    struct weft_result_cursor *row;
    uint64_t delivered = 0, all = 0;
    while ((row = weft_result_next(&walk)))
        for (uint32_t k = 0; k < t->columns; k++) {
            struct weft_result_value v = weft_result_value(row, &t->column[k]);
            if (!strcmp(t->column[k].name, "throughput_bps") && v.known && v.real > most) {
                fputs(text, stderr);
                fail_msg("%g bit/s over %g", v.real, most);
            }
            if (!strcmp(t->column[k].name, "delivered_bytes") && v.known) delivered += v.whole;
        }
    for (uint32_t f = 0; f < r->workload->flows; f++)
        all += r->workload->flow[f].rma ? 0 : r->outcome->flow[f].delivered_bytes;
    assert_int_equal(delivered, all);
    weft_arena_free(arena);
}

static void one_run(uint32_t n, uint32_t sw, uint32_t host, uint32_t load, uint32_t plane, const char *until) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *prefix = n == PLANES ? "a-" : "";
    char *traffic = text_of(loads[load], prefix, prefix);
#pragma GCC diagnostic pop
    char *text = text_of("%s\nswitch: %s\nhost: {planes: %s, %s}\nworkload: [%s]\nrun: {until: %s}\n", networks[n],
                         switches[sw], n == PLANES ? planes[plane] : "separate", hosts[host], traffic, until);
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (!status) {
        r.outcome = run_again(&r, 1, text);
        why_assert_sums(&r, text);
        why_assert_iterations(&r, text);
        assert_throughput(&r, text);
    } else if (!strstr(r.error.text, "needs Ethernet switches") && !strstr(r.error.text, "or a wire of their own") &&
               !strstr(r.error.text, "remote memory access, and host.planes")) {
        fail_msg("%s in\n%s", r.error.text, text);
    }
    run_free(&r);
    free(traffic);
    free(text);
}

static void every_combination(void **state) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_WORKLOAD);
    for (uint32_t n = 0; n < COUNT(networks); n++)
        for (uint32_t load = 0; load < COUNT(loads); load++)
            for (uint32_t host = 0; host < COUNT(hosts); host++) {
                uint32_t sw = (uint32_t)(weft_random_u64(&random) % (n >= CELLS ? 1 : COUNT(switches)));
                uint32_t plane = (uint32_t)(weft_random_u64(&random) % COUNT(planes));
                one_run(n, sw, host, load, plane, host % 3 ? "10ms" : "7us");
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_combination)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
