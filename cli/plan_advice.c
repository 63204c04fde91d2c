// SPDX-License-Identifier: Apache-2.0
// weft plan ecn, dcqcn, admission, buffers, and sfc with --run or --out: values for the user's own scenario, a run with
// its present values and one with the advised ones, and the advice as a scenario based on it.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "simulation.h"
#include "weft/advice.h"
#include "weft/result.h"

#include "base/param.h"
#include "base/units.h"

static const char *run_text, *out_file;
static const struct weft_cli_option own[] = {
    {"run", "TIME|full|off", "run the scenario for so long with its own values and with the advice (default 5ms)",
     &run_text, NULL},
    {"out", "FILE",
     "write the advice to FILE, as a scenario with this one as its base; FILE.sqlite: all tables of the answer",
     &out_file, NULL},
    {0}};

static const char *const about[] = {
    [WEFT_ADVICE_ECN] = "Where queues begin to be marked, and how often: Kmin, Kmax, Pmax.",
    [WEFT_ADVICE_DCQCN] = "Timers and steps of DCQCN at the senders.",
    [WEFT_ADVICE_SFC] = "Threshold, pause and interval of Source Flow Control (IEEE P802.1Qdw).",
    [WEFT_ADVICE_ADMISSION] = "How much the senders of one receiver may have in flight.",
    [WEFT_ADVICE_BUFFERS] = "Headroom, XOFF, XON and alpha of switch buffers.",
};

enum { METRICS_MAX = 256, TRIALS = 6 };
struct pair {
    const char *name;
    const char *part[4];
    uint32_t parts;
    enum { IN_TIME, IN_COUNT } unit;
    double value[TRIALS]; ///< of the run with the present values, then of each trial
    // For the answer:
    const char *unit_name; ///< "ps" or "count"
    double advised;        ///< its value as advised
    bool worse;
};
/// Thresholds of plan ecn that were tried.
struct trial {
    double scale;            ///< of those of the formulas; 0: those of the scenario
    const char *kmin, *kmax; ///< NULL: the scenario has none
    bool advised;
};
/// A time longer by this factor is not noise of one seed (assumed), and one shorter by the other is a gain.
static const double worse_by = 1.1, better_by = 0.98;
/// plan ecn tries the thresholds of the formulas, and these parts and multiples of them.
static const double scales[TRIALS] = {0, 1, 0.5, 2, 4, 8};
static const char kmin_path[] = "switch.aqm.min", kmax_path[] = "switch.aqm.max";

struct advising {
    enum weft_advice_subject subject;
    const struct weft_cli_options *o;
    struct weft_scenario_file *file[TRIALS]; ///< the scenario as it is, and as advised in each trial
    struct trial trial[TRIALS];              ///< of plan ecn
    uint32_t trials, best;                   ///< what is advised; best 0: to leave it as it is
    const char *variant;                     ///< "" if the file has none
    uint32_t number;
    struct weft_advice advice;
    const char *until; ///< for both runs; NULL: as in the scenario
    bool run;
    struct pair pair[METRICS_MAX];
    uint32_t pairs;
    // For the answer:
    const char *plan, *run_until; ///< run_until: NULL without runs
    bool nothing;                 ///< to change
    uint32_t curves;              ///< trials of plan ecn; else 0
};

/// Whether the row would change nothing.
static bool is_same(const struct weft_advice_row *r) {
    return r->current && !strcmp(r->current, r->recommended);
}

/// Whether the scenario already has everything that is advised.
static bool is_nothing(const struct weft_advice *v) {
    uint32_t same = 0;
    while (same < v->rows && is_same(&v->row[same]))
        same++;
    return same == v->rows;
}

// --- the runs -----------------------------------------------------------------------------------------------------

static void add_pair(struct advising *a, const char *name, uint32_t unit, const char *p0, const char *p1,
                     const char *p2, const char *p3) {
    if (a->pairs == METRICS_MAX) return;
    const char *part[4] = {p0, p1, p2, p3};
    struct pair *pair = &a->pair[a->pairs++];
    *pair = (struct pair){.name = name, .unit = unit};
    while (pair->parts < 4 && part[pair->parts]) {
        pair->part[pair->parts] = part[pair->parts];
        pair->parts++;
    }
}

/// What both runs are compared by: each group of flows, jobs, and the network.
static void list_pairs(struct advising *a, const struct weft_workload *w, struct weft_arena *arena) {
    for (uint32_t g = 0; g < w->groups && g < 40; g++) {
        const char *group = weft_arena_text(arena, w->group[g]);
        add_pair(a, weft_arena_format(arena, "%s: flows done", group), IN_COUNT, "groups", group, "finished", NULL);
        add_pair(a, weft_arena_format(arena, "%s: completion, mean", group), IN_TIME, "groups", group, "fct_ps",
                 "mean");
        add_pair(a, weft_arena_format(arena, "%s: completion, p99", group), IN_TIME, "groups", group, "fct_ps", "p99");
    }
    for (uint32_t j = 0; j < w->jobs && j < 20; j++) {
        const char *group = weft_arena_text(arena, w->group[w->job[j].group]);
        bool once = w->job[j].schedule != NULL; // it has no iterations
        add_pair(a, weft_arena_format(arena, once ? "%s: end" : "%s: iteration", group), IN_TIME, "jobs",
                 weft_arena_format(arena, "%" PRIu32, j), once ? "end_ps" : "iteration_ps", NULL);
    }
    static const char *const counters[][2] = {{"pause frames", "pfc_xoff_frames"},
                                              {"packets marked", "ecn_marked"},
                                              {"CNPs", "cnp"},
                                              {"SFC messages", "sfc_messages"}};
    for (unsigned i = 0; i < sizeof counters / sizeof *counters; i++)
        add_pair(a, counters[i][0], IN_COUNT, "counters", counters[i][1], NULL, NULL);
    add_pair(a, "paused, all ports", IN_TIME, "counters", "pfc_paused_ps", NULL, NULL);
    add_pair(a, "dropped, lossy", IN_COUNT, "counters", "drops", "buffer_full", NULL);
    add_pair(a, "dropped, headroom full", IN_COUNT, "counters", "drops", "headroom_exhausted", NULL);
}

static enum weft_status run_one(struct advising *a, uint32_t which, struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_run run;
    enum weft_status status = weft_cli_simulation_init(&sim, a->file[which], a->number, ret_error);
    if (!status) {
        sim.scenario->capture.ports = ""; // both would write the same file
        if (!which) list_pairs(a, sim.workload, a->o->arena);
        const char *label = a->trials == 2 ? "with the advice" : weft_arena_format(a->o->arena, "trial %u", which);
        status = weft_cli_simulation_run(&sim, a->o, which ? label : "as it is", &run, ret_error);
    }
    if (!status || status == WEFT_ERROR_STALL) {
        struct weft_result_finder finder = weft_result_finder(&run, sim.arena);
        for (uint32_t i = 0; i < a->pairs; i++) {
            struct weft_result_found found = weft_result_find(&finder, a->pair[i].part, a->pair[i].parts);
            a->pair[i].value[which] = found.column ? weft_result_number(&found.value) : (double)NAN;
        }
        status = WEFT_OK;
    }
    return status;
}

static enum weft_status set_value(struct weft_scenario_file *file, const char *path, const char *value,
                                  struct weft_arena *arena, struct weft_error *ret_error) {
    return weft_scenario_file_set(file, weft_arena_format(arena, "%s=%s", path, *value ? value : "\"\""), ret_error);
}

/// Whether the workload does worse than as it is, by more than a single seed's noise.
static bool is_worse(const struct pair *p, uint32_t trial) {
    if (!strcmp(p->part[0], "counters")) return false;
    return p->unit == IN_COUNT ? p->value[trial] < p->value[0] : p->value[trial] > p->value[0] * worse_by;
}

/// A threshold of a trial: the formula's, times its scale.
static const char *scale_threshold(struct advising *a, const char *text, double by) {
    uint64_t bytes;
    char why[160], scaled[64];
    if (!weft__quantity_parse(WEFT__BYTES, text, &bytes, why, sizeof why)) return text;
    weft__quantity_format(WEFT__BYTES, (weft_bytes)((double)bytes * by), scaled, sizeof scaled);
    return weft_arena_text(a->o->arena, scaled);
}

static const char *value_of(const struct advising *a, const struct weft_advice_row *r, uint32_t trial) {
    return !strcmp(r->path, kmin_path)   ? a->trial[trial].kmin
           : !strcmp(r->path, kmax_path) ? a->trial[trial].kmax
                                         : r->recommended;
}

/// The files of all trials; a model of another kind precedes its parameters.
static enum weft_status make_files(struct advising *a, struct weft_error *ret_error) {
    const struct weft_cli_options *o = a->o;
    enum weft_status status = WEFT_OK;
    a->trials = a->subject == WEFT_ADVICE_ECN && a->run ? TRIALS : 2;
    for (uint32_t t = 0; t < a->trials && !status; t++) {
        if (t) status = weft_scenario_file_read(o->operand[0], o->setting, o->settings, &a->file[t], ret_error);
        if (!status && a->until) status = set_value(a->file[t], "run.until", a->until, o->arena, ret_error);
        for (uint32_t i = 0; i < a->advice.rows && !status; i++) {
            const struct weft_advice_row *r = &a->advice.row[i];
            if (!strcmp(r->path, kmin_path))
                a->trial[t].kmin = t ? scale_threshold(a, r->recommended, scales[t]) : r->current;
            if (!strcmp(r->path, kmax_path))
                a->trial[t].kmax = t ? scale_threshold(a, r->recommended, scales[t]) : r->current;
            if (t && (!r->current || strcmp(r->current, value_of(a, r, t))))
                status = set_value(a->file[t], r->path, value_of(a, r, t), o->arena, ret_error);
        }
    }
    return status;
}

/// The times of a trial over those as it is: the geometric mean of flows' and jobs'.
static double score_of(const struct advising *a, uint32_t trial) {
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->pairs; i++) {
        const struct pair *p = &a->pair[i];
        bool known = p->unit == IN_TIME && strcmp(p->part[0], "counters") != 0 && p->value[0] > 0;
        if (!known || !(p->value[trial] > 0)) continue;
        sum += log(p->value[trial] / p->value[0]);
        n++;
    }
    return n ? exp(sum / n) : 1;
}

/// Of the trials in which nothing is worse the best; if none is better than the values in force, these.
static void choose_trial(struct advising *a) {
    double best = better_by;
    a->best = 0;
    for (uint32_t t = 1; t < a->trials; t++) {
        bool worse = false, more = false;
        for (uint32_t i = 0; i < a->pairs; i++) {
            const struct pair *p = &a->pair[i];
            worse |= is_worse(p, t);
            more |= p->unit == IN_COUNT && strcmp(p->part[0], "counters") != 0 && p->value[t] > p->value[0];
        }
        double score = score_of(a, t);
        if (worse || (score >= best && !(more && !a->best))) continue;
        best = score;
        a->best = t;
    }
    for (uint32_t i = 0; i < a->advice.rows; i++) {
        struct weft_advice_row *r = &a->advice.row[i];
        const char *formula = r->recommended;
        r->recommended = a->best ? value_of(a, r, a->best) : r->current ? r->current : "";
        if (!strcmp(formula, r->recommended)) continue;
        r->margin = weft_arena_format(a->o->arena, "by the runs below: the formula's %s %s", formula,
                                      a->best ? "takes longer" : "gains nothing over the current value");
    }
    if (a->best) return;
    uint32_t kept = 0; // values of models that are not selected
    for (uint32_t i = 0; i < a->advice.rows; i++)
        if (a->advice.row[i].current) a->advice.row[kept++] = a->advice.row[i];
    a->advice.rows = kept;
}

static enum weft_status run_all(struct advising *a, struct weft_error *ret_error) {
    enum weft_status status = make_files(a, ret_error);
    a->best = 1;
    if (!a->run) { // the advice must still fit the scenario
        WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
        if (!status) status = weft_cli_simulation_init(&sim, a->file[1], a->number, ret_error);
        return status;
    }
    weft_cli_catch_interrupt();
    for (uint32_t t = 0; t < a->trials && !status; t++)
        status = run_one(a, t, ret_error);
    if (!status && a->subject == WEFT_ADVICE_ECN) choose_trial(a);
    return status;
}

// --- the patch ----------------------------------------------------------------------------------------------------

/// The scenario as seen from the folder of the patch: by its name there, else by its full path; a blueprint by name.
static const char *base_of(const struct advising *a) {
    const char *operand = a->o->operand[0], *out = out_file, *slash = strrchr(out, '/');
    struct weft_arena *arena = a->o->arena;
    char *path = realpath(operand, NULL);
    char *folder = realpath(slash ? weft_arena_format(arena, "%.*s/", (int)(slash - out), out) : ".", NULL);
    const char *base = operand;
    if (path && folder) {
        size_t n = strlen(folder);
        bool beside = !strncmp(path, folder, n) && path[n] == '/';
        base = weft_arena_text(arena, beside ? path + n + 1 : path);
    }
    free(path);
    free(folder);
    return base;
}

static void write_settings(FILE *file, const struct advising *a, int indent) {
    for (uint32_t i = 0; i < a->o->settings; i++) {
        const char *text = a->o->setting[i];
        fprintf(file, "%*s%.*s: %s\n", indent, "", (int)strcspn(text, "="), text, text + strcspn(text, "=") + 1);
    }
    for (uint32_t i = 0; i < a->advice.rows; i++) {
        const struct weft_advice_row *r = &a->advice.row[i];
        if (!is_same(r))
            fprintf(file, "%*s%s: %s # was %s\n", indent, "", r->path, *r->recommended ? r->recommended : "\"\"",
                    r->current ? r->current : "not in force");
    }
}

/// Writes the values into the variant: a variant of the base overrides top-level keys of the patch.
static void write_patch(FILE *file, const void *context) {
    const struct advising *a = context;
    const char *slash = strchr(a->variant, '/'); // of case and variant
    bool cases = *weft_scenario_variant_case(a->file[0], a->number);
    fprintf(file, "# Advice of weft plan %s", weft_advice_names[a->subject]);
    fprintf(file, "%s%s\nbase: \"%s\"\n", *a->variant ? ", variant " : "", a->variant, base_of(a));
    if (!*a->variant) {
        write_settings(file, a, 0);
    } else if (cases && slash) {
        fprintf(file, "cases:\n  \"%.*s\":\n    variants:\n      \"%s\":\n", (int)(slash - a->variant), a->variant,
                slash + 1);
        write_settings(file, a, 8);
    } else if (cases) {
        fprintf(file, "cases:\n  \"%s\":\n", a->variant);
        write_settings(file, a, 4);
    } else {
        fprintf(file, "variants:\n  \"%s\":\n", a->variant);
        write_settings(file, a, 4);
    }
}

// --- output -------------------------------------------------------------------------------------------------------

static const char *value_text(const struct advising *a, const struct pair *p, uint32_t which) {
    if (isnan(p->value[which])) return "-";
    if (p->unit == IN_COUNT) return weft_arena_format(a->o->arena, "%.0f", p->value[which]);
    return weft_arena_text(a->o->arena, weft__short_time((weft_time_ps)p->value[which]).text);
}

static const char *change_text(const struct advising *a, const struct pair *p) {
    double after = p->value[a->best];
    if (isnan(p->value[0]) || isnan(after) || !(p->value[0] > 0)) return "";
    double change = 100 * (after / p->value[0] - 1);
    return fabs(change) < 0.05 ? "same" : weft_arena_format(a->o->arena, "%+.1f%%", change);
}

/// Columns of the curve: completion times of flows and jobs, marks, pauses.
static bool is_column(const struct pair *p) {
    static const char *const ends[] = {"completion, mean", ": iteration", "packets marked", "pause frames"};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        size_t n = strlen(p->name), end = strlen(ends[e]);
        if (n >= end && !strcmp(p->name + n - end, ends[e])) return true;
    }
    return false;
}

enum { COLUMNS_MAX = 6 };

static void print_curve(const struct advising *a) {
    const struct pair *column[COLUMNS_MAX];
    uint32_t columns = 0;
    for (uint32_t i = 0; i < a->pairs; i++) // the last two are counters
        if (is_column(&a->pair[i]) && (columns < COLUMNS_MAX - 2 || !strcmp(a->pair[i].part[0], "counters")))
            column[columns++] = &a->pair[i];
    printf("\n%-10s %10s %10s", "thresholds", "Kmin", "Kmax");
    for (uint32_t c = 0; c < columns; c++)
        printf("  %14s", column[c]->name);
    putchar('\n');
    for (uint32_t t = 0; t < a->trials; t++) {
        bool worse = false;
        printf("  %-8s %10s %10s", !t ? "as it is" : weft_arena_format(a->o->arena, "x %g", scales[t]),
               *a->trial[t].kmin ? a->trial[t].kmin : "-", *a->trial[t].kmax ? a->trial[t].kmax : "-");
        for (uint32_t c = 0; c < columns; c++)
            printf("  %*s", (int)strlen(column[c]->name) > 14 ? (int)strlen(column[c]->name) : 14,
                   value_text(a, column[c], t));
        for (uint32_t i = 0; i < a->pairs; i++)
            worse |= t && is_worse(&a->pair[i], t);
        printf("%s\n", t == a->best ? "  advised" : worse ? "  worse" : "");
    }
    if (!a->best) puts("Leave it: no threshold that was tried does better than yours.");
}

static void print_verdict(const struct advising *a) {
    bool any = false;
    for (uint32_t i = 0; i < a->pairs; i++)
        if (is_worse(&a->pair[i], a->best)) {
            printf("%s%s", any ? ", " : "Worse as advised: ", a->pair[i].name);
            any = true;
        }
    if (any) puts(". The formulas do not know this workload: keep your values, or search with weft tune.");
}

static void print_runs(const struct advising *a) {
    if (a->subject == WEFT_ADVICE_ECN) print_curve(a);
    if (!a->best) return;
    const char *title = a->until ? weft_arena_format(a->o->arena, "run for %s", a->until) : "run to its end";
    printf("\n%-32s %14s %14s\n", title, "as it is", "as advised");
    for (uint32_t i = 0; i < a->pairs; i++) {
        const struct pair *p = &a->pair[i];
        if (p->unit == IN_COUNT && !(p->value[0] > 0) && !(p->value[a->best] > 0)) continue;
        printf("  %-30s %14s %14s  %s\n", p->name, value_text(a, p, 0), value_text(a, p, a->best), change_text(a, p));
    }
    puts("Completion is of flows that are done.");
    print_verdict(a);
    puts("One run each, one seed: a difference of a few per cent may be noise (weft tune compares over seeds)");
}

static void print_text(FILE *file, const void *subject) {
    const struct advising *a = subject;
    const struct weft_advice *v = &a->advice;
    printf("advice on %s%s%s, from %s\n", weft_advice_names[a->subject], *a->variant ? ", variant " : "", a->variant,
           a->o->operand[0]);
    for (uint32_t i = 0; i < v->facts; i++)
        printf("  %-14s %s\n", v->fact[i].name, v->fact[i].text);
    for (uint32_t i = 0; i < v->findings; i++)
        printf("%swrong: %s\n", i ? "" : "\n", v->finding[i]);
    for (uint32_t i = 0; i < v->rows; i++) {
        const struct weft_advice_row *r = &v->row[i];
        printf("\n%s: %s%s%s%s\n", r->path, *r->recommended ? r->recommended : "\"\"",
               is_same(r) ? " as it is" : ", now ",
               is_same(r)   ? ""
               : r->current ? r->current
                            : "not in force",
               "");
        if (*r->formula) printf("  formula  %s\n", r->formula);
        if (*r->source) printf("  source   %s\n", r->source);
        if (*r->margin) printf("  margin   %s\n", r->margin);
    }
    if (is_nothing(v))
        printf("\nnothing to change%s%s%s\n", out_file ? ": " : "", out_file ? out_file : "",
               out_file ? " is not written" : "");
    if (a->run) print_runs(a);
}

// --- tables -------------------------------------------------------------------------------------------------------

/// What tables show besides.
static void complete_answer(struct advising *a) {
    a->plan = weft_advice_names[a->subject];
    a->nothing = is_nothing(&a->advice);
    a->run_until = !a->run ? NULL : a->until ? a->until : "";
    a->curves = a->run && a->subject == WEFT_ADVICE_ECN ? a->trials : 0;
    for (uint32_t i = 0; i < a->pairs; i++) {
        struct pair *p = &a->pair[i];
        p->unit_name = p->unit == IN_TIME ? "ps" : "count";
        p->advised = p->value[a->best];
        p->worse = is_worse(p, a->best);
    }
    for (uint32_t t = 0; t < a->curves; t++) {
        struct trial *trial = &a->trial[t];
        *trial =
            (struct trial){scales[t], trial->kmin ? trial->kmin : "", trial->kmax ? trial->kmax : "", t == a->best};
    }
}

static bool next_metric(struct weft_result_cursor *c) {
    const struct advising *a = c->subject;
    if (c->at == a->pairs) return false;
    c->part[0] = &a->pair[c->at++];
    c->part[1] = c->above->part[0];
    return true;
}

/// Of a pair in the trial above.
static struct weft_result_value value_in_trial(struct weft_result_cursor *c) {
    const struct advising *a = c->subject;
    double value = ((const struct pair *)c->part[0])->value[(const struct trial *)c->part[1] - a->trial];
    return (struct weft_result_value){.known = isfinite(value), .real = value};
}

#define ADVICE(field, key, kind, ...) WEFT_RESULT_NAMED(struct advising, field, key, kind, __VA_ARGS__)
#define FACT(field, ...) WEFT_RESULT(struct weft_advice_fact, field, TEXT, __VA_ARGS__)
#define VALUE(field, ...) WEFT_RESULT(struct weft_advice_row, field, TEXT, __VA_ARGS__)
#define PAIR(field, key, kind, ...) WEFT_RESULT_NAMED(struct pair, field, key, kind, __VA_ARGS__)
#define TRIAL(field, kind, ...) WEFT_RESULT(struct trial, field, kind, __VA_ARGS__)
static const struct weft_result_table advice_table = WEFT_RESULT_TABLE_OF(
    "advice", OBJECT, "advice on a scenario", WEFT_RESULT_SUBJECT,
    ADVICE(plan, "plan", TEXT, "subject of the advice: ecn, dcqcn, sfc, admission or buffers"),
    ADVICE(variant, "variant", TEXT, "name of the variant of the scenario"),
    ADVICE(nothing, "nothing_to_change", BOOL, "whether the scenario already has everything that is advised"),
    ADVICE(run_until, "run_until", TEXT, "duration of the runs; empty: to their end", .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table facts_table = WEFT_RESULT_TABLE_OF(
    "facts", NUMBERS, "a fact about the scenario", WEFT_RESULT_FIRST(struct advising, advice.fact[0], advice.facts),
    FACT(name, "name of the fact", .flags = WEFT_RESULT_KEY), FACT(text, "what the values follow from"));
static const struct weft_result_table findings_table =
    WEFT_RESULT_TABLE_OF("findings", ARRAY, "a fault of the values in force",
                         WEFT_RESULT_FIRST(struct advising, advice.finding[0], advice.findings),
                         WEFT_RESULT_INDEX("number", "number of the finding, from 0"),
                         WEFT_RESULT_ITEM(const char *, "finding", TEXT, "what is wrong with the values in force"));
static const struct weft_result_table values_table = WEFT_RESULT_TABLE_OF(
    "values", LIST, "a parameter with its advised value",
    WEFT_RESULT_FIRST(struct advising, advice.row[0], advice.rows),
    VALUE(path, "path of the parameter", .flags = WEFT_RESULT_KEY),
    VALUE(current, "value in force; none: the parameter's model is not selected", .flags = WEFT_RESULT_SPARSE),
    VALUE(recommended, "value that is advised"), VALUE(formula, "formula of the value, with numbers"),
    VALUE(source, "source of the formula"), VALUE(margin, "margin between the value and its limits"));
static const struct weft_result_table runs_table = WEFT_RESULT_TABLE_OF(
    "runs", LIST, "a metric in both runs",
    WEFT_RESULT_AND(WEFT_RESULT_FIRST(struct advising, pair[0], pairs), .sparse = true),
    PAIR(name, "metric", TEXT, "the metric", .flags = WEFT_RESULT_KEY), PAIR(unit_name, "unit", TEXT, "ps or count"),
    PAIR(value[0], "current", REAL, "value of the metric in the run with the values in force"),
    PAIR(advised, "recommended", REAL, "value of the metric in the run as advised"),
    PAIR(worse, "worse", BOOL, "whether the run as advised is worse by more than noise"));
static const struct weft_result_table curve_table = WEFT_RESULT_TABLE_OF(
    "curve", LIST, "thresholds that were tried (ecn)",
    WEFT_RESULT_AND(WEFT_RESULT_FIRST(struct advising, trial[0], curves), .sparse = true),
    TRIAL(scale, REAL, "thresholds tried over those of the formulas; 0: as in the scenario", .flags = WEFT_RESULT_KEY),
    TRIAL(kmin, TEXT, "depth at which marking begins"), TRIAL(kmax, TEXT, "depth from which every packet is marked"),
    TRIAL(advised, BOOL, "whether these thresholds are advised"));
static const struct weft_result_table curve_values_table = WEFT_RESULT_TABLE_OF(
    "curve.values", NUMBERS, "a metric with these thresholds", .next = next_metric,
    WEFT_RESULT_OF(struct trial, scale, REAL, "thresholds tried over those of the formulas"),
    PAIR(name, "metric", TEXT, "the metric", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(value_in_trial, "value", REAL, "value of the metric in the run with these thresholds"));
const struct weft_answer weft__answer_plan_advice = WEFT_ANSWER_OF(
    "plan_advice", "weft plan ecn, dcqcn, sfc, admission, buffers: values for a scenario, and runs with both",
    &advice_table, &facts_table, &findings_table, &values_table, &runs_table, &curve_table, &curve_values_table);

// --- the command --------------------------------------------------------------------------------------------------

/// The duration of both runs: at most the scenario's own.
static enum weft_status read_run(struct advising *a, weft_time_ps own_until, struct weft_error *ret_error) {
    const char *text = run_text ? run_text : "5ms";
    char why[160];
    uint64_t time;
    a->run = strcmp(text, "off") != 0;
    if (!a->run || !strcmp(text, "full")) return WEFT_OK;
    if (!weft__quantity_parse(WEFT__TIME, text, &time, why, sizeof why) || !time)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--run: '%s' is not understood; expected a time such as 5ms, full or off", text);
    if (time < own_until) a->until = text;
    return WEFT_OK;
}

static enum weft_status advise_on(struct advising *a, struct weft_error *ret_error) {
    const struct weft_cli_options *o = a->o;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    enum weft_status status = weft_scenario_file_read(o->operand[0], o->setting, o->settings, &a->file[0], ret_error);
    if (!status) status = weft_cli_variant(o, a->file[0], &a->number, ret_error);
    if (!status && out_file) status = weft_cli_can_write_file("--out", out_file, o, ret_error);
    if (!status) status = weft_cli_simulation_init(&sim, a->file[0], a->number, ret_error);
    if (!status) {
        a->variant = weft_arena_text(o->arena, sim.scenario->variant);
        status = read_run(a, sim.scenario->run.until_ps, ret_error);
    }
    if (!status)
        status = weft_advise(a->subject, sim.scenario, sim.topology, sim.workload, o->arena, &a->advice, ret_error);
    a->run &= !is_nothing(&a->advice); // both runs would be equal
    if (!status) status = run_all(a, ret_error);
    if (!status && out_file && !is_nothing(&a->advice))
        status = weft_cli_replace_file(out_file, write_patch, a, ret_error);
    if (status) return status;
    if (out_file && !is_nothing(&a->advice)) weft_cli_mention_file(out_file, o);
    complete_answer(a);
    return weft_cli_answer(o, &weft__answer_plan_advice, a, print_text, ret_error);
}

int plan_advice(const char *subject, int argc, char **argv) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct advising a = {.variant = ""};
    while (strcmp(weft_advice_names[a.subject], subject))
        a.subject++;
    struct weft_cli_command command = {
        .name = weft_arena_format(arena, "plan %s", subject),
        .operands = "SCENARIO",
        .about = weft_arena_format(
            arena,
            "%s For the cables, rates, buffers and the\n"
            "incast of a scenario: values with formula, source and margin, what is wrong with those in force, and a\n"
            "run of the scenario with both (of ecn also with parts and multiples of the thresholds: it advises the "
            "best\n"
            "by its own runs, or to leave it). --out FILE writes the advice as a scenario that stands on this one.\n"
            "Where there is nothing to change it says so, runs nothing and writes nothing. docs/advice.md explains it.",
            about[a.subject]),
        .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_REPLACE | WEFT_CLI_QUIET,
        .operands_min = 1,
        .operands_max = 1,
        .option = own,
        .answer = &weft__answer_plan_advice,
    };
    struct weft_cli_options o;
    struct weft_error error = {0};
    int status = weft_cli_parse(&command, argc, argv, &o);
    if (status == WEFT_CLI_GO) {
        a.o = &o;
        status = (int)advise_on(&a, &error);
        if (error.status) status = weft_cli_fail(&error);
    }
    return status;
}
