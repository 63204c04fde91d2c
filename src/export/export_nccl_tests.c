// SPDX-License-Identifier: Apache-2.0
// Collectives in the columns of nccl-tests, for scripts that read those. Source: NVIDIA/nccl-tests, src/common.cu
// (widths, digits of times) and doc/PERFORMANCE.md (bandwidths). The size of an all-gather or reduce-scatter is that of
// the whole array; count is what a rank contributes or receives, in floats. There is no check of values, because weft
// carries no data, but a run whose bytes are not conserved ends with status 3. There is one measurement, which is in
// both halves: in place is as fast as out of place.
#include <inttypes.h>

#include "export/export.h"

#include "base/units.h"

/// What nccl-tests names an operation's reduction, whether its count is of a rank's part, and its root.
static const char *reduction_of(const struct weft_job_op *op) {
    return op->goal == WEFT_GOAL_ALL_REDUCE || op->goal == WEFT_GOAL_REDUCE_SCATTER || op->goal == WEFT_GOAL_REDUCE
               ? "sum"
               : "none";
}
static uint64_t count_of(const struct weft_job_op *op) {
    bool parts =
        op->goal == WEFT_GOAL_ALL_GATHER || op->goal == WEFT_GOAL_REDUCE_SCATTER || op->goal == WEFT_GOAL_EXCHANGE;
    return op->shape.bytes / 4 / (parts ? op->shape.ranks : 1);
}
static int root_of(const struct weft_job_op *op) {
    return op->goal == WEFT_GOAL_BROADCAST || op->goal == WEFT_GOAL_REDUCE ? (int)op->shape.root : -1;
}

static void print_head(FILE *file, const char *job, const struct weft_job_op *op) {
    fprintf(file, "# job %s: %s, %s; simulated by weft, in place as out of place\n#\n", job, op->name,
            weft__counted(op->shape.ranks, "rank").text);
    fprintf(file, "# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n", "",
            "", "", "", "");
    fprintf(file, "# %10s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop", "root");
    for (int k = 0; k < 2; k++)
        fprintf(file, "  %7s  %6s  %6s %6s", "time", "algbw", "busbw", "#wrong");
    fprintf(file, "\n# %10s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
    for (int k = 0; k < 2; k++)
        fprintf(file, "  %7s  %6s  %6s  %5s", "(us)", "(GB/s)", "(GB/s)", "");
    fputc('\n', file);
}

static void print_row(FILE *file, const struct weft_job_op *op, const struct weft_collective_stats *s) {
    double us = s->time_ps / (double)WEFT_PS_PER_US;
    fprintf(file, "%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d", s->bytes, count_of(op), "float", reduction_of(op),
            root_of(op));
    for (int k = 0; k < 2; k++)
        fprintf(file, "  %7.*f  %6.2f  %6.2f  %5s",
                us >= 10000 ? 0
                : us >= 100 ? 1
                            : 2,
                us, s->algbw * 1e-9, s->busbw * 1e-9, "N/A");
    fputc('\n', file);
}

/// A table: operations of one collective, from *at on. Operations between them, such as barriers, have no row.
static void print_table(FILE *file, const struct weft_run *run, uint32_t job, uint32_t *at) {
    const struct weft_job *j = &run->workload->job[job];
    const struct weft_job_op *first = &j->op[*at];
    double sum = 0;
    uint32_t rows = 0, unfinished = 0;
    print_head(file, run->workload->group[j->group], first);
    for (; *at < j->ops; ++*at) {
        const struct weft_job_op *op = &j->op[*at];
        if (!op->name || !op->times) continue;
        if (op->ops != first->ops || op->conf != first->conf || op->shape.ranks != first->shape.ranks) break;
        struct weft_collective_stats s = weft_report_collective(run, job, *at);
        unfinished += !s.finished;
        if (!s.finished) continue;
        print_row(file, op, &s);
        sum += s.busbw * 1e-9;
        rows++;
    }
    if (unfinished) fprintf(file, "# Not finished         : %" PRIu32 "\n", unfinished);
    if (rows) fprintf(file, "# Avg bus bandwidth    : %g\n", sum / rows);
    fprintf(file, "#\n");
}

void weft_report_nccl_tests(FILE *file, const struct weft_run *run) {
    bool any = false;
    for (uint32_t k = 0; k < run->workload->jobs; k++) {
        const struct weft_job *j = &run->workload->job[k];
        for (uint32_t i = 0; i < j->ops;) {
            if (!j->op[i].name || !j->op[i].times) {
                i++;
                continue;
            }
            print_table(file, run, k, &i);
            any = true;
        }
    }
    if (!any) fprintf(file, "# no collective ran\n");
}
