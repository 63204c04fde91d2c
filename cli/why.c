// SPDX-License-Identifier: Apache-2.0
// weft why: where the completion time of a flow went. What the results do not hold is run again: once to follow the
// flows, and once more to see who was before them at the ports that they used.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "simulation.h"
#include "weft/why.h"

static struct { const char *slowest, *group, *job, *iteration; } asked;
static const struct weft_cli_option own[] = {
    {"slowest", "N", "the N flows with the longest completion time", &asked.slowest, NULL},
    {"group", "NAME", "the flow at the group's 99th percentile beside the one at its median", &asked.group, NULL},
    {"job", "NAME", "an iteration of a job instead of a flow: what its critical path waited for", &asked.job, NULL},
    {"iteration", "N", "with --job: which one, from 0 (default: the longest)", &asked.iteration, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "why",
    .operands = "DIR [FLOW]",
    .about =
        "Tells where the completion time of a flow went, in parts that add up to it: serialisation, propagation,\n"
        "queueing and behind whom, pauses and by whom, the pace of congestion control, and so on along the critical\n"
        "path of its last byte. FLOW is its number in the table flows. DIR holds results of --out; what they lack is\n"
        "run again from the scenario in them, and the digest compared. A scenario file may stand for DIR.\n"
        "--job NAME explains an iteration instead: which operation on which rank, which message of it, and why.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 2,
    .option = own,
};

/// A run, followed.
struct run {
    struct weft_cli_simulation s;
    struct weft_run run;
};

/// Flows to be explained, or an iteration of a job.
struct chosen {
    uint32_t *flow, n;
    const char **title; ///< [n], what each is; or NULL
    uint32_t job, iteration;
};

/// The number of the flow that the user asks for.
static bool read_flow(const struct weft_cli_options *o, const struct weft_workload *w, uint32_t *ret_flow) {
    uint64_t number;
    if (!w->flows) fputs("weft: the run has no flows\n", stderr);
    if (!w->flows || !weft_cli_number("FLOW", o->operand[1], 0, w->flows - 1, &number)) return false;
    *ret_flow = (uint32_t)number;
    return true;
}

static enum weft_status follow_one(const struct weft_cli_options *o, const struct weft_workload *w,
                                   struct weft_follow *follow) {
    uint32_t flow;
    if (!read_flow(o, w, &flow)) return WEFT_ERROR_INPUT;
    bool *followed = weft_arena_alloc(o->arena, w->flows, sizeof *followed);
    followed[flow] = true;
    follow->flow = followed;
    return WEFT_OK;
}

/// The number of the job that the user asks for.
static enum weft_status find_job(const struct weft_workload *w, uint32_t *ret_job, struct weft_error *ret_error) {
    const char **name = calloc(w->jobs + (size_t)1, sizeof *name);
    char expected[512];
    for (uint32_t j = 0; j < w->jobs && name; j++) {
        name[j] = w->group[w->job[j].group];
        if (strcmp(name[j], asked.job) != 0) continue;
        *ret_job = j;
        free(name);
        return WEFT_OK;
    }
    if (!w->jobs || !name)
        snprintf(expected, sizeof expected, "the run has none");
    else
        weft__names_expected(asked.job, name, w->jobs, expected, sizeof expected);
    free(name);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--job %s: no such job; %s", asked.job, expected);
}

/// Flows and ranks of the job.
static enum weft_status follow_job(const struct weft_cli_options *o, const struct weft_workload *w,
                                   struct weft_follow *follow, struct weft_error *ret_error) {
    uint32_t job;
    enum weft_status status = find_job(w, &job, ret_error);
    if (status) return status;
    bool *followed = weft_arena_alloc(o->arena, w->flows, sizeof *followed);
    for (uint32_t i = 0; i < w->job[job].connections; i++)
        if (w->job[job].connection[i].flow != WEFT_NONE) followed[w->job[job].connection[i].flow] = true;
    follow->flow = followed;
    follow->ranks = true;
    return WEFT_OK;
}

static enum weft_status run_followed(struct run *r, const struct weft_cli_options *o,
                                     const struct weft_scenario_file *file, uint32_t variant, const char *label,
                                     struct weft_follow *follow, struct weft_error *ret_error) {
    enum weft_status status = weft_cli_simulation_init(&r->s, file, variant, ret_error);
    if (status) return status;
    r->s.follow = follow;
    if (asked.job && !follow->flow)
        status = follow_job(o, r->s.workload, follow, ret_error);
    else if (o->operands > 1 && !follow->flow)
        status = follow_one(o, r->s.workload, follow);
    if (status) return status;
    status = weft_cli_simulation_run(&r->s, o, label, &r->run, ret_error);
    if (status != WEFT_ERROR_STALL || !r->s.outcome) return status;
    *ret_error = (struct weft_error){0}; // what has finished can be told of all the same
    return WEFT_OK;
}

// --- which flows --------------------------------------------------------------------------------------------------

static weft_time_ps fct_of(const struct weft_run *run, uint32_t flow) {
    return run->outcome->flow[flow].end_ps - run->workload->flow[flow].start_ps;
}

static const struct weft_run *sorted; ///< for qsort
static int by_fct(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    weft_time_ps fx = fct_of(sorted, x), fy = fct_of(sorted, y);
    if (fx != fy) return fx > fy ? -1 : 1;
    return (x > y) - (x < y);
}

/// Those that finished, of a group (WEFT_NONE: of all), the slowest first.
static uint32_t *slowest_first(const struct weft_run *run, uint32_t group, struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft_workload *w = run->workload;
    uint32_t *flow = weft_arena_alloc(arena, w->flows, sizeof *flow), n = 0;
    for (uint32_t i = 0; i < w->flows; i++)
        if (run->outcome->flow[i].end_ps != WEFT_TIME_NEVER && (group == WEFT_NONE || w->flow[i].group == group))
            flow[n++] = i;
    sorted = run;
    if (n) qsort(flow, n, sizeof *flow, by_fct);
    *ret_n = n;
    return flow;
}

static enum weft_status find_group(const struct weft_run *run, uint32_t *ret_group, struct weft_error *ret_error) {
    const struct weft_workload *w = run->workload;
    char expected[512];
    for (uint32_t i = 0; i < w->groups; i++)
        if (!strcmp(w->group[i], asked.group)) {
            *ret_group = i;
            return WEFT_OK;
        }
    weft__names_expected(asked.group, w->group, w->groups, expected, sizeof expected);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--group %s: no such group of flows; %s",
                          asked.group, expected);
}

static enum weft_status choose_of_group(const struct weft_run *run, struct weft_arena *arena, struct chosen *ret,
                                        struct weft_error *ret_error) {
    static const char *titles[] = {"99th percentile", "median"};
    uint32_t group = 0, n;
    enum weft_status status = find_group(run, &group, ret_error);
    if (status) return status;
    uint32_t *flow = slowest_first(run, group, arena, &n);
    if (!n)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                              "--group %s: none of its flows finished (remote memory access has no completion times)",
                              asked.group);
    // nearest rank, from the slowest: the same flows as in the table of groups
    uint32_t p99 = n - (uint32_t)(((uint64_t)99 * n + 99) / 100), p50 = n - (uint32_t)(((uint64_t)50 * n + 99) / 100);
    ret->flow = weft_arena_alloc(arena, 2, sizeof *ret->flow);
    ret->flow[0] = flow[p99];
    ret->flow[1] = flow[p50];
    ret->n = 2;
    ret->title = titles;
    return WEFT_OK;
}

static enum weft_status choose_iteration(const struct weft_run *run, struct chosen *ret, struct weft_error *ret_error) {
    enum weft_status status = find_job(run->workload, &ret->job, ret_error);
    if (status) return status;
    uint64_t number;
    if (asked.iteration) {
        if (!weft_cli_number("--iteration", asked.iteration, 0, UINT32_MAX, &number)) return WEFT_ERROR_INPUT;
        ret->iteration = (uint32_t)number;
        return WEFT_OK;
    }
    const struct weft_job *j = &run->workload->job[ret->job];
    const struct weft_job_outcome *o = &run->outcome->job[ret->job];
    weft_time_ps before = j->start_ps, most = 0;
    for (uint32_t i = 0; i < o->iterations && o->iteration_end_ps[i] != WEFT_TIME_NEVER; i++) {
        if (o->iteration_end_ps[i] - before > most) {
            most = o->iteration_end_ps[i] - before;
            ret->iteration = i;
        }
        before = o->iteration_end_ps[i];
    }
    return WEFT_OK;
}

static enum weft_status choose(const struct weft_cli_options *o, const struct weft_run *run, struct chosen *ret,
                               struct weft_error *ret_error) {
    uint64_t number;
    if (asked.job) return choose_iteration(run, ret, ret_error);
    if (asked.group) return choose_of_group(run, o->arena, ret, ret_error);
    if (asked.slowest) {
        if (!weft_cli_number("--slowest", asked.slowest, 1, UINT32_MAX, &number)) return WEFT_ERROR_INPUT;
        ret->flow = slowest_first(run, WEFT_NONE, o->arena, &ret->n);
        if (!ret->n) return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--slowest: no flow finished");
        if (ret->n > number) ret->n = (uint32_t)number;
        return WEFT_OK;
    }
    ret->flow = weft_arena_alloc(o->arena, 1, sizeof *ret->flow);
    if (!read_flow(o, run->workload, ret->flow)) return WEFT_ERROR_INPUT;
    ret->n = 1;
    return WEFT_OK;
}

// --- showing it ---------------------------------------------------------------------------------------------------

/// What there is of each kind, most first.
static void print_sums(weft_time_ps sum[WEFT_WHYS]) {
    for (const char *before = "  "; true; before = ", ") {
        uint32_t most = 0;
        char text[32];
        for (uint32_t k = 1; k < WEFT_WHYS; k++)
            if (sum[k] > sum[most]) most = k;
        if (!sum[most]) break;
        weft_format_time(sum[most], text, sizeof text);
        printf("%s%s %s", before, weft_why_names[most], text);
        sum[most] = 0;
    }
    fputs("; along the path:\n", stdout);
}

static void print_kinds(const struct weft_why *why) {
    weft_time_ps sum[WEFT_WHYS] = {0};
    for (uint32_t i = 0; i < why->parts; i++)
        sum[why->part[i].kind] += why->part[i].time_ps;
    print_sums(sum);
}

static void print_part(const char *before, const char *name, const char *where, const char *because_of,
                       weft_time_ps part_ps, weft_time_ps all_ps) {
    char part[32];
    weft_format_time(part_ps, part, sizeof part);
    printf("  %10s %5.1f%%  %s%-19s %s%s%s\n", part, 100.0 * (double)part_ps / (double)all_ps, before, name, where,
           *because_of ? ": " : "", because_of);
}

static void print_why(const struct weft_run *run, const struct weft_why *why, const char *title) {
    const struct weft_topology *t = run->topology;
    const struct weft_flow *f = &run->workload->flow[why->flow];
    char bytes[WEFT_CLI_TEXT], fct[32], ideal[32];
    weft_time_ps alone = run->outcome->flow[why->flow].ideal_ps;
    weft_format_time(why->fct_ps, fct, sizeof fct);
    weft_format_time(alone, ideal, sizeof ideal);
    printf("%s%sflow %u (%s), %s to %s, %s: completed in %s", title ? title : "", title ? ": " : "", why->flow,
           run->workload->group[f->group], t->node[t->host[f->src]].name, t->node[t->host[f->dst]].name,
           weft_cli_bytes_text(f->bytes, bytes), fct);
    if (alone && alone != WEFT_TIME_NEVER)
        printf(", %.2f times what it takes alone (%s)", (double)why->fct_ps / (double)alone, ideal);
    putchar('\n');
    print_kinds(why);
    for (uint32_t i = 0; i < why->parts; i++) {
        const struct weft_why_part *p = &why->part[i];
        print_part("", weft_why_names[p->kind], p->where, p->because_of, p->time_ps, why->fct_ps);
    }
}

static void json_parts(struct weft__json *j, const struct weft_why_part *part, uint32_t parts) {
    weft__json_key(j, "parts");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < parts; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "kind", weft_why_names[part[i].kind]);
        weft__json_key_string(j, "where", part[i].where);
        weft__json_key_string(j, "because_of", part[i].because_of);
        weft__json_key_u64(j, "time_ps", part[i].time_ps);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void json_why(struct weft__json *j, const struct weft_run *run, const struct weft_why *why, const char *title) {
    const struct weft_topology *t = run->topology;
    const struct weft_flow *f = &run->workload->flow[why->flow];
    weft__json_begin_object(j);
    weft__json_key_u64(j, "flow", why->flow);
    if (title) weft__json_key_string(j, "is", title);
    weft__json_key_string(j, "group", run->workload->group[f->group]);
    weft__json_key_string(j, "src", t->node[t->host[f->src]].name);
    weft__json_key_string(j, "dst", t->node[t->host[f->dst]].name);
    weft__json_key_u64(j, "bytes", f->bytes);
    weft__json_key_u64(j, "fct_ps", why->fct_ps);
    json_parts(j, why->part, why->parts);
    weft__json_end_object(j);
}

// --- an iteration -------------------------------------------------------------------------------------------------

enum { STEPS_SHOWN = 40 };

static int by_time(const void *a, const void *b) {
    weft_time_ps x = *(const weft_time_ps *)a, y = *(const weft_time_ps *)b;
    return (x > y) - (x < y);
}

/// The shortest step that is shown one by one.
static weft_time_ps shown_from(const struct weft_why_iteration *why, struct weft_arena *arena) {
    weft_time_ps *time = weft_arena_alloc(arena, why->steps, sizeof *time);
    for (uint32_t i = 0; i < why->steps; i++)
        time[i] = why->step[i].to_ps - why->step[i].from_ps;
    if (why->steps <= STEPS_SHOWN) return 0;
    qsort(time, why->steps, sizeof *time, by_time);
    return time[why->steps - STEPS_SHOWN];
}

/// Part i of a message with all others of its kind and place, if it is the largest of them.
static void print_together(const struct weft_why_iteration *why, const struct weft_why_step *s, uint32_t i) {
    const struct weft_why_part *p = &s->part[i];
    weft_time_ps time = 0;
    uint32_t others = 0;
    for (uint32_t k = 0; k < s->parts; k++) {
        const struct weft_why_part *o = &s->part[k];
        if (o->kind != p->kind || strcmp(o->where, p->where) != 0) continue;
        if (o->time_ps > p->time_ps || (o->time_ps == p->time_ps && k < i)) return;
        time += o->time_ps;
        others += k != i;
    }
    char because_of[512];
    snprintf(because_of, sizeof because_of, "%s", p->because_of);
    if (others) snprintf(because_of, sizeof because_of, "%s, and %u more", p->because_of, others);
    if (time * 100 >= why->time_ps) print_part("  ", weft_why_names[p->kind], p->where, because_of, time, why->time_ps);
}

static void print_step(const struct weft_why_iteration *why, const struct weft_why_step *s) {
    char part[32];
    weft_time_ps time = s->to_ps - s->from_ps;
    weft_format_time(time, part, sizeof part);
    printf("  %10s %5.1f%%  rank %u (%s): %s%s%s", part, 100.0 * (double)time / (double)why->time_ps, s->rank, s->host,
           weft_why_step_names[s->what], *s->op ? " of " : "", s->op);
    if (s->peer != WEFT_NONE) printf(", to rank %u", s->peer);
    if (s->flow != WEFT_NONE) printf(", message %u of flow %u", s->message, s->flow);
    putchar('\n');
    for (uint32_t i = 0; s->what == WEFT_WHY_STEP_MESSAGE && i < s->parts; i++)
        print_together(why, s, i);
}

static void print_short(const struct weft_why_iteration *why, uint32_t n, weft_time_ps time) {
    char part[32];
    if (!n) return;
    weft_format_time(time, part, sizeof part);
    printf("  %10s %5.1f%%  %u shorter step%s\n", part, 100.0 * (double)time / (double)why->time_ps, n,
           n == 1 ? "" : "s");
}

static void print_iteration(const struct weft_run *run, const struct weft_why_iteration *why,
                            struct weft_arena *arena) {
    const struct weft_job *job = &run->workload->job[why->job];
    char text[32];
    weft_time_ps sum[WEFT_WHYS] = {0}, from = shown_from(why, arena), short_ps = 0;
    uint32_t shorter = 0;
    weft_format_time(why->time_ps, text, sizeof text);
    if (job->schedule)
        printf("schedule %s, %u ranks: done in %s, %u steps on its critical path\n", run->workload->group[job->group],
               job->ranks, text, why->steps);
    else
        printf("job %s, %u ranks: iteration %u took %s, %u steps on its critical path\n",
               run->workload->group[job->group], job->ranks, why->iteration, text, why->steps);
    for (uint32_t i = 0; i < why->steps; i++)
        for (uint32_t k = 0; k < why->step[i].parts; k++)
            sum[why->step[i].part[k].kind] += why->step[i].part[k].time_ps;
    print_sums(sum);
    for (uint32_t i = 0; i < why->steps; i++) {
        const struct weft_why_step *s = &why->step[i];
        if (s->to_ps - s->from_ps < from) {
            shorter++;
            short_ps += s->to_ps - s->from_ps;
            continue;
        }
        print_short(why, shorter, short_ps);
        print_step(why, s);
        shorter = 0;
        short_ps = 0;
    }
    print_short(why, shorter, short_ps);
}

static void json_iteration(struct weft__json *j, const struct weft_run *run, const struct weft_why_iteration *why) {
    const struct weft_topology *t = run->topology;
    const struct weft_job *job = &run->workload->job[why->job];
    weft__json_begin_object(j);
    weft__json_key_string(j, "job", run->workload->group[job->group]);
    weft__json_key_u64(j, "iteration", why->iteration);
    weft__json_key_u64(j, "from_ps", why->from_ps);
    weft__json_key_u64(j, "iteration_ps", why->time_ps);
    weft__json_key(j, "steps");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < why->steps; i++) {
        const struct weft_why_step *s = &why->step[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "what", weft_why_step_names[s->what]);
        weft__json_key_string(j, "operation", s->op);
        weft__json_key_u64(j, "rank", s->rank);
        weft__json_key_string(j, "host", s->host);
        if (s->peer != WEFT_NONE) {
            weft__json_key_u64(j, "to_rank", s->peer);
            weft__json_key_string(j, "to_host", t->node[t->host[job->host[s->peer]]].name);
        }
        if (s->flow != WEFT_NONE) {
            weft__json_key_u64(j, "flow", s->flow);
            weft__json_key_u64(j, "message", s->message);
        }
        weft__json_key_u64(j, "from_ps", s->from_ps);
        weft__json_key_u64(j, "time_ps", s->to_ps - s->from_ps);
        json_parts(j, s->part, s->parts);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

static void show_iteration(const struct weft_cli_options *o, const struct weft_run *run,
                           const struct weft_why_iteration *why) {
    struct weft__json j = {.file = stdout};
    if (!o->json) {
        print_iteration(run, why, o->arena);
        return;
    }
    json_iteration(&j, run, why);
    putchar('\n');
}

// --- flows --------------------------------------------------------------------------------------------------------

static void show(const struct weft_cli_options *o, const struct weft_run *run, const struct chosen *chosen,
                 const struct weft_why *why) {
    struct weft__json j = {.file = stdout};
    bool list = chosen->title || asked.slowest;
    if (!o->json)
        for (uint32_t i = 0; i < chosen->n; i++) {
            if (i) putchar('\n');
            print_why(run, &why[i], chosen->title ? chosen->title[i] : NULL);
        }
    if (!o->json) return;
    if (list) {
        weft__json_begin_object(&j);
        weft__json_key(&j, "flows");
        weft__json_begin_array(&j);
    }
    for (uint32_t i = 0; i < chosen->n; i++)
        json_why(&j, run, &why[i], chosen->title ? chosen->title[i] : NULL);
    if (list) {
        weft__json_end_array(&j);
        weft__json_end_object(&j);
    }
    putchar('\n');
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status check_usage(const struct weft_cli_options *o, struct weft_error *ret_error) {
    unsigned ways = (unsigned)(o->operands > 1) + (asked.slowest != NULL) + (asked.group != NULL) + (asked.job != NULL);
    if (asked.iteration && !asked.job)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--iteration: expected --job NAME with it");
    if (ways == 1) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                          "why: expected the number of a flow, or --slowest N, or --group NAME, or --job NAME");
}

/// The first run tells which flows there are and what they did, the second who was in their way.
static enum weft_status explain(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                uint32_t variant, const struct weft_stored *stored, struct run *first,
                                struct run *second, struct weft_error *error) {
    struct weft_follow follow = {0}, others = {0};
    struct chosen chosen = {0};
    enum weft_status status = run_followed(first, o, file, variant, "following", &follow, error);
    if (!status) status = weft_cli_compare_digests(stored, first->run.outcome, error);
    if (!status) status = choose(o, &first->run, &chosen, error);
    if (status) return status;
    const struct weft_workload *w = first->run.workload;
    bool *flow = weft_arena_alloc(o->arena, w->flows, sizeof *flow);
    bool *port = weft_arena_alloc(o->arena, first->run.topology->ports, sizeof *port);
    struct weft_whys *whys = weft_whys_new(&first->run, &follow, NULL, o->arena);
    if (asked.job) status = weft_why_iteration_ports(whys, chosen.job, chosen.iteration, port, error);
    for (uint32_t i = 0; i < chosen.n && !status; i++)
        status = weft_why_ports(whys, chosen.flow[i], port, error);
    if (!status) {
        others = (struct weft_follow){.flow = flow, .port = port};
        status = run_followed(second, o, file, variant, "who was before it", &others, error);
    }
    if (status) return status;
    struct weft_why *why = weft_arena_alloc(o->arena, chosen.n, sizeof *why);
    whys = weft_whys_new(&first->run, &follow, &others, o->arena);
    for (uint32_t i = 0; i < chosen.n && !status; i++)
        status = weft_why(whys, chosen.flow[i], &why[i], error);
    if (status) return status;
    if (asked.job) {
        struct weft_why_iteration iteration;
        status = weft_why_iteration(whys, chosen.job, chosen.iteration, &iteration, error);
        if (!status) show_iteration(o, &first->run, &iteration);
        return status;
    }
    show(o, &first->run, &chosen, why);
    return status;
}

static enum weft_status why(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                            struct weft_error *error) {
    struct run first = {0}, second = {0};
    struct weft_stored stored;
    uint32_t variant = 0;
    enum weft_status status = check_usage(o, error);
    if (!status) status = weft_cli_stored_variant(o, &file, &stored, &variant, error);
    weft_cli_catch_interrupt();
    if (!status) status = explain(o, file, variant, &stored, &first, &second, error);
    weft_cli_simulation_deinit(&first.s);
    weft_cli_simulation_deinit(&second.s);
    return status;
}

int weft_cli_why(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, why);
}
