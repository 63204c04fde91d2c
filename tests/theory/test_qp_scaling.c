// SPDX-License-Identifier: Apache-2.0
// Connections of several queue pairs: the same bytes, delivered in order, whatever the queue pairs do; and what each
// method of using them costs. Sources of the rules: net_ib.cc of NCCL (parts in multiples of 128 B, one on each queue
// pair even if it is empty), and the frame sizes of weft/packet.h.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "models.h"
#include "run.h"
#include "weft/report.h"

#define MIB (UINT64_C(1) << 20)

static const char network[] = "topology: {kind: single, hosts: %u, rate: 400Gbps, delay: 200ns}\n"
                              "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"
                              "host: {work_request: %uns}\n"
                              "workload: [{kind: collective, qps: %u, qp_scaling: %s, %s}]\n";

static void assert_complete(const struct run *r) {
    run_assert_complete(r);
    assert_int_equal(r->outcome->job[0].ranks_done, r->workload->job[0].ranks);
}

static double time_of(const struct run *r, uint32_t op) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    return weft_report_collective(&run, 0, op).time_ps;
}

static weft_bytes payload_of(const struct run *r) {
    weft_bytes bytes = 0;
    for (uint32_t i = 0; i < r->outcome->flows; i++)
        bytes += r->outcome->flow[i].delivered_bytes;
    return bytes;
}

/// Every collective ends, and carries the bytes that it carries over one queue pair each.
static void volumes_do_not_change(void **state) {
    static const uint32_t qps[] = {1, 2, 3, 16, 32};
    for (uint32_t i = 0; i < general_collectives(); i++) {
        char what[256];
        snprintf(what, sizeof what, "collective: %s, size: 1000003B, repeat: 2, server: {gpus: 2}",
                 general_collective(i)->name);
        weft_bytes expected = 0;
        for (uint32_t k = 0; k < 5; k++)
            for (uint32_t split = 0; split < 2; split++) {
                struct run r = RUN(run_once, network, 6, 0, qps[k], split ? "split" : "round_robin", what);
                assert_complete(&r);
                assert_int_equal(run_drops(&r), 0);
                if (!expected) expected = payload_of(&r);
                assert_int_equal(payload_of(&r), expected);
                run_free(&r);
            }
    }
}

/// One message of 64 KiB: bytes, packets and acknowledgements counted one by one, and its clear-to-send. Whole it has
/// 16 packets, a RETH and an ACK; in q parts q RETHs and q ACKs, and where a part is no multiple of the MTU, more
/// packets.
static void a_part_costs_its_headers(void **state) {
    static const struct {
        uint32_t qps, parts, packets;
    } form[] = {{1, 1, 16}, {4, 4, 16}, {8, 8, 16}, {12, 12, 24}, {32, 32, 32}}; // 12 parts: 5504 B, the last 4992 B
    for (uint32_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: single, hosts: 2, rate: 400Gbps, delay: 200ns}\n"
                "host: {ack_every: 1024}\n"
                "workload: [{kind: collective, collective: {kind: send_recv, channels: 1, chunk: 64KiB, slice: 64KiB, "
                "slots: 2}, size: 64KiB, qps: %u, qp_scaling: split}]\n",
                form[i].qps);
        assert_complete(&r);
        const struct weft_counters *data = run_counters(&r, "host-0/0", 3), *back = run_counters(&r, "host-1/0", 3);
        assert_int_equal(data->tx_packets, form[i].packets);
        assert_int_equal(data->tx_bytes, 65536 + form[i].packets * 62 + form[i].parts * 16);
        assert_int_equal(back->tx_packets, 1 + form[i].parts);
        run_free(&r);
    }
}

/// 512 B over 8 queue pairs: 4 parts of 128 B, and 4 queue pairs with a packet without data.
static void an_empty_part_is_a_packet(void **state) {
    struct run r = RUN(run_once, network, 2, 0, 8, "split",
                       "collective: {kind: send_recv, channels: 1}, size: 512B, repeat: 3, barrier: off");
    assert_complete(&r);
    assert_int_equal(payload_of(&r), 3 * 512);
    assert_int_equal(run_counters(&r, "host-0/0", 3)->tx_packets, 3 * 8);
    run_free(&r);
}

/// With a cost c of a work request, m messages of b bytes take max(b, q c) each if split over q queue pairs, and
/// max(b, c) if not: many small parts are bound by the NIC, not the link.
static void work_requests_bound_small_messages(void **state) {
    const double cost = 200e3, messages = 512, slice = 16384, line = slice * (4 * 4096 + 4 * 82.0 + 16) / 16384 / 50e-3;
    static const struct {
        const char *scaling;
        uint32_t qps, requests;
    } form[] = {{"round_robin", 1, 1}, {"round_robin", 16, 1}, {"split", 4, 4}, {"split", 16, 16}};
    for (uint32_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct run r =
            RUN(run_once, network, 2, 200, form[i].qps, form[i].scaling,
                "collective: {kind: send_recv, channels: 1, chunk: 16KiB, slice: 16KiB, slots: 64}, size: 8MiB");
        assert_complete(&r);
        double requests = form[i].requests * cost, expected = messages * (requests > line ? requests : line);
        double measured = time_of(&r, 0);
        if (measured < expected * 0.995 || measured > expected * 1.04) // the pipe is filled: a round trip, a few frames
            fail_msg("%s of %u: %.0f ns, expected %.0f ns", form[i].scaling, form[i].qps, measured / 1e3,
                     expected / 1e3);
        run_free(&r);
    }
}

/// With a time c from one request of a queue pair to its next, m messages of b bytes take max(b, c) each if split over
/// any number of queue pairs, each of which has a part of every message, and max(b, c / q) if they take turns.
static void a_queue_pair_bounds_its_messages(void **state) {
    const double cost = 2000e3, messages = 512, slice = 16384,
                 line = slice * (4 * 4096 + 4 * 82.0 + 16) / 16384 / 50e-3;
    static const struct {
        const char *scaling;
        uint32_t qps, share;
    } form[] = {{"round_robin", 1, 1}, {"round_robin", 4, 4}, {"round_robin", 16, 16}, {"split", 4, 1}};
    for (uint32_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 2, rate: 400Gbps, delay: 200ns}\n"
                           "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"
                           "host: {work_request_qp: 2us}\n"
                           "workload: [{kind: collective, qps: %u, qp_scaling: %s, size: 8MiB, collective: {kind: "
                           "send_recv, channels: 1, chunk: 16KiB, slice: 16KiB, slots: 64}}]\n",
                           form[i].qps, form[i].scaling);
        assert_complete(&r);
        double turn = cost / form[i].share, expected = messages * (turn > line ? turn : line),
               measured = time_of(&r, 0);
        if (measured < expected * 0.99 || measured > expected * 1.04)
            fail_msg("%s of %u: %.0f ns, expected %.0f ns", form[i].scaling, form[i].qps, measured / 1e3,
                     expected / 1e3);
        run_free(&r);
    }
}

/// The ways of queue pairs are of different length and load, packets are sprayed, frames lost: every rank ends, with
/// every byte, and on three threads as on one.
static void order_is_kept_over_uneven_ways(void **state) {
    static const char *const host[] = {"{timeout: 300us}", "{timeout: 300us, out_of_order: accept}"};
    static const char *const route[] = {"e_ecmp", "{kind: spray, order: random}"};
    for (uint32_t k = 0; k < 4; k++) {
        char *text =
            text_of("topology:\n"
                    "  kind: list\n"
                    "  nodes: [{name: a, role: switch}, {name: b, role: switch}, {name: s, role: switch},\n"
                    "          {name: t, role: switch}, {name: h0, role: host}, {name: h1, role: host},\n"
                    "          {name: h2, role: host}, {name: h3, role: host}]\n"
                    "  links: [{from: a, to: s, rate: 400Gbps}, {from: s, to: b, rate: 400Gbps},\n"
                    "          {from: a, to: t, rate: 100Gbps, delay: 20us}, {from: t, to: b, bit_error_rate: 4e-7},\n"
                    "          {from: h0, to: a}, {from: h1, to: b}, {from: h2, to: a}, {from: h3, to: b}]\n"
                    "host: %s\nswitch: {route: %s}\n"
                    "workload:\n"
                    "  - {kind: collective, qps: 7, qp_scaling: %s, size: 400KB, collective: {kind: all_reduce_ring, "
                    "chunk: 32KB, slice: 16KB}}\n",
                    host[k / 2], route[k / 2], k % 2 ? "split" : "round_robin");
        struct run r = run_once(text);
        assert_complete(&r);
        if (k == 1) run_assert_same(&r, 3, text);
        assert_true(r.outcome->drops[WEFT_DROP_BIT_ERROR] > 0);
        run_free(&r);
        free(text);
    }
}

/// Each queue pair has its own UDP source port, and the switches see it: over 8 spines 32 queue pairs find more than
/// one.
static void queue_pairs_take_ways_of_their_own(void **state) {
    for (uint32_t k = 0; k < 2; k++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: leaf_spine, leaves: 2, spines: 8, hosts_per_leaf: 1, rate: 400Gbps}\n"
                "workload: [{kind: collective, collective: {kind: send_recv, channels: 1}, size: 64MiB, qps: %u}]\n",
                k ? 32 : 1);
        assert_complete(&r);
        uint32_t used = 0;
        for (uint32_t spine = 0; spine < 8; spine++) {
            char port[32];
            snprintf(port, sizeof port, "leaf-0->spine-%u", spine);
            used += run_counters(&r, port, 3)->tx_bytes > MIB; // data, not acknowledgements
        }
        assert_true(k ? used == 8 : used == 1); // P(a spine without one of 32) = 8 (7/8)^32 = 11 %; this seed has none
        run_free(&r);
    }
}

/// Stopped at any instant, a flow has no more delivered than it has bytes, although frames carry words: messages of 4 k
/// + 1 bytes that have come before the rank takes them, in order or not.
static void no_more_is_delivered_than_there_is(void **state) {
    static const char *const how[] = {"round_robin", "split"}, *const order[] = {"discard", "accept"};
    uint32_t stopped = 0;
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t until_ns = 1500; until_ns < 24000; until_ns += 300) {
            struct run r = RUN(run_once,
                               "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 400Gbps}\n"
                               "switch: {route: spray}\nhost: {out_of_order: %s}\nrun: {until: %uns}\n"
                               "workload: [{kind: job, qps: 3, qp_scaling: %s, admission: none, slow_rank: 1, "
                               "slow_factor: 8, operations: [{collective: all_to_all, compute: 2us, size: 16388B, "
                               "times: 2}]}]\n",
                               order[k / 2], until_ns, how[k % 2]);
            for (uint32_t i = 0; i < r.outcome->flows; i++) {
                weft_bytes delivered = r.outcome->flow[i].delivered_bytes, bytes = r.workload->flow[i].bytes;
                if (delivered > bytes) fail_msg("%" PRIu64 " of %" PRIu64 " B at %u ns", delivered, bytes, until_ns);
                stopped += delivered && r.outcome->flow[i].end_ps == WEFT_TIME_NEVER;
            }
            run_free(&r);
        }
    assert_true(stopped > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_do_not_change),
        cmocka_unit_test(a_part_costs_its_headers),
        cmocka_unit_test(an_empty_part_is_a_packet),
        cmocka_unit_test(work_requests_bound_small_messages),
        cmocka_unit_test(a_queue_pair_bounds_its_messages),
        cmocka_unit_test(order_is_kept_over_uneven_ways),
        cmocka_unit_test(queue_pairs_take_ways_of_their_own),
        cmocka_unit_test(no_more_is_delivered_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
