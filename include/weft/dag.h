// SPDX-License-Identifier: Apache-2.0
// The one form of everything that communicates: for each rank a DAG of steps that compute, receive and send. Ranks are
// those of all jobs, then every host with the flows that are of no job. A rank has lanes side by side, and a lane is
// steps one after another: those of a collective's schedule (weft/collective.h); a job's sequence of operations; or, of
// a plain flow, a single step, which sends at its source, from its start on, and receives at its destination. Edges
// between the lanes of a rank are counters: a step waits until some have come so far, and adds to one when it is done.
// A collective's step may also wait until another lane of its communicator has come so far. Edges between ranks are
// messages: those of a connection are received in the order in which they were sent.
// What a trigger starts (weft/trigger.h) starts at once.
//
// Nothing of it is stored: it is a view of the workload, and a cursor goes along a lane. Whose steps the simulator runs
// as programs and whose as queue pairs only is in docs/design-notes.md.
#pragma once

#include "weft/workload.h"

enum { WEFT_DAG_WAITS = 2 };

/// In this order: waits, receives, computes, sends, adds.
struct weft_dag_step {
    weft_time_ps from_ps; ///< not before
    uint32_t waits, recvs, sends;
    struct weft_dag_wait {
        uint32_t counter;
        uint64_t n; ///< it has come to so much
    } wait[WEFT_DAG_WAITS];
    uint32_t after_lane;  ///< of the same rank and communicator
    uint64_t after_steps; ///< it has done so many of its steps of this operation; 0: it waits for no lane
    uint32_t recv[WEFT_STEP_PEERS], send[WEFT_STEP_PEERS]; ///< connections, a message each
    weft_bytes bytes;                                      ///< of each message
    weft_time_ps compute_ps;      ///< alone: channels of a collective beside it take nothing (weft_job.channel_cost)
    uint32_t add;                 ///< a counter, by one; WEFT_NONE: none
    const struct weft_job_op *op; ///< whose collective it is of; NULL: of none
    weft_bytes offset;            ///< the piece, in the array of that collective
    bool own, keep;               ///< as weft_step has it
};

struct weft_dag {
    const struct weft_workload *workload;
    uint32_t ranks, job_ranks;     ///< the first job_ranks are of jobs, in order; then one of each host
    uint32_t connections;          ///< those of jobs, in order; then flows, in order
    uint32_t *rank0, *connection0; ///< [jobs + 1]: the first of a job
    uint32_t *flow;                ///< those that are of no job
    uint32_t *send0, *send;        ///< [hosts + 1], numbers of `flow` by source
    uint32_t *receive0, *receive;  ///< likewise by destination
};

struct weft_dag_rank {
    uint32_t host;
    uint32_t job;    ///< WEFT_NONE: a host with its flows
    uint32_t number; ///< in its job
    uint32_t lanes, counters;
};

struct weft_dag_connection {
    uint32_t src, dst; ///< ranks
    uint32_t flow;     ///< WEFT_NONE: within a server
    uint32_t slots;    ///< messages that it holds
    weft_bytes bytes;  ///< in all
};

/// Where one is in a lane; {rank, lane} and zeros: before its first step.
struct weft_dag_cursor {
    uint32_t rank, lane;
    uint32_t iteration, turn, phase;
    uint64_t index; ///< in the lane of an operation's collective
};

/// A view of the workload, which must outlive the view. Remote memory access is left out: its requests depend on
/// answers.
struct weft_dag weft_dag_of(const struct weft_workload *workload, struct weft_arena *arena);
struct weft_dag_rank weft_dag_rank_at(const struct weft_dag *dag, uint32_t rank);
struct weft_dag_connection weft_dag_connection_at(const struct weft_dag *dag, uint32_t connection);
/// The next step of a lane; false: there is none.
bool weft_dag_next(const struct weft_dag *dag, struct weft_dag_cursor *cursor, struct weft_dag_step *ret_step);

struct weft_dag_options {
    uint64_t seed; ///< order of what may be done at one time; 0: by rank and lane
    /// A step is done; calls come in an order in which the DAG can be executed. May be NULL.
    void (*on_step)(void *context, const struct weft_dag_cursor *lane, const struct weft_dag_step *step);
    void *context;
};

enum weft_dag_want { WEFT_DAG_WANTS_COUNTER, WEFT_DAG_WANTS_LANE, WEFT_DAG_WANTS_MESSAGE, WEFT_DAG_WANTS_ROOM };

struct weft_dag_result {
    uint64_t lanes, steps, messages;
    weft_bytes bytes;        ///< of all messages
    weft_time_ps end_ps;     ///< of the last step, WEFT_TIME_MAX at most; messages take no time
    uint64_t stuck;          ///< lanes that wait for ever: none, if the DAG can be executed
    uint32_t rank, lane;     ///< the first of them that waits for another rank
    enum weft_dag_want want; ///< kind of the thing it waits for
    uint32_t what;           ///< counter, lane or connection
};

/// All of it as a schedule in which rank R is host R, with collectives as the messages of their algorithms: 36 to 40
/// bytes per message at either end. Messages of a connection have its number as their tag; those of a schedule keep
/// their own. Clear-to-send and what channels take from compute are not in it; a trigger is messages of one byte.
/// `name`: for messages. Multishot triggers, remote memory access, and wildcards beside anything else: an error.
/// Otherwise weft_schedule_check accepts it.
enum weft_status weft_dag_schedule(const struct weft_dag *dag, const char *name, struct weft_arena *arena,
                                   struct weft_schedule **ret_schedule, struct weft_error *ret_error);

/// Executes it without a network: messages take no time, but a connection holds no more than its slots.
struct weft_dag_result weft_dag_execute(const struct weft_dag *dag, const struct weft_dag_options *options);
