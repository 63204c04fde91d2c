// SPDX-License-Identifier: Apache-2.0
// weft workload on a schedule in GOAL.
#pragma once

#include "cli.h"
#include "weft/result.h"
#include "weft/scenario.h"
#include "weft/schedule.h"
#include "weft/workload.h"

extern const struct weft_answer weft__answer_workload, weft__answer_schedule, weft__answer_nccl, weft__answer_training;
/// Whether the file exists and begins like GOAL.
bool weft_cli_goal_recognise(const char *path);
/// What to do with a schedule; NULL: nothing.
struct weft_cli_schedule {
    const char *loggops; ///< executed: L,o,g,G,O,S
    const char *goal;    ///< written to this file
    const char *chakra;  ///< for a job: written to files with this prefix
};
/// Runs the command on such a file. `options` are known when the arguments are parsed.
int weft_cli_goal(const struct weft_cli_command *command, const struct weft_cli_schedule *options, int argc,
                  char **argv);
/// What NCCL chooses, by size, for the operations of jobs that ask it.
enum weft_status weft_cli_workload_nccl(const struct weft_workload *w, const struct weft_scenario *s,
                                        const struct weft_cli_options *o, struct weft_error *ret_error);
/// What jobs by model and plan send and compute.
enum weft_status weft_cli_workload_plan(const struct weft_workload *w, const struct weft_scenario *s,
                                        const struct weft_cli_options *o, struct weft_error *ret_error);
/// Processes a schedule, and shows its content.
enum weft_status weft_cli_schedule(const struct weft_schedule *s, const struct weft_cli_schedule *options,
                                   const struct weft_cli_options *o, struct weft_error *ret_error);
