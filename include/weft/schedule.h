// SPDX-License-Identifier: Apache-2.0
// A program of general form: for each rank a list of steps that send, receive, compute and take part in collectives,
// with dependencies among them. A file fills it (weft/goal.h) or an importer does, by the builder; a run over a network
// executes it beside jobs (workload kind goal), and weft_loggops_run without a network. A step is 32 bytes and a
// dependency 4: 36 bytes a step in a chain. A group is 8 bytes per member.
//
// A rank's receives match messages by source and tag in the order of MPI: of the receives that a message matches, the
// one posted first takes it, and of the messages that a receive matches, the one that came first.
//
// A group is a communicator: ranks that take part in collectives together. Every member has a step for each collective
// of the group, in one order: the k-th such steps of all members are the k-th collective. A step of a group waits for
// the step of that group before it in its rank (the builder adds this dependency), so a group does one collective after
// another, and groups work side by side. A rank begins its part as soon as its own step is ready, and its step is done
// when its part is: other members may be at work for longer. A collective has no steps of its own here: a run makes its
// messages from the algorithm (weft/collective.h) as they are due.
//
// An importer makes a schedule so:
//     weft_schedule_begin(&b, path, ranks, arena);
//     uint32_t dp = weft_schedule_add_group(&b, "dp", list, n);   // once, before the first step that names it
//     for each rank, in order:
//         weft_schedule_add(&b, &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COLLECTIVE, .peer = dp,
//                                                            .collective = WEFT_SCHEDULE_ALL_REDUCE, .size = bytes});
//         weft_schedule_add_edge(&b, from, to, false);
//         weft_schedule_end_rank(&b, 0);
//     s = weft_schedule_end(&b);                                  // also after an error
//     weft_schedule_check(s, ret_error);
// A rank that comes from a file of its own sets b.file before weft_schedule_end_rank; schedule->entry says what the
// numbers in `line` count, if not lines. A workload made from it has a member of struct weft__schedule_models with
// WEFT__SCHEDULE_MODEL_ROWS in its parameters, and ends in weft__job_add_schedule (src/workload/job.h), as
// src/import/goal/goal_workload.c does.
#pragma once

#include <assert.h>

#include "weft/error.h"
#include "weft/memory.h"
#include "weft/types.h"

enum weft_schedule_kind { WEFT_SCHEDULE_SEND = 1, WEFT_SCHEDULE_RECV, WEFT_SCHEDULE_COMPUTE, WEFT_SCHEDULE_COLLECTIVE };
/// What a collective does; which algorithm does it is chosen by a parameter.
enum weft_schedule_collective {
    WEFT_SCHEDULE_ALL_REDUCE,
    WEFT_SCHEDULE_ALL_GATHER,
    WEFT_SCHEDULE_REDUCE_SCATTER,
    WEFT_SCHEDULE_ALL_TO_ALL,
    WEFT_SCHEDULE_BROADCAST,
    WEFT_SCHEDULE_GATHER,
    WEFT_SCHEDULE_REDUCE,
    WEFT_SCHEDULE_SCATTER,
    WEFT_SCHEDULE_BARRIER, ///< of one byte, whatever its size
    WEFT_SCHEDULE_COLLECTIVES
};
extern const char *const weft_schedule_collectives[]; ///< "all-reduce", ..., NULL

#define WEFT_SCHEDULE_ANY UINT32_MAX ///< source or tag of a receive: every one
#define WEFT_SCHEDULE_BYTES_MAX (UINT64_C(1) << 63)
#define WEFT_SCHEDULE_STEPS_MAX (UINT32_C(1) << 30) ///< of a rank, and edges likewise
#define WEFT_SCHEDULE_RANKS_MAX (UINT32_C(1) << 24)
#define WEFT_SCHEDULE_COLLECTIVE_MAX UINT64_C(1000000000000) ///< bytes of a collective

struct weft_schedule_step {
    uint64_t size;  ///< bytes of the message; of a compute, picoseconds; of a collective, bytes as nccl-tests counts
    uint32_t peer;  ///< a rank; WEFT_SCHEDULE_ANY for a receive; of a collective, the group
    uint32_t tag;   ///< WEFT_SCHEDULE_ANY for a receive; of a broadcast or gather, the root's number in the group
    uint32_t waits; ///< edges that lead to it
    uint32_t edge0; ///< the first that leads from it; they end at that of the next step
    uint32_t line;  ///< of the text; 0: none
    uint8_t kind;   ///< enum weft_schedule_kind
    uint8_t cpu, nic;
    uint8_t collective; ///< enum weft_schedule_collective
};
static_assert(sizeof(struct weft_schedule_step) == 32, "see the head of this file");

/// An edge is the number of the step that waits, in its rank, and this if it waits for the start only.
#define WEFT_SCHEDULE_AFTER_START (UINT32_C(1) << 31)

struct weft_schedule_rank {
    uint32_t steps, edges;
    struct weft_schedule_step *step; ///< [steps + 1]
    uint32_t *edge;                  ///< by the step that they lead from
    uint64_t offset;                 ///< in a binary GOAL file, of step 0; 0: the file is another one
    const char *file;                ///< where its steps are from
};

struct weft_schedule_group {
    const char *name;
    uint32_t ranks, *rank; ///< in order: number k of the group is rank[k]
    uint32_t *number;      ///< the same numbers, by rank
};
/// The number of a rank in a group; WEFT_NONE: it is not a member.
static inline uint32_t weft_schedule_number(const struct weft_schedule_group *g, uint32_t rank) {
    uint32_t low = 0, high = g->ranks;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (g->rank[g->number[mid]] < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < g->ranks && g->rank[g->number[low]] == rank ? g->number[low] : WEFT_NONE;
}

struct weft_schedule {
    const char *file;
    const char *entry; ///< what `line` of a step counts in its file, as "node"; NULL: lines
    uint32_t ranks, groups;
    uint64_t steps, edges, messages; ///< messages: sends
    uint64_t collectives;            ///< steps of that kind
    weft_bytes bytes;                ///< of all messages, UINT64_MAX at most
    uint32_t cpus, nics;             ///< numbers of streams are below
    struct weft_schedule_rank *rank;
    struct weft_schedule_group *group;
};

// --- making one ---------------------------------------------------------------------------------------------------

/// Ranks are filled in order. What it makes is in the arena; its scratch memory holds one rank.
struct weft_schedule_builder {
    struct weft_schedule *schedule;
    struct weft_arena *arena;
    const char *file; ///< of the rank under way, until it is complete; the schedule's, unless set. It is not copied.
    struct weft_schedule_step *step;
    struct weft_schedule_pair {
        uint32_t from, to;
    } * pair;
    uint32_t steps, pairs, steps_room, pairs_room, rank;
    uint32_t *last; ///< [groups] the step of the group added last in this rank, + 1
    uint32_t groups_room;
};
void weft_schedule_begin(struct weft_schedule_builder *b, const char *file, uint32_t ranks, struct weft_arena *arena);
/// A group of the members in `rank`, in this order; its number. Ranks of a group are checked by weft_schedule_check.
uint32_t weft_schedule_add_group(struct weft_schedule_builder *b, const char *name, const uint32_t *rank,
                                 uint32_t ranks);
/// Adds a step to the current rank (`waits` and `edge0` are ignored). False: the rank has the most steps allowed.
bool weft_schedule_add(struct weft_schedule_builder *b, const struct weft_schedule_step *step);
/// Step `to` waits for step `from`, both of the current rank, which may be added later. False: too many.
bool weft_schedule_add_edge(struct weft_schedule_builder *b, uint32_t from, uint32_t to, bool after_start);
/// The rank is complete; `offset`: of its first step in a binary file, or 0.
void weft_schedule_end_rank(struct weft_schedule_builder *b, uint64_t offset);
/// Frees the builder. Returns the schedule: with all ranks, or, after an error, with those built until then.
struct weft_schedule *weft_schedule_end(struct weft_schedule_builder *b);

// --- asking about it ----------------------------------------------------------------------------------------------

/// "file:line", "file: node N" or "file: byte N", for messages.
const char *weft_schedule_where(const struct weft_schedule *s, uint32_t rank, uint32_t step, char *text, size_t size);
/// The place without the file's name: "line 3", "node 3", "byte 3".
const char *weft_schedule_number_of(const struct weft_schedule *s, uint32_t rank, uint32_t step, char *text,
                                    size_t size);
/// What a step is, as "receive of 8 bytes from rank 3, tag 4".
const char *weft_schedule_what(const struct weft_schedule *s, uint32_t rank, uint32_t step, char *text, size_t size);

/// Whether it can be executed: ranks that exist, sizes below 2^63, no dependencies in a circle, and for each message a
/// receive. Of receives with a wildcard the numbers are checked, not whether a matching exists for every order in which
/// messages can come. Groups have members that exist, each once, and all of them do the same collectives in the same
/// order.
enum weft_status weft_schedule_check(const struct weft_schedule *s, struct weft_error *ret_error);

// --- LogGOPS ------------------------------------------------------------------------------------------------------

/// Times in picoseconds, per byte where the model has them so. Source: Hoefler, Schneider, Lumsdaine, "LogGOPSim",
/// HPDC 2010.
struct weft_loggops {
    weft_time_ps latency_ps;       ///< L
    weft_time_ps overhead_ps;      ///< o, on the CPU at both ends of a message
    weft_time_ps gap_ps;           ///< g, between messages of a NIC
    weft_time_ps gap_byte_ps;      ///< G
    weft_time_ps overhead_byte_ps; ///< O
    weft_bytes eager_bytes;        ///< S: a longer message waits for its receive
};
/// From "L,o,g,G,O,S": five times in ns, with decimals if need be, and bytes.
enum weft_status weft_loggops_parse(const char *text, struct weft_place place, struct weft_loggops *ret,
                                    struct weft_error *ret_error);

struct weft_loggops_result {
    weft_time_ps *end_ps; ///< [ranks] of the last of its CPU streams
    weft_time_ps most_ps;
    uint32_t last; ///< the first rank that ends at most_ps
    uint64_t steps;
};
/// Executes a schedule that weft_schedule_check has accepted. A step that waits for ever: WEFT_ERROR_STALL. Collectives
/// are refused: the model has none.
enum weft_status weft_loggops_run(const struct weft_schedule *s, const struct weft_loggops *model,
                                  struct weft_arena *arena, struct weft_loggops_result *ret,
                                  struct weft_error *ret_error);
