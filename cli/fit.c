// SPDX-License-Identifier: Apache-2.0
// weft fit: constants of hosts from measured collectives, and predicted times beside measured ones.
#include "weft/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"

#include "base/units.h"

static const char *setup_text, *server_name, *only_text, *hold_out_text, *check_name, *out_file;
static bool why;
static const struct weft_cli_option own[] = {
    {"setup", "TEXT", "what the tables do not say themselves: \"nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G\"",
     &setup_text, NULL},
    {"server", "CLASS", "the class of the servers, or its file (default: by the name of the GPU)", &server_name, NULL},
    {"only", "LIST", "find only these constants: launch,tree_ll,factor (default: all but factor)", &only_text, NULL},
    {"hold-out", "N/M", "leave out N of M sizes, and judge the result by them", &hold_out_text, NULL},
    {"check", "FILE", "find nothing: compare the tables with servers of this class, or of its file", &check_name, NULL},
    {"why", NULL, "with --check: the constants that would explain the differences, each alone", NULL, &why},
    {"out", "FILE",
     "write the server as a class, for server: {kind: ./FILE.yaml}; FILE.sqlite: all tables of the answer", &out_file,
     NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "fit",
    .operands = "[SCENARIO.yaml] TABLE...",
    .about =
        "Finds what steps of collectives take at your hosts (server.launch, rate, costs) from measured times: the\n"
        "output of nccl-tests, CSV with the columns size_bytes,time_us, or lines of NCCL's inspector. Comments say "
        "how\n"
        "it was measured: # nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce; or --setup, or a\n"
        "scenario whose work has a server. A time is left out, with a warning, if it is more than 1.2 times that in\n"
        "place or, where that is not known, that of a larger size. Large sizes are not run: they go on in a straight\n"
        "line. See docs/fit.md.",
    .accept = WEFT_CLI_VARIANT | WEFT_CLI_REPLACE | WEFT_CLI_QUIET,
    .answer = &weft__answer_fit,
    .operands_min = 1,
    .operands_max = 64,
    .option = own,
};

/// A number in columns, "-" if there is none.
static void put_number(const char *format, int width, double value) {
    if (isfinite(value))
        printf(format, width, value);
    else
        printf(" %*s", width, "-");
}

static void print_constants(const struct weft_fit *f) {
    if (f->constants)
        printf("%-24s %10s %10s %12s %7s\n", "server. (us, Gbit/s)", "before", "fitted", "error", "times");
    for (uint32_t k = 0; k < f->constants; k++) {
        const struct weft_fit_constant *c = &f->constant[k];
        printf("%-24s", c->key);
        put_number(" %*.2f", 10, c->before);
        put_number(" %*.2f", 10, c->used ? c->value : (double)NAN);
        put_number(" %*.2f", 12, c->deviation);
        printf(" %7" PRIu32 "%s\n", c->used, c->determined ? "" : "  not determined by the tables");
    }
}

/// What got worse or better since the class was written, and at which sizes.
static void print_causes(const struct weft_fit *f) {
    if (!why) return;
    if (!f->causes) puts("\nno constant alone explains the differences");
    if (f->causes)
        printf("\n%-24s %10s %10s %10s %6s  %s\n", "explained by server.", "class", "now", "explained", "sizes",
               "from, to");
    for (uint32_t k = 0; k < f->causes; k++) {
        const struct weft_fit_cause *c = &f->cause[k];
        printf("%-24s %10.2f %10.2f %9.0f%% %6" PRIu32 "  %s, %s\n", c->key, c->before, c->value, 100 * c->explained,
               c->rows, weft__short_bytes(c->from_bytes).text, weft__short_bytes(c->to_bytes).text);
    }
}

static void print_text(FILE *file, const void *subject) {
    const struct weft_fit *f = subject;
    print_constants(f);
    for (uint32_t i = 0; i < f->rows; i++) {
        const struct weft_fit_row *r = &f->row[i];
        if (!i || r->file != r[-1].file || r->collective != r[-1].collective || r->ranks != r[-1].ranks)
            printf("\n%s: %s, %s in %s\n%14s %12s %12s %8s  %-10s %-8s\n", r->file, r->collective,
                   weft__counted(r->ranks, "rank").text, weft__counted(r->nodes, "server").text, "size (B)",
                   "measured (us)", "weft (us)", "error", "algorithm", "protocol");
        printf("%14" PRIu64 " %12.2f %12.2f %+7.1f%%  %-10s %-8s%s%s\n", r->bytes, r->measured_us, r->predicted_us,
               100 * r->error, r->algorithm ? r->algorithm : "-", r->protocol ? r->protocol : "-",
               r->use == WEFT_FIT_FITTED ? "" : weft_fit_uses[r->use], r->beyond ? " on a line" : "");
    }
    printf("\n%-10s %6s %8s %8s %8s %11s %15s\n", "errors", "sizes", "median", "90%", "worst", "within 20%",
           "above 64 MiB");
    for (uint32_t k = 0; k < f->judgements; k++) {
        const struct weft_fit_judgement *j = &f->judgement[k];
        printf("%-10s %6" PRIu32 " %7.1f%% %7.1f%% %7.1f%% %10.0f%%", j->what, j->rows, 100 * j->median, 100 * j->p90,
               100 * j->worst, 100 * j->within_20);
        put_number(" %*.1f", 14, 100 * j->median_large);
        puts(isfinite(j->median_large) ? "%" : "");
    }
    print_causes(f);
}

static void write_class(FILE *file, const void *context) {
    const char *slash = strrchr(out_file, '/'), *name = slash ? slash + 1 : out_file;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "."), name);
    weft_fit_write(file, context, text);
}

static enum weft_status read_options(struct weft_fit_conf *conf, struct weft_error *ret_error) {
    conf->setup = setup_text;
    conf->server = check_name ? check_name : server_name;
    conf->only = only_text;
    conf->check = check_name;
    conf->why = why;
    if (why && !check_name)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--why: explains differences from a class; expected --check too");
    if (check_name && (server_name || only_text || hold_out_text || out_file))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--check: nothing is found; expected no --server, --only, --hold-out "
                           "or --out");
    if (!hold_out_text) return WEFT_OK;
    char *end;
    unsigned long n = strtoul(hold_out_text, &end, 10), of = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
    if (*end || !n || n >= of || of > 1000)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--hold-out %s: expected a part such as 1/2", hold_out_text);
    conf->hold_out = (uint32_t)n;
    conf->hold_out_of = (uint32_t)of;
    return WEFT_OK;
}

static bool is_scenario(const char *name) {
    size_t n = strlen(name);
    return (n > 5 && !strcmp(name + n - 5, ".yaml")) || (n > 4 && !strcmp(name + n - 4, ".yml"));
}

static enum weft_status run_fit(const struct weft_cli_options *o, const struct weft_fit_conf *conf,
                                struct weft_fit *fit, struct weft_error *ret_error) {
    weft_cli_catch_interrupt();
    enum weft_status status = weft_fit_tables(conf, o->arena, fit, ret_error);
    for (uint32_t k = 0; k < fit->warnings; k++)
        fprintf(stderr, "weft: %s\n", fit->warning[k]);
    return status;
}

enum weft_status weft_cli_diff_log(const struct weft_cli_options *o, const char *class, const char *setup,
                                   bool *ret_differs, struct weft_error *ret_error) {
    const char *const *log = (const char *const *)&o->operand[1];
    const struct weft_fit_conf conf = {.table = log,
                                       .tables = 1,
                                       .setup = setup,
                                       .server = class,
                                       .check = true,
                                       .why = true,
                                       .is_interrupted = weft_cli_interrupted};
    struct weft_fit fit = {0};
    why = true;
    enum weft_status status = run_fit(o, &conf, &fit, ret_error);
    if (!status) status = weft_cli_answer(o, &weft__answer_fit, &fit, print_text, ret_error);
    *ret_differs = fit.causes;
    weft_fit_free(&fit);
    return status;
}

static enum weft_status fit_tables(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_fit_conf conf = {.is_interrupted = weft_cli_interrupted};
    struct weft_scenario_file *file = NULL;
    struct weft_fit fit = {0};
    bool scenario = is_scenario(o->operand[0]);
    conf.table = (const char *const *)o->operand + scenario;
    conf.tables = o->operands - scenario;
    enum weft_status status = read_options(&conf, ret_error);
    if (!status && out_file) status = weft_cli_can_write_file("--out", out_file, o, ret_error);
    if (!status && !conf.tables)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s is a scenario; expected a table behind it", o->operand[0]);
    if (!status && scenario) status = weft_cli_scenario_read(o, &file, ret_error);
    if (!status && scenario) status = weft_cli_variant(o, file, &conf.variant, ret_error);
    conf.scenario = file;
    if (!status) status = run_fit(o, &conf, &fit, ret_error);
    if (!status && out_file) status = weft_cli_replace_file(out_file, write_class, &fit, ret_error);
    if (!status && out_file) weft_cli_mention_file(out_file, o);
    if (!status) status = weft_cli_answer(o, &weft__answer_fit, &fit, print_text, ret_error);
    weft_fit_free(&fit);
    weft_scenario_file_free(file);
    return status;
}

int weft_cli_fit(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, fit_tables);
}
