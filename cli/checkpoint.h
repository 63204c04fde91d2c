// SPDX-License-Identifier: Apache-2.0
// weft run --checkpoint and --resume: the run in the folder of its results.
#ifndef WEFT_CLI_CHECKPOINT_H
#define WEFT_CLI_CHECKPOINT_H

#include "cli.h"
#include "weft/checkpoint.h"

/// What the two options said; NULL: they were not given.
struct weft_cli_checkpoint_options {
    const char *every, *resume;
};

/// Puts memory made from now on where a checkpoint can save it, and copies `argv` there. Options must be parsed again.
enum weft_status weft_cli_checkpoint_begin(const struct weft_cli_checkpoint_options *given, int argc, char ***argv,
                                           struct weft_error *ret_error);
/// Before the run: whether it can be saved. Its options name its folder. `root` is found again by _resume.
enum weft_status weft_cli_checkpoint_new(const struct weft_cli_options *o, const char *every, void *root,
                                         struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error);
/// `o`: of the command that resumes; its folder becomes the run's.
enum weft_status weft_cli_checkpoint_resume(const struct weft_cli_options *o,
                                            const struct weft_cli_checkpoint_options *given,
                                            struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error);
/// The run is over and its results are written.
void weft_cli_checkpoint_remove(const struct weft_checkpoint *checkpoint);

#endif
