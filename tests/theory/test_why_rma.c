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
    f->rma = weft_why_rma_new(&f->run, &f->follow, NULL, f->arena);
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
/// read. What is left are the links and switches there and back: every hop was seen, and nothing was in the way.
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
        assert_int_equal(of_kind(&o[i], WEFT_WHY_MEMORY), 2 * 140000 + 700000);
        assert_int_equal(of_kind(&o[i], WEFT_WHY_WINDOW) + of_kind(&o[i], WEFT_WHY_PACE), 0);
        weft_time_ps way = of_kind(&o[i], WEFT_WHY_PROCESSING) - 2 * (500000 + 140000) +
                           of_kind(&o[i], WEFT_WHY_PROPAGATION) + of_kind(&o[i], WEFT_WHY_SERIALISATION);
        assert_int_equal(way + 5000000 + 1280000 + 980000, o[i].latency_ps);
        assert_true(of_kind(&o[i], WEFT_WHY_PROPAGATION) > 0);
        assert_string_equal(o[i].part[0].where, "host-0");
        followed_free(&f);
        return;
    }
    fail_msg("no operation was alone");
}

/// All that the results count is there, the longest is theirs, and every hop between boxes was seen.
static void assert_sums(const char *text, weft_time_ps seen[WEFT_WHYS]) {
    struct followed f;
    follow(&f, text);
    bool *port = weft_arena_alloc(f.arena, f.r.topology->ports, sizeof *port);
    for (uint32_t e = 0; e < f.run.workload->rmas; e++) {
        const struct weft_rma_outcome *rma = &f.outcome->rma[e];
        uint32_t n;
        struct weft_why_operation *o = weft_why_operations(f.rma, e, &n);
        assert_int_equal(n, rma->completed);
        assert_true(n > 0);
        assert_int_equal(o->latency_ps, rma->latency.max_ps);
        for (uint32_t i = 0; i < n; i += i < 50 ? 1 : 9) { // each looks through all that its ports have sent
            weft_time_ps sum = 0;
            weft_why_operation(f.rma, &o[i]);
            weft_why_operation_ports(f.rma, &o[i], port);
            if (of_kind(&o[i], WEFT_WHY_REQUEST) + of_kind(&o[i], WEFT_WHY_FABRIC))
                fail_msg("operation %u of group %u was not seen on its way in\n%s", i, e, text);
            for (uint32_t k = 0; k < o[i].parts; k++) {
                sum += o[i].part[k].time_ps;
                seen[o[i].part[k].kind] += o[i].part[k].time_ps;
            }
            if (sum != o[i].latency_ps)
                fail_msg("operation %u of %u: %lu of %lu\n%s", i, n, sum, o[i].latency_ps, text);
        }
    }
    uint32_t ports = 0;
    for (uint32_t p = 0; p < f.r.topology->ports; p++)
        ports += port[p];
    assert_true(ports > 0);
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
    static const enum weft_why_kind kinds[] = {WEFT_WHY_SOFTWARE,    WEFT_WHY_PACE,          WEFT_WHY_PROCESSING,
                                               WEFT_WHY_WINDOW,      WEFT_WHY_PROPAGATION,   WEFT_WHY_MEMORY,
                                               WEFT_WHY_ARBITRATION, WEFT_WHY_RETRANSMISSION};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!seen[kinds[k]]) fail_msg("no operation had any %s", weft_why_names[kinds[k]]);
}

/// Requests and answers of software are messages between NICs, over switches and over a Clique.
static void software(void **state) {
    static const char *const networks[] = {
        "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n",
        "topology: {kind: dsf_l1_zone, rdsws: 2, rails: 1, fdsws: 4, hosts_per_rdsw: 4}\n",
        CLIQUE,
    };
    static const char workload[] =
        "workload:\n"
        "- {kind: rma, group: reads, transport: software, rate: 60000, size: 16KB, duration: 100us}\n"
        "- {kind: rma, group: writes, transport: software, verb: write, rate: 40000, size: 4KB, duration: 100us}\n"
        "- {kind: rma, group: atoms, transport: software, verb: atomic, rate: 30000, duration: 100us}\n"
        "- {kind: rma, group: chained, transport: software, rate: 20000, reads: 3, size: 2KB, duration: 100us}\n"
        "- {kind: rma, group: few, transport: software, rate: 500000, under_way: 1, clients: host-0, servers: host-7, "
        "duration: 50us, processor: {submit: 1ns, complete: 1ns}}\n";
    weft_time_ps seen[WEFT_WHYS] = {0};
    for (uint32_t i = 0; i < sizeof networks / sizeof *networks; i++)
        for (uint32_t seed = 1; seed <= 2; seed++) {
            char *text = text_of("run: {seed: %u}\n%s%s", seed, networks[i], workload);
            assert_sums(text, seen);
            free(text);
        }
    static const enum weft_why_kind kinds[] = {WEFT_WHY_SOFTWARE, WEFT_WHY_WINDOW, WEFT_WHY_SERIALISATION,
                                               WEFT_WHY_PROPAGATION, WEFT_WHY_PROCESSING};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!seen[kinds[k]]) fail_msg("no operation had any %s", weft_why_names[kinds[k]]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_read),
        cmocka_unit_test(sums),
        cmocka_unit_test(software),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
