// SPDX-License-Identifier: Apache-2.0
// A progress line on a terminal. In a pipe it is silent.
#pragma once

#include <stdio.h>

#include "weft/sim.h"

struct weft_cli_progress {
    FILE *file;        ///< NULL: silent
    const char *label; ///< what is running; "" for nothing
    double drawn_s;    ///< wall time of the last drawing; negative: the line is not on the screen
    unsigned columns;  ///< of the terminal
};

/// Draws on standard error if that is a terminal and `quiet` is false.
void weft_cli_progress_init(struct weft_cli_progress *progress, const char *label, bool quiet);
/// For weft_sim_options.on_progress; `context` is the struct. Redraws at most ten times a second.
/// True: go on.
bool weft_cli_progress_on(void *context, const struct weft_progress *now);
/// At the end of a run: leaves the last progress line on the screen and starts a new line.
void weft_cli_progress_done(struct weft_cli_progress *progress, const struct weft_progress *end);
/// Clears the line.
void weft_cli_progress_deinit(struct weft_cli_progress *progress);
/// The progress of a list of runs.
struct weft_cli_runs_progress {
    uint32_t ended, runs;
    double part;   ///< share of the work, 0 to 1
    double wall_s; ///< taken so far
};
/// Draws it every time it is called.
void weft_cli_progress_runs(struct weft_cli_progress *progress, const struct weft_cli_runs_progress *now);
/// That line: "weft sweep [######..................]  25%  3 of 12 runs, 0:30 left".
void weft_cli_progress_format_runs(const struct weft_cli_runs_progress *now, const char *label, unsigned columns,
                                   char *text, size_t size);
/// The line itself, at most `columns` characters.
void weft_cli_progress_format(const struct weft_progress *now, const char *label, unsigned columns, char *text,
                              size_t size);
