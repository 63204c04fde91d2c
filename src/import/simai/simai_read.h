// SPDX-License-Identifier: Apache-2.0
// Codec of the workload text of AICB and SimAI, which is that of ASTRA-sim 1.0 with groups: a header, the number of
// layers, and a line of twelve columns per layer. Groups: T adjacent ranks are TP; then DP over those of one stage, of
// which E adjacent ones are EP and the others DP_EP; then the stages.
#pragma once

#include "base/lines.h"

enum weft__simai_kind { WEFT__SIMAI_HYBRID, WEFT__SIMAI_RECOMPUTE, WEFT__SIMAI_MICRO };
enum weft__simai_type {
    WEFT__SIMAI_NONE,
    WEFT__SIMAI_ALL_REDUCE,
    WEFT__SIMAI_ALL_GATHER,
    WEFT__SIMAI_REDUCE_SCATTER,
    WEFT__SIMAI_ALL_TO_ALL,
    WEFT__SIMAI_BROADCAST, ///< and the next ones: SimAI passes over them
    WEFT__SIMAI_REDUCE,
    WEFT__SIMAI_GATHER,
    WEFT__SIMAI_SCATTER,
    WEFT__SIMAI_TYPES
};
enum weft__simai_group { WEFT__SIMAI_TP, WEFT__SIMAI_DP, WEFT__SIMAI_EP, WEFT__SIMAI_DP_EP, WEFT__SIMAI_GROUPS };
enum weft__simai_pass { WEFT__SIMAI_FORWARD, WEFT__SIMAI_INPUT, WEFT__SIMAI_WEIGHT, WEFT__SIMAI_PASSES };

/// A layer in a pass: it computes, and then communicates.
struct weft__simai_part {
    weft_time_ps compute_ps;
    weft_bytes bytes;
    uint8_t type, group; ///< enum weft__simai_type, enum weft__simai_group
};

struct weft__simai_layer {
    uint64_t name; ///< hash of it
    struct weft__simai_part part[WEFT__SIMAI_PASSES];
    weft_time_ps update_ps;
    bool checkpoint, initiates; ///< recomputation begins at `checkpoint` when `initiates` is reached backwards
};

/// Words that are not known, and are passed over.
struct weft__simai_skipped {
    uint32_t n;
    const char *first; ///< NULL: none
    int line;          ///< of the first
};

struct weft__simai {
    enum weft__simai_kind kind;
    uint64_t tp, ep, pp, vpp, ga, gpus; ///< 0: not given
    weft_bytes pp_bytes;
    uint32_t layers;
    struct weft__simai_layer *layer;
    uint32_t block, first;                  ///< lines of a microbatch, and before the first one; block 0: not known
    struct weft__simai_skipped types, keys; ///< communication that is left out; entries of the header
};

/// Groups of ranks: a rank is number rank / stride % ranks of its own.
struct weft__simai_groups {
    struct {
        uint32_t ranks, stride;
    } of[WEFT__SIMAI_GROUPS];
    uint32_t stages, stage_stride;
};
/// NULL, or why `ranks` do not fit, in `text`.
const char *weft__simai_find_groups(const struct weft__simai *workload, uint32_t ranks,
                                    struct weft__simai_groups *ret_groups, char *text, size_t size);
/// Whether the stages of a pipeline transfer according to the header: it has several stages, and its microbatches are
/// known.
bool weft__simai_is_pipeline(const struct weft__simai *workload);

/// In the arena. Errors are at `place` if the file cannot be read, else in it.
enum weft_status weft__simai_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                  struct weft__simai *ret_workload, struct weft_error *ret_error);
/// A degree of parallelism; 0 in the file: 1.
static inline uint64_t weft__simai_or_one(uint64_t n) {
    return n ? n : 1;
}
