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
    {"out", "FILE", "write the advice to FILE, as a scenario with this one as its base", &out_file, NULL},
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
    const char *kmin[TRIALS], *kmax[TRIALS]; ///< of plan ecn
    uint32_t trials, best;                   ///< what is advised; best 0: to leave it as it is
    const char *variant;                     ///< "" if the file has none
    uint32_t number;
    struct weft_advice advice;
    const char *until; ///< for both runs; NULL: as in the scenario
    bool run;
    struct pair pair[METRICS_MAX];
    uint32_t pairs;
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
    struct weft_cli_simulation sim = {0};
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
    weft_cli_simulation_deinit(&sim);
    return status;
}

static enum weft_status set_path(struct weft_scenario_file *file, const char *path, const char *value,
                                 struct weft_arena *arena, struct weft_error *ret_error) {
    return weft_scenario_file_set(file, weft_arena_format(arena, "%s=%s", path, *value ? value : "\"\""), ret_error);
}

/// Whether the workload does worse than as it is, by more than a single seed's noise.
static bool is_worse(const struct pair *p, uint32_t trial) {
    if (!strcmp(p->part[0], "counters")) return false;
    return p->unit == IN_COUNT ? p->value[trial] < p->value[0] : p->value[trial] > p->value[0] * worse_by;
}

/// A threshold of a trial: the formula's, times its scale.
static const char *scale_text(struct advising *a, const char *text, double by) {
    uint64_t bytes;
    char why[160], scaled[64];
    if (!weft__quantity_parse(WEFT__BYTES, text, &bytes, why, sizeof why)) return text;
    weft__quantity_format(WEFT__BYTES, (weft_bytes)((double)bytes * by), scaled, sizeof scaled);
    return weft_arena_text(a->o->arena, scaled);
}

static const char *value_of(const struct advising *a, const struct weft_advice_row *r, uint32_t trial) {
    return !strcmp(r->path, kmin_path) ? a->kmin[trial] : !strcmp(r->path, kmax_path) ? a->kmax[trial] : r->recommended;
}

/// The files of all trials; a model of another kind precedes its parameters.
static enum weft_status make_files(struct advising *a, struct weft_error *ret_error) {
    const struct weft_cli_options *o = a->o;
    enum weft_status status = WEFT_OK;
    a->trials = a->subject == WEFT_ADVICE_ECN && a->run ? TRIALS : 2;
    for (uint32_t t = 0; t < a->trials && !status; t++) {
        if (t) status = weft_scenario_file_read(o->operand[0], o->setting, o->settings, &a->file[t], ret_error);
        if (!status && a->until) status = set_path(a->file[t], "run.until", a->until, o->arena, ret_error);
        for (uint32_t i = 0; i < a->advice.rows && !status; i++) {
            const struct weft_advice_row *r = &a->advice.row[i];
            if (!strcmp(r->path, kmin_path)) a->kmin[t] = t ? scale_text(a, r->recommended, scales[t]) : r->current;
            if (!strcmp(r->path, kmax_path)) a->kmax[t] = t ? scale_text(a, r->recommended, scales[t]) : r->current;
            if (t && (!r->current || strcmp(r->current, value_of(a, r, t))))
                status = set_path(a->file[t], r->path, value_of(a, r, t), o->arena, ret_error);
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
static void choose_best(struct advising *a) {
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
        struct weft_cli_simulation sim = {0};
        if (!status) status = weft_cli_simulation_init(&sim, a->file[1], a->number, ret_error);
        weft_cli_simulation_deinit(&sim);
        return status;
    }
    weft_cli_catch_interrupt();
    for (uint32_t t = 0; t < a->trials && !status; t++)
        status = run_one(a, t, ret_error);
    if (!status && a->subject == WEFT_ADVICE_ECN) choose_best(a);
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
    char text[64];
    if (isnan(p->value[which])) return "-";
    if (p->unit == IN_COUNT) return weft_arena_format(a->o->arena, "%.0f", p->value[which]);
    weft_format_time((weft_time_ps)p->value[which], text, sizeof text);
    return weft_arena_text(a->o->arena, text);
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
               a->kmin[t] ? a->kmin[t] : "-", a->kmax[t] ? a->kmax[t] : "-");
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

static void print_text(const struct advising *a) {
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

static void json_rows(struct weft__json *j, const struct weft_advice *v) {
    weft__json_key(j, "values");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < v->rows; i++) {
        const struct weft_advice_row *r = &v->row[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "path", r->path);
        if (r->current) weft__json_key_string(j, "current", r->current);
        weft__json_key_string(j, "recommended", r->recommended);
        weft__json_key_string(j, "formula", r->formula);
        weft__json_key_string(j, "source", r->source);
        weft__json_key_string(j, "margin", r->margin);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void json_runs(struct weft__json *j, const struct advising *a) {
    weft__json_key(j, "runs");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < a->pairs; i++) {
        const struct pair *p = &a->pair[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "metric", p->name);
        weft__json_key_string(j, "unit", p->unit == IN_TIME ? "ps" : "count");
        weft__json_key_real(j, "current", p->value[0]);
        weft__json_key_real(j, "recommended", p->value[a->best]);
        weft__json_key_bool(j, "worse", is_worse(p, a->best));
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void json_curve(struct weft__json *j, const struct advising *a) {
    weft__json_key(j, "curve");
    weft__json_begin_array(j);
    for (uint32_t t = 0; t < a->trials; t++) {
        weft__json_begin_object(j);
        weft__json_key_real(j, "scale", scales[t]);
        weft__json_key_string(j, "kmin", a->kmin[t] ? a->kmin[t] : "");
        weft__json_key_string(j, "kmax", a->kmax[t] ? a->kmax[t] : "");
        weft__json_key_bool(j, "advised", t == a->best);
        weft__json_key(j, "values");
        weft__json_begin_object(j);
        for (uint32_t i = 0; i < a->pairs; i++)
            weft__json_key_real(j, a->pair[i].name, a->pair[i].value[t]);
        weft__json_end_object(j);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_json(const struct advising *a) {
    const struct weft_advice *v = &a->advice;
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "plan", weft_advice_names[a->subject]);
    weft__json_key_string(&j, "variant", a->variant);
    weft__json_key(&j, "facts");
    weft__json_begin_object(&j);
    for (uint32_t i = 0; i < v->facts; i++)
        weft__json_key_string(&j, v->fact[i].name, v->fact[i].text);
    weft__json_end_object(&j);
    weft__json_key(&j, "findings");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < v->findings; i++)
        weft__json_string(&j, v->finding[i]);
    weft__json_end_array(&j);
    json_rows(&j, v);
    weft__json_key_bool(&j, "nothing_to_change", is_nothing(v));
    if (a->run) {
        weft__json_key_string(&j, "run_until", a->until ? a->until : "");
        json_runs(&j, a);
        if (a->subject == WEFT_ADVICE_ECN) json_curve(&j, a);
    }
    weft__json_end_object(&j);
    putchar('\n');
}

// --- the command --------------------------------------------------------------------------------------------------

/// The duration of both runs: at most the scenario's own.
static enum weft_status read_run(struct advising *a, weft_time_ps own_until, struct weft_error *ret_error) {
    const char *text = run_text ? run_text : "5ms";
    char why[160];
    uint64_t time;
    a->run = strcmp(text, "off") != 0;
    if (!a->run || !strcmp(text, "full")) return WEFT_OK;
    if (!weft__quantity_parse(WEFT__TIME, text, &time, why, sizeof why) || !time)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--run: '%s' is not understood; expected a time such as 5ms, full or off", text);
    if (time < own_until) a->until = text;
    return WEFT_OK;
}

static enum weft_status advise_file(struct advising *a, struct weft_error *ret_error) {
    const struct weft_cli_options *o = a->o;
    struct weft_cli_simulation sim = {0};
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
    weft_cli_simulation_deinit(&sim);
    a->run &= !is_nothing(&a->advice); // both runs would be equal
    if (!status) status = run_all(a, ret_error);
    if (!status && out_file && !is_nothing(&a->advice))
        status = weft_cli_replace_file(out_file, write_patch, a, ret_error);
    if (status) return status;
    if (out_file && !is_nothing(&a->advice)) weft_cli_mention_file(out_file, o);
    (o->json ? print_json : print_text)(a);
    return WEFT_OK;
}

int plan_advice(const char *subject, int argc, char **argv) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
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
        .accept =
            WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_REPLACE | WEFT_CLI_JSON | WEFT_CLI_QUIET,
        .operands_min = 1,
        .operands_max = 1,
        .option = own,
    };
    struct weft_cli_options o;
    struct weft_error error = {0};
    int status = weft_cli_parse(&command, argc, argv, &o);
    if (status == WEFT_CLI_GO) {
        a.o = &o;
        status = (int)advise_file(&a, &error);
        if (error.status) status = weft_cli_fail(&error);
    }
    for (uint32_t t = 0; t < TRIALS; t++)
        weft_scenario_file_free(a.file[t]);
    weft_cli_options_deinit(&o);
    weft_arena_free(arena);
    return status;
}
