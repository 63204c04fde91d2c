// SPDX-License-Identifier: Apache-2.0
// What each kind builds, what is refused and with which message, and names.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>

#include "topologies.h"

static struct weft_topology *good(struct built *b, const char *text) {
    *b = build_text(text);
    if (!b->t) fail_msg("%s", b->error.text);
    return b->t;
}

static uint32_t count_layer(const struct weft_topology *t, const char *layer, uint32_t ports) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nodes; i++)
        n += !strcmp(t->node[i].layer, layer) && t->node[i].ports == ports;
    return n;
}

static uint32_t links_between(const struct weft_topology *t, const char *a, const char *b) {
    uint32_t n = 0, x = weft_topology_find_node(t, a), y = weft_topology_find_node(t, b);
    assert_true(x != WEFT_NONE && y != WEFT_NONE);
    for (uint32_t l = 0; l < t->links; l++) {
        uint32_t p = t->port[t->link[l].port[0]].node, q = t->port[t->link[l].port[1]].node;
        n += (p == x && q == y) || (p == y && q == x);
    }
    return n;
}

static void assert_peer(const struct weft_topology *t, const char *port, const char *peer) {
    char name[64];
    uint32_t p = weft_topology_find_port(t, port);
    assert_true(p != WEFT_NONE);
    weft_topology_port_name(t, t->port[p].peer, name, sizeof name);
    assert_string_equal(name, peer);
}

// Counts of the IEEE P802.1Qdw simulation: 8 core, 32 aggregation, 128 access switches, 1024 GPUs.
static void fabric_of_1024(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: clos3");
    assert_int_equal(t->hosts, 1024);
    assert_int_equal(t->switches, 8 + 32 + 128);
    assert_int_equal(t->links, 1024 + 128 * 8 + 32 * 8);
    assert_int_equal(count_layer(t, "access", 8 + 8), 128);
    assert_int_equal(count_layer(t, "aggregation", 32 + 8), 32);
    assert_int_equal(count_layer(t, "core", 32), 8);
    for (uint32_t l = 0; l < t->links; l++) {
        assert_int_equal(t->link[l].rate_bps, UINT64_C(200000000000));
        assert_int_equal(t->link[l].delay_ps, 150000);
    }
    assert_peer(t, "host-0/0", "access-0/0");
    assert_peer(t, "host-1023/0", "access-127/7");
    assert_peer(t, "access-0/8", "aggregation-0/0");
    assert_peer(t, "access-33/15", "aggregation-15/1");
    assert_peer(t, "aggregation-31/39", "core-7/31");
    assert_peer(t, "core-3/8", "aggregation-8/35");
    assert_non_null(strstr(t->wiring, "assumed"));
    built_free(&b);
}

/// Any quarter of the order has its share of hosts, aggregation and core switches, and hosts are next to their switch.
static void order_suits_workers(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: clos3");
    for (uint32_t quarter = 0; quarter < 4; quarter++) {
        uint32_t hosts = 0, aggregation = 0, core = 0;
        for (uint32_t n = quarter * t->nodes / 4; n < (quarter + 1) * t->nodes / 4; n++) {
            hosts += t->node[n].role == WEFT_NODE_HOST;
            aggregation += t->node[n].tier == 2;
            core += t->node[n].tier == 3;
        }
        assert_int_equal(hosts, 256);
        assert_int_equal(aggregation, 8);
        assert_int_equal(core, 2);
    }
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t access = t->port[weft_topology_port(t, t->host[h], 0)->peer].node;
        assert_int_equal(t->host[h], access + 1 + h % 8);
        assert_int_equal(t->node[t->host[h]].index, h);
        assert_int_equal(t->node[t->host[h]].pod, h / 256);
    }
    built_free(&b);
}

static void clos3_parameters(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: clos3, pods: 3, access_per_pod: 2, aggregation_per_pod: 2, core: 4, "
                 "hosts_per_access: 5, access_parallel: 2, core_parallel: 3, core_wiring: plane, rate: 100Gbps, "
                 "core_rate: 3.2Tbps, core_delay: 2us, host_delay: 7ns, bit_error_rate: 1e-12}");
    assert_int_equal(t->hosts, 30);
    assert_int_equal(links_between(t, "access-5", "aggregation-4"), 2);
    assert_int_equal(links_between(t, "access-5", "aggregation-3"), 0);
    assert_int_equal(links_between(t, "aggregation-2", "core-0"), 3);
    assert_int_equal(links_between(t, "aggregation-2", "core-1"), 3);
    assert_int_equal(links_between(t, "aggregation-2", "core-2"), 0);
    assert_int_equal(links_between(t, "aggregation-3", "core-3"), 3);
    const struct weft_link_info *host = &t->link[weft_topology_find_link(t, "host-0/0")];
    const struct weft_link_info *access = &t->link[weft_topology_find_link(t, "access-0--aggregation-1")];
    const struct weft_link_info *core = &t->link[weft_topology_find_link(t, "core-3--aggregation-1")];
    assert_int_equal(host->rate_bps, UINT64_C(100000000000));
    assert_int_equal(host->delay_ps, 7000);
    assert_int_equal(access->rate_bps, UINT64_C(100000000000));
    assert_int_equal(access->delay_ps, 150000);
    assert_int_equal(core->rate_bps, UINT64_C(3200000000000));
    assert_int_equal(core->delay_ps, 2000000);
    assert_true(core->bit_error_rate > 0.99e-12 && core->bit_error_rate < 1.01e-12);
    built_free(&b);
}

// Al-Fares et al. 2008: k^3/4 hosts, k^2 switches of k ports less (k/2)^2 in the core layer: 5k^2/4 in all.
static void fat_trees(void **state) {
    (void)state;
    for (uint32_t k = 2; k <= 10; k += 2) {
        char text[64];
        snprintf(text, sizeof text, "topology: {kind: fat_tree, k: %u}", k);
        struct built b;
        const struct weft_topology *t = good(&b, text);
        assert_int_equal(t->hosts, k * k * k / 4);
        assert_int_equal(t->switches, 5 * k * k / 4);
        assert_int_equal(t->links, 3 * k * k * k / 4);
        for (uint32_t s = 0; s < t->switches; s++)
            assert_int_equal(t->node[t->switch_node[s]].ports, k);
        for (uint32_t c = 0; c < k * k / 4; c++) { // one link to every pod
            char name[32];
            snprintf(name, sizeof name, "core-%u", c);
            uint32_t core = weft_topology_find_node(t, name);
            for (uint32_t p = 0; p < k; p++)
                assert_int_equal(t->node[t->port[weft_topology_port(t, core, p)->peer].node].pod, p);
        }
        built_free(&b);
    }
}

// Meta, SIGCOMM 2024: racks of 16 GPUs, RTSWs with 18 links up, zones of 4,096 GPUs: 256 racks.
static void one_ai_zone(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: ai_zone");
    assert_int_equal(t->hosts, 4096);
    assert_int_equal(t->switches, 256 + 18);
    assert_int_equal(t->links, 4096 + 256 * 18);
    assert_int_equal(count_layer(t, "rtsw", 16 + 18), 256);
    assert_int_equal(count_layer(t, "ctsw", 256), 18);
    for (uint32_t l = 0; l < t->links; l++)
        assert_int_equal(t->link[l].rate_bps, UINT64_C(400000000000));
    assert_int_equal(t->link[weft_topology_find_link(t, "host-0/0")].delay_ps, 100000);
    assert_int_equal(t->link[weft_topology_find_link(t, "rtsw-255--ctsw-17")].delay_ps, 350000);
    assert_peer(t, "host-17/0", "rtsw-1/1");
    assert_peer(t, "rtsw-255/33", "ctsw-17/255");
    assert_non_null(strstr(t->wiring, "assumed"));
    built_free(&b);
}

static void ai_zones_under_aggregators(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: ai_zone, zones: 3, racks: 4, gpus_per_rack: 2, uplinks: 6, parallel: 3, "
                 "ctsw_uplinks: 4, ctsw_parallel: 2, rate: 200Gbps, atsw_rate: 800Gbps, atsw_delay: 2us}");
    assert_int_equal(t->hosts, 3 * 4 * 2);
    assert_int_equal(count_layer(t, "rtsw", 2 + 6), 3 * 4);
    assert_int_equal(count_layer(t, "ctsw", 4 * 3 + 4), 3 * 2);
    assert_int_equal(count_layer(t, "atsw", 3 * 2 * 2), 2);
    assert_int_equal(links_between(t, "rtsw-4", "ctsw-3"), 3);
    assert_int_equal(links_between(t, "rtsw-4", "ctsw-1"), 0);
    assert_int_equal(links_between(t, "ctsw-5", "atsw-0"), 2);
    assert_int_equal(t->node[weft_topology_find_node(t, "host-8")].pod, 1);
    const struct weft_link_info *up = &t->link[weft_topology_find_link(t, "ctsw-5--atsw-1")];
    assert_int_equal(up->rate_bps, UINT64_C(800000000000));
    assert_int_equal(up->delay_ps, 2000000);
    assert_int_equal(t->link[weft_topology_find_link(t, "rtsw-0--ctsw-0")].rate_bps, UINT64_C(200000000000));
    built_free(&b);
}

/// A server is always GPUs that follow one another; with rails, each is on another RTSW of the group, and the servers
/// of a group are the downlinks of its RTSWs in order.
static void rails_of_an_ai_zone(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: ai_zone, zones: 2, racks: 8, gpus_per_rack: 3, cabling: rail, server_gpus: 4}");
    assert_int_equal(t->hosts, 2 * 8 * 3);
    for (uint32_t h = 0; h < t->hosts; h++) {
        char name[32], wanted[32];
        uint32_t server = h / 4, group = server / 3;
        weft_topology_port_name(t, weft_topology_port(t, t->host[h], 0)->peer, name, sizeof name);
        snprintf(wanted, sizeof wanted, "rtsw-%u/%u", group * 4 + h % 4, server % 3);
        assert_string_equal(name, wanted);
        snprintf(wanted, sizeof wanted, "host-%u", h);
        assert_string_equal(t->node[t->host[h]].name, wanted);
        assert_int_equal(t->node[t->host[h]].pod, h / 24);
    }
    built_free(&b);
}

static void two_layers_and_one(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: leaf_spine, leaves: 6, spines: 2, hosts_per_leaf: 3, parallel: 4, "
                 "spine_rate: 800Gbps}");
    assert_int_equal(t->hosts, 18);
    assert_int_equal(count_layer(t, "leaf", 3 + 2 * 4), 6);
    assert_int_equal(count_layer(t, "spine", 6 * 4), 2);
    assert_int_equal(links_between(t, "leaf-3", "spine-1"), 4);
    assert_peer(t, "leaf-3/7", "spine-1/12");
    assert_int_equal(t->link[weft_topology_find_link(t, "leaf-3/7")].rate_bps, UINT64_C(800000000000));
    assert_int_equal(t->node[0].pod, WEFT_NONE);
    built_free(&b);
    t = good(&b, "topology: {kind: single, hosts: 2, rate: 1Gbps, delay: 1ps}");
    assert_int_equal(t->nodes, 3);
    assert_peer(t, "switch-0/1", "host-1/0");
    built_free(&b);
}

static const char listed[] = "topology:\n"
                             "  kind: list\n"
                             "  nodes:\n"
                             "  - {name: a, role: switch, layer: left}\n"
                             "  - {name: h, role: host}\n"
                             "  - {name: b, role: switch}\n"
                             "  - {name: c, role: switch}\n"
                             "  - {name: i, role: host, layer: gpu}\n"
                             "  links:\n"
                             "  - {from: h, to: a, rate: 400Gbps, delay: 5ns, bit_error_rate: 1e-9}\n"
                             "  - {from: a, to: b, rate: 106.25Gbps, count: 3}\n"
                             "  - {from: b, to: c, rate: 1.6Tbps, delay: 10us}\n"
                             "  - {from: c, to: i}\n";

static void a_list(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, listed);
    assert_int_equal(t->links, 6);
    assert_int_equal(t->hosts, 2);
    assert_string_equal(t->node[0].layer, "left");
    assert_string_equal(t->node[2].layer, "switch");
    assert_string_equal(t->node[4].layer, "gpu");
    assert_int_equal(t->node[0].tier, 1);
    assert_int_equal(t->node[1].tier, 0);
    assert_int_equal(t->node[2].tier, 2);
    assert_int_equal(t->node[3].tier, 1);
    assert_peer(t, "a/0", "h/0");
    assert_peer(t, "a/3", "b/2");
    assert_peer(t, "b/3", "c/0");
    assert_int_equal(t->link[weft_topology_find_link(t, "b->c")].delay_ps, 10 * WEFT_PS_PER_US);
    assert_int_equal(t->link[weft_topology_find_link(t, "a--b")].rate_bps, UINT64_C(106250000000));
    built_free(&b);
}

static void named_ports(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(
        &b, "topology: {kind: list, nodes: [{name: s, role: switch}, {name: h, role: host}, {name: i, role: host},"
            " {name: z, role: switch}], links: [{from: h, to: s, to_port: E1/24}, {from: i, to: z, from_port: eth0,"
            " to_port: E1/24}, {from: s, to: z, from_port: E3/24}]}\n"
            "events: [{at: 1ms, link: s/E3/24, state: down}, {at: 2ms, link: \"z/E1/*\", state: down}]");
    static const char *const names[] = {"s/E1/24", "s/E3/24", "h/0", "i/eth0", "z/E1/24", "z/1"};
    for (uint32_t p = 0; p < t->ports; p++) {
        char name[128];
        weft_topology_port_name(t, p, name, sizeof name);
        assert_string_equal(name, names[p]);
        assert_int_equal(weft_topology_find_port(t, name), p);
    }
    assert_int_equal(weft_topology_find_port(t, "s/1"), 1);
    assert_int_equal(weft_topology_find_port(t, "s->z"), 1);
    assert_int_equal(weft_topology_find_port(t, "s/E9/24"), WEFT_NONE);
    assert_int_equal(weft_topology_find_port(t, "z/E3/24"), WEFT_NONE);
    assert_int_equal(t->event[0].link, 2);
    assert_int_equal(t->event[1].link, 1);
    built_free(&b);
}

#define NODES "topology: {kind: list, nodes: [{name: s, role: switch}, {name: h, role: host}, {name: i, role: host}]"

static void bad_input(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {NODES ",\n links: [{from: h, to: s}]}", "t.yaml:1:", "host i has no link"},
        {"topology: single\nevents:\n- {at: 1ms, link: host-0/0, state: down, for: 1ms, every: 1ms, times: 2}",
         "t.yaml:3:", "for is not below every"},
        {"topology: single\nevents:\n- {at: 1ms, link: host-0/0, state: down, for: 1ms, every: 2ms}",
         "t.yaml:3:", "every is beside times: 1"},
        {"topology: single\nevents:\n- {at: 1ms, link: host-0/0, state: down, every: 2ms, times: 2}",
         "t.yaml:3:", "every has no for"},
        {"topology: single\nevents:\n- {at: 1ms, link: host-0/0, state: down, for: 1ms, times: 2}",
         "t.yaml:3:", "times has no every"},
        {"topology: single\nevents:\n- {at: 1ms, link: host-0/0, state: down, for: 0ns}",
         "t.yaml:3:", "for: \"0ns\" is out of range 1ps to 1000s, or ever"},
        {"topology: single\nevents:\n- {at: 1ms, link: host-0/0, state: down, every: 0ns, times: 2}",
         "t.yaml:3:", "every: \"0ns\" is out of range"},
        {"topology: single\nevents:\n- {at: 1ms, link: \"*\", state: down, for: 1ms, every: 2ms, times: 1000000}",
         "t.yaml:3:", "more than 4194304 events"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s},\n {from: i, to: s}]}",
         "t.yaml:4:", "second link between s and i"},
        {NODES ", parallel: true,\n links: [{from: h, to: s},\n {from: i, to: s},\n {from: i, to: s}]}",
         "t.yaml:1:", "host i has 2 links"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, count: 2}]}", "t.yaml:1:", "host i has 2 links"},
        {NODES ",\n links: [{from: h, to: s}, {from: i, to: s},\n {from: s, to: s}]}", "t.yaml:3:", "s to itself"},
        {NODES ",\n links: [{from: h, to: s}, {from: i, to: S0}]}", "t.yaml:2:", "no node 'S0'"},
        {NODES ",\n links: [{from: h, to: i}]}", "t.yaml:2:", "linked directly"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, rate: 0bps}]}", "t.yaml:3:", "rate"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, rate: 9Mbps}]}", "t.yaml:3:", "rate"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, rate: 101Tbps}]}", "t.yaml:3:", "rate"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, rate: 400}]}", "t.yaml:3:", "rate"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, delay: 0s}]}", "t.yaml:3:", "delay"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, bit_error_rate: 2}]}", "t.yaml:3:", "bit_error_rate"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, speed: 1Gbps}]}", "t.yaml:3:", "speed"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i}]}", "t.yaml:3:", "to"},
        {NODES ",\n links: [{from: h, to: s, to_port: E1},\n {from: i, to: s, to_port: E1}]}",
         "t.yaml:3:", "second port E1 at s (the first is on line 2)"},
        {NODES ",\n links: [{from: h, to: s, to_port: 7},\n {from: i, to: s}]}", "t.yaml:2:", "bad port name '7'"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, to_port: a--b}]}",
         "t.yaml:3:", "bad port name 'a--b'"},
        {NODES ",\n links: [{from: h, to: s},\n {from: i, to: s, count: 2, to_port: E1}]}",
         "t.yaml:3:", "one port name"},
        {NODES "}", "t.yaml:1:", "'links'"},
        {NODES ", links: 7}", "t.yaml:1:", "'links'"},
        {NODES ", links: []}", "t.yaml:1:", "'links'"},
        {"topology: list", "t.yaml:1:", "'nodes'"},
        {"topology: {kind: list, nodes: [{name: a, role: host},\n {name: s, role: switch},\n {name: a, role: host}],\n "
         "links: [{from: a, to: s}]}",
         "t.yaml:3:", "second node named a (the first is on line 1)"},
        {"topology: {kind: list, nodes: [{name: a--b, role: host}], links: [{from: s, to: s}]}",
         "t.yaml:1:", "bad node name 'a--b'"},
        {"topology: {kind: list, nodes: [{name: a/b, role: host}], links: [{from: s, to: s}]}",
         "t.yaml:1:", "bad node name"},
        {"topology: {kind: list, nodes: [{name: a}], links: [{from: s, to: s}]}", "t.yaml:1:", "role"},
        {"topology: {kind: list, nodes: [{name: s, role: switch}, {name: h, role: host}], links: [{from: h, to: s}]}",
         "t.yaml:1:", "at least two"},
        {"topology: {kind: list, nodes: [{name: s, role: switch}, {name: h, role: host},\n {name: t, role: switch}, "
         "{name: i, role: host}], links: [{from: h, to: s}, {from: i, to: t}]}",
         "t.yaml:2:", "no path from s to t"},
        {"topology: {kind: fat_tree, k: 7}", "t.yaml:1:", "even"},
        {"topology: {kind: fat_tree, k: 0}", "t.yaml:1:", "k"},
        {"topology: {kind: fat_tree, k: 100000000000}", "t.yaml:1:", "k"},
        {"topology: {kind: single, hosts: 1}", "t.yaml:1:", "hosts"},
        {"topology: {kind: single, rate: 0bps}", "t.yaml:1:", "rate"},
        {"topology: {kind: single, rate: 101Tbps}", "t.yaml:1:", "rate"},
        {"topology: {kind: leaf_spine, spine_rate: 5bps}", "t.yaml:1:", "spine_rate"},
        {"topology: {kind: leaf_spine, leaves: 65535, spines: 65535, parallel: 4096}", "t.yaml:1:", "links"},
        {"topology: {kind: leaf_spine, leaves: 65535, hosts_per_leaf: 65535}", "t.yaml:1:", "nodes"},
        {"topology: {kind: leaf_spine, leaves: 16, spines: 16, parallel: 4096}", "t.yaml:1:", "65544 ports"},
        {"topology: {kind: leaf_spine, leaves: 1, hosts_per_leaf: 1}", "t.yaml:1:", "at least two"},
        {"topology: {kind: clos3, pods: 65535, access_per_pod: 65535, aggregation_per_pod: 65535, core: 65535, "
         "hosts_per_access: 65535, access_parallel: 4096, core_parallel: 4096}",
         "t.yaml:1:", "nodes"},
        {"topology: {kind: clos3, core: 9, core_wiring: plane}", "t.yaml:1:", "multiple"},
        {"topology: {kind: ai_zone, parallel: 4}", "t.yaml:1:", "uplinks 18 is not a multiple of parallel 4"},
        {"topology: {kind: ai_zone, zones: 2, ctsw_parallel: 5}",
         "t.yaml:1:", "ctsw_uplinks 36 is not a multiple of ctsw_parallel 5"},
        {"topology: {kind: ai_zone, racks: 4, cabling: rail}",
         "t.yaml:1:", "racks 4 is not a multiple of server_gpus 8"},
        {"topology: {kind: ai_zone, atsw_rate: 5bps}", "t.yaml:1:", "atsw_rate"},
        {"topology: {kind: ai_zone, zones: 65535, racks: 65535}", "t.yaml:1:", "nodes"},
        {"topology: {kind: klos}", "t.yaml:1:", "klos"},
        {"topology: {kind: single, override: 7}", "t.yaml:1:", "expected a list"},
        {"topology: {kind: single, override: [\n {link: host-9/0}]}", "t.yaml:2:9: ", "no node 'host-9'"},
        {"topology: {kind: single, override: [\n {link: host-1/0, rate: 1Mbps}]}", "t.yaml:2:", "rate"},
        {"topology: {kind: single, override: [\n {rate: 1Gbps}]}", "t.yaml:2:", "link"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct built b = build_text(cases[i].text);
        if (b.t) fail_msg("built: %s", cases[i].text);
        assert_int_equal(b.error.status, WEFT_ERROR_INPUT);
        if (strncmp(b.error.text, cases[i].place, strlen(cases[i].place)) || !strstr(b.error.text, cases[i].words))
            fail_msg("%s\n  said: %s\n  wanted: %s ... %s", cases[i].text, b.error.text, cases[i].place,
                     cases[i].words);
        built_free(&b);
    }
}

static void single_links_differ(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, override: [\n "
                 " {link: leaf-0/*, delay: 9ns}, {link: leaf-0--spine-1, rate: 100Gbps, bit_error_rate: 1e-9}]}");
    uint32_t l = weft_topology_find_link(t, "leaf-0/3");
    assert_int_equal(t->link[l].rate_bps, UINT64_C(100000000000));
    assert_int_equal(t->link[l].delay_ps, 9000);
    assert_true(t->link[l].bit_error_rate > 0);
    uint32_t h = weft_topology_find_link(t, "host-1/0"), other = weft_topology_find_link(t, "leaf-1/3");
    assert_int_equal(t->link[h].delay_ps, 9000);
    assert_int_equal(t->link[h].rate_bps, UINT64_C(200000000000));
    assert_int_equal(t->link[other].delay_ps, 150000);
    built_free(&b);
}

static void events_are_sorted(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(
        &b,
        "topology: {kind: clos3, pods: 1, access_per_pod: 2, aggregation_per_pod: 2, core: 2, hosts_per_access: 2}\n"
        "events:\n"
        "- {at: 2ms, link: access-0/3, state: up}\n"
        "- {at: 1ms, link: aggregation-1--access-0, state: down}\n"
        "- {at: 5us, link: \"core-1/*\", state: down}\n");
    assert_int_equal(t->events, 4);
    uint32_t core1 = weft_topology_find_node(t, "core-1");
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(t->event[i].time_ps, 5 * WEFT_PS_PER_US);
        assert_false(t->event[i].up);
        const struct weft_link_info *l = &t->link[t->event[i].link];
        assert_true(t->port[l->port[0]].node == core1 || t->port[l->port[1]].node == core1);
    }
    assert_true(t->event[0].link < t->event[1].link);
    assert_int_equal(t->event[2].time_ps, WEFT_PS_PER_MS);
    assert_int_equal(t->event[2].link, weft_topology_find_link(t, "access-0/3"));
    assert_int_equal(t->event[3].link, t->event[2].link);
    assert_true(t->event[3].up);
    built_free(&b);
    t = good(&b, "topology: single\nevents:\n");
    assert_int_equal(t->events, 0);
    built_free(&b);
}

/// `times` times down at 1 ms, 11 ms, ... and up 2 ms later.
static void a_link_that_flaps_is_one_entry(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
                 "events: [{at: 1ms, link: leaf-0--spine-1, state: down, for: 2ms, every: 10ms, times: 3}]\n");
    uint32_t link = weft_topology_find_link(t, "leaf-0--spine-1");
    assert_int_equal(t->events, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(t->event[i].time_ps, (1 + 10 * (i / 2) + 2 * (i % 2)) * WEFT_PS_PER_MS);
        assert_int_equal(t->event[i].link, link);
        assert_int_equal(t->event[i].up, i % 2);
    }
    built_free(&b);
}

/// A whole switch fails by "NAME/*": its links and no others, not those of ctsw-10 either.
static void whole_switch_fails(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: ai_zone, racks: 5}\nevents:\n- {at: 1ms, link: ctsw-1/*, state: down}\n");
    uint32_t ctsw = weft_topology_find_node(t, "ctsw-1");
    assert_int_equal(t->events, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t *port = t->link[t->event[i].link].port;
        assert_true(t->port[port[0]].node == ctsw || t->port[port[1]].node == ctsw);
        assert_true(!i || t->event[i].link != t->event[i - 1].link);
    }
    built_free(&b);
    t = good(&b, "topology: {kind: ai_zone, racks: 5}\nevents:\n- {at: 1ms, link: 'ctsw-[1,3]--*', state: down}\n");
    assert_int_equal(t->events, 10); // by the names of links, from either end
    built_free(&b);
    t = good(&b,
             "topology: {kind: ai_zone, racks: 5}\nevents:\n- {at: 1ms, link: 'rtsw-[0-2]--ctsw-1', state: down}\n");
    assert_int_equal(t->events, 3);
    built_free(&b);
}

static void bad_events(void **state) {
    (void)state;
    static const struct {
        const char *events, *place, *words;
    } cases[] = {
        {"[{at: 1ms, link: acess-0/8, state: down}]", "t.yaml:2:26: ", "nearest: 'access-0'"},
        {"[{at: 1ms, link: access-0/99, state: down}]", "t.yaml:2:26: ", "access-0 has ports 0 to 15"},
        {"[{at: 1ms, link: access-0/x, state: down}]", "t.yaml:2:26: ", "access-0 has ports 0 to 15"},
        {"[{at: 1ms, link: access-0--core-0, state: down}]", "t.yaml:2:26: ", "not neighbours"},
        {"[{at: 1ms, link: access-0--kore-0, state: down}]", "t.yaml:2:26: ", "nearest: 'core-0'"},
        {"[{at: 1ms, link: access-0, state: down}]", "t.yaml:2:26: ", "\"access-0/*\" is all of its links"},
        {"[{at: 1ms, link: 'kore-*', state: down}]", "t.yaml:2:26: ", "no link matches"},
        {"[{at: 1ms, link: 'host-[0..1]--*', state: down}]", "t.yaml:2:26: ", "no link matches"},
        {"[{at: 1ms, link: access-0/8, state: gone}]", "t.yaml:2:", "state"},
        {"[{at: 1, link: access-0/8, state: down}]", "t.yaml:2:", "at"},
        {"[{link: access-0/8, state: down}]", "t.yaml:2:", "at"},
        {"[{at: 1ms, link: access-0/8, state: down}, {at: 1ms, link: access-0--aggregation-0, state: up}]",
         "t.yaml:2:", "same time"},
        {"{at: 1ms}", "t.yaml:2:", "expected a list"},
        {"[7]", "t.yaml:2:", "expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "topology: clos3\nevents: %s\n", cases[i].events);
        struct built b = build_text(text);
        if (b.t) fail_msg("built: %s", text);
        if (strncmp(b.error.text, cases[i].place, strlen(cases[i].place)) || !strstr(b.error.text, cases[i].words))
            fail_msg("%s\n  said: %s\n  wanted: %s ... %s", text, b.error.text, cases[i].place, cases[i].words);
        built_free(&b);
    }
}

static void names(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: clos3");
    for (uint32_t n = 0; n < t->nodes; n++)
        assert_int_equal(weft_topology_find_node(t, t->node[n].name), n);
    for (uint32_t p = 0; p < t->ports; p++) {
        char name[64];
        weft_topology_port_name(t, p, name, sizeof name);
        assert_int_equal(weft_topology_find_port(t, name), p);
        assert_int_equal(weft_topology_find_link(t, name), t->port[p].link);
    }
    static const char *const absent[] = {"",
                                         "host-",
                                         "host-00",
                                         "access-0/",
                                         "access-0/16",
                                         "/0",
                                         "access-0/1x",
                                         "access-0/-1",
                                         "->",
                                         "host-0->host-1",
                                         "access-0/4294967296"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        assert_int_equal(weft_topology_find_node(t, absent[i]), WEFT_NONE);
        assert_int_equal(weft_topology_find_port(t, absent[i]), WEFT_NONE);
        assert_int_equal(weft_topology_find_link(t, absent[i]), WEFT_NONE);
    }
    assert_int_equal(weft_topology_find_port(t, "host-9->access-1"), t->node[t->host[9]].port0);
    built_free(&b);
}

static void globs(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool match;
    } cases[] = {
        {"*", "", true},
        {"*", "access-3/7", true},
        {"core-*", "core-12", true},
        {"core-*", "score-12", false},
        {"core-?", "core-12", false},
        {"access-[0-3]", "access-2", true},
        {"access-[0-3]", "access-4", false},
        {"access-[!0-3]", "access-4", true},
        {"access-[0,2]", "access-2", true},
        {"access-[0,2]", "access-1", false},
        {"a,core-*", "core-1", true},
        {"a, core-* ,b", "core-1", true},
        {"a,b", "c", false},
        {"[", "[", true},
        {"[]]", "]", true},
        {"x[", "xy", false},
        {"*/[89]", "access-0/9", true},
        {"*-*-*", "a-b", false},
        {"a*b*c", "aXbXbXc", true},
        {"", "", true},
        {"", "a", false},
        {"*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
        {"host-[16-31]", "host-16", true}, // numbers with several digits: a list, as of Slurm
        {"host-[16-31]", "host-31", true},
        {"host-[16-31]", "host-1", false},
        {"host-[16-31]", "host-32", false},
        {"host-[16-31]", "host-163", false},
        {"host-[16-31]", "host-016", false},
        {"gpu[001-004,007]", "gpu003", true},
        {"gpu[001-004,007]", "gpu007", true},
        {"gpu[001-004,007]", "gpu7", false},
        {"gpu[001-004,007]", "gpu005", false},
        {"gpu[8-12].hca[0-3]", "gpu10.hca2", true},
        {"gpu[8-12].*", "gpu9.hca2", true},
        {"gpu[8-12].*", "gpu08.hca2", false},
        {"n[08-12]", "n08", true},
        {"n[08-12]", "n8", false},
        {"n[098-102]", "n100", true},
        {"rack[1-2]-n[10,12]", "rack2-n12", true},
        {"rack[1-2]-n[10,12]", "rack3-n12", false},
        {"n[1-10]0", "n100", true},
        {"n[1-10]0", "n10", true},
        {"n[1-10]0", "n110", false},
        {"a[01-02],b[03-04]", "b04", true},
        {"host-?[05]", "host-15", true}, // digits alone: characters
        {"host-[0145]", "host-4", true},
        {"host-[0145]", "host-0145", false},
        {"host-[1..3]", "host-1", false}, // neither a list nor characters
        {"host-[16..31]", "host-3", false},
        {"host-[!16-31]", "host-4", false},
        {"host-[a-f,10]", "host-b", false},
        {"[1-10][1-10][1-10][1-10][1-10][1-10][1-10][1-10]x", "1111111111111111111111111111111111111111", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (weft_glob_match(cases[i].pattern, cases[i].name) != cases[i].match)
            fail_msg("'%s' against '%s'", cases[i].pattern, cases[i].name);
}

/// "1 2 3": the numbers of the hosts chosen, in their order; or the error.
static const char *chosen(const struct weft_topology *t, const char *text) {
    static char list[512];
    static struct weft_error error;
    uint32_t *host, n;
    *list = 0;
    error = (struct weft_error){0};
    if (weft_topology_select_hosts(t, text, WEFT_NOWHERE, &host, &n, &error)) return error.text;
    for (uint32_t i = 0; i < n; i++)
        sprintf(list + strlen(list), "%s%u", i ? " " : "", host[i]);
    return list;
}

/// Lists of hosts as Slurm and pdsh write them: all names that they stand for, in their order, or an error.
static void host_lists(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: {kind: single, hosts: 120}");
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"host-[8-12]", "8 9 10 11 12"},
        {"host-[12,8-10,3]", "12 8 9 10 3"},
        {"host-[98-101],host-[3]", "98 99 100 101 3"},
        {"host-[1-2][10,11]", "no host 'host-210'"},
        {"host-[1-2][8-9]", "18 19 28 29"},
        {"host-1[00-03]", "100 101 102 103"},
        {"host-[1-2][08,09]", "no host 'host-208'"},
        {"host-8..11", "8 9 10 11"},
        {"host-[118-121]", "no host 'host-120'"},
        {"host-[008-012]", "no host 'host-008'"},
        {"host-008..012", "no host 'host-008'"},
        {"host-[12-8]", "'12-8' is not a range"},
        {"host-[13]", "'host-[13]' is host-13 as a list, and one of these digits as a pattern; expected host-13, or a "
                      "comma"},
        {"host-[1,3]", "1 3"},
        {"host-[912]", "1 2 9"}, // there is no host-912
        {"host-[10-12", "no host matches 'host-[10-12'"},
        {"host-[a-c,10]", "'[a-c,10]' is neither a list of numbers nor a set of characters; expected"},
        {"host-[1-,3]", "'[1-,3]' is neither a list of numbers nor a set of characters; expected"},
        {"host-[1,3,]", "'[1,3,]' is neither a list of numbers nor a set of characters; expected"},
        {"host-[10-]", "'[10-]' is neither"},
        {"host-[10,]", "'[10,]' is neither"},
        {"host-[!16-31]", "'[!16-31]' is neither"},
        {"host-[05-7]*", "'[05-7]' is neither"},
        {"host-[1-010]", "'[1-010]' is neither"},
        {"host-[1..3]", "'[1..3]' is neither"},
        {"host-[16..31]", "'[16..31]' is neither"},
        {"host-[0-12/4]", "'[0-12/4]' is neither"},
        {"host-[4-7/2]", "'[4-7/2]' is neither"},
        {"host-[0-9:3]", "'[0-9:3]' is neither"},
        {"host-[1-3a-f]", "1 2 3"},
        {"hots-[10-12]", "no host 'hots-10'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = chosen(t, cases[i].text);
        if (strncmp(found, cases[i].expected, strlen(cases[i].expected)))
            fail_msg("%s: %s, expected %s", cases[i].text, found, cases[i].expected);
    }
    built_free(&b);
    t = good(&b,
             "topology: {kind: list, nodes: [{name: s, role: switch}, {name: gpu001, role: host}, {name: gpu002, role: "
             "host}, {name: gpu010, role: host}], links: [{from: gpu001, to: s}, {from: gpu002, to: s}, {from: "
             "gpu010, to: s}]}");
    assert_string_equal(chosen(t, "gpu[001-002,010]"), "0 1 2");
    assert_string_equal(chosen(t, "gpu001..002"), "0 1");
    assert_non_null(strstr(chosen(t, "gpu[1-2,10]"), "no host 'gpu1'"));
    built_free(&b);
}

static void select_hosts(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: clos3");
    uint32_t *host, n;
    struct weft_place place = {.file = "x", .line = 3, .column = 5};
    struct weft_error error = {0};
    assert_int_equal(weft_topology_select_hosts(t, "host-7, host-3..5,host-4,host-102?", place, &host, &n, &error), 0);
    static const uint32_t wanted[] = {7, 3, 4, 5, 1020, 1021, 1022, 1023};
    assert_int_equal(n, sizeof wanted / sizeof *wanted);
    assert_memory_equal(host, wanted, sizeof wanted);
    assert_int_equal(weft_topology_select_hosts(t, "*", place, &host, &n, &error), 0);
    assert_int_equal(n, 1024);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "empty"},
        {"host-1,,host-2", "empty"},
        {"host-1,host-2,host-1", "chosen twice"},
        {"host-1024", "host-0 to host-1023"},
        {"hots-3", "nearest: 'host-3'"},
        {"core-1", "is a switch"},
        {"core-*", "no host matches"},
        {"host-5..3", "range"},
        {"host-..3", "range"},
        {"host-0..99999999999", "range"},
        {"host-1020..1030", "no host 'host-1024'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.status = WEFT_OK;
        assert_int_equal(weft_topology_select_hosts(t, bad[i].text, place, &host, &n, &error), WEFT_ERROR_INPUT);
        if (strncmp(error.text, "x:3:5: ", 7) || !strstr(error.text, bad[i].words))
            fail_msg("'%s' said: %s", bad[i].text, error.text);
    }
    built_free(&b);
}

static void assert_ports(const struct weft_topology *t, const char *text, const char *wanted) {
    uint32_t *port, n;
    struct weft_error error = {0};
    char names[256] = "", name[32];
    if (weft_topology_select_ports(t, text, WEFT_NOWHERE, &port, &n, &error)) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < n; i++) {
        weft_topology_port_name(t, port[i], name, sizeof name);
        strcat(names, i ? " " : "");
        strcat(names, name);
    }
    assert_string_equal(names, wanted);
}

static void select_ports(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 100Gbps}");
    assert_ports(t, "host-3", "host-3/0");
    assert_ports(t, "leaf-1/2,leaf-0/3,leaf-1/2", "leaf-0/3 leaf-1/2");
    assert_ports(t, "spine-0", "spine-0/0 spine-0/1");
    assert_ports(t, "leaf-0->spine-1 , spine-1->leaf-0", "leaf-0/3 spine-1/0");
    assert_ports(t, "leaf-*->spine-1", "leaf-0/3 leaf-1/3");
    assert_ports(t, "leaf-[1]/[01]", "leaf-1/0 leaf-1/1");
    assert_ports(t, "host-?", "host-0/0 host-1/0 host-2/0 host-3/0");
    uint32_t *port, n;
    assert_int_equal(weft_topology_select_ports(t, "*", WEFT_NOWHERE, &port, &n, NULL), 0);
    assert_int_equal(n, t->ports);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "empty"},
        {"host-1,", "empty"},
        {"host-1/1", "host-1 has ports host-1/0 to host-1/0"},
        {"leaf-0/x", "leaf-0 has ports leaf-0/0 to leaf-0/3"},
        {"leef-0/1", "no node 'leef-0'; there are"},
        {"leef-0/1", "nearest: 'leaf-0'"},
        {"leaf-0->spin-1", "nearest: 'spine-1'"},
        {"host-0->spine-1", "host-0 has no link to spine-1"},
        {"host-0,core-*/1", "no port matches 'core-*/1'; ports are"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weft_error error = {0};
        const struct weft_place place = {.file = "x", .line = 3, .column = 5};
        assert_int_equal(weft_topology_select_ports(t, bad[i].text, place, &port, &n, &error), WEFT_ERROR_INPUT);
        if (strncmp(error.text, "x:3:5: ", 7) || !strstr(error.text, bad[i].words))
            fail_msg("'%s' said: %s", bad[i].text, error.text);
    }
    built_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fabric_of_1024),
        cmocka_unit_test(order_suits_workers),
        cmocka_unit_test(clos3_parameters),
        cmocka_unit_test(one_ai_zone),
        cmocka_unit_test(ai_zones_under_aggregators),
        cmocka_unit_test(rails_of_an_ai_zone),
        cmocka_unit_test(fat_trees),
        cmocka_unit_test(two_layers_and_one),
        cmocka_unit_test(a_list),
        cmocka_unit_test(named_ports),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(single_links_differ),
        cmocka_unit_test(events_are_sorted),
        cmocka_unit_test(a_link_that_flaps_is_one_entry),
        cmocka_unit_test(whole_switch_fails),
        cmocka_unit_test(bad_events),
        cmocka_unit_test(names),
        cmocka_unit_test(globs),
        cmocka_unit_test(host_lists),
        cmocka_unit_test(select_hosts),
        cmocka_unit_test(select_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
