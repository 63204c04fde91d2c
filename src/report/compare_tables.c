// SPDX-License-Identifier: Apache-2.0
// What weft compare answers, as rows: the runs, each with all its tables, and the claims about them.
#include "weft/claim_rows.h"

struct weft_claim_row weft_claim_row(const struct weft_claim *claim, uint32_t number) {
    static const char *const seeds[] = {"each", "at_least", "mean"};
    bool at_least = claim->seeds == WEFT_CLAIM_SEEDS_AT_LEAST;
    return (struct weft_claim_row){.claim = *claim,
                                   .number = number,
                                   .seeds = seeds[claim->seeds],
                                   .in_band = claim->bands ? weft_claim_in_band_names[claim->in_band] : NULL,
                                   .at_least = at_least ? claim->at_least : WEFT_NONE,
                                   .of = at_least ? claim->of : WEFT_NONE,
                                   .why_so_few = at_least ? claim->seeds_reason : NULL};
}

struct weft_compare_answer weft_compare_answer(const struct weft_run *run, uint32_t runs, uint32_t not_run,
                                               const struct weft_claim_result *result, uint32_t claims,
                                               struct weft_arena *arena) {
    struct weft_compare_answer a = {
        .run = run, .runs = runs, .claims = claims, .interrupted = not_run || weft_report_interrupted(run, runs)};
    a.claim = weft_arena_alloc(arena, claims, sizeof *a.claim);
    for (uint32_t i = 0; i < claims; i++) {
        const struct weft_claim_result *r = &result[i];
        a.claim[i] = weft_claim_row(r->claim, i);
        a.claim[i].filled = weft_claim_filled(r->claim, r->value, arena);
        a.claim[i].value = r->value;
        a.claim[i].holds = r->holds;
        a.claim[i].verdict = weft_claim_verdict_names[weft_claim_verdict(r->claim, r->holds, 1)];
    }
    return a;
}

static const struct weft_result_table compare_table = WEFT_RESULT_TABLE_OF(
    "compare", OBJECT, "the variants of a scenario side by side", WEFT_RESULT_SUBJECT,
    WEFT_RESULT(struct weft_compare_answer, interrupted, BOOL, "whether not every run came to its end"));

WEFT_RESULT_VALUE_OF(variant_name, struct weft_run, run, weft_result_words(run->scenario->variant))

static const struct weft_result_table variants_table = WEFT_RESULT_TABLE_OF(
    "variants", LIST, "a run of a variant, with all tables of weft run",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct weft_compare_answer, run, runs), .whole = weft_run_answer),
    WEFT_RESULT_CALL(variant_name, "variant", TEXT, "name of the variant; a row of this list is a run: see weft run",
                     .flags = WEFT_RESULT_KEY));

static const struct weft_result_table claims_table = WEFT_RESULT_TABLE_OF(
    "claims", LIST, "a claim of the scenario",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct weft_compare_answer, claim, claims), .sparse = true), WEFT_CLAIM_COLUMNS,
    WEFT__CLAIM(filled, "filled", TEXT, "the expression with figures in place of their names"),
    WEFT__CLAIM(holds, "holds", BOOL, "whether the claim holds"),
    WEFT__CLAIM(verdict, "verdict", TEXT,
                "verdict on the claim: holds, finding, control, not judged, does not hold ..."));
WEFT_CLAIM_TABLES(claim, "claims", WEFT_CLAIM_OF(1));
WEFT_RESULT_VALUES(values_table, "claims.values", "a figure that the claim names, in its order",
                   WEFT_RESULT_EACH(struct weft_claim_row, value, claim.metrics), .sparse = false, double, REAL,
                   WEFT_CLAIM_OF(1));

const struct weft_answer weft__answer_compare =
    WEFT_ANSWER_OF("compare", "weft compare: variants side by side, and claims about them", &compare_table,
                   &variants_table, &claims_table, &claim_mean_seeds, &claim_without, &values_table);
