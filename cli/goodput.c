// SPDX-License-Identifier: Apache-2.0
// weft goodput: what failures leave of a long job. Slowdowns come from the section `goodput`, or from runs of variants
// of the scenario, which are those of a sweep.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "processes.h"
#include "sweep.h"
#include "weft/goodput.h"
#include "weft/result.h"

static const char *gpus_text, *attachments_text, *seeds_text, *jobs_text;
static const struct weft_cli_option own[] = {
    {"gpus", "LIST", "sizes of the job side by side, such as 16384,131072 (default: goodput.gpus)", &gpus_text, NULL},
    {"attachment", "LIST",
     "attachments side by side: single_tor,dual_tor,planes,dsf, or all (default: goodput.attachment)",
     &attachments_text, NULL},
    {"seeds", "LIST", "seeds of the runs that measure slowdowns (default 1..4)", &seeds_text, NULL},
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "goodput",
    .operands = "[SCENARIO]",
    .about =
        "What failures leave of a long job: the share of wall time that is work at full speed and need not be done\n"
        "again, by formula and by simulated months; the best interval between checkpoints; and what each class of\n"
        "parts costs. Rates, recovery, checkpoints and spares are the section goodput of the scenario, or --set\n"
        "goodput.spares=16. A part whose `variant` names a variant of the scenario is measured: that variant runs,\n"
        "and so does the first one, with all parts up. See docs/goodput.md.\n"
        "Exit status: 0 done, 1 system error or runs failed, 2 bad input (nothing was run), 130 interrupted.",
    .accept = WEFT_CLI_PARAMETER | WEFT_CLI_VARIANT | WEFT_CLI_QUIET,
    .answer = &weft__answer_goodput,
    .operands_min = 0,
    .operands_max = 1,
    .option = own,
};

enum { DESIGNS_MAX = 64 };

struct goodput {
    const struct weft_cli_options *o;
    struct weft_scenario_file *file;
    struct weft_goodput_conf conf;
    const struct weft_tree *section;
    struct weft_goodput_answer answer;
};

// --- slowdowns ----------------------------------------------------------------------------------------------------

static uint32_t point_of(const struct sweep *s, const char *variant) {
    for (uint32_t p = 0; p < s->plan->points; p++)
        if (!*variant || !strcmp(weft_scenario_variant_name(s->plan->file, s->plan->point[p].variant), variant))
            return p;
    return WEFT_NONE;
}

static bool is_measured(const struct weft_goodput_conf *c) {
    for (uint32_t i = 0; i < c->parts; i++)
        if (*c->part[i].variant) return true;
    return false;
}

/// The runs of the base and of the variants that parts name.
static enum weft_status own_variants(struct goodput *g, struct sweep *s, struct weft_error *ret_error) {
    const struct weft_goodput_conf *c = &g->conf;
    bool *wanted = weft_arena_alloc(s->o->arena, s->plan->points, sizeof *wanted);
    for (uint32_t i = 0; i <= c->parts; i++) {
        const char *name = i ? c->part[i - 1].variant : c->base;
        if (i && !*name) continue;
        uint32_t p = point_of(s, name);
        wanted[p] = true;
    }
    s->owned = 0;
    for (uint32_t p = 0; p < s->plan->points; p++)
        for (uint32_t k = 0; k < s->plan->seeds && wanted[p]; k++)
            s->own[s->owned++] = p * s->plan->seeds + k;
    return WEFT_OK;
}

/// The ratio of each seed's figure to that of the base.
static enum weft_status take_slowdowns(struct goodput *g, const struct sweep *s, const struct weft_sweep_metric *metric,
                                       struct weft_error *ret_error) {
    struct weft_arena *arena = s->o->arena;
    const double *base = weft_sweep_metric_values(&s->r, point_of(s, g->conf.base), metric, arena);
    for (uint32_t i = 0; i < g->conf.parts; i++) {
        struct weft_goodput_part *part = &g->conf.part[i];
        if (!*part->variant) continue;
        const double *down = weft_sweep_metric_values(&s->r, point_of(s, part->variant), metric, arena);
        double *ratio = weft_arena_alloc(arena, s->plan->seeds, sizeof *ratio);
        for (uint32_t k = 0; k < s->plan->seeds; k++)
            ratio[k] = down[k] / base[k];
        struct weft_spread spread = weft_spread_of(ratio, s->plan->seeds, arena);
        if (isnan(spread.mean))
            return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE,
                                  "goodput: variant %.80s gives no value of %s: the job does not "
                                  "survive the failure, or a run failed; a part that ends the job has effect: crash",
                                  part->variant, metric->name);
        if (spread.mean < 1)
            fprintf(stderr, "weft: goodput: variant %s takes %.4f of the time with all parts up: no slowdown\n",
                    part->variant, spread.mean);
        part->slowdown = fmax(1, spread.mean);
        part->slowdown_half = spread.half;
        part->measured = true;
    }
    return WEFT_OK;
}

static enum weft_status measure_slowdowns(struct goodput *g, struct weft_error *ret_error) {
    struct sweep s = {.o = g->o, .lock = -1, .share = {.tasks = 1}};
    struct weft_sweep_options options = {.option = "goodput", .variant = WEFT_NONE};
    struct weft_sweep_metric metric;
    uint64_t *seed = NULL;
    uint32_t jobs;
    const char *text = g->conf.metric;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    if (!weft_cli_seeds_parse(seeds_text, g->o->arena, &seed, &options.seeds)) return WEFT_ERROR_INPUT;
    if (!weft_scenario_setting(g->file, "run.seed")) options.seed = seed;
    sweep_begin(&s, g->o->operand[0]);
    enum weft_status status = weft_sweep_new(g->file, &options, g->o->arena, &s.plan, ret_error);
    if (!status) status = sweep_metric_in_full("goodput.metric", g->o, g->file, &text, ret_error);
    if (!status && !weft_sweep_metric_parse(text, (struct weft_place){.file = "goodput.metric"}, false, s.r.column,
                                            s.r.columns, g->o->arena, &metric))
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "goodput.metric: \"%.200s\": expected iteration or a metric of a run", text);
    if (status) return status;
    s.r.metric = s.metric = &metric;
    s.r.metrics = s.r.shown = 1;
    status = sweep_prepare(&s, false, ret_error);
    if (!status) status = own_variants(g, &s, ret_error);
    if (!status) status = sweep_build(&s, ret_error);
    if (!status) status = sweep_run(&s, jobs, ret_error);
    if (!status && s.interrupted) sweep_say_interrupted(&s);
    if (!status && s.interrupted) status = WEFT_INTERRUPTED;
    if (!status) status = take_slowdowns(g, &s, &metric, ret_error);
    sweep_end(&s, status);
    return status;
}

// --- designs ------------------------------------------------------------------------------------------------------

/// The next item of a list with commas, or NULL.
static const char *next_item(const char **list, struct weft_arena *arena) {
    if (!*list) return NULL;
    size_t n = strcspn(*list, ",");
    const char *item = weft_arena_format(arena, "%.*s", (int)n, *list);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return item;
}

/// Lays `key: text` of an option over the section.
static enum weft_status lay_over(const char *option, const char *key, const char *text, struct weft_arena *arena,
                                 struct weft_tree **section, struct weft_error *ret_error) {
    struct weft_tree *over;
    if (!*text) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s: expected a list without gaps, such as a,b", option);
    text = weft_arena_format(arena, "{%s: %s}", key, text);
    WEFT_TRY(weft_tree_parse(option, text, strlen(text), arena, &over, ret_error));
    return weft_tree_override(*section, over, arena, section, ret_error);
}

/// The section as it is for one design; what was measured with this attachment stays.
static enum weft_status add_design(struct goodput *g, const char *gpus, const char *attachment,
                                   struct weft_error *ret_error) {
    struct weft_arena *arena = g->o->arena;
    struct weft_tree empty = {.type = WEFT_TREE_MAP}, *section = &empty;
    struct weft_goodput_conf conf;
    if (g->answer.designs == DESIGNS_MAX)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--gpus, --attachment: expected at most %d pairs", DESIGNS_MAX);
    if (g->section) WEFT_TRY(weft_tree_override(&empty, g->section, arena, &section, ret_error));
    if (gpus) WEFT_TRY(lay_over("--gpus", "gpus", gpus, arena, &section, ret_error));
    if (attachment) WEFT_TRY(lay_over("--attachment", "attachment", attachment, arena, &section, ret_error));
    WEFT_TRY(weft_goodput_load(section, arena, &conf, ret_error));
    for (uint32_t i = 0; i < conf.parts; i++)
        for (uint32_t j = 0; j < g->conf.parts; j++)
            if (g->conf.part[j].measured && conf.attachment == g->conf.attachment &&
                !strcmp(conf.part[i].name, g->conf.part[j].name)) {
                conf.part[i].slowdown = g->conf.part[j].slowdown;
                conf.part[i].slowdown_half = g->conf.part[j].slowdown_half;
                conf.part[i].measured = true;
            }
    weft_goodput_find(&conf, arena, &g->answer.design[g->answer.designs++]);
    return WEFT_OK;
}

static enum weft_status add_designs(struct goodput *g, struct weft_error *ret_error) {
    struct weft_arena *arena = g->o->arena;
    g->answer.design = weft_arena_alloc(arena, DESIGNS_MAX, sizeof *g->answer.design);
    const char *all =
        attachments_text && !strcmp(attachments_text, "all") ? "single_tor,dual_tor,planes,dsf" : attachments_text;
    const char *sizes = gpus_text ? gpus_text : "-", *gpus;
    while ((gpus = next_item(&sizes, arena))) {
        const char *list = all ? all : "-", *attachment;
        while ((attachment = next_item(&list, arena)))
            WEFT_TRY(add_design(g, gpus_text ? gpus : NULL, all ? attachment : NULL, ret_error));
    }
    return WEFT_OK;
}

// --- output -------------------------------------------------------------------------------------------------------

static void print_design(FILE *file, const struct weft_goodput *g) {
    fprintf(file, "\n%" PRIu64 " GPUs, %s: a crash every %.3g h; checkpoints every %.0f s%s, %.3g s each\n",
            g->conf.gpus, weft_goodput_attachments[g->conf.attachment], g->mtbf_h, g->interval_s,
            g->conf.interval_ps ? "" : ", the best interval", g->write_s);
    if (g->first_order > 0)
        fprintf(file, "  by the first-order formula crashes would leave %.1f%%\n", 100 * g->first_order);
    else
        fputs("  the first-order formula does not hold: crashes come faster than it counts on\n", file);
    fprintf(file, "  %-12s %-8s %10s %10s %9s %16s %9s\n", "part", "effect", "parts", "rate (1/h)", "a month",
            "slowdown", "cost");
    for (uint32_t i = 0; i < g->conf.parts; i++) {
        const struct weft_goodput_part *p = &g->conf.part[i];
        fprintf(file, "  %-12s %-8s %10.6g %10.3g %9.3g", p->name, weft_goodput_effects[p->effect], p->count, p->rate,
                p->failures_month);
        bool slows = p->effect == WEFT_GOODPUT_DEGRADE;
        fprintf(file, " %16s %8.2f%%%s\n", slows ? weft_goodput_slowdown_text(p).text : "-", 100 * p->cost,
                p->measured ? "  measured"
                : slows     ? "  assumed"
                            : "");
    }
}

static void print_text(FILE *file, const void *subject) {
    const struct weft_goodput_answer *a = subject;
    fprintf(file, "%10s  %-10s %8s %10s %16s %8s %8s %8s %8s\n", "GPUs", "attachment", "goodput", "simulated",
            "90% of months", "crashes", "servers", "speed", "stalls");
    for (const struct weft_goodput *g = a->design; g < a->design + a->designs; g++) {
        fprintf(file, "%10" PRIu64 "  %-10s %7.1f%%", g->conf.gpus, weft_goodput_attachments[g->conf.attachment],
                100 * g->goodput);
        if (isnan(g->simulated)) // crashes are too many
            fprintf(file, " %10s %16s", "-", "-");
        else
            fprintf(file, " %9.1f%% %7.1f%% to %4.1f%%", 100 * g->simulated, 100 * g->month_low, 100 * g->month_high);
        fprintf(file, " %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", 100 * g->renewal, 100 * g->staffed, 100 * g->speed,
                100 * g->moving);
    }
    if (a->designs == 1) print_design(file, a->design);
    fputs("\ngoodput = crashes x servers x speed x stalls; cost: what would be won if these parts never failed\n",
          file);
    if (a->hosts != WEFT_TIME_NEVER)
        fprintf(file, "slowdowns measured with %" PRIu64 " hosts, seeds %s\n", a->hosts, seeds_text);
}

// --- the command --------------------------------------------------------------------------------------------------

/// The variants that the section names exist.
static enum weft_status check_variants(const struct goodput *g, struct weft_error *ret_error) {
    for (uint32_t i = 0; i <= g->conf.parts; i++) {
        const char *name = i ? g->conf.part[i - 1].variant : g->conf.base, *names = "";
        bool there = !*name;
        for (uint32_t v = 0; v < weft_scenario_variants(g->file); v++) {
            const char *variant = weft_scenario_variant_name(g->file, v);
            there |= !strcmp(variant, name);
            names = weft_arena_format(g->o->arena, "%s%s%s", names, v ? ", " : "", variant);
        }
        if (!there)
            return WEFT_REFUSE(ret_error, g->section->place,
                               "goodput: there is no variant \"%.80s\"; expected one of %.300s", name,
                               *names ? names : "a scenario's");
    }
    return WEFT_OK;
}

/// Of a scenario with a network also everything else is read, so that mistakes in it are told.
static enum weft_status check_scenario(struct goodput *g, const struct weft_tree *tree, struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    for (uint32_t i = 0; i < tree->n; i++)
        if (!g->o->operands && strcmp(tree->child[i]->key, "goodput") && strcmp(tree->child[i]->key, "hardware"))
            return WEFT_REFUSE(ret_error, tree->child[i]->key_place,
                               "%s: there is no scenario; expected goodput.KEY=VALUE", tree->child[i]->key);
    if (g->o->variant && !g->o->operands)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--variant: there is no scenario; expected the one that has it");
    if (!weft_tree_find(tree, "topology") && !weft_tree_find(tree, "fabric") && !weft_tree_find(tree, "base"))
        return WEFT_OK;
    WEFT_TRY(weft_cli_simulation_init(&sim, g->file, 0, ret_error));
    if (is_measured(&g->conf)) g->answer.hosts = sim.topology->hosts;
    return WEFT_OK;
}

static enum weft_status find_goodput(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct goodput g = {.o = o, .answer = {.hosts = WEFT_TIME_NEVER}};
    const struct weft_tree *tree = NULL;
    uint32_t variant = 0, seeds, jobs;
    uint64_t *seed;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    if (seeds_text && !weft_cli_seeds_parse(seeds_text, o->arena, &seed, &seeds)) return WEFT_ERROR_INPUT;
    enum weft_status status =
        o->operands ? weft_cli_scenario_read(o, &g.file, ret_error)
                    : weft_scenario_file_parse("goodput", "{}", 2, o->setting, o->settings, &g.file, ret_error);
    const struct weft_tree *set = status ? NULL : weft_scenario_setting(g.file, "run.seed");
    if (set && seeds_text)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--seeds and a value of run.seed; expected one of them");
    if (!seeds_text) seeds_text = set ? set->text : "1..4";
    g.answer.scenario = o->operands ? o->operand[0] : NULL;
    if (!status && o->operands) status = weft_cli_variant(o, g.file, &variant, ret_error);
    if (!status) status = weft_scenario_tree(g.file, variant, o->arena, &tree, ret_error);
    if (!status) g.section = weft_tree_find(tree, "goodput");
    if (!status) status = weft_goodput_load(g.section, o->arena, &g.conf, ret_error);
    if (!status && g.section) status = check_variants(&g, ret_error);
    if (!status) status = check_scenario(&g, tree, ret_error);
    if (!status && is_measured(&g.conf)) status = measure_slowdowns(&g, ret_error);
    if (!status) status = add_designs(&g, ret_error);
    if (!status) status = weft_cli_answer(o, &weft__answer_goodput, &g.answer, print_text, ret_error);
    weft_scenario_file_free(g.file);
    return status;
}

int weft_cli_goodput(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, find_goodput);
}
