// SPDX-License-Identifier: Apache-2.0
// The formulas of advice against the numbers of their papers, and against sums done by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "weft/advice.h"

/// Zhu et al., SIGCOMM 2015, section 4: 12 MB, 32 ports, 8 priorities, 22.4 KB of headroom each, beta = 8: "t_ECN <
/// 21.7 KB". S = 12 MB - 8 x 32 x 22.4 KB = 6265.6 KB; alpha = beta / 8 = 1.
static void test_ecn_before_pfc(void **state) {
    const weft_bytes shared = 12000000 - 8 * 32 * 22400;
    assert_int_equal(shared, 6265600);
    assert_int_equal(weft_advice_calc_ecn_dynamic(shared, 1, 32, 8), 21755);
    // Fixed thresholds: S / (8 x 32) = 24475 B, and n times less for ECN, less than a frame: "infeasible".
    assert_int_equal(weft_advice_calc_ecn_fixed(24475, 32), 764);
}

/// Solved for alpha it gives alpha back; n Kmin = 696160, S - 8 x 696160 = 696320.
static void test_alpha(void **state) {
    assert_true(fabs(weft_advice_calc_alpha(6265600, 21755, 32, 8) - 696160.0 / 696320.0) < 1e-12);
    assert_true(weft_advice_calc_alpha(6265600, 30000, 32, 8) == 0); // 8 x 32 x 30 KB is more than S
}

static struct weft_advice_dcqcn paper(uint64_t flows) {
    return (struct weft_advice_dcqcn){.rate_bps = UINT64_C(40000000000),
                                      .increase_bps = 40000000,
                                      .timer_ps = 55 * WEFT_PS_PER_US,
                                      .interval_ps = 55 * WEFT_PS_PER_US,
                                      .counter_bytes = 10000000,
                                      .frame_bytes = 1000,
                                      .flows = flows};
}

/// C = 5e6, R_AI = 5000 packets/s, B = 10^4 packets, T = tau' = 55 us, N = 2: R_AI N^2 / (tau' C^2) = 20000 / 1.375e9 =
/// 1.45455e-5; 1/B + N/(TC) = 1e-4 + 2/275 = 7.37273e-3, squared 5.43571e-5; the cube root of the product 9.2473e-4.
/// The fluid model's own fixed point is 7.77e-4, which the approximation exceeds by 10% to 35%.
static void test_marks(void **state) {
    struct weft_advice_dcqcn d = paper(2);
    double p = weft_advice_calc_marks(&d);
    assert_true(fabs(p - 9.2473e-4) < 1e-7);
    assert_true(p > 1.1 * 7.77e-4 && p < 1.35 * 7.77e-4);
    weft_rate_bps back = weft_advice_calc_increase(&d, p);
    assert_true(back >= 39999900 && back <= 40000100);
    // p*^3 is in proportion to R_AI: half the marks, an eighth of the step.
    back = weft_advice_calc_increase(&d, p / 2);
    assert_true(back >= 4999980 && back <= 5000020);
    d = paper(16);
    assert_true(weft_advice_calc_increase(&d, 1) <= d.rate_bps);
}

/// 100 Gbit/s x 8 us = 100 KB; 300 KB below XOFF; four senders.
static void test_window(void **state) {
    struct weft_advice_window w = weft_advice_calc_window(UINT64_C(100000000000), 8 * WEFT_PS_PER_US, 300000, 4);
    assert_int_equal(w.most, 100000);
    assert_int_equal(w.least, 25000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecn_before_pfc),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
