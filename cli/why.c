// SPDX-License-Identifier: Apache-2.0
// weft why: where the completion time of a flow went. What the results do not contain is run again (why_explain.c).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/units.h"
#include "weft/rma.h"
#include "why.h"

static struct { const char *slowest, *group, *job, *iteration, *rma; } asked;
static const struct weft_cli_option own[] = {
    {"slowest", "N", "the N flows with the longest completion time", &asked.slowest, NULL},
    {"group", "NAME", "the flow at the group's 99th percentile beside the one at its median", &asked.group, NULL},
    {"job", "NAME", "an iteration of a job instead of a flow: what its critical path waited for", &asked.job, NULL},
    {"iteration", "N", "with --job: which one, from 0 (default: the longest)", &asked.iteration, NULL},
    {"rma", "NAME",
     "for a group of remote memory access: the operations at its 99th percentile and at its median, or with --slowest "
     "the N longest",
     &asked.rma, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "why",
    .operands = "DIR [FLOW]",
    .about =
        "Splits the completion time of a flow into parts that add up to it, along the critical path of its last\n"
        "byte: serialisation, propagation, queueing and the flows ahead, pauses and the ports that caused them, the\n"
        "pace of congestion control, and so on. FLOW is its number in the table flows. DIR holds results of --out;\n"
        "what they lack comes from a second run of the stored scenario, whose digest is compared. A scenario file\n"
        "may be given instead of DIR.\n"
        "--job NAME explains an iteration instead: its operations, ranks and messages on the critical path.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 2,
    .option = own,
};

// --- showing it ---------------------------------------------------------------------------------------------------

/// The sums of each kind, largest first.
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

static void print_kinds(const struct weft_why_part *part, uint32_t parts) {
    weft_time_ps sum[WEFT_WHYS] = {0};
    for (uint32_t i = 0; i < parts; i++)
        sum[part[i].kind] += part[i].time_ps;
    print_sums(sum);
}

static void print_part(const char *before, const char *name, const char *where, const char *because_of,
                       weft_time_ps part_ps, weft_time_ps all_ps) {
    char part[32];
    weft_format_time(part_ps, part, sizeof part);
    printf("  %10s %5.1f%%  %s%-19s %s%s%s\n", part, 100.0 * (double)part_ps / (double)all_ps, before, name, where,
           *because_of ? ": " : "", because_of);
}

static void print_parts(const struct weft_why_part *part, uint32_t parts, weft_time_ps all_ps) {
    print_kinds(part, parts);
    for (uint32_t i = 0; i < parts; i++)
        print_part("", weft_why_names[part[i].kind], part[i].where, part[i].because_of, part[i].time_ps, all_ps);
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
    print_parts(why->part, why->parts, why->fct_ps);
}

// --- an iteration -------------------------------------------------------------------------------------------------

enum { STEPS_SHOWN = 40 };

/// Part i of a message with all others of its kind and place.
static void print_together(const struct weft_why_iteration *why, const struct weft_why_step *s, uint32_t i) {
    const struct weft_why_part *p = &s->part[i];
    weft_time_ps time;
    uint32_t others;
    if (!weft_cli_why_together(s, i, &time, &others) || time * 100 < why->time_ps) return;
    char because_of[512];
    snprintf(because_of, sizeof because_of, "%s", p->because_of);
    if (others) snprintf(because_of, sizeof because_of, "%s, and %u more", p->because_of, others);
    print_part("  ", weft_why_names[p->kind], p->where, because_of, time, why->time_ps);
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
    printf("  %10s %5.1f%%  %s\n", part, 100.0 * (double)time / (double)why->time_ps,
           weft__counted(n, "shorter step").text);
}

static void print_iteration(const struct weft_run *run, const struct weft_why_iteration *why,
                            struct weft_arena *arena) {
    const struct weft_job *job = &run->workload->job[why->job];
    char text[32];
    weft_time_ps sum[WEFT_WHYS] = {0}, from = weft_cli_why_shown_from(why, STEPS_SHOWN, arena), short_ps = 0;
    uint32_t shorter = 0;
    weft_format_time(why->time_ps, text, sizeof text);
    if (job->schedule)
        printf("schedule %s, %s: done in %s, %s on its critical path\n", run->workload->group[job->group],
               weft__counted(job->ranks, "rank").text, text, weft__counted(why->steps, "step").text);
    else
        printf("job %s, %s: iteration %u took %s, %s on its critical path\n", run->workload->group[job->group],
               weft__counted(job->ranks, "rank").text, why->iteration, text, weft__counted(why->steps, "step").text);
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

// --- flows --------------------------------------------------------------------------------------------------------

static void show_flows(const struct weft_cli_options *o, const struct weft_cli_why *why) {
    struct weft__json j = {.file = stdout};
    bool list = why->title || asked.slowest;
    if (!o->json)
        for (uint32_t i = 0; i < why->flows; i++) {
            if (i) putchar('\n');
            print_why(&why->run, &why->why[i], why->title ? why->title[i] : NULL);
        }
    if (!o->json) return;
    if (list) {
        weft__json_begin_object(&j);
        weft__json_key(&j, "flows");
        weft__json_begin_array(&j);
    }
    for (uint32_t i = 0; i < why->flows; i++)
        weft_cli_why_json_flow(&j, &why->run, &why->why[i], why->title ? why->title[i] : NULL);
    if (list) {
        weft__json_end_array(&j);
        weft__json_end_object(&j);
    }
    putchar('\n');
}

static void print_operation(const struct weft_run *run, const struct weft_why_operation *op, const char *title) {
    const struct weft_rma *rma = &run->workload->rma[op->entry];
    const struct weft_topology *t = run->topology;
    char begun[32], latency[32];
    weft_format_time(op->begun_ps, begun, sizeof begun);
    weft_format_time(op->latency_ps, latency, sizeof latency);
    printf("%s%soperation of %s, %s at %s, begun at %s: complete in %s\n", title ? title : "", title ? ": " : "",
           run->workload->group[rma->group], t->node[t->host[rma->client[op->client]]].name,
           t->node[t->host[rma->server[op->server]]].name, begun, latency);
    print_parts(op->part, op->parts, op->latency_ps);
}

static void show_operations(const struct weft_cli_options *o, const struct weft_cli_why *why) {
    struct weft__json j = {.file = stdout};
    for (uint32_t i = 0; i < why->operations && !o->json; i++) {
        if (i) putchar('\n');
        print_operation(&why->run, &why->operation[i], why->title ? why->title[i] : NULL);
    }
    if (!o->json) return;
    weft__json_begin_object(&j);
    weft__json_key(&j, "operations");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < why->operations; i++)
        weft_cli_why_json_operation(&j, &why->run, &why->operation[i], why->title ? why->title[i] : NULL);
    weft__json_end_array(&j);
    weft__json_end_object(&j);
    putchar('\n');
}

static void show_why(const struct weft_cli_options *o, const struct weft_cli_why *why) {
    struct weft__json j = {.file = stdout};
    if (why->operations) {
        show_operations(o, why);
    } else if (!why->iterations) {
        show_flows(o, why);
    } else if (o->json) {
        weft_cli_why_json_iteration(&j, &why->run, why->iteration);
        putchar('\n');
    } else {
        print_iteration(&why->run, why->iteration, o->arena);
    }
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status check_usage(const struct weft_cli_options *o, struct weft_error *ret_error) {
    unsigned ways =
        (unsigned)(o->operands > 1) + (asked.group != NULL) + (asked.job != NULL) + (asked.rma || asked.slowest);
    if (asked.iteration && !asked.job)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--iteration: expected --job NAME with it");
    if (ways == 1) return WEFT_OK;
    return weft_error_set(
        ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
        "why: expected the number of a flow, or --slowest N, or --group NAME, or --job NAME, or --rma NAME");
}

static enum weft_status why_file(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                 struct weft_error *error) {
    struct weft_cli_why_wanted wanted = {.flow = o->operands > 1 ? o->operand[1] : NULL,
                                         .group = asked.group,
                                         .job = asked.job,
                                         .rma = asked.rma,
                                         .iteration = asked.iteration};
    struct weft_cli_why answer = {.flows = 0};
    struct weft_stored stored;
    uint32_t variant = 0;
    uint64_t slowest = 0;
    enum weft_status status = check_usage(o, error);
    if (!status && asked.slowest && !weft_cli_number("--slowest", asked.slowest, 1, UINT32_MAX, &slowest))
        return WEFT_ERROR_INPUT;
    wanted.slowest = (uint32_t)slowest;
    if (!status) status = weft_cli_stored_variant(o, &file, &stored, &variant, error);
    weft_cli_catch_interrupt();
    if (!status) status = weft_cli_why_explain(o, file, variant, &stored, &wanted, o->arena, &answer, error);
    if (!status) show_why(o, &answer);
    weft_cli_why_deinit(&answer);
    return status;
}

int weft_cli_why(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, why_file);
}
