// SPDX-License-Identifier: Apache-2.0
// Swift step by step, against calculation by hand from Kumar et al., SIGCOMM 2020, sections 3.1 to 3.5.
#include "control.h"

#include <math.h>

enum { PACKET = 4096 };
static const weft_time_ps us = WEFT_PS_PER_US;
static const weft_rate_bps LINE = 100000000000;

static struct control swift_new(const char *yaml) {
    return control_new("swift", yaml, LINE, PACKET);
}

static void ack(struct control *s, weft_time_ps now, uint32_t packets, weft_time_ps rtt) {
    control_ack(s, now, packets * PACKET, rtt);
}

static void assert_window(const struct control *s, unsigned packets) {
    assert_int_equal(s->act.window_bytes, (weft_bytes)packets * PACKET);
}

// Without flow scaling the target is base + hops x hop: 20 us + 4 x 3 us.
static void below_the_target_it_grows_by_ai_an_rtt(void **state) {
    struct control s = swift_new("{fs_range: 0ns, hops: 4, initial_cwnd: 4}");
    assert_window(&s, 4);
    ack(&s, 31 * us, 4, 31 * us); // 4 + 4 x 1 / 4
    assert_window(&s, 5);
    ack(&s, 62 * us, 5, 31 * us);
    assert_window(&s, 6);
    assert_int_equal(s.act.rate_bps, LINE);
    control_free(&s);
}

static void above_it_it_shrinks_in_proportion_and_once_an_rtt(void **state) {
    struct control s = swift_new("{fs_range: 0ns, initial_cwnd: 100}");
    ack(&s, 40 * us, 1, 40 * us); // 1 - 0.8 (40 - 20) / 40 = 0.6
    assert_window(&s, 60);
    ack(&s, 79 * us, 1, 40 * us);
    assert_window(&s, 60);
    ack(&s, 80 * us, 1, 0); // an ACK without a sample: the delay of the last one
    assert_window(&s, 36);
    ack(&s, 1000 * us, 1, 400 * us); // not more than max_mdf, 1/2
    assert_window(&s, 18);
    control_free(&s);
}

static void losses(void **state) {
    struct control s = swift_new("{fs_range: 0ns, initial_cwnd: 64, timeouts: 3, min_cwnd: 0.01}");
    ack(&s, 20 * us, 0, 20 * us);
    control_lose(&s, 40 * us, 0);
    assert_window(&s, 32);
    control_lose(&s, 45 * us, 1); // within the RTT
    assert_window(&s, 32);
    control_lose(&s, 60 * us, 2);
    assert_window(&s, 16);
    control_lose(&s, 61 * us, 3); // the third in a row: min_cwnd, one packet every 20 us / 0.01
    assert_window(&s, 1);
    assert_int_equal(s.act.rate_bps, (weft_rate_bps)((PACKET + 82) * 8 / 2000e-6));
    control_free(&s);
}

// Below one packet: ai a packet acknowledged, and one packet every delay / cwnd.
static void less_than_a_packet_is_paced(void **state) {
    struct control s = swift_new("{fs_range: 0ns, initial_cwnd: 0.5, ai: 0.25}");
    ack(&s, 10 * us, 1, 10 * us); // 0.75
    assert_window(&s, 1);
    assert_true(fabs((double)s.act.rate_bps / ((PACKET + 82) * 8 * .75 / 10e-6) - 1) < 1e-8);
    ack(&s, 20 * us, 1, 10 * us); // 1: not paced any more
    assert_int_equal(s.act.rate_bps, LINE);
    control_free(&s);
}

// a = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max)), b = -a / sqrt(fs_max). With fs_range 90 us between 0.01 and 1:
// a = 90 / (10 - 1) = 10 us, b = -10 us; at cwnd 0.25 the target is 20 us + 10 / 0.5 - 10 = 30 us.
static void small_windows_have_a_higher_target(void **state) {
    const char *yaml = "{fs_range: 90us, fs_min_cwnd: 0.01, fs_max_cwnd: 1, initial_cwnd: 0.25, ai: 1}";
    struct control s = swift_new(yaml);
    ack(&s, 29 * us, 1, 29 * us); // below it: 1.25
    assert_int_equal(s.act.rate_bps, LINE);
    control_free(&s);
    s = swift_new(yaml);
    ack(&s, 31 * us, 1, 31 * us); // above it: 0.25 (1 - 0.8 x 1 / 31)
    double cwnd = .25 * (1 - .8 / 31);
    assert_true(fabs((double)s.act.rate_bps / ((PACKET + 82) * 8 * cwnd / 31e-6) - 1) < 1e-8);
    control_free(&s);
}

// At the target the delay is one that shrinks by nothing, and a rate below 1 bit/s is 1.
static void edges(void **state) {
    struct control s = swift_new("{fs_range: 0ns, initial_cwnd: 8}");
    ack(&s, 20 * us, 8, 20 * us);
    assert_window(&s, 8);
    ack(&s, 41 * us, 8, 20 * us - 1);
    assert_window(&s, 9);
    control_free(&s);
    s = swift_new("{fs_range: 0ns, initial_cwnd: 1/1000000, min_cwnd: 1/1000000}");
    control_lose(&s, 1, 5);
    ack(&s, 2, 0, WEFT_PS_PER_S);
    assert_int_equal(s.act.rate_bps, 1); // 33424 bits in a million seconds
    control_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_the_target_it_grows_by_ai_an_rtt),
        cmocka_unit_test(above_it_it_shrinks_in_proportion_and_once_an_rtt),
        cmocka_unit_test(losses),
        cmocka_unit_test(edges),
        cmocka_unit_test(less_than_a_packet_is_paced),
        cmocka_unit_test(small_windows_have_a_higher_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
