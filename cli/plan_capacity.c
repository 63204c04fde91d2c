// SPDX-License-Identifier: Apache-2.0
// weft plan capacity: the greatest load, or job, that a network carries at a given slowdown. The values of the load
// form a grid. Five of them run; bisection then finds where the metric first crosses the limit. Every load runs with
// the same seeds, so every seed gives one crossing; the interval is over these crossings.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "processes.h"
#include "sweep.h"

#include "base/units.h"

static const char *slowdown_text, *metric_text, *load_text, *seeds_text, *jobs_text;
static const struct weft_cli_option own[] = {
    {"slowdown", "S", "that is still accepted, such as 2 (of --metric, whatever that is)", &slowdown_text, NULL},
    {"metric", "METRIC", "p50, p95, p99 (default), mean or max of slowdown, or a metric such as victims.slowdown.p99",
     &metric_text, NULL},
    {"load", "PATH=LO..HI", "the parameter and its range; LO..HI:N of N values (default 65), LO..HI:Nlog", &load_text,
     NULL},
    {"seeds", "LIST", "seeds of every load (default 1..5)", &seeds_text, NULL},
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {0}};

static const struct weft_cli_command command = {
    .name = "plan capacity",
    .operands = "SCENARIO",
    .about =
        "The greatest load (or size of a job) at which a metric, by default the p99 of slowdown, is no more than S:\n"
        "by halving, with a 95% interval over seeds. Without --load: the load of the only poisson workload, 5% to\n"
        "95%. Says what brackets it, and where the metric does not grow with the load. docs/tune.md explains it.\n"
        "Exit status: 0 done, 1 system error or runs failed, 2 bad input (nothing was run), 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
};

enum { GRID = 65 };
struct capacity {
    struct sweep s;
    struct weft_sweep_metric metric;
    double limit;
    bool *probed; ///< [points]
    uint32_t probes, below,
        above;         ///< the bracket, neighbours on the grid; WEFT_NONE: no load of the range is on that side
    uint32_t falls[2]; ///< the metric is smaller at the second, a higher load, beyond noise; WEFT_NONE: nowhere
    struct weft_spread crossing; ///< over seeds
    enum weft__quantity kind;    ///< of the load
    bool real;                   ///< it is a plain number
    uint32_t variant;
};

// --- numbers ------------------------------------------------------------------------------------------------------

static bool read_load(struct capacity *c, const char *text, double *ret) {
    static const enum weft__quantity kinds[] = {WEFT__BYTES, WEFT__RATE, WEFT__TIME, WEFT__COUNT};
    char why[160];
    uint64_t value;
    c->real = weft__real_parse(text, ret);
    if (c->real) return true;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (weft__quantity_parse(kinds[i], text, &value, why, sizeof why)) {
            c->kind = kinds[i];
            *ret = (double)value;
            return true;
        }
    return false;
}

static const char *load_of(const struct capacity *c, uint32_t point) {
    return c->s.plan->point[point].value[0].text;
}

static double number_at(struct capacity *c, uint32_t point) {
    double value = NAN;
    read_load(c, load_of(c, point), &value);
    return value;
}

static const char *load_text_of(const struct capacity *c, double value) {
    char text[64];
    if (isnan(value)) return "-";
    if (c->real)
        snprintf(text, sizeof text, "%.4g", value);
    else if (c->kind == WEFT__BYTES)
        weft_format_bytes((weft_bytes)value, text, sizeof text);
    else if (c->kind == WEFT__RATE)
        weft_format_rate((weft_rate_bps)value, text, sizeof text);
    else if (c->kind == WEFT__TIME)
        weft_format_time((weft_time_ps)value, text, sizeof text);
    else
        snprintf(text, sizeof text, "%.1f", value);
    return weft_arena_text(c->s.o->arena, text);
}

// --- options ------------------------------------------------------------------------------------------------------

static enum weft_status read_metric(struct capacity *c, const struct weft_cli_simulation *sim,
                                    struct weft_error *ret_error) {
    struct sweep *s = &c->s;
    struct weft_place place = {.file = "--metric"};
    const char *text = metric_text ? metric_text : "p99";
    if (sweep_is_quantile(text, strlen(text))) {
        if (sim->workload->groups != 1)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                                  "%s%s names no group, and there are several; expected one, as in %s.slowdown.%s",
                                  metric_text ? "" : "the default, ", text,
                                  sim->workload->groups ? sim->workload->group[0] : "NAME", text);
        text = weft_arena_format(s->o->arena, "%s.slowdown.%s", sim->workload->group[0], text);
    }
    if (!weft_sweep_metric_parse(text, place, false, s->r.column, s->r.columns, s->o->arena, &c->metric))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "\"%.200s\": expected a metric of a run, such as p99 or victims.slowdown.p99", text);
    s->r.metric = s->metric = &c->metric;
    s->r.metrics = s->r.shown = 1;
    return WEFT_OK;
}

/// "workload.0.load=0.05..0.95:65", for the only generator with a load.
static enum weft_status find_load(const struct capacity *c, const struct weft_cli_simulation *sim, const char **ret,
                                  struct weft_error *ret_error) {
    const struct weft_scenario *scenario = sim->scenario;
    uint32_t found = WEFT_NONE, n = 0;
    for (uint32_t i = 0; i < scenario->workloads; i++)
        if (!strcmp(scenario->workload[i].model->name, "poisson")) {
            found = i;
            n++;
        }
    if (n != 1)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = scenario->path},
                              "workload: %s of kind poisson; expected one, or --load PATH=LO..HI",
                              weft__counted(n, "entry").text);
    *ret = weft_arena_format(c->s.o->arena, "workload.%u.load=0.05..0.95:%d", found, GRID);
    return WEFT_OK;
}

static enum weft_status read_options(struct capacity *c, const struct weft_scenario_file *file,
                                     struct weft_error *ret_error) {
    struct weft_cli_simulation sim = {0};
    struct weft_sweep_options options = {.varied = 1};
    const struct weft_cli_options *o = c->s.o;
    uint64_t *seed = NULL;
    char *end = NULL;
    if (slowdown_text) c->limit = strtod(slowdown_text, &end);
    if (!slowdown_text || end == slowdown_text || *end || !(c->limit > 0) || isinf(c->limit))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--slowdown: %s%s%sexpected a number above 0, such as 2", slowdown_text ? "'" : "",
                              slowdown_text ? slowdown_text : "is missing; ",
                              slowdown_text ? "' is not understood; " : "");
    if (!weft_cli_seeds_parse(seeds_text ? seeds_text : "1..5", o->arena, &seed, &options.seeds))
        return WEFT_ERROR_INPUT;
    options.seed = seed;
    enum weft_status status = weft_cli_variant(o, file, &c->variant, ret_error);
    if (!status) status = weft_cli_simulation_init(&sim, file, c->variant, ret_error);
    if (!status) status = read_metric(c, &sim, ret_error);
    const char *load = load_text;
    if (!status && !load) status = find_load(c, &sim, &load, ret_error);
    weft_cli_simulation_deinit(&sim);
    if (status) return status;
    const char *dots = strstr(load, "..");
    if (dots && !strchr(dots, ':')) load = weft_arena_format(o->arena, "%s:%d", load, GRID);
    options.variant = c->variant;
    options.vary = &load;
    status = weft_sweep_new(file, &options, o->arena, &c->s.plan, ret_error);
    double number;
    if (!status && (c->s.plan->axes != 1 || c->s.plan->points < 3 || !read_load(c, load_of(c, 0), &number)))
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                                "--load: expected PATH=LO..HI of numbers or quantities, and no sweep in the scenario");
    if (!status && !(number_at(c, 0) < number_at(c, c->s.plan->points - 1)))
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--load: expected LO below HI");
    return status;
}

// --- the search ---------------------------------------------------------------------------------------------------

static const double *values_at(const struct capacity *c, uint32_t point) {
    return weft_sweep_metric_values(&c->s.r, point, &c->metric, c->s.o->arena);
}

static struct weft_spread spread_at(const struct capacity *c, uint32_t point) {
    return weft_spread_of(values_at(c, point), c->s.plan->seeds, c->s.o->arena);
}

/// A load at which nothing is measured is not carried.
static bool is_carried(const struct capacity *c, uint32_t point) {
    return spread_at(c, point).mean <= c->limit;
}

static void own_points(struct capacity *c, const uint32_t *point, uint32_t n) {
    struct sweep *s = &c->s;
    s->owned = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->plan->seeds; k++)
            s->own[s->owned++] = point[i] * s->plan->seeds + k;
}

static enum weft_status probe_points(struct capacity *c, const uint32_t *point, uint32_t n, uint32_t jobs,
                                     struct weft_error *ret_error) {
    own_points(c, point, n);
    enum weft_status status = sweep_run(&c->s, jobs, ret_error);
    for (uint32_t i = 0; i < n && !status && !c->s.interrupted; i++) {
        c->probes += !c->probed[point[i]];
        c->probed[point[i]] = true;
    }
    return status;
}

/// The first load, among those that ran, after which the next one is not carried.
static void find_bracket(struct capacity *c) {
    c->below = c->above = WEFT_NONE;
    for (uint32_t p = 0; p < c->s.plan->points && c->above == WEFT_NONE; p++) {
        if (!c->probed[p]) continue;
        *(is_carried(c, p) ? &c->below : &c->above) = p;
    }
}

static enum weft_status search_capacity(struct capacity *c, uint32_t jobs, struct weft_error *ret_error) {
    uint32_t last = c->s.plan->points - 1;
    uint32_t first[5] = {0, last / 4, last / 2, last * 3 / 4, last}, n = 0;
    for (uint32_t i = 0; i < 5; i++)
        if (!i || first[i] != first[n - 1]) first[n++] = first[i];
    enum weft_status status = probe_points(c, first, n, jobs, ret_error);
    find_bracket(c);
    while (!status && !c->s.interrupted && c->below != WEFT_NONE && c->above != WEFT_NONE && c->above - c->below > 1) {
        uint32_t middle = c->below + (c->above - c->below) / 2;
        status = probe_points(c, &middle, 1, jobs, ret_error);
        find_bracket(c);
    }
    return status;
}

/// For one seed: between the last load that it carries and the first that it does not, interpolated.
static double crossing_of(struct capacity *c, uint32_t seed) {
    double last = NAN, at = NAN;
    for (uint32_t p = 0; p < c->s.plan->points; p++) {
        if (!c->probed[p]) continue;
        double value = values_at(c, p)[seed], load = number_at(c, p);
        if (!(value <= c->limit))
            return isnan(last) || isnan(value) ? at : at + (load - at) * (c->limit - last) / (value - last);
        last = value;
        at = load;
    }
    return NAN; // it carries all of them
}

static void find_interval(struct capacity *c) {
    uint32_t seeds = c->s.plan->seeds;
    double *crossing = weft_arena_alloc(c->s.o->arena, seeds, sizeof *crossing);
    for (uint32_t k = 0; k < seeds; k++)
        crossing[k] = crossing_of(c, k);
    c->crossing = weft_spread_of(crossing, seeds, c->s.o->arena);
}

static void find_fall(struct capacity *c) {
    c->falls[0] = c->falls[1] = WEFT_NONE;
    uint32_t last = WEFT_NONE;
    for (uint32_t p = 0; p < c->s.plan->points && c->falls[0] == WEFT_NONE; p++) {
        if (!c->probed[p]) continue;
        struct weft_spread d;
        if (last != WEFT_NONE && spread_at(c, p).mean < spread_at(c, last).mean && c->s.plan->seeds > 1 &&
            weft_difference_of(values_at(c, last), values_at(c, p), c->s.plan->seeds, c->probes - 1, &d,
                               c->s.o->arena) == WEFT_DIFFERENCE_REAL) {
            c->falls[0] = last;
            c->falls[1] = p;
        }
        last = p;
    }
}

// --- output -------------------------------------------------------------------------------------------------------

static void print_text(struct capacity *c) {
    const char *path = c->s.plan->axis[0].path, *dot = strrchr(path, '.'), *head = dot ? dot + 1 : path;
    int width = strlen(head) < 14 ? 14 : (int)strlen(head);
    printf("%s: greatest %s with %s at most %g, %s\n\n%-*s %12s %12s\n", c->s.r.name, path, c->metric.name, c->limit,
           weft__counted(c->s.plan->seeds, "seed").text, width, head, "mean", "+/-");
    for (uint32_t p = 0; p < c->s.plan->points; p++) {
        struct weft_spread s = spread_at(c, p);
        if (!c->probed[p]) continue;
        if (s.n)
            printf("%-*s %12.4g %12.3g%s\n", width, load_of(c, p), s.mean, s.half,
                   s.mean <= c->limit ? "" : "  too slow");
        else
            printf("%-*s %12s %12s  not measured\n", width, load_of(c, p), "-", "-");
    }
    putchar('\n');
    if (c->below == WEFT_NONE)
        printf("no load of the range is carried: less than %s\n", load_of(c, c->above));
    else if (c->above == WEFT_NONE)
        printf("all of the range is carried: %s or more\n", load_of(c, c->below));
    else
        printf("between %s and %s: %s +/- %s over %s\n", load_of(c, c->below), load_of(c, c->above),
               load_text_of(c, c->crossing.mean), load_text_of(c, c->crossing.half),
               weft__counted(c->crossing.n, "seed").text);
    if (c->falls[0] != WEFT_NONE)
        printf("not monotone: at %s it is %.4g, at the higher %s %.4g%s\n", load_of(c, c->falls[0]),
               spread_at(c, c->falls[0]).mean, load_of(c, c->falls[1]), spread_at(c, c->falls[1]).mean,
               c->below == WEFT_NONE || c->above == WEFT_NONE ? "" : "; the first crossing is shown");
    else
        puts("monotone, as far as these loads and seeds can tell");
}

static void json_end(struct weft__json *j, const char *key, const struct capacity *c, uint32_t point) {
    weft__json_key(j, key);
    if (point == WEFT_NONE)
        weft__json_real(j, NAN); // null
    else
        weft__json_string(j, load_of(c, point));
}

static void print_json(struct capacity *c) {
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "plan", "capacity");
    weft__json_key_string(&j, "metric", c->metric.name);
    weft__json_key_real(&j, "limit", c->limit);
    weft__json_key_string(&j, "parameter", c->s.plan->axis[0].path);
    weft__json_key_u64(&j, "seeds", c->s.plan->seeds);
    weft__json_key_bool(&j, "interrupted", c->s.interrupted);
    weft__json_key(&j, "probes");
    weft__json_begin_array(&j);
    for (uint32_t p = 0; p < c->s.plan->points; p++) {
        if (!c->probed[p]) continue;
        struct weft_spread s = spread_at(c, p);
        weft__json_begin_object(&j);
        weft__json_key_string(&j, "load", load_of(c, p));
        weft__json_key_real(&j, "mean", s.mean);
        weft__json_key_real(&j, "half", s.half);
        weft__json_end_object(&j);
    }
    weft__json_end_array(&j);
    json_end(&j, "carried", c, c->below);
    json_end(&j, "not_carried", c, c->above);
    weft__json_key_real(&j, "capacity", c->crossing.mean);
    weft__json_key_real(&j, "half", c->crossing.half);
    weft__json_key_bool(&j, "monotone", c->falls[0] == WEFT_NONE);
    weft__json_end_object(&j);
    putchar('\n');
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status show_capacity(struct capacity *c, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    if (c->s.o->out) status = weft_sweep_sqlite(c->s.o->out, &c->s.r, ret_error);
    if (c->s.interrupted) sweep_say_interrupted(&c->s);
    if (c->s.interrupted) return WEFT_INTERRUPTED;
    find_interval(c);
    find_fall(c);
    (c->s.o->json ? print_json : print_text)(c);
    return !status && weft_sweep_count(&c->s.r, WEFT_SWEEP_FAILED) ? WEFT_ERROR_SYSTEM : status;
}

static enum weft_status plan_file(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                  struct weft_error *ret_error) {
    struct capacity c = {.s = {.o = o, .lock = -1, .share = {.tasks = 1}}};
    uint32_t jobs;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    sweep_begin(&c.s, o->operand[0]);
    enum weft_status status = read_options(&c, file, ret_error);
    if (status) return status;
    c.probed = weft_arena_alloc(o->arena, c.s.plan->points, sizeof *c.probed);
    status = sweep_prepare(&c.s, false, ret_error);
    const uint32_t ends[2] = {0, c.s.plan->points - 1};
    if (!status) {
        own_points(&c, ends, 2);
        status = sweep_build(&c.s, ret_error); // few of the grid's many loads run
    }
    if (!status) status = search_capacity(&c, jobs, ret_error);
    if (!status) status = show_capacity(&c, ret_error);
    sweep_end(&c.s, status);
    return status;
}

int plan_capacity(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, plan_file);
}
