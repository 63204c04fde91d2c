// SPDX-License-Identifier: Apache-2.0
// What holds for every kind of topology there is.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "samples.h"
#include "topologies.h"
#include "weft/routes.h"

/// Its default network; for a kind that has none, the smallest; of a region of buildings, a small one.
static struct built default_network(const struct weft_model *model) {
    char text[1024], file[512];
    const char *lists = "", *sample = sample_of(model, file, sizeof file);
    if (!strcmp(model->name, "list"))
        lists = ", nodes: [{name: s, role: switch}, {name: h, role: host}, {name: i, role: host}], "
                "links: [{from: h, to: s}, {from: s, to: i}]";
    if (!strcmp(model->name, "networks")) lists = ", networks: {a: {kind: single, hosts: 3}, b: leaf_spine}";
    if (!strcmp(model->name, "dsf_region"))
        lists = ", l2_zones: 2, zones: 2, rdsws: 8, fdsws: 2, sdsws: 2, hosts_per_rdsw: 2, edsws: 4, edge_fdsws: 1, "
                "superspine_groups: 2, regions: 2";
    snprintf(text, sizeof text, "topology: {kind: %s%s%s%s}", model->name, lists, sample ? ", " : "",
             sample ? sample : "");
    struct built b = build_text(text);
    if (!b.t) fail_msg("%s: %s", model->name, b.error.text);
    return b;
}

static void check_shape(const struct weft_topology *t) {
    uint32_t ports = 0, hosts = 0, switches = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft_node_info *node = &t->node[n];
        assert_int_equal(node->port0, ports);
        assert_true(node->ports > 0);
        ports += node->ports;
        assert_int_equal(weft_topology_find_node(t, node->name), n);
        bool host = node->role == WEFT_NODE_HOST;
        assert_int_equal(node->index, host ? hosts++ : switches++);
        assert_int_equal(host ? t->host[node->index] : t->switch_node[node->index], n);
        assert_int_equal(node->tier == 0, host);
        if (host) assert_int_equal(node->ports, 1);
        for (uint32_t k = 0; k < node->ports; k++)
            assert_int_equal(weft_topology_port(t, n, k)->node, n);
    }
    assert_int_equal(ports, t->ports);
    assert_int_equal(hosts, t->hosts);
    assert_int_equal(switches, t->switches);
    assert_int_equal(2 * t->links, t->ports);
    for (uint32_t p = 0; p < t->ports; p++) {
        assert_int_equal(t->port[t->port[p].peer].peer, p);
        const struct weft_link_info *l = &t->link[t->port[p].link];
        assert_true(l->port[0] == p || l->port[1] == p);
        assert_true(l->rate_bps >= UINT64_C(1000000000) && l->delay_ps > 0);
    }
}

static void shape(void **state) {
    (void)state;
    assert_true(weft_model_count(WEFT_KIND_TOPOLOGY) > 0);
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_TOPOLOGY); i++) {
        struct built b = default_network(weft_model_at(WEFT_KIND_TOPOLOGY, i));
        assert_string_equal(b.t->kind, weft_model_at(WEFT_KIND_TOPOLOGY, i)->name);
        check_shape(b.t);
        built_free(&b);
    }
}

static void same_text_same_network(void **state) {
    (void)state;
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_TOPOLOGY); i++) {
        struct built a = default_network(weft_model_at(WEFT_KIND_TOPOLOGY, i));
        struct built b = default_network(weft_model_at(WEFT_KIND_TOPOLOGY, i));
        assert_int_equal(a.t->ports, b.t->ports);
        assert_memory_equal(a.t->port, b.t->port, a.t->ports * sizeof *a.t->port);
        assert_memory_equal(a.t->link, b.t->link, a.t->links * sizeof *a.t->link);
        for (uint32_t n = 0; n < a.t->nodes; n++)
            assert_string_equal(a.t->node[n].name, b.t->node[n].name);
        built_free(&a);
        built_free(&b);
    }
}

/// Every host reaches every other of its network by first next hops, in no more steps than there are nodes.
static void everybody_is_reached(void **state) {
    (void)state;
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_TOPOLOGY); i++) {
        struct built b = default_network(weft_model_at(WEFT_KIND_TOPOLOGY, i));
        const struct weft_topology *t = b.t;
        struct weft_routes *r = weft_routes_new(t, NULL);
        for (uint32_t src = 0; src < t->hosts; src += 1 + t->hosts / 16)
            for (uint32_t dst = 0; dst < t->hosts; dst++) {
                if (weft_topology_network_of(t, src) != weft_topology_network_of(t, dst)) continue;
                uint32_t node = t->port[weft_topology_port(t, t->host[src], 0)->peer].node, steps = 0, n;
                for (; node != t->host[dst]; steps++) {
                    assert_true(steps < t->nodes);
                    const uint16_t *port = weft_routes_at(r, t->node[node].index, dst, &n);
                    assert_true(n > 0);
                    node = t->port[weft_topology_port(t, node, port[(src + dst) % n])->peer].node;
                }
            }
        weft_routes_free(r);
        built_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape),
        cmocka_unit_test(same_text_same_network),
        cmocka_unit_test(everybody_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
