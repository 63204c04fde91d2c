// SPDX-License-Identifier: Apache-2.0
// RCI by hand: scores and levels (OpenBCM 6.5.24, fabric_cgm_tune.c), and n x lane rate x 0.95 x 0.99 x 0.95 / (level +
// 1) as the rate that credits may have (fabric_tune.c; its 0.90 for FEC is not in a lane's rate here).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "box/dsf/dsf_in.h"

static uint32_t score(double l0, double l1, double l2, double severe, uint64_t egress) {
    return weft__in_rci_score((const double[]){l0, l1, l2}, severe, egress);
}

static void a_level_by_the_score(void **state) {
    static const uint32_t rows[][2] = {{0, 0},   {199, 0}, {200, 1}, {299, 1}, {300, 2}, {400, 3},
                                       {500, 4}, {600, 5}, {700, 6}, {799, 6}, {800, 7}, {1000, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(weft__in_rci_level(rows[i][0]), rows[i][1]);
}

/// Each link 4, 5 or 6 by its own level; 5 at least from 60 links on and 6 from 80 on (the local level).
static void congested_links_score(void **state) {
    assert_int_equal(score(0, 0, 0, 64, 0), 0);
    assert_int_equal(score(1, 0, 0, 64, 0), 4);
    assert_int_equal(score(0, 1, 0, 64, 0), 5);
    assert_int_equal(score(0, 0, 1, 64, 0), 6);
    assert_int_equal(score(49, 0, 0, 64, 0), 196); // below the first level
    assert_int_equal(score(50, 0, 0, 64, 0), 200); // 50 of 160 links at level 0, or 40 at level 1
    assert_int_equal(score(0, 40, 0, 64, 0), 200);
    assert_int_equal(score(59, 0, 0, 64, 0), 236);
    assert_int_equal(score(60, 0, 0, 64, 0), 300);
    assert_int_equal(score(59, 0, 1, 64, 0), 301);
    assert_int_equal(score(79, 0, 0, 64, 0), 395);
    assert_int_equal(score(80, 0, 0, 64, 0), 480);
    assert_int_equal(score(134, 0, 0, 64, 0), 804); // the highest level of congestion without a severe link
}

/// High severity: 1000 from 64 links at the highest level on (Jericho 2+), 16 of Jericho 2C.
static void severe_links_score(void **state) {
    assert_int_equal(score(0, 0, 63, 64, 0), 6 * 63);
    assert_int_equal(score(0, 0, 64, 64, 0), 1000);
    assert_int_equal(score(0, 64, 0, 64, 0), 5 * 64);
    assert_int_equal(score(0, 0, 16, 16, 0), 1000);
}

/// Jericho 2+: 250, 450, 650 when 4000, 5000, 6000 cells wait at the ports; the larger of both scores holds.
static void cells_at_the_ports_score(void **state) {
    assert_int_equal(score(0, 0, 0, 64, 3999), 0);
    assert_int_equal(score(0, 0, 0, 64, 4000), 250);
    assert_int_equal(score(0, 0, 0, 64, 5000), 450);
    assert_int_equal(score(0, 0, 0, 64, 6000), 650);
    assert_int_equal(score(0, 0, 0, 64, 1000000), 650);
    assert_int_equal(score(80, 0, 0, 64, 4000), 480);
}

/// Four lanes of 100 Gbit/s: 357.39 Gbit/s at level 0, if that were a limit.
static void credits_at_the_rate_of_a_level(void **state) {
    const weft_rate_bps lanes = 4 * UINT64_C(100000000000);
    assert_int_equal(weft__in_rci_gap(lanes, 0, 4096), 0);
    assert_int_equal(weft__in_rci_gap(lanes, 1, 4096), 183373);     // 32768 bit / 178.695 Gbit/s = 183.3739 ns
    assert_int_equal(weft__in_rci_gap(lanes, 3, 4096), 366747);     // 32768 bit / 89.3475 Gbit/s = 366.7478 ns
    assert_int_equal(weft__in_rci_gap(lanes, 7, 4096), 733495);     // 32768 bit / 44.67375 Gbit/s = 733.4956 ns
    assert_int_equal(weft__in_rci_gap(lanes, 7, 2048), 366747);     // half the credit
    assert_int_equal(weft__in_rci_gap(2 * lanes, 3, 4096), 183373); // twice the lanes
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_by_the_score),
        cmocka_unit_test(congested_links_score),
        cmocka_unit_test(severe_links_score),
        cmocka_unit_test(cells_at_the_ports_score),
        cmocka_unit_test(credits_at_the_rate_of_a_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
