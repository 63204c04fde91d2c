// SPDX-License-Identifier: Apache-2.0
// weft run: one variant of a scenario.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "claims.h"
#include "results.h"

static const char *export_text, *table_name;
static const struct weft_cli_option own[] = {
    {"export", "FORMAT[,...]", "also write files as other programs do into --out DIR: hpcc, htsim, nccl-tests",
     &export_text, NULL},
    {"table", "NAME", "print the collectives as nccl-tests does, instead of the report: nccl-tests", &table_name, NULL},
    {0}};

static const struct weft_cli_command command = {
    .name = "run",
    .operands = "SCENARIO",
    .about =
        "Runs one variant of a scenario (the first, if none is named) and reports what it measured: completion\n"
        "times by flow group, pauses, marks and drops. SCENARIO is a YAML file, - for standard input, or a\n"
        "folder that --out has written: the run in it is repeated, and both digests compared.\n"
        "Ctrl-C (or SIGTERM) ends the run and reports what was measured so far.\n"
        "Exit status: 0 done, 1 system error, 2 bad input, 3 bytes not conserved (a bug), 4 the network stalled, or\n"
        "simulated time (100 days) was over, 5 a repeated run has another digest, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_CAPTURE | WEFT_CLI_JSON |
              WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
};

enum { EXPORTS_MAX = 16 };
struct exports {
    const struct weft_export *format[EXPORTS_MAX];
    uint32_t n;
};

static enum weft_status find_export(const char *name, const struct weft_export **ret_export,
                                    struct weft_error *ret_error) {
    const char *names[EXPORTS_MAX];
    char expected[256];
    uint32_t n = 0;
    for (; weft_exports[n].name; n++) {
        names[n] = weft_exports[n].name;
        *ret_export = &weft_exports[n];
        if (!strcmp(name, names[n])) return WEFT_OK;
    }
    weft__names_expected(name, names, n, expected, sizeof expected);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--export: no format \"%s\"; %s", name, expected);
}

static enum weft_status parse_exports(const struct weft_cli_options *o, struct exports *e,
                                      struct weft_error *ret_error) {
    *e = (struct exports){0};
    enum weft_status status = WEFT_OK;
    if (!export_text) return WEFT_OK;
    if (!o->out)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--export writes into the folder of --out; expected --out DIR as well");
    char *rest = weft_arena_text(o->arena, export_text);
    for (char *name; !status && (name = strsep(&rest, ","));) {
        const struct weft_export *format = NULL;
        status = find_export(name, &format, ret_error);
        for (uint32_t i = 0; i < e->n; i++)
            if (e->format[i] == format) format = NULL; // named twice
        if (!status && format) e->format[e->n++] = format;
    }
    return status;
}

struct writing {
    void (*write)(FILE *file, const struct weft_run *run);
    const struct weft_run *run;
};

static void write_export(FILE *file, const void *context) {
    const struct writing *w = context;
    w->write(file, w->run);
}

static enum weft_status write_exports(const struct weft_cli_options *o, const struct exports *e,
                                      const struct weft_run *run, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < e->n && !status; i++) {
        if (e->format[i]->events && run->outcome->unrecorded)
            fprintf(stderr,
                    "weft: --export %s: %" PRIu64 " events were left out, so that pauses may be missing; expected "
                    "a greater run.events\n",
                    e->format[i]->name, run->outcome->unrecorded);
        for (uint32_t k = 0; k < 2 && e->format[i]->file[k].name && !status; k++) {
            struct writing w = {e->format[i]->file[k].write, run};
            status = weft_cli_replace_file(weft_arena_format(o->arena, "%s/%s", o->out, e->format[i]->file[k].name),
                                           write_export, &w, ret_error);
        }
    }
    return status;
}

static void add_exports(struct weft_run *run, const struct exports *e) {
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < 2 && e->format[i]->file[k].name; k++)
            weft_cli_add_file(run, e->format[i]->file[k].name);
}

static enum weft_status check_table(const struct weft_cli_options *o, struct weft_error *ret_error) {
    if (!table_name) return WEFT_OK;
    if (strcmp(table_name, WEFT_CLI_NCCL_TESTS))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--table: no table \"%s\"; expected " WEFT_CLI_NCCL_TESTS
                              "; weft compare --csv has the others",
                              table_name);
    if (!o->json) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--table and --json; expected one of them");
}

static void mention_others(const struct weft_cli_options *o, const struct weft_scenario_file *file) {
    uint32_t n = weft_scenario_variants(file);
    const char **names = weft_arena_alloc(o->arena, n, sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = weft_scenario_variant_name(file, i);
    weft_cli_mention_others("running", names, n, ", weft compare runs all");
}

/// How a run over several processes was shared out, and what that took.
static void mention_ranks(const struct weft_outcome *o) {
    uint64_t most = 0;
    for (uint32_t r = 0; r < o->ranks; r++)
        if (o->rank[r].events > most) most = o->rank[r].events;
    if (!o->ranks || !o->windows || !most) return;
    fprintf(stderr, "weft: %u ranks, %" PRIu64 " windows, balance %.2f (mean load of a rank over the largest)\n",
            o->ranks, o->windows, (double)o->events / o->ranks / (double)most);
    for (uint32_t r = 0; r < o->ranks; r++) {
        const struct weft_rank_outcome *rank = &o->rank[r];
        char peak[WEFT_CLI_TEXT];
        fprintf(stderr,
                "weft: rank %u on %s: %u nodes, %.1f%% of events, %.2fs CPU; a window: %.1f messages and %.0fB sent, "
                "%.1fus in the exchange; %s of memory\n",
                r, rank->host, rank->nodes, 100 * (double)rank->events / (double)o->events, rank->cpu_s,
                (double)rank->messages / (double)o->windows, (double)rank->bytes / (double)o->windows,
                rank->wait_s * 1e6 / (double)o->windows, weft_cli_bytes_text(rank->peak_rss_bytes, peak));
    }
}

/// Returns the exit status; `error` is set if something should be said on standard error.
static enum weft_status run(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                            struct weft_error *error) {
    struct weft_cli_simulation s = {0};
    struct weft_run run;
    struct exports exports = {0};
    struct weft_stored stored;
    uint32_t variant;
    struct weft_cli_claims claims; // of no use to a single run, but a file with a mistake in them is refused
    enum weft_status status = weft_cli_claims_init(&claims, file, o->arena, error);
    if (!status) status = check_table(o, error);
    if (!status) status = parse_exports(o, &exports, error);
    if (!status) status = weft_cli_stored_variant(o, &file, &stored, &variant, error);
    if (!status) status = weft_cli_simulation_init(&s, file, variant, error);
    if (!status) {
        if (!o->variant && !stored.variant && !o->json && !o->quiet) mention_others(o, file);
        weft_cli_catch_interrupt();
        status = weft_cli_simulation_run(&s, o, s.scenario->variant, &run, error);
    }
    if (s.outcome) {
        struct weft_error output = {0};
        struct weft_cli_results results = {.run = &run, .runs = 1};
        add_exports(&run, &exports);
        if (o->out) weft_cli_write_results(o->out, &results, &output);
        if (!output.status) write_exports(o, &exports, &run, &output);
        if (table_name)
            weft_report_nccl_tests(stdout, &run);
        else
            weft_cli_print_results(stdout, &results, o->json);
        if (!o->quiet && !o->json) mention_ranks(s.outcome);
        if (!status && stored.variant) status = weft_cli_compare_digests(&stored, s.outcome, error);
        if (!status && stored.digest && !stored.interrupted && !o->quiet && !o->json)
            fprintf(stderr, "weft: the same digest as in %s\n", o->operand[0]);
        if (output.status) {
            *error = output;
            status = output.status;
        }
    }
    weft_cli_simulation_deinit(&s);
    return status;
}

int weft_cli_run(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, run);
}
