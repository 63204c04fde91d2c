// SPDX-License-Identifier: Apache-2.0
// Collectives as steps of a schedule: they take exactly the time that the workloads `collective` and `job` need for the
// same operations, groups work side by side, and members that do not agree are refused with their places.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/param.h"
#include "run.h"
#include "workload/job.h"

enum { RANKS = 8 };
#define NETWORK                                                                                                        \
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100Gbps, delay: 1us}\n"               \
    "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"

static struct weft_schedule_builder b;
static struct weft_arena *arena;

static int setup(void **state) {
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return 0;
}
static int teardown(void **state) {
    weft_arena_free(arena);
    return 0;
}

// --- making and running -------------------------------------------------------------------------------------------

static void begin(uint32_t ranks) {
    weft_schedule_begin(&b, "x.et", ranks, arena);
    b.schedule->entry = "node";
}

/// Members first, first + stride, ...
static uint32_t add_group(const char *name, uint32_t first, uint32_t stride, uint32_t ranks) {
    uint32_t rank[RANKS];
    for (uint32_t k = 0; k < ranks; k++)
        rank[k] = first + k * stride;
    return weft_schedule_add_group(&b, name, rank, ranks);
}

/// Adds a step that waits for the one before it; its number.
static uint32_t chain(struct weft_schedule_step step) {
    step.line = b.steps + 1;
    assert_true(weft_schedule_add(&b, &step));
    if (b.steps > 1) weft_schedule_add_edge(&b, b.steps - 2, b.steps - 1, false);
    return b.steps - 1;
}

static struct weft_schedule_step collective(enum weft_schedule_collective kind, uint32_t group, uint64_t bytes,
                                            uint32_t root) {
    return (struct weft_schedule_step){
        .kind = WEFT_SCHEDULE_COLLECTIVE, .collective = (uint8_t)kind, .peer = group, .size = bytes, .tag = root};
}
static struct weft_schedule_step compute(uint64_t ps) {
    return (struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE, .size = ps};
}

static struct weft_schedule *end(void) {
    return weft_schedule_end(&b);
}

/// The schedule in place of the workload of `text`, whose only entry says where its ranks are and how they are
/// connected.
static struct run run_schedule(const struct weft_schedule *s, const char *text, const char *const *models) {
    static const char *const usual[WEFT_SCHEDULE_COLLECTIVES] = {"all_reduce_ring", "all_gather", "reduce_scatter",
                                                                 "all_to_all",      "broadcast",  "gather",
                                                                 "reduce",          "scatter",    "all_reduce_tree"};
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%s\n%s", r.error.text, text);
    struct weft__schedule_models m;
    for (uint32_t k = 0; k < WEFT_SCHEDULE_COLLECTIVES; k++) {
        const char *name = (models ? models : usual)[k];
        struct weft_tree *tree = NULL;
        if (*name == '{' && weft_tree_parse("m", name, strlen(name), r.whole->arena, &tree, &r.error))
            fail_msg("%s", r.error.text);
        weft__model_load_at(WEFT_KIND_COLLECTIVE, name, tree, "x", &m.of[k], r.whole->arena, NULL);
    }
    const struct weft_model_conf *entry = &r.scenario->workload[0];
    struct weft__job_common common = *(const struct weft__job_common *)entry->conf; // its first member
    common.ranks = s->ranks;
    struct weft_workload *w = weft_arena_alloc(r.whole->arena, 1, sizeof *w);
    *w = (struct weft_workload){.topology = r.topology, .arena = r.whole->arena, .entries = 1};
    w->entry_flow = weft_arena_alloc(r.whole->arena, 2, sizeof *w->entry_flow);
    status = weft_schedule_check(s, &r.error);
    if (!status) status = weft__job_add_schedule(&common, entry, r.topology, s, &m, w, &r.error);
    r.status = status;
    r.workload = w;
    if (!status) r.outcome = run_again(&r, 1, text);
    return r;
}

static void assert_runs(struct run *r, const char *text) {
    if (r->status) fail_msg("%s", r->error.text);
    assert_int_equal(r->outcome->job->ranks_done, r->workload->job->ranks);
    run_assert_same(r, 2, text);
    run_assert_same(r, 8, text);
}

// --- times --------------------------------------------------------------------------------------------------------

/// Each kind of collective, among hosts and among servers of 4, with and without clear-to-send.
static void one_is_the_workload_collective(void **state) {
    static const struct {
        enum weft_schedule_collective kind;
        const char *name;
        uint32_t root;
    } kind[] = {
        {WEFT_SCHEDULE_ALL_REDUCE, "all_reduce_ring", 0},
        {WEFT_SCHEDULE_ALL_GATHER, "all_gather", 0},
        {WEFT_SCHEDULE_REDUCE_SCATTER, "reduce_scatter", 0},
        {WEFT_SCHEDULE_ALL_TO_ALL, "all_to_all", 0},
        {WEFT_SCHEDULE_BROADCAST, "broadcast", 3},
        {WEFT_SCHEDULE_GATHER, "gather", 2},
        {WEFT_SCHEDULE_REDUCE, "reduce", 4},
        {WEFT_SCHEDULE_SCATTER, "scatter", 1},
    };
    static const char *const more[] = {"", ", server: {gpus: 4}", ", admission: none, qps: 2"};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
            char *text = text_of(NETWORK "workload: [{kind: collective, collective: %s, size: 1000001B, root: %u%s}]\n",
                                 kind[i].name, kind[i].root, more[k]);
            struct run expected = run_once(text);
            begin(RANKS);
            uint32_t all = add_group("all", 0, 1, RANKS);
            for (uint32_t rank = 0; rank < RANKS; rank++) {
                chain(collective(kind[i].kind, all, 1000001, kind[i].root));
                weft_schedule_end_rank(&b, 0);
            }
            struct run r = run_schedule(end(), text, NULL);
            assert_runs(&r, text);
            assert_int_equal(r.outcome->job->end_ps, expected.outcome->job->end_ps);
            assert_int_equal(r.outcome->packet_hops, expected.outcome->packet_hops);
            run_free(&expected);
            run_free(&r);
            free(text);
        }
}

/// Tensor and data parallel groups, several operations of each size, and compute between them.
static void a_chain_is_the_workload_job(void **state) {
    static const char text[] =
        NETWORK "workload: [{kind: job, dimensions: 'tp:4, dp:2', operations: ["
                "{compute: 3us, size: 100KB, over: tp}, {compute: 5us, size: 300KB, over: tp, collective: all_gather},"
                "{size: 200KB, over: dp, collective: all_gather}, {compute: 2us, size: 100KB, over: tp},"
                "{size: 50KB}, {compute: 1us}]}]\n";
    struct run expected = run_once(text);
    begin(RANKS);
    uint32_t tp[2], dp[4];
    for (uint32_t k = 0; k < 4; k++)
        dp[k] = add_group("dp", k, 4, 2);
    for (uint32_t k = 0; k < 2; k++)
        tp[k] = add_group("tp", 4 * k, 1, 4);
    uint32_t all = add_group("all", 0, 1, RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        chain(compute(3000000));
        chain(collective(WEFT_SCHEDULE_ALL_REDUCE, tp[rank / 4], 100000, 0));
        chain(compute(5000000));
        chain(collective(WEFT_SCHEDULE_ALL_GATHER, tp[rank / 4], 300000, 0));
        chain(collective(WEFT_SCHEDULE_ALL_GATHER, dp[rank % 4], 200000, 0));
        chain(compute(2000000));
        chain(collective(WEFT_SCHEDULE_ALL_REDUCE, tp[rank / 4], 100000, 0));
        chain(collective(WEFT_SCHEDULE_ALL_REDUCE, all, 50000, 0));
        chain(compute(1000000));
        weft_schedule_end_rank(&b, 0);
    }
    const struct weft_schedule *s = end();
    assert_int_equal(s->collectives, 5 * RANKS);
    struct run r = run_schedule(s, text, NULL);
    assert_runs(&r, text);
    assert_int_equal(r.outcome->job->end_ps, expected.outcome->job->end_ps);
    assert_int_equal(r.workload->job->communicators, 4); // groups side by side share one
    assert_int_equal(r.workload->job->connections, 4 * RANKS);
    run_free(&expected);
    run_free(&r);
}

/// Number k of a group is its k-th member: the root of a broadcast is done when it is acknowledged, the last of the
/// chain latest.
static void members_are_numbered_in_their_order(void **state) {
    static const char text[] = NETWORK "workload: [{kind: collective, collective: broadcast}]\n";
    static const uint32_t rank[] = {5, 2, 7, 0};
    begin(RANKS);
    uint32_t group = weft_schedule_add_group(&b, "g", rank, 4);
    assert_int_equal(weft_schedule_number(&b.schedule->group[group], 7), 2);
    assert_int_equal(weft_schedule_number(&b.schedule->group[group], 0), 3);
    assert_int_equal(weft_schedule_number(&b.schedule->group[group], 1), WEFT_NONE);
    for (uint32_t k = 0; k < RANKS; k++) {
        if (k == 5 || k == 2 || k == 7 || k == 0) chain(collective(WEFT_SCHEDULE_BROADCAST, group, 40000000, 0));
        weft_schedule_end_rank(&b, 0);
    }
    struct run r = run_schedule(end(), text, NULL);
    assert_runs(&r, text);
    const weft_time_ps *rank_end = r.outcome->job->rank_end_ps;
    assert_int_equal(rank_end[1], 0);
    assert_true(rank_end[2] < rank_end[7] && rank_end[7] < rank_end[0]);
    run_free(&r);
}

/// A group performs one collective after another although nothing else requires it; two groups work in parallel, and in
/// parallel with sends. A late member delays only those that need it.
static void groups_are_in_turn_and_side_by_side(void **state) {
    static const char text[] = NETWORK "workload: [{kind: collective}]\n";
    weft_time_ps time[3];
    for (uint32_t which = 0; which < 3; which++) { // one collective; two of a group; two groups and sends
        begin(RANKS);
        uint32_t one = add_group("one", 0, 1, 4), other = add_group("other", 4, 1, 4);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct weft_schedule_step step = collective(WEFT_SCHEDULE_ALL_REDUCE, rank < 4 ? one : other, 1000000, 0);
            bool takes_part = rank < 4 || which == 2;
            if (takes_part) weft_schedule_add(&b, &step);
            if (takes_part && which == 1) weft_schedule_add(&b, &step);
            struct weft_schedule_step send = {.kind = WEFT_SCHEDULE_SEND, .peer = rank ^ 1, .tag = 7, .size = 8},
                                      recv = {.kind = WEFT_SCHEDULE_RECV, .peer = rank ^ 1, .tag = 7, .size = 8};
            if (which == 2) weft_schedule_add(&b, &send);
            if (which == 2) weft_schedule_add(&b, &recv);
            weft_schedule_end_rank(&b, 0);
        }
        struct weft_schedule *s = end();
        assert_int_equal(s->edges, which == 1 ? 4 : 0);
        struct run r = run_schedule(s, text, NULL);
        assert_runs(&r, text);
        time[which] = r.outcome->job->end_ps;
        run_free(&r);
    }
    assert_in_range(time[1], 19 * time[0] / 10, 21 * time[0] / 10);
    assert_in_range(time[2], time[0], 101 * time[0] / 100);
}

/// A barrier ends when the last rank has reached it; in a group of one rank, at once.
static void barriers(void **state) {
    static const char text[] = NETWORK "workload: [{kind: collective}]\n";
    begin(RANKS);
    uint32_t all = add_group("all", 0, 1, RANKS), alone = add_group("alone", 2, 1, 1);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        chain(compute(rank == 6 ? 90000000 : 1000));
        for (uint32_t k = 0; k < 50000 && rank == 2; k++) // it does not take a stack either
            chain(collective(k % 2 ? WEFT_SCHEDULE_ALL_REDUCE : WEFT_SCHEDULE_BARRIER, alone, k, 0));
        chain(collective(WEFT_SCHEDULE_BARRIER, all, 0, 0));
        weft_schedule_end_rank(&b, 0);
    }
    struct run r = run_schedule(end(), text, NULL);
    assert_runs(&r, text);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_in_range(r.outcome->job->rank_end_ps[rank], 90000000, 90000000 + 60000000);
    run_free(&r);
}

// --- what is refused ----------------------------------------------------------------------------------------------

static void assert_refused(const char *expected) {
    struct weft_error error = {0};
    assert_int_equal(weft_schedule_check(end(), &error), WEFT_ERROR_INPUT);
    if (strncmp(error.text, expected, strlen(expected))) fail_msg("%s\nexpected %s", error.text, expected);
}

/// Rank 1 does `own` where ranks 0 and 2 do an all-reduce of 8 bytes twice.
static void assert_mismatch(const struct weft_schedule_step *own, uint32_t steps, const char *expected) {
    begin(3);
    add_group("dp", 0, 1, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        for (uint32_t k = 0; k < (rank == 1 ? steps : 2); k++)
            chain(rank == 1 ? own[k] : collective(WEFT_SCHEDULE_ALL_REDUCE, 0, 8, 0));
        b.file = rank == 1 ? "x.1.et" : NULL;
        weft_schedule_end_rank(&b, 0);
    }
    assert_refused(expected);
}

static void members_must_agree(void **state) {
    const struct weft_schedule_step same = collective(WEFT_SCHEDULE_ALL_REDUCE, 0, 8, 0);
    assert_mismatch((struct weft_schedule_step[]){same, collective(WEFT_SCHEDULE_ALL_REDUCE, 0, 9, 0)}, 2,
                    "x.1.et: node 2: rank 1, all-reduce of 9 bytes in group dp: it is number 2 of that group, and for "
                    "rank 0 that is all-reduce of 8 bytes in group dp (x.et: node 2); expected the same");
    assert_mismatch((struct weft_schedule_step[]){collective(WEFT_SCHEDULE_BARRIER, 0, 8, 0), same}, 2,
                    "x.1.et: node 1: rank 1, barrier of 8 bytes in group dp: it is number 1 of that group");
    assert_mismatch((struct weft_schedule_step[]){same, same, same}, 3,
                    "x.1.et: node 3: rank 1, all-reduce of 8 bytes in group dp: it is number 3 of that group, and rank "
                    "0 has only 2");
    assert_mismatch(&same, 1,
                    "x.et: node 2: rank 0, all-reduce of 8 bytes in group dp: it is number 2 of that group, "
                    "and rank 1 has only 1");
    assert_mismatch(NULL, 0,
                    "x.et: node 1: rank 0, all-reduce of 8 bytes in group dp: it is number 1 of that group, "
                    "and rank 1 has only 0");
    assert_mismatch((struct weft_schedule_step[]){collective(WEFT_SCHEDULE_BROADCAST, 0, 8, 3)}, 1,
                    "x.1.et: node 1: rank 1, broadcast of 8 bytes in group dp: expected a root that is a member");
    assert_mismatch((struct weft_schedule_step[]){collective(WEFT_SCHEDULE_ALL_REDUCE, 0, UINT64_C(1000000000001), 0)},
                    1, "x.1.et: node 1: rank 1, all-reduce of 1000000000001 bytes in group dp: expected at most 10^12");
}

static void groups_are_checked(void **state) {
    static const struct {
        uint32_t rank[2], ranks;
        const char *expected;
    } bad[] = {
        {{0, 0}, 0, "x.et: group g has no members"},
        {{0, 2}, 2, "x.et: group g has rank 2; expected ranks below 2"},
        {{1, 1}, 2, "x.et: group g has rank 1 twice"},
        {{1}, 1, "x.et: node 1: rank 0, barrier of 0 bytes in group g: expected a group of which the rank is a member"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin(2);
        weft_schedule_add_group(&b, "g", bad[i].rank, bad[i].ranks);
        for (uint32_t rank = 0; rank < 2; rank++) {
            chain(collective(WEFT_SCHEDULE_BARRIER, 0, 0, 0));
            weft_schedule_end_rank(&b, 0);
        }
        assert_refused(bad[i].expected);
    }
}

/// The order of the steps is that of the group, and a dependency the other way round closes a circle.
static void an_order_that_contradicts_itself(void **state) {
    begin(1);
    uint32_t group = add_group("g", 0, 1, 1);
    struct weft_schedule_step step = collective(WEFT_SCHEDULE_BARRIER, group, 0, 0);
    step.line = 1;
    weft_schedule_add(&b, &step);
    weft_schedule_add(&b, &step);
    weft_schedule_add_edge(&b, 1, 0, false);
    weft_schedule_end_rank(&b, 0);
    assert_refused("x.et: node 1: rank 0, barrier of 0 bytes in group g: it waits for itself in a circle");
}

static void loggops_has_no_collectives(void **state) {
    struct weft_loggops model = {0};
    struct weft_loggops_result result;
    struct weft_error error = {0};
    begin(1);
    chain(collective(WEFT_SCHEDULE_BARRIER, add_group("g", 0, 1, 1), 0, 0));
    weft_schedule_end_rank(&b, 0);
    assert_int_equal(weft_loggops_run(end(), &model, arena, &result, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "1 steps are collectives"));
}

static void an_algorithm_of_another_collective(void **state) {
    static const char *const models[] = {"all_gather", "all_gather", "reduce_scatter", "all_to_all",     "broadcast",
                                         "gather",     "reduce",     "scatter",        "all_reduce_tree"};
    begin(2);
    add_group("g", 0, 1, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        weft_schedule_end_rank(&b, 0);
    struct run r = run_schedule(end(), NETWORK "workload: [{kind: collective}]\n", models);
    assert_int_equal(r.status, WEFT_ERROR_INPUT);
    assert_non_null(
        strstr(r.error.text, "'all_gather' does something else; expected an algorithm of the kind all-reduce"));
    run_free(&r);
}

/// An all-reduce from a file takes the time that it takes as a workload; what the file is for, and for how many,
/// counts.
static void an_algorithm_from_a_file(void **state) {
    const char *path = getenv("WEFT_ROOT");
    char *file = text_of("{kind: msccl, file: %s/examples/import/msccl.xml}", path);
    const char *models[] = {file,     "all_gather", "reduce_scatter", "all_to_all", "broadcast",
                            "gather", "reduce",     "scatter",        file};
    char *text =
        text_of(NETWORK "workload: [{kind: collective, hosts: host-0..3, collective: %s, size: 1000001B}]\n", file);
    struct run expected = run_once(text);
    begin(4);
    uint32_t all = add_group("all", 0, 1, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        chain(collective(WEFT_SCHEDULE_ALL_REDUCE, all, 1000001, 0));
        weft_schedule_end_rank(&b, 0);
    }
    struct run r = run_schedule(end(), text, models);
    assert_runs(&r, text);
    assert_int_equal(r.outcome->job->end_ps, expected.outcome->job->end_ps);
    run_free(&expected);
    run_free(&r);
    models[1] = file;
    begin(4);
    all = add_group("all", 0, 1, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        chain(collective(WEFT_SCHEDULE_ALL_GATHER, all, 1000001, 0));
        weft_schedule_end_rank(&b, 0);
    }
    r = run_schedule(end(), text, models);
    assert_non_null(strstr(r.error.text, "'msccl' does something else; expected an algorithm of the kind all-gather"));
    run_free(&r);
    free(text);
    free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_is_the_workload_collective, setup, teardown),
        cmocka_unit_test_setup_teardown(a_chain_is_the_workload_job, setup, teardown),
        cmocka_unit_test_setup_teardown(members_are_numbered_in_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_are_in_turn_and_side_by_side, setup, teardown),
        cmocka_unit_test_setup_teardown(barriers, setup, teardown),
        cmocka_unit_test_setup_teardown(members_must_agree, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(an_order_that_contradicts_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(loggops_has_no_collectives, setup, teardown),
        cmocka_unit_test_setup_teardown(an_algorithm_of_another_collective, setup, teardown),
        cmocka_unit_test_setup_teardown(an_algorithm_from_a_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
