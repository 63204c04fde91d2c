// SPDX-License-Identifier: Apache-2.0
// Candidates in the tables of an Aquila Clique, counted by hand from its wiring.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "gnet_tables.h"

static uint32_t bits(uint64_t mask) {
    return (uint32_t)__builtin_popcountll(mask);
}

/// Two links straight there; by each other TiN that the turns allow, two more.
static void within_a_pod(void **state) {
    (void)state;
    struct tables x = tables_new("", "", NULL, NULL);
    uint32_t least = UINT32_MAX;
    for (uint32_t src = 24; src < 36; src++)
        for (uint32_t dst = 24; dst < 36; dst++) {
            if (src == dst) continue;
            const struct weft_gnet_set *set = weft_gnet_at(x.r, src, WEFT_GNET_TERMINAL, 0, dst);
            assert_int_equal(bits(set->minimal), 2);
            if (bits(set->nonminimal) < least) least = bits(set->nonminimal);
        }
    assert_int_equal(least, 2 * (12 / 2 - 1)); // widest: 5 ways of two links
    tables_free(&x);
    x = tables_new("", "turns: fogsim", NULL, NULL);
    least = UINT32_MAX;
    for (uint32_t src = 0; src < 12; src++)
        for (uint32_t dst = 0; dst < 12; dst++)
            if (src != dst) {
                uint32_t n = bits(weft_gnet_at(x.r, src, WEFT_GNET_TERMINAL, 0, dst)->nonminimal);
                if (n < least) least = n;
            }
    assert_int_equal(least, 2 * (12 / 2 - 2));
    tables_free(&x);
}

/// Section 3.2: 8 minimal and 24 non-minimal entries. Two links between two pods are at different TiNs: 4 minimal
/// ports, or 1 and 2 if one is the source's own. Half a Clique has four links between two pods and uses all 8. The
/// others: two to each TiN without a link to the destination's pod, and the source's own to other pods: up to 20 and 7
/// or 18 and 8, and 16 and 7 of half a Clique.
static void between_pods(void **state) {
    (void)state;
    const struct {
        const char *keys;
        uint32_t minimal_max, nonminimal_max;
    } scale[] = {{"", 4, 24}, {"pods: 24, global_parallel: 4", 8, 23}};
    for (unsigned s = 0; s < 2; s++) {
        struct tables x = tables_new(scale[s].keys, "", NULL, NULL);
        uint32_t most = 0, others = 0;
        for (uint32_t src = 0; src < 12; src++)
            for (uint32_t dst = 12; dst < x.f->tins; dst++) {
                const struct weft_gnet_set *set = weft_gnet_at(x.r, src, WEFT_GNET_TERMINAL, 0, dst);
                uint32_t own = bits(set->minimal & x.f->tin[src].global);
                assert_int_equal(bits(set->minimal), own + 2 * (scale[s].minimal_max / 2 - own));
                assert_int_equal(set->minimal & set->nonminimal, 0);
                if (bits(set->minimal) > most) most = bits(set->minimal);
                if (bits(set->nonminimal) > others) others = bits(set->nonminimal);
            }
        assert_int_equal(most, scale[s].minimal_max);
        assert_int_equal(others, scale[s].nonminimal_max);
        tables_free(&x);
    }
}

/// A cell from another pod only passes through; in its destination's pod it stays.
static void vcs_and_states(void **state) {
    (void)state;
    struct tables x = tables_new("", "", NULL, NULL);
    for (uint32_t dst = 0; dst < 576; dst += 7) {
        uint32_t at = 300;
        if (x.f->tin[dst].pod == x.f->tin[at].pod) continue;
        const struct weft_gnet_set *set = weft_gnet_at(x.r, at, WEFT_GNET_INTER_POD, 0, dst);
        assert_true(set->minimal);
        assert_int_equal(set->nonminimal & x.f->tin[at].global, 0); // no third pod
        set = weft_gnet_at(x.r, at, WEFT_GNET_INTER_POD, 1, dst);
        assert_true(!set->minimal && !set->nonminimal);
    }
    assert_int_equal(weft_gnet_next_vc(WEFT_GNET_INTER_POD, 1), 2);
    assert_int_equal(weft_gnet_next_vc(WEFT_GNET_INTRA_POD, 1), 1);
    assert_int_equal(weft_gnet_next_vc(WEFT_GNET_TERMINAL, 0), 0);
    assert_int_equal(WEFT_GNET_VCS, 32);
    assert_int_equal(WEFT_GNET_INPUTS, 6);
    tables_free(&x);
}

/// No candidate leads over a link out of service; a pod without links to another is reached by a third.
static void dead_links(void **state) {
    (void)state;
    struct tables intact = tables_new("", "", NULL, NULL);
    bool *down = weft_arena_alloc(intact.b.arena, intact.b.t->links, sizeof *down);
    for (uint32_t l = 0; l < intact.b.t->links; l++) {
        const struct weft_topology *t = intact.b.t;
        uint32_t from = t->node[t->port[t->link[l].port[0]].node].pod,
                 to = t->node[t->port[t->link[l].port[1]].node].pod;
        down[l] = from == 0 && to == 1;
    }
    struct weft_gnet_routes *r = weft_gnet_routes_new(intact.b.t, intact.f, &intact.conf, down);
    for (uint32_t src = 0; src < 12; src++)
        for (uint32_t dst = 12; dst < 24; dst++) {
            const struct weft_gnet_set *set = weft_gnet_at(r, src, WEFT_GNET_TERMINAL, 0, dst);
            assert_true(set->minimal); // the least hops that are left
            for (uint64_t ports = set->minimal & intact.f->tin[src].global; ports; ports &= ports - 1)
                assert_int_not_equal(intact.f->tin[intact.f->tin[src].peer[__builtin_ctzll(ports)]].pod, 1);
        }
    weft_gnet_routes_free(r);
    tables_free(&intact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_a_pod),
        cmocka_unit_test(between_pods),
        cmocka_unit_test(vcs_and_states),
        cmocka_unit_test(dead_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
