// SPDX-License-Identifier: Apache-2.0
// Cell tracing (Aquila, NSDI'22, section 6): paths reconstructed from reports, some of them lost; a wrong table is
// found at the TiN that has it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "weft/celltrace.h"

static const char keys[] = "pods: 4, tins: 4, gateways: 4, spines: 2";

static struct weft_sdn_conf defaults(void) {
    struct weft_sdn_conf conf;
    assert_int_equal(weft_params_load(&weft_sdn_table, NULL, &conf, arena, NULL), WEFT_OK);
    return conf;
}

/// Reports in any order make the path that the cell took, from its source's endpoint to its destination's.
static void paths_are_put_together(void **state) {
    (void)state;
    struct clique small = clique_build(keys);
    struct weft_sdn_conf conf = defaults();
    struct weft_sdn *s = weft_sdn_new(small.built.t, small.fabric, &small.gnet, &conf, 1);
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    for (uint32_t pair = 0; pair < 256; pair++) {
        struct weft_celltrace_report report[WEFT_CELLTRACE_HOPS_MAX], shuffled[WEFT_CELLTRACE_HOPS_MAX],
            hop[2 * WEFT_CELLTRACE_HOPS_MAX + 1];
        if (pair / 16 == pair % 16) continue;
        uint32_t n = weft_sdn_trace(s, pair / 16, pair % 16, pair, &random, report);
        assert_true(n >= 2 && n <= 9); // three TiNs a pod, three pods
        for (uint32_t i = 0; i < n; i++)
            shuffled[i] = report[n - 1 - i];
        struct weft_celltrace_path path = weft_celltrace_stitch(small.built.t, small.fabric, shuffled, n, hop);
        assert_int_equal(path.end, WEFT_CELLTRACE_ARRIVED);
        assert_int_equal(path.hops, n);
        assert_int_equal(path.missing, 0);
        assert_int_equal(hop[0].tin, pair / 16);
        assert_int_equal(hop[n - 1].tin, pair % 16);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(hop[i].tin, report[i].tin);
            assert_true(weft_sdn_is_meant(s, hop, i, pair % 16));
        }
        // without any one report but the last the path is the same; without the last the cell seems lost on the way
        // there
        for (uint32_t left_out = 0; left_out < n; left_out++) {
            uint32_t m = 0;
            for (uint32_t i = 0; i < n; i++)
                if (i != left_out) shuffled[m++] = report[i];
            path = weft_celltrace_stitch(small.built.t, small.fabric, shuffled, m, hop);
            bool last = left_out == n - 1;
            assert_int_equal(path.end, last ? WEFT_CELLTRACE_LOST : WEFT_CELLTRACE_ARRIVED);
            assert_int_equal(path.missing, !last);
            if (last) assert_int_equal(path.suspect, pair % 16);
            for (uint32_t i = 0; i < path.hops; i++) {
                assert_int_equal(hop[i].tin, report[i].tin);
                assert_int_equal(hop[i].port_in, report[i].port_in);
                assert_int_equal(hop[i].port_out, report[i].port_out);
            }
        }
    }
    weft_sdn_free(s);
    built_free(&small.built);
}

/// A wrong entry at a TiN: whatever cells meet it, the TiN is the one to blame, and nobody without it.
static void a_wrong_table_is_found(void **state) {
    (void)state;
    uint32_t found = 0, found_poorly = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct clique small = clique_build(keys);
        struct weft_sdn_conf conf = defaults();
        struct weft_sdn *s = weft_sdn_new(small.built.t, small.fabric, &small.gnet, &conf, seed);
        struct weft_celltrace_result well = weft_sdn_find_fault(s, 10, 0, seed);
        assert_int_equal(well.cells, 10 * 16 * 15);
        assert_int_equal(well.arrived, well.cells);
        assert_int_equal(well.suspect, WEFT_NONE);
        struct weft_sdn_event event = {.time_ps = 1, .what = WEFT_SDN_CORRUPT, .tin = seed % 16};
        weft_sdn_run(s, &event, 1, arena);
        struct weft_celltrace_result r = weft_sdn_find_fault(s, 10, 0, seed);
        assert_int_equal(r.cells, r.arrived + r.lost + r.astray);
        if (r.suspect != WEFT_NONE) assert_int_equal(r.suspect, seed % 16);
        found += r.suspect != WEFT_NONE;
        // a tenth of the reports lost: whoever still sends a cell astray is the one; without the last report of a path
        // its destination seems to have lost it, which is no proof
        struct weft_celltrace_result poor = weft_sdn_find_fault(s, 10, 0.1, seed);
        assert_true(poor.missing > 0 && poor.lost > r.lost);
        if (poor.astray) assert_int_equal(poor.suspect, seed % 16);
        found_poorly += poor.astray > 0;
        weft_sdn_free(s);
        built_free(&small.built);
    }
    assert_true(found >= 10); // entries of VCs that no cell comes by are not met
    assert_true(found_poorly >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_put_together),
        cmocka_unit_test(a_wrong_table_is_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
