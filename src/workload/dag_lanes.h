// SPDX-License-Identifier: Apache-2.0
// Lanes of a rank (weft/dag.h) as steps of a schedule (weft/schedule.h): sends, receives and computes with
// dependencies. A lane's next step waits until its sends have started; a send waits until the connection has room,
// which is when the send `slots` earlier is done.
#pragma once

#include "weft/dag.h"
#include "weft/schedule.h"

/// What a step waits for.
struct weft__front {
    uint32_t n;
    struct weft__dependency {
        uint32_t step;
        bool started; ///< waits only for its start
    } on[16];
};

/// The output for the current rank.
struct weft__emitter {
    const struct weft_dag *dag;
    struct weft_schedule_builder builder;
    struct weft_arena *scratch;        ///< freed after the rank
    uint32_t tag0;                     ///< tag of connection 0
    uint32_t connection0, connections; ///< connections of jobs on which the rank sends
    struct weft__ring {
        uint32_t sends, *step; ///< send m: [m % slots]
    } * ring;                  ///< by connection
    bool full;                 ///< the rank has too many steps
};
/// Sets the connections on which the current rank sends more than once.
void weft__emit_connections(struct weft__emitter *e, uint32_t connection0, uint32_t connections);
/// Adds a step that waits for all of `front`, and is then the only one in it; returns its number.
uint32_t weft__emit(struct weft__emitter *e, struct weft__front *front, const struct weft_schedule_step *step);
void weft__front_add(struct weft__front *front, uint32_t step, bool started);

/// A lane in progress. Its creator sets `at`, `cpu` and `front`, and zeroes the rest.
struct weft__lane_cursor {
    struct weft_dag_cursor at;
    struct weft_dag_step step; ///< the next one
    bool has, done;            ///< has: `step` is known
    uint8_t cpu;
    struct weft__front front;
    struct weft__progress {
        uint64_t index; ///< of a step of the current operation
        uint32_t first, n;
        bool started;
    } * progress; ///< what a lane that waits for it waits for
    size_t steps, room;
};
struct weft__counter {
    uint64_t n, room;
    struct weft__addition {
        uint32_t lane;
        struct weft__dependency on;
        bool none; ///< it waited for nothing
    } * by;
    uint64_t joined; ///< the number that `join` was made for
    uint32_t join;
};
struct weft__lanes {
    struct weft__emitter *e;
    struct weft__lane_cursor *lane;
    struct weft__counter *counter;
    uint32_t lanes, counters;
    /// The lane's next step; false: there is none.
    bool (*next)(void *context, struct weft__lane_cursor *lane);
    void *context;
};
/// A step of a rank's lane in an operation, into *ret_step, which is zeroed except for `add`. `number`: the rank's in
/// its group; lane0: of the communicator's first lane.
void weft__dag_place_step(const struct weft_job *job, uint32_t rank, uint32_t connection0, const struct weft_job_op *op,
                          uint32_t number, uint32_t lane0, const struct weft_step *step,
                          struct weft_dag_step *ret_step);
/// Runs all of them to their ends. False: they wait for one another forever.
bool weft__lanes_run(struct weft__lanes *x);
/// Frees the memory used besides the arena.
void weft__lanes_free(struct weft__lanes *x);
