// SPDX-License-Identifier: Apache-2.0
// Results of remote memory access.

#include "report/text.h"
#include "results/rows.h"

WEFT_RESULT_PRESENT(has_rma, run->workload->rmas > 0)

struct access {
    const char *name;
    double throughput_bps;
    struct weft_rma_times latency, execution;
};

/// No value where no operation ended.
static struct weft_rma_times known_times(struct weft_rma_times t) {
    const weft_time_ps never = WEFT_TIME_NEVER;
    return t.max_ps ? t : (struct weft_rma_times){never, never, never, never, never, never};
}

/// Part 0 is the workload's entry, part 1 its outcome, part 2 what is computed.
static bool next_rma(struct weft_result_cursor *c) {
    const struct weft_workload *w = c->run->workload;
    struct access *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    if (c->at == w->rmas) return false;
    const struct weft_rma_outcome *o = &c->run->outcome->rma[c->at];
    *row = (struct access){w->group[w->rma[c->at].group], weft__report_rma_throughput(c->run, (uint32_t)c->at),
                           known_times(o->latency), known_times(o->execution)};
    c->part[0] = &w->rma[c->at];
    c->part[1] = o;
    c->part[2] = row;
    c->at++;
    return true;
}

#define OF_RMA(field, key, kind, ...) WEFT_RESULT_AT(1, struct weft_rma_outcome, field, key, kind, __VA_ARGS__)
#define OF_ACCESS(field, key, kind, ...) WEFT_RESULT_AT(2, struct access, field, key, kind, __VA_ARGS__)
#define TIMES(field, key, what)                                                                                        \
    OF_ACCESS(field.mean_ps, key "_ps.mean", TIME, what ", mean", .was = key "_mean_ps"),                              \
        OF_ACCESS(field.p50_ps, key "_ps.p50", TIME, what ", median", .was = key "_p50_ps"),                           \
        OF_ACCESS(field.p95_ps, key "_ps.p95", TIME, what ", 95th percentile", .was = key "_p95_ps"),                  \
        OF_ACCESS(field.p99_ps, key "_ps.p99", TIME, what ", 99th percentile", .was = key "_p99_ps"),                  \
        OF_ACCESS(field.p999_ps, key "_ps.p999", TIME, what ", 99.9th percentile", .was = key "_p999_ps"),             \
        OF_ACCESS(field.max_ps, key "_ps.max", TIME, what ", greatest", .was = key "_max_ps")
static const struct weft_result_column rma_columns[] = {
    WEFT_RESULT_AT(2, struct access, name, "name", TEXT, "name of the group", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct weft_rma, clients, COUNT, "hosts that begin operations"),
    WEFT_RESULT(struct weft_rma, servers, COUNT, "hosts whose memory is read, written or changed"),
    WEFT_RESULT_AT(2, struct access, throughput_bps, "throughput_bps", REAL,
                   "values of complete operations over the time in which clients begin them", .unit = "bit/s"),
#define X(field, type, help) OF_RMA(field, #field, type, help),
    WEFT_RMA_COUNTERS(X)
#undef X
        TIMES(latency, "latency",
              "time from when a client begins an operation until it has all of it; null: none ended"),
    TIMES(execution, "execution",
          "time of a 1RMA request at the hardware, from its command to its completion; null: none ended"),
};
const struct weft_result_table weft__results_rma =
    WEFT_RESULT_TABLE("rma", MAP, "a group of remote memory access; percentiles are off by 0.4% at most", rma_columns,
                      .next = next_rma, .present = has_rma);
