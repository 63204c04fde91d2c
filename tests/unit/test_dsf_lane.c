// SPDX-License-Identifier: Apache-2.0
// What a lane of a DSF counts: full cells in a time, by a product in place of a division.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "box/dsf/dsf.h"
#include "weft/random.h"

static void the_product_is_the_quotient(void **state) {
    (void)state;
    static const weft_rate_bps rates[] = {1,
                                          1000,
                                          1000000007,
                                          1000000000,
                                          25000000000,
                                          25781250000,
                                          100000000000,
                                          106250000000,
                                          400000000000,
                                          1600000000000,
                                          3200000000000,
                                          51200000000000};
    struct weft_random random = weft_random_stream(7, 1, WEFT_RANDOM_TEST);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        struct weft__lane_rate rate = weft__lane_rate_of(weft__speed_of(rates[r]));
        const uint64_t c = rate.cell_ps, around[] = {0, c, 2 * c, 1000 * c, rate.cell_reciprocal, UINT64_MAX};
        for (size_t k = 0; k < sizeof around / sizeof *around; k++)
            for (uint64_t d = 0; d < 3; d++)
                assert_int_equal(weft__lane_cells(&rate, around[k] - 1 + d), (around[k] - 1 + d) / c);
        for (uint32_t n = 0; n < 200000; n++) {
            uint64_t wait = weft_random_u64(&random) >> n % 64;
            assert_int_equal(weft__lane_cells(&rate, wait), wait / c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_product_is_the_quotient)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
