// SPDX-License-Identifier: Apache-2.0
// Where packets leave a DSF. Meta: each EDSW has 4 links to each of four superspines, and the RDSWs of a building learn
// outside destinations with all 2k next hops.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "topologies.h"
#include "weft/exits.h"

struct case_of {
    struct built b;
    struct weft_routes *routes;
    struct weft_exits *exits;
};

static struct case_of make(const char *text, const char *down_link) {
    struct case_of c = {.b = build_text(text)};
    if (!c.b.t) fail_msg("%s", c.b.error.text);
    bool *down = weft_arena_alloc(c.b.arena, c.b.t->links, sizeof *down);
    for (uint32_t l = 0; down_link && l < c.b.t->links; l++) {
        char name[128];
        weft_topology_port_name(c.b.t, c.b.t->link[l].port[0], name, sizeof name);
        down[l] = weft_glob_match(down_link, name);
        weft_topology_port_name(c.b.t, c.b.t->link[l].port[1], name, sizeof name);
        down[l] |= weft_glob_match(down_link, name);
    }
    c.routes = weft_routes_new(c.b.t, down);
    c.exits = weft_exits_new(c.b.t, c.routes);
    return c;
}

static void case_free(struct case_of *c) {
    weft_exits_free(c->exits);
    weft_routes_free(c->routes);
    built_free(&c->b);
}

static const struct weft_exit *exits_of(const struct case_of *c, const char *from, const char *to, uint32_t *ret_n) {
    const struct weft_topology *t = c->b.t;
    uint32_t node = weft_topology_find_node(t, from), sw = t->node[weft_topology_find_node(t, to)].index;
    return weft_exits_at(c->exits, node, c->routes->edge_of_switch[sw], ret_n);
}

#define REGION                                                                                                         \
    "topology: {kind: dsf_region, l2_zones: 3, zones: 2, rdsws: 8, fdsws: 2, sdsws: 2, hosts_per_rdsw: 1, edsws: 4, "  \
    "edge_fdsws: 1, superspine_groups: 2, edsw_superspines: 4, superspine_links: 4"

static void all_next_hops(void **state) {
    (void)state;
    struct case_of c = make(REGION "}", NULL);
    const struct weft_topology *t = c.b.t;
    assert_int_equal(c.exits->fabrics, 3);
    assert_int_equal(c.exits->sets, 1 + 3); // towards either other building the same
    uint32_t n;
    const struct weft_exit *x = exits_of(&c, "rdsw-3", "rdsw-40", &n);
    assert_int_equal(n, 4 * 4 * 4); // the 2048 of a building as large as in the text: 128 x 4 x 4
    for (uint32_t i = 0; i < n; i++) {
        assert_string_equal(t->node[x[i].node].layer, "edsw");
        assert_int_equal(c.exits->fabric_of_node[x[i].node], 0);
        const struct weft_port_info *port = weft_topology_port(t, x[i].node, x[i].port);
        assert_string_equal(t->node[t->port[port->peer].node].layer, "superspine");
        assert_true(!i || x[i - 1].node < x[i].node || x[i - 1].port < x[i].port);
    }
    exits_of(&c, "rdsw-3", "rdsw-15", &n); // the other zone of the same building
    assert_int_equal(n, 0);
    assert_ptr_equal(exits_of(&c, "rdsw-3", "rdsw-20", &n), x);
    exits_of(&c, "edsw-5", "rdsw-0", &n); // an EDSW of the second building
    assert_int_equal(n, 64);
    case_free(&c);
}

static void of_what_is_left(void **state) {
    (void)state;
    uint32_t n;
    struct case_of c = make(REGION "}", "edsw-1/*"); // an EDSW fails
    exits_of(&c, "rdsw-3", "rdsw-40", &n);
    assert_int_equal(n, 3 * 16);
    exits_of(&c, "rdsw-20", "rdsw-0", &n); // others have theirs
    assert_int_equal(n, 64);
    case_free(&c);
    c = make(REGION "}", "superspine-[0-3]/*"); // a whole group fails: half of the EDSWs are no exits
    exits_of(&c, "rdsw-20", "rdsw-0", &n);
    assert_int_equal(n, 2 * 16);
    case_free(&c);
    c = make(REGION "}", "superspine-*"); // all do
    exits_of(&c, "rdsw-20", "rdsw-0", &n);
    assert_int_equal(n, 0);
    case_free(&c);
}

static void two_regions(void **state) {
    (void)state;
    uint32_t n;
    struct case_of c = make(REGION ", regions: 2}", "superspine-3/*"); // of region 0
    exits_of(&c, "rdsw-0", "rdsw-20", &n);                             // to the next building
    assert_int_equal(n, 64 - 2 * 4);       // without the 4 links that each of its 2 EDSWs had to it
    exits_of(&c, "rdsw-0", "rdsw-60", &n); // and to the other region
    assert_int_equal(n, 64 - 2 * 4);
    case_free(&c);
}

static void one_fabric(void **state) {
    (void)state;
    struct case_of c = make("topology: {kind: dsf_l1_zone, rdsws: 8, fdsws: 1, hosts_per_rdsw: 1, planes: 2}", NULL);
    uint32_t n;
    assert_int_equal(c.exits->fabrics, 2);
    assert_int_equal(c.exits->sets, 1);
    exits_of(&c, "plane-0-rdsw-0", "plane-0-rdsw-1", &n);
    assert_int_equal(n, 0);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_next_hops),
        cmocka_unit_test(of_what_is_left),
        cmocka_unit_test(two_regions),
        cmocka_unit_test(one_fabric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
