// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/param.h"
#include "weft/rma.h"
#include "why.h"

struct work {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    uint32_t variant;
    const struct weft_cli_why_wanted *wanted;
    struct weft_cli_why *why;
    struct weft_arena *arena;
};

/// The number of the flow that the user asks for.
static bool read_flow(const struct work *x, const struct weft_workload *w, uint32_t *ret_flow) {
    uint64_t number;
    const char *text = x->wanted->flow;
    if (!w->flows) fputs("weft: the run has no flows\n", stderr);
    for (uint32_t g = 0; g < w->groups; g++) {
        if (strcmp(w->group[g], text) != 0) continue;
        fprintf(stderr, "weft: FLOW: \"%s\" is a group of flows; expected --group %s, or the number of a flow\n", text,
                text);
        return false;
    }
    if (!w->flows || !weft_cli_number("FLOW", text, 0, w->flows - 1, &number)) return false;
    *ret_flow = (uint32_t)number;
    return true;
}

/// The number of the job that the user asks for.
static enum weft_status find_job(const struct work *x, const struct weft_workload *w, uint32_t *ret_job,
                                 struct weft_error *ret_error) {
    const char **name = weft_arena_alloc(x->arena, w->jobs + (size_t)1, sizeof *name);
    char expected[512] = "the run has none";
    for (uint32_t j = 0; j < w->jobs; j++) {
        name[j] = w->group[w->job[j].group];
        if (strcmp(name[j], x->wanted->job) != 0) continue;
        *ret_job = j;
        return WEFT_OK;
    }
    if (w->jobs) weft__names_expected(x->wanted->job, name, w->jobs, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--job %s: no such job; %s", x->wanted->job, expected);
}

static void follow_job(const struct weft_workload *w, uint32_t job, bool *followed) {
    for (uint32_t i = 0; i < w->job[job].connections; i++)
        if (w->job[job].connection[i].flow != WEFT_NONE) followed[w->job[job].connection[i].flow] = true;
}

/// Follows only the flows that the user asked for, if they are known before the run.
static enum weft_status choose_followed(const struct work *x, const struct weft_workload *w, struct weft_follow *follow,
                                        struct weft_error *ret_error) {
    const struct weft_cli_why_wanted *wanted = x->wanted;
    follow->ranks = wanted->job || wanted->jobs;
    follow->rma = wanted->jobs && w->rmas;
    if (wanted->rma) {
        bool *of_rma = weft_arena_alloc(x->arena, w->flows, sizeof *of_rma);
        for (uint32_t i = 0; i < w->flows; i++) // flows of software; hardware has none
            of_rma[i] = w->flow[i].rma;
        follow->rma = true;
        follow->flow = of_rma;
        return WEFT_OK;
    }
    if (wanted->slowest || wanted->group) return WEFT_OK; // any flow
    uint32_t flow = WEFT_NONE, job = 0;
    if (wanted->flow && !read_flow(x, w, &flow)) return WEFT_ERROR_INPUT;
    WEFT_TRY(wanted->job ? find_job(x, w, &job, ret_error) : WEFT_OK);
    bool *followed = weft_arena_alloc(x->arena, w->flows, sizeof *followed);
    if (flow != WEFT_NONE) followed[flow] = true;
    for (uint32_t j = 0; j < w->jobs; j++)
        if (wanted->jobs || (wanted->job && j == job)) follow_job(w, j, followed);
    follow->flow = followed;
    return WEFT_OK;
}

static enum weft_status run_once(const struct work *x, struct weft_cli_simulation *s, const char *label,
                                 struct weft_follow *follow, struct weft_run *ret_run, struct weft_error *ret_error) {
    s->follow = follow;
    enum weft_status status = weft_cli_simulation_run(s, x->o, label, ret_run, ret_error);
    if (status != WEFT_ERROR_STALL || !s->outcome) return status;
    *ret_error = (struct weft_error){0}; // whatever has finished can still be explained
    return WEFT_OK;
}

// --- which flows --------------------------------------------------------------------------------------------------

static weft_time_ps fct_of(const struct weft_run *run, uint32_t flow) {
    return run->outcome->flow[flow].end_ps - run->workload->flow[flow].start_ps;
}

static const struct weft_run *sorted_run; ///< for qsort
static int by_fct(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    weft_time_ps fx = fct_of(sorted_run, x), fy = fct_of(sorted_run, y);
    if (fx != fy) return fx > fy ? -1 : 1;
    return (x > y) - (x < y);
}

/// Finished flows of a group (WEFT_NONE: of all), the slowest first, without those in `left_out` (unless NULL).
static uint32_t *slowest_first(const struct weft_run *run, uint32_t group, const bool *left_out,
                               struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft_workload *w = run->workload;
    uint32_t *flow = weft_arena_alloc(arena, w->flows, sizeof *flow), n = 0;
    for (uint32_t i = 0; i < w->flows; i++) {
        if (left_out && left_out[i]) continue;
        if (run->outcome->flow[i].end_ps != WEFT_TIME_NEVER && (group == WEFT_NONE || w->flow[i].group == group))
            flow[n++] = i;
    }
    sorted_run = run;
    if (n) qsort(flow, n, sizeof *flow, by_fct);
    *ret_n = n;
    return flow;
}

static enum weft_status find_group(const struct work *x, uint32_t *ret_group, struct weft_error *ret_error) {
    const struct weft_workload *w = x->why->run.workload;
    const char *wanted = x->wanted->group;
    char expected[512];
    for (uint32_t i = 0; i < w->groups; i++)
        if (!strcmp(w->group[i], wanted)) {
            *ret_group = i;
            return WEFT_OK;
        }
    weft__names_expected(wanted, w->group, w->groups, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--group %s: no such group of flows; %s", wanted, expected);
}

/// Nearest rank, from the slowest of n: the same as in the tables of results.
static void ranks_of(uint32_t n, uint32_t ret_at[2]) {
    ret_at[0] = n - (uint32_t)(((uint64_t)99 * n + 99) / 100);
    ret_at[1] = n - (uint32_t)(((uint64_t)50 * n + 99) / 100);
}
static const char *const ranks_titles[] = {"99th percentile", "median"};

static enum weft_status choose_of_group(const struct work *x, struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    uint32_t group = 0, n;
    WEFT_TRY(find_group(x, &group, ret_error));
    uint32_t *flow = slowest_first(&ret->run, group, NULL, x->arena, &n);
    if (!n)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--group %s: none of its flows finished (remote memory access has no completion times)",
                           x->wanted->group);
    uint32_t at[2];
    ranks_of(n, at);
    ret->flow = weft_arena_alloc(x->arena, 2, sizeof *ret->flow);
    ret->flow[0] = flow[at[0]];
    ret->flow[1] = flow[at[1]];
    ret->found.flows = 2;
    ret->title = ranks_titles;
    return WEFT_OK;
}

static enum weft_status choose_slowest(const struct work *x, struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    bool *of_jobs = NULL; // their iterations tell more: a connection waits for the job most of the time
    if (x->wanted->jobs) {
        of_jobs = weft_arena_alloc(x->arena, ret->run.workload->flows, sizeof *of_jobs);
        for (uint32_t j = 0; j < ret->run.workload->jobs; j++)
            follow_job(ret->run.workload, j, of_jobs);
    }
    ret->flow = slowest_first(&ret->run, WEFT_NONE, of_jobs, x->arena, &ret->found.flows);
    if (!ret->found.flows && !x->wanted->as_it_is)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--slowest: no flow finished%s",
                           ret->run.workload->rmas ? "; operations of remote memory access: --rma NAME" : "");
    if (ret->found.flows > x->wanted->slowest) ret->found.flows = x->wanted->slowest;
    return WEFT_OK;
}

static enum weft_status choose_flows(const struct work *x, struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    if (x->wanted->rma) return WEFT_OK;
    if (x->wanted->group) return choose_of_group(x, ret_error);
    if (x->wanted->slowest) return choose_slowest(x, ret_error);
    if (!x->wanted->flow) return WEFT_OK;
    ret->flow = weft_arena_alloc(x->arena, 1, sizeof *ret->flow);
    ret->found.flows = 1;
    return read_flow(x, ret->run.workload, ret->flow) ? WEFT_OK : WEFT_ERROR_INPUT;
}

// --- which iterations ---------------------------------------------------------------------------------------------

static uint32_t find_longest(const struct weft_job *j, const struct weft_job_outcome *o) {
    weft_time_ps before = j->start_ps, most = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; !j->schedule && i < weft_job_ended(j, o); i++) {
        if (o->iteration_end_ps[i] - before > most) {
            most = o->iteration_end_ps[i] - before;
            found = i;
        }
        before = o->iteration_end_ps[i];
    }
    return found;
}

static enum weft_status choose_iterations(const struct work *x, struct weft_error *ret_error) {
    const struct weft_workload *w = x->why->run.workload;
    const struct weft_outcome *o = x->why->run.outcome;
    struct weft_cli_why *ret = x->why;
    ret->job = weft_arena_alloc(x->arena, w->jobs + (size_t)1, sizeof *ret->job);
    ret->number = weft_arena_alloc(x->arena, w->jobs + (size_t)1, sizeof *ret->number);
    for (uint32_t j = 0; j < w->jobs && x->wanted->jobs; j++) {
        uint32_t n = weft_job_ended(&w->job[j], &o->job[j]);
        if (!n) continue;
        ret->job[ret->found.iterations] = j;
        ret->number[ret->found.iterations++] = n - 1;
    }
    if (!x->wanted->job) return WEFT_OK;
    uint64_t number = 0;
    WEFT_TRY(find_job(x, w, ret->job, ret_error));
    ret->found.iterations = 1;
    if (x->wanted->iteration && !weft_cli_number("--iteration", x->wanted->iteration, 0, UINT32_MAX, &number))
        return WEFT_ERROR_INPUT;
    *ret->number = x->wanted->iteration ? (uint32_t)number : find_longest(&w->job[*ret->job], &o->job[*ret->job]);
    return WEFT_OK;
}

// --- operations of remote memory access ---------------------------------------------------------------------------

static enum weft_status find_rma(const struct work *x, uint32_t *ret_entry, struct weft_error *ret_error) {
    const struct weft_workload *w = x->why->run.workload;
    const char **name = weft_arena_alloc(x->arena, w->rmas + (size_t)1, sizeof *name);
    char expected[512] = "the run has none";
    for (uint32_t i = 0; i < w->rmas; i++) {
        name[i] = w->group[w->rma[i].group];
        *ret_entry = i;
        if (!strcmp(name[i], x->wanted->rma)) return WEFT_OK;
    }
    if (w->rmas) weft__names_expected(x->wanted->rma, name, w->rmas, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--rma %s: no such group of remote memory access; %s", x->wanted->rma,
                       expected);
}

/// The operations of an entry, longest first.
struct entry {
    const struct weft_why_operation *all;
    uint32_t number, n;
};

static weft_time_ps longest_of(const struct entry *e) {
    return e->n ? e->all->latency_ps : 0;
}

WEFT__ORDER(by_longest, struct entry,
            (longest_of(x) < longest_of(y)) - (longest_of(x) > longest_of(y)) ?: WEFT__UP(number))

WEFT__ORDER(by_number, struct entry, WEFT__UP(number))

/// The slowest of each group; if a page has no room for all groups, those whose slowest took longest.
static void choose_slowest_operations(const struct work *x) {
    struct weft_cli_why *ret = x->why;
    uint32_t entries = ret->run.workload->rmas, shown = entries;
    if (!entries) return;
    if (shown > WEFT_CLI_WHY_GROUPS) shown = WEFT_CLI_WHY_GROUPS;
    const struct weft_why_rma *rma = weft_why_rma_new(&ret->run, &ret->follow, NULL, x->arena);
    struct entry *entry = weft_arena_alloc(x->arena, entries, sizeof *entry);
    for (uint32_t e = 0; e < entries; e++) {
        entry[e].number = e;
        entry[e].all = weft_why_operations(rma, e, &entry[e].n);
    }
    qsort(entry, entries, sizeof *entry, by_longest);
    qsort(entry, shown, sizeof *entry, by_number);
    ret->found.operation = weft_arena_alloc(x->arena, shown * (size_t)x->wanted->slowest, sizeof *ret->found.operation);
    for (uint32_t e = 0; e < shown; e++)
        for (uint32_t i = 0; i < entry[e].n && i < x->wanted->slowest; i++)
            ret->found.operation[ret->found.operations++] = entry[e].all[i];
}

static enum weft_status choose_operations(const struct work *x, struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    uint32_t entry = 0, n, at[2];
    if (x->wanted->jobs) choose_slowest_operations(x);
    if (!x->wanted->rma) return WEFT_OK;
    WEFT_TRY(find_rma(x, &entry, ret_error));
    const struct weft_why_rma *rma = weft_why_rma_new(&ret->run, &ret->follow, NULL, x->arena);
    struct weft_why_operation *all = weft_why_operations(rma, entry, &n);
    if (!n) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--rma %s: no operation ended", x->wanted->rma);
    uint32_t slowest = x->wanted->slowest < n ? x->wanted->slowest : n;
    ret->found.operations = slowest ? slowest : 2;
    ret->found.operation = weft_arena_alloc(x->arena, ret->found.operations, sizeof *ret->found.operation);
    ranks_of(n, at);
    for (uint32_t i = 0; i < ret->found.operations; i++)
        ret->found.operation[i] = all[slowest ? i : at[i]];
    if (!slowest) ret->title = ranks_titles;
    return WEFT_OK;
}

// --- explaining them ----------------------------------------------------------------------------------------------

static void find_ports_of_rma(const struct work *x, bool *port) {
    const struct weft_cli_why *ret = x->why;
    const struct weft_why_rma *rma = weft_why_rma_new(&ret->run, &ret->follow, NULL, x->arena);
    for (uint32_t i = 0; i < ret->found.operations; i++)
        weft_why_operation_ports(rma, &ret->found.operation[i], port);
}

static enum weft_status find_ports(const struct work *x, bool *port, struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    if (ret->found.operations) find_ports_of_rma(x, port);
    if (!ret->found.flows && !ret->found.iterations) return WEFT_OK;
    struct weft_whys *whys = weft_whys_new(&ret->run, &ret->follow, NULL, x->arena);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < ret->found.iterations && !status; i++)
        status = weft_why_iteration_ports(whys, ret->job[i], ret->number[i], port, ret_error);
    for (uint32_t i = 0; i < ret->found.flows && !status; i++)
        status = weft_why_ports(whys, ret->flow[i], port, ret_error);
    return status;
}

static void explain_operations(const struct work *x) {
    struct weft_cli_why *ret = x->why;
    const struct weft_why_rma *rma = weft_why_rma_new(&ret->run, &ret->follow, &ret->others, x->arena);
    for (uint32_t i = 0; i < ret->found.operations; i++)
        weft_why_operation(rma, &ret->found.operation[i]);
    for (uint32_t i = 0; i < ret->found.operations && ret->title; i++)
        ret->found.operation[i].is = ret->title[i];
}

static enum weft_status explain_chosen(const struct work *x, struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    if (ret->found.operations) explain_operations(x);
    if (!ret->found.flows && !ret->found.iterations) return WEFT_OK;
    struct weft_whys *whys = weft_whys_new(&ret->run, &ret->follow, &ret->others, x->arena);
    enum weft_status status = WEFT_OK;
    ret->found.flow = weft_arena_alloc(x->arena, ret->found.flows, sizeof *ret->found.flow);
    ret->found.iteration = weft_arena_alloc(x->arena, ret->found.iterations, sizeof *ret->found.iteration);
    for (uint32_t i = 0; i < ret->found.flows && !status; i++)
        status = weft_why(whys, ret->flow[i], &ret->found.flow[i], ret_error);
    for (uint32_t i = 0; i < ret->found.flows && ret->title; i++)
        ret->found.flow[i].is = ret->title[i];
    for (uint32_t i = 0; i < ret->found.iterations && !status; i++)
        status = weft_why_iteration(whys, ret->job[i], ret->number[i], &ret->found.iteration[i], ret_error);
    return status;
}

static enum weft_status run_twice(const struct work *x, const struct weft_stored *stored,
                                  struct weft_error *ret_error) {
    struct weft_cli_why *ret = x->why;
    struct weft_run second;
    enum weft_status status = weft_cli_simulation_init(&ret->first, x->file, x->variant, ret_error);
    if (!status) ret->found.scenario = ret->first.scenario->name;
    if (!status) ret->found.variant = ret->first.scenario->variant;
    if (!status) status = choose_followed(x, ret->first.workload, &ret->follow, ret_error);
    if (!status) status = run_once(x, &ret->first, "following", &ret->follow, &ret->run, ret_error);
    if (!status) status = weft_cli_compare_digests(stored, ret->run.outcome, ret_error);
    if (!status) status = choose_operations(x, ret_error);
    if (!status) status = choose_flows(x, ret_error);
    if (!status) status = choose_iterations(x, ret_error);
    if (status || (!ret->found.flows && !ret->found.iterations && !ret->found.operations)) return status;
    bool *port = weft_arena_alloc(x->arena, ret->run.topology->ports, sizeof *port);
    status = find_ports(x, port, ret_error);
    ret->others =
        (struct weft_follow){.flow = weft_arena_alloc(x->arena, ret->run.workload->flows, sizeof(bool)), .port = port};
    if (!status) status = weft_cli_simulation_init(&ret->second, x->file, x->variant, ret_error);
    if (!status) status = run_once(x, &ret->second, "who was before it", &ret->others, &second, ret_error);
    return status ? status : explain_chosen(x, ret_error);
}

enum weft_status weft_cli_why_explain(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      uint32_t variant, const struct weft_stored *stored,
                                      const struct weft_cli_why_wanted *wanted, struct weft_arena *arena,
                                      struct weft_cli_why *ret, struct weft_error *ret_error) {
    *ret = (struct weft_cli_why){.found.list = wanted->group || wanted->slowest};
    struct work x = {o, file, variant, wanted, ret, arena};
    return run_twice(&x, stored, ret_error);
}

void weft_cli_why_deinit(struct weft_cli_why *why) {
    if (why->first.outcome) weft_follow_free(&why->follow);
    if (why->second.outcome) weft_follow_free(&why->others);
    weft_cli_simulation_deinit(&why->first);
    weft_cli_simulation_deinit(&why->second);
}
