// SPDX-License-Identifier: Apache-2.0
// Training jobs: each rank repeats the same operations, compute and collectives over groups of ranks. The schedules of
// collectives are functions (weft/collective.h), so a job holds no list of messages, only who talks to whom.
#ifndef WEFT_JOB_H
#define WEFT_JOB_H

#include "weft/collective.h"
#include "weft/topology.h"

struct weft_place_problem; // weft/place.h

/// Servers of GPUs, a host each with a NIC of its own, joined by a network inside the server.
struct weft_server_conf {
    uint64_t gpus;
    uint32_t cabling; ///< enum weft_cabling
    weft_rate_bps rate_bps;
    weft_time_ps latency_ps;
};
enum weft_cabling { WEFT_CABLING_RACK, WEFT_CABLING_RAIL };
extern const struct weft_param_table weft_server_table, weft_occupied_table; ///< the latter: servers that are not free
extern const struct weft_param_table weft_operation_table; ///< of an entry of a job's list `operations`

/// One operation, the same at all ranks: first compute, then a collective among each group.
struct weft_job_op {
    const char *name; ///< of the collective; NULL: it only computes
    weft_time_ps compute_ps;
    const struct weft_collective_ops *ops;
    const void *conf; ///< begins with struct weft_collective_common
    struct weft_collective_shape shape;
    uint32_t stride; ///< rank r is number r / stride % shape.ranks of its group; its neighbours are a stride away
    uint32_t communicator;
    uint32_t times; ///< with so many that follow, reported as one; 0: not by itself
    bool overlap;   ///< go on at once; it is waited for at the end of the iteration
};

/// Collectives with one algorithm over the same groups share connections, and come one after another.
struct weft_communicator {
    uint32_t lanes_max, channels;
    uint32_t ops, *op; ///< of the job, in order
};

/// From a rank to a rank in a channel of a communicator.
struct weft_connection {
    uint32_t src, dst; ///< ranks
    uint16_t communicator, channel;
    uint16_t slots;
    uint32_t flow;    ///< among all; WEFT_NONE: within a server, not over the network
    weft_bytes bytes; ///< in the whole run
    weft_bytes message_bytes_max;
};

struct weft_job {
    uint32_t group; ///< index into weft_workload.group, of its flows too
    uint32_t ranks, ops, communicators, iterations;
    uint32_t *host;                    ///< of a rank
    struct weft_place_problem *places; ///< of whole servers; NULL: its hosts are no whole servers, or as listed
    struct weft_job_op *op;
    struct weft_communicator *communicator;
    struct weft_server_conf server;
    weft_time_ps start_ps;
    double channel_cost; ///< part of the GPU that a channel of a collective under way takes
    double slow_factor;  ///< rank slow_rank computes so many times as long
    uint32_t slow_rank;
    bool unadmitted; ///< senders do not wait for a clear-to-send
    uint64_t cts_priority;
    bool split; ///< a message goes over all queue pairs of its connection, not whole over the next one
    uint32_t connections;
    struct weft_connection *connection; ///< by source, communicator, channel, destination
    uint32_t *first;                    ///< [ranks + 1], of a source's connections
};

/// The server of a host among those of its network, which are the topology's machines if it has them, and its number
/// there.
uint32_t weft_server_of(const struct weft_server_conf *server, const struct weft_topology *topology, uint32_t host,
                        uint32_t *ret_gpu);

/// The rank that is number `k` of the group of `rank`, and the number of a rank in its group.
static inline uint32_t weft_job_number(const struct weft_job_op *op, uint32_t rank) {
    return rank / op->stride % op->shape.ranks;
}
static inline uint32_t weft_job_member(const struct weft_job_op *op, uint32_t rank, uint32_t k) {
    return rank + (k - weft_job_number(op, rank)) * op->stride; // modulo 2^32
}

#endif
