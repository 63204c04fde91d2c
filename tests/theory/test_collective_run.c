// SPDX-License-Identifier: Apache-2.0
// Collectives in the simulator against their closed forms, on a network without contention: one switch, or a server.
// Source of the forms: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), and nccl-tests PERFORMANCE.md; each rank sends f
// S bytes with f = 2 (n - 1) / n for all-reduce, (n - 1) / n for its halves and for all-to-all, 1 for a chain.
//
// A NIC of rate B that sends f S bytes of payload in packets of P sends with each packet 62 + 20 bytes of headers and
// gaps and, for what it receives, an ACK of 66 + 20; with each message 16 more (RETH) and a clear-to-send of 142 + 20.
// Over numbers of ranks, sizes and chunks, and pipelines: test_collective_time.c.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "form.h"
#include "models.h"
#include "run.h"
#include "weft/report.h"

#define MIB (UINT64_C(1) << 20)

static const char network[] = "topology: {kind: single, hosts: %u, rate: 400Gbps, delay: 200ns}\n"
                              "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"
                              "workload: [{kind: collective, %s}]\n";

static double wire_factor(double message_bytes) {
    const double mtu = 4096;
    return 1 + (62 + 20 + 66 + 20) / mtu + (16 + 142 + 20) / message_bytes;
}

static struct weft_collective_stats stats_of(const struct run *r, uint32_t op) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    return weft_report_collective(&run, 0, op);
}

/// Everything that was to be sent arrived, and what the jobs say they did adds up.
static void assert_complete(const struct run *r) {
    run_assert_complete(r);
    assert_int_equal(r->outcome->job[0].ranks_done, r->workload->job[0].ranks);
    assert_int_equal(r->outcome->server_sent_bytes, r->outcome->server_received_bytes);
    assert_int_equal(run_drops(r), 0);
}

static void sums_to_the_closed_form(void **state) {
    static const struct {
        const char *collective;
        double f, messages; ///< messages that a rank sends for S = 32 MiB, about
        uint32_t n;
    } form[] = {
        {"{kind: all_reduce_ring, channels: 2}", 2 * 7 / 8.0, 64, 8},
        {"{kind: all_reduce_ring, channels: 4}", 2 * 4 / 5.0, 64, 5},
        {"{kind: all_reduce_ring, channels: 8}", 1, 32, 2},
        {"{kind: reduce_scatter, channels: 4}", 7 / 8.0, 32, 8},
        {"{kind: all_gather, channels: 4}", 7 / 8.0, 32, 8},
        {"all_to_all", 7 / 8.0, 224, 8},
        {"{kind: send_recv, ring: on, channels: 2}", 1, 256, 4},
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        char what[128];
        snprintf(what, sizeof what, "collective: %s, size: 32MiB", form[i].collective);
        struct run r = RUN(run_once, network, form[i].n, what);
        assert_complete(&r);
        double payload = form[i].f * 32 * (double)MIB, factor = wire_factor(payload / form[i].messages);
        double expected = payload * factor * 8 / 400e9 * 1e12;
        struct weft_collective_stats s = stats_of(&r, 0);
        form_assert("Collectives in servers and jobs", s.time_ps, expected, 0.01);
        assert_true(s.time_ps > payload * 8 / 400e9 * 1e12); // nothing is faster than the wire
        double bus =
            weft_calc_bus_factor(((const struct weft_collective_ops *)r.workload->job[0].op[0].ops)->goal, form[i].n);
        form_assert("Collectives in servers and jobs", s.busbw * 1e6,
                    32 * (double)MIB / (s.time_ps * 1e-12) * bus * 1e6, 1e-9);
        run_free(&r);
    }
}

/// Within a server there are no headers: f S / B, and 2 (n - 1) latencies round the ring.
static void a_server_needs_no_network(void **state) {
    struct run r = RUN(run_text, network, 8,
                       "collective: {kind: all_reduce_ring, channels: 8}, size: 64MiB, "
                       "server: {gpus: 8, rate: 3600Gbps, latency: 1us}");
    assert_int_equal(r.outcome->packet_hops, 0);
    assert_int_equal(r.outcome->flows, 0);
    assert_complete(&r);
    assert_int_equal(r.outcome->server_sent_bytes, 2 * 7 * 64 * MIB);
    double ideal = 2 * 7 / 8.0 * 64 * (double)MIB * 8 / 3600e9 * 1e12;
    struct weft_collective_stats s = stats_of(&r, 0);
    assert_true(s.time_ps > ideal && s.time_ps < ideal * 1.01 + 14 * 1e6 + 14 * 524288 * 8 / 3600e9 * 1e12);
    run_free(&r);
}

/// A message may be of any size: of 16 MB it takes as long as 16 of 1 MB, which leave one after another. In a chain of
/// n ranks a broadcast of c chunks takes (c + n - 2) of them.
static void large_messages_take_their_time(void **state) {
    static const uint32_t mb[] = {1, 2, 4, 16, 64};
    for (unsigned i = 0; i < sizeof mb / sizeof *mb; i++) {
        char what[256];
        snprintf(what, sizeof what,
                 "size: 64MB, server: {gpus: 8, rate: 3600Gbps, latency: 1us}, "
                 "collective: {kind: broadcast, channels: 1, chunk: %uMB, slice: %uMB}",
                 mb[i], mb[i]);
        struct run r = RUN(run_once, network, 8, what);
        assert_complete(&r);
        double chunks = 64. / mb[i];
        form_assert("Collectives in servers and jobs", stats_of(&r, 0).time_ps,
                    (chunks + 6) * mb[i] * 8e6 / 3600e9 * 1e12 + 7e6, 0.01);
        run_free(&r);
        snprintf(what, sizeof what,
                 "size: 64MB, server: {gpus: 8, rate: 7200Gbps, latency: 1us}, "
                 "collective: {kind: broadcast, channels: 1, chunk: %uMB, slice: %uMB, copy_rate: 1600Gbps}",
                 mb[i], mb[i]);
        r = RUN(run_once, network, 8, what);
        // every rank copies a chunk, the last one too, at the rate that is the least
        double copies = (chunks + 7) * mb[i] * 8e6 / 1600e9, ways = 7 * mb[i] * 8e6 / 7200e9;
        form_assert("Collectives in servers and jobs", stats_of(&r, 0).time_ps, (copies + ways) * 1e12 + 7e6, 0.03);
        run_free(&r);
    }
}

/// The same whatever runs it: every collective, over the network and within servers, after one another.
static void the_same_on_any_number_of_threads(void **state) {
    for (uint32_t i = 0; i < general_collectives(); i++) {
        char what[256];
        snprintf(what, sizeof what,
                 "collective: %s, size: 100KB, size_max: 1MB, factor: 10, repeat: 2, server: {gpus: 4, cabling: %s}",
                 general_collective(i)->name, i % 2 ? "rail" : "rack");
        struct run r = RUN(run_text, network, 12, what);
        assert_complete(&r);
        for (uint32_t k = 0; k < 2; k++) // a barrier before each
            assert_int_equal(stats_of(&r, 2 * k + 1).finished, 2);
        run_free(&r);
    }
}

/// Frames are lost, clear-to-send among them: all arrives all the same, and the digest stays.
static void losses_are_repaired(void **state) {
    struct run r =
        RUN(run_text, "topology: {kind: single, hosts: 4, rate: 400Gbps, delay: 200ns, bit_error_rate: 0.0000003}\n"
                      "host: {timeout: 200us}\n"
                      "workload: [{kind: collective, size: 4MB, collective: {kind: all_reduce_ring, chunk: 64KB, "
                      "slice: 32KB}}]\n");
    run_assert_complete(&r);
    assert_int_equal(r.outcome->job[0].ranks_done, 4);
    assert_true(run_drops(&r) > 0);
    run_free(&r);
}

/// Packets of a message overtake one another under spraying, and whole messages too.
static void sprayed_messages_are_put_together(void **state) {
    struct run r =
        run_text("topology: {kind: leaf_spine, leaves: 2, spines: 3, hosts_per_leaf: 4, rate: 400Gbps}\n"
                 "switch: {route: {kind: spray, order: random}}\n"
                 "host: {out_of_order: accept}\n"
                 "workload:\n"
                 "  - {kind: collective, collective: {kind: all_to_all, chunk: 8KB, slice: 8KB}, size: 1MB}\n"
                 "  - {kind: incast, sources: host-1..3, dst: host-4, size: 1MB}\n");
    run_assert_complete(&r);
    uint64_t early = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++)
        early += r.outcome->flow[i].out_of_order_placed;
    assert_true(early > 0);
    run_free(&r);
}

/// A copy engine slower than the wire is the bottleneck: the lane passes each byte once a step.
static void copying_can_be_the_bottleneck(void **state) {
    struct run r = RUN(run_once, network, 2, "collective: {kind: send_recv, copy_rate: 100Gbps}, size: 16MiB");
    assert_complete(&r);
    form_assert("Collectives in servers and jobs", stats_of(&r, 0).time_ps, 16 * (double)MIB * 8 / 100e9 * 1e12,
                0.03); // and a chunk to fill the pipe
    run_free(&r);
}

// --- jobs ---------------------------------------------------------------------------------------------------------

static struct weft_job_stats job_of(const struct run *r) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    return weft_report_job(&run, 0);
}

static const char job[] = "topology: {kind: single, hosts: 8, rate: 400Gbps, delay: 200ns}\n"
                          "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"
                          "workload: [{kind: job, iterations: 3, %s}]\n";

/// One after another: an iteration is the sum, and the collective is exposed. Beside: it is the longer of the two.
static void what_overlaps_is_hidden(void **state) {
    struct run one = RUN(run_once, job, "operations: [{collective: all_to_all, size: 8MB}]");
    double talk = job_of(&one).iteration_ps;
    form_assert("Collectives in servers and jobs", job_of(&one).exposed_ps, talk, 0.01);
    run_free(&one);
    static const char *const overlap[] = {"off", "on"};
    for (uint32_t k = 0; k < 2; k++) {
        char *what =
            text_of("operations: [{collective: all_to_all, size: 8MB, overlap: %s}, {compute: 300us}]", overlap[k]);
        struct run r = RUN(run_text, job, what);
        free(what);
        assert_complete(&r);
        assert_int_equal(job_of(&r).finished, 3);
        assert_true(talk < 300e6);
        form_assert("Collectives in servers and jobs", job_of(&r).iteration_ps, k ? 300e6 : 300e6 + talk, 0.01);
        assert_true(k ? job_of(&r).exposed_ps < 1e6 : job_of(&r).exposed_ps > 0.99 * talk);
        run_free(&r);
    }
}

/// An iteration ends with the last of its operations, of whichever group, that go on beside the compute.
static void an_iteration_waits_for_all_that_overlaps(void **state) {
    static const char *const sizes[][2] = {{"64KB", "8MB"}, {"8MB", "64KB"}};
    for (unsigned i = 0; i < 2; i++) {
        char *what =
            text_of("dimensions: [tp:2, dp:4], operations: [{collective: all_gather, size: %s, over: tp, overlap: on}, "
                    "{collective: all_gather, size: %s, over: dp, overlap: on}, {compute: 10us}]",
                    sizes[i][0], sizes[i][1]);
        struct run r = RUN(run_text, job, what);
        free(what);
        assert_complete(&r);
        const struct weft_job_outcome *o = &r.outcome->job[0];
        for (uint32_t k = 0; k < o->iterations; k++) {
            weft_time_ps last_ps = 0;
            for (uint32_t op = 0; op < o->ops; op++) {
                const struct weft_op_outcome *one = &o->op[k * o->ops + op];
                if (one->end_ps != WEFT_TIME_NEVER && one->end_ps > last_ps) last_ps = one->end_ps;
            }
            assert_true(last_ps > 10 * WEFT_PS_PER_US);
            assert_int_equal(o->iteration_end_ps[k], last_ps);
        }
        run_free(&r);
    }
}

/// Groups within one server take turns and nothing but time: together they take what each takes alone.
static void groups_in_a_server_take_turns(void **state) {
    static const char over_a[] = "{collective: all_gather, size: 1MB, over: a}",
                      over_b[] = "{collective: all_to_all, size: 2MB, over: b}";
    const char *const operations[][2] = {{over_a, ""}, {"", over_b}, {over_a, over_b}};
    double iteration_ps[3];
    for (unsigned i = 0; i < 3; i++) {
        char *what = text_of("server: {gpus: 8}, dimensions: [a:2, b:4], operations: [%s%s%s]", operations[i][0],
                             i == 2 ? ", " : "", operations[i][1]);
        struct run r = RUN(run_text, job, what);
        free(what);
        assert_complete(&r);
        iteration_ps[i] = job_of(&r).iteration_ps;
        run_free(&r);
    }
    assert_true(iteration_ps[0] > 0 && iteration_ps[1] > 0);
    form_assert("Collectives in servers and jobs", iteration_ps[2], iteration_ps[0] + iteration_ps[1], 1e-9);
}

/// All wait for the slowest: an iteration takes as much longer as its compute does.
static void a_straggler_stops_all(void **state) {
    static const char what[] = "operations: [{compute: 200us, collective: all_reduce_ring, size: 1MB}], slow_rank: 3, "
                               "slow_factor: %s";
    char *even = text_of(what, "1"), *slow = text_of(what, "2");
    struct run a = RUN(run_once, job, even), b = RUN(run_text, job, slow);
    assert_complete(&b);
    form_assert("Collectives in servers and jobs", job_of(&b).iteration_ps - job_of(&a).iteration_ps, 200e6, 0.02);
    run_free(&a);
    run_free(&b);
    free(even);
    free(slow);
}

/// Ranks are numbered with the first dimension innermost, and groups keep to themselves.
static void groups_keep_to_themselves(void **state) {
    struct run r = RUN(run_text, job,
                       "dimensions: [tp:2, pp:2, dp:2], operations: [{collective: all_gather, size: 64KB, over: dp}, "
                       "{collective: all_to_all, size: 64KB, over: pp, times: 2}, {size: 64KB, over: tp}]");
    assert_complete(&r);
    const struct weft_job *j = &r.workload->job[0];
    static const uint32_t distance[] = {4, 2, 1}; // of dp, pp and tp
    assert_int_equal(j->communicators, 3);
    for (uint32_t i = 0; i < j->connections; i++)
        assert_int_equal(j->connection[i].src ^ j->connection[i].dst, distance[j->connection[i].communicator]);
    assert_int_equal(stats_of(&r, 1).finished, 6);
    run_free(&r);
}

/// Two jobs on the same hosts share NICs; both finish, and neither sees the other's messages.
static void jobs_share_hosts(void **state) {
    struct run r =
        run_text("topology: {kind: single, hosts: 4, rate: 400Gbps, delay: 200ns}\n"
                 "workload:\n"
                 "  - {kind: collective, size: 2MB, group: a, server: {gpus: 2}}\n"
                 "  - {kind: collective, size: 2MB, group: b, start: 20us, collective: all_to_all, share_hosts: on}\n"
                 "  - {kind: incast, sources: host-1..3, dst: host-0, size: 1MB}\n");
    run_assert_complete(&r);
    assert_int_equal(r.outcome->job[0].ranks_done + r.outcome->job[1].ranks_done, 8);
    run_free(&r);
}

/// Operations that are switched off by 0 are as if they were not there.
static void what_is_switched_off_takes_no_time(void **state) {
    static const char *const more[] = {"",
                                       ", {compute: 0s}, {size: 0B}, {compute: 0s, size: 0B, overlap: on, times: 3}"};
    double iteration_ps[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 4}\n"
                           "workload: [{kind: job, iterations: 2, operations: [{compute: 10us, size: 1MB}%s]}]\n",
                           more[i]);
        assert_complete(&r);
        const struct weft_run run = {
            .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
        iteration_ps[i] = weft_report_job(&run, 0).iteration_ps;
        run_free(&r);
    }
    assert_true(iteration_ps[0] > 10e6 && iteration_ps[0] == iteration_ps[1]);
}

/// A collective that cannot continue is a stall like any other: here the path to a rank is cut for good.
static void a_cut_network_stalls(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 4, rate: 400Gbps, delay: 200ns}\n"
                            "events: [{at: 5us, link: host-2/0, state: down}]\n"
                            "host: {timeout: 100us}\n"
                            "run: {stall: 1ms}\n"
                            "workload: [{kind: collective, size: 2MB}]\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "host-2"));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_to_the_closed_form),
        cmocka_unit_test(a_server_needs_no_network),
        cmocka_unit_test(large_messages_take_their_time),
        cmocka_unit_test(the_same_on_any_number_of_threads),
        cmocka_unit_test(losses_are_repaired),
        cmocka_unit_test(sprayed_messages_are_put_together),
        cmocka_unit_test(copying_can_be_the_bottleneck),
        cmocka_unit_test(what_overlaps_is_hidden),
        cmocka_unit_test(an_iteration_waits_for_all_that_overlaps),
        cmocka_unit_test(groups_in_a_server_take_turns),
        cmocka_unit_test(a_straggler_stops_all),
        cmocka_unit_test(groups_keep_to_themselves),
        cmocka_unit_test(jobs_share_hosts),
        cmocka_unit_test(what_is_switched_off_takes_no_time),
        cmocka_unit_test(a_cut_network_stalls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
