// SPDX-License-Identifier: Apache-2.0
// Reachability on the L2 zone of 18,432 NIC ports: one of its two planes is 512 RDSWs, 640 virtual devices of FDSWs and
// 512 of SDSWs. 100 random failures, closed forms of what one failure makes devices withdraw, and repair.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "control/dsf/reach_run.h"
#include "reach_leads.h"
#include "weft/scenario.h"

enum { RDSWS = 512, FAILURES = 100, ZONES = 4, ZONE_RDSWS = 128, SDSWS = 128, FDSWS = 40 };

static struct {
    struct weft_scenario_file *file;
    struct weft_scenario *scenario;
    struct weft_topology *topology;
    struct weft_fabric *f;
} zone;

static int build(void **state) {
    (void)state;
    static const char text[] = "topology: {kind: dsf_l2_zone, hosts_per_rdsw: 1}\n";
    struct weft_fabric **fabric;
    uint32_t fabrics;
    if (weft_scenario_file_parse("zone", text, sizeof text - 1, NULL, 0, &zone.file, NULL)) return 1;
    if (weft_scenario_new(zone.file, 0, &zone.scenario, NULL)) return 1;
    struct weft_scenario *s = zone.scenario;
    if (weft_topology_new(&s->topology, s->topology_tree, NULL, s->arena, &zone.topology, NULL)) return 1;
    if (weft_fabric_find(zone.topology, &s->control.reach, s->arena, &fabric, &fabrics, NULL)) return 1;
    zone.f = fabric[0];
    return fabrics != 1;
}

static int destroy(void **state) {
    (void)state;
    weft_scenario_free(zone.scenario);
    weft_scenario_file_free(zone.file);
    return 0;
}

static void the_fabric_of_a_plane(void **state) {
    (void)state;
    uint32_t level[3] = {0};
    for (uint32_t i = 0; i < zone.f->devices; i++)
        level[zone.f->device[i].level]++;
    assert_int_equal(level[0], RDSWS);
    assert_int_equal(level[1], ZONES * FDSWS * 4);
    assert_int_equal(level[2], SDSWS * 4);
    assert_int_equal(zone.f->dests, RDSWS);
    assert_int_equal(zone.f->links, RDSWS * 160 + ZONES * FDSWS * 4 * SDSWS);
    for (uint32_t i = 0; i < zone.f->devices; i += 97)
        for (uint32_t k = 0; k < zone.f->device[i].links; k += 11) {
            const struct weft_fabric_link *l = &zone.f->link[zone.f->at[zone.f->device[i].link0 + k]];
            uint32_t node = zone.f->device[i].node, end = l->device[1] == i;
            const uint32_t *port = zone.topology->link[l->link].port;
            uint32_t at = port[zone.topology->port[port[0]].node != node] - zone.topology->node[node].port0;
            assert_int_equal(l->slot[end], k);
            for (uint32_t d = 0; d < RDSWS; d += 31)
                assert_int_equal(weft_fabric_leads(zone.f, i, k, d),
                                 reach_leads(zone.topology, node, at, zone.f->device[zone.f->dest_device[d]].node));
        }
}

static void check(const struct weft__reach_run *run) {
    for (uint32_t i = 0; i < zone.f->devices; i++)
        for (uint32_t d = 0; d < RDSWS; d++) {
            const struct weft_reach_agent *a = weft__reach_run_agent(run, i);
            assert_false(weft_reach_resorts(a, d));
            for (uint32_t g = 0; zone.f->device[i].level && g < weft_reach_groups(a, d); g++) {
                struct weft_reach_balance b = weft_reach_group(a, d, g);
                uint32_t most = weft_reach_calc_limit(&b);
                if (b.in != (most < b.up_in ? most : b.up_in)) fail_msg("device %u destination %u", i, d);
            }
        }
}

/// Everything is usable again, towards every `step`-th destination.
static bool is_whole(const struct weft__reach_run *run, uint32_t step) {
    for (uint32_t i = 0; i < zone.f->devices; i++)
        for (uint32_t d = i % step; d < RDSWS; d += step)
            for (uint32_t k = 0; k < zone.f->device[i].links; k++)
                if (weft_reach_usable(weft__reach_run_agent(run, i), k, d) != weft_fabric_leads(zone.f, i, k, d))
                    return false;
    return true;
}

static uint32_t find_link(uint8_t upper_level, uint32_t n) {
    for (uint32_t l = 0; l < zone.f->links; l++)
        if (zone.f->device[zone.f->link[l].device[1]].level == upper_level && !n--) return l;
    return WEFT_NONE;
}

/// One link of an RDSW. Its FDSW device withdraws it from 128 SDSW devices and 127 RDSWs; each SDSW device then has 39
/// ways to it for 40 of each of the 3 other zones and withdraws a link from each; a device of an FDSW in another zone
/// that lost n of its 128 withdraws n RDSWs. So 3 x 128 links are lost in all between FDSWs and RDSWs, of 3 x 128 x
/// 160.
static void one_rdsw_link(void **state) {
    (void)state;
    struct weft__reach_run *run = weft__reach_run_new(zone.f, &zone.scenario->control.reach, 1, false);
    uint32_t link = find_link(1, 12345), rdsw = zone.f->link[link].device[0];
    weft__reach_run_link(run, WEFT_PS_PER_MS, link, false);
    weft__reach_run_settle(run);
    const struct weft_reach_stats *stats = weft__reach_run_stats(run);
    assert_int_equal(stats->withdrawn, SDSWS + (ZONE_RDSWS - 1) + 3 * SDSWS + 3 * SDSWS);
    uint32_t lost[ZONES] = {0}, cluster = zone.f->device[rdsw].cluster;
    for (uint32_t i = 0; i < zone.f->devices; i++)
        for (uint32_t k = 0; !zone.f->device[i].level && i != rdsw && k < zone.f->device[i].links; k++)
            lost[zone.f->device[i].cluster] +=
                !weft_reach_usable(weft__reach_run_agent(run, i), k, zone.f->device[rdsw].dest);
    for (uint32_t c = 0; c < ZONES; c++)
        assert_int_equal(lost[c], c == cluster ? ZONE_RDSWS - 1 : SDSWS);
    // To the SDSWs and on: at most the watchdog, then three cells, each up to a cycle late.
    assert_int_equal(stats->rounds, 3);
    assert_in_range(stats->last_ps - stats->first_ps, 100 * WEFT_PS_PER_US,
                    100 * WEFT_PS_PER_US + 3 * 44800 * WEFT_PS_PER_NS + 10 * WEFT_PS_PER_US);
    weft__reach_run_link(run, 2 * WEFT_PS_PER_MS, link, true);
    weft__reach_run_settle(run);
    assert_true(is_whole(run, 8));
    weft__reach_run_free(run);
}

/// One link between an FDSW device and an SDSW device. The FDSW device withdraws an RDSW towards all 384 RDSWs outside
/// of its zone; the SDSW device withdraws a link to each other zone, towards the 128 of this one; three FDSW devices an
/// RDSW each, towards the same.
static void one_sdsw_link(void **state) {
    (void)state;
    struct weft__reach_run *run = weft__reach_run_new(zone.f, &zone.scenario->control.reach, 1, false);
    uint32_t link = find_link(2, 4321);
    weft__reach_run_link(run, WEFT_PS_PER_MS, link, false);
    weft__reach_run_settle(run);
    const struct weft_reach_stats *stats = weft__reach_run_stats(run);
    assert_int_equal(stats->withdrawn, 3 * ZONE_RDSWS + 3 * ZONE_RDSWS + 3 * ZONE_RDSWS);
    assert_int_equal(stats->rounds, 2);
    weft__reach_run_link(run, 2 * WEFT_PS_PER_MS, link, true);
    weft__reach_run_settle(run);
    assert_true(is_whole(run, 8));
    weft__reach_run_free(run);
}

static void hundred_failures(void **state) {
    (void)state;
    clock_t begun = clock();
    struct weft__reach_run *run = weft__reach_run_new(zone.f, &zone.scenario->control.reach, 1, true);
    struct weft_random dice = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    uint32_t failed[FAILURES];
    clock_t built = clock();
    for (uint32_t i = 0; i < FAILURES; i++) {
        failed[i] = (uint32_t)weft_random_below(&dice, zone.f->links);
        weft__reach_run_link(run, WEFT_PS_PER_MS + weft_random_below(&dice, WEFT_PS_PER_MS), failed[i], false);
    }
    weft__reach_run_settle(run);
    clock_t settled = clock();
    const struct weft_reach_stats *stats = weft__reach_run_stats(run);
    print_message("built in %.2f s, 100 failures in %.2f s: %llu cells, %llu withdrawn, %llu changes, %u rounds\n",
                  (double)(built - begun) / CLOCKS_PER_SEC, (double)(settled - built) / CLOCKS_PER_SEC,
                  (unsigned long long)stats->cells, (unsigned long long)stats->withdrawn,
                  (unsigned long long)stats->changes, stats->rounds);
    assert_true((double)(settled - built) / CLOCKS_PER_SEC < 10);
    check(run);
    for (uint32_t i = 0; i < FAILURES; i++)
        weft__reach_run_link(run, 10 * WEFT_PS_PER_MS + i, failed[i], true);
    weft__reach_run_settle(run);
    assert_true(is_whole(run, 2));
    weft__reach_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fabric_of_a_plane),
        cmocka_unit_test(one_rdsw_link),
        cmocka_unit_test(one_sdsw_link),
        cmocka_unit_test(hundred_failures),
    };
    return cmocka_run_group_tests(tests, build, destroy);
}
