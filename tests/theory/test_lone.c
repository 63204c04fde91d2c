// SPDX-License-Identifier: Apache-2.0
// A flow's ideal over one path or several, against runs over a grid of networks, routes, transports, sizes, MTUs and
// rates: alone on Ethernet and without congestion control a flow takes exactly its ideal; no flow ever takes less.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ideal.h"
#include "run.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const rates[][2] = {
    {"200Gbps", "200Gbps"}, {"400Gbps", "100Gbps"},       {"100Gbps", "400Gbps"},
    {"400Gbps", "25Gbps"},  {"106.25Gbps", "53.125Gbps"}, {"123456789kbps", "71Gbps"},
};
static const char *const verbs[] = {"write", "send", "read"};

static uint64_t draw(struct weft_random *random, uint64_t n) {
    return weft_random_u64(random) % n;
}
#define DRAW(random, names) names[draw(random, COUNT(names))]

/// The rates of hosts and of the links between switches.
static char *draw_network(struct weft_random *random, bool *ret_planes) {
    const char *const *rate = DRAW(random, rates);
    uint64_t kind = draw(random, 6);
    *ret_planes = kind == 5;
    switch (kind) {
    case 0:
        return text_of("{kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 2, host_rate: %s, spine_rate: %s}",
                       rate[0], rate[1]);
    case 1:
        return text_of("{kind: leaf_spine, leaves: 2, spines: 3, hosts_per_leaf: 2, parallel: 2, host_rate: %s, "
                       "spine_rate: %s}",
                       rate[0], rate[1]);
    case 2:
        return text_of("{kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 3, core: 4, "
                       "hosts_per_access: 2, host_rate: %s, rate: %s}",
                       rate[0], rate[1]);
    case 3:
        return text_of("{kind: fat_tree, k: 4, rate: %s}", rate[0]);
    case 4:
        return text_of("{kind: single, hosts: 4, rate: %s}", rate[0]);
    default:
        return text_of("{kind: networks, networks: {a: &n {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 2, "
                       "host_rate: %s, spine_rate: %s}, b: *n, c: *n}}",
                       rate[0], rate[1]);
    }
}

static char *draw_host(struct weft_random *random, uint64_t mtu, bool planes) {
    static const char *const transports[] = {
        "roce_rc",
        "{kind: roce_rc, out_of_order: accept}",
        "{kind: uet, timeout: never, psn_window: 65536}",
        "{kind: uet, delivery: rod, timeout: never, psn_window: 65536}",
        "{kind: uet, spray: reps, timeout: never, psn_window: 65536}",
        "{kind: uet, spray: single, timeout: never, psn_window: 65536}",
    };
    static const char *const planes_names[] = {"separate", "queue_pair", "packet"};
    const char *plane = planes ? DRAW(random, planes_names) : "separate";
    bool slow = !draw(random, 8) && plane[0] == 's';
    static const char *const latencies[] = {
        "",
        ", send_latency: 700ns, receive_latency: 600ns, completion_latency: 2us, processing: 100ns",
        ", post_cost: 60ns, pcie_rate: 210Gbps, pcie_round_trip: 300ns",
        ", pcie_rate: 60Gbps, packet_rate: 3000000",
    };
    return text_of("{mtu: %" PRIu64 "B, transport: %s, planes: %s, work_request: %s%s%s}", mtu,
                   DRAW(random, transports), plane, draw(random, 8) ? "0ns" : "100ns", DRAW(random, latencies),
                   slow ? ", drain_rate: 90Gbps, rx_buffer: 1GB, rx_xoff: 1GB" : "");
}

static struct run run_drawn(const char *text) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%s\n%s", r.error.text, text);
    r.outcome = run_again(&r, 1, text);
    return r;
}

static void assert_at_least(const struct run *r, const char *text) {
    for (uint32_t f = 0; f < r->workload->flows; f++) {
        const struct weft_flow_outcome *o = &r->outcome->flow[f];
        if (o->end_ps == WEFT_TIME_NEVER || o->end_ps - o->start_ps >= o->ideal_ps) continue;
        fputs(text, stderr);
        fail_msg("flow %u took %" PRIu64 " ps, its ideal is %" PRIu64, f, o->end_ps - o->start_ps, o->ideal_ps);
    }
}

static uint64_t paused(const struct weft_outcome *o) {
    return weft_outcome_sum(o, 0, o->ports).paused_ps;
}

static const char *const routes[] = {
    "ecmp",
    "e_ecmp",
    "spray",
    "{kind: spray, order: random}",
    "flowlet",
    "{kind: flowlet, gap: 1us}",
    "load_aware",
    "{kind: load_aware, samples: 0, memory: true}",
    "{kind: te, demands: known}",
};

static uint64_t draw_size(struct weft_random *random, uint64_t mtu, uint64_t packets) {
    uint64_t size = UINT64_C(1) << draw(random, 27);
    if (draw(random, 2)) size += draw(random, size);
    return size > packets * mtu ? packets * mtu : size;
}

/// What makes a flow alone slower than its ideal, without congestion control: go-back-N after packets that overtook
/// others; paths that answers choose, or that packets and answers draw by turns from the same stream.
static bool has_reason(const struct run *r, const char *text, bool chooses) {
    if (r->outcome->flow[0].packets_again || paused(r->outcome)) return true;
    return strstr(text, "reps") || (strstr(text, "parallel") && chooses);
}

static void one_flow(struct weft_random *random, uint64_t seed, uint32_t *exact) {
    bool planes;
    uint64_t mtu = 64 + draw(random, 2) * draw(random, 8900), route = draw(random, COUNT(routes));
    char *network = draw_network(random, &planes), *host = draw_host(random, mtu, planes);
    const char *prefix = planes ? "a-" : "";
    char *text = text_of("topology: %s\nswitch: {route: %s, forwarding: %s, buffer: {kind: static, size: 2GB, "
                         "xoff: 1GB, xon: 1GB}}\nhost: %s\nworkload: [{kind: flow, src: %shost-0, dst: \"%shost-%u\", "
                         "size: %" PRIu64 "B, qps: %" PRIu64 ", verb: %s}]\nrun: {seed: %" PRIu64 "}\n",
                         network, routes[route], draw(random, 2) ? "cut_through" : "store_and_forward", host, prefix,
                         prefix, 1 + (uint32_t)draw(random, 3), draw_size(random, mtu, 6000),
                         1 + draw(random, 2) * draw(random, 20), DRAW(random, verbs), seed);
    struct run r = run_drawn(text);
    assert_at_least(&r, text);
    bool chooses = route >= 2, draws = chooses || strstr(text, "uet");
    if (!has_reason(&r, text, chooses)) {
        uint64_t again = calc_ideal_fct(r.scenario, r.topology, &r.workload->flow[0]);
        if (run_fct(&r, 0) != r.outcome->flow[0].ideal_ps || (!draws && run_fct(&r, 0) != again)) {
            fputs(text, stderr);
            fail_msg("took %" PRIu64 " ps, its ideal is %" PRIu64 " and %" PRIu64, run_fct(&r, 0),
                     r.outcome->flow[0].ideal_ps, again);
        }
        ++*exact;
    }
    run_free(&r);
    free(text);
    free(network);
    free(host);
}

static void alone_on_ethernet(void **state) {
    enum { RUNS = 400 };
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_WORKLOAD);
    uint32_t exact = 0;
    for (uint64_t i = 0; i < RUNS; i++)
        one_flow(&random, 1 + i, &exact);
    assert_true(exact > RUNS / 2);
}

/// A flow of many packets, whose ideal is extended from shorter ones.
static void long_flows(void **state) {
    static const char *const loads[] = {"size: 64MiB", "size: 64MiB, qps: 5", "size: 67108865B, qps: 16"};
    for (uint32_t i = 0; i < COUNT(loads) * COUNT(rates); i++) {
        const char *const *rate = rates[i / COUNT(loads)];
        char *text =
            text_of("topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 2, host_rate: %s, "
                    "spine_rate: %s}\nswitch: {route: %s, buffer: {kind: static, size: 2GB, xoff: 1GB, "
                    "xon: 1GB}}\nhost: {out_of_order: accept, work_request: %s}\nworkload: [{kind: flow, "
                    "src: host-0, dst: host-2, %s}]\n",
                    rate[0], rate[1], i % 2 ? "spray" : "ecmp", i / 2 % 2 ? "50us" : "0ns", loads[i % COUNT(loads)]);
        struct run r = run_drawn(text);
        assert_int_equal(run_fct(&r, 0), r.outcome->flow[0].ideal_ps);
        run_free(&r);
        free(text);
    }
}

/// Connections of jobs send whole messages over queue pairs in turn, few or small ones over some of them only.
static void messages_of_jobs(void **state) {
    static const char *const networks[] = {
        "{kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2}",
        "{kind: networks, networks: {a: {kind: single, hosts: 4}, b: {kind: single, hosts: 4}}}",
    };
    struct weft_random random = weft_random_stream(4, 0, WEFT_RANDOM_WORKLOAD);
    for (uint64_t i = 0; i < 100; i++) {
        bool planes = draw(&random, 2);
        char *text = text_of("topology: %s\nhost: {mtu: %" PRIu64 "B, planes: %s}\nworkload: [{kind: collective, "
                             "collective: all_to_all, size: %" PRIu64 "B, qps: %" PRIu64 ", admission: none, "
                             "qp_scaling: %s%s}]\nrun: {seed: %" PRIu64 "}\n",
                             networks[planes], 64 + draw(&random, 4000), planes ? "queue_pair" : "separate",
                             1 + draw(&random, draw(&random, 2) ? 3000 : 2000000), 1 + draw(&random, 5),
                             draw(&random, 2) ? "split" : "round_robin", planes ? ", hosts: \"a-host-*\"" : "", 1 + i);
        struct run r = run_drawn(text);
        assert_at_least(&r, text);
        run_free(&r);
        free(text);
    }
}

static void among_others(void **state) {
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_WORKLOAD);
    for (uint64_t i = 0; i < 120; i++) {
        bool planes;
        uint64_t mtu = 64 + draw(&random, 2) * draw(&random, 8900);
        char *network = draw_network(&random, &planes), *host = draw_host(&random, mtu, planes);
        char *text = text_of(
            "topology: %s\nswitch: {route: %s}\nhost: %s\nworkload: [{kind: permutation, %s mode: "
            "shift, shift: 1, size: %" PRIu64 "B, qps: %" PRIu64 ", verb: %s}]\nrun: {seed: %" PRIu64 ", until: 2ms}\n",
            network, DRAW(&random, routes), host, planes ? "hosts: \"a-host-*\"," : "", draw_size(&random, mtu, 500),
            1 + draw(&random, 2) * draw(&random, 6), DRAW(&random, verbs), 1 + i);
        struct run r = run_drawn(text);
        assert_at_least(&r, text);
        run_free(&r);
        free(text);
        free(network);
        free(host);
    }
}

/// Fabrics of cells: a Clique, alone and with Ethernet beside it, through which the routes of a host to another of the
/// Clique may be shorter; a DSF.
static void over_cells(void **state) {
    static const char *const fabrics[] = {
        "{kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 2}",
        "{kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1}",
        "{kind: dragonfly, pods: 4, tins: 2, hosts_per_tin: 1, local_rate: 100Gbps, global_rate: 10Gbps}",
        "{kind: dragonfly, pods: 5, tins: 4, local_parallel: 1, gateways: 9, spines: 3, tors: 3, hosts_per_tor: 2}",
        "{kind: dragonfly, pods: 5, tins: 4, local_parallel: 1, gateways: 9, spines: 3, tors: 3, hosts_per_tor: 2}",
        "{kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 4, rails: 1}",
        "{kind: dsf_l1_zone, rdsws: 2, fdsws: 2, virtual_devices: 1, hosts_per_rdsw: 4, rails: 1, host_rate: 800Gbps}",
        "{kind: dsf_l2_zone, zones: 2, rdsws: 2, fdsws: 2, sdsws: 2, hosts_per_rdsw: 2, rails: 1}",
    };
    struct weft_random random = weft_random_stream(3, 0, WEFT_RANDOM_WORKLOAD);
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t size = 1 + draw(&random, draw(&random, 3) ? 8 : 200000), mtu = 64 + draw(&random, 2) * 4032;
        bool many = draw(&random, 3);
        char *load = many ? text_of("kind: permutation, mode: shift, shift: %u", 1 + (uint32_t)draw(&random, 7))
                          : text_of("kind: flow, src: host-0, dst: \"host-%u\"", 1 + (uint32_t)draw(&random, 7));
        const char *fabric = DRAW(&random, fabrics),
                   *forwarding = draw(&random, 2) ? "cut_through" : "store_and_forward";
        bool asked = strstr(fabric, "dsf") || strstr(fabric, "spines"); // TiNs do not go by it
        char *text = text_of("topology: %s\nhost: {mtu: %" PRIu64 "B, out_of_order: accept}\nswitch: {%s%s}\n"
                             "workload: [{%s, size: %" PRIu64 "B, qps: %" PRIu64 ", verb: %s}]\n"
                             "run: {seed: %" PRIu64 "}\n",
                             fabric, mtu, asked ? "forwarding: " : "", asked ? forwarding : "", load, size,
                             1 + draw(&random, 2) * draw(&random, 6), DRAW(&random, verbs), 1 + i);
        struct run r = run_drawn(text);
        assert_at_least(&r, text);
        run_free(&r);
        free(text);
        free(load);
    }
}

/// One frame alone over a Clique: as many cells as its payload needs, the last one shorter, whichever endpoint sends
/// it.
static void one_frame_over_a_clique(void **state) {
    for (uint32_t size = 1; size <= 4096; size += 65) {
        char *text = text_of("base: aquila\nfabric: {hosts: 8, rate: 400Gbps}\n"
                             "workload: [{kind: flow, src: host-0, dst: host-%u, size: %uB}]\n",
                             size % 2 ? 1u : 6u, size);
        struct run r = run_drawn(text);
        assert_at_least(&r, text);
        run_free(&r);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_on_ethernet), cmocka_unit_test(long_flows), cmocka_unit_test(messages_of_jobs),
        cmocka_unit_test(among_others),      cmocka_unit_test(over_cells), cmocka_unit_test(one_frame_over_a_clique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
