// SPDX-License-Identifier: Apache-2.0
// Random disaggregated scheduled fabrics, settings, failures and workloads: no byte is lost or invented, every flow is
// delivered once, hosts see no packet out of order unless one was lost, and threads change nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "why.h"

enum { RUNS = 25 };

struct text {
    FILE *file;
    struct weft_random random;
};

static uint64_t draw(struct text *t, uint64_t n) {
    return weft_random_below(&t->random, n);
}

static bool chance(struct text *t, unsigned percent) {
    return draw(t, 100) < percent;
}

static const char *one_of(struct text *t, const char *const *choice) {
    uint64_t n = 0;
    while (choice[n])
        n++;
    return choice[draw(t, n)];
}
#define ONE_OF(t, ...) one_of(t, (const char *const[]){__VA_ARGS__, NULL})

/// Returns the number of hosts.
static uint64_t say_topology(struct text *t, bool *ret_whole) {
    bool two = chance(t, 40), fails = chance(t, 35), errors = chance(t, 20);
    uint64_t rdsws = 2 + draw(t, 3), hosts = 1 + draw(t, 3), zones = two ? 2 : 1;
    fprintf(t->file,
            "topology: {kind: %s, rdsws: %" PRIu64 ", rails: 1, hosts_per_rdsw: %" PRIu64 ", fdsws: %" PRIu64
            ", virtual_devices: %" PRIu64 ", rdsw_lanes: %" PRIu64 ", host_rate: %s, lane_rate: %s, fdsw_delay: %s, "
            "bit_error_rate: %s",
            two ? "dsf_l2_zone" : "dsf_l1_zone", rdsws, hosts, 2 + draw(t, 3), 1 + draw(t, 2), 2 + draw(t, 2),
            ONE_OF(t, "100Gbps", "400Gbps", "800Gbps"), ONE_OF(t, "106.25Gbps", "53.125Gbps", "100Gbps"),
            ONE_OF(t, "5ns", "350ns", "10us"), errors ? "1e-7" : "0");
    if (two)
        fprintf(t->file, ", zones: 2, sdsws: %" PRIu64 ", sdsw_delay: %s", 2 + draw(t, 2), ONE_OF(t, "10ns", "1us"));
    fprintf(t->file, "}\n");
    if (fails) {
        uint64_t at = 1 + draw(t, 40), port = hosts + draw(t, 4);
        fprintf(t->file, "events: [{at: %" PRIu64 "us, link: rdsw-0/%" PRIu64 ", state: down}", at, port);
        if (chance(t, 60))
            fprintf(t->file, ", {at: %" PRIu64 "us, link: rdsw-0/%" PRIu64 ", state: up}", at + 50 + draw(t, 300),
                    port);
        fprintf(t->file, "]\n");
    }
    *ret_whole = !fails && !errors;
    return zones * rdsws * hosts;
}

static void say_boxes(struct text *t) {
    fprintf(t->file,
            "interface_node: {spray: %s, train: %" PRIu64 ", credit: %s, credit_speedup: %s, credit_window: %s, ",
            ONE_OF(t, "permutation", "round_robin"), 1 + draw(t, 16), ONE_OF(t, "4096B", "1024B", "8191B"),
            ONE_OF(t, "1.05", "1", "1.2", "0.9"), ONE_OF(t, "0B", "0B", "64KB", "400KB"));
    if (draw(t, 2)) fprintf(t->file, "voq_preset: slow_enabled, slow_rate: %" PRIu64 ", ", 1 + draw(t, 8));
    fprintf(t->file, "balance_age: %s, processing: %s, rci: %s, reassembly_timeout: %s}\n",
            ONE_OF(t, "0ns", "10us", "never"), ONE_OF(t, "0ns", "300ns"), ONE_OF(t, "on", "off"),
            ONE_OF(t, "100us", "300us"));
    fprintf(t->file, "fabric_node: {spray: %s, processing: %s, mark: %" PRIu64 "}\n",
            ONE_OF(t, "permutation", "round_robin"), ONE_OF(t, "10ns", "300ns"), 4 + draw(t, 100));
    fprintf(
        t->file,
        "switch: {buffer: {kind: dynamic, total: 2GB, alpha: %s, headroom: 4MB}, scheduler: %s, aqm: %s, processing: "
        "%s}\n",
        ONE_OF(t, "2", "1/1024"), ONE_OF(t, "strict", "{kind: dwrr, weights: [1,2,1,4,1,1,1,1]}"),
        ONE_OF(t, "none", "{kind: wred, min: 50KB, max: 200KB, max_probability: 10%}"), ONE_OF(t, "0ns", "300ns"));
    fprintf(t->file, "host: {mtu: %s, cc: %s, ack_every: %" PRIu64 ", drain_rate: %s}\n",
            ONE_OF(t, "4096B", "1024B", "256B", "9000B"), ONE_OF(t, "none", "dcqcn"), 1 + draw(t, 4),
            ONE_OF(t, "0bps", "0bps", "300Gbps"));
}

static void say_workload(struct text *t, uint64_t hosts) {
    fprintf(t->file, "workload:\n");
    switch (draw(t, 3)) {
    case 0:
        fprintf(t->file, "  - {kind: permutation, size: %s, verb: %s}\n", ONE_OF(t, "1B", "100KB", "1MB"),
                ONE_OF(t, "write", "read"));
        break;
    case 1:
        fprintf(t->file, "  - {kind: all_to_all, size: %s, qps: 2}\n", ONE_OF(t, "4096B", "50KB"));
        break;
    default:
        fprintf(t->file, "  - {kind: incast, sources: 'host-1..%" PRIu64 "', dst: host-0, size: %s}\n", hosts - 1,
                ONE_OF(t, "1KB", "300KB"));
        fprintf(t->file, "  - {kind: flow, src: host-0, dst: host-1, size: 200KB, priority: 4, start: 3us}\n");
        break;
    }
}

static void run_one(uint64_t seed) {
    char *at;
    size_t size;
    bool whole;
    struct text t = {.file = open_memstream(&at, &size), .random = weft_random_stream(seed, 1, WEFT_RANDOM_TEST)};
    uint64_t hosts = say_topology(&t, &whole);
    say_boxes(&t);
    say_workload(&t, hosts);
    fprintf(t.file, "run: {seed: %" PRIu64 "}\n", seed);
    fclose(t.file);
    struct run r = run_once(at);
    if (seed % 8 == 0) run_assert_same(&r, 3, at);
    const struct weft_outcome *o = r.outcome;
    if (o->end != WEFT_END_DONE) fputs(at, stderr);
    run_assert_complete(&r);
    assert_int_equal(o->held_bytes, 0);
    // A lossy priority may drop, and then hosts see gaps.
    bool lost = !whole || o->drops[WEFT_DROP_BUFFER_FULL] || o->drops[WEFT_DROP_AQM] || o->drops[WEFT_DROP_NIC_BUFFER];
    for (uint32_t i = 0; i < o->flows && !lost; i++)
        if (o->flow[i].out_of_order) {
            fputs(at, stderr);
            fail_msg("seed %" PRIu64 ": flow %u saw packets out of order", seed, i);
        }
    if (whole) assert_int_equal(weft_outcome_dsf(o)->packets_lost, 0);
    why_assert_sums(&r, at);
    run_free(&r);
    free(at);
}

static void whatever_the_fabric(void **state) {
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run_one(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_the_fabric)};
    return cmocka_run_group_tests_name("dsf_random", tests, NULL, NULL);
}
