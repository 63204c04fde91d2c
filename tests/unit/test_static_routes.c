// SPDX-License-Identifier: Apache-2.0
// Static routes: which candidates a switch has, alone, with failed links, from a table; a run; what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "topologies.h"
#include "weft/routes.h"

#define CLOS "kind: leaf_spine, leaves: 2, spines: 3, hosts_per_leaf: 2"

/// "spine-1 spine-2": where a switch sends packets to a host.
static const char *next_hops(const struct weft_topology *t, const struct weft_routes *r, const char *at,
                             uint32_t host) {
    static char text[256];
    uint32_t n, node = weft_topology_find_node(t, at);
    const uint16_t *port = weft_routes_at(r, t->node[node].index, host, &n);
    text[0] = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct weft_port_info *p = weft_topology_port(t, node, port[k]);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", k ? " " : "", t->node[t->port[p->peer].node].name);
    }
    return text;
}

static void some_hosts_by_some_spines(void **state) {
    struct built b = build_text("topology: {" CLOS ", routes: [{at: leaf-0, to: host-2, via: 'spine-1,spine-2'}, "
                                "{at: 'leaf-*', to: 'host-0,host-3', via: spine-0}, "
                                "{at: leaf-0, to: host-3, via: leaf-0->spine-2}]}");
    assert_string_equal(b.error.text, "");
    struct weft_routes *r = weft_routes_new(b.t, NULL);
    assert_string_equal(next_hops(b.t, r, "leaf-0", 2), "spine-1 spine-2");
    assert_string_equal(next_hops(b.t, r, "leaf-0", 3), "spine-2"); // the later one holds
    assert_string_equal(next_hops(b.t, r, "leaf-1", 0), "spine-0");
    assert_string_equal(next_hops(b.t, r, "leaf-1", 1), "spine-0 spine-1 spine-2");
    assert_string_equal(next_hops(b.t, r, "leaf-0", 0), "host-0"); // its own switch
    assert_string_equal(next_hops(b.t, r, "leaf-0", 1), "host-1");
    assert_string_equal(next_hops(b.t, r, "spine-1", 2), "leaf-1");
    assert_string_equal(next_hops(b.t, r, "leaf-1", 2), "host-2");
    weft_routes_free(r);
    weft_arena_free(b.arena);
}

/// A static route keeps its ports in service; without any the computed one applies; a host whose link is down has none.
static void failed_links(void **state) {
    struct built b = build_text("topology: {" CLOS ", routes: [{at: leaf-0, to: host-2, via: 'spine-1,spine-2'}]}");
    bool *down = calloc(b.t->links, sizeof *down);
    down[weft_topology_find_link(b.t, "leaf-0--spine-1")] = true;
    struct weft_routes *r = weft_routes_new(b.t, down);
    assert_string_equal(next_hops(b.t, r, "leaf-0", 2), "spine-2");
    weft_routes_free(r);
    down[weft_topology_find_link(b.t, "leaf-0--spine-2")] = true;
    r = weft_routes_new(b.t, down);
    assert_string_equal(next_hops(b.t, r, "leaf-0", 2), "spine-0");
    weft_routes_free(r);
    down[weft_topology_find_link(b.t, "host-2--leaf-1")] = true;
    r = weft_routes_new(b.t, down);
    assert_string_equal(next_hops(b.t, r, "leaf-0", 2), "");
    weft_routes_free(r);
    free(down);
    weft_arena_free(b.arena);
}

#define RING                                                                                                           \
    "kind: list, nodes: [{name: a, role: switch}, {name: b, role: switch}, {name: c, role: switch}, "                  \
    "{name: x, role: host}, {name: y, role: host}], links: [{from: a, to: b}, {from: b, to: c}, {from: c, to: a}, "    \
    "{from: x, to: a}, {from: y, to: c}]"

/// From a to y by b is a detour; with the link from b to c down, b would send packets back to a.
static void a_detour(void **state) {
    struct built b = build_text("topology: {" RING ", routes: [{at: a, to: y, via: b}]}");
    assert_string_equal(b.error.text, "");
    uint32_t y = b.t->node[weft_topology_find_node(b.t, "y")].index;
    struct weft_routes *r = weft_routes_new(b.t, NULL);
    assert_string_equal(next_hops(b.t, r, "a", y), "b");
    assert_string_equal(next_hops(b.t, r, "b", y), "c");
    weft_routes_free(r);
    bool *down = calloc(b.t->links, sizeof *down);
    down[weft_topology_find_link(b.t, "b--c")] = true;
    r = weft_routes_new(b.t, down);
    assert_string_equal(next_hops(b.t, r, "a", y), "c");
    assert_string_equal(next_hops(b.t, r, "b", y), "a");
    weft_routes_free(r);
    free(down);
    weft_arena_free(b.arena);
}

static uint64_t sent(const struct run *r, const char *name) {
    uint32_t port = weft_topology_find_port(r->topology, name);
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        bytes += weft_outcome_at(r->outcome, port, p)->tx_bytes;
    return bytes;
}

/// Sixteen queue pairs of one flow, which ECMP would spread: all of their bytes take the spine that a table names.
static void a_run(void **state) {
    char path[] = "/tmp/weft-routes-XXXXXX", text[512];
    int fd = mkstemp(path);
    static const char table[] = "# static routes\nswitch,destination,next hop\nleaf-0,host-2,spine-1\n";
    assert_true(fd >= 0);
    assert_int_equal(write(fd, table, sizeof table - 1), (ssize_t)(sizeof table - 1));
    close(fd);
    for (int with = 0; with < 2; with++) {
        snprintf(text, sizeof text,
                 "topology: {" CLOS "%s%s}\nworkload: [{kind: incast, sources: host-0, dst: host-2, qps: 16, "
                 "size: 1MB}]\n",
                 with ? ", routes: " : "", with ? path : "");
        struct run r = run_text(text);
        assert_true(sent(&r, "leaf-0->spine-1") > 0);
        assert_int_equal(sent(&r, "leaf-0->spine-0") + sent(&r, "leaf-0->spine-2") > 0, !with);
        run_free(&r);
    }
    unlink(path);
}

static void what_routes_cannot_be(void **state) {
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {CLOS ", routes: {at: leaf-0}", "t.yaml:1:79: routes: expected a list"},
        {CLOS ", routes: [{at: leaf-0, to: host-2}]", "via is missing"},
        {CLOS ", routes: [{at: leaf-7, to: host-2, via: spine-0}]", "t.yaml:1:80: at 'leaf-7': no switch"},
        {CLOS ", routes: [{at: leaf-0, to: host-9, via: spine-0}]", "host-9"},
        {CLOS ", routes: [{at: leaf-0, to: host-2, via: leaf-1}]", "via 'leaf-1': expected a switch next to leaf-0"},
        {CLOS ", routes: [{at: leaf-0, to: host-2, via: host-0}]", "via 'host-0': expected a switch next to leaf-0"},
        {CLOS ", routes: [{at: leaf-0, to: host-2, via: spine-1/0}]", "via 'spine-1/0': expected"},
        {CLOS ", routes: [{at: leaf-0, to: host-2, via: ','}]", "via '': expected a switch"},
        {CLOS ", routes: nowhere.csv", "t.yaml:1:79: cannot read 'nowhere.csv'"},
        {RING ", routes: [{at: a, to: y, via: b}, {at: b, to: y, via: a}]", "packets to y go in a circle through"},
        {"kind: networks, networks: {a: {" CLOS ", routes: x.csv}, b: {" CLOS "}}",
         "a.routes: expected it in the section topology itself"},
        {"kind: dragonfly, routes: [{at: '*', to: host-0, via: x}]", "is not an Ethernet switch"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        snprintf(text, sizeof text, "topology: {%s}", bad[i].text);
        struct built b = build_text(text);
        if (b.t || !strstr(b.error.text, bad[i].expected))
            fail_msg("%s: '%s' where '%s' was expected", bad[i].text, b.error.text, bad[i].expected);
        weft_arena_free(b.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_hosts_by_some_spines),
        cmocka_unit_test(failed_links),
        cmocka_unit_test(a_detour),
        cmocka_unit_test(a_run),
        cmocka_unit_test(what_routes_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
