// SPDX-License-Identifier: Apache-2.0
// weft compare: every variant of a scenario, side by side, and the claims about them.
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "processes.h"
#include "results.h"
#include "terminal.h"
#include "weft/claim_rows.h"

#include "base/units.h"

static bool csv;
static const char *table_name = "groups";
static const char *pattern, *jobs_text, *seeds_text;
static const struct weft_cli_option options[] = {
    {"variant", "PATTERN", "only the variants that match; globs, joined by commas", &pattern, NULL},
    {"seeds", "LIST", "run each variant with these seeds, such as 1..5: means, intervals, and what is noise",
     &seeds_text, NULL},
    {"jobs", "N", "runs at a time (default 1); all of them stay in memory", &jobs_text, NULL},
    {"csv", NULL, "comma-separated values on standard output: one line per variant and row of a table", NULL, &csv},
    {"table", "NAME",
     "the table (default: groups), as in `weft models results`, or claims; without --csv only nccl-tests, collectives "
     "in its format",
     &table_name, NULL},
    {0},
};

static const struct weft_cli_command command = {
    .name = "compare",
    .operands = "SCENARIO",
    .about =
        "Runs every variant of a scenario and shows them side by side, with the change against the first, and\n"
        "whether the scenario's claims hold. All variants and claims are checked before the first run. With several\n"
        "seeds, figures are means with half of their 95% interval. Ctrl-C (or SIGTERM) shows the finished runs,\n"
        "without claims. Claims are not checked with --set, --variant or --seeds, because they are about the\n"
        "scenario as in its file; `weft verify` checks them in any case.\n"
        "Exit status: 0 done, 1 system error, 2 bad input, 3 bytes not conserved (a bug), 4 a variant stalled, 5\n"
        "the result of a claim was unexpected, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_HINTS | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON |
              WEFT_CLI_PICK | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = options,
};

/// Prepares every variant with its first seed, so that errors in any of them are reported before one has run.
static enum weft_status prepare_runs(struct compare *c, struct weft_error *error) {
    enum weft_status status = weft_cli_claims_init(&c->claims, c->file, c->o->arena, error);
    const char **captures = weft_arena_alloc(c->o->arena, c->n, sizeof *captures);
    for (uint32_t v = 0; v < c->n && !status; v++) {
        struct weft_cli_simulation *s = &c->s[v * c->seeds];
        status = compare_prepare(c, v * c->seeds, error);
        if (!status && c->seeds > 1 && *s->scenario->capture.ports)
            status = WEFT_REFUSE(error, s->scenario->capture_place,
                                 "capture.ports: every seed would write the same file; expected one seed");
        if (!status) status = weft_cli_claims_check(&c->claims, c->variant[v], s, error);
        if (!status) status = weft_cli_simulation_claim_files(s, v, c->o->out, captures, c->o->arena, error);
    }
    return status;
}

static void show_nccl_tests(const struct compare *c) {
    for (uint32_t i = 0; i < c->ran; i++) {
        printf("# variant %s", c->s[i].scenario->variant);
        if (c->seeds > 1) printf(", seed %llu", (unsigned long long)c->s[i].scenario->run.seed);
        putchar('\n');
        weft_report_nccl_tests(stdout, &c->run[i]);
    }
}

/// What --csv of claims and --pick give.
static enum weft_status show_answer(const struct compare *c, const struct weft_cli_results *r,
                                    struct weft_error *error) {
    const struct weft_compare_answer answer =
        weft_compare_answer(r->run, r->runs, r->not_run, r->claim, r->claims, c->o->arena);
    if (!c->of_claims) return weft_cli_answer(c->o, &weft__answer_compare, &answer, NULL, error);
    weft_answer_csv(stdout, &weft__answer_compare, c->of_claims, &answer);
    return WEFT_OK;
}

/// Shows what there is, whatever the status; claims only if everything ran to its end.
static enum weft_status show_runs(struct compare *c, enum weft_status status, struct weft_error *error) {
    if (c->ran < c->n * c->seeds && !weft_cli_interrupted()) return status;
    uint32_t variants = c->ran / c->seeds; // no mean if only some seeds ran
    if (!variants) return status;
    bool whole = variants == c->n && !weft_report_interrupted(c->run, c->ran);
    struct weft_cli_results results = {
        .run = c->run, .runs = variants * c->seeds, .seeds = c->seeds, .not_run = c->n - variants, .list = true};
    enum weft_status claims = WEFT_OK;
    if (whole && c->claims.n && c->seeds > 1) {
        if (!c->o->quiet) fprintf(stderr, "weft: with --seeds no claim is judged; weft verify --seeds judges them\n");
    } else if (whole && c->claims.n && pattern) {
        if (!c->o->quiet) fprintf(stderr, "weft: with --variant no claim is judged\n");
    } else if (whole && c->claims.n && c->o->set) {
        if (!c->o->quiet) fprintf(stderr, "weft: with --set no claim is judged; weft verify --set judges them\n");
    } else if (whole && c->claims.n) {
        uint32_t left_out;
        claims = weft_cli_claims_judge(&c->claims, &left_out);
        if (left_out && !c->o->quiet)
            fprintf(stderr, "weft: left to weft verify: %s about what other commands say\n",
                    weft__counted(left_out, "claim").text);
        results.claim = c->claims.result;
        results.claims = c->claims.n;
    }
    struct weft_error output = {0};
    if (c->o->out) weft_cli_write_results(c->o->out, &results, &output);
    if (c->of_claims || c->o->picks)
        show_answer(c, &results, output.status ? NULL : &output);
    else if (csv)
        weft_report_csv(stdout, c->table, c->run, results.runs);
    else if (!c->table)
        show_nccl_tests(c);
    else
        weft_cli_print_results(stdout, &results, c->o->json);
    if (!csv && c->table && !output.status) weft_cli_print_hints(c->o, c->run, results.runs, c->seeds);
    if (output.status) *error = output;
    return output.status ? output.status : status ? status : claims;
}

/// --seeds with a single seed is the same as --seed.
static enum weft_status read_options(struct compare *c, struct weft_error *error) {
    if (csv && weft_cli_is_raw(c->o))
        return WEFT_REFUSE(error, WEFT_NOWHERE, "--json, --csv and --pick: expected one of them");
    if (csv) weft_cli_terminal_raw();
    bool nccl_tests = !csv && !weft_cli_is_raw(c->o) && !strcmp(table_name, WEFT_CLI_NCCL_TESTS);
    if (!weft_cli_jobs_parse(jobs_text ? jobs_text : "1", &c->jobs)) return WEFT_ERROR_INPUT;
    c->seeds = 1;
    if (seeds_text && !weft_cli_seeds_parse(seeds_text, c->o->arena, &c->seed, &c->seeds)) return WEFT_ERROR_INPUT;
    const struct weft_tree *seed = c->seed ? weft_scenario_setting(c->file, "run.seed") : NULL;
    if (seed) return WEFT_REFUSE(error, seed->key_place, "--seeds sets it too; expected one of them");
    if (csv && !strncmp(table_name, "claims", 6)) c->of_claims = weft_answer_table(&weft__answer_compare, table_name);
    if (!nccl_tests && !c->of_claims && weft_cli_table_find(weft_run_answer(), table_name, &c->table, error))
        return WEFT_ERROR_INPUT;
    return weft_cli_choose_variants(pattern, c->file, c->o->arena, &c->variant, &c->n, error);
}

static enum weft_status compare_file(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                     struct weft_error *error) {
    struct compare c = {.o = o, .file = file};
    if (read_options(&c, error)) return WEFT_ERROR_INPUT;
    uint32_t runs = c.n * c.seeds;
    c.s = weft_arena_alloc(o->arena, runs, sizeof *c.s);
    c.run = weft_arena_alloc(o->arena, runs, sizeof *c.run);
    c.memory = weft_arena_alloc(o->arena, runs, sizeof(struct weft_memory *));
    enum weft_status status = prepare_runs(&c, error);
    if (!status && o->out) status = weft_cli_out_folder(o, false, true, error); // once, for the threads of all runs
    if (!status) {
        weft_cli_catch_interrupt();
        status = compare_run(&c, error);
        status = show_runs(&c, status, error);
    }
    for (uint32_t i = 0; i < runs; i++) {
        weft_cli_simulation_deinit(&c.s[i]);
        weft_memory_close(c.memory[i]);
    }
    return status;
}

int weft_cli_compare(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, compare_file);
}
