// SPDX-License-Identifier: Apache-2.0
// Source flow control against what follows from delays, rates and incast degree.
// Source of the formulas: IEEE P802.1Qdw, "SFC simulation" (Chen, Congdon, Lv, Sivakolundu), parameter calculation:
//   SFC headroom > (N - 1) * loop * rate, loop = link delays and switch delays there and back;
//   (N - 1) * loop < pause.
// It leaves out what frames take. Here that is in the loop, so that the bounds hold to the byte.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"

enum { BYTE_PS = 40, FRAME = 4096 + 78, WIRE = FRAME + 20, MESSAGE = 64 + 20 };

/// One switch of 200 Gbit/s, links of 150 ns, processing 300 ns; hosts 0 to n-1 send to host n.
#define SINGLE                                                                                                         \
    "topology: {kind: single, hosts: %u, rate: 200Gbps, delay: 150ns}\n"                                               \
    "switch: {processing: 300ns, %s}\n"                                                                                \
    "workload: [{kind: incast, sources: host-0..%u, dst: host-%u, size: %s}%s]\n"

static char *settings(const char *buffer, const char *sfc) {
    return text_of("buffer: {kind: static, %s}, %s", buffer, sfc);
}

static const char deep_lossy[] = "size: 100MB, xoff: 100MB, xon: 100MB}, pfc: {priorities: none";

/// From a packet that finds the queue above the threshold to the last packet sent before its source paused being in the
/// queue: the message waits for a frame at most, the source finishes the one it is sending, and that must come in.
static uint64_t calc_loop_ps(void) {
    return 2 * 150000 + 300000 + BYTE_PS * (WIRE + MESSAGE + WIRE + WIRE);
}

/// The overshoot; a flow is told when a packet of its own comes, and those of n flows come within n frames.
static uint64_t calc_headroom(unsigned n) {
    return (n - 1) * calc_loop_ps() / BYTE_PS + n * WIRE;
}

static unsigned calc_pause_ns(unsigned n, unsigned threshold) {
    return (unsigned)((calc_headroom(n) + threshold / 2) * BYTE_PS / 1000);
}

static void overshoot_is_what_a_loop_lets_in(void **state) {
    static const unsigned degrees[] = {2, 3, 5, 8};
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = degrees[i], threshold = 200000, pause = calc_pause_ns(n, threshold);
        char *sfc = text_of("sfc: {kind: fixed, threshold: %uB, pause: %uns, interval: %uns}", threshold, pause, pause);
        char *all = settings(deep_lossy, sfc);
        struct run r = RUN(run_text, SINGLE, n + 1, all, n - 1, n, "2MB", "");
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        char port[32];
        snprintf(port, sizeof port, "switch-0/%u", n);
        const struct weft_counters *c = run_counters(&r, port, 3);
        assert_true(c->sfc_sent > 0);
        assert_in_range(c->queue_bytes_max, threshold + (n - 1) * 600000 / BYTE_PS, threshold + calc_headroom(n));
        run_free(&r);
        free(all);
        free(sfc);
    }
}

/// Best effort: what the headroom needs, spread over the inputs, is enough to lose nothing; without SFC it is not.
static void no_loss_without_pfc_if_there_is_headroom(void **state) {
    unsigned n = 3, threshold = 100000, pause = calc_pause_ns(n, threshold);
    uint64_t share = (threshold + calc_headroom(n)) / n + 2 * FRAME;
    for (unsigned with = 0; with < 2; with++) {
        char *buffer = text_of("size: %" PRIu64 "B, xoff: 0B, xon: 0B}, pfc: {priorities: none", share);
        char *sfc =
            text_of("sfc: {kind: %s%uB, pause: %uns, interval: %uns}", "fixed, threshold: ", threshold, pause, pause);
        char *all = settings(buffer, with ? sfc : "sfc: none");
        struct run r = RUN(run_once, SINGLE, n + 1, all, n - 1, n, "1MB", "");
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r) == 0, with);
        run_free(&r);
        free(all);
        free(sfc);
        free(buffer);
    }
}

/// With one message a flow and everything idle before it ends, a longer pause moves what follows by exactly as much.
static weft_time_ps fct_with_pause(unsigned pause_ns, const char *more, uint32_t flow) {
    char *sfc = text_of("sfc: {kind: fixed, threshold: 50KB, pause: %uns, interval: 1s}%s", pause_ns, more);
    char *all = settings(deep_lossy, sfc);
    struct run r = RUN(run_once, SINGLE, 3, all, 1, 2, "200KB", "");
    run_assert_complete(&r);
    assert_int_equal(run_counters(&r, "switch-0/2", 3)->sfc_sent, 2);
    weft_time_ps fct = run_fct(&r, flow);
    run_free(&r);
    free(all);
    free(sfc);
    return fct;
}

static void a_pause_lasts_exactly_as_long_as_told(void **state) {
    for (uint32_t flow = 0; flow < 2; flow++) {
        assert_int_equal(fct_with_pause(150000, "", flow) - fct_with_pause(100000, "", flow), 50000000);
        assert_int_equal(fct_with_pause(100007, "", flow) - fct_with_pause(100000, "", flow), 7000);
    }
}

static void what_is_counted_is_what_was_told(void **state) {
    char *all = settings(deep_lossy, "sfc: {kind: fixed, threshold: 50KB, pause: 77us, interval: 1s}");
    struct run r = RUN(run_once, SINGLE, 3, all, 1, 2, "400KB", "");
    run_assert_complete(&r);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(r.outcome->flow[i].sfc_messages, 1);
        assert_int_equal(r.outcome->flow[i].sfc_paused_ps, 77 * WEFT_PS_PER_US);
        assert_int_equal(run_counters(&r, i ? "host-1/0" : "host-0/0", 3)->sfc_received, 1);
    }
    assert_true(run_counters(&r, "switch-0/2", 3)->sfc_suppressed > 0);
    run_free(&r);
    free(all);
}

/// Where queueing puts the blame. Hosts 0 to 2 send to host 3; host 0 also sends to host 4, which nobody else wants.
static void input_queues_blame_victims(void **state) {
    static const struct {
        const char *queueing;
        bool wrong;
    } cases[] = {{"oq", false}, {"iq", true}, {"voq", false}};
    for (unsigned i = 0; i < 3; i++) {
        char *sfc =
            text_of("queueing: %s, sfc: {kind: fixed, threshold: 60KB, pause: 6us, interval: 6us}", cases[i].queueing);
        char *all = settings(deep_lossy, sfc);
        struct run r =
            RUN(run_text, SINGLE, 5, all, 2, 3, "1MB", ", {kind: flow, src: host-0, dst: host-4, size: 1MB}");
        run_assert_complete(&r);
        for (uint32_t f = 0; f < 3; f++)
            assert_true(r.outcome->flow[f].sfc_messages > 0);
        assert_int_equal(r.outcome->flow[3].sfc_messages > 0, cases[i].wrong);
        assert_int_equal(r.outcome->flow[3].sfc_paused_ps > 0, cases[i].wrong);
        run_free(&r);
        free(all);
        free(sfc);
    }
}

/// One message a source. Host 0 has two flows to the congested host 3, one to host 4, and one of another priority.
static void scope_is_what_pauses(void **state) {
    static const char *const scopes[] = {"flow", "destination", "priority"};
    static const unsigned paused[] = {1, 2, 3};
    for (unsigned i = 0; i < 3; i++) {
        char *sfc = text_of("sfc: {kind: fixed, threshold: 60KB, pause: 50us, interval: 1s, source_interval: 1s}");
        char *all = settings(deep_lossy, sfc);
        struct run r = RUN(run_once, SINGLE "host: {sfc_scope: %s, timeout: never}\n", 5, all, 2, 3, "1MB",
                           ", {kind: flow, src: host-0, dst: host-3, size: 1MB}, "
                           "{kind: flow, src: host-0, dst: host-4, size: 1MB}, "
                           "{kind: flow, src: host-0, dst: host-4, size: 1MB, priority: 4}",
                           scopes[i]);
        run_assert_complete(&r);
        assert_int_equal(run_counters(&r, "host-0/0", 3)->sfc_received, 1);
        unsigned n = 0;
        for (uint32_t f = 0; f < r.outcome->flows; f++) {
            if (r.workload->flow[f].src) continue;
            n += r.outcome->flow[f].sfc_paused_ps > 0;
            if (r.outcome->flow[f].sfc_paused_ps)
                assert_int_equal(r.outcome->flow[f].sfc_paused_ps, 50 * WEFT_PS_PER_US);
        }
        assert_int_equal(n, paused[i]);
        assert_int_equal(r.outcome->flow[5].sfc_paused_ps, 0);
        run_free(&r);
        free(all);
        free(sfc);
    }
}

/// No more than one message a flow and interval, nor a source and source interval.
static void intervals_limit_messages(void **state) {
    static const struct {
        const char *intervals;
        uint64_t per_interval; ///< messages
    } cases[] = {{"interval: 5us", 6}, {"source_interval: 5us", 3}, {"interval: 1us, source_interval: 5us", 3}};
    for (unsigned i = 0; i < 3; i++) {
        char *sfc = text_of("sfc: {kind: fixed, threshold: 20KB, pause: 100ns, %s}", cases[i].intervals);
        char *all = settings(deep_lossy, sfc);
        struct run r = RUN(run_once, SINGLE, 4, all, 2, 3, "500KB",
                           ", {kind: incast, sources: host-0..2, dst: host-3, size: 500KB}");
        run_assert_complete(&r);
        const struct weft_counters *c = run_counters(&r, "switch-0/3", 3);
        uint64_t intervals = r.outcome->sim_time_ps / (5 * WEFT_PS_PER_US) + 1;
        assert_in_range(c->sfc_sent, intervals, cases[i].per_interval * intervals);
        assert_true(c->sfc_suppressed > c->sfc_sent);
        run_free(&r);
        free(all);
        free(sfc);
    }
}

/// The NIC understands nothing: its switch pauses it, in quanta of 512 bit times (2.56 ns), rounded up, from when its
/// port is free. So a longer pause moves what follows by as much, to a quantum.
static void a_proxy_pauses_in_quanta(void **state) {
    static const unsigned quantum_ps = 64 * BYTE_PS;
    const char *deaf = ", sfc_proxy: true}\nhost: {sfc: false, pfc: {priorities: 3}";
    for (uint32_t flow = 0; flow < 2; flow++) {
        weft_time_ps moved = fct_with_pause(150000, deaf, flow) - fct_with_pause(100000, deaf, flow);
        assert_in_range(moved, 50000000 - quantum_ps, 50000000 + quantum_ps);
    }
    // 65535 quanta is all that a pause frame can say
    weft_time_ps most = fct_with_pause(167769, deaf, 0), more = fct_with_pause(1000000, deaf, 0);
    assert_in_range(more, most, most + quantum_ps);
}

static void a_proxy_tells_nobody_else(void **state) {
    for (unsigned proxy = 0; proxy < 2; proxy++) {
        char *sfc = text_of("sfc_proxy: %s, sfc: {kind: fixed, threshold: 60KB, pause: 9us, interval: 9us}}\n"
                            "host: {sfc: false",
                            proxy ? "true" : "false");
        char *all = settings("size: 100MB, xoff: 100MB, xon: 100MB", sfc);
        struct run r = RUN(run_once, SINGLE, 4, all, 2, 3, "1MB", "");
        run_assert_complete(&r);
        uint64_t received = 0, proxied = 0, frames = 0;
        for (uint32_t p = 0; p < r.outcome->ports; p++) {
            const struct weft_counters *c = weft_outcome_at(r.outcome, p, 3);
            received += c->sfc_received;
            proxied += c->sfc_proxied;
            frames += c->pfc_tx_xoff;
        }
        uint64_t sent = run_counters(&r, "switch-0/3", 3)->sfc_sent;
        assert_true(sent > 0);
        assert_int_equal(received, proxy ? 0 : sent);
        assert_int_equal(proxied, proxy ? sent : 0);
        assert_in_range(frames, 0, proxied);
        assert_int_equal(frames > 0, proxy);
        for (uint32_t f = 0; f < 3; f++)
            assert_int_equal(r.outcome->flow[f].sfc_paused_ps, 0); // they do not know
        run_free(&r);
        free(all);
        free(sfc);
    }
}

/// Our own XOFF outlasts a short pause by proxy that comes while it is in force, and after XON the rest of a long one
/// still holds. Headroom is what a loop lets in, so an XOFF cut short would lose packets.
static void a_proxy_leaves_pfc_alone(void **state) {
    static const char *const pauses[] = {"100ns", "2us", "40us"};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t headroom = calc_loop_ps() / BYTE_PS + 2 * WIRE;
        char *buffer = text_of("size: %" PRIu64 "B, xoff: 60KB, xon: 40KB", 60000 + headroom);
        char *sfc = text_of("sfc: {kind: fixed, threshold: 30KB, pause: %s}}\nhost: {sfc: false, pfc: {reaction: 0ns}",
                            pauses[i]);
        char *all = settings(buffer, sfc);
        struct run r = RUN(run_once, SINGLE, 4, all, 2, 3, "1MB", "");
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        assert_true(run_counters(&r, "switch-0/0", 3)->sfc_proxied > 0);
        run_free(&r);
        free(all);
        free(sfc);
        free(buffer);
    }
}

/// With DCBX the switch goes by what NICs say: host 0 says that it understands messages, host 1 that it does not (by
/// saying nothing of it), host 2 does and says nothing at all.
static void dcbx_tells_who_understands(void **state) {
    static const bool proxied[] = {false, true, true};
    char *all = settings("size: 100MB, xoff: 100MB, xon: 100MB",
                         "sfc: {kind: fixed, threshold: 60KB, pause: 9us, interval: 9us}");
    struct run r =
        RUN(run_text,
            SINGLE "dcbx: {enabled: true}\n"
                   "devices: [{match: host-1, host: {sfc: false}}, {match: host-2, dcbx: {enabled: false}}]\n",
            4, all, 2, 3, "1MB", "");
    run_assert_complete(&r);
    for (uint32_t h = 0; h < 3; h++) {
        char port[32];
        snprintf(port, sizeof port, "host-%u/0", h);
        assert_int_equal(run_counters(&r, port, 3)->sfc_received > 0, !proxied[h]);
        assert_int_equal(r.outcome->flow[h].sfc_paused_ps > 0, !proxied[h]);
        snprintf(port, sizeof port, "switch-0/%u", h);
        assert_int_equal(run_counters(&r, port, 3)->sfc_proxied > 0, proxied[h]);
    }
    run_free(&r);
    free(all);
}

/// With PFC, without (go-back-N repairs), and with DCQCN, under too short and too long pauses.
static void it_works_with_everything(void **state) {
    static const char *const with[] = {
        "size: 120KB, xoff: 90KB, xon: 80KB",
        "size: 60KB, xoff: 60KB, xon: 60KB}, pfc: {priorities: none",
        "size: 120KB, xoff: 90KB, xon: 80KB}, aqm: {kind: wred, min: 10KB, max: 40KB, max_probability: 1",
    };
    static const char *const pauses[] = {"100ns", "6us", "100us"};
    for (unsigned i = 0; i < 9; i++) {
        char *sfc = text_of("sfc: {kind: %s, threshold: 50KB, pause: %s}", i % 2 ? "fixed" : "adaptive", pauses[i / 3]);
        char *all = settings(with[i % 3], sfc);
        struct run r = RUN(run_text, SINGLE "host: {cc: %s, timeout: 200us}\n", 6, all, 4, 5, "300KB",
                           ", {kind: flow, src: host-0, dst: host-1, size: 300KB, verb: read}",
                           i % 3 == 2 ? "dcqcn_connectx" : "none");
        run_assert_complete(&r);
        assert_true(run_counters(&r, "switch-0/5", 3)->sfc_sent > 0);
        run_free(&r);
        free(all);
        free(sfc);
    }
}

/// Nobody tells it how many send: PFC never pauses, and the receiver's link is busy all the time (to 2 %).
static void the_adaptive_model_is_told_no_degree(void **state) {
    for (unsigned n = 2; n <= 14; n += 4) {
        char *sfc =
            text_of("sfc: {kind: adaptive, threshold: 10MB, loop: %" PRIu64 "ns, floor: 20KB}", calc_loop_ps() / 1000);
        char *all = settings("size: 180KB, xoff: 150KB, xon: 140KB", sfc);
        struct run r = RUN(run_once, SINGLE, n + 1, all, n - 1, n, "1MB", "");
        run_assert_complete(&r);
        for (uint32_t p = 0; p < r.outcome->ports; p++)
            assert_int_equal(weft_outcome_at(r.outcome, p, 3)->pfc_tx_xoff, 0);
        weft_time_ps busy = (weft_time_ps)n * (1000000 / 4096 + 1) * WIRE * BYTE_PS;
        for (uint32_t f = 0; f < n; f++)
            assert_in_range(run_fct(&r, f), 0, busy + busy / 50);
        run_free(&r);
        free(all);
        free(sfc);
    }
}

int main(void) {
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(overshoot_is_what_a_loop_lets_in),
        T(no_loss_without_pfc_if_there_is_headroom),
        T(a_pause_lasts_exactly_as_long_as_told),
        T(what_is_counted_is_what_was_told),
        T(input_queues_blame_victims),
        T(scope_is_what_pauses),
        T(intervals_limit_messages),
        T(a_proxy_pauses_in_quanta),
        T(a_proxy_tells_nobody_else),
        T(a_proxy_leaves_pfc_alone),
        T(dcbx_tells_who_understands),
        T(it_works_with_everything),
        T(the_adaptive_model_is_told_no_degree),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
