// SPDX-License-Identifier: Apache-2.0
// The collectives of a job whose ranks follow a schedule.
#pragma once

#include "job.h"
#include "job_connections.h"

/// Besides the job's operations and communicators, who takes part in them. 4 bytes per rank and communicator.
struct weft__collectives {
    struct weft_job *job;
    uint64_t *times;  ///< [ops]: in the run
    uint32_t *first;  ///< [groups + 1]: the first operation of a group
    uint32_t **group; ///< [communicators][ranks]: the rank's group there + 1; 0: none
};
/// Adds operations and communicators to the job, whose schedule is known. Other memory is allocated in `scratch`.
enum weft_status weft__collectives_find(struct weft__collectives *c, struct weft_job *job,
                                        const struct weft__schedule_models *models, struct weft_place place,
                                        const struct weft_topology *topology, struct weft_arena *arena,
                                        struct weft_arena *scratch, struct weft_error *ret_error);
/// Adds what the rank sends in them.
void weft__collectives_connect(const struct weft__collectives *c, struct weft__finder *f, uint32_t rank);
