// SPDX-License-Identifier: Apache-2.0
// Where operations of 1RMA went: one that is known, and sums over all operations of loaded Cliques.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/rma.h"
#include "weft/why.h"

#define CLIQUE "topology: {kind: dragonfly, pods: 4, tins: 3}\n"

struct followed {
    struct run r;
    struct weft_follow follow;
    struct weft_outcome *outcome;
    struct weft_run run;
    struct weft_arena *arena;
    struct weft_why_rma *rma;
};

/// It stays where it is: what tells points into it.
static void follow(struct followed *f, const char *text) {
    *f = (struct followed){.r = run_once(text), .follow = {.rma = true}};
    f->outcome = run_with(&f->r, &(struct weft_sim_options){.threads = 1, .follow = &f->follow}, text);
    assert_int_equal(f->outcome->digest, f->r.outcome->digest); // following changes nothing
    f->run = (struct weft_run){
        .scenario = f->r.scenario, .topology = f->r.topology, .workload = f->r.workload, .outcome = f->outcome};
    f->arena = weft_arena_new(WEFT_MEMORY_RESULT);
    f->rma = weft_why_rma_new(&f->run, &f->follow, f->arena);
}

static void followed_free(struct followed *f) {
    weft_arena_free(f->arena);
    weft_follow_free(&f->follow);
    weft_outcome_free(f->outcome);
    run_free(&f->r);
}

static weft_time_ps of_kind(const struct weft_why_operation *o, enum weft_why_kind kind) {
    weft_time_ps time = 0;
    for (uint32_t i = 0; i < o->parts; i++)
        if (o->part[i].kind == kind) time += o->part[i].time_ps;
    return time;
}

/// Of an operation in an empty network each part is known: software submits for 3 us and completes for 2 us; commands
/// take 500 ns and 140 ns of the engine, its answer 140 ns and 500 ns; memory takes the engine there and back, and the
/// read.
static void one_read(void **state) {
    static const char text[] = CLIQUE
        "tin: {rma: {command: 500ns, engine: 140ns, read: 700ns, complete: 500ns}}\n"
        "workload: [{kind: rma, group: a, transport: 1rma, clients: host-0, servers: host-20, rate: 10000, size: "
        "64B, duration: 300us, processor: {submit: 3us, complete: 2us, sleep_after: never}}]\n";
    struct followed f;
    follow(&f, text);
    uint32_t n;
    struct weft_why_operation *o = weft_why_operations(f.rma, 0, &n);
    assert_true(n > 0);
    for (uint32_t i = 0; i < n; i++) {
        weft_why_operation(f.rma, &o[i]);
        if (of_kind(&o[i], WEFT_WHY_SOFTWARE) != 5000000) continue; // another one was before it
        assert_int_equal(of_kind(&o[i], WEFT_WHY_PROCESSING), 2 * (500000 + 140000));
        assert_int_equal(of_kind(&o[i], WEFT_WHY_MEMORY), 2 * 140000 + 700000);
        assert_int_equal(of_kind(&o[i], WEFT_WHY_WINDOW) + of_kind(&o[i], WEFT_WHY_PACE), 0);
        weft_time_ps way = of_kind(&o[i], WEFT_WHY_REQUEST) + of_kind(&o[i], WEFT_WHY_FABRIC);
        assert_int_equal(way + 5000000 + 1280000 + 980000, o[i].latency_ps);
        assert_string_equal(o[i].part[0].where, "host-0");
        followed_free(&f);
        return;
    }
    fail_msg("no operation was alone");
}

/// All that the results count is there, and the longest is theirs.
static void assert_sums(const char *text, weft_time_ps seen[WEFT_WHYS]) {
    struct followed f;
    follow(&f, text);
    for (uint32_t e = 0; e < f.run.workload->rmas; e++) {
        const struct weft_rma_outcome *rma = &f.outcome->rma[e];
        uint32_t n;
        struct weft_why_operation *o = weft_why_operations(f.rma, e, &n);
        assert_int_equal(n, f.run.workload->rma[e].conf->verb == WEFT_RMA_SEND ? 0 : rma->completed);
        if (n) assert_int_equal(o->latency_ps, rma->latency.max_ps);
        for (uint32_t i = 0; i < n; i++) {
            weft_time_ps sum = 0;
            weft_why_operation(f.rma, &o[i]);
            for (uint32_t k = 0; k < o[i].parts; k++) {
                sum += o[i].part[k].time_ps;
                seen[o[i].part[k].kind] += o[i].part[k].time_ps;
            }
            if (sum != o[i].latency_ps)
                fail_msg("operation %u of %u: %lu of %lu\n%s", i, n, sum, o[i].latency_ps, text);
        }
    }
    followed_free(&f);
}

#define GROUP(name, more) "- {kind: rma, group: " name ", transport: 1rma, duration: 60us, " more "}\n"

static void sums(void **state) {
    static const char *const networks[] = {
        CLIQUE,
        CLIQUE "tin: {rma: {window: 8KB}}\n",
        CLIQUE "tin: {rma: {window: 8KB, dispatch_timeout: 3us, timeout: 4us}}\n",
    };
    static const char workload[] = "workload:\n" GROUP("reads", "rate: 800000, size: 4KB, processor: {submit: 100ns, "
                                                                "complete: 100ns}")
        GROUP("writes", "verb: write, rate: 300000, size: 4KB") GROUP("atoms", "verb: atomic, rate: 200000")
            GROUP("chained", "rate: 50000, reads: 3, size: 2KB") GROUP("sends", "verb: send, rate: 100000");
    weft_time_ps seen[WEFT_WHYS] = {0};
    for (uint32_t i = 0; i < sizeof networks / sizeof *networks; i++)
        for (uint32_t seed = 1; seed <= 3; seed++) {
            char *text = text_of("run: {seed: %u}\n%s%s", seed, networks[i], workload);
            assert_sums(text, seen);
            free(text);
        }
    static const enum weft_why_kind kinds[] = {WEFT_WHY_SOFTWARE, WEFT_WHY_PACE,          WEFT_WHY_PROCESSING,
                                               WEFT_WHY_WINDOW,   WEFT_WHY_REQUEST,       WEFT_WHY_MEMORY,
                                               WEFT_WHY_FABRIC,   WEFT_WHY_RETRANSMISSION};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!seen[kinds[k]]) fail_msg("no operation had any %s", weft_why_names[kinds[k]]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_read),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
