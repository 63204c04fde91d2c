// SPDX-License-Identifier: Apache-2.0
// Runs as comma-separated values: a line a run and group, for plots. RFC 4180: names with commas or quotes are quoted.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "rma.h"

static void put_text(FILE *file, const char *text) {
    bool plain = !strpbrk(text, ",\"\r\n");
    if (!plain) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (!plain) putc('"', file);
}

/// In microseconds; nothing of nothing.
static void put_us(FILE *file, double time_ps) {
    putc(',', file);
    if (isfinite(time_ps)) fprintf(file, "%.6g", time_ps / (double)WEFT_PS_PER_US);
}

/// Of 1RMA, at the hardware.
static void put_execution(FILE *file, const struct weft_run *run, uint32_t group) {
    const struct weft_rma_times *t = NULL;
    for (uint32_t e = 0; e < run->workload->rmas; e++)
        if (run->workload->rma[e].group == group && run->outcome->rma[e].execution.max_ps)
            t = &run->outcome->rma[e].execution;
    put_us(file, t ? (double)t->p50_ps : NAN);
    put_us(file, t ? (double)t->p99_ps : NAN);
}

/// Of the group's first flow, or operation.
static unsigned priority_of(const struct weft_workload *w, uint32_t group) {
    for (uint32_t e = 0; e < w->rmas; e++)
        if (w->rma[e].group == group) return (unsigned)w->rma[e].conf->priority;
    for (uint32_t f = 0; f < w->flows; f++)
        if (w->flow[f].group == group) return w->flow[f].priority;
    return 0;
}

static void put_round_trip(FILE *file, const struct weft_outcome *o, unsigned priority) {
    const struct weft_wait_outcome *t =
        o->round_trip && o->round_trip[priority].messages ? &o->round_trip[priority] : NULL;
    put_us(file, t ? (double)t->p50_ps : NAN);
    put_us(file, t ? (double)t->p99_ps : NAN);
}

/// Of what the times are percentiles of: bits a second from the first to the end of the run; of operations, over the
/// time in which clients begin them.
static double throughput(const struct weft_run *run, uint32_t group, weft_bytes bytes) {
    for (uint32_t e = 0; e < run->workload->rmas; e++)
        if (run->workload->rma[e].group == group) return weft__report_rma_throughput(run, e);
    return 8 * (double)bytes * (double)WEFT_PS_PER_S / (double)run->outcome->sim_time_ps;
}

void weft_report_csv(FILE *file, const struct weft_run *run, uint32_t runs) {
    fputs("scenario,variant,group,count,finished,bytes,mean_us,p50_us,p95_us,p99_us,max_us,throughput_bps,"
          "execution_p50_us,execution_p99_us,round_trip_p50_us,round_trip_p99_us\n",
          file);
    for (uint32_t r = 0; r < runs; r++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
        const struct weft_group_stats *group = weft_report_groups(&run[r], arena);
        for (uint32_t g = 0; g < run[r].workload->groups; g++) {
            put_text(file, run[r].scenario->name);
            putc(',', file);
            put_text(file, run[r].scenario->variant);
            putc(',', file);
            put_text(file, group[g].name);
            fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu64, group[g].count, group[g].finished, group[g].bytes);
            const struct weft_quantiles *q = &group[g].fct_ps;
            const double time[] = {q->mean, q->p50, q->p95, q->p99, q->max};
            for (unsigned k = 0; k < sizeof time / sizeof *time; k++)
                put_us(file, time[k]);
            fprintf(file, ",%.6g", throughput(&run[r], g, group[g].bytes));
            put_execution(file, &run[r], g);
            put_round_trip(file, run[r].outcome, priority_of(run[r].workload, g));
            putc('\n', file);
        }
        weft_arena_free(arena);
    }
}
