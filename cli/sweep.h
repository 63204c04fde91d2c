// SPDX-License-Identifier: Apache-2.0
// weft sweep in parts: which runs there are and which are known (sweep_prepare.c), running them (sweep_run.c), and
// which of them are this process's (sweep_task.c).
#pragma once

#include "simulation.h"
#include "weft/follow.h"
#include "weft/sweep_results.h"

/// This process's part of a sweep: of the different runs, those whose number is `task` modulo `tasks`.
struct sweep_share {
    uint32_t task, tasks;
    const char *from; ///< where it comes from: "--task", "SLURM_ARRAY_TASK_ID"; NULL: the whole sweep
};
struct sweep {
    const struct weft_cli_options *o;
    struct weft_sweep *plan;
    struct weft_sweep_results r;
    struct weft_sweep_metric *metric;     ///< the ones shown, then the one used for ranking
    const struct weft_sweep_metric *best; ///< NULL: none
    struct sweep_share share;
    const char *folder;       ///< holds the files of runs
    bool passing;             ///< the folder is removed when everything is done
    int lock;                 ///< of a passing folder
    const char **record;      ///< [points * seeds] path of its file
    double *cost;             ///< [points] seconds, about; 0: all of it is known
    uint32_t *own, owned;     ///< runs of this process
    struct content *contents; ///< of files that values name
    bool interrupted;
    bool failed;             ///< some run has, though it may have been tried again since
    bool merge;              ///< nothing is run
    weft_time_ps timeout_ps; ///< limit of a run's wall time; 0: none
    bool *fluid;             ///< [points] their runs are estimated, not run in packets; NULL: none is
    bool *refused;           ///< [points * seeds] there is no estimate of it; with fluid
    bool falls_back;         ///< what has no estimate runs in packets, or is left out: it has not failed
    /// Called when all runs are done: true: some points have changed from estimates to packets. May be NULL.
    bool (*goes_on)(struct sweep *s);
    /// What a command keeps of a run in addition: [*ret_n]; called in the process of the run. `ranks`: what was
    /// followed of them; NULL: nothing. NULL: it keeps nothing.
    struct weft_sweep_kept *(*keep)(const struct sweep *s, uint32_t run, const struct weft_scenario_file *file,
                                    const struct weft_sweep_came *came, const struct weft_follow *ranks,
                                    uint32_t *ret_n);
    /// Whether ranks of jobs are followed in a run. NULL: in none.
    bool (*follows_ranks)(const struct sweep *s, uint32_t run, const struct weft_workload *workload);
    /// Called before the first run, when the cost of every missing run is known. May be NULL.
    void (*announce)(const struct sweep *s, uint32_t jobs);
    const char *kept; ///< the name of one kept value, without which a run counts as missing
};

/// Fills in s->r except for its runs: what every table of results says about the command and the program. `path`: of
/// the scenario.
void sweep_begin(struct sweep *s, const char *path);
/// This process's part of the runs: from --task I/N (I from 1; NULL: not given), else from the environment: a rank of
/// MPI or srun, or a task of a job array. The number of runs at the same time from --jobs (NULL: not given). False: a
/// message was printed.
bool sweep_share_out(struct sweep *s, const char *task, const char *jobs, uint32_t *ret_jobs);
/// Whether it is p50, p95, p99, mean or max: a statistic of the only group of flows.
bool sweep_is_quantile(const char *text, size_t length);
/// "p99" of the only group becomes "all.fct.p99", "iteration" of the only job "jobs.NAME.iteration_ps"; any other
/// metric stays. `option`: what names it, for the error.
enum weft_status sweep_metric_in_full(const char *option, const struct weft_cli_options *o,
                                      const struct weft_scenario_file *file, const char **text,
                                      struct weft_error *ret_error);
/// Binds every point, finds the files of its runs, and reads those that exist. Builds what this process must run, so
/// that bad input ends here; without `build` nothing is built.
enum weft_status sweep_prepare(struct sweep *s, bool build, struct weft_error *ret_error);
/// Adds the first `seeds` runs of a point to s->own, without those that share the file of a run that is there.
void sweep_own(struct sweep *s, uint32_t point, uint32_t seeds);
/// Without `build`: builds the points of s->own that have runs to do, and makes the folder.
enum weft_status sweep_build(struct sweep *s, struct weft_error *ret_error);
/// Called with the status of the command: the content of a temporary folder is kept only if the same command may
/// continue there.
void sweep_end(struct sweep *s, enum weft_status status);
/// What may still run in packets after estimates (--packets).
struct sweep_packets {
    uint32_t runs_left;  ///< runs, or
    double seconds_left; ///< predicted processor time
};
/// "20" or "600s"; NULL: nothing.
enum weft_status sweep_packets_read(const char *text, struct sweep_packets *ret, struct weft_error *ret_error);
/// Changes a point to packets. False: nothing is left for it, or it runs in packets already.
bool sweep_packets_take(struct sweep *s, struct sweep_packets *left, uint32_t point);
/// All points are estimated, until the command changes some to packets (s->fluid).
void sweep_estimate(struct sweep *s);
/// Runs what is missing, or failed before. s->interrupted: not all of it was run.
enum weft_status sweep_run(struct sweep *s, uint32_t jobs, struct weft_error *ret_error);
/// Prints a command's output when its runs are done, or were interrupted.
typedef enum weft_status (*sweep_show)(struct sweep *s, struct weft_error *ret_error);
/// Runs what is missing of s->plan and shows the results, unless other tasks have runs to do. Then the folder of a
/// sweep without --out is removed, or stays if the sweep can continue there.
/// Not a progress message: it is printed even with --quiet.
void sweep_say_interrupted(const struct sweep *s);
enum weft_status sweep_through(struct sweep *s, uint32_t jobs, sweep_show show, struct weft_error *ret_error);
/// Whether the file is missing, lacks a metric, or records that the run failed.
bool sweep_is_due(const struct sweep *s, uint32_t run);
/// Reads the file of a run again.
void sweep_load(struct sweep *s, uint32_t run);
/// Whether a run is estimated.
static inline bool sweep_is_fluid(const struct sweep *s, uint32_t run) {
    return s->fluid && s->fluid[run / s->plan->seeds];
}
/// What a point's run would cost in packets, in seconds; 0: it cannot be built.
double sweep_cost_of(const struct sweep *s, uint32_t point);
/// "point 3 (pfc, host.cc=dcqcn), seed 2"
const char *sweep_run_name(const struct sweep *s, uint32_t run);
