// SPDX-License-Identifier: Apache-2.0
// Points: all combinations, zipped values, or a sample.
#include <inttypes.h>

#include "base/param.h"
#include "base/units.h"
#include "sweep/axes.h"
#include "weft/param.h"
#include "weft/random.h"

static const char *sweep_check(const void *conf, char *text, size_t size) {
    const struct weft__sweep_conf *c = conf;
    (void)text, (void)size;
    return c->zip && c->sample ? "zip and sample are two kinds of points; expected one of them" : NULL;
}
static const char *const lists[] = {"vary", NULL};
const struct weft_param_table weft_sweep_table = WEFT_PARAM_TABLE_OF(
    "sweep", struct weft__sweep_conf, WEFT_PARAM_AND(.check = sweep_check, .lists = lists),
    WEFT_BOOL(
        struct weft__sweep_conf, zip, "zip", "off",
        "the first values of all parameters are one point, the second ones the next, rather than all combinations"),
    WEFT_UINT(struct weft__sweep_conf, sample, "sample", "0", "0", "100000",
              "so many points drawn as a Latin hypercube, rather than all combinations; 0: no sample"),
    WEFT_UINT(struct weft__sweep_conf, sample_seed, "sample_seed", "1", "0", "9223372036854775807",
              "another sample for another number", .needs = "sample"),
    WEFT_PROSE(
        struct weft__sweep_conf, best, "best", "",
        "the metric by which points are ranked, such as victims.fct.mean, the least first; with :max the greatest"),
    WEFT_PROSE(struct weft__sweep_conf, metrics, "metrics", "",
               "what is shown: metrics as claims have them, such as [victims.fct.mean, counters.cnp]"));

#define FAIL(error, place, ...) WEFT_REFUSE(error, place, __VA_ARGS__)

/// Values of one variant's points, which the other variants share.
struct design {
    uint32_t points;
    struct weft_sweep_value **value; ///< [points][axes]
};

static enum weft_status check_size(const struct weft_sweep *s, uint64_t points, struct weft_error *ret_error) {
    if (points * s->seeds <= WEFT_SWEEP_RUNS_MAX) return WEFT_OK;
    const struct weft_tree *section = weft_scenario_sweep(s->file);
    return FAIL(ret_error, section ? section->place : WEFT_NOWHERE, "sweep: %s with %s; expected %d runs at most",
                weft__counted(points, "point").text, weft__counted(s->seeds, "seed").text, WEFT_SWEEP_RUNS_MAX);
}

static void make_room(struct design *d, const struct weft_sweep *s, uint32_t points) {
    d->points = points;
    d->value = weft_arena_alloc(s->arena, points, sizeof *d->value);
    for (uint32_t p = 0; p < points; p++)
        d->value[p] = weft_arena_alloc(s->arena, s->axes, sizeof **d->value);
}

/// Only a sample can use a range without a number of values.
static enum weft_status check_counted(const struct weft_sweep *s, struct weft_error *ret_error) {
    for (uint32_t a = 0; a < s->axes; a++)
        if (s->axis[a].range)
            return FAIL(ret_error, s->axis[a].place,
                        "%s: expected how many values, as in A..B:4 or A..B:4log; a range "
                        "without is for --sample",
                        s->axis[a].path);
    return WEFT_OK;
}

static enum weft_status cross_axes(struct design *d, const struct weft_sweep *s, struct weft_error *ret_error) {
    uint64_t points = 1;
    WEFT_TRY(check_counted(s, ret_error));
    for (uint32_t a = 0; a < s->axes; a++)
        WEFT_TRY(check_size(s, points *= s->axis[a].values, ret_error));
    make_room(d, s, (uint32_t)points);
    for (uint32_t p = 0; p < points; p++)
        for (uint32_t a = s->axes, rest = p; a-- > 0; rest /= s->axis[a].values)
            d->value[p][a] = s->axis[a].value[rest % s->axis[a].values];
    return WEFT_OK;
}

/// A single value is combined with all the others.
static enum weft_status zip_axes(struct design *d, const struct weft_sweep *s, struct weft_error *ret_error) {
    WEFT_TRY(check_counted(s, ret_error));
    uint32_t points = 1, longest = 0;
    for (uint32_t a = 0; a < s->axes; a++) {
        uint32_t n = s->axis[a].values;
        if (n > 1 && points > 1 && n != points)
            return FAIL(ret_error, s->axis[a].place, "%s has %s and %s %u; expected as many of each, to be zipped",
                        s->axis[a].path, weft__counted(n, "value").text, s->axis[longest].path, points);
        if (n > points) longest = a;
        if (n > points) points = n;
    }
    make_room(d, s, points);
    for (uint32_t p = 0; p < points; p++)
        for (uint32_t a = 0; a < s->axes; a++)
            d->value[p][a] = s->axis[a].value[s->axis[a].values > 1 ? p : 0];
    return WEFT_OK;
}

/// Each axis is divided into as many parts as there are points, and each part is assigned to one point at random.
static void sample_axis(struct design *d, const struct weft_sweep *s, uint32_t a, uint64_t seed) {
    const struct weft_sweep_axis *axis = &s->axis[a];
    struct weft_random random = weft_random_stream(seed, a, WEFT_RANDOM_SAMPLE);
    uint32_t n = d->points, *part = weft_arena_alloc(s->arena, n, sizeof *part);
    for (uint32_t p = 0; p < n; p++) { // Fisher-Yates, from the inside out
        uint32_t k = (uint32_t)weft_random_below(&random, p + 1);
        part[p] = part[k];
        part[k] = p;
    }
    for (uint32_t p = 0; p < n; p++) {
        double at = (part[p] + weft_random_unit(&random)) / n;
        d->value[p][a] = axis->range ? weft__sweep_text_value(axis, weft__range_at(axis->range, at, s->arena), s->arena)
                                     : axis->value[(uint32_t)(at * axis->values)];
    }
}

static enum weft_status sample_points(struct design *d, const struct weft_sweep *s, uint32_t points, uint64_t seed,
                                      struct weft_place place, struct weft_error *ret_error) {
    if (!s->axes)
        return FAIL(
            ret_error, place,
            "no parameter is varied, so all points of the sample would be the same; expected --vary PATH=VALUES "
            "or `vary:`");
    WEFT_TRY(check_size(s, points, ret_error));
    make_room(d, s, points);
    for (uint32_t a = 0; a < s->axes; a++)
        sample_axis(d, s, a, seed);
    return WEFT_OK;
}

/// Every variant has every point of the design.
static enum weft_status cross_variants(struct weft_sweep *s, const struct design *d, uint32_t only,
                                       struct weft_error *ret_error) {
    uint32_t variants = only == WEFT_NONE ? weft_scenario_variants(s->file) : 1, first = only == WEFT_NONE ? 0 : only;
    WEFT_TRY(check_size(s, (uint64_t)variants * d->points, ret_error));
    s->points = variants * d->points;
    s->point = weft_arena_alloc(s->arena, s->points, sizeof *s->point);
    for (uint32_t p = 0; p < s->points; p++)
        s->point[p] = (struct weft_sweep_point){first + p / d->points, d->value[p % d->points]};
    return WEFT_OK;
}

static struct weft_place place_of(const struct weft_tree *section, const char *key) {
    const struct weft_tree *tree = weft_tree_find(section, key);
    return tree ? tree->place : WEFT_NOWHERE;
}

enum weft_status weft_sweep_new(const struct weft_scenario_file *file, const struct weft_sweep_options *o,
                                struct weft_arena *arena, struct weft_sweep **ret_sweep, struct weft_error *ret_error) {
    struct weft_sweep *s = weft_arena_alloc(arena, 1, sizeof *s);
    *s = (struct weft_sweep){.file = file, .arena = arena};
    const struct weft_tree *section = weft_scenario_sweep(file);
    struct weft__sweep_conf conf;
    struct design d = {0};
    enum weft_status status = weft__params_load_at(&weft_sweep_table, section, "sweep", &conf, arena, ret_error);
    if (!status) status = weft__sweep_axes(s, o, weft_tree_find(section, "vary"), ret_error);
    if (status) return status;
    s->best = conf.best;
    s->metrics = conf.metrics;
    s->best_place = place_of(section, "best");
    s->metrics_place = place_of(section, "metrics");
    if (o->sample)
        status = sample_points(&d, s, o->sample, o->sample_seed, (struct weft_place){.file = "--sample"}, ret_error);
    else if (o->zip || conf.zip)
        status = zip_axes(&d, s, ret_error);
    else if (conf.sample)
        status = sample_points(&d, s, (uint32_t)conf.sample, conf.sample_seed, place_of(section, "sample"), ret_error);
    else
        status = cross_axes(&d, s, ret_error);
    if (!status) status = cross_variants(s, &d, o->variant, ret_error);
    *ret_sweep = s;
    return status;
}

static const struct weft_tree *seed_over(uint64_t seed, struct weft_arena *arena) {
    static const struct weft_sweep_axis seeds = {.path = "run.seed", .place = {.file = "seed"}};
    return weft__sweep_text_value(&seeds, weft_arena_format(arena, "%" PRIu64, seed), arena).over;
}

struct weft_scenario_file *weft_sweep_with_seed(const struct weft_scenario_file *file, uint64_t seed,
                                                struct weft_arena *arena) {
    const struct weft_tree *over = seed_over(seed, arena);
    return weft_scenario_file_over(file, &over, 1, arena);
}

struct weft_scenario_file *weft_sweep_file(const struct weft_sweep *s, uint32_t point, uint32_t seed,
                                           struct weft_arena *arena) {
    const struct weft_tree **over = weft_arena_alloc(arena, s->axes + 1, sizeof *over);
    uint32_t n = 0;
    for (; n < s->axes; n++)
        over[n] = s->point[point].value[n].over;
    if (seed != WEFT_NONE && s->seed) over[n++] = seed_over(s->seed[seed], arena);
    return weft_scenario_file_over(s->file, over, n, arena);
}

const char *weft_sweep_run_name(const struct weft_sweep *sweep, uint32_t point, uint64_t seed,
                                struct weft_arena *arena) {
    const char *what = weft_scenario_variant_name(sweep->file, sweep->point[point].variant);
    for (uint32_t a = 0; a < sweep->axes; a++)
        if (*sweep->point[point].value[a].text) // "" changes nothing
            what = weft_arena_format(arena, "%s%s%s=%s", what, *what ? ", " : "", sweep->axis[a].path,
                                     sweep->point[point].value[a].text);
    return weft_arena_format(arena, "point %u%s%s%s, seed %llu", point, *what ? " (" : "", what, *what ? ")" : "",
                             (unsigned long long)seed);
}
