// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numa.h"
#include "base/stream.h"
#include "base/tree.h"
#include "base/units.h"
#include "cli.h"
#include "progress.h"
#include "ranks.h"
#include "weft/checkpoint.h"
#include "weft/hints.h"
#include "weft/sweep.h"

static atomic_bool interrupted; ///< read by all threads that run something

static void on_interrupt(int number, siginfo_t *info, void *context) {
    atomic_store(&interrupted, true);
    weft_cli_ranks_interrupt(number, info->si_pid);
}

void weft_cli_catch_interrupt(void) {
    struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_SIGINFO)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

bool weft_cli_interrupted(void) {
    return atomic_load(&interrupted);
}

static void take_whole(struct weft_cli_simulation *s) {
    s->scenario = s->whole->scenario;
    s->topology = s->whole->topology;
    s->workload = s->whole->workload;
    s->arena = s->whole->arena;
}

enum weft_status weft_cli_simulation_init(struct weft_cli_simulation *s, const struct weft_scenario_file *file,
                                          uint32_t variant, struct weft_error *ret_error) {
    *s = (struct weft_cli_simulation){0};
    enum weft_status status = weft_simulation_new(file, variant, &s->whole, ret_error);
    if (!status) take_whole(s);
    return status;
}

enum weft_status weft_cli_simulation_count(struct weft_cli_simulation *s, const struct weft_scenario_file *file,
                                           uint32_t variant, struct weft_error *ret_error) {
    *s = (struct weft_cli_simulation){0};
    enum weft_status status = weft_simulation_count(file, variant, &s->whole, ret_error);
    if (!status) take_whole(s);
    return status;
}

void weft_cli_simulation_deinit(struct weft_cli_simulation *s) {
    if (s->outcome) weft_outcome_free(s->outcome);
    weft_simulation_free(s->whole);
    *s = (struct weft_cli_simulation){0};
}

/// The progress of a run that has ended.
static struct weft_progress end_of(const struct weft_workload *w, const struct weft_outcome *o) {
    struct weft_progress end = {.now_ps = o->sim_time_ps,
                                .wall_s = o->wall_s,
                                .packet_hops = o->packet_hops,
                                .total_bytes = w->bytes,
                                .flows = o->flows};
    for (uint32_t i = 0; i < o->flows; i++) {
        end.delivered_bytes += o->flow[i].delivered_bytes;
        end.flows_done += o->flow[i].end_ps != WEFT_TIME_NEVER;
    }
    return end;
}

/// The capture's file as the scenario names it. With several variants it is "capture-NAME.pcapng"; '_' replaces each
/// character of NAME that file names should not have. NULL: no capture.
static const char *capture_name(const struct weft_cli_simulation *s) {
    const struct weft_capture_conf *capture = &s->scenario->capture;
    if (!*capture->ports) return NULL;
    const char *file = capture->file, *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    if (s->one_of_several) {
        char *name = weft_arena_text(s->scenario->arena, s->scenario->variant);
        for (char *c = name; *c; c++)
            if (!isalnum((unsigned char)*c) && !strchr("+-.=_", *c)) *c = '_';
        size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - file) : strlen(file);
        file = weft_arena_format(s->scenario->arena, "%.*s-%s%s", (int)stem, file, name, file + stem);
    }
    return file;
}

/// What there is at the path; 0: nothing. errno stays: why output could not be written is told at the end.
static mode_t type_of(const char *path) {
    struct stat there;
    int before = errno;
    mode_t type = stat(path, &there) ? 0 : there.st_mode & S_IFMT;
    errno = before;
    return type;
}

/// The capture's path; NULL: no capture.
static enum weft_status capture_path(const struct weft_cli_simulation *s, const char *out, const char **ret_path,
                                     struct weft_error *ret_error) {
    const char *name = s->follow ? NULL : capture_name(s);
    *ret_path = NULL;
    if (!name) return WEFT_OK;
    WEFT_TRY(
        weft_scenario_write_path(s->scenario, "capture", "file", name, out, s->scenario->arena, ret_path, ret_error));
    const struct weft_place place = s->scenario->capture_place;
    mode_t type = type_of(*ret_path);
    if (type && type != S_IFREG)
        return WEFT_REFUSE(ret_error, place, "capture.file: '%s' is not a regular file", *ret_path);
    const char *slash = out && !strchr(name, '/') ? NULL : strrchr(*ret_path, '/'); // a missing --out is made
    if (!slash || slash == *ret_path) return WEFT_OK;
    const char *folder = weft_arena_format(s->scenario->arena, "%.*s", (int)(slash - *ret_path), *ret_path);
    if (type_of(folder) == S_IFDIR) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "capture.file: there is no folder '%s'", folder);
}

/// A section of pcapng that weft writes begins with a line feed and names weft as the application.
#define CAPTURE_BY "weft "
enum { CAPTURE_HEAD = 4096 };

/// A capture replaces a capture that weft wrote, and with --force any file.
static enum weft_status check_replaced(const char *path, const struct weft_cli_options *o,
                                       struct weft_error *ret_error) {
    struct stat about;
    char head[CAPTURE_HEAD];
    FILE *file = !o->force && !stat(path, &about) && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) return WEFT_OK;
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    bool ours = !n;
    for (size_t i = 0; i + strlen(CAPTURE_BY) <= n && *head == '\n'; i++)
        ours |= !memcmp(head + i, CAPTURE_BY, strlen(CAPTURE_BY));
    if (ours) return WEFT_OK;
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                       "exists, and is not a capture that weft wrote; expected another capture.file, or --force, "
                       "which replaces the file");
}

enum weft_status weft_cli_simulation_claim_files(const struct weft_cli_simulation *s, uint32_t variant, const char *out,
                                                 const char **taken, struct weft_arena *arena,
                                                 struct weft_error *ret_error) {
    const char *file = NULL;
    WEFT_TRY(capture_path(s, out, &file, ret_error));
    if (!file) return WEFT_OK;
    file = capture_name(s);
    for (uint32_t i = 0; i < variant; i++)
        if (taken[i] && !strcmp(taken[i], file))
            return WEFT_REFUSE(ret_error, s->scenario->capture_place,
                               "variant '%s' would overwrite the capture of an earlier variant, %s; expected names "
                               "of variants that differ in letters, digits or one of +-.=_, or another capture.file",
                               s->scenario->variant, file);
    taken[variant] = weft_arena_text(arena, file);
    return WEFT_OK;
}

/// Reports the result of the capture, unless quiet; an incomplete capture is always reported.
static void mention_capture(const struct weft_cli_options *options, const char *file, const struct weft_outcome *o) {
    bool quiet = options->quiet || options->json;
    if (!o->capture_left_out && quiet) return;
    fprintf(stderr, "weft: %s in %s", weft__counted(o->captured, "frame").text, weft__text_shown(file, options->arena));
    if (o->capture_left_out)
        fprintf(stderr, "; capture.limit left out the %llu after them", (unsigned long long)o->capture_left_out);
    fputc('\n', stderr);
}

/// Reports the size before the run, so that a run that would fill the disk can be stopped.
static void mention_capture_size(const struct weft_cli_simulation *s, const struct weft_cli_options *options) {
    char expected[WEFT_CLI_TEXT], limit[WEFT_CLI_TEXT];
    weft_bytes bytes = weft_capture_expected_bytes(s->scenario, s->topology, s->workload);
    if (!bytes || options->quiet || options->json) return;
    fprintf(stderr, "weft: the capture will hold about %s of data frames, at most %s of frames (capture.limit)\n",
            weft_cli_bytes_text(bytes, expected), weft_cli_bytes_text(s->scenario->capture.limit_bytes, limit));
}

bool weft_cli_mention_empty(const struct weft_cli_simulation *s) {
    const struct weft_workload *w = s->workload;
    if (w->flows || w->counted_flows || w->jobs || w->rmas) return false;
    fprintf(stderr, "weft: %s: the workload is empty: no host sends%s\n",
            weft__text_shown(s->scenario->path, s->scenario->arena),
            s->scenario->run.until_ps == WEFT_TIME_NEVER ? "; weft run expects run.until then" : "");
    return true;
}

enum weft_status weft_cli_simulation_sends(const struct weft_cli_simulation *s, struct weft_error *ret_error) {
    const struct weft_workload *w = s->workload;
    if (w->flows || w->jobs || w->rmas) return WEFT_OK;
    if (s->scenario->run.until_ps == WEFT_TIME_NEVER)
        return WEFT_REFUSE(ret_error,
                           s->scenario->workloads ? s->scenario->workload[0].place
                                                  : (struct weft_place){.file = s->scenario->path},
                           "the workload is empty: nothing would be run; expected entries under workload, or run.until "
                           "for a network in which no host sends");
    weft_cli_mention_empty(s);
    return WEFT_OK;
}

/// Threads beyond the number of processors only make the others wait.
static uint32_t useful_threads(const struct weft_cli_options *options) {
    uint32_t wanted = options->threads;
    if (options->oversubscribe) return wanted;
    uint32_t processors = weft__processors();
    return processors < wanted ? processors : wanted;
}

/// mpirun binds each of two ranks to a processor by default, and each of more ranks to a NUMA node.
static void mention_binding(const struct weft_cli_options *options) {
    uint32_t processors = weft__processors(), online = weft__processors_online();
    if (!weft_cli_ranks() || options->oversubscribe || options->quiet || options->json) return;
    if (processors < options->threads && processors < online)
        fprintf(stderr,
                "weft: --threads %u, and the launcher leaves a rank %u of the %s; mpirun --bind-to none, or --map-by "
                "slot:PE=%u, leaves it as many\n",
                options->threads, processors, weft__counted(online, "processor").text, options->threads);
}

/// A run that a signal ended has not failed, but no script may mistake it for a complete one.
static enum weft_status say_interrupted(const struct weft_outcome *o, struct weft_error *ret_error) {
    char now[WEFT_CLI_TEXT];
    weft_format_time(o->sim_time_ps, now, sizeof now);
    return weft_error_set(ret_error, WEFT_INTERRUPTED, WEFT_NOWHERE, "interrupted at %s of simulated time", now);
}

/// Draws the progress; false: the run must end.
static bool go_on(void *progress, const struct weft_progress *now) {
    return weft_cli_progress_on(progress, now) && !weft_cli_interrupted();
}

void weft_cli_add_file(struct weft_run *run, const char *name) {
    if (*name == '/') return;
    const char **file = weft_arena_alloc(run->scenario->arena, run->files + 1, sizeof *file);
    if (run->files) memcpy(file, run->file, run->files * sizeof *file);
    file[run->files++] = name;
    run->file = file;
}

enum weft_status weft_cli_simulation_run(struct weft_cli_simulation *s, const struct weft_cli_options *options,
                                         const char *label, struct weft_run *ret_run, struct weft_error *ret_error) {
    struct weft_cli_progress progress;
    weft_cli_progress_init(&progress, label, options->quiet);
    struct weft_sim_options sim = {.threads = useful_threads(options),
                                   .oversubscribe = options->oversubscribe,
                                   .pin = options->pin,
                                   .record = options->out || s->follow,
                                   .on_progress = go_on,
                                   .context = &progress,
                                   .follow = s->follow,
                                   .ranks = weft_cli_ranks(),
                                   .checkpoint = s->checkpoint};
    enum weft_status status = capture_path(s, options->out, &sim.capture_file, ret_error);
    if (!status && sim.capture_file && !s->resumed) status = check_replaced(sim.capture_file, options, ret_error);
    if (status) sim.capture_file = NULL;
    mention_binding(options);
    if (!status && s->resumed) {
        status = options->out ? weft_cli_out_folder(options, false, false, ret_error) : WEFT_OK;
        if (!status) status = weft_simulate_on(s->checkpoint, &sim, &s->outcome, ret_error);
    } else if (!status) {
        weft_memory_reset_max();
        status = weft_cli_simulation_sends(s, ret_error);
        if (options->out && !status)
            status = weft_cli_out_folder(options, false, true, ret_error); // better said before the run than after it
        if (!status && sim.capture_file) mention_capture_size(s, options);
        if (!status) status = weft_simulate(s->scenario, s->topology, s->workload, &sim, &s->outcome, ret_error);
    }
    if (s->outcome) {
        struct weft_progress end = end_of(s->workload, s->outcome);
        weft_cli_progress_done(&progress, &end);
    }
    weft_cli_progress_deinit(&progress);
    if (!status && s->outcome->end == WEFT_END_INTERRUPTED) status = say_interrupted(s->outcome, ret_error);
    if (s->outcome && sim.capture_file && status != WEFT_ERROR_SYSTEM)
        mention_capture(options, sim.capture_file, s->outcome);
    *ret_run = (struct weft_run){.scenario = s->scenario,
                                 .topology = s->topology,
                                 .workload = s->workload,
                                 .outcome = s->outcome,
                                 .commit = weft_cli_commit};
    if (options->out && s->outcome) ret_run->motion = weft_report_motion_text(ret_run, s->outcome->arena);
    if (sim.capture_file && options->out) weft_cli_add_file(ret_run, capture_name(s));
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        ret_run->memory_bytes_max[k] = weft_memory_bytes_max(k);
    return status;
}

/// The seed of --seed; false: there is none, or it is not a number, which the scenario refuses.
static bool read_seed(const struct weft_cli_options *o, uint64_t *ret_seed) {
    char why[160];
    return o->seed && weft__quantity_parse(WEFT__COUNT, o->seed, ret_seed, why, sizeof why);
}

enum weft_status weft_cli_stored_scenario(const struct weft_scenario_file **file, const char *dir,
                                          const struct weft_stored *stored, struct weft_arena *arena,
                                          uint32_t *ret_variant, struct weft_error *ret_error) {
    *ret_variant = weft_scenario_variant_find(*file, stored->variant);
    if (*ret_variant == WEFT_NONE)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "%s: its run is of variant '%s', which the stored scenario does not have", dir,
                           stored->variant);
    if (!weft_scenario_setting(*file, "run.seed")) *file = weft_sweep_with_seed(*file, stored->seed, arena);
    return WEFT_OK;
}

enum weft_status weft_cli_stored_variant(const struct weft_cli_options *o, const struct weft_scenario_file **file,
                                         struct weft_stored *ret_stored, uint32_t *ret_variant,
                                         struct weft_error *ret_error) {
    uint64_t seed = 0;
    bool seeded = read_seed(o, &seed);
    *ret_stored = (struct weft_stored){0};
    if (!weft_cli_is_result(o->operand[0])) return weft_cli_variant(o, *file, ret_variant, ret_error);
    enum weft_status status =
        weft_stored_read(o->operand[0], o->variant, seeded ? &seed : NULL, o->arena, ret_stored, ret_error);
    if (status) return status;
    WEFT_TRY(weft_cli_stored_scenario(file, o->operand[0], ret_stored, o->arena, ret_variant, ret_error));
    bool other_seed = seeded && seed != ret_stored->seed;
    if (other_seed && !o->set && !o->quiet && !weft_cli_is_raw(o))
        fprintf(stderr, "weft: %s has no run with seed %" PRIu64 ": no digest is compared\n",
                weft__text_shown(o->operand[0], o->arena), seed);
    if (o->set || other_seed) ret_stored->digest = NULL;
    return WEFT_OK;
}

enum weft_status weft_cli_compare_digests(const struct weft_stored *stored, const struct weft_outcome *outcome,
                                          struct weft_error *ret_error) {
    char digest[17];
    if (!stored->digest || outcome->end == WEFT_END_INTERRUPTED) return WEFT_OK;
    if (stored->interrupted) {
        fprintf(stderr, "weft: the stored run was interrupted: digests are not compared\n");
        return WEFT_OK;
    }
    snprintf(digest, sizeof digest, "%016" PRIx64, outcome->digest);
    if (!strcmp(digest, stored->digest)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_CLAIM, WEFT_NOWHERE,
                          "the run does not repeat: its digest is %s, that of the results %s, by weft %s; another "
                          "version counts otherwise, or a file that the scenario reads has changed",
                          digest, stored->digest, stored->weft);
}

void weft_cli_print_results(FILE *file, const struct weft_cli_results *r, bool json) {
    if (json && r->list)
        weft_report_json_compare(file, r->run, r->runs, r->not_run, r->claim, r->claims);
    else if (json)
        weft_report_json(file, r->run);
    else if (r->list)
        weft_report_compare(file, r->run, r->runs, r->seeds ? r->seeds : 1, r->not_run);
    else
        weft_report_table(file, r->run);
    if (!json && r->claims) weft_report_claims(file, r->claim, r->claims);
}

struct draft {
    const char *name;
    FILE *file;
};

static void remove_draft(void *context) {
    struct draft *draft = context;
    if (draft->file) fclose(draft->file);
    unlink(draft->name);
}

enum weft_status weft_cli_replace_file(const char *path, void (*write)(FILE *file, const void *context),
                                       const void *context, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    char *target = realpath(path, NULL); // for a symbolic link: the link stays, and the draft is beside its target
    if (!target && errno == ENOMEM) weft_memory_fail();
    const char *name = weft_arena_text(arena, target ? target : path);
    free(target);
    struct draft draft = {.name = weft__draft_name(name, arena)};
    draft.file = weft__file_open(draft.name, "w");
    bool written = draft.file;
    if (draft.file) {
        struct weft_memory_cleanup cleanup;
        weft_memory_cleanup_add(&cleanup, remove_draft, &draft);
        write(draft.file, context);
        weft_memory_cleanup_remove(&cleanup);
        written = !ferror(draft.file);
        written &= !fclose(draft.file);
    }
    if (!written || rename(draft.name, name)) {
        status =
            weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path, strerror(errno));
        unlink(draft.name);
    }
    return status;
}

enum weft_status weft_cli_replace_in_folder(const char *dir, const char *name,
                                            void (*write)(FILE *file, const void *context), const void *context,
                                            struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const char *path = weft_arena_format(arena, "%s/%s", dir, name);
    struct stat target;
    if (!lstat(path, &target) && S_ISLNK(target.st_mode)) unlink(path);
    return weft_cli_replace_file(path, write, context, ret_error);
}

/// Whether another name would also fail.
static bool is_of_machine(int number) {
    return number == ENOSPC || number == EDQUOT || number == EIO || number == EMFILE || number == ENFILE;
}

/// Whether a file can be replaced, as far as can be known before there is something to write. Errors name `option`.
static enum weft_status can_replace_file(const char *option, const char *path, struct weft_error *ret_error) {
    const struct weft_place place = {.file = option};
    struct stat target;
    bool there = !stat(path, &target), is_link = !there && !lstat(path, &target);
    if (is_link || (there && !S_ISREG(target.st_mode)))
        return WEFT_REFUSE(ret_error, place, "'%s' is %s; expected a regular file, or a name that is free", path,
                           is_link ? "a symbolic link to nothing" : "not a regular file");
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const char *draft = weft__draft_name(path, arena);
    FILE *file = *path ? weft__file_open(draft, "w") : NULL;
    enum weft_status status = WEFT_OK;
    if (!file)
        status = weft_error_set(ret_error, *path && is_of_machine(errno) ? WEFT_ERROR_SYSTEM : WEFT_ERROR_INPUT, place,
                                "'%s' cannot be written: %s", path, *path ? strerror(errno) : "it is not a file name");
    else
        fclose(file);
    if (file) unlink(draft);
    return status;
}

enum weft_status weft_cli_can_write_file(const char *option, const char *path, const struct weft_cli_options *o,
                                         struct weft_error *ret_error) {
    struct stat target;
    if (!o->force && !stat(path, &target) && S_ISREG(target.st_mode))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = option},
                           "'%s' exists; expected a name that is free, or --force, which replaces the file", path);
    return can_replace_file(option, path, ret_error);
}

void weft_cli_mention_file(const char *path, const struct weft_cli_options *o) {
    if (!o->quiet) fprintf(stderr, "weft: wrote %s\n", weft__text_shown(path, o->arena));
}

void weft_cli_print_losses(const char *losses) {
    for (const char *end; (end = strchr(losses, '\n')); losses = end + 1)
        fprintf(stderr, "weft: %.*s\n", (int)(end - losses), losses);
}

static void write_json(FILE *file, const void *context) {
    weft_cli_print_results(file, context, true);
}

static bool writes_file(const struct weft_cli_results *results, const char *name) {
    for (uint32_t r = 0; r < results->runs; r++)
        for (uint32_t i = 0; i < results->run[r].files; i++)
            if (!strcmp(results->run[r].file[i], name)) return true;
    return false;
}

enum weft_status weft_cli_write_results(const char *dir, const struct weft_cli_results *results,
                                        struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t files;
    const char **file = weft_stored_files(dir, arena, &files);
    enum weft_status status = weft_report_sqlite(dir, results->run, results->runs, ret_error);
    for (uint32_t i = 0; i < files && !status; i++)
        if (!writes_file(results, file[i])) unlink(weft_arena_format(arena, "%s/%s", dir, file[i]));
    if (!status) status = weft_cli_replace_in_folder(dir, "result.json", write_json, results, ret_error);
    return status;
}

void weft_cli_print_hints(const struct weft_cli_options *o, const struct weft_run *run, uint32_t runs, uint32_t seeds) {
    if (o->no_hints || weft_cli_is_raw(o)) return;
    struct weft_hints hints = {.arena = weft_arena_new(WEFT_MEMORY_RESULT), .seeds = seeds};
    for (uint32_t i = 0; i < runs; i++)
        weft_hints_add(&hints, &run[i]);
    weft_cli_terminal_flush();
    weft_hints_print(stderr, &hints);
    weft_arena_free(hints.arena);
}
