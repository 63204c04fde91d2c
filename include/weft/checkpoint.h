// SPDX-License-Identifier: Apache-2.0
// A run is saved while it goes on, and goes on from there in another process, as if it had not stopped. Within the
// project: it takes a program that is loaded at a fixed address, in which all of a run is in an image (base/image.h).
#pragma once

#include "weft/sim.h"

/// In the image, with all that it points to; not of a kind of memory that is constant (base/memory.c).
struct weft_checkpoint {
    const char *file;
    double every_s; ///< wall time from one to the next; also one when the run is interrupted
    void *root;     ///< the caller's, to find all else again
    /// Not written, and the one before is still there; the run goes on.
    void (*on_failure)(const char *why);
    struct weft__run *run; ///< weft_simulate's
    uint32_t written;
};

/// What makes a program the same as another.
struct weft_checkpoint_program {
    uint64_t hash; ///< of the file that it was loaded from
    char text[96]; ///< for people: version and commit
};

/// Before anything is made that the run is to find again. WEFT_ERROR_SYSTEM: there is no room for an image. `ranks`
/// (weft/ranks.h): NULL unless there are several processes, which all do the same; the file is rank 0's.
enum weft_status weft_checkpoint_open(const struct weft_checkpoint_program *program, const struct weft_ranks *ranks,
                                      struct weft_error *ret_error);
/// Instead: the image of a run from a file, which weft_simulate_on goes on with. WEFT_ERROR_INPUT: it cannot be used,
/// and the process has to end, as it may have read a part.
enum weft_status weft_checkpoint_read(const char *file, const struct weft_checkpoint_program *program,
                                      struct weft_ranks *ranks, struct weft_checkpoint **ret_checkpoint,
                                      struct weft_error *ret_error);

/// As weft_simulate would have returned. Of `options` threads (how many at most), oversubscribe, on_progress and ranks,
/// which are those of the reading, count.
enum weft_status weft_simulate_on(struct weft_checkpoint *checkpoint, const struct weft_sim_options *options,
                                  struct weft_outcome **ret_outcome, struct weft_error *ret_error);
