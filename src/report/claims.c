// SPDX-License-Identifier: Apache-2.0
// Claims and their results, as text and as JSON.
#include <inttypes.h>

#include "base/json.h"
#include "base/units.h"
#include "weft/report.h"
#include "weft/result.h"

void weft_claim_counts_add(struct weft_claim_counts *c, enum weft_claim_verdict verdict) {
    switch (verdict) {
    case WEFT_CLAIM_HOLDS:
        c->hold++;
        break;
    case WEFT_CLAIM_FINDING:
        c->findings++;
        break;
    case WEFT_CLAIM_CONTROL:
        c->controls++;
        break;
    case WEFT_CLAIM_NOT_JUDGED:
        c->not_judged++;
        break;
    case WEFT_CLAIM_FAILS:
    case WEFT_CLAIM_HOLDS_AFTER_ALL:
        c->unexpected++;
    }
}

struct weft_claim_counts weft_report_claim_counts(const struct weft_claim_result *result, uint32_t n) {
    struct weft_claim_counts c = {0};
    for (uint32_t i = 0; i < n; i++)
        weft_claim_counts_add(&c, weft_claim_verdict(result[i].claim, result[i].holds, 1));
    return c;
}

enum weft_claim_verdict weft_claim_verdict(const struct weft_claim *claim, uint32_t hold, uint32_t seeds) {
    if (!weft_claim_is_judged(claim, seeds)) return WEFT_CLAIM_NOT_JUDGED;
    uint32_t judgements = claim->seeds == WEFT_CLAIM_SEEDS_MEAN ? 1 : seeds;
    bool to_hold = weft_claim_is_to_hold(claim);
    bool as_expected = (to_hold ? hold : judgements - hold) >= weft_claim_seeds_needed(claim, seeds);
    if (to_hold) return as_expected ? WEFT_CLAIM_HOLDS : WEFT_CLAIM_FAILS;
    if (!as_expected) return WEFT_CLAIM_HOLDS_AFTER_ALL;
    return claim->control ? WEFT_CLAIM_CONTROL : WEFT_CLAIM_FINDING;
}

const char *const weft_claim_verdict_names[] = {
    [WEFT_CLAIM_HOLDS] = "holds",         [WEFT_CLAIM_FINDING] = "finding",
    [WEFT_CLAIM_CONTROL] = "control",     [WEFT_CLAIM_NOT_JUDGED] = "not judged",
    [WEFT_CLAIM_FAILS] = "does not hold", [WEFT_CLAIM_HOLDS_AFTER_ALL] = "holds after all"};
const char *const weft_claim_verdict_titles[] = {
    [WEFT_CLAIM_HOLDS] = "holds",         [WEFT_CLAIM_FINDING] = "finding",
    [WEFT_CLAIM_CONTROL] = "control",     [WEFT_CLAIM_NOT_JUDGED] = "not judged",
    [WEFT_CLAIM_FAILS] = "DOES NOT HOLD", [WEFT_CLAIM_HOLDS_AFTER_ALL] = "HOLDS AFTER ALL"};

void weft_report_claim_head(FILE *file, const struct weft_claim *c, const char *verdict) {
    fprintf(file, "  %-*s%s%s%s%s%s%s%s\n%*s%s\n", WEFT_CLAIM_INDENT - 2, verdict, *c->case_name ? "case " : "",
            c->case_name, *c->case_name ? ": " : "", c->text, *c->source ? " (" : "", c->source, *c->source ? ")" : "",
            WEFT_CLAIM_INDENT, "", c->that);
}

void weft_report_claim_reasons(FILE *file, const struct weft_claim *c) {
    if (!c->expected) fprintf(file, "%*snot expected to hold: %s\n", WEFT_CLAIM_INDENT, "", c->reason);
    if (c->seeds == WEFT_CLAIM_SEEDS_MEAN && c->own_seeds)
        fprintf(file, "%*sabout the mean over %s\n", WEFT_CLAIM_INDENT, "", weft__counted(c->own_seeds, "seed").text);
    else if (c->seeds == WEFT_CLAIM_SEEDS_MEAN)
        fprintf(file, "%*sabout the mean over seeds\n", WEFT_CLAIM_INDENT, "");
    if (c->seeds == WEFT_CLAIM_SEEDS_AT_LEAST)
        fprintf(file, "%*sat least %" PRIu32 " of %s: %s\n", WEFT_CLAIM_INDENT, "", c->at_least,
                weft__counted(c->of, "seed").text, c->seeds_reason);
}

void weft_report_claim(FILE *file, const struct weft_claim_result *r) {
    const struct weft_claim *c = r->claim;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    weft_report_claim_head(file, c, weft_claim_verdict_titles[weft_claim_verdict(c, r->holds, 1)]);
    fprintf(file, "%*s%s\n", WEFT_CLAIM_INDENT, "", weft_claim_filled(c, r->value, arena));
    weft_report_claim_reasons(file, c);
    weft_arena_free(arena);
}

void weft_report_claims(FILE *file, const struct weft_claim_result *result, uint32_t n) {
    struct weft_claim_counts c = weft_report_claim_counts(result, n);
    fprintf(file, "\nclaims: %" PRIu32 " hold, %" PRIu32 " known not to (findings), ", c.hold, c.findings);
    if (c.controls) fprintf(file, "%" PRIu32 " not to (controls), ", c.controls);
    if (c.not_judged) fprintf(file, "%" PRIu32 " not judged by one seed (weft verify --seeds), ", c.not_judged);
    fprintf(file, "%" PRIu32 " unexpected\n", c.unexpected);
    for (uint32_t i = 0; i < n; i++)
        weft_report_claim(file, &result[i]);
}

void weft_report_json_claim(struct weft__json *j, const struct weft_claim *c) {
    weft__json_key_string(j, "text", c->text);
    weft__json_key_string(j, "source", c->source);
    weft__json_key_string(j, "checks", c->checks);
    weft__json_key_string(j, "case", c->case_name);
    weft__json_key_string(j, "that", c->that);
    weft__json_key_bool(j, "expected", c->expected);
    weft__json_key_bool(j, "control", c->control);
    static const char *const seeds[] = {"each", "at_least", "mean"};
    weft__json_key_string(j, "seeds", seeds[c->seeds]);
    if (c->seeds == WEFT_CLAIM_SEEDS_AT_LEAST) {
        weft__json_key_u64(j, "at_least", c->at_least);
        weft__json_key_u64(j, "of", c->of);
        weft__json_key_string(j, "seeds_reason", c->seeds_reason);
    }
    if (c->own_seeds) {
        weft__json_key(j, "mean_seeds");
        weft__json_begin_array(j);
        for (uint32_t i = 0; i < c->own_seeds; i++)
            weft__json_u64(j, c->own_seed[i]);
        weft__json_end_array(j);
    }
    weft__json_key(j, "without");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < c->withouts; i++)
        weft__json_string(j, c->without[i]);
    weft__json_end_array(j);
    weft__json_key_string(j, "toothless", c->toothless);
    weft__json_key_string(j, "reason", c->reason);
}

/// Member "claims" of the current object.
static void write_claims(struct weft__json *j, const struct weft_claim_result *result, uint32_t n) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    weft__json_key(j, "claims");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < n; i++) {
        weft__json_begin_object(j);
        weft_report_json_claim(j, result[i].claim);
        weft__json_key_string(j, "filled", weft_claim_filled(result[i].claim, result[i].value, arena));
        weft__json_key(j, "values");
        weft__json_begin_array(j);
        for (uint32_t m = 0; m < result[i].claim->metrics; m++)
            weft__json_real(j, result[i].value[m]);
        weft__json_end_array(j);
        weft__json_key_bool(j, "holds", result[i].holds);
        weft__json_key_string(j, "verdict",
                              weft_claim_verdict_names[weft_claim_verdict(result[i].claim, result[i].holds, 1)]);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft_arena_free(arena);
}

void weft_report_json_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t not_run,
                              const struct weft_claim_result *claim, uint32_t claims) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_key(&j, "variants");
    weft__json_begin_array(&j);
    for (uint32_t r = 0; r < runs; r++)
        weft_answer_json(&j, weft_run_answer(), &run[r]);
    weft__json_end_array(&j);
    weft__json_key_bool(&j, "interrupted", not_run || weft_report_interrupted(run, runs));
    if (claims) write_claims(&j, claim, claims);
    weft__json_end_object(&j);
    putc('\n', file);
}
