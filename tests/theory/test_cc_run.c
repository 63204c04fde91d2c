// SPDX-License-Identifier: Apache-2.0
// DCTCP, TIMELY and HPCC in the packet simulator, N flows to one host: the queue where the scheme aims, the link as
// full as it aims, equal shares where it promises them, and one flow alone at the speed of the line.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

enum { MTU = 4096, FRAME = MTU + 62, WIRE = FRAME + 20 };
static const double RATE = 100e9 / 8; ///< B/s

struct settled {
    double queue_bytes, queue_bytes_max; ///< mean and greatest, from 20 ms on
    double utilisation, fairness;        ///< of the wire; Jain's index of what flows delivered
    uint64_t drops;
};

/// N hosts send to host-0 for 40 ms over one switch, in frames of so many bytes.
static struct settled settle(unsigned flows, const char *host, const char *aqm, const char *delay, uint32_t frame) {
    struct run r = RUN(run_text,
                       "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: %s}\n"
                       "switch: {buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}, %s, pfc: {priorities: "
                       "none}}\n"
                       "host: {%s, pfc: {priorities: none}}\n"
                       "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100GB, verb: send}]\n"
                       "run: {until: 40ms, sample_interval: 1us, sample_ports: \"switch-0/0\"}\n",
                       flows + 1, delay, aqm, host);
    struct settled s = {.drops = run_drops(&r)};
    struct run_port out = run_port(&r, "switch-0/0", 20 * WEFT_PS_PER_MS);
    double sum = 0, squares = 0;
    s.queue_bytes = out.queue_bytes;
    s.queue_bytes_max = out.queue_bytes_max;
    s.utilisation = out.tx_bytes / frame * (frame + 20) / (RATE * 1e-6);
    for (uint32_t f = 0; f < r.workload->flows; f++) {
        double bytes = (double)r.outcome->flow[f].delivered_bytes;
        sum += bytes;
        squares += bytes * bytes;
    }
    s.fairness = sum * sum / (squares * flows);
    run_free(&r);
    print_message("%u flows, %s: mean queue %.1f KB, at most %.1f KB, utilisation %.4f, fairness %.4f\n", flows, host,
                  s.queue_bytes * 1e-3, s.queue_bytes_max * 1e-3, s.utilisation, s.fairness);
    return s;
}

static const char *const DCTCP = "cc: dctcp, transport: {kind: roce_rc, ecn_echo: ack}";

// Alizadeh et al., SIGCOMM 2010, section 3.3: with W* = (C RTT + K) / N, alpha = sqrt(2 / W*), the queue swings between
// K + N - A and K + N with A = N (W* + 1) alpha / 2 packets, if K > C RTT / 7 the link never idles. Rounds of different
// flows do not keep step here, which makes the swing smaller, never greater; a cut takes effect a round trip late,
// during which each flow's window has grown by one more packet.
static void dctcp_keeps_the_queue_at_its_threshold(void **state) {
    double packets = (2 * (WIRE + 86) / RATE + 4 * 150e-9 + 2 * 300e-9) * RATE / WIRE, k = 40;
    for (unsigned flows = 2; flows <= 8; flows *= 2) {
        struct settled s =
            settle(flows, DCTCP, "aqm: {kind: wred, min: 167120B, max: 167120B, max_probability: 1}", "150ns", FRAME);
        double window = (packets + k) / flows, alpha = sqrt(2 / window), swing = flows * (window + 1) * alpha / 2;
        assert_int_equal(s.drops, 0);
        assert_true(s.queue_bytes_max <= (k + 2 * flows) * WIRE);
        assert_true(s.queue_bytes <= (k + flows) * WIRE && s.queue_bytes >= (k + flows - swing) * WIRE);
        assert_true(s.utilisation > .999);
        assert_true(s.fairness > (flows > 2 ? .99 : .9)); // two cut in turn, and one may do so more often for long
    }
}

// Mittal et al., SIGCOMM 2015, section 4.3: below t_low all rates rise, so the round trip comes to t_low again and
// again; above t_high all fall, so it never gets there. Shares need not be equal (Zhu et al., CoNEXT 2016,
// section 4.2), so nothing is asserted of them.
static void timely_turns_between_its_bounds(void **state) {
    double empty = 2 * (WIRE + 86) / RATE + 4 * 150e-9 + 2 * 300e-9;
    for (unsigned flows = 2; flows <= 8; flows *= 2) {
        struct settled s = settle(flows, "cc: {kind: timely, initial_rate: 10Gbps}", "aqm: none", "150ns", FRAME);
        double rtt = s.queue_bytes_max / RATE + empty;
        assert_int_equal(s.drops, 0);
        assert_true(rtt > 50e-6 && rtt < 500e-6);
        assert_true(s.utilisation > .9);
    }
}

// Li et al., SIGCOMM 2019, section 3.2: utilisation eta, and queues that are empty but for the additive increase: with
// N flows U = eta + N w_ai / (B T) in equilibrium, far below 1 here. A packet of each flow may meet the others'.
static void hpcc_leaves_the_queue_empty_at_its_utilisation(void **state) {
    for (unsigned flows = 2; flows <= 16; flows *= 2) {
        struct settled s = settle(flows, "mtu: 1000B, cc: hpcc", "aqm: none", "2.8us", 1000 + 62 + 42);
        double extra = flows * 80. / (RATE * 13e-6);
        assert_int_equal(s.drops, 0);
        assert_true(s.queue_bytes < flows * (double)WIRE);
        assert_true(fabs(s.utilisation - (.95 + extra)) < .03);
        assert_true(s.fairness > .95);
    }
}

static double completion_us(const char *host) {
    struct run r = RUN(run_text,
                       "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 150ns}\n"
                       "switch: {aqm: {kind: wred, min: 167120B, max: 167120B, max_probability: 1}}\n"
                       "host: {%s}\n"
                       "workload: [{kind: flow, src: host-1, dst: host-0, size: 40960000B, verb: send}]\n",
                       host);
    double us = (double)(r.outcome->flow[0].end_ps - r.outcome->flow[0].start_ps) * 1e-6;
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
    print_message("alone, %s: %.3f us\n", host, us);
    return us;
}

// 10,000 packets one after another, then the last one's way: a switch and two cables. Telemetry makes each 42 B longer,
// and HPCC aims at 95% of the line from its second round trip on.
static void one_flow_alone_has_the_line(void **state) {
    double way = WIRE / RATE + 2 * 150e-9 + 300e-9, line = (10000. * WIRE / RATE + way) * 1e6;
    double full = completion_us("cc: none");
    assert_true(fabs(full - line) < .5);
    assert_true(fabs(completion_us("cc: {kind: timely}") - line) < .5);
    assert_true(fabs(completion_us(DCTCP) - line) < .01 * line); // slow start
    double hpcc = completion_us("cc: {kind: hpcc, base_rtt: 5us}"), aimed = 10000. * (WIRE + 42) / RATE / .95 * 1e6;
    assert_true(fabs(hpcc - aimed) < .02 * aimed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dctcp_keeps_the_queue_at_its_threshold),
        cmocka_unit_test(timely_turns_between_its_bounds),
        cmocka_unit_test(hpcc_leaves_the_queue_empty_at_its_utilisation),
        cmocka_unit_test(one_flow_alone_has_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
