// SPDX-License-Identifier: Apache-2.0
// LLDP of one port step by step: received information takes effect, is renewed, expires, and is lost with the link.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "link/lldp.h"

enum { OWN, PEER, PORTS };

static uint8_t bytes[PORTS][512];
static struct weft__lldp_frame frame[PORTS];
static struct weft__lldp lldp;
static struct weft__port port;

/// A port configured to 3 with a neighbour that has 4; this one is willing. Interval 30 s, time to live 120 s.
static int set_up(void **state) {
    for (unsigned i = 0; i < PORTS; i++) {
        struct weft_dcbx_end end = {.mac = {2, 0, 0, 0, 0, (uint8_t)i}, .says.has = WEFT_DCBX_PFC};
        end.says.pfc =
            (struct weft_pfc_configuration){.willing = i == OWN, .capability = 8, .enabled = i == OWN ? 0x08 : 0x10};
        frame[i].bytes = bytes[i];
        frame[i].size = weft_dcbx_frame_encode(&end, "node", "port", 120, bytes[i], sizeof bytes[i]);
    }
    lldp = (struct weft__lldp){.frame = frame,
                               .interval_ps = 30 * WEFT_PS_PER_S,
                               .expires_ps = WEFT_TIME_NEVER,
                               .configured = 0x08,
                               .in_force = 0x08};
    port = (struct weft__port){.id = OWN, .lldp = &lldp};
    return 0;
}

static weft_time_ps due(void) {
    struct weft__timers timers;
    weft__timers_init(&timers, 1);
    weft__lldp_set_timer(&port, &timers, 0);
    weft_time_ps at = weft__timer_at(&timers, 0);
    weft__timers_deinit(&timers);
    return at;
}

static bool hear(weft_time_ps now) {
    static struct weft__worker worker;
    struct weft_packet p = {.kind = WEFT_PACKET_LLDP, .psn = PEER};
    worker.now_ps = now;
    return weft__lldp_on_frame(&port, &worker, &p);
}

static void heard_and_forgotten(void **state) {
    assert_int_equal(due(), 0);
    assert_false(weft__lldp_on_timer(&port, 0));
    assert_int_equal(port.pending, WEFT__PENDING_LLDP);
    assert_int_equal(due(), 30 * WEFT_PS_PER_S);
    assert_true(hear(5));
    assert_int_equal(lldp.in_force, 0x10);
    assert_false(hear(10 * WEFT_PS_PER_S)); // said again
    assert_int_equal(lldp.received, 2);
    for (weft_time_ps t = 30; t <= 120; t += 30) {
        assert_int_equal(due(), t * WEFT_PS_PER_S);
        assert_false(weft__lldp_on_timer(&port, t * WEFT_PS_PER_S));
    }
    assert_int_equal(due(), 130 * WEFT_PS_PER_S); // 120 s after the last frame
    assert_true(weft__lldp_on_timer(&port, 130 * WEFT_PS_PER_S));
    assert_int_equal(lldp.in_force, 0x08);
    assert_int_equal(due(), 150 * WEFT_PS_PER_S);
    assert_true(hear(140 * WEFT_PS_PER_S));
}

static void gone_with_the_link(void **state) {
    port.faults = calloc(1, sizeof *port.faults + 2 * sizeof *port.faults->down);
    port.faults->downs = 2;
    port.faults->down[0] = (struct weft__down){10, 20};
    port.faults->down[1] = (struct weft__down){40 * WEFT_PS_PER_S, WEFT_TIME_NEVER};
    weft__lldp_on_timer(&port, 0);
    hear(5);
    assert_int_equal(due(), 10);
    port.pending = WEFT__PENDING_LLDP | 1u << 3; // a frame that waits is not sent any more
    assert_true(weft__lldp_on_timer(&port, 10));
    assert_int_equal(port.pending, 1u << 3);
    assert_int_equal(lldp.in_force, 0x08);
    assert_int_equal(due(), 20);
    weft__lldp_on_timer(&port, 20);
    assert_true(port.pending & WEFT__PENDING_LLDP); // at once
    assert_int_equal(due(), 20 + 30 * WEFT_PS_PER_S);
    weft__lldp_on_timer(&port, 20 + 30 * WEFT_PS_PER_S);
    assert_int_equal(due(), 40 * WEFT_PS_PER_S);
    weft__lldp_on_timer(&port, 40 * WEFT_PS_PER_S);
    assert_int_equal(due(), WEFT_TIME_NEVER); // for good
    free(port.faults);
}

/// On the wire a frame has at least 64 B.
static void padding(void **state) {
    assert_int_equal(weft__lldp_frame_bytes(&(struct weft__lldp_frame){.size = 40}), 64);
    assert_int_equal(weft__lldp_frame_bytes(&(struct weft__lldp_frame){.size = 60}), 64);
    assert_int_equal(weft__lldp_frame_bytes(&(struct weft__lldp_frame){.size = 61}), 65);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(heard_and_forgotten, set_up),
        cmocka_unit_test_setup(gone_with_the_link, set_up),
        cmocka_unit_test(padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
