// SPDX-License-Identifier: Apache-2.0
// weft tune: successive halving. All points run with a few seeds, the better half of them with twice as many, and so on
// until a few points have all seeds. Every point has the same seeds, so that points differ by their parameters and not
// by chance. K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// AISTATS 2016. Runs are those of a sweep, in its files: --out DIR is a sweep's folder, and the same command continues
// there.
// With --estimate all points are estimated first, and only those that estimates do not tell from the best run.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "processes.h"
#include "sweep.h"
#include "weft/result.h"

#include "base/clock.h"
#include "base/units.h"

extern const struct weft_answer weft__answer_tune;
static const char *objective_text, *seeds_text, *jobs_text, *budget_text;
static bool estimate;
static struct weft_cli_values over;
static const struct weft_cli_option own[] = {
    {"over", "PATH=VALUES", "a parameter and its values: [a,b,c], A..B:N, A..B:Nlog; may be repeated", NULL, NULL},
    {"objective", "METRIC[:max]",
     "figure to minimise: a metric such as victims.fct.p99; with one group of flows p50, p95, p99, mean or max of its "
     "completion; with one job iteration",
     &objective_text, NULL},
    {"seeds", "LIST", "seeds (default 1..8); only the points of the last rung run with all of them", &seeds_text, NULL},
    {"budget", "N|TIME", "at most N runs, with fewer seeds; or no new rung that would end after this time",
     &budget_text, NULL},
    {"estimate", NULL,
     "estimate all points, then search in packets only among those whose 90% intervals do not tell them from the best, "
     "at least three",
     NULL, &estimate},
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {0}};

static const struct weft_cli_command command = {
    .name = "tune",
    .operands = "SCENARIO",
    .about =
        "Searches for the best values of parameters by successive halving: all points with a few seeds, the better\n"
        "half with twice as many, and so on, with the same seeds for all points. It shows every point with its\n"
        "mean, its 95% interval and the rung where it was dropped, the best point, and those that are as good\n"
        "within noise. With --out DIR runs stay there, and the same command continues where it stopped. Points of\n"
        "`sweep:` in the scenario and its variants take part.\n"
        "Exit status: 0 done, 1 system error or runs failed, 2 bad input (nothing was run), 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_QUIET,
    .answer = &weft__answer_tune,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
    .repeated = "over",
    .ret_repeated = &over,
};

enum { RUNGS_MAX = 32 };
struct tune {
    struct sweep s;
    struct weft_sweep_metric metric;
    uint32_t rungs;
    struct rung {
        uint32_t points, seeds; ///< seeds: in total, for each of its points
        bool estimated;
    } rung_of[RUNGS_MAX];
    uint32_t done;                          ///< rungs that have run
    uint32_t *rung;                         ///< [points]: the last rung that it reached
    uint32_t *order;                        ///< [points]: sorted, the best of the last rung first, then those of the
                                            ///< one before
    uint32_t budget;                        ///< runs; 0: no limit
    double seconds;                         ///< 0: no limit
    bool stopped;                           ///< by time
    uint32_t *like, likes, *early, earlies; ///< like: indistinguishable from the best with all seeds; early: dropped
                                            ///< before that could be known
    // For the answer:
    struct tuned *point; ///< [points], in their order
    uint32_t tuned, best;
    const char *command;
};
/// A point of the search.
struct tuned {
    uint32_t point;
    const char *variant;
    const struct weft_sweep_axis *axis;
    const struct weft_sweep_value *value;
    uint32_t values;
    struct weft_spread spread;
    uint32_t rung;
    bool left, estimated;
    struct weft_sweep_interval interval; ///< of an estimated point
};

// --- options ------------------------------------------------------------------------------------------------------

static enum weft_status read_objective(struct tune *t, const struct weft_scenario_file *file,
                                       struct weft_error *ret_error) {
    struct sweep *s = &t->s;
    const char *text = objective_text;
    struct weft_place place = {.file = "--objective"};
    if (!text)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--objective is missing: expected the figure to minimise, such as victims.fct.mean, or "
                           "p99 of the only group");
    WEFT_TRY(sweep_metric_in_full("--objective", s->o, file, &text, ret_error));
    if (!weft_sweep_metric_parse(text, place, true, s->r.column, s->r.columns, s->o->arena, &t->metric))
        return WEFT_REFUSE(ret_error, place,
                           "\"%.200s\": expected a metric of a run, such as p99, victims.fct.mean or counters.cnp",
                           text);
    s->r.metric = s->metric = &t->metric;
    s->r.metrics = s->r.shown = 1;
    s->best = &t->metric;
    return WEFT_OK;
}

static enum weft_status make_plan(struct tune *t, const struct weft_scenario_file *file, struct weft_error *ret_error) {
    struct sweep *s = &t->s;
    uint64_t *seed = NULL;
    struct weft_sweep_options options = {
        .option = "--over", .vary = over.value, .varied = over.n, .variant = WEFT_NONE};
    if (seeds_text && !weft_cli_seeds_parse(seeds_text, s->o->arena, &seed, &options.seeds)) return WEFT_ERROR_INPUT;
    options.seed = seed;
    enum weft_status status = WEFT_OK;
    if (s->o->variant) status = weft_cli_variant(s->o, file, &options.variant, ret_error);
    if (!status) status = weft_sweep_new(file, &options, s->o->arena, &s->plan, ret_error);
    if (!status && !s->plan->seed && !weft_scenario_setting(file, "run.seed")) { // the scenario's own seed is not
                                                                                 // enough
        weft_seeds_parse("1..8", s->o->arena, &seed, &options.seeds);
        options.seed = seed;
        status = weft_sweep_new(file, &options, s->o->arena, &s->plan, ret_error);
    }
    if (!status && s->plan->points < 2)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "there is one point; expected --over PATH=VALUES with two values at least");
    return status;
}

/// Lays out the rungs for so many points, after the one of estimates; the last has `seeds` seeds. Returns how many runs
/// they take. A rung has at least two seeds, because a mean of one has no interval.
static uint32_t lay_rungs(struct tune *t, uint32_t points, uint32_t seeds) {
    uint32_t halvings = 0, runs = 0, before = 0;
    for (uint32_t p = points; p > 2 && halvings < 30; p = (p + 1) / 2)
        halvings++;
    uint32_t n = seeds >> halvings, least = seeds < 2 ? seeds : 2;
    if (n < least) n = least;
    for (t->rungs = t->done;; n = 2 * n < seeds ? 2 * n : seeds) {
        t->rung_of[t->rungs++] = (struct rung){.points = points, .seeds = n};
        runs += points * (n - before);
        before = n;
        if (n == seeds) return runs;
        if (points > 2) points = (points + 1) / 2;
    }
}

static enum weft_status plan_rungs(struct tune *t, uint32_t points, struct weft_error *ret_error) {
    uint32_t seeds = t->s.plan->seeds, runs = lay_rungs(t, points, seeds);
    while (t->budget && runs > t->budget && seeds > 1)
        runs = lay_rungs(t, points, --seeds);
    if (t->budget && runs > t->budget)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--budget %u: %s take %s with one seed each; expected so many at least", t->budget,
                           weft__counted(points, "point").text, weft__counted(runs, "run").text);
    return WEFT_OK;
}

// --- the search ---------------------------------------------------------------------------------------------------

/// Over the seeds that it has; NAN if one of them gave no value.
static double mean_of(const struct tune *t, uint32_t point) {
    const struct weft_sweep_results *r = &t->s.r;
    double sum = 0;
    uint32_t n = t->rung_of[t->rung[point]].seeds;
    for (uint32_t k = 0; k < n; k++)
        sum += weft_sweep_run_value(&r->run[(size_t)point * r->sweep->seeds + k], &t->metric);
    return t->metric.max ? -sum / n : sum / n;
}

static const struct tune *sorted; // for by_rank, because qsort passes no context

/// Later rungs first, then better points; points without a value last.
static int by_rank(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sorted->rung[x] != sorted->rung[y]) return sorted->rung[x] > sorted->rung[y] ? -1 : 1;
    double p = mean_of(sorted, x), q = mean_of(sorted, y);
    if (isnan(p) != isnan(q)) return isnan(p) ? 1 : -1;
    if (p < q || p > q) return p < q ? -1 : 1;
    return (x > y) - (x < y);
}

static void sort_points(struct tune *t) {
    sorted = t;
    qsort(t->order, t->s.plan->points, sizeof *t->order, by_rank);
}

static void list_runs(struct tune *t, uint32_t rung) {
    struct sweep *s = &t->s;
    s->owned = 0;
    for (uint32_t i = 0; i < t->rung_of[rung].points; i++)
        sweep_own(s, t->order[i], t->rung_of[rung].seeds);
}

/// How many points, from the best of the estimates on, are to run in packets: those that may be equal to it. They no
/// longer count as estimated.
static uint32_t take_undecided(struct tune *t) {
    enum { LEAST = 3 };
    struct sweep *s = &t->s;
    uint32_t n = 0, points = s->plan->points;
    const struct weft_sweep_interval first = weft_sweep_interval_of(&s->r, t->order[0], &t->metric);
    double least = fabs(mean_of(t, t->order[0]));
    for (uint32_t i = 0; i < points; i++) {
        uint32_t p = t->order[i];
        const struct weft_sweep_interval other = weft_sweep_interval_of(&s->r, p, &t->metric);
        if (n >= LEAST && !weft_sweep_may_be_equal(&first, least, &other, fabs(mean_of(t, p)))) continue;
        t->order[i] = t->order[n]; // the better ones stay first
        t->order[n++] = p;
        s->fluid[p] = false;
    }
    return n;
}

/// The rung of estimates; then the others are laid out for what it leaves undecided.
static enum weft_status climb_estimates(struct tune *t, uint32_t jobs, struct weft_error *ret_error) {
    struct sweep *s = &t->s;
    t->rung_of[0] = (struct rung){.points = s->plan->points, .seeds = s->plan->seeds, .estimated = true};
    list_runs(t, 0);
    enum weft_status status = sweep_run(s, jobs, ret_error);
    if (status || s->interrupted) return status;
    t->done = 1;
    sort_points(t);
    uint32_t points = take_undecided(t);
    status = plan_rungs(t, points, ret_error);
    return status ? status : sweep_prepare(s, true, ret_error);
}

static enum weft_status climb_rungs(struct tune *t, uint32_t jobs, struct weft_error *ret_error) {
    struct sweep *s = &t->s;
    double start = weft__clock_s(CLOCK_MONOTONIC), ran = 0, took = 0;
    for (uint32_t rung = t->done; rung < t->rungs && !s->interrupted; rung++) {
        uint32_t due = 0;
        list_runs(t, rung);
        for (uint32_t i = 0; i < s->owned; i++)
            due += sweep_is_due(s, s->own[i]);
        double expected = ran > 0 ? took / ran * due : 0;
        t->stopped =
            t->seconds > 0 && rung > estimate && due && weft__clock_s(CLOCK_MONOTONIC) - start + expected > t->seconds;
        if (t->stopped) break;
        double began = weft__clock_s(CLOCK_MONOTONIC);
        WEFT_TRY(sweep_run(s, jobs, ret_error));
        if (s->interrupted) break;
        took += weft__clock_s(CLOCK_MONOTONIC) - began;
        ran += due;
        for (uint32_t i = 0; i < t->rung_of[rung].points; i++)
            t->rung[t->order[i]] = rung;
        t->done = rung + 1;
        sort_points(t);
    }
    return WEFT_OK;
}

/// Compares every point with the best, over the seeds that both have.
static void compare_points(struct tune *t) {
    struct weft_arena *arena = t->s.o->arena;
    uint32_t points = t->s.plan->points, best = t->order[0];
    t->like = weft_arena_alloc(arena, points, sizeof *t->like);
    t->early = weft_arena_alloc(arena, points, sizeof *t->early);
    const double *least = weft_sweep_metric_values(&t->s.r, best, &t->metric, arena);
    for (uint32_t i = 1; i < points; i++) {
        uint32_t p = t->order[i], seeds = t->rung_of[t->rung[p]].seeds;
        struct weft_spread difference;
        const double *value = weft_sweep_metric_values(&t->s.r, p, &t->metric, arena);
        if (t->rung_of[t->rung[p]].estimated) {
            const struct weft_sweep_interval first = weft_sweep_interval_of(&t->s.r, best, &t->metric),
                                             other = weft_sweep_interval_of(&t->s.r, p, &t->metric);
            if (weft_sweep_may_be_equal(&first, fabs(mean_of(t, best)), &other, fabs(mean_of(t, p))))
                t->early[t->earlies++] = p;
            continue;
        }
        if (isnan(mean_of(t, p)) || seeds < 2) continue;
        if (weft_difference_of(least, value, seeds, points - 1, &difference, arena) != WEFT_DIFFERENCE_NOISE) continue;
        if (t->rung[p] + 1 == t->done)
            t->like[t->likes++] = p;
        else
            t->early[t->earlies++] = p;
    }
}

// --- output -------------------------------------------------------------------------------------------------------

static const char *variant_of(const struct tune *t, uint32_t point) {
    return weft_scenario_variant_name(t->s.plan->file, t->s.plan->point[point].variant);
}

static bool is_time(const struct tune *t) {
    const char *name = t->metric.name;
    return strstr(name, "fct") || strstr(name, "_ps");
}

static const char *value_text(const struct tune *t, double value) {
    char text[64];
    if (isnan(value)) return "-";
    if (is_time(t) && value >= 0)
        weft_format_time((weft_time_ps)value, text, sizeof text);
    else
        snprintf(text, sizeof text, "%.6g", value);
    return weft_arena_text(t->s.o->arena, text);
}

static struct weft_spread spread_of(const struct tune *t, uint32_t point) {
    struct weft_arena *arena = t->s.o->arena;
    return weft_spread_of(weft_sweep_metric_values(&t->s.r, point, &t->metric, arena), t->rung_of[t->rung[point]].seeds,
                          arena);
}

static void print_list(const char *what, const uint32_t *point, uint32_t n) {
    if (!n) return;
    printf("  %s: point%s", what, n > 1 ? "s" : "");
    for (uint32_t i = 0; i < n; i++)
        printf("%s %u", i ? "," : "", point[i]);
    putchar('\n');
}

static void print_rungs(const struct tune *t) {
    uint32_t runs = 0;
    for (uint32_t r = 0; r < t->done; r++) {
        bool continues = r && !t->rung_of[r - 1].estimated;
        if (!t->rung_of[r].estimated)
            runs += t->rung_of[r].points * (t->rung_of[r].seeds - (continues ? t->rung_of[r - 1].seeds : 0));
        printf("rung %u: %s with %u seed%s%s\n", r, weft__counted(t->rung_of[r].points, "point").text,
               t->rung_of[r].seeds, t->rung_of[r].seeds > 1 ? "s" : "", t->rung_of[r].estimated ? ", estimated" : "");
    }
    printf("%s of the %u of all points with %s%s\n\n", weft__counted(runs, "run").text,
           t->s.plan->points * t->rung_of[t->rungs - 1].seeds,
           weft__counted(t->rung_of[t->rungs - 1].seeds, "seed").text,
           t->stopped ? "; the next rung would end after the budget" : "");
}

static int width_of(const struct tune *t, uint32_t axis) {
    size_t width = strlen(t->s.plan->axis[axis].path);
    for (uint32_t p = 0; p < t->s.plan->points; p++) {
        size_t n = strlen(t->s.plan->point[p].value[axis].text);
        if (n > width) width = n;
    }
    return (int)width;
}

static void print_text(FILE *file, const void *subject) {
    const struct tune *t = subject;
    const struct weft_sweep *plan = t->s.plan;
    bool variants = *t->point[0].variant;
    printf("%s: %s, the %s is best\n", t->s.r.name, t->metric.name, t->metric.max ? "greatest" : "least");
    print_rungs(t);
    printf("point");
    if (variants) printf("  %-12s", "variant");
    for (uint32_t a = 0; a < plan->axes; a++)
        printf("  %-*s", width_of(t, a), plan->axis[a].path);
    printf("  %12s %12s %6s  left%s\n", "mean", "+/-", "seeds", estimate ? "    estimate, 90%" : "");
    for (const struct tuned *p = t->point; p < t->point + t->tuned; p++) {
        printf("%5u", p->point);
        if (variants) printf("  %-12s", p->variant);
        for (uint32_t a = 0; a < plan->axes; a++)
            printf("  %-*s", width_of(t, a), p->value[a].text);
        printf("  %12s %12s %6u", value_text(t, p->spread.mean), value_text(t, p->spread.half), p->spread.n);
        printf(p->left ? "  rung %u" : "  -     ", p->rung);
        if (p->estimated)
            printf("  %s", isnan(p->interval.low)
                               ? "not calibrated"
                               : weft_arena_format(t->s.o->arena, "%s to %s", value_text(t, p->interval.low),
                                                   value_text(t, p->interval.high)));
        putchar('\n');
    }
    if (isnan(t->point[0].spread.mean)) {
        puts("\nbest: no point has a value");
        return;
    }
    printf("\nbest: point %u, %s\n  %s\n", t->best, value_text(t, t->point[0].spread.mean), t->command);
    if (t->rung_of[t->done - 1].seeds < 2 && !t->rung_of[t->done - 1].estimated)
        puts("  one seed: nothing is known of noise");
    print_list("cannot be told from it, with all seeds that were run", t->like, t->likes);
    print_list("left early, and cannot be told from it with the seeds that they had", t->early, t->earlies);
}

// --- tables -------------------------------------------------------------------------------------------------------

static void complete_answer(struct tune *t) {
    const struct weft_sweep *plan = t->s.plan;
    t->tuned = plan->points;
    t->point = weft_arena_alloc(t->s.o->arena, plan->points, sizeof *t->point);
    for (uint32_t i = 0; i < plan->points; i++) {
        uint32_t p = t->order[i];
        t->point[i] = (struct tuned){.point = p,
                                     .variant = variant_of(t, p),
                                     .axis = plan->axis,
                                     .value = plan->point[p].value,
                                     .values = plan->axes,
                                     .spread = spread_of(t, p),
                                     .rung = t->rung[p],
                                     .left = t->rung[p] + 1 < t->done,
                                     .estimated = t->rung_of[t->rung[p]].estimated,
                                     .interval = {.low = NAN, .high = NAN}};
        if (t->point[i].estimated) t->point[i].interval = weft_sweep_interval_of(&t->s.r, p, &t->metric);
    }
    t->best = t->order[0];
    t->command = weft_sweep_command(&t->s.r, t->best, t->s.o->arena);
}

static struct weft_result_value axis_path(struct weft_result_cursor *c) {
    const struct tuned *p = c->above->part[0];
    return (struct weft_result_value){.known = true, .text = p->axis[c->at - 1].path};
}

#define TUNE(field, key, kind, ...) WEFT_RESULT_NAMED(struct tune, field, key, kind, __VA_ARGS__)
#define POINT(field, key, kind, ...) WEFT_RESULT_NAMED(struct tuned, field, key, kind, __VA_ARGS__)
static const struct weft_result_column alike_columns[] = {
    WEFT_RESULT_INDEX("number", "place in the list, from 0"),
    WEFT_RESULT_ITEM(uint32_t, "point", COUNT, "number of the point", .references = "points"),
};
static const struct weft_result_table tune_table =
    WEFT_RESULT_TABLE_OF("tune", OBJECT, "the search for the best point", WEFT_RESULT_SUBJECT,
                         TUNE(metric.name, "objective", TEXT, "the metric that is optimised"),
                         TUNE(metric.max, "max", BOOL, "whether the metric's greatest value is the best"),
                         TUNE(s.interrupted, "interrupted", BOOL, "whether the user has ended the search"),
                         TUNE(stopped, "stopped_by_budget", BOOL, "whether the time of --budget has ended the search"),
                         TUNE(best, "best", COUNT, "number of the best point"),
                         TUNE(command, "command", TEXT, "command that runs the best point"));
static const struct weft_result_table rungs_table =
    WEFT_RESULT_TABLE_OF("rungs", LIST, "a round of runs, each with fewer points and more seeds",
                         WEFT_RESULT_FIRST(struct tune, rung_of[0], done),
                         WEFT_RESULT_CALL(weft_result_index, "rung", COUNT, "number of the rung, from 0",
                                          .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),
                         WEFT_RESULT(struct rung, points, COUNT, "points that ran"),
                         WEFT_RESULT(struct rung, seeds, COUNT, "seeds of each point"),
                         WEFT_RESULT(struct rung, estimated, BOOL, "whether the points were estimated, not run"));
static const struct weft_result_table points_table = WEFT_RESULT_TABLE_OF(
    "points", LIST, "a point, the best first", WEFT_RESULT_EACH(struct tune, point, tuned),
    POINT(point, "point", COUNT, "number of the point", .flags = WEFT_RESULT_KEY),
    POINT(variant, "variant", TEXT, "name of its variant"), POINT(spread.n, "seeds", COUNT, "seeds with a value"),
    POINT(spread.mean, "mean", REAL, "mean of the objective over seeds"),
    POINT(spread.median, "median", REAL, "median of the objective over seeds"),
    POINT(spread.half, "half", REAL, "half the width of the 95% interval of the mean"),
    POINT(rung, "rung", COUNT, "last rung that the point reached"),
    POINT(left, "left", BOOL, "whether the point was dropped before the last rung"),
    POINT(estimated, "estimated", BOOL, "whether the figures are of estimates, and the point has not run"),
    POINT(interval.low, "estimate.low", REAL, "lower end of the 90% interval of the estimate; none: not calibrated",
          .flags = WEFT_RESULT_SPARSE),
    POINT(interval.high, "estimate.high", REAL, "upper end of the 90% interval of the estimate; none: not calibrated",
          .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table values_table = WEFT_RESULT_TABLE_OF(
    "points.values", NUMBERS, "a parameter of a point", WEFT_RESULT_EACH(struct tuned, value, values),
    WEFT_RESULT_OF(struct tuned, point, COUNT, "number of the point"),
    WEFT_RESULT_CALL(axis_path, "path", TEXT, "path of the parameter", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct weft_sweep_value, text, TEXT, "value of the parameter"));
static const struct weft_result_table like_table =
    WEFT_RESULT_TABLE("not_told_apart", ARRAY, "a point that cannot be told from the best, with all seeds that ran",
                      alike_columns, WEFT_RESULT_EACH(struct tune, like, likes));
static const struct weft_result_table early_table =
    WEFT_RESULT_TABLE("left_early_not_told_apart", ARRAY,
                      "a point that was dropped early and cannot be told from the best with the seeds that it had",
                      alike_columns, WEFT_RESULT_EACH(struct tune, early, earlies));
const struct weft_answer weft__answer_tune =
    WEFT_ANSWER_OF("tune", "weft tune: the best values of parameters", &tune_table, &rungs_table, &points_table,
                   &values_table, &like_table, &early_table);

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status show_tune(struct tune *t, struct weft_error *ret_error) {
    const struct weft_cli_options *o = t->s.o;
    enum weft_status status = WEFT_OK;
    if (o->out)
        status = weft_sweep_sqlite(o->out, &(struct weft_sweep_shown){&t->s.r, NULL, t->s.interrupted}, ret_error);
    if (t->s.interrupted) sweep_say_interrupted(&t->s);
    if (!t->done) return t->s.interrupted ? WEFT_INTERRUPTED : status;
    compare_points(t);
    complete_answer(t);
    if (!status) status = weft_cli_answer(o, &weft__answer_tune, t, print_text, ret_error);
    if (t->s.interrupted) return WEFT_INTERRUPTED;
    if (!status && weft_sweep_count(&t->s.r, WEFT_SWEEP_FAILED)) return WEFT_ERROR_SYSTEM;
    return status;
}

static enum weft_status tune_scenario(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      struct weft_error *ret_error) {
    struct tune t = {.s = {.o = o, .lock = -1, .share = {.tasks = 1}}};
    uint32_t jobs;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    sweep_begin(&t.s, o->operand[0]);
    enum weft_status status = make_plan(&t, file, ret_error);
    if (!status) status = weft_cli_budget_parse(budget_text, &t.budget, &t.seconds, ret_error);
    if (!status && !estimate) status = plan_rungs(&t, t.s.plan->points, ret_error);
    if (!status) status = read_objective(&t, file, ret_error);
    if (status) return status;
    uint32_t points = t.s.plan->points;
    t.rung = weft_arena_alloc(o->arena, points, sizeof *t.rung);
    t.order = weft_arena_alloc(o->arena, points, sizeof *t.order);
    for (uint32_t p = 0; p < points; p++)
        t.order[p] = p;
    t.s.falls_back = true;
    if (estimate) sweep_estimate(&t.s);
    status = sweep_prepare(&t.s, true, ret_error);
    if (!status && estimate) status = climb_estimates(&t, jobs, ret_error);
    if (!status) status = climb_rungs(&t, jobs, ret_error);
    if (!status) status = show_tune(&t, ret_error);
    sweep_end(&t.s, status);
    return status;
}

int weft_cli_tune(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, tune_scenario);
}
