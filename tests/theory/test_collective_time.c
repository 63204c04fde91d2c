// SPDX-License-Identifier: Apache-2.0
// How long collectives take on a network without contention, one switch, against closed forms within 1 %, over ranks,
// sizes and chunks. Sources: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), and nccl-tests PERFORMANCE.md for what is
// divided evenly; Sanders, Speck, Traeff, Parallel Computing 35 (2009), for pipelined trees. The derivations are in
// docs/collective-times.md.
//
// A NIC of rate B that sends payload in packets of P and messages of M sends with each packet 62 + 20 bytes of headers
// and gaps and with each message 16 (RETH); for what it receives an ACK of 66 + 20 a packet and a clear-to-send of
// 142 + 20 a message.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "form.h"
#include "run.h"
#include "weft/report.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static const double rate = 400e9 / 8, mtu = 4096;
static const char network[] = "topology: {kind: single, hosts: %u, rate: 400Gbps, delay: 200ns}\n"
                              "switch: {processing: 300ns, forwarding: store_and_forward, "
                              "buffer: {kind: static, size: 800MB, xoff: 700MB, xon: 600MB}}\n"
                              "workload: [{kind: collective, size: %" PRIu64 "B, %s}]\n";

/// One hop from rank to rank for a full packet, beyond what its bytes take at the rate of the link.
static const double hop = 2 * 200e-9 + 300e-9 + (4096 + 62 + 20) / (400e9 / 8);
/// And for a clear-to-send, all of it.
static const double clear = 2 * 200e-9 + 300e-9 + 2 * (142 + 20) / (400e9 / 8);

static double out_factor(double message) {
    return 1 + (62 + 20) / mtu + 16 / message;
}
static double in_factor(double message) {
    return (66 + 20) / mtu + (142 + 20) / message;
}
/// Of a NIC that receives as much as it sends.
static double wire_factor(double message) {
    return out_factor(message) + in_factor(message);
}

/// In seconds.
static double measure(uint32_t ranks, uint64_t size, const char *what) {
    struct run r = RUN(run_once, network, ranks, size, what);
    run_assert_complete(&r);
    assert_int_equal(r.outcome->job[0].ranks_done, ranks);
    assert_int_equal(run_drops(&r), 0);
    const struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    struct weft_collective_stats s = weft_report_collective(&run, 0, 0);
    assert_int_equal(s.finished, 1);
    run_free(&r);
    return s.time_ps * 1e-12;
}

static void assert_form(uint32_t ranks, uint64_t size, double expected, const char *what) {
    form_assert("Time of collectives through one switch (Thakur et al. 2005, Sanders et al. 2009)",
                measure(ranks, size, what), expected, 0.01);
}

/// Round rings, and to everybody: each rank sends and receives f S, with f = 2 (n - 1) / n for all-reduce, (n - 1) / n
/// for its halves and for all-to-all, 1 round a ring of send_recv. Several channels fill the gaps of one another.
static void each_rank_sends_its_share(void **state) {
    static const struct {
        const char *name, *more;
        double a, b; ///< f = a - b / n
    } form[] = {{"all_reduce_ring", "", 2, 2},
                {"reduce_scatter", "", 1, 1},
                {"all_gather", "", 1, 1},
                {"all_to_all", "", 1, 1},
                {"send_recv", ", ring: on", 1, 0}};
    static const uint32_t ranks[] = {2, 5, 8, 16};
    static const uint64_t chunk[] = {128 * KIB, 512 * KIB};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        for (size_t k = 0; k < 8; k++) {
            uint32_t n = ranks[k / 2];
            uint64_t c = chunk[k % 2], size = 4 * n * (k % 2 ? 4 : 8) * c; // chunks are full
            char *what = text_of("collective: {kind: %s, channels: 4, chunk: %" PRIu64 "B, slice: %" PRIu64 "B%s}",
                                 form[i].name, c, c, form[i].more);
            double sent = (form[i].a - form[i].b / n) * (double)size;
            assert_form(n, size, sent * wire_factor((double)c) / rate + clear + hop, what);
            free(what);
        }
}

/// Those that only send, only receive, or differ: a chain is as slow as an inner rank; a gather is what comes in at the
/// root, and at each change of the rank whose turn it is the link is idle until clear-to-sends have gone out; of an
/// all-to-all with skewed parts, what comes in at rank 0, which everybody sends 2 k / (k + 1) of an even part, and the
/// ACKs of what it sends itself.
static void the_busiest_link_sets_the_pace(void **state) {
    for (uint32_t k = 0; k < 8; k++) {
        static const uint32_t ranks[] = {4, 6, 8, 16};
        uint32_t n = ranks[k / 2];
        double c = (k % 2 ? 256 : 64) * (double)KIB, skew = k % 2 ? 2 : 4;
        uint64_t size = (k % 2 ? 64 : 32) * MIB;
        char *chain = text_of("collective: {kind: send_recv, chunk: %.0fB, slice: %.0fB}", c, c);
        char *gather = text_of("collective: {kind: gather, channels: 1, chunk: %.0fB, slice: %.0fB}", c, c);
        char *skewed = text_of("collective: {kind: all_to_all_v, channels: %u, chunk: %.0fB, slice: %.0fB, skew: %.0f}",
                               n - 1, c, c, skew);
        double s = (double)size, part = s / n * 2 * skew / (skew + 1);
        assert_form(n, size, s * wire_factor(c) / rate + clear + hop, chain);
        assert_form(n, size, s * (n - 1) / n * out_factor(c) / rate + (n - 1) * (clear + hop), gather);
        assert_form(n, size, ((n - 1) * part * out_factor(c) + (s - part) * in_factor(c)) / rate + clear + hop, skewed);
        free(chain);
        free(gather);
        free(skewed);
    }
}

/// A pipeline round the ring: S / c chunks, and the last one crosses n - 2 more ranks. A reduce is the same the other
/// way: the first rank sends its chunks, and the root is the last.
static void broadcast_and_reduce_are_pipelines(void **state) {
    static const uint32_t ranks[] = {3, 6, 12};
    for (uint32_t k = 0; k < 12; k++) {
        uint32_t n = ranks[k / 4];
        double c = (k % 2 ? 256 : 64) * (double)KIB;
        uint64_t size = (k / 2 % 2 ? 64 : 16) * MIB;
        static const char *const names[] = {"broadcast", "reduce"};
        for (uint32_t i = 0; i < 2; i++) {
            char *what = text_of("root: %u, collective: {kind: %s, channels: 1, chunk: %.0fB, slice: %.0fB}", k % n,
                                 names[i], c, c);
            assert_form(n, size, ((double)size + (n - 2) * c) * wire_factor(c) / rate + clear + (n - 1) * hop, what);
            free(what);
        }
    }
}

/// What goes out at the root: nobody else sends data, and the ranks whose turn is later have sent their clear-to-sends
/// long before.
static void scatter_leaves_the_root(void **state) {
    static const uint32_t ranks[] = {2, 5, 8, 16};
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t n = ranks[k / 2];
        double c = (k % 2 ? 256 : 64) * (double)KIB;
        uint64_t size = n * 16 * (uint64_t)c;
        char *what = text_of("root: %u, collective: {kind: scatter, channels: %u, chunk: %.0fB, slice: %.0fB}", k % n,
                             1 + k % 2 * (n - 2), c, c);
        assert_form(n, size, (double)size * (n - 1) / n * out_factor(c) / rate + clear + hop, what);
        free(what);
    }
}

/// k chunks of c up and down each of one or two trees over n ranks, 2^(m-1) < n <= 2^m.
static double tree_time(uint32_t n, uint32_t trees, uint32_t slots, double k, double c) {
    uint32_t m = 1;
    while (UINT32_C(1) << m < n)
        m++;
    double busiest = n == 2 ? trees : n == 3 ? 1 + trees : 2 + trees; // chunks that its NIC sends for each of the k
    double up = n > 2 && n == (UINT32_C(1) << (m - 1)) + 1 ? 2 * m - 2 : 2 * m - 1; // a parent's children in turn
    double behind = trees == 1 && n > 3 ? slots : 0;
    return (busiest * k + 2 * up - busiest + behind) * c * wire_factor(c) / rate + clear + 2 * m * hop;
}

static void trees_are_pipelines_up_and_down(void **state) {
    static const uint32_t ranks[] = {2, 3, 4, 5, 8, 12, 16, 24, 32, 64};
    static const struct {
        uint32_t trees, slots, chunks;
        double chunk;
    } how[] = {{2, 4, 192, 65536}, {2, 8, 192, 131072}, {1, 2, 192, 262144}, {1, 4, 192, 131072}};
    for (size_t h = 0; h < sizeof how / sizeof *how; h++)
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            char *what = text_of(
                "collective: {kind: all_reduce_tree, trees: %s, channels: %u, slots: %u, chunk: %.0fB, "
                "slice: %.0fB}",
                how[h].trees == 2 ? "double" : "single", how[h].trees, how[h].slots, how[h].chunk, how[h].chunk);
            assert_form(ranks[k], (uint64_t)(how[h].trees * how[h].chunks * how[h].chunk),
                        tree_time(ranks[k], how[h].trees, how[h].slots, how[h].chunks, how[h].chunk), what);
            free(what);
        }
}

/// Reduce-scatter in the server, all-reduce on each rail, all-gather in the server, one after another with one channel:
/// (G - 1) / G S / B_server twice, and 2 (M - 1) / M S / G over the network.
static void hierarchy_is_the_sum_of_its_stages(void **state) {
    static const uint32_t shape[][2] = {{4, 4}, {2, 8}, {8, 2}, {4, 8}};
    for (size_t k = 0; k < 2 * sizeof shape / sizeof *shape; k++) {
        double g = shape[k / 2][0], m = shape[k / 2][1], slice = (k % 2 ? 256 : 512) * (double)KIB;
        uint64_t size = (k % 2 ? 64 : 128) * MIB;
        char *what = text_of("collective: {kind: all_reduce_hierarchical, channels: 1, chunk: 4MiB, slice: %.0fB, "
                             "slots: 32}, server: {gpus: %.0f, cabling: rack, latency: 100ns}",
                             slice, g);
        double inside = 2 * (g - 1) / g * (double)size * 8 / 3600e9;
        double rail = 2 * (m - 1) / m * (double)size / g * wire_factor(slice) / rate;
        assert_form((uint32_t)(g * m), size, inside + rail, what);
        free(what);
    }
}

/// What is small crosses each link of a server once in either stage, G - 1 of them in turn, and its rail twice, M - 1
/// hops in turn: messages do not become more where there are more servers.
static void a_small_hierarchy_is_its_hops(void **state) {
    static const uint32_t shape[][2] = {{8, 2}, {8, 8}, {4, 16}};
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        uint32_t g = shape[k][0], m = shape[k][1];
        double time[2], latency[2] = {1e-6, 21e-6};
        for (uint32_t i = 0; i < 2; i++) {
            char *what =
                text_of("collective: all_reduce_hierarchical, server: {gpus: %u, cabling: rack, latency: %.0fus}", g,
                        latency[i] * 1e6);
            time[i] = measure(g * m, KIB, what);
            free(what);
        }
        double inside = 2 * (g - 1) * (latency[1] - latency[0]), rail = time[0] - 2 * (g - 1) * latency[0];
        if (fabs((time[1] - time[0]) / inside - 1) > 0.01)
            fail_msg("%u servers of %u: 20 us more a hop cost %.2f us, expected %.2f us", m, g,
                     (time[1] - time[0]) * 1e6, inside * 1e6);
        // 16 B a message and 62 and 20 of headers and gaps; clear-to-sends of the rail come while the server is busy
        double small = 2 * 200e-9 + 300e-9 + 2 * (16 + 62 + 20) / rate;
        if (fabs(rail / (2 * (m - 1) * small) - 1) > 0.05)
            fail_msg("%u servers of %u: the rail takes %.2f us, expected %.2f us", m, g, rail * 1e6,
                     2 * (m - 1) * small * 1e6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_sends_its_share),          cmocka_unit_test(the_busiest_link_sets_the_pace),
        cmocka_unit_test(broadcast_and_reduce_are_pipelines), cmocka_unit_test(scatter_leaves_the_root),
        cmocka_unit_test(trees_are_pipelines_up_and_down),    cmocka_unit_test(hierarchy_is_the_sum_of_its_stages),
        cmocka_unit_test(a_small_hierarchy_is_its_hops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
