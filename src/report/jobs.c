// SPDX-License-Identifier: Apache-2.0
// Jobs in the terms of nccl-tests and of training. A collective's time is from when the last rank reaches it until the
// last has completed it, averaged over iterations; algorithm bandwidth is size over time, bus bandwidth is that times
// the factor of weft_calc_bus_factor.
#include "report/text.h"

#include <inttypes.h>
#include <math.h>

#include "text.h"
#include "weft/placement.h"

#include "base/units.h"

enum { TEXT = 64 };

struct weft_collective_stats weft_report_collective(const struct weft_run *run, uint32_t job, uint32_t op) {
    const struct weft_job *j = &run->workload->job[job];
    const struct weft_job_outcome *o = &run->outcome->job[job];
    const struct weft_job_op *p = &j->op[op];
    struct weft_collective_stats s = {.collective = p->name, .ranks = p->shape.ranks, .bytes = p->size};
    double sum = 0;
    for (size_t k = 0; k < (size_t)j->iterations * p->times; k++) {
        const struct weft_op_outcome *one = &o->op[k / p->times * j->ops + op + k % p->times];
        if (one->end_ps == WEFT_TIME_NEVER || !one->end_ps) continue; // some rank has not done it; no rank has it
        sum += (double)(one->end_ps - one->start_ps);
        s.finished++;
    }
    s.time_ps = s.finished ? sum / s.finished : NAN;
    s.half_ps = o->sample_classes ? o->op_half_ps[op] : NAN;
    s.algbw = (double)s.bytes / (s.time_ps / (double)WEFT_PS_PER_S);
    double factor = weft_calc_bus_factor(p->goal, s.ranks);
    s.busbw = s.algbw * factor;
    s.measured_busbw =
        p->measured_ps ? (double)s.bytes / ((double)p->measured_ps / (double)WEFT_PS_PER_S) * factor : NAN;
    return s;
}

struct weft_job_stats weft_report_job(const struct weft_run *run, uint32_t job) {
    const struct weft_job *j = &run->workload->job[job];
    const struct weft_job_outcome *o = &run->outcome->job[job];
    struct weft_job_stats s = {.name = run->workload->group[j->group], .ranks = j->ranks};
    weft_time_ps before = j->start_ps, most = 0;
    for (; s.finished < j->iterations && o->iteration_end_ps[s.finished] != WEFT_TIME_NEVER; s.finished++) {
        weft_time_ps time = o->iteration_end_ps[s.finished] - before;
        before = o->iteration_end_ps[s.finished];
        if (time > most) most = time;
    }
    s.iteration_ps = s.finished ? (double)(before - j->start_ps) / s.finished : NAN;
    s.iteration_max_ps = s.finished ? (double)most : NAN;
    s.exposed_ps = s.finished && s.finished == j->iterations ? (double)o->exposed_ps / s.finished : NAN;
    s.end_ps = o->end_ps;
    s.end_half_ps = o->sample_classes ? o->end_half_ps : NAN;
    s.iteration_half_ps = s.end_half_ps / j->iterations;
    s.groups = o->sample_groups;
    s.groups_ran = o->sample_groups_ran;
    s.cts_p90_ps = o->cts_wait.messages ? (double)o->cts_wait.p90_ps : NAN;
    return s;
}

const char *weft_report_sampled(const struct weft_run *run, uint32_t job, const struct weft_sample_class *c) {
    return c->op == WEFT_NONE ? "iteration" : run->workload->job[job].op[c->op].name;
}

static void print_collectives(FILE *file, const struct weft_run *run, uint32_t job) {
    const struct weft_job *j = &run->workload->job[job];
    bool any = false, measured = false;
    for (uint32_t i = 0; i < j->ops; i++)
        measured |= j->op[i].measured_ps > 0;
    for (uint32_t i = 0; i < j->ops; i++) {
        if (!j->op[i].name || !j->op[i].times) continue;
        struct weft_collective_stats s = weft_report_collective(run, job, i);
        if (!any)
            fprintf(file, "  %-24s %5s %14s %6s %12s %13s %13s%s\n", "collective", "ranks", "size (B)", "times",
                    "time (us)", "algbw (GB/s)", "busbw (GB/s)",
                    measured ? "  measured busbw  predicted / measured" : "");
        any = true;
        char name[TEXT];
        snprintf(name, sizeof name, j->op[i].over ? "%s (%s)" : "%s", s.collective, j->op[i].over);
        fprintf(file, "  %-24s %5" PRIu32 " %14" PRIu64 " %6" PRIu32, name, s.ranks, s.bytes, s.finished);
        if (s.finished)
            fprintf(file, " %12.2f %13.2f %13.2f", s.time_ps / (double)WEFT_PS_PER_US, s.algbw * 1e-9, s.busbw * 1e-9);
        else
            fprintf(file, " %12s %13s %13s", "-", "-", "-");
        if (isfinite(s.half_ps)) fprintf(file, "  +- %.2f us", s.half_ps / (double)WEFT_PS_PER_US);
        if (isfinite(s.measured_busbw))
            fprintf(file, "  %14.2f  %19.0f%%", s.measured_busbw * 1e-9, 100 * s.busbw / s.measured_busbw);
        fputc('\n', file);
    }
}

/// What of a sampled job ran in packets, by class, and what that says of all of it.
static void print_sample(FILE *file, const struct weft_run *run, uint32_t job) {
    const struct weft_job_outcome *o = &run->outcome->job[job];
    if (!o->sample_classes) return;
    if (o->sample_groups)
        fprintf(file, "  %s of ranks that share no link, of which %" PRIu32 " ran in packets\n",
                weft__counted(o->sample_groups, "group").text, o->sample_groups_ran);
    fprintf(
        file,
        "  sampled in packets, with the half of its 95%% interval (run.sample):\n  %-24s %-6s %12s %9s %12s %9s %6s\n",
        "operations", "when", "of", "sampled", "time (us)", "+- (us)", "ratio");
    for (uint32_t k = 0; k < o->sample_classes; k++) {
        const struct weft_sample_class *c = &o->sample[k];
        fprintf(file, "  %-24s %-6s %12" PRIu64 " %9" PRIu64 " %12.2f %9.2f %6.3f%s\n",
                weft_report_sampled(run, job, c), c->first ? "first" : "later", c->instances, c->sampled,
                c->time_ps / (double)WEFT_PS_PER_US, c->half_ps / (double)WEFT_PS_PER_US, c->ratio,
                c->settled ? "" : "  ranks drift apart: not settled, so the interval is wider");
    }
}

/// How all-to-alls cross servers of several GPUs: the first that does so speaks for all.
static void print_pxn(FILE *file, const struct weft_job *job) {
    for (uint32_t i = 0; i < job->ops; i++) {
        const struct weft_job_op *op = &job->op[i];
        if (!op->name || !op->ops->relays || op->shape.per_server < 2 || op->shape.ranks <= op->shape.per_server)
            continue;
        if (op->ops->relays(op->conf, &op->shape))
            fprintf(file,
                    "  PXN: messages of %s for another rail go over the server's network to the GPU on it, as in NCCL "
                    "(pxn)\n",
                    op->name);
        else if (job->places && job->places->rails)
            fprintf(file,
                    "  no PXN: messages of %s go from rail to rail over the network; NCCL sends them on the rail of "
                    "their destination (pxn: on)\n",
                    op->name);
        else
            continue;
        return;
    }
}

static void print_schedule(FILE *file, const struct weft_run *run, uint32_t job) {
    const struct weft_job *j = &run->workload->job[job];
    const struct weft_job_outcome *o = &run->outcome->job[job];
    char end[TEXT] = "-";
    if (o->end_ps != WEFT_TIME_NEVER) weft_format_time(o->end_ps, end, sizeof end);
    fprintf(file, "\nschedule %s: %s, %s; %" PRIu32 " of the ranks done, the last at %s\n",
            run->workload->group[j->group], weft__counted(j->ranks, "rank").text,
            weft__counted(j->schedule->steps, "step").text, o->ranks_done, end);
}

void weft__report_jobs_table(FILE *file, const struct weft_run *run) {
    for (uint32_t k = 0; k < run->workload->jobs; k++) {
        struct weft_job_stats s = weft_report_job(run, k);
        if (run->workload->job[k].schedule) {
            print_schedule(file, run, k);
            continue;
        }
        char mean[TEXT] = "-", most[TEXT] = "-", exposed[TEXT] = "-", half[TEXT] = "";
        if (s.finished) {
            weft_format_time((weft_time_ps)s.iteration_ps, mean, sizeof mean);
            weft_format_time((weft_time_ps)s.iteration_max_ps, most, sizeof most);
        }
        if (isfinite(s.iteration_half_ps))
            snprintf(half, sizeof half, " +- %.2g%% (95%%, sampled)", 100 * s.iteration_half_ps / s.iteration_ps);
        if (isfinite(s.exposed_ps)) weft_format_time((weft_time_ps)s.exposed_ps, exposed, sizeof exposed);
        fprintf(file,
                "\njob %s: %s, %" PRIu32
                " of %s done; an iteration takes %s%s (longest %s), of which %s is waiting for communication\n",
                s.name, weft__counted(s.ranks, "rank").text, s.finished,
                weft__counted(run->workload->job[k].iterations, "iteration").text, mean, half, most, exposed);
        print_collectives(file, run, k);
        print_sample(file, run, k);
        print_pxn(file, &run->workload->job[k]);
        weft__report_admission_table(file, run, k);
    }
}
