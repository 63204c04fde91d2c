// SPDX-License-Identifier: Apache-2.0
// weft run: one variant of a scenario.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"
#include "claims.h"
#include "cli.h"
#include "ranks.h"
#include "results.h"
#include "weft/checkpoint.h"

/// The values of the two options; NULL: not given.
struct weft_cli_checkpoint_options {
    const char *every, *resume;
};

static const char saved_name[] = "run.checkpoint"; ///< in the folder of results
enum { PS_PER_MS = 1000000000, MS_MIN = 10 };

static struct weft_checkpoint_program this_program(void) {
    struct weft_checkpoint_program program = {.hash = weft_cli_program_hash(WEFT__HASH_START)};
    snprintf(program.text, sizeof program.text, "weft %s, commit %s", WEFT_VERSION, weft_cli_commit);
    return program;
}

static enum weft_status parse_every(const char *text, double *ret_s, struct weft_error *ret_error) {
    char why[160];
    uint64_t time_ps = 0;
    if (!weft__quantity_parse(WEFT__TIME, text, &time_ps, why, sizeof why))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--checkpoint"}, "%s", why);
    if (time_ps < (uint64_t)MS_MIN * PS_PER_MS)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--checkpoint"},
                           "%s is too short; expected at least %dms", text, MS_MIN);
    *ret_s = (double)time_ps * 1e-12;
    return WEFT_OK;
}

/// From now on, memory is allocated where a checkpoint can save it; also copies `argv` there. Options must be parsed
/// again.
static enum weft_status checkpoint_begin(const struct weft_cli_checkpoint_options *given, int argc, char ***argv,
                                         struct weft_error *ret_error) {
    double every_s;
    struct weft_checkpoint_program program = this_program();
    WEFT_TRY(parse_every(given->every, &every_s, ret_error));
    WEFT_TRY(weft_checkpoint_open(&program, weft_cli_ranks(), ret_error));
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO); // lives until the process ends
    char **copy = weft_arena_alloc(arena, (size_t)argc + 1, sizeof *copy);
    for (int i = 0; i < argc; i++)
        copy[i] = weft_arena_text(arena, (*argv)[i]);
    *argv = copy;
    return WEFT_OK;
}

static void say_failure(const char *why) {
    fprintf(stderr, "weft: the checkpoint cannot be written: %s; the run continues\n", why);
}

/// Called before the run: checks that it can be saved. Its options name its folder. _resume gives `root` back.
static enum weft_status checkpoint_new(const struct weft_cli_options *o, const char *every, void *root,
                                       struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error) {
    if (!o->out)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--checkpoint writes into the folder of --out; expected --out DIR as well");
    struct weft_checkpoint *checkpoint = weft_memory_new(WEFT_MEMORY_RESULT, 1, sizeof *checkpoint); // until the end
    checkpoint->file = weft_arena_format(o->arena, "%s/%s", o->out, saved_name);
    checkpoint->root = root;
    checkpoint->on_failure = say_failure;
    *ret_checkpoint = checkpoint;
    if (!o->force && !access(checkpoint->file, F_OK))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--out: '%s' holds a checkpoint; --resume %s continues that run, --force replaces it",
                           o->out, o->out);
    return parse_every(every, &checkpoint->every_s, ret_error);
}

/// The run was described when it began, so these options cannot be repeated.
static enum weft_status check_resume(const struct weft_cli_options *o, struct weft_error *ret_error) {
    const char *wrong = o->operands   ? "a scenario"
                        : o->settings ? "--set, --seed or --capture"
                        : o->variant  ? "--variant"
                        : o->out      ? "--out"
                                      : NULL;
    if (!wrong) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                       "--resume and %s; expected the folder alone: the run and its folder are those it began with",
                       wrong);
}

/// `o`: of the resuming command; its folder becomes the run's.
static enum weft_status checkpoint_resume(const struct weft_cli_options *o,
                                          const struct weft_cli_checkpoint_options *given,
                                          struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error) {
    double every_s = 0;
    struct weft_checkpoint_program program = this_program();
    WEFT_TRY(check_resume(o, ret_error));
    if (given->every) WEFT_TRY(parse_every(given->every, &every_s, ret_error));
    const char *file = weft_arena_format(o->arena, "%s/%s", given->resume, saved_name);
    WEFT_TRY(weft_checkpoint_read(file, &program, weft_cli_ranks(), ret_checkpoint, ret_error));
    struct weft_checkpoint *checkpoint = *ret_checkpoint;
    if (given->every) checkpoint->every_s = every_s;
    checkpoint->file = file;
    checkpoint->on_failure = say_failure;
    return WEFT_OK;
}

/// The run has ended and its results are written: removes the checkpoint.
static void checkpoint_remove(const struct weft_checkpoint *checkpoint) {
    unlink(checkpoint->file);
}

static const char *export_text, *table_name, *interval_text;
static struct weft_cli_checkpoint_options saving;
static const struct weft_cli_option own[] = {
    {"export", "FORMAT[,...]", "also write files as other programs do into --out DIR: hpcc, htsim, nccl-tests",
     &export_text, NULL},
    {"table", "NAME", "print collectives in the format of nccl-tests instead of the report: nccl-tests", &table_name,
     NULL},
    {"until-interval", "PART",
     "go on sampling until half of the interval is at most this part of a job's time, such as 1% (run.sample)",
     &interval_text, NULL},
    {"checkpoint", "TIME", "save the run into --out DIR after each such wall time, such as 600s, and on Ctrl-C",
     &saving.every, NULL},
    {"resume", "DIR", "instead of SCENARIO: continue the run that was saved in DIR", &saving.resume, NULL},
    {0}};

static struct weft_cli_command command = {
    .name = "run",
    .operands = "SCENARIO, or --resume DIR",
    .about =
        "Runs one variant of a scenario (the first, if none is named) and reports completion times by flow group,\n"
        "pauses, marks and drops. SCENARIO is a YAML file, - for standard input, or a folder written by --out: then\n"
        "the run in it is repeated, and the digests are compared.\n"
        "Ctrl-C (or SIGTERM) ends the run and reports the results so far.\n"
        "Exit status: 0 done, 1 system error, 2 bad input, 3 bytes not conserved (a bug), 4 the network stalled, or\n"
        "simulated time (100 days) was over, 5 the digest of a repeated run differs, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_HINTS | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT |
              WEFT_CLI_CAPTURE | WEFT_CLI_QUIET,
    .operands_min = 0,
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
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--export: no format \"%s\"; %s", name, expected);
}

static enum weft_status parse_exports(const struct weft_cli_options *o, struct exports *e,
                                      struct weft_error *ret_error) {
    *e = (struct exports){0};
    enum weft_status status = WEFT_OK;
    if (!export_text) return WEFT_OK;
    if (!o->out)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
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

/// Flows of a sampled job have no times.
static enum weft_status check_exports(const struct exports *e, const struct weft_scenario *scenario,
                                      struct weft_error *ret_error) {
    const struct weft_sample_conf *sample = &scenario->run.sample;
    for (uint32_t i = 0; i < e->n && (sample->operations || sample->until_interval > 0); i++)
        if (e->format[i]->flows)
            return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                               "--export %s: of a sampled job (run.sample) a part runs, so its flows have no times; "
                               "expected nccl-tests, or all of it in packets",
                               e->format[i]->name);
    return WEFT_OK;
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
    for (uint32_t i = 0; i < e->n; i++) {
        if (e->format[i]->events && run->outcome->unrecorded)
            fprintf(
                stderr,
                "weft: --export %s: %s were left out, so that pauses may be missing; expected a greater run.events\n",
                e->format[i]->name, weft__counted(run->outcome->unrecorded, "event").text);
        for (uint32_t k = 0; k < 2 && e->format[i]->file[k].name; k++) {
            struct writing w = {e->format[i]->file[k].write, run};
            WEFT_TRY(weft_cli_replace_file(weft_arena_format(o->arena, "%s/%s", o->out, e->format[i]->file[k].name),
                                           write_export, &w, ret_error));
        }
    }
    return WEFT_OK;
}

static void add_exports(struct weft_run *run, const struct exports *e) {
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < 2 && e->format[i]->file[k].name; k++)
            weft_cli_add_file(run, e->format[i]->file[k].name);
}

static enum weft_status check_table(const struct weft_cli_options *o, struct weft_error *ret_error) {
    if (!table_name) return WEFT_OK;
    if (strcmp(table_name, WEFT_CLI_NCCL_TESTS))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--table: no table \"%s\"; expected " WEFT_CLI_NCCL_TESTS
                           "; weft compare --csv has the others",
                           table_name);
    const char *other = o->json ? "--json" : o->csv ? "--csv" : "--pick";
    if (!weft_cli_is_raw(o)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--table and %s; expected one of them", other);
}

static void mention_others(const struct weft_cli_options *o, const struct weft_scenario_file *file) {
    uint32_t n = weft_scenario_variants(file);
    const char **names = weft_arena_alloc(o->arena, n, sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = weft_scenario_variant_name(file, i);
    weft_cli_mention_others("running", names, n, ", weft compare runs all");
}

/// How a run over several processes was divided, and what that cost.
static void mention_ranks(const struct weft_outcome *o) {
    uint64_t most = 0;
    for (uint32_t r = 0; r < o->ranks; r++)
        if (o->rank[r].events > most) most = o->rank[r].events;
    if (!o->ranks || !o->windows || !most) return;
    fprintf(stderr, "weft: %s, %s, balance %.2f (mean load of a rank over the largest)\n",
            weft__counted(o->ranks, "rank").text, weft__counted(o->windows, "window").text,
            (double)o->events / o->ranks / (double)most);
    for (uint32_t r = 0; r < o->ranks; r++) {
        const struct weft_rank_outcome *rank = &o->rank[r];
        char peak[WEFT_CLI_TEXT];
        fprintf(stderr,
                "weft: rank %u on %s: %s, %.1f%% of events, %.2fs CPU; a window: %.1f messages and %.0fB sent, %.1fus "
                "in the exchange; %s of memory\n",
                r, rank->host, weft__counted(rank->nodes, "node").text, 100 * (double)rank->events / (double)o->events,
                rank->cpu_s, (double)rank->messages / (double)o->windows, (double)rank->bytes / (double)o->windows,
                rank->wait_s * 1e6 / (double)o->windows, weft_cli_bytes_text(rank->peak_rss_bytes, peak));
    }
}

/// One run, from its options to its report. If the run is saved, this struct and what it points to are in the image.
struct work {
    struct weft_cli_options o;
    const char *export_text, *table_name;
    struct weft_scenario_file *read;
    const struct weft_scenario_file *file; ///< the scenario file, perhaps with another seed
    struct weft_cli_simulation s;
    struct weft_run run;
    struct exports exports;
    struct weft_stored stored;
};

/// Refuses runs that write files while they run, because these would not be restored.
static enum weft_status check_savable(const struct weft_cli_simulation *s, struct weft_error *error) {
    if (!*s->scenario->capture.ports) return WEFT_OK;
    return WEFT_REFUSE(error, s->scenario->capture_place,
                       "--checkpoint: a capture is written while the run goes on, and a checkpoint does not hold it; "
                       "expected no capture, or no --checkpoint");
}

/// Everything except running.
static enum weft_status prepare_run(struct work *work, struct weft_error *error) {
    struct weft_cli_options *o = &work->o;
    if (interval_text)
        o->setting[o->settings++] = weft_arena_format(o->arena, "run.sample.until_interval=%s", interval_text);
    uint32_t variant;
    struct weft_cli_claims claims; // a single run does not need them, but an error in them is refused
    struct weft_checkpoint *checkpoint = NULL;
    enum weft_status status = weft_cli_scenario_read(o, &work->read, error);
    work->file = work->read;
    if (!status) status = weft_cli_claims_init(&claims, work->file, o->arena, error);
    if (!status) status = check_table(o, error);
    if (!status) status = parse_exports(o, &work->exports, error);
    if (!status && saving.every) status = checkpoint_new(o, saving.every, work, &checkpoint, error);
    if (!status) status = weft_cli_stored_variant(o, &work->file, &work->stored, &variant, error);
    if (!status) status = weft_cli_simulation_init(&work->s, work->file, variant, error);
    if (!status) status = check_exports(&work->exports, work->s.scenario, error);
    if (!status && checkpoint) status = check_savable(&work->s, error);
    work->s.checkpoint = checkpoint;
    if (!status && !o->variant && !work->stored.variant && !weft_cli_is_raw(o) && !o->quiet)
        mention_others(o, work->file);
    return status;
}

static void mention_checkpoint(const struct work *work) {
    const struct weft_checkpoint *checkpoint = work->s.checkpoint;
    bool saved = checkpoint && checkpoint->written && work->s.outcome->end == WEFT_END_INTERRUPTED;
    if (saved && !work->o.quiet && !weft_cli_is_raw(&work->o))
        fprintf(stderr, "weft: `weft run --resume %s` continues the run\n",
                weft__text_shown(work->o.out, work->o.arena));
}

static void print_table(FILE *file, const void *run) {
    weft_report_table(file, run);
}

/// Writes and prints the results; `error` is that of the run.
static enum weft_status report_run(struct work *work, enum weft_status status, struct weft_error *error) {
    const struct weft_cli_options *o = &work->o;
    const struct weft_stored *stored = &work->stored;
    struct weft_error output = {0};
    struct weft_cli_results results = {.run = &work->run, .runs = 1};
    add_exports(&work->run, &work->exports);
    if (o->out) weft_cli_write_results(o->out, &results, &output);
    if (!output.status) write_exports(o, &work->exports, &work->run, &output);
    if (work->s.checkpoint && !output.status && work->s.outcome->end != WEFT_END_INTERRUPTED)
        checkpoint_remove(work->s.checkpoint);
    enum weft_status printed = WEFT_OK;
    if (table_name)
        weft_report_nccl_tests(stdout, &work->run);
    else
        printed = weft_cli_answer(o, weft_run_answer(), &work->run, print_table, output.status ? NULL : &output);
    if (!o->quiet && !weft_cli_is_raw(o)) mention_ranks(work->s.outcome);
    if (!table_name && !output.status) weft_cli_print_hints(o, &work->run, 1, 1);
    mention_checkpoint(work);
    if (!status && stored->variant) status = weft_cli_compare_digests(stored, work->s.outcome, error);
    if (!status && stored->digest && !stored->interrupted && !o->quiet && !weft_cli_is_raw(o))
        fprintf(stderr, "weft: the same digest as in %s\n", weft__text_shown(o->operand[0], o->arena));
    if (!output.status) return status ? status : printed;
    *error = output;
    return output.status;
}

/// Returns the exit status; `error` is set if something should be said on standard error.
static enum weft_status run_work(struct work *work, struct weft_error *error) {
    weft_cli_catch_interrupt();
    const struct weft_scenario *scenario = work->s.scenario;
    enum weft_status status = weft_cli_simulation_run(&work->s, &work->o, scenario->variant, &work->run, error);
    if (work->s.outcome) status = report_run(work, status, error);
    return status;
}

/// `given`: the options of this command, which apply in addition to those that the run began with.
static enum weft_status resume_run(const struct weft_cli_options *given, struct weft_error *error) {
    struct weft_checkpoint *checkpoint;
    if (export_text || table_name)
        return WEFT_REFUSE(error, WEFT_NOWHERE,
                           "--resume and --%s; expected the folder alone: what the run writes was said when it began",
                           export_text ? "export" : "table");
    WEFT_TRY(checkpoint_resume(given, &saving, &checkpoint, error));
    struct work *work = checkpoint->root;
    struct weft_cli_options *o = &work->o;
    o->threads = given->threads;
    o->oversubscribe = given->oversubscribe;
    o->pin = given->pin;
    o->quiet |= given->quiet;
    o->json |= given->json;
    if (given->csv) o->csv = given->csv;
    if (given->database) o->database = given->database;
    if (given->picks) {
        o->pick = given->pick;
        o->picks = given->picks;
    }
    o->out = weft_arena_text(o->arena, saving.resume);
    checkpoint->file = weft_arena_text(o->arena, checkpoint->file);
    export_text = work->export_text;
    table_name = work->table_name;
    work->s.resumed = true;
    if (weft_cli_is_raw(o)) weft_cli_terminal_raw();
    return run_work(work, error);
}

static enum weft_status begin_run(struct work *work, struct weft_error *error) {
    work->export_text = export_text;
    work->table_name = table_name;
    WEFT_TRY(prepare_run(work, error));
    return run_work(work, error);
}

static int end_run(const struct work *work, const struct weft_error *error, enum weft_status status) {
    if (error->status) weft_cli_fail_scenario(error, work->read);
    return (int)status;
}

/// Parses the options again, so that they are where a checkpoint finds them.
static int run_saved(int argc, char **argv) {
    struct weft_error error = {0};
    enum weft_status status = checkpoint_begin(&saving, argc, &argv, &error);
    if (status) return end_run(&(struct work){0}, &error, status);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct work *work = weft_arena_alloc(arena, 1, sizeof *work);
    int exit_status = weft_cli_parse(&command, argc, argv, &work->o);
    if (exit_status == WEFT_CLI_GO) exit_status = end_run(work, &error, begin_run(work, &error));
    return exit_status;
}

static int expect_scenario(void) {
    fprintf(stderr, "weft run: expected %s\nweft: see weft run --help\n", command.operands);
    return WEFT_ERROR_INPUT;
}

int weft_cli_run(int argc, char **argv) {
    struct work work = {0};
    struct weft_error error = {0};
    command.answer = weft_run_answer();
    int exit_status = weft_cli_parse(&command, argc, argv, &work.o);
    if (exit_status == WEFT_CLI_GO && saving.resume)
        exit_status = end_run(&work, &error, resume_run(&work.o, &error));
    else if (exit_status == WEFT_CLI_GO && !work.o.operands)
        exit_status = expect_scenario();
    else if (exit_status == WEFT_CLI_GO && saving.every)
        exit_status = run_saved(argc, argv);
    else if (exit_status == WEFT_CLI_GO)
        exit_status = end_run(&work, &error, begin_run(&work, &error));
    return exit_status;
}
