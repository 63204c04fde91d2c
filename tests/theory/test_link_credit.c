// SPDX-License-Identifier: Apache-2.0
// Credit-based flow control of links: credit from the cable gives full rate and is never overrun; with less, credit
// over loop is the rate (Kung, Morris, IEEE Network 9(2), 1995).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

enum { FRAME = 4158, WIRE = FRAME + 20, TAKES = 4352 }; // 17 units of 256 B
static const double RATE = 100e9 / 8;                   ///< B/s

#define LINKS                                                                                                          \
    "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: %uns}\n"                                                \
    "switch: {processing: 300ns, pfc: {priorities: none, reaction: 0ns}, credit: %s, buffer: {kind: static, size: "    \
    "%u"                                                                                                               \
    "B, xoff: 1B, xon: 0B}}\n"                                                                                         \
    "host: {pfc: {priorities: none, reaction: 0ns}, credit: %s, transport: {timeout: 100ms}}\n"

/// From a frame's first bit on the way to the switch to the return of its credit: the frame, of 16 B more at most, and
/// preambles; the link twice, processing, a message of 64 B.
static double loop_seconds(unsigned delay_ns) {
    return (FRAME + 16 + 8 + 64 + 8) / RATE + 2 * delay_ns * 1e-9 + 300e-9;
}

static const unsigned delays_ns[] = {100, 1000, 10000, 500000};

// A flow alone is as fast as without credit, to the picosecond, whatever the cable; and with one frame of credit less
// than the loop takes it is slower.
static void credit_from_the_cable_gives_full_rate(void **state) {
    for (unsigned d = 0; d < 4; d++) {
        weft_time_ps fct[3];
        char less[64];
        snprintf(less, sizeof less, "{kind: cbfc, grant: %.0fB}",
                 floor(loop_seconds(delays_ns[d]) * RATE / WIRE) * TAKES);
        const char *const credit[] = {"none", "cbfc", less};
        for (unsigned i = 0; i < 3; i++) {
            struct run r =
                RUN(run_text, LINKS "workload: [{kind: flow, src: host-1, dst: host-0, size: %uB, verb: send}]\n", 2,
                    delays_ns[d], credit[i], 100000000, credit[i], 40000 * 4096);
            run_assert_complete(&r);
            fct[i] = run_fct(&r, 0);
            const struct weft_counters *sender = run_counters(&r, "host-1/0", 3);
            assert_true(sender->paused_ps == 0);
            assert_true(i == 2 ? sender->credit_wait_ps > 0 : sender->credit_wait_ps == 0);
            run_free(&r);
        }
        assert_true(fct[0] == fct[1]);
        if (delays_ns[d] < 500000) assert_true(fct[2] > fct[0]); // there, the flow is one loop
    }
}

// n frames of credit: n frames a loop. Of N frames the last leaves after N / n - 1 loops and a part of one.
static void less_credit_gives_credit_over_loop(void **state) {
    enum { PACKETS = 6000 };
    for (unsigned d = 1; d < 3; d++)
        for (unsigned n = 1; n <= 4; n++) {
            char credit[64];
            snprintf(credit, sizeof credit, "{kind: cbfc, grant: %uB}", n * TAKES);
            struct run r =
                RUN(run_text, LINKS "workload: [{kind: flow, src: host-1, dst: host-0, size: %uB, verb: send}]\n", 2,
                    delays_ns[d], credit, 100000000, credit, PACKETS * 4096);
            run_assert_complete(&r);
            // Frames are 16 B shorter than the longest.
            double loop = loop_seconds(delays_ns[d]) - 16 / RATE, seconds = (double)run_fct(&r, 0) * 1e-12;
            form_assert("CBFC: rate with n frames of credit (n payloads a loop)", PACKETS * 4096 / seconds,
                        n * 4096 / loop, 2. * n / PACKETS);
            form_assert("CBFC: time without credit, a loop (loop - n frames)",
                        (double)run_counters(&r, "host-1/0", 3)->credit_wait_ps * 1e-12 * n / PACKETS,
                        loop - n * WIRE / RATE, 2. * n / PACKETS);
            run_free(&r);
        }
}

// A wait that the end of the run cuts short counts up to there, which is its last event: with one frame of credit the
// port sends, or waits.
static void a_wait_counts_up_to_the_end_of_the_run(void **state) {
    double loop = loop_seconds(1000) - 16 / RATE, frame = WIRE / RATE;
    unsigned cut = 0;
    for (unsigned eighths = 1; eighths <= 32; eighths++) {
        struct run r = RUN(run_text,
                           LINKS "workload: [{kind: flow, src: host-1, dst: host-0, size: 40MB, verb: send}]\n"
                                 "run: {until: %.0fps}\n",
                           2, 1000, "{kind: cbfc, grant: 4352B}", 100000000, "{kind: cbfc, grant: 4352B}",
                           loop * eighths / 8 * 1e12);
        double end = (double)r.outcome->sim_time_ps * 1e-12, loops = floor(end / loop + 1e-6),
               rest = end - loops * loop;
        double wait = loops * (loop - frame) + (rest > frame ? rest - frame : 0);
        if (wait > 0)
            form_assert("CBFC: time without credit of a run that ends while there is none",
                        (double)run_counters(&r, "host-1/0", 3)->credit_wait_ps * 1e-12, wait, 1e-3);
        cut += rest > frame;
        run_free(&r);
    }
    assert_true(cut > 8);
}

// Incasts into a switch with room for the credit and not a byte more, over cables of all lengths: nothing is dropped,
// every flow gets the same, and the line is full.
static void credit_is_never_overrun(void **state) {
    for (unsigned d = 0; d < 3; d++)
        for (unsigned flows = 2; flows <= 16; flows *= 2) {
            // as cbfc does without a grant; on the way to a host the loop is 300 ns shorter
            unsigned grant = ((unsigned)floor(loop_seconds(delays_ns[d]) * RATE / (4097 + 20)) + 1) * TAKES;
            struct run r =
                RUN(run_text, LINKS "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 2MB, verb: send}]\n",
                    flows + 1, delays_ns[d], "cbfc", grant, "cbfc");
            run_assert_complete(&r);
            assert_int_equal(run_drops(&r), 0);
            double worst = 0;
            for (uint32_t f = 0; f < flows; f++) {
                if ((double)run_fct(&r, f) > worst) worst = (double)run_fct(&r, f);
                char port[32];
                snprintf(port, sizeof port, "switch-0/%u", f + 1);
                assert_true(run_counters(&r, port, 3)->ingress_bytes_max <= grant);
            }
            double least = flows * ceil(2e6 / 4096) * WIRE / RATE,
                   way = 2 * (delays_ns[d] * 1e-9 + WIRE / RATE) + 300e-9;
            form_assert("CBFC: time of an incast without loss (all frames on one line)", worst * 1e-12, least + way,
                        .02);
            run_free(&r);
        }
}

// Frames of control may be larger than those of data: a port waits for credit for the largest of all.
static void acknowledgements_have_credit(void **state) {
    struct run r = RUN(run_text,
                       LINKS "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100KB}]\n"
                             "devices: [{match: 'host-*', host: {mtu: 116B, ack_frame: 1500B, cnp_frame: 1400B}}]\n",
                       5, 100, "cbfc", 200000, "cbfc");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
}

// The run's own check of credit finds all of it whenever a run ends, that of a frame among it that is still coming in.
static void a_frame_that_is_cut_through_holds_its_credit(void **state) {
    for (unsigned i = 0; i < 32; i++) {
        struct run r = RUN(run_text,
                           LINKS "devices: [{match: switch-0, switch: {forwarding: cut_through, queueing: voq}}]\n"
                                 "workload: [{kind: incast, sources: '*', dst: host-0, size: 1MB, verb: send}]\n"
                                 "run: {until: %uns}\n",
                           3, 100, "cbfc", 100000000, "cbfc", 500 + 50 * i);
        assert_int_equal(r.outcome->end, WEFT_END_UNTIL);
        run_free(&r);
    }
}

// The same without credit and without PFC loses packets: credit_is_never_overrun can fail.
static void without_credit_it_would_be(void **state) {
    struct run r =
        RUN(run_once, LINKS "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 2MB, verb: send}]\n", 5, 1000,
            "none", 50000, "none");
    assert_true(run_drops(&r) > 0);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_from_the_cable_gives_full_rate),
        cmocka_unit_test(less_credit_gives_credit_over_loop),
        cmocka_unit_test(a_wait_counts_up_to_the_end_of_the_run),
        cmocka_unit_test(credit_is_never_overrun),
        cmocka_unit_test(acknowledgements_have_credit),
        cmocka_unit_test(a_frame_that_is_cut_through_holds_its_credit),
        cmocka_unit_test(without_credit_it_would_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
