// SPDX-License-Identifier: Apache-2.0
// ECMP in the packet simulator: n flows from one leaf over m uplinks are balls in bins, and switches that hash alike
// polarise.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/// The greatest number of flows on one of `links` uplinks of leaf-0, and how many carry none. A flow is one packet.
static uint64_t most_on_a_link(unsigned flows, unsigned links, uint64_t seed, unsigned *ret_empty) {
    struct run r =
        RUN(run_once,
            "topology: {kind: leaf_spine, leaves: 2, spines: %u, hosts_per_leaf: 1, rate: 100Gbps}\n"
            "workload: [{kind: flow, src: host-0, dst: host-1, size: %uB, qps: %u}]\nrun: {seed: %" PRIu64 "}\n",
            links, flows, flows, seed);
    run_assert_complete(&r);
    uint64_t most = 0, all = 0;
    *ret_empty = 0;
    for (unsigned k = 0; k < links; k++) {
        char port[40];
        snprintf(port, sizeof port, "leaf-0->spine-%u", k);
        uint64_t n = run_counters(&r, port, 3)->tx_packets;
        if (n > most) most = n;
        *ret_empty += !n;
        all += n;
    }
    assert_int_equal(all, flows);
    run_free(&r);
    return most;
}

// E[greatest load] by simulation of 4000 to 20000 throws: n/m 8/8 2.60, 16/16 3.08, 32/16 4.83, 64/16 7.88, 256/16
// 23.45, 1000/16 76.8 (max/mean 1.229; "Max / mean link load above 1.2" for 1000 flows over 16 links: RDMA over
// Ethernet for distributed training at Meta scale, SIGCOMM 2024), 32/32 3.53, 64/64 3.97, 18/18 3.15, 128/128 4.38,
// 512/32 24.85. A link is empty with probability (1 - 1/m)^n. Tolerance: four standard errors of the mean over the
// seeds, and the last digit of the table.
static void flows_over_uplinks(void **state) {
    static const struct {
        unsigned flows, links, seeds;
        double most;
    } row[] = {{8, 8, 150, 2.60},    {16, 16, 150, 3.08},  {32, 16, 100, 4.83}, {64, 16, 100, 7.88},
               {256, 16, 60, 23.45}, {1000, 16, 40, 76.8}, {32, 32, 100, 3.53}, {64, 64, 60, 3.97},
               {18, 18, 150, 3.15},  {128, 128, 40, 4.38}, {512, 32, 40, 24.85}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        double sum = 0, squares = 0, empty = 0, n = row[i].seeds;
        for (unsigned seed = 1; seed <= row[i].seeds; seed++) {
            unsigned none;
            double most = (double)most_on_a_link(row[i].flows, row[i].links, seed, &none);
            sum += most;
            squares += most * most;
            empty += none;
        }
        double mean = sum / n, error = sqrt((squares / n - mean * mean) / n);
        if (fabs(mean - row[i].most) > 4 * error + .01 * row[i].most)
            fail_msg("%u flows over %u links: greatest load %.3f +- %.3f, expected %.2f", row[i].flows, row[i].links,
                     mean, error, row[i].most);
        double p = pow(1 - 1. / row[i].links, row[i].flows), expected = p * row[i].links * n;
        if (fabs(empty - expected) > 4 * sqrt(expected) + 1)
            fail_msg("%u flows over %u links: %.0f links empty, expected %.1f", row[i].flows, row[i].links, empty,
                     expected);
    }
}

/// Links from the aggregation layer of pod 0 to the core that carry something.
static unsigned used_core_links(const char *hash_seed) {
    struct run r = RUN(run_once,
                       "topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 4, core: 4, "
                       "hosts_per_access: 2, rate: 100Gbps}\nswitch: {route: {kind: ecmp, hash_seed: %s}}\n"
                       "workload: [{kind: flow, src: \"host-0..3\", dst: \"host-4..7\", size: 800KB, qps: 200}]\n",
                       hash_seed);
    run_assert_complete(&r);
    unsigned used = 0;
    for (unsigned a = 0; a < 4; a++)
        for (unsigned c = 0; c < 4; c++) {
            char port[40];
            snprintf(port, sizeof port, "aggregation-%u->core-%u", a, c);
            used += run_counters(&r, port, 3)->tx_packets > 0;
        }
    run_free(&r);
    return used;
}

// 800 queue pairs over 4 x 4 links: with seeds of their own every link is used (the chance that one is not is below
// 16 (15/16)^800, 1e-21); with one seed for all, a flow that the access layer sent to aggregation switch k goes to its
// k-th core link, so that each uses one of its four.
static void switches_that_hash_alike_polarise(void **state) {
    assert_int_equal(used_core_links("per_switch"), 16);
    assert_int_equal(used_core_links("same"), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_over_uplinks),
        cmocka_unit_test(switches_that_hash_alike_polarise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
