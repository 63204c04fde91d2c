// SPDX-License-Identifier: Apache-2.0
// Link-level retry: nothing is lost at any bit error rate, and what that costs in time.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

static struct run flow_run(double bit_error_rate, const char *retry, unsigned packets, const char *transport) {
    return RUN(run_text,
               "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 500ns, override: [{link: \"host-1/0\", "
               "bit_error_rate: %g}]}\n"
               "switch: {retry: %s}\nhost: {retry: %s, transport: {kind: %s, timeout: 1ms}}\n"
               "workload: [{kind: flow, src: host-1, dst: host-0, size: %uB, verb: send}]\n",
               bit_error_rate, retry, retry, transport, packets * 4096);
}

// Of N frames of n bytes, each try is destroyed with p = 1 - (1 - BER)^(8 n), so there are N p / (1 - p) more tries,
// with a variance of N p / (1 - p)^2. Each delays all that follows by its own time on the line but for the gap, a round
// trip of the link, and the reaction: (n + 8) byte times + 2 delay + reaction. The transport sees none of it.
static void a_retry_costs_a_round_trip_of_the_link(void **state) {
    enum { PACKETS = 20000 };
    double bits = 8 * 4158, try_seconds = 4166 * 8 / 100e9 + 2 * 500e-9 + 100e-9;
    struct run clean = flow_run(0, "llr", PACKETS, "roce_rc");
    for (unsigned e = 0; e < 3; e++) {
        double rate = (const double[]){3e-8, 1e-6, 1e-5}[e];
        struct run r = flow_run(rate, "{kind: llr, tries: 1000}", PACKETS, "roce_rc");
        run_assert_complete(&r);
        double p = -expm1(bits * log1p(-rate)), expected = PACKETS * p / (1 - p);
        double retries = (double)run_counters(&r, "host-1/0", 3)->link_retries;
        assert_int_equal(run_drops(&r), 0);
        assert_int_equal(r.outcome->flow[0].packets_again, 0);
        form_assert("LLR: tries beyond the first (N p / (1 - p), p = 1 - (1 - BER)^bits)", retries, expected,
                    4 * sqrt(PACKETS * p) / (1 - p) / expected);
        double seconds = (double)run_fct(&r, 0) * 1e-12, alone = (double)run_fct(&clean, 0) * 1e-12;
        form_assert("LLR: time of a flow (alone + retries (frame + 2 delay + reaction))", seconds,
                    alone + retries * try_seconds, 1e-9);
        run_free(&r);
    }
    run_free(&clean);
}

// A frame that is destroyed `tries` times in a row is lost, with probability p^tries.
static void a_frame_is_given_up_after_its_tries(void **state) {
    enum { PACKETS = 4000 };
    double p = -expm1(8 * 4158 * log1p(-1e-5));
    for (unsigned tries = 1; tries <= 3; tries++) {
        char retry[64];
        snprintf(retry, sizeof retry, "{kind: llr, tries: %u}", tries);
        struct run r =
            flow_run(1e-5, retry, PACKETS, "roce_rc, retransmission: selective, reorder_timeout: 0ns, ack_every: 64");
        run_assert_complete(&r);
        const struct weft_counters *c = run_counters(&r, "host-1/0", 3);
        double q = pow(p, tries), expected = q * (double)c->tx_packets;
        form_assert("LLR: frames given up (N p^tries)", (double)c->drops, expected, 4 / sqrt(expected));
        run_free(&r);
    }
}

// The baseline loses what llr with one try loses, to the frame.
static void none_retries_nothing(void **state) {
    struct run none = flow_run(1e-6, "none", 4000, "roce_rc"),
               one = flow_run(1e-6, "{kind: llr, tries: 1}", 4000, "roce_rc");
    assert_true(none.outcome->drops[WEFT_DROP_BIT_ERROR] > 0);
    assert_true(weft_outcome_digest(none.outcome) == weft_outcome_digest(one.outcome));
    run_free(&none);
    run_free(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retry_costs_a_round_trip_of_the_link),
        cmocka_unit_test(a_frame_is_given_up_after_its_tries),
        cmocka_unit_test(none_retries_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
