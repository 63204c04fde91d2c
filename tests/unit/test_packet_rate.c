// SPDX-License-Identifier: Apache-2.0
// A switch that takes only so many packets a second: exact times at 100G, 80 ps a byte, links of 100 ns, 300 ns of
// processing, and the rate of packets that it sends under load. Messages of 64 B packets: a first frame of 142 B (with
// RETH), others of 126 B.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

#define STAR                                                                                                           \
    "topology: {kind: list, nodes: [{name: s, role: switch}, {name: a, role: host}, {name: b, role: host}],\n"         \
    "  links: [{from: a, to: s, rate: 100Gbps, delay: 100ns}, {from: b, to: s, rate: 100Gbps, delay: 100ns}]}\n"

/// n packets through a pipe that only they use (answers leave by the other port): turn after turn, or as without limit
/// if a turn is shorter than a frame. `rate`: packets a second of the chip, whose two ports are a pipe each.
static void assert_train(uint64_t rate, uint32_t n, uint64_t expected) {
    struct run r =
        RUN(run_text,
            STAR "switch: {processing: 300ns, packet_rate: %" PRIu64 ", pipes: 2}\nhost: {cc: none, mtu: 64B}\n"
                 "workload: [{kind: flow, src: a, dst: b, size: %uB}]\n",
            rate, 64 * n);
    assert_int_equal(run_fct(&r, 0), expected);
    assert_int_equal(r.outcome->flow[0].ideal_ps, expected);
    run_free(&r);
}

static void a_train(void **state) {
    uint64_t at_switch = (142 + 8) * 80 + 400000, last = (126 + 8) * 80 + 100000;
    assert_train(10000000, 1, at_switch + (142 + 8) * 80 + 100000);      // a lone packet waits for nothing
    assert_train(10000000, 10, at_switch + 9 * UINT64_C(200000) + last); // 5 million a second each
    assert_train(300000000, 10, at_switch + (142 + 20) * 80 + 8 * (126 + 20) * 80 + last); // 6.7 ns, 11.7 a frame
    assert_train(70000000, 8, at_switch + 7 * UINT64_C(1000000) / 35 + last); // 28571.43 ps: parts are not lost
    assert_train(70000000, 6, at_switch + (5 * UINT64_C(1000000) + 34) / 35 + last);
}

/// 21.2 Gpps bind below frames of 281 B at 51.2T: here 21.2 Mpps at 51.2G, in the same proportion. 4 pairs at 12.8G.
static void a_chip_below_its_rate(void **state) {
    static const uint32_t mtus[] = {64, 128, 208, 256, 1024};
    for (uint32_t i = 0; i < 5; i++) {
        double frame = mtus[i] + 62 + 20, packets = 20000;
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 8, rate: 12.8Gbps, delay: 100ns}\n"
                           "switch: {packet_rate: 21200000}\nhost: {cc: none, mtu: %uB, ack_every: 1000}\n"
                           "workload: [{kind: permutation, mode: shift, shift: 4, hosts: 'host-0..3,host-4..7', size: "
                           "%uB}]\n",
                           mtus[i], (uint32_t)packets * mtus[i]);
        weft_time_ps end = 0;
        for (uint32_t f = 0; f < r.outcome->flows; f++)
            if (run_fct(&r, f) > end) end = run_fct(&r, f);
        double by_line = packets * frame * 8 / 12.8e9, by_chip = packets * 8 / 21.2e6;
        double expected = by_line > by_chip ? by_line : by_chip;
        if ((double)end / 1e12 < expected || (double)end / 1e12 > 1.01 * expected)
            fail_msg("mtu %u: %g s, expected %g", mtus[i], (double)end / 1e12, expected);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_train),
        cmocka_unit_test(a_chip_below_its_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
