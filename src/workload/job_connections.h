// SPDX-License-Identifier: Apache-2.0
// Finds the connections of a job, rank by rank.
#pragma once

#include "weft/job.h"

/// Connections are stored by source; those of the current rank can also be found by destination.
struct weft__finder {
    struct weft_job *job;
    struct weft_arena *arena; ///< holds what the job keeps
    struct weft__connection_list {
        struct weft_connection *list;
        uint32_t n, capacity;
    } all, own; ///< own: of the current rank
    /// head: [ranks]: the newest connection of the rank to that one, or WEFT_NONE; next: the one found before it
    uint32_t *head, *next;
    uint32_t next_capacity;
    uint32_t *counts, counts_left; ///< for messages of connections
};
/// Call it when the job's communicators are known. Ranks must follow in order.
void weft__finder_init(struct weft__finder *f, struct weft_job *job, struct weft_arena *arena);
/// The connection of the current rank to `dst`; a new one if there is none yet.
struct weft_connection *weft__finder_at(struct weft__finder *f, uint32_t rank, uint32_t dst, uint32_t communicator,
                                        uint32_t channel);
/// Visits what a rank sends in an operation: one call per peer and lane; `peer` is a number in the rank's group.
typedef void weft__on_sent(void *context, const struct weft_sent *sent);
void weft__job_each_sent(const struct weft_job_op *op, uint32_t rank, weft__on_sent *on_sent, void *context);
/// Adds what the rank sends in an operation that occurs `times` times in the run.
void weft__finder_add_op(struct weft__finder *f, uint32_t rank, const struct weft_job_op *op, uint64_t times);
void weft__finder_end_rank(struct weft__finder *f, uint32_t rank);
/// Hands the connections to the job.
void weft__finder_deinit(struct weft__finder *f);
