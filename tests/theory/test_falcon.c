// SPDX-License-Identifier: Apache-2.0
// Falcon in the packet simulator: the round trip is at its target, and flows that ECMP has put on one link leave it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

enum { FRAME = 4096 + 62, WIRE = FRAME + 20 };
static const double RATE = 100e9 / 8; ///< B/s

// N flows through one link: target = empty round trip + queue / rate. All N windows grow by a packet an RTT until the
// target is passed and are cut a round trip later, so the mean of the queue is within N packets of it. The empty round
// trip: data, two serialisations, two links, switch; the ACK, 86 B on the wire, likewise.
static void delay_is_kept_at_the_target(void **state) {
    double empty = (2 * (WIRE + 86) / RATE) + 4 * 150e-9 + 2 * 300e-9;
    for (unsigned flows = 4; flows <= 16; flows *= 2) {
        struct run r =
            RUN(run_once,
                "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 150ns}\n"
                "switch: {buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}, pfc: {priorities: none}}\n"
                "host: {cc: {kind: falcon, fs_range: 0ns, base_target: 20us, plb_rounds: 0}, pfc: {priorities: none}}\n"
                "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100GB, verb: send}]\n"
                "run: {until: 10ms, sample_interval: 1us, sample_ports: \"switch-0/0\"}\n",
                flows + 1);
        struct run_port out = run_port(&r, "switch-0/0", 5 * WEFT_PS_PER_MS);
        double expected = (20e-6 - empty) * RATE;
        form_assert("Falcon: mean queue ((target - empty round trip) rate, within a packet a flow)", out.queue_bytes,
                    expected, flows * (double)WIRE / expected);
        assert_true(out.tx_bytes / FRAME * WIRE / (RATE * 1e-6) > .99);
        assert_int_equal(run_drops(&r), 0);
        run_free(&r);
    }
}

/// The slowest of four flows between two leaves with four spines, against the time of a flow alone.
static double slowest(unsigned seed, const char *transport, unsigned plb_rounds) {
    struct run r = RUN(
        run_once,
        "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 4, rate: 100Gbps, delay: 500ns}\n"
        "host: {transport: {%s, timeout: 1ms}, cc: {kind: falcon, fs_range: 0ns, base_target: 12us, plb_rounds: %u}}\n"
        "workload: [{kind: flow, src: host-0, dst: host-4, size: 20MB, verb: send}, {kind: flow, src: host-1, dst: "
        "host-5, size: 20MB, verb: send}, {kind: flow, src: host-2, dst: host-6, size: 20MB, verb: send}, {kind: "
        "flow, src: host-3, dst: host-7, size: 20MB, verb: send}]\nrun: {seed: %u}\n",
        transport, plb_rounds, seed);
    double worst = 0;
    for (uint32_t f = 0; f < 4; f++) {
        double slowdown = (double)run_fct(&r, f) / (double)r.outcome->flow[f].ideal_ps;
        if (slowdown > worst) worst = slowdown;
    }
    run_free(&r);
    return worst;
}

// Four flows on four equal links: ECMP gives each a link of its own with probability 4!/4^4, 9%; two on one link take
// twice as long. A flow whose round trips stay above the target leaves its link until none does. Each move finds a
// free link with probability 1/4 at least, so after k moves a flow has not with (3/4)^k at most; a move takes
// plb_rounds round trips of the target at least, and a flow lasts 130 of them.
static void flows_leave_a_shared_link(void **state) {
    static const char *const transports[] = {"kind: uet, spray: single",
                                             "kind: roce_rc, retransmission: selective, reorder_timeout: 20us"};
    for (unsigned t = 0; t < 2; t++) {
        double with = 0, without = 0;
        unsigned shared = 0;
        for (unsigned seed = 1; seed <= 8; seed++) {
            double kept = slowest(seed, transports[t], 0), moved = slowest(seed, transports[t], 3);
            print_message("%s, seed %u: %.2f, with PLB %.2f\n", transports[t], seed, kept, moved);
            shared += kept > 1.9;
            without += kept / 8;
            with += moved / 8;
        }
        assert_true(shared >= 4); // of 8, at 91% each
        assert_true(with < 1.5 && without > 1.8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delay_is_kept_at_the_target),
        cmocka_unit_test(flows_leave_a_shared_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
