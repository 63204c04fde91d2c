// SPDX-License-Identifier: Apache-2.0
// RCI by hand: levels at scores of 200, 300, ... 800 in 1000, and n x lane rate x 0.95 x 0.99 x 0.95 / (level + 1) as
// the rate that credits may have (OpenBCM 6.5.24, fabric_tune.c; its 0.90 for FEC is not in a lane's rate here).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "box/dsf/dsf_in.h"

static void a_level_by_the_share_of_marked_cells(void **state) {
    static const struct {
        uint32_t marked, came, level;
    } rows[] = {
        {0, 0, 0},
        {0, 1000, 0},
        {199, 1000, 0},
        {1999, 10000, 0}, // 199.9 is below 200
        {200, 1000, 1},
        {299, 1000, 1},
        {300, 1000, 2},
        {400, 1000, 3},
        {1, 2, 4},
        {600, 1000, 5},
        {799, 1000, 6},
        {800, 1000, 7},
        {1000, 1000, 7},
        {1, 1, 7},
        {1, 5, 1},
        {1, 6, 0},                  // 200 and 166
        {900000000, 3000000000, 2}, // 300, from numbers whose product has more than 32 bits
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(weft__in_rci_level(rows[i].marked, rows[i].came), rows[i].level);
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
        cmocka_unit_test(a_level_by_the_share_of_marked_cells),
        cmocka_unit_test(credits_at_the_rate_of_a_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
