// SPDX-License-Identifier: Apache-2.0
// Paths of the controller on networks small enough to work out by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "topologies.h"
#include "weft/cspf.h"
#include "weft/memory.h"

#define GBPS UINT64_C(1000000000)

struct fixture {
    struct built b;
    struct weft_routes *routes;
    struct weft_arena *arena;
};

/// `down`: links by name, or NULL.
static struct fixture fixture_new(const char *text, const char *down) {
    struct fixture f = {.b = build_text(text), .arena = weft_arena_new(WEFT_MEMORY_SWITCH)};
    if (!f.b.t) fail_msg("%s", f.b.error.text);
    bool *is_down = calloc(f.b.t->links, sizeof *is_down);
    if (down) {
        uint32_t link = weft_topology_find_link(f.b.t, down);
        assert_int_not_equal(link, WEFT_NONE);
        is_down[link] = true;
    }
    f.routes = weft_routes_new(f.b.t, is_down);
    free(is_down);
    return f;
}

static void fixture_free(struct fixture *f) {
    weft_routes_free(f->routes);
    weft_arena_free(f->arena);
    weft_arena_free(f->b.arena);
}

static uint32_t port_of(const struct fixture *f, const char *name) {
    uint32_t port = weft_topology_find_port(f->b.t, name);
    if (port == WEFT_NONE) fail_msg("no port %s", name);
    return port;
}

static const struct weft_node_info *node_of(const struct fixture *f, const char *name) {
    uint32_t node = weft_topology_find_node(f->b.t, name);
    if (node == WEFT_NONE) fail_msg("no node %s", name);
    return &f->b.t->node[node];
}

static uint32_t edge_of(const struct fixture *f, const char *sw) {
    return f->routes->edge_of_switch[node_of(f, sw)->index];
}

/// What `host` sends to the switch `to`.
static struct weft_cspf_demand demand_of(const struct fixture *f, const char *host, const char *to, uint64_t gbps) {
    const struct weft_topology *t = f->b.t;
    const struct weft_port_info *peer = &t->port[t->port[node_of(f, host)->port0].peer];
    return (struct weft_cspf_demand){
        .sw = t->node[peer->node].index,
        .edge = edge_of(f, to),
        .rate_bps = gbps * GBPS,
        .port = (uint16_t)(t->port[node_of(f, host)->port0].peer - t->node[peer->node].port0),
    };
}

/// The entry of a demand where it comes in leads to this port.
static void leads_to(const struct fixture *f, const struct weft_cspf_plan *plan, const struct weft_cspf_demand *d,
                     const char *port) {
    uint32_t out = weft_cspf_find(plan, d->sw, d->port, d->edge);
    assert_int_not_equal(out, WEFT_NONE);
    assert_int_equal(f->b.t->node[f->b.t->switch_node[d->sw]].port0 + out, port_of(f, port));
}

static uint64_t load_of(const struct fixture *f, const struct weft_cspf_plan *plan, const char *port) {
    return plan->load[port_of(f, port)] / GBPS;
}

#define LEAF_SPINE "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 3, rate: 100Gbps}\n"
// hosts 0-2 at leaf-0, 3-5 at leaf-1, 6-8 at leaf-2

// 70, 60, 40 over two links of 100: the largest first to the lowest port, 60 to the other, 40 to that with 60.
static void largest_first(void **state) {
    struct fixture f = fixture_new(LEAF_SPINE, NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-1", 40), demand_of(&f, "host-1", "leaf-1", 70),
                                   demand_of(&f, "host-2", "leaf-1", 60)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 3, NULL, f.arena);
    leads_to(&f, plan, &d[1], "leaf-0->spine-0");
    leads_to(&f, plan, &d[2], "leaf-0->spine-1");
    leads_to(&f, plan, &d[0], "leaf-0->spine-1");
    assert_int_equal(load_of(&f, plan, "leaf-0->spine-0"), 70);
    assert_int_equal(load_of(&f, plan, "spine-1->leaf-1"), 100);
    assert_int_equal(plan->demands, 3);
    assert_int_equal(plan->beyond, 0);
    assert_int_equal(plan->entries, 3); // spines have no choice
    assert_true(fabs(plan->utilisation_max - 1) < 1e-12);
    fixture_free(&f);
}

// The downlinks count: two leaves send 100 each to leaf-2, each would take spine-0; only one fits.
static void sees_the_whole_path(void **state) {
    struct fixture f = fixture_new(LEAF_SPINE, NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-2", 100), demand_of(&f, "host-3", "leaf-2", 100)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 2, NULL, f.arena);
    leads_to(&f, plan, &d[0], "leaf-0->spine-0");
    leads_to(&f, plan, &d[1], "leaf-1->spine-1");
    assert_int_equal(plan->beyond, 0);
    fixture_free(&f);
}

// 3 x 80 over two links: one is beyond its rate, and on the link that is the less full.
static void exhausted(void **state) {
    struct fixture f = fixture_new(LEAF_SPINE, NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-1", 80), demand_of(&f, "host-1", "leaf-1", 90),
                                   demand_of(&f, "host-2", "leaf-1", 80)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 3, NULL, f.arena);
    leads_to(&f, plan, &d[1], "leaf-0->spine-0");
    leads_to(&f, plan, &d[0], "leaf-0->spine-1");
    leads_to(&f, plan, &d[2], "leaf-0->spine-1");
    assert_int_equal(plan->beyond, 1);
    assert_true(fabs(plan->utilisation_max - 1.6) < 1e-12);
    fixture_free(&f);
}

// A spine that does not reach the destination any more is no way there, and one still to others.
static void failed_links(void **state) {
    struct fixture f = fixture_new(LEAF_SPINE, "spine-0--leaf-1");
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-1", 50), demand_of(&f, "host-1", "leaf-1", 50),
                                   demand_of(&f, "host-2", "leaf-2", 60)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 3, NULL, f.arena);
    assert_int_equal(weft_cspf_find(plan, d[0].sw, d[0].port, d[0].edge), WEFT_NONE); // there is no choice
    assert_int_equal(load_of(&f, plan, "leaf-0->spine-1"), 100);
    leads_to(&f, plan, &d[2], "leaf-0->spine-0"); // placed first, before the links to spine-1 fill
    assert_int_equal(plan->entries, 1);
    assert_int_equal(plan->demands, 3);
    fixture_free(&f);
}

// Equal paths: the one it had before. Better ones are taken all the same.
static void keeps_its_path(void **state) {
    struct fixture f = fixture_new(LEAF_SPINE, NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-1", 50), demand_of(&f, "host-1", "leaf-1", 40)};
    const struct weft_cspf_plan *first = weft_cspf_place(f.b.t, f.routes, d, 2, NULL, f.arena);
    leads_to(&f, first, &d[1], "leaf-0->spine-1");
    d[1].rate_bps = 60 * GBPS; // now the larger one, to which both links are equal
    const struct weft_cspf_plan *second = weft_cspf_place(f.b.t, f.routes, d, 2, first, f.arena);
    leads_to(&f, second, &d[1], "leaf-0->spine-1");
    leads_to(&f, second, &d[0], "leaf-0->spine-0");
    fixture_free(&f);
}

// Two that are never there at the same time may share a link; a third that is there in both phases may not share with
// either. If each counted all the time, one of the three would be beyond a link's rate.
static void phases_share_links(void **state) {
    static const weft_rate_bps bps[][2] = {{100 * GBPS, 0}, {0, 100 * GBPS}, {60 * GBPS, 60 * GBPS}};
    struct fixture f = fixture_new(LEAF_SPINE, NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-1", 100), demand_of(&f, "host-1", "leaf-1", 100),
                                   demand_of(&f, "host-2", "leaf-1", 60)};
    assert_int_equal(weft_cspf_place(f.b.t, f.routes, d, 3, NULL, f.arena)->beyond, 1);
    for (unsigned i = 0; i < 3; i++)
        d[i].phase_bps = bps[i];
    const struct weft_cspf_plan *plan = weft_cspf_place_phases(f.b.t, f.routes, 2, d, 3, NULL, f.arena);
    leads_to(&f, plan, &d[0], "leaf-0->spine-0");
    leads_to(&f, plan, &d[1], "leaf-0->spine-0");
    leads_to(&f, plan, &d[2], "leaf-0->spine-1");
    assert_int_equal(plan->beyond, 0);
    assert_int_equal(load_of(&f, plan, "leaf-0->spine-0"), 100);
    assert_true(fabs(plan->utilisation_max - 1) < 1e-12);
    fixture_free(&f);
}

static void nothing_to_place(void **state) {
    struct fixture f = fixture_new(LEAF_SPINE, NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "leaf-0", 50), demand_of(&f, "host-0", "leaf-1", 0)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 2, NULL, f.arena);
    assert_int_equal(plan->demands, 0);
    assert_int_equal(plan->entries, 0);
    plan = weft_cspf_place(f.b.t, f.routes, NULL, 0, NULL, f.arena);
    assert_int_equal(plan->demands, 0);
    assert_true(plan->utilisation_max <= 0);
    fixture_free(&f);
}

// Links of 100 and 400: 200 fill half of the fat one; 60 more would make .65 of it, and are .6 of the other.
static void by_share_of_the_rate(void **state) {
    struct fixture f = fixture_new("topology:\n  kind: list\n  nodes:\n"
                                   "    - {name: a, role: switch}\n    - {name: b, role: switch}\n"
                                   "    - {name: x, role: switch}\n    - {name: y, role: switch}\n"
                                   "    - {name: h, role: host}\n    - {name: k, role: host}\n"
                                   "    - {name: i, role: host}\n  links:\n"
                                   "    - {from: h, to: a, rate: 400Gbps}\n    - {from: k, to: a, rate: 400Gbps}\n"
                                   "    - {from: i, to: b, rate: 400Gbps}\n"
                                   "    - {from: a, to: x, rate: 100Gbps}\n    - {from: a, to: y, rate: 400Gbps}\n"
                                   "    - {from: x, to: b, rate: 100Gbps}\n    - {from: y, to: b, rate: 400Gbps}\n",
                                   NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "h", "b", 200), demand_of(&f, "k", "b", 60)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 2, NULL, f.arena);
    leads_to(&f, plan, &d[0], "a->y");
    leads_to(&f, plan, &d[1], "a->x");
    fixture_free(&f);
}

// Three layers: entries along the path; what came by one link for one rack has one entry at the switch there.
static void entries_along_the_path(void **state) {
    struct fixture f =
        fixture_new("topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 1, core: 2, "
                    "hosts_per_access: 2, rate: 100Gbps}\n",
                    NULL);
    struct weft_cspf_demand d[] = {demand_of(&f, "host-0", "access-2", 50), demand_of(&f, "host-1", "access-2", 40),
                                   demand_of(&f, "host-2", "access-2", 50)};
    const struct weft_cspf_plan *plan = weft_cspf_place(f.b.t, f.routes, d, 3, NULL, f.arena);
    // Access switches have one way up. At aggregation-0 host-0 and host-1 share a key, host-2 comes by another port.
    assert_int_equal(plan->entries, 2);
    uint64_t a = load_of(&f, plan, "aggregation-0->core-0"), b = load_of(&f, plan, "aggregation-0->core-1");
    assert_true((a == 90 && b == 50) || (a == 50 && b == 90));
    const struct weft_node_info *aggregation = node_of(&f, "aggregation-0");
    assert_int_equal(plan->first[aggregation->index + 1] - plan->first[aggregation->index], 2);
    fixture_free(&f);
}

// Random demands on a larger fabric: every unit of load is where its entries lead, and none is lost.
static void loads_add_up(void **state) {
    struct fixture f =
        fixture_new("topology: {kind: clos3, pods: 3, access_per_pod: 3, aggregation_per_pod: 3, core: 6, "
                    "hosts_per_access: 4, rate: 100Gbps}\n",
                    NULL);
    const struct weft_topology *t = f.b.t;
    struct weft_cspf_demand d[400];
    uint64_t *expected = calloc(t->ports, sizeof *expected), seed = 1;
    for (unsigned i = 0; i < 36 * 9; i++) {
        char host[16], to[16];
        snprintf(host, sizeof host, "host-%u", i / 9);
        snprintf(to, sizeof to, "access-%u", i % 9);
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        d[i] = demand_of(&f, host, to, 1 + (seed >> 33) % 30);
    }
    const struct weft_cspf_plan *plan = weft_cspf_place(t, f.routes, d, 36 * 9, NULL, f.arena);
    assert_int_equal(plan->unreachable, 0);
    for (unsigned i = 0; i < 36 * 9; i++) {
        uint32_t sw = d[i].sw, in = d[i].port;
        for (unsigned hop = 0; f.routes->edge_of_switch[sw] != d[i].edge; hop++) {
            assert_true(hop < 5);
            const struct weft_route_set *set =
                &f.routes->set[f.routes->set_first[sw] + f.routes->set_of[(size_t)sw * f.routes->edges + d[i].edge]];
            uint32_t out = set->n == 1 ? f.routes->ports[set->first] : weft_cspf_find(plan, sw, in, d[i].edge);
            assert_int_not_equal(out, WEFT_NONE);
            uint32_t port = t->node[t->switch_node[sw]].port0 + out, peer = t->port[port].peer;
            expected[port] += d[i].rate_bps;
            in = peer - t->node[t->port[peer].node].port0;
            sw = t->node[t->port[peer].node].index;
        }
    }
    assert_memory_equal(plan->load, expected, t->ports * sizeof *expected);
    free(expected);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_first),
        cmocka_unit_test(sees_the_whole_path),
        cmocka_unit_test(exhausted),
        cmocka_unit_test(failed_links),
        cmocka_unit_test(keeps_its_path),
        cmocka_unit_test(phases_share_links),
        cmocka_unit_test(nothing_to_place),
        cmocka_unit_test(by_share_of_the_rate),
        cmocka_unit_test(entries_along_the_path),
        cmocka_unit_test(loads_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
