// SPDX-License-Identifier: Apache-2.0
// Sampled packets (run.sample) beside whole runs of the same jobs, over several networks, forms of jobs, and draws: the
// estimate is near, its interval covers the truth, and few operations run. With everything in the sample nothing is
// estimated. What cannot be sampled is refused, at its place.
//
// The bars are those of the sampled method's published counterpart for layers (mean error at most 1.5%), and of a 95%
// interval that may miss by the seed of these few cases (90%).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

#define CLOS "topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 4, rate: 400Gbps}\n"
#define DSF "topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 4, rails: 1}\n"
/// Layers of two skewed exchanges and an even one, with a sum over all replicas at the end of an iteration.
#define LAYER(skew)                                                                                                    \
    "  - {compute: 20us, collective: {kind: all_to_all_v, skew: " #skew "}, size: 128KB, over: ep, times: 2}\n"        \
    "  - {compute: 10us, collective: all_to_all, size: 64KB, over: ep}\n"
#define LAYERS LAYER(2) LAYER(5) LAYER(1.3) LAYER(9) LAYER(3) LAYER(1.7) LAYER(4) LAYER(2.5)
#define MOE                                                                                                            \
    "workload:\n- kind: job\n  group: moe\n  iterations: 4\n  dimensions: [dp:2, ep:8]\n  operations:\n" LAYERS LAYERS \
        LAYERS "  - {collective: all_reduce_ring, size: 256KB, over: dp}\n"
/// Iterations too short to be sampled one by one.
#define EXCHANGES                                                                                                      \
    "workload:\n- kind: job\n  group: moe\n  iterations: 100\n  operations:\n"                                         \
    "  - {compute: 20us, collective: all_to_all, size: 64KB}\n"
/// Ranks of a pipeline do different things at a time, so whole iterations are drawn.
#define PIPELINE                                                                                                       \
    "workload:\n- kind: job\n  group: moe\n  iterations: 40\n  dimensions: [dp:4, pp:4]\n  operations:\n"              \
    "  - pipeline: {over: pp, microbatches: 2, size: 64KB, forward: [{compute: 10us}], backward: [{compute: 20us}]}\n" \
    "  - {collective: all_reduce_ring, size: 128KB, over: dp}\n"

/// A hundred exchanges, in one iteration, among all hosts: ranks wander between states that last for dozens of them.
#define WANDER(hosts, seed)                                                                                            \
    "base: roce-ecmp\nfabric: {hosts: " #hosts ", rate: 400Gbps, spines_min: 8}\nworkload:\n- kind: job\n"             \
    "  server: {gpus: 8}\n  operations:\n"                                                                             \
    "  - {compute: 5us, collective: {kind: all_to_all_v, skew: 5}, size: 300KB, times: 100}\n"                         \
    "run: {events: 0, seed: " #seed "}\n"
/// A line of sixteen equal operations, and one of one.
#define LINES                                                                                                          \
    "workload:\n- kind: job\n  group: moe\n  iterations: 6\n  dimensions: [dp:2, ep:8]\n  operations:\n"               \
    "  - {compute: 20us, collective: {kind: all_to_all_v, skew: 3}, size: 256KB, over: ep, times: 16}\n"               \
    "  - {compute: 10us, collective: all_gather, size: 256KB, over: dp}\n"

/// Groups of eight ranks next to one another are each in two leaves of their own; ranks of groups of sixteen that are
/// four apart are one in each leaf, and share the links between switches.
#define LEAVES "topology: {kind: leaf_spine, leaves: 16, spines: 4, hosts_per_leaf: 4, rate: 400Gbps}\n"
#define LEAVES_DSF "topology: {kind: dsf_l1_zone, rdsws: 16, fdsws: 4, hosts_per_rdsw: 4, rails: 1}\n"
#define REPLICAS(dimensions, end)                                                                                      \
    "workload:\n- kind: job\n  group: moe\n  iterations: 2\n  dimensions: [" dimensions                                \
    "]\n  operations:\n" LAYERS LAYERS end
#define SUM "  - {collective: all_reduce_ring, size: 256KB, over: dp}\n"

static const struct network {
    const char *name, *text;
} networks[] = {
    {"ECMP", CLOS},
    {"E-ECMP", CLOS "host: {source_port: numbered}\nswitch: {route: e_ecmp}\n"},
    {"spray", CLOS "switch: {route: spray}\nhost: {transport: {kind: roce_rc, out_of_order: accept}}\n"},
    {"DSF", DSF},
};

static struct run run_sampled(const char *network, const char *job, const char *sample) {
    char text[8192];
    snprintf(text, sizeof text, "hardware: ideal\n%s%srun: {events: 0%s%s%s}\n", network, job,
             sample ? ", sample: {" : "", sample ? sample : "", sample ? "}" : "");
    return run_once(text);
}

struct tally {
    uint32_t cases, covered;
    double error;
};

static double length_of(const struct weft_outcome *o) {
    return (double)o->job[0].end_ps;
}

/// Draws of one network and job beside its whole run.
static void compare_draws(const struct network *n, const char *job, double saving, struct tally *tally) {
    enum { DRAWS = 3 };
    struct run whole = run_sampled(n->text, job, NULL);
    for (uint32_t seed = 1; seed <= DRAWS; seed++) {
        char sample[64];
        snprintf(sample, sizeof sample, "operations: 8, seed: %" PRIu32, seed);
        struct run part = run_sampled(n->text, job, sample);
        const struct weft_job_outcome *o = &part.outcome->job[0];
        double error = fabs(length_of(part.outcome) / length_of(whole.outcome) - 1);
        tally->cases++;
        tally->covered += error * length_of(whole.outcome) <= o->end_half_ps;
        tally->error += error;
        if (error > 0.015) fprintf(stderr, "%s: off by %.2f%%\n", n->name, 100 * error);
        assert_true(error < 0.05);
        assert_true(o->end_half_ps < 0.1 * length_of(part.outcome));
        assert_true((double)part.outcome->events * saving < (double)whole.outcome->events);
        run_free(&part);
    }
    run_free(&whole);
}

static void test_near_and_covered(void **state) {
    struct tally tally = {0};
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        compare_draws(&networks[i], MOE, 2, &tally);
        compare_draws(&networks[i], EXCHANGES, 5, &tally);
    }
    assert_true(tally.error / tally.cases < 0.015);
    assert_true(tally.covered * 10 >= tally.cases * 9);
}

/// Also where the sample is of one stretch of a process that has others.
static void test_wandering_covered(void **state) {
    static const char *const jobs[] = {WANDER(32, 1), WANDER(32, 2), WANDER(32, 3), WANDER(32, 4),
                                       WANDER(64, 1), WANDER(64, 2), WANDER(64, 3), WANDER(64, 4)};
    uint32_t cases = 0, covered = 0;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct run whole = run_once(jobs[i]);
        for (uint32_t operations = 8; operations <= 16; operations *= 2, cases++) {
            char text[1024];
            snprintf(text, sizeof text, "%.*s, sample: {operations: %" PRIu32 "}}\n", (int)(strlen(jobs[i]) - 2),
                     jobs[i], operations);
            struct run part = run_once(text);
            covered += fabs(length_of(part.outcome) - length_of(whole.outcome)) <= part.outcome->job[0].end_half_ps;
            assert_true(part.outcome->job[0].end_half_ps < 0.05 * length_of(part.outcome));
            run_free(&part);
        }
        run_free(&whole);
    }
    if (covered * 10 < cases * 9) fail_msg("%" PRIu32 " of %" PRIu32 " covered", covered, cases);
}

/// A part of the groups says what all of them take.
static void test_groups(void **state) {
    static const struct network nets[] = {
        {"ECMP", LEAVES},
        {"spray", LEAVES "switch: {route: spray}\nhost: {transport: {kind: roce_rc, out_of_order: accept}}\n"},
        {"DSF", LEAVES_DSF},
    };
    static const char *const jobs[] = {REPLICAS("ep:8, dp:8", SUM), REPLICAS("ep:8, dp:8", "")};
    uint32_t cases = 0, covered = 0;
    double errors = 0;
    for (size_t n = 0; n < sizeof nets / sizeof *nets; n++)
        for (size_t k = 0; k < 2; k++) {
            struct run whole = run_sampled(nets[n].text, jobs[k], NULL);
            for (uint32_t seed = 1; seed <= 2; seed++, cases++) {
                char sample[64];
                snprintf(sample, sizeof sample, "operations: 12, groups: 4, seed: %" PRIu32, seed);
                struct run part = run_sampled(nets[n].text, jobs[k], sample);
                const struct weft_job_outcome *o = &part.outcome->job[0];
                assert_int_equal(o->sample_groups, 8);
                assert_int_equal(o->sample_groups_ran, 4);
                double error = fabs(length_of(part.outcome) / length_of(whole.outcome) - 1);
                fprintf(stderr, "%s, job %zu: off by %+.2f%%, half %.2f%%, %.1f times fewer events\n", nets[n].name, k,
                        100 * (length_of(part.outcome) / length_of(whole.outcome) - 1),
                        100 * o->end_half_ps / length_of(part.outcome),
                        (double)whole.outcome->events / (double)part.outcome->events);
                assert_true(error < 0.05);
                assert_true(part.outcome->events * 2 < whole.outcome->events); // half of the groups, and not all layers
                covered += error * length_of(whole.outcome) <= o->end_half_ps;
                errors += error;
                run_free(&part);
            }
            run_free(&whole);
        }
    assert_true(errors / cases < 0.015);
    if (covered * 10 < cases * 9) fail_msg("%" PRIu32 " of %" PRIu32 " covered", covered, cases);
}

/// Packets of one group could take links of another: all ranks run, and the result says that they are one group.
static void test_groups_that_share(void **state) {
    struct run all = run_sampled(LEAVES, REPLICAS("dp:4, ep:16", ""), "operations: 8"),
               part = run_sampled(LEAVES, REPLICAS("dp:4, ep:16", ""), "operations: 8, groups: 2");
    assert_int_equal(part.outcome->job[0].sample_groups, 1);
    assert_int_equal(part.outcome->digest, all.outcome->digest);
    run_free(&all);
    run_free(&part);
}

/// The half of a line is that of the mean of all of its operations, first ones and later ones.
static void test_half_of_a_line(void **state) {
    for (unsigned k = 0; k < 2; k++) {
        struct run r = k ? run_once("run: {events: 0, sample: {operations: 8}}\n" CLOS EXCHANGES)
                         : run_sampled(CLOS, LINES, "operations: 16");
        const struct weft_job_outcome *o = &r.outcome->job[0];
        assert_true(o->sample[0].first && !o->sample[1].first && o->sample[0].op == o->sample[1].op);
        double all[2] = {(double)o->sample[0].instances, (double)o->sample[1].instances};
        double half = hypot(o->sample[0].half_ps * all[0], o->sample[1].half_ps * all[1]) / (all[0] + all[1]);
        assert_true(half > 0 && fabs(o->op_half_ps[0] / half - 1) < 1e-6);
        run_free(&r);
    }
}

/// Two are the least from which an interval comes.
static void test_two_of_each(void **state) {
    static const char *const jobs[] = {MOE, LINES, EXCHANGES};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct run r = run_sampled(CLOS, jobs[i], "operations: 2");
        const struct weft_job_outcome *o = &r.outcome->job[0];
        for (uint32_t k = 0; k < o->sample_classes; k++)
            assert_true(o->sample[k].sampled >= 2 && (o->sample[k].half_ps > 0 || o->sample[k].first));
        run_free(&r);
    }
}

/// The seed decides which operations run.
static void test_seed_draws(void **state) {
    struct run one = run_sampled(CLOS, MOE, "operations: 8, seed: 1"),
               other = run_sampled(CLOS, MOE, "operations: 8, seed: 2");
    assert_true(one.outcome->digest != other.outcome->digest);
    assert_true(one.outcome->job[0].end_ps != other.outcome->job[0].end_ps);
    run_free(&one);
    run_free(&other);
}

/// Rows say what ran; operations and iterations that did not have times all the same, which add up.
static void test_rows_add_up(void **state) {
    struct run r = run_sampled(CLOS, MOE, "operations: 8");
    const struct weft_job_outcome *o = &r.outcome->job[0];
    const struct weft_job *job = &r.workload->job[0];
    uint64_t instances = 0, sampled = 0;
    double time = 0;
    for (uint32_t k = 0; k < o->sample_classes; k++) {
        const struct weft_sample_class *c = &o->sample[k];
        assert_true(c->sampled >= 2 && c->sampled <= c->instances);
        assert_true(c->ratio > 0.9 && c->half_ps >= 0);
        instances += c->instances;
        sampled += c->sampled;
        time += c->time_ps * (double)c->instances;
    }
    assert_int_equal(instances, (uint64_t)job->iterations * job->ops);
    assert_true(sampled * 2 < instances);
    assert_true(fabs(time / length_of(r.outcome) - 1) < 1e-6);
    weft_time_ps before = 0;
    for (uint32_t i = 0; i < job->iterations * job->ops; i++) {
        assert_true(o->op[i].end_ps != WEFT_TIME_NEVER && o->op[i].end_ps >= o->op[i].start_ps);
        assert_true(o->op[i].end_ps >= before);
        before = o->op[i].end_ps;
    }
    assert_int_equal(o->iteration_end_ps[job->iterations - 1], o->end_ps);
    struct weft_outcome *again = run_again(&r, 2, "two threads");
    assert_int_equal(again->digest, r.outcome->digest);
    assert_int_equal(again->job[0].end_ps, o->end_ps);
    assert_true(fabs(again->job[0].end_half_ps - o->end_half_ps) <= 0);
    weft_outcome_free(again);
    run_free(&r);
}

/// Where all is in the sample, the run is that without one.
static void test_all_sampled(void **state) {
    struct run whole = run_sampled(CLOS, MOE, NULL), all = run_sampled(CLOS, MOE, "operations: 100000");
    assert_int_equal(all.outcome->digest, whole.outcome->digest);
    assert_int_equal(all.outcome->job[0].end_ps, whole.outcome->job[0].end_ps);
    assert_true(all.outcome->job[0].end_half_ps <= 0);
    run_free(&whole);
    run_free(&all);
}

static void test_whole_iterations(void **state) {
    struct run whole = run_sampled(CLOS, PIPELINE, NULL),
               part = run_sampled(CLOS, PIPELINE, "operations: 4, warm_up: 2");
    const struct weft_job_outcome *o = &part.outcome->job[0];
    assert_int_equal(o->sample_classes, 2);
    assert_int_equal(o->sample[0].op, WEFT_NONE);
    assert_int_equal(o->sample[0].sampled + o->sample[1].sampled, 6);
    assert_true(fabs(length_of(part.outcome) - length_of(whole.outcome)) <= o->end_half_ps);
    run_free(&whole);
    run_free(&part);
}

/// It goes on until the interval is as narrow as asked, or everything has run.
static void test_until_interval(void **state) {
    struct run once = run_sampled(networks[1].text, MOE, "operations: 4"),
               more = run_sampled(networks[1].text, MOE, "operations: 4, until_interval: 0.1%");
    assert_true(once.outcome->job[0].end_half_ps > 0.001 * length_of(once.outcome));
    assert_true(more.outcome->job[0].end_half_ps <= 0.001 * length_of(more.outcome));
    assert_true(more.outcome->events > once.outcome->events);
    run_free(&once);
    run_free(&more);
}

static void assert_refused(const char *text, const char *line_and_why) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (!status)
        status = weft_simulate(r.scenario, r.topology, r.workload, &(struct weft_sim_options){.threads = 1}, &r.outcome,
                               &r.error);
    assert_int_equal(status, WEFT_ERROR_INPUT);
    if (!strstr(r.error.text, line_and_why)) fail_msg("%s\nexpected: %s", r.error.text, line_and_why);
    run_free(&r);
}

#define REFUSED(job, run, why) assert_refused("run: {" run "}\nhardware: ideal\n" CLOS job, why)

static void test_refusals(void **state) {
    REFUSED(EXCHANGES, "sample: {operations: 1}", "one has no spread");
    REFUSED(EXCHANGES, "sample: {seed: 3}", "operations");
    REFUSED(EXCHANGES, "sample: {operations: 8, groups: 1}", "one has no spread");
    REFUSED(EXCHANGES, "sample: {groups: 8}", "operations");
    REFUSED("workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n", "sample: {operations: 8}",
            "t.yaml:1:7: run.sample: there is no job");
    REFUSED(EXCHANGES "- {kind: flow, src: host-0, dst: host-1, size: 1MB}\n", "sample: {operations: 8}",
            "t.yaml:1:7: run.sample: there are flows beside the job");
    REFUSED(EXCHANGES, "sample: {operations: 8}, until: 1ms", "run.until");
    REFUSED(EXCHANGES, "sample: {operations: 8}, fast_forward: exact", "run.fast_forward");
    REFUSED("workload:\n- {kind: job, group: a, hosts: host-0..3, operations: [{compute: 1us, collective: all_to_all, "
            "size: 1KB}]}\n- {kind: job, group: b, hosts: host-4..7, operations: [{compute: 1us, collective: "
            "all_to_all, size: 1KB}]}\n",
            "sample: {operations: 8}", "several jobs");
    REFUSED("workload: [{kind: job, operations: [{compute: 1us}]}]\n", "sample: {operations: 8}", "no collective");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_and_covered),
        cmocka_unit_test(test_rows_add_up),
        cmocka_unit_test(test_wandering_covered),
        cmocka_unit_test(test_half_of_a_line),
        cmocka_unit_test(test_two_of_each),
        cmocka_unit_test(test_seed_draws),
        cmocka_unit_test(test_all_sampled),
        cmocka_unit_test(test_whole_iterations),
        cmocka_unit_test(test_until_interval),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_groups_that_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
