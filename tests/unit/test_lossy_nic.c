// SPDX-License-Identifier: Apache-2.0
// A NIC without PFC: slow phases of its host, discards in bursts, CNPs of its own congestion, what a loss tells
// congestion control, and timeouts that queue pairs draw.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"

// A slow phase of 256 us comes each 10 ms: 85.8 Gbit/s instead of 197 for frames of 4158 B, of which 100 Gbit/s carry
// one each 4178 B. The buffer of 262016 B holds 63. It is full (99.52 - 85.8) / 8 x 256 us = 439 KB after less than a
// phase, and empty again 262 KB / 85.8 Gbit/s = 24.4 us later: 24.4 us / 334.2 ns = 73 frames.
#define NIC                                                                                                            \
    "host: {pfc: {priorities: none}, timeout: 4294967us, nak_interval: 500us, drain_rate: 197Gbps, "                   \
    "drain_slow_every: 10ms, drain_slow_time: 256us, drain_slow_rate: 85.8Gbps, drain_slow_below: %s, "                \
    "rx_buffer: 262016B, rx_xoff: 131008B, rx_xon: 65504B, rx_resume: %s, cnp_interval: 1ms%s}\n"                      \
    "switch: {pfc: {priorities: none}}\n"                                                                              \
    "run: {until: 50ms}\n"
#define STAR                                                                                                           \
    "topology:\n"                                                                                                      \
    "  kind: list\n"                                                                                                   \
    "  nodes: [{name: a, role: host}, {name: b, role: host}, {name: c, role: host}, {name: s, role: switch}]\n"        \
    "  links: [{from: a, to: s, rate: %sGbps}, {from: b, to: s, rate: 100Gbps}, {from: c, to: s, rate: 10Gbps}]\n"
#define LONE "workload: [{kind: flow, src: a, dst: b, size: 0B}]\n"

static uint64_t discarded(const struct run *r) {
    return r->outcome->drops[WEFT_DROP_NIC_BUFFER];
}

static void discards_in_bursts(void **state) {
    struct run r = RUN(run_text, STAR NIC LONE, "100", "100Tbps", "0B", "");
    assert_in_range(discarded(&r), 5 * 70, 5 * 76);
    assert_int_equal(r.outcome->drops[WEFT_DROP_BUFFER_FULL], 0);
    run_free(&r);
}

/// At 93.64 Gbit/s the buffer gets (93.19 - 85.8) / 8 x 256 us = 236 KB in a phase: room for all.
static void takes_what_fits(void **state) {
    struct run r = RUN(run_text, STAR NIC LONE, "93.64", "100Tbps", "0B", "");
    assert_int_equal(discarded(&r), 0);
    run_free(&r);
}

/// Discards end as soon as a frame fits: many short gaps, each with a replay, and 439 - 262 KB = 43 frames a phase.
static void resumes_at_once(void **state) {
    struct run r = RUN(run_text, STAR NIC LONE, "100", "100Tbps", "1TB", "");
    struct run late = RUN(run_text, STAR NIC LONE, "100", "100Tbps", "0B", "");
    assert_in_range(discarded(&r), 5 * 38, 5 * 47);
    assert_true(r.outcome->drops[WEFT_DROP_OUT_OF_ORDER] > 4 * late.outcome->drops[WEFT_DROP_OUT_OF_ORDER]);
    run_free(&r);
    run_free(&late);
}

/// b sends, too.
static void sends_instead_of_slowing(void **state) {
    static const char both[] =
        "workload: [{kind: flow, src: a, dst: b, size: 0B}, {kind: flow, src: b, dst: c, size: 0B}]\n";
    struct run r = RUN(run_text, STAR NIC "%s", "99", "5Gbps", "0B", "", both);
    struct run less = RUN(run_text, STAR NIC "%s", "99", "100Tbps", "0B", "", both);
    assert_in_range(discarded(&r), 0, 76); // not before it has sent
    assert_true(discarded(&less) > 200);
    run_free(&r);
    run_free(&less);
}

/// Two CNPs a phase: at the first mark, and after cnp_interval for those since.
static void notifies_of_its_own_congestion(void **state) {
    struct run r = RUN(run_text, STAR NIC LONE, "100", "100Tbps", "0B", ", rx_cnp: true");
    struct run without = RUN(run_text, STAR NIC LONE, "100", "100Tbps", "0B", "");
    assert_int_equal(r.outcome->cnps, 10);
    assert_int_equal(r.outcome->flow[0].cnps, 10);
    assert_int_equal(without.outcome->cnps, 0);
    run_free(&r);
    run_free(&without);
}

/// A burst is one NAK, and one cut. Each comes at line rate, so it is a first one: 64 us later alpha is 0.73 =
/// (1019/1024)^64, which takes 36.5 of 100 Gbit/s. Each 500 us half of the difference comes back: 5 x 500 us x (36.5
/// + 18.3 + 9.1 ...) Gbit/s = 22.8 MB on the wire are not sent, 22.3 MB of payload.
static void a_loss_is_a_notification(void **state) {
    struct run r = RUN(run_text, STAR NIC LONE, "100", "100Tbps", "0B",
                       ", slow_restart: true, cc: {kind: dcqcn_connectx, preset: cx5_measured}");
    struct run without =
        RUN(run_text, STAR NIC LONE, "100", "100Tbps", "0B", ", cc: {kind: dcqcn_connectx, preset: cx5_measured}");
    assert_int_equal(r.outcome->cnps, 0); // none was sent
    assert_int_equal(r.outcome->flow[0].cnps, 5);
    assert_int_equal(without.outcome->flow[0].cnps, 0);
    assert_in_range(without.outcome->flow[0].delivered_bytes - r.outcome->flow[0].delivered_bytes, 21500000, 23500000);
    run_free(&r);
    run_free(&without);
}

// --- timeouts -----------------------------------------------------------------------------------------------------

/// a's only packet is lost until its link comes up.
static weft_time_ps end_after(const char *host, const char *up, unsigned seed, const char *more) {
    struct run r = RUN(run_text,
                       STAR "host: {%s}\nrun: {seed: %u}\n"
                            "events: [{at: 0s, link: a--s, state: down}, {at: %s, link: a--s, state: up}]\n"
                            "workload: [{kind: flow, src: a, dst: b, size: 4KB, start: 1us}%s]\n",
                       "100", host, seed, up, more);
    weft_time_ps end = r.outcome->flow[0].end_ps;
    assert_int_not_equal(end, WEFT_TIME_NEVER);
    run_free(&r);
    return end;
}
#define DRAWN "adaptive_timeout: true, timeout: 4ms, adaptive_from: 1ms, adaptive_to: 3ms"

static void draws_its_first_timeout(void **state) {
    weft_time_ps end = end_after(DRAWN, "10us", 1, "");
    assert_in_range(end, WEFT_PS_PER_MS, 3 * WEFT_PS_PER_MS + 10 * WEFT_PS_PER_US);
    assert_int_not_equal(end, end_after(DRAWN, "10us", 2, ""));
    assert_int_equal(end, end_after(DRAWN, "10us", 1, ", {kind: flow, src: b, dst: c, size: 4KB}"));
}

/// 1 ms, then 2, then again 2, four times the one that is set: at 1, 3 and 5 ms.
static void doubles_up_to_four_times(void **state) {
    weft_time_ps end =
        end_after("adaptive_timeout: true, timeout: 500us, adaptive_from: 1ms, adaptive_to: 1ms", "4ms", 1, "");
    assert_in_range(end, 5 * WEFT_PS_PER_MS, 5 * WEFT_PS_PER_MS + 10 * WEFT_PS_PER_US);
}

/// NCCL's timeout, 4.096 us x 2^20, in which nothing happens: no stall.
static void waits_for_seconds(void **state) {
    weft_time_ps end = end_after("timeout: 4294967296ns", "10us", 1, "");
    assert_in_range(end, 4294 * WEFT_PS_PER_MS, 4296 * WEFT_PS_PER_MS);
    assert_in_range(end_after("NCCL_IB_TIMEOUT: 20", "10us", 1, ""), end, end + WEFT_PS_PER_US);
    assert_in_range(end_after("NCCL_IB_TIMEOUT: 1", "4us", 1, ""), 8192000, 30 * WEFT_PS_PER_US);
    // that of a class gives way
    assert_in_range(
        end_after("nic: connectx7, pfc: {priorities: none}, adaptive_timeout: off, NCCL_IB_TIMEOUT: 1", "4us", 1, ""),
        8192000, 30 * WEFT_PS_PER_US);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discards_in_bursts),
        cmocka_unit_test(takes_what_fits),
        cmocka_unit_test(resumes_at_once),
        cmocka_unit_test(sends_instead_of_slowing),
        cmocka_unit_test(notifies_of_its_own_congestion),
        cmocka_unit_test(a_loss_is_a_notification),
        cmocka_unit_test(draws_its_first_timeout),
        cmocka_unit_test(doubles_up_to_four_times),
        cmocka_unit_test(waits_for_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
