// SPDX-License-Identifier: Apache-2.0
// weft place: what each strategy does with a job and the free servers: how much the job sends between racks and zones,
// how long an iteration takes in a simulation, and the rank file of one strategy.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"
#include "weft/placement.h"
#include "weft/result.h"

#include "base/param.h"
#include "base/units.h"

extern const struct weft_answer weft__answer_place;
static const char *job_name, *strategy_name, *out_file;
static bool simulate;
static const struct weft_cli_option own[] = {
    {"job", "NAME", "the job with this group name (default: the first)", &job_name, NULL},
    {"strategy", "NAME", "the strategy that --out writes (default: min_cut)", &strategy_name, NULL},
    {"out", "FILE", "write a rank file: one line per rank, with host and GPU; FILE.sqlite: all tables of the answer",
     &out_file, NULL},
    {"simulate", NULL, "also run the scenario with each strategy, and show iteration times", NULL, &simulate},
    {0},
};
static const struct weft_cli_command command = {
    .name = "place",
    .operands = "SCENARIO",
    .about =
        "Places the ranks of a job on the free servers with each strategy, and compares the traffic between racks\n"
        "and zones.\n"
        "With variants: the first, or the one that --variant names. See docs/placement.md.\n"
        "Ctrl-C (or SIGTERM) ends --simulate and shows the strategies that ran.\n"
        "Exit status: 0 done, 2 bad input, or too few free servers; with --simulate as weft run.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_REPLACE | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
    .answer = &weft__answer_place,
};

/// The result of a strategy.
struct result {
    const struct weft_model *model;
    const char *name; ///< of the strategy
    uint32_t *host, *gpu;
    struct weft_model_conf strategy;
    struct weft_placement_cost cost;
    struct weft_job_stats stats; ///< NAN without --simulate
    bool ran, interrupted;       ///< with --simulate
    uint8_t incomplete;          ///< it did not run to its end; UINT8_MAX: without --simulate
};

struct place {
    const struct weft_cli_options *o;
    struct weft_cli_simulation s;
    struct weft_job *job;
    uint32_t job_index, entry, variant, n;
    bool interrupted; ///< with --simulate
    struct result *result;
    // For the answer:
    const char *name, *variant_name, *job_name, *cabling;
    const struct weft_placement_problem *problem;
    uint32_t ranks;
    uint64_t gpus;
    uint8_t ended_early; ///< UINT8_MAX: without --simulate
};

/// The entry of the workload that made a job: each entry makes one.
static uint32_t entry_of_job(const struct weft_scenario *s, uint32_t job) {
    uint32_t e = 0;
    for (;; e++) {
        const struct weft_workload_ops *ops = s->workload[e].model->ops;
        if (ops->schedule && job-- == 0) return e;
    }
}

static enum weft_status find_job(struct place *p, struct weft_error *ret_error) {
    const struct weft_workload *w = p->s.workload;
    const struct weft_place nowhere = {.file = p->s.scenario->path};
    while (p->job_index < w->jobs && job_name && strcmp(w->group[w->job[p->job_index].group], job_name))
        p->job_index++;
    if (p->job_index == w->jobs && job_name && w->jobs) {
        const char **names = weft_arena_alloc(p->o->arena, w->jobs, sizeof *names);
        char expected[512];
        for (uint32_t k = 0; k < w->jobs; k++)
            names[k] = w->group[w->job[k].group];
        weft__names_expected(job_name, names, w->jobs, expected, sizeof expected);
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--job"}, "no job '%s'; %s", job_name, expected);
    }
    if (p->job_index == w->jobs)
        return WEFT_REFUSE(ret_error, nowhere, "no job; expected an entry of kind job or collective");
    p->job = &w->job[p->job_index];
    p->entry = entry_of_job(p->s.scenario, p->job_index);
    if (p->job->places) return WEFT_OK;
    return WEFT_REFUSE(ret_error, p->s.scenario->workload[p->entry].place,
                       "job %s: expected hosts that are whole servers, without rank_file or order: listed",
                       w->group[p->job->group]);
}

static enum weft_status try_strategy(struct place *p, struct result *r, struct weft_error *ret_error) {
    struct weft_scenario *s = p->s.scenario;
    const struct weft_tree *said = weft_tree_find(s->workload[p->entry].tree, "placement");
    const struct weft_tree *kind = said && said->type == WEFT_TREE_MAP ? weft_tree_find(said, "kind") : NULL;
    if (!kind || !kind->text || strcmp(kind->text, r->model->name)) said = NULL; // another's parameters
    enum weft_status status =
        weft__model_load_at(WEFT_KIND_PLACEMENT, r->model->name, said, "placement", &r->strategy, s->arena, ret_error);
    if (status) return status;
    const struct weft_placement_ops *ops = r->model->ops;
    WEFT_SCRATCH(scratch, WEFT_MEMORY_SCENARIO);
    uint32_t *slot = weft_arena_alloc(scratch, p->job->places->units, sizeof *slot);
    ops->place(r->strategy.conf, p->job->places, scratch, slot);
    r->host = weft_arena_alloc(s->arena, p->job->ranks, sizeof *r->host);
    r->gpu = weft_arena_alloc(s->arena, p->job->ranks, sizeof *r->gpu);
    weft_placement_hosts(p->job, slot, r->host, r->gpu);
    r->cost = weft_placement_cost(p->job, p->s.topology, r->host);
    r->stats = (struct weft_job_stats){.iteration_ps = NAN, .exposed_ps = NAN};
    return WEFT_OK;
}

/// There is no table if a run with some strategy does not end: this message says why.
static void say_end(const char *strategy, const struct weft_outcome *outcome) {
    fprintf(stderr, "weft: with strategy %s: %s\n", strategy,
            outcome->end == WEFT_END_STALL ? "STALLED" : "TIME IS OVER: simulated time ends after 100 days");
    weft_report_stall(stderr, outcome);
}

/// Runs the scenario again with this strategy.
static enum weft_status run_strategy(const struct place *p, struct result *r, struct weft_error *ret_error) {
    const char **setting = weft_arena_alloc(p->o->arena, p->o->settings + 1, sizeof *setting);
    for (uint32_t i = 0; i < p->o->settings; i++)
        setting[i] = p->o->setting[i];
    setting[p->o->settings] =
        weft_arena_format(p->o->arena, "workload.%" PRIu32 ".placement=%s", p->entry, r->model->name);
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    struct weft_run run;
    enum weft_status status = weft_scenario_file_read(p->o->operand[0], setting, p->o->settings + 1, &file, ret_error);
    if (!status) status = weft_cli_simulation_init(&s, file, p->variant, ret_error);
    if (!status) s.scenario->capture.ports = ""; // all strategies would write the same file
    if (!status) status = weft_cli_simulation_run(&s, p->o, r->model->name, &run, ret_error);
    if (s.outcome) r->stats = weft_report_job(&run, p->job_index);
    if (s.outcome && p->job->schedule && r->stats.end_ps != WEFT_TIME_NEVER)
        r->stats.iteration_ps = (double)(r->stats.end_ps - p->job->start_ps); // a schedule has no iterations: all of it
    r->ran = s.outcome;
    r->interrupted = status == WEFT_INTERRUPTED;
    if (status == WEFT_ERROR_STALL) say_end(r->model->name, s.outcome);
    return status;
}

// --- what is shown ------------------------------------------------------------------------------------------------

static const char *time_text(const struct result *r, double time_ps, char text[WEFT_CLI_TEXT]) {
    if (!r->ran) return "not run";
    if (r->interrupted) return "interrupted";
    if (!isfinite(time_ps)) return "-";
    weft_format_time((weft_time_ps)llround(time_ps), text, WEFT_CLI_TEXT);
    return text;
}

/// Racks and zones by their name in this network.
struct words {
    const char *rack, *racks, *between, *zone, *zones, *between_zones, *busiest;
};
static const struct words by_rack = {"rack",  "racks",         "between racks", "zone",
                                     "zones", "between zones", "busiest zone"},
                          by_rail = {"rail group", "groups",        "between leaves", "zone",
                                     "zones",      "between zones", "busiest zone"},
                          by_tin = {"TiN", "TiNs", "between TiNs", "pod", "pods", "between pods", "busiest pod"};

static const struct words *words_of(const struct weft_placement_problem *p) {
    return p->rails ? &by_rail : p->cliques ? &by_tin : &by_rack;
}

/// A Clique is a block, which matters only if there are several.
static bool has_blocks(const struct weft_placement_problem *p) {
    return p->cliques && p->blocks > 1;
}

static void print_text(FILE *file, const void *subject) {
    const struct place *p = subject;
    const struct weft_placement_problem *q = p->job->places;
    const struct words *words = words_of(q);
    int racks = (int)strlen(words->racks);
    printf("job %s: %s on %s of %" PRIu64 "; free: %s, in %s of %s", p->s.workload->group[p->job->group],
           weft__counted(p->job->ranks, "rank").text, weft__counted(q->units, "server").text, p->job->server.gpus,
           weft__counted(q->slots, "server").text, weft__counted(q->racks, words->rack).text,
           weft__counted(q->zones, words->zone).text);
    if (has_blocks(q)) printf(" in %s", weft__counted(q->blocks, "block").text);
    printf("\nan iteration sends %s between servers\n\n",
           weft_cli_bytes_text(p->result[0].cost.bytes, (char[WEFT_CLI_TEXT]){0}));
    printf("%-12s %5s %s %15s %6s %15s %6s %13s%s%s\n", "strategy", words->zones, words->racks, words->between, "share",
           words->between_zones, "share", words->busiest, simulate ? "    iteration      exposed" : "",
           has_blocks(q) ? "  blocks  between blocks" : "");
    for (uint32_t i = 0; i < p->n; i++) {
        const struct result *r = &p->result[i];
        double all = r->cost.bytes ? 100.0 / (double)r->cost.bytes : 0;
        printf("%-12s %5" PRIu32 " %*" PRIu32 " %15s %5.1f%% %15s %5.1f%% %13s", r->model->name, r->cost.zones, racks,
               r->cost.racks, weft_cli_bytes_text(r->cost.rack_bytes, (char[WEFT_CLI_TEXT]){0}),
               all * (double)r->cost.rack_bytes, weft_cli_bytes_text(r->cost.zone_bytes, (char[WEFT_CLI_TEXT]){0}),
               all * (double)r->cost.zone_bytes, weft_cli_bytes_text(r->cost.zone_bytes_max, (char[WEFT_CLI_TEXT]){0}));
        if (simulate)
            printf(" %12s %12s", time_text(r, r->stats.iteration_ps, (char[WEFT_CLI_TEXT]){0}),
                   time_text(r, r->stats.exposed_ps, (char[WEFT_CLI_TEXT]){0}));
        if (has_blocks(q))
            printf("  %6" PRIu32 "  %14s", r->cost.blocks,
                   weft_cli_bytes_text(r->cost.block_bytes, (char[WEFT_CLI_TEXT]){0}));
        putchar('\n');
    }
    if (out_file) printf("\n%s is in %s\n", strategy_name, out_file);
}

// --- tables -------------------------------------------------------------------------------------------------------

static void complete_answer(struct place *p) {
    const struct weft_placement_problem *q = p->problem = p->job->places;
    p->name = p->s.scenario->name;
    p->variant_name = p->s.scenario->variant;
    p->job_name = p->s.workload->group[p->job->group];
    p->ranks = p->job->ranks;
    p->gpus = p->job->server.gpus;
    p->cabling = q->rails ? "rail" : q->cliques ? "clique" : "rack";
    p->ended_early = simulate ? p->interrupted : UINT8_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        struct result *r = &p->result[i];
        r->incomplete = simulate ? r->interrupted || !r->ran : UINT8_MAX;
    }
}

#define PLACE(field, key, kind, ...) WEFT_RESULT_AT(1, struct place, field, key, kind, __VA_ARGS__)
#define PROBLEM(field, key, ...) WEFT_RESULT_NAMED(struct weft_placement_problem, field, key, COUNT, __VA_ARGS__)
#define STRATEGY(field, key, kind, ...) WEFT_RESULT_NAMED(struct result, field, key, kind, __VA_ARGS__)
static const struct weft_result_table place_table = WEFT_RESULT_TABLE_OF(
    "place", OBJECT, "a job and the free servers", WEFT_RESULT_IF(struct place, problem),
    PLACE(name, "scenario", TEXT, "name of the scenario"), PLACE(variant_name, "variant", TEXT, "name of the variant"),
    PLACE(job_name, "job", TEXT, "name of the job"), PLACE(ranks, "ranks", COUNT, "ranks of the job"),
    PROBLEM(units, "servers", "servers that the job needs"), PLACE(gpus, "gpus", COUNT, "GPUs of a server"),
    PROBLEM(slots, "free_servers", "servers that are free"),
    PLACE(cabling, "cabling", TEXT, "cabling of servers: rack, rail or clique"),
    PROBLEM(racks, "racks", "racks, rail groups or TiNs with free servers"),
    PROBLEM(zones, "zones", "zones or pods with free servers"), PROBLEM(blocks, "blocks", "blocks with free servers"),
    PLACE(ended_early, "interrupted", BOOL, "whether the user has ended --simulate", .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table strategies_table = WEFT_RESULT_TABLE_OF(
    "strategies", LIST, "a strategy", WEFT_RESULT_EACH(struct place, result, n),
    STRATEGY(name, "strategy", TEXT, "name of the strategy", .flags = WEFT_RESULT_KEY),
    STRATEGY(cost.zones, "zones", COUNT, "zones or pods in use"),
    STRATEGY(cost.racks, "racks", COUNT, "racks, rail groups or TiNs in use"),
    STRATEGY(cost.blocks, "blocks", COUNT, "blocks in use"),
    STRATEGY(cost.bytes, "bytes", BYTES, "bytes of an iteration between servers"),
    STRATEGY(cost.rack_bytes, "rack_bytes", BYTES, "bytes of an iteration between racks, leaves or TiNs"),
    STRATEGY(cost.zone_bytes, "zone_bytes", BYTES, "bytes of an iteration between zones or pods"),
    STRATEGY(cost.zone_bytes_max, "zone_bytes_max", BYTES,
             "bytes of an iteration that the busiest zone sends or receives"),
    STRATEGY(cost.block_bytes, "block_bytes", BYTES, "bytes of an iteration between blocks"),
    STRATEGY(incomplete, "interrupted", BOOL, "whether the run did not end (--simulate)", .flags = WEFT_RESULT_SPARSE),
    STRATEGY(stats.iteration_ps, "iteration_ps", TIME, "mean time of an iteration (--simulate)",
             .flags = WEFT_RESULT_SPARSE | WEFT_RESULT_TOGETHER),
    STRATEGY(stats.exposed_ps, "exposed_ps", TIME,
             "mean time of an iteration that ranks wait for messages (--simulate)",
             .flags = WEFT_RESULT_SPARSE | WEFT_RESULT_TOGETHER));
const struct weft_answer weft__answer_place = WEFT_ANSWER_OF(
    "place", "weft place: what each strategy does with a job and the free servers", &place_table, &strategies_table);

// --- the rank file ------------------------------------------------------------------------------------------------

static void add_setting(void *context, const char *path, const char *value, const char *dflt) {
    fprintf(context, ", %s %s", path, value);
}

/// What to write: `chosen` of `place`.
struct chosen {
    const struct place *place;
    const struct result *result;
};

static void write_ranks(FILE *file, const void *context) {
    const struct place *p = ((const struct chosen *)context)->place;
    const struct result *r = ((const struct chosen *)context)->result;
    WEFT__TEXT_STREAM(stream, text);
    fprintf(text, "ranks of job %s, scenario %s", p->s.workload->group[p->job->group], p->s.scenario->name);
    if (*p->s.scenario->variant) fprintf(text, ", variant %s", p->s.scenario->variant);
    fprintf(text, ": %" PRIu32 " on servers of %s, by weft %s\nstrategy %s", p->job->ranks,
            weft__counted(p->job->server.gpus, "GPU").text, WEFT_VERSION, r->model->name);
    weft_params_each(r->model->params, r->strategy.conf, "", add_setting, text);
    fprintf(text,
            "; an iteration sends %" PRIu64 " B between servers, %" PRIu64 " B %s, %" PRIu64
            " B between zones\nhost, number of the GPU in its server",
            r->cost.bytes, r->cost.rack_bytes, words_of(p->job->places)->between, r->cost.zone_bytes);
    weft_rank_file_write(file, weft__text_stream_text(&stream), p->job, p->s.topology, r->host, r->gpu);
}

// --- all of it ----------------------------------------------------------------------------------------------------

static enum weft_status find_strategy(const struct place *p, struct chosen *ret_chosen, struct weft_error *ret_error) {
    const char *names[16];
    *ret_chosen = (struct chosen){.place = p};
    for (uint32_t i = 0; i < p->n; i++) {
        names[i] = p->result[i].model->name;
        if (!strcmp(names[i], strategy_name)) ret_chosen->result = &p->result[i];
    }
    if (ret_chosen->result) return WEFT_OK;
    char expected[256];
    weft__names_expected(strategy_name, names, p->n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--strategy"}, "no placement \"%s\"; %s", strategy_name,
                       expected);
}

static enum weft_status try_all(struct place *p, struct weft_error *ret_error) {
    p->n = weft_model_count(WEFT_KIND_PLACEMENT);
    p->result = weft_arena_alloc(p->o->arena, p->n, sizeof *p->result);
    weft_placement_graph(p->job, p->s.scenario->arena);
    for (uint32_t i = 0; i < p->n; i++) {
        p->result[i].model = weft_model_at(WEFT_KIND_PLACEMENT, i);
        p->result[i].name = p->result[i].model->name;
        WEFT_TRY(try_strategy(p, &p->result[i], ret_error));
    }
    return WEFT_OK;
}

/// Runs each strategy, until one fails or the user interrupts.
static enum weft_status run_strategies(struct place *p, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < p->n; i++) {
        if (weft_cli_interrupted())
            return weft_error_set(ret_error, WEFT_INTERRUPTED, WEFT_NOWHERE, "interrupted before strategy %s",
                                  p->result[i].model->name);
        WEFT_TRY(run_strategy(p, &p->result[i], ret_error));
    }
    return WEFT_OK;
}

static enum weft_status place_job(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                  struct weft_error *ret_error) {
    struct place p = {.o = o};
    struct chosen chosen;
    if (!strategy_name) strategy_name = "min_cut";
    enum weft_status status = out_file ? weft_cli_can_write_file("--out", out_file, o, ret_error) : WEFT_OK;
    if (!status) status = weft_cli_variant(o, file, &p.variant, ret_error);
    if (!status) status = weft_cli_simulation_init(&p.s, file, p.variant, ret_error);
    if (!status) status = find_job(&p, ret_error);
    if (!status) status = try_all(&p, ret_error);
    if (!status) status = find_strategy(&p, &chosen, ret_error);
    if (!status && simulate) weft_cli_catch_interrupt();
    if (!status && simulate) status = run_strategies(&p, ret_error);
    p.interrupted = status == WEFT_INTERRUPTED;
    if (!status || p.interrupted) {
        struct weft_error output = {0};
        if (out_file) weft_cli_replace_file(out_file, write_ranks, &chosen, &output);
        if (out_file && !output.status) weft_cli_mention_file(out_file, o);
        complete_answer(&p);
        if (!output.status) weft_cli_answer(o, &weft__answer_place, &p, print_text, &output);
        if (output.status) *ret_error = output;
        if (output.status) status = output.status;
    }
    return status;
}

int weft_cli_place(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, place_job);
}
