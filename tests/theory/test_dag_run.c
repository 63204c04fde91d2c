// SPDX-License-Identifier: Apache-2.0
// The DAG that a workload is compiled to against what the simulator does with the same workload, and against closed
// forms of how long its compute takes.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "run.h"
#include "weft/dag.h"

static const char network[] = "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 400Gbps}\n"
                              "workload:\n%s";

struct sums {
    const struct weft_dag *dag;
    weft_bytes *flow;        ///< sent, by flow
    weft_bytes server_bytes; ///< within servers
    uint64_t *messages;      ///< over the network, by job
};

static void add_up(void *context, const struct weft_dag_cursor *at, const struct weft_dag_step *step) {
    struct sums *s = context;
    uint32_t job = weft_dag_rank_at(s->dag, at->rank).job;
    for (uint32_t k = 0; k < step->sends; k++) {
        struct weft_dag_connection c = weft_dag_connection_at(s->dag, step->send[k]);
        if (c.flow == WEFT_NONE) {
            s->server_bytes += step->bytes;
        } else {
            s->flow[c.flow] += step->bytes;
            if (job != WEFT_NONE) s->messages[job]++;
        }
    }
}

/// Each flow carries what the steps send on it, each job as many messages, and servers the rest: jobs of several
/// dimensions, of stages, with operations beside each other and channels of several sizes, and flows besides.
static void the_simulator_does_the_steps(void **state) {
    static const char *const workload[] = {
        "  - {kind: permutation, size: 30KB, repeat: 3, interval: 2us}\n"
        "  - {kind: incast, sources: host-1..5, dst: host-0, size: 50KB, start: 3us, verb: read}\n"
        "  - {kind: all_to_all, size: 1KB, qps: 4}\n",
        "  - {kind: collective, collective: {kind: all_reduce_tree, channels: 4}, size: 40KB, size_max: 4MB, factor: "
        "10, "
        "repeat: 2, server: {gpus: 4}}\n"
        "  - {kind: incast, sources: host-1..5, dst: host-0, size: 50KB}\n",
        "  - kind: job\n"
        "    server: {gpus: 2}\n"
        "    dimensions: [tp:2, pp:4, dp:2]\n"
        "    iterations: 3\n"
        "    operations:\n"
        "      - pipeline: {over: pp, microbatches: 5, size: 30KB, forward: [{compute: 3us, size: 9KB, over: tp}],\n"
        "                   backward: [{compute: 5us, size: 9KB, over: tp, times: 2}]}\n"
        "      - {collective: reduce_scatter, size: 100KB, over: dp, overlap: on, times: 3}\n"
        "      - {collective: all_to_all_v, size: 300KB, over: pp}\n"
        "      - {collective: broadcast, size: 300KB, over: dp, overlap: on}\n"
        "      - {compute: 4us}\n",
        "  - {kind: job, hosts: host-0..7, operations: [{collective: gather, size: 300KB, times: 2}]}\n"
        "  - {kind: job, group: second, hosts: host-8..15, admission: none, operations: [{size: 1MB}, {compute: 2us, "
        "size: 7B}]}\n",
    };
    for (size_t i = 0; i < sizeof workload / sizeof *workload; i++) {
        struct run r = RUN(run_once, network, workload[i]);
        run_assert_complete(&r);
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_dag dag = weft_dag_of(r.workload, arena);
        struct sums s = {.dag = &dag};
        s.flow = weft_arena_alloc(arena, r.workload->flows, sizeof *s.flow);
        s.messages = weft_arena_alloc(arena, r.workload->jobs, sizeof *s.messages);
        struct weft_dag_result d =
            weft_dag_execute(&dag, &(struct weft_dag_options){.seed = i, .on_step = add_up, .context = &s});
        assert_int_equal(d.stuck, 0);
        for (uint32_t f = 0; f < r.outcome->flows; f++)
            assert_int_equal(s.flow[f], r.outcome->flow[f].delivered_bytes);
        for (uint32_t j = 0; j < r.workload->jobs; j++)
            assert_int_equal(s.messages[j], r.outcome->job[j].sender_wait.messages);
        assert_int_equal(s.server_bytes, r.outcome->server_sent_bytes);
        assert_true(d.end_ps <= r.outcome->sim_time_ps); // messages take time
        weft_arena_free(arena);
        run_free(&r);
    }
}

/// In microseconds, of the DAG; and what the simulator takes, whose messages are of a byte, is not much more.
static void assert_path(const char *what, double expected) {
    char *workload = text_of("  - {kind: job, hosts: host-0..7, %s}\n", what);
    struct run r = RUN(run_once, network, workload);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_dag dag = weft_dag_of(r.workload, arena);
    struct weft_dag_result d = weft_dag_execute(&dag, &(struct weft_dag_options){0});
    assert_int_equal(d.stuck, 0);
    if (fabs((double)d.end_ps / 1e6 - expected) > 1e-6)
        fail_msg("%s: %g us, expected %g us", what, (double)d.end_ps / 1e6, expected);
    const struct weft_job *job = &r.workload->job[0];
    double run_us = (double)r.outcome->job[0].iteration_end_ps[job->iterations - 1] / 1e6;
    assert_true(run_us >= expected && run_us < 1.02 * expected);
    weft_arena_free(arena);
    free(workload);
    run_free(&r);
}

/// A pipeline of p stages and m microbatches takes (m + p - 1) (t_f + t_b); what overlaps is hidden; a straggler holds
/// up all that wait for it; a step of a collective takes its time at each rank that passes a piece on.
static void compute_is_the_longest_path(void **state) {
    assert_path("start: 7ms, operations: [{compute: 2ms, size: 1B}, {compute: 1ms, times: 3}]", 7000 + 2000 + 3000);
    assert_path("iterations: 4, slow_rank: 5, slow_factor: 3, operations: [{compute: 2ms, size: 8B}]", 4 * 6000);
    assert_path("dimensions: [pp:8], operations: [{pipeline: {over: pp, microbatches: 3, size: 1B, forward: [{compute: "
                "1ms}], backward: [{compute: 2ms}]}}]",
                (3 + 8 - 1) * 3000);
    assert_path("dimensions: [pp:4, dp:2], operations: [{pipeline: {over: pp, microbatches: 9, size: 1B, forward: "
                "[{compute: 2ms}], backward: [{compute: 2ms, times: 2}]}}]",
                (9 + 4 - 1) * 6000);
    // Up and down a tree of depth 3; the next one begins at a rank when it has come down there, not beside it.
    assert_path("operations: [{collective: {kind: all_reduce_tree, trees: single, channels: 1, step_delay: 1ms}, size: "
                "1B, times: 2, overlap: on}]",
                2 * (2 * 3 + 1) * 1000);
    // Of one byte round a ring a piece goes n - 1 hops to the sum and n - 1 on; who has the sum did a step before each.
    assert_path(
        "operations: [{collective: {kind: all_reduce_ring, channels: 1, step_delay: 1ms}, size: 1B, overlap: on}, "
        "{compute: 3ms}]",
        (2 * 8 - 1) * 1000);
    assert_path("operations: [{collective: {kind: broadcast, channels: 1, step_delay: 1ms}, size: 1B}, {compute: 3ms}]",
                8 * 1000 + 3000);
}

/// Without a slot nothing is ever sent, and the report says what waits for what.
static void what_waits_for_ever_is_named(void **state) {
    struct run r =
        RUN(run_once, network, "  - {kind: collective, hosts: host-0..3, collective: send_recv, size: 1B}\n");
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_dag dag = weft_dag_of(r.workload, arena);
    assert_int_equal(dag.connections, 3);
    assert_int_equal(weft_dag_execute(&dag, &(struct weft_dag_options){0}).stuck, 0);
    r.workload->job[0].connection[1].slots = 0; // from rank 1 to rank 2
    struct weft_dag_result d = weft_dag_execute(&dag, &(struct weft_dag_options){0});
    assert_int_equal(d.stuck, 2 + 2); // of each rank the lane, and its sequence of operations
    assert_int_equal(d.messages, 2);
    assert_int_equal(d.rank, 1);
    assert_int_equal(d.want, WEFT_DAG_WANTS_ROOM);
    assert_int_equal(weft_dag_connection_at(&dag, d.what).dst, 2);
    weft_arena_free(arena);
    run_free(&r);
}

static const struct weft_flow_outcome *find_flow(const struct run *r, uint32_t src, uint32_t dst) {
    for (uint32_t f = 0; f < r->outcome->flows; f++)
        if (r->workload->flow[f].src == src && r->workload->flow[f].dst == dst) return &r->outcome->flow[f];
    fail_msg("no flow from %u to %u", src, dst);
    return NULL;
}

/// A plain flow has no program: its queue pair does the one step by itself. A job of the same steps, each a message
/// that nobody has to admit, has programs; every flow ends at the same picosecond.
static void a_queue_pair_does_what_a_program_would(void **state) {
    static const struct {
        const char *flows, *job;
    } same[] = {
        {"kind: permutation, mode: shift, size: 300001B", "size: 300001B, collective: {kind: send_recv, ring: on"},
        {"kind: incast, sources: \"*\", dst: host-0, size: 100KB",
         "size: 1600KB, collective: {kind: gather, channels: 15"},
        {"kind: all_to_all, size: 100KB", "size: 1600KB, collective: {kind: all_to_all, channels: 15"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char *flows = text_of("  - {start: 3us, %s}\n", same[i].flows);
        char *job =
            text_of("  - {kind: collective, start: 3us, admission: none, %s, chunk: 1MB, slice: 1MB}}\n", same[i].job);
        struct run a = RUN(run_once, network, flows), b = RUN(run_once, network, job);
        run_assert_complete(&a);
        run_assert_complete(&b);
        assert_int_equal(a.workload->jobs, 0);
        assert_int_equal(b.workload->jobs, 1);
        assert_int_equal(a.outcome->flows, b.outcome->flows);
        assert_int_equal(a.outcome->packet_hops, b.outcome->packet_hops);
        for (uint32_t f = 0; f < a.outcome->flows; f++) {
            const struct weft_flow *flow = &a.workload->flow[f];
            assert_int_equal(a.outcome->flow[f].end_ps, find_flow(&b, flow->src, flow->dst)->end_ps);
        }
        free(flows);
        free(job);
        run_free(&a);
        run_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simulator_does_the_steps),
        cmocka_unit_test(a_queue_pair_does_what_a_program_would),
        cmocka_unit_test(compute_is_the_longest_path),
        cmocka_unit_test(what_waits_for_ever_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
