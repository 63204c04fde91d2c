// SPDX-License-Identifier: Apache-2.0
// BGP of a building of a DSF region: counts against closed forms, and times after losses. Meta's text: 128 EDSWs of 16
// links to superspines, 2k next hops at each of 512 RDSWs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "weft/bgp.h"
#include "weft/memory.h"
#include "weft/param_load.h"

enum { RDSWS = 512, EDSWS = 128, LINKS = 16, NEXT_HOPS = EDSWS * LINKS };

static struct weft_arena *arena;
static struct weft_bgp_conf conf;
static const uint64_t others[] = {4}; ///< buildings
static const struct weft_bgp_setup setup = {
    .rdsws = RDSWS, .edsws = EDSWS, .links = LINKS, .classes = 1, .buildings = others};

static int begin(void **state) {
    (void)state;
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return (int)weft_params_load(&weft_bgp_table, NULL, &conf, arena, NULL);
}

static int end(void **state) {
    (void)state;
    weft_arena_free(arena);
    return 0;
}

#define RUN(...)                                                                                                       \
    weft_bgp_run(&conf, &setup, (const struct weft_bgp_event[]){__VA_ARGS__},                                          \
                 sizeof((const struct weft_bgp_event[]){__VA_ARGS__}) / sizeof(struct weft_bgp_event), 1, arena)

static void two_thousand_next_hops(void **state) {
    (void)state;
    const struct weft_bgp_result *r = weft_bgp_run(&conf, &setup, NULL, 0, 1, arena);
    assert_int_equal(r->ibgp_sessions, 65536);
    assert_int_equal(r->ebgp_sessions, 2048);
    assert_int_equal(r->paths, 2048);
    assert_int_equal(r->width, 2048);
    assert_int_equal(r->rib, 4 * 2048); // an aggregate a building
    assert_int_equal(r->rib_all, 512 * 4 * 2048);
    // an UPDATE a way to each RDSW, the aggregates of other buildings together in it
    assert_int_equal(r->first_updates, RDSWS * NEXT_HOPS);
    assert_int_equal(r->first_ps, RDSWS * LINKS * conf.processing_ps + conf.latency_ps + conf.processing_ps);
}

/// 1/128 of the traffic is lost until the loss is known: at once by the fabric, or when the hold time is over.
static void an_edsw_is_lost(void **state) {
    (void)state;
    const struct weft_bgp_result *r = RUN({.time_ps = WEFT_PS_PER_S, .what = WEFT_BGP_LOST, .edsw = 7});
    assert_int_equal(r->outcome[0].updates, 0);
    assert_int_equal(r->outcome[0].paths, NEXT_HOPS - LINKS);
    assert_int_equal(r->outcome[0].changes, RDSWS * LINKS * 4);
    assert_int_equal(r->outcome[0].last_ps, conf.tracking_delay_ps + conf.processing_ps);
    assert_true(r->outcome[0].lost_ps == (double)r->outcome[0].last_ps / EDSWS);
    conf.tracking = false;
    r = RUN({.time_ps = WEFT_PS_PER_S, .what = WEFT_BGP_LOST, .edsw = 7});
    assert_int_equal(r->outcome[0].paths, NEXT_HOPS - LINKS);
    assert_in_range(r->outcome[0].last_ps, conf.hold_ps - conf.keepalive_ps, conf.hold_ps + WEFT_PS_PER_MS);
    r = RUN({.time_ps = WEFT_PS_PER_S, .what = WEFT_BGP_SHUT, .edsw = 7},
            {.time_ps = 2 * WEFT_PS_PER_S, .what = WEFT_BGP_BACK, .edsw = 7});
    assert_int_equal(r->outcome[0].last_ps, conf.latency_ps + conf.processing_ps);
    assert_int_equal(r->outcome[0].paths, NEXT_HOPS - LINKS);
    assert_int_equal(r->outcome[1].paths, NEXT_HOPS);
    assert_int_equal(r->outcome[1].updates, RDSWS * LINKS);
}

/// A withdrawal to each RDSW, made one after the other.
static void a_link_is_lost(void **state) {
    (void)state;
    const struct weft_bgp_result *r =
        RUN({.time_ps = WEFT_PS_PER_S, .what = WEFT_BGP_LINK_DOWN, .edsw = 7, .links = 1 << 3},
            {.time_ps = 2 * WEFT_PS_PER_S, .what = WEFT_BGP_LINK_UP, .edsw = 7, .links = 1 << 3});
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(r->outcome[i].updates, RDSWS);
        assert_int_equal(r->outcome[i].changes, RDSWS * 4);
        assert_int_equal(r->outcome[i].last_ps, conf.detect_ps + (RDSWS + 1) * conf.processing_ps + conf.latency_ps);
    }
    assert_int_equal(r->outcome[0].paths, NEXT_HOPS - 1);
    assert_int_equal(r->outcome[1].paths, NEXT_HOPS);
}

/// Superspines at two of an EDSW's links lose one of four buildings. They notice, and tell the EDSW; it tells every
/// RDSW, in an UPDATE that names that aggregate only. Of the others nothing changes.
static void superspines_lose_a_building(void **state) {
    (void)state;
    static const uint64_t one_each[] = {1, 1, 1, 1};
    const struct weft_bgp_setup four = {
        .rdsws = RDSWS, .edsws = EDSWS, .links = LINKS, .classes = 4, .buildings = one_each};
    const struct weft_bgp_event event[] = {
        {.time_ps = WEFT_PS_PER_S, .what = WEFT_BGP_WAY_DOWN, .edsw = 7, .class_index = 2, .links = 3},
        {.time_ps = 2 * WEFT_PS_PER_S, .what = WEFT_BGP_WAY_UP, .edsw = 7, .class_index = 2, .links = 3}};
    const struct weft_bgp_result *r = weft_bgp_run(&conf, &four, event, 2, 1, arena);
    assert_int_equal(r->rib, 4 * NEXT_HOPS);
    assert_int_equal(r->first_updates, RDSWS * NEXT_HOPS); // all aggregates of a way in one
    weft_time_ps heard = conf.detect_ps + 2 * conf.processing_ps + conf.latency_ps;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t updates = i ? 2 * RDSWS : RDSWS; // withdrawn together, announced one by one
        assert_int_equal(r->outcome[i].updates, updates);
        assert_int_equal(r->outcome[i].changes, 2 * RDSWS);
        assert_int_equal(r->outcome[i].last_ps, heard + (updates + 1) * conf.processing_ps + conf.latency_ps);
    }
    assert_int_equal(r->outcome[0].paths, NEXT_HOPS - 2);
    assert_int_equal(r->outcome[1].paths, NEXT_HOPS);
    uint32_t told = 0;
    for (uint32_t i = 0; i < r->changes_n; i++) {
        const struct weft_bgp_change *c = &r->change[i];
        if (c->rdsw == WEFT_NONE) continue; // the EDSW itself
        assert_int_equal(c->edsw, 7);
        assert_int_equal(c->class_index, 2);
        assert_int_equal(c->links, c->time_ps < 2 * WEFT_PS_PER_S ? 0xfffc : 0xffff);
        told++;
    }
    assert_int_equal(told, 2 * RDSWS);
}

/// A second link within the MRAI waits for it.
static void mrai(void **state) {
    (void)state;
    conf.mrai_ps = 5 * WEFT_PS_PER_S;
    const struct weft_bgp_result *r =
        RUN({.time_ps = 100 * WEFT_PS_PER_S, .what = WEFT_BGP_LINK_DOWN, .edsw = 7, .links = 1 << 3},
            {.time_ps = 101 * WEFT_PS_PER_S, .what = WEFT_BGP_LINK_DOWN, .edsw = 7, .links = 1 << 4});
    assert_int_equal(r->outcome[0].last_ps, conf.detect_ps + (RDSWS + 1) * conf.processing_ps + conf.latency_ps);
    assert_int_equal(r->outcome[1].last_ps,
                     conf.detect_ps + 4 * WEFT_PS_PER_S + (RDSWS + 1) * conf.processing_ps + conf.latency_ps);
    assert_int_equal(r->outcome[1].paths, NEXT_HOPS - 2);
}

/// Each update and each closed session says how many paths came or went, and the sum follows.
static void path_counts(void **state) {
    (void)state;
    uint64_t paths[3] = {0};
    struct weft_bgp_rib rib = {3, paths, 0};
    assert_int_equal(weft_bgp_on_update(&rib, 0, 0xffff, 0), 16);
    assert_int_equal(weft_bgp_on_update(&rib, 1, 0xffff, 0), 16);
    assert_int_equal(weft_bgp_on_update(&rib, 2, 0xffff, 0), 16);
    assert_int_equal(weft_bgp_on_update(&rib, 1, 0, 0xff), 8);
    assert_int_equal(weft_bgp_on_closed(&rib, 0), 16);
    assert_int_equal(rib.count, 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_thousand_next_hops, begin, end),
        cmocka_unit_test_setup_teardown(an_edsw_is_lost, begin, end),
        cmocka_unit_test_setup_teardown(a_link_is_lost, begin, end),
        cmocka_unit_test_setup_teardown(superspines_lose_a_building, begin, end),
        cmocka_unit_test_setup_teardown(mrai, begin, end),
        cmocka_unit_test_setup_teardown(path_counts, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
