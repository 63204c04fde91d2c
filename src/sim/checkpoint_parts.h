// SPDX-License-Identifier: Apache-2.0
// The file of a checkpoint is written and read by rank 0; a run in one process has but that part. Over ranks the image
// of each is a part of the file, in frames: their length, then so many bytes; 0 ends a part, and FAILED one that is not
// whole.
#ifndef WEFT_SIM_CHECKPOINT_PARTS_H
#define WEFT_SIM_CHECKPOINT_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "weft/ranks.h"

/// Behind what is in the file: all parts, of which each rank has its own. `ranks` NULL: one process. `file`: of rank 0.
/// `note` goes in front of the image. False, and errno: some part could not be written. All ranks call it.
bool weft__parts_write(struct weft_ranks *ranks, FILE *file, const void *note, size_t note_bytes);
/// Of a rank that has nothing to write.
void weft__parts_fail(struct weft_ranks *ranks, FILE *file);
/// Reads the rank's own part. NULL, or what is wrong with it; `ret_byte`: how far it was read. All ranks call it.
const char *weft__parts_read(struct weft_ranks *ranks, FILE *file, void *ret_note, size_t note_bytes, size_t *ret_byte);

#endif
