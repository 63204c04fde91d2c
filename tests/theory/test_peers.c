// SPDX-License-Identifier: Apache-2.0
// The presets that make weft count as other simulators do (docs/peers.md), against times worked out by hand.
//
// ns3_hpcc: a data packet is payload + 48 B, an ACK 60 B; neither preamble nor gap; a frame takes bytes x 8 / rate,
// rounded down to whole ns; switches store and forward without a delay of their own; a flow is complete when its last
// ACK is at the sender (alibaba-edu/High-Precision-Congestion-Control, qbb-net-device.cc and rdma-hw.cc).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

#define PRESETS "host: {preset: ns3_hpcc}\nswitch: {preset: ns3_hpcc}\n"

// 200G: 4144 B take 165.76, so 165 ns; 60 B take 2.4, so 2 ns. 165 + 150 + 165 + 150 + 2 + 150 + 2 + 150 = 934 ns.
static void one_packet(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" PRESETS
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B, start: 5us}]\n");
    form_assert("Flows as in ns-3 with HPCC, to the nanosecond", (double)(r.outcome->flow[0].acked_ps - 5000000),
                934000, 0);
    assert_int_equal(run_fct(&r, 0), 630000);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 630000);
    run_free(&r);
}

// 10000 B are packets of 4144, 4144 and 1856 B: 165, 165 and 74 ns (74.24). The first hop is left at 165, 330, 404;
// at the switch 150 ns later, and on the second hop the first leaves at 480, so the others at 645 and 719, and the last
// is there at 869; its ACK after 2 x 152 ns more.
static void several_packets(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" PRESETS
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10000B}]\n");
    assert_int_equal(run_fct(&r, 0), 869000);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 869000);
    form_assert("Flows as in ns-3 with HPCC, to the nanosecond", (double)r.outcome->flow[0].acked_ps, 1173000, 0);
    run_free(&r);
}

// An own value stands over the preset's, whether it is in a section or in a model beside others.
static void own_values_hold(void **state) {
    struct run r = run_once("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "host: {preset: ns3_hpcc, ack_frame: 100B, nak_interval: 1us, wire: {pause_frame: 64B}}\n"
                            "switch: {preset: ns3_hpcc, processing: 10ns, aqm: {min: 7KB}}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}]\n");
    // 100 B take 4 ns.
    assert_int_equal(r.outcome->flow[0].acked_ps, (165 + 150 + 10 + 165 + 150 + 4 + 150 + 10 + 4 + 150) * 1000);
    run_free(&r);
}

// Without a preset a wire of one's own is exact: 4096 + 48 B at 200G take 165.76 ns, and 8 B more 166.08.
static void exact_without_gap(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "host: {data_header: 48B, wire: {overhead: 8B}}\n"
                            "switch: {processing: 0ns, wire: {overhead: 8B}}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}]\n");
    assert_int_equal(run_fct(&r, 0), 2 * (166080 + 150000));
    assert_int_equal(r.outcome->flow[0].ideal_ps, 2 * (166080 + 150000));
    run_free(&r);
}

// Four hosts send to a fifth, with marks from the first byte left behind: no CNP goes out, and each mark comes back to
// its sender on the ACK. A pause lasts until it is ended: its frame says 100 quanta (256 ns), and none is sent again.
static void echo_and_pause(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 5, rate: 200Gbps, delay: 150ns}\n"
                            "host: {preset: ns3_hpcc}\n"
                            "switch: {preset: ns3_hpcc, aqm: {min: 0B, max: 1B}, pfc: {quanta: 100},\n"
                            "         buffer: {kind: static, xoff: 20KB, xon: 10KB}}\n"
                            "workload: [{kind: incast, sources: '*', dst: host-4, size: 400KB}]\n");
    uint64_t echoes = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++) {
        run_fct(&r, i);
        echoes += r.outcome->flow[i].cnps;
    }
    assert_int_equal(r.outcome->cnps, 0);
    assert_true(echoes > 0);
    assert_int_equal(echoes, run_counters(&r, "switch-0->host-4", 3)->ecn_marked);
    const struct weft_counters *port = run_counters(&r, "switch-0->host-0", 3);
    assert_true(port->pfc_tx_xoff > 0);
    assert_int_equal(port->pfc_tx_xoff, port->pfc_tx_xon);
    // It waits longer than the quanta would have it.
    assert_true(run_counters(&r, "host-0->switch-0", 3)->paused_ps > port->pfc_tx_xoff * 256000);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_packet),        cmocka_unit_test(several_packets), cmocka_unit_test(own_values_hold),
        cmocka_unit_test(exact_without_gap), cmocka_unit_test(echo_and_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
