// SPDX-License-Identifier: Apache-2.0
// The results of claims over seeds, and under the settings that must break them.
#include <math.h>
#include <stdlib.h>

#include "verify.h"

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// One metric over seeds. The median of an even number is the mean of the two in the middle.
struct spread {
    double mean, median, least, most;
};

/// A metric without a value with one seed has none: that seed's claim does not hold either.
static struct spread spread_of(const struct verify_reading *r, uint32_t seeds, uint32_t claim, uint32_t metric,
                               double *sorted) {
    struct spread s = {.mean = 0};
    for (uint32_t k = 0; k < seeds; k++) {
        sorted[k] = r[k].claims.result[claim].value[metric];
        if (isnan(sorted[k])) return (struct spread){NAN, NAN, NAN, NAN};
        s.mean += sorted[k] / seeds;
    }
    qsort(sorted, seeds, sizeof *sorted, by_size);
    s.median = (sorted[(seeds - 1) / 2] + sorted[seeds / 2]) / 2;
    s.least = sorted[0];
    s.most = sorted[seeds - 1];
    return s;
}

/// With how many seeds it holds; judged by means, 1 or 0.
static uint32_t count_holding(const struct verify *v, const struct verify_reading *r, const struct weft_claim *c,
                              uint32_t claim, const double *mean) {
    if (c->seeds == WEFT_CLAIM_SEEDS_MEAN) return weft_claim_holds(c, mean);
    uint32_t hold = 0;
    for (uint32_t k = 0; k < v->seeds; k++)
        hold += weft_claim_holds(c, r[k].claims.result[claim].value);
    return hold;
}

static enum verify_teeth teeth_of(const struct verify *v, const struct weft_claim *c,
                                  const struct verify_judgement *j) {
    if (!v->teeth || !weft_claim_is_to_hold(c)) return VERIFY_NOT_ASKED;
    if (*c->toothless) return VERIFY_EXEMPT;
    if (!c->withouts) return VERIFY_UNARMED;
    uint32_t needed = weft_claim_seeds_needed(c, j->of);
    return j->bitten >= (needed ? needed : 1) ? VERIFY_BITES : VERIFY_TOOTHLESS;
}

struct verify_judgement verify_judge(const struct verify *v, const struct verified *s, uint32_t claim,
                                     struct weft_arena *arena) {
    const struct weft_claim *c = &s->claims.claim[claim];
    struct verify_judgement j = {.of = c->seeds == WEFT_CLAIM_SEEDS_MEAN ? 1 : v->seeds};
    double *sorted = weft_arena_alloc(arena, v->seeds, sizeof *sorted);
    double **const field[] = {&j.median, &j.least, &j.most, &j.without};
    for (uint32_t i = 0; i < sizeof field / sizeof *field; i++)
        *field[i] = weft_arena_alloc(arena, c->metrics, sizeof(double));
    double *mean = weft_arena_alloc(arena, c->metrics, sizeof *mean);
    double *mean_without = weft_arena_alloc(arena, c->metrics, sizeof *mean_without);
    const struct verify_reading *bite = v->teeth ? s->bite[claim] : NULL;
    for (uint32_t m = 0; m < c->metrics; m++) {
        struct spread spread = spread_of(s->plain, v->seeds, claim, m, sorted);
        j.median[m] = spread.median;
        j.least[m] = spread.least;
        j.most[m] = spread.most;
        mean[m] = spread.mean;
        if (!bite) continue;
        spread = spread_of(bite, v->seeds, claim, m, sorted);
        j.without[m] = spread.median;
        mean_without[m] = spread.mean;
    }
    j.hold = count_holding(v, s->plain, c, claim, mean);
    if (bite) j.bitten = j.of - count_holding(v, bite, c, claim, mean_without);
    j.verdict = weft_claim_verdict(c, j.hold, j.of);
    j.teeth = teeth_of(v, c, &j);
    return j;
}

bool verify_is_judged(const struct verified *s) {
    return s->ended && (!s->status || s->status == WEFT_ERROR_STALL);
}

struct verify_counts verify_count(const struct verify *v, const struct verified *s) {
    struct verify_counts counts = {.claims = s->claims.n};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    for (uint32_t i = 0; i < s->claims.n && verify_is_judged(s); i++) {
        struct verify_judgement j = verify_judge(v, s, i, arena);
        counts.hold += j.verdict == WEFT_CLAIM_HOLDS;
        counts.findings += j.verdict == WEFT_CLAIM_FINDING;
        counts.controls += j.verdict == WEFT_CLAIM_CONTROL;
        counts.unexpected += j.verdict == WEFT_CLAIM_FAILS || j.verdict == WEFT_CLAIM_HOLDS_AFTER_ALL;
        counts.toothless += j.teeth == VERIFY_UNARMED || j.teeth == VERIFY_TOOTHLESS;
        counts.exempt += j.teeth == VERIFY_EXEMPT;
    }
    weft_arena_free(arena);
    return counts;
}
