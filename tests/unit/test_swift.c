// SPDX-License-Identifier: Apache-2.0
// Swift step by step, against calculation by hand from Kumar et al., SIGCOMM 2020, sections 3.1 to 3.5.
#include "models.h"

#include <math.h>

#include "weft/cc.h"

enum { PACKET = 4096 };
static const weft_time_ps us = WEFT_PS_PER_US;
static const weft_rate_bps LINE = 100000000000;

struct swift {
    const struct weft_cc_ops *ops;
    void *conf, *state;
    struct weft_cc_fact fact;
    struct weft_cc_act act;
};

static struct swift swift_new(const char *yaml) {
    const struct weft_model *model = model_of(WEFT_KIND_CC, "swift");
    struct swift s = {.ops = model->ops, .conf = conf_of(model, yaml)};
    s.fact = (struct weft_cc_fact){.line_rate_bps = LINE, .packet_bytes = PACKET};
    s.state = calloc(1, s.ops->state_size(s.conf));
    s.ops->on_start(s.state, s.conf, &s.fact, &s.act);
    return s;
}

static void swift_free(struct swift *s) {
    free(s->conf);
    free(s->state);
}

static void ack(struct swift *s, weft_time_ps now, uint32_t packets, weft_time_ps rtt) {
    s->fact.now_ps = now;
    s->fact.bytes = packets * PACKET;
    s->fact.rtt_ps = rtt;
    s->ops->on_ack(s->state, s->conf, &s->fact, &s->act);
    assert_null(s->ops->check(s->state, s->conf, &s->act));
}

static void lose(struct swift *s, weft_time_ps now, uint32_t timeouts) {
    s->fact.now_ps = now;
    s->fact.timeouts = timeouts;
    s->ops->on_loss(s->state, s->conf, &s->fact, &s->act);
}

static void assert_window(const struct swift *s, unsigned packets) {
    assert_int_equal(s->act.window_bytes, (weft_bytes)packets * PACKET);
}

// Without flow scaling the target is base + hops x hop: 20 us + 4 x 3 us.
static void below_the_target_it_grows_by_ai_an_rtt(void **state) {
    struct swift s = swift_new("{fs_range: 0ns, hops: 4, initial_cwnd: 4}");
    assert_window(&s, 4);
    ack(&s, 31 * us, 4, 31 * us); // 4 + 4 x 1 / 4
    assert_window(&s, 5);
    ack(&s, 62 * us, 5, 31 * us);
    assert_window(&s, 6);
    assert_int_equal(s.act.rate_bps, LINE);
    swift_free(&s);
}

static void above_it_it_shrinks_in_proportion_and_once_an_rtt(void **state) {
    struct swift s = swift_new("{fs_range: 0ns, initial_cwnd: 100}");
    ack(&s, 40 * us, 1, 40 * us); // 1 - 0.8 (40 - 20) / 40 = 0.6
    assert_window(&s, 60);
    ack(&s, 79 * us, 1, 40 * us);
    assert_window(&s, 60);
    ack(&s, 80 * us, 1, 0); // an ACK without a sample: the delay of the last one
    assert_window(&s, 36);
    ack(&s, 1000 * us, 1, 400 * us); // not more than max_mdf, 1/2
    assert_window(&s, 18);
    swift_free(&s);
}

static void losses(void **state) {
    struct swift s = swift_new("{fs_range: 0ns, initial_cwnd: 64, timeouts: 3, min_cwnd: 0.01}");
    ack(&s, 20 * us, 0, 20 * us);
    lose(&s, 40 * us, 0);
    assert_window(&s, 32);
    lose(&s, 45 * us, 1); // within the RTT
    assert_window(&s, 32);
    lose(&s, 60 * us, 2);
    assert_window(&s, 16);
    lose(&s, 61 * us, 3); // the third in a row: min_cwnd, one packet every 20 us / 0.01
    assert_window(&s, 1);
    assert_int_equal(s.act.rate_bps, (weft_rate_bps)((PACKET + 82) * 8 / 2000e-6));
    swift_free(&s);
}

// Below one packet: ai a packet acknowledged, and one packet every delay / cwnd.
static void less_than_a_packet_is_paced(void **state) {
    struct swift s = swift_new("{fs_range: 0ns, initial_cwnd: 0.5, ai: 0.25}");
    ack(&s, 10 * us, 1, 10 * us); // 0.75
    assert_window(&s, 1);
    assert_true(fabs((double)s.act.rate_bps / ((PACKET + 82) * 8 * .75 / 10e-6) - 1) < 1e-8);
    ack(&s, 20 * us, 1, 10 * us); // 1: not paced any more
    assert_int_equal(s.act.rate_bps, LINE);
    swift_free(&s);
}

// a = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max)), b = -a / sqrt(fs_max). With fs_range 90 us between 0.01 and 1:
// a = 90 / (10 - 1) = 10 us, b = -10 us; at cwnd 0.25 the target is 20 us + 10 / 0.5 - 10 = 30 us.
static void small_windows_have_a_higher_target(void **state) {
    const char *yaml = "{fs_range: 90us, fs_min_cwnd: 0.01, fs_max_cwnd: 1, initial_cwnd: 0.25, ai: 1}";
    struct swift s = swift_new(yaml);
    ack(&s, 29 * us, 1, 29 * us); // below it: 1.25
    assert_int_equal(s.act.rate_bps, LINE);
    swift_free(&s);
    s = swift_new(yaml);
    ack(&s, 31 * us, 1, 31 * us); // above it: 0.25 (1 - 0.8 x 1 / 31)
    double cwnd = .25 * (1 - .8 / 31);
    assert_true(fabs((double)s.act.rate_bps / ((PACKET + 82) * 8 * cwnd / 31e-6) - 1) < 1e-8);
    swift_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_the_target_it_grows_by_ai_an_rtt),
        cmocka_unit_test(above_it_it_shrinks_in_proportion_and_once_an_rtt),
        cmocka_unit_test(losses),
        cmocka_unit_test(less_than_a_packet_is_paced),
        cmocka_unit_test(small_windows_have_a_higher_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
