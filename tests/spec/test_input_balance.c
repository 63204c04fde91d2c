// SPDX-License-Identifier: Apache-2.0
// Input balanced mode as described in Meta's text on DSF with figures 4 to 17, for many random choices. Capacities are
// links; "from a to b" are the links from a on which b takes cells.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "figure4.h"

enum { SEEDS = 1500 };

static struct {
    struct weft_arena *arena;
    struct weft_fabric *f;
    struct weft__reach_run *run;
    weft_time_ps time_ps;
} now;

static int begin(void **state) {
    (void)state;
    now.arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    now.f = figure4(now.arena);
    return 0;
}

static int end(void **state) {
    (void)state;
    weft_arena_free(now.arena);
    return 0;
}

/// As in the text: a device to which everything is held back has nothing.
static void start(uint64_t seed) {
    struct weft_reach_conf conf = reach_defaults(now.arena);
    conf.last_resort = false;
    now.time_ps = 0;
    now.run = weft__reach_run_new(now.f, &conf, seed, false);
}

static void turn(uint32_t a, uint32_t b, bool up) {
    now.time_ps += WEFT_PS_PER_MS;
    weft__reach_run_link(now.run, now.time_ps, link_between(now.f, a, b, 0), up);
    weft__reach_run_settle(now.run);
}

static void sever(uint32_t a, uint32_t b) {
    turn(a, b, false);
}

static void repair(uint32_t a, uint32_t b) {
    turn(a, b, true);
}

static uint32_t open(uint32_t from, uint32_t to, uint32_t dest) {
    return open_between(now.run, now.f, from, to, dest);
}
/// Input capacity of an SDSW from the other cluster.
static uint32_t sdsw_in(uint32_t s, uint32_t from_cluster, uint32_t dest) {
    return open(fdsw(from_cluster, 0), sdsw(s), dest) + open(fdsw(from_cluster, 1), sdsw(s), dest);
}
static uint32_t sdsw_out(uint32_t s, uint32_t cluster, uint32_t dest) {
    return open(sdsw(s), fdsw(cluster, 0), dest) + open(sdsw(s), fdsw(cluster, 1), dest);
}
/// Capacities of an FDSW towards another cluster.
static uint32_t fdsw_in(uint32_t c, uint32_t i, uint32_t dest) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < RDSWS; r++)
        n += open(rdsw(c, r), fdsw(c, i), dest);
    return n;
}
static uint32_t fdsw_out(uint32_t c, uint32_t i, uint32_t dest) {
    return open(fdsw(c, i), sdsw(0), dest) + open(fdsw(c, i), sdsw(1), dest);
}
/// What the RDSWs of a cluster can use together towards a destination, of 8 links.
static uint32_t cluster_capacity(uint32_t c, uint32_t dest) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < RDSWS; r++)
        n += rdsw(c, r) == dest ? 0 : usable_between(now.run, now.f, rdsw(c, r), WEFT_NONE, dest);
    return n;
}

static void assert_healthy(void) {
    for (uint32_t c = 0; c < CLUSTERS; c++)
        for (uint32_t r = 0; r < RDSWS; r++) {
            uint32_t dest = rdsw(c, r);
            assert_int_equal(cluster_capacity(!c, dest), 8);
            assert_int_equal(cluster_capacity(c, dest), 6);
            for (uint32_t i = 0; i < 2; i++) {
                assert_int_equal(sdsw_in(i, !c, dest), 4);
                assert_int_equal(sdsw_out(i, c, dest), 4);
                assert_int_equal(fdsw_in(!c, i, dest), 4);
                assert_int_equal(fdsw_out(!c, i, dest), 4);
            }
        }
}

static void figure_4_starts_with_everything_open(void **state) {
    (void)state;
    start(1);
    assert_healthy();
    weft__reach_run_free(now.run);
}

/// Figures 5 to 7: FDSW1 of cluster X loses RDSW3.
static void figures_5_to_7(void **state) {
    (void)state;
    const uint32_t dest = rdsw(X, 3);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        start(seed);
        sever(rdsw(X, 3), fdsw(X, 1));
        // Figure 5: FDSW1 no longer takes cells for it, from SDSWs or from RDSWs.
        for (uint32_t s = 0; s < SDSWS; s++)
            assert_int_equal(open(sdsw(s), fdsw(X, 1), dest), 0);
        for (uint32_t r = 0; r < 3; r++)
            assert_int_equal(open(rdsw(X, r), fdsw(X, 1), dest), 0);
        // Figure 6: input 4 against output 2, so two links are withdrawn; at SDSW1 as well.
        for (uint32_t s = 0; s < SDSWS; s++) {
            assert_int_equal(sdsw_out(s, X, dest), 2);
            assert_int_equal(sdsw_in(s, Y, dest), 2);
        }
        // Figure 7: what SDSWs withdrew, FDSWs pass on; the RDSWs of cluster X-1 are left with 50 %.
        for (uint32_t i = 0; i < FDSWS; i++)
            assert_int_equal(fdsw_in(Y, i, dest), fdsw_out(Y, i, dest));
        assert_int_equal(fdsw_out(Y, 0, dest) + fdsw_out(Y, 1, dest), 4);
        assert_int_equal(cluster_capacity(Y, dest), 4);
        assert_int_equal(cluster_capacity(X, dest), 3);
        // Nothing else has changed, but that RDSW3 has one link.
        for (uint32_t r = 0; r < 3; r++) {
            assert_int_equal(cluster_capacity(Y, rdsw(X, r)), 8);
            assert_int_equal(cluster_capacity(X, rdsw(X, r)), 5);
        }
        for (uint32_t r = 0; r < RDSWS; r++)
            assert_int_equal(cluster_capacity(X, rdsw(Y, r)), 7);
        repair(rdsw(X, 3), fdsw(X, 1));
        assert_healthy();
        weft__reach_run_free(now.run);
    }
}

/// Where SDSW0 withdraws both links of FDSW0 and SDSW1 both of FDSW1, both FDSWs have input 4 and output 2.
static void figure_7_as_drawn(void **state) {
    (void)state;
    const uint32_t dest = rdsw(X, 3);
    uint32_t as_drawn = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        start(seed);
        sever(rdsw(X, 3), fdsw(X, 1));
        if (open(fdsw(Y, 0), sdsw(0), dest) == 0 && open(fdsw(Y, 1), sdsw(1), dest) == 0) {
            as_drawn++;
            for (uint32_t i = 0; i < FDSWS; i++) {
                assert_int_equal(fdsw_out(Y, i, dest), 2);
                assert_int_equal(fdsw_in(Y, i, dest), 2);
            }
        }
        weft__reach_run_free(now.run);
    }
    // each of two SDSWs chooses one of six pairs: one in 36; four standard deviations
    assert_in_range(as_drawn, 17, 66);
}

/// Figures 8 to 11: a link between FDSW1 of cluster X and SDSW1.
static void figures_8_to_11(void **state) {
    (void)state;
    uint32_t chosen[RDSWS] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        start(seed);
        sever(fdsw(X, 1), sdsw(1));
        // Figure 9: output 3, so one RDSW's link is withdrawn, the same towards ALL destinations outside of the
        // cluster.
        uint32_t withdrawn = RDSWS;
        for (uint32_t r = 0; r < RDSWS; r++)
            if (!open(rdsw(X, r), fdsw(X, 1), rdsw(Y, 0))) withdrawn = r;
        assert_true(withdrawn < RDSWS);
        chosen[withdrawn]++;
        for (uint32_t d = 0; d < RDSWS; d++) {
            assert_int_equal(fdsw_out(X, 1, rdsw(Y, d)), 3);
            assert_int_equal(fdsw_in(X, 1, rdsw(Y, d)), 3);
            assert_int_equal(open(rdsw(X, withdrawn), fdsw(X, 1), rdsw(Y, d)), 0);
            assert_int_equal(cluster_capacity(X, rdsw(Y, d)), 7);
            // Within the cluster the same link is used as before.
            if (d != withdrawn) assert_int_equal(open(rdsw(X, withdrawn), fdsw(X, 1), rdsw(X, d)), 1);
            assert_int_equal(cluster_capacity(X, rdsw(X, d)), 6);
        }
        // Figure 10: SDSW1 has input 4 and output 3 towards X and withdraws one link to cluster X-1.
        uint32_t at = open(fdsw(Y, 0), sdsw(1), rdsw(X, 0)) == 1 ? 0 : 1;
        for (uint32_t d = 0; d < RDSWS; d++) {
            const uint32_t dest = rdsw(X, d);
            assert_int_equal(sdsw_out(1, X, dest), 3);
            assert_int_equal(sdsw_in(1, Y, dest), 3);
            assert_int_equal(sdsw_in(0, Y, dest), 4);
            // Figure 11: the FDSW that lost it withdraws one RDSW's link, towards all RDSWs of X.
            assert_int_equal(open(fdsw(Y, at), sdsw(1), dest), 1);
            assert_int_equal(fdsw_in(Y, at, dest), 3);
            assert_int_equal(fdsw_in(Y, !at, dest), 4);
            assert_int_equal(cluster_capacity(Y, dest), 7);
            for (uint32_t r = 0; r < RDSWS; r++)
                assert_int_equal(open(rdsw(Y, r), fdsw(Y, at), dest), open(rdsw(Y, r), fdsw(Y, at), rdsw(X, 0)));
        }
        repair(fdsw(X, 1), sdsw(1));
        assert_healthy();
        weft__reach_run_free(now.run);
    }
    for (uint32_t r = 0; r < RDSWS; r++) // a quarter each; four standard deviations
        assert_in_range(chosen[r], SEEDS / 4 - 68, SEEDS / 4 + 68);
}

static struct { uint32_t balanced_at_once, as_in_figure_16, cut_off, cut_off_runs; } seen;

static void check_figures_13_and_14(void) {
    for (uint32_t d = 0; d < RDSWS; d++) {
        if (d) { // figure 13: one RDSW's link, towards all of X-1; RDSW0 of X-1 has more withdrawn
            assert_int_equal(fdsw_out(X, 1, rdsw(Y, d)), 3);
            assert_int_equal(fdsw_in(X, 1, rdsw(Y, d)), 3);
        }
        assert_int_equal(sdsw_in(1, Y, rdsw(X, d)), 3);
        if (open(fdsw(Y, 0), sdsw(1), rdsw(X, 0)) == 2) continue;
        // Figure 14: FDSW0 of X-1 has already lost RDSW0: input 3 against output 3, nothing to do.
        seen.balanced_at_once++;
        assert_int_equal(fdsw_out(Y, 0, rdsw(X, d)), 3);
        assert_int_equal(fdsw_in(Y, 0, rdsw(X, d)), 3);
        for (uint32_t r = 1; r < RDSWS; r++)
            assert_int_equal(open(rdsw(Y, r), fdsw(Y, 0), rdsw(X, d)), 1);
    }
}

static void check_figures_15_to_17(void) {
    const uint32_t dest = rdsw(Y, 0);
    for (uint32_t s = 0; s < SDSWS; s++) {
        assert_int_equal(open(sdsw(s), fdsw(Y, 0), dest), 0); // figure 15
        assert_int_equal(sdsw_out(s, Y, dest), 2);
        assert_int_equal(sdsw_in(s, X, dest), 2); // figure 16: two withdrawn by SDSW0; one more by SDSW1
    }
    // Figure 17: inputs follow outputs, and what was withdrawn for the uplink counts.
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < FDSWS; i++) {
        assert_int_equal(fdsw_in(X, i, dest), fdsw_out(X, i, dest));
        outputs += fdsw_out(X, i, dest);
    }
    assert_int_equal(outputs, 4);
    assert_int_equal(cluster_capacity(X, dest), 4);
    // As drawn: SDSW0 takes one link of each FDSW, SDSW1 the other one of FDSW1: output 1 there.
    if (open(fdsw(X, 0), sdsw(0), dest) == 1 && open(fdsw(X, 0), sdsw(1), dest) == 2) {
        seen.as_in_figure_16++;
        assert_int_equal(open(fdsw(X, 1), sdsw(0), dest), 1);
        assert_int_equal(open(fdsw(X, 1), sdsw(1), dest), 0);
        assert_int_equal(fdsw_in(X, 1, dest), 1);
        assert_int_equal(fdsw_in(X, 0, dest), 3);
    }
    uint32_t cut_off = 0;
    for (uint32_t r = 0; r < RDSWS; r++)
        cut_off += usable_between(now.run, now.f, rdsw(X, r), WEFT_NONE, dest) == 0;
    seen.cut_off += cut_off;
    seen.cut_off_runs += cut_off > 0;
}

/// Figures 12 to 17: both failures, in either order.
static void figures_12_to_17(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        start(seed);
        sever(fdsw(X, 1), sdsw(1));
        sever(rdsw(Y, 0), fdsw(Y, 0));
        check_figures_15_to_17();
        for (uint32_t r = 0; r < RDSWS; r++) // withdrawn towards all of X-1 for the uplink, so towards RDSW0 too
            if (!open(rdsw(X, r), fdsw(X, 1), rdsw(Y, 1)))
                assert_int_equal(open(rdsw(X, r), fdsw(X, 1), rdsw(Y, 0)), 0);
        for (uint32_t d = 0; d < RDSWS; d++)
            assert_int_equal(cluster_capacity(Y, rdsw(X, d)), open(fdsw(Y, 0), sdsw(1), rdsw(X, 0)) == 2 ? 6 : 7);
        weft__reach_run_free(now.run);
        start(seed);
        sever(rdsw(Y, 0), fdsw(Y, 0));
        sever(fdsw(X, 1), sdsw(1));
        check_figures_13_and_14();
        check_figures_15_to_17();
        repair(fdsw(X, 1), sdsw(1));
        repair(rdsw(Y, 0), fdsw(Y, 0));
        assert_healthy();
        weft__reach_run_free(now.run);
    }
    assert_true(seen.balanced_at_once > 0 && seen.as_in_figure_16 > 0);
    // As figure 17 draws it, an RDSW may be left without any link.
    assert_true(seen.cut_off_runs > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figure_4_starts_with_everything_open, begin, end),
        cmocka_unit_test_setup_teardown(figures_5_to_7, begin, end),
        cmocka_unit_test_setup_teardown(figure_7_as_drawn, begin, end),
        cmocka_unit_test_setup_teardown(figures_8_to_11, begin, end),
        cmocka_unit_test_setup_teardown(figures_12_to_17, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
