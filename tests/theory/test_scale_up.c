// SPDX-License-Identifier: Apache-2.0
// Domains of scale-up and tori in packets, against closed forms: all-reduce in a switch takes links n / (n + 1) of
// their rate (NVIDIA/nccl-tests, issue 212: two steps, so a GPU sends the size and an n-th of it); over a torus that is
// loaded evenly an all-to-all takes what the average number of hops says.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>

#include "form.h"
#include "run.h"
#include "weft/report.h"

static const double packet = 4096;

/// With each packet 82 bytes of headers and gap go out and an ACK of 86 comes back, with each message of 64 KiB 16
/// (RETH) and a clear-to-send of 162. A GPU sends as much as it receives.
static const double wire_factor = 1 + (82 + 86) / packet + (16 + 162) / 65536.;

static void two_steps_in_the_switch(void **state) {
    static const uint32_t gpus[] = {2, 4, 8, 24};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t size = UINT64_C(32) << 20;
        struct run r =
            RUN(run_once,
                "topology: {kind: scale_up, gpus: %" PRIu32 ", switches: 1, links: 1, rate: 400Gbps, reduces: on}\n"
                "switch: {credit: {kind: cbfc, grant: 16MB}, retry: llr, pfc: {priorities: none}, buffer: "
                "{kind: static, size: 20MB, xoff: 19MB, xon: 18MB}}\n"
                "host: {credit: {kind: cbfc, grant: 16MB}, retry: llr, pfc: {priorities: none}}\n"
                "workload: [{kind: collective, hosts: 'host-*,alu-*', order: listed, size: %" PRIu64
                "B, collective: {kind: all_reduce_in_switch, switches: 1, slots: 16}}]\n",
                gpus[i], size);
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        const struct weft_run run = {
            .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
        double n = gpus[i], time = (double)weft_report_collective(&run, 0, 0).time_ps * 1e-12;
        form_assert("All-reduce in a switch: the size and an n-th of it over each link (nccl-tests, issue 212)", time,
                    (double)size * (n + 1) / n * wire_factor / (400e9 / 8), 0.03); // 3%: two messages of each GPU first
        run_free(&r);
    }
}

/// Copies slower than links: all loops, one after another, and one more that is copied out at the end.
static void loops_are_copied_in_and_out(void **state) {
    static const uint64_t loops[] = {1, 2, 8, 32};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t size = UINT64_C(32) << 20, loop = size / loops[i];
        struct run r = RUN(run_once,
                           "topology: {kind: scale_up, gpus: 8, switches: 2, links: 2, rate: 400Gbps, reduces: on}\n"
                           "switch: {credit: {kind: cbfc, grant: 16MB}, retry: llr, pfc: {priorities: none}, buffer: "
                           "{kind: static, size: 20MB, xoff: 19MB, xon: 18MB}}\n"
                           "host: {credit: {kind: cbfc, grant: 16MB}, retry: llr, pfc: {priorities: none}}\n"
                           "workload: [{kind: collective, hosts: 'host-*,alu-*', order: listed, size: %" PRIu64
                           "B, collective: {kind: all_reduce_in_switch, switches: 2, slots: 16, copy_rate: 100Gbps, "
                           "loop: %" PRIu64 "B}}]\n",
                           size, loop);
        run_assert_complete(&r);
        const struct weft_run run = {
            .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
        // Links are 8 times as fast as a copy, so only those of the last loop, between its copies, count.
        double copy = 100e9 / 8, link = 2 * 400e9 / 8,
               time = (double)weft_report_collective(&run, 0, 0).time_ps * 1e-12;
        form_assert("All-reduce in a switch with loops: copies of all, one more, and one loop over the links", time,
                    (double)(size + loop) / copy + (double)loop * (1 + 1. / 8) * wire_factor / link, 0.02);
        run_free(&r);
    }
}

// Nothing but the processors of one server's switches adds; other hosts would run as if they were switches.
static void other_hosts_are_no_switches(void **state) {
    static const char *const bad[][3] = {
        {"1", "host-*", "host-4 for rank 4 of 8"},
        {"1", "alu-*,host-*", "alu-0 for rank 0 of 12"},
        {"1", "host-*,alu-0..2", "host-7 for rank 7 of 11"},
        {"2, nic_rate: 400Gbps", "host-*,alu-*", "host-8 for rank 8 of 24"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "topology: {kind: scale_up, servers: %s, reduces: on}\n"
                 "workload: [{kind: collective, hosts: '%s', order: listed, collective: {kind: all_reduce_in_switch, "
                 "switches: 4}}]\n",
                 bad[i][0], bad[i][1]);
        struct run r = {0};
        enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
        if (!status) status = run_bind(&r, 0);
        assert_int_equal(status, WEFT_ERROR_INPUT);
        assert_non_null(strstr(r.error.text, bad[i][2]));
        assert_non_null(strstr(r.error.text, "t.yaml:2:"));
        run_free(&r);
    }
}

// What goes from GPU to GPU of a server is flows if it crosses the network, as in jobs.
static void keys_and_values_cross_the_network_of_a_server(void **state) {
    static const char text[] = "topology: {kind: scale_up}\n"
                               "workload:\n- {kind: inference, model: {kind: llama3-8b, layers: 4}, server: {gpus: 8, "
                               "within: network}, arrivals: {requests: 5}, prefill: {tp: 4}, decode: {tp: 4}, "
                               "transfer: {merge: 0}}\n";
    struct run r = RUN(run_once, text);
    assert_int_equal(r.workload->flows, 5 * 4);
    run_free(&r);
}

// What is for another rail of another server has one way, through the GPU of that rail in the sender's server: of the
// packets that take its links at random none overtakes another by a whole network.
static void other_rails_are_reached_through_the_own_server(void **state) {
    static const char text[] =
        "topology: {kind: scale_up, servers: 2, gpus: 4, switches: 2, links: 4, nic_rate: 400Gbps}\n"
        "workload: [{kind: flow, src: host-0, dst: host-5, size: 1MB}]\n";
    struct run r = RUN(run_once, text);
    run_assert_complete(&r);
    for (unsigned g = 0; g < 8; g++) {
        char name[16];
        snprintf(name, sizeof name, "gpu-%u->leaf-%u", g, g % 4);
        uint32_t port = weft_topology_find_port(r.topology, name);
        assert_int_equal(weft_outcome_at(r.outcome, port, 3)->tx_bytes > 1000000, g == 1);
    }
    run_free(&r);
}

/// Average hops over all pairs, exact, by breadth-first search from one chip, as all chips are alike.
static double average_hops(const struct weft_topology *t) {
    uint32_t *hops = calloc(t->nodes, sizeof *hops), *queue = calloc(t->nodes, sizeof *queue), n = 0;
    double sum = 0;
    queue[n++] = t->switch_node[0];
    hops[queue[0]] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < t->node[queue[i]].ports; k++) {
            uint32_t peer = t->port[weft_topology_port(t, queue[i], k)->peer].node;
            if (t->node[peer].role == WEFT_NODE_HOST || hops[peer]) continue;
            hops[peer] = hops[queue[i]] + 1;
            sum += hops[peer] - 1;
            queue[n++] = peer;
        }
    assert_int_equal(n, t->switches);
    free(hops);
    free(queue);
    return sum / (t->switches - 1);
}

/// Each chip has six links, and each byte takes so many of them: a cube loads all alike, and so does a twisted torus.
static void a_torus_is_as_fast_as_its_hops(void **state) {
    static const struct {
        const char *size, *twist;
        double hops; ///< three rings of four, among the 63 others; 0: not tabled
    } torus[] = {{"4x4x4", "off", 3 * 64. / 63}, {"3x3x6", "on", 0}, {"3x6x6", "on", 0}};
    for (unsigned i = 0; i < 3; i++) {
        struct run r = RUN(run_once,
                           "topology: {kind: torus, size: %s, twist: %s, rate: 100Gbps, host_rate: 2400Gbps}\n"
                           "switch: {route: {kind: load_aware, samples: 0}, pfc: {priorities: none}, buffer: {kind: "
                           "static, size: 64MB, xoff: 60MB, xon: 50MB}}\n"
                           "host: {out_of_order: accept, window: 128KB, pfc: {priorities: none}}\n"
                           "workload: [{kind: all_to_all, size: 128KiB}]\n",
                           torus[i].size, torus[i].twist);
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        double hops = average_hops(r.topology), last = 0;
        if (torus[i].hops > 0) assert_true(fabs(hops - torus[i].hops) < 1e-9);
        for (uint32_t f = 0; f < r.workload->flows; f++)
            last = fmax(last, (double)r.outcome->flow[f].end_ps * 1e-12);
        double bytes = 131072 * (1 + (82 + 86) / packet) + 16; // an ACK takes as many hops back
        double least = (r.topology->hosts - 1) * bytes * hops / (6 * 100e9 / 8);
        assert_true(last > least); // no link carries more than its rate
        if (!strcmp(torus[i].twist, "off"))
            form_assert("All-to-all over a cube of chips: bytes times hops over six links a chip", last, least, 0.08);
        else // a packet's choice knows the next link only: the last ones end later, as TPU's all-to-alls do
            assert_true(last < 1.25 * least);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_steps_in_the_switch),
                                       cmocka_unit_test(loops_are_copied_in_and_out),
                                       cmocka_unit_test(other_hosts_are_no_switches),
                                       cmocka_unit_test(keys_and_values_cross_the_network_of_a_server),
                                       cmocka_unit_test(other_rails_are_reached_through_the_own_server),
                                       cmocka_unit_test(a_torus_is_as_fast_as_its_hops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
