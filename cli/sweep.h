// SPDX-License-Identifier: Apache-2.0
// weft sweep in parts: which runs there are and which are known (sweep_prepare.c), running them (sweep_run.c), and
// which of them are this process's (sweep_task.c).
#ifndef WEFT_CLI_SWEEP_H
#define WEFT_CLI_SWEEP_H

#include "simulation.h"
#include "weft/follow.h"
#include "weft/sweep_results.h"

/// The part of a sweep that is this process's: of runs that differ, those whose number is `task` modulo `tasks`.
struct sweep_share {
    uint32_t task, tasks;
    const char *from; ///< what said so: "--task", "SLURM_ARRAY_TASK_ID"; NULL: it is all of the sweep
};
struct sweep {
    const struct weft_cli_options *o;
    struct weft_sweep *plan;
    struct weft_sweep_results r;
    struct weft_sweep_metric *metric;     ///< those that are shown, then the one that ranks
    const struct weft_sweep_metric *best; ///< NULL: none
    struct sweep_share share;
    const char *folder;       ///< of the files of runs
    bool passing;             ///< the folder is removed when all is done
    int lock;                 ///< of a passing folder
    const char **record;      ///< [points * seeds] path of its file
    double *cost;             ///< [points] seconds, about; 0: all of it is known
    uint32_t *own, owned;     ///< runs of this process
    struct content *contents; ///< of files that values name
    bool interrupted;
    bool merge;              ///< nothing is run
    weft_time_ps timeout_ps; ///< of a run's wall time; 0: none
    /// What a command keeps of a run besides: [*ret_n], told in the process of the run. `ranks`: what was followed of
    /// them; NULL: nothing was. NULL: it keeps nothing.
    struct weft_sweep_kept *(*keep)(const struct sweep *s, uint32_t run, const struct weft_scenario_file *file,
                                    const struct weft_run *measured, const struct weft_follow *ranks, uint32_t *ret_n);
    /// Whether ranks of jobs are followed in a run. NULL: in none.
    bool (*follows_ranks)(const struct sweep *s, uint32_t run, const struct weft_workload *workload);
    /// Called before the first run, when the cost of every due run is known. May be NULL.
    void (*announce)(const struct sweep *s, uint32_t jobs);
    const char *kept; ///< the name of one of them, without which a run is due again
};

/// Fills s->r but for its runs: what every table of results says of the command and the program. `path`: of the
/// scenario.
void sweep_begin(struct sweep *s, const char *path);
/// This process's part of the runs, by --task I/N (I from 1; NULL: not given), else by the environment: a rank of MPI
/// or of srun, of a task of a job array. The runs at a time by --jobs (NULL: not given). False: a message was printed.
bool sweep_share_out(struct sweep *s, const char *task, const char *jobs, uint32_t *ret_jobs);
/// Whether it is p50, p95, p99, mean or max: a figure of the only group of flows.
bool sweep_is_quantile(const char *text, size_t length);
/// Binds every point, finds the files of its runs, and reads those that are there. What this process is to run is
/// built, so that bad input ends here; `build`: without it nothing is.
enum weft_status sweep_prepare(struct sweep *s, bool build, struct weft_error *ret_error);
/// Without `build`: builds the points of s->own that are due, and makes the folder.
enum weft_status sweep_build(struct sweep *s, struct weft_error *ret_error);
/// With the status of the command: what a passing folder has is kept only if the same command may go on there.
void sweep_end(struct sweep *s, enum weft_status status);
/// Runs what is missing, or failed before. s->interrupted: not all of it.
enum weft_status sweep_run(struct sweep *s, uint32_t jobs, struct weft_error *ret_error);
/// What a command says when its runs are done, or were interrupted.
typedef enum weft_status (*sweep_show)(struct sweep *s, struct weft_error *ret_error);
/// Runs what is due of s->plan and shows it, unless other tasks have runs to do. Then the folder of a sweep without
/// --out is removed, or stays if it can be gone on with.
/// No progress: it is said even if the user wants it quiet.
void sweep_say_interrupted(void);
enum weft_status sweep_through(struct sweep *s, uint32_t jobs, sweep_show show, struct weft_error *ret_error);
/// The file is missing, or lacks a metric, or says that the run failed.
bool sweep_is_due(const struct sweep *s, uint32_t run);
/// Reads the file of a run again.
void sweep_load(struct sweep *s, uint32_t run);
/// "point 3 (pfc, host.cc=dcqcn), seed 2"
const char *sweep_run_name(const struct sweep *s, uint32_t run);

#endif
