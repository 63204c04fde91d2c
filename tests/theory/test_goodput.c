// SPDX-License-Identifier: Apache-2.0
// Goodput of one flow on an idle path, READ against WRITE, and windows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

// Payload P of every P + 62 bytes of frame and 20 of preamble and gap (RoCEv2 annex A17, IEEE 802.3): 98.0 % of the
// line rate at 4096 B, 92.6 % at 1024 B, 75.7 % at 256 B. 50 MB, so that the latency of the path is below 0.1 %.
static void goodput_is_what_headers_leave(void **state) {
    static const struct {
        unsigned mtu;
        const char *verb;
    } row[] = {{256, "write"}, {1024, "write"}, {4096, "write"}, {1024, "send"},
               {256, "read"},  {1024, "read"},  {4096, "read"}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1, rate: 100Gbps, delay: "
                "150ns}\nhost: {mtu: %uB}\n"
                "workload: [{kind: flow, src: host-0, dst: host-1, size: 50MB, verb: %s}]\n",
                row[i].mtu, row[i].verb);
        double goodput = 50e6 * 8 / ((double)run_fct(&r, 0) * 1e-12);
        form_assert("Goodput of a flow (what headers leave of the line rate)", goodput,
                    100e9 * row[i].mtu / (row[i].mtu + 82.0), .001);
        run_free(&r);
    }
}

// One window of W per round trip: throughput is min(line rate, W / RTT), RTT from the first bit of a packet to its
// acknowledgement. Two hops of 1 us at 100G (80 ps a byte), 300 ns in the switch: a packet of 4096 B takes
// 2 x (4166 x 80 + 1000000) + 300000 = 2966560 ps, its ACK 2 x (74 x 80 + 1000000) + 300000 = 2311840 ps.
static void window_limits_throughput(void **state) {
    double rtt_ps = 2966560 + 2311840;
    for (unsigned packets = 1; packets <= 32; packets *= 2) {
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 1us}\n"
                           "host: {window: %uB}\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, size: 16MiB, verb: send}]\n",
                           packets * 4096);
        double by_window = packets * 4096 / rtt_ps, by_line = 4096 / (4178 * 80.0);
        double expected = by_window < by_line ? by_window : by_line;
        form_assert("Throughput of a window (min(B, window / round trip))", 16 * 1048576 / (double)run_fct(&r, 0),
                    expected, .002);
        run_free(&r);
    }
}

// A window that is full asks for its acknowledgement: with one ACK every 64 packets and a window of 8 nothing waits for
// the timeout.
static void full_window_asks_for_its_ack(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 1us}\n"
                            "host: {window: 32KiB, ack_every: 64}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4MiB, verb: send}]\n");
    assert_int_equal(r.outcome->flow[0].packets_again, 0);
    // A round is then the 8 packets and the round trip of the last of them, the ACK being for all.
    double round_ps = 7 * 4178 * 80 + 2966560 + 2311840;
    form_assert("Throughput of a window with one ACK for it", 4 * 1048576 / (double)run_fct(&r, 0), 8 * 4096 / round_ps,
                .01);
    run_free(&r);
}

// Responses to a READ are not acknowledged, so that no window holds them back.
static void read_has_no_window(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 1us}\n"
                            "host: {window: 16KiB}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MiB, verb: read}]\n");
    assert_int_equal(run_fct(&r, 0), r.outcome->flow[0].ideal_ps);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goodput_is_what_headers_leave),
        cmocka_unit_test(window_limits_throughput),
        cmocka_unit_test(full_window_asks_for_its_ack),
        cmocka_unit_test(read_has_no_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
