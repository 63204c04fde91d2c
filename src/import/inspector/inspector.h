// SPDX-License-Identifier: Apache-2.0
// The log of NCCL's inspector. Source: plugins/profiler/inspector of NVIDIA/nccl: a JSON object per rank and
// collective, with coll, coll_sn, coll_msg_size_bytes, coll_exec_time_us, coll_busbw_gbs, n_ranks, nnodes and the
// communicator's id. Each process writes a file. Objects may span lines. Objects in between are sends and receives
// (p2p_perf), which are counted, and dump_stats; what an object does not state about its communicator is taken from the
// last earlier object that named one.
#pragma once

#include "weft/memory.h"
#include "weft/types.h"

enum {
    WEFT__INSPECTOR_ALL_REDUCE,
    WEFT__INSPECTOR_ALL_GATHER,
    WEFT__INSPECTOR_REDUCE_SCATTER,
    WEFT__INSPECTOR_ALL_TO_ALL,
    WEFT__INSPECTOR_BROADCAST,
    WEFT__INSPECTOR_REDUCE,
    WEFT__INSPECTOR_COLLS
};
extern const char *const weft__inspector_colls[WEFT__INSPECTOR_COLLS];

/// A collective of a rank.
struct weft__inspector_record {
    char id[32]; ///< of its communicator
    uint64_t number;
    weft_bytes bytes;
    double time_us, busbw; ///< busbw: in GB/s; NAN: not given
    uint32_t ranks, nodes;
    uint32_t file; ///< the number of earlier calls of weft__inspector_read
    uint8_t coll;
    struct weft_place place;
};

struct weft__inspector_log {
    uint32_t n, files;
    struct weft__inspector_record *record;
    uint64_t messages; ///< sends and receives, omitted
    struct weft_arena *arena;
};

/// Adds a file's collectives to the log; `place`: where the file is named. `path` must live as long as the log.
enum weft_status weft__inspector_read(const char *path, struct weft_place place, struct weft__inspector_log *log,
                                      struct weft_error *ret_error);
/// Sorts the log by communicator and number, as qsort() would with weft__inspector_order; an error at `place` if it is
/// empty.
enum weft_status weft__inspector_sort(struct weft__inspector_log *log, struct weft_place place,
                                      struct weft_error *ret_error);
int weft__inspector_order(const void *a, const void *b);

/// Collectives of a communicator with the same number, by several ranks.
struct weft__inspector_measured {
    weft_bytes bytes; ///< as in nccl-tests
    double time_us;   ///< mean
    uint8_t coll;
};
/// From record *at on; *at moves past the last one with the number. An error if its ranks disagree.
enum weft_status weft__inspector_next(const struct weft__inspector_log *log, uint32_t *at,
                                      struct weft__inspector_measured *ret, struct weft_error *ret_error);
