// SPDX-License-Identifier: Apache-2.0
// Both reaction points of DCQCN, step by step against calculation by hand, and against a plain reading of the algorithm
// in which every interval is an event.
#include "models.h"

#include <math.h>

#include "weft/cc.h"
#include "weft/random.h"

static const weft_time_ps us = WEFT_PS_PER_US;
static const weft_rate_bps G = 1000000000, M = 1000000;

struct rp {
    const struct weft_cc_ops *ops;
    void *conf, *state;
    struct weft_cc_fact fact;
    struct weft_cc_act act;
};

static struct rp rp_new(const char *name, const char *yaml, weft_rate_bps line) {
    const struct weft_model *model = model_of(WEFT_KIND_CC, name);
    struct rp rp = {.ops = model->ops, .conf = conf_of(model, yaml), .fact.line_rate_bps = line};
    rp.state = calloc(1, rp.ops->state_size(rp.conf));
    rp.act = (struct weft_cc_act){.rate_bps = 1, .timer_ps = 1, .window_bytes = UINT64_MAX};
    rp.ops->on_start(rp.state, rp.conf, &rp.fact, &rp.act);
    assert_int_equal(rp.act.rate_bps, line);
    assert_int_equal(rp.act.timer_ps, WEFT_TIME_NEVER); // nothing runs before the first CNP
    assert_int_equal(rp.act.window_bytes, UINT64_MAX);
    return rp;
}

static void rp_free(struct rp *rp) {
    free(rp->conf);
    free(rp->state);
}

static void cnp(struct rp *rp, weft_time_ps now) {
    rp->fact.now_ps = now;
    rp->ops->on_cnp(rp->state, rp->conf, &rp->fact, &rp->act);
    assert_null(rp->ops->check(rp->state, rp->conf, &rp->act));
}

static void timer(struct rp *rp, weft_time_ps expected) {
    assert_int_equal(rp->act.timer_ps, expected);
    rp->fact.now_ps = rp->act.timer_ps;
    rp->ops->on_timer(rp->state, rp->conf, &rp->fact, &rp->act);
    assert_null(rp->ops->check(rp->state, rp->conf, &rp->act));
}

static void sent(struct rp *rp, uint32_t bytes) {
    rp->fact.bytes = bytes;
    rp->ops->on_sent(rp->state, rp->conf, &rp->fact, &rp->act);
}

/// Lets timers expire up to `time`.
static void advance(struct rp *rp, weft_time_ps time) {
    while (rp->act.timer_ps <= time)
        timer(rp, rp->act.timer_ps);
}

// alpha starts at 1: the first CNP halves. Fast recovery closes half of the gap each time.
static void paper_first_cnp_and_fast_recovery(void **state) {
    struct rp rp = rp_new("dcqcn", NULL, 40 * G);
    cnp(&rp, 100 * us);
    assert_int_equal(rp.act.rate_bps, 20 * G); // 40 (1 - 1/2), target 40
    timer(&rp, 155 * us);
    assert_int_equal(rp.act.rate_bps, 30 * G);
    timer(&rp, 210 * us);
    assert_int_equal(rp.act.rate_bps, 35 * G);
    timer(&rp, 265 * us);
    assert_int_equal(rp.act.rate_bps, 37500 * M);
    rp_free(&rp);
}

// The second CNP comes 110 us after the first: alpha decayed twice (at 55 and 110 us), then is updated, then cuts:
// alpha = (255/256)^3 + 1/256 with g = 1/256. The timer raised the rate once or twice before: target = rate.
static void paper_second_cnp(void **state) {
    struct rp rp = rp_new("dcqcn", NULL, 40 * G);
    cnp(&rp, 0);
    timer(&rp, 55 * us);  // 30 G
    timer(&rp, 110 * us); // 35 G
    cnp(&rp, 110 * us);
    double keep = 255. / 256, alpha = keep * keep * keep + 1. / 256;
    assert_int_equal(rp.act.rate_bps, 35 * G - (weft_rate_bps)(35e9 * alpha / 2));
    weft_rate_bps rate = rp.act.rate_bps;
    timer(&rp, 165 * us);
    assert_int_equal(rp.act.rate_bps, (35 * G + rate + 1) / 2); // towards the new target
    rp_free(&rp);
}

// The paper's text cuts with the alpha of before: after 4 decays, (255/256)^4 instead of (255/256)^5 + 1/256.
static void paper_order_of_text(void **state) {
    struct rp text = rp_new("dcqcn", "{cnp_order: cut_then_alpha, increase_timer: 1s}", 40 * G);
    struct rp code = rp_new("dcqcn", "{cnp_order: alpha_then_cut, increase_timer: 1s}", 40 * G);
    double keep4 = pow(255. / 256, 4);
    cnp(&text, 0);
    cnp(&code, 0);
    cnp(&text, 220 * us);
    cnp(&code, 220 * us);
    assert_int_equal(text.act.rate_bps, 20 * G - (weft_rate_bps)(20e9 * keep4 / 2));
    assert_int_equal(code.act.rate_bps, 20 * G - (weft_rate_bps)(20e9 * (keep4 * 255 / 256 + 1. / 256) / 2));
    rp_free(&text);
    rp_free(&code);
}

// F = 5: timer expiries 1 to 4 recover, the 5th and later add R_AI (40 Mbit/s) to the target, as long as the byte
// counter has not expired more than F times as well.
static void paper_additive_increase(void **state) {
    struct rp rp = rp_new("dcqcn", "{min_rate: 1Mbps}", 100 * G);
    cnp(&rp, 0);      // rate 50 G, target 100 G
    cnp(&rp, 1 * us); // clamped: target 50 G, rate 25 G
    weft_rate_bps target = 50 * G, rate = 25 * G;
    for (unsigned i = 1; i <= 8; i++) {
        timer(&rp, 1 * us + i * 55 * us);
        if (i >= 5) target += 40 * M;
        rate = (target + rate + 1) / 2;
        assert_int_equal(rp.act.rate_bps, rate);
    }
    rp_free(&rp);
}

// Hyper increase needs more than F expiries of both; with F = 1: B and T at 2. It adds R_HAI, or i R_HAI in the i-th.
static void paper_hyper_increase(void **state) {
    static const char *const yaml[] = {
        "{fast_recovery_stages: 1, byte_counter: 1MB, hyper_increase: 200Mbps}",
        "{fast_recovery_stages: 1, byte_counter: 1MB, hyper_increase: 200Mbps, hyper_grows: true}"};
    for (unsigned grows = 0; grows < 2; grows++) {
        struct rp rp = rp_new("dcqcn", yaml[grows], 100 * G);
        cnp(&rp, 0);
        cnp(&rp, 1 * us);
        weft_rate_bps target = 50 * G, rate = 25 * G;
        unsigned t = 0, b = 0;
        for (unsigned i = 0; i < 8; i++) {
            if (i % 2) {
                sent(&rp, 1000000), b++;
            } else {
                timer(&rp, 1 * us + (i / 2 + 1) * 55 * us), t++;
            }
            unsigned least = t < b ? t : b;
            target += least > 1 ? 200 * M * (grows ? least - 1 : 1) : 40 * M;
            rate = (target + rate + 1) / 2;
            assert_int_equal(rp.act.rate_bps, rate);
        }
        rp_free(&rp);
    }
}

static void paper_byte_counter(void **state) {
    struct rp rp = rp_new("dcqcn", "{byte_counter: 10MB}", 40 * G);
    sent(&rp, 4000000000u); // does not count before the first CNP
    cnp(&rp, 0);
    sent(&rp, 9999999);
    assert_int_equal(rp.act.rate_bps, 20 * G);
    sent(&rp, 1);
    assert_int_equal(rp.act.rate_bps, 30 * G);
    assert_int_equal(rp.act.timer_ps, 55 * us); // the timer runs on
    sent(&rp, 5000000);
    cnp(&rp, 10 * us); // starts again
    weft_rate_bps rate = rp.act.rate_bps;
    sent(&rp, 5000000);
    assert_int_equal(rp.act.rate_bps, rate);
    sent(&rp, 5000000);
    assert_true(rp.act.rate_bps > rate);
    rp_free(&rp);
}

// Back at the line's rate nothing limits it any more, and nothing runs: by the byte counter as by the timer.
static void paper_back_at_the_line(void **state) {
    for (unsigned by_bytes = 0; by_bytes < 2; by_bytes++) {
        struct rp rp =
            rp_new("dcqcn", "{byte_counter: 1MB, fast_recovery_stages: 1, additive_increase: 100Gbps}", 40 * G);
        cnp(&rp, 0);
        for (unsigned i = 1; rp.act.rate_bps < 40 * G; i++) {
            assert_true(i < 100);
            assert_int_equal(rp.act.timer_ps, by_bytes ? 55 * us : i * 55 * us);
            if (by_bytes)
                sent(&rp, 1000000);
            else
                timer(&rp, i * 55 * us);
        }
        assert_int_equal(rp.act.timer_ps, WEFT_TIME_NEVER);
        assert_null(rp.ops->check(rp.state, rp.conf, &rp.act));
        rp_free(&rp);
    }
}

// Without the clamp the target stays where it was if nothing raised the rate since the last CNP.
static void paper_target_without_clamp(void **state) {
    struct rp rp = rp_new("dcqcn", "{clamp_target: false}", 40 * G);
    cnp(&rp, 0);       // 20 G of 40 G
    cnp(&rp, 10 * us); // 10 G, target still 40 G
    assert_int_equal(rp.act.rate_bps, 10 * G);
    timer(&rp, 65 * us);
    assert_int_equal(rp.act.rate_bps, 25 * G);
    cnp(&rp, 66 * us); // now the target follows
    weft_rate_bps rate = rp.act.rate_bps;
    timer(&rp, 121 * us);
    assert_int_equal(rp.act.rate_bps, (25 * G + rate + 1) / 2);
    rp_free(&rp);
}

static void paper_rate_stays_in_bounds(void **state) {
    struct rp rp = rp_new("dcqcn", "{min_rate: 100Mbps}", 40 * G);
    for (unsigned i = 0; i < 100; i++)
        cnp(&rp, i * 50 * us);
    assert_int_equal(rp.act.rate_bps, 100 * M);
    rp.fact.now_ps = 5000 * us;
    advance(&rp, 100 * WEFT_PS_PER_S);
    assert_int_equal(rp.act.rate_bps, 40 * G);
    assert_int_equal(rp.act.timer_ps, WEFT_TIME_NEVER); // at line rate nothing runs
    rp_free(&rp);
}

/// The algorithm read plainly: alpha and increase timers are events, nothing rests, rates are real numbers.
struct plain {
    double rate, target, alpha, line;
    weft_time_ps alpha_ps, increase_ps;
    double bytes;
    unsigned t, b;
};

static void plain_increase(struct plain *p) {
    unsigned least = p->t < p->b ? p->t : p->b, most = p->t > p->b ? p->t : p->b;
    p->target += least > 5 ? 200e6 : most >= 5 ? 40e6 : 0;
    if (p->target > p->line) p->target = p->line;
    p->rate = (p->rate + p->target) / 2;
}

static void plain_advance(struct plain *p, weft_time_ps now) {
    while (p->alpha_ps <= now || p->increase_ps <= now) {
        if (p->alpha_ps <= p->increase_ps) {
            p->alpha *= 1 - 1. / 256;
            p->alpha_ps += 55 * us;
        } else {
            p->t++;
            plain_increase(p);
            p->increase_ps += 55 * us;
        }
    }
}

static void plain_cnp(struct plain *p, weft_time_ps now) {
    p->target = p->rate;
    p->alpha = (1 - 1. / 256) * p->alpha + 1. / 256;
    p->rate *= 1 - p->alpha / 2;
    if (p->rate < 100e6) p->rate = 100e6;
    p->t = p->b = 0;
    p->bytes = 0;
    p->alpha_ps = p->increase_ps = now + 55 * us;
}

static void plain_sent(struct plain *p, double bytes) {
    if (p->alpha_ps == WEFT_TIME_NEVER) return; // before the first CNP
    p->bytes += bytes;
    if (p->bytes < 10e6) return;
    p->bytes -= 10e6;
    p->b++;
    plain_increase(p);
}

// Lazy alpha, whole rates and resting timers change nothing beyond rounding to 1 bit/s (a few, as it is fed back).
static void paper_equals_plain_reading(void **state) {
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct rp rp = rp_new("dcqcn", NULL, 100 * G);
        struct plain p = {100e9, 100e9, 1, 100e9, WEFT_TIME_NEVER, WEFT_TIME_NEVER, 0, 0, 0};
        struct weft_random random = weft_random_stream(1, seed, WEFT_RANDOM_TEST);
        weft_time_ps now = 0;
        for (unsigned i = 0; i < 3000; i++) {
            now += weft_random_below(&random, weft_random_below(&random, 50) ? 30 * us : 20000 * us);
            advance(&rp, now);
            plain_advance(&p, now);
            rp.fact.now_ps = now;
            if (weft_random_below(&random, 5) == 0) {
                cnp(&rp, now);
                plain_cnp(&p, now);
            } else {
                uint32_t bytes = (uint32_t)weft_random_below(&random, 3000000);
                sent(&rp, bytes);
                plain_sent(&p, bytes);
            }
            if (fabs((double)rp.act.rate_bps - p.rate) > 100)
                fail_msg("step %u: %llu, plainly %f", i, (unsigned long long)rp.act.rate_bps, p.rate);
        }
        rp_free(&rp);
    }
}

// First CNP: alpha = 1, the rate is kept, and after 4 us (alpha decayed 4 times: 1, 2, 3 and 4 us) the first cut.
static void connectx_first_cnp(void **state) {
    struct rp rp = rp_new("dcqcn_connectx", NULL, 100 * G);
    cnp(&rp, 10 * us);
    assert_int_equal(rp.act.rate_bps, 100 * G);
    timer(&rp, 14 * us);
    double alpha = pow(255. / 256, 4);
    assert_int_equal(rp.act.rate_bps, 100 * G - (weft_rate_bps)(100e9 * alpha / 2));
    weft_rate_bps rate = rp.act.rate_bps;
    // No further CNP: 300 us later fast recovery (stage 0 < F = 1) towards 100 G.
    timer(&rp, 314 * us);
    assert_int_equal(rp.act.rate_bps, (100 * G + rate + 1) / 2);
    rp_free(&rp);
}

static void connectx_rate_on_first_cnp(void **state) {
    struct rp rp = rp_new("dcqcn_connectx", "{rate_on_first_cnp: 0.85}", 100 * G);
    cnp(&rp, 10 * us);
    assert_int_equal(rp.act.rate_bps, 85 * G);
    rp_free(&rp);
}

// CNPs between two checks are one: two cuts for many CNPs in 8 us, and alpha counts each microsecond once.
static void connectx_cuts_once_an_interval(void **state) {
    struct rp rp = rp_new("dcqcn_connectx", NULL, 100 * G);
    cnp(&rp, 0);
    cnp(&rp, 500 * WEFT_PS_PER_NS);
    cnp(&rp, 600 * WEFT_PS_PER_NS);
    cnp(&rp, 2500 * WEFT_PS_PER_NS);
    timer(&rp, 4 * us);
    double k = 255. / 256, g = 1. / 256;
    double alpha = 1 * k + g; // 1 us: a CNP came
    alpha = alpha * k;        // 2 us: none
    alpha = alpha * k + g;    // 3 us: one
    alpha = alpha * k;        // 4 us: none
    weft_rate_bps rate = 100 * G - (weft_rate_bps)(100e9 * alpha / 2);
    assert_in_range(rp.act.rate_bps, rate - 1, rate + 1);
    assert_int_equal(rp.act.timer_ps, 304 * us); // no check without a CNP
    cnp(&rp, 7 * us);
    timer(&rp, 8 * us);
    alpha = pow(k, 3) * alpha; // 5, 6, 7 us; the CNP at 7 us came after that update
    alpha = alpha * k + g;     // 8 us
    weft_rate_bps again = rate - (weft_rate_bps)((double)rate * alpha / 2);
    assert_in_range(rp.act.rate_bps, again - 2, again + 2);
    // The timer raised nothing in between: the target is still 100 G.
    timer(&rp, 308 * us);
    assert_in_range(rp.act.rate_bps, (100 * G + again) / 2 - 2, (100 * G + again) / 2 + 2);
    rp_free(&rp);
}

// F = 1: stage 0 recovers, stage 1 adds R_AI, later ones R_HAI.
static void connectx_increases(void **state) {
    struct rp rp = rp_new("dcqcn_connectx", "{clamp_target: true}", 100 * G);
    cnp(&rp, 0);
    timer(&rp, 4 * us);
    cnp(&rp, 5 * us);
    weft_rate_bps target = rp.act.rate_bps;
    timer(&rp, 8 * us);
    weft_rate_bps rate = rp.act.rate_bps;
    for (unsigned i = 0; i < 5; i++) {
        timer(&rp, 308 * us + i * 300 * us);
        target += i == 0 ? 0 : i == 1 ? 50 * M : 100 * M;
        rate = (target + rate + 1) / 2;
        assert_int_equal(rp.act.rate_bps, rate);
    }
    rp_free(&rp);
}

static void connectx_limits_of_a_cut(void **state) {
    // gd 10 would take alpha of the rate, nearly all; min_decrease_factor leaves a quarter.
    struct rp rp = rp_new("dcqcn_connectx", "{gd: 10, min_decrease_factor: 25%, min_rate: 10Gbps}", 100 * G);
    cnp(&rp, 0);
    timer(&rp, 4 * us);
    assert_int_equal(rp.act.rate_bps, 25 * G);
    cnp(&rp, 5 * us);
    timer(&rp, 8 * us);
    assert_int_equal(rp.act.rate_bps, 10 * G); // 6.25 G is below min_rate
    rp_free(&rp);
    rp = rp_new("dcqcn_connectx", "{gd: 10, min_decrease_factor: 100%}", 100 * G);
    cnp(&rp, 0);
    timer(&rp, 4 * us);
    assert_int_equal(rp.act.rate_bps, 100 * G);
    rp_free(&rp);
}

/// Back within 1 Mbit/s of line rate, the next CNP is a first one: alpha is initial_alpha again, and the cut half.
/// Without release alpha is what is left of it, 255/256 to the power of 6004, and the cut next to nothing.
static void connectx_releases_at_line_rate(void **state) {
    static const char *const texts[] = {"{release: true}", NULL};
    for (unsigned i = 0; i < 2; i++) {
        struct rp rp = rp_new("dcqcn_connectx", texts[i], 100 * G);
        cnp(&rp, 0);
        advance(&rp, 6000 * us); // 19 increases: each halves the gap of 49 Gbit/s, to 94 kbit/s
        cnp(&rp, 6000 * us);
        advance(&rp, 6004 * us);
        if (i)
            assert_true(rp.act.rate_bps > 99 * G);
        else
            assert_in_range(rp.act.rate_bps, 50 * G, 51 * G);
        rp_free(&rp);
    }
}

// At 300 us after a cut the increase comes before a cut due at the same time, which then sees a raised rate and follows
// it with the target.
static void connectx_increase_comes_before_cut(void **state) {
    struct rp rp = rp_new("dcqcn_connectx", NULL, 100 * G);
    cnp(&rp, 0);
    timer(&rp, 4 * us);
    weft_rate_bps rate = rp.act.rate_bps;
    cnp(&rp, 303 * us);
    double alpha = pow(255. / 256, 303) * 255 / 256 + 1. / 256;
    timer(&rp, 304 * us);
    weft_rate_bps raised = (100 * G + rate + 1) / 2;
    assert_in_range(rp.act.rate_bps, raised - (weft_rate_bps)((double)raised * alpha / 2) - 1,
                    raised - (weft_rate_bps)((double)raised * alpha / 2) + 1);
    weft_rate_bps low = rp.act.rate_bps;
    timer(&rp, 604 * us);
    assert_int_equal(rp.act.rate_bps, (raised + low + 1) / 2);
    rp_free(&rp);
}

/// The same by events: alpha every microsecond, a check every 4, nothing rests.
struct plain_connectx {
    double rate, target, alpha, line;
    weft_time_ps alpha_ps, check_ps, increase_ps;
    unsigned stage;
    bool alpha_cnp, cut_cnp;
};

static void plain_connectx_cut(struct plain_connectx *p) {
    if (p->stage) p->target = p->rate;
    p->rate *= 1 - p->alpha / 2;
    if (p->rate < 100e6) p->rate = 100e6;
    p->stage = 0;
    p->cut_cnp = false;
    p->increase_ps = p->check_ps + 300 * us;
}

static void plain_connectx_advance(struct plain_connectx *p, weft_time_ps now) {
    for (;;) {
        weft_time_ps next = p->alpha_ps < p->check_ps ? p->alpha_ps : p->check_ps;
        if (p->increase_ps < next) next = p->increase_ps;
        if (next > now) return;
        if (p->alpha_ps == next) {
            p->alpha = (1 - 1. / 256) * p->alpha + (p->alpha_cnp ? 1. / 256 : 0);
            p->alpha_cnp = false;
            p->alpha_ps += 1 * us;
        } else if (p->increase_ps == next) {
            p->target += p->stage == 0 ? 0 : p->stage == 1 ? 50e6 : 100e6;
            if (p->target > p->line) p->target = p->line;
            p->rate = (p->rate + p->target) / 2;
            p->stage++;
            p->increase_ps += 300 * us;
        } else {
            if (p->cut_cnp) plain_connectx_cut(p);
            p->check_ps += 4 * us;
        }
    }
}

static void plain_connectx_cnp(struct plain_connectx *p, weft_time_ps now) {
    p->cut_cnp = true;
    if (p->alpha_ps != WEFT_TIME_NEVER) {
        p->alpha_cnp = true;
        return;
    }
    p->alpha_ps = now + 1 * us;
    p->check_ps = now + 4 * us;
}

static void connectx_equals_plain_reading(void **state) {
    for (uint32_t seed = 1; seed <= 10; seed++) {
        struct rp rp = rp_new("dcqcn_connectx", NULL, 100 * G);
        struct plain_connectx p = {.rate = 100e9, .target = 100e9, .alpha = 1, .line = 100e9};
        p.alpha_ps = p.check_ps = p.increase_ps = WEFT_TIME_NEVER;
        struct weft_random random = weft_random_stream(2, seed, WEFT_RANDOM_TEST);
        weft_time_ps now = 0;
        for (unsigned i = 0; i < 2000; i++) {
            weft_time_ps most = weft_random_below(&random, 100) ? 10 * us : 30000 * us;
            if (weft_random_below(&random, 8) == 0) most = 1000 * us;
            now += weft_random_below(&random, most);
            advance(&rp, now);
            plain_connectx_advance(&p, now);
            cnp(&rp, now);
            plain_connectx_cnp(&p, now);
            if (fabs((double)rp.act.rate_bps - p.rate) > 100)
                fail_msg("step %u: %llu, plainly %f", i, (unsigned long long)rp.act.rate_bps, p.rate);
        }
        rp_free(&rp);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_first_cnp_and_fast_recovery),
        cmocka_unit_test(paper_second_cnp),
        cmocka_unit_test(paper_order_of_text),
        cmocka_unit_test(paper_additive_increase),
        cmocka_unit_test(paper_hyper_increase),
        cmocka_unit_test(paper_byte_counter),
        cmocka_unit_test(paper_back_at_the_line),
        cmocka_unit_test(paper_target_without_clamp),
        cmocka_unit_test(paper_rate_stays_in_bounds),
        cmocka_unit_test(paper_equals_plain_reading),
        cmocka_unit_test(connectx_first_cnp),
        cmocka_unit_test(connectx_rate_on_first_cnp),
        cmocka_unit_test(connectx_cuts_once_an_interval),
        cmocka_unit_test(connectx_increases),
        cmocka_unit_test(connectx_limits_of_a_cut),
        cmocka_unit_test(connectx_releases_at_line_rate),
        cmocka_unit_test(connectx_increase_comes_before_cut),
        cmocka_unit_test(connectx_equals_plain_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
