// SPDX-License-Identifier: Apache-2.0
// DCQCN in the packet simulator against the fixed point of its fluid model (theory/dcqcn_fluid.h): N flows through one
// link settle at a queue q* with equal rates. Parameters of the paper; packets of 1002 B on the wire; feedback delay of
// a few microseconds. Expectation: mean queue within 20 % of q* for N up to 8 (but see the last test for N = 2), Jain
// index above 0.95. The 20 % are ours: the fluid model is the limit of many small flows, and neither paper says how far
// few flows are from it. Measured are 3 to 17 %, most with 8 flows at 40G, where the queue swings from empty to Kmax.
// That the difference is one of few flows, and vanishes, is the second test.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"
#include "theory/dcqcn_fluid.h"

enum { PAYLOAD = 920, FRAME = PAYLOAD + 62, WIRE = FRAME + 20, FLOWS_MAX = 16 };

struct settled {
    double queue_bytes, jain, utilisation;
};

/// What N flows settle to, from samples after `from_ms`.
static struct settled settle(unsigned gbps, unsigned flows, unsigned from_ms, unsigned until_ms) {
    struct run r = RUN(run_once,
                       "topology: {kind: single, hosts: %u, rate: %uGbps, delay: 150ns}\n"
                       "switch: {buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}, pfc: {priorities: none}, "
                       "aqm: {kind: wred, min: 5KB, max: 200KB, max_probability: 1%%}}\n"
                       "host: {mtu: %uB, cc: dcqcn, ack_every: 64, pfc: {priorities: none}, cnp_interval: 50us}\n"
                       "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100GB, verb: send}]\n"
                       "run: {until: %ums, sample_interval: 5us, sample_ports: \"switch-0/0,host-*\"}\n",
                       flows + 1, gbps, (unsigned)PAYLOAD, until_ms);
    assert_int_equal(run_drops(&r), 0);
    uint32_t out = weft_topology_find_port(r.topology, "switch-0/0");
    double queue = 0, samples = 0, sent[FLOWS_MAX] = {0}, all = 0, squares = 0;
    for (uint64_t i = 0; i < r.outcome->samples; i++) {
        const struct weft_sample *s = &r.outcome->sample[i];
        if (s->time_ps < from_ms * WEFT_PS_PER_MS || s->priority != 3) continue;
        const struct weft_node_info *node = &r.topology->node[r.topology->port[s->port].node];
        if (s->port == out) {
            queue += (double)s->queue_bytes;
            samples++;
        } else if (node->role == WEFT_NODE_HOST && node->index) {
            sent[node->index - 1] += (double)s->tx_bytes;
        }
    }
    for (unsigned i = 0; i < flows; i++) {
        all += sent[i];
        squares += sent[i] * sent[i];
    }
    double line_bytes = gbps * 1e9 / 8 * (until_ms - from_ms) * 1e-3 * FRAME / WIRE;
    run_free(&r);
    return (struct settled){queue / samples, all * all / (flows * squares), all / line_bytes};
}

/// How far the mean queue is from q*, as a part of q*.
static double fixed_point(unsigned gbps, unsigned flows, unsigned from_ms, unsigned until_ms) {
    struct dcqcn_fluid f = dcqcn_fluid_paper(gbps * 1e9, flows);
    f.packet_bytes = WIRE;
    double expected = dcqcn_fluid_queue(&f);
    struct settled s = settle(gbps, flows, from_ms, until_ms);
    print_message("%uG, %u flows: mean queue %.1f KB, q* %.1f KB (%+.0f %%), Jain %.3f, utilisation %.4f\n", gbps,
                  flows, s.queue_bytes * 1e-3, expected * 1e-3, (s.queue_bytes / expected - 1) * 100, s.jain,
                  s.utilisation);
    assert_true(s.jain > .95);
    assert_true(s.utilisation > .98);
    return s.queue_bytes / expected - 1;
}

static void fixed_points(void **state) {
    form_assert("Mean queue under DCQCN, 4 and 8 flows (fixed point of Zhu et al. 2015)",
                1 + fixed_point(40, 4, 100, 300), 1, .2);
    form_assert("Mean queue under DCQCN, 4 and 8 flows (fixed point of Zhu et al. 2015)",
                1 + fixed_point(40, 8, 100, 300), 1, .2);
    form_assert("Mean queue under DCQCN, 4 and 8 flows (fixed point of Zhu et al. 2015)",
                1 + fixed_point(100, 4, 100, 300), 1, .2);
    form_assert("Mean queue under DCQCN, 4 and 8 flows (fixed point of Zhu et al. 2015)",
                1 + fixed_point(100, 8, 100, 200), 1, .2);
}

// With two flows cuts are few and large: the queue's standard deviation is as large as its mean, it is below Kmin
// (where nothing is marked) 43 % of the time at 40G and 60 % at 100G, and its mean is 21 and 28 % below q*. The fluid
// model is the limit of many small flows: its fixed point depends on C / N only, so as both grow the mean must go to
// q*. It does: 40G/2, 80G/4, 160G/8, 320G/16 measured -21, -9, -5, 0 % (160G/8 over 240 instead of 80 ms: -3 %);
// 100G/2, 200G/4, 400G/8, 800G/16 measured -28, -23, -11, -4 %.
static void few_flows_approach_it_as_they_become_many(void **state) {
    double two = fixed_point(40, 2, 100, 300), four = fixed_point(80, 4, 100, 200),
           eight = fixed_point(160, 8, 60, 140);
    assert_true(two > -.35 && two < .2);
    assert_true(fabs(four) < fabs(two) && fabs(four) < .2);
    assert_true(fabs(eight) < .1);
}

/// Two flows share a port, frame by frame: a marked packet of each every 2 x 4178 B x 80 ps. An interval of four of
/// these is over when the fourth packet comes, so that every fourth is answered; one picosecond more, and it is every
/// fifth.
static void a_cnp_is_due_when_the_interval_is_over(void **state) {
    enum { PERIOD_PS = 2 * (4096 + 62 + 20) * 80, PACKETS = 400 };
    for (uint32_t more = 0; more < 2; more++) {
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 3, rate: 100Gbps, delay: 150ns}\n"
                           "switch: {buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}, "
                           "aqm: {kind: wred, min: 0B, max: 0B}}\n"
                           "host: {mtu: 4096B, cc: none, cnp_interval: %ups}\n"
                           "workload: [{kind: incast, sources: '*', dst: host-0, size: %uB, verb: send}]\n",
                           4 * PERIOD_PS + more, PACKETS * 4096);
        run_assert_complete(&r);
        uint64_t marked = run_counters(&r, "switch-0/0", 3)->ecn_marked, every = 4 + more;
        assert_true(marked >= 2 * PACKETS - 2); // but for one that found nothing before it
        for (uint32_t i = 0; i < 2; i++)
            assert_in_range(r.outcome->flow[i].cnps, (PACKETS - 2 + every) / every, (PACKETS - 1 + every) / every);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_points),
        cmocka_unit_test(few_flows_approach_it_as_they_become_many),
        cmocka_unit_test(a_cnp_is_due_when_the_interval_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
