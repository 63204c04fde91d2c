// SPDX-License-Identifier: Apache-2.0
// What came of a sweep: one SQLite file for each run (a point with a seed), and the table made of all of them, a row
// for each point, seed and group of flows. Nothing in the table depends on who ran what where: it is made of the files,
// in the order of points and seeds, and leaves out wall times.
#pragma once

#include <math.h>

#include "weft/claim.h"
#include "weft/estimate.h"
#include "weft/report.h"
#include "weft/result.h"
#include "weft/statistics.h"
#include "weft/sweep.h"

/// A column of the table: of the results' tables `groups`, `jobs` (of the job whose flows the group is) or `counters`
/// (of the network, the same in all groups of a run).
struct weft_sweep_column {
    const char *name; ///< "fct_ps_mean", "jobs_iteration_ps", "counters_cnp"
    const struct weft_result_table *table;
    const struct weft_result_column *column;
};
/// All of them, for any run; in `arena`.
struct weft_sweep_column *weft_sweep_columns(struct weft_arena *arena, uint32_t *ret_n);

/// A metric that the user named, as claims do, without a variant: "victims.fct.mean".
struct weft_sweep_metric {
    const char *name;
    const char *heading; ///< of its own column, if it has one; "run.seed" where a column has that name already
    struct weft_claim_metric path;
    struct weft_place place;
    const char *group; ///< NULL: of the run as a whole
    uint32_t column;   ///< of the table, in that group's row, or in any; WEFT_NONE: in none, so that runs keep it apart
    bool max;          ///< the greatest is best
};
/// "victims.fct.mean", with `direction` also "victims.goodput:max". False: it is no metric.
bool weft_sweep_metric_parse(const char *text, struct weft_place place, bool direction,
                             const struct weft_sweep_column *column, uint32_t columns, struct weft_arena *arena,
                             struct weft_sweep_metric *ret);

struct weft_sweep_row {
    const char *group;
    struct weft_result_value *value; ///< [columns]
};

/// A figure of a run that a command keeps beside the columns and metrics.
struct weft_sweep_kept {
    const char *name;
    double value; ///< NAN: none
};

enum weft_sweep_state { WEFT_SWEEP_MISSING, WEFT_SWEEP_DONE, WEFT_SWEEP_STALLED, WEFT_SWEEP_FAILED };
extern const char *const weft_sweep_state_names[]; // "missing", "done", "stalled", "failed"

/// What came of a run.
struct weft_sweep_run {
    enum weft_sweep_state state;
    bool bug;            ///< it failed because bytes were not conserved
    const char *message; ///< why it failed; "" if it did not
    const char *digest;  ///< the following: of runs that are done or stalled
    uint64_t seed;
    weft_time_ps sim_time_ps;
    uint32_t rows;
    struct weft_sweep_row *row;
    const char *const *kept; ///< names of metrics that are in no column,
    const double *kept_value;
    uint32_t keeps;
};
/// Is there all that the metrics need?
bool weft_sweep_run_has(const struct weft_sweep_run *run, const struct weft_sweep_metric *metric, uint32_t metrics);
/// What was kept under that name; NULL: nothing. NAN: it is known to have no value.
const double *weft_sweep_run_kept(const struct weft_sweep_run *run, const char *name);
/// NAN: it has none.
double weft_sweep_run_value(const struct weft_sweep_run *run, const struct weft_sweep_metric *metric);

struct weft_sweep_came {
    struct weft_run run;
    const struct weft_estimate *estimate; ///< where the outcome is from; NULL: from packets
    enum weft_sweep_state state;
    const struct weft_sweep_kept *kept;
    uint32_t keeps;
};
/// Writes what came of a run into a file that takes its name when it is complete. `metric`: those that are in no column
/// are kept beside, and so is `kept`. Of an estimate, what only packets show is left out.
enum weft_status weft_sweep_record(const char *path, const struct weft_sweep_came *came,
                                   const struct weft_sweep_metric *metric, uint32_t metrics,
                                   struct weft_error *ret_error);
enum weft_status weft_sweep_record_failure(const char *path, const char *message, bool bug,
                                           struct weft_error *ret_error);
/// Reads it, into `arena`; MISSING: there is no such file, none of this version of weft, or a damaged one.
struct weft_sweep_run weft_sweep_load(const char *path, const struct weft_sweep_column *column, uint32_t columns,
                                      struct weft_arena *arena);

/// The ends of the 90% interval of an estimated run, as parts of its times; NAN: not calibrated. False: it ran in
/// packets.
bool weft_sweep_run_part(const struct weft_sweep_run *run, double *ret_low, double *ret_high);

// --- the table ----------------------------------------------------------------------------------------------------

struct weft_sweep_results {
    const struct weft_sweep *sweep;
    const char *name, *about;   ///< of the scenario
    const char *path;           ///< of its file
    const char *commit;         ///< of the source of the program; NULL: not known
    const char *const *setting; ///< "path=value", laid over it by the user
    uint32_t settings;
    const struct weft_sweep_column *column;
    uint32_t columns;
    const struct weft_sweep_metric *metric; ///< those that are in no column have one of their own
    uint32_t metrics, shown;                ///< shown: in the text, the first of them; 0: what groups and jobs took
    struct weft_sweep_run *run;             ///< [points][seeds]
};
/// A metric over the seeds of a point, NAN where it has no value. [seeds], in `arena`.
double *weft_sweep_metric_values(const struct weft_sweep_results *results, uint32_t point,
                                 const struct weft_sweep_metric *metric, struct weft_arena *arena);
/// The 90% interval of a metric of an estimated point, the mean over seeds. NAN: not calibrated, or no time that an
/// estimate has an interval for.
struct weft_sweep_interval {
    bool estimated; ///< false: the point ran in packets
    double low, high;
};
struct weft_sweep_interval weft_sweep_interval_of(const struct weft_sweep_results *results, uint32_t point,
                                                  const struct weft_sweep_metric *metric);
/// Whether two points may have the same value: intervals overlap, or there is none. A run in packets is its mean.
bool weft_sweep_may_be_equal(const struct weft_sweep_interval *a, double mean_a, const struct weft_sweep_interval *b,
                             double mean_b);
/// How many runs are in that state.
uint32_t weft_sweep_count(const struct weft_sweep_results *results, enum weft_sweep_state state);
/// The groups of all runs, each once, in the order in which they come up; in `arena`.
const char **weft_sweep_groups(const struct weft_sweep_results *results, struct weft_arena *arena, uint32_t *ret_n);
/// A column over the seeds of a point; NAN where the run or the group is missing. [seeds], in `arena`.
double *weft_sweep_values(const struct weft_sweep_results *results, uint32_t point, const char *group, uint32_t column,
                          struct weft_arena *arena);

/// The point with the best mean of a metric, and those that cannot be told from it. Points without a value with some
/// seed are left out.
struct weft_sweep_best {
    const struct weft_sweep_metric *metric;
    uint32_t point; ///< WEFT_NONE: none has a value with every seed
    struct weft_spread spread;
    uint32_t *like, likes; ///< whose difference from it is within noise, nearest first
    bool judged;           ///< false: with one seed nothing is known of noise
    bool estimated;        ///< `like`: by intervals of estimates
    uint32_t left_out;
};
struct weft_sweep_best weft_sweep_best(const struct weft_sweep_results *results, const struct weft_sweep_metric *metric,
                                       struct weft_arena *arena);
/// "weft run s.yaml --variant pfc --set host.cc=dcqcn": the run of a point, for a shell.
const char *weft_sweep_command(const struct weft_sweep_results *results, uint32_t point, struct weft_arena *arena);

/// What a command shows of a sweep.
struct weft_sweep_shown {
    const struct weft_sweep_results *results;
    const struct weft_sweep_best *best; ///< NULL: none was asked for
    bool interrupted;
};
/// For people: means over seeds.
void weft_sweep_text(FILE *file, const void *shown);
/// A sweep as rows, with the columns of its own parameters and metrics. *ret_subject begins with a copy of `shown`; it
/// and the answer are in `arena`.
const struct weft_answer *weft_sweep_answer(const struct weft_sweep_shown *shown, struct weft_arena *arena,
                                            const void **ret_subject);
extern const struct weft_answer weft__answer_sweep; ///< without these columns
/// Writes DIR/sweep.sqlite, or leaves the older one: docs/sweep.md.
enum weft_status weft_sweep_sqlite(const char *dir, const struct weft_sweep_shown *shown, struct weft_error *ret_error);
