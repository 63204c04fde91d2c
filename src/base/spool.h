// SPDX-License-Identifier: Apache-2.0
// Records of one size, added in any order and read back sorted, in bounded memory: a full spool is sorted and written
// to a nameless temporary file, and reading merges the written runs (an external merge sort). One spool per worker;
// merging several gives the same order however records were distributed, as long as no two are equal.
#pragma once

#include "weft/memory.h"

struct weft__spool {
    const char *folder; ///< where the temporary file goes
    int (*compare)(const void *a, const void *b);
    size_t record_bytes;
    uint8_t *record;
    size_t n, capacity, capacity_max; ///< records in memory
    int file;                         ///< -1: nothing was written yet
    uint64_t written;                 ///< records; in runs of capacity_max
    int error;                        ///< errno of the first failure; records are lost from then on
    struct weft_memory_cleanup cleanup;
};

/// Keeps at most this many records in memory. `folder` is borrowed. The spool must not move.
void weft__spool_init(struct weft__spool *spool, size_t record_bytes, size_t records_max,
                      int (*compare)(const void *a, const void *b), const char *folder);
void weft__spool_deinit(struct weft__spool *spool);
void weft__spool_make_room(struct weft__spool *spool); ///< when it is full

/// For a spool that another process also has, except for its file (base/image.h): sends the file's content, piece by
/// piece, and the error.
void weft__spool_send(struct weft__spool *spool, void (*put)(void *context, const void *bytes, size_t n),
                      void *context);
/// Receives it there, into a separate file.
void weft__spool_receive(struct weft__spool *spool, void (*get)(void *context, void *bytes, size_t n), void *context);

/// Room for a record; the caller writes all of it.
static inline void *weft__spool_add(struct weft__spool *spool) {
    if (__builtin_expect(spool->n == spool->capacity, 0)) weft__spool_make_room(spool);
    return spool->record + spool->n++ * spool->record_bytes;
}

/// All records of `spool[0..spools)` in order. Nothing may be added afterwards. A failure to read ends the records
/// early and is in the `error` of its spool.
struct weft__merge *weft__merge_new(struct weft__spool *spool, uint32_t spools);
const void *weft__merge_next(struct weft__merge *merge); ///< NULL at the end; valid until the next call
void weft__merge_free(struct weft__merge *merge);
