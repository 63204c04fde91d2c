// SPDX-License-Identifier: Apache-2.0
// weft why: where the completion time of a flow went. What the results do not contain is run again (why_explain.c).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/units.h"
#include "weft/result.h"
#include "why.h"

static struct { const char *slowest, *group, *job, *iteration, *rma; } asked;
static bool all_jobs;
static const struct weft_cli_option own[] = {
    {"slowest", "N", "the N flows with the longest completion time", &asked.slowest, NULL},
    {"group", "NAME", "the flow at the group's 99th percentile beside the one at its median", &asked.group, NULL},
    {"job", "NAME", "an iteration of a job instead of a flow: what its critical path waited for", &asked.job, NULL},
    {"iteration", "N", "with --job: which one, from 0 (default: the longest)", &asked.iteration, NULL},
    {"rma", "NAME",
     "for a group of remote memory access: the operations at its 99th percentile and at its median, or with --slowest "
     "the N longest",
     &asked.rma, NULL},
    {"jobs", NULL,
     "what each job costs each other one: by port and cause; adds up to what it loses against a run without the others",
     NULL, &all_jobs},
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
        "--job NAME explains an iteration instead: its operations, ranks and messages on the critical path.\n"
        "--jobs says what the jobs of the scenario cost one another.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_QUIET,
    .answer = &weft__answer_why,
    .operands_min = 1,
    .operands_max = 2,
    .option = own,
};

// --- showing it ---------------------------------------------------------------------------------------------------

/// The sums of each kind, largest first.
static void print_sums(const weft_time_ps *kind_ps) {
    weft_time_ps sum[WEFT_WHYS];
    memcpy(sum, kind_ps, sizeof sum);
    for (const char *before = "  "; true; before = ", ") {
        uint32_t most = 0;
        for (uint32_t k = 1; k < WEFT_WHYS; k++)
            if (sum[k] > sum[most]) most = k;
        if (!sum[most]) break;
        printf("%s%s %s", before, weft_why_names[most], weft__short_time(sum[most]).text);
        sum[most] = 0;
    }
    fputs("; along the path:\n", stdout);
}

static void print_part(const char *before, const char *name, const char *where, const char *because_of,
                       weft_time_ps part_ps, weft_time_ps all_ps) {
    printf("  %10s %5.1f%%  %s%-19s %s%s%s\n", weft__short_time(part_ps).text, 100.0 * (double)part_ps / (double)all_ps,
           before, name, where, *because_of ? ": " : "", because_of);
}

static void print_parts(const weft_time_ps *kind_ps, const struct weft_why_part *part, uint32_t parts,
                        weft_time_ps all_ps) {
    print_sums(kind_ps);
    for (uint32_t i = 0; i < parts; i++)
        print_part("", weft_why_names[part[i].kind], part[i].where, part[i].because_of, part[i].time_ps, all_ps);
}

static void print_flow(const struct weft_why *why) {
    printf("%s%sflow %u (%s), %s to %s, %s: %s in %s", why->is ? why->is : "", why->is ? ": " : "", why->flow,
           why->group, why->src, why->dst, weft__short_bytes(why->bytes).text,
           why->frame ? "its slowest frame crossed" : "completed", weft__short_time(why->fct_ps).text);
    if (why->ideal_ps)
        printf(", %.2f times what it takes alone (%s)", (double)why->fct_ps / (double)why->ideal_ps,
               weft__short_time(why->ideal_ps).text);
    putchar('\n');
    print_parts(why->kind_ps, why->part, why->parts, why->fct_ps);
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
    weft_time_ps time = s->to_ps - s->from_ps;
    printf("  %10s %5.1f%%  rank %u (%s): %s%s%s", weft__short_time(time).text,
           100.0 * (double)time / (double)why->time_ps, s->rank, s->host, weft_why_step_names[s->what],
           *s->op ? " of " : "", s->op);
    if (s->peer != WEFT_NONE) printf(", to rank %u", s->peer);
    if (s->flow != WEFT_NONE) printf(", message %u of flow %u", s->message, s->flow);
    putchar('\n');
    for (uint32_t i = 0; s->what == WEFT_WHY_STEP_MESSAGE && i < s->parts; i++)
        print_together(why, s, i);
}

static void print_short(const struct weft_why_iteration *why, uint32_t n, weft_time_ps time) {
    if (!n) return;
    printf("  %10s %5.1f%%  %s\n", weft__short_time(time).text, 100.0 * (double)time / (double)why->time_ps,
           weft__counted(n, "shorter step").text);
}

static void print_iteration(const struct weft_why_iteration *why) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    weft_time_ps from = weft_cli_why_shown_from(why, STEPS_SHOWN, arena), short_ps = 0;
    uint32_t shorter = 0;
    if (why->schedule)
        printf("schedule %s, %s: done in %s, %s on its critical path\n", why->name,
               weft__counted(why->ranks, "rank").text, weft__short_time(why->time_ps).text,
               weft__counted(why->steps, "step").text);
    else
        printf("job %s, %s: iteration %u took %s, %s on its critical path\n", why->name,
               weft__counted(why->ranks, "rank").text, why->iteration, weft__short_time(why->time_ps).text,
               weft__counted(why->steps, "step").text);
    print_sums(why->kind_ps);
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

// --- flows and operations ------------------------------------------------------------------------------------------

static void print_operation(const struct weft_why_operation *op) {
    printf("%s%soperation of %s, %s at %s, begun at %s: complete in %s\n", op->is ? op->is : "", op->is ? ": " : "",
           op->group, op->client_host, op->server_host, weft__short_time(op->begun_ps).text,
           weft__short_time(op->latency_ps).text);
    print_parts(op->kind_ps, op->part, op->parts, op->latency_ps);
}

static void print_ledger(const struct weft_ledger *l) {
    for (uint32_t j = 0; j < l->jobs; j++) {
        const struct weft_ledger_job *job = &l->job[j];
        printf("%sjob %s: %s in %s, %.4g times the %s without the others\n", j ? "\n" : "", job->job,
               weft__counted(job->iterations, "iteration").text, weft__short_time((weft_time_ps)job->with_ps).text,
               job->slowdown, weft__short_time((weft_time_ps)job->alone_ps).text);
        for (uint32_t i = 0; i < l->rows; i++) {
            const struct weft_ledger_row *r = &l->row[i];
            if (strcmp(r->job, job->job)) continue;
            printf("  %10.4gus %6.2f%%  %-16s %-11s %s\n", r->cost_ps / 1e6, 100 * r->share, r->by,
                   weft_why_names[r->kind], r->port);
        }
        if (job->unseen_ps != 0)
            printf("  %10.4gus %6.2f%%  no wait for another job was seen\n", job->unseen_ps / 1e6,
                   100 * job->unseen_ps / job->alone_ps);
    }
}

static void print_found(FILE *file, const void *found) {
    const struct weft_why_answer *why = found;
    for (uint32_t i = 0; i < why->operations; i++) {
        if (i) putchar('\n');
        print_operation(&why->operation[i]);
    }
    for (uint32_t i = 0; i < why->flows; i++) {
        if (i) putchar('\n');
        print_flow(&why->flow[i]);
    }
    for (uint32_t i = 0; i < why->iterations; i++)
        print_iteration(&why->iteration[i]);
    print_ledger(&why->ledger);
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status check_usage(const struct weft_cli_options *o, struct weft_error *ret_error) {
    unsigned ways = (unsigned)(o->operands > 1) + all_jobs + (asked.group != NULL) + (asked.job != NULL) +
                    (asked.rma || asked.slowest);
    if (asked.iteration && !asked.job)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--iteration: expected --job NAME with it");
    if (ways == 1) return WEFT_OK;
    return WEFT_REFUSE(
        ret_error, WEFT_NOWHERE,
        "why: expected the number of a flow, or --slowest N, or --group NAME, or --job NAME, or --rma NAME, or --jobs");
}

static enum weft_status explain_run(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                    struct weft_error *error) {
    struct weft_cli_why_wanted wanted = {.flow = o->operands > 1 ? o->operand[1] : NULL,
                                         .group = asked.group,
                                         .job = asked.job,
                                         .rma = asked.rma,
                                         .iteration = asked.iteration};
    WEFT_ENDS(weft_cli_why_deinit) struct weft_cli_why answer = {.flow = NULL};
    struct weft_stored stored;
    uint32_t variant = 0;
    uint64_t slowest = 0;
    enum weft_status status = check_usage(o, error);
    if (!status && asked.slowest && !weft_cli_number("--slowest", asked.slowest, 1, UINT32_MAX, &slowest))
        return WEFT_ERROR_INPUT;
    wanted.slowest = (uint32_t)slowest;
    if (!status) status = weft_cli_stored_variant(o, &file, &stored, &variant, error);
    weft_cli_catch_interrupt();
    if (!status && all_jobs)
        status = weft_cli_why_jobs(o, file, variant, &stored, o->arena, &answer, error);
    else if (!status)
        status = weft_cli_why_explain(o, file, variant, &stored, &wanted, o->arena, &answer, error);
    return status ? status : weft_cli_answer(o, &weft__answer_why, &answer.found, print_found, error);
}

int weft_cli_why(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, explain_run);
}
