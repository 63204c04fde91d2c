// SPDX-License-Identifier: Apache-2.0
// Training jobs: each rank repeats the same operations, compute and collectives over groups of ranks. The schedules of
// collectives are functions (weft/collective.h), so a job holds no list of messages, only pairs of ranks that talk.
#pragma once

#include <assert.h>

#include "weft/collective.h"
#include "weft/nccl.h"
#include "weft/schedule.h"
#include "weft/topology.h"

struct weft_placement_problem; // weft/placement.h
struct weft_moe;               // weft/moe.h
struct weft_training;          // weft/training.h

/// Servers of GPUs, joined by a network inside the server. A host is a NIC, of one GPU or shared by several.
struct weft_server_conf {
    const char *kind; ///< its class of hardware (weft/hardware.h)
    uint64_t gpus, nics;
    uint32_t cabling, within; ///< enum weft_cabling, weft_within
    weft_rate_bps rate_bps;
    weft_time_ps latency_ps;
    uint64_t links;           ///< NVLinks of a GPU
    uint32_t generation, cpu; ///< enum weft_nccl_generation, weft_nccl_cpu
    bool nvls;
    weft_time_ps launch_ps; ///< of a collective, without spread; 0: as its hosts have it (weft/device.h)
    struct weft_nccl_costs costs;
};
enum weft_cabling { WEFT_CABLING_RACK, WEFT_CABLING_RAIL };
enum weft_within { WEFT_WITHIN_SERVER, WEFT_WITHIN_NETWORK };
extern const struct weft_param_table weft_server_table, weft_occupied_table; ///< the latter: servers that are not free
extern const struct weft_param_table weft_operation_table; ///< of an entry of a job's list `operations`
extern const struct weft_param_table weft_pipeline_table;  ///< of the key `pipeline` of such an entry

/// One operation, the same at all ranks: first compute, then a collective among each group.
struct weft_job_op {
    const char *name; ///< of the collective; NULL: it only computes
    const char *over; ///< dimension of the job that its groups lie along; NULL: all ranks, or none is named
    weft_time_ps compute_ps;
    const struct weft_collective_ops *ops;
    const void *conf; ///< begins with struct weft_collective_common
    size_t conf_size; ///< of weft_collective_loaded
    weft_bytes size;  ///< as written: what is reported; shape.bytes: what goes over the wire
    enum weft_collective_goal goal;
    struct weft_collective_shape shape;
    uint32_t stride; ///< rank r is number r / stride % shape.ranks of its group; its neighbours are a stride away
    bool reversed;   ///< the last of them is number 0
    const struct weft_schedule_group *group; ///< of a schedule, instead of the two above: the only group
    const struct weft_schedule_step *step;   ///< likewise: one of the steps that are this operation
    uint32_t communicator;
    uint32_t volume;          ///< among its communicator's; those with the same one pass the same messages
    uint32_t times;           ///< with so many that follow, reported as one; 0: not by itself
    weft_time_ps measured_ps; ///< time measured elsewhere, mean of `times`; 0: not known
    bool overlap;             ///< go on at once; it is waited for at the end of the iteration
};

/// Collectives with one algorithm over the same groups share connections, and come one after another. Of a schedule:
/// collectives with one algorithm, over groups without a common rank.
struct weft_communicator {
    uint32_t lanes_max, channels, volumes;
    uint32_t op; ///< the first one
};

/// A stage does this next: an operation, or of one that passes something on (send_recv) one half.
struct weft_job_turn {
    uint32_t op;
    uint32_t part; ///< enum weft_turn_part
};
enum weft_turn_part { WEFT_TURN_WHOLE, WEFT_TURN_RECEIVE, WEFT_TURN_SEND }; ///< SEND: goes on at once

/// What ranks do in an iteration, in order. Without a pipeline there is one stage, with every operation.
struct weft_job_stage {
    uint32_t turns;
    struct weft_job_turn *turn;
    struct weft_job_order {
        uint32_t turns, *turn;
    } * order; ///< [communicators]: the turns of each
};

/// From a rank to a rank in a channel of a communicator.
struct weft_connection {
    uint32_t src, dst; ///< ranks
    uint16_t communicator, channel;
    uint16_t slots, rings; ///< rings: slots that are ever used, no more than it has messages in the run
    uint32_t flow;         ///< among all; WEFT_NONE: within a server, not over the network
    weft_bytes bytes;      ///< in the whole run
    weft_bytes message_bytes_max;
    uint8_t plane;      ///< as in struct weft_flow
    bool inside;        ///< its ranks are of one server: no proxy and no NIC driver has to do with its messages
    uint32_t *messages; ///< [volumes of its communicator]: in one operation; of sends of a schedule: NULL
};

/// What a rank sends to another rank with one tag, by one NIC; 0, unless tags or NICs have connections of their own.
struct weft_job_tag {
    uint32_t peer, tag, plane;
};

struct weft_job {
    const struct weft_model_conf *entry; ///< that it comes from
    struct weft_place place;             ///< of its entry
    uint32_t group;                      ///< index into weft_workload.group, of its flows too
    uint32_t ranks, ops, communicators, iterations;
    uint32_t *host;                        ///< of a rank; ranks whose GPUs share a NIC have the same one
    uint32_t *gpu;                         ///< of a rank: the number of its GPU in its server
    struct weft_placement_problem *places; ///< of whole servers; NULL: its hosts are no whole servers, or as listed
    struct weft_job_op *op;
    uint32_t stages, stage_stride; ///< rank r is of stage r / stage_stride % stages
    struct weft_job_stage *stage;
    struct weft_communicator *communicator;
    struct weft_server_conf server;
    struct weft_nccl_machine *machine;    ///< its servers, as NCCL sees them
    const struct weft_moe *moe;           ///< of expert-parallel traffic (weft/moe.h); NULL: it is something else
    const struct weft_training *training; ///< the model and plan that it is made of (weft/training.h); NULL: as written
    weft_time_ps start_ps;
    double channel_cost; ///< part of the GPU that a channel of a collective under way takes
    double slow_factor;  ///< rank slow_rank computes so many times as long
    uint32_t slow_rank;
    bool unadmitted; ///< senders do not wait for a clear-to-send
    uint64_t cts_priority;
    uint64_t qps;      ///< of a connection
    uint32_t nccl_qps; ///< as one of its collectives says (NCCL_IB_QPS_PER_CONNECTION); 0: none does
    bool split;        ///< a message goes over all queue pairs of its connection, not whole over the next one
    uint32_t connections;
    struct weft_connection *connection; ///< by source, communicator, channel, destination
    uint32_t *first;                    ///< [ranks + 1], of a source's connections
    /// What its ranks do; NULL: the operations, by stages. Operations are then the schedule's collectives, in the order
    /// of weft_job_find_op, there are no iterations, and sends have the communicator behind the last.
    const struct weft_schedule *schedule;
    bool tag_connections; ///< tags have connections of their own
    uint32_t planes;      ///< NICs of a rank, each with connections of its own; NIC n sends by plane n % planes. 0: one
    struct weft_job_tag *tag; ///< of a rank's sends, by peer, tag and NIC; NULL: neither has connections of its own
    uint32_t *tag_first;      ///< [ranks + 1], of a rank's
};

/// The GPUs of a host, which share its NIC: their server, among those of its network, and their numbers there.
struct weft_host_gpus {
    uint32_t server, gpus;
    uint32_t first;         ///< their numbers are first, first + 1, ...
    const uint32_t *number; ///< unless NULL, their numbers in place of `first`, first + 1, ...
};
/// Servers are the topology's machines if it has them, else equal parts of a network's hosts.
struct weft_host_gpus weft_server_of(const struct weft_server_conf *server, const struct weft_topology *topology,
                                     uint32_t host);
/// Number of NICs that a host's machine lacks for such a server (links that are dead or in no file). 0: none, or
/// there are no machines.
uint32_t weft_server_missing(const struct weft_server_conf *server, const struct weft_topology *topology,
                             uint32_t host);
static inline uint32_t weft_host_gpu(const struct weft_host_gpus *h, uint32_t k) {
    return h->number ? h->number[k] : h->first + k;
}
/// Index of the host's GPU with that number in its server; WEFT_NONE: no such GPU.
static inline uint32_t weft_host_gpu_find(const struct weft_host_gpus *h, uint32_t gpu) {
    uint32_t k = 0;
    while (k < h->gpus && weft_host_gpu(h, k) != gpu)
        k++;
    return k < h->gpus ? k : WEFT_NONE;
}

/// The rank that is number `k` of the group of `rank`, and the number of a rank in its group.
static inline uint32_t weft_job_number(const struct weft_job_op *op, uint32_t rank) {
    if (op->group) return weft_schedule_number(op->group, rank);
    uint32_t number = rank / op->stride % op->shape.ranks;
    return op->reversed ? op->shape.ranks - 1 - number : number;
}
/// Number k of the group in which `rank` is number `number`.
static inline uint32_t weft_job_fellow(const struct weft_job_op *op, uint32_t rank, uint32_t number, uint32_t k) {
    if (op->group) return op->group->rank[k];
    uint32_t steps = (k - number) * op->stride; // modulo 2^32
    return op->reversed ? rank - steps : rank + steps;
}
static inline uint32_t weft_job_member(const struct weft_job_op *op, uint32_t rank, uint32_t k) {
    return weft_job_fellow(op, rank, weft_job_number(op, rank), k);
}
static inline uint32_t weft_job_stage_of(const struct weft_job *job, uint32_t rank) {
    return rank / job->stage_stride % job->stages;
}

/// What the ranks do, with collectives: the job's own schedule, or one made of its operations. Algorithms, channels and
/// channel_cost are not in it. All-to-alls whose parts differ in size: an error. `name`: for messages.
enum weft_status weft_job_schedule(const struct weft_job *job, const char *name, struct weft_arena *arena,
                                   const struct weft_schedule **ret_schedule, struct weft_error *ret_error);

/// What a rank computes before an operation, alone; and what each step of a collective takes besides its messages.
static inline weft_time_ps weft_job_compute_time(const struct weft_job *job, uint32_t rank,
                                                 const struct weft_job_op *op) {
    if (rank != job->slow_rank) return op->compute_ps;
    return weft_time_of_real((double)op->compute_ps * job->slow_factor);
}
static inline weft_time_ps weft_job_step_time(const struct weft_job_op *op, weft_bytes bytes) {
    const struct weft_collective_common *c = op->conf;
    if (!bytes) return 0;
    return c->step_ps + (c->copy_rate_bps ? weft_time_of_bytes(bytes, c->copy_rate_bps) : 0);
}

/// Connections, each with the job's queue pairs, for which a connection stands.
static inline uint32_t weft_job_strands(const struct weft_job *job, const struct weft_connection *c) {
    if (c->communicator >= job->communicators) return 1; // of a schedule
    const struct weft_collective_common *common = job->op[job->communicator[c->communicator].op].conf;
    return common->strands ? common->strands : 1;
}

/// Whether a message goes over all queue pairs of its connection, not whole over the next one.
static inline bool weft_job_splits(const struct weft_job *job, const struct weft_connection *c) {
    return job->split || weft_job_strands(job, c) > 1;
}

// Rings: a group of ranks is a ring in lane k of an operation if `sent` of that lane has one peer at every number of
// the group (op->ops is without `sends`), and who follows the peers from number 0 is back there after shape.ranks of
// them. Every step of the lane then receives from the number before and sends to the number after, and `alike` of the
// collective says how many steps in sequence have equal bytes. A group is weft_job_member(op, rank, 0 ..
// shape.ranks - 1), the groups of an operation have the same steps by number (weft_job_number), and operations with
// equal communicator and volume pass the same messages: it is enough to look at one of them. Nothing is stored: the
// turns of a stage (weft_job_stage) name the operations in order, and this finds the steps of a lane one by one.

/// The first step from *index on, of a lane of `steps`, in which there is something to do in a turn; false: there is
/// none. `number`: of the rank in its group; `plan`: what the collective's `plan` made, or NULL.
static inline bool weft_job_find_step(const struct weft_job_op *op, uint32_t part, uint32_t number, uint32_t lane,
                                      const void *plan, uint64_t steps, uint64_t *index, struct weft_step *ret_step) {
    for (; *index < steps; ++*index) {
        if (plan)
            op->ops->planned(plan, *index, ret_step);
        else
            op->ops->step(op->conf, &op->shape, number, lane, *index, ret_step);
        bool of_part =
            part == WEFT_TURN_WHOLE || (part == WEFT_TURN_RECEIVE ? ret_step->recv : ret_step->send)[0] != WEFT_NONE;
        if ((ret_step->bytes || ret_step->wait_steps) && of_part) return true;
    }
    return false;
}
/// A rank waits for the end of an operation before it goes on to the next turn.
static inline bool weft_job_turn_blocks(const struct weft_job *job, const struct weft_job_turn *turn) {
    return !job->op[turn->op].overlap && turn->part != WEFT_TURN_SEND;
}

static inline int weft_job_compare_steps(const struct weft_schedule_step *x, const struct weft_schedule_step *y) {
    if (x->peer != y->peer) return x->peer < y->peer ? -1 : 1;
    if (x->collective != y->collective) return x->collective < y->collective ? -1 : 1;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/// The operation that a step of the job's schedule is; its group has at least two ranks.
static inline uint32_t weft_job_find_op(const struct weft_job *job, const struct weft_schedule_step *step) {
    uint32_t low = 0, high = job->ops;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (weft_job_compare_steps(job->op[mid].step, step) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    assert(low < job->ops && !weft_job_compare_steps(job->op[low].step, step));
    return low;
}

static inline struct weft_job_tag weft_job_tag_of(const struct weft_job *job, const struct weft_schedule_step *send) {
    return (struct weft_job_tag){send->peer, job->tag_connections ? send->tag : 0,
                                 job->planes ? send->nic % job->planes : 0};
}
static inline int weft_job_compare_tags(const struct weft_job_tag *a, const struct weft_job_tag *b) {
    if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
    if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
    return (a->plane > b->plane) - (a->plane < b->plane);
}

/// The first of the tags of a rank that does not stand before this one; the number of all: there is none.
static inline uint32_t weft_job_find_tag(const struct weft_job *job, uint32_t rank, struct weft_job_tag tag) {
    uint32_t low = job->tag_first[rank], high = job->tag_first[rank + 1];
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (weft_job_compare_tags(&job->tag[mid], &tag) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/// The channel of a message of a schedule: the place of its tag and NIC among those of the two ranks.
static inline uint32_t weft_job_tag_channel(const struct weft_job *job, uint32_t rank, struct weft_job_tag tag) {
    if (!job->tag) return 0;
    return weft_job_find_tag(job, rank, tag) - weft_job_find_tag(job, rank, (struct weft_job_tag){.peer = tag.peer});
}

/// The connection from `src` to `dst`, which there must be, as a number of job->connection.
static inline uint32_t weft_job_find_connection(const struct weft_job *job, uint32_t src, uint32_t communicator,
                                                uint32_t channel, uint32_t dst) {
    uint32_t low = job->first[src], high = job->first[src + 1];
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct weft_connection *c = &job->connection[mid];
        bool before = c->communicator != communicator ? c->communicator < communicator
                      : c->channel != channel         ? c->channel < channel
                                                      : c->dst < dst;
        if (before)
            low = mid + 1;
        else
            high = mid;
    }
    assert(low < job->first[src + 1] && job->connection[low].dst == dst && job->connection[low].channel == channel);
    return low;
}
