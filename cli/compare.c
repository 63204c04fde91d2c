// SPDX-License-Identifier: Apache-2.0
// weft compare: every variant of a scenario, side by side, and the claims about them.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "processes.h"
#include "results.h"
#include "weft/claim_rows.h"

#include "base/clock.h"
#include "base/units.h"
#include "claims.h"
#include "progress.h"
#include "weft/sweep.h"

static bool csv, brief;

// How weft compare runs its variants. Runs at the same time are threads, each with its own memory, because their
// outcomes are shown together.

struct compare {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    uint32_t n, seeds; ///< variants to run, and seeds for each
    uint32_t *variant; ///< their numbers in the file
    uint64_t *seed;    ///< NULL: only the scenario's own
    uint32_t jobs;
    uint32_t ran;                  ///< of n * seeds runs, how many were started
    struct weft_cli_simulation *s; ///< [n][seeds]
    struct weft_run *run;          ///< likewise
    struct weft_memory **memory;   ///< [n * seeds]: the memory of a run that ran in parallel; NULL: the command's own
    struct weft_cli_claims claims;
    const struct weft_result_table *table;     ///< NULL: collectives as nccl-tests prints them
    const struct weft_result_table *of_claims; ///< of --csv: claims or a table below them; NULL: a table of the runs
};

/// Builds run `i`.
static enum weft_status compare_prepare(struct compare *c, uint32_t i, struct weft_error *ret_error) {
    const struct weft_scenario_file *file = c->file;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO); // freed with the memory of the run
    if (c->seed) file = weft_sweep_with_seed(file, c->seed[i % c->seeds], arena);
    enum weft_status status = weft_cli_simulation_init(&c->s[i], file, c->variant[i / c->seeds], ret_error);
    c->s[i].one_of_several = c->n > 1;
    return status;
}

/// The more serious of two ends: a bug, then an interrupt, then a stall, then none.
static enum weft_status graver_status(enum weft_status a, enum weft_status b) {
    static const enum weft_status by_gravity[] = {WEFT_ERROR_CONSERVATION, WEFT_INTERRUPTED};
    for (unsigned i = 0; i < sizeof by_gravity / sizeof *by_gravity; i++)
        if (a == by_gravity[i] || b == by_gravity[i]) return by_gravity[i];
    return a ? a : b;
}

/// Takes the status of a run, and its error if no earlier one was as serious.
static void take_status(enum weft_status *all, enum weft_status status, const struct weft_error *own,
                        struct weft_error *error) {
    if (status && graver_status(*all, status) != *all) *error = *own;
    *all = graver_status(*all, status);
}

static enum weft_status run_one(struct compare *c, uint32_t i, const struct weft_cli_options *options,
                                struct weft_error *ret_error) {
    struct weft_cli_simulation *s = &c->s[i];
    WEFT_TRY(s->whole ? WEFT_OK : compare_prepare(c, i, ret_error));
    return weft_cli_simulation_run(s, options, s->scenario->variant, &c->run[i], ret_error);
}

static void say_interrupted(struct compare *c, enum weft_status *all, struct weft_error *error) {
    struct weft_error own = {0};
    bool seeds = c->seeds > 1;
    enum weft_status status =
        weft_error_set(&own, WEFT_INTERRUPTED, WEFT_NOWHERE, "interrupted; %u of %u %s were begun", c->ran,
                       c->n * c->seeds, seeds ? "runs" : "variants");
    take_status(all, status, &own, error);
}

// --- one after the other ------------------------------------------------------------------------------------------

static enum weft_status run_in_turn(struct compare *c, struct weft_error *error) {
    enum weft_status all = WEFT_OK;
    for (c->ran = 0; c->ran < c->n * c->seeds; c->ran++) {
        struct weft_error own = {0};
        if (weft_cli_interrupted()) {
            say_interrupted(c, &all, error);
            return all;
        }
        take_status(&all, run_one(c, c->ran, c->o, &own), &own, error);
        if (!c->s[c->ran].outcome) return all;
    }
    return all;
}

// --- several at a time --------------------------------------------------------------------------------------------

/// The end of a run in a thread.
struct end {
    enum weft_status status;
    struct weft_error error;
    bool whole; ///< memory did not run out during the run
};

struct pool {
    struct compare *c;
    struct weft_cli_options options;
    pthread_mutex_t lock; ///< protects the fields below
    uint32_t next, ended;
    bool stopped; ///< a run has no outcome: no other starts
    struct weft_cli_progress progress;
    double begun_s;
    struct end *end; ///< [runs]
};

struct turn {
    struct pool *pool;
    uint32_t i;
};

static enum weft_status run_turn(void *context, struct weft_error *ret_error) {
    const struct turn *turn = context;
    struct pool *p = turn->pool;
    enum weft_status status = run_one(p->c, turn->i, &p->options, ret_error);
    p->end[turn->i].whole = true;
    return status;
}

/// If memory runs out, the run's memory is freed with everything half made in it.
static void run_in_own_memory(struct pool *p, uint32_t i) {
    struct compare *c = p->c;
    struct turn turn = {p, i};
    bool prepared = c->s[i].whole;
    c->memory[i] = weft_memory_open();
    struct weft_error *error = &p->end[i].error;
    p->end[i].status = c->memory[i] ? weft_memory_guard(c->memory[i], run_turn, &turn, error)
                                    : weft_error_set(error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "out of memory");
    if (p->end[i].whole) return;
    c->s[i].outcome = NULL;
    if (!prepared) c->s[i] = (struct weft_cli_simulation){0};
}

static void show_progress(struct pool *p) {
    uint32_t runs = p->c->n * p->c->seeds;
    struct weft_cli_runs_progress now = {p->ended, runs, (double)p->ended / runs,
                                         weft__clock_s(CLOCK_MONOTONIC) - p->begun_s};
    weft_cli_progress_runs(&p->progress, &now);
}

static void *work_pool(void *context) {
    struct pool *p = context;
    uint32_t runs = p->c->n * p->c->seeds;
    pthread_mutex_lock(&p->lock);
    while (p->next < runs && !p->stopped && !weft_cli_interrupted()) {
        uint32_t i = p->next++;
        show_progress(p);
        pthread_mutex_unlock(&p->lock);
        run_in_own_memory(p, i);
        pthread_mutex_lock(&p->lock);
        p->ended++;
        p->stopped |= !p->c->s[i].outcome;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/// Threads start runs in order, so that the runs started are the first ones.
static enum weft_status run_beside(struct compare *c, struct weft_error *error) {
    uint32_t runs = c->n * c->seeds, threads = c->jobs < runs ? c->jobs : runs, started = 0;
    struct pool p = {.c = c, .options = *c->o, .begun_s = weft__clock_s(CLOCK_MONOTONIC)};
    pthread_t *thread = weft_arena_alloc(c->o->arena, threads, sizeof *thread);
    p.options.quiet = true;
    p.end = weft_arena_alloc(c->o->arena, runs, sizeof *p.end);
    pthread_mutex_init(&p.lock, NULL);
    weft_cli_progress_init(&p.progress, "weft compare", c->o->quiet);
    while (started < threads && !pthread_create(&thread[started], NULL, work_pool, &p))
        started++;
    if (!started) work_pool(&p); // the system cannot start another thread
    for (uint32_t t = 0; t < started; t++)
        pthread_join(thread[t], NULL);
    weft_cli_progress_deinit(&p.progress);
    pthread_mutex_destroy(&p.lock);
    enum weft_status all = WEFT_OK;
    for (c->ran = 0; c->ran < p.next && c->s[c->ran].outcome; c->ran++)
        take_status(&all, p.end[c->ran].status, &p.end[c->ran].error, error);
    if (c->ran < p.next)
        take_status(&all, p.end[c->ran].status, &p.end[c->ran].error, error);
    else if (c->ran < runs)
        say_interrupted(c, &all, error);
    return all;
}

/// Runs until the user interrupts. Returns the status and the error of the most serious end.
static enum weft_status compare_run(struct compare *c, struct weft_error *error) {
    enum weft_status status = c->jobs > 1 ? run_beside(c, error) : run_in_turn(c, error);
    for (uint32_t i = 0; i < c->ran && c->seeds == 1; i++)
        weft_cli_claims_take(&c->claims, c->variant[i], &c->run[i]);
    return status;
}

static const char *table_name = "groups";
static const char *pattern, *jobs_text, *seeds_text;
static const struct weft_cli_option options[] = {
    {"variant", "PATTERN", "only the variants that match; globs, joined by commas", &pattern, NULL},
    {"seeds", "LIST", "run each variant with these seeds, such as 1..5: means, intervals, and what is noise",
     &seeds_text, NULL},
    {"jobs", "N", "runs at a time (default 1); all of them stay in memory", &jobs_text, NULL},
    {"csv", NULL, "comma-separated values on standard output: one line per variant and row of a table", NULL, &csv},
    {"brief", NULL, "one table of times and of what acted, and sentences that say what changed and why", NULL, &brief},
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
    else if (brief)
        weft_report_compare_brief(stdout, &results.run[0], results.runs, c->seeds);
    else
        weft_cli_print_results(stdout, &results, c->o->json);
    if (!csv && c->table && !output.status) weft_cli_print_hints(c->o, c->run, results.runs, c->seeds);
    if (output.status) *error = output;
    return output.status ? output.status : status ? status : claims;
}

/// --seeds with a single seed is the same as --seed.
static enum weft_status read_options(struct compare *c, struct weft_error *error) {
    if (csv + weft_cli_is_raw(c->o) + brief > 1)
        return WEFT_REFUSE(error, WEFT_NOWHERE, "%s--json, --csv and --pick: expected one of them",
                           brief ? "--brief, " : "");
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
