// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <inttypes.h>
#include <math.h>

#include "text.h"

#include "base/units.h"

bool weft__report_rma_group(const struct weft_run *run, uint32_t group, struct weft_group_stats *ret) {
    uint32_t e = 0;
    while (e < run->workload->rmas && run->workload->rma[e].group != group)
        e++;
    if (e == run->workload->rmas) return false;
    const struct weft_rma_outcome *o = &run->outcome->rma[e];
    const struct weft_rma_times *t = &o->latency;
    struct weft_quantiles none = {NAN, NAN, NAN, NAN, NAN};
    *ret = (struct weft_group_stats){
        .name = run->workload->group[group],
        .count = (uint32_t)o->issued,
        .finished = (uint32_t)o->completed,
        .bytes = o->bytes,
        .fct_ps = none,
        .slowdown = none,
    };
    if (o->completed)
        ret->fct_ps = (struct weft_quantiles){(double)t->mean_ps, (double)t->p50_ps, (double)t->p95_ps,
                                              (double)t->p99_ps, (double)t->max_ps};
    return true;
}

double weft__report_rma_throughput(const struct weft_run *run, uint32_t entry) {
    double seconds = (double)run->workload->rma[entry].conf->duration_ps / (double)WEFT_PS_PER_S;
    return 8 * (double)run->outcome->rma[entry].bytes / seconds;
}

static void print_times(FILE *file, const char *name, const struct weft_rma_times *t) {
    fprintf(file, "       %s p50 %s, p99 %s, p99.9 %s, max %s\n", name, weft__short_time(t->p50_ps).text,
            weft__short_time(t->p99_ps).text, weft__short_time(t->p999_ps).text, weft__short_time(t->max_ps).text);
}

void weft__report_rma_table(FILE *file, const struct weft_run *run) {
    for (uint32_t e = 0; e < run->workload->rmas; e++) {
        const struct weft_rma *rma = &run->workload->rma[e];
        const struct weft_rma_outcome *o = &run->outcome->rma[e];
        double rate = weft__report_rma_throughput(run, e);
        fprintf(file, "RMA    %s: %s, %s; %" PRIu64 " of %s complete; %s of values, %s a client\n",
                run->workload->group[rma->group], weft__counted(rma->clients, "client").text,
                weft__counted(rma->servers, "server").text, o->completed, weft__counted(o->issued, "operation").text,
                weft__short_rate((weft_rate_bps)llround(rate)).text,
                weft__short_rate((weft_rate_bps)llround(rate / rma->clients)).text);
        if (o->completed) print_times(file, "operations:", &o->latency);
        if (o->execution.max_ps) print_times(file, "execution in hardware:", &o->execution);
        if (o->retries)
            fprintf(file, "       %s made again: %" PRIu64 " not dispatched, %" PRIu64 " not answered in time\n",
                    weft__counted(o->retries, "request").text, o->dispatch_timeouts, o->timeouts);
    }
}
