// SPDX-License-Identifier: Apache-2.0
// OQ, IQ and VOQ switches in the packet simulator: head-of-line blocking and saturation.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

static void assert_ratio(const char *what, double found, double expected, double tolerance) {
    if (found > expected * (1 + tolerance) || found < expected * (1 - tolerance))
        fail_msg("%s: %.4f, expected %.4f", what, found, expected);
}

// host-0 sends two flows in turn, one to host-4, which host-1 and host-2 send to as well, and one, the victim, to
// host-5, which is idle. OQ and VOQ: the victim has its half of host-0's line. IQ: behind each packet of the victim
// stands one for host-4, and host-4's line serves three inputs in turn, so both flows of host-0 have a third of a line.
static void head_of_line_blocking(void **state) {
    static const struct {
        const char *queueing;
        double share;
    } row[] = {{"oq", 1. / 2}, {"voq", 1. / 2}, {"iq", 1. / 3}};
    for (unsigned i = 0; i < 3; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: 6, rate: 100Gbps}\n"
                           "switch: {queueing: %s, pfc: {priorities: none}, buffer: {kind: static, size: 100MB, xoff: "
                           "90MB, xon: 80MB}}\nhost: {pfc: {priorities: none}, ack_every: 65535}\n"
                           "workload:\n"
                           "  - {kind: flow, src: host-0, dst: host-5, size: 1MB, verb: send}\n"
                           "  - {kind: incast, sources: \"host-0..2\", dst: host-4, size: 4MB, verb: send}\n",
                           row[i].queueing);
        run_assert_complete(&r);
        double line = 4096 / (4178 * 80.0); // payload per picosecond
        assert_ratio(row[i].queueing, 1e6 / (double)run_fct(&r, 0) / line, row[i].share, .02);
        run_free(&r);
    }
}

/// Part of 16 lines in use while every host sends packets to others at random as fast as it can.
static double saturation(const char *queueing, const char *arbiter) {
    struct run r = RUN(run_once,
                       "topology: {kind: single, hosts: 16, rate: 100Gbps}\n"
                       "switch: {queueing: %s, arbiter: %s, pfc: {priorities: none}, buffer: {kind: static, size: "
                       "100MB, xoff: 90MB, xon: 80MB}}\nhost: {pfc: {priorities: none}, timeout: 1s, ack_own_priority: "
                       "true}\n"
                       "workload: [{kind: poisson, load: 1, duration: 1ms, size: 4096B, verb: send}]\n"
                       "run: {until: 1ms}\n",
                       queueing, arbiter);
    assert_int_equal(run_drops(&r), 0);
    double packets = 0;
    for (unsigned k = 0; k < 16; k++) {
        char port[40];
        snprintf(port, sizeof port, "switch-0/%u", k);
        packets += (double)run_counters(&r, port, 3)->tx_packets;
    }
    run_free(&r);
    return packets * 4178 * 80 / (16 * 1e9);
}

// M. Karol et al., IEEE ToC 1987: 16 input-queued ports with uniform traffic saturate at .602 of the line, infinitely
// many at .586. Here packets are not slotted, each host draws from 15 others, ACKs (2 % of the bytes, a priority of
// their own) go between, and 1 ms is 3000 packets a port, so .56 to .66 is taken for it. VOQ with iSLIP and OQ are
// limited by the offered load (load 1 counts payload and headers; a Poisson host is idle now and then): above .9.
static void saturation_of_sixteen_ports(void **state) {
    double oq = saturation("oq", "islip"), iq = saturation("iq", "islip"), random = saturation("iq", "round_robin");
    double voq = saturation("voq", "islip");
    print_message("OQ %.3f, IQ %.3f (round robin %.3f), VOQ %.3f\n", oq, iq, random, voq);
    assert_true(iq > .56 && iq < .66);
    assert_true(random > .56 && random < .66);
    assert_true(oq > .9);
    assert_true(voq > .9);
}

/// When host-0's 400 KB for host-3 are there. From 33 us on host-0 sends to host-2 alone, at line rate, for as long as
/// 2 MB take; by then half of the 400 KB have crossed, for host-1 sends to host-3 too.
static weft_time_ps fct_behind_a_stream(const char *queueing, const char *arbiter, const char *speedup,
                                        unsigned patience) {
    struct run r = RUN(run_text,
                       "topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 100ns}\n"
                       "switch: {queueing: %s, arbiter: %s, fabric_speedup: %s, fabric_patience: %u, buffer: {kind: "
                       "static, size: 400MB, xoff: 300MB, xon: 200MB}}\n"
                       "workload:\n"
                       "  - {kind: flow, src: host-0, dst: host-3, size: 400KB}\n"
                       "  - {kind: flow, src: host-1, dst: host-3, size: 4MB}\n"
                       "  - {kind: flow, src: host-0, dst: host-2, size: 2MB, start: 33.08us}\n",
                       queueing, arbiter, speedup, patience);
    run_assert_complete(&r);
    weft_time_ps fct = run_fct(&r, 0);
    run_free(&r);
    return fct;
}

/// Frames in step: whenever host-3's line is free, host-0's input has just begun another frame for host-2. Slotted, the
/// input would serve both in turn; the 200 KB would be over after about 100 us at the latest.
static void an_input_in_step_starves_an_output_without_patience(void **state) {
    static const char *const arbiters[] = {"islip", "round_robin"}, *const speedups[] = {"1", "2", "4"};
    assert_in_range(fct_behind_a_stream("oq", "islip", "1", 0), 65 * WEFT_PS_PER_US, 67 * WEFT_PS_PER_US);
    for (unsigned a = 0; a < 2; a++)
        for (unsigned s = 0; s < 3; s++) {
            weft_time_ps never = fct_behind_a_stream("voq", arbiters[a], speedups[s], 0);
            weft_time_ps patient = fct_behind_a_stream("voq", arbiters[a], speedups[s], 16);
            assert_in_range(never, 228 * WEFT_PS_PER_US, 230 * WEFT_PS_PER_US); // after the stream's end
            assert_in_range(patient, 65 * WEFT_PS_PER_US, 105 * WEFT_PS_PER_US);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_of_line_blocking),
        cmocka_unit_test(saturation_of_sixteen_ports),
        cmocka_unit_test(an_input_in_step_starves_an_output_without_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
