// SPDX-License-Identifier: Apache-2.0
// weft check: everything except running, for every variant.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "claims.h"
#include "cli.h"
#include "weft/check.h"
#include "weft/hints.h"
#include "weft/sweep.h"

#include "base/clock.h"
#include "base/stream.h"
#include "base/units.h"
#include "simulation.h"
#include "weft/memory.h"

// Estimates the memory and CPU time of a run. A child process starts the run and stops after one second of CPU time. By
// then all state is allocated and queues have their usual length, so the remaining work is proportional to the
// remaining payload. Very large all-to-alls are not started: their memory is computed from their connections.

enum {
    TRIED_FLOWS_MAX = 1 << 21, ///< of those that are counted; about 2.5 GB
    HOST_BYTES = 9 << 10,      ///< with its part of the switches; measured: 8 to 10 KiB
};
#define TRIAL_CPU_S 1.0

struct trial {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    uint32_t variant;
    double start_s, begun_s; ///< CPU time at the start of the process, and at the start of the simulation
    struct weft_check_estimate estimate;
};

static bool go_on(void *context, const struct weft_progress *now) {
    struct trial *t = context;
    if (t->begun_s <= 0) t->begun_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    return weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - t->begun_s < TRIAL_CPU_S;
}

/// How much of the run's work is done: by payload, or by time if that ends it first.
static double part_of(const struct weft_cli_simulation *s) {
    const struct weft_outcome *o = s->outcome;
    weft_bytes delivered = 0;
    for (uint32_t f = 0; f < o->flows; f++)
        delivered += o->flow[f].delivered_bytes;
    double part = s->workload->bytes ? (double)delivered / (double)s->workload->bytes : 0;
    weft_time_ps until = s->scenario->run.until_ps;
    double time = until == WEFT_TIME_NEVER ? 0 : (double)o->sim_time_ps / (double)until;
    return part > time ? part : time;
}

static void take_trial(struct trial *t, const struct weft_cli_simulation *s) {
    struct weft_check_estimate *e = &t->estimate;
    const struct weft_outcome *o = s->outcome;
    double hops = (double)(o->cell_hops ? o->cell_hops : o->packet_hops);
    bool ended = o->end != WEFT_END_INTERRUPTED;
    double part = ended ? 1 : part_of(s);
    double made_s = ended ? 0 : t->begun_s - t->start_s,
           ran_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - t->start_s - made_s;
    e->by = ended ? "run" : "trial";
    e->hops_per_cpu_s = hops > 0 && ran_s > 0 ? hops / ran_s : NAN;
    e->packet_hops = part > 0 && !o->cell_hops ? hops / part : NAN;
    e->cell_hops = part > 0 && o->cell_hops ? hops / part : NAN;
    e->cpu_s = part > 0 ? made_s + ran_s / part : NAN;
    double series = (double)weft_memory_bytes_max(WEFT_MEMORY_SERIES);
    e->peak_rss_bytes = o->peak_rss_bytes + (part > 0 ? (uint64_t)(series * (1 / part - 1)) : 0);
}

static enum weft_status try_run(struct trial *t, struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    t->start_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    WEFT_TRY(weft_cli_simulation_init(&s, t->file, t->variant, ret_error));
    struct weft_sim_options how = {.threads = t->o->threads, .on_progress = go_on, .context = t};
    enum weft_status status = weft_simulate(s.scenario, s.topology, s.workload, &how, &s.outcome, ret_error);
    if (status == WEFT_ERROR_INPUT || status == WEFT_ERROR_SYSTEM || !s.outcome)
        return status ? status : WEFT_ERROR_SYSTEM;
    take_trial(t, &s);
    return WEFT_OK;
}

/// Memory of the connections of all-to-alls, with everything that both ends keep for each.
static void compute_connections(struct weft_check_estimate *e, const struct weft_cli_simulation *s) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *e = (struct weft_check_estimate){
        .by = "connections", .packet_hops = NAN, .cell_hops = NAN, .cpu_s = NAN, .hops_per_cpu_s = NAN};
    e->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024 + (uint64_t)s->topology->hosts * HOST_BYTES +
                        s->workload->counted_flows * weft_simulation_connection_bytes();
}

static enum weft_status estimate_run(void *context, struct weft_error *ret_error) {
    struct trial *t = context;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    WEFT_TRY(weft_cli_simulation_count(&s, t->file, t->variant, ret_error));
    bool many = s.workload->counted_flows > TRIED_FLOWS_MAX;
    if (many) compute_connections(&t->estimate, &s);
    return many ? WEFT_OK : try_run(t, ret_error);
}

/// Pages of files, mostly of the program itself. A forked process has only those that it has used since.
static uint64_t file_bytes(void) {
    char line[128];
    unsigned long kilobytes = 0;
    FILE *file = weft__file_open("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssFile: %lu", &kilobytes) == 1) break;
    if (file) fclose(file);
    return (uint64_t)kilobytes * 1024;
}

/// Runs in the child process; the parent has already reported errors in the scenario.
static void work_in_child(struct trial *t, int pipe, uint64_t file_before) {
    struct weft_error error = {0};
    enum weft_status status = weft_memory_guard(weft_memory_current(), estimate_run, t, &error);
    uint64_t file = file_bytes();
    if (!status && strcmp(t->estimate.by, "connections") != 0 && file < file_before)
        t->estimate.peak_rss_bytes += file_before - file;
    if (!status && write(pipe, &t->estimate, sizeof t->estimate) != (ssize_t)sizeof t->estimate) _exit(1);
    _exit(0);
}

/// In the options' arena; *ret is NULL if there was not enough memory to try it. Call it before anything of the variant
/// is built: the trial process starts with a copy of this one. If the scenario is wrong, nothing is known.
static enum weft_status estimate_memory(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                        uint32_t variant, const struct weft_check_estimate **ret,
                                        struct weft_error *ret_error) {
    struct weft_check_estimate *e = weft_arena_alloc(o->arena, 1, sizeof *e);
    struct trial t = {.o = o, .file = file, .variant = variant};
    uint64_t file_before = file_bytes();
    int end[2];
    if (pipe(end)) return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "no pipe can be made");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) work_in_child(&t, end[1], file_before);
    close(end[1]);
    *ret = child > 0 && read(end[0], e, sizeof *e) == (ssize_t)sizeof *e ? e : NULL;
    close(end[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return WEFT_OK;
}

static bool links, memory;

static const struct weft_cli_option options[] = {
    {"links", NULL, "also negotiate every link by DCBX as configured, and show the consequences of differences", NULL,
     &links},
    {"memory", NULL,
     "also start the run for a second of CPU time, and estimate the memory and CPU time of the whole run", NULL,
     &memory},
    {0},
};

static const struct weft_cli_command command = {
    .name = "check",
    .option = options,
    .operands = "SCENARIO",
    .about =
        "Validates a scenario: every variant with its topology and its workload, its claims with their metrics and\n"
        "what must break them, and the points of its sweep. It writes nothing, and without --memory it runs nothing.\n"
        "Exit status: 0 all good, 2 an error, reported with file, line and column.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_HINTS | WEFT_CLI_VARIANT | WEFT_CLI_THREADS,
    .answer = &weft__answer_check,
    .operands_min = 1,
    .operands_max = 1,
};

static weft_bytes total_bytes(const struct weft_workload *w) {
    weft_bytes bytes = w->counted_bytes;
    for (uint32_t i = 0; i < w->flows; i++)
        bytes += w->flow[i].rma ? 0 : w->flow[i].bytes;
    return bytes;
}

static void print_text(const struct weft_cli_simulation *s) {
    const struct weft_topology *t = s->topology;
    const struct weft_workload *w = s->workload;
    printf("ok: scenario %s%s%s: %s, %s, %s, %s; %s in %s, %s\n", s->scenario->name,
           *s->scenario->variant ? ", variant " : "", s->scenario->variant, t->kind,
           weft__counted(t->hosts, "host").text, weft__counted(t->switches, "switch").text,
           weft__counted(t->links, "link").text, weft__counted(w->flows + w->counted_flows - w->rma_flows, "flow").text,
           weft__counted(w->groups, "group").text, weft__short_bytes(total_bytes(w)).text);
    if (links) weft_report_links(stdout, t, weft_links_negotiate(s->scenario, t, s->arena), true);
}

static void print_estimate(const struct weft_check_estimate *e) {
    if (!e) {
        puts("    a run takes more memory than there is");
        return;
    }
    double hops = isnan(e->cell_hops) ? e->packet_hops : e->cell_hops;
    printf("    a run takes %s of memory", weft__short_bytes(e->peak_rss_bytes).text);
    if (!isnan(e->cpu_s))
        printf(", %.3g s of CPU time for %.3g M %s-hops", e->cpu_s, hops * 1e-6,
               isnan(e->cell_hops) ? "packet" : "cell");
    if (!isnan(e->cpu_s) && !isnan(e->hops_per_cpu_s)) printf(" at %.3g M a second", e->hops_per_cpu_s * 1e-6);
    puts(*e->by == 'c'     ? " (by the number of its connections)"
         : *e->by == 'r'   ? " (all of it was run)"
         : isnan(e->cpu_s) ? " (a second of it was run, and delivered nothing: its CPU time is not known)"
                           : " (a second of it was run)");
}

static const struct weft_run *negotiate_links(const struct weft_cli_simulation *s) {
    struct weft_outcome *outcome = weft_arena_alloc(s->arena, 1, sizeof *outcome);
    struct weft_run *run = weft_arena_alloc(s->arena, 1, sizeof *run);
    outcome->links = weft_links_negotiate(s->scenario, s->topology, s->arena);
    *run = (struct weft_run){
        .scenario = s->scenario, .topology = s->topology, .workload = s->workload, .outcome = outcome};
    return run;
}

static void describe_variant(const struct weft_cli_simulation *s, const struct weft_check_estimate *e,
                             struct weft_arena *arena, struct weft_check_variant *ret) {
    const struct weft_topology *t = s->topology;
    const struct weft_workload *w = s->workload;
    *ret = (struct weft_check_variant){.scenario = weft_arena_text(arena, s->scenario->name),
                                       .variant = weft_arena_text(arena, s->scenario->variant),
                                       .topology = weft_arena_text(arena, t->kind),
                                       .hosts = t->hosts,
                                       .switches = t->switches,
                                       .links = t->links,
                                       .groups = w->groups,
                                       .flows = w->flows + w->counted_flows - w->rma_flows,
                                       .bytes = total_bytes(w),
                                       .run = links ? negotiate_links(s) : NULL,
                                       .estimate = e};
}

struct check {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    struct weft_cli_claims claims;
    const char **captures; ///< [variants]
    struct weft_hints hints;
    bool text; ///< each variant is printed at once
    bool rows; ///< the answer is also, or only, rows
    struct weft_check answer;
    struct weft_cli_simulation *simulation; ///< [answer.variants]: of those whose links are rows
};

static enum weft_status check_variant(struct check *c, uint32_t variant, struct weft_error *ret_error) {
    struct weft_cli_simulation s = {0};
    const struct weft_check_estimate *estimate = NULL;
    enum weft_status status = memory ? estimate_memory(c->o, c->file, variant, &estimate, ret_error) : WEFT_OK;
    if (!status) status = weft_cli_simulation_count(&s, c->file, variant, ret_error);
    if (!status) status = weft_cli_claims_check(&c->claims, variant, &s, ret_error);
    if (status && s.workload && s.workload->counted_flows) { // a claim may be about one of these flows
        weft_cli_simulation_deinit(&s);
        *ret_error = (struct weft_error){0};
        status = weft_cli_simulation_init(&s, c->file, variant, ret_error);
        if (!status) status = weft_cli_claims_check(&c->claims, variant, &s, ret_error);
    }
    // Without a section `workload` a scenario is about its network alone.
    if (!status && s.scenario->workloads) status = weft_cli_simulation_sends(&s, ret_error);
    s.one_of_several = !c->o->variant && weft_scenario_variants(c->file) > 1;
    if (!status) status = weft_cli_simulation_claim_files(&s, variant, c->o->out, c->captures, c->o->arena, ret_error);
    if (!status && c->rows) describe_variant(&s, estimate, c->o->arena, &c->answer.variant[c->answer.variants]);
    if (!status && c->text) print_text(&s);
    if (!status && c->text && memory) print_estimate(estimate);
    if (!status) weft_cli_mention_empty(&s);
    struct weft_run run = {.scenario = s.scenario, .topology = s.topology, .workload = s.workload};
    if (!status) weft_hints_add(&c->hints, &run);
    if (!status && c->rows && links)
        c->simulation[c->answer.variants] = s;
    else
        weft_cli_simulation_deinit(&s);
    c->answer.variants += !status;
    return status;
}

/// A point of the section `sweep`: whether its values are good, and, `built`, whether they go together.
static enum weft_status check_point(const struct weft_sweep *sweep, uint32_t p, bool built,
                                    struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const struct weft_scenario_file *point = weft_sweep_file(sweep, p, sweep->seed ? 0 : WEFT_NONE, arena);
    uint32_t variant = sweep->point[p].variant;
    WEFT_ENDS(weft_scenario_end) struct weft_scenario *scenario = NULL;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    enum weft_status status = weft_scenario_new(point, variant, &scenario, ret_error);
    if (!status && built) status = weft_cli_simulation_count(&s, point, variant, ret_error);
    if (status && built) {
        size_t used = strlen(ret_error->text);
        snprintf(ret_error->text + used, sizeof ret_error->text - used, ", in %s",
                 weft_sweep_run_name(sweep, p, scenario->run.seed, arena));
    }
    return status;
}

/// The values of all points, then the first run of each, short of running it: the order of weft sweep.
static enum weft_status check_sweep(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                    struct weft_error *ret_error) {
    struct weft_sweep_options all = {.variant = WEFT_NONE};
    struct weft_sweep *sweep;
    if (!weft_scenario_sweep(file) || o->set) return WEFT_OK;
    enum weft_status status = weft_sweep_new(file, &all, o->arena, &sweep, ret_error);
    for (uint32_t p = 0; !status && p < sweep->points; p++)
        status = check_point(sweep, p, false, ret_error);
    for (uint32_t p = 0; !status && p < sweep->points; p++)
        status = check_point(sweep, p, true, ret_error);
    return status;
}

static bool has_same_without(const struct weft_claim *a, const struct weft_claim *b) {
    bool same = a->withouts == b->withouts;
    for (uint32_t i = 0; same && i < a->withouts; i++)
        same = !strcmp(a->without[i], b->without[i]);
    return same;
}

/// Whether all variants of claim `a` are of claim `b`, too.
static bool has_its_variants(const struct weft_claim *a, const struct weft_claim *b) {
    bool all = true;
    for (uint32_t m = 0; m < a->metrics && all; m++) {
        all = false;
        for (uint32_t k = 0; k < b->metrics && !all; k++)
            all = b->metric[k].variant == a->metric[m].variant;
    }
    return all;
}

/// Whether a claim's variants can be built with its settings `without`, as weft verify --teeth does.
static enum weft_status check_without(const struct check *c, const struct weft_scenario_file *read,
                                      const struct weft_claim *claim, struct weft_error *ret_error) {
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    struct weft_error own = {0};
    uint32_t sources, settings = 0;
    const struct weft_scenario_source *source = weft_scenario_sources(read, &sources);
    const char **setting = weft_arena_alloc(c->o->arena, sources + claim->withouts, sizeof *setting);
    for (uint32_t i = 0; i < sources; i++)
        if (!source[i].name) setting[settings++] = source[i].text;
    memcpy(setting + settings, claim->without, claim->withouts * sizeof *setting);
    enum weft_status status = weft_scenario_file_again(read, setting, settings + claim->withouts, &file, &own);
    for (uint32_t v = 0; !status && v < weft_scenario_variants(file); v++) {
        bool used = false;
        for (uint32_t m = 0; m < claim->metrics; m++)
            used |= claim->metric[m].variant == v;
        WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
        if (used) status = weft_cli_simulation_count(&s, file, v, &own);
    }
    if (status) weft_error_set(ret_error, own.status, claim->without_place, "without: %s", own.text + own.message_at);
    return status;
}

static enum weft_status check_teeth(const struct check *c, const struct weft_scenario_file *file,
                                    struct weft_error *ret_error) {
    for (uint32_t i = 0; i < c->claims.n; i++) {
        const struct weft_claim *claim = &c->claims.claim[i];
        bool known = !claim->withouts;
        for (uint32_t k = 0; k < i; k++)
            known |= has_same_without(claim, &c->claims.claim[k]) && has_its_variants(claim, &c->claims.claim[k]);
        if (!known) WEFT_TRY(check_without(c, file, claim, ret_error));
    }
    return WEFT_OK;
}

static enum weft_status check_scenario(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                       struct weft_error *ret_error) {
    uint32_t first, n = o->variant ? 1 : weft_scenario_variants(file);
    enum weft_status status = weft_cli_variant(o, file, &first, ret_error);
    struct check c = {.o = o, .file = file, .hints = {.arena = o->arena, .seeds = 1}};
    c.captures = weft_arena_alloc(o->arena, weft_scenario_variants(file), sizeof *c.captures);
    c.text = !o->json && !o->csv && !o->picks;
    c.rows = !c.text || o->database;
    c.answer.variant = weft_arena_alloc(o->arena, n, sizeof *c.answer.variant);
    c.simulation = weft_arena_alloc(o->arena, n, sizeof *c.simulation);
    if (!status) status = weft_cli_claims_init(&c.claims, file, o->arena, ret_error);
    if (!status) status = check_sweep(o, file, ret_error);
    for (uint32_t i = 0; i < n && !status; i++)
        status = check_variant(&c, first + i, ret_error);
    if (!status && !o->variant) status = check_teeth(&c, file, ret_error);
    weft_cli_terminal_flush();
    if (!status && c.text && !o->no_hints) weft_hints_print(stderr, &c.hints);
    if (!status) status = weft_cli_answer(o, &weft__answer_check, &c.answer, NULL, ret_error);
    for (uint32_t i = 0; i < n; i++)
        weft_cli_simulation_deinit(&c.simulation[i]);
    return status;
}

int weft_cli_check(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, check_scenario);
}
