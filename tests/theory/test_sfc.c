// SPDX-License-Identifier: Apache-2.0
// Source flow control against what follows from delays, rates and incast degree.
// Source of the formulas: IEEE P802.1Qdw, "SFC simulation" (Chen, Congdon, Lv, Sivakolundu), parameter calculation:
//   SFC headroom > (N - 1) * loop * rate, loop = link delays and switch delays there and back;
//   loop * (N - 1) < pause.
// It leaves out what frames take; here that is in the loop, so that the bound holds to the byte.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"

/// Hosts on one switch: link 150 ns, switch 300 ns, 200 Gbit/s; hosts 0 to N-1 send to the last one.
static const char single[] =
    "topology: {kind: single, hosts: %u, rate: 200Gbps, delay: 150ns}\n"
    "switch: {processing: 300ns, buffer: {kind: static, size: 100MB, xoff: 100MB, xon: 100MB},\n"
    "         pfc: {priorities: none}, sfc: {kind: fixed, threshold: %uB, pause: %uns, "
    "interval: %uns}}\n"
    "workload: [{kind: incast, sources: host-0..%u, dst: host-%u, size: 2MB}]\n";

/// From a packet that finds the queue above the threshold to the last packet sent before its source paused, there at
/// the queue: the message waits for a port at most one full frame, and the source finishes at most one.
static uint64_t calc_loop_ps(void) {
    enum { BYTE_PS = 40, FRAME = 4096 + 78 + 20, MESSAGE = 64 + 20 };
    return 2 * 150000 + 300000 + BYTE_PS * (FRAME + MESSAGE + FRAME + FRAME);
}

static void overshoot_is_what_a_loop_lets_in(void **state) {
    static const unsigned degrees[] = {2, 3, 5, 8};
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = degrees[i], threshold = 200000;
        uint64_t headroom = (n - 1) * calc_loop_ps() / 40 + n * 4194;
        unsigned pause = (unsigned)((headroom + threshold / 2) * 40 / 1000);
        struct run r = RUN(run_text, single, n + 1, threshold, pause, pause, n - 1, n);
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        char port[32];
        snprintf(port, sizeof port, "switch-0/%u", n);
        const struct weft_counters *c = run_counters(&r, port, 3);
        assert_true(c->sfc_sent > 0);
        assert_true(c->queue_bytes_max > threshold);
        assert_in_range(c->queue_bytes_max, threshold, threshold + headroom);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(overshoot_is_what_a_loop_lets_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
