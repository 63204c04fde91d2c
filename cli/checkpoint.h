// SPDX-License-Identifier: Apache-2.0
// weft run --checkpoint and --resume: saves the run in the folder of its results.
#pragma once

#include "cli.h"
#include "weft/checkpoint.h"

/// The values of the two options; NULL: not given.
struct weft_cli_checkpoint_options {
    const char *every, *resume;
};

/// From now on, memory is allocated where a checkpoint can save it; also copies `argv` there. Options must be parsed
/// again.
enum weft_status weft_cli_checkpoint_begin(const struct weft_cli_checkpoint_options *given, int argc, char ***argv,
                                           struct weft_error *ret_error);
/// Called before the run: checks that it can be saved. Its options name its folder. _resume gives `root` back.
enum weft_status weft_cli_checkpoint_new(const struct weft_cli_options *o, const char *every, void *root,
                                         struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error);
/// `o`: of the resuming command; its folder becomes the run's.
enum weft_status weft_cli_checkpoint_resume(const struct weft_cli_options *o,
                                            const struct weft_cli_checkpoint_options *given,
                                            struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error);
/// The run has ended and its results are written: removes the checkpoint.
void weft_cli_checkpoint_remove(const struct weft_checkpoint *checkpoint);
