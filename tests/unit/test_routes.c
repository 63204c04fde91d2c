// SPDX-License-Identifier: Apache-2.0
// Next hops against brute force on random networks with failed links, and path counts that are known.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "own_memory.h"
#include "topologies.h"
#include "weft/random.h"
#include "weft/routes.h"

enum { SWITCHES_MAX = 24, FAR = 1000 };

/// Hops between all switches by Floyd and Warshall's algorithm.
static void all_hops(const struct weft_topology *t, const bool *down, uint32_t hops[SWITCHES_MAX][SWITCHES_MAX]) {
    for (uint32_t a = 0; a < t->switches; a++)
        for (uint32_t b = 0; b < t->switches; b++)
            hops[a][b] = a == b ? 0 : FAR;
    for (uint32_t l = 0; l < t->links; l++) {
        const struct weft_node_info *a = &t->node[t->port[t->link[l].port[0]].node];
        const struct weft_node_info *b = &t->node[t->port[t->link[l].port[1]].node];
        if (a->role == WEFT_NODE_SWITCH && b->role == WEFT_NODE_SWITCH && !down[l])
            hops[a->index][b->index] = hops[b->index][a->index] = 1;
    }
    for (uint32_t k = 0; k < t->switches; k++)
        for (uint32_t a = 0; a < t->switches; a++)
            for (uint32_t b = 0; b < t->switches; b++)
                if (hops[a][k] + hops[k][b] < hops[a][b]) hops[a][b] = hops[a][k] + hops[k][b];
}

static void compare(const struct weft_topology *t, const bool *down) {
    uint32_t hops[SWITCHES_MAX][SWITCHES_MAX];
    all_hops(t, down, hops);
    struct weft_routes *r = weft_routes_new(t, down);
    for (uint32_t s = 0; s < t->switches; s++)
        for (uint32_t h = 0; h < t->hosts; h++) {
            const struct weft_port_info *host = weft_topology_port(t, t->host[h], 0);
            uint32_t edge = t->node[t->port[host->peer].node].index, wanted = 0, n;
            const struct weft_node_info *node = &t->node[t->switch_node[s]];
            const uint16_t *port = weft_routes_at(r, s, h, &n);
            for (uint32_t k = 0; k < node->ports; k++) {
                const struct weft_port_info *p = &t->port[node->port0 + k];
                const struct weft_node_info *peer = &t->node[t->port[p->peer].node];
                if (down[p->link] || down[host->link]) continue;
                bool nearer = peer->role == WEFT_NODE_HOST
                                  ? peer->index == h
                                  : hops[s][edge] < FAR && hops[peer->index][edge] + 1 == hops[s][edge];
                if (!nearer) continue;
                assert_true(wanted < n);
                assert_int_equal(port[wanted++], k); // ascending
            }
            assert_int_equal(n, wanted);
        }
    weft_routes_free(r);
}

static void random_networks(void **state) {
    (void)state;
    struct weft_random random = weft_random_stream(7, 0, WEFT_RANDOM_TEST);
    for (uint32_t round = 0; round < 300; round++) {
        struct wire wire[100];
        struct wires w = {.switches = 2 + (uint32_t)weft_random_below(&random, SWITCHES_MAX - 2),
                          .wire = wire,
                          .hostless = round % 2 && round > 10};
        if (w.hostless && w.switches < 3) w.switches = 3;
        for (uint32_t s = 1; s < w.switches; s++) { // a random tree, then more links, some of them parallel
            uint32_t near = w.wires > 1 && round % 3 == 0 ? w.wires - 2 : w.wires; // the links of the one before it
            bool twin = near < w.wires && wire[near].from == s - 1 && weft_random_below(&random, 3) > 0;
            for (uint32_t k = 0; k < (round % 3 ? 1u : 2u); k++, w.wires++)
                wire[w.wires] =
                    (struct wire){s, twin ? wire[near + k].to : (uint32_t)weft_random_below(&random, s), 1000000000};
        }
        for (uint64_t more = weft_random_below(&random, 40); more > 0; more--) {
            uint32_t a = (uint32_t)weft_random_below(&random, w.switches);
            uint32_t b = (a + 1 + (uint32_t)weft_random_below(&random, w.switches - 1)) % w.switches;
            wire[w.wires++] = (struct wire){a, b, 1000000000};
        }
        struct built b = build_from_wires(&w);
        if (!b.t) fail_msg("%s", b.error.text);
        bool down[256] = {false};
        compare(b.t, down);
        for (unsigned failures = 0; failures < 4; failures++) {
            down[weft_random_below(&random, b.t->links)] = true;
            down[weft_random_below(&random, b.t->links)] = true;
            compare(b.t, down);
        }
        built_free(&b);
    }
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_ROUTES), 0);
}

/// Paths from switch `s` to a host, following every next hop.
static uint64_t paths(const struct weft_topology *t, const struct weft_routes *r, uint32_t node, uint32_t host) {
    if (node == t->host[host]) return 1;
    uint32_t n;
    uint64_t total = 0;
    const uint16_t *port = weft_routes_at(r, t->node[node].index, host, &n);
    for (uint32_t i = 0; i < n; i++)
        total += paths(t, r, t->port[weft_topology_port(t, node, port[i])->peer].node, host);
    return total;
}

static uint64_t paths_between(const struct weft_topology *t, const struct weft_routes *r, uint32_t src, uint32_t dst) {
    return paths(t, r, t->port[weft_topology_port(t, t->host[src], 0)->peer].node, dst);
}

// Al-Fares et al. 2008: (k/2)^2 shortest paths between pods, k/2 within a pod.
static void fat_tree_paths(void **state) {
    (void)state;
    for (uint32_t k = 2; k <= 12; k += 2) {
        char text[64];
        snprintf(text, sizeof text, "topology: {kind: fat_tree, k: %u}", k);
        struct built b = build_text(text);
        assert_non_null(b.t);
        struct weft_routes *r = weft_routes_new(b.t, NULL);
        uint32_t half = k / 2, pod = half * half;
        assert_int_equal(r->edges, k * half);
        assert_int_equal(paths_between(b.t, r, 0, pod), half * half);
        assert_int_equal(paths_between(b.t, r, b.t->hosts - 1, 0), half * half);
        if (half > 1) {
            assert_int_equal(paths_between(b.t, r, 0, half), half);
            assert_int_equal(paths_between(b.t, r, 0, 1), 1);
        }
        weft_routes_free(r);
        built_free(&b);
    }
}

// clos3 by default: 8 aggregation switches up x 8 cores x 8 aggregation switches down between pods, 8 within one.
static void failures_take_paths_away(void **state) {
    (void)state;
    struct built b = build_text("topology: clos3");
    const struct weft_topology *t = b.t;
    assert_non_null(t);
    bool *down = calloc(t->links, sizeof *down);
    struct weft_routes *r = weft_routes_new(t, down);
    assert_int_equal(paths_between(t, r, 0, 300), 512);
    assert_int_equal(paths_between(t, r, 0, 8), 8);
    weft_routes_free(r);

    down[weft_topology_find_link(t, "aggregation-0--core-0")] = true;
    r = weft_routes_new(t, down);
    assert_int_equal(paths_between(t, r, 0, 300), 504);
    assert_int_equal(paths_between(t, r, 300, 0), 504);
    assert_int_equal(paths_between(t, r, 300, 600), 512);
    weft_routes_free(r);

    down[weft_topology_find_link(t, "access-0--aggregation-5")] = true;
    r = weft_routes_new(t, down);
    assert_int_equal(paths_between(t, r, 0, 300), 440);
    assert_int_equal(paths_between(t, r, 0, 8), 7);
    weft_routes_free(r);

    for (uint32_t k = 0; k < 8; k++) { // access-1 alone: its hosts reach one another only
        char name[32];
        snprintf(name, sizeof name, "access-1/%u", 8 + k);
        down[weft_topology_find_link(t, name)] = true;
    }
    down[weft_topology_find_link(t, "host-9/0")] = true;
    r = weft_routes_new(t, down);
    assert_int_equal(paths_between(t, r, 8, 10), 1);
    assert_int_equal(paths_between(t, r, 8, 9), 0);
    assert_int_equal(paths_between(t, r, 8, 0), 0);
    assert_int_equal(paths_between(t, r, 0, 8), 0);
    assert_int_equal(r->edge_of_host[9], WEFT_NONE);
    weft_routes_free(r);
    free(down);
    built_free(&b);
}

// Between zones 3 CTSWs up x 4 ATSWs x 3 CTSWs down, 3 within one. A CTSW that fails leaves 2 up (from its zone) or
// down (to it), and the hosts of other zones do not notice.
static void whole_ctsw_fails(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: ai_zone, zones: 3, racks: 2, gpus_per_rack: 2, uplinks: 3, "
                                "ctsw_uplinks: 4}\nevents: [{at: 1us, link: ctsw-1/*, state: down}]");
    const struct weft_topology *t = b.t;
    assert_non_null(t);
    assert_int_equal(t->events, 2 + 4);
    bool down[128] = {false};
    assert_true(t->links <= sizeof down);
    struct weft_routes *r = weft_routes_new(t, down);
    assert_int_equal(paths_between(t, r, 0, 4), 36);
    assert_int_equal(paths_between(t, r, 0, 2), 3);
    weft_routes_free(r);
    for (uint32_t i = 0; i < t->events; i++)
        down[t->event[i].link] = true;
    r = weft_routes_new(t, down);
    assert_int_equal(paths_between(t, r, 0, 4), 24);
    assert_int_equal(paths_between(t, r, 4, 0), 24);
    assert_int_equal(paths_between(t, r, 4, 8), 36);
    assert_int_equal(paths_between(t, r, 0, 2), 2);
    weft_routes_free(r);
    built_free(&b);
}

/// 2 bytes a switch and edge switch, as weft/routes.h promises; the rest is small beside it.
static void memory_is_lean(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: fat_tree, k: 16}");
    assert_non_null(b.t);
    weft_memory_reset_max();
    struct weft_routes *r = weft_routes_new(b.t, NULL);
    uint64_t table = UINT64_C(2) * b.t->switches * r->edges;
    assert_in_range(weft_memory_bytes(WEFT_MEMORY_ROUTES), table, 2 * table);
    assert_in_range(weft_memory_bytes_max(WEFT_MEMORY_ROUTES), table, 5 * table);
    weft_routes_free(r);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_ROUTES), 0);
    built_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks),          cmocka_unit_test(fat_tree_paths),
        cmocka_unit_test(failures_take_paths_away), cmocka_unit_test(whole_ctsw_fails),
        cmocka_unit_test(memory_is_lean),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
