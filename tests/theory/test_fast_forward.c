// SPDX-License-Identifier: Apache-2.0
// Fast-forward. exact: whatever a job does, every number of the result is that of a run in full, on any number of
// threads; and it does skip where the state of the network repeats. steady: times stay within the stated error. An
// audited stretch ends when it was foretold. What cannot be skipped is refused with the reason.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "box/tin/tin_outcome.h"
#include "models.h"
#include "part.h"
#include "random_text.h"
#include "run.h"

/// A run of the text with that key of run.
static struct run run_mode(const char *text, const char *mode) {
    char *all = text_of("%srun: {fast_forward: %s}\n", text, mode);
    struct run r = run_once(all);
    free(all);
    return r;
}

static void assert_same_wait(const struct weft_wait_outcome *a, const struct weft_wait_outcome *b) {
    assert_memory_equal(a, b, sizeof *a);
}

static void assert_same_job(const struct weft_job_outcome *a, const struct weft_job_outcome *b) {
    assert_memory_equal(a->op, b->op, (size_t)a->iterations * a->ops * sizeof *a->op);
    assert_memory_equal(a->iteration_end_ps, b->iteration_end_ps, a->iterations * sizeof *a->iteration_end_ps);
    assert_memory_equal(a->iteration_exposed_ps, b->iteration_exposed_ps,
                        a->iterations * sizeof *a->iteration_exposed_ps);
    assert_int_equal(a->end_ps, b->end_ps);
    assert_int_equal(a->exposed_ps, b->exposed_ps);
    assert_int_equal(a->ranks_done, b->ranks_done);
    assert_same_wait(&a->cts_wait, &b->cts_wait);
    assert_same_wait(&a->sender_wait, &b->sender_wait);
    assert_int_equal(a->in_flight_bytes_max, b->in_flight_bytes_max);
}

/// Everything that results tell of the network, beyond what the digest covers.
static void assert_same_outcome(const struct weft_outcome *a, const struct weft_outcome *b) {
    // The last event may be a timer of a sender that has nothing outstanding; when it fires changes nothing else.
    assert_true(a->sim_time_ps < b->sim_time_ps + a->window_ps && b->sim_time_ps < a->sim_time_ps + a->window_ps);
    assert_int_equal(a->packet_hops, b->packet_hops);
    assert_memory_equal(a->flow, b->flow, a->flows * sizeof *a->flow);
    assert_memory_equal(a->counters, b->counters, (size_t)a->ports * WEFT_PRIORITIES * sizeof *a->counters);
    assert_memory_equal(a->drops, b->drops, sizeof a->drops);
    assert_int_equal(a->injected_bytes, b->injected_bytes);
    assert_int_equal(a->held_bytes, b->held_bytes);
    assert_int_equal(a->server_sent_bytes, b->server_sent_bytes);
    assert_int_equal(a->server_received_bytes, b->server_received_bytes);
    for (uint32_t j = 0; j < a->jobs; j++)
        assert_same_job(&a->job[j], &b->job[j]);
    for (uint32_t p = 0; p < WEFT_PRIORITIES && a->round_trip; p++)
        assert_same_wait(&a->round_trip[p], &b->round_trip[p]);
    assert_int_equal(a->digest, b->digest);
}

/// What exact skipped.
struct skipped {
    uint64_t iterations, operations;
};

static struct skipped compare_exact(const char *text) {
    struct run off = run_mode(text, "off"), exact = run_mode(text, "exact");
    assert_null(off.outcome->fast_forward);
    if (off.status != exact.status || off.outcome->digest != exact.outcome->digest) fputs(text, stderr);
    assert_int_equal(off.status, exact.status);
    assert_same_outcome(off.outcome, exact.outcome);
    const struct weft_fast_forward_outcome *f = exact.outcome->fast_forward;
    struct skipped skipped = {f->iterations, f->operations};
    if (f->stretches)
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct weft_outcome *o = run_again(&exact, threads, text);
            assert_same_outcome(off.outcome, o);
            assert_int_equal(o->fast_forward->iterations, skipped.iterations);
            assert_int_equal(o->fast_forward->operations, skipped.operations);
            weft_outcome_free(o);
        }
    run_free(&off);
    run_free(&exact);
    return skipped;
}

/// The run has the same digest on two and three threads.
static void assert_same_on_threads(struct run *r, const char *text) {
    for (uint32_t threads = 2; threads <= 3; threads++) {
        struct weft_outcome *o = run_again(r, threads, text);
        assert_int_equal(o->digest, r->outcome->digest);
        weft_outcome_free(o);
    }
}

#define ONE_SWITCH "topology: {kind: single, hosts: 16, rate: 200Gbps, delay: 500ns}\n"
#define CLOS "topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 4, rate: 200Gbps, delay: 500ns}\n"
#define BUFFER "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}}\n"

/// The first two iterations are run, and the last; all that lie between are alike.
static void skips_what_repeats(void **state) {
    (void)state;
    static const char *const jobs[] = {
        "  - {kind: job, iterations: 20, operations: [{compute: 100us, collective: all_reduce_ring, size: 4MB}]}\n",
        "  - {kind: job, iterations: 20, operations: [{compute: 100us, collective: all_to_all, size: 1MB}]}\n",
        "  - {kind: job, iterations: 20, server: {gpus: 4}, operations: [{compute: 30us}, {compute: 50us, collective: "
        "{kind: all_reduce_hierarchical, channels: 4}, size: 1MB}]}\n",
        "  - {kind: job, iterations: 20, slow_rank: 3, slow_factor: 2, operations: [{compute: 100us, collective: "
        "all_gather, size: 1MB}, {compute: 20us, collective: reduce_scatter, size: 1MB}]}\n",
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *text = text_of(ONE_SWITCH BUFFER "workload:\n%s", jobs[i]);
        uint64_t iterations = compare_exact(text).iterations;
        if (iterations < 14) fail_msg("%" PRIu64 " iterations were skipped of job %zu", iterations, i);
        free(text);
    }
}

/// Within an iteration, operations of the same kind follow one another: of each run of them the first two or three are
/// run, and the last; that is so in every iteration that is run. Layers of a pipeline's microbatches come in turn:
/// forward and backward, at each stage in another order.
static void skips_operations(void **state) {
    (void)state;
    static const struct {
        const char *job;
        uint64_t operations_min;
    } cases[] = {
        {"{kind: job, operations: [{compute: 100us, collective: all_reduce_ring, size: 1MB, times: 40}]}", 35},
        {"{kind: job, iterations: 2, operations: [{compute: 70us, collective: all_to_all, size: 1MB, times: 20}, "
         "{compute: 30us, times: 20}, {compute: 90us, collective: all_gather, size: 500KB, times: 20}]}",
         70},
        {"{kind: job, server: {gpus: 4}, dimensions: [tp:4, dp:4], operations: [{compute: 50us, collective: "
         "all_reduce_ring, size: 1MB, over: tp, times: 30}, {collective: all_reduce_ring, size: 1MB, over: dp}]}",
         25},
        {"{kind: job, operations: [{compute: 50us, collective: all_gather, size: 100KB, overlap: on, times: 30}]}", 20},
        {"{kind: job, dimensions: [tp:4, pp:4], operations: [{pipeline: {microbatches: 24, size: 64KB, forward: "
         "[{compute: 100us, collective: all_reduce_ring, size: 64KB, over: tp}], backward: [{compute: 200us}]}}]}",
         20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_of(ONE_SWITCH BUFFER "workload:\n  - %s\n", cases[i].job);
        struct skipped skipped = compare_exact(text);
        if (skipped.operations < cases[i].operations_min)
            fail_msg("%" PRIu64 " operations were skipped of job %zu", skipped.operations, i);
        free(text);
    }
}

/// A flow that begins in the middle bounds what is skipped, and is not missed; nor is the end that run.until sets.
static void minds_what_comes(void **state) {
    (void)state;
    const char *job = "workload:\n  - {kind: job, hosts: \"host-0..7\", iterations: 40, operations: [{compute: 100us, "
                      "collective: all_to_all, size: 500KB}]}\n";
    char *flow =
        text_of(ONE_SWITCH BUFFER "%s  - {kind: flow, src: host-0, dst: host-9, size: 3MB, start: 3ms}\n", job);
    assert_true(compare_exact(flow).iterations > 10);
    char *late = text_of(
        ONE_SWITCH BUFFER
        "%s  - {kind: job, group: late, hosts: \"host-8..11\", start: 2ms, iterations: 9, operations: [{compute: 70us, "
        "collective: all_reduce_ring, size: 200KB}]}\n",
        job);
    assert_true(compare_exact(late).iterations > 5);
    char *until = text_of(ONE_SWITCH BUFFER "%s", job);
    struct run off = run_mode(until, "off, until: 3333us"), exact = run_mode(until, "exact, until: 3333us");
    assert_int_equal(exact.outcome->end, WEFT_END_UNTIL);
    assert_true(exact.outcome->fast_forward->iterations > 5);
    assert_same_outcome(off.outcome, exact.outcome);
    run_free(&off);
    run_free(&exact);
    free(flow);
    free(late);
    free(until);
}

static char *any_job(uint64_t seed) {
    char *at;
    size_t size;
    struct text t = {.file = open_memstream(&at, &size), .random = weft_random_stream(seed, 7, WEFT_RANDOM_WORKLOAD)};
    fputs(draw(&t, 4) ? ONE_SWITCH : CLOS, t.file);
    fprintf(t.file, "switch: {route: %s, buffer: %s}\n", ONE_OF(&t, "ecmp", "e_ecmp", "path_pinning"),
            ONE_OF(&t, "{kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}",
                   "{kind: static, size: 4MB, xoff: 40KB, xon: 20KB}",
                   "{kind: dynamic, total: 32MB, headroom: 200KB}"));
    fprintf(t.file, "host: {mtu: %s, ack_every: %s, window: %s, work_request: %s, transport: roce_rc, timeout: %s}\n",
            ONE_OF(&t, "1000B", "4096B"), ONE_OF(&t, "1", "4"), ONE_OF(&t, "0B", "64KB"), ONE_OF(&t, "0ns", "100ns"),
            ONE_OF(&t, "16ms", "700us"));
    fprintf(t.file,
            "workload:\n  - {kind: job, server: {gpus: %s}, ranks: 8, qps: %" PRIu64 ", admission: %s, start: %s, "
            "iterations: %" PRIu64 ", slow_rank: %" PRIu64 ", slow_factor: %s, operations: [",
            ONE_OF(&t, "1", "2", "4"), 1 + draw(&t, 3), ONE_OF(&t, "cts", "cts", "none"), ONE_OF(&t, "0s", "7us"),
            8 + draw(&t, 12), draw(&t, 8), ONE_OF(&t, "1", "1", "3"));
    for (uint64_t n = 1 + draw(&t, 3); n; n--)
        fprintf(t.file,
                "{compute: %s, size: %s, times: %s, overlap: %s, collective: {kind: %s, channels: %" PRIu64
                ", chunk: 8KB, slice: %s, slots: %s}}, ",
                ONE_OF(&t, "3us", "50us", "400us"), ONE_OF(&t, "1B", "7KB", "64KB", "100003B"),
                ONE_OF(&t, "1", "2", "9"), ONE_OF(&t, "off", "off", "on"),
                general_collective((uint32_t)draw(&t, general_collectives()))->name, 1 + draw(&t, 3),
                ONE_OF(&t, "8KB", "3KB"), ONE_OF(&t, "4", "8"));
    fputs("]}\n", t.file);
    fclose(t.file);
    return at;
}

static void changes_nothing(void **state) {
    (void)state;
    enum { RUNS = 60 };
    struct skipped runs = {0};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        char *text = any_job(seed);
        struct skipped skipped = compare_exact(text);
        runs.iterations += skipped.iterations > 0;
        runs.operations += skipped.operations > 0;
        free(text);
    }
    if (runs.iterations < RUNS / 4 || runs.operations < RUNS / 20)
        fail_msg("of %d random jobs only %" PRIu64 " had iterations to skip, and %" PRIu64 " operations", RUNS,
                 runs.iterations, runs.operations);
}

/// An audited stretch is run, and ends when it was foretold.
static void audits(void **state) {
    (void)state;
    char *text = text_of(ONE_SWITCH BUFFER "workload:\n  - {kind: job, iterations: 12, operations: [{compute: 100us, "
                                           "collective: all_to_all, size: 1MB}]}\n");
    struct run r = run_mode(text, "exact, fast_forward_audit: 1");
    assert_int_equal(r.outcome->fast_forward->audited, 1);
    assert_int_equal(r.outcome->fast_forward->failed, 0);
    assert_true(r.outcome->fast_forward->audit_error == 0); // NOLINT: the same picosecond
    assert_int_equal(r.outcome->fast_forward->iterations, 0);
    run_free(&r);
    free(text);
}

/// Mean iteration time within 1%, and the error that it states is not above what was allowed.
static void stays_near(void **state) {
    (void)state;
    static const char *const hosts[] = {"", "host: {cc: dcqcn}\n", "host: {cc: swift}\n"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char *text =
            text_of(CLOS "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}, aqm: {kind: wred, "
                         "min: 100KB, max: 400KB}}\n%sworkload:\n  - {kind: job, iterations: 30, operations: "
                         "[{compute: 300us, collective: all_reduce_ring, size: 4MB}]}\n",
                    hosts[i]);
        struct run off = run_mode(text, "off"), steady = run_mode(text, "steady");
        const struct weft_fast_forward_outcome *f = steady.outcome->fast_forward;
        double error = (double)steady.outcome->job[0].end_ps / (double)off.outcome->job[0].end_ps - 1;
        if (f->refused) fail_msg("%s: %s", hosts[i], f->refused);
        assert_true(f->iterations > 0);
        assert_true(f->error <= 0.005);
        if (error > 0.01 || error < -0.01) fail_msg("%sdiffers by %.4f", hosts[i], error);
        assert_int_equal(steady.outcome->job[0].ranks_done, off.outcome->job[0].ranks_done);
        assert_int_equal(steady.outcome->flow[0].delivered_bytes, off.outcome->flow[0].delivered_bytes);
        run_free(&off);
        run_free(&steady);
        free(text);
    }
}

#define RAILS "topology: {kind: leaf_spine, leaves: 8, spines: 8, hosts_per_leaf: 4, rate: 400Gbps, delay: 500ns}\n"

/// Nothing is lost or invented, and every flow has delivered the same as in a full run.
static void assert_same_bytes(const struct weft_outcome *b, const struct weft_outcome *a) {
    assert_int_equal(b->injected_bytes, b->delivered_bytes + b->dropped_bytes + b->held_bytes);
    assert_int_equal(b->flows, a->flows);
    for (uint32_t f = 0; f < a->flows; f++)
        assert_int_equal(b->flow[f].delivered_bytes, a->flow[f].delivered_bytes);
}

/// Nearer than 1% of it.
static void assert_near(const char *text, const char *what, double a, double b) {
    if (a < 0.99 * b || a > 1.01 * b) fail_msg("%s%s is %g; in full %g", text, what, a, b);
}

/// Steps of rings are left out: rings of one server's GPU each, over rails, in loops, of sizes that do not divide, with
/// several queue pairs, and while ranks compute. What was sent is all of it, and is counted.
static void skips_steps(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t steps_min; ///< of all lanes
    } cases[] = {
        {RAILS BUFFER "workload: [{kind: job, operations: [{collective: {kind: all_reduce_ring, channels: 1}, size: "
                      "64MiB}]}]\n",
         2000},
        {RAILS BUFFER "workload: [{kind: job, server: {gpus: 8, cabling: rail}, operations: [{collective: {kind: "
                      "all_reduce_ring, channels: 8}, size: 100000007B}]}]\n",
         8000},
        {ONE_SWITCH BUFFER "workload: [{kind: job, operations: [{collective: {kind: all_reduce_ring, channels: 2, "
                           "chunk: 64KB, slice: 64KB}, size: 64MiB}]}]\n",
         8000},
        {ONE_SWITCH BUFFER
         "workload: [{kind: job, qps: 3, qp_scaling: split, operations: [{collective: {kind: all_gather, "
         "channels: 1, chunk: 64KB, slice: 64KB}, size: 64MiB}]}]\n",
         1000},
        {ONE_SWITCH BUFFER "workload: [{kind: job, iterations: 3, operations: [{compute: 200us, overlap: on, "
                           "collective: {kind: all_reduce_ring, channels: 1, chunk: 64KB, slice: 64KB}, size: 64MiB}, "
                           "{compute: 5ms}]}]\n",
         2000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        struct run off = run_mode(text, "off"), steady = run_mode(text, "steady");
        const struct weft_outcome *a = off.outcome, *b = steady.outcome;
        if (b->fast_forward->refused) fail_msg("%s: %s", text, b->fast_forward->refused);
        if (b->fast_forward->steps < cases[i].steps_min)
            fail_msg("%s: %" PRIu64 " steps were skipped", text, b->fast_forward->steps);
        assert_true(b->events < a->events / 2);
        assert_near(text, "end", (double)b->job[0].end_ps, (double)a->job[0].end_ps);
        assert_near(text, "packet-hops", (double)b->packet_hops, (double)a->packet_hops);
        assert_near(text, "clear-to-sends", (double)b->job[0].cts_wait.messages, (double)a->job[0].cts_wait.messages);
        assert_near(text, "exposed", (double)b->job[0].exposed_ps, (double)a->job[0].exposed_ps);
        assert_int_equal(b->job[0].ranks_done, a->job[0].ranks_done);
        assert_int_equal(b->server_sent_bytes, a->server_sent_bytes);
        assert_int_equal(b->server_received_bytes, a->server_received_bytes);
        assert_same_bytes(b, a);
        assert_same_on_threads(&steady, text);
        run_free(&off);
        run_free(&steady);
    }
}

/// Rings that get in each other's way advance unevenly until their buffers are full: nothing is skipped while they do,
/// and times stay near. A stretch within an operation is audited as one of iterations is.
static void steps_keep_pace(void **state) {
    (void)state;
    const char *text = CLOS BUFFER "workload: [{kind: job, server: {gpus: 4}, operations: [{collective: {kind: "
                                   "all_reduce_ring, channels: 4, chunk: 64KB, slice: 64KB}, size: 64MiB}]}]\n";
    struct run off = run_mode(text, "off"), steady = run_mode(text, "steady");
    assert_near(text, "end", (double)steady.outcome->job[0].end_ps, (double)off.outcome->job[0].end_ps);
    run_free(&steady);
    run_free(&off);
    text = RAILS BUFFER "workload: [{kind: job, operations: [{collective: {kind: all_reduce_ring, channels: 1}, size: "
                        "64MiB}]}]\n";
    steady = run_mode(text, "steady, fast_forward_audit: 1");
    assert_int_equal(steady.outcome->fast_forward->audited, 1);
    assert_int_equal(steady.outcome->fast_forward->failed, 0);
    assert_true(steady.outcome->fast_forward->audit_error < 0.001);
    run_free(&steady);
}

static int by_time(const void *a, const void *b) {
    weft_time_ps x = *(const weft_time_ps *)a, y = *(const weft_time_ps *)b;
    return (x > y) - (x < y);
}

/// Completion times of flows, in order; the caller frees them. ret_mean: of them.
static weft_time_ps *times_of(const struct weft_outcome *o, double *ret_mean) {
    weft_time_ps *time = malloc(o->flows * sizeof *time);
    *ret_mean = 0;
    for (uint32_t i = 0; i < o->flows; i++) {
        time[i] = o->flow[i].end_ps - o->flow[i].start_ps;
        *ret_mean += (double)time[i] / o->flows;
    }
    qsort(time, o->flows, sizeof *time, by_time);
    return time;
}

/// Mean completion time within 1%, 99th percentile within 3%; all that is counted is nearly as much, and bytes are all.
static void assert_flows_near(const char *text, const struct weft_outcome *b, const struct weft_outcome *a) {
    double mean_a, mean_b;
    weft_time_ps *all_a = times_of(a, &mean_a), *all_b = times_of(b, &mean_b);
    uint32_t at = a->flows * 99 / 100;
    assert_near(text, "mean", mean_b, mean_a);
    double p99 = (double)all_b[at] / (double)all_a[at];
    if (p99 < 0.97 || p99 > 1.03) fail_msg("%sp99 is %g of that in full", text, p99);
    free(all_a);
    free(all_b);
    assert_near(text, "packet-hops", (double)b->packet_hops, (double)a->packet_hops);
    assert_near(text, "bytes", (double)b->injected_bytes, (double)a->injected_bytes);
    assert_int_equal(b->injected_bytes, b->delivered_bytes + b->dropped_bytes + b->held_bytes);
    for (uint32_t i = 0; i < a->ports; i++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            double full = (double)weft_outcome_at(a, i, p)->tx_packets;
            double own = (double)weft_outcome_at(b, i, p)->tx_packets;
            if (fabs(own - full) > 0.01 * full + 64)
                fail_msg("%sport %u sent %g packets; in full %g", text, i, own, full);
        }
    for (uint32_t f = 0; f < a->flows; f++)
        assert_int_equal(b->flow[f].delivered_bytes, a->flow[f].delivered_bytes);
}

/// Flows that hold their rate are not run: alone on their links, at line rate; slowed down by congestion control, or a
/// rate that it raises; while others come and go; with acknowledgements that are few.
static void flows_coast(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double part_min; ///< of their packets that are left out
    } cases[] = {
        {ONE_SWITCH BUFFER "workload: [{kind: permutation, size: 16MiB}]\n", 0.8},
        {ONE_SWITCH BUFFER "host: {ack_every: 8}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 16MiB}, "
                           "{kind: flow, src: host-2, dst: host-1, size: 8MiB, start: 300us}]\n",
         0.2},
        {CLOS "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}, aqm: {kind: wred, min: 100KB, max: "
              "400KB}}\nhost: {cc: dcqcn}\nworkload: [{kind: permutation, size: 32MiB}]\n",
         0.7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        struct run off = run_mode(text, "off"), steady = run_mode(text, "steady");
        const struct weft_outcome *a = off.outcome, *b = steady.outcome;
        if (b->fast_forward->refused) fail_msg("%s: %s", text, b->fast_forward->refused);
        uint64_t packets = 0;
        for (uint32_t f = 0; f < a->flows; f++)
            packets += a->flow[f].delivered_bytes / 4096;
        double part = (double)b->fast_forward->packets / (double)packets;
        if (part < cases[i].part_min) fail_msg("%s%g of the packets were skipped", text, part);
        assert_flows_near(text, b, a);
        assert_true(b->fast_forward->error <= 0.005);
        assert_same_on_threads(&steady, text);
        run_free(&off);
        run_free(&steady);
    }
}

/// Flows that would coast are run instead, and have sent what was foretold; and what had been sent when run.until ends
/// a run is counted.
static void flows_are_audited(void **state) {
    (void)state;
    const char *text = ONE_SWITCH BUFFER "workload: [{kind: permutation, size: 16MiB}]\n";
    struct run r = run_mode(ONE_SWITCH BUFFER "workload: [{kind: permutation, size: 16MiB}, {kind: permutation, size: "
                                              "16MiB, start: 2ms}]\n",
                            "steady, fast_forward_audit: 5");
    assert_int_equal(r.outcome->fast_forward->audited, 5);
    assert_int_equal(r.outcome->fast_forward->failed, 0);
    assert_true(r.outcome->fast_forward->packets > 0);
    run_free(&r);
    r = run_mode(text, "steady, fast_forward_audit: 2, until: 200us"); // while they are audited
    assert_int_equal(r.outcome->fast_forward->audited, 0);
    assert_int_equal(r.outcome->fast_forward->dropped, 2);
    run_free(&r);
    struct run off = run_mode(text, "off, until: 400us"), steady = run_mode(text, "steady, until: 400us");
    assert_int_equal(steady.outcome->end, WEFT_END_UNTIL);
    assert_true(steady.outcome->fast_forward->packets > 0);
    assert_near(text, "payload", (double)steady.outcome->flow[0].delivered_bytes,
                (double)off.outcome->flow[0].delivered_bytes);
    run_free(&off);
    run_free(&steady);
}

#define DSF "topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 2, rails: 1}\n"
#define CLIQUE "topology: {kind: dragonfly, pods: 2, tins: 4, host_rate: 100Gbps}\n"

static void assert_histogram_near(const char *text, const char *what, const struct weft_wait_outcome *b,
                                  const struct weft_wait_outcome *a) {
    assert_near(text, what, (double)b->messages, (double)a->messages);
    assert_near(text, what, (double)b->mean_ps, (double)a->mean_ps);
}

/// Lanes are drawn, and credits come when they may: what one period counts varies by more than its time does.
static void assert_count_near(const char *text, const char *what, uint64_t b, uint64_t a) {
    double difference = fabs((double)b - (double)a);
    if (difference > 0.03 * (double)a + 64) fail_msg("%s%s is %" PRIu64 "; in full %" PRIu64, text, what, b, a);
}

/// What their boxes counted, of cells and of credits.
static void assert_fabric_near(const char *text, const struct weft_outcome *b, const struct weft_outcome *a) {
    const struct weft_dsf_outcome *dsf_a = weft_outcome_dsf(a), *dsf_b = weft_outcome_dsf(b);
    const struct weft_tin_outcome *tin_a = weft_outcome_tin(a), *tin_b = weft_outcome_tin(b);
#define X(field, type, help)                                                                                           \
    if (dsf_a) assert_count_near(text, #field, dsf_b->field, dsf_a->field);
    WEFT_DSF_COUNTERS(X)
#undef X
#define X(field, type, unit, help)                                                                                     \
    if (dsf_a) assert_count_near(text, #field, dsf_b->seen->field.n, dsf_a->seen->field.n);
    WEFT_DSF_HISTOGRAMS(X)
#undef X
#define X(field, type, help)                                                                                           \
    if (tin_a) assert_count_near(text, #field, tin_b->field, tin_a->field);
    WEFT_TIN_COUNTERS(X)
#undef X
#define X(field, type, unit, help)                                                                                     \
    if (tin_a) assert_count_near(text, #field, tin_b->seen->field.n, tin_a->seen->field.n);
    WEFT_TIN_HISTOGRAMS(X)
#undef X
    for (uint32_t p = 0; p < a->ports; p++) { // of ways that are drawn anew for each cell: their mean is above
        double full = (double)weft_outcome_at(a, p, 0)->tx_packets;
        double own = (double)weft_outcome_at(b, p, 0)->tx_packets;
        if (fabs(own - full) > 0.1 * full + 64)
            fail_msg("%sport %u sent %g frames or cells; in full %g", text, p, own, full);
    }
    for (uint32_t p = 0; p < WEFT_PRIORITIES && a->round_trip; p++)
        assert_histogram_near(text, "round trips", &b->round_trip[p], &a->round_trip[p]);
}

/// Iterations across fabrics of cells are taken over, whose boxes stay as they are; what those count is nearly as much.
static void crosses_fabrics(void **state) {
    (void)state;
    static const char *const cases[] = {
        DSF "workload: [{kind: job, iterations: 12, operations: [{compute: 100us, collective: all_reduce_ring, size: "
            "4MB}]}]\n",
        DSF "switch: {aqm: {kind: wred, min: 10KB, max: 40KB}}\nhost: {cc: dcqcn}\nworkload: [{kind: job, iterations: "
            "12, operations: [{compute: 300us, collective: all_gather, size: 4MB}]}]\n",
        CLIQUE "workload: [{kind: job, iterations: 12, operations: [{compute: 100us, collective: all_reduce_ring, "
               "size: 1MB}]}]\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i];
        struct run off = run_mode(text, "off"), steady = run_mode(text, "steady");
        const struct weft_outcome *a = off.outcome, *b = steady.outcome;
        if (b->fast_forward->refused) fail_msg("%s: %s", text, b->fast_forward->refused);
        if (b->fast_forward->iterations < 3)
            fail_msg("%s%" PRIu64 " iterations were skipped", text, b->fast_forward->iterations);
        assert_true(b->fast_forward->error <= 0.005);
        assert_near(text, "end", (double)b->job[0].end_ps, (double)a->job[0].end_ps);
        assert_near(text, "packet-hops", (double)b->packet_hops, (double)a->packet_hops);
        assert_near(text, "cell-hops", (double)b->cell_hops, (double)a->cell_hops);
        assert_fabric_near(text, b, a);
        assert_same_bytes(b, a);
        assert_same_on_threads(&steady, text);
        run_free(&off);
        run_free(&steady);
    }
}

/// Two iterations that took as long are not taken for the rule where congestion was met: the last but one of these
/// takes 1.5 times as long. (An all-to-all of 4 MB, eight times, on an AI zone under DCQCN.)
static void minds_congestion(void **state) {
    (void)state;
    const char *text = "topology: {kind: ai_zone, racks: 4, gpus_per_rack: 8, uplinks: 8}\n"
                       "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}, aqm: {kind: wred, min: "
                       "100KB, max: 400KB}}\nhost: {cc: dcqcn}\nworkload: [{kind: job, ranks: 32, iterations: 8, "
                       "operations: [{compute: 100us, collective: all_to_all, size: 4MB}]}]\n";
    struct run off = run_mode(text, "off"), steady = run_mode(text, "steady");
    assert_near(text, "end", (double)steady.outcome->job[0].end_ps, (double)off.outcome->job[0].end_ps);
    run_free(&off);
    run_free(&steady);
}

static void refuses(void **state) {
    (void)state;
    const char *job = "workload:\n  - {kind: job, iterations: 6, operations: [{compute: 100us, collective: "
                      "all_to_all, size: 100KB}]}\n";
    const struct {
        const char *more, *run, *expected;
    } cases[] = {
        {ONE_SWITCH "host: {cc: dcqcn}\n", "exact", "cc dcqcn keeps a state"},
        {ONE_SWITCH "host: {out_of_order: accept}\n", "exact", "transport roce_rc keeps a state"},
        {CLOS "switch: {route: load_aware}\n", "exact", "route load_aware keeps a state"},
        {CLOS "events: [{at: 1ms, link: leaf-0/4, state: down}]\n", "steady", "events"},
        {ONE_SWITCH, "steady, sample_interval: 1us", "sample_interval"},
        {ONE_SWITCH "dcbx: {enabled: on}\n", "exact", "LLDP"},
        {DSF, "exact", "boxes of kind interface_node"},
        {DSF "control: {events: [{at: 1ms, do: drain, node: rdsw-0}]}\n", "steady", "control.events"},
        {CLIQUE "tin: {trace: 50}\n", "steady", "tin.trace"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_of("%s%s", cases[i].more, job);
        struct run r = run_mode(text, cases[i].run);
        const char *refused = r.outcome->fast_forward->refused;
        if (!refused || !strstr(refused, cases[i].expected))
            fail_msg("%s: refused is \"%s\"; expected %s", cases[i].more, refused ? refused : "", cases[i].expected);
        assert_int_equal(r.outcome->fast_forward->iterations, 0);
        run_free(&r);
        free(text);
    }
}

static void refuses_flows(void **state) {
    (void)state;
    const struct {
        const char *more, *run, *expected;
    } cases[] = {
        {ONE_SWITCH, "exact", "no job"},
        {ONE_SWITCH "host: {cc: hpcc}\n", "steady", "acknowledgements or credit"},
        {ONE_SWITCH "host: {cc: swift}\n", "steady", "acknowledgements or credit"},
        {DSF, "steady", "fabric of cells"},
        {ONE_SWITCH "host: {retransmission: selective}\n", "steady", "state of its own"},
        {CLOS "switch: {route: spray}\n", "steady", "route model"},
        {CLOS "switch: {aqm: codel}\n", "steady", "AQM that keeps a state"},
        {ONE_SWITCH, "steady, round_trips: on", "round_trips"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_of("%sworkload: [{kind: permutation, size: 1MiB}]\n", cases[i].more);
        struct run r = run_mode(text, cases[i].run);
        const char *refused = r.outcome->fast_forward->refused;
        if (!refused || !strstr(refused, cases[i].expected))
            fail_msg("%s: refused is \"%s\"; expected %s", cases[i].more, refused ? refused : "", cases[i].expected);
        run_free(&r);
        free(text);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(skips_what_repeats),
        cmocka_unit_test(skips_operations),
        cmocka_unit_test(minds_what_comes),
        cmocka_unit_test(changes_nothing),
        cmocka_unit_test(audits),
        cmocka_unit_test(stays_near),
        cmocka_unit_test(skips_steps),
        cmocka_unit_test(steps_keep_pace),
        cmocka_unit_test(flows_coast),
        cmocka_unit_test(flows_are_audited),
        cmocka_unit_test(crosses_fabrics),
        cmocka_unit_test(minds_congestion),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_flows),
    };
    struct CMUnitTest tests[sizeof all / sizeof *all];
    struct part part;
    size_t n = 0;
    if (!part_of(argc, argv, &part)) return 2;
    for (size_t i = part.first; i < sizeof all / sizeof *all; i += part.step)
        tests[n++] = all[i];
    return _cmocka_run_group_tests("fast_forward", tests, n, NULL, NULL);
}
