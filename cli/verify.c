// SPDX-License-Identifier: Apache-2.0
// weft verify: checks the claims of many scenarios. Each run is a process, several run at the same time, and the claims
// are judged here.

#include "verify.h"
#include "base/units.h"
#include "processes.h"

static const char *jobs_text, *seeds_text, *sources, *budget_text;
static bool teeth, bands, all;
static const struct weft_cli_option own[] = {
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {"seeds", "LIST", "judge each claim over these seeds, such as 1..8", &seeds_text, NULL},
    {"teeth", NULL,
     "also run each claim with its `without`, which must break it; a claim that still holds is toothless", NULL,
     &teeth},
    {"bands", NULL, "also run each claim at low, typical and high of its `bands`, and say where it turns", NULL,
     &bands},
    {"budget", "TIME", "wall time for the runs of --bands (default: 600s); claims whose runs it ends are not judged",
     &budget_text, NULL},
    {"sources", "FOLDER",
     "run nothing: list the statements of the sources described there, and the claims that check them", &sources, NULL},
    {"all", NULL, "print every claim, not only findings and unexpected results", NULL, &all},
    {0}};

static const struct weft_cli_command command = {
    .name = "verify",
    .operands = "DIR|SCENARIO...",
    .about =
        "Checks the claims of scenarios by running them. DIR: every .yaml file in it and below; files without\n"
        "claims are skipped, and so is an operand without claims, unless it is the only one. A claim with `expected: "
        "no`\n"
        "that does not hold is a finding. A claim about a mean is judged over the seeds that it names; if it names "
        "none,\n"
        "one seed does not judge it. Equal runs are done once.\n"
        "If it is killed, the same command continues where it stopped.\n"
        "Exit status: 0 as expected, 1 system error, 2 bad input (nothing was run), 3 bytes not conserved (a bug),\n"
        "4 a variant stalled, 5 the result of a claim was unexpected or a claim has no teeth, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_THREADS | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .option = own,
    .answer = &weft__answer_verify,
};

/// Claims can be judged if every run has ended by itself, stalled or not.
static int judge_claims(const struct verify *v) {
    static const enum weft_status by_gravity[] = {WEFT_ERROR_CONSERVATION, WEFT_ERROR_SYSTEM, WEFT_ERROR_INPUT,
                                                  WEFT_ERROR_STALL, WEFT_ERROR_CLAIM};
    bool met[WEFT_ERROR_CLAIM + 1] = {0};
    for (const struct verified *s = v->first; s; s = s->next) {
        struct verify_counts c = verify_count(v, s);
        met[s->status] = true;
        met[WEFT_ERROR_CLAIM] |= c.verdict.unexpected || c.toothless || c.bands_unexpected;
    }
    if (v->interrupted) return WEFT_INTERRUPTED;
    for (unsigned i = 0; i < sizeof by_gravity / sizeof *by_gravity; i++)
        if (met[by_gravity[i]]) return (int)by_gravity[i];
    return WEFT_OK;
}

static bool parse_budget(double *ret_s) {
    char why[256];
    uint64_t time = 600 * WEFT_PS_PER_S;
    if (budget_text && !weft__quantity_parse(WEFT__TIME, budget_text, &time, why, sizeof why)) {
        fprintf(stderr, "weft: --budget: %s\n", why);
        return false;
    }
    *ret_s = (double)time / WEFT_PS_PER_S;
    return true;
}

static enum weft_status read_options(struct verify *v) {
    v->teeth = teeth;
    v->bands = bands;
    if (budget_text && !bands) {
        fputs("weft: --budget is for the runs of --bands\n", stderr);
        return WEFT_ERROR_INPUT;
    }
    if (!parse_budget(&v->budget_s)) return WEFT_ERROR_INPUT;
    v->all = all;
    if (!weft_cli_jobs_parse(jobs_text, &v->jobs)) return WEFT_ERROR_INPUT;
    return seeds_text && !weft_cli_seeds_parse(seeds_text, v->o->arena, &v->seed, &v->seeds) ? WEFT_ERROR_INPUT
                                                                                             : WEFT_OK;
}

static int verify_all(struct verify *v, struct weft_error *ret_error) {
    enum weft_status status = read_options(v);
    for (uint32_t i = 0; i < v->o->operands && !status; i++)
        status = verify_read(v, v->o->operand[i], ret_error);
    if (!status && !v->first) status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no scenario with claims");
    if (!status && sources) return (int)verify_sources(v, sources, ret_error);
    for (struct verified *s = v->first; s && !status; s = s->next)
        status = verify_prepare(v, v->preparing = s, ret_error);
    for (struct verified *s = v->first; s && bands && !status; s = s->next)
        status = verify_prepare_bands(v, v->preparing = s, ret_error);
    if (!status) {
        verify_journal_open(v);
        status = verify_run(v, ret_error);
        if (!status && bands) status = verify_search_bands(v, ret_error);
        verify_journal_close(v, !status && !v->interrupted);
    }
    if (status) return (int)status;
    status = verify_answer(v, ret_error);
    return status ? (int)status : judge_claims(v);
}

int weft_cli_verify(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    struct verify v = {.o = &o, .last = &v.first, .last_task = &v.task};
    if (exit_status == WEFT_CLI_GO) {
        exit_status = verify_all(&v, &error);
        if (error.status) weft_cli_fail_scenario(&error, v.preparing ? v.preparing->file : NULL);
    }
    return exit_status;
}
