// SPDX-License-Identifier: Apache-2.0
// Strict priority and deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995) through a switch port, and
// what control packets wait for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

enum { WIRE = 4096 + 82, BYTE = 80 };

/// Three hosts send to host-0 at line rate, at priorities 1, 2 and 3, for 1 ms. Frames of each priority that host-0's
/// port sent after the first 100 us.
static void shares(const char *scheduler, double ret_share[3]) {
    double sent[2][3];
    for (int k = 0; k < 2; k++) {
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 4, rate: 100Gbps}\n"
                           "switch: {scheduler: %s, pfc: {priorities: none}, buffer: {kind: static, size: 100MB, xoff: "
                           "90MB, xon: 80MB}}\nhost: {pfc: {priorities: none}, ack_every: 65535, timeout: 1s}\n"
                           "workload:\n"
                           "  - {kind: flow, src: host-1, dst: host-0, size: 20MB, priority: 1}\n"
                           "  - {kind: flow, src: host-2, dst: host-0, size: 20MB, priority: 2}\n"
                           "  - {kind: flow, src: host-3, dst: host-0, size: 20MB, priority: 3}\n"
                           "run: {until: %s}\n",
                           scheduler, k ? "1100us" : "100us");
        for (unsigned p = 1; p <= 3; p++)
            sent[k][p - 1] = (double)run_counters(&r, "switch-0/0", p)->tx_packets;
        run_free(&r);
    }
    double all = 1e9 / (WIRE * BYTE);
    for (unsigned p = 0; p < 3; p++)
        ret_share[p] = (sent[1][p] - sent[0][p]) / all;
}

static void assert_shares(const char *scheduler, double one, double two, double three) {
    double share[3], expected[] = {one, two, three};
    shares(scheduler, share);
    for (unsigned p = 0; p < 3; p++)
        if (share[p] > expected[p] + .005 || share[p] < expected[p] - .005)
            fail_msg("%s: priority %u has %.4f of the line, expected %.4f", scheduler, p + 1, share[p], expected[p]);
}

// Strict: the highest has it all. DWRR: by weight. Both: the strict one first, the others share what is left.
static void ports_are_shared(void **state) {
    assert_shares("strict", 0, 0, 1);
    assert_shares("dwrr", 1. / 3, 1. / 3, 1. / 3);
    assert_shares("{kind: dwrr, weights: [1, 1, 2, 5, 1, 1, 1, 1]}", 1. / 8, 2. / 8, 5. / 8);
    assert_shares("{kind: dwrr, weights: [1, 1, 3, 1, 1, 1, 1, 1], strict: 3}", 0, 0, 1);
    assert_shares("{kind: dwrr, weights: [1, 1, 3, 1, 1, 1, 1, 1], quantum: 64B}", 1. / 5, 3. / 5, 1. / 5);
}

// Who had the port alone owes nothing: a flow of another priority that comes later gets half of it with equal weights,
// so that its slowdown is 2, at a switch as at a NIC.
static void sending_alone_is_not_held_against_a_priority(void **state) {
    static const char *const text[] = {
        "topology: {kind: single, hosts: 3, rate: 100Gbps, delay: 150ns}\n"
        "switch: {scheduler: dwrr, pfc: {priorities: none}, buffer: {kind: static, size: 1GB, xoff: 1GB, xon: 1GB}}\n"
        "host: {pfc: {priorities: none}}\n"
        "workload:\n"
        "  - {kind: flow, src: host-0, dst: host-2, size: 40MB, priority: 1}\n"
        "  - {kind: flow, src: host-1, dst: host-2, size: 10MB, priority: 2, start: 1600us}\n",
        "topology: {kind: single, hosts: 3, rate: 100Gbps, delay: 150ns}\n"
        "host: {scheduler: dwrr}\n"
        "workload:\n"
        "  - {kind: flow, src: host-0, dst: host-1, size: 40MB, priority: 1}\n"
        "  - {kind: flow, src: host-0, dst: host-2, size: 10MB, priority: 2, start: 1600us}\n",
    };
    for (unsigned i = 0; i < sizeof text / sizeof *text; i++) {
        struct run r = run_once(text[i]);
        const struct weft_flow_outcome *late = &r.outcome->flow[1];
        double slowdown = (double)(late->end_ps - r.workload->flow[1].start_ps) / (double)late->ideal_ps;
        if (slowdown < 1.98 || slowdown > 2.02) fail_msg("%u: slowdown %.3f, expected 2", i, slowdown);
        run_free(&r);
    }
}

/// When host-1 has its first CNP, by bisection of run.until. host-1 and host-2 overload host-0's port from 100 us on.
/// `busy`: host-0 and host-3 have been sending to host-1 since 0, so that 1.2 MB wait in front of host-1.
static weft_time_ps first_cnp(int priority, bool busy) {
    weft_time_ps before = 100 * WEFT_PS_PER_US, after = 500 * WEFT_PS_PER_US;
    while (after - before > 1000) {
        weft_time_ps middle = (before + after) / 2;
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 150ns}\n"
                           "switch: {processing: 300ns, pfc: {priorities: none}, aqm: {kind: wred, min: 0B, max: 0B}, "
                           "buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}}\n"
                           "host: {pfc: {priorities: none}, cnp_priority: %d, cnp_interval: 1s, ack_every: 65535}\n"
                           "workload:\n"
                           "  - {kind: incast, sources: \"host-1..2\", dst: host-0, size: 400KB, start: 100us}\n"
                           "  - {kind: incast, sources: \"%s\", dst: host-1, size: %s}\n"
                           "run: {until: %" PRIu64 "ps}\n",
                           priority, busy ? "host-0,host-3" : "host-2", busy ? "2MB" : "1B", middle);
        *(r.outcome->flow[0].cnps ? &after : &before) = middle;
        run_free(&r);
    }
    return before;
}

// A CNP of priority 7 waits for no more than the frame in transmission at the NIC and at the switch; as one of priority
// 3 it waits for all that has queued up there in 100 us: as much again.
static void cnp_is_not_behind_data(void **state) {
    weft_time_ps empty = first_cnp(7, false), high = first_cnp(7, true), low = first_cnp(3, true);
    assert_true(high >= empty);
    assert_true(high <= empty + 2 * WIRE * BYTE + 1000);
    assert_true(low > empty + 90 * WEFT_PS_PER_US);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_are_shared),
        cmocka_unit_test(sending_alone_is_not_held_against_a_priority),
        cmocka_unit_test(cnp_is_not_behind_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
