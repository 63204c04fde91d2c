// SPDX-License-Identifier: Apache-2.0
// Any MTU: flows, collectives, jobs and remote memory access deliver exactly what they were to, whatever the remainder
// of MTU, message and word; on every transport, with headers of other simulators, trimmed, captured and as cells.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "run.h"

enum { MTU_LEAST = 64, MTU_MOST = 10240 };

#define SINGLE "topology: {kind: single, hosts: 4}\n"
#define WORKLOAD                                                                                                       \
    "workload:\n"                                                                                                      \
    "- {kind: flow, src: host-0, dst: host-1, size: 20001B, group: write}\n"                                           \
    "- {kind: flow, src: host-0, dst: host-3, size: 1B, group: byte}\n"
#define READ "- {kind: flow, src: host-1, dst: host-2, size: 20003B, verb: read, group: read}\n"
#define JOBS                                                                                                           \
    "- {kind: collective, collective: {kind: all_reduce_ring, channels: 2, chunk: 3001B, slice: 3001B}, size: "        \
    "40001B, "                                                                                                         \
    "group: collective}\n"                                                                                             \
    "- {kind: job, dimensions: 'a:4', qps: 2, qp_scaling: split, operations: [{collective: all_to_all, "               \
    "size: 9999B}], iterations: 1, share_hosts: true, group: job}\n"
#define RMA                                                                                                            \
    "- {kind: rma, clients: host-0, servers: host-3, rate: 200000, duration: 30us, size: 4099B, verb: write, group: "  \
    "rma}\n"

static const struct {
    const char *name, *text;
    unsigned every; ///< of so many MTUs it takes one
} networks[] = {
    {"roce", SINGLE WORKLOAD READ JOBS RMA, 1},
    {"reorder", SINGLE "host: {out_of_order: accept, ack_every: 3}\n" WORKLOAD READ JOBS RMA, 1},
    {"uet", SINGLE "host: {preset: uet}\n" WORKLOAD READ JOBS RMA, 1},
    {"uet_htsim", SINGLE "host: {preset: uet_htsim}\n" WORKLOAD READ JOBS RMA, 1},
    {"trim",
     SINGLE
     "host: {preset: uet}\nswitch: {pfc: {priorities: none}, aqm: {kind: trim, min: 1KB, max: 2KB, depth: 12KB}}\n"
     "workload:\n- {kind: incast, sources: 'host-1..3', dst: host-0, size: 30001B}\n" JOBS RMA,
     1},
    {"ns3_hpcc", SINGLE "host: {preset: ns3_hpcc}\n" WORKLOAD READ JOBS RMA, 1},
    {"htsim", SINGLE "host: {preset: htsim}\n" WORKLOAD READ JOBS RMA, 1},
    {"dsf",
     "topology: {kind: dsf_l1_zone, rdsws: 2, fdsws: 2, hosts_per_rdsw: 2, rails: 1, virtual_devices: 1}\n" WORKLOAD
         READ JOBS RMA,
     4},
    {"clique",
     "topology: {kind: dragonfly, pods: 1, tins: 2, hosts_per_tin: 2, local_parallel: 1, local_ports: 1}\n" WORKLOAD
         READ JOBS RMA,
     8},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static struct run run_mtu(const char *text, uint32_t mtu, const char *capture_file) {
    struct run r = {0};
    char setting[64];
    snprintf(setting, sizeof setting, "host.mtu=%uB", mtu);
    const char *settings[] = {setting};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), settings, 1, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%u: %s\n%s", mtu, r.error.text, text);
    r.outcome = run_with(&r, &(struct weft_sim_options){.threads = 1, .capture_file = capture_file}, text);
    return r;
}

static void expect_all(const struct run *r, const char *name, uint32_t mtu) {
    const struct weft_workload *w = r->workload;
    if (r->status != WEFT_OK) fail_msg("%s, MTU %u: stalled", name, mtu);
    for (uint32_t f = 0; f < w->flows; f++) {
        const struct weft_flow *flow = &w->flow[f];
        if (flow->rma) continue;
        if (r->outcome->flow[f].delivered_bytes != flow->bytes)
            fail_msg("%s, MTU %u: flow %u of %s delivered %llu of %llu bytes", name, mtu, f, w->group[flow->group],
                     (unsigned long long)r->outcome->flow[f].delivered_bytes, (unsigned long long)flow->bytes);
    }
    for (uint32_t j = 0; j < w->jobs; j++)
        assert_int_equal(r->outcome->job[j].ranks_done, w->job[j].ranks);
    uint64_t bytes[2] = {0};
    for (uint32_t f = 0; f < w->flows; f++)
        if (w->flow[f].rma) bytes[w->flow[f].dst == 0] += r->outcome->flow[f].delivered_bytes;
    for (uint32_t i = 0; i < w->rmas; i++) { // a request has a header and the value, its answer a header
        assert_true(r->outcome->rma[i].completed > 0);
        assert_int_equal(r->outcome->rma[i].completed, r->outcome->rma[i].issued);
        assert_int_equal(bytes[0], r->outcome->rma[i].completed * (4099 + w->rma[i].conf->header_bytes));
        assert_int_equal(bytes[1], r->outcome->rma[i].completed * w->rma[i].conf->header_bytes);
    }
}

static void look_at(uint32_t mtu, unsigned n) {
    for (unsigned i = 0; i < NETWORKS; i++) {
        if (n % networks[i].every) continue;
        struct run r = run_mtu(networks[i].text, mtu, NULL);
        expect_all(&r, networks[i].name, mtu);
        run_free(&r);
    }
}

/// All remainders, with the least and the most.
static void any_mtu(void **state) {
    unsigned n = 0, step = *(unsigned *)*state;
    for (uint32_t mtu = MTU_LEAST; mtu < MTU_MOST; mtu += step)
        look_at(mtu, n++);
    for (uint32_t mtu = MTU_MOST - 8; mtu <= MTU_MOST; mtu++)
        look_at(mtu, 0);
}

/// Frames that say how long they are: the sizes of each are those that it was sent with (an assert of the capture).
static void captured(void **state) {
    (void)state;
    static const char *const texts[] = {
        SINGLE "capture: {ports: '*'}\n" WORKLOAD READ JOBS RMA,
        SINGLE
        "capture: {ports: '*', content: headers}\nhost: {preset: uet, data_header: 102B, ack_frame: 90B}\n" WORKLOAD
            READ JOBS RMA,
    };
    char file[] = "/tmp/weft-mtu-XXXXXX";
    int made = mkstemp(file);
    assert_true(made >= 0);
    close(made);
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t mtu = MTU_LEAST; mtu <= MTU_MOST; mtu += 461) {
            struct run r = run_mtu(texts[i], mtu, file);
            assert_true(r.outcome->captured > 0);
            expect_all(&r, "captured", mtu);
            run_free(&r);
        }
    assert_int_equal(unlink(file), 0);
}

int main(int argc, char **argv) {
    unsigned step = argc > 1 && !strcmp(argv[1], "all") ? 1 : 41; // odd: of each remainder by 4
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(any_mtu, &step),
        cmocka_unit_test(captured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
