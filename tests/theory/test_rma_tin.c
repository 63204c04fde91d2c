// SPDX-License-Identifier: Apache-2.0
// 1RMA in an idle Clique takes what its parts take, to the picosecond, and two half round trips where IP takes six;
// with too much to do it waits for its window; and a run keeps its promises whatever is lost. Sources: Gibson et al.,
// NSDI 2022, section 3.4; Singhvi et al., SIGCOMM 2020.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"

static const double NS = 1e3, US = 1e6; // ps

static const struct weft_rma_outcome *outcome_of(const struct run *r) {
    return &r->outcome->rma[0];
}

/// A cell from an endpoint over one backplane link to an endpoint: processing 50 ns and fall-through 20 ns, the cable's
/// 2 ns, 40 ns a hop less the fall-through just counted, the next one's fall-through, and its bytes at a lane's 27.15
/// Gbit/s.
static double one_hop_ps(unsigned wire) {
    return (50 + 20 + 2 + 20 + 20) * NS + wire * 8 / 27.15e9 * 1e12;
}

#define ONE_POD                                                                                                        \
    "topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1}\n"                                                \
    "tin: {routing: minimal_deterministic, rma: {engine: 100ns, command: 250ns, read: 400ns, complete: 300ns}}\n"
#define IDLE "rate: 100, duration: 200ms, processor: {submit: 0ns, complete: 0ns}"

// Command, Req cell of 48 B, PCIe read, four times 1RMA's engine, Resp cells of 16 B and 128 at most that follow
// one another on one link, completion. A write adds a Req of the server's and its answer; its data goes the other way.
static void alone_a_request_takes_the_sum_of_its_parts(void **state) {
    static const struct {
        const char *what;
        unsigned bytes;
        bool write;
    } cases[] = {{"size: 64B", 64, false},
                 {"size: 4096B", 4096, false},
                 {"verb: atomic", 8, false},
                 {"verb: write, size: 1024B", 1024, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run r =
            RUN(run_once,
                ONE_POD "workload: [{kind: rma, transport: 1rma, clients: host-0, servers: host-1, %s, " IDLE "}]\n",
                cases[i].what);
        unsigned cells = (cases[i].bytes + 127) / 128;
        double data = one_hop_ps(0) + (cases[i].bytes + cells * 16) * 8 / 27.15e9 * 1e12;
        double expected = (250 + 400 + 300 + 4 * 100) * NS + one_hop_ps(48) + data;
        if (cases[i].write) expected += one_hop_ps(48) + one_hop_ps(16 + 8);
        const struct weft_rma_outcome *o = outcome_of(&r);
        print_message("%s: %.2f ns, by formula %.2f\n", cases[i].what, (double)o->execution.mean_ps / NS,
                      expected / NS);
        assert_true(o->completed > 5);
        assert_int_equal(o->completed, o->issued);
        double off = 2 + cells; // a cell takes whole ps
        assert_true(fabs((double)o->execution.mean_ps - expected) < off);
        assert_true(fabs((double)o->execution.max_ps - expected) < off);
        assert_true(fabs((double)o->latency.max_ps - expected) < off); // software costs nothing here
        run_free(&r);
    }
}

// --- single cells -------------------------------------------------------------------------------------------------

#define SENDS "{kind: rma, transport: 1rma, verb: send, processor: {submit: 0ns, complete: 0ns}, cc: none, "

/// One Req, one way, which nobody answers: command, engine and one hop. And a host may send to itself, over no link.
static void a_cell_that_nobody_answers_takes_one_way(void **state) {
    struct run r =
        RUN(run_once, ONE_POD "workload: [" SENDS "clients: host-0, servers: %s, rate: 100000, duration: 1ms}]\n",
            "host-1");
    const struct weft_rma_outcome *o = outcome_of(&r);
    assert_true(o->completed > 50);
    assert_int_equal(o->completed, o->issued);
    assert_int_equal(o->requests, o->issued);
    assert_true(fabs((double)o->latency.mean_ps - (250 + 100) * NS - one_hop_ps(48)) < 2);
    run_free(&r);
    r = RUN(run_once, ONE_POD "workload: [" SENDS "clients: host-0, servers: %s, rate: 100000, duration: 1ms}]\n",
            "host-0, itself: true");
    o = outcome_of(&r);
    assert_int_equal(o->completed, o->issued);
    assert_true(fabs((double)o->latency.p50_ps - (250 + 100 + 50 + 20) * NS - 48 * 8 / 25e9 * 1e12) < 4 * NS);
    run_free(&r);
}

/// A Bernoulli process: one a slot at most. At full rate it is one a slot, where a Poisson process would vary; at half
/// the rate half of them have one.
static void operations_begin_in_slots(void **state) {
    static const struct {
        const char *rate;
        uint32_t least, most;
    } cases[] = {{"1000000", 999, 1000}, {"500000", 430, 570}};
    for (size_t i = 0; i < 2; i++) {
        struct run r =
            RUN(run_once,
                ONE_POD "workload: [" SENDS "clients: host-0, servers: host-1, slot: 1us, duration: 1ms, rate: %s}]\n",
                cases[i].rate);
        assert_in_range(outcome_of(&r)->issued, cases[i].least, cases[i].most);
        run_free(&r);
    }
}

static uint64_t completed(const char *tin) {
    struct run r = RUN(run_once,
                       "topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1}\n"
                       "run: {until: 200us}\n"
                       "tin: {%s, rma: {engine: 0ns, command: 0ns}}\n"
                       "workload: [" SENDS "clients: host-0, servers: 'host-[1-3]', slot: 250ns, rate: 4000000, "
                       "duration: 200us}]\n",
                       tin);
    uint64_t n = outcome_of(&r)->completed;
    run_free(&r);
    return n;
}

/// 48 B take 384 ns at an endpoint of 1 Gbit/s: one of its own takes 520 in 200 us, eight take all 800.
static void a_host_has_an_endpoint_of_its_own(void **state) {
    assert_in_range(completed("endpoint_rate: 1Gbps, rma_own: true"), 510, 522);
    assert_in_range(completed("endpoint_rate: 1Gbps"), 780, 800);
}

/// A FIFO has a cell every second step; three share the port step by step, as far as their cells do not meet.
static void an_endpoint_has_fifos(void **state) {
    uint64_t one = completed("allocation_step: 500ns, rma_own: true"),
             three = completed("allocation_step: 500ns, rma_own: true, endpoint_vcs: 3");
    print_message("%u and %u cells\n", (unsigned)one, (unsigned)three);
    assert_in_range(one, 196, 201);
    assert_in_range(three, 290, 400);
}

// Section 3.4: "a UDP/IP or TCP/IP round-trip on Aquila incurs six GNet half-round-trips on its critical path (RTS,
// CTS, data, in each direction), a 1RMA read operation incurs only two". Between pods that are 2 km of fibre apart
// nothing else matters.
static void two_half_round_trips_where_ip_takes_six(void **state) {
    const char *text = "topology: {kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 1, global_delay: 10us}\n"
                       "host: {cc: none}\n"
                       "tin: {global_fifo: 16000B, routing: minimal_adaptive}\n"
                       "workload: [{kind: rma, transport: %s, clients: host-0, servers: host-2, size: 64B, rate: 100, "
                       "duration: 100ms, processor: {submit: 0ns, serve: 0ns, complete: 0ns}}]\n";
    struct run rma = RUN(run_once, text, "1rma"), ip = RUN(run_once, text, "software");
    double two = (double)outcome_of(&rma)->latency.p50_ps / US, six = (double)outcome_of(&ip)->latency.p50_ps / US;
    print_message("1RMA %.2f us, IP %.2f us\n", two, six);
    assert_true(two > 20 && two < 25);
    assert_true(six > 60 && six < 64);
    run_free(&rma);
    run_free(&ip);
}

// A window of 8 KiB and reads of 4 KB: two are under way, others wait 10 us at most and are handed back.
static void the_window_bounds_what_is_asked_for(void **state) {
    struct run r =
        run_once("topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1}\n"
                 "tin: {rma: {window: 8192B, engine: 0ns}}\n"
                 "workload: [{kind: rma, transport: 1rma, clients: host-0, servers: \"host-[1-3]\", rate: 2000000, "
                 "duration: 100us, processor: {submit: 0ns, complete: 0ns}, cc: none}]\n");
    const struct weft_rma_outcome *o = outcome_of(&r);
    assert_int_equal(o->completed, o->issued);
    assert_true(o->dispatch_timeouts > 0);
    assert_int_equal(o->timeouts, 0);
    assert_int_equal(o->retries, o->dispatch_timeouts);
    assert_int_equal(o->requests, o->issued);
    double under_way = (double)o->bytes / (double)r.outcome->sim_time_ps; // bytes a ps, for two at a time
    assert_true(under_way * 1.2 * US < 2 * 4096); // a read takes 1.2 us at least: command and completion overlap others
    run_free(&r);
}

/// Of atomic operations, which ask for 8 B by a Req of 48 B, and of writes the Req counts: as the window is full of
/// what has been asked for and not come, it has room for 1333 Reqs of a TiN in 64 KB, and no more are sent than answers
/// come.
static void requests_are_no_more_than_the_window(void **state) {
    static const char *const verbs[] = {"atomic", "write, size: 8B"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        uint64_t done[2];
        for (unsigned strict = 0; strict <= 1; strict++) {
            struct run r = RUN(run_once,
                               "topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1}\n"
                               "run: {until: 30us}\n"
                               "tin: {solicit_strict: %s, rma: {engine: 0ns, command: 0ns, read: 0ns, complete: 0ns, "
                               "timeout: 1ms, dispatch_timeout: 1ms}}\n"
                               "workload: [{kind: rma, transport: 1rma, verb: %s, rate: 800000000, duration: 30us, "
                               "processor: {submit: 0ns, complete: 0ns}, cc: none}]\n",
                               strict ? "on" : "off", verbs[i]);
            const struct weft_rma_outcome *o = outcome_of(&r);
            done[strict] = o->completed;
            assert_in_range(weft_outcome_tin(r.outcome)->rma_window_bytes_max, 64000 - 48, 64000);
            if (!i) assert_in_range(o->requests - o->completed, 1, 4 * (64000 / 48));
            run_free(&r);
        }
        print_message("%s: %u, strict %u\n", verbs[i], (unsigned)done[0], (unsigned)done[1]);
        assert_true((double)done[1] > 0.8 * (double)done[0]);
    }
}

// What clients measure after a millisecond of 90% load does not hang on the window that they began with.
static void a_steady_state_does_not_depend_on_its_start(void **state) {
    static const char *const start[] = {"0.01", "3", "15", "64"};
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: dragonfly, pods: 1, tins: 12}\n"
                "workload: [{kind: rma, transport: 1rma, rate: 1373000, warm_up: 1ms, duration: 3ms, processor: "
                "{submit: 0ns, complete: 0ns}, cc: {kind: 1rma, initial_cwnd: %s}}]\n",
                start[i]);
        double p99 = (double)outcome_of(&r)->execution.p99_ps / US;
        print_message("initial_cwnd %s: p99 %.2f us\n", start[i], p99);
        assert_true(outcome_of(&r)->execution.p50_ps < 6 * (weft_time_ps)US);
        least = fmin(least, p99);
        most = fmax(most, p99);
        run_free(&r);
    }
    assert_true(most < 1.05 * least);
}

/// Reads, writes and atomics beside IP while links fail and lose cells: everything completes, once, and any number of
/// threads finds the same.
static void lossy_runs_complete(void **state) {
    const char *text =
        "topology: {kind: dragonfly, pods: 3, tins: 4, global_parallel: 4, bit_error_rate: 1e-7}\n"
        "events: [{at: 20us, link: tin-0--tin-1, state: down}]\n"
        "host: {cc: swift, timeout: 100us}\n"
        "workload:\n"
        "  - {kind: rma, group: gets, transport: 1rma, rate: 300000, duration: 100us, reads: 2}\n"
        "  - {kind: rma, group: puts, transport: 1rma, verb: write, rate: 100000, duration: 100us, vcs: bulk}\n"
        "  - {kind: rma, group: adds, transport: 1rma, verb: atomic, rate: 100000, duration: 100us}\n"
        "  - {kind: rma, group: slow, rate: 100000, duration: 100us}\n"
        "  - {kind: poisson, load: 0.3, duration: 100us, size: 16KB}\n";
    struct run r = run_text(text);
    uint64_t timeouts = 0;
    for (uint32_t e = 0; e < 4; e++) {
        const struct weft_rma_outcome *o = &r.outcome->rma[e];
        timeouts += o->timeouts;
        assert_true(o->issued > 0);
        assert_int_equal(o->completed, o->issued);
    }
    assert_true(timeouts > 0);
    assert_int_equal(r.outcome->end, WEFT_END_DONE);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_a_request_takes_the_sum_of_its_parts),
        cmocka_unit_test(a_cell_that_nobody_answers_takes_one_way),
        cmocka_unit_test(operations_begin_in_slots),
        cmocka_unit_test(a_host_has_an_endpoint_of_its_own),
        cmocka_unit_test(an_endpoint_has_fifos),
        cmocka_unit_test(two_half_round_trips_where_ip_takes_six),
        cmocka_unit_test(the_window_bounds_what_is_asked_for),
        cmocka_unit_test(requests_are_no_more_than_the_window),
        cmocka_unit_test(a_steady_state_does_not_depend_on_its_start),
        cmocka_unit_test(lossy_runs_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
