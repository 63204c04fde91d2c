// SPDX-License-Identifier: Apache-2.0
// weft compare: every variant of a scenario, side by side, and what was claimed about them.
#include <stdio.h>
#include <string.h>

#include "claims.h"
#include "results.h"

static bool csv;
static const char *table_name = "groups";
static const char *pattern;
static const struct weft_cli_option options[] = {
    {"variant", "PATTERN", "only the variants that match; globs, joined by commas", &pattern, NULL},
    {"csv", NULL, "comma-separated values on standard output: a line a variant and row of a table", NULL, &csv},
    {"table", "NAME",
     "the table (default: groups), as in `weft models results`; without --csv nccl-tests: collectives as it prints "
     "them",
     &table_name, NULL},
    {0},
};

static const struct weft_cli_command command = {
    .name = "compare",
    .operands = "SCENARIO",
    .about = "Runs every variant of a scenario, one after the other, and shows them side by side, with the change\n"
             "against the first, and whether the scenario's claims hold. All variants and claims are checked before\n"
             "one is run. Ctrl-C (or SIGTERM) shows those that ran, and no claim is judged. With --set or\n"
             "--variant none is judged either: claims are about the scenario as its file has it; `weft verify --set`\n"
             "judges them all the same.\n"
             "Exit status: 0 done, 1 system error, 2 bad input, 3 bytes not conserved (a bug), 4 a variant stalled,\n"
             "5 a claim turned out other than expected, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = options,
};

/// The graver of two ends: a bug before an interrupt before a stall before nothing.
static enum weft_status graver(enum weft_status a, enum weft_status b) {
    static const enum weft_status by_gravity[] = {WEFT_ERROR_CONSERVATION, WEFT_INTERRUPTED};
    for (unsigned i = 0; i < sizeof by_gravity / sizeof *by_gravity; i++)
        if (a == by_gravity[i] || b == by_gravity[i]) return by_gravity[i];
    return a ? a : b;
}

struct compare {
    const struct weft_cli_options *o;
    uint32_t n, ran;   ///< variants to run, and how many of them ran
    uint32_t *variant; ///< their numbers in the file
    struct weft_cli_simulation *s;
    struct weft_run *run;
    struct weft_cli_claims claims;
    const struct weft_result_table *table; ///< NULL: collectives as nccl-tests prints them
};

static enum weft_status prepare(struct compare *c, const struct weft_scenario_file *file, struct weft_error *error) {
    enum weft_status status = weft_cli_claims_init(&c->claims, file, c->o->arena, error);
    const char **captures = weft_arena_alloc(c->o->arena, c->n, sizeof *captures);
    for (uint32_t i = 0; i < c->n && !status; i++) {
        status = weft_cli_simulation_init(&c->s[i], file, c->variant[i], error);
        if (!status) status = weft_cli_claims_check(&c->claims, c->variant[i], &c->s[i], error);
        c->s[i].one_of_several = c->n > 1;
        if (!status) status = weft_cli_simulation_claim_capture(&c->s[i], i, captures, c->o->arena, error);
    }
    return status;
}

/// Takes the status of a variant, and its error if none of those before it was as grave.
static void take(enum weft_status *all, enum weft_status status, const struct weft_error *own,
                 struct weft_error *error) {
    if (status && graver(*all, status) != *all) *error = *own;
    *all = graver(*all, status);
}

/// Runs until the user interrupts. c->ran: how many have an outcome.
static enum weft_status run_all(struct compare *c, struct weft_error *error) {
    enum weft_status all = WEFT_OK;
    for (c->ran = 0; c->ran < c->n; c->ran++) {
        struct weft_error own = {0};
        if (weft_cli_interrupted()) {
            enum weft_status status = weft_error_set(&own, WEFT_INTERRUPTED, WEFT_NOWHERE,
                                                     "interrupted; %u of %u variants were begun", c->ran, c->n);
            take(&all, status, &own, error);
            return all;
        }
        struct weft_cli_simulation *s = &c->s[c->ran];
        enum weft_status status = weft_cli_simulation_run(s, c->o, s->scenario->variant, &c->run[c->ran], &own);
        take(&all, status, &own, error);
        if (!s->outcome) return all;
        weft_cli_claims_take(&c->claims, c->variant[c->ran], &c->run[c->ran]);
    }
    return all;
}

static void show_nccl_tests(const struct compare *c) {
    for (uint32_t i = 0; i < c->ran; i++) {
        printf("# variant %s\n", c->s[i].scenario->variant);
        weft_report_nccl_tests(stdout, &c->run[i]);
    }
}

/// What there is is shown, whatever the status; claims only if everything ran to its end.
static enum weft_status show(struct compare *c, enum weft_status status, struct weft_error *error) {
    if (c->ran < c->n && !weft_cli_interrupted()) return status;
    bool whole = c->ran == c->n && !weft_report_interrupted(c->run, c->ran);
    struct weft_cli_results results = {.run = c->run, .runs = c->ran, .not_run = c->n - c->ran, .list = true};
    enum weft_status claims = WEFT_OK;
    if (whole && c->claims.n && pattern) {
        if (!c->o->quiet) fprintf(stderr, "weft: with --variant no claim is judged\n");
    } else if (whole && c->claims.n && c->o->set) {
        if (!c->o->quiet) fprintf(stderr, "weft: with --set no claim is judged; weft verify --set judges them\n");
    } else if (whole && c->claims.n) {
        uint32_t left_out;
        claims = weft_cli_claims_judge(&c->claims, &left_out);
        if (left_out && !c->o->quiet)
            fprintf(stderr, "weft: %u claims about what other commands say are left to weft verify\n", left_out);
        results.claim = c->claims.result;
        results.claims = c->claims.n;
    }
    struct weft_error output = {0};
    if (c->o->out) weft_cli_write_results(c->o->out, &results, &output);
    if (csv)
        weft_report_csv(stdout, c->table, c->run, c->ran);
    else if (!c->table)
        show_nccl_tests(c);
    else
        weft_cli_print_results(stdout, &results, c->o->json);
    if (output.status) *error = output;
    return output.status ? output.status : status ? status : claims;
}

static enum weft_status compare(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                struct weft_error *error) {
    struct compare c = {.o = o};
    bool nccl_tests = !csv && !o->json && !strcmp(table_name, WEFT_CLI_NCCL_TESTS);
    if (!nccl_tests && weft_cli_table_find(table_name, &c.table, error)) return WEFT_ERROR_INPUT;
    if (weft_cli_choose_variants(pattern, file, o->arena, &c.variant, &c.n, error)) return WEFT_ERROR_INPUT;
    c.s = weft_arena_alloc(o->arena, c.n, sizeof *c.s);
    c.run = weft_arena_alloc(o->arena, c.n, sizeof *c.run);
    enum weft_status status = prepare(&c, file, error);
    if (!status) {
        weft_cli_catch_interrupt();
        status = run_all(&c, error);
        status = show(&c, status, error);
    }
    for (uint32_t i = 0; i < c.n; i++)
        weft_cli_simulation_deinit(&c.s[i]);
    return status;
}

int weft_cli_compare(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, compare);
}
