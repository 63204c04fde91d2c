// SPDX-License-Identifier: Apache-2.0
// What NCCL's steps cost in a run, each mechanism alone against its closed form: a latency is paid once and the next
// message hides it, half of it, or as costs.hand says, while the clear-to-send comes; a chunk has two slices, whatever
// its bytes; a turn of the proxy by every message; 8 messages of a connection are in flight; the first waits for the
// receiver's clear-to-send; the data for a peer is divided among channels, which copy side by side; a step costs what
// it reads and writes, and NVLink waits for it; a piece of NVLS is a chunk of each head. Source: NVIDIA/nccl 2.30.7,
// src/transport/net.cc, src/device/sendrecv.h, src/device/all_reduce.h.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"
#include "weft/report.h"

#define MIB (1u << 20)
#define US 1e-6

/// In seconds; `delay_us`: of each link, of which a path has two.
static double measure(unsigned hosts, unsigned delay_us, unsigned bytes, const char *more) {
    struct run r = RUN(run_once,
                       "topology: {kind: single, hosts: %u, rate: 400Gbps, delay: %uus}\n"
                       "workload: [{kind: collective, size: %uB, %s}]\n",
                       hosts, delay_us, bytes, more);
    run_assert_complete(&r);
    const struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    double time = weft_report_collective(&run, 0, 0).time_ps * 1e-12;
    run_free(&r);
    return time;
}
#define SEND_WITH(latency, proxy)                                                                                      \
    "server: {gpus: 1, costs: {copy_rate: 0bps, ring_simple: " latency ", proxy: " proxy "}}, "                        \
    "collective: {kind: nccl, function: send_recv, NCCL_MAX_CTAS: 1}"
#define SEND SEND_WITH("0ns", "0ns")

static void assert_near(double time, double expected, double share) {
    if (time < expected * (1 - share) || time > expected * (1 + share)) fail_msg("%g s, expected %g", time, expected);
}

/// Data that fits in flight, 8 messages of 128 KiB.
static void a_latency_is_paid_once(void **state) {
    double without = measure(2, 1, MIB, SEND ", admission: none"),
           with = measure(2, 1, MIB, SEND_WITH("50us", "0ns") ", admission: none");
    assert_near(with - without, 50 * US, 0.01);
}

/// Meanwhile the GPU tells its proxy of the message, for half of the latency.
static void a_clear_to_send_is_hidden_by_half_of_a_latency(void **state) {
    double led = measure(2, 200, 65536, SEND_WITH("900us", "0ns")),
           alone = measure(2, 200, 65536, SEND_WITH("900us", "0ns") ", admission: none");
    assert_near(led, alone, 0.01);
    led = measure(2, 200, 65536, SEND_WITH("400us", "0ns"));
    alone = measure(2, 200, 65536, SEND_WITH("400us", "0ns") ", admission: none");
    assert_near(led - alone, (2 * 200 - 200) * US, 0.01);
    led = measure(2, 200, 65536, SEND_WITH("400us", "0ns, hand: 0"));
    assert_near(led - alone, 2 * 200 * US, 0.01);
    assert_near(measure(2, 200, 65536, SEND_WITH("400us", "0ns, hand: 1")), alone, 0.01);
}

/// Round a ring of two servers a part goes once. Whether its slices are 32 KiB and nothing or 32 KiB each, they are two
/// messages, which a rank sends and receives.
static void an_empty_slice_is_a_message(void **state) {
#define GATHER(proxy)                                                                                                  \
    "server: {gpus: 1, costs: {copy_rate: 0bps, ring_simple: 0ns, inner_ring_simple: 0ns, proxy: " proxy "}}, "        \
    "collective: {kind: nccl, function: all_gather, NCCL_ALGO: ring, NCCL_PROTO: simple, NCCL_MAX_CTAS: 1}"
    for (unsigned part = 32768; part <= 65536; part *= 2)
        assert_near(measure(2, 1, 2 * part, GATHER("150us")) - measure(2, 1, 2 * part, GATHER("50us")), 4 * 100 * US,
                    0.01);
}

/// A rank sends 8 messages and receives 8, one after another.
static void a_turn_of_the_proxy_is_paid_by_every_message(void **state) {
    double shorter = measure(2, 1, MIB, SEND_WITH("0ns", "50us")),
           longer = measure(2, 1, MIB, SEND_WITH("0ns", "100us"));
    assert_near(longer - shorter, 16 * 50 * US, 0.01);
}

/// 32 messages in 4 rounds; a round is a clear-to-send and the data for it.
static void eight_messages_are_in_flight(void **state) {
    assert_near(measure(2, 500, 4 * MIB, SEND), 4 * 4 * 500 * US, 0.02);
    assert_near(measure(2, 500, MIB, SEND), 4 * 500 * US, 0.06);
}

static void the_receiver_leads(void **state) {
    double led = measure(2, 500, 65536, SEND), alone = measure(2, 500, 65536, SEND ", admission: none");
    assert_near(led - alone, 2 * 500 * US, 0.01);
}

/// 4 MiB to a peer. A channel copies 1 GB/s of a sum that is sent; to send alone, or to receive, is a read and a write,
/// 0.779 of that. The last message of 128 KiB is received after it was sent.
static void channels_share_the_data_for_a_peer(void **state) {
#define TO_ALL(channels)                                                                                               \
    "server: {gpus: 1, costs: {copy_rate: 8Gbps, proxy: 0ns, ring_simple: 0ns}}, "                                     \
    "collective: {kind: nccl, function: all_to_all, NCCL_MAX_CTAS: " channels "}"
    double one = measure(2, 1, 8 * MIB, TO_ALL("1")), four = measure(2, 1, 8 * MIB, TO_ALL("4"));
    assert_near(one, 0.779 * (4 * MIB + 131072) / 1e9, 0.01);
    assert_near(four, 0.779 * (MIB + 131072) / 1e9, 0.02);
}

/// Round a ring in one server a rank takes 7 parts, of which the middle six are kept and sent: with Simple a read and
/// two writes beside two reads and a write, 1.337 to 1. No NVLink, no latency.
static void a_step_costs_what_it_reads_and_writes(void **state) {
#define RING(function)                                                                                                 \
    "server: {gpus: 8, rate: 100Tbps, latency: 100ns, costs: {copy_rate: 8Gbps, inner_ring_simple: 0ns}}, "            \
    "collective: {kind: nccl, NCCL_ALGO: ring, NCCL_PROTO: simple, function: " function "}"
    double gather = measure(8, 1, 64 * MIB, RING("all_gather")),
           scatter = measure(8, 1, 64 * MIB, RING("reduce_scatter"));
    assert_true(gather > 1.2 * scatter && gather < 1.337 * scatter);
}

/// Round a ring in one server a part of 8 MiB goes 7 times in two slices, and its channels, which share NVLink, are
/// between two slices at once. In an all-to-all 512 KiB go in 14 pieces one after another to each peer.
static void nvlink_waits_while_channels_step(void **state) {
#define STEPPING(function, step)                                                                                       \
    "server: {gpus: 8, rate: 400Gbps, latency: 100ns, costs: {copy_rate: 0bps, inner_ring_simple: " step "}}, "        \
    "collective: {kind: nccl, NCCL_ALGO: ring, NCCL_PROTO: simple, function: " function "}"
    double ring = measure(8, 1, 64 * MIB, STEPPING("all_gather", "10us")) -
                  measure(8, 1, 64 * MIB, STEPPING("all_gather", "0ns")),
           pairs = measure(8, 1, 224 * MIB, STEPPING("all_to_all", "10us")) -
                   measure(8, 1, 224 * MIB, STEPPING("all_to_all", "0ns"));
    assert_near(ring, 7 * 2 * 10 * US, 0.1);
    assert_near(pairs, 14 * 10 * US, 0.1);
}

/// Of 16 channels with a chunk of 16 KiB for each of 8 heads, 2 MiB are one loop: a rank copies 128 KiB into a channel
/// and as much out of it, and a head adds and copies an eighth of that. A second loop follows at once.
static void a_piece_of_nvls_is_a_chunk_of_each_head(void **state) {
#define NVLS(gpus)                                                                                                     \
    "server: {gpus: " gpus ", rate: 100Tbps, latency: 100ns, costs: {nvls_rate: 8Gbps, nvls: 0ns}}, "                  \
    "collective: {kind: nccl, NCCL_ALGO: nvls}"
    double copy = 131072 / 1e9, one = measure(8, 1, 2 * MIB, NVLS("8")), two = measure(8, 1, 4 * MIB, NVLS("8"));
    assert_near(one, (2 + 2 / 8.) * copy, 0.03);
    assert_near(two - one, copy, 0.03);
}

/// Of 64 GPUs 32 are heads: 16 channels with a chunk of 16 KiB for each of them are 8 MiB, as with 32 GPUs.
static void thirty_two_gpus_are_heads(void **state) {
    double time = (2 + 2 / 32.) * 32 * 16384 / 1e9;
    assert_near(measure(32, 1, 8 * MIB, NVLS("32")), time, 0.03);
    assert_near(measure(64, 1, 8 * MIB, NVLS("64")), time, 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_latency_is_paid_once),
        cmocka_unit_test(a_clear_to_send_is_hidden_by_half_of_a_latency),
        cmocka_unit_test(an_empty_slice_is_a_message),
        cmocka_unit_test(a_turn_of_the_proxy_is_paid_by_every_message),
        cmocka_unit_test(eight_messages_are_in_flight),
        cmocka_unit_test(the_receiver_leads),
        cmocka_unit_test(channels_share_the_data_for_a_peer),
        cmocka_unit_test(a_step_costs_what_it_reads_and_writes),
        cmocka_unit_test(nvlink_waits_while_channels_step),
        cmocka_unit_test(a_piece_of_nvls_is_a_chunk_of_each_head),
        cmocka_unit_test(thirty_two_gpus_are_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
