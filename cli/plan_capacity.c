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
static bool estimate;
static const struct weft_cli_option own[] = {
    {"slowdown", "S", "that is still accepted, such as 2 (of --metric, whatever that is)", &slowdown_text, NULL},
    {"metric", "METRIC", "p50, p95, p99 (default), mean or max of slowdown, or a metric such as victims.slowdown.p99",
     &metric_text, NULL},
    {"load", "PATH=LO..HI", "the parameter and its range; LO..HI:N of N values (default 65), LO..HI:Nlog", &load_text,
     NULL},
    {"seeds", "LIST", "seeds of every load (default 1..5)", &seeds_text, NULL},
    {"estimate", NULL,
     "halve by estimates (weft estimate), then run both ends of what is found in packets, and go on from there", NULL,
     &estimate},
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
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
    .answer = &weft__answer_plan_capacity,
};

enum { GRID = 65 };
/// A load that has run.
struct probe {
    const char *load;
    struct weft_spread spread;
    const char *verdict, *interval; ///< interval: "estimate, 90%: 1.2 to 1.4"; of a run: nothing
    struct weft_sweep_interval of;  ///< NAN: of a run, or not calibrated
};

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
    // For the answer:
    const char *plan, *parameter, *carried, *not_carried; ///< the loads of the bracket; NULL: none
    uint32_t seeds;
    bool monotone;
    struct probe *probe; ///< [probes] in the order of loads
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
            return WEFT_REFUSE(ret_error, place,
                               "%s%s names no group, and there are several; expected one, as in %s.slowdown.%s",
                               metric_text ? "" : "the default, ", text,
                               sim->workload->groups ? sim->workload->group[0] : "NAME", text);
        text = weft_arena_format(s->o->arena, "%s.slowdown.%s", sim->workload->group[0], text);
    }
    if (!weft_sweep_metric_parse(text, place, false, s->r.column, s->r.columns, s->o->arena, &c->metric))
        return WEFT_REFUSE(ret_error, place,
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
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = scenario->path},
                           "workload: %s of kind poisson; expected one, or --load PATH=LO..HI",
                           weft__counted(n, "entry").text);
    *ret = weft_arena_format(c->s.o->arena, "workload.%u.load=0.05..0.95:%d", found, GRID);
    return WEFT_OK;
}

static enum weft_status read_options(struct capacity *c, const struct weft_scenario_file *file,
                                     struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_sweep_options options = {.varied = 1};
    const struct weft_cli_options *o = c->s.o;
    uint64_t *seed = NULL;
    char *end = NULL;
    if (slowdown_text) c->limit = strtod(slowdown_text, &end);
    if (!slowdown_text || end == slowdown_text || *end || !(c->limit > 0) || isinf(c->limit))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--slowdown: %s%s%sexpected a number above 0, such as 2",
                           slowdown_text ? "'" : "", slowdown_text ? slowdown_text : "is missing; ",
                           slowdown_text ? "' is not understood; " : "");
    if (!weft_cli_seeds_parse(seeds_text ? seeds_text : "1..5", o->arena, &seed, &options.seeds))
        return WEFT_ERROR_INPUT;
    options.seed = seed;
    enum weft_status status = weft_cli_variant(o, file, &c->variant, ret_error);
    if (!status) status = weft_cli_simulation_init(&sim, file, c->variant, ret_error);
    if (!status) status = read_metric(c, &sim, ret_error);
    const char *load = load_text;
    if (!status && !load) status = find_load(c, &sim, &load, ret_error);
    if (status) return status;
    const char *dots = strstr(load, "..");
    if (dots && !strchr(dots, ':')) load = weft_arena_format(o->arena, "%s:%d", load, GRID);
    options.variant = c->variant;
    options.vary = &load;
    status = weft_sweep_new(file, &options, o->arena, &c->s.plan, ret_error);
    double number;
    if (!status && (c->s.plan->axes != 1 || c->s.plan->points < 3 || !read_load(c, load_of(c, 0), &number)))
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "--load: expected PATH=LO..HI of numbers or quantities, and no sweep in the scenario");
    if (!status && !(number_at(c, 0) < number_at(c, c->s.plan->points - 1)))
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--load: expected LO below HI");
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

static enum weft_status run_probes(struct capacity *c, const uint32_t *point, uint32_t n, uint32_t jobs,
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

static enum weft_status search_bracket(struct capacity *c, uint32_t jobs, struct weft_error *ret_error) {
    uint32_t last = c->s.plan->points - 1;
    uint32_t first[5] = {0, last / 4, last / 2, last * 3 / 4, last}, n = 0;
    for (uint32_t i = 0; i < 5; i++)
        if (!i || first[i] != first[n - 1]) first[n++] = first[i];
    enum weft_status status = run_probes(c, first, n, jobs, ret_error);
    find_bracket(c);
    while (!status && !c->s.interrupted && c->below != WEFT_NONE && c->above != WEFT_NONE && c->above - c->below > 1) {
        uint32_t middle = c->below + (c->above - c->below) / 2;
        status = run_probes(c, &middle, 1, jobs, ret_error);
        find_bracket(c);
    }
    return status;
}

/// What an estimate found is run in packets: both ends, and where those contradict it, whatever halving needs.
static enum weft_status confirm_bracket(struct capacity *c, uint32_t jobs, struct weft_error *ret_error) {
    struct sweep *s = &c->s;
    enum weft_status status = WEFT_OK;
    while (!status && !s->interrupted) {
        const uint32_t end[2] = {c->below, c->above};
        uint32_t point[2], n = 0;
        for (uint32_t i = 0; i < 2; i++)
            if (end[i] != WEFT_NONE && s->fluid[end[i]]) point[n++] = end[i];
        if (!n && (end[0] == WEFT_NONE || end[1] == WEFT_NONE || end[1] - end[0] < 2)) return WEFT_OK;
        if (!n) point[n++] = end[0] + (end[1] - end[0]) / 2;
        for (uint32_t i = 0; i < n; i++)
            s->fluid[point[i]] = false;
        status = sweep_prepare(s, false, ret_error);
        own_points(c, point, n);
        if (!status) status = sweep_build(s, ret_error);
        if (!status) status = run_probes(c, point, n, jobs, ret_error);
        find_bracket(c);
    }
    return status;
}

/// Whether its values are those of packets.
static bool has_run(const struct capacity *c, uint32_t point) {
    return c->probed[point] && !(c->s.fluid && c->s.fluid[point]);
}

/// For one seed: between the last load that it carries and the first that it does not, interpolated.
static double crossing_of(struct capacity *c, uint32_t seed) {
    double last = NAN, at = NAN;
    for (uint32_t p = 0; p < c->s.plan->points; p++) {
        if (!has_run(c, p)) continue;
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
        if (!has_run(c, p)) continue;
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

static void list_probes(struct capacity *c) {
    uint32_t n = 0;
    c->probe = weft_arena_alloc(c->s.o->arena, c->probes, sizeof *c->probe);
    for (uint32_t p = 0; p < c->s.plan->points; p++) {
        struct weft_spread s = spread_at(c, p);
        if (!c->probed[p]) continue;
        struct weft_sweep_interval of = {.low = NAN, .high = NAN};
        if (!has_run(c, p)) of = weft_sweep_interval_of(&c->s.r, p, &c->metric);
        const char *verdict = !s.n ? "not measured" : s.mean <= c->limit ? "" : "too slow";
        const char *interval = has_run(c, p) ? ""
                               : isnan(of.low)
                                   ? "estimate, not calibrated"
                                   : weft_arena_format(c->s.o->arena, "estimate, 90%%: %.4g to %.4g", of.low, of.high);
        c->probe[n++] = (struct probe){load_of(c, p), s, verdict, interval, of};
    }
    c->plan = "capacity";
    c->parameter = c->s.plan->axis[0].path;
    c->seeds = c->s.plan->seeds;
    c->carried = c->below == WEFT_NONE ? NULL : load_of(c, c->below);
    c->not_carried = c->above == WEFT_NONE ? NULL : load_of(c, c->above);
    c->monotone = c->falls[0] == WEFT_NONE;
}

#define CAPACITY(field, key, kind, ...) WEFT_RESULT_NAMED(struct capacity, field, key, kind, __VA_ARGS__)
#define PROBE(field, key, kind, ...) WEFT_RESULT_NAMED(struct probe, field, key, kind, __VA_ARGS__)
static const struct weft_result_table capacity_table = WEFT_RESULT_TABLE_OF(
    "capacity", OBJECT, "the greatest load that a network carries", WEFT_RESULT_SUBJECT,
    CAPACITY(plan, "plan", TEXT, "the calculator"), CAPACITY(metric.name, "metric", TEXT, "the metric that is limited"),
    CAPACITY(limit, "limit", REAL, "greatest value of the metric that is accepted"),
    CAPACITY(parameter, "parameter", TEXT, "path of the parameter that is the load"),
    CAPACITY(seeds, "seeds", COUNT, "seeds of each load"),
    CAPACITY(s.interrupted, "interrupted", BOOL, "whether the user has ended the search early"),
    CAPACITY(carried, "carried", TEXT, "greatest load that is carried, below the first that is not"),
    CAPACITY(not_carried, "not_carried", TEXT, "lowest load that the network does not carry"),
    CAPACITY(crossing.mean, "capacity", REAL, "load at which the metric reaches the limit, mean over seeds"),
    CAPACITY(crossing.half, "half", REAL, "half the width of the 95% interval of the capacity"),
    CAPACITY(monotone, "monotone", BOOL, "whether the metric grows with the load, as far as the runs tell"));
static const struct weft_result_table probes_table = WEFT_RESULT_TABLE_OF(
    "probes", LIST, "a load that has run", WEFT_RESULT_EACH(struct capacity, probe, probes),
    PROBE(load, "load", TEXT, "the load", .flags = WEFT_RESULT_KEY, .title = "load"),
    PROBE(spread.mean, "mean", REAL, "mean of the metric over seeds", .title = "mean"),
    PROBE(spread.half, "half", REAL, "half the width of the 95% interval of the mean", .title = "+/-"),
    PROBE(verdict, "verdict", TEXT, "too slow, not measured, or nothing: the load is carried", .title = ""),
    PROBE(interval, "note", TEXT, "90% interval of an estimate in words; empty for a run", .title = ""),
    PROBE(of.low, "estimate.low", REAL, "lower end of that interval; none: a run, or not calibrated",
          .flags = WEFT_RESULT_SPARSE),
    PROBE(of.high, "estimate.high", REAL, "upper end of that interval; none: a run, or not calibrated",
          .flags = WEFT_RESULT_SPARSE));
const struct weft_answer weft__answer_plan_capacity = WEFT_ANSWER_OF(
    "plan_capacity", "weft plan capacity: the greatest load that a network carries", &capacity_table, &probes_table);

static void print_text(FILE *file, const void *subject) {
    const struct capacity *c = subject;
    printf("%s: greatest %s with %s at most %g, %s\n\n", c->s.r.name, c->parameter, c->metric.name, c->limit,
           weft__counted(c->seeds, "seed").text);
    weft_answer_text_table(file, &weft__answer_plan_capacity, &probes_table, c);
    putchar('\n');
    if (!c->carried)
        printf("no load of the range is carried: less than %s\n", c->not_carried);
    else if (!c->not_carried)
        printf("all of the range is carried: %s or more\n", c->carried);
    else
        printf("between %s and %s: %s +/- %s over %s\n", c->carried, c->not_carried, load_text_of(c, c->crossing.mean),
               load_text_of(c, c->crossing.half), weft__counted(c->crossing.n, "seed").text);
    if (!c->monotone)
        printf("not monotone: at %s it is %.4g, at the higher %s %.4g%s\n", load_of(c, c->falls[0]),
               spread_at(c, c->falls[0]).mean, load_of(c, c->falls[1]), spread_at(c, c->falls[1]).mean,
               c->carried && c->not_carried ? "; the first crossing is shown" : "");
    else
        puts("monotone, as far as these loads and seeds can tell");
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status show_capacity(struct capacity *c, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    if (c->s.o->out)
        status = weft_sweep_sqlite(c->s.o->out, &(struct weft_sweep_shown){&c->s.r, NULL, c->s.interrupted}, ret_error);
    if (c->s.interrupted) sweep_say_interrupted(&c->s);
    if (c->s.interrupted) return WEFT_INTERRUPTED;
    find_interval(c);
    find_fall(c);
    list_probes(c);
    if (!status) status = weft_cli_answer(c->s.o, &weft__answer_plan_capacity, c, print_text, ret_error);
    return !status && weft_sweep_count(&c->s.r, WEFT_SWEEP_FAILED) ? WEFT_ERROR_SYSTEM : status;
}

static enum weft_status find_capacity(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      struct weft_error *ret_error) {
    struct capacity c = {.s = {.o = o, .lock = -1, .share = {.tasks = 1}}};
    uint32_t jobs;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    sweep_begin(&c.s, o->operand[0]);
    WEFT_TRY(read_options(&c, file, ret_error));
    c.probed = weft_arena_alloc(o->arena, c.s.plan->points, sizeof *c.probed);
    c.s.falls_back = true;
    if (estimate) sweep_estimate(&c.s);
    enum weft_status status = sweep_prepare(&c.s, false, ret_error);
    const uint32_t ends[2] = {0, c.s.plan->points - 1};
    if (!status) {
        own_points(&c, ends, 2);
        status = sweep_build(&c.s, ret_error); // few of the grid's many loads run
    }
    if (!status) status = search_bracket(&c, jobs, ret_error);
    if (!status && estimate) status = confirm_bracket(&c, jobs, ret_error);
    if (!status) status = show_capacity(&c, ret_error);
    sweep_end(&c.s, status);
    return status;
}

int plan_capacity(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, find_capacity);
}
