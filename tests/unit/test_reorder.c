// SPDX-License-Identifier: Apache-2.0
// The record of a receiver that accepts packets out of order, compared with a plain list of arrivals.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>

#include "transport/reorder.h"
#include "weft/random.h"

enum { PACKETS = 2000 };

static void any_order(uint64_t window, uint64_t seed) {
    struct weft__reorder_conf conf = {.packets = window, .timeout_ps = 1000};
    struct weft__reorder *r = calloc(1, weft__reorder_size(&conf, true));
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    bool came[PACKETS + 1] = {false};
    uint32_t expected = 0, ahead = 0, messages;
    for (weft_time_ps now = 0; expected < PACKETS; now++) {
        uint64_t reach = 2 * window < PACKETS - expected ? 2 * window : PACKETS - expected;
        uint32_t psn = expected + (uint32_t)weft_random_below(&random, reach);
        if (psn == expected) {
            came[psn] = true;
            uint32_t ended = 0; // a message is three packets
            for (expected++; came[expected]; expected++, ahead--)
                ended += expected % 3 == 2;
            assert_int_equal(weft__reorder_next(r, &conf, now, psn, &messages), expected);
            assert_int_equal(messages, ended);
            assert_false(ahead && weft__reorder_is_overdue(r, &conf, now + 999));
            assert_int_equal(weft__reorder_is_overdue(r, &conf, now + 1000), ahead > 0);
        } else if (psn - expected > window) {
            assert_int_equal(weft__reorder_put(r, &conf, now, expected, psn, psn % 3 == 2), WEFT__REORDER_TOO_FAR);
        } else {
            assert_int_equal(weft__reorder_put(r, &conf, now, expected, psn, psn % 3 == 2),
                             came[psn] ? WEFT__REORDER_CAME_BEFORE : WEFT__REORDER_PLACED);
            ahead += !came[psn];
            came[psn] = true;
        }
        assert_int_equal(r->ahead, ahead);
        assert_null(weft__reorder_check(r, &conf, expected));
    }
    assert_int_equal(ahead, 0);
    free(r);
}

static void packets_in_any_order(void **state) {
    static const uint64_t windows[] = {1, 2, 63, 64, 65, 200, 1024};
    for (unsigned i = 0; i < sizeof windows / sizeof *windows; i++)
        for (uint64_t seed = 0; seed < 5; seed++)
            any_order(windows[i], seed);
}

// The clock starts with the first packet ahead, not with the last one in order.
static void overdue_since_the_first_ahead(void **state) {
    struct weft__reorder_conf conf = {.packets = 64, .timeout_ps = 1000};
    struct weft__reorder *r = calloc(1, weft__reorder_size(&conf, false));
    assert_false(weft__reorder_is_overdue(r, &conf, 5000));
    weft__reorder_put(r, &conf, 5000, 0, 1, false);
    weft__reorder_put(r, &conf, 5500, 0, 2, false);
    assert_false(weft__reorder_is_overdue(r, &conf, 5999));
    assert_true(weft__reorder_is_overdue(r, &conf, 6000));
    uint32_t messages;
    assert_int_equal(weft__reorder_next(r, &conf, 6000, 0, &messages), 3);
    assert_int_equal(messages, 0); // it carries none
    assert_false(weft__reorder_is_overdue(r, &conf, 9000));
    free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_in_any_order),
        cmocka_unit_test(overdue_since_the_first_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
