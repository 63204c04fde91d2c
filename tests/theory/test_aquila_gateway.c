// SPDX-License-Identifier: Apache-2.0
// A Clique and ordinary racks under one Ethernet spine (NSDI 2022, section 2): packets leave the Clique at TiNs whose
// Ethernet port leads to the spine, and enter at the same. Each run also checks that bytes are conserved and that
// threads change nothing (run.h).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"

/// 16 TiNs with 32 hosts, of which four are gateways: tin-3, 7, 11 and 15 (even: spine-0); racks with host-32..39.
#define JOINED                                                                                                         \
    "topology: {kind: dragonfly, pods: 4, tins: 4, gateways: 4, spines: 2, tors: 2, hosts_per_tor: 4}\n"               \
    "switch: {buffer: {kind: dynamic, total: 1GB, alpha: 2}}\n"

/// A controller that takes microseconds, so that runs are short.
#define FAST                                                                                                           \
    "control: {sdn: {detect: 1us, latency: 100ns, nib_write: 50ns, nib: 50ns, call: 10ns, settle: 1us, compute: 5us, " \
    "rpc_overhead: 100ns, write: "                                                                                     \
    "100ns, rate: 0, ibr: 5us}}\nrun: {stall: 5ms, detection: 10us}\n"

static uint64_t sent(const struct run *r, const char *port) {
    uint64_t bytes = 0;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        bytes += run_counters(r, port, priority)->tx_bytes;
    return bytes;
}

/// Between every two hosts, of the Clique or not, and both ways through gateways: nothing is lost.
static void everybody_is_reached(void **state) {
    (void)state;
    struct run r = RUN(run_text, JOINED "workload: [{kind: all_to_all, size: 1KB}]\n");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
}

/// Shares of what leaves by the four gateways, of 512 flows, within four deviations of a binomial distribution.
static void assert_shares(const struct run *r, const double *share) {
    static const char *const gateway[] = {"tin-3->spine-0", "tin-7->spine-1", "tin-11->spine-0", "tin-15->spine-1"};
    uint64_t all = 0;
    for (unsigned i = 0; i < 4; i++)
        all += sent(r, gateway[i]);
    for (unsigned i = 0; i < 4; i++) {
        double flows = 512.0 * (double)sent(r, gateway[i]) / (double)all;
        assert_true(fabs(flows - 512 * share[i]) <= 4 * sqrt(512 * share[i] * (1 - share[i])));
    }
}

/// Flows out of the Clique are dealt to gateways by a hash: 32 hosts with 16 queue pairs, 512 to four gateways, within
/// four deviations of 128 each: sqrt(512 x 1/4 x 3/4) = 9.8.
static void gateways_share(void **state) {
    (void)state;
    struct run r = RUN(run_once, JOINED
                       "workload: [{kind: incast, size: 4096B, qps: 16, sources: \"host-0..31\", dst: host-32}]\n");
    assert_shares(&r, (double[]){0.25, 0.25, 0.25, 0.25});
    run_free(&r);
}

/// Links that fail leave ways out that are not alike. tin-11's own: spine-0 has as much left towards the racks as
/// spine-1, and one gateway instead of two, which is worth both. One of two links from spine-0 to the rack: what is
/// left is for two gateways, which are worth half of the others. Without weights all ways that are left are alike.
static void gateways_share_by_capacity(void **state) {
    (void)state;
    static const struct {
        const char *keys, *event, *exits;
        double share[4];
    } cases[] = {
        {"tor_parallel: 1", "tin-11--spine-0", "wcmp", {0.5, 0.25, 0, 0.25}},
        {"tor_parallel: 1", "tin-11--spine-0", "ecmp", {1 / 3., 1 / 3., 0, 1 / 3.}},
        {"tor_parallel: 2", "spine-0/2", "wcmp", {1 / 6., 1 / 3., 1 / 6., 1 / 3.}},
        {"tor_parallel: 2", "spine-0/2", "ecmp", {0.25, 0.25, 0.25, 0.25}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run r = RUN(run_once,
                           "topology: {kind: dragonfly, pods: 4, tins: 4, gateways: 4, spines: 2, tors: 2, "
                           "hosts_per_tor: 4, %s}\n"
                           "switch: {buffer: {kind: dynamic, total: 1GB, alpha: 2}}\ntin: {exits: %s}\n" FAST
                           "events: [{at: 1us, link: %s, state: down}]\n"
                           "workload: [{kind: incast, size: 4096B, qps: 16, sources: \"host-0..31\", dst: host-32, "
                           "start: 200us}]\n",
                           cases[i].keys, cases[i].exits, cases[i].event);
        run_assert_complete(&r);
        assert_shares(&r, cases[i].share);
        run_free(&r);
    }
}

/// A gateway has lost its Ethernet link, and this is known: all leave by the others, and nothing is lost.
static void a_gateway_fails(void **state) {
    (void)state;
    struct run r = RUN(run_once, JOINED FAST "events: [{at: 1us, link: tin-7--spine-1, state: down}]\n"
                                             "workload: [{kind: permutation, size: 64KB, start: 200us}]\n");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(sent(&r, "tin-7->spine-1"), 0);
    assert_true(sent(&r, "tin-3->spine-0") + sent(&r, "tin-11->spine-0") + sent(&r, "tin-15->spine-1") > 0);
    run_free(&r);
}

/// Without a gateway in service there is no way: packets are dropped with that reason, and the run ends.
static void no_gateway_is_left(void **state) {
    (void)state;
    struct run r =
        RUN(run_once, JOINED FAST
            "events: [{at: 1us, link: tin-3--spine-0, state: down}, {at: 1us, link: tin-7--spine-1, state: down}, "
            "{at: 1us, link: tin-11--spine-0, state: down}, {at: 1us, link: tin-15--spine-1, state: down}]\n"
            "workload: [{kind: flow, src: host-0, dst: host-32, size: 4096B, start: 200us}, "
            "{kind: flow, src: host-1, dst: host-31, size: 4096B, start: 200us}]\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_true(r.outcome->drops[WEFT_DROP_NO_ROUTE] > 0);
    assert_int_equal(weft_outcome_tin(r.outcome)->punted + weft_outcome_tin(r.outcome)->punts_refused,
                     r.outcome->drops[WEFT_DROP_NO_ROUTE]);
    assert_true(r.outcome->flow[0].end_ps == WEFT_TIME_NEVER);
    assert_true(run_fct(&r, 1) > 0); // within the Clique all is well
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_is_reached),       cmocka_unit_test(gateways_share),
        cmocka_unit_test(gateways_share_by_capacity), cmocka_unit_test(a_gateway_fails),
        cmocka_unit_test(no_gateway_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
