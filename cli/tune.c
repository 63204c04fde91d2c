// SPDX-License-Identifier: Apache-2.0
// weft tune: successive halving. All points run with a few seeds, the better half of them with twice as many, and so on
// until a few points have all seeds. Every point has the same seeds, so that points differ by their parameters and not
// by chance. K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// AISTATS 2016. Runs are those of a sweep, in its files: --out DIR is a sweep's folder, and the same command continues
// there.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "processes.h"
#include "sweep.h"
#include "terminal.h"

#include "base/csv.h"
#include "base/units.h"

static const char *objective_text, *seeds_text, *jobs_text, *budget_text;
static bool csv;
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
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {"csv", NULL, "comma-separated values on standard output: one line per point", NULL, &csv},
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
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON |
              WEFT_CLI_QUIET,
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
    uint32_t rungs, seeds[RUNGS_MAX], points[RUNGS_MAX]; ///< per rung; seeds: in total, for each of its points
    uint32_t done;                                       ///< rungs that have run
    uint32_t *rung;                                      ///< [points]: the last rung that it reached
    uint32_t *order;                        ///< [points]: sorted, the best of the last rung first, then those of the
                                            ///< one before
    uint32_t budget;                        ///< runs; 0: no limit
    double seconds;                         ///< 0: no limit
    bool stopped;                           ///< by time
    uint32_t *like, likes, *early, earlies; ///< like: indistinguishable from the best with all seeds; early: dropped
                                            ///< before that could be known
};

// --- options ------------------------------------------------------------------------------------------------------

/// "p99" of the only group becomes "all.fct.p99".
static enum weft_status expand_metric(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      const char **text, struct weft_error *ret_error) {
    size_t n = strcspn(*text, ":");
    bool job = n == strlen("iteration") && !strncmp(*text, "iteration", n);
    if (!job && !sweep_is_quantile(*text, n)) return WEFT_OK;
    struct weft_cli_simulation sim = {0};
    enum weft_status status = weft_cli_simulation_init(&sim, file, 0, ret_error);
    if (!status) {
        const struct weft_workload *w = sim.workload;
        const char *names = "";
        uint32_t groups = job ? w->jobs : w->groups;
        for (uint32_t i = 0; i < groups; i++)
            names = weft_arena_format(o->arena, "%s%s%s", names, i ? ", " : "", w->group[job ? w->job[i].group : i]);
        if (groups != 1)
            status =
                weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                               "--objective: names no %s; expected one, as in %s; there is %s", job ? "job" : "group",
                               job ? "jobs.NAME.iteration_ps" : "NAME.fct.p99", *names ? names : "none");
        else if (job)
            *text = weft_arena_format(o->arena, "jobs.%s.iteration_ps%s", names, *text + n);
        else
            *text = weft_arena_format(o->arena, "%s.fct.%s", names, *text);
    }
    weft_cli_simulation_deinit(&sim);
    return status;
}

static enum weft_status read_objective(struct tune *t, const struct weft_scenario_file *file,
                                       struct weft_error *ret_error) {
    struct sweep *s = &t->s;
    const char *text = objective_text;
    struct weft_place place = {.file = "--objective"};
    if (!text)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--objective is missing: expected the figure to minimise, such as victims.fct.mean, or "
                              "p99 of the only group");
    enum weft_status status = expand_metric(s->o, file, &text, ret_error);
    if (status) return status;
    if (!weft_sweep_metric_parse(text, place, true, s->r.column, s->r.columns, s->o->arena, &t->metric))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "\"%.200s\": expected a metric of a run, such as p99, victims.fct.mean or counters.cnp",
                              text);
    s->r.metric = s->metric = &t->metric;
    s->r.metrics = s->r.shown = 1;
    s->best = &t->metric;
    return WEFT_OK;
}

static enum weft_status read_budget(struct tune *t, struct weft_error *ret_error) {
    char why[160], *end;
    uint64_t time;
    if (!budget_text) return WEFT_OK;
    unsigned long runs = strtoul(budget_text, &end, 10);
    if (*budget_text >= '0' && *budget_text <= '9' && !*end && runs && runs <= WEFT_SWEEP_RUNS_MAX) {
        t->budget = (uint32_t)runs;
        return WEFT_OK;
    }
    if (!weft__quantity_parse(WEFT__TIME, budget_text, &time, why, sizeof why) || !time)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--budget: '%s' is not understood; expected a number of runs, or a time such as 600s",
                              budget_text);
    t->seconds = (double)time / (double)WEFT_PS_PER_S;
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
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                                "there is one point; expected --over PATH=VALUES with two values at least");
    return status;
}

/// Lays out the rungs; the last has `seeds` seeds. Returns how many runs they take. A rung has at least two seeds,
/// because a mean of one has no interval.
static uint32_t lay_rungs(struct tune *t, uint32_t seeds) {
    uint32_t points = t->s.plan->points, halvings = 0, runs = 0, before = 0;
    for (uint32_t p = points; p > 2 && halvings < 30; p = (p + 1) / 2)
        halvings++;
    uint32_t n = seeds >> halvings, least = seeds < 2 ? seeds : 2;
    if (n < least) n = least;
    for (t->rungs = 0;; n = 2 * n < seeds ? 2 * n : seeds) {
        t->seeds[t->rungs] = n;
        t->points[t->rungs++] = points;
        runs += points * (n - before);
        before = n;
        if (n == seeds) return runs;
        if (points > 2) points = (points + 1) / 2;
    }
}

static enum weft_status plan_rungs(struct tune *t, struct weft_error *ret_error) {
    uint32_t seeds = t->s.plan->seeds, runs = lay_rungs(t, seeds);
    while (t->budget && runs > t->budget && seeds > 1)
        runs = lay_rungs(t, --seeds);
    if (t->budget && runs > t->budget)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--budget %u: %s take %s with one seed each; expected so many at least", t->budget,
                              weft__counted(t->s.plan->points, "point").text, weft__counted(runs, "run").text);
    return WEFT_OK;
}

// --- the search ---------------------------------------------------------------------------------------------------

/// Over the seeds that it has; NAN if one of them gave no value.
static double mean_of(const struct tune *t, uint32_t point) {
    const struct weft_sweep_results *r = &t->s.r;
    double sum = 0;
    uint32_t n = t->seeds[t->rung[point]];
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

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/// The runs of a rung, without those that share the file of another run.
static void list_runs(struct tune *t, uint32_t rung) {
    struct sweep *s = &t->s;
    s->owned = 0;
    for (uint32_t i = 0; i < t->points[rung]; i++)
        for (uint32_t k = 0; k < t->seeds[rung]; k++) {
            uint32_t run = t->order[i] * s->plan->seeds + k;
            bool again = false;
            for (uint32_t j = 0; j < s->owned && !again && s->plan->points < 2000; j++)
                again = !strcmp(s->record[s->own[j]], s->record[run]);
            if (!again) s->own[s->owned++] = run;
        }
}

static enum weft_status climb_rungs(struct tune *t, uint32_t jobs, struct weft_error *ret_error) {
    struct sweep *s = &t->s;
    double start = now_s(), ran = 0, took = 0;
    for (uint32_t rung = 0; rung < t->rungs; rung++) {
        uint32_t due = 0;
        list_runs(t, rung);
        for (uint32_t i = 0; i < s->owned; i++)
            due += sweep_is_due(s, s->own[i]);
        double expected = ran > 0 ? took / ran * due : 0;
        t->stopped = t->seconds > 0 && rung && due && now_s() - start + expected > t->seconds;
        if (t->stopped) break;
        double began = now_s();
        enum weft_status status = sweep_run(s, jobs, ret_error);
        if (status) return status;
        if (s->interrupted) break;
        took += now_s() - began;
        ran += due;
        for (uint32_t i = 0; i < t->points[rung]; i++)
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
        uint32_t p = t->order[i], seeds = t->seeds[t->rung[p]];
        struct weft_spread difference;
        const double *value = weft_sweep_metric_values(&t->s.r, p, &t->metric, arena);
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
    return weft_spread_of(weft_sweep_metric_values(&t->s.r, point, &t->metric, arena), t->seeds[t->rung[point]], arena);
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
        runs += t->points[r] * (t->seeds[r] - (r ? t->seeds[r - 1] : 0));
        printf("rung %u: %s with %u seed%s\n", r, weft__counted(t->points[r], "point").text, t->seeds[r],
               t->seeds[r] > 1 ? "s" : "");
    }
    printf("%s of the %u of all points with %s%s\n\n", weft__counted(runs, "run").text,
           t->s.plan->points * t->seeds[t->rungs - 1], weft__counted(t->seeds[t->rungs - 1], "seed").text,
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

static void print_text(const struct tune *t) {
    const struct weft_sweep *plan = t->s.plan;
    bool variants = *variant_of(t, 0);
    printf("%s: %s, the %s is best\n", t->s.r.name, t->metric.name, t->metric.max ? "greatest" : "least");
    print_rungs(t);
    printf("point");
    if (variants) printf("  %-12s", "variant");
    for (uint32_t a = 0; a < plan->axes; a++)
        printf("  %-*s", width_of(t, a), plan->axis[a].path);
    printf("  %12s %12s %6s  left\n", "mean", "+/-", "seeds");
    for (uint32_t i = 0; i < plan->points; i++) {
        uint32_t p = t->order[i];
        struct weft_spread s = spread_of(t, p);
        printf("%5u", p);
        if (variants) printf("  %-12s", variant_of(t, p));
        for (uint32_t a = 0; a < plan->axes; a++)
            printf("  %-*s", width_of(t, a), plan->point[p].value[a].text);
        printf("  %12s %12s %6u", value_text(t, s.mean), value_text(t, s.half), s.n);
        if (t->rung[p] + 1 < t->done)
            printf("  rung %u\n", t->rung[p]);
        else
            puts("  -");
    }
    printf("\nbest: point %u, %s\n  %s\n", t->order[0], value_text(t, spread_of(t, t->order[0]).mean),
           weft_sweep_command(&t->s.r, t->order[0], t->s.o->arena));
    if (t->seeds[t->done - 1] < 2) puts("  one seed: nothing is known of noise");
    print_list("cannot be told from it, with all seeds that were run", t->like, t->likes);
    print_list("left early, and cannot be told from it with the seeds that they had", t->early, t->earlies);
}

static void json_list(struct weft__json *j, const char *key, const uint32_t *point, uint32_t n) {
    weft__json_key(j, key);
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < n; i++)
        weft__json_u64(j, point[i]);
    weft__json_end_array(j);
}

static void json_point(struct weft__json *j, const struct tune *t, uint32_t p) {
    const struct weft_sweep *plan = t->s.plan;
    struct weft_spread s = spread_of(t, p);
    weft__json_begin_object(j);
    weft__json_key_u64(j, "point", p);
    weft__json_key_string(j, "variant", variant_of(t, p));
    weft__json_key(j, "values");
    weft__json_begin_object(j);
    for (uint32_t a = 0; a < plan->axes; a++)
        weft__json_key_string(j, plan->axis[a].path, plan->point[p].value[a].text);
    weft__json_end_object(j);
    weft__json_key_u64(j, "seeds", s.n);
    weft__json_key_real(j, "mean", s.mean);
    weft__json_key_real(j, "median", s.median);
    weft__json_key_real(j, "half", s.half);
    weft__json_key_u64(j, "rung", t->rung[p]);
    weft__json_key_bool(j, "left", t->rung[p] + 1 < t->done);
    weft__json_end_object(j);
}

static void print_json(const struct tune *t) {
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "objective", t->metric.name);
    weft__json_key_bool(&j, "max", t->metric.max);
    weft__json_key_bool(&j, "interrupted", t->s.interrupted);
    weft__json_key_bool(&j, "stopped_by_budget", t->stopped);
    weft__json_key(&j, "rungs");
    weft__json_begin_array(&j);
    for (uint32_t r = 0; r < t->done; r++) {
        weft__json_begin_object(&j);
        weft__json_key_u64(&j, "points", t->points[r]);
        weft__json_key_u64(&j, "seeds", t->seeds[r]);
        weft__json_end_object(&j);
    }
    weft__json_end_array(&j);
    weft__json_key(&j, "points");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < t->s.plan->points; i++)
        json_point(&j, t, t->order[i]);
    weft__json_end_array(&j);
    weft__json_key_u64(&j, "best", t->order[0]);
    weft__json_key_string(&j, "command", weft_sweep_command(&t->s.r, t->order[0], t->s.o->arena));
    json_list(&j, "not_told_apart", t->like, t->likes);
    json_list(&j, "left_early_not_told_apart", t->early, t->earlies);
    weft__json_end_object(&j);
    putchar('\n');
}

static void print_csv(const struct tune *t) {
    const struct weft_sweep *plan = t->s.plan;
    fputs("point,variant", stdout);
    for (uint32_t a = 0; a < plan->axes; a++) {
        putchar(',');
        weft__csv_text(stdout, plan->axis[a].path);
    }
    puts(",seeds,mean,half,rung,left");
    for (uint32_t i = 0; i < plan->points; i++) {
        uint32_t p = t->order[i];
        struct weft_spread s = spread_of(t, p);
        printf("%u,", p);
        weft__csv_text(stdout, variant_of(t, p));
        for (uint32_t a = 0; a < plan->axes; a++) {
            putchar(',');
            weft__csv_text(stdout, plan->point[p].value[a].text);
        }
        printf(",%u,%.17g,%.17g,%u,%d\n", s.n, s.mean, s.half, t->rung[p], t->rung[p] + 1 < t->done);
    }
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status show_tune(struct tune *t, struct weft_error *ret_error) {
    const struct weft_cli_options *o = t->s.o;
    enum weft_status status = WEFT_OK;
    if (o->out) status = weft_sweep_sqlite(o->out, &t->s.r, ret_error);
    if (t->s.interrupted) sweep_say_interrupted(&t->s);
    if (!t->done) return t->s.interrupted ? WEFT_INTERRUPTED : status;
    compare_points(t);
    if (csv) weft_cli_terminal_raw();
    (csv ? print_csv : o->json ? print_json : print_text)(t);
    if (t->s.interrupted) return WEFT_INTERRUPTED;
    if (!status && weft_sweep_count(&t->s.r, WEFT_SWEEP_FAILED)) return WEFT_ERROR_SYSTEM;
    return status;
}

static enum weft_status tune_file(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                  struct weft_error *ret_error) {
    struct tune t = {.s = {.o = o, .lock = -1, .share = {.tasks = 1}}};
    uint32_t jobs;
    if (csv && o->json)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--csv and --json both go to standard output; expected one of them");
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    sweep_begin(&t.s, o->operand[0]);
    enum weft_status status = make_plan(&t, file, ret_error);
    if (!status) status = read_budget(&t, ret_error);
    if (!status) status = plan_rungs(&t, ret_error);
    if (!status) status = read_objective(&t, file, ret_error);
    if (status) return status;
    uint32_t points = t.s.plan->points;
    t.rung = weft_arena_alloc(o->arena, points, sizeof *t.rung);
    t.order = weft_arena_alloc(o->arena, points, sizeof *t.order);
    for (uint32_t p = 0; p < points; p++)
        t.order[p] = p;
    status = sweep_prepare(&t.s, true, ret_error);
    if (!status) status = climb_rungs(&t, jobs, ret_error);
    if (!status) status = show_tune(&t, ret_error);
    sweep_end(&t.s, status);
    return status;
}

int weft_cli_tune(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, tune_file);
}
