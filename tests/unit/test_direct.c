// SPDX-License-Identifier: Apache-2.0
// Tori, dragonflies of switches, planes, and domains of scale-up: who has links to whom, names, and what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "topologies.h"
#include "weft/waits.h"

static struct weft_topology *good(struct built *b, const char *topology) {
    char text[512];
    snprintf(text, sizeof text, "topology: %s\n", topology);
    *b = build_text(text);
    if (!b->t) fail_msg("%s", b->error.text);
    return b->t;
}

static void bad(const char *topology, const char *says) {
    char text[512];
    snprintf(text, sizeof text, "topology: %s\n", topology);
    struct built b = build_text(text);
    assert_null(b.t);
    assert_int_equal(b.error.status, WEFT_ERROR_INPUT);
    if (strncmp(b.error.text, "t.yaml:1:", 9) || !strstr(b.error.text, says))
        fail_msg("'%s' has no place or does not say '%s'", b.error.text, says);
    built_free(&b);
}

/// Links between two nodes.
static uint32_t links_between(const struct weft_topology *t, const char *a, const char *b) {
    uint32_t from = weft_topology_find_node(t, a), to = weft_topology_find_node(t, b), n = 0;
    assert_true(from != WEFT_NONE && to != WEFT_NONE);
    for (uint32_t k = 0; k < t->node[from].ports; k++)
        n += t->port[weft_topology_port(t, from, k)->peer].node == to;
    return n;
}

/// The hops from a chip to all others together.
static uint32_t sum_of_hops(const struct weft_topology *t, uint32_t from) {
    uint32_t *hops = calloc(t->nodes, sizeof *hops), *queue = calloc(t->nodes, sizeof *queue), n = 0, sum = 0;
    queue[n++] = from;
    hops[from] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < t->node[queue[i]].ports; k++) {
            uint32_t peer = t->port[weft_topology_port(t, queue[i], k)->peer].node;
            if (t->node[peer].role == WEFT_NODE_HOST || hops[peer]) continue;
            hops[peer] = hops[queue[i]] + 1;
            sum += hops[peer] - 1;
            queue[n++] = peer;
        }
    free(hops);
    free(queue);
    return sum;
}

/// A ring of 4 has 1 hop on average, of 8 has 2, so 4 x 4 x 8 has 128 * (1 + 1 + 2) from every chip; twisted, the
/// lattice FCC of Camarero, Martinez and Beivide, 128 * 3.4375. 4 x 8 x 8: 256 * 5; twisted, the lattice BCC, 256
/// * 4.3125.
static void tori_have_their_hops(void **state) {
    static const struct {
        const char *topology;
        uint32_t chips, hops;
    } tori[] = {{"{kind: torus, size: 4x4x8}", 128, 512},
                {"{kind: torus, size: 4x4x8, twist: on}", 128, 440},
                {"{kind: torus, size: 8x4x4, twist: on}", 128, 440},
                {"{kind: torus, size: 4x8x8}", 256, 1280},
                {"{kind: torus, size: 4x8x8, twist: on}", 256, 1104},
                {"{kind: torus, size: 16x16}", 256, 256 * 8},
                {"{kind: torus, size: 2x3x2x5}", 60, 0}};
    for (unsigned i = 0; i < sizeof tori / sizeof *tori; i++) {
        struct built b;
        const struct weft_topology *t = good(&b, tori[i].topology);
        assert_int_equal(t->hosts, tori[i].chips);
        for (uint32_t s = 0; s < t->switches && tori[i].hops; s += 7)
            assert_int_equal(sum_of_hops(t, t->switch_node[s]), tori[i].hops);
        built_free(&b);
    }
    struct built b;
    const struct weft_topology *t = good(&b, "{kind: torus, size: 4x4x8, twist: on, rate: 400Gbps}");
    assert_int_equal(links_between(t, "chip-0", "chip-1"), 1);
    assert_int_equal(links_between(t, "chip-96", "chip-4"), 1); // (3, 0, 0) wraps to (0, 0, 4)
    assert_int_equal(t->link[weft_topology_find_link(t, "host-0/0")].rate_bps, UINT64_C(2400000000000));
    built_free(&b);
}

/// Every pair of groups has a link, and every port is used.
static void groups_are_meshed(void **state) {
    static const char *const topologies[] = {"{kind: group_dragonfly}",
                                             "{kind: group_dragonfly, groups: 6, switches: 4, global: 2}",
                                             "{kind: group_dragonfly, groups: 2, switches: 2, global: 1}"};
    for (unsigned i = 0; i < 3; i++) {
        struct built b;
        const struct weft_topology *t = good(&b, topologies[i]);
        uint32_t groups = t->node[t->switch_node[t->switches - 1]].pod + 1, ports = t->node[t->switch_node[0]].ports;
        uint8_t met[16][16] = {{0}};
        for (uint32_t l = 0; l < t->links; l++) {
            uint32_t x = t->node[t->port[t->link[l].port[0]].node].pod,
                     y = t->node[t->port[t->link[l].port[1]].node].pod;
            met[x][y] = met[y][x] = 1;
        }
        for (uint32_t x = 0; x < groups; x++)
            for (uint32_t y = 0; y < groups; y++)
                assert_true(met[x][y]);
        for (uint32_t s = 0; s < t->switches; s++)
            assert_int_equal(t->node[t->switch_node[s]].ports, ports);
        built_free(&b);
    }
}

static void planes_keep_names(void **state) {
    struct built b;
    const struct weft_topology *t = good(&b, "{kind: planes, planes: 3, plane: {kind: single, hosts: 4}}");
    assert_int_equal(t->networks, 3);
    assert_int_equal(t->network[2].hosts, 4);
    assert_string_equal(t->network[1].name, "plane-1");
    assert_string_equal(t->node[t->host[0]].name, "host-0");
    assert_string_equal(t->node[t->host[4]].name, "plane-1-host-0");
    assert_true(weft_topology_find_node(t, "plane-2-switch-0") != WEFT_NONE);
    built_free(&b);
}

static void servers_have_their_links(void **state) {
    struct built b;
    const struct weft_topology *t =
        good(&b, "{kind: scale_up, server: dgx_h100, servers: 4, nic_rate: 400Gbps, leaves: 2, spines: 3}");
    assert_int_equal(t->hosts, 32);
    assert_int_equal(t->machines, 4);
    assert_int_equal(links_between(t, "gpu-9", "nvswitch-4"), 5); // 18 links to 4 switches in turn
    assert_int_equal(links_between(t, "gpu-9", "nvswitch-6"), 4);
    assert_int_equal(links_between(t, "gpu-9", "nvswitch-0"), 0);
    assert_int_equal(links_between(t, "gpu-9", "leaf-2"), 1); // rail 1, first half of the servers
    assert_int_equal(links_between(t, "gpu-25", "leaf-3"), 1);
    assert_int_equal(links_between(t, "leaf-3", "spine-5"), 1);
    assert_int_equal(links_between(t, "leaf-3", "spine-6"), 0); // of another rail
    assert_int_equal(t->link[weft_topology_find_link(t, "host-0/0")].rate_bps, UINT64_C(2966400000000));
    built_free(&b);
    t = good(&b, "{kind: scale_up, server: gb200_nvl72, reduces: on}");
    uint32_t *host, n;
    assert_int_equal(weft_topology_select_hosts(t, "*", WEFT_NOWHERE, &host, &n, NULL), WEFT_OK);
    assert_int_equal(n, 72);
    assert_int_equal(weft_topology_select_hosts(t, "host-*,alu-*", WEFT_NOWHERE, &host, &n, NULL), WEFT_OK);
    assert_int_equal(n, 72 + 18);
    assert_string_equal(t->node[t->host[host[72]]].name, "alu-0");
    built_free(&b);
}

/// Circles of links that may wait for one another: round a torus, through the groups of a dragonfly. None where every
/// path goes up and then down (Dally and Seitz 1987; Leiserson 1985), or through the server first and the rail then.
static void circles_are_found(void **state) {
    static const struct {
        const char *topology;
        bool circle;
    } cases[] = {{"{kind: torus, size: 4x4x4}", true}, {"{kind: torus, size: 3x3x6, twist: on}", true},
                 {"{kind: torus, size: 3x3}", true}, // by turns: no path has two links of a ring
                 {"{kind: group_dragonfly}", true},    {"{kind: scale_up, servers: 2, nic_rate: 400Gbps}", false},
                 {"{kind: scale_up}", false},          {"{kind: single}", false},
                 {"{kind: leaf_spine}", false},        {"{kind: clos3, pods: 4}", false},
                 {"{kind: fat_tree, k: 6}", false},    {"{kind: ai_zone, zones: 2, racks: 8}", false},
                 {"{kind: dc_fabric}", false}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct built b;
        const struct weft_topology *t = good(&b, cases[i].topology);
        struct weft_routes *r = weft_routes_new(t, NULL);
        if ((weft_routes_find_wait(r, t) != WEFT_NONE) != cases[i].circle) fail_msg("%s", cases[i].topology);
        weft_routes_free(r);
        built_free(&b);
    }
}

static void refused(void **state) {
    bad("{kind: torus, size: 4}", "one dimension; expected 2 to 4");
    bad("{kind: torus, size: 4x}", "expected 2 to 4 numbers");
    bad("{kind: torus, size: 4x1}", "expected 2 to 4 numbers");
    bad("{kind: torus, size: 2x2x2x2x2}", "expected 2 to 4 numbers");
    bad("{kind: torus, size: -4x4}", "expected 2 to 4 numbers");
    bad("{kind: torus, size: 99999999999999999999x4}", "expected 2 to 4 numbers");
    bad("{kind: torus, size: 4096x4096}", "at most");
    bad("{kind: torus, size: 4x4x9, twist: on}", "n x n x 2n or n x 2n x 2n");
    bad("{kind: torus, size: 4x8, twist: on}", "n x n x 2n or n x 2n x 2n");
    bad("{kind: torus, size: 8x8x8, twist: on}", "n x n x 2n or n x 2n x 2n");
    bad("{kind: torus, size: 2x2x4, twist: on}", "n of 3 or more");
    bad("{kind: torus, host_rate: 1bps}", "host_rate is 1bps");
    bad("{kind: group_dragonfly, groups: 10}", "at least one to each other group");
    bad("{kind: group_dragonfly, switches: 3, global: 1, groups: 2}", "even number of ports");
    bad("{kind: planes, planes: 1}", "planes");
    bad("{kind: planes, plane: {kind: nope}}", "nope");
    bad("{kind: planes, plane: {kind: planes}}", "makes several networks");
    bad("{kind: planes, plane: {kind: networks}}", "networks within networks");
    bad("{kind: planes, plane: {kind: single, override: []}}", "in the section topology itself");
    bad("{kind: scale_up, links: 3}", "a link to each switch");
    bad("{kind: scale_up, servers: 2}", "expected NICs to join the servers");
    bad("{kind: scale_up, servers: 3, nic_rate: 400Gbps, leaves: 2, spines: 1}", "expected a divisor of servers");
    bad("{kind: scale_up, servers: 2, nic_rate: 400Gbps, leaves: 2}", "expected spines, or a single leaf");
    bad("{kind: scale_up, server: tomahawk5}", "tomahawk5");
    bad("{kind: scale_up, servers: 65535, gpus: 1024, nic_rate: 400Gbps}", "at most");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tori_have_their_hops), cmocka_unit_test(groups_are_meshed),
        cmocka_unit_test(planes_keep_names),    cmocka_unit_test(servers_have_their_links),
        cmocka_unit_test(circles_are_found),    cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
