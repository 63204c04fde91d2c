// SPDX-License-Identifier: Apache-2.0
// Where an iteration of a job went: paths that are known, and sums over jobs of all kinds and all boxes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "why.h"

#define STAR "topology: {kind: single, hosts: 8, rate: 200Gbps, delay: 150ns}\n"
#define LEAVES "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
#define JOB(more) "workload: [{kind: job, group: a, iterations: 2, " more "}]\n"

/// Nothing but compute: one step, at the straggler.
static void computes(void **state) {
    const char *text = STAR JOB("slow_rank: 5, slow_factor: 3, operations: [{compute: 20us}]");
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    for (uint32_t i = 0; i < 2; i++) {
        struct weft_why_iteration why;
        assert_int_equal(why_assert_iteration(e, 0, i, &why, text), 1);
        assert_int_equal(why.step->what, WEFT_WHY_STEP_COMPUTE);
        assert_int_equal(why.step->rank, 5);
        assert_string_equal(why.step->host, "host-5");
        assert_int_equal(why.time_ps, 60000000);
        assert_int_equal(why.step->part->kind, WEFT_WHY_COMPUTE);
    }
    explained_free(e);
    run_free(&r);
}

/// Rank 0 of two computes, then sends: its compute, which begins the path, and its message, which ends it. A clear-to-
/// send is there before, as rank 1 computes a third of the time.
static void one_message(void **state) {
    const char *text = STAR JOB("hosts: host-0..1, slow_rank: 0, slow_factor: 3, operations: [{compute: 20us, "
                                "collective: send_recv, size: 100B}]");
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why_iteration why;
    assert_int_equal(why_assert_iteration(e, 0, 0, &why, text), 2);
    assert_int_equal(why.step[0].what, WEFT_WHY_STEP_COMPUTE);
    assert_int_equal(why.step[0].rank, 0);
    assert_int_equal(why.step[0].to_ps, 60000000);
    assert_string_equal(why.step[0].op, "send_recv");
    const struct weft_why_step *m = &why.step[1];
    assert_int_equal(m->what, WEFT_WHY_STEP_MESSAGE);
    assert_int_equal(m->rank, 0);
    assert_int_equal(m->peer, 1);
    assert_int_equal(m->message, 0);
    assert_int_equal(r.workload->flow[m->flow].dst, 1);
    weft_time_ps of[WEFT_WHYS] = {0};
    for (uint32_t k = 0; k < m->parts; k++)
        of[m->part[k].kind] += m->part[k].time_ps;
    assert_int_equal(of[WEFT_WHY_PROPAGATION], 2 * 150000);
    assert_int_equal(of[WEFT_WHY_SERIALISATION], 2 * (100 + 62 + 16 + 8) * 40); // a RETH, and the preamble
    assert_int_equal(of[WEFT_WHY_QUEUEING] + of[WEFT_WHY_PAUSE] + of[WEFT_WHY_WINDOW] + of[WEFT_WHY_PACE], 0);
    explained_free(e);
    run_free(&r);
}

/// A message of the job waits behind a flow outside the job, and the flow is named.
static void behind_a_flow(void **state) {
    const char *text = STAR "switch: {buffer: {kind: static, size: 8MB, xoff: 3MB, xon: 2MB}}\n"
                            "workload: [{kind: flow, group: bulk, src: host-2, dst: host-1, size: 2MB}, {kind: job, "
                            "group: a, hosts: host-0..1, iterations: 1, operations: [{compute: 10us, collective: "
                            "send_recv, size: 1MB}]}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why_iteration why;
    weft_time_ps behind = 0;
    why_assert_iteration(e, 0, 0, &why, text);
    for (uint32_t i = 0; i < why.steps; i++)
        for (uint32_t k = 0; k < why.step[i].parts; k++)
            if (!strncmp(why.step[i].part[k].because_of, "flow 0 (bulk)", 13)) behind += why.step[i].part[k].time_ps;
    assert_true(behind * 10 > why.time_ps);
    explained_free(e);
    run_free(&r);
}

static void sums(void **state) {
    static const char *const texts[] = {
        LEAVES JOB("operations: [{compute: 5us, collective: all_reduce_ring, size: 1MB}]"),
        LEAVES JOB("operations: [{compute: 5us, collective: all_reduce_tree, size: 700001B}]"),
        LEAVES JOB("operations: [{collective: {kind: all_reduce_ring, channels: 4}, size: 1MB, overlap: on}, {compute: "
                   "60us}], channel_cost: 5%"),
        LEAVES JOB("operations: [{compute: 5us, collective: all_to_all, size: 1MB, times: 3}]"),
        LEAVES JOB("operations: [{collective: {kind: all_to_all_v, skew: 2}, size: 800KB}], qps: 4"),
        LEAVES JOB("admission: none, operations: [{compute: 5us, collective: reduce_scatter, size: 1MB}, {collective: "
                   "all_gather, size: 1MB}]"),
        LEAVES JOB("server: {gpus: 4}, operations: [{compute: 5us, collective: all_reduce_hierarchical, size: 1MB}]"),
        LEAVES JOB("server: {gpus: 2}, dimensions: [tp:2, dp:4], operations: [{compute: 3us, collective: "
                   "all_reduce_ring, size: 100KB, over: tp, times: 4}, {collective: all_reduce_tree, size: 1MB, over: "
                   "dp, overlap: on}]"),
        LEAVES JOB("dimensions: [dp:2, pp:4], operations: [{pipeline: {over: pp, microbatches: 6, size: 65500B, "
                   "forward: [{compute: 10us}], backward: [{compute: 20us, collective: all_reduce_ring, size: 50KB, "
                   "over: dp}]}}]"),
        "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n" JOB(
            "operations: [{compute: 5us, collective: all_to_all, size: 500KB}]"),
        "topology: {kind: dragonfly, pods: 4, tins: 3}\nhost: {out_of_order: accept}\n" JOB(
            "operations: [{compute: 5us, collective: all_reduce_ring, size: 300KB}]"),
        "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, bit_error_rate: 1e-8}\nhost: {timeout: "
        "50us, cc: dcqcn}\nswitch: {aqm: {kind: wred, min: 20KB, max: 80KB, max_probability: 50%}}\n" JOB(
            "operations: [{compute: 5us, collective: all_to_all, size: 1MB}]"),
    };
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct run r = run_once(texts[i]);
        assert_true(why_assert_iterations(&r, texts[i]) >= 4);
        run_free(&r);
    }
}

/// A program in GOAL: rank 1 computes when it has the message of rank 0, and answers.
static void goal(void **state) {
    static const char program[] = "num_ranks 2\n"
                                  "rank 0 {\nl1: calc 3000\nl2: send 10000b to 1 tag 1\nl3: recv 20000b from 1 tag 2\n"
                                  "l2 requires l1\nl3 requires l2\n}\n"
                                  "rank 1 {\nl1: recv 10000b from 0 tag 1\nl2: calc 5000\nl3: send 20000b to 0 tag "
                                  "2\nl2 requires l1\nl3 requires l2\n}\n";
    static const enum weft_why_step_what path[] = {WEFT_WHY_STEP_COMPUTE, WEFT_WHY_STEP_MESSAGE, WEFT_WHY_STEP_COMPUTE,
                                                   WEFT_WHY_STEP_MESSAGE};
    static const uint32_t rank[] = {0, 0, 1, 1};
    char name[] = "/tmp/weft-why-XXXXXX", text[256];
    int fd = mkstemp(name);
    assert_true(fd >= 0 && write(fd, program, sizeof program - 1) == sizeof program - 1);
    close(fd);
    snprintf(text, sizeof text, STAR "workload: [{kind: goal, file: %s}]\n", name);
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why_iteration why;
    uint32_t steps = why_assert_iteration(e, 0, 0, &why, text);
    assert_true(steps >= 4); // then the acknowledgement of the last message, which its sender waits for
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(why.step[i].what, path[i]);
        assert_int_equal(why.step[i].rank, rank[i]);
    }
    assert_int_equal(why.step[0].to_ps - why.step[0].from_ps, 3000000);
    assert_int_equal(why.step[2].to_ps - why.step[2].from_ps, 5000000);
    assert_string_equal(why.step[2].op, "compute, line 11");
    explained_free(e);
    run_free(&r);
    unlink(name);
}

static void what_cannot_be_told(void **state) {
    const char *text = STAR "run: {until: 30us}\n" JOB("operations: [{compute: 20us}]");
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why_iteration why;
    struct weft_error error = {0};
    assert_int_equal(weft_why_iteration(e->whys, 0, 1, &why, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text, "job a, iteration 1: did not end");
    error = (struct weft_error){0};
    assert_int_equal(weft_why_iteration(e->whys, 0, 2, &why, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text, "job a: no iteration 2, expected a number below 2");
    explained_free(e);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes), cmocka_unit_test(one_message), cmocka_unit_test(behind_a_flow),
        cmocka_unit_test(sums),     cmocka_unit_test(goal),        cmocka_unit_test(what_cannot_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
