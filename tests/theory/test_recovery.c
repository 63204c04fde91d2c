// SPDX-License-Identifier: Apache-2.0
// Go-back-N under bit errors and failing links: every byte is delivered exactly once, whatever is lost.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

static const char *const verbs[] = {"write", "send", "read"};

// A frame of n bytes is lost with probability p = 1 - (1 - BER)^(8 n). Of N frames that host-0 sends, N p are lost,
// within four standard deviations of the binomial distribution, sqrt(N p (1 - p)). N p is above 16, so that none lost
// would fail.
static void assert_loss(const struct run *r, const char *port, double bit_error_rate, double bytes) {
    const struct weft_counters *c = run_counters(r, port, 3);
    double p = -expm1(8 * bytes * log1p(-bit_error_rate)), expected = p * (double)c->tx_packets;
    double tolerance = 4 * sqrt(expected * (1 - p));
    assert_true(tolerance < expected);
    form_assert("Frames lost to bit errors (1 - (1 - BER)^bits)", (double)c->drops, expected, tolerance / expected);
}

static void bit_errors(void **state) {
    for (unsigned v = 0; v < 3; v++)
        for (unsigned e = 0; e < 3; e++)
            for (unsigned every = 1; every <= 16; every += 15) {
                double rate = (const double[]){1e-7, 3e-7, 1e-6}[e];
                unsigned size_mb = (const unsigned[]){40, 13, 4}[e]; // 33 frames or more are lost at each rate
                struct run r = RUN(run_text,
                                   "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 1, rate: "
                                   "100Gbps, delay: 150ns, bit_error_rate: %g}\n"
                                   "host: {timeout: 50us, window: 256KiB, ack_every: %u}\n"
                                   "workload: [{kind: flow, src: host-0, dst: host-1, size: %uMB, verb: %s, qps: 3}]\n",
                                   rate, every, size_mb, verbs[v]);
                run_assert_complete(&r);
                assert_loss(&r, "host-0/0", rate, 4158);
                assert_true(r.outcome->drops[WEFT_DROP_BIT_ERROR] > 0);
                assert_true(r.outcome->flow[0].packets_again > 0);
                // Retransmitted packets are those that were lost, or arrived out of order, or twice.
                uint64_t lost = r.outcome->drops[WEFT_DROP_BIT_ERROR] + r.outcome->drops[WEFT_DROP_OUT_OF_ORDER] +
                                r.outcome->drops[WEFT_DROP_DUPLICATE];
                assert_true(r.outcome->flow[0].packets_again <= lost);
                assert_int_equal(run_drops(&r), lost);
                run_free(&r);
            }
}

// A flow alone loses L of its N frames to bit errors. Selective retransmission sends each of them once more, in the
// place of a frame that would have been sent then, so the last bit leaves after (N + L) frame times, less its gap, and
// is at the receiver after two links, the switch and one more frame, again without the gap. Where the last frame was
// lost or sent again last, the line was idle for a round trip at most. Going back sends again what was under way as
// well, about a round trip for each loss.
static void a_loss_costs_one_frame(void **state) {
    double frame = 4178 * 8 / 100e9, gap = 12 * 8 / 100e9, way = frame - 2 * gap + 2 * 150e-9 + 300e-9;
    double trip = 2 * way + 2 * 86 * 8 / 100e9;
    static const char *const settings[] = {"retransmission: selective, reorder_timeout: 0ns", "nak_interval: never"};
    uint64_t again[2], lost[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 150ns, bit_error_rate: 3e-8}\n"
                           "host: {timeout: 50us, %s}\n"
                           "workload: [{kind: flow, src: host-1, dst: host-0, size: 81920000B, verb: send}]\n",
                           settings[i]);
        run_assert_complete(&r);
        again[i] = r.outcome->flow[0].packets_again;
        lost[i] = run_counters(&r, "host-1/0", 3)->drops;
        lost[i] += run_counters(&r, "switch-0/0", 3)->drops;
        double seconds = (double)run_fct(&r, 0) * 1e-12, least = (20000. + (double)again[i]) * frame + way;
        assert_true(lost[i] >= 16 && lost[i] < 80); // 40 +- 4 sigma
        assert_true(seconds > least - 1e-9 && seconds < least + trip);
        if (i == 0)
            form_assert("Time of a flow that sends lost frames again alone ((N + L) frames and the way)", seconds,
                        least, trip / least);
        run_free(&r);
    }
    assert_int_equal(again[0], lost[0]);
    assert_true((double)again[1] > (double)lost[1] * (trip / frame - 2));
}

// Without errors nothing is retransmitted: neither the timeout nor a NAK occurs by itself.
static void nothing_is_sent_again_without_need(void **state) {
    for (unsigned v = 0; v < 3; v++) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: 9, rate: 100Gbps}\nhost: {timeout: 2ms, ack_every: 16}\n"
                           "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 1MB, verb: %s}]\n",
                           verbs[v]);
        run_assert_complete(&r);
        for (uint32_t i = 0; i < r.outcome->flows; i++)
            assert_int_equal(r.outcome->flow[i].packets_again, 0);
        assert_int_equal(run_drops(&r), 0);
        run_free(&r);
    }
}

// One of two uplinks fails at 200 us. Until the routes avoid it, 100 us later, what goes there is lost (reason
// link_down); the first packet by the other way is out of order, and the sender goes back. 10 MB take 816 us; so the
// flow ends 100 us later, give or take a few round trips.
static void routes_avoid_a_failed_link(void **state) {
    for (unsigned v = 0; v < 3; v++) {
        unsigned used = 0;
        for (unsigned spine = 0; spine < 2; spine++) {
            struct run r = RUN(run_text,
                               "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 1, rate: 100Gbps, "
                               "delay: 150ns}\nhost: {timeout: 2ms}\n"
                               "events: [{at: 200us, link: leaf-0--spine-%u, state: down}]\n"
                               "workload: [{kind: flow, src: host-0, dst: host-1, size: 10MB, verb: %s}]\n"
                               "run: {detection: 100us}\n",
                               spine, verbs[v]);
            run_assert_complete(&r);
            uint64_t lost = r.outcome->drops[WEFT_DROP_LINK_DOWN];
            double us = (double)run_fct(&r, 0) * 1e-6;
            if (lost) {
                used++;
                double packets = 100e-6 * 100e9 / 8 / 4178; // of the data; a little more for what was on the link
                assert_true((double)lost > packets - 2 && (double)lost < packets * 1.1 + 10);
                assert_true(us > 915 && us < 925);
                char other[40];
                snprintf(other, sizeof other, "leaf-0->spine-%u", 1 - spine);
                assert_true(run_counters(&r, other, 3)->tx_packets > 1500);
            } else {
                assert_true(us > 815 && us < 825);
            }
            run_free(&r);
        }
        assert_in_range(used, 1, 2); // 2: its ACKs, or the request of a READ, go by the other
    }
}

// The only uplink is away from 100 us to 1 ms. First packets are lost on it, then (50 us later) there is no route, and
// every timeout of 200 us sends into nothing, until 50 us after it is back. 1.25 MB take 102 us.
static void no_route_until_the_link_is_back(void **state) {
    for (unsigned v = 0; v < 3; v++) {
        struct run r = RUN(run_text,
                           "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1, rate: 100Gbps, "
                           "delay: 150ns}\nhost: {timeout: 200us, window: 64KiB}\n"
                           "events: [{at: 50us, link: leaf-0--spine-0, state: down}, "
                           "{at: 1ms, link: leaf-0--spine-0, state: up}]\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, size: 1250000B, verb: %s}]\n"
                           "run: {detection: 50us}\n",
                           verbs[v]);
        run_assert_complete(&r);
        assert_true(r.outcome->drops[WEFT_DROP_LINK_DOWN] > 0);
        assert_true(r.outcome->drops[WEFT_DROP_NO_ROUTE] > 0);
        // Of 1250 us at the latest (the next timeout) plus the rest of the transfer.
        assert_in_range(run_fct(&r, 0), 1050 * WEFT_PS_PER_US, 1400 * WEFT_PS_PER_US);
        run_free(&r);
    }
}

// A link that flaps twenty times, 20 us down and 60 us up, with routes that follow after 5 us.
static void flapping_link(void **state) {
    char events[4096] = "";
    for (unsigned i = 0; i < 20; i++)
        sprintf(events + strlen(events),
                "{at: %uus, link: leaf-0--spine-0, state: down}, {at: %uus, link: leaf-0--spine-0, state: up}, ",
                10 + 80 * i, 30 + 80 * i);
    for (unsigned v = 0; v < 3; v++) {
        struct run r =
            RUN(run_text,
                "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps, delay: "
                "150ns}\nhost: {timeout: 100us}\nevents: [%s]\n"
                "workload: [{kind: all_to_all, size: 500KB, verb: %s}]\nrun: {detection: 5us}\n",
                events, verbs[v]);
        run_assert_complete(&r);
        assert_true(r.outcome->drops[WEFT_DROP_LINK_DOWN] > 0);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_errors),
        cmocka_unit_test(a_loss_costs_one_frame),
        cmocka_unit_test(nothing_is_sent_again_without_need),
        cmocka_unit_test(routes_avoid_a_failed_link),
        cmocka_unit_test(no_route_until_the_link_is_back),
        cmocka_unit_test(flapping_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
