// SPDX-License-Identifier: Apache-2.0
// Rank 0 writes and reads the file of a checkpoint; a run in one process has only its part. Over ranks, the image of
// each is a part of the file, in frames: a length, then that many bytes. A length of 0 ends a part; FAILED ends one
// that is incomplete.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "weft/ranks.h"

/// Appends all parts to the file; each rank has its own. `ranks` NULL: one process. `file`: at rank 0. `note` precedes
/// the image. False, with errno: some part could not be written. All ranks must call it.
bool weft__parts_write(struct weft_ranks *ranks, FILE *file, const void *note, size_t note_bytes);
/// Called by a rank that has nothing to write.
void weft__parts_fail(struct weft_ranks *ranks, FILE *file);
/// Reads this rank's part. NULL, or what is wrong with it; `ret_byte`: how far it was read. All ranks must call it.
const char *weft__parts_read(struct weft_ranks *ranks, FILE *file, void *ret_note, size_t note_bytes, size_t *ret_byte);
