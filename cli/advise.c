// SPDX-License-Identifier: Apache-2.0
// weft advise: why a job is slow. The scenario runs as it is and with each suspected cause removed (weft/causes.h);
// then with the first and each other one removed; then, if all of them together gain more than that explains, in pairs.
#include "weft/causes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/param.h"
#include "base/units.h"
#include "processes.h"
#include "sweep.h"
#include "weft/fit.h"
#include "weft/job.h"
#include "weft/result.h"
#include "why.h"

static const char *job_name, *seeds_text, *jobs_text, *budget_text, *only_text, *setup_text;
static bool estimate;
static const struct weft_cli_option own[] = {
    {"job", "NAME", "the job that is slow (default: the first)", &job_name, NULL},
    {"only", "LIST",
     "suspect only these causes, such as queue_pairs,headroom (default: all that the scenario can have)", &only_text,
     NULL},
    {"seeds", "LIST", "seeds with which everything runs (default 1..3)", &seeds_text, NULL},
    {"budget", "N|TIME", "at most N runs, or no further step that would end after this time; single causes always run",
     &budget_text, NULL},
    {"estimate", NULL, "estimate what weft estimate can; only what it refuses runs in packets", NULL, &estimate},
    {"setup", "TEXT", "of a log, what it does not say itself, as for weft fit: \"nodes=2 gpus_per_node=8 gpu=H100\"",
     &setup_text, NULL},
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "advise",
    .operands = "SCENARIO [LOG]",
    .about =
        "Why is my job slow here, and what would mend it? Runs the scenario's job as it is and with each suspected\n"
        "cause removed: collisions of hashes, congestion control, one queue pair, GPUs that share one NIC, one plane\n"
        "of several, a traffic class that is not lossless, too little headroom, oversubscription, stragglers, jobs in\n"
        "phase. Ranks the causes by what removing each gains, and prints the setting that removes it. LOG is the\n"
        "output of nccl-tests or of NCCL's inspector: its collectives are then the job, on the scenario's network.\n"
        "Exit status: 0 done, 1 system error or runs failed, 2 bad input (nothing was run), 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_QUIET,
    .answer = &weft__answer_advise,
    .operands_min = 1,
    .operands_max = 2,
    .option = own,
};

/// Points of the sweep: 0 is the scenario as it is, 1 the same in packets where the others are estimated; then
/// removals.
enum { AS_IT_IS, IN_PACKETS, REMOVALS };
static const double unexplained = 0.02; ///< of an iteration: what is left after the best pair is worth more runs

struct advise {
    struct sweep s;
    const struct weft_scenario_file *file;
    uint32_t variant, job;
    struct weft_cause *cause;
    struct weft_removal *removal;   ///< point REMOVALS + i
    uint32_t causes, removals, all; ///< all: the number of the removal of all
    uint32_t budget, runs;
    double seconds, began_s, spent_s;
    struct weft_sweep_metric metric;
    struct weft_advise_answer answer;
};

// --- which causes -------------------------------------------------------------------------------------------------

static enum weft_status find_job(struct advise *a, const struct weft_workload *w, struct weft_error *ret_error) {
    char expected[512] = "it has none";
    const char **name = weft_arena_alloc(a->s.o->arena, w->jobs + (size_t)1, sizeof *name);
    a->job = WEFT_NONE;
    for (uint32_t j = 0; j < w->jobs; j++) {
        name[j] = w->group[w->job[j].group];
        if (a->job == WEFT_NONE && (!job_name || !strcmp(name[j], job_name))) a->job = j;
    }
    if (w->jobs) weft__names_expected(job_name ? job_name : "", name, w->jobs, expected, sizeof expected);
    if (a->job == WEFT_NONE)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "advise: the scenario has no job%s%s; %s", job_name ? " " : "",
                           job_name ? job_name : "", w->jobs ? expected : "expected an entry of kind job");
    if (w->job[a->job].schedule)
        return WEFT_REFUSE(
            ret_error, w->job[a->job].place,
            "advise: %s is a schedule, whose work cannot be asked for again with another setting; expected "
            "a job of operations",
            name[a->job]);
    a->answer.job = weft_arena_text(a->s.o->arena, name[a->job]);
    return WEFT_OK;
}

static bool is_asked(const char *name) {
    if (!only_text) return true;
    for (const char *at = only_text; *at; at += strcspn(at, ","), at += *at == ',')
        if (strlen(name) == strcspn(at, ",") && !strncmp(name, at, strlen(name))) return true;
    return false;
}

/// Of every name in --only there must be such a cause.
static enum weft_status keep_asked(struct advise *a, struct weft_error *ret_error) {
    static const char *const names[] = {
        "hash_collisions", "congestion_control", "planes",    "queue_pairs",      "nic_mapping",
        "traffic_class",   "headroom",           "straggler", "oversubscription", "in_phase"};
    uint32_t kept = 0, n = sizeof names / sizeof *names;
    for (const char *at = only_text; at && (*at || at == only_text); at += strcspn(at, ","), at += *at == ',') {
        const char *one = weft_arena_format(a->s.o->arena, "%.*s", (int)strcspn(at, ","), at);
        char expected[512];
        bool known = false;
        for (uint32_t i = 0; i < n; i++)
            known |= !strcmp(names[i], one);
        weft__names_expected(one, names, n, expected, sizeof expected);
        if (!known) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--only '%s': no such cause; %s", one, expected);
    }
    for (uint32_t c = 0; c < a->causes; c++)
        if (is_asked(a->cause[c].name)) a->cause[kept++] = a->cause[c];
    a->causes = kept;
    return WEFT_OK;
}

/// Leaves out causes whose removal the scenario does not take: a fabric without such switches, a transport without
/// that key. Which, and why, is on standard error.
static enum weft_status keep_removable(struct advise *a, struct weft_error *ret_error) {
    uint32_t kept = 0;
    for (uint32_t c = 0; c < a->causes; c++) {
        WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
        WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
        const char *patch = a->cause[c].patch;
        struct weft_tree *tree;
        struct weft_error error = {0};
        WEFT_TRY(weft_tree_parse("patch", patch, strlen(patch), arena, &tree, ret_error));
        const struct weft_tree *over = tree;
        if (!weft_cli_simulation_init(&sim, weft_scenario_file_over(a->file, &over, 1, arena), a->variant, &error))
            a->cause[kept++] = a->cause[c];
        else if (!a->s.o->quiet)
            fprintf(stderr, "weft: advise: %s is no suspect: %s\n", a->cause[c].name, error.text);
    }
    a->causes = kept;
    return WEFT_OK;
}

/// An iteration without the other jobs; 0: there are none.
static enum weft_status find_alone(struct advise *a, struct weft_cli_simulation *sim, weft_time_ps *ret_alone,
                                   struct weft_error *ret_error) {
    struct weft_cli_options quiet = *a->s.o;
    struct weft_run run;
    struct weft_ledger_job job;
    *ret_alone = 0;
    a->answer.alone_ps = (double)NAN;
    if (sim->workload->jobs < 2) return WEFT_OK;
    quiet.quiet = true;
    enum weft_status status = weft_cli_simulation_run(sim, &quiet, "", &run, ret_error);
    if (status == WEFT_ERROR_STALL && sim->outcome) status = WEFT_OK; // iterations may have ended before
    if (!status && !weft_job_ended(&run.workload->job[a->job], &run.outcome->job[a->job])) return WEFT_OK;
    if (!status) status = weft_cli_why_alone(&quiet, a->file, a->variant, &run, a->job, &job, ret_error);
    if (status) return status;
    a->answer.alone_ps = job.alone_ps / job.iterations;
    *ret_alone = (weft_time_ps)a->answer.alone_ps;
    return WEFT_OK;
}

static enum weft_status find_causes(struct advise *a, struct weft_error *ret_error) {
    struct weft_arena *arena = a->s.o->arena;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_causes_conf conf = {0};
    const struct weft_tree *tree = NULL;
    WEFT_TRY(weft_cli_simulation_init(&sim, a->file, a->variant, ret_error));
    WEFT_TRY(find_job(a, sim.workload, ret_error));
    WEFT_TRY(weft_scenario_tree(a->file, a->variant, arena, &tree, ret_error));
    if (is_asked("in_phase")) WEFT_TRY(find_alone(a, &sim, &conf.alone_ps, ret_error));
    conf.job = a->job;
    a->answer.scenario = weft_arena_text(arena, sim.scenario->name);
    a->answer.variant = weft_arena_text(arena, sim.scenario->variant);
    a->cause = weft_causes_find(sim.scenario, sim.topology, sim.workload, tree, &conf, arena, &a->causes);
    WEFT_TRY(keep_asked(a, ret_error));
    return keep_removable(a, ret_error);
}

// --- points -------------------------------------------------------------------------------------------------------

/// A value of the sweep for each cause: removed, or as it is.
static enum weft_status make_values(struct advise *a, struct weft_sweep_value (*value)[2],
                                    struct weft_error *ret_error) {
    static const struct weft_tree nothing = {.type = WEFT_TREE_MAP};
    struct weft_arena *arena = a->s.o->arena;
    for (uint32_t c = 0; c < a->causes; c++) {
        struct weft_tree *over;
        const char *patch = a->cause[c].patch, *source = weft_arena_format(arena, "advise, %s", a->cause[c].name);
        WEFT_TRY(weft_tree_parse(source, patch, strlen(patch), arena, &over, ret_error));
        value[c][0] = (struct weft_sweep_value){"", &nothing};
        value[c][1] = (struct weft_sweep_value){a->cause[c].detail, over};
    }
    return WEFT_OK;
}

static bool removes_cause(const struct advise *a, const struct weft_removal *r, uint32_t cause) {
    if (r == &a->removal[a->all]) { // of several values of a setting one, here the first; see choose_values
        for (uint32_t c = 0; c < cause; c++)
            if (a->cause[c].choice && a->cause[c].choice == a->cause[cause].choice) return false;
        return true;
    }
    return r->cause[0] == cause || r->cause[1] == cause;
}

static enum weft_status make_plan(struct advise *a, const uint64_t *seed, uint32_t seeds,
                                  struct weft_error *ret_error) {
    struct weft_arena *arena = a->s.o->arena;
    struct weft_sweep *plan = a->s.plan = weft_arena_alloc(arena, 1, sizeof *plan);
    uint32_t n = a->causes;
    a->removal = weft_arena_alloc(arena, 1 + n + (size_t)n * n, sizeof *a->removal);
    for (uint32_t c = 0; c < n; c++)
        a->removal[a->removals++] = (struct weft_removal){.cause = {c, WEFT_NONE}};
    a->all = a->removals;
    a->removal[a->removals++] = (struct weft_removal){.cause = {WEFT_NONE, WEFT_NONE}};
    for (uint32_t c = 0; c < n; c++)
        for (uint32_t d = c + 1; d < n; d++)
            if (!a->cause[c].choice || a->cause[c].choice != a->cause[d].choice)
                a->removal[a->removals++] = (struct weft_removal){.cause = {c, d}};
    *plan = (struct weft_sweep){.file = a->file, .arena = arena, .seeds = seeds, .seed = (uint64_t *)seed, .best = ""};
    plan->metrics = "";
    plan->axes = n;
    plan->axis = weft_arena_alloc(arena, n + (size_t)1, sizeof *plan->axis);
    plan->points = REMOVALS + a->removals;
    plan->point = weft_arena_alloc(arena, plan->points, sizeof *plan->point);
    struct weft_sweep_value(*value)[2] = weft_arena_alloc(arena, n + (size_t)1, sizeof *value);
    WEFT_TRY(make_values(a, value, ret_error));
    for (uint32_t c = 0; c < n; c++)
        plan->axis[c] = (struct weft_sweep_axis){.path = a->cause[c].name, .values = 2, .value = value[c]};
    for (uint32_t p = 0; p < plan->points; p++) {
        struct weft_sweep_point *point = &plan->point[p];
        *point = (struct weft_sweep_point){a->variant, weft_arena_alloc(arena, n + (size_t)1, sizeof *point->value)};
        for (uint32_t c = 0; c < n; c++)
            point->value[c] = value[c][p >= REMOVALS && removes_cause(a, &a->removal[p - REMOVALS], c)];
    }
    return WEFT_OK;
}

// --- running them -------------------------------------------------------------------------------------------------

/// Runs these points. What the estimate refuses runs in packets, and so does then what it is compared with; if that is
/// the scenario as it is, everything does.
static enum weft_status run_points(struct advise *a, const uint32_t *point, uint32_t points, uint32_t jobs,
                                   struct weft_error *ret_error) {
    struct sweep *s = &a->s;
    bool again = true;
    for (uint32_t round = 0; again && !s->interrupted; round++) {
        again = false;
        s->owned = 0;
        if (round) sweep_own(s, IN_PACKETS, s->plan->seeds);
        for (uint32_t i = 0; i < points; i++)
            sweep_own(s, point[i], s->plan->seeds);
        for (uint32_t i = 0; i < s->owned; i++)
            a->runs += sweep_is_due(s, s->own[i]);
        WEFT_TRY(sweep_build(s, ret_error));
        WEFT_TRY(sweep_run(s, jobs, ret_error));
        for (uint32_t i = 0; i < points && s->fluid; i++) {
            if (!s->fluid[point[i]] || !s->refused[(size_t)point[i] * s->plan->seeds]) continue;
            again = true;
            for (uint32_t p = 0; p < s->plan->points; p++)
                if (p == point[i] || point[i] == AS_IT_IS) s->fluid[p] = false;
        }
        if (again) WEFT_TRY(sweep_prepare(s, false, ret_error));
    }
    return WEFT_OK;
}

static const double *times_of(const struct advise *a, uint32_t point) {
    return weft_sweep_metric_values(&a->s.r, point, &a->metric, a->s.o->arena);
}

static bool is_fluid(const struct advise *a, uint32_t point) {
    return a->s.fluid && a->s.fluid[point];
}

/// Whether the budget has room for so many points more.
static bool has_room(struct advise *a, uint32_t points) {
    uint32_t runs = points * a->s.plan->seeds;
    double passed = weft__clock_s(CLOCK_MONOTONIC) - a->began_s, each = a->runs ? passed / a->runs : 0;
    if (!runs) return true;
    bool room =
        (!a->budget || a->runs + runs <= a->budget) && (!(a->seconds > 0) || passed + each * runs <= a->seconds);
    a->answer.cut |= !room;
    return room;
}

/// Two causes may each be removable and not both at once: then the pair gives no value.
static bool can_build(const struct advise *a, uint32_t removal) {
    if (removal < a->all) return true;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_error ignored = {0};
    const struct weft_scenario_file *file = weft_sweep_file(a->s.plan, REMOVALS + removal, 0, arena);
    return !weft_cli_simulation_init(&sim, file, a->variant, &ignored);
}

/// Runs removals that have not run, and judges them.
static enum weft_status run_removals(struct advise *a, const bool *wanted, uint32_t jobs,
                                     struct weft_error *ret_error) {
    struct weft_arena *arena = a->s.o->arena;
    uint32_t *point = weft_arena_alloc(arena, a->removals + (size_t)1, sizeof *point), n = 0;
    if (!a->runs) point[n++] = AS_IT_IS;
    for (uint32_t i = 0; i < a->removals; i++)
        if (wanted[i] && !a->removal[i].ran) {
            a->removal[i].ran = true;
            a->removal[i].gain = a->removal[i].half = a->removal[i].time_ps = (double)NAN;
            if (can_build(a, i)) point[n++] = REMOVALS + i;
        }
    if (!n) return WEFT_OK;
    WEFT_TRY(run_points(a, point, n, jobs, ret_error));
    for (uint32_t i = 0; i < n && !a->s.interrupted; i++) {
        if (point[i] < REMOVALS) continue;
        uint32_t base = is_fluid(a, AS_IT_IS) && !is_fluid(a, point[i]) ? IN_PACKETS : AS_IT_IS;
        weft_removal_judge(&a->removal[point[i] - REMOVALS], times_of(a, base), times_of(a, point[i]), a->s.plan->seeds,
                           arena);
    }
    return WEFT_OK;
}

/// Of values of one setting the best alone, of other causes each.
static bool *find_placed(const struct advise *a) {
    uint32_t ranks;
    const struct weft_cause_rank *rank =
        weft_causes_rank(a->cause, a->causes, a->removal, a->removals, a->s.o->arena, &ranks);
    bool *placed = weft_arena_alloc(a->s.o->arena, a->causes + (size_t)1, sizeof *placed);
    for (uint32_t i = 0; i < ranks; i++)
        placed[rank[i].cause] = true;
    return placed;
}

/// All causes removed are removed by the values that gain most alone.
static enum weft_status choose_values(struct advise *a, struct weft_error *ret_error) {
    const bool *placed = find_placed(a);
    for (uint32_t c = 0; c < a->causes; c++)
        a->s.plan->point[REMOVALS + a->all].value[c] = a->s.plan->axis[c].value[placed[c]];
    return a->causes ? sweep_prepare(&a->s, false, ret_error) : WEFT_OK;
}

/// Pairs with `first`; WEFT_NONE: all.
static uint32_t want_pairs(const struct advise *a, uint32_t first, bool *wanted) {
    uint32_t n = 0;
    const bool *placed = find_placed(a);
    for (uint32_t i = 0; i < a->removals; i++) {
        const uint32_t *c = a->removal[i].cause;
        wanted[i] = c[1] != WEFT_NONE && placed[c[0]] && placed[c[1]] && !a->removal[i].ran &&
                    (first == WEFT_NONE || c[0] == first || c[1] == first);
        n += wanted[i];
    }
    return n;
}

static double best_gain(const struct advise *a) {
    double best = 0;
    for (uint32_t i = 0; i < a->removals; i++)
        if (i != a->all && a->removal[i].ran && a->removal[i].gain > best) best = a->removal[i].gain;
    return best;
}

static enum weft_status run_stages(struct advise *a, uint32_t jobs, struct weft_error *ret_error) {
    bool *wanted = weft_arena_alloc(a->s.o->arena, a->removals, sizeof *wanted);
    uint32_t ranks;
    for (uint32_t i = 0; i < a->all; i++)
        wanted[i] = true;
    enum weft_status status = run_removals(a, wanted, jobs, ret_error);
    if (!status && !a->s.interrupted) status = choose_values(a, ret_error);
    wanted[a->all] = true;
    if (!status && !a->s.interrupted) status = run_removals(a, wanted, jobs, ret_error);
    if (status || a->s.interrupted || a->causes < 2) return status;
    const struct weft_cause_rank *rank =
        weft_causes_rank(a->cause, a->causes, a->removal, a->removals, a->s.o->arena, &ranks);
    uint32_t pairs = want_pairs(a, rank->cause, wanted); // of two causes the pair is all of them, which ran
    if (ranks == 2 || has_room(a, pairs)) status = run_removals(a, wanted, jobs, ret_error);
    if (status || a->s.interrupted || !(a->removal[a->all].gain > best_gain(a) + unexplained)) return status;
    return has_room(a, want_pairs(a, WEFT_NONE, wanted)) ? run_removals(a, wanted, jobs, ret_error) : WEFT_OK;
}

// --- the answer ---------------------------------------------------------------------------------------------------

static const char *percent_text(const struct advise *a, double gain, double half) {
    return isnan(half) ? weft_arena_format(a->s.o->arena, "%.1f%%", 100 * gain)
                       : weft_arena_format(a->s.o->arena, "%.1f%% +- %.1f", 100 * gain, 100 * half);
}

static const char *verdict_of(const struct advise *a) {
    struct weft_arena *arena = a->s.o->arena;
    const struct weft_advise_answer *w = &a->answer;
    const double worth = 0.01;
    if (!w->rows || !(w->row->gain > worth || (w->rows > 1 && w->row[1].after > worth)))
        return a->causes ? "no suspected cause costs more than 1% of an iteration; weft why --job shows where its time "
                           "goes"
               : only_text ? "the scenario has no cause of --only"
                           : "nothing in the scenario is a suspected cause";
    const char *first = weft_arena_format(arena, "%s: removing it saves %s of an iteration", w->row->cause.name,
                                          percent_text(a, w->row->gain, w->row->half));
    if (w->row->noise && w->row->gain > worth)
        first = weft_arena_format(arena, "%s, which is noise: more --seeds narrow it", first);
    if (w->rows < 2 || !(w->row[1].after > worth)) return first;
    return weft_arena_format(arena, "%s; then %s, another %.1f%%", first, w->row[1].cause.name, 100 * w->row[1].after);
}

static void make_rows(struct advise *a) {
    struct weft_arena *arena = a->s.o->arena;
    struct weft_advise_answer *w = &a->answer;
    const struct weft_cause_rank *rank =
        weft_causes_rank(a->cause, a->causes, a->removal, a->removals, arena, &w->rows);
    w->row = weft_arena_alloc(arena, w->rows + (size_t)1, sizeof *w->row);
    for (uint32_t i = 0; i < w->rows; i++) {
        const struct weft_removal *r = rank[i].alone;
        w->row[i] = (struct weft_cause_row){.rank = i + 1,
                                            .cause = a->cause[rank[i].cause],
                                            .gain = r ? r->gain : (double)NAN,
                                            .half = r ? r->half : (double)NAN,
                                            .after = rank[i].after,
                                            .time_ps = r ? r->time_ps : (double)NAN,
                                            .noise = r && r->noise};
    }
    for (uint32_t i = a->all + 1; i < a->removals; i++) {
        const struct weft_removal *r = &a->removal[i];
        if (r->ran && !isnan(r->gain))
            WEFT__ADD(arena, w->pair, w->pairs) = (struct weft_cause_pair){
                a->cause[r->cause[0]].name, a->cause[r->cause[1]].name, r->gain, r->half, r->time_ps};
    }
}

/// With what removed the job comes nearest to the log; two causes only if each of them gains beside the other.
static const struct weft_removal *find_nearest(const struct advise *a) {
    const struct weft_removal *nearest = NULL;
    double least = 0;
    for (uint32_t i = 0; i < a->removals; i++) {
        const struct weft_removal *r = &a->removal[i];
        const uint32_t *c = r->cause;
        double far = r->ran ? fabs(log(r->time_ps / a->answer.measured_ps)) : (double)NAN;
        bool adds = c[1] == WEFT_NONE || (r->gain > a->removal[c[0]].gain && r->gain > a->removal[c[1]].gain);
        if (i == a->all || !adds || isnan(far) || (nearest && far >= least)) continue;
        nearest = r;
        least = far;
    }
    return nearest;
}

/// A time within a quarter of the log's is as long (assumed). A scenario that is slower may have a cause that the
/// cluster has not; in one that is faster the cluster's cause is missing.
static const char *log_verdict_of(const struct advise *a) {
    const struct weft_advise_answer *w = &a->answer;
    const double as_long = 1.25;
    struct weft_arena *arena = a->s.o->arena;
    double ratio = w->base_ps / w->measured_ps;
    const char *text = weft_arena_format(arena, "the scenario takes %.2f times as long as the log", ratio);
    const char *constants = "weft fit SCENARIO LOG --check CLASS --why names constants of hosts that would";
    if (ratio < 1 / as_long)
        return weft_arena_format(arena, "%s: what slows the cluster is not in the scenario, nor below; %s explain it",
                                 text, constants);
    if (ratio <= as_long) return text;
    const struct weft_removal *r = find_nearest(a);
    double then = r ? r->time_ps / w->measured_ps : ratio;
    if (fabs(log(then)) > log(ratio) / 2)
        return weft_arena_format(arena,
                                 "%s, and no cause below explains it: its rates or hosts are slower than the "
                                 "cluster's; %s",
                                 text, constants);
    const char *second = r->cause[1] == WEFT_NONE ? "" : a->cause[r->cause[1]].name;
    return weft_arena_format(arena, "%s, and %.2f times without %s%s%s: the cluster does not seem to have it", text,
                             then, a->cause[r->cause[0]].name, *second ? " and " : "", second);
}

static void make_answer(struct advise *a) {
    struct weft_advise_answer *w = &a->answer;
    struct weft_spread base = weft_spread_of(times_of(a, AS_IT_IS), a->s.plan->seeds, a->s.o->arena);
    w->base_ps = base.mean;
    w->base_half = base.half;
    w->all_ps = a->causes ? a->removal[a->all].time_ps : (double)NAN;
    w->seeds = a->s.plan->seeds;
    w->runs = a->runs;
    make_rows(a);
    if (w->log) w->log_verdict = log_verdict_of(a);
    w->verdict = verdict_of(a);
}

static const char *time_text(const struct advise *a, double time_ps) {
    return isnan(time_ps) ? "-" : weft_arena_text(a->s.o->arena, weft__short_time((weft_time_ps)time_ps).text);
}

/// Sizes of a log in three ranges, by what bounds them: steps, both, rates.
static void print_log(FILE *file, const struct advise *a) {
    static const weft_bytes up_to[] = {64 << 10, 4 << 20, UINT64_MAX};
    const struct weft_advise_answer *w = &a->answer;
    fprintf(file, "measured: %s, the sizes of %s that are the job\n%s\n", time_text(a, w->measured_ps), w->log,
            w->log_verdict);
    for (uint32_t k = 0; k < sizeof up_to / sizeof *up_to; k++) {
        double measured = 0, simulated = 0;
        weft_bytes least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < w->sizes; i++) {
            const struct weft_fit_row *row = &w->size[i];
            if (row->bytes > up_to[k] || (k && row->bytes <= up_to[k - 1])) continue;
            measured += row->measured_us;
            simulated += row->predicted_us;
            least = row->bytes < least ? row->bytes : least;
            most = row->bytes > most ? row->bytes : most;
        }
        if (measured > 0)
            fprintf(file, "   %8s to %8s: measured %8s, simulated %8s, %.2f times as long\n",
                    weft__short_bytes(least).text, weft__short_bytes(most).text, time_text(a, measured * 1e6),
                    time_text(a, simulated * 1e6), simulated / measured);
    }
}

static const struct advise *shown; ///< for print_text

static void print_text(FILE *file, const void *subject) {
    const struct weft_advise_answer *w = subject;
    const struct advise *a = shown;
    fprintf(file, "job %s: an iteration takes %s", w->job, time_text(a, w->base_ps));
    if (!isnan(w->alone_ps)) fprintf(file, ", %s without the other jobs", time_text(a, w->alone_ps));
    if (w->rows == 1) fprintf(file, ", %s without the suspected cause", time_text(a, w->all_ps));
    if (w->rows > 1) fprintf(file, ", %s without all %" PRIu32 " suspected causes", time_text(a, w->all_ps), w->rows);
    fprintf(file, "; %s, %s\n", weft__counted(w->seeds, "seed").text, weft__counted(w->runs, "run").text);
    if (w->log) print_log(file, a);
    fprintf(file, "%s\n", w->verdict);
    if (w->rows) fprintf(file, "\n   %-20s %16s %10s %10s  %s\n", "removed", "gain", "then", "iteration", "it is");
    for (uint32_t i = 0; i < w->rows; i++) {
        const struct weft_cause_row *r = &w->row[i];
        const char *then = isnan(r->after) ? "-" : weft_arena_format(a->s.o->arena, "%.1f%%", 100 * r->after);
        fprintf(file, "%2" PRIu32 " %-20s %16s %10s %10s  %s%s\n", r->rank, r->cause.name,
                isnan(r->gain) ? "-" : percent_text(a, r->gain, r->half), then, time_text(a, r->time_ps),
                r->cause.detail, r->noise ? " (noise)" : "");
    }
    for (uint32_t i = 0; i < w->rows; i++) {
        const struct weft_cause_row *r = &w->row[i];
        if (!(r->gain > 0.01 && !r->noise) && !(i < 2 && r->after > 0.01)) continue;
        fprintf(file, "\n%s\n", r->cause.name);
        if (*r->cause.at_switch) fprintf(file, "  switch  %s\n", r->cause.at_switch);
        if (*r->cause.at_nic) fprintf(file, "  NIC     %s\n", r->cause.at_nic);
        if (*r->cause.in_nccl) fprintf(file, "  NCCL    %s\n", r->cause.in_nccl);
    }
    if (w->cut) fputs("\nthe budget ended before all pairs had run\n", file);
}

// --- the command --------------------------------------------------------------------------------------------------

/// The log's collectives on the scenario's network.
static enum weft_status take_log(struct advise *a, const char *path, struct weft_fit *fit,
                                 struct weft_error *ret_error) {
    struct weft_fit_conf conf = {.table = &path,
                                 .tables = 1,
                                 .scenario = a->file,
                                 .variant = a->variant,
                                 .setup = setup_text,
                                 .check = true,
                                 .is_interrupted = weft_cli_interrupted};
    enum weft_status status = weft_fit_tables(&conf, a->s.o->arena, fit, ret_error);
    for (uint32_t k = 0; k < fit->warnings; k++)
        fprintf(stderr, "weft: %s\n", fit->warning[k]);
    if (!status && fit->tables != 1)
        status =
            WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                        "%s; expected one: a measurement of one collective", weft__counted(fit->tables, "table").text);
    if (!status) status = weft_fit_job(&conf, fit, ret_error);
    if (status) return status;
    a->file = fit->table->scenario;
    a->answer.log = path;
    a->answer.measured_ps = 0;
    struct weft_fit_row *size = weft_arena_alloc(a->s.o->arena, fit->rows, sizeof *size);
    for (uint32_t i = 0; i < fit->rows; i++) {
        if (fit->row[i].use == WEFT_FIT_OUTLYING) continue;
        if (!fit->row[i].beyond) a->answer.measured_ps += fit->row[i].measured_us * 1e6;
        size[a->answer.sizes++] = fit->row[i];
    }
    a->answer.size = size;
    return WEFT_OK;
}

static enum weft_status prepare_sweep(struct advise *a, struct weft_error *ret_error) {
    struct sweep *s = &a->s;
    const char *text = weft_arena_format(s->o->arena, "jobs.\"%s\".iteration_ps", a->answer.job);
    sweep_begin(s, s->o->operand[0]);
    if (!weft_sweep_metric_parse(text, (struct weft_place){.file = "advise"}, false, s->r.column, s->r.columns,
                                 s->o->arena, &a->metric))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "advise: no metric has the name of job %s", a->answer.job);
    s->r.metric = s->metric = &a->metric;
    s->r.metrics = s->r.shown = 1;
    if (estimate) {
        s->fluid = weft_arena_alloc(s->o->arena, s->plan->points, sizeof *s->fluid);
        s->refused = weft_arena_alloc(s->o->arena, (size_t)s->plan->points * s->plan->seeds, sizeof *s->refused);
        for (uint32_t p = 0; p < s->plan->points; p++)
            s->fluid[p] = p != IN_PACKETS;
    }
    return sweep_prepare(s, false, ret_error);
}

/// There is no time of the scenario as it is.
static enum weft_status refuse_base(const struct advise *a, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < a->s.plan->points * a->s.plan->seeds; i++)
        if (a->s.r.run[i].state == WEFT_SWEEP_FAILED)
            return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "advise: a run failed: %s",
                                  a->s.r.run[i].message);
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE,
                          "advise: as the scenario is, a run stalled or no iteration of job %s ended", a->answer.job);
}

static enum weft_status find_answer(struct advise *a, uint32_t jobs, struct weft_error *ret_error) {
    uint64_t *seed = NULL;
    uint32_t seeds = 0;
    struct weft_fit fit = {0};
    enum weft_status status = weft_cli_budget_parse(budget_text, &a->budget, &a->seconds, ret_error);
    if (!status && !weft_cli_seeds_parse(seeds_text ? seeds_text : "1..3", a->s.o->arena, &seed, &seeds))
        status = WEFT_ERROR_INPUT;
    if (!status && setup_text && a->s.o->operands < 2)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--setup: there is no log; expected one behind the scenario");
    if (!status && a->s.o->operands > 1) status = take_log(a, a->s.o->operand[1], &fit, ret_error);
    if (!status) status = find_causes(a, ret_error);
    if (!status) status = make_plan(a, seed, seeds, ret_error);
    if (!status) status = prepare_sweep(a, ret_error);
    a->began_s = weft__clock_s(CLOCK_MONOTONIC);
    if (!status) status = run_stages(a, jobs, ret_error);
    if (!status && a->s.interrupted) sweep_say_interrupted(&a->s);
    if (!status && a->s.interrupted) status = WEFT_INTERRUPTED;
    if (!status) make_answer(a);
    if (!status && isnan(a->answer.base_ps)) status = refuse_base(a, ret_error);
    shown = a;
    if (!status) status = weft_cli_answer(a->s.o, &weft__answer_advise, &a->answer, print_text, ret_error);
    if (!status && weft_sweep_count(&a->s.r, WEFT_SWEEP_FAILED)) status = WEFT_ERROR_SYSTEM;
    weft_fit_free(&fit);
    if (a->s.r.run) sweep_end(&a->s, status);
    return status;
}

static enum weft_status advise_scenario(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                        struct weft_error *ret_error) {
    struct advise a = {.s = {.o = o, .lock = -1, .share = {.tasks = 1}},
                       .file = file,
                       .answer = {.measured_ps = (double)NAN, .alone_ps = (double)NAN}};
    uint32_t jobs;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    enum weft_status status = weft_cli_variant(o, file, &a.variant, ret_error);
    weft_cli_catch_interrupt();
    return status ? status : find_answer(&a, jobs, ret_error);
}

int weft_cli_advise(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, advise_scenario);
}
