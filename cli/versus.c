// SPDX-License-Identifier: Apache-2.0
// weft versus: one job on every fabric. It composes a scenario with a variant per fabric and runs it as a sweep.
#include "versus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/numa.h"
#include "base/stream.h"
#include "base/units.h"
#include "processes.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/result.h"

static const char *hosts, *rate, *fabrics, *budget, *seeds_text, *jobs_text, *task_text, *diff;
static struct versus_battery battery;
static bool merge, no_why, assumptions, bands, estimate;
static const char *packets_text, *goodput_text;
static const struct weft_tree *old; ///< what --diff names; NULL: nothing
static const struct weft_cli_option own[] = {
    {"hosts", "LIST",
     "number of hosts, or several for a map, such as 128,256 or 64..1024:5log (default: those of JOB's network, else "
     "as in `weft models fabric clos`)",
     &hosts, NULL},
    {"rate", "RATE", "rate of a host's link (default: as for --hosts)", &rate, NULL},
    {"fabrics", "LIST", "blueprints and files, such as dsf-l1,mine.yaml; all: every blueprint (the default)", &fabrics,
     NULL},
    {"budget", "LIST",
     "limits of a fabric, such as watts=20000,optics=800; for chips, ports, optics, fibre, watts, price", &budget,
     NULL},
    {"battery", "quick|full",
     "workloads beside JOB or without one: collectives of three sizes; or all sizes, mixes, failures "
     "(docs/versus-batteries.md)",
     &battery.name, NULL},
    {"sizes", "FROM..TO", "only sizes from FROM to TO of the battery's collectives", &battery.sizes, NULL},
    {"cases", "NAMES", "only these cases of the battery, such as 'moe*,incast', and those they are compared with",
     &battery.cases, NULL},
    {"seeds", "LIST", "seeds with which every fabric runs, such as 1..5 (default: 1; with --battery full 1..3)",
     &seeds_text, NULL},
    {"jobs", "N", "runs at a time (default: one per processor; one in an MPI rank)", &jobs_text, NULL},
    {"task", "I/N", "only the I-th of N parts of the runs; set automatically in a job array of Slurm or under MPI",
     &task_text, NULL},
    {"merge", NULL, "run nothing: merge the results of the tasks in --out DIR", NULL, &merge},
    {"diff", "OLD", "also show what has changed since OLD, a folder written by weft versus --out", &diff, NULL},
    {"assumptions", NULL,
     "also run with each assumed number of fabrics, switches and hosts halved and doubled, to see which would change "
     "the answer",
     NULL, &assumptions},
    {"bands", NULL, "as --assumptions, but only for numbers with a hardware band, at both of its ends", NULL, &bands},
    {"estimate", NULL,
     "estimate all runs in seconds, each time with its 90% interval, instead of running them (weft estimate)", NULL,
     &estimate},
    {"packets", "N|TIME",
     "with --estimate: then run in packets who leads, whom its interval does not tell from it, and what has no "
     "estimate, until that is decided; at most N runs, or runs of so much processor time as predicted",
     &packets_text, NULL},
    {"goodput", "GPUS",
     "also what failures leave of a month of a job of so many GPUs on each fabric, with rates, recovery and "
     "checkpoints "
     "of JOB's section goodput (weft goodput); what a lost link or switch costs, cases with failures measure",
     &goodput_text, NULL},
    {"no-why", NULL, "do not rerun each fabric to see where the time went", NULL, &no_why},
    {0}};
static const struct weft_cli_command command = {
    .name = "versus",
    .operands = "[JOB]",
    .about =
        "Runs one job on every fabric, each built for the same number of hosts at the same rate with its authors'\n"
        "settings, and says which one leads, by how much, what is noise, where the time went, and what each fabric\n"
        "needs. JOB is a scenario, a file with only `workload:`, or a file of another tool (weft import). From a\n"
        "scenario's network only the number of hosts is used. --set applies to all fabrics. A fabric that cannot be\n"
        "built is a row with the reason. If it is killed, the same command continues where it stopped.\n"
        "Exit status: 0 done, 1 system error, runs failed or are missing, 2 bad input (nothing was run), 3 bytes\n"
        "not conserved (a bug), 4 a run stalled, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_QUIET,
    .answer = &weft__answer_versus,
    .operands_max = 1,
    .option = own,
};

struct versus {
    struct sweep sweep; ///< must be first: the sweep's callbacks get a pointer to it
    struct weft_versus v;
    const char *text; ///< of the scenario
    struct versus_job job;
    struct weft_versus_answer *answer; ///< once it is known
    struct sweep_packets packets;      ///< that are left
};

// --- what is kept of a run ----------------------------------------------------------------------------------------

static bool is_explained(const struct sweep *s, uint32_t run) {
    const struct weft_versus *v = &((const struct versus *)s)->v;
    uint32_t case_at = run / s->plan->seeds / v->variants;
    return !no_why && !sweep_is_fluid(s, run) && run % s->plan->seeds == 0 && case_at < v->n_cases;
}
static bool follows_ranks(const struct sweep *s, uint32_t run, const struct weft_workload *workload) {
    return is_explained(s, run) && versus_why_has_room(workload);
}

/// The measurements of every run; with the first seed also where the time went.
static struct weft_sweep_kept *keep_measured(const struct sweep *s, uint32_t run, const struct weft_scenario_file *file,
                                             const struct weft_sweep_came *came, const struct weft_follow *ranks,
                                             uint32_t *ret_n) {
    uint32_t n, parts = 0;
    struct weft_sweep_kept *kept = weft_versus_measure(&came->run, came->estimate, s->o->arena, &n), *why = NULL;
    if (is_explained(s, run))
        why = versus_why(s->o, file, s->plan->point[run / s->plan->seeds].variant, &came->run, ranks, &parts);
    struct weft_sweep_kept *all = weft_arena_alloc(s->o->arena, n + parts, sizeof *all);
    memcpy(all, kept, n * sizeof *all);
    if (parts) memcpy(all + n, why, parts * sizeof *all);
    *ret_n = n + parts;
    return all;
}

// --- what it will cost --------------------------------------------------------------------------------------------

static const char *span_text(double seconds, struct weft_arena *arena) {
    if (seconds < 10) return weft_arena_format(arena, "%.1g s", seconds);
    if (seconds < 120) return weft_arena_format(arena, "%.0f s", seconds);
    return seconds < 7200 ? weft_arena_format(arena, "%.0f min", seconds / 60)
                          : weft_arena_format(arena, "%.0f h", seconds / 3600);
}

static bool begins_with(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

/// What fast-forward will skip is known once it has.
static bool skips_ahead(const struct versus *x) {
    const struct weft_tree *mode = weft_tree_find(x->job.run, "fast_forward");
    for (uint32_t i = 0; i < x->sweep.o->settings; i++)
        if (begins_with(x->sweep.o->setting[i], "run.fast_forward=")) return true;
    return mode && mode->type != WEFT_TREE_NULL;
}

/// Says what is to come; asks nothing.
static void announce_runs(const struct sweep *s, uint32_t jobs) {
    enum { EXPLAINED = 3 }; // runs, of one that is explained
    double seconds = 0, longest = 0;
    uint32_t due = 0;
    for (uint32_t i = 0; i < s->owned; i++) {
        if (!sweep_is_due(s, s->own[i]) || sweep_is_fluid(s, s->own[i])) continue;
        double run = s->cost[s->own[i] / s->plan->seeds] * (is_explained(s, s->own[i]) ? EXPLAINED : 1);
        seconds += run;
        if (run > longest) longest = run;
        due++;
    }
    uint32_t processors = weft__processors(), side_by_side = jobs < processors ? jobs : processors;
    double wall = seconds / side_by_side > longest ? seconds / side_by_side : longest;
    const char *sum = span_text(seconds, s->o->arena), *until = span_text(wall, s->o->arena);
    if (!due || s->o->quiet) return;
    fprintf(stderr, "weft: %s, ", weft__counted(due, "run").text);
    if (skips_ahead((const struct versus *)s))
        fprintf(stderr, "%s of processor time at most, less what fast-forward skips; %s with %u at a time\n", sum,
                until, jobs);
    else
        fprintf(stderr, "about %s of processor time; about %s with %u at a time, within a factor of 2\n", sum, until,
                jobs);
}

// --- what estimates do not decide ---------------------------------------------------------------------------------

/// Changes a point to packets. False: nothing is left of --packets for it, or it runs in packets already.
static bool take_point(struct versus *x, uint32_t fabric, uint32_t case_at) {
    uint32_t variant = x->v.fabric[fabric].variant;
    return variant != WEFT_NONE && sweep_packets_take(&x->sweep, &x->packets, case_at * x->v.variants + variant);
}

/// In a case: the first and its i-th follower, if nothing tells them apart.
static bool take_pair(struct versus *x, const struct weft_versus *at, uint32_t case_at, uint32_t i) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n, first = (uint32_t)(at->fabric - x->v.fabric);
    const struct weft_versus_place *place = weft_versus_rank(at, case_at, arena, &n);
    if (i >= n || !place[i].noise) return false;
    bool took = take_point(x, first + place[0].fabric, case_at);
    return take_point(x, first + place[i].fabric, case_at) || took;
}

static bool take_refused(struct versus *x, uint32_t fabric, uint32_t case_at) {
    const struct sweep *s = &x->sweep;
    uint32_t variant = x->v.fabric[fabric].variant, run = (case_at * x->v.variants + variant) * s->plan->seeds;
    return variant != WEFT_NONE && s->refused[run] && take_point(x, fabric, case_at);
}

/// The nearest pairs of all cases before the next ones; then what has no estimate. A leader that packets make slower
/// may no longer lead: until nothing changes.
static bool take_undecided(struct sweep *s) {
    struct versus *x = (struct versus *)s;
    bool took = false;
    for (uint32_t i = 1; i < x->v.fabrics; i++)
        for (uint32_t k = 0; k < x->v.n_cases * x->v.scales; k++) {
            const struct weft_versus at = weft_versus_at(&x->v, k % x->v.scales);
            took |= take_pair(x, &at, k / x->v.scales, i);
        }
    bool decided = !took;
    for (uint32_t k = 0; k < x->v.n_cases * x->v.fabrics && decided; k++)
        took |= take_refused(x, k % x->v.fabrics, k / x->v.fabrics);
    return took;
}

/// All points, at first.
static void estimate_all(struct versus *x) {
    struct sweep *s = &x->sweep;
    sweep_estimate(s);
    s->falls_back = true;
    s->goes_on = take_undecided;
    x->v.fluid = s->fluid;
}

// --- results ------------------------------------------------------------------------------------------------------

static void write_yaml(FILE *file, const void *context) {
    fputs(((const struct versus *)context)->text, file);
}
static void write_json(FILE *file, const void *context) {
    struct weft__json j = {.file = file};
    weft_answer_json(&j, &weft__answer_versus, ((const struct versus *)context)->answer);
    putc('\n', file);
}
static void write_text(FILE *file, const void *context) {
    weft_versus_text(file, &((const struct versus *)context)->v);
}
static void write_csv(FILE *file, const void *context) {
    weft_answer_csv(file, &weft__answer_versus, &weft_versus_measurements, ((const struct versus *)context)->answer);
}
static void write_map_csv(FILE *file, const void *context) {
    weft_answer_csv(file, &weft__answer_versus, &weft_versus_map_leads, ((const struct versus *)context)->answer);
}
static void write_page(FILE *file, const void *context) {
    struct weft_report_page *page = weft_versus_page(&((const struct versus *)context)->v);
    weft_report_page_write(file, page);
    weft_report_page_free(page);
}

static enum weft_status write_folder(struct versus *x, struct weft_error *ret_error) {
    static const struct {
        const char *name;
        void (*write)(FILE *file, const void *context);
    } files[] = {{"versus.yaml", write_yaml}, {"versus.json", write_json}, {"versus.txt", write_text},
                 {"versus.csv", write_csv},   {"map.csv", write_map_csv},  {"versus.html", write_page}};
    struct weft_error without_page = {0};
    size_t n = sizeof files / sizeof *files - (weft_report_page_check(&without_page) ? 1 : 0);
    enum weft_status status = weft_sweep_sqlite(
        x->sweep.o->out, &(struct weft_sweep_shown){&x->sweep.r, NULL, x->sweep.interrupted}, ret_error);
    for (size_t i = 0; i < n && !status; i++)
        status = weft_cli_replace_in_folder(x->sweep.o->out, files[i].name, files[i].write, x, ret_error);
    return status;
}

static void print_text(FILE *file, const void *context) {
    const struct weft_versus *v = context;
    weft_versus_text(file, v);
    if (!v->since) return;
    const char *version = weft_tree_find(old, "weft") ? weft_tree_find(old, "weft")->text : NULL;
    fprintf(file, "\nsince %s (weft %s)\n", v->since, version ? version : "?");
    for (uint32_t i = 0; i < v->n_changed; i++)
        versus_change_print(file, &v->changed[i]);
    if (!v->n_changed) fputs("  nothing has changed\n", file);
}

/// The lines that --diff prints, as sentences.
static void note_changes(struct versus *x) {
    struct weft_arena *arena = x->sweep.o->arena;
    x->v.changed = versus_changes(&x->v, old, arena, &x->v.n_changed);
    const char **line = weft_arena_alloc(arena, x->v.n_changed, sizeof *line);
    for (uint32_t i = 0; i < x->v.n_changed; i++) {
        WEFT__TEXT_STREAM(stream, file);
        versus_change_print(file, &x->v.changed[i]);
        char *text = weft_arena_text(arena, weft__text_stream_text(&stream));
        text[strcspn(text, "\n")] = 0;
        line[x->v.changes++] = text + 2;
    }
    x->v.since = diff;
    x->v.change = line;
}

static enum weft_status tell_answer(struct versus *x, struct weft_error *ret_error) {
    const struct weft_cli_options *o = x->sweep.o;
    if (old) note_changes(x);
    x->answer = weft_versus_answer(&x->v, x->sweep.interrupted, o->arena);
    enum weft_status status = o->out && x->v.variants ? write_folder(x, ret_error) : WEFT_OK;
    enum weft_status told = weft_cli_answer(o, &weft__answer_versus, x->answer, print_text, status ? NULL : ret_error);
    return status ? status : told;
}

static enum weft_status show_versus(struct sweep *s, struct weft_error *ret_error) {
    struct versus *x = (struct versus *)s;
    weft_versus_judge(&x->v, s->o->arena);
    enum weft_status status = weft_versus_goodput(&x->v, x->job.goodput, s->o->arena, ret_error);
    return status ? status : tell_answer(x, ret_error);
}

// --- what is run --------------------------------------------------------------------------------------------------

static bool refuse_options(const char *text) {
    fprintf(stderr, "weft: %s\n", text);
    return false;
}

/// What settings cannot change: all fabrics do the same work with the same seeds.
static bool check_settings(const struct weft_cli_options *o) {
    for (uint32_t i = 0; i < o->settings; i++) {
        const char *said = begins_with(o->setting[i], "workload") ? "the work is JOB's; expected settings of fabrics, "
                                                                    "hosts and the run"
                           : begins_with(o->setting[i], "run.seed=") ? "expected --seeds"
                           : begins_with(o->setting[i], "goodput.")  ? "it is JOB's; expected its section goodput"
                                                                     : NULL;
        if (said) return refuse_options(weft_arena_format(o->arena, "versus: --set %s: %s", o->setting[i], said));
    }
    return true;
}

static bool check_options(const struct weft_cli_options *o) {
    if (!check_settings(o)) return false;
    if (!o->operands && !battery.name) return refuse_options("versus: expected JOB, or --battery quick or full");
    if (merge && task_text) return refuse_options("--merge is of all tasks; expected it without --task");
    if (merge && !o->out) return refuse_options("--merge: expected --out DIR, where the tasks have left their runs");
    if (!battery.name && (battery.sizes || battery.cases))
        return refuse_options("--sizes and --cases are of a --battery");
    if (packets_text && !estimate) return refuse_options("--packets is of estimates; expected --estimate");
    if (estimate && (merge || task_text)) return refuse_options("--estimate takes seconds; expected it without tasks");
    if (!o->operands && o->variant) return refuse_options("--variant is of JOB; expected JOB");
    return true;
}

/// The default of blueprints that do not set this value.
static uint64_t fabric_default(const char *name, enum weft__quantity quantity) {
    char why[128];
    uint64_t value = 0;
    const struct weft_param *row = weft_param_find(weft_model_at(WEFT_KIND_FABRIC, 0)->params, name);
    weft__quantity_parse(quantity, row->dflt, &value, why, sizeof why);
    return value;
}

/// From the command line, else from the job's own network, else the default of blueprints.
static enum weft_status size_up(const struct weft_cli_options *o, const struct versus_job *job, struct weft_versus *v,
                                struct weft_versus_scale **ret_scale, struct weft_error *ret_error) {
    enum { SCALES_MAX = 64, HOSTS_MIN = 2, HOSTS_MAX = 1048576 };
    char why[256];
    uint64_t one = job->hosts ? job->hosts : fabric_default("hosts", WEFT__COUNT), *given = &one;
    uint64_t bps = job->rate_bps ? job->rate_bps : fabric_default("rate", WEFT__RATE);
    v->scales = 1;
    if (hosts && !weft_numbers_parse(hosts, SCALES_MAX, o->arena, &given, &v->scales, why, sizeof why))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--hosts"}, "%s", why);
    for (uint32_t s = 0; s < v->scales; s++)
        if (given[s] < HOSTS_MIN || given[s] > HOSTS_MAX)
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--hosts"},
                               "%llu is out of range; expected %d to %d", (unsigned long long)given[s], HOSTS_MIN,
                               HOSTS_MAX);
    if (rate && !weft__quantity_parse(WEFT__RATE, rate, &bps, why, sizeof why))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--rate"}, "%s", why);
    struct weft_versus_scale *scale = weft_arena_alloc(o->arena, v->scales, sizeof *scale);
    for (uint32_t s = 0; s < v->scales; s++)
        scale[s].hosts = given[s];
    *ret_scale = scale;
    v->scale = scale;
    v->hosts = given[0];
    v->rate_bps = bps;
    return WEFT_OK;
}

static enum weft_status add_cases(const struct weft_cli_options *o, const struct versus_job *job, struct weft_versus *v,
                                  struct weft_error *ret_error) {
    v->cases = weft_arena_alloc(o->arena, 1, sizeof *v->cases);
    if (job->work)
        v->cases[v->n_cases++] =
            (struct weft_versus_case){.name = "job", .family = "job", .by = WEFT_VERSUS_TIME, .healthy = WEFT_NONE};
    return battery.name ? versus_battery_add(&battery, v, o->arena, ret_error) : WEFT_OK;
}

/// The job's sections are laid over the scenario, which has the same text, with their places in the job's own file, so
/// that errors point there. With cases they are only in the text, because settings would apply to the other cases too.
static enum weft_status compose_job(struct versus *x, const struct versus_job *job,
                                    const struct weft_scenario_file **ret_file, struct weft_error *ret_error) {
    const struct weft_cli_options *o = x->sweep.o;
    struct weft_scenario_file *file = NULL;
    x->text = weft_versus_compose(&x->v, job->work, job->run, o->arena);
    const char *name = job->path && strcmp(job->path, "-") ? job->path : "versus.yaml";
    enum weft_status status =
        weft_scenario_file_parse(name, x->text, strlen(x->text), o->setting, o->settings, &file, ret_error);
    if (status) return status;
    *ret_file = file;
    if (x->v.n_all > 1 || !job->work) return WEFT_OK;
    struct weft_tree *over = weft_arena_alloc(o->arena, 1, sizeof *over),
                     *work = weft_arena_alloc(o->arena, 1, sizeof *work);
    const struct weft_tree *list[] = {over};
    *work = *job->work;
    work->key = "workload";
    *over = (struct weft_tree){.type = WEFT_TREE_MAP, .place = work->place, .n = 1};
    over->child = weft_arena_alloc(o->arena, 1, sizeof *over->child);
    over->child[0] = work;
    *ret_file = weft_scenario_file_over(file, list, 1, o->arena);
    return WEFT_OK;
}

static enum weft_status run_all(struct versus *x, const struct weft_scenario_file *file, uint32_t jobs,
                                struct weft_error *ret_error) {
    struct sweep *s = &x->sweep;
    struct weft_sweep_options options = {.variant = WEFT_NONE};
    uint64_t *seed = NULL;
    if (!seeds_text && battery.name && !strcmp(battery.name, "full")) seeds_text = "1..3";
    if (seeds_text && !weft_cli_seeds_parse(seeds_text, s->o->arena, &seed, &options.seeds)) return WEFT_ERROR_INPUT;
    options.seed = seed;
    WEFT_TRY(weft_sweep_new(file, &options, s->o->arena, &s->plan, ret_error));
    sweep_begin(s, x->v.job ? x->v.job : "battery");
    s->metric = weft_arena_alloc(s->o->arena, 1, sizeof *s->metric);
    s->r.metric = s->metric;
    s->keep = keep_measured;
    s->follows_ranks = follows_ranks;
    s->announce = announce_runs;
    s->kept = "versus time_ps";
    x->v.results = &s->r;
    if (estimate) estimate_all(x);
    return sweep_through(s, jobs, show_versus, ret_error);
}

static enum weft_status read_gpus(struct weft_versus *v, struct weft_error *ret_error) {
    enum { GPUS_MAX = 1048576 };
    if (!goodput_text) return WEFT_OK;
    return weft_cli_number("--goodput", goodput_text, 8, GPUS_MAX, &v->gpus) ? WEFT_OK : WEFT_ERROR_INPUT;
}

static enum weft_status run_versus(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct versus x = {.sweep = {.o = o, .lock = -1, .merge = merge}};
    struct versus_job *job = &x.job;
    const struct weft_scenario_file *file = NULL;
    struct weft_versus_scale *scale = NULL;
    uint32_t jobs;
    if (!check_options(o) || !sweep_share_out(&x.sweep, task_text, jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    enum weft_status status = sweep_packets_read(packets_text, &x.packets, ret_error);
    if (!status && diff) status = versus_old_read(diff, o->arena, &old, ret_error);
    if (!status && o->operands) status = versus_job_read(o, job, ret_error);
    x.v.job = job->path;
    x.v.ignored = job->ignored;
    x.v.n_ignored = job->n_ignored;
    if (!status) status = read_gpus(&x.v, ret_error);
    if (!status) status = size_up(o, job, &x.v, &scale, ret_error);
    if (!status) status = versus_fabrics_read(o, fabrics, budget, &x.v, scale, ret_error);
    if (!status) status = add_cases(o, job, &x.v, ret_error);
    x.v.n_all = x.v.n_cases;
    if (!status && (assumptions || bands)) status = versus_assumptions_add(o, &x.v, !assumptions, ret_error);
    if (!status) status = weft_versus_goodput(&x.v, job->goodput, o->arena, ret_error);
    if (!status && !x.v.variants) status = tell_answer(&x, ret_error);
    if (!status && x.v.variants) status = compose_job(&x, job, &file, ret_error);
    if (!status && x.v.variants) status = run_all(&x, file, jobs, ret_error);
    return status;
}

int weft_cli_versus(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, run_versus);
}
