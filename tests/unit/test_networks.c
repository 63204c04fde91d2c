// SPDX-License-Identifier: Apache-2.0
// Several networks in one topology: names, figures, what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "topologies.h"
#include "weft/routes.h"
#include "weft/summary.h"

static struct weft_topology *good(struct built *b, const char *text) {
    *b = build_text(text);
    if (!b->t) fail_msg("%s", b->error.text);
    return b->t;
}

static void bad(const char *text, const char *place, const char *says) {
    struct built b = build_text(text);
    assert_null(b.t);
    assert_int_equal(b.error.status, WEFT_ERROR_INPUT);
    if (strncmp(b.error.text, place, strlen(place)) || !strstr(b.error.text, says))
        fail_msg("'%s' is not at %s or does not say '%s'", b.error.text, place, says);
    built_free(&b);
}

static const char *const two = "topology:\n"
                               "  kind: networks\n"
                               "  networks:\n"
                               "    backend: {kind: ai_zone, racks: 4, gpus_per_rack: 2, uplinks: 3}\n"
                               "    frontend: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3}\n"
                               "  override: [{link: 'frontend-leaf-0/0', rate: 100Gbps}]\n"
                               "events: [{at: 1us, link: 'frontend-leaf-1--frontend-spine-0', state: down}]\n";

static void numbers_and_names(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, two);
    assert_int_equal(t->networks, 2);
    assert_string_equal(t->network[0].name, "backend");
    assert_int_equal(t->network[0].hosts, 8);
    assert_non_null(strstr(t->network[0].wiring, "assumed"));
    assert_null(t->network[1].wiring); // a leaf-spine network can be cabled in only one manner
    assert_int_equal(t->network[0].switches, 4 + 3);
    assert_int_equal(t->network[1].host0, 8);
    assert_int_equal(t->network[1].hosts, 6);
    assert_int_equal(t->network[1].switch0, 7);
    assert_int_equal(t->network[1].node0, 15);
    assert_int_equal(t->network[1].nodes, 6 + 4);
    assert_int_equal(weft_topology_network_of(t, 7), 0);
    assert_int_equal(weft_topology_network_of(t, 8), 1);
    assert_int_equal(weft_topology_network_of(t, 13), 1);
    assert_string_equal(t->node[t->host[8]].name, "frontend-host-0");
    assert_string_equal(t->node[t->host[8]].layer, "frontend-host");
    assert_string_equal(t->node[weft_topology_find_node(t, "backend-ctsw-2")].layer, "backend-ctsw");
    assert_int_equal(t->link[weft_topology_find_link(t, "frontend-host-0/0")].rate_bps, UINT64_C(100000000000));
    assert_int_equal(t->events, 1);
    uint32_t *host, n;
    assert_int_equal(weft_topology_select_hosts(t, "frontend-host-1..2,backend-host-0", WEFT_NOWHERE, &host, &n, NULL),
                     0);
    assert_int_equal(n, 3);
    assert_int_equal(host[1], 10);
    assert_int_equal(weft_topology_select_ports(t, "frontend-leaf-*->frontend-spine-*", WEFT_NOWHERE, &host, &n, NULL),
                     0);
    assert_int_equal(n, 4);
    built_free(&b);
}

static void no_way_between(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, two);
    struct weft_routes *r = weft_routes_new(t, NULL);
    for (uint32_t sw = 0; sw < t->switches; sw++)
        for (uint32_t h = 0; h < t->hosts; h++) {
            uint32_t n;
            weft_routes_at(r, sw, h, &n);
            assert_int_equal(n > 0, (sw < 7) == (h < 8));
        }
    weft_routes_free(r);
    built_free(&b);
}

// Each network's figures are those that it has alone.
static void figures_of_each(void **state) {
    (void)state;
    static const char *const alone[] = {"topology: {kind: ai_zone, racks: 4, gpus_per_rack: 2, uplinks: 3}",
                                        "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3, "
                                        "override: [{link: leaf-0/0, rate: 100Gbps}]}"};
    weft_time_ps processing[16];
    for (unsigned i = 0; i < 16; i++)
        processing[i] = 300000;
    struct built both, one;
    good(&both, two);
    const struct weft_topology_summary *s = weft_topology_summarise(both.t, processing, NULL, both.arena);
    for (unsigned i = 0; i < 2; i++) {
        good(&one, alone[i]);
        assert_string_equal(one.t->network[0].name, "");
        const struct weft_topology_summary *own = weft_topology_summarise(one.t, processing, NULL, one.arena);
        assert_int_equal(s[i].bisection_bps, own->bisection_bps);
        assert_int_equal(s[i].half_bps, own->half_bps);
        assert_int_equal(s[i].diameter_links, own->diameter_links);
        assert_true(s[i].paths_max == own->paths_max); // whole numbers
        assert_int_equal(s[i].rtt_min_ps, own->rtt_min_ps);
        assert_int_equal(s[i].rtt_max_ps, own->rtt_max_ps);
        assert_int_equal(s[i].layers, own->layers);
        assert_int_equal(s[i].lines, own->lines);
        for (uint32_t l = 0; l < own->lines; l++)
            assert_int_equal(s[i].line[l].links, own->line[l].links);
        built_free(&one);
    }
    built_free(&both);
}

static const char *const clusters = "topology:\n"
                                    "  kind: networks\n"
                                    "  networks:\n"
                                    "    backend: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4}\n"
                                    "    frontend: %s\n"
                                    "  machines:\n"
                                    "  - {name: storage, count: 2, nics: {frontend: 2}}\n"
                                    "  - {name: server, count: 2, nics: {backend: 4, frontend: 1}}\n";

static void assert_hosts(const struct weft_topology *t, const char *text, const char *wanted) {
    char found[512] = "";
    uint32_t *host, n;
    struct weft_error error = {0};
    if (weft_topology_select_hosts(t, text, WEFT_NOWHERE, &host, &n, &error)) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < n; i++) {
        strcat(found, i ? " " : "");
        strcat(found, t->node[t->host[host[i]]].name);
    }
    assert_string_equal(found, wanted);
}

static struct weft_topology *cluster(struct built *b, const char *frontend) {
    char text[1024];
    snprintf(text, sizeof text, clusters, frontend);
    return good(b, text);
}

static void machines_have_nics(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = cluster(&b, "{kind: single, hosts: 7}");
    assert_int_equal(t->machines, 4);
    assert_string_equal(t->machine[3].name, "server-1");
    assert_int_equal(t->machine[3].nics, 5);
    assert_hosts(t, "server-1@backend", "backend-host-4 backend-host-5 backend-host-6 backend-host-7");
    assert_hosts(t, "server-0..1@frontend", "frontend-host-4 frontend-host-5");
    assert_hosts(t, "storage-*@frontend, backend-host-0, server-0@backend",
                 "frontend-host-0 frontend-host-1 frontend-host-2 frontend-host-3 backend-host-0 backend-host-1 "
                 "backend-host-2 backend-host-3");
    assert_hosts(t, "*@backend",
                 "backend-host-0 backend-host-1 backend-host-2 backend-host-3 backend-host-4 "
                 "backend-host-5 backend-host-6 backend-host-7");
    assert_int_equal(t->machine_of[7], 3);
    assert_int_equal(t->machine_of[8], WEFT_NONE);
    built_free(&b);
}

// One network by two names: storage is in the backend, and a server's frontend NIC is the first of its backend ones.
static void one_network_by_two_names(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = cluster(&b, "backend");
    assert_int_equal(t->networks, 1);
    assert_int_equal(t->hosts, 12);
    assert_hosts(t, "storage-*@frontend", "backend-host-0 backend-host-1 backend-host-2 backend-host-3");
    assert_hosts(t, "server-*@frontend", "backend-host-4 backend-host-8");
    assert_hosts(t, "server-1@backend", "backend-host-8 backend-host-9 backend-host-10 backend-host-11");
    assert_int_equal(t->machine_of[11], 3);
    built_free(&b);
}

static void bad_choices(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } bad_choice[] = {
        {"server-0", "'server-0' is a machine; expected its NICs in a network, as in server-0@backend"},
        {"server-2@backend", "no machine 'server-2'; machines are storage-0 to server-1"},
        {"server-1..2@backend", "no machine 'server-2'"},
        {"storage-0@backend", "storage-0 has no NIC in a network 'backend'; its first is in 'frontend'"},
        {"storage-*@backend", "no machine that matches 'storage-*' has a NIC in a network 'backend'"},
        {"server-*@", "has a NIC in a network ''"},
        {"@backend", "an empty name"},
    };
    struct built b;
    const struct weft_topology *t = cluster(&b, "single");
    uint32_t *host, n;
    for (unsigned i = 0; i < sizeof bad_choice / sizeof *bad_choice; i++) {
        struct weft_error error = {0};
        assert_int_equal(weft_topology_select_hosts(t, bad_choice[i].text, WEFT_NOWHERE, &host, &n, &error),
                         WEFT_ERROR_INPUT);
        if (!strstr(error.text, bad_choice[i].says)) fail_msg("'%s' said %s", bad_choice[i].text, error.text);
    }
    built_free(&b);
    t = good(&b, "topology: single");
    struct weft_error error = {0};
    assert_int_equal(weft_topology_select_hosts(t, "server-0@net", WEFT_NOWHERE, &host, &n, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "has no machines"));
    built_free(&b);
}

// Andreyev 2014: a pod of 48 racks and 4 FSWs; FSW j of every pod to the SSWs of plane j.
static void a_data_centre(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology *t = good(&b, "topology: dc_fabric");
    assert_int_equal(t->hosts, 48 * 16);
    assert_int_equal(t->switches, 48 + 4);
    built_free(&b);
    t = good(&b,
             "topology: {kind: dc_fabric, pods: 3, rsws: 5, fsws: 4, ssws: 2, hosts_per_rsw: 2, ssw_rate: 400Gbps}");
    assert_int_equal(t->hosts, 3 * 5 * 2);
    assert_int_equal(t->switches, 3 * (5 + 4) + 4 * 2);
    assert_int_equal(t->links, 3 * 5 * 2 + 3 * 5 * 4 + 3 * 4 * 2);
    for (uint32_t pod = 0; pod < 3; pod++)
        for (uint32_t f = 0; f < 4; f++)
            for (uint32_t s = 0; s < 8; s++) {
                char link[64];
                snprintf(link, sizeof link, "fsw-%u--ssw-%u", pod * 4 + f, s);
                assert_int_equal(weft_topology_find_link(t, link) != WEFT_NONE, s / 2 == f);
            }
    assert_int_equal(t->link[weft_topology_find_link(t, "fsw-0--ssw-1")].rate_bps, UINT64_C(400000000000));
    weft_time_ps processing[64] = {0};
    const struct weft_topology_summary *s = weft_topology_summarise(t, processing, NULL, b.arena);
    assert_int_equal(s->diameter_links, 6);
    assert_true(s->paths_max == 8); // 4 planes of 2
    built_free(&b);
}

/// A kind that makes planes: the same single switch several times.
static enum weft_status build_planes(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                     struct weft_error *ret_error) {
    (void)tree, (void)ret_error;
    for (uint32_t p = 0; p < *(const uint32_t *)conf; p++) {
        char name[32];
        snprintf(name, sizeof name, "plane-%u", p);
        weft_topology_add_network(b, name);
        uint32_t sw = weft_topology_add_node(b, WEFT_NODE_SWITCH, "switch", 1, WEFT_NONE, "switch-0");
        for (uint32_t h = 0; h < 2; h++) {
            snprintf(name, sizeof name, "host-%u", h);
            uint32_t host = weft_topology_add_node(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, name);
            weft_topology_add_link(b, sw, host, UINT64_C(400000000000), 1000, 0);
        }
    }
    return WEFT_OK;
}

static void planes_of_a_kind(void **state) {
    (void)state;
    static const struct weft_topology_ops ops = {.build = build_planes};
    static const struct weft_param_table params = {.name = "planes", .conf_size = sizeof(uint32_t)};
    static const struct weft_model model = {
        .kind = WEFT_KIND_TOPOLOGY, .name = "planes", .params = &params, .ops = &ops};
    uint32_t planes = 40;
    struct weft_model_conf conf = {.model = &model, .conf = &planes};
    struct built b = {.arena = weft_arena_new(WEFT_MEMORY_SCENARIO)};
    assert_int_equal(weft_topology_new(&conf, NULL, NULL, b.arena, &b.t, &b.error), WEFT_OK);
    assert_int_equal(b.t->networks, 40);
    assert_string_equal(b.t->network[39].name, "plane-39");
    assert_int_equal(b.t->network[39].host0, 78);
    assert_true(weft_topology_find_node(b.t, "plane-17-host-1") != WEFT_NONE);
    assert_string_equal(b.t->node[b.t->network[39].node0].layer, "plane-39-switch");
    built_free(&b);
}

static void refused(void **state) {
    (void)state;
    bad("topology: networks", "t.yaml:1:11", "needs a map 'networks'");
    bad("topology:\n  kind: networks\n  networks: {}", "t.yaml:3:13", "needs a map 'networks'");
    bad("topology:\n  kind: networks\n  networks: {a: nothing}", "t.yaml:3:17", "no topology \"nothing\"");
    bad("topology:\n  kind: networks\n  networks: {a--b: single}", "t.yaml:3:14", "bad name of a network");
    bad("topology:\n  kind: networks\n  networks: {a: {kind: single, host: 4}}", "t.yaml:3:32",
        "topology.networks.a.host: unknown key");
    bad("topology:\n  kind: networks\n  networks: {a: single, b: {kind: leaf_spine, leaves: 1, hosts_per_leaf: 1}}",
        "t.yaml:3:28", "the network b has 1 host(s)");
    bad("topology:\n  kind: networks\n  networks: {a: {kind: single, override: []}}", "t.yaml:3:32",
        "in the section topology itself");
    bad("topology:\n  kind: networks\n  networks:\n    a: {kind: list, nodes: [{name: s, role: switch}, {name: h, "
        "role: "
        "host}, {name: t, role: switch}, {name: i, role: host}],\n      links: [{from: h, to: s}, {from: i, to: t}]}",
        "t.yaml:4:", "the network a is in parts: no path from a-s to a-t");
    bad("topology:\n  kind: networks\n  networks: {a: {kind: single, hosts: 3}, a-host: {kind: list, nodes: [{name: "
        "'1',"
        " role: host}, {name: '7', role: host}, {name: s, role: switch}], links: [{from: '1', to: s}, {from: '7', to: "
        "s}]}}",
        "t.yaml:3:", "a second node named a-host-1");
    bad("topology:\n  kind: networks\n  networks:\n    a: single\n    b: {kind: list, links: [{from: h, to: s}], "
        "nodes: [\n"
        "      {name: h, role: host}, {name: h, role: host}]}",
        "t.yaml:6:30", "a second node named h");
#define MACHINES(text) "topology:\n  kind: networks\n  networks: {a: single, b: single, c: a}\n  machines: " text
    bad(MACHINES("{}"), "t.yaml:4:13", "expected a list such as");
    bad(MACHINES("[{count: 1}]"), "t.yaml:4:14", "machine.name is missing");
    bad(MACHINES("[{name: s}]"), "t.yaml:4:14", "nics of machine s: expected a map");
    bad(MACHINES("[{name: s, nics: {}}]"), "t.yaml:4:30", "nics of machine s: expected a map");
    bad(MACHINES("[{name: s, nics: {d: 1}}]"), "t.yaml:4:31", "no network 'd'; expected one of c, a, b");
    bad(MACHINES("[{name: s, nics: {a: 0}}]"), "t.yaml:4:34", "out of range");
    bad(MACHINES("[{name: s, nics: {a: [1]}}]"), "t.yaml:4:34", "expected a number");
    bad(MACHINES("[{name: s-, nics: {a: 1}}]"), "t.yaml:4:14", "bad name of machines");
    bad(MACHINES("[{name: s, nics: {a: 1}}, {name: s, nics: {b: 1}}]"), "t.yaml:4:39", "a second entry");
    bad(MACHINES("[{name: s, count: 3, nics: {a: 2}}, {name: d, nics: {a: 2, c: 3}}]"), "t.yaml:4:49",
        "1 machines 'd' need 3 hosts of a, which has 8, 2 of them free");
    bad("topology:\n  kind: networks\n  networks: {a: single, c: d, d: a}", "t.yaml:3:28",
        "c is d, which is itself another name, of a");
    bad("topology:\n  kind: networks\n  networks: {a: {kind: networks, networks: {b: single}}}", "t.yaml:3:17",
        "networks within networks");
    bad("topology:\n  kind: networks\n  networks: {single: {kind: clos3}, a: single}", "t.yaml:3:14",
        "a network named like a kind of topology");
    bad("topology:\n  kind: networks\n  networks: {a: a}", "t.yaml:3:17", "no topology \"a\"");
    bad("topology:\n  kind: networks\n  networks: {a: {kind: clos3, pods: 60000}}", "t.yaml:3:17", "at most 16777215");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names),
        cmocka_unit_test(no_way_between),
        cmocka_unit_test(figures_of_each),
        cmocka_unit_test(machines_have_nics),
        cmocka_unit_test(one_network_by_two_names),
        cmocka_unit_test(bad_choices),
        cmocka_unit_test(a_data_centre),
        cmocka_unit_test(planes_of_a_kind),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
