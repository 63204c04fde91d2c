// SPDX-License-Identifier: Apache-2.0
// The results of claims over seeds, and under the settings that must break them.
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "verify.h"

/// One metric over seeds. The median of an even number is the mean of the two in the middle.
struct spread {
    double mean, median, least, most;
};

/// The readings of a claim: `n` of them, with their values.
struct readings {
    const struct weft_claim *claim;
    const double **value; ///< [n][metrics]
    uint32_t n;
};

static struct readings readings_of(const struct verified *s, const struct verify_reading *r, uint32_t claim,
                                   struct weft_arena *arena) {
    struct readings of = {.claim = &s->claims.claim[claim]};
    of.value = weft_arena_alloc(arena, s->readings, sizeof *of.value);
    for (uint32_t k = 0; k < s->readings; k++)
        if (r[k].judged[claim]) of.value[of.n++] = r[k].claims.result[claim].value;
    return of;
}

/// A metric without a value with one seed has none: that seed's claim does not hold either.
static struct spread spread_of(const struct readings *of, uint32_t metric, double *sorted) {
    struct spread s = {.mean = 0};
    for (uint32_t k = 0; k < of->n; k++) {
        sorted[k] = of->value[k][metric];
        if (isnan(sorted[k])) return (struct spread){NAN, NAN, NAN, NAN};
        s.mean += sorted[k] / of->n;
    }
    qsort(sorted, of->n, sizeof *sorted, weft__by_double);
    s.median = (sorted[(of->n - 1) / 2] + sorted[of->n / 2]) / 2;
    s.least = sorted[0];
    s.most = sorted[of->n - 1];
    return s;
}

/// With how many seeds it holds; judged by means, 1 or 0.
static uint32_t count_holding(const struct readings *of, const double *mean) {
    if (of->claim->seeds == WEFT_CLAIM_SEEDS_MEAN) return weft_claim_holds(of->claim, mean);
    uint32_t hold = 0;
    for (uint32_t k = 0; k < of->n; k++)
        hold += weft_claim_holds(of->claim, of->value[k]);
    return hold;
}

static enum verify_teeth teeth_of(const struct verify *v, const struct weft_claim *c,
                                  const struct verify_judgement *j) {
    if (!v->teeth || !weft_claim_is_to_hold(c)) return VERIFY_NOT_ASKED;
    if (*c->toothless || *c->definition) return VERIFY_EXEMPT;
    if (!c->withouts) return VERIFY_UNARMED;
    if (!weft_claim_is_judged(c, j->seeds)) return VERIFY_NOT_ASKED;
    return j->bitten >= weft_claim_seeds_needed(c, j->seeds) ? VERIFY_BITES : VERIFY_TOOTHLESS;
}

struct verify_judgement verify_judge_readings(const struct verified *s, const struct verify_reading *r, uint32_t claim,
                                              struct weft_arena *arena) {
    const struct readings of = readings_of(s, r, claim, arena);
    const struct weft_claim *c = of.claim;
    struct verify_judgement j = {.seeds = of.n, .of = c->seeds == WEFT_CLAIM_SEEDS_MEAN ? 1 : of.n};
    double *const field[] = {weft_arena_alloc(arena, c->metrics, sizeof(double)),
                             weft_arena_alloc(arena, s->readings, sizeof(double))};
    j.median = weft_arena_alloc(arena, c->metrics, sizeof *j.median);
    for (uint32_t m = 0; m < c->metrics; m++) {
        struct spread spread = spread_of(&of, m, field[1]);
        field[0][m] = spread.mean;
        j.median[m] = spread.median;
    }
    j.hold = count_holding(&of, field[0]);
    j.verdict = weft_claim_verdict(c, j.hold, j.seeds);
    return j;
}

struct verify_judgement verify_judge(const struct verify *v, const struct verified *s, uint32_t claim,
                                     struct weft_arena *arena) {
    const struct weft_claim *c = &s->claims.claim[claim];
    struct verify_judgement j = {0};
    double **const field[] = {&j.median, &j.least, &j.most, &j.without};
    for (uint32_t i = 0; i < sizeof field / sizeof *field; i++)
        *field[i] = weft_arena_alloc(arena, c->metrics, sizeof(double));
    double *mean = weft_arena_alloc(arena, c->metrics, sizeof *mean);
    double *mean_without = weft_arena_alloc(arena, c->metrics, sizeof *mean_without);
    double *sorted = weft_arena_alloc(arena, s->readings, sizeof *sorted);
    bool bites = v->teeth && s->bite[claim];
    const struct readings plain = readings_of(s, s->plain, claim, arena);
    const struct readings bite = bites ? readings_of(s, s->bite[claim], claim, arena) : (struct readings){0};
    j.seeds = plain.n;
    j.of = c->seeds == WEFT_CLAIM_SEEDS_MEAN ? 1 : plain.n;
    for (uint32_t m = 0; m < c->metrics; m++) {
        struct spread spread = spread_of(&plain, m, sorted);
        j.median[m] = spread.median;
        j.least[m] = spread.least;
        j.most[m] = spread.most;
        mean[m] = spread.mean;
        if (!bites) continue;
        spread = spread_of(&bite, m, sorted);
        j.without[m] = spread.median;
        mean_without[m] = spread.mean;
    }
    j.hold = count_holding(&plain, mean);
    if (bites) j.bitten = j.of - count_holding(&bite, mean_without);
    j.verdict = weft_claim_verdict(c, j.hold, j.seeds);
    j.teeth = teeth_of(v, c, &j);
    return j;
}

bool verify_is_judged(const struct verified *s) {
    return s->ended && (!s->status || s->status == WEFT_ERROR_STALL);
}

struct verify_counts verify_count(const struct verify *v, const struct verified *s) {
    struct verify_counts counts = {.claims = s->claims.n};
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    for (uint32_t i = 0; i < s->claims.n && verify_is_judged(s); i++) {
        struct verify_judgement j = verify_judge(v, s, i, arena);
        weft_claim_counts_add(&counts.verdict, j.verdict);
        counts.toothless += j.teeth == VERIFY_UNARMED || j.teeth == VERIFY_TOOTHLESS;
        counts.exempt += j.teeth == VERIFY_EXEMPT;
        if (!v->bands || !s->claims.claim[i].bands) continue;
        enum weft_claim_in_band in_band = verify_in_bands(v, s, i, arena);
        counts.in_band[in_band]++;
        counts.bands_unexpected += verify_is_band_unexpected(&s->claims.claim[i], in_band);
    }
    return counts;
}
