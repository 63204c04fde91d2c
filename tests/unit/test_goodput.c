// SPDX-License-Identifier: Apache-2.0
// Goodput: published figures by the first-order form, the exact form against it where crashes are rare and against
// simulated months everywhere, spares by a queue that can be solved by hand, and what changing one thing must do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tree.h"
#include "weft/error.h"
#include "weft/goodput.h"
#include "weft/memory.h"

static struct weft_goodput goodput_of(const char *section, struct weft_arena *arena) {
    struct weft_tree *tree;
    struct weft_goodput_conf conf;
    struct weft_goodput g;
    struct weft_error error = {0};
    if (weft_tree_parse("test", section, strlen(section), arena, &tree, &error) ||
        weft_goodput_load(tree, arena, &conf, &error))
        fail_msg("%s: %s", section, error.text);
    weft_goodput_find(&conf, arena, &g);
    return g;
}

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within)) fail_msg("%g, expected %g +- %g", value, expected, within);
}

/// 12,000 A100 need 1,500 servers; r failures of a server in 1,000 days; u0 five minutes (arXiv 2410.21680, its claim
/// of what 0.9 would take), and the mean times to failure that it projects.
static void published_shares(void **state) {
    (void)state;
    static const double cases[][3] = {{6.5, 300, 0.740}, {1, 300, 0.898}, {6.5, 10, 0.921}}; // r, w in s, ETTR
    for (unsigned i = 0; i < 3; i++) {
        double mtbf = 86400e3 / (1500 * cases[i][0]), w = cases[i][1];
        assert_near(weft_goodput_first_order(mtbf, w, sqrt(2 * w * mtbf), 300), cases[i][2], 0.001);
    }
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const char *rate =
        "gpus: %d, parts: [{name: gpu, rate: 0}, {name: software, rate: 0}, {name: nic, rate: 0}, {name: link, "
        "rate: 0}, {name: switch, rate: 0}, {name: server, rate: 0.00027083333}], months: 2";
    static const double mttf[][2] = {{16384, 1.80}, {131072, 0.225}};
    for (unsigned i = 0; i < 2; i++) {
        char text[400] = "{";
        snprintf(text + 1, sizeof text - 1, rate, (int)mttf[i][0]);
        strcat(text, "}");
        assert_near(goodput_of(text, arena).mtbf_h, mttf[i][1], 0.01 * mttf[i][1]);
    }
    weft_arena_free(arena);
}

/// By hand, of three set-ups in hours: rare crashes (both forms agree), and frequent ones (the first-order form is
/// wrong by half).
static void exact_share(void **state) {
    (void)state;
    double m = 7.9 * 3600, d = sqrt(2 * 300 * m);
    assert_near(weft_goodput_first_order(m, 300, d, 300), 0.855, 0.001);
    assert_near(weft_goodput_renewal(m, 300, d, 300), 0.853, 0.001);
    m = 0.2343 * 3600;
    d = sqrt(2 * 10 * m);
    assert_near(weft_goodput_first_order(m, 10, d, 600), 0.197, 0.001);
    assert_near(weft_goodput_renewal(m, 10, d, 600), 0.419, 0.001);
}

/// One point, and no more than chance allows.
static void formula_and_months_agree(void **state) {
    (void)state;
    static const char *const sections[] = {
        "{}",
        "{gpus: 131072, attachment: planes, communication: 0.5}",
        "{gpus: 131072, state: 20TB, store: 8Tbps, blocking: 0.1}",
        "{spares: 2, repair: 7200s}",
        "{spares: 0, repair: 3600s}",
        "{gpus: 32768, attachment: dual_tor, communication: 1, parts: [{name: link, rate: 1e-5, duration: 36000s}]}",
        "{parts: [{name: flap, rate: 1e-4, duration: 20s}]}",
        "{interval: 7200s}",
        "{spares: 40, repair: 86400s, parts: [{name: switch, rate: 1e-4}]}",
    };
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    for (unsigned i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct weft_goodput g = goodput_of(sections[i], arena);
        if (!(fabs(g.goodput - g.simulated) < 0.01 && fabs(g.goodput - g.simulated) < 4 * g.simulated_half + 0.001))
            fail_msg("%s: %g by formula, %g +- %g simulated", sections[i], g.goodput, g.simulated, g.simulated_half);
        assert_true(g.month_low < g.simulated && g.simulated < g.month_high);
    }
    weft_arena_free(arena);
}

/// Without spares and with one class of parts, a server is out for `repair` after each failure: 1 / (1 + rate x
/// repair). With one spare: Erlang's loss formula for two.
static void waits_for_servers(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const char *const only =
        "gpus: 8, months: 2, parts: [{name: gpu, count: 1, rate: 0.5}, {name: server, rate: 0}, {name: "
        "software, rate: 0}, {name: nic, rate: 0}, {name: link, rate: 0}, {name: switch, rate: 0}]";
    char text[400];
    snprintf(text, sizeof text, "{%s, repair: 3600s, spares: 0}", only);
    assert_near(goodput_of(text, arena).staffed, 1 / 1.5, 1e-12);
    snprintf(text, sizeof text, "{%s, repair: 3600s, spares: 1}", only);
    assert_near(goodput_of(text, arena).staffed, 1.5 / (1 + 0.5 + 0.125), 1e-12);
    weft_arena_free(arena);
}

/// The best interval is at least as good as its neighbours and as Young's; parts cost what they are; a lost link of
/// eight planes ends no job.
static void answers_hold_together(void **state) {
    (void)state;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_goodput g = goodput_of("{gpus: 65536, months: 2}", arena);
    double m = g.mtbf_h * 3600;
    for (int k = -1; k <= 1; k++)
        assert_true(weft_goodput_renewal(m, g.write_s, g.interval_s * pow(1.05, k), g.recovery_s) <= g.renewal);
    assert_true(weft_goodput_renewal(m, g.write_s, g.young_s, g.recovery_s) <= g.renewal);
    double without_all = 0;
    for (uint32_t i = 0; i < g.conf.parts; i++) {
        assert_true(g.conf.part[i].cost >= 0);
        without_all += g.conf.part[i].cost;
    }
    assert_true(without_all > 0.1 && g.goodput + without_all < 1.5);
    struct weft_goodput planes = goodput_of("{gpus: 65536, attachment: planes, months: 2}", arena);
    assert_true(planes.mtbf_h > g.mtbf_h && planes.renewal > g.renewal && planes.speed < 1);
    weft_arena_free(arena);
}

static void bad_rates(void **state) {
    (void)state;
    static const char *const bad[] = {"1.01", "24", "-1e-9", "often"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
        char text[96];
        snprintf(text, sizeof text, "{parts: [{name: nic, rate: 1}, {name: link, rate: %s}]}", bad[i]);
        struct weft_tree *tree = NULL;
        struct weft_goodput_conf conf;
        struct weft_error error = {0};
        assert_int_equal(weft_tree_parse("g.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
        assert_int_equal(weft_goodput_load(tree, arena, &conf, &error), WEFT_ERROR_INPUT);
        if (!strstr(error.text, "g.yaml:1:") || !strstr(error.text, "parts.1.rate")) fail_msg("%s", error.text);
        weft_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_shares),         cmocka_unit_test(exact_share),
        cmocka_unit_test(formula_and_months_agree), cmocka_unit_test(waits_for_servers),
        cmocka_unit_test(answers_hold_together),    cmocka_unit_test(bad_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
