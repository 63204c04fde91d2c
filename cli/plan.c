// SPDX-License-Identifier: Apache-2.0
// weft plan: calculators. They use values from the command line, or the settings of each variant of a scenario.
#include "plan.h"
#include "simulation.h"
#include "weft/advice.h"
#include "weft/param.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"

enum { ROWS_MAX = 32 };
/// The fastest signal in a cable in SONiC's formula, in m/s, which is also mm per ms.
static const uint64_t CABLE_MM_PER_MS = 198000000;

static const struct plan *const plans[] = {&plan_pfc, &plan_sfc, &plan_dsf};
enum { PLANS = sizeof plans / sizeof *plans };

static const char *value[ROWS_MAX]; // of each row, as given; NULL: not given
static const char *cable;

static uint32_t row_at(const struct plan *plan, const char *name) {
    uint32_t i = 0;
    while (strcmp(plan->table->rows[i].name, name))
        i++;
    return i;
}

bool plan_given(const struct plan *plan, const char *row) {
    return value[row_at(plan, row)];
}

/// "lossless_mtu" as "lossless-mtu".
static const char *option_name(struct weft_arena *arena, const char *row) {
    char *name = weft_arena_text(arena, row);
    for (char *s = name; *s; s++)
        if (*s == '_') *s = '-';
    return name;
}

static const char *option_argument(const struct weft_param *row) {
    switch (row->type) {
    case WEFT_PARAM_TIME:
        return "TIME";
    case WEFT_PARAM_RATE:
        return "RATE";
    case WEFT_PARAM_BYTES:
        return "SIZE";
    case WEFT_PARAM_CHOICE:
    case WEFT_PARAM_TEXT:
        return "NAME";
    case WEFT_PARAM_BOOL:
        return "BOOL";
    default:
        return "N";
    }
}

static const struct weft_cli_option *options_of(const struct plan *plan, struct weft_arena *arena) {
    assert(plan->table->n <= ROWS_MAX);
    struct weft_cli_option *o = weft_arena_alloc(arena, plan->table->n + 2, sizeof *o);
    for (uint32_t i = 0; i < plan->table->n; i++) {
        const struct weft_param *row = &plan->table->rows[i];
        o[i].name = option_name(arena, row->name);
        o[i].argument = option_argument(row);
        o[i].help = row->dflt ? weft_arena_format(arena, "%s (default %s)", row->help, row->dflt) : row->help;
        o[i].ret_value = &value[i];
    }
    o[plan->table->n] = (struct weft_cli_option){
        "cable", "LENGTH", "of a link, 198000 km/s; instead of --delay: \"40m\", \"2km\"", &cable, NULL};
    return o;
}

/// Converts --cable to --delay.
static enum weft_status read_cable(const struct plan *plan, struct weft_arena *arena, struct weft_error *ret_error) {
    if (!cable) return WEFT_OK;
    const char **delay = &value[row_at(plan, "delay")];
    char why[256];
    uint64_t mm;
    if (*delay) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--cable and --delay: give only one");
    if (!weft__quantity_parse(WEFT__LENGTH, cable, &mm, why, sizeof why))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--cable: %s", why);
    unsigned __int128 ps = ((unsigned __int128)mm * WEFT_PS_PER_MS + CABLE_MM_PER_MS - 1) / CABLE_MM_PER_MS;
    *delay = weft_arena_text(arena,
                             weft__time_text(ps < WEFT_PS_PER_S * 1000 ? (weft_time_ps)ps : WEFT_PS_PER_S * 1000).text);
    return WEFT_OK;
}

enum weft_status plan_load(const struct plan *plan, bool defaults, void *conf, struct weft_arena *arena,
                           struct weft_error *ret_error) {
    enum weft_status status = read_cable(plan, arena, ret_error);
    cable = NULL; // it has become a delay
    for (uint32_t i = 0; i < plan->table->n && !status; i++) {
        const struct weft_param *row = &plan->table->rows[i];
        const char *text = value[i] ? value[i] : defaults ? row->dflt : NULL;
        const char *name = weft_arena_format(arena, "--%s", option_name(arena, row->name));
        if (text)
            status = weft__param_parse_at(row, text, WEFT_NOWHERE, name, conf, arena, ret_error);
        else if (defaults)
            status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s is missing (%s); expected %s", name, row->help,
                                 weft__param_expected(row));
    }
    char text[256];
    const char *wrong = status || !plan->table->check ? NULL : plan->table->check(conf, text, sizeof text);
    return wrong ? WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s", wrong) : status;
}

static enum weft_status plan_variant(const struct plan *plan, const struct weft_cli_options *o,
                                     const struct weft_scenario_file *file, uint32_t variant,
                                     struct weft_plan_variant *ret_variant, struct weft_error *ret_error) {
    WEFT_ENDS(weft_scenario_end) struct weft_scenario *s = NULL;
    struct weft_topology *t;
    struct weft_workload *w;
    WEFT_TRY(weft_scenario_new(file, variant, &s, ret_error));
    ret_variant->variant = weft_arena_text(o->arena, s->variant);
    enum weft_status status = weft_scenario_topology(s, s->arena, &t, ret_error);
    if (!status)
        status = weft_workload_new(s->workload, s->workloads, t, s->run.seed, s->run.until_ps, s->arena, &w, ret_error);
    return status ? status : plan->by_scenario(plan, o, s, t, w, ret_variant, ret_error);
}

/// Variants with the same plan share it: "variants pfc, pfc+dcqcn".
static void print_variant(const char *name, const char *text, const char **last, char *names, size_t size) {
    bool same = *last && text && !strcmp(*last, text);
    if (!same && *last) {
        const char *kind = !*names ? "" : strstr(names, ", ") ? "variants " : "variant ";
        printf("%s%s%s%s%s", kind, names, *names ? "\n" : "", *last, text ? "\n" : "");
        *last = NULL;
    }
    if (!text) return;
    size_t used = same ? strlen(names) : 0;
    snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
    if (!same) *last = text;
}

static const struct plan *find_plan(const char *name) {
    for (unsigned i = 0; i < PLANS; i++)
        if (!strcmp(plans[i]->name, name)) return plans[i];
    return NULL;
}

static void print_variants(FILE *file, const void *subject) {
    const struct weft_plan_variants *v = subject;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    char names[1024] = "";
    const char *last = NULL;
    for (uint32_t i = 0; i < v->variants; i++) {
        WEFT__TEXT_STREAM(stream, out);
        find_plan(v->plan)->print(out, &v->variant[i]);
        const char *text = weft_arena_text(arena, weft__text_stream_text(&stream));
        print_variant(v->variant[i].variant, text, &last, names, sizeof names);
    }
    print_variant(NULL, NULL, &last, names, sizeof names);
}

static enum weft_status by_scenario(const struct plan *plan, const struct weft_cli_options *o,
                                    struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_plan_variants v = {.plan = plan->name};
    enum weft_status status = weft_scenario_file_read(o->operand[0], o->setting, o->settings, &file, ret_error);
    uint32_t first = 0;
    if (!status) status = weft_cli_variant(o, file, &first, ret_error);
    if (!status) v.variants = o->variant ? 1 : weft_scenario_variants(file);
    v.variant = weft_arena_alloc(o->arena, v.variants, sizeof *v.variant);
    for (uint32_t i = 0; i < v.variants && !status; i++)
        status = plan_variant(plan, o, file, first + i, &v.variant[i], ret_error);
    return status ? status : weft_cli_answer(o, plan->scenario, &v, print_variants, ret_error);
}

static int run_plan(const struct plan *plan, int argc, char **argv) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct weft_cli_command command = {
        .name = weft_arena_format(arena, "plan %s", plan->name),
        .operands = "[SCENARIO]",
        .about = plan->about,
        .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_QUIET,
        .operands_max = 1,
        .option = options_of(plan, arena),
        .answer = plan->values,
        .other = plan->scenario,
    };
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        exit_status = (int)(o.operands ? by_scenario : plan->by_values)(plan, &o, &error);
        if (error.status) weft_cli_fail(&error);
    }
    return exit_status;
}

static void print_usage(FILE *file) {
    fprintf(file, "usage: weft plan CALCULATOR [OPTIONS] [SCENARIO]\n\n"
                  "Headroom, thresholds and pause times, with the formula and the numbers in it.\n\n");
    for (unsigned i = 0; i < PLANS; i++)
        fprintf(file, "  %-9s %.*s\n", plans[i]->name, (int)strcspn(plans[i]->about, "\n"), plans[i]->about);
    fprintf(file, "  %-9s %s\n", "sonic", "the configuration of a SONiC switch: errors in config_db.json, and a patch");
    fprintf(file, "  %-9s %s\n", "fabric",
            "chips, links, optics and watts of a fabric for N hosts, or why it cannot be built");
    fputs("\nValues for your own scenario, with a run that compares them (docs/advice.md):\n\n"
          "  ecn, dcqcn, admission, buffers, and sfc with --run or --out\n\n"
          "  capacity  the greatest load that a network carries at a given slowdown\n"
          "  cheapest  the cheapest fabric that carries a job within x% of the fastest\n",
          file);
    fprintf(file, "\nweft plan CALCULATOR --help says more.\n");
}

/// For manual pages and completions: describes one calculator after the other.
static int describe_plans(char *help) {
    for (unsigned i = 0; i < PLANS; i++)
        run_plan(plans[i], 2, (char *[]){(char *)(uintptr_t)plans[i]->name, help, NULL});
    plan_sonic(2, (char *[]){help, help, NULL});
    plan_fabric(2, (char *[]){help, help, NULL});
    for (unsigned i = 0; weft_advice_names[i]; i++)
        if (strcmp(weft_advice_names[i], plan_sfc.name) != 0)
            plan_advice(weft_advice_names[i], 2, (char *[]){help, help, NULL});
    plan_cheapest(2, (char *[]){help, help, NULL});
    return plan_capacity(2, (char *[]){help, help, NULL});
}

/// The subject of the advice; NULL: none. sfc is a calculator unless a run or a file is requested.
static const char *advice_of(int argc, char **argv) {
    if (argc < 2) return NULL;
    bool asked = strcmp(argv[1], plan_sfc.name) != 0;
    for (int i = 2; i < argc; i++) {
        bool out = !strncmp(argv[i], "--out", 5), split = out && !argv[i][5] && i + 1 < argc;
        asked |= !strncmp(argv[i], "--run", 5) || (out && !strstr(argv[i + split], ".sqlite"));
    }
    for (unsigned i = 0; weft_advice_names[i] && asked; i++)
        if (!strcmp(argv[1], weft_advice_names[i])) return weft_advice_names[i];
    return NULL;
}

int weft_cli_plan(int argc, char **argv) {
    if (argc > 1 && weft_cli_is_described()) return describe_plans(argv[1]);
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        print_usage(stdout);
        return WEFT_OK;
    }
    if (argc > 1 && !strcmp(argv[1], "sonic")) return plan_sonic(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "fabric")) return plan_fabric(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "capacity")) return plan_capacity(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "cheapest")) return plan_cheapest(argc - 1, argv + 1);
    const char *advice = advice_of(argc, argv);
    if (advice) return plan_advice(advice, argc - 1, argv + 1);
    const char *names[PLANS + 8] = {[PLANS] = "sonic", "fabric",  "ecn",      "dcqcn",
                                    "admission",       "buffers", "capacity", "cheapest"};
    for (unsigned i = 0; i < PLANS; i++)
        names[i] = plans[i]->name;
    const struct plan *plan = argc > 1 ? find_plan(argv[1]) : NULL;
    if (plan) return run_plan(plan, argc - 1, argv + 1);
    char expected[256];
    weft__names_expected(argc > 1 ? argv[1] : "", names, PLANS + 8, expected, sizeof expected);
    if (argc > 1)
        fprintf(stderr, "weft: plan: no calculator \"%s\"; %s\n", argv[1], expected);
    else
        fprintf(stderr, "weft: plan: %s\n", expected);
    return WEFT_ERROR_INPUT;
}
