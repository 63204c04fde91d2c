// SPDX-License-Identifier: Apache-2.0
// Claims and their results as text.
#include <inttypes.h>

#include "base/units.h"
#include "weft/report.h"

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
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    weft_report_claim_head(file, c, weft_claim_verdict_titles[weft_claim_verdict(c, r->holds, 1)]);
    fprintf(file, "%*s%s\n", WEFT_CLAIM_INDENT, "", weft_claim_filled(c, r->value, arena));
    weft_report_claim_reasons(file, c);
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
