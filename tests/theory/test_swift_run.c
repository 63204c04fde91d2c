// SPDX-License-Identifier: Apache-2.0
// Swift in the packet simulator: N flows through one link keep the round trip at the target, and far more flows than
// the link's delay product has packets do so too, because a window may be less than a packet (Kumar et al., SIGCOMM
// 2020, sections 3.1 and 3.4).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

enum { FRAME = 4096 + 62, WIRE = FRAME + 20 };
static const double RATE = 100e9 / 8; ///< B/s

struct settled {
    double queue_bytes, utilisation;
    uint64_t drops;
};

static struct settled settle(unsigned flows, const char *swift) {
    struct run r = RUN(run_once,
                       "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 150ns}\n"
                       "switch: {buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}, pfc: {priorities: none}}\n"
                       "host: {cc: {kind: swift, fs_range: 0ns, %s}, pfc: {priorities: none}}\n"
                       "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100GB, verb: send}]\n"
                       "run: {until: 10ms, sample_interval: 1us, sample_ports: \"switch-0/0\"}\n",
                       flows + 1, swift);
    struct settled s = {.drops = run_drops(&r)};
    struct run_port out = run_port(&r, "switch-0/0", 5 * WEFT_PS_PER_MS);
    s.queue_bytes = out.queue_bytes;
    s.utilisation = out.tx_bytes / FRAME * WIRE / (RATE * 1e-6);
    run_free(&r);
    print_message("%u flows, %s: mean queue %.1f KB, utilisation %.4f\n", flows, swift, s.queue_bytes * 1e-3,
                  s.utilisation);
    return s;
}

// Queue and round trip are one: target = empty round trip + queue / rate. All N windows grow by a packet an RTT until
// the target is passed and are cut a round trip later, so the queue swings by N packets about that, and with it the
// mean.
static void delay_is_kept_at_the_target(void **state) {
    // data: two serialisations, two links, switch and NIC; the ACK, 86 B on the wire, likewise
    double empty = (2 * (WIRE + 86) / RATE) + 4 * 150e-9 + 2 * 300e-9;
    for (unsigned flows = 4; flows <= 16; flows *= 2) {
        struct settled s = settle(flows, "base_target: 20us");
        double expected = (20e-6 - empty) * RATE;
        assert_int_equal(s.drops, 0);
        assert_true(fabs(s.queue_bytes - expected) < flows * (double)WIRE);
        assert_true(s.utilisation > .99);
    }
}

// 400 flows, and 20 us at 100 Gbit/s are 60 packets. With windows of a packet at least the queue is what does not fit:
// 400 - (empty round trip: 5) packets. With less than a packet it stays near the target.
static void more_flows_than_packets(void **state) {
    struct settled whole = settle(400, "min_cwnd: 1"), part = settle(400, "min_cwnd: 0.001, ai: 0.1");
    assert_true(fabs(whole.queue_bytes - 395. * WIRE) < 5. * WIRE);
    assert_true(part.queue_bytes < whole.queue_bytes / 4);
    assert_true(part.utilisation > .95);
    assert_int_equal(part.drops + whole.drops, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delay_is_kept_at_the_target),
        cmocka_unit_test(more_flows_than_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
