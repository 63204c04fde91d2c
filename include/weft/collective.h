// SPDX-License-Identifier: Apache-2.0
// Collectives as schedules. The work of a rank is a few lanes that run side by side; a lane is a sequence of steps, one
// after the other. A step waits for a piece from each rank in `recv`, adds the rank's own piece to it if `own`, puts
// the result into the rank's array if `keep`, and hands it to each rank in `send`. Which step comes k-th is a pure
// function, so nothing is generated beforehand: a rank's state is one 64-bit index a lane and the step there, and what
// a DAG would say with edges follows from the order in a lane and from the pieces of a connection arriving in order. A
// connection (from a rank to a rank, in a channel) belongs to one lane at each end, and holds a bounded number of
// pieces: a step that sends waits for room. All the same at every size: 104 bytes a rank and channel for a ring of
// 1024, or an exchange among 256. Steps from a file (`load`) may also wait for another lane of their rank.
#pragma once

#include "weft/model.h"

enum { WEFT_STEP_PEERS = 3 };

struct weft_nccl_machine;

struct weft_step {
    uint32_t recv[WEFT_STEP_PEERS], send[WEFT_STEP_PEERS]; ///< ranks; WEFT_NONE: none, and none after it
    uint32_t channel;
    weft_bytes offset; ///< of the piece, in the collective's array; see enum weft_collective_goal
    weft_bytes bytes;  ///< 0: nothing to do, at either end
    bool own, keep;
    /// Within a server whose switch adds and copies: pieces of so many ranks take the receiver's port as long as one
    /// together, and pieces for so many the sender's. 0: as 1.
    uint16_t merged, copied;
    uint16_t percent;   ///< of the channel's threads that do it, and of the copy rate; 0: all
    uint32_t wait_lane; ///< of the same rank: it has done `wait_steps` of its steps before this one begins
    uint64_t
        wait_steps; ///< 0: it waits for no lane. A step of 0 bytes that waits is done when that lane has come so far
};

/// What a collective is for. The array that offsets count in, and what is in it before and after, in parts of
/// size / ranks (as even as whole bytes allow; size as nccl-tests means it):
enum weft_collective_goal {
    WEFT_GOAL_ALL_REDUCE,     ///< each rank's array: its own -> the sum of all ranks'
    WEFT_GOAL_REDUCE_SCATTER, ///< each rank's array: its own -> in part r of rank r, the sum of all ranks'
    WEFT_GOAL_ALL_GATHER,     ///< part r of rank r (or as `owner` says) -> all parts at every rank
    WEFT_GOAL_BROADCAST,      ///< the root's array -> at every rank
    WEFT_GOAL_REDUCE,         ///< each rank's array: its own -> at the root, the sum of all ranks'
    WEFT_GOAL_EXCHANGE,       ///< part (s, d), which is part s * ranks + d, at s -> at d
    WEFT_GOAL_NEXT,           ///< the array of rank r -> at rank r + 1, offset by its sender times size
    WEFT_GOAL_OTHER,          ///< none of these
    WEFT_GOALS
};

/// The order of the ranks of a server in each channel of rings and trees, as NCCL finds it for a machine. A ring goes
/// through the servers in turn, each in its order; in a tree a server is a chain, whose first rank has the parent.
struct weft_channel_order {
    uint32_t servers;         ///< different ones, for all in turn
    uint32_t channels, ranks; ///< ranks: of a server
    const uint32_t *rank;     ///< [(server * channels + channel) * ranks + k]: the k-th, as its number in the server
    const uint32_t *place;    ///< the inverse of `rank`: [(server * channels + channel) * ranks + number] is k
    uint32_t child[2];        ///< which of the chain has the lower child, and the higher one, in the tree of servers
};
static inline const uint32_t *weft_channel_row(const struct weft_channel_order *o, const uint32_t *rows,
                                               uint32_t server, uint32_t channel) {
    return &rows[((size_t)(server % o->servers) * o->channels + channel % o->channels) * o->ranks];
}

/// The group of a collective, and its size.
struct weft_collective_shape {
    uint32_t ranks;
    uint32_t per_server;                     ///< so many ranks after one another share a server; divides `ranks`
    weft_bytes bytes;                        ///< size
    uint32_t root;                           ///< where there is one
    const struct weft_channel_order *order;  ///< of per_server ranks each; NULL: as the collective has it
    uint32_t per_nic;                        ///< GPUs that share a NIC; 0: each has its own
    enum weft_collective_goal wanted;        ///< what the operation is for, where its place says so
    bool pxn;                                ///< servers come from NCCL's files, and NCCL would use PXN
    const struct weft_nccl_machine *machine; ///< the servers; its nodes 0: not chosen as NCCL does; NULL: not known
};

/// What every collective shares; first member of every configuration.
struct weft_collective_common {
    uint64_t channels; ///< 0: chosen by the collective
    weft_bytes chunk_bytes, slice_bytes;
    uint64_t slots; ///< pieces that a connection's buffer holds
    weft_time_ps step_ps;
    weft_time_ps latency_ps,
        inner_latency_ps; ///< of a step, which the next one need not wait for: over the network, in a server
    weft_time_ps
        hand_ps; ///< of latency_ps, until the sender's proxy knows of the message; the rest passes at the receiver
    weft_time_ps proxy_ps;       ///< of the rank's proxy, for each message to or from the network
    weft_rate_bps copy_rate_bps; ///< 0: no limit
    bool through; ///< within a server, GPUs write into one another's memory: a message leaves while it is copied
    weft_time_ps idle_ps; ///< and after a message NVLink waits so long, as all channels are between two steps at once
    /// What it costs a step to read a piece (what comes, its own) and to write it (into its array, to others), beside
    /// the copy rate, at which it adds what comes to its own and sends the sum: two reads and a write. 0: no matter.
    uint16_t read_permille, write_permille;
    uint32_t strands; ///< a connection stands for so many between servers, and a message for one on each; 0: for itself
    weft_bytes grain_bytes; ///< within a server, what arrives is worked on as it arrives, so many bytes at a time,
                            ///< because each line has its own flag (LL, LL128); 0: once a piece has arrived
    uint32_t up_percent; ///< of a channel's threads that add on the way up a tree, while the others send down; 0: all
                         ///< of them do both
};
/// The rows of weft_collective_common for a table; T must have it as member `common`.
#define WEFT_COLLECTIVE_ROWS(T, chunk, slice, slot_number)                                                             \
    WEFT_UINT(                                                                                                         \
        T, common.channels, "channels", "0", "0", "64",                                                                \
        "parts of the data that are sent in parallel, each over its own connections; 0: chosen by the collective"),    \
        WEFT_BYTES(T, common.chunk_bytes, "chunk", chunk, "1KB", "1GB",                                                \
                   "bytes that a rank works on before the next chunk"),                                                \
        WEFT_BYTES(T, common.slice_bytes, "slice", slice, "1KB", "1GB",                                                \
                   "part of a chunk that is sent as one message"),                                                     \
        WEFT_UINT(T, common.slots, "slots", slot_number, "1", "64", "messages that a connection's buffer holds"),      \
        WEFT_TIME(T, common.step_ps, "step_delay", "0s", "0s", "1ms",                                                  \
                  "time per step, in addition to copying (assumed; the fixed part of a network hop's latency)"),       \
        WEFT_RATE(T, common.copy_rate_bps, "copy_rate", "0bps", "0bps", "100Tbps",                                     \
                  "rate at which a lane copies and reduces; 0: never the bottleneck")

/// What a lane of a rank sends in all its steps to one rank.
struct weft_sent {
    uint32_t peer, channel;
    weft_bytes bytes;             ///< 0: nothing
    weft_bytes message_bytes_max; ///< or a byte more, where parts that are not sent are a byte larger
    uint64_t messages;
    uint16_t slots; ///< of the connection; 0: as weft_collective_common has it
};

/// A collective of a job's operation, as configured. `load` replaces the fields that a file or the shape decides.
struct weft_collective_loaded {
    const struct weft_collective_ops *ops;
    const void *conf; ///< passed to the functions of `ops`; begins with struct weft_collective_common
    size_t conf_size; ///< 0: not known; else operations with equal bytes share their connections
    enum weft_collective_goal goal;
    struct weft_collective_shape shape;
    uint32_t qps; ///< of each connection of the job; 0: as that says
    bool split;   ///< a message is divided among these
};

struct weft_collective_ops {
    enum weft_collective_goal goal; ///< with `load`: as that says
    /// Optional: reads the file or chooses the algorithm that defines the steps, and checks that it fits the shape.
    /// Errors outside the file are reported at `place`. The configuration lives as long as the arena. A loaded
    /// collective is valid for one number of ranks and, if `by_size` is set, for one size.
    enum weft_status (*load)(struct weft_place place, struct weft_arena *arena, struct weft_collective_loaded *loaded,
                             struct weft_error *ret_error);
    bool (*by_size)(const void *conf); ///< NULL: it is not
    /// Optional: so many of the ranks, the last ones, are processors of switches, and the others hosts of their server.
    uint64_t (*processors)(const void *conf);
    bool may_deadlock; ///< nothing says that the steps of a file end: they are executed before a run
    /// All required; pure. Lanes of every rank; steps of a lane; step `index` of a lane. One rank has no steps.
    uint32_t (*lanes)(const void *conf, const struct weft_collective_shape *shape);
    uint64_t (*steps)(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane);
    void (*step)(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 uint64_t index, struct weft_step *ret_step);
    /// Optional, faster than `step`: `plan` computes what all steps of a lane share, once, into plan_size bytes of the
    /// caller; `planned` then returns the same steps as `step`.
    size_t plan_size;
    void (*plan)(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 void *ret_plan);
    void (*planned)(const void *plan, uint64_t index, struct weft_step *ret_step);
    /// Optional, with `planned`: how many steps, from this one on, have its peers and its bytes; 1 at least. It may be
    /// too small.
    uint64_t (*alike)(const void *plan, uint64_t index);
    /// `sent` or `sends` with `send` is required: bytes per destination without a walk over all steps. `sent`: sums
    /// over all steps of a lane that sends to few ranks; returns how many ranks.
    uint32_t (*sent)(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                     struct weft_sent ret_sent[WEFT_STEP_PEERS]);
    /// For collectives that send straight to each destination: number of destinations, and bytes to each.
    uint32_t (*sends)(const void *conf, const struct weft_collective_shape *shape, uint32_t rank);
    void (*send)(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                 struct weft_sent *ret_sent);
    /// Optional: least number of destinations per rank. A job with too many connections is refused by it, before any
    /// is counted.
    uint32_t (*peers_min)(const void *conf, const struct weft_collective_shape *shape);
    /// Optional: true if ranks forward messages of other ranks (PXN).
    bool (*relays)(const void *conf, const struct weft_collective_shape *shape);
    /// Optional, with `sends` and `channels`: bytes of the data for `dst`, from any sender. If a rank has one send per
    /// peer, connections can then be counted without being made.
    weft_bytes (*part_for)(const void *conf, const struct weft_collective_shape *shape, uint32_t dst);
    /// Optional: channels in use, if that is not the largest one in which something is sent.
    uint32_t (*channels)(const void *conf, const struct weft_collective_shape *shape);
    /// Optional, for collectives that repeat one loop: the size at which only the first and the last loop are left.
    weft_bytes (*shortened)(const void *conf, const struct weft_collective_shape *shape);
    /// For WEFT_GOAL_EXCHANGE, or others whose parts differ: bytes of part (s, d). NULL: size / ranks.
    weft_bytes (*part)(const void *conf, const struct weft_collective_shape *shape, uint32_t src, uint32_t dst);
    /// For WEFT_GOAL_ALL_GATHER: whose bytes lie at `offset`, and where they end. NULL: part r is of rank r.
    uint32_t (*owner)(const void *conf, const struct weft_collective_shape *shape, weft_bytes offset,
                      weft_bytes *ret_end);
};

/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines it (PERFORMANCE.md there): what makes the figure of
/// a perfect network equal to its link rate, whatever the number of ranks.
double weft_calc_bus_factor(enum weft_collective_goal goal, uint32_t ranks);
