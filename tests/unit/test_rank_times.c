// SPDX-License-Identifier: Apache-2.0
// What ranks did over time: stretches that leave nothing out, and that give the exposed communication of the results.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "query.h"
#include "run.h"
#include "weft/report.h"

#define LEAVES "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
#define JOB(more) "workload: [{kind: job, group: a, iterations: 2, " more "}]\n"

static const struct weft_rank_span *spans_of(const struct weft_job_outcome *o, uint32_t rank, uint32_t *ret_n) {
    const struct weft_rank_span *first = NULL;
    *ret_n = 0;
    for (uint64_t i = 0; i < o->spans; i++)
        if (o->span[i].rank == rank) {
            if (!first) first = &o->span[i];
            ++*ret_n;
        }
    return first;
}

/// One begins where the other ends; the last rank is done when the job is.
static void assert_whole(const struct run *r, const struct weft_job_outcome *o, const char *text) {
    weft_time_ps last = 0;
    for (uint32_t rank = 0; rank < o->ranks; rank++) {
        uint32_t n;
        const struct weft_rank_span *s = spans_of(o, rank, &n);
        weft_time_ps at = r->workload->job->start_ps;
        for (uint32_t i = 0; i < n; i++) {
            if (s[i].from_ps != at || s[i].to_ps <= at) fail_msg("rank %u, stretch %u\n%s", rank, i, text);
            at = s[i].to_ps;
        }
        if (at > last) last = at;
    }
    assert_int_equal(last, o->end_ps);
}

static void assert_exposed(const struct weft_job_outcome *o) {
    for (uint32_t k = 0; k < o->iterations; k++) {
        weft_time_ps waited = 0;
        for (uint64_t i = 0; i < o->spans; i++)
            if (o->span[i].iteration == k && !o->span[i].computes) waited += o->span[i].to_ps - o->span[i].from_ps;
        assert_int_equal(waited / o->ranks, o->iteration_exposed_ps[k]);
    }
}

static void jobs(void **state) {
    static const char *const texts[] = {
        LEAVES JOB("operations: [{compute: 5us, collective: all_reduce_ring, size: 1MB}]"),
        LEAVES JOB("operations: [{collective: {kind: all_reduce_ring, channels: 4}, size: 1MB, overlap: on}, {compute: "
                   "60us}], channel_cost: 5%"),
        LEAVES JOB(
            "start: 7us, operations: [{compute: 5us, collective: all_to_all, size: 1MB, times: 3}], slow_rank: 1"),
        LEAVES JOB("dimensions: [dp:2, pp:4], operations: [{pipeline: {over: pp, microbatches: 6, size: 65500B, "
                   "forward: [{compute: 10us}], backward: [{compute: 20us, collective: all_reduce_ring, size: 50KB, "
                   "over: dp}]}}]"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct run r = run_once(texts[i]);
        assert_int_equal(r.outcome->job->spans, 0); // it was not recorded
        struct weft_outcome *one = run_recorded(&r, 1, texts[i]), *three = run_recorded(&r, 3, texts[i]);
        assert_true(one->job->spans > 2 * one->job->ranks);
        assert_whole(&r, one->job, texts[i]);
        assert_exposed(one->job);
        assert_int_equal(one->job->spans, three->job->spans);
        for (uint64_t k = 0; k < one->job->spans; k++) {
            const struct weft_rank_span *a = &one->job->span[k], *b = &three->job->span[k];
            assert_true(a->from_ps == b->from_ps && a->to_ps == b->to_ps && a->rank == b->rank && a->op == b->op &&
                        a->iteration == b->iteration && a->computes == b->computes);
        }
        weft_outcome_free(one);
        weft_outcome_free(three);
        run_free(&r);
    }
}

static char folder[] = "/tmp/weft-rank-times-XXXXXX";

/// Rank 0 computes 5 us and sends; rank 1 waits, then computes on two processors at once, of which one takes 4 us.
static void schedule(void **state) {
    char path[64], text[256], command[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.goal", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(
        "num_ranks 2\nrank 0 {\na: calc 5000\nb: send 1000b to 1\nb requires a\n}\nrank 1 {\nc: recv 1000b from 0\nd: "
        "calc 1000 cpu 0\ne: calc 4000 cpu 1\nd requires c\ne requires c\n}\n",
        file);
    fclose(file);
    snprintf(text, sizeof text, "topology: {kind: single, hosts: 2}\nworkload: [{kind: goal, file: %s}]\n", path);
    struct run r = run_once(text);
    struct weft_outcome *o = run_recorded(&r, 1, text);
    assert_whole(&r, o->job, text);
    uint32_t n;
    const struct weft_rank_span *s = spans_of(o->job, 0, &n);
    assert_true(s[0].computes && s[0].from_ps == 0 && s[0].to_ps == 5000000);
    s = spans_of(o->job, 1, &n);
    assert_int_equal(n, 2);
    assert_true(!s[0].computes && s[0].to_ps > 5000000);
    assert_true(s[1].computes && s[1].to_ps == s[0].to_ps + 4000000 && s[1].to_ps == o->job->rank_end_ps[1]);
    struct weft_error error = {0};
    const struct weft_run run = {.scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = o};
    assert_int_equal(weft_report_sqlite(folder, &run, 1, &error), WEFT_OK);
    expect_rows(folder, "SELECT rank, does, what, host, operation FROM rank_times WHERE rank = 1",
                "1|wait||host-1|NULL\n1|compute|compute|host-1|2");
    weft_outcome_free(o);
    run_free(&r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/// What a rank does when time is over has no end. No more than run.events of a rank are kept, and the rest is counted.
static void cut_off(void **state) {
    static const char text[] = "topology: {kind: single, hosts: 2}\nrun: {until: 25us, events: 3}\n"
                               "workload: [{kind: job, group: a, iterations: 9, slow_rank: 1, slow_factor: 100, "
                               "operations: [{compute: 5us, collective: send_recv, size: 100B}]}]\n";
    struct run r = run_once(text);
    struct weft_outcome *o = run_recorded(&r, 1, text);
    uint32_t n;
    const struct weft_rank_span *s = spans_of(o->job, 1, &n);
    assert_int_equal(n, 1);
    assert_true(s->computes && s->from_ps == 0 && s->to_ps == WEFT_TIME_NEVER);
    weft_outcome_free(o);
    run_free(&r);
    static const char many[] = "topology: {kind: single, hosts: 2}\nrun: {events: 3}\n"
                               "workload: [{kind: job, group: a, iterations: 9, "
                               "operations: [{compute: 5us, collective: all_reduce_ring, size: 100KB}]}]\n";
    r = run_once(many);
    o = run_recorded(&r, 1, many);
    assert_int_equal(o->job->spans, 6);
    assert_int_equal(o->job->unrecorded, 2 * (18 - 3));
    weft_outcome_free(o);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs),
        cmocka_unit_test(schedule),
        cmocka_unit_test(cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
