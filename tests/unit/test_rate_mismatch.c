// SPDX-License-Identifier: Apache-2.0
// One flow from a fast link into a slow one: when marks are made, and what a rate that rises does to the pace.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"

/// 200G into 100G: the queue is marked above 20 KB. The first CNP leaves a thousandth of the rate, 200 Mbit/s, at which
/// a full packet has 4178 x 8 / 0.2 Gbit/s = 167 us to itself. But after one cut_interval and increase_timer, 15 us in
/// all, the rate is half-way back to its target. Were the packet's pace that of when it was set, 167 us would be the
/// least.
static void a_raised_rate_wakes(void **state) {
    struct run r =
        RUN(run_text, "topology:\n"
                      "  kind: list\n"
                      "  nodes: [{name: s, role: switch}, {name: a, role: host}, {name: b, role: host}]\n"
                      "  links: [{from: a, to: s, rate: 200Gbps}, {from: b, to: s, rate: 100Gbps}]\n"
                      "switch: {aqm: {kind: wred, min: 20KB, max: 20KB}}\n"
                      "host: {cnp_interval: 1ms, cc: {kind: dcqcn_connectx, rate_on_first_cnp: 1/1000,\n"
                      "       min_rate: 1bps, cut_interval: 5us, increase_timer: 10us, clamp_target: false,\n"
                      "       additive_increase: 100Gbps, hyper_increase: 100Gbps}}\n"
                      "workload: [{kind: flow, src: a, dst: b, size: 500KB}]\n");
    run_assert_complete(&r);
    assert_int_equal(r.outcome->flow[0].cnps, 1);
    assert_in_range(run_fct(&r, 0), 41 * WEFT_PS_PER_US, 120 * WEFT_PS_PER_US);
    run_free(&r);
}

/// 120 full packets arrive every T and leave every 2T. Packet i, leaving at 2iT, leaves min(i, 119 - i) behind; packet
/// j, arriving at jT, meets floor(j / 2). 100 KB are passed by 25 frames of 4158: i from 25 to 94, j from 50 to 119.
static void marks_at_both_ends(void **state) {
    for (unsigned departure = 0; departure < 2; departure++) {
        struct run r = RUN(run_text,
                           "topology:\n"
                           "  kind: list\n"
                           "  nodes: [{name: s, role: switch}, {name: a, role: host}, {name: b, role: host}]\n"
                           "  links: [{from: a, to: s, rate: 200Gbps}, {from: b, to: s, rate: 100Gbps}]\n"
                           "switch: {aqm: {kind: wred, min: 100KB, max: 100KB, mark_at: %s}}\n"
                           "workload: [{kind: flow, src: a, dst: b, size: 491520B}]\n",
                           departure ? "departure" : "arrival");
        run_assert_complete(&r);
        assert_int_equal(run_counters(&r, "s->b", 3)->ecn_marked, 70);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_raised_rate_wakes),
        cmocka_unit_test(marks_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
