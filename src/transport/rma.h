// SPDX-License-Identifier: Apache-2.0
// Running clients of remote memory access. rma.c is what all transports share: when operations start, on which server,
// what they measure. rma_software.c carries them as messages of queue pairs between NICs.
#pragma once

#include "transport/endpoint.h"
#include "weft/histogram.h"
#include "weft/rma.h"

/// Measurements of an entry's operations, at the clients that one worker runs.
struct weft__rma_stats {
#define X(field, type, help) uint64_t field;
    WEFT_RMA_COUNTERS(X)
#undef X
    struct weft_histogram latency, execution;
};

/// An operation in progress at its client.
struct weft__rma_op {
    weft_time_ps begun_ps;
    uint32_t server; ///< the server's index in the entry
    uint32_t left;   ///< reads left, including this one
    uint32_t next;   ///< next in a list of waiting ones
};

struct weft__rma_run;
struct weft__rma_client {
    const struct weft_rma *rma;
    uint32_t index; ///< among the entry's clients
    struct weft__rma_stats *stats;
    struct weft_random arrival, choice;
    weft_time_ps next_ps; ///< when the next operation starts
    bool over;            ///< there will be no other
    uint32_t under_way;
    struct weft__rma_op *op;
    uint32_t ops, free; ///< capacity; head of the list of free ones
};

/// The client starts its first operation at client->next_ps.
void weft__rma_client_init(struct weft__rma_client *client, const struct weft_rma *rma, uint32_t index, uint64_t seed);
void weft__rma_client_deinit(struct weft__rma_client *client);
/// Starts an operation now. next_ps is set to the start of the following one, never if there is none.
uint32_t weft__rma_begin(struct weft__rma_client *client, struct weft__worker *w);
/// Bytes of value that an operation's request asks for or carries.
uint32_t weft__rma_bytes(const struct weft__rma_client *client, const struct weft__rma_op *op);
/// A request of the operation has been answered. True: the operation is complete and freed. False: it needs another
/// request.
bool weft__rma_answered(struct weft__rma_client *client, struct weft__worker *w, uint32_t op);
/// The request of an operation that nobody answers has left; then: it has arrived. `begun`: when the operation started.
void weft__rma_sent(struct weft__rma_client *client, struct weft__worker *w, uint32_t op);
void weft__rma_came(const struct weft__rma_run *run, struct weft__worker *w, uint32_t entry, weft_time_ps begun);

/// Whether an operation that started then counts in percentiles.
static inline bool weft__rma_counts(const struct weft_rma *rma, weft_time_ps begun) {
    return begun >= rma->conf->start_ps + rma->conf->warm_up_ps;
}

/// The processor of a host: one piece of work at a time.
struct weft__rma_processor {
    weft_time_ps busy_until_ps;
};
/// When a piece of work that arrives now will be done.
weft_time_ps weft__rma_work(struct weft__rma_processor *p, const struct weft_rma_processor *conf, weft_time_ps now,
                            weft_time_ps cost);

// --- software -----------------------------------------------------------------------------------------------------

/// One direction of a connection: messages on a queue pair, numbered from 0. At most `slots` are in progress.
struct weft__rma_pipe {
    uint32_t qp;
    uint32_t filled, acked, now, psn_end; ///< the sender's; now: the message being sent
    weft_time_ps next_ps;                 ///< when it may start another; kept if host.work_request_qp is set
    struct weft__rma_message {
        uint32_t psn, psn_end, bytes, op, wanted; ///< wanted: bytes of the answer
    } * message; ///< message m: [m % slots]; the receiver reads it when the message has arrived
};

struct weft__rma_connection {
    uint32_t rma, client; ///< rma: the entry; client: its index among the entry's clients
    uint32_t slots;
    struct weft__rma_pipe request, answer;
    uint32_t asked, answered;             ///< at the client: requests
    uint32_t waiting_first, waiting_last; ///< there too: operations that wait for a slot
    uint32_t came, served;                ///< at the server: requests
};

/// What a host does for transports in software.
struct weft__rma_host {
    uint32_t clients;
    struct weft__rma_client *client;
    struct weft__rma_processor processor;
    struct weft__fifo work;    ///< time_ps: when done; qp: connection; psn: operation; flags: enum work
    uint32_t key0;             ///< timers: the processor's, then those of the clients
    struct weft__rma_log *log; ///< NULL: not followed
};

/// All remote memory access of a run.
struct weft__rmas {
    const struct weft_rma *rma; ///< entries
    uint32_t connections;
    struct weft__rma_connection *connection; ///< [connections] of software entries
    uint32_t *connection0;                   ///< [entries]
    uint32_t *of_flow;                       ///< flow -> connection; only for flows of entries
    uint32_t **client_at;                    ///< [entry][client]: its number among the clients of its host
};

/// And where its parts are.
struct weft__rma_run {
    struct weft__rmas all;
    struct weft__rma_client ***client; ///< [entry][client]
    struct weft__rma_host **host;      ///< [hosts]; NULL: neither client nor server in software
    struct weft__rma_stats **stats;    ///< [entry * workers + worker]; NULL: none of its clients there
    uint32_t workers;
};

uint32_t weft__rma_host_keys(const struct weft__rma_host *host);
void weft__rma_host_start(struct weft__node *node, struct weft__endpoint *end);
void weft__rma_host_on_timer(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t key);

/// Whether a queue pair belongs to remote memory access.
static inline bool weft__rma_has(const struct weft__endpoint *end, uint32_t qp) {
    return end->hosts->rmas && end->hosts->flow[end->hosts->qp[qp].flow].rma;
}
/// Like weft__message_packet, _pace, _last_payload, _arrived and _acked for queue pairs of jobs.
void weft__rma_packet(struct weft__endpoint *end, uint32_t qp, struct weft_packet *p);
weft_time_ps weft__rma_pace(struct weft__endpoint *end, uint32_t qp, uint32_t psn, weft_time_ps next_ps);
uint32_t weft__rma_last_payload(const struct weft__endpoint *end, const struct weft_packet *p);
void weft__rma_arrived(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
void weft__rma_acked(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
