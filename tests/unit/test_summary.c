// SPDX-License-Identifier: Apache-2.0
// Figures of networks against hand calculation, and the maximum flow against every cut.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>

#include "own_memory.h"
#include "topologies.h"
#include "topology/graph.h"
#include "weft/random.h"
#include "weft/summary.h"

#define GBPS UINT64_C(1000000000)

static struct weft_topology_summary *summarise(struct built *b, const char *text, weft_time_ps processing) {
    *b = build_text(text);
    if (!b->t) fail_msg("%s", b->error.text);
    weft_time_ps *delay = weft_arena_alloc(b->arena, b->t->switches, sizeof *delay);
    for (uint32_t s = 0; s < b->t->switches; s++)
        delay[s] = processing;
    return weft_topology_summarise(b->t, delay, NULL, b->arena);
}

static void assert_real(double value, double wanted) {
    assert_true(value > wanted * (1 - 1e-12) && value < wanted * (1 + 1e-12));
}

// Half the hosts (512) reach the other half through 16 aggregation switches x 8 uplinks of 200G: 25.6T of 102.4T.
// 72 byte times at 200G are 2.88 ns. Nearest: 2 links and 1 switch; farthest: 6 links and 5 switches.
static void fabric_of_1024(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology_summary *s = summarise(&b, "topology: clos3", 300000);
    assert_int_equal(s->bisection_bps, 25600 * GBPS);
    assert_int_equal(s->half_bps, 102400 * GBPS);
    assert_int_equal(s->diameter_links, 6);
    assert_real(s->paths_min, 8);
    assert_real(s->paths_max, 512);
    assert_int_equal(s->rtt_min_ps, 2 * (2 * (150000 + 2880) + 300000));
    assert_int_equal(s->rtt_max_ps, 2 * (6 * (150000 + 2880) + 5 * 300000));
    assert_int_equal(s->layers, 4);
    assert_string_equal(s->layer[0].name, "core");
    assert_string_equal(s->layer[1].name, "aggregation");
    assert_string_equal(s->layer[2].name, "access");
    assert_string_equal(s->layer[3].name, "host");
    assert_int_equal(s->layer[1].down_bps, 32 * 32 * 200 * GBPS);
    assert_int_equal(s->layer[1].up_bps, 32 * 8 * 200 * GBPS);
    assert_real(s->layer[1].oversubscription_max, 4);
    assert_real(s->layer[2].oversubscription_min, 1);
    assert_true(s->layer[0].oversubscription_max <= 0);
    assert_int_equal(s->lines, 3);
    assert_int_equal(s->line[0].links, 256);
    assert_string_equal(s->line[0].layer[0], "core");
    assert_string_equal(s->line[0].layer[1], "aggregation");
    assert_int_equal(s->line[1].links, 1024);
    assert_int_equal(s->line[2].links, 1024);
    built_free(&b);
}

// Meta, SIGCOMM 2024: 256 RTSWs of 16 GPUs at 400G and 18 links up: full bisection, 1:1.125. Half of the GPUs, 2048,
// can send 819.2T. Racks apart: 2 x 100 ns + 2 x 350 ns and 4 x 72 byte times at 400G, through 3 switches.
static void one_ai_zone(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology_summary *s = summarise(&b, "topology: ai_zone", 300000);
    assert_int_equal(s->bisection_bps, 819200 * GBPS);
    assert_int_equal(s->half_bps, 819200 * GBPS);
    assert_string_equal(s->layer[1].name, "rtsw");
    assert_real(s->layer[1].oversubscription_max, 16. / 18);
    assert_int_equal(s->layer[1].down_bps, 256 * 16 * 400 * GBPS);
    assert_int_equal(s->layer[1].up_bps, 256 * 18 * 400 * GBPS);
    assert_int_equal(s->diameter_links, 4);
    assert_real(s->paths_min, 18);
    assert_real(s->paths_max, 18);
    assert_int_equal(s->rtt_max_ps, 2 * (2 * 100000 + 2 * 350000 + 4 * 1440 + 3 * 300000));
    built_free(&b);
    s = summarise(&b, "topology: {kind: ai_zone, racks: 8, uplinks: 32}", 300000); // 1:2 under-subscribed
    assert_real(s->layer[1].oversubscription_max, .5);
    built_free(&b);
}

// 8 zones of 4,096 GPUs; 18 CTSWs with 256 links down and 36 up: 64:9. Half of the GPUs, 4 zones, could send 6553.6T
// and have 4 x 18 x 36 links of 400G to the other half, 1036.8T. Paths between zones: 18 CTSWs x 36 ATSWs x 18 CTSWs.
static void eight_ai_zones(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology_summary *s = summarise(&b, "topology: {kind: ai_zone, zones: 8}", 300000);
    assert_int_equal(b.t->hosts, 32768);
    assert_int_equal(s->bisection_bps, 1036800 * GBPS);
    assert_int_equal(s->half_bps, 6553600 * GBPS);
    assert_string_equal(s->layer[1].name, "ctsw");
    assert_real(s->layer[1].oversubscription_min, 64. / 9);
    assert_real(s->layer[1].oversubscription_max, 64. / 9);
    assert_real(s->paths_min, 18);
    assert_real(s->paths_max, 18 * 36 * 18);
    assert_int_equal(s->diameter_links, 6);
    built_free(&b);
}

// Full bisection with any k; with 3 pods the middle one is cut inside.
static void full_bisection(void **state) {
    (void)state;
    for (uint32_t k = 4; k <= 10; k += 2) {
        char text[64];
        snprintf(text, sizeof text, "topology: {kind: fat_tree, k: %u, rate: 100Gbps}", k);
        struct built b;
        const struct weft_topology_summary *s = summarise(&b, text, 0);
        assert_int_equal(s->bisection_bps, b.t->hosts / 2 * 100 * GBPS);
        assert_real(s->paths_max, k * k / 4);
        assert_real(s->paths_min, k / 2);
        built_free(&b);
    }
    struct built b;
    const struct weft_topology_summary *s =
        summarise(&b, "topology: {kind: clos3, pods: 3, core_parallel: 4, access_per_pod: 32}", 0);
    assert_int_equal(s->bisection_bps, 384 * 200 * GBPS);
    built_free(&b);
}

// m uplinks for d hosts a leaf: min(1, m/d) of full bisection.
static void oversubscribed_leaves(void **state) {
    (void)state;
    for (uint32_t spines = 1; spines <= 10; spines++) {
        char text[128];
        snprintf(text, sizeof text, "topology: {kind: leaf_spine, leaves: 4, hosts_per_leaf: 8, spines: %u}", spines);
        struct built b;
        const struct weft_topology_summary *s = summarise(&b, text, 0);
        assert_int_equal(s->bisection_bps, 2 * (spines < 8 ? spines : 8) * 200 * GBPS);
        assert_real(s->layer[1].oversubscription_max, 8.0 / spines);
        built_free(&b);
    }
}

// Links of different rate and delay, 11 ns of processing. 72 byte times: 1.44 ns at 400G, 5.76 ns at 100G.
//   h0 -5ns,400G- a =(10ns and 20ns, 100G)= b -7ns,400G- h1, h2 -9ns,400G- b
static void uneven_list(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology_summary *s =
        summarise(&b,
                  "topology: {kind: list, parallel: true, nodes: [{name: a, role: switch}, {name: b, role: switch}, "
                  "{name: h0, role: host}, {name: h1, role: host}, {name: h2, role: host}], links: ["
                  "{from: h0, to: a, rate: 400Gbps, delay: 5ns}, {from: a, to: b, rate: 100Gbps, delay: 10ns}, "
                  "{from: a, to: b, rate: 100Gbps, delay: 20ns}, {from: h1, to: b, rate: 400Gbps, delay: 7ns}, "
                  "{from: b, to: h2, rate: 400Gbps, delay: 9ns}]}",
                  11000);
    assert_int_equal(s->rtt_min_ps, 2 * (7000 + 9000 + 2 * 1440 + 11000));
    assert_int_equal(s->rtt_max_ps, 2 * (5000 + 20000 + 9000 + 2 * 1440 + 5760 + 2 * 11000));
    assert_int_equal(s->bisection_bps, 200 * GBPS);
    assert_int_equal(s->half_bps, 400 * GBPS);
    assert_int_equal(s->diameter_links, 3);
    assert_real(s->paths_min, 2);
    assert_int_equal(s->lines, 5);
    built_free(&b);
}

static void one_switch(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology_summary *s = summarise(&b, "topology: {kind: single, hosts: 5}", 0);
    assert_int_equal(s->bisection_bps, 2 * 200 * GBPS);
    assert_int_equal(s->diameter_links, 2);
    assert_true(s->paths_max <= 0);
    assert_int_equal(s->rtt_min_ps, s->rtt_max_ps);
    built_free(&b);
}

// Ford and Fulkerson 1956: the maximum flow is the smallest cut; here over all cuts of small random graphs.
static void flow_is_smallest_cut(void **state) {
    (void)state;
    struct weft_random random = weft_random_stream(11, 0, WEFT_RANDOM_TEST);
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t nodes = 2 + (uint32_t)weft_random_below(&random, 8);
        uint64_t capacity[9][9] = {{0}};
        struct weft__flow *f = weft__flow_new(nodes);
        for (uint64_t arcs = weft_random_below(&random, 25); arcs > 0; arcs--) {
            uint32_t a = (uint32_t)weft_random_below(&random, nodes);
            uint32_t b = (a + 1 + (uint32_t)weft_random_below(&random, nodes - 1)) % nodes;
            uint64_t there = weft_random_below(&random, 10), back = weft_random_below(&random, 10);
            weft__flow_connect(f, a, b, there, back);
            capacity[a][b] += there;
            capacity[b][a] += back;
        }
        uint64_t least = UINT64_MAX;
        for (uint32_t side = 1; side < 1u << nodes; side += 2) { // bit n: node n is with node 0
            if (side >> (nodes - 1) & 1) continue;
            uint64_t cut = 0;
            for (uint32_t a = 0; a < nodes; a++)
                for (uint32_t b = 0; b < nodes; b++)
                    if ((side >> a & 1) && !(side >> b & 1)) cut += capacity[a][b];
            if (cut < least) least = cut;
        }
        assert_int_equal(weft__flow_max(f, 0, nodes - 1), least);
        weft__flow_free(f);
    }
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_TOPOLOGY), 0);
}

// Control processors of TiNs are hosts to the network, but no half of anybody's traffic is theirs, and their slow links
// are no host's: with a Clique of 3 x 5 TiNs, halves of 15 hosts, one of which ends within a TiN.
static void processors_are_not_counted(void **state) {
    (void)state;
    static const char *const rates[] = {"1Gbps", "100Gbps"};
    struct built plain, b;
#define CLIQUE "topology: {kind: dragonfly, pods: 3, tins: 5, gateways: 4, spines: 2"
    const struct weft_topology_summary *wanted = summarise(&plain, CLIQUE "}", 0);
    for (unsigned i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text, CLIQUE ", processors: true, processor_rate: %s}", rates[i]);
        const struct weft_topology_summary *s = summarise(&b, text, 0);
        assert_int_equal(b.t->hosts, 45);
        assert_int_equal(s->hosts, 30);
        assert_int_equal(s->bisection_bps, wanted->bisection_bps);
        assert_int_equal(s->half_bps, 15 * 50 * GBPS);
        static const char *const ends[] = {"host-0", "host-14", "host-15", "host-29"};
        for (unsigned end = 0; end < 4; end++)
            assert_string_equal(b.t->node[s->half_ends[end]].name, ends[end]);
        assert_int_equal(s->rtt_min_ps, wanted->rtt_min_ps);
        assert_int_equal(s->rtt_max_ps, wanted->rtt_max_ps);
        assert_int_equal(s->diameter_links, wanted->diameter_links);
        assert_real(s->paths_max, wanted->paths_max);
        assert_string_equal(s->layer[1].name, "tin");
        assert_int_equal(s->layer[1].down_bps, 30 * 50 * GBPS);
        assert_true(s->layer[1].oversubscription_max > 0);
        assert_real(s->layer[1].oversubscription_max, wanted->layer[1].oversubscription_max);
        built_free(&b);
    }
    built_free(&plain);
}

/// Switches with equal links are searched from once. Where no two are alike, since each takes a ps more than the one
/// before, all are, and find the same.
static void twins_find_what_all_find(void **state) {
    (void)state;
    static const char *const text[] = {
        "{kind: leaf_spine, leaves: 9, spines: 3, hosts_per_leaf: 2}",
        "{kind: clos3, pods: 3, access_per_pod: 4, hosts_per_access: 1, core_wiring: plane}",
        "{kind: fat_tree, k: 6}",
        "{kind: ai_zone, zones: 2}",
        "{kind: leaf_spine, leaves: 5, spines: 2, hosts_per_leaf: 2, override: [{link: leaf-3/2, delay: 9us}]}",
        "{kind: leaf_spine, leaves: 5, spines: 2, hosts_per_leaf: 2, override: [{link: host-7/0, delay: 9us}]}",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        char all[256];
        struct built b;
        snprintf(all, sizeof all, "topology: %s", text[i]);
        const struct weft_topology_summary *s = summarise(&b, all, 100000);
        weft_time_ps *delay = weft_arena_alloc(b.arena, b.t->switches, sizeof *delay);
        for (uint32_t sw = 0; sw < b.t->switches; sw++)
            delay[sw] = 100000 + sw;
        const struct weft_topology_summary *each = weft_topology_summarise(b.t, delay, NULL, b.arena);
        assert_int_equal(s->diameter_links, each->diameter_links);
        assert_real(s->paths_min, each->paths_min);
        assert_real(s->paths_max, each->paths_max);
        assert_in_range(each->rtt_min_ps, s->rtt_min_ps, s->rtt_min_ps + 10 * b.t->switches);
        assert_in_range(each->rtt_max_ps, s->rtt_max_ps, s->rtt_max_ps + 10 * b.t->switches);
        built_free(&b);
    }
}

/// Access switches of a pod are twins; one with a slower link, or with another key, is not; nor are switches of
/// different pods.
static void twins_have_equal_links(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: clos3, pods: 3, access_per_pod: 4, aggregation_per_pod: 2}");
    assert_non_null(b.t);
    struct weft__graph g;
    weft__graph_init(&g, b.t, NULL);
    uint64_t *sort = weft_arena_alloc(b.arena, b.t->links, sizeof *sort);
    uint32_t *key = weft_arena_alloc(b.arena, b.t->switches, sizeof *key), twin[64], at[12];
    assert_true(b.t->switches < 64);
    for (uint32_t k = 0; k < 12; k++) {
        char name[32];
        snprintf(name, sizeof name, "access-%u", k);
        at[k] = b.t->node[weft_topology_find_node(b.t, name)].index;
    }
    weft__equal_switches_find(&g, key, sizeof *key, sort, twin);
    for (uint32_t k = 0; k < 12; k++)
        assert_int_equal(twin[at[k]], at[k / 4 * 4]);
    key[at[5]] = 1;
    sort[g.arc[g.first[at[8]]].link] = 1;
    weft__equal_switches_find(&g, key, sizeof *key, sort, twin);
    const uint32_t wanted[12] = {0, 0, 0, 0, 4, 5, 4, 4, 8, 9, 9, 9};
    for (uint32_t k = 0; k < 12; k++)
        assert_int_equal(twin[at[k]], at[wanted[k]]);
    weft__graph_deinit(&g);
    built_free(&b);
}

/// Switches of equal networks are equal, and each network has figures all the same.
static void planes_of_one_switch(void **state) {
    (void)state;
    struct built b;
    const struct weft_topology_summary *s =
        summarise(&b, "topology: {kind: planes, planes: 3, plane: {kind: single, hosts: 4, rate: 200Gbps}}", 300000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(s[i].diameter_links, 2);
        assert_int_equal(s[i].rtt_max_ps, 2 * (2 * (150000 + 2880) + 300000));
        assert_int_equal(s[i].rtt_min_ps, s[i].rtt_max_ps);
    }
    built_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fabric_of_1024),
        cmocka_unit_test(one_ai_zone),
        cmocka_unit_test(eight_ai_zones),
        cmocka_unit_test(full_bisection),
        cmocka_unit_test(oversubscribed_leaves),
        cmocka_unit_test(uneven_list),
        cmocka_unit_test(one_switch),
        cmocka_unit_test(planes_of_one_switch),
        cmocka_unit_test(processors_are_not_counted),
        cmocka_unit_test(twins_find_what_all_find),
        cmocka_unit_test(twins_have_equal_links),
        cmocka_unit_test(flow_is_smallest_cut),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
