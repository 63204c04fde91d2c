// SPDX-License-Identifier: Apache-2.0
// When a cut-through switch sends a frame before it is complete, and what it costs when it may not: exact times at
// 100G, 80 ps a byte, links of 100 ns, 300 ns of processing. A message of 4096 B is one frame of 62 + 16 + 4096 = 4174
// B. Its header (72 B with the preamble) is at the switch's decision 72 x 80 + 100000 + 300000 = 405760 ps after it
// starts, and the frame is complete there 4110 x 80 = 328800 ps later, at 734560.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

enum {
    HEADER = 72 * 80 + 100000 + 300000,
    WHOLE = HEADER + 4110 * 80,
    LAST = (4174 + 8) * 80 + 100000, ///< from the first bit sent by a switch at 100G to the end
    OCCUPIED = (4174 + 20) * 80,
    GAP = 12 * 80,
};

#define STAR(rate)                                                                                                     \
    "topology: {kind: list, nodes: [{name: s, role: switch}, {name: a, role: host}, {name: b, role: host}, {name: d, " \
    "role: host}],\n"                                                                                                  \
    "  links: [{from: a, to: s, rate: 100Gbps, delay: 100ns}, {from: b, to: s, rate: 100Gbps, delay: 100ns}, "         \
    "{from: d, to: s, rate: " rate ", delay: 100ns}]}\n"
#define CUT "switch: {processing: 300ns, forwarding: cut_through%s}\nhost: {cc: none}\n"
#define FLOW "{kind: flow, src: %s, dst: d, size: %uB, start: %ups}"

static void assert_alone(const char *network, uint64_t size, uint64_t expected) {
    struct run r =
        RUN(run_text, "%s" CUT "workload: [{kind: flow, src: a, dst: d, size: %" PRIu64 "B}]\n", network, "", size);
    assert_int_equal(run_fct(&r, 0), expected);
    assert_int_equal(r.outcome->flow[0].ideal_ps, expected);
    run_free(&r);
}

/// From the 64th byte in to the first bit out it takes `processing`: for a frame of 64 B, which is then complete, that
/// is the figure that a class of hardware has as port-to-port latency.
static void an_idle_switch(void **state) {
    assert_alone(STAR("100Gbps"), 1, HEADER + (82 + 8) * 80 + 100000); // the smallest WRITE: 82 B
    assert_alone(STAR("100Gbps"), 4096, HEADER + LAST);
    // Frames of 4174 and 4158 B back to back: the second finds the port just free.
    assert_alone(STAR("100Gbps"), 8192, HEADER + OCCUPIED + (4158 + 8) * 80 + 100000);
}

static void an_output_of_another_rate(void **state) {
    assert_alone(STAR("200Gbps"), 4096, WHOLE + (4174 + 8) * 40 + 100000); // it would run dry
    assert_alone(STAR("50Gbps"), 4096, HEADER + (4174 + 8) * 160 + 100000);
    // The second frame's header comes when the first is half sent, and all of it before that is sent.
    assert_alone(STAR("50Gbps"), 8192, HEADER + (4174 + 20) * 160 + (4158 + 8) * 160 + 100000);
    // The second frame's header comes just before the output is free, so the line idles until that frame is complete.
    uint64_t second = HEADER + OCCUPIED + (4158 - 64) * 80;
    assert_alone(STAR("90Gbps"), 8192, second + UINT64_C(4166) * 8 * 1000 / 90 + 100000);
}

/// Completion of a's frame, which starts `start` after another frame has begun for the same output.
static weft_time_ps behind(const char *more, uint32_t bytes, uint32_t start) {
    struct run r =
        RUN(run_text, STAR("100Gbps") CUT "workload: [" FLOW ", " FLOW "]\n", more, "b", bytes, 0u, "a", 4096u, start);
    assert_int_equal(run_fct(&r, 0), HEADER + LAST - (4096 - bytes) / 4 * 4 * 80);
    weft_time_ps fct = run_fct(&r, 1);
    run_free(&r);
    return fct;
}

/// b's frame occupies the output from 405760 to 741280.
static void a_busy_output(void **state) {
    static const char *const kinds[] = {"", ", queueing: voq", ", scheduler: dwrr", ", buffer: dynamic"};
    for (uint32_t k = 0; k < 4; k++) {
        assert_int_equal(behind(kinds[k], 4096, 1000), HEADER + OCCUPIED - 1000 + LAST); // complete before its turn
        assert_int_equal(behind(kinds[k], 4096, 100000), WHOLE + LAST);                  // its turn comes before
        assert_int_equal(behind(kinds[k], 4096, OCCUPIED - GAP - 1), WHOLE + LAST);      // busy for 1 ps more
        assert_int_equal(behind(kinds[k], 4096, OCCUPIED - GAP), HEADER + GAP + LAST);   // idle, in its gap
        assert_int_equal(behind(kinds[k], 4096, OCCUPIED), HEADER + LAST);               // just free
    }
}

/// The output is idle, but s2 has paused s1 at priority 3, whose frames wait there for a slow host. A frame of priority
/// 0 to e is stored at s1, and cut through at s2.
static void a_paused_output(void **state) {
    static const char *const pauses[] = {"3", "none"};
    for (uint32_t k = 0; k < 2; k++) {
        struct run r =
            RUN(run_text,
                "topology: {kind: list, nodes: [{name: s1, role: switch}, {name: s2, role: switch}, {name: a, role: "
                "host}, {name: b, role: host}, {name: d, role: host}, {name: e, role: host}],\n"
                "  links: [{from: a, to: s1, rate: 100Gbps, delay: 100ns}, {from: b, to: s1, rate: 100Gbps, delay: "
                "100ns}, {from: s1, to: s2, rate: 100Gbps, delay: 100ns}, {from: d, to: s2, rate: 1Gbps, delay: "
                "100ns}, {from: e, to: s2, rate: 100Gbps, delay: 100ns}]}\n"
                "switch: {processing: 300ns, forwarding: cut_through, pfc: {priorities: %s}, buffer: {kind: static, "
                "size: 200KB, xoff: 10KB, xon: 5KB}}\nhost: {cc: none, pfc: {priorities: %s}}\n"
                "workload: [{kind: flow, src: b, dst: d, size: 40KB}, {kind: flow, src: a, dst: e, size: 4096B, "
                "priority: 0, start: 20us}]\n",
                pauses[k], pauses[k]);
        assert_int_equal(run_counters(&r, "s1->s2", 3)->paused_ps > 0, !k);
        assert_int_equal(run_fct(&r, 1), (k ? HEADER : WHOLE) + HEADER + LAST);
        run_free(&r);
    }
}

/// Under load every switch stores and forwards: of an incast, all but the first frames leave as late as they would.
static void under_load(void **state) {
    weft_time_ps end[2];
    for (uint32_t cut = 0; cut < 2; cut++) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: 5, rate: 100Gbps, delay: 100ns}\n"
                           "switch: {processing: 300ns, forwarding: %s}\nhost: {cc: none}\n"
                           "workload: [{kind: incast, sources: 'host-1..4', dst: host-0, size: 400KB}]\n",
                           cut ? "cut_through" : "store_and_forward");
        end[cut] = 0;
        for (uint32_t f = 0; f < 4; f++)
            if (run_fct(&r, f) > end[cut]) end[cut] = run_fct(&r, f);
        run_free(&r);
    }
    assert_int_equal(end[0] - end[1], WHOLE - HEADER); // the line is busy from the first header on, and never idle
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_switch), cmocka_unit_test(an_output_of_another_rate),
        cmocka_unit_test(a_busy_output),  cmocka_unit_test(a_paused_output),
        cmocka_unit_test(under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
