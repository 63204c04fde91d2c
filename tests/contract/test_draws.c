// SPDX-License-Identifier: Apache-2.0
// A run for which weft_simulation_draws says no gives the same with every seed: over the registry, so that a new model
// that draws must say so. It never says no for a run where seeds differ.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "samples.h"
#include "weft/model.h"

/// With seeds 1 to 4; how many different digests.
static uint32_t digests(const char *form, const char *network, const char *workload, const char *sw, bool *ret_draws) {
    uint64_t digest[4];
    uint32_t different = 0;
    for (uint32_t seed = 0; seed < 4; seed++) {
        char text[1024];
        snprintf(text, sizeof text, form, network, workload, sw, seed + 1);
        struct run r = run_once(text);
        digest[seed] = r.outcome->digest;
        *ret_draws = weft_simulation_draws(r.scenario, r.topology);
        run_free(&r);
        uint32_t k = 0;
        while (k < seed && digest[k] != digest[seed])
            k++;
        different += k == seed;
    }
    return different;
}

static const char form[] = "topology: {%s}\nworkload: [{%s}]\nswitch: {%s}\nrun: {seed: %u}\n";
static const char ends[] = "topology: {%s}\nworkload: [{%s}]\nswitch: {%s}\nrun: {seed: %u, until: 1ms}\n";
static const char single[] = "kind: single, hosts: 6, rate: 100Gbps",
                  spines[] = "kind: leaf_spine, leaves: 2, spines: 3, hosts_per_leaf: 3",
                  lossy[] = "kind: single, hosts: 6, rate: 100Gbps, bit_error_rate: 1e-6";
static const char *const workloads[] = {
    "kind: flow, src: host-0, dst: host-4, size: 200KB",
    "kind: incast, sources: host-1..4, dst: host-0, size: 200KB",
    "kind: all_to_all, hosts: host-0..5, size: 20KB",
    "kind: permutation, hosts: host-0..5, size: 200KB",
    "kind: poisson, hosts: host-0..5, load: 30%, duration: 20us, size: 20KB",
    "kind: periodic, src: host-0..2, dst: host-3..5, size: 20KB, to: random, jitter: 20us",
    "kind: collective, size: 1MB",
    "kind: deepep, tokens: 8, experts: 24",
    "kind: inference, model: {kind: own, layers: 2, hidden: 64}, arrivals: {requests: 20, rate: 100000}",
    "kind: rma, group: g, clients: host-0..1, servers: host-2..5, rate: 1000000, duration: 20us",
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void no_is_certain(const char *text, const char *network, const char *workload, const char *sw, uint32_t *yes,
                          uint32_t *no) {
    bool draws;
    uint32_t different = digests(text, network, workload, sw, &draws);
    if (!draws && different > 1) fail_msg("%s, %s, %s: %u digests with 4 seeds", network, workload, sw, different);
    *(draws ? yes : no) += 1;
}

static void every_workload(void **state) {
    (void)state;
    uint32_t yes = 0, no = 0;
    for (uint32_t i = 0; i < WORKLOADS; i++) {
        no_is_certain(form, single, workloads[i], "", &yes, &no);
        no_is_certain(form, spines, workloads[i], "", &yes, &no);
    }
    assert_int_equal(no, 4); // flow, incast, all_to_all and collective through one switch
}

/// Which all have a sample above.
static void every_registered_workload(void **state) {
    (void)state;
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_WORKLOAD); i++) {
        const char *name = weft_model_at(WEFT_KIND_WORKLOAD, i)->name;
        bool found = !strcmp(name, "job"); // like a collective, which it is made of
        for (uint32_t w = 0; w < WORKLOADS; w++)
            found |= !strncmp(workloads[w] + strlen("kind: "), name, strcspn(workloads[w] + strlen("kind: "), ","));
        char file[512], workload[1024];
        const char *sample = sample_of(weft_model_at(WEFT_KIND_WORKLOAD, i), file, sizeof file);
        if (sample) {
            uint32_t yes = 0, no = 0;
            snprintf(workload, sizeof workload, "kind: %s, %s", name, sample);
            bool endless =
                !weft_param_find(weft_model_at(WEFT_KIND_WORKLOAD, i)->params, "size"); // frames of real hosts
            no_is_certain(endless ? ends : form, "kind: single, hosts: 16, rate: 100Gbps", workload, "", &yes, &no);
            assert_int_equal(no, 1); // a file says it all
        } else if (!found) {
            fail_msg("no sample of workload %s", name);
        }
    }
}

static void every_model_of_a_switch(void **state) {
    (void)state;
    static const struct {
        enum weft_model_kind kind;
        const char *key;
    } kinds[] = {{WEFT_KIND_AQM, "aqm"},
                 {WEFT_KIND_ROUTE, "route"},
                 {WEFT_KIND_BUFFER, "buffer"},
                 {WEFT_KIND_QUEUEING, "queueing"},
                 {WEFT_KIND_ARBITER, "queueing: voq, arbiter"},
                 {WEFT_KIND_SCHEDULER, "scheduler"}};
    uint32_t yes = 0, no = 0;
    for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t i = 0; i < weft_model_count(kinds[k].kind); i++) {
            char sw[128];
            snprintf(sw, sizeof sw, "%s: %s", kinds[k].key, weft_model_at(kinds[k].kind, i)->name);
            no_is_certain(form, single, workloads[1], sw, &yes, &no);
        }
    assert_int_equal(yes, 2); // wred, trim
    assert_true(no > 10);
}

static void settings_of_a_workload_that_draw(void **state) {
    (void)state;
    static const char *const drawn[] = {
        "kind: flow, src: 'host-0,host-1,host-2', dst: host-4, draw: 2, size: 200KB",
        "kind: flow, src: 'host-0,host-1', dst: host-4, jitter: 1us, size: 200KB",
        "kind: incast, sources: host-1..4, dst: host-0, size: 200KB, jitter: 1us",
        "kind: all_to_all, hosts: host-0..5, size: 20KB, jitter: 1us",
    };
    for (uint32_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        bool draws;
        assert_true(digests(form, single, drawn[i], "", &draws) > 1);
        assert_true(draws);
    }
}

static void bit_errors_are_drawn(void **state) {
    (void)state;
    bool draws;
    assert_true(digests(form, lossy, workloads[1], "", &draws) > 1);
    assert_true(draws);
}

static void settings_of_a_host_that_draw(void **state) {
    (void)state;
    static const char *const drawn[] = {
        "drain_rate: 90Gbps, drain_slow_every: 50us, drain_slow_time: 20us",
        "timeout: 20us, adaptive_timeout: true, adaptive_from: 10us, adaptive_to: 40us",
    };
    for (uint32_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        bool draws;
        char more[256];
        snprintf(more, sizeof more,
                 "buffer: {kind: static, size: 20KB, xoff: 20KB, xon: 20KB}, pfc: {priorities: none}}\n"
                 "host: {pfc: {priorities: none}, %s",
                 drawn[i]);
        assert_true(digests(form, single, workloads[1], more, &draws) > 1);
        assert_true(draws);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload),          cmocka_unit_test(every_registered_workload),
        cmocka_unit_test(every_model_of_a_switch), cmocka_unit_test(settings_of_a_workload_that_draw),
        cmocka_unit_test(bit_errors_are_drawn),    cmocka_unit_test(settings_of_a_host_that_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
