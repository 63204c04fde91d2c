// SPDX-License-Identifier: Apache-2.0
// weft workload on a schedule in GOAL.
#ifndef WEFT_CLI_WORKLOAD_H
#define WEFT_CLI_WORKLOAD_H

#include "cli.h"

/// Whether the file is there and begins like GOAL.
bool weft_cli_goal_recognise(const char *path);
/// The command on such a file. `loggops`: what --loggops gives; *loggops is NULL without it.
int weft_cli_goal(const struct weft_cli_command *command, const char **loggops, int argc, char **argv);

#endif
