// SPDX-License-Identifier: Apache-2.0
// Route models in the packet simulator, and receivers that take packets in any order.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

static uint64_t packets_on(const struct run *r, const char *from, unsigned i, const char *to, unsigned k) {
    char port[64];
    snprintf(port, sizeof port, "%s-%u->%s-%u", from, i, to, k);
    return run_counters(r, port, 3)->tx_packets;
}

/// The greatest slowdown of a flow.
static double worst_slowdown(const struct run *r) {
    double worst = 0;
    for (uint32_t f = 0; f < r->outcome->flows; f++)
        worst = fmax(worst, (double)run_fct(r, f) / (double)r->outcome->flow[f].ideal_ps);
    return worst;
}

/// The greatest number of queue pairs on one of `links` uplinks; each sends one packet, all from one host to another
/// and from one UDP source port.
static uint64_t most_on_a_link(const char *route, unsigned qps, unsigned links, unsigned seed) {
    struct run r = RUN(run_once,
                       "topology: {kind: leaf_spine, leaves: 2, spines: %u, hosts_per_leaf: 1, rate: 100Gbps}\n"
                       "switch: {route: %s}\nhost: {source_port: host_pair}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-1, size: %uB, qps: %u}]\nrun: {seed: %u}\n",
                       links, route, qps, qps, seed);
    run_assert_complete(&r);
    uint64_t most = 0;
    for (unsigned k = 0; k < links; k++) {
        uint64_t n = packets_on(&r, "leaf", 0, "spine", k);
        if (n > most) most = n;
    }
    run_free(&r);
    return most;
}

// Queue pairs between two hosts are balls in bins under E-ECMP; E[greatest load] by simulation of 4000 to 20000 throws
// (1000 on 16: max/mean 1.229). Tolerance: four standard errors of the mean over the seeds, and the last digit of the
// table. Under ECMP they are one flow.
static void queue_pairs_spread_under_e_ecmp(void **state) {
    static const struct {
        unsigned qps, links, seeds;
        double most;
    } row[] = {{8, 8, 150, 2.60}, {16, 16, 150, 3.08}, {32, 16, 100, 4.83}, {64, 16, 60, 7.88}, {1000, 16, 30, 76.8}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        double sum = 0, squares = 0, n = row[i].seeds;
        for (unsigned seed = 1; seed <= row[i].seeds; seed++) {
            double most = (double)most_on_a_link("e_ecmp", row[i].qps, row[i].links, seed);
            sum += most;
            squares += most * most;
        }
        double mean = sum / n, error = sqrt((squares / n - mean * mean) / n);
        if (fabs(mean - row[i].most) > 4 * error + .01 * row[i].most)
            fail_msg("%u queue pairs over %u links: greatest load %.3f +- %.3f, expected %.2f", row[i].qps,
                     row[i].links, mean, error, row[i].most);
        assert_int_equal(most_on_a_link("ecmp", row[i].qps, row[i].links, 1), row[i].qps);
    }
}

#define RACKS                                                                                                          \
    "topology: {kind: leaf_spine, leaves: 2, spines: 8, hosts_per_leaf: 8, rate: 100Gbps, delay: 500ns}\n"             \
    "workload: [{kind: permutation, mode: shift, shift: 8, hosts: 'host-*', size: 400KB}]\n"

// Two whole racks of 8 exchange data over 8 spines: pinned, each link between switches has the packets of one flow up
// and of another down (400 KB in 4096 B: 98 packets) and their acknowledgements, one a packet; nobody waits for
// anybody.
static void pinning_whole_racks_has_no_collisions(void **state) {
    struct run r = run_text(RACKS "switch: {route: path_pinning}\nhost: {ack_own_priority: true}\n");
    run_assert_complete(&r);
    for (unsigned leaf = 0; leaf < 2; leaf++)
        for (unsigned k = 0; k < 8; k++) {
            assert_int_equal(packets_on(&r, "leaf", leaf, "spine", k), 98);
            assert_int_equal(packets_on(&r, "spine", k, "leaf", leaf), 98);
        }
    // An acknowledgement of 66 B (86 on the wire) goes with every packet of 4158 to 4174 B, on each link.
    assert_true(worst_slowdown(&r) < 1.03);
    run_free(&r);
}

// The same over three layers: flow (access switch a, host d) goes by aggregation switch d and its core link a, and
// comes down by aggregation switch d.
static void pinning_whole_pods_has_no_collisions(void **state) {
    struct run r =
        run_text("topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 4, core: 4, "
                 "hosts_per_access: 4, rate: 200Gbps}\nswitch: {route: path_pinning}\nhost: {ack_own_priority: true}\n"
                 "workload: [{kind: permutation, mode: shift, shift: 8, size: 1MB}]\n");
    run_assert_complete(&r);
    assert_true(worst_slowdown(&r) < 1.03);
    run_free(&r);
}

// A leaf's link has failed before the start: its downlink's flow goes by ECMP over the other 7 and shares one of them,
// both take about twice as long, and everything else is as before. The rack at the other end loses the link as well.
static void pinning_falls_back_after_a_failure(void **state) {
    struct run r = run_text(RACKS "switch: {route: path_pinning}\nhost: {ack_own_priority: true}\n"
                                  "events: [{at: 0s, link: leaf-0->spine-3, state: down}]\nrun: {detection: 0s}\n");
    run_assert_complete(&r);
    uint64_t all = 0, shared = 0;
    for (unsigned k = 0; k < 8; k++) {
        uint64_t n = packets_on(&r, "leaf", 0, "spine", k);
        assert_true(k == 3 ? n == 0 : n == 98 || n == 2 * 98);
        shared += n == 2 * 98;
        all += n;
    }
    assert_int_equal(all, 8 * 98);
    assert_int_equal(shared, 1);
    uint32_t slow = 0;
    for (uint32_t i = 0; i < 8; i++) { // those of the first rack
        double slowdown = (double)run_fct(&r, i) / (double)r.outcome->flow[i].ideal_ps;
        assert_true(slowdown < 2.1);
        slow += slowdown > 1.8;
    }
    assert_int_equal(slow, 2);
    run_free(&r);
}

// Round robin over the uplinks: one way only, so that the leaf's uplinks have data and nothing else.
static void sprayed_links_are_equal(void **state) {
    struct run r = run_text("topology: {kind: leaf_spine, leaves: 2, spines: 5, hosts_per_leaf: 4, rate: 100Gbps}\n"
                            "switch: {route: spray}\nhost: {out_of_order: accept}\n"
                            "workload: [{kind: flow, src: host-0..3, dst: host-4..7, size: 333KB}]\n");
    run_assert_complete(&r);
    uint64_t each = 4 * 82 / 5; // 333 KB are 82 packets
    for (unsigned k = 0; k < 5; k++)
        assert_in_range(packets_on(&r, "leaf", 0, "spine", k), each, each + 1);
    run_free(&r);
}

// One rack sends to another as fast as it can, 3.2 Tbit/s over uplinks of 3.2 Tbit/s, with nothing else on them: in
// turn, line rate but for what is in queues at the end, less than a packet from each of 16 hosts: 16 of 977 packets.
static void spray_reaches_line_rate(void **state) {
    struct run r = run_text("topology: {kind: leaf_spine, leaves: 2, spines: 16, hosts_per_leaf: 16, rate: 200Gbps}\n"
                            "switch: {route: spray}\nhost: {out_of_order: accept}\n"
                            "workload: [{kind: flow, src: host-0..15, dst: host-16..31, size: 4MB}]\n");
    run_assert_complete(&r);
    assert_true(worst_slowdown(&r) < 1 + 16. / 977);
    run_free(&r);
}

// A permutation over three layers without oversubscription. What a host needs beyond the ideal time: acknowledgements
// of what it receives, 86 B on the wire for every 4198 at most, 2 %; and, as packets of two sizes are counted alike or
// drawn at random, links whose bytes differ. A link with k packets of 977 has a share that varies by sqrt(977 (1 - 1/4)
// / 4) = 13.5, 1.4 % of a link that has its share from four hosts: 5 % for the fullest of 48. ECMP leaves flows that
// share a link, for twice the time.
static void spray_fills_the_fabric(void **state) {
    static const char scenario[] =
        "topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 4, core: 4, hosts_per_access: 4, "
        "rate: 200Gbps}\nworkload: [{kind: permutation, mode: shift, shift: 8, size: 4MB}]\n";
    static const char *const route[] = {"{kind: spray, order: round_robin}", "{kind: spray, order: random}",
                                        "{kind: load_aware}", "{kind: load_aware, samples: 0}"};
    for (unsigned i = 0; i < 4; i++) {
        struct run r = RUN(run_text, "%sswitch: {route: %s}\nhost: {out_of_order: accept}\n", scenario, route[i]);
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        uint64_t early = 0, placed = 0;
        for (uint32_t f = 0; f < r.outcome->flows; f++) {
            early += r.outcome->flow[f].out_of_order;
            placed += r.outcome->flow[f].out_of_order_placed;
        }
        assert_true(early > 0 && placed == early);
        double worst = worst_slowdown(&r);
        if (worst > 1.10) fail_msg("%s: %.3f times the ideal", route[i], worst);
        run_free(&r);
    }
    struct run r = RUN(run_text, "%sswitch: {route: ecmp}\n", scenario);
    assert_true(worst_slowdown(&r) > 1.8);
    run_free(&r);
}

// A chip that compares queues in steps spreads flows at line rate also over few uplinks. To the byte, each flow finds
// the uplink emptiest that it has just used, keeps to it, and meets others on the spines' lines down.
static void steps_spread_flows_at_line_rate(void **state) {
    double took[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: leaf_spine, leaves: 16, spines: 4, hosts_per_leaf: 4, rate: 400Gbps}\n"
                           "switch: {route: {kind: load_aware, samples: 0, depth_step: %s}}\n"
                           "host: {out_of_order: accept}\nworkload: [{kind: permutation, size: 1MB}]\n",
                           i ? "16KB" : "0B");
        run_assert_complete(&r);
        took[i] = worst_slowdown(&r);
        run_free(&r);
    }
    if (took[1] > 1.35 || took[1] > took[0] * 0.8) fail_msg("%.2f times the ideal, %.2f to the byte", took[1], took[0]);
}

// A NIC that discards out-of-order packets pays for spraying: every early packet is dropped, and retransmitted.
static void spray_without_acceptance_goes_back(void **state) {
    struct run r = run_text("topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 4, rate: 100Gbps}\n"
                            "switch: {route: {kind: spray, order: random}}\nhost: {timeout: 100us}\n"
                            "workload: [{kind: permutation, mode: shift, shift: 4, size: 200KB}]\n");
    run_assert_complete(&r);
    uint64_t early = 0, again = 0;
    for (uint32_t f = 0; f < r.outcome->flows; f++) {
        early += r.outcome->flow[f].out_of_order;
        again += r.outcome->flow[f].packets_again;
        assert_int_equal(r.outcome->flow[f].out_of_order_placed, 0);
    }
    assert_true(early > 0 && again >= early);
    assert_int_equal(early, r.outcome->drops[WEFT_DROP_OUT_OF_ORDER]);
    run_free(&r);
}

// With a gap that no packet leaves, a queue pair has one path and nothing comes out of order; with none, every packet
// may take another.
static void flowlets_keep_order_below_the_gap(void **state) {
    static const char *const gap[] = {"1s", "0ns"};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 4, rate: 100Gbps}\n"
                           "switch: {route: {kind: flowlet, gap: %s}}\nhost: {out_of_order: accept}\n"
                           "workload: [{kind: permutation, mode: shift, shift: 4, size: 200KB}]\n",
                           gap[i]);
        run_assert_complete(&r);
        uint64_t early = 0;
        for (uint32_t f = 0; f < r.outcome->flows; f++)
            early += r.outcome->flow[f].out_of_order;
        assert_int_equal(early > 0, i == 1);
        run_free(&r);
    }
}

// Packets are lost and come out of order, for every verb and for windows of account from one packet on: each byte is
// delivered once. With one path nothing overtakes, so what is early tells of a loss: placed, and only what is missing
// when the timeout is over is asked for.
static void losses_are_recovered_out_of_order(void **state) {
    static const char *const verb[] = {"write", "send", "read"};
    static const unsigned window[] = {1, 16, 1024};
    for (unsigned v = 0; v < 3; v++)
        for (unsigned i = 0; i < 3; i++) {
            struct run r =
                RUN(run_text,
                    "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 4, rate: 100Gbps, "
                    "bit_error_rate: 1e-7}\nswitch: {route: spray}\n"
                    "host: {out_of_order: accept, reorder_window: %u, reorder_timeout: 20us, timeout: 200us}\n"
                    "workload: [{kind: permutation, mode: shift, shift: 4, size: 400KB, verb: %s}]\n",
                    window[i], verb[v]);
            run_assert_complete(&r);
            assert_true(r.outcome->drops[WEFT_DROP_BIT_ERROR] > 0);
            run_free(&r);
        }
}

// Messages of a collective end in order, whatever the order of their packets, with losses too; the outcome's checks see
// every rank through to its end.
static void collectives_over_spray(void **state) {
    static const char *const collective[] = {"all_reduce_ring", "all_to_all"};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: leaf_spine, leaves: 2, spines: 3, hosts_per_leaf: 2, rate: 100Gbps, "
                           "bit_error_rate: 5e-8}\nswitch: {route: {kind: spray, order: random}}\n"
                           "host: {out_of_order: accept, reorder_window: 50, reorder_timeout: 20us, timeout: 200us}\n"
                           "workload: [{kind: collective, collective: {kind: %s, chunk: 64KB, slice: 32KB}, "
                           "size: 1MB}]\n",
                           collective[i]);
        assert_int_equal(r.status, WEFT_OK);
        assert_int_equal(r.outcome->end, WEFT_END_DONE);
        uint64_t placed = 0;
        for (uint32_t f = 0; f < r.outcome->flows; f++) {
            placed += r.outcome->flow[f].out_of_order_placed;
            assert_true(r.outcome->flow[f].end_ps != WEFT_TIME_NEVER);
        }
        assert_true(placed > 0 && r.outcome->drops[WEFT_DROP_BIT_ERROR] > 0);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_pairs_spread_under_e_ecmp),
        cmocka_unit_test(pinning_whole_racks_has_no_collisions),
        cmocka_unit_test(pinning_whole_pods_has_no_collisions),
        cmocka_unit_test(pinning_falls_back_after_a_failure),
        cmocka_unit_test(sprayed_links_are_equal),
        cmocka_unit_test(spray_reaches_line_rate),
        cmocka_unit_test(spray_fills_the_fabric),
        cmocka_unit_test(steps_spread_flows_at_line_rate),
        cmocka_unit_test(spray_without_acceptance_goes_back),
        cmocka_unit_test(flowlets_keep_order_below_the_gap),
        cmocka_unit_test(losses_are_recovered_out_of_order),
        cmocka_unit_test(collectives_over_spray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
