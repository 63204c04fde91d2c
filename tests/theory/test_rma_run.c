// SPDX-License-Identifier: Apache-2.0
// Remote memory access by software over an Ethernet switch: the time of one operation by formula, the processors of
// servers as M/D/1 queues, low-power states, and what a run promises whatever is lost.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

static const double NS = 1e3, US = 1e6; // ps

#define NETWORK                                                                                                        \
    "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 100ns}\n"                                               \
    "switch: {processing: 200ns}\n"                                                                                    \
    "host: {processing: 300ns, cc: none}\n"

/// A message in packets of 4096 B through one switch: serialised twice, the first one, and then one after another.
static double message_ps(unsigned bytes) {
    unsigned first = bytes < 4096 ? bytes : 4096, rest = bytes - first;
    double byte = 80, wire = 0;                    // ps, 100 Gbit/s
    wire += 2 * (first + 62 + 16 + 8) * byte;      // its last bit is what counts: without the gap after it
    if (rest) wire += (12 + rest + 62 + 8) * byte; // shorter than the first: it never waits
    return wire + 2 * 100 * NS + 200 * NS + 300 * NS;
}

static const struct weft_rma_outcome *outcome_of(const struct run *r) {
    return &r->outcome->rma[0];
}

// One client that is never busy when the next operation comes (100 a second): submit + request + serve + answer +
// complete, to the picosecond for the least; the histogram keeps 0.4 %.
static void alone_an_operation_takes_the_sum_of_its_parts(void **state) {
    static const struct {
        const char *what;
        unsigned request, answer, times;
    } cases[] = {
        {"verb: read, size: 1024B", 64, 64 + 1024, 1},
        {"verb: read, size: 4096B", 64, 64 + 4096, 1},
        {"verb: write, size: 4096B", 64 + 4096, 64, 1},
        {"verb: atomic", 64 + 8, 64 + 8, 1},
        {"reads: 2, index: 4096B, size: 4096B", 64, 64 + 4096, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run r = RUN(run_once,
                           NETWORK "workload: [{kind: rma, clients: host-0, servers: host-1, rate: 100, %s, "
                                   "duration: 200ms, processor: {submit: 1us, serve: 2us, complete: 500ns}}]\n",
                           2, cases[i].what);
        const struct weft_rma_outcome *o = outcome_of(&r);
        double one = message_ps(cases[i].request) + message_ps(cases[i].answer) + 3.5 * US;
        assert_true(o->completed > 5);
        assert_int_equal(o->completed, o->issued);
        assert_int_equal(o->requests, o->issued * cases[i].times);
        form_assert("Remote memory access alone, end to end", (double)o->latency.mean_ps, cases[i].times * one,
                    2 / one);
        assert_true(fabs((double)o->latency.max_ps - cases[i].times * one) < 2);
        run_free(&r);
    }
}

// Eight clients, one server: Poisson arrivals at a processor that takes 10 us each wait rho s / (2 (1 - rho)) in the
// mean (Pollaczek and Khinchine, constant service).
static void a_servers_processor_is_an_m_d_1_queue(void **state) {
    static const double loads[] = {0.3, 0.6, 0.8};
    double base = 0;
    for (size_t i = 0; i < 3; i++) {
        struct run r =
            RUN(run_once,
                NETWORK "workload: [{kind: rma, clients: \"host-[1-8]\", servers: host-0, rate: %g, size: 8B, "
                        "duration: 1s, processor: {submit: 0ns, serve: 10us, complete: 0ns}}]\n",
                9, loads[i] / 8 / 10e-6);
        base = message_ps(64) + message_ps(72) + 10 * US;
        double wait = ((double)outcome_of(&r)->latency.mean_ps - base) / US;
        double expected = loads[i] * 10 / (2 * (1 - loads[i]));
        form_assert("Mean wait for a server's processor (M/D/1)", wait, expected, 0.05);
        run_free(&r);
    }
}

// Aquila section 5.2: higher load may mean lower latency, for processors dwell in low-power states at low load. At 100
// operations a second nearly every one finds both asleep (e^-0.01 of gaps are longer than 100 us); its answer finds the
// client awake, for it was up 5 us before.
static void idle_processors_sleep(void **state) {
    const char *text =
        NETWORK "workload: [{kind: rma, clients: host-0, servers: host-1, rate: %g, duration: 200ms, "
                "processor: {submit: 1us, serve: 1us, complete: 0ns, sleep_after: 100us, wake_up: 20us}}]\n";
    double awake = (message_ps(64) + message_ps(64 + 4096) + 2 * US) / US;
    struct run slow = RUN(run_once, text, 2, 100.0), fast = RUN(run_once, text, 2, 100000.0);
    double p50_slow = (double)outcome_of(&slow)->latency.p50_ps / US;
    double p50_fast = (double)outcome_of(&fast)->latency.p50_ps / US;
    assert_true(fabs(p50_slow / (awake + 40) - 1) < 0.004);
    assert_true(p50_fast < awake * 1.2);
    run_free(&slow);
    run_free(&fast);
}

/// Everything is asked and answered once, however much is lost; and any number of threads finds the same.
static void lossy_runs_complete(void **state) {
    const char *text = "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, bit_error_rate: 1e-7}\n"
                       "host: {cc: swift, timeout: 100us}\n"
                       "workload:\n"
                       "  - {kind: rma, group: gets, rate: 100000, duration: 500us, under_way: 2, reads: 2}\n"
                       "  - {kind: rma, group: puts, verb: write, rate: 50000, duration: 500us, size: 10000B,\n"
                       "     clients: \"host-[0-3]\", servers: \"host-[4-7]\", priority: 4}\n"
                       "  - {kind: poisson, load: 0.2, duration: 200us, size: 64KB}\n";
    struct run r = run_once(text);
    uint64_t again = 0;
    for (uint32_t f = 0; f < r.outcome->flows; f++)
        again += r.outcome->flow[f].packets_again;
    assert_true(again > 0);
    for (uint32_t e = 0; e < 2; e++) {
        const struct weft_rma_outcome *o = &r.outcome->rma[e];
        assert_true(o->issued > 0);
        assert_int_equal(o->completed, o->issued);
        assert_int_equal(o->bytes, o->completed * (e ? 10000 : 512 + 4096));
    }
    assert_int_equal(r.outcome->end, WEFT_END_DONE);
    static const uint32_t threads[] = {2, 3, 8};
    for (unsigned k = 0; k < 3; k++) {
        struct weft_outcome *o = run_again(&r, threads[k], text);
        assert_int_equal(o->digest, r.outcome->digest);
        weft_outcome_free(o);
    }
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_an_operation_takes_the_sum_of_its_parts),
        cmocka_unit_test(a_servers_processor_is_an_m_d_1_queue),
        cmocka_unit_test(idle_processors_sleep),
        cmocka_unit_test(lossy_runs_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
