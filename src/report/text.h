// SPDX-License-Identifier: Apache-2.0
// What the texts of a run share: units and totals, and the tables that they consist of.
#pragma once

#include "weft/report.h"

/// One unit for a whole table, so that its figures can be compared at a glance.
struct weft__unit {
    const char *name;
    double ps;
    int decimals;
};
struct weft__unit weft__text_unit(double largest_ps);
/// "612.31", or "-" for NAN. In a buffer of at least 32 bytes.
const char *weft__text_time(char *text, struct weft__unit unit, double time_ps);
const char *weft__text_ratio(char *text, double ratio); ///< "1.05", or "-"

// Totals of a run, used by everything that shows one.
uint64_t weft__report_drops(const struct weft_outcome *outcome); ///< packets, for any reason
const char *weft__report_end_name(enum weft_end end);            ///< "done", "until", "interrupted", "stall"

/// Balance; collisions and load if the run recorded them.
void weft__report_balance_table(FILE *file, const struct weft_run *run);

void weft__report_jobs_table(FILE *file, const struct weft_run *run);

/// For a job: lines of its table.
void weft__report_admission_table(FILE *file, const struct weft_run *run, uint32_t job);

// Remote memory access in the table of a run and among groups.
/// Operations as a group: their count, finished ones, bytes and times. False: it is a group of flows.
bool weft__report_rma_group(const struct weft_run *run, uint32_t group, struct weft_group_stats *ret);
/// Bits of values per second, over all clients, during the time in which they start operations.
double weft__report_rma_throughput(const struct weft_run *run, uint32_t entry);
void weft__report_rma_table(FILE *file, const struct weft_run *run);

/// Flows of a job are open for all of it, and mostly wait for its ranks: a slowdown says nothing of them.
bool weft__report_is_of_job(const struct weft_workload *w, uint32_t group);

// Flows of a group by their size.
/// Flows whose size is at least from_bytes and less than below_bytes; percentiles are over finished ones.
struct weft__size_bin {
    const char *group;
    weft_bytes from_bytes, below_bytes;
    uint32_t flows, finished;
    struct weft_quantiles fct_ps, slowdown;
};
/// The non-empty bins of every group; in `arena`.
struct weft__size_bin *weft__report_sizes(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);
/// Prints nothing if no group has flows in different bins.
void weft__report_sizes_table(FILE *file, const struct weft_run *run);

/// Sorts `value`. Nearest rank: the p-th percentile is the ceil(p n / 100)-th smallest value; NAN if there are none.
struct weft_quantiles weft__quantiles(double *value, size_t n);
