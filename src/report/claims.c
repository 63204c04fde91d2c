// SPDX-License-Identifier: Apache-2.0
// Claims and what came of them, as text and as JSON.
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "claims.h"

struct weft_claim_counts weft_report_claim_counts(const struct weft_claim_result *result, uint32_t n) {
    struct weft_claim_counts c = {0};
    for (uint32_t i = 0; i < n; i++) {
        bool expected = result[i].claim->expected, some = result[i].claim->seeds == WEFT_CLAIM_SEEDS_SOME;
        c.hold += result[i].holds && expected;
        c.findings += !result[i].holds && (!expected || some);
        c.unexpected += result[i].holds != expected && !some;
    }
    return c;
}

static const char *verdict(const struct weft_claim_result *r) {
    if (r->claim->seeds == WEFT_CLAIM_SEEDS_SOME) return r->holds ? "holds" : "finding";
    if (r->claim->expected) return r->holds ? "holds" : "DOES NOT HOLD";
    return r->holds ? "HOLDS AFTER ALL" : "finding";
}

void weft_report_claim(FILE *file, const struct weft_claim_result *r) {
    const struct weft_claim *c = r->claim;
    enum { INDENT = 19 };
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    fprintf(file, "  %-*s%s%s%s", INDENT - 2, verdict(r), *c->case_name ? "case " : "", c->case_name,
            *c->case_name ? ": " : "");
    fprintf(file, "%s%s%s%s\n", c->text, *c->source ? " (" : "", c->source, *c->source ? ")" : "");
    fprintf(file, "%*s%s\n", INDENT, "", c->that);
    fprintf(file, "%*s%s\n", INDENT, "", weft_claim_filled(c, r->value, arena));
    if (!c->expected) fprintf(file, "%*snot expected to hold: %s\n", INDENT, "", c->reason);
    if (c->seeds == WEFT_CLAIM_SEEDS_SOME) fprintf(file, "%*sholds with some seeds: %s\n", INDENT, "", c->reason);
    weft_arena_free(arena);
}

void weft_report_claims(FILE *file, const struct weft_claim_result *result, uint32_t n) {
    struct weft_claim_counts c = weft_report_claim_counts(result, n);
    fprintf(file, "\nclaims: %" PRIu32 " hold, %" PRIu32 " known not to (findings), %" PRIu32 " unexpected\n", c.hold,
            c.findings, c.unexpected);
    for (uint32_t i = 0; i < n; i++)
        weft_report_claim(file, &result[i]);
}

void weft__json_claims(struct weft__json *j, const struct weft_claim_result *result, uint32_t n) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    weft__json_key(j, "claims");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_claim *c = result[i].claim;
        weft__json_begin_object(j);
        weft__json_key_string(j, "text", c->text);
        weft__json_key_string(j, "source", c->source);
        weft__json_key_string(j, "case", c->case_name);
        weft__json_key_string(j, "that", c->that);
        weft__json_key_string(j, "filled", weft_claim_filled(c, result[i].value, arena));
        weft__json_key(j, "values");
        weft__json_begin_array(j);
        for (uint32_t m = 0; m < c->metrics; m++)
            weft__json_real(j, result[i].value[m]);
        weft__json_end_array(j);
        weft__json_key_bool(j, "expected", c->expected);
        weft__json_key_string(j, "seeds", c->seeds == WEFT_CLAIM_SEEDS_SOME ? "some" : "all");
        weft__json_key_bool(j, "holds", result[i].holds);
        weft__json_key_string(j, "reason", c->reason);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft_arena_free(arena);
}

void weft_report_json_claims(FILE *file, const struct weft_claim_result *result, uint32_t n) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_claims(&j, result, n);
    weft__json_end_object(&j);
}
