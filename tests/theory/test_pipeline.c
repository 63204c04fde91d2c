// SPDX-License-Identifier: Apache-2.0
// Pipelines, one forward, one backward. Source: Narayanan et al., SC 2021, section 2.2.1: with m microbatches, p stages
// and passes of t_f and t_b an iteration takes (m + p - 1) (t_f + t_b), of which the bubble is the part
// (p - 1) / (m + p - 1); a stage holds at most as many microbatches as there are stages from it to the end.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "form.h"
#include "run.h"
#include "weft/report.h"
#include "workload/pipeline.h"

enum { STAGES_MAX = 9, MICROBATCHES_MAX = 20, CHUNKS_MAX = 3 };

/// Every pass comes once. A chunk's passes are in order each way, and its backward pass comes after its forward pass.
static void assert_order(const struct weft__pipeline *p, uint32_t stage) {
    struct weft__pass pass[2 * MICROBATCHES_MAX * CHUNKS_MAX];
    uint32_t done[2][CHUNKS_MAX] = {0}, all[2] = {0}, held_max = 0, m = p->microbatches;
    weft__pipeline_order(p, stage, pass);
    for (uint32_t i = 0; i < 2 * m * p->chunks; i++) {
        uint32_t *count = &done[pass[i].backward][pass[i].chunk];
        assert_true(pass[i].chunk < p->chunks);
        assert_int_equal(pass[i].microbatch, *count);
        ++*count;
        all[pass[i].backward]++;
        assert_true(done[1][pass[i].chunk] <= done[0][pass[i].chunk]);
        if (all[0] - all[1] > held_max) held_max = all[0] - all[1];
    }
    assert_int_equal(all[0], m * p->chunks);
    assert_int_equal(all[1], m * p->chunks);
    if (p->chunks == 1) assert_int_equal(held_max, p->stages - stage < m ? p->stages - stage : m);
}

static double pass_of(const void *context, uint32_t stage, uint32_t chunk, bool backward) {
    return backward ? 2 : 1;
}

/// Of passes of 1 and 2: (m v + p - 1) (1 + 2), if m is a multiple of p or there is one chunk (section 2.2.2); never
/// less, and the schedule ends for every m.
static void assert_time(const struct weft__pipeline *p) {
    const struct weft__pipeline_times times = {.pass = pass_of, .overlap = true};
    double time = weft__pipeline_time(p, &times), least = 3. * (p->microbatches * p->chunks + p->stages - 1);
    if (p->chunks == 1 || p->microbatches % p->stages == 0)
        assert_true(fabs(time - least) < 1e-6);
    else
        assert_true(time > least - 1e-6);
}

static void order_of_passes(void **state) {
    for (uint32_t p = 1; p <= STAGES_MAX; p++)
        for (uint32_t m = 1; m <= MICROBATCHES_MAX; m++)
            for (uint32_t v = 1; v <= (p > 1 ? CHUNKS_MAX : 1); v++) {
                const struct weft__pipeline pipeline = {.stages = p, .microbatches = m, .chunks = v};
                for (uint32_t s = 0; s < p; s++)
                    assert_order(&pipeline, s);
                assert_time(&pipeline);
            }
}

/// Parameters of a chunk before its first forward pass, gradients after its last backward pass: hidden but for the
/// first and the last, where passes take longer; or before and after all of them.
static void gathering_and_reducing(void **state) {
    const struct weft__pipeline p = {.stages = 4, .microbatches = 8, .chunks = 2};
    struct weft__pipeline_times times = {.pass = pass_of, .gather = 0.5, .reduce = 0.75, .overlap = true};
    double alone = 3. * (8 * 2 + 3);
    assert_true(fabs(weft__pipeline_time(&p, &times) - alone - 0.5 - 0.75) < 1e-6);
    times.overlap = false;
    assert_true(fabs(weft__pipeline_time(&p, &times) - alone - 2 * 0.5 - 2 * 0.75) < 1e-6);
}

static struct weft_job_stats stats_of(const struct run *r) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    return weft_report_job(&run, 0);
}

/// A rank whose iteration is over does not wait: of the last iteration the stages' idle time after their last backward
/// pass, (p - 1) / 2 of these on average, is not counted.
static void time_and_bubble(void **state) {
    static const struct {
        uint32_t p, m, forward_ms, backward_ms, iterations;
    } form[] = {{1, 4, 1, 2, 2}, {2, 1, 1, 2, 2}, {2, 8, 2, 2, 2}, {4, 4, 1, 2, 2}, {4, 12, 1, 2, 2},
                {8, 8, 1, 1, 2}, {8, 3, 1, 3, 2}, {8, 3, 1, 2, 1}, {8, 3, 1, 2, 3}};
    for (unsigned i = 0; i < sizeof form / sizeof *form; i++) {
        uint32_t p = form[i].p, m = form[i].m, both = form[i].forward_ms + form[i].backward_ms;
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: %u, rate: 400Gbps, delay: 200ns}\n"
                           "workload: [{kind: job, dimensions: [pp:%u, dp:2], iterations: %u, operations: [{pipeline: "
                           "{microbatches: %u, size: 4KB, forward: [{compute: %ums}], backward: [{compute: %ums}]}}]}]",
                           2 * p, p, form[i].iterations, m, form[i].forward_ms, form[i].backward_ms);
        run_assert_complete(&r);
        double ideal = (double)(m + p - 1) * both * 1e9;
        form_assert("Iteration of a pipeline and its bubble (Narayanan et al. 2021)", stats_of(&r).iteration_ps, ideal,
                    0.01);
        double bubble = (p - 1.0) * both * 1e9;
        double unseen = (p - 1) / 2.0 * form[i].backward_ms * 1e9 / form[i].iterations;
        form_assert("Iteration of a pipeline and its bubble (Narayanan et al. 2021)", ideal + stats_of(&r).exposed_ps,
                    ideal + bubble - unseen, 0.01);
        run_free(&r);
    }
}

/// With tensor parallelism in servers, activations larger than a connection's buffer and an all-reduce at the end:
/// everything arrives, and what each stage sends is m times the size, each way.
static void large_activations_and_groups(void **state) {
    struct run r = RUN(run_once,
                       "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 400Gbps}\n"
                       "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}}\n"
                       "workload: [{kind: job, server: {gpus: 2}, dimensions: [tp:2, pp:4, dp:2], operations: ["
                       "{pipeline: {microbatches: %u, size: 3MB, "
                       "forward: [{compute: 50us, size: 256KB, over: tp, times: 2}], "
                       "backward: [{compute: 100us, size: 256KB, over: tp, times: 2}]}}, {size: 1MB, over: dp}]}]",
                       6u);
    run_assert_complete(&r);
    run_assert_same(&r, 2, "pipeline");
    run_assert_same(&r, 3, "pipeline");
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(r.outcome->job[0].ranks_done, 16);
    assert_int_equal(run_drops(&r), 0);
    weft_bytes hops[2] = {0};
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        if (strcmp(job->op[job->communicator[c->communicator].op].name, "send_recv")) continue;
        assert_int_equal(c->bytes, 6 * 3000000);
        assert_true(c->dst == c->src + 2 || c->src == c->dst + 2); // the next stage, or the one before
        hops[c->dst < c->src] += c->bytes;
    }
    assert_int_equal(hops[0], 4 * 3 * 6 * 3000000); // 4 pipelines of 3 hops
    assert_int_equal(hops[1], hops[0]);
    double passes = 6 + 3; // what it takes at least
    assert_true(stats_of(&r).iteration_ps > passes * 2 * 150e6);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_passes),
        cmocka_unit_test(gathering_and_reducing),
        cmocka_unit_test(time_and_bubble),
        cmocka_unit_test(large_activations_and_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
