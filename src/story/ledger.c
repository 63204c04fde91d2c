// SPDX-License-Identifier: Apache-2.0
// What the jobs of one network cost one another (weft/why.h). The slowdown of a job is measured: its iterations in the
// run with all jobs, less the same iterations in a run in which the other jobs never start. It is divided by what the
// critical path shows: waits behind frames of another job, and, where a queue that several jobs fill paused a port or
// marked a flow, that time by the bytes that each sent there meanwhile. The method is ours. A wait for another job also
// delays frames of the job itself, which then queue behind one another: no row could name whom they wait for, so the
// whole slowdown is divided in proportion to what was seen directly.
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "story/why.h"
#include "weft/job.h"

uint32_t weft_job_ended(const struct weft_job *j, const struct weft_job_outcome *o) {
    if (j->schedule) return o->end_ps != WEFT_TIME_NEVER;
    uint32_t n = 0;
    while (n < o->iterations && o->iteration_end_ps[n] != WEFT_TIME_NEVER)
        n++;
    return n;
}

weft_time_ps weft_job_length(const struct weft_job *j, const struct weft_job_outcome *o, uint32_t iterations) {
    if (!iterations) return 0;
    return (j->schedule ? o->end_ps : o->iteration_end_ps[iterations - 1]) - j->start_ps;
}

/// Direct time because of a job, at a port.
struct seen {
    uint32_t by, port, kind;
    double time_ps;
};
struct ledger_walk {
    const struct weft_whys *y;
    uint32_t job;
    uint32_t *of;       ///< [flows]: the job; WEFT_NONE: of none
    weft_time_ps *sent; ///< [jobs]
    struct seen *seen;
    uint32_t n;
};

static void add_seen(struct ledger_walk *x, struct seen s) {
    if (s.by == WEFT_NONE || s.by == x->job || !(s.time_ps > 0)) return;
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->seen[i].by != s.by || x->seen[i].port != s.port || x->seen[i].kind != s.kind) continue;
        x->seen[i].time_ps += s.time_ps;
        return;
    }
    WEFT__ADD(x->y->arena, x->seen, x->n) = s;
}

/// A pause or a lowered rate: by the bytes that each job sent from the queue that caused it, while the step lasted.
static void divide_part(struct ledger_walk *x, const struct weft_why_step *step, const struct weft_why_part *part) {
    uint32_t jobs = x->y->run->workload->jobs;
    double all = 0;
    memset(x->sent, 0, jobs * sizeof *x->sent);
    weft__why_sent(x->y, part->root, step->from_ps, step->to_ps, x->of, x->sent);
    for (uint32_t j = 0; j < jobs; j++)
        all += (double)x->sent[j];
    for (uint32_t j = 0; j < jobs && all > 0; j++)
        add_seen(x, (struct seen){j, part->root, part->kind, (double)part->time_ps * (double)x->sent[j] / all});
}

static void see_iteration(struct ledger_walk *x, const struct weft_why_iteration *why) {
    for (const struct weft_why_step *s = why->step; s < why->step + why->steps; s++)
        for (const struct weft_why_part *p = s->part; p < s->part + s->parts; p++) {
            if (p->by != WEFT_NONE)
                add_seen(x, (struct seen){x->of[p->by], p->port, p->kind, (double)p->time_ps});
            else if (p->root != WEFT_NONE)
                divide_part(x, s, p);
        }
}

enum weft_status weft_ledger_ports(const struct weft_whys *y, uint32_t job, uint32_t iterations, bool *ret_port,
                                   struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < iterations && !status; i++) {
        struct weft_why_iteration why;
        status = weft_why_iteration_ports(y, job, i, ret_port, ret_error);
        if (!status) status = weft_why_iteration(y, job, i, &why, ret_error);
        for (uint32_t s = 0; !status && s < why.steps; s++)
            for (uint32_t p = 0; p < why.step[s].parts; p++)
                if (why.step[s].part[p].root != WEFT_NONE) ret_port[why.step[s].part[p].root] = true;
    }
    return status;
}

static uint32_t *jobs_of_flows(const struct weft_workload *w, struct weft_arena *arena) {
    uint32_t *of = weft_arena_alloc(arena, w->flows + (size_t)1, sizeof *of);
    for (uint32_t f = 0; f < w->flows; f++)
        of[f] = WEFT_NONE;
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t c = 0; c < w->job[j].connections; c++)
            if (w->job[j].connection[c].flow != WEFT_NONE) of[w->job[j].connection[c].flow] = j;
    return of;
}

WEFT__ORDER(largest_first, struct seen, WEFT__DOWN(time_ps) ?: WEFT__UP(by) ?: WEFT__UP(port) ?: WEFT__UP(kind))

static void add_row(struct ledger_walk *x, const struct weft_ledger_job *job, const struct seen *s, double cost_ps,
                    struct weft_ledger *ledger) {
    const struct weft_run *run = x->y->run;
    char name[256] = "";
    if (s->port != WEFT_NONE) weft_topology_port_name(run->topology, s->port, name, sizeof name);
    WEFT__ADD(x->y->arena, ledger->row, ledger->rows) =
        (struct weft_ledger_row){.job = job->job,
                                 .by = run->workload->group[run->workload->job[s->by].group],
                                 .port = weft_arena_text(x->y->arena, name),
                                 .kind = s->kind,
                                 .direct_ps = s->time_ps,
                                 .cost_ps = cost_ps,
                                 .share = cost_ps / job->alone_ps};
}

/// Whole picoseconds; the largest takes what rounding leaves.
static void add_rows(struct ledger_walk *x, struct weft_ledger_job *job, struct weft_ledger *ledger) {
    double left = job->cost_ps;
    uint32_t first = ledger->rows;
    for (uint32_t i = 0; i < x->n; i++)
        job->direct_ps += x->seen[i].time_ps;
    if (x->n) qsort(x->seen, x->n, sizeof *x->seen, largest_first);
    for (uint32_t i = 0; i < x->n; i++) {
        double cost = round(job->cost_ps * x->seen[i].time_ps / job->direct_ps);
        add_row(x, job, &x->seen[i], cost, ledger);
        left -= cost;
    }
    if (x->n)
        ledger->row[first].cost_ps += left;
    else
        job->unseen_ps = left;
}

enum weft_status weft_ledger_add(const struct weft_whys *y, struct weft_ledger_job *job, struct weft_ledger *ledger,
                                 struct weft_error *ret_error) {
    const struct weft_workload *w = y->run->workload;
    struct ledger_walk x = {.y = y,
                            .job = job->number,
                            .of = jobs_of_flows(w, y->arena),
                            .sent = weft_arena_alloc(y->arena, w->jobs, sizeof *x.sent)};
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < job->iterations && !status; i++) {
        struct weft_why_iteration why;
        status = weft_why_iteration(y, job->number, i, &why, ret_error);
        if (!status) see_iteration(&x, &why);
    }
    job->cost_ps = job->with_ps - job->alone_ps;
    job->slowdown = job->cost_ps == 0 ? 1 : job->with_ps / job->alone_ps; // both may take no time
    if (!status) add_rows(&x, job, ledger);
    return status;
}
