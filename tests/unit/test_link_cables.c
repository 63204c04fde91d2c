// SPDX-License-Identifier: Apache-2.0
// The section `link`: delays of links by the class of their cable, their length and the rate. Expected values are sums
// of what the classes say, which the test reads, too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/hardware.h"

#define FLOW "workload: [{kind: flow, src: host-0, dst: host-3, size: 4096B}]\n"
#define CLOS "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 400Gbps%s}\n"

static double value_of(const char *class_name, uint32_t kind, const char *key) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *h;
    struct weft_error error;
    if (weft_hardware_find(kind, class_name, WEFT_NOWHERE, "test", arena, &h, &error)) fail_msg("%s", error.text);
    double value = weft_hardware_number(h, key, 0);
    weft_arena_free(arena);
    return value;
}

/// What a link of so many metres takes. `phy`: the class of its rate.
static uint64_t delay_of(const char *cable, double metres, const char *phy) {
    return (uint64_t)(metres * value_of(cable, WEFT_HARDWARE_CABLE, "delay_per_metre") +
                      2 * value_of(cable, WEFT_HARDWARE_CABLE, "end_delay") +
                      value_of(phy, WEFT_HARDWARE_PHY, "fec_delay") + .5);
}

static struct run bind(const char *text) {
    struct run r = {0};
    r.status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!r.status) r.status = run_bind(&r, 0);
    return r;
}
#define BIND(...) RUN(bind, __VA_ARGS__)

static void assert_delay(const struct run *r, const char *link, uint64_t expected, const char *cable) {
    if (r->status) fail_msg("%s", r->error.text);
    uint32_t i = weft_topology_find_link(r->topology, link);
    assert_int_not_equal(i, WEFT_NONE);
    if (r->topology->link[i].delay_ps != expected)
        fail_msg("%s: %" PRIu64 " ps, expected %" PRIu64, link, r->topology->link[i].delay_ps, expected);
    const char *found = r->topology->link[i].cable;
    assert_string_equal(found ? found : "none", cable);
}

/// Lengths that are not given: 5 m to hosts or as long as the kind can be, 40 m to the switches next to these.
static void lengths_of_a_fleet(void **state) {
    struct run r = BIND(CLOS "link: {cable: fibre}\n" FLOW, "");
    assert_delay(&r, "leaf-0--host-0", delay_of("fibre", 5, "phy_400g"), "fibre");
    assert_delay(&r, "leaf-0--spine-0", delay_of("fibre", 40, "phy_400g"), "fibre");
    run_free(&r);
    r = BIND(
        "topology: {kind: clos3, pods: 2, access_per_pod: 1, aggregation_per_pod: 1, core: 1, hosts_per_access: 2, "
        "rate: 100Gbps}\nlink: {cable: fibre, host_cable: dac_2m, spine_length: 500m}\n" FLOW);
    assert_delay(&r, "access-0--host-0", delay_of("dac", 2, "phy_100g"), "dac_2m");
    assert_delay(&r, "access-0--aggregation-0", delay_of("fibre", 40, "phy_100g"), "fibre");
    assert_delay(&r, "aggregation-0--core-0", delay_of("fibre", 500, "phy_100g"), "fibre");
    run_free(&r);
    r = BIND(CLOS "link: {cable: dac_2m, phy: none}\n" FLOW, "");
    assert_delay(&r, "leaf-0--host-0", (uint64_t)(2 * value_of("dac", WEFT_HARDWARE_CABLE, "delay_per_metre")),
                 "dac_2m");
    run_free(&r);
    r = BIND(CLOS "link: {cable: dac_2m, phy: phy_25g}\n" FLOW, "");
    assert_delay(&r, "leaf-0--host-0", delay_of("dac", 2, "phy_25g"), "dac_2m");
    run_free(&r);
    r = BIND(CLOS "link: {cable: dac, length: 2m}\n" FLOW, "");
    assert_delay(&r, "leaf-0--spine-0", delay_of("dac", 2, "phy_400g"), "dac");
    run_free(&r);
    // interface nodes are next to hosts, fabric nodes above; at 50G the class of the rate below holds
    r = BIND("topology: {kind: dsf_l1_zone, rdsws: 2, fdsws: 2, hosts_per_rdsw: 4, rails: 1, host_rate: 50Gbps}\n"
             "link: {cable: fibre}\n" FLOW);
    assert_delay(&r, "rdsw-0--host-0", delay_of("fibre", 5, "phy_25g"), "fibre");
    run_free(&r);
}

/// A delay that the topology gives stays.
static void own_delays(void **state) {
    struct run r = BIND(CLOS "link: {cable: fibre}\n" FLOW, ", host_delay: 77ns");
    assert_delay(&r, "leaf-0--host-0", 77000, "none");
    assert_delay(&r, "leaf-0--spine-0", delay_of("fibre", 40, "phy_400g"), "fibre");
    run_free(&r);
    r = BIND(CLOS "link: {cable: fibre}\n" FLOW, ", override: [{link: leaf-0--spine-0, delay: 5us}]");
    assert_delay(&r, "leaf-0--spine-0", 5000000, "none");
    assert_delay(&r, "leaf-0--spine-1", delay_of("fibre", 40, "phy_400g"), "fibre");
    run_free(&r);
    r = BIND(CLOS FLOW, ""); // without the section, as the topology says
    assert_delay(&r, "leaf-0--spine-0", 150000, "none");
    run_free(&r);
    r = BIND(CLOS "link: {cable: ideal, host_cable: dac_2m}\n" FLOW, "");
    assert_delay(&r, "leaf-0--host-0", delay_of("dac", 2, "phy_400g"), "dac_2m");
    assert_delay(&r, "leaf-0--spine-0", 150000, "none");
    run_free(&r);
}

#define LIST                                                                                                           \
    "topology: {kind: list, nodes: [{name: s, role: switch}, {name: u, role: switch}, {name: host-0, role: host}, "    \
    "{name: host-3, role: host}], links: [{from: host-0, to: s, rate: 400Gbps, cable: dac_2m}, {from: s, to: u, "      \
    "rate: 400Gbps, count: 2, length: 7m}, {from: u, to: host-3, rate: 400Gbps, delay: 150ns}]}\n"

static void links_in_a_list(void **state) {
    struct run r = BIND(LIST "link: {cable: fibre}\n" FLOW);
    assert_delay(&r, "s--host-0", delay_of("dac", 2, "phy_400g"), "dac_2m");
    assert_delay(&r, "s/1", delay_of("fibre", 7, "phy_400g"), "fibre");
    assert_delay(&r, "s/2", delay_of("fibre", 7, "phy_400g"), "fibre");
    assert_delay(&r, "u--host-3", 150000, "none"); // given, though it is the default
    run_free(&r);
    r = BIND(LIST FLOW);
    assert_delay(&r, "s--host-0", delay_of("dac", 2, "phy_400g"), "dac_2m");
    assert_delay(&r, "s/1", 150000, "none");
    run_free(&r);
}

/// Limits of passive copper by the lanes of a rate (IEEE 802.3by, cd, ck).
static void lengths_by_rate(void **state) {
    static const struct {
        int gbps;
        double most;
    } limit[] = {{25, 5}, {100, 5}, {200, 3}, {400, 3}, {800, 2}};
    for (unsigned i = 0; i < sizeof limit / sizeof *limit; i++)
        for (int beyond = 0; beyond < 2; beyond++) {
            double metres = limit[i].most + .5 * beyond;
            struct run r = BIND("topology: {kind: single, hosts: 4, rate: %dGbps}\nlink: {cable: dac_%gm}\n" FLOW,
                                limit[i].gbps, metres);
            if (!beyond != !r.status) fail_msg("%g m at %dG: %s", metres, limit[i].gbps, r.error.text);
            run_free(&r);
        }
}

/// Networks side by side, and delays that the solver of a blueprint computes from its lengths, which the cables keep.
static void cables_within(void **state) {
    struct run r = BIND("topology: {kind: networks, networks: {a: {kind: single, hosts: 2, rate: 400Gbps}, b: {kind: "
                        "single, hosts: 2, rate: 400Gbps, delay: 77ns}, c: leaf_spine, d: a}}\nlink: {cable: dac_2m}\n"
                        "workload: [{kind: flow, src: a-host-0, dst: a-host-1}]\n");
    assert_delay(&r, "a-switch-0--a-host-0", delay_of("dac", 2, "phy_400g"), "dac_2m");
    assert_delay(&r, "b-switch-0--b-host-0", 77000, "none");
    assert_delay(&r, "c-leaf-0--c-host-0", delay_of("dac", 2, "phy_100g"), "dac_2m");
    run_free(&r);
    r = BIND("fabric: {kind: clos, hosts: 64, rate: 400Gbps, radix: 16, host_cable: 1, leaf_cable: 60}\n"
             "link: {cable: fibre, host_cable: dac}\nworkload: [{kind: flow, src: host-0, dst: host-1}]\n");
    assert_delay(&r, "leaf-0--host-0", delay_of("dac", 1, "phy_400g"), "dac");
    assert_delay(&r, "leaf-0--spine-0", delay_of("fibre", 60, "phy_400g"), "fibre");
    run_free(&r);
}

/// A run takes these delays: one frame of 4174 B over four links at 20 ps a byte and three switches that store it.
static void a_run_takes_them(void **state) {
    struct run r =
        RUN(run_text, CLOS "link: {cable: fibre, host_cable: dac_2m}\nswitch: {processing: 300ns}\n" FLOW, "");
    uint64_t host = delay_of("dac", 2, "phy_400g"), leaf = delay_of("fibre", 40, "phy_400g");
    uint64_t expected = 4 * 4182 * 20 + 2 * host + 2 * leaf + 3 * 300000;
    assert_int_equal(run_fct(&r, 0), expected);
    assert_int_equal(r.outcome->flow[0].ideal_ps, expected);
    run_free(&r);
}

static void refusals(void **state) {
    static const struct {
        const char *section, *more, *text[3];
    } bad[] = {
        {"link: {cable: fibre, host_cable: dac_10m}",
         "",
         {":2:34: cable dac_10m is made up to 3 m at 400Gbps", "leaf-0/0--host-0/0 is 10 m long", "fibre, fibre_mm"}},
        {"link: {cable: dac, length: 10m}", "", {":2:15: cable dac is made up to", "10 m", "can: "}},
        {"link: {cable: dac}", "", {"leaf-0/2--spine-0/0", "40 m long", "fibre"}}, // no DAC between leaf and spine
        {"link: {cable: dax}", "", {":2:15: link.cable: no cable \"dax\"", "dac", "fibre"}},
        {"link: {cable: tomahawk5}", "", {"is of kind chip, not cable", "dac", "fibre"}},
        {"link: {cable: fibre, length: 3 feet}", "", {":2:30: length of a cable: '3 feet'", "2m", ""}},
        {"link: {cable: fibre}", ", delay: 100ns", {":2:15: link: has no effect", "", ""}},
        {"link: {length: 3m}", "", {":2:8: link.length: has no effect without cable", "", ""}},
        {"link: {host_length: 3m, leaf_cable: fibre}", "", {":2:8: link.host_length: has no effect", "", ""}},
        {"link: {phy: none}", "", {":2:13: link.phy: has no effect", "", ""}},
        {"link: {cable: fibre, phy: lane_28g}", "", {":2:27: link.phy: lane_28g has no fec_delay", "", ""}},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run r = BIND(CLOS "%s\n" FLOW, bad[i].more, bad[i].section);
        assert_int_not_equal(r.status, WEFT_OK);
        for (unsigned k = 0; k < 3; k++)
            if (!strstr(r.error.text, bad[i].text[k])) fail_msg("no '%s' in '%s'", bad[i].text[k], r.error.text);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_a_fleet), cmocka_unit_test(own_delays), cmocka_unit_test(links_in_a_list),
        cmocka_unit_test(a_run_takes_them),   cmocka_unit_test(refusals),   cmocka_unit_test(lengths_by_rate),
        cmocka_unit_test(cables_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
