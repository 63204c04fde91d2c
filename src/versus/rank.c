// SPDX-License-Identifier: Apache-2.0
// Which fabric leads in a case, and whether the difference exceeds noise.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/units.h"
#include "versus/versus.h"

static uint32_t versus_point(const struct weft_versus *v, uint32_t fabric, uint32_t case_at) {
    uint32_t variant = v->fabric[fabric].variant;
    return variant == WEFT_NONE || !v->results ? WEFT_NONE : case_at * v->variants + variant;
}

const struct weft_sweep_run *weft__versus_run(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                              uint32_t seed) {
    return &v->results->run[(size_t)versus_point(v, fabric, case_at) * v->results->sweep->seeds + seed];
}

static bool is_fluid(const struct weft_versus *v, uint32_t fabric, uint32_t case_at) {
    return v->fluid && v->fabric[fabric].variant != WEFT_NONE && v->fluid[versus_point(v, fabric, case_at)];
}

struct weft_versus weft_versus_at(const struct weft_versus *v, uint32_t scale) {
    assert(scale < v->scales);
    const struct weft_versus_scale *s = &v->scale[scale];
    struct weft_versus at = *v;
    at.scale = s;
    at.scales = 1;
    at.hosts = s->hosts;
    at.fabric = v->fabric ? v->fabric + s->first : NULL;
    at.fabrics = s->fabrics;
    at.ruler = s->ruler;
    return at;
}

const struct weft_versus_domain *weft_versus_domain_of(const struct weft_versus_fabric *fabric,
                                                       enum weft_versus_domain_kind kind) {
    for (uint32_t i = 0; i < fabric->domains; i++)
        if (fabric->domain[i].kind == kind) return &fabric->domain[i];
    return NULL;
}

bool weft__versus_can_fail(const struct weft_versus_fabric *fabric, const struct weft_versus_failure *f) {
    return f->kind == WEFT_VERSUS_SLOW ? !fabric->plan->planes : weft_versus_domain_of(fabric, f->domain) != NULL;
}

/// A fabric without any of the elements that fail in this case has no value: its undisturbed run shows nothing. The
/// ruler remains.
static bool applies_to(const struct weft_versus *v, uint32_t fabric, const struct weft_versus_case *c) {
    return !c->failure || fabric == v->ruler || weft__versus_can_fail(&v->fabric[fabric], c->failure);
}

double *weft_versus_values(const struct weft_versus *v, uint32_t fabric, uint32_t case_at, const char *name,
                           struct weft_arena *arena) {
    uint32_t seeds = weft__versus_seeds(v);
    double *value = weft_arena_alloc(arena, seeds + 1, sizeof *value);
    const char *key = weft_arena_format(arena, "versus %s", name);
    for (uint32_t k = 0; k < seeds; k++) {
        const double *kept = v->fabric[fabric].variant == WEFT_NONE || !applies_to(v, fabric, &v->cases[case_at])
                                 ? NULL
                                 : weft_sweep_run_kept(weft__versus_run(v, fabric, case_at, k), key);
        value[k] = kept ? *kept : (double)NAN;
    }
    return value;
}

struct weft_spread weft__versus_spread(const struct weft_versus *v, uint32_t fabric, uint32_t case_at, const char *name,
                                       struct weft_arena *arena) {
    return weft_spread_of(weft_versus_values(v, fabric, case_at, name, arena), weft__versus_seeds(v), arena);
}

/// It ended with flows left, and without a value of the measure that judges the case.
static bool is_unfinished(const struct weft_sweep_run *run, const struct weft_versus_case *c,
                          struct weft_arena *arena) {
    const char *by = weft_arena_format(arena, "versus %s", weft_versus_measure_names[c->by]);
    const char *left = weft_arena_format(arena, "versus %s", weft_versus_measure_names[WEFT_VERSUS_UNFINISHED]);
    const double *value = weft_sweep_run_kept(run, by), *flows = weft_sweep_run_kept(run, left);
    return run->state == WEFT_SWEEP_DONE && value && isnan(*value) && flows && *flows > 0;
}

void weft_versus_judge(struct weft_versus *v, struct weft_arena *arena) {
    for (uint32_t f = 0; f < v->fabrics; f++)
        for (uint32_t i = 0; i < v->n_all * weft__versus_seeds(v) && v->fabric[f].variant != WEFT_NONE; i++) {
            struct weft_versus_fabric *fabric = &v->fabric[f];
            const struct weft_versus_case *versus_case = &v->cases[i / weft__versus_seeds(v)];
            const char *name = versus_case->name;
            const struct weft_sweep_run *run =
                weft__versus_run(v, f, i / weft__versus_seeds(v), i % weft__versus_seeds(v));
            if (run->state == WEFT_SWEEP_STALLED && fabric->status == WEFT_VERSUS_RAN) {
                fabric->status = WEFT_VERSUS_STALLED;
                fabric->reason = weft_arena_format(arena, "%s, seed %llu: the network came to a standstill", name,
                                                   (unsigned long long)run->seed);
            } else if (fabric->status == WEFT_VERSUS_RAN && applies_to(v, f, versus_case) &&
                       is_unfinished(run, versus_case, arena)) {
                char end[32];
                const double *until = weft_sweep_run_kept(run, "versus " WEFT_VERSUS_UNTIL);
                weft_format_time(until && !isnan(*until) ? (weft_time_ps)llround(*until) : run->sim_time_ps, end,
                                 sizeof end);
                fabric->status = WEFT_VERSUS_CUT_SHORT;
                fabric->reason =
                    weft_arena_format(arena, "%s, seed %llu, at %s", name, (unsigned long long)run->seed, end);
            } else if (run->state == WEFT_SWEEP_FAILED) {
                bool refused = is_fluid(v, f, i / weft__versus_seeds(v));
                fabric->status = refused ? WEFT_VERSUS_REFUSED : WEFT_VERSUS_FAILED;
                fabric->reason = refused ? run->message
                                         : weft_arena_format(arena, "%s, seed %llu: %s", name,
                                                             (unsigned long long)run->seed, run->message);
            } else if (run->state == WEFT_SWEEP_MISSING && fabric->status != WEFT_VERSUS_FAILED) {
                fabric->status = WEFT_VERSUS_NOT_RUN;
                fabric->reason = weft_arena_format(arena, "%s, seed %llu", name, (unsigned long long)run->seed);
            }
        }
}

WEFT__ORDER(by_mean, struct weft_versus_place, WEFT__UP(value.mean) ?: WEFT__UP(fabric))

static double *ratios_of(const double *value, const double *ruler, uint32_t n, struct weft_arena *arena) {
    double *ratio = weft_arena_alloc(arena, n + 1, sizeof *ratio);
    for (uint32_t k = 0; k < n; k++)
        ratio[k] = ruler && ruler[k] > 0 ? value[k] / ruler[k] : (double)NAN;
    return ratio;
}

struct weft_spread weft_versus_degradation(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                           struct weft_arena *arena) {
    const struct weft_versus_case *c = &v->cases[case_at];
    if (c->healthy == WEFT_NONE) return weft_spread_of(NULL, 0, arena);
    const char *name = weft_versus_measure_names[c->by];
    uint32_t seeds = weft__versus_seeds(v);
    double *ratio = ratios_of(weft_versus_values(v, fabric, case_at, name, arena),
                              weft_versus_values(v, fabric, c->healthy, name, arena), seeds, arena);
    return weft_spread_of(ratio, seeds, arena);
}

struct weft_versus_place weft__versus_place_of(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                               struct weft_arena *arena) {
    const char *name = weft_versus_measure_names[v->cases[case_at].by];
    struct weft_versus_place place = {.fabric = fabric,
                                      .value = weft__versus_spread(v, fabric, case_at, name, arena),
                                      .estimated = is_fluid(v, fabric, case_at),
                                      .low = NAN,
                                      .high = NAN};
    if (!place.estimated) return place;
    place.low = place.high = 0;
    for (uint32_t k = 0; k < weft__versus_seeds(v); k++) {
        double low, high;
        weft_sweep_run_part(weft__versus_run(v, fabric, case_at, k), &low, &high);
        place.low += place.value.mean * (isnan(low) ? 0 : low) / weft__versus_seeds(v);
        place.high += place.value.mean * (isnan(high) ? INFINITY : high) / weft__versus_seeds(v);
    }
    return place;
}

/// The first is below the other, but their intervals may overlap. A run in packets is what it is.
static bool may_be_equal(const struct weft_versus_place *first, const struct weft_versus_place *other) {
    double high = first->estimated ? first->high : first->value.mean;
    double low = other->estimated ? other->low : other->value.mean;
    return low <= high;
}

struct weft_versus_place *weft_versus_rank(const struct weft_versus *v, uint32_t case_at, struct weft_arena *arena,
                                           uint32_t *ret_n) {
    const char *name = weft_versus_measure_names[v->cases[case_at].by];
    uint32_t n = 0, seeds = weft__versus_seeds(v);
    struct weft_versus_place *place = weft_arena_alloc(arena, v->fabrics + 1, sizeof *place);
    const double *ruler = v->ruler == WEFT_NONE ? NULL : weft_versus_values(v, v->ruler, case_at, name, arena);
    for (uint32_t f = 0; f < v->fabrics; f++) {
        if (f == v->ruler || v->fabric[f].variant == WEFT_NONE) continue;
        struct weft_versus_place of = weft__versus_place_of(v, f, case_at, arena);
        if (!of.value.n) continue;
        const double *value = weft_versus_values(v, f, case_at, name, arena);
        of.of_ruler = weft_spread_of(ratios_of(value, ruler, seeds, arena), seeds, arena);
        place[n++] = of;
    }
    qsort(place, n, sizeof *place, by_mean);
    for (uint32_t i = 1; i < n; i++) {
        struct weft_spread difference;
        enum weft_difference d = weft_difference_of(weft_versus_values(v, place[0].fabric, case_at, name, arena),
                                                    weft_versus_values(v, place[i].fabric, case_at, name, arena), seeds,
                                                    n - 1, &difference, arena);
        place[i].noise = d == WEFT_DIFFERENCE_NOISE;
        place[i].unknown = d == WEFT_DIFFERENCE_UNKNOWN;
        if (!place[0].estimated && !place[i].estimated) continue;
        place[i].noise = may_be_equal(&place[0], &place[i]);
        place[i].unknown = false;
    }
    *ret_n = n;
    return place;
}
