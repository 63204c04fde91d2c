// SPDX-License-Identifier: Apache-2.0
// Expressions of claims: what they mean, which metrics they name, and what is not an expression.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "weft/claim.h"

/// Variants pfc, pfc+sfc, 20KB and odd: one; no cases.
static const char head[] = "topology: single\nvariants: {pfc: {}, pfc+sfc: {}, 20KB: {}, 'odd: one': {}}\nclaims:\n";
static const char cases_head[] =
    "topology: single\nvariants: {pfc: {}, sfc: {}}\ncases: {small: {}, large: {}, huge: {}}\n"
    "claims:\n";

struct fixture {
    struct weft_scenario_file *file;
    struct weft_arena *arena;
    struct weft_claim *claim;
    uint32_t n;
    enum weft_status status;
    struct weft_error error;
};

static struct fixture load(const char *before, const char *claims) {
    struct fixture f = {.arena = weft_arena_new(WEFT_MEMORY_SCENARIO)};
    char *text = weft_arena_format(f.arena, "%s%s", before, claims);
    if (weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &f.file, &f.error))
        fail_msg("%s", f.error.text);
    f.status = weft_claims_new(f.file, f.arena, &f.claim, &f.n, &f.error);
    return f;
}

static void unload(struct fixture *f) {
    weft_scenario_file_free(f->file);
    weft_arena_free(f->arena);
}

static struct fixture load_that(const char *that) {
    char claims[8192];
    snprintf(claims, sizeof claims, "  - text: t\n    that: >-\n      %s\n", that);
    return load(head, claims);
}

/// Metrics have the values 10, 20, 30 ... in order.
static void what_holds(void **state) {
    (void)state;
    static const struct {
        const char *that;
        bool holds;
    } cases[] = {
        {"pfc.counters.cnp < pfc+sfc.counters.cnp", true},
        {"pfc.counters.cnp<pfc+sfc.counters.cnp", true},
        {"pfc.counters.cnp > pfc+sfc.counters.cnp", false},
        {"pfc.counters.cnp <= 10", true},
        {"pfc.counters.cnp >= 10", true},
        {"pfc.counters.cnp == 10", true},
        {"pfc.counters.cnp != 10", false},
        {"pfc.counters.cnp < 10", false},
        {"5 < pfc.counters.cnp < 15", true},
        {"5 < pfc.counters.cnp < 10", false},
        {"15 < pfc.counters.cnp < 20", false},
        {"pfc.counters.cnp * 2 == pfc+sfc.counters.cnp", true},
        {"pfc.counters.cnp == pfc+sfc.counters.cnp * 50%", true},
        {"pfc.counters.cnp == pfc+sfc.counters.cnp * 1/2", true},
        {"pfc.counters.cnp / pfc+sfc.counters.cnp == 0.5", true},
        {"pfc.counters.cnp + pfc+sfc.counters.cnp == 30", true},
        {"2 + 3 * 4 == 14 and pfc.counters.cnp > 0", true},
        {"(2 + 3) * 4 == 20 and pfc.counters.cnp > 0", true},
        {"10 - 3 - 2 == 5 and pfc.counters.cnp > 0", true},
        {"8 / 2 / 2 == 2 and pfc.counters.cnp > 0", true},
        {"pfc.counters.cnp > 50 or pfc+sfc.counters.cnp > 15", true},
        {"pfc.counters.cnp > 50 and pfc+sfc.counters.cnp > 15", false},
        {"pfc.counters.cnp > 5 or pfc.counters.cnp > 50 and pfc.counters.cnp > 50", true}, // and binds closer
        {"(pfc.counters.cnp > 5 or pfc.counters.cnp > 50) and pfc.counters.cnp > 50", false},
        {"pfc.counters.cnp ~ 11 within 10%", true},
        {"pfc.counters.cnp ~ 12 within 10%", false},
        {"pfc.counters.cnp ~ 12 within (5 - 6)", false},
        {"pfc.counters.cnp < 1 * 1e300 * 1e300", false}, // has no value, which nothing is less than
        {"pfc.counters.cnp * 1e300 * 1e300 > 1", false},
        {"pfc.counters.cnp ~ 12 within 1e300 * 1e300", false},
        {"pfc.counters.cnp < 9007199254740992", true},
        {"pfc.counters.cnp < 18014398509481984", true}, // 2^54
        {"pfc.victims.fct.mean ~ 12ps within 2ps", true},
        {"pfc.victims.fct.mean ~ 13ps within 2ps", false},
        {"pfc.victims.fct.mean < 1us", true},
        {"pfc.victims.fct.mean + 1us > 1us", true},
        {"pfc.victims.fct.mean / 2ps == 5", true},
        {"pfc.victims.fct.mean > 0", true},
        {"0 + pfc.victims.fct.mean < 1us", true},
        {"pfc.conservation.dropped < 1KB", true},
        {"pfc.dsf.voq_ns.p99 < 11", true},
        {"pfc.counters.cnps < 11", true}, // its name in results of version 1
        {"pfc.flows.0.bytes == 10B", true},
        {"20KB.counters.cnp == 10", true},
        {"\"odd: one\".groups.\"g.h i\".count == 10", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = load_that(cases[i].that);
        if (f.status) fail_msg("%s", f.error.text);
        const double value[] = {10, 20, 30, 40};
        if (weft_claim_holds(&f.claim[0], value) != cases[i].holds) fail_msg("%s", cases[i].that);
        unload(&f);
    }
}

static void no_value_holds_nowhere(void **state) {
    (void)state;
    static const char *const texts[] = {"pfc.counters.cnp < 5", "pfc.counters.cnp >= 5", "pfc.counters.cnp == 5",
                                        "pfc.counters.cnp != 5", "pfc.counters.cnp ~ 5 within 10%"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f = load_that(texts[i]);
        assert_int_equal(f.status, WEFT_OK);
        assert_false(weft_claim_holds(&f.claim[0], (const double[]){NAN}));
        unload(&f);
    }
    static const char *const ratios[] = {"5 / pfc.counters.cnp > 1", "5 / pfc.counters.cnp != 1",
                                         "pfc.counters.cnp / pfc.counters.cnp == pfc.counters.cnp"};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        struct fixture f = load_that(ratios[i]);
        assert_int_equal(f.status, WEFT_OK);
        assert_false(weft_claim_holds(&f.claim[0], (const double[]){0, 0, 0}));
        unload(&f);
    }
}

static void metrics(void **state) {
    (void)state;
    struct fixture f = load_that("pfc+sfc.victims.fct.mean < 90% * pfc.groups.victims.fct_ps.mean and "
                                 "20KB.\"a.b\".bytes > 5KB and pfc.counters.drops.headroom_exhausted == 0 and "
                                 "pfc.victims.delivered_bytes_min > 1MB");
    if (f.status) fail_msg("%s", f.error.text);
    const struct weft_claim *c = &f.claim[0];
    static const struct {
        uint32_t variant, parts;
        enum weft_claim_dimension dimension;
        const char *part[4];
    } expected[] = {{1, 4, WEFT_CLAIM_TIME, {"groups", "victims", "fct_ps", "mean"}},
                    {0, 4, WEFT_CLAIM_TIME, {"groups", "victims", "fct_ps", "mean"}},
                    {2, 3, WEFT_CLAIM_BYTES, {"groups", "a.b", "bytes"}},
                    {0, 3, WEFT_CLAIM_NUMBER, {"counters", "drops", "headroom_exhausted"}},
                    {0, 3, WEFT_CLAIM_BYTES, {"groups", "victims", "delivered_bytes_min"}}};
    assert_int_equal(c->metrics, 5);
    for (uint32_t m = 0; m < 5; m++) {
        assert_int_equal(c->metric[m].variant, expected[m].variant);
        assert_int_equal(c->metric[m].dimension, expected[m].dimension);
        assert_int_equal(c->metric[m].parts, expected[m].parts);
        for (uint32_t i = 0; i < c->metric[m].parts; i++)
            assert_string_equal(c->metric[m].part[i], expected[m].part[i]);
    }
    assert_string_equal(weft_claim_filled(c, (const double[]){612e6, 900e6, 20000, NAN, 2e6}, f.arena),
                        "612us < 90% * 900us and 20KB > 5KB and (no value) == 0 and 2MB > 1MB");
    unload(&f);
}

static void of_each_case(void **state) {
    (void)state;
    struct fixture f =
        load(cases_head, "  - {text: a, that: sfc.counters.cnp < pfc.counters.cnp}\n"
                         "  - {text: b, that: sfc.counters.cnp < pfc.counters.cnp, cases: 'large,h*'}\n"
                         "  - {text: c, that: large/sfc.counters.cnp < small/pfc.counters.cnp}\n"
                         "  - {text: d, that: sfc.counters.cnp < small/sfc.counters.cnp, cases: huge}\n");
    if (f.status) fail_msg("%s", f.error.text);
    static const struct {
        const char *text, *case_name;
        uint32_t variant[2];
    } expected[] = {{"a", "small", {1, 0}}, {"a", "large", {3, 2}}, {"a", "huge", {5, 4}}, {"b", "large", {3, 2}},
                    {"b", "huge", {5, 4}},  {"c", "", {3, 0}},      {"d", "huge", {5, 1}}};
    assert_int_equal(f.n, 7);
    for (uint32_t i = 0; i < f.n; i++) {
        assert_string_equal(f.claim[i].text, expected[i].text);
        assert_string_equal(f.claim[i].case_name, expected[i].case_name);
        for (unsigned m = 0; m < 2; m++)
            assert_int_equal(f.claim[i].metric[m].variant, expected[i].variant[m]);
    }
    unload(&f);
}

static void without_variants(void **state) {
    (void)state;
    struct fixture f = load("topology: single\nclaims:\n", "  - {text: a, that: victims.fct.mean < 5us}\n");
    if (f.status) fail_msg("%s", f.error.text);
    assert_int_equal(f.claim[0].metrics, 1);
    assert_string_equal(f.claim[0].metric[0].part[1], "victims");
    unload(&f);
    f = load("topology: single\n", "");
    assert_int_equal(f.n, 0);
    unload(&f);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *that, *message;
    } cases[] = {
        {"pfc.counters.cnp", "claims.0.that: expected a comparison, such as a < b, before its end"},
        {"pfc.counters.cnp <", "expected a metric, a number or a quantity where its end stands"},
        {"< 5", "expected a metric, a number or a quantity where \"<\" stands"},
        {"pfc.counters.cnp < 5 5", "what is \"5\"?"},
        {"pfc.counters.cnp < 5)", "what is \")\"?"},
        {"(pfc.counters.cnp < 5", "expected \")\" where its end stands"},
        {"pfc+sfx.counters.cnp < 5", "did you mean \"pfc+sfc\"?"},
        {"pfc.counters.cnp < 5parsecs", "\"5parsecs\" is not a number"},
        {"pfc < 5", "\"pfc\" is not a number"},
        {"pfc. < 5", "expected a metric such as victims.fct.mean after the variant"},
        {"pfc..cnp < 5", "expected a metric such as"},
        {"pfc.\"x < 5", "expected a metric such as"},
        {"pfc.counters.cnp = 5", "before \"=\""},
        {"pfc.counters.cnp ! 5", "before \"!\""},
        {"pfc.victims.fct.mean < 5", "a time and a number do not compare or add"},
        {"pfc.victims.fct.mean < 5KB", "a time and a size do not compare or add"},
        {"pfc.victims.fct.mean + 5 < 5us", "a time and a number do not compare or add"},
        {"pfc.victims.fct.mean * 5us < 5us", "a time cannot be multiplied by a time"},
        {"5 / pfc.victims.fct.mean < 5us", "a number cannot be divided by a time"},
        {"(pfc.counters.cnp < 5) < 6", "a comparison and a number do not compare or add"},
        {"(pfc.counters.cnp < 5) * 2 < 6", "a comparison cannot be multiplied by a number"},
        {"pfc.counters.cnp and pfc.counters.cnp < 5", "expected a comparison"},
        {"pfc.counters.cnp < 5 and 6", "expected a comparison"},
        {"pfc.counters.cnp < 5 or", "expected a metric"},
        {"pfc.counters.cnp ~ 5", "expected \"within\" and how much"},
        {"pfc.counters.cnp ~ 5 within", "expected a metric"},
        {"pfc.counters.cnp ~ 5 within -10%", "expected 0 or more after \"within\""},
        {"pfc.counters.cnp < 9007199254740993", "of more than 53 bits, which would be rounded"},
        {"pfc.counters.cnp < 99999999999999999999", "of more than 53 bits, which would be rounded"},
        {"pfc.victims.fct.mean < 9007199254740993ps", "of more than 53 bits, which would be rounded"},
        {"pfc.counters.cnp ~ 5 within 1us", "a number and a time do not compare or add"},
        {"1us < 2us", "names no metric"},
        {"((((((((((((((((((((((((((((((((((((((((1 < 2", "more than 32 nested parentheses"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = load_that(cases[i].that);
        if (f.status != WEFT_ERROR_INPUT) fail_msg("%s: no error", cases[i].that);
        if (!strstr(f.error.text, cases[i].message)) fail_msg("%s: %s", cases[i].that, f.error.text);
        assert_memory_equal(f.error.text, "t.yaml:5:", 9); // the place of `that`
        unload(&f);
    }
    char that[6000];
    memset(that, '1', sizeof that - 1);
    that[sizeof that - 1] = 0;
    struct fixture f = load_that(that);
    assert_non_null(strstr(f.error.text, "longer than 4096 characters"));
    unload(&f);
}

static void wrong_entries(void **state) {
    (void)state;
    static const struct {
        const char *head, *claims, *message;
    } cases[] = {
        {head, "  - {that: 1 < 2}\n", "t.yaml:4:5: claims.0.text is missing"},
        {head, "  - {text: a}\n", "t.yaml:4:5: claims.0.that is missing"},
        {head, "  - {text: a, that: 1 < 2, expected: no}\n", "claims.0: expected is no; a reason is missing"},
        {head, "  - {text: a, that: 1 < 2, seeds: some}\n",
         "claims.0.seeds: expected each, mean, {mean: 1..8} or {at_least"},
        {head, "  - {text: a, that: 1 < 2, seeds: [1]}\n",
         "claims.0.seeds: expected each, mean, {mean: 1..8} or {at_least"},
        {head, "  - {text: a, that: 1 < 2, seeds: {at_least: 6}}\n", "claims.0.seeds.reason is missing"},
        {head, "  - {text: a, that: 1 < 2, seeds: {at_least: 0, reason: b}}\n", "claims.0.seeds.at_least"},
        {head, "  - {text: a, that: 1 < 2, seeds: {at_least: 9, reason: b}}\n", "at least 9 of 8 seeds"},
        {head, "  - {text: a, that: 1 < 2, without: host.cc}\n", "claims.0.without: expected a map of paths"},
        {head, "  - {text: a, that: 1 < 2, without: {}}\n", "claims.0.without: expected a map of paths"},
        {head, "  - {text: a, that: 1 < 2, without: {host.cc: none}, toothless: b}\n",
         "claims.0.without: the claim is toothless; expected one of the two"},
        {head, "  - {text: a, that: 1 < 2, without: {host.cc: none}, control: yes}\n",
         "claims.0.without: the claim is not to hold anyway"},
        {head, "  - {text: a, that: 1 < 2, control: yes, expected: no, reason: b}\n",
         "claims.0: control is yes, and expected is no; expected one of them"},
        {head, "  - {text: a, that: 1 < 2, expected: perhaps}\n", "claims.0.expected"},
        {head, "  - {text: a, thta: 1 < 2}\n", "claims.0.thta: unknown key; did you mean \"that\"?"},
        {head, "  {text: a, that: 1 < 2}\n", "claims: expected a list of claims"},
        {cases_head, "  - {text: a, that: pfc.counters.cnp > 0, cases: tiny}\n", "no case is called \"tiny\""},
        {cases_head, "  - {text: a, that: tcp.counters.cnp > 0}\n", "\"small/tcp.counters.cnp\" is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = load(cases[i].head, cases[i].claims);
        if (f.status != WEFT_ERROR_INPUT || !strstr(f.error.text, cases[i].message))
            fail_msg("%s: %s", cases[i].claims, f.error.text);
        unload(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds),       cmocka_unit_test(no_value_holds_nowhere),
        cmocka_unit_test(metrics),          cmocka_unit_test(of_each_case),
        cmocka_unit_test(mistakes),         cmocka_unit_test(wrong_entries),
        cmocka_unit_test(without_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
