// SPDX-License-Identifier: Apache-2.0
// Pauses at a port, one call after the other: when they end, how long each priority was paused, and what the peer is
// still to be told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "link/port.h"

static void each_ends_by_its_time(void **state) {
    struct weft_counters counters[WEFT_PRIORITIES] = {0};
    struct weft__port_pause pause[WEFT_PRIORITIES] = {{0}};
    struct weft__port port = {.counters = counters, .pause = pause, .row_bytes = sizeof(struct weft__port_queue)};
    weft__port_pause_begin(&port, 1000, 5, 1100);
    weft__port_pause_begin(&port, 1000, 6, 1101);
    weft__port_expire(&port, 1099);
    assert_int_equal(port.paused, 1 << 5 | 1 << 6);
    assert_int_equal(weft__port_pause_end(&port, 1 << 5 | 1 << 6), 1100);
    assert_int_equal(weft__port_pause_end(&port, 1 << 6), 1101);
    assert_int_equal(weft__port_pause_end(&port, 0), WEFT_TIME_NEVER);
    weft__port_expire(&port, 1100);
    assert_int_equal(port.paused, 1 << 6);
    assert_int_equal(counters[5].paused_ps, 100);
    weft__port_pause_begin(&port, 1100, 6, 2000); // it goes on
    weft__port_expire(&port, 1500);
    assert_int_equal(port.paused, 1 << 6);
    weft__port_pause_over(&port, 1700, 6);
    assert_int_equal(port.paused, 0);
    assert_int_equal(counters[6].paused_ps, 700);
    weft__port_pause_begin(&port, 3000, 6, 3010);
    weft__port_expire(&port, 9000); // found late: it ended by its time
    assert_int_equal(counters[6].paused_ps, 710);
}

/// What is lossless no more goes on at once, unless its pause is over; what still is stays paused.
static void an_agreement_ends_those_of_others(void **state) {
    struct weft_counters counters[WEFT_PRIORITIES] = {0};
    struct weft__port_pause pause[WEFT_PRIORITIES] = {{0}};
    struct weft__port port = {.counters = counters,
                              .lossless = 0x3c,
                              .obeyed = 0x3c,
                              .pause = pause,
                              .row_bytes = sizeof(struct weft__port_queue)};
    weft__port_pause_begin(&port, 100, 2, 500);
    weft__port_pause_begin(&port, 150, 3, 400);
    weft__port_pause_begin(&port, 200, 4, 900);
    weft__port_set_lossless(&port, 450, 1 << 2 | 1 << 5);
    assert_int_equal(port.paused, 1 << 2);
    assert_int_equal(port.lossless, 1 << 2 | 1 << 5);
    assert_int_equal(port.obeyed, 1 << 2 | 1 << 5);
    assert_int_equal(counters[2].paused_ps, 0);
    assert_int_equal(counters[3].paused_ps, 250);
    assert_int_equal(counters[4].paused_ps, 250);
    weft__port_expire(&port, 500);
    assert_int_equal(counters[2].paused_ps, 400);
}

static void the_peer_is_told_what_has_changed(void **state) {
    struct weft__port_pause pause[WEFT_PRIORITIES] = {{0}};
    struct weft__port port = {.pause = pause, .row_bytes = sizeof(struct weft__port_queue)};
    assert_true(weft__port_want_pause(&port, 3, true));
    assert_int_equal(port.pending, 1 << 3);
    assert_false(weft__port_want_pause(&port, 3, false)); // before it was told
    assert_int_equal(port.pfc_xoff, 0);
    weft__port_want_pause(&port, 3, true);
    weft__port_want_pause(&port, 4, true);
    assert_int_equal(port.pending, 1 << 3 | 1 << 4);
    port.pfc_told = port.pfc_xoff; // a frame says so
    port.pending = 0;
    assert_false(weft__port_want_pause(&port, 3, true)); // that it knows
    assert_true(weft__port_want_pause(&port, 3, false));
    assert_int_equal(port.pending, 1 << 3);
    assert_int_equal(port.pfc_xoff, 1 << 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_ends_by_its_time),
        cmocka_unit_test(an_agreement_ends_those_of_others),
        cmocka_unit_test(the_peer_is_told_what_has_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
