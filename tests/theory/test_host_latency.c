// SPDX-License-Identifier: Apache-2.0
// What hosts, NICs and the PCIe between them add to messages, in picoseconds. Two hosts, one switch that stores and
// forwards, 100 Gbit/s (80 ps a byte). A frame reaches the next device after its bytes and 8 of preamble; the next one
// starts after 12 more. A frame of RoCE has 62 B of headers, the first of a WRITE 16 more, an ACK has 66 B.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include <math.h>

#include "run.h"
#include "weft/report.h"

enum { NS = 1000, DELAY = 25 * NS, SWITCH = 550 * NS, REACTION = 450 * NS };
enum { POST = 60 * NS, SEND = 700 * NS, RECEIVE = 750 * NS, COMPLETION = 1550 * NS, ROUND_TRIP = 300 * NS };

#define LATENCIES                                                                                                      \
    "processing: 450ns, post_cost: 60ns, send_latency: 700ns, receive_latency: 750ns, completion_latency: 1550ns, "    \
    "pcie_rate: 200Gbps, pcie_round_trip: 300ns"

static const char network[] = "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 25ns}\n"
                              "switch: {processing: 550ns}\n"
                              "host: {pfc: {priorities: none}, %s}\n"
                              "workload: [{%s}]\n";

/// Over both links and the switch.
static weft_time_ps cross(uint32_t frame) {
    return 2 * ((weft_time_ps)(frame + 8) * 80 + DELAY) + SWITCH;
}

static weft_time_ps fetch(uint32_t payload) {
    return (weft_time_ps)payload * 40;
}

/// From the posting of a WRITE of one packet until its completion is seen.
static weft_time_ps cycle_of(uint32_t payload) {
    return POST + SEND + fetch(payload) + cross(62 + 16 + payload) + REACTION + cross(66) + COMPLETION;
}

static struct run run_hosts(uint32_t hosts, const char *host, const char *workload) {
    return RUN(run_text, network, hosts, host, workload);
}

static void one_way_is_send_network_receive(void **state) {
    struct run r = run_hosts(2, LATENCIES, "kind: flow, src: host-0, dst: host-1, size: 64B");
    assert_int_equal(run_fct(&r, 0), POST + SEND + fetch(64) + cross(62 + 16 + 64) + RECEIVE);
    assert_int_equal(r.outcome->flow[0].ideal_ps, run_fct(&r, 0));
    assert_int_equal(r.outcome->flow[0].acked_ps, cycle_of(64));
    run_free(&r);
}

/// The line is as fast as before: every latency counts once, however long the flow.
static void latencies_do_not_slow_the_line(void **state) {
    static const char flow[] = "kind: flow, src: host-0, dst: host-1, size: 4MB";
    struct run with = run_hosts(2, LATENCIES, flow), without = run_hosts(2, "processing: 450ns", flow);
    assert_int_equal(run_fct(&with, 0) - run_fct(&without, 0), POST + SEND + fetch(4096) + RECEIVE - REACTION);
    assert_int_equal(with.outcome->flow[0].ideal_ps, run_fct(&with, 0));
    run_free(&with);
    run_free(&without);
}

static void a_read_waits_for_its_responder(void **state) {
    struct run r = run_hosts(2, LATENCIES, "kind: flow, src: host-0, dst: host-1, size: 64B, verb: read");
    weft_time_ps responder = SEND + cross(78) + REACTION + ROUND_TRIP + fetch(64);
    assert_int_equal(run_fct(&r, 0), responder + cross(62 + 4 + 64) + COMPLETION);
    assert_int_equal(r.outcome->flow[0].ideal_ps, run_fct(&r, 0));
    run_free(&r);
}

/// At a depth of D the D first messages leave one after another, and each is followed by another one a cycle later.
static void depth_bounds_what_is_outstanding(void **state) {
    static const uint32_t depths[] = {1, 2, 4}, sizes[] = {2, 512, 2048};
    enum { MESSAGES = 240 };
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t depth = depths[i / 3], size = sizes[i % 3], padded = (size + 3) & ~3u;
        char flow[128];
        snprintf(flow, sizeof flow, "kind: flow, src: host-0, dst: host-1, post: {depth: %u, messages: %d, size: %uB}",
                 depth, MESSAGES, size);
        struct run r = run_hosts(2, LATENCIES, flow);
        weft_time_ps line = (weft_time_ps)(62 + 16 + padded + 20) * 80, spacing = line > POST ? line : POST;
        weft_time_ps cycle = cycle_of(padded) - fetch(padded) + fetch(size);
        assert_int_equal(r.outcome->flow[0].acked_ps, MESSAGES / depth * cycle + (depth - 1) * spacing);
        run_fct(&r, 0);
        run_free(&r);
    }
}

/// When the sender sees the last completion of a flow that posts.
static weft_time_ps acked_of(uint32_t depth, uint32_t messages, const char *rest) {
    char flow[160];
    snprintf(flow, sizeof flow, "kind: flow, src: host-0, dst: host-1, post: {depth: %u, messages: %u, size: 512B%s}",
             depth, messages, rest);
    struct run r = run_hosts(2, LATENCIES, flow);
    weft_time_ps acked = r.outcome->flow[0].acked_ps;
    run_free(&r);
    return acked;
}

/// Bursts are apart by the pause, whatever is outstanding within one; after the last there is none.
static void a_flow_pauses_between_bursts(void **state) {
    enum { MESSAGES = 60, PAUSE = 20000 * NS };
    static const uint32_t bursts[] = {1, 4, 8, 59, 60};
    for (uint32_t i = 0; i < 15; i++) {
        uint32_t burst = bursts[i / 3], depth = 1u << i % 3, whole = MESSAGES / burst, left = MESSAGES % burst;
        char rest[48];
        snprintf(rest, sizeof rest, ", burst: %u, pause: 20us", burst);
        weft_time_ps expected = whole * acked_of(depth, burst, "") + (whole - !left) * (weft_time_ps)PAUSE;
        if (left) expected += acked_of(depth, left, "");
        assert_int_equal(acked_of(depth, MESSAGES, rest), expected);
    }
}

/// Frames of many messages, of a length that is no multiple of the MTU: each has a first and a last packet of its own.
static void messages_have_their_own_packets(void **state) {
    enum { MESSAGES = 50, SIZE = 10001, FRAMES = 3 };
    struct run r = run_hosts(2, "ack_every: 64",
                             "kind: flow, src: host-0, dst: host-1, post: {depth: 8, messages: 50, size: 10001B}");
    const struct weft_counters *c = weft_outcome_at(r.outcome, r.topology->node[r.topology->host[0]].port0, 3);
    assert_int_equal(c->tx_packets, MESSAGES * FRAMES);
    assert_int_equal(c->tx_bytes, MESSAGES * (FRAMES * 62 + 16 + 10004));
    const struct weft_counters *acks = weft_outcome_at(r.outcome, r.topology->node[r.topology->host[1]].port0, 3);
    assert_int_equal(acks->tx_packets, MESSAGES); // one for each, and none between
    run_fct(&r, 0);
    run_free(&r);
}

static double seconds_of(const struct run *r) {
    return (double)r->outcome->flow[0].end_ps / 1e12;
}

/// The slowest of thread, NIC, PCIe and line sets the rate.
static void rates_are_bounds(void **state) {
    static const struct {
        const char *host;
        uint32_t size;
        double rate; ///< messages per second
    } cases[] = {
        {"post_cost: 60ns", 512, 1e9 / 60},
        {"post_cost: 60ns, work_request: 100ns", 512, 1e9 / 100},
        {"packet_rate: 5000000", 512, 5e6},
        {"packet_rate: 2000000", 8192, 1e6},
        {"pcie_rate: 40Gbps", 4096, 40e9 / (8 * 4096)},
        {"pcie_rate: 400Gbps", 4096, 100e9 / (8 * (4096 + 16 + 62 + 20))},
        {"drain_rate: 200Gbps, packet_rate: 4000000", 512, 4e6},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char flow[128];
        snprintf(flow, sizeof flow,
                 "kind: flow, src: host-0, dst: host-1, post: {depth: 256, messages: 20000, size: %uB}", cases[i].size);
        struct run r = run_hosts(2, cases[i].host, flow);
        double rate = 20000 / seconds_of(&r);
        if (rate > cases[i].rate || rate < cases[i].rate * 0.998)
            fail_msg("%s of %u B: %g messages/s, expected %g", cases[i].host, cases[i].size, rate, cases[i].rate);
        run_free(&r);
    }
}

/// Each of the 2 (n - 1) steps of a ring waits for the one before.
static void steps_of_a_collective_wait(void **state) {
    enum { HOSTS = 4, STEPS = 2 * (HOSTS - 1) };
    static const char ring[] = "kind: collective, collective: {kind: all_reduce_ring, channels: 1}, size: 16KiB";
    struct run with = run_hosts(HOSTS, LATENCIES, ring), without = run_hosts(HOSTS, "processing: 450ns", ring);
    weft_time_ps more = with.outcome->job[0].end_ps - without.outcome->job[0].end_ps;
    weft_time_ps least = STEPS * (SEND + RECEIVE - REACTION);
    assert_true(more >= least && more < 2 * least);
    run_free(&with);
    run_free(&without);
}

static void assert_refused(const char *flow, const char *says) {
    struct run r = {0};
    char *text = text_of(network, 2, "mtu: 4096B", flow);
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    assert_int_equal(status, WEFT_ERROR_INPUT);
    if (!strstr(r.error.text, "t.yaml:4")) fail_msg("no place: %s", r.error.text);
    if (!strstr(r.error.text, says)) fail_msg("'%s' does not say '%s'", r.error.text, says);
    free(text);
    run_free(&r);
}

static void nonsense_is_refused(void **state) {
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {messages: 5}", "no effect without depth");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {pause: 1us}", "no effect without depth");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {depth: 1, burst: 5}", "no effect without pause");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {depth: 1, size: 0B}", "size");
    assert_refused("kind: flow, src: host-0, dst: host-1, size: 100KB, post: {depth: 2}", "no effect beside post");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {depth: 1}, verb: read", "with verb read");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {depth: 1}, qps: 2", "several queue pairs");
    assert_refused("kind: poisson, distribution: websearch, load: 1, duration: 10ms, post: {depth: 1}",
                   "given otherwise");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {depth: 1, messages: 1000000000, size: 1GiB}",
                   "10^18 bytes");
    assert_refused("kind: flow, src: host-0, dst: host-1, post: {depth: 1, messages: 1000000000, size: 17KiB}",
                   "2^32 - 2");
}

/// Queue pairs that take turns of a message send as many messages each, so their rates are as the sizes of these; by
/// packets their rates are equal. Eight, on a NIC of one port and of two (four each), as measured on a ConnectX-5
/// (simllm, paper/mlx5/sections/blocks.tex: rates per queue pair exactly as sizes). The last turn of each may be cut by
/// the end.
static void turns_of_messages(void **state) {
    static const char *const topology[] = {"{kind: single, hosts: 2, rate: 100Gbps}",
                                           "{kind: planes, planes: 2, plane: {kind: single, hosts: 2, rate: 50Gbps}}"};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t by = i % 2;
        struct run r = RUN(run_text,
                           "topology: %s\nhost: {arbitration: %s, planes: %s}\n"
                           "workload:\n"
                           "- {kind: flow, src: host-0, dst: host-1, repeat: 4, post: {depth: 16, messages: 100000, "
                           "size: 64KiB}}\n"
                           "- {kind: flow, src: host-0, dst: host-1, repeat: 4, post: {depth: 16, messages: 100000, "
                           "size: 128KiB}}\nrun: {until: 10ms}\n",
                           topology[i / 2], by ? "message" : "packet", i < 2 ? "separate" : "queue_pair");
        double least[2] = {1e18, 1e18}, most[2] = {0};
        for (uint32_t f = 0; f < 8; f++) {
            double bytes = (double)r.outcome->flow[f].delivered_bytes;
            least[f / 4] = fmin(least[f / 4], bytes);
            most[f / 4] = fmax(most[f / 4], bytes);
        }
        assert_true(most[0] - least[0] <= 2 * 65536 && most[1] - least[1] <= 2 * 131072);
        assert_true(fabs(least[1] / least[0] / (by ? 2 : 1) - 1) < 0.02);
        run_free(&r);
    }
}

/// Flows that post no messages take turns of a packet: neither READs nor others wait for the end of another flow.
static void flows_without_messages_take_turns(void **state) {
    struct run r = RUN(run_text, "topology: {kind: single, hosts: 3, rate: 100Gbps}\nhost: {arbitration: message}\n"
                                 "workload:\n"
                                 "- {kind: flow, src: host-0, dst: host-1, size: 10MB, verb: read}\n"
                                 "- {kind: flow, src: host-0, dst: host-2, size: 10MB, verb: read}\n"
                                 "- {kind: flow, src: host-0, dst: host-2, size: 10MB}\n");
    for (uint32_t f = 1; f < 3; f++)
        assert_true(fabs((double)run_fct(&r, f) / (double)run_fct(&r, 0) - 1) < 0.01);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_way_is_send_network_receive),
        cmocka_unit_test(latencies_do_not_slow_the_line),
        cmocka_unit_test(a_read_waits_for_its_responder),
        cmocka_unit_test(depth_bounds_what_is_outstanding),
        cmocka_unit_test(a_flow_pauses_between_bursts),
        cmocka_unit_test(messages_have_their_own_packets),
        cmocka_unit_test(turns_of_messages),
        cmocka_unit_test(flows_without_messages_take_turns),
        cmocka_unit_test(rates_are_bounds),
        cmocka_unit_test(steps_of_a_collective_wait),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
