// SPDX-License-Identifier: Apache-2.0
// Prints the results of claims as text.
#include <string.h>

#include "base/units.h"
#include "verify.h"

/// The table has the column "not judged" only if a claim is not.
static void print_row(const struct verify *v, const char *name, int width, uint32_t variants, struct verify_counts c,
                      bool not_judged, const char *note) {
    printf("%-*s %8u %7u %7u %9u", width, name, variants, c.claims, c.verdict.hold, c.verdict.findings);
    printf(" %9u", c.verdict.controls);
    if (not_judged) printf(" %11u", c.verdict.not_judged);
    printf(" %11u", c.verdict.unexpected);
    if (v->teeth) printf(" %10u %7u", c.toothless, c.exempt);
    printf("%s\n", note);
}

static const char *note_of(const struct verified *s) {
    if (s->status) return s->status == WEFT_ERROR_STALL ? "  STALLED" : "  FAILED";
    return s->ended ? "" : "  not run to its end";
}

static void add_counts(struct verify_counts *all, const struct verify_counts *c) {
    all->claims += c->claims;
    all->verdict.hold += c->verdict.hold;
    all->verdict.findings += c->verdict.findings;
    all->verdict.controls += c->verdict.controls;
    all->verdict.not_judged += c->verdict.not_judged;
    all->verdict.unexpected += c->verdict.unexpected;
    all->toothless += c->toothless;
    all->exempt += c->exempt;
    all->bands_unexpected += c->bands_unexpected;
    for (uint32_t i = 0; i < WEFT_CLAIM_IN_BANDS; i++)
        all->in_band[i] += c->in_band[i];
}

static void print_bands(const struct verify *v, const struct verify_counts *all) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < WEFT_CLAIM_IN_BANDS; i++)
        n += all->in_band[i];
    printf("%s with bands of hardware:", weft__counted(n, "claim").text);
    for (uint32_t i = 1; i < WEFT_CLAIM_IN_BANDS; i++)
        printf("%s %u %s", i > 1 ? "," : "", all->in_band[i], weft_claim_in_band_plurals[i]);
    if (all->in_band[0]) printf(", %u not judged", all->in_band[0]);
    printf("; %s", weft__counted(v->band_runs, "run").text);
    if (v->left) printf(", and %u left out", v->left);
    printf(", of a budget of %g s", v->budget_s);
    if (all->bands_unexpected) printf("; %u unexpected", all->bands_unexpected);
    putchar('\n');
}

static void print_table(const struct verify *v) {
    int width = 8;
    struct verify_counts all = {0};
    uint32_t variants = 0;
    for (const struct verified *s = v->first; s; s = s->next) {
        if ((int)strlen(s->shown) > width) width = (int)strlen(s->shown);
        struct verify_counts c = verify_count(v, s);
        add_counts(&all, &c);
        variants += s->variants;
    }
    bool not_judged = all.verdict.not_judged;
    if (v->seeds) printf("with %s\n", weft__counted(v->seeds, "seed").text);
    printf("%-*s %8s %7s %7s %9s %9s%s %11s%s\n", width, "scenario", "variants", "claims", "hold", "findings",
           "controls", not_judged ? "  not judged" : "", "unexpected", v->teeth ? "  toothless  exempt" : "");
    for (const struct verified *s = v->first; s; s = s->next)
        print_row(v, s->shown, width, s->variants, verify_count(v, s), not_judged, note_of(s));
    print_row(v, "all", width, variants, all, not_judged, "");
    printf("\n%s, for %s of them\n", weft__counted(v->tasks, "run").text, weft__counted(v->uses, "use").text);
    if (v->bands) print_bands(v, &all);
    if (v->claimless) printf("%s without claims left out\n", weft__counted(v->claimless, "file").text);
    if (all.verdict.not_judged)
        printf("%s about several seeds not judged by one seed; --seeds 1..8 judges by eight\n",
               weft__counted(all.verdict.not_judged, "claim").text);
    if (v->interrupted) printf("interrupted: what had not run to its end by then is not judged\n");
}

static bool is_toothless(const struct verify_judgement *j) {
    return j->teeth == VERIFY_TOOTHLESS || j->teeth == VERIFY_UNARMED;
}

static bool is_unexpected(const struct verify_judgement *j) {
    return j->verdict == WEFT_CLAIM_FAILS || j->verdict == WEFT_CLAIM_HOLDS_AFTER_ALL || is_toothless(j);
}

static void print_filled(const struct weft_claim *c, const char *what, const double *value, struct weft_arena *arena) {
    printf("%*s%s%s\n", WEFT_CLAIM_INDENT, "", what, weft_claim_filled(c, value, arena));
}

static void print_teeth(const struct weft_claim *c, const struct verify_judgement *j, struct weft_arena *arena) {
    if (j->teeth == VERIFY_UNARMED)
        printf("%*sTOOTHLESS: nothing is named that must break it\n", WEFT_CLAIM_INDENT, "");
    if (j->teeth == VERIFY_EXEMPT)
        printf("%*s%s: %s\n", WEFT_CLAIM_INDENT, "", *c->definition ? "definition" : "toothless",
               *c->definition ? c->definition : c->toothless);
    if (j->teeth != VERIFY_BITES && j->teeth != VERIFY_TOOTHLESS) return;
    printf("%*s%s with", WEFT_CLAIM_INDENT, "", j->teeth == VERIFY_BITES ? "broken" : "TOOTHLESS: holds also");
    for (uint32_t i = 0; i < c->withouts; i++)
        printf("%s %s", i ? "," : "", c->without[i]);
    if (j->seeds > 1) printf(" (%u of %u)", j->teeth == VERIFY_BITES ? j->bitten : j->of - j->bitten, j->of);
    printf(": %s\n", weft_claim_filled(c, j->without, arena));
}

static void print_claim(const struct verify *v, const struct verified *s, uint32_t i, const struct verify_judgement *j,
                        struct weft_arena *arena) {
    const struct weft_claim *c = &s->claims.claim[i];
    const char *verdict = weft_claim_verdict_titles[j->verdict];
    if (is_toothless(j) && j->verdict == WEFT_CLAIM_HOLDS) verdict = "HAS NO TEETH";
    weft_report_claim_head(stdout, c, verdict);
    if (j->seeds == 1) {
        print_filled(c, "", j->median, arena);
    } else {
        if (c->seeds == WEFT_CLAIM_SEEDS_MEAN)
            printf("%*sthe means over %s %s\n", WEFT_CLAIM_INDENT, "", weft__counted(j->seeds, "seed").text,
                   j->hold ? "hold" : "do not hold");
        else
            printf("%*s%u of %s\n", WEFT_CLAIM_INDENT, "", j->hold, weft__counted(j->of, "seed").text);
        print_filled(c, "median: ", j->median, arena);
        print_filled(c, "least:  ", j->least, arena);
        print_filled(c, "most:   ", j->most, arena);
    }
    print_teeth(c, j, arena);
    if (v->bands) verify_print_bands(v, s, i, arena);
    weft_report_claim_reasons(stdout, c);
}

/// Findings, then unexpected results, so that the worst is last; everything else before, if requested.
enum part { PLAIN, NOTED, UNEXPECTED };

static enum part part_of(const struct verify_judgement *j) {
    if (is_unexpected(j)) return UNEXPECTED;
    if (j->verdict == WEFT_CLAIM_NOT_JUDGED) return PLAIN; // the table counts them
    return j->verdict == WEFT_CLAIM_HOLDS && j->hold == j->of ? PLAIN : NOTED;
}

/// A claim that its bands turn is noted.
static enum part part_in_bands(const struct verify *v, const struct verified *s, uint32_t claim, enum part part,
                               struct weft_arena *arena) {
    if (!v->bands || !s->claims.claim[claim].bands || part == UNEXPECTED) return part;
    enum weft_claim_in_band found = verify_in_bands(v, s, claim, arena);
    if (verify_is_band_unexpected(&s->claims.claim[claim], found)) return UNEXPECTED;
    return found == WEFT_CLAIM_IN_BAND_HOLDS ? part : NOTED;
}

static void print_claims(const struct verify *v, enum part part) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    for (const struct verified *s = v->first; s; s = s->next) {
        bool named = false;
        for (uint32_t i = 0; i < s->claims.n && verify_is_judged(s); i++) {
            struct verify_judgement j = verify_judge(v, s, i, arena);
            if (part_in_bands(v, s, i, part_of(&j), arena) != part) continue;
            if (!named) printf("\n%s\n", s->shown);
            named = true;
            print_claim(v, s, i, &j, arena);
        }
    }
}

void verify_print(FILE *file, const void *context) {
    const struct verify *v = context;
    print_table(v);
    if (v->all) print_claims(v, PLAIN);
    print_claims(v, NOTED);
    print_claims(v, UNEXPECTED);
}
