// SPDX-License-Identifier: Apache-2.0
// Clocks that are off, and hosts that jitter: how much, and that neither other devices, nor threads, nor an ideal that
// is too long show.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "run.h"

#define CLOCKS "clock_ppm: 100"
#define JITTERS CLOCKS ", send_latency: 700ns, receive_latency: 700ns, jitter: 0.03, stall: 1us"
#define LAUNCHES JITTERS ", launch: 6.1us, launch_skew: 0.2"

static int order_times(const void *a, const void *b) {
    weft_time_ps x = *(const weft_time_ps *)a, y = *(const weft_time_ps *)b;
    return (x > y) - (x < y);
}

/// The switch's clock is exact, so a sender that is slower is the bottleneck of its flow, and the time says how far its
/// clock is off: normal, 20 ppm, cut at 50. Those that are faster wait in the switch.
static void clocks_of_senders(void **state) {
    (void)state;
    enum { PAIRS = 400 };
    const char *format = "topology: {kind: single, hosts: 800, rate: 100Gbps}\nhost: {clock_ppm: %s}\n"
                         "workload: [{kind: flow, src: host-0..399, dst: host-400..799, size: 4MB}]\n";
    struct run exact = RUN(run_once, format, "0"), off = RUN(run_once, format, "50");
    double squares = 0, most = 0;
    uint32_t slower = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        double ppm = ((double)run_fct(&off, i) / (double)run_fct(&exact, i) - 1) * 1e6;
        assert_true(ppm > -0.1); // the first frame alone
        if (ppm < 0.1) continue;
        slower++;
        squares += ppm * ppm;
        most = fmax(most, ppm);
    }
    assert_true(most < 50 && most > 40);
    assert_true(fabs(slower - PAIRS / 2.0) < 4 * sqrt(PAIRS) / 2);
    // The deviation of a normal distribution that is cut at 2.5 times its own is 0.9546 of it.
    assert_true(fabs(sqrt(squares / slower) / (20 * 0.9546) - 1) < 4 / sqrt(2.0 * slower));
    run_free(&exact);
    run_free(&off);
}

/// Measured: p99 is 1.06 or 1.07 times the median of 2 B; one of a thousand stalls, by 1 us in the mean. The request of
/// a READ, which crosses the network too, varies by as much.
static void assert_jitter(const char *verb, double ratio_min) {
    enum { MESSAGES = 20000 };
    struct run r = RUN(run_once,
                       "topology: {kind: single, hosts: 2, rate: 100Gbps}\nhost: {" JITTERS "}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-1, size: 2B, verb: %s, repeat: 20000, "
                       "interval: 100us}]\n",
                       verb);
    static weft_time_ps time[MESSAGES];
    for (uint32_t i = 0; i < MESSAGES; i++)
        time[i] = run_fct(&r, i);
    qsort(time, MESSAGES, sizeof *time, order_times);
    double median = (double)time[MESSAGES / 2], p99 = (double)time[MESSAGES * 99 / 100], base = 1400e3;
    assert_true(p99 / median > ratio_min && p99 / median < 1.08);
    assert_true(fabs((p99 - median) / (base * (exp(2.326 * 0.03) - 1)) - 1) < 0.1);
    uint32_t stalled = 0;
    for (uint32_t i = 0; i < MESSAGES; i++)
        stalled += (double)time[i] > median + 0.2e6; // 4.7 deviations of the jitter; exp(-0.2) of stalls are longer
    double expected = MESSAGES * 0.001 * exp(-0.2);
    assert_true(fabs(stalled - expected) < 4 * sqrt(expected));
    run_free(&r);
}

static void latency_of_messages(void **state) {
    (void)state;
    assert_jitter("write", 1.04);
    assert_jitter("read", 1.02);
}

/// A line that is idle for a share of the time carries the rest: in 84 ms it is idle 1600 times or more, each for an
/// exponential time, so the sum is known to 2.5% or better. On both paths of a NIC.
static void lines_that_idle(void **state) {
    (void)state;
    static const char *const more[] = {"", ", packet_rate: 2900000"};
    const char *format = "topology: {kind: single, hosts: 2, rate: 100Gbps}\nhost: {stall: 1us, idle: %s%s}\n"
                         "workload: [{kind: flow, src: host-0, dst: host-1, size: 1GB}]\nrun: {jitter: %s}\n";
    for (uint32_t i = 0; i < 2; i++) {
        struct run off = RUN(run_once, format, "2%", more[i], "off"), none = RUN(run_once, format, "0", more[i], "on"),
                   idle = RUN(run_once, format, "2%", more[i], "on");
        double longer = (double)run_fct(&idle, 0) / (double)run_fct(&none, 0) - 1, expected = 1 / 0.98 - 1;
        if (fabs(longer / expected - 1) > 4 * sqrt(2.0 / 1600)) fail_msg("longer by %g, not %g", longer, expected);
        assert_int_equal(off.outcome->digest, none.outcome->digest);
        run_free(&off);
        run_free(&none);
        run_free(&idle);
    }
}

/// Two senders into one whose queue is full, 16 times. In step, of two packets the same one always finds a place: half
/// is lost, and yet the line's rate arrives, as nothing asks again for the other's. With lines that are idle at times
/// all lose and go back, and shares are equal within 2 points over eight seeds.
static void senders_in_step(void **state) {
    (void)state;
    enum { PAIRS = 16, SEEDS = 8 };
    const char *format = "topology: {kind: single, hosts: 48, rate: 100Gbps}\n"
                         "host: {clock_ppm: 100, stall: 1us, idle: %s, pfc: {priorities: none}, timeout: 524288ns}\n"
                         "switch: {clock_ppm: 100, pfc: {priorities: none}, buffer: {kind: egress, size: 100KB, xoff: "
                         "60KB, xon: 50KB}}\n"
                         "workload:\n- {kind: flow, src: host-0..15, dst: host-32..47, size: 0B, qps: 4}\n"
                         "- {kind: flow, src: host-16..31, dst: host-32..47, size: 0B, qps: 4}\n"
                         "run: {until: 10ms, stall: never, seed: %u}\n";
    double rate[2] = {0}, share[2] = {0};
    for (uint32_t i = 0; i < 2; i++)
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
            struct run r = RUN(run_once, format, i ? "0.2%" : "0", seed);
            double all = 0, first = 0;
            for (uint32_t f = 0; f < 2 * PAIRS; f++) {
                double bytes = (double)r.outcome->flow[f].delivered_bytes;
                all += bytes;
                first += f < PAIRS ? bytes : 0;
            }
            rate[i] += all * 8 / 10e-3 / PAIRS / SEEDS / 1e9;
            share[i] += first / all / SEEDS;
            run_free(&r);
        }
    print_message("in step %.1f Gbit/s, %.3f; else %.1f Gbit/s, %.3f\n", rate[0], share[0], rate[1], share[1]);
    assert_true(rate[0] > 97 && rate[1] < 90);
    assert_true(fabs(share[0] - 0.5) > 0.04 && fabs(share[1] - 0.5) < 0.02);
}

/// At time 0 a message may be due sooner than its median by more than there is: it is issued at once, and it and those
/// after it arrive.
static void messages_at_the_start(void **state) {
    (void)state;
    static const char *const latencies[] = {"send_latency: 0ns, receive_latency: 700ns, jitter: 0.03",
                                            "send_latency: 700ns, receive_latency: 700ns, jitter: 1"};
    for (uint32_t i = 0; i < 2; i++) {
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 64, rate: 100Gbps}\nhost: {%s}\n"
                           "workload: [{kind: flow, src: host-0..31, dst: host-32..63, size: 2B, repeat: 4, "
                           "interval: 10ns}]\n",
                           latencies[i]);
        for (uint32_t f = 0; f < 128; f++)
            assert_true(run_fct(&r, f) < 1000 * WEFT_PS_PER_US);
        run_free(&r);
    }
}

/// Completion times of the first `n` flows of both are the same.
static void assert_unchanged(const struct run *a, const struct run *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (run_fct(a, i) != run_fct(b, i))
            fail_msg("flow %u takes %" PRIu64 " ps, and %" PRIu64 " beside others", i, run_fct(a, i), run_fct(b, i));
}

static void others_change_nothing(void **state) {
    (void)state;
    const char *format =
        "topology: {kind: single, hosts: %u, rate: 100Gbps}\nhost: {" JITTERS "}\nswitch: {" CLOCKS "}\n"
        "workload:\n- {kind: flow, group: g, src: host-0..3, dst: host-4..7, size: 3KB, repeat: 50, "
        "interval: 2us, qps: 2}\n%s";
    struct run a = RUN(run_once, format, 8, ""), idle = RUN(run_once, format, 11, "");
    struct run flow = RUN(run_once, format, 11, "- {kind: flow, src: host-9, dst: host-8, size: 10MB}\n");
    struct run other = RUN(run_once, format, 8, "run: {seed: 2}\n");
    assert_unchanged(&a, &idle, 200);
    assert_unchanged(&a, &flow, 200);
    assert_true(run_fct(&a, 0) != run_fct(&other, 0));
    run_free(&a);
    run_free(&idle);
    run_free(&flow);
    run_free(&other);
}

/// Of a collective in which ranks start apart, too.
static void launches_of_ranks(void **state) {
    (void)state;
    const char *format =
        "topology: {kind: single, hosts: %u}\nhost: {launch: 6.1us, launch_skew: %s}\nrun: {jitter: %s}\n"
        "workload:\n- {kind: collective, group: g, collective: all_reduce_ring, size: 64KiB, hosts: host-0..7}\n";
    struct run a = RUN(run_once, format, 8, "0.2", "on"), idle = RUN(run_once, format, 12, "0.2", "on");
    struct run off = RUN(run_once, format, 8, "0.2", "off"), none = RUN(run_once, format, 8, "0", "on");
    assert_int_equal(a.outcome->sim_time_ps, idle.outcome->sim_time_ps);
    assert_int_equal(off.outcome->digest, none.outcome->digest);
    // The last of 8 ranks starts later than the median launch, and within four deviations of it.
    weft_time_ps late = a.outcome->sim_time_ps - none.outcome->sim_time_ps;
    assert_true(a.outcome->sim_time_ps > none.outcome->sim_time_ps && (double)late < 6.1e6 * (exp(4 * 0.2) - 1));
    run_free(&a);
    run_free(&idle);
    run_free(&off);
    run_free(&none);
}

static const char *const networks[] = {
    "{kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}",
    "{kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, host_rate: 106.25Gbps, spine_rate: 400Gbps}",
    "{kind: dsf_l1_zone, rdsws: 3, fdsws: 2, hosts_per_rdsw: 4, rails: 1}",
    "{kind: dragonfly, pods: 2, tins: 3}",
};
static const char *const settings[] = {
    "", "{pfc: {priorities: none}, buffer: {kind: static, size: 60KB, xoff: 60KB, xon: 50KB}, ",
    "{forwarding: cut_through, ", "{route: spray, "};

/// The same with any number of threads; run.jitter: off is the same as no draws.
static void threads_and_off(void **state) {
    (void)state;
    const char *load =
        "workload:\n- {kind: permutation, size: 200KB}\n- {kind: incast, sources: \"*\", dst: %s, size: 40KB}\n"
        "- {kind: collective, collective: all_reduce_ring, size: 256KiB, hosts: \"*\"}\n";
    for (uint32_t n = 0; n < sizeof networks / sizeof *networks; n++)
        for (uint32_t s = 0; s < (n < 2 ? 4 : 1); s++) {
            const char *dst = n == 3 ? "pod-0-tin-0-host-0" : "host-0", *start = *settings[s] ? settings[s] : "{";
            char *loads = n == 3 ? text_of("workload: [{kind: permutation, size: 20KB}]\n") : text_of(load, dst);
            struct run on = RUN(run_text, "topology: %s\nhost: {" LAUNCHES "}\nswitch: %s" CLOCKS "}\n%s", networks[n],
                                start, loads);
            struct run off =
                RUN(run_once, "topology: %s\nhost: {" LAUNCHES "}\nswitch: %s" CLOCKS "}\nrun: {jitter: off}\n%s",
                    networks[n], start, loads);
            struct run none = RUN(run_once,
                                  "topology: %s\nhost: {send_latency: 700ns, receive_latency: 700ns, launch: 6.1us}\n"
                                  "switch: %sclock_ppm: 0}\n%s",
                                  networks[n], start, loads);
            assert_int_equal(off.outcome->digest, none.outcome->digest);
            assert_int_not_equal(on.outcome->digest, off.outcome->digest);
            run_free(&on);
            run_free(&off);
            run_free(&none);
            free(loads);
        }
}

/// Alone, a flow takes its ideal by the clocks of its path, but for roundings. Along several paths the ideal is a bound
/// by the fastest clock there may be.
static void ideal_by_clocks(void **state) {
    (void)state;
    static const char *const sizes[] = {"2B", "5000B", "1MB", "20MB"}, *const qps[] = {"1", "5"};
    for (uint32_t n = 0; n < 3; n++)
        for (uint32_t i = 0; i < 32; i++) {
            struct run r = RUN(run_once,
                               "topology: %s\nhost: {out_of_order: accept, " CLOCKS "}\nswitch: {" CLOCKS
                               "%s%s}\nrun: {seed: %u}\n"
                               "workload: [{kind: flow, src: host-1, dst: host-9, size: %s, qps: %s}]\n",
                               networks[n], i % 2 && n < 2 ? ", forwarding: cut_through" : "",
                               i % 3 || n == 2 ? "" : ", route: spray", i + 1, sizes[i / 2 % 4], qps[i / 8 % 2]);
            weft_time_ps fct = run_fct(&r, 0), ideal = r.outcome->flow[0].ideal_ps;
            bool cuts = i % 2 && n < 2, one_path = n < 2 && i % 3 && i / 8 % 2 == 0;
            double whole = cuts ? 340e3 : 0; // a frame that finds a slower output still sending is stored: 4.2 KB, 100G
            if (fct < ideal) fail_msg("network %u, run %u: %" PRIu64 " ps, ideal %" PRIu64, n, i, fct, ideal);
            if (one_path && !cuts && fct - ideal > 64)
                fail_msg("network %u, run %u: %" PRIu64 " ps late", n, i, fct - ideal);
            if (n < 2 && (double)(fct - ideal) > (double)ideal * 200e-6 + 100 + whole)
                fail_msg("network %u, run %u: %" PRIu64 " ps, ideal %" PRIu64, n, i, fct, ideal);
            run_free(&r);
        }
}

/// What is drawn never repeats: exact refuses it and says what to do; steady says what it leaves out.
static void fast_forward(void **state) {
    (void)state;
    const char *format = "topology: {kind: single, hosts: 4, rate: 100Gbps}\nhost: {%s}\nrun: {fast_forward: %s%s}\n"
                         "workload: [{kind: job, hosts: host-0..3, iterations: 30, operations: [{compute: 10us}, "
                         "{collective: all_reduce_ring, size: 64KiB}]}]\n";
    struct run exact = RUN(run_once, format, JITTERS, "exact", ""),
               off = RUN(run_once, format, JITTERS, "exact", ", jitter: off");
    struct run steady = RUN(run_once, format, CLOCKS, "steady", "");
    const char *refused = exact.outcome->fast_forward->refused;
    if (!refused || !strstr(refused, "draws of ")) fail_msg("%s", refused);
    assert_non_null(strstr(exact.outcome->fast_forward->refused, "set run.jitter to off"));
    assert_null(off.outcome->fast_forward->refused);
    assert_true(steady.outcome->fast_forward->draws_left_out && steady.outcome->fast_forward->stretches);
    run_free(&exact);
    run_free(&off);
    run_free(&steady);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_of_senders),     cmocka_unit_test(latency_of_messages),
        cmocka_unit_test(messages_at_the_start), cmocka_unit_test(others_change_nothing),
        cmocka_unit_test(launches_of_ranks),     cmocka_unit_test(threads_and_off),
        cmocka_unit_test(ideal_by_clocks),       cmocka_unit_test(fast_forward),
        cmocka_unit_test(lines_that_idle),       cmocka_unit_test(senders_in_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
