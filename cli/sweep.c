// SPDX-License-Identifier: Apache-2.0
// weft sweep: one scenario at many points, with several seeds each. Every run is a process and leaves a file; the
// output of the sweep is made from those files, from one machine or many.
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli.h"
#include "processes.h"

enum { TIMEOUT_S_MAX = 8640000 }; // 100 days

static const char *sample_text, *seeds_text, *jobs_text, *task_text, *best_text, *metrics_text, *timeout_text;
static const char *table = "sweep";
static bool zip, merge, csv, estimate;
static struct weft_cli_values vary;
static const struct weft_cli_option own[] = {
    {"vary", "PATH=VALUES", "a parameter and its values: [a,b,c], A..B, A..B:N, A..B:Nlog; may be repeated", NULL,
     NULL},
    {"zip", NULL, "the first values of all parameters form one point, the second values the next", NULL, &zip},
    {"sample", "N[:SEED]", "N points drawn as a Latin hypercube", &sample_text, NULL},
    {"seeds", "LIST", "seeds with which every point runs, such as 1..5", &seeds_text, NULL},
    {"best", "METRIC[:max]", "rank points by a metric, such as victims.fct.mean, the least first", &best_text, NULL},
    {"metrics", "LIST", "show these metrics, such as victims.fct.p99,counters.cnp", &metrics_text, NULL},
    {"estimate", NULL,
     "estimate every run in seconds instead of running it; each time has its 90% interval (docs/estimate.md)", NULL,
     &estimate},
    {"jobs", "N", "runs at a time (default: one per processor; one in an MPI rank)", &jobs_text, NULL},
    {"timeout", "TIME", "end a run after this wall time, such as 600s; it counts as failed", &timeout_text, NULL},
    {"task", "I/N", "only the I-th of N parts of the runs; set automatically in a job array of Slurm or under MPI",
     &task_text, NULL},
    {"merge", NULL, "run nothing: merge the results of the tasks in --out DIR", NULL, &merge},
    {"csv", NULL, "comma-separated values on standard output: one line per point, seed and group", NULL, &csv},
    {"table", "NAME", "with --csv: another table, as in `weft models results sweep`", &table, NULL},
    {0}};

static const struct weft_cli_command command = {
    .name = "sweep",
    .operands = "SCENARIO",
    .about =
        "Runs a scenario at every point of its `sweep:` and of --vary, in every variant, with all seeds, and shows\n"
        "means over seeds with their 95% intervals. All points are checked before the first run. Runs are\n"
        "processes, the longest first. If it is killed, the same command continues where it stopped; with --out\n"
        "DIR, runs stay there, and points can be added. A failed run is reported and does not stop the others.\n"
        "Exit status: 0 done, 1 system error, runs failed or are missing, 2 bad input (nothing was run), 3 bytes\n"
        "not conserved (a bug), 4 a run stalled, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON |
              WEFT_CLI_PICK | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
    .repeated = "vary",
    .ret_repeated = &vary,
};

// --- options ------------------------------------------------------------------------------------------------------

static bool refuse_options(const char *text) {
    fprintf(stderr, "weft: %s\n", text);
    return false;
}

static bool check_options(const struct weft_cli_options *o) {
    if (zip && sample_text) return refuse_options("--zip and --sample are two kinds of points; expected one of them");
    if (csv + o->json + (o->picks != 0) > 1) return refuse_options("--json, --csv and --pick: expected one of them");
    if (csv && !weft_answer_table(&weft__answer_sweep, table))
        return refuse_options("--table: expected one of weft models results sweep");
    if (csv) weft_cli_terminal_raw();
    if (merge && task_text) return refuse_options("--merge is of all tasks; expected it without --task");
    if (merge && !o->out) return refuse_options("--merge: expected --out DIR, where the tasks have left their runs");
    if (merge && access(o->out, F_OK))
        return refuse_options("--merge: --out names no folder; expected the one that the tasks have written");
    for (uint32_t i = 0; seeds_text && i < vary.n; i++)
        if (!strncmp(vary.value[i], "run.seed=", 9))
            return refuse_options("--seeds and --vary run.seed; expected one of them");
    return true;
}

/// "20" or "20:7".
static bool parse_sample(struct weft_sweep_options *ret) {
    char *end;
    if (!sample_text) return true;
    const char *seed = strchr(sample_text, ':');
    bool digits = *sample_text >= '0' && *sample_text <= '9';
    unsigned long points = digits ? strtoul(sample_text, &end, 10) : 0;
    if (digits && points && points <= WEFT_SWEEP_VALUES_MAX && (seed ? end == seed : !*end)) {
        ret->sample = (uint32_t)points;
        ret->sample_seed = 1;
        return !seed || weft_cli_number("--sample", seed + 1, 0, INT64_MAX, &ret->sample_seed);
    }
    fprintf(stderr,
            "weft: --sample: '%s' is not understood; expected how many points, 1 to %d, such as 20, or 20:7 for "
            "another sample\n",
            sample_text, WEFT_SWEEP_VALUES_MAX);
    return false;
}

static bool parse_timeout(weft_time_ps *ret_timeout) {
    char why[256];
    uint64_t time;
    if (!timeout_text) return true;
    if (!weft__quantity_parse(WEFT__TIME, timeout_text, &time, why, sizeof why)) {
        fprintf(stderr, "weft: --timeout: %s\n", why);
        return false;
    }
    if (time < WEFT_PS_PER_MS || time > TIMEOUT_S_MAX * WEFT_PS_PER_S) {
        fprintf(stderr, "weft: --timeout: %s is out of range 1ms to %ds\n", timeout_text, TIMEOUT_S_MAX);
        return false;
    }
    *ret_timeout = (weft_time_ps)time;
    return true;
}

static bool parse_options(struct sweep *s, struct weft_sweep_options *ret, uint32_t *ret_jobs) {
    uint64_t *seed = NULL;
    *ret = (struct weft_sweep_options){.vary = vary.value, .varied = vary.n, .zip = zip};
    if (!check_options(s->o) || !parse_sample(ret) || !parse_timeout(&s->timeout_ps)) return false;
    if (seeds_text && !weft_cli_seeds_parse(seeds_text, s->o->arena, &seed, &ret->seeds)) return false;
    ret->seed = seed;
    return sweep_share_out(s, task_text, jobs_text, ret_jobs);
}

// --- metrics ------------------------------------------------------------------------------------------------------

static enum weft_status add_metric(struct sweep *s, const char *text, struct weft_place place, bool direction,
                                   struct weft_error *ret_error) {
    struct weft_sweep_metric *m = &s->metric[s->r.metrics];
    if (!weft_sweep_metric_parse(text, place, direction, s->r.column, s->r.columns, s->o->arena, m))
        return WEFT_REFUSE(ret_error, place,
                           "\"%.200s\": expected a metric of a run, such as victims.fct.mean or counters.cnp", text);
    for (uint32_t i = 0; i < s->r.metrics; i++)
        if (!strcmp(s->metric[i].name, m->name)) { // known already
            s->metric[i].max |= m->max;
            if (direction) s->best = &s->metric[i];
            return WEFT_OK;
        }
    if (direction) s->best = m;
    s->r.metrics++;
    return WEFT_OK;
}

/// The number of characters before the next comma outside quotes.
static size_t item_length(const char *text) {
    size_t n = 0;
    for (bool quoted = false; text[n] && (quoted || text[n] != ','); n++)
        quoted ^= text[n] == '"';
    return n;
}

/// The metrics of --metrics and --best, or else of the file's section.
static enum weft_status add_metrics(struct sweep *s, struct weft_error *ret_error) {
    const char *list = metrics_text ? metrics_text : s->plan->metrics;
    const char *best = best_text ? best_text : s->plan->best;
    struct weft_place place = metrics_text ? (struct weft_place){.file = "--metrics"} : s->plan->metrics_place;
    struct weft_place best_place = best_text ? (struct weft_place){.file = "--best"} : s->plan->best_place;
    enum weft_status status = WEFT_OK;
    s->metric = weft_arena_alloc(s->o->arena, strlen(list) + 2, sizeof *s->metric);
    for (const char *at = list; *at && !status;) {
        size_t n = item_length(at);
        status = add_metric(s, weft_arena_format(s->o->arena, "%.*s", (int)n, at), place, false, ret_error);
        at += n + (at[n] == ',');
    }
    s->r.shown = s->r.metrics;
    if (!status && *best) status = add_metric(s, best, best_place, true, ret_error);
    s->r.metric = s->metric;
    return status;
}

// --- results ------------------------------------------------------------------------------------------------------

static enum weft_status show_sweep(struct sweep *s, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK, output;
    struct weft_sweep_best best;
    if (s->best) best = weft_sweep_best(&s->r, s->best, s->o->arena);
    const struct weft_sweep_shown shown = {&s->r, s->best ? &best : NULL, s->interrupted};
    const void *subject;
    const struct weft_answer *answer = weft_sweep_answer(&shown, s->o->arena, &subject);
    if (s->o->out) status = weft_sweep_sqlite(s->o->out, &shown, ret_error);
    struct weft_cli_options o = *s->o;
    o.csv = csv ? table : NULL;
    output = weft_cli_answer(&o, answer, subject, weft_sweep_text, status ? NULL : ret_error);
    return status ? status : output;
}

static enum weft_status sweep_file(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   struct weft_error *ret_error) {
    struct sweep s = {.o = o, .lock = -1, .merge = merge};
    struct weft_sweep_options options;
    uint32_t jobs;
    if (!parse_options(&s, &options, &jobs)) return WEFT_ERROR_INPUT;
    options.variant = WEFT_NONE;
    if (o->variant) WEFT_TRY(weft_cli_variant(o, file, &options.variant, ret_error));
    WEFT_TRY(weft_sweep_new(file, &options, o->arena, &s.plan, ret_error));
    if (estimate) sweep_estimate(&s);
    sweep_begin(&s, o->operand[0]);
    WEFT_TRY(add_metrics(&s, ret_error));
    return sweep_through(&s, jobs, show_sweep, ret_error);
}

int weft_cli_sweep(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, sweep_file);
}
