// SPDX-License-Identifier: Apache-2.0
// Dragonflies: counts of the Aquila paper (NSDI 2022, sections 2, 3.2 and appendix A) and of Kim et al. (ISCA 2008).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "topologies.h"
#include "weft/dragonfly.h"
#include "weft/summary.h"

static struct built build(const char *keys) {
    char text[512];
    snprintf(text, sizeof text, "topology: {kind: dragonfly%s%s}", *keys ? ", " : "", keys);
    struct built b = build_text(text);
    if (!b.t) fail_msg("%s: %s", keys, b.error.text);
    return b;
}

/// Ports in the order local, global, host, Ethernet; local by peer and global by pod.
static void check_order(const struct weft_topology *t, const struct weft_dragonfly *f, uint32_t i) {
    const struct weft_tin *tin = &f->tin[i];
    for (uint32_t k = 1; k < t->node[tin->node].ports; k++) {
        enum weft_tin_port_class before = weft_tin_port_class(t, tin->node, k - 1),
                                 class = weft_tin_port_class(t, tin->node, k);
        assert_true(before <= class);
        if (class == WEFT_TIN_GLOBAL && before == class)
            assert_true(f->tin[tin->peer[k - 1]].pod <= f->tin[tin->peer[k]].pod);
        if (class == WEFT_TIN_LOCAL) assert_true(tin->peer[k - 1] <= tin->peer[k]);
    }
}

static uint32_t bits(uint64_t mask) {
    return (uint32_t)__builtin_popcountll(mask);
}

static void full_clique(void **state) {
    (void)state;
    struct built b = build("");
    const struct weft_topology *t = b.t;
    assert_int_equal(t->hosts, 1152);
    assert_int_equal(t->switches, 576);
    struct weft_dragonflies *d = weft_dragonflies_new(t, b.arena);
    assert_int_equal(d->n, 1);
    const struct weft_dragonfly *f = &d->fabric[0];
    assert_int_equal(f->pods, 48);
    assert_int_equal(f->tins, 576);
    uint32_t global = 0;
    for (uint32_t i = 0; i < f->tins; i++) {
        const struct weft_tin *tin = &f->tin[i];
        assert_int_equal(d->tin_of_node[tin->node], i);
        assert_int_equal(tin->pod, i / 12);
        assert_int_equal(tin->place, i % 12);
        assert_int_equal(bits(tin->local), 22); // of 24: 2 to each of 11, 2 spare
        assert_true(bits(tin->global) == 7 || bits(tin->global) == 8);
        assert_int_equal(tin->hosts, 2);
        assert_int_equal(t->node[tin->node].card, i / 2);
        global += bits(tin->global);
        check_order(t, f, i);
    }
    assert_int_equal(global, 48 * 94); // 94 of 96 of each pod, 47 x 48 / 2 x 2 links
    built_free(&b);
}

/// So many links between every two pods, at different TiNs of both when there are two.
static void pod_pairs(void **state) {
    (void)state;
    struct built b = build("");
    const struct weft_dragonfly *f = &weft_dragonflies_new(b.t, b.arena)->fabric[0];
    static uint8_t links[48][48];
    static uint64_t ends[48][48];
    for (uint32_t i = 0; i < f->tins; i++)
        for (uint64_t ports = f->tin[i].global; ports; ports &= ports - 1) {
            uint16_t pod = f->tin[f->tin[i].peer[__builtin_ctzll(ports)]].pod;
            links[f->tin[i].pod][pod]++;
            ends[f->tin[i].pod][pod] |= UINT64_C(1) << f->tin[i].place;
        }
    for (uint32_t p = 0; p < 48; p++)
        for (uint32_t q = 0; q < 48; q++) {
            assert_int_equal(links[p][q], p == q ? 0 : 2);
            assert_int_equal(bits(ends[p][q]), p == q ? 0 : 2);
        }
    built_free(&b);
}

/// Balanced a = 2p = 2h, g = ah + 1, N = ap(ah + 1): every TiN has h global links, every pod pair one.
static void balanced(void **state) {
    (void)state;
    for (uint32_t h = 1; h <= 4; h++) {
        char keys[160];
        uint32_t a = 2 * h, g = a * h + 1;
        snprintf(keys, sizeof keys,
                 "pods: %u, tins: %u, hosts_per_tin: %u, local_parallel: 1, global_parallel: 1, global_ports: %u", g, a,
                 h, h);
        struct built b = build(keys);
        assert_int_equal(b.t->hosts, a * h * g);
        const struct weft_dragonfly *f = &weft_dragonflies_new(b.t, b.arena)->fabric[0];
        for (uint32_t i = 0; i < f->tins; i++) {
            assert_int_equal(bits(f->tin[i].global), h);
            assert_int_equal(bits(f->tin[i].local), a - 1);
        }
        built_free(&b);
    }
}

/// Half a Clique: four links between two pods carry what a TiN injects, 100G (section 5.1).
static void half_scale(void **state) {
    (void)state;
    struct built b = build("pods: 24, global_parallel: 4");
    const struct weft_dragonfly *f = &weft_dragonflies_new(b.t, b.arena)->fabric[0];
    assert_int_equal(f->tins, 288);
    weft_rate_bps rate = 0;
    for (uint32_t l = 0; l < b.t->links; l++) {
        const struct weft_node_info *from = &b.t->node[b.t->port[b.t->link[l].port[0]].node],
                                    *to = &b.t->node[b.t->port[b.t->link[l].port[1]].node];
        if (from->box == WEFT_BOX_TIN && to->box == WEFT_BOX_TIN && from->cluster == 0 && to->cluster == 1)
            rate += b.t->link[l].rate_bps;
    }
    assert_int_equal(rate, UINT64_C(108600000000)); // 4 lanes of 27.15G
    built_free(&b);
}

static void joined_with_a_spine(void **state) {
    (void)state;
    struct built b = build("pods: 4, tins: 3, gateways: 6, spines: 2, tors: 3, hosts_per_tor: 4");
    const struct weft_topology *t = b.t;
    assert_int_equal(t->hosts, 4 * 3 * 2 + 3 * 4);
    assert_int_equal(t->switches, 12 + 3 + 2);
    struct weft_dragonflies *d = weft_dragonflies_new(t, b.arena);
    assert_int_equal(d->n, 1); // Ethernet joins no fabric
    uint32_t gateways = 0;
    for (uint32_t i = 0; i < 12; i++) {
        gateways += d->fabric[0].tin[i].ethernets;
        check_order(t, &d->fabric[0], i);
    }
    assert_int_equal(gateways, 6);
    uint32_t spine = weft_topology_find_node(t, "spine-1");
    assert_int_equal(t->node[spine].ports, 3 + 3); // half of the gateways, every ToR
    assert_int_equal(d->fabric_of_node[spine], WEFT_NONE);
    built_free(&b);
}

/// Two Cliques under one spine are two fabrics; a list may order ports as it likes.
static void listed(void **state) {
    (void)state;
    struct built b = build_text(
        "topology: {kind: list, nodes: [{name: s, role: switch}, {name: a, role: switch, box: tin, cluster: 7}, "
        "{name: b, role: switch, box: tin, cluster: 3}, {name: c, role: switch, box: tin}, {name: h, role: host}, "
        "{name: i, role: host}], links: [{from: h, to: a}, {from: a, to: s}, {from: s, to: c}, {from: c, to: i}, "
        "{from: a, to: b}]}");
    if (!b.t) fail_msg("%s", b.error.text);
    struct weft_dragonflies *d = weft_dragonflies_new(b.t, b.arena);
    assert_int_equal(d->n, 2);
    assert_int_equal(d->fabric[0].pods, 2);
    assert_int_equal(d->fabric[0].tin[1].node, weft_topology_find_node(b.t, "a")); // cluster 7 after 3
    assert_int_equal(d->fabric[0].tin[1].global, 4);                               // its third port
    assert_int_equal(d->fabric[0].tin[1].peer[2], 0);
    assert_int_equal(d->fabric[1].tins, 1);
    assert_true(weft_topology_link_is_fabric(b.t, weft_topology_find_link(b.t, "a--b")));
    assert_false(weft_topology_link_is_fabric(b.t, weft_topology_find_link(b.t, "a--s")));
    built_free(&b);
}

/// Section 3.1 and appendix A: 24 racks of two chassis of six line cards; 2256 fibres between 1128 pairs of pods, or 66
/// bundles of 4 cables of 8 links; 576 Ethernet ports, 24 for racks, 512 to spines and 40 unused; all within 100 m.
static void figures(void **state) {
    (void)state;
    struct built b = build("gateways: 512, spines: 16");
    struct weft_clique_summary s = weft_topology_summarise_cliques(b.t, &b.t->network[0]);
    assert_int_equal(s.cliques, 1);
    assert_int_equal(s.racks, 24);
    assert_int_equal(s.cards, 48 * 6);
    assert_int_equal(s.global_links, 2256);
    assert_int_equal(s.bundles, 66);
    assert_int_equal(s.bundle_cables, 4);
    assert_int_equal(s.ethernets, 512);
    assert_int_equal(s.tins - s.ethernets - s.racks, 40);
    assert_int_equal(s.pod_global_min, 94);
    assert_int_equal(s.pod_global_max, 94);
    assert_true(s.fibre_min_m > 0 && s.fibre_max_m < 100);
    assert_int_equal(b.t->packaging.local_ports + b.t->packaging.global_ports + b.t->packaging.endpoints, 50);
    built_free(&b);
}

/// Appendix A.1: a TiN 2 servers, a line card 4, a chassis 24.
static void blast_radius(void **state) {
    (void)state;
    const uint32_t hosts[WEFT_BLASTS] = {2, 4, 24, 48}, groups[WEFT_BLASTS] = {576, 288, 48, 24};
    struct built b = build("");
    struct weft_clique_summary s = weft_topology_summarise_cliques(b.t, &b.t->network[0]);
    for (uint32_t i = 0; i < WEFT_BLASTS; i++) {
        assert_int_equal(s.blast[i].hosts, hosts[i]);
        assert_int_equal(s.blast[i].groups, groups[i]);
    }
    built_free(&b);
    // b is between a and c: with it go its own host and the smaller part
    b = build_text(
        "topology: {kind: list, nodes: [{name: a, role: switch, box: tin}, {name: b, role: switch, box: tin}, "
        "{name: c, role: switch, box: tin}, {name: h, role: host}, {name: i, role: host}, {name: j, role: "
        "host}, {name: k, role: host}, {name: l, role: host}, {name: m, role: host}], links: [{from: a, to: b}, "
        "{from: b, to: c}, {from: h, to: a}, {from: i, to: a}, {from: j, to: a}, {from: k, to: b}, {from: l, "
        "to: c}, {from: m, to: c}]}");
    if (!b.t) fail_msg("%s", b.error.text);
    s = weft_topology_summarise_cliques(b.t, &b.t->network[0]);
    assert_int_equal(s.blast[0].hosts, 3); // of b and c; losing a loses its three alone
    built_free(&b);
}

static void refuses(void **state) {
    (void)state;
    const struct {
        const char *keys, *expected;
    } bad[] = {
        {"local_ports: 21", "local_ports is 21; expected 22 or more"},
        {"pods: 50", "global_ports is 8; expected 9 or more"},
        {"global_parallel: 3", "global_ports is 8; expected 12 or more"},
        {"local_ports: 60", "are 68 together; expected at most 64"},
        {"pods: 400", "pods x tins is 4800"},
        {"gateways: 8", "gateways and spines"},
        {"gateways: 577, spines: 8", "expected at most 576"},
        {"tors: 1", "tors without spines"},
        {"gateways: 2, spines: 8", "more spines than gateways"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, "topology: {kind: dragonfly, %s}", bad[i].keys);
        struct built b = build_text(text);
        if (b.t || !strstr(b.error.text, bad[i].expected)) fail_msg("%s: %s", bad[i].keys, b.error.text);
        built_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_clique), cmocka_unit_test(pod_pairs),           cmocka_unit_test(balanced),
        cmocka_unit_test(half_scale),  cmocka_unit_test(joined_with_a_spine), cmocka_unit_test(listed),
        cmocka_unit_test(figures),     cmocka_unit_test(blast_radius),        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
