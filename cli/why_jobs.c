// SPDX-License-Identifier: Apache-2.0
// weft why --jobs: what the jobs of a scenario cost one another. Three runs with all jobs find whose messages are on
// the critical paths, which ports these used, and what else those ports sent; then each job runs while the others never
// start, so that everything that is drawn or hashed stays as it was.
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "why.h"

/// Later than any job ends, and as late as `start` may be.
static const char *const never_starts = "1000s";

struct jobs_work {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    uint32_t variant;
    struct weft_ledger *ledger;
    struct weft_arena *arena;
};

static enum weft_status run_all(const struct jobs_work *x, struct weft_cli_simulation *s, const char *label,
                                struct weft_follow *follow, struct weft_run *ret_run, struct weft_error *ret_error) {
    enum weft_status status = weft_cli_simulation_init(s, x->file, x->variant, ret_error);
    s->follow = follow;
    if (!status) status = weft_cli_simulation_run(s, x->o, label, ret_run, ret_error);
    if (status != WEFT_ERROR_STALL || !s->outcome) return status;
    *ret_error = (struct weft_error){0};
    return WEFT_OK;
}

/// The number of the entry that a job comes from.
static uint32_t entry_of(const struct weft_run *run, uint32_t job) {
    return (uint32_t)(run->workload->job[job].entry - run->scenario->workload);
}

static enum weft_status check_jobs(const struct weft_run *run, struct weft_error *ret_error) {
    const struct weft_workload *w = run->workload;
    if (w->jobs < 2)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--jobs: the run has %s; expected at least two, which share it",
                           weft__counted(w->jobs, "job").text);
    for (uint32_t j = 0; j < w->jobs; j++) {
        if (!weft_job_ended(&w->job[j], &run->outcome->job[j]))
            return WEFT_REFUSE(ret_error, w->job[j].place, "--jobs: no iteration of job %s ended",
                               w->group[w->job[j].group]);
        for (uint32_t k = 0; k < j; k++)
            if (entry_of(run, j) == entry_of(run, k))
                return WEFT_REFUSE(ret_error, w->job[j].place,
                                   "--jobs: %s and %s come from one entry; expected an entry for each",
                                   w->group[w->job[k].group], w->group[w->job[j].group]);
    }
    return WEFT_OK;
}

// --- without the others -------------------------------------------------------------------------------------------

static enum weft_status file_without(const struct jobs_work *x, const struct weft_run *run, uint32_t job,
                                     weft_time_ps until, struct weft_scenario_file **ret_file,
                                     struct weft_error *ret_error) {
    struct weft_tree *tree = NULL;
    enum { LEAST_PS = 1000 }; // of run.until
    const char *text = weft_arena_format(x->arena, "run.until: %" PRIu64 "ps\n", until > LEAST_PS ? until : LEAST_PS);
    for (uint32_t j = 0; j < run->workload->jobs; j++)
        if (j != job)
            text =
                weft_arena_format(x->arena, "%sworkload.%" PRIu32 ".start: %s\n", text, entry_of(run, j), never_starts);
    WEFT_TRY(weft_tree_parse("--jobs", text, strlen(text), x->arena, &tree, ret_error));
    const struct weft_tree *over = tree;
    *ret_file = weft_scenario_file_over(x->file, &over, 1, x->arena);
    return WEFT_OK;
}

/// That is long enough unless the others made it faster, which iterations that are missing show.
enum weft_status weft_cli_why_alone(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                    uint32_t variant, const struct weft_run *with, uint32_t job,
                                    struct weft_ledger_job *l, struct weft_error *ret_error) {
    const struct weft_job *of = &with->workload->job[job];
    struct jobs_work x = {o, file, variant, NULL, o->arena};
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    struct weft_scenario_file *alone = NULL;
    struct weft_run run;
    *l = (struct weft_ledger_job){.job = weft_arena_text(x.arena, with->workload->group[of->group]), .number = job};
    l->iterations = weft_job_ended(of, &with->outcome->job[job]);
    weft_time_ps length = weft_job_length(of, &with->outcome->job[job], l->iterations);
    WEFT_TRY(file_without(&x, with, job, of->start_ps + length + length / 2 + 1, &alone, ret_error));
    x.file = alone;
    WEFT_TRY(run_all(&x, &s, weft_arena_format(x.arena, "%s alone", l->job), NULL, &run, ret_error));
    uint32_t ended = weft_job_ended(&run.workload->job[job], &run.outcome->job[job]);
    if (ended < l->iterations) l->iterations = ended;
    if (!ended) return WEFT_REFUSE(ret_error, of->place, "no iteration of job %s ended without the others", l->job);
    l->with_ps = (double)weft_job_length(of, &with->outcome->job[job], l->iterations);
    l->alone_ps = (double)weft_job_length(&run.workload->job[job], &run.outcome->job[job], l->iterations);
    return WEFT_OK;
}

// --- with them ----------------------------------------------------------------------------------------------------

/// The flows whose messages are on the critical path of an iteration of any job.
static enum weft_status find_flows(const struct jobs_work *x, const struct weft_run *run, struct weft_follow *ranks,
                                   bool *ret_flow, struct weft_error *ret_error) {
    struct weft_whys *whys = weft_whys_new(run, ranks, NULL, x->arena);
    for (uint32_t j = 0; j < x->ledger->jobs; j++)
        for (uint32_t i = 0; i < x->ledger->job[j].iterations; i++)
            WEFT_TRY(weft_why_iteration_flows(whys, j, i, ret_flow, ret_error));
    return WEFT_OK;
}

static enum weft_status add_jobs(const struct jobs_work *x, const struct weft_whys *whys,
                                 struct weft_error *ret_error) {
    for (uint32_t j = 0; j < x->ledger->jobs; j++)
        WEFT_TRY(weft_ledger_add(whys, &x->ledger->job[j], x->ledger, ret_error));
    return WEFT_OK;
}

static enum weft_status see_ports(const struct jobs_work *x, struct weft_cli_why *why, struct weft_error *ret_error) {
    struct weft_run others;
    bool *port = weft_arena_alloc(x->arena, why->run.topology->ports, sizeof *port);
    struct weft_whys *whys = weft_whys_new(&why->run, &why->follow, NULL, x->arena);
    enum weft_status status = WEFT_OK;
    for (uint32_t j = 0; j < x->ledger->jobs && !status; j++)
        status = weft_ledger_ports(whys, j, x->ledger->job[j].iterations, port, ret_error);
    why->others = (struct weft_follow){
        .flow = weft_arena_alloc(x->arena, why->run.workload->flows + (size_t)1, sizeof(bool)), .port = port};
    if (!status) status = run_all(x, &why->second, "who was before them", &why->others, &others, ret_error);
    if (status) return status;
    return add_jobs(x, weft_whys_new(&why->run, &why->follow, &why->others, x->arena), ret_error);
}

/// The run that shows which messages matter; its log goes with it.
static enum weft_status run_first(const struct jobs_work *x, const struct weft_stored *stored, bool **ret_flow,
                                  struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    struct weft_run run;
    WEFT_TRY(weft_cli_simulation_init(&s, x->file, x->variant, ret_error));
    struct weft_follow ranks = {.ranks = true, .flow = weft_arena_alloc(x->arena, s.workload->flows + (size_t)1, 1)};
    weft_cli_simulation_deinit(&s);
    s = (struct weft_cli_simulation){0};
    enum weft_status status = run_all(x, &s, "following ranks", &ranks, &run, ret_error);
    if (!status) status = weft_cli_compare_digests(stored, run.outcome, ret_error);
    if (!status) status = check_jobs(&run, ret_error);
    if (!status) {
        x->ledger->jobs = run.workload->jobs;
        x->ledger->job = weft_arena_alloc(x->arena, x->ledger->jobs, sizeof *x->ledger->job);
    }
    for (uint32_t j = 0; !status && j < x->ledger->jobs; j++)
        status = weft_cli_why_alone(x->o, x->file, x->variant, &run, j, &x->ledger->job[j], ret_error);
    *ret_flow = weft_arena_alloc(x->arena, run.workload ? run.workload->flows + (size_t)1 : 1, sizeof **ret_flow);
    if (!status) status = find_flows(x, &run, &ranks, *ret_flow, ret_error);
    if (s.outcome) weft_follow_free(&ranks);
    return status;
}

enum weft_status weft_cli_why_jobs(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   uint32_t variant, const struct weft_stored *stored, struct weft_arena *arena,
                                   struct weft_cli_why *ret, struct weft_error *ret_error) {
    *ret = (struct weft_cli_why){.flow = NULL};
    struct jobs_work x = {o, file, variant, &ret->found.ledger, arena};
    bool *flow = NULL;
    WEFT_TRY(run_first(&x, stored, &flow, ret_error));
    ret->follow = (struct weft_follow){.ranks = true, .flow = flow};
    WEFT_TRY(run_all(&x, &ret->first, "following messages", &ret->follow, &ret->run, ret_error));
    ret->found.scenario = ret->first.scenario->name;
    ret->found.variant = ret->first.scenario->variant;
    return see_ports(&x, ret, ret_error);
}
