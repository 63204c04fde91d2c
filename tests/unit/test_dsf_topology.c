// SPDX-License-Identifier: Apache-2.0
// DSF networks against the text that describes them (Meta, "Disaggregated Scheduled Fabric") and the counts of FBOSS.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "topologies.h"

static const struct weft_topology *good(struct built *b, const char *text) {
    *b = build_text(text);
    if (!b->t) fail_msg("%s", b->error.text);
    return b->t;
}

static uint32_t count_layer(const struct weft_topology *t, const char *layer) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nodes; i++)
        n += !strcmp(t->node[i].layer, layer);
    return n;
}

static const struct weft_node_info *peer_of(const struct weft_topology *t, uint32_t port) {
    return &t->node[t->port[t->port[port].peer].node];
}

/// Ports of a node towards a layer.
static uint32_t ports_to(const struct weft_topology *t, const struct weft_node_info *node, const char *layer) {
    uint32_t n = 0;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++)
        n += !strcmp(peer_of(t, p)->layer, layer);
    return n;
}

/// "fdsw-3.1": 1.
static uint32_t virtual_device(const struct weft_node_info *node) {
    const char *dot = strchr(node->name, '.');
    assert_non_null(dot);
    return (uint32_t)(dot[1] - '0');
}

static void check_l2_node(const struct weft_topology *t, const struct weft_node_info *node) {
    if (!strcmp(node->layer, "rdsw")) {
        assert_int_equal(node->box, WEFT_BOX_DSF_INTERFACE);
        assert_int_equal(node->fabric_level, 0);
        assert_int_equal(node->cluster, node->pod);
        assert_int_equal(ports_to(t, node, "host"), 36);
        assert_int_equal(ports_to(t, node, "fdsw"), 160);
    } else if (!strcmp(node->layer, "fdsw")) {
        assert_int_equal(node->box, WEFT_BOX_DSF_FABRIC);
        assert_int_equal(node->fabric_level, 1);
        assert_int_equal(node->cluster, node->pod);
        assert_int_equal(ports_to(t, node, "rdsw"), 128);
        assert_int_equal(ports_to(t, node, "sdsw"), 128);
    } else if (!strcmp(node->layer, "sdsw")) {
        assert_int_equal(node->box, WEFT_BOX_DSF_FABRIC);
        assert_int_equal(node->fabric_level, 2);
        assert_int_equal(node->cluster, WEFT_NONE);
        assert_int_equal(ports_to(t, node, "fdsw"), 160);
    } else {
        assert_int_equal(node->box, WEFT_BOX_HOST);
        assert_int_equal(node->cluster, WEFT_NONE);
    }
}

// Blog: 4 L1 zones, 18K GPUs of 800G, two planes. FBOSS VoqConstants.h and platform mappings: 512 RDSWs of 36 x 400G
// with 160 lanes, 40 lanes of each to the virtual devices of one number; 128 lanes of a level 1 device to RDSWs and 128
// to level 2; 40 FDSWs a cluster, so 160 of the 200 lanes of a level 2 device (the rest are for an edge cluster).
static void l2_zone(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: dsf_l2_zone");
    assert_int_equal(t->hosts, 18432);
    assert_int_equal(count_layer(t, "rdsw"), 512);
    assert_int_equal(count_layer(t, "fdsw"), 4 * 40 * 4);
    assert_int_equal(count_layer(t, "sdsw"), 128 * 4);
    assert_int_equal(t->links, 18432 + 512 * 160 + 640 * 128);
    for (uint32_t n = 0; n < t->nodes; n++)
        check_l2_node(t, &t->node[n]);
    for (uint32_t l = 0; l < t->links; l++) {
        const struct weft_node_info *from = &t->node[t->port[t->link[l].port[0]].node];
        const struct weft_node_info *to = &t->node[t->port[t->link[l].port[1]].node];
        bool fabric = weft_topology_link_is_fabric(t, l);
        assert_int_equal(fabric, strcmp(to->layer, "host") != 0);
        // 106.25G x 16/17 for cells
        assert_int_equal(t->link[l].rate_bps, fabric ? UINT64_C(100000000000) : UINT64_C(400000000000));
        if (!strcmp(to->layer, "sdsw")) assert_int_equal(virtual_device(from), virtual_device(to));
        if (!strcmp(to->layer, "fdsw")) assert_int_equal(from->cluster, to->cluster);
    }
    built_free(&b);
}

/// One lane of an RDSW to each virtual device of its zone's FDSWs, the first 36 ports being the hosts'.
static void lanes_of_an_rdsw(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: dsf_l2_zone");
    uint32_t rdsw = weft_topology_find_node(t, "rdsw-200"); // zone 1: FDSWs 40 to 79
    for (uint32_t k = 0; k < 160; k++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "fdsw-%u.%u", 40 + k / 4, k % 4);
        assert_string_equal(peer_of(t, t->node[rdsw].port0 + 36 + k)->name, wanted);
    }
    built_free(&b);
}

/// Rails: the GPUs of a server follow one another and are on 8 RDSWs, and 36 such servers make a scaling unit.
static void rails(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: dsf_l1_zone");
    assert_int_equal(t->hosts, 128 * 36);
    assert_int_equal(count_layer(t, "fdsw"), 160);
    assert_int_equal(t->links, 128 * 36 + 128 * 160);
    for (uint32_t h = 0; h < t->hosts; h++) {
        char wanted[32], found[64];
        uint32_t server = h / 8, unit = server / 36;
        snprintf(wanted, sizeof wanted, "rdsw-%u/%u", unit * 8 + h % 8, server % 36);
        weft_topology_port_name(t, weft_topology_port(t, t->host[h], 0)->peer, found, sizeof found);
        assert_string_equal(found, wanted);
    }
    built_free(&b);
}

// Blog, figure 4: two clusters of 4 RDSWs and 2 FDSWs, 2 SDSWs. From its text: an SDSW has 4 links to a cluster, an
// FDSW 4 to its RDSWs and 4 to SDSWs, so 2 between an FDSW and an SDSW.
static void figure_4(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: dsf_l2_zone, zones: 2, rdsws: 4, fdsws: 2, virtual_devices: 1, sdsws: 2, "
                 "sdsw_lanes: 2, hosts_per_rdsw: 1, rails: 4}");
    assert_int_equal(t->switches, 8 + 4 + 2);
    for (uint32_t s = 0; s < t->switches; s++) {
        const struct weft_node_info *node = &t->node[t->switch_node[s]];
        if (!strcmp(node->layer, "fdsw")) {
            assert_int_equal(ports_to(t, node, "rdsw"), 4);
            assert_int_equal(ports_to(t, node, "sdsw"), 4);
        } else {
            assert_int_equal(node->ports, !strcmp(node->layer, "sdsw") ? 8 : 3);
        }
    }
    assert_int_not_equal(weft_topology_find_link(t, "fdsw-3--sdsw-1"), WEFT_NONE);
    assert_int_not_equal(weft_topology_find_link(t, "rdsw-7--fdsw-2"), WEFT_NONE);
    assert_int_equal(weft_topology_find_link(t, "rdsw-7--fdsw-1"), WEFT_NONE);
    built_free(&b);
}

static uint64_t up_bps(const struct weft_topology *t, const struct weft_node_info *node) {
    uint64_t sum = 0;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++)
        if (peer_of(t, p)->tier > node->tier) sum += t->link[t->port[p].link].rate_bps;
    return sum;
}

// Blog: 5 L2 zones; edge PoDs of 40 FDSWs and 128 EDSWs; an EDSW has 4 x 800G to each of four superspines, 2k x 800G a
// PoD; oversubscription 4.5:1. VoqConstants.h: 200 lanes from a virtual device of level 2 to level 1, 128 up of
// level 1.
static void region(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: dsf_region");
    assert_int_equal(t->hosts, 5 * 18432);
    assert_int_equal(count_layer(t, "edsw"), 5 * 128);
    assert_int_equal(count_layer(t, "edge-fdsw"), 5 * 40 * 4);
    uint64_t edge_bps = 0, host_bps = 0, up = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft_node_info *node = &t->node[n];
        if (!strcmp(node->layer, "edsw")) {
            assert_int_equal(node->box, WEFT_BOX_DSF_INTERFACE);
            assert_int_equal(node->cluster, WEFT_CLUSTER_EDGE);
            assert_int_equal(ports_to(t, node, "superspine"), 16);
            assert_int_equal(ports_to(t, node, "edge-fdsw"), 160);
            const struct weft_node_info *seen = NULL; // four superspines, four links to each, side by side
            for (uint32_t k = 0; k < 16; k++) {
                const struct weft_node_info *peer = peer_of(t, node->port0 + k);
                assert_int_equal(k % 4 == 0, peer != seen);
                seen = peer;
            }
            edge_bps += up_bps(t, node);
            up += 16;
        } else if (!strcmp(node->layer, "edge-fdsw")) {
            assert_int_equal(node->cluster, WEFT_CLUSTER_EDGE);
            assert_int_equal(ports_to(t, node, "edsw"), 128);
            assert_int_equal(ports_to(t, node, "sdsw"), 128);
        } else if (!strcmp(node->layer, "sdsw")) {
            assert_int_equal(node->ports, 200);
        } else if (!strcmp(node->layer, "superspine")) {
            assert_int_equal(node->box, WEFT_BOX_ETHERNET_SWITCH);
            assert_int_equal(node->ports, 5 * 2 * 4);
        } else if (node->role == WEFT_NODE_HOST) {
            host_bps += up_bps(t, node);
        }
    }
    assert_int_equal(up, 5 * 2048);
    assert_int_equal(10 * host_bps, 45 * edge_bps);
    built_free(&b);
}

#define SMALL                                                                                                          \
    "l2_zones: 2, zones: 2, rdsws: 4, rails: 2, fdsws: 2, sdsws: 2, hosts_per_rdsw: 2, edsws: 4, edge_fdsws: 1, "      \
    "superspine_groups: 2, edsw_superspines: 1, superspine_links: 2"

// 5us a kilometre: the speed of light in a fibre.
static void two_regions(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: dsf_region, " SMALL ", regions: 2, region_links: 3, distance_km: 25.5, region_rate: "
                 "400Gbps}");
    assert_int_equal(t->hosts, 2 * 2 * 2 * 4 * 2);
    assert_int_equal(count_layer(t, "superspine"), 4);
    const struct weft_link_info *far = &t->link[weft_topology_find_link(t, "superspine-1--superspine-3")];
    assert_int_equal(far->delay_ps, 127500000);
    assert_int_equal(far->rate_bps, UINT64_C(400000000000));
    assert_int_equal(weft_topology_find_link(t, "superspine-1--superspine-2"), WEFT_NONE);
    const struct weft_node_info *superspine = &t->node[weft_topology_find_node(t, "superspine-0")];
    assert_int_equal(ports_to(t, superspine, "edsw"), 2 * 2 * 2); // a group has 2 EDSWs a building
    assert_int_equal(ports_to(t, superspine, "superspine"), 3);
    assert_int_not_equal(weft_topology_find_link(t, "edsw-1--superspine-0"), WEFT_NONE);
    assert_int_not_equal(weft_topology_find_link(t, "edsw-6--superspine-1"), WEFT_NONE);
    assert_int_equal(t->node[weft_topology_find_node(t, "rdsw-13")].cluster, 1); // of its building
    assert_int_equal(t->node[weft_topology_find_node(t, "rdsw-13")].pod, 3);     // of all
    built_free(&b);
}

static void unlike_zones(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t =
        good(&b, "topology: {kind: dsf_region, " SMALL ", nics: [{zone: 1, host_rate: 800Gbps, hosts_per_rdsw: 1}, "
                 "{zone: 3, host_delay: 7ns}]}");
    assert_int_equal(t->hosts, 4 * (2 + 1 + 2 + 2));
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t port = t->node[t->host[h]].port0, zone = peer_of(t, port)->pod;
        const struct weft_link_info *l = &t->link[t->port[port].link];
        assert_int_equal(l->rate_bps, UINT64_C(1000000000) * (zone == 1 ? 800 : 400));
        assert_int_equal(l->delay_ps, zone == 3 ? 7000 : 100000);
        assert_int_equal(ports_to(t, peer_of(t, port), "host"), zone == 1 ? 1 : 2);
    }
    built_free(&b);
}

// Blog: two network planes that are identical to each other. Both of an L2 zone: 18,432 GPUs of 2 x 400G.
static void two_planes(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: {kind: dsf_l2_zone, planes: 2}");
    assert_int_equal(t->networks, 2);
    assert_int_equal(t->hosts, 2 * 18432);
    assert_int_equal(t->links, 2 * (18432 + 512 * 160 + 640 * 128));
    assert_string_equal(t->network[1].name, "plane-1");
    uint32_t half = t->nodes / 2;
    for (uint32_t n = 0; n < half; n++) {
        const struct weft_node_info *x = &t->node[n], *y = &t->node[n + half];
        assert_string_equal(x->name + strlen("plane-0"), y->name + strlen("plane-1"));
        assert_int_equal(x->cluster, y->cluster);
        assert_int_equal(x->ports, y->ports);
        for (uint32_t k = 0; k < x->ports; k++)
            assert_int_equal(t->port[t->port[x->port0 + k].peer].node + half, t->port[t->port[y->port0 + k].peer].node);
    }
    assert_int_not_equal(weft_topology_find_link(t, "plane-1-rdsw-511--plane-1-fdsw-159.3"), WEFT_NONE);
    built_free(&b);
}

static void listed_boxes(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(
        &b, "topology: {kind: list, nodes: [{name: h, role: host}, {name: i, role: host}, {name: e, role: switch}, "
            "{name: r, role: switch, box: dsf_interface, cluster: 3}, {name: f, role: switch, box: dsf_fabric, "
            "cluster: 3}, {name: s, role: switch, box: dsf_fabric, fabric_level: 2}], links: [{from: h, to: e}, "
            "{from: e, to: r}, {from: r, to: f}, {from: f, to: s}, {from: r, to: i}]}");
    const struct {
        const char *name;
        enum weft_node_box box;
        uint32_t level, cluster;
    } wanted[] = {{"h", WEFT_BOX_HOST, 0, WEFT_NONE},
                  {"e", WEFT_BOX_ETHERNET_SWITCH, 0, WEFT_NONE},
                  {"r", WEFT_BOX_DSF_INTERFACE, 0, 3},
                  {"f", WEFT_BOX_DSF_FABRIC, 1, 3},
                  {"s", WEFT_BOX_DSF_FABRIC, 2, WEFT_NONE}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct weft_node_info *node = &t->node[weft_topology_find_node(t, wanted[i].name)];
        assert_int_equal(node->box, wanted[i].box);
        assert_int_equal(node->fabric_level, wanted[i].level);
        assert_int_equal(node->cluster, wanted[i].cluster);
    }
    built_free(&b);
}

#define LIST(nodes, links)                                                                                             \
    "topology:\n  kind: list\n  nodes:\n  - {name: h, role: host}\n  - {name: i, role: host}\n"                        \
    "  - {name: r, role: switch, box: dsf_interface}\n" nodes                                                          \
    "  links:\n  - {from: h, to: r}\n  - {from: i, to: r}\n" links

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"topology: {kind: dsf_l1_zone, rdsws: 12}", "t.yaml:1:", "rdsws 12 is not a multiple of rails 8"},
        {"topology: {kind: dsf_l1_zone, lane_rate: 10Mbps, lane_coding: 0.25}", "t.yaml:1:", "2.5Mbps"},
        {"topology: {kind: dsf_region, hyperport: 3}",
         "t.yaml:1:", "superspine_links 4 is not a multiple of hyperport 3"},
        {LIST("  - {name: f, role: switch, box: dsf_fabric}\n", "  - {from: r, to: f, members: 2}\n"),
         "t.yaml:", "members 2 of a link between r and f; expected 1"},
        {"topology: {kind: dsf_l1_zone, sdsws: 2}", "t.yaml:1:", "sdsws"},
        {"topology: {kind: dsf_l2_zone, fdsws: 65535, sdsws: 65535}", "t.yaml:1:", "links"},
        {"topology: {kind: dsf_l2_zone, nics: [{zone: 4, host_rate: 1Gbps}]}", "t.yaml:1:45", "expected 0 to 3"},
        {"topology: {kind: dsf_l2_zone, nics: {zone: 1}}", "t.yaml:1:", "expected a list"},
        {"topology: {kind: dsf_l2_zone, nics: [{zone: 1, hosts_per_rdsw: 65535}, {zone: 2, hosts_per_rdsw: 65535}]}",
         "t.yaml:1:", "nodes"},
        {"topology: {kind: dsf_region, planes: 16}", "t.yaml:1:", "links"},
        {"topology: {kind: dsf_region, edsws: 100}",
         "t.yaml:1:", "edsws 100 is not a multiple of superspine_groups 64"},
        {"topology: {kind: dsf_region, regions: 2, l2_zones: 65535}", "t.yaml:1:", "nodes"},
        {LIST("  - {name: f, role: host, box: dsf_fabric}\n", ""), "t.yaml:7:", "box of f; expected a switch"},
        {LIST("  - {name: e, role: switch, cluster: 1}\n", ""), "t.yaml:7:", "cluster of e"},
        {LIST("  - {name: e, role: switch, fabric_level: 1}\n", ""), "t.yaml:7:", "expected a dsf_fabric node"},
        {LIST("  - {name: s, role: switch, box: dsf_fabric, fabric_level: 2, cluster: 1}\n", ""),
         "t.yaml:7:", "cluster of s"},
        {LIST("  - {name: s, role: switch, box: dsf_fabric, fabric_level: 2}\n", "  - {from: r, to: s}\n"),
         "t.yaml:11:", "expected level 1"},
        {LIST("  - {name: f, role: switch, box: dsf_fabric}\n  - {name: e, role: switch}\n",
              "  - {from: r, to: f}\n  - {from: e, to: f}\n"),
         "t.yaml:13:", "e is not of a DSF fabric"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct built b = build_text(cases[i].text);
        assert_null(b.t);
        if (!strstr(b.error.text, cases[i].place)) fail_msg("'%s' is not at '%s'", b.error.text, cases[i].place);
        if (!strstr(b.error.text, cases[i].words)) fail_msg("'%s' lacks '%s'", b.error.text, cases[i].words);
        built_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l2_zone),    cmocka_unit_test(lanes_of_an_rdsw), cmocka_unit_test(rails),
        cmocka_unit_test(figure_4),   cmocka_unit_test(listed_boxes),     cmocka_unit_test(region),
        cmocka_unit_test(two_planes), cmocka_unit_test(two_regions),      cmocka_unit_test(unlike_zones),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
