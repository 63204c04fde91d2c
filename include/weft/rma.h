// SPDX-License-Identifier: Apache-2.0
// Remote memory access: clients that read, write and change memory of servers, at a rate. What a client does next is
// drawn when it does it, so a long run needs no list. A workload of `kind: rma` makes a struct weft_rma;
// src/transport/rma.h runs it.
#pragma once

#include "weft/model.h"

/// Who carries an operation: software at both ends, as messages over queue pairs; or 1RMA in hardware.
enum weft_rma_transport { WEFT_RMA_SOFTWARE, WEFT_RMA_1RMA };
enum weft_rma_vcs { WEFT_RMA_VCS_OWN, WEFT_RMA_VCS_BULK };
enum weft_rma_verb { WEFT_RMA_READ, WEFT_RMA_WRITE, WEFT_RMA_ATOMIC, WEFT_RMA_SEND };

/// What processors take, one operation at a time at each host. A processor that had nothing to do for `sleep_after` is
/// in a low-power state, and what comes next waits until it is up.
struct weft_rma_processor {
    weft_time_ps submit_ps, serve_ps, complete_ps; ///< at the client; at the server (software only); at the client
    weft_time_ps sleep_after_ps, wake_up_ps;
};

extern const struct weft_param_table weft_rma_processor_table;

enum { WEFT_RMA_SENDS_MAX = 64 }; ///< entries that a cell can tell apart

struct weft_rma_conf {
    const char *group, *clients, *servers;
    uint32_t transport, verb, vcs;
    weft_bytes size_bytes, index_bytes, header_bytes;
    uint64_t reads;
    double rate;
    weft_time_ps start_ps, duration_ps, warm_up_ps, slot_ps;
    bool itself;
    uint64_t priority, under_way;
    struct weft_rma_processor processor;
    struct weft_model_conf cc;
    bool split;
};

/// A workload entry. Client i and the server j that is another host have connection first[i] + j, less one if the
/// client is itself a server before j. Software: two flows a connection from flow0 on, requests and answers.
struct weft_rma {
    const struct weft_rma_conf *conf;
    uint32_t group, entry; ///< entry: among those of remote memory access
    uint32_t clients, servers;
    const uint32_t *client, *server; ///< hosts
    uint32_t *self;                  ///< of a client: its number among the servers; WEFT_NONE: none
    uint32_t *first;                 ///< [clients + 1]
    uint32_t flow0;
    struct weft_place place;
};

static inline bool weft_rma_is_software(const struct weft_rma *rma) {
    return rma->conf->transport == WEFT_RMA_SOFTWARE;
}

static inline uint32_t weft_rma_connection(const struct weft_rma *rma, uint32_t client, uint32_t server) {
    return rma->first[client] + server - (rma->self[client] < server);
}

/// Of times of operations; all 0 if there were none. Percentiles are exact to 0.4 %.
struct weft_rma_times {
    weft_time_ps mean_ps, p50_ps, p95_ps, p99_ps, p999_ps, max_ps;
};

/// What the operations of an entry did. X(field, type, meaning)
#define WEFT_RMA_COUNTERS(X)                                                                                           \
    X(issued, COUNT, "operations that clients began")                                                                  \
    X(completed, COUNT, "operations that are complete")                                                                \
    X(bytes, BYTES, "bytes of values that complete operations read, wrote or changed")                                 \
    X(requests, COUNT, "requests sent, chained reads and retries included")                                            \
    X(dispatch_timeouts, COUNT, "requests that waited too long for the solicitation window")                           \
    X(timeouts, COUNT, "requests whose answer did not come in time")                                                   \
    X(retries, COUNT, "requests made again after a timeout, or after waiting too long for the solicitation window")
struct weft_rma_outcome {
#define X(field, type, help) uint64_t field;
    WEFT_RMA_COUNTERS(X)
#undef X
    struct weft_rma_times latency;   ///< of an operation, from when the client begins it until it has it all
    struct weft_rma_times execution; ///< 1RMA: of a request, from the command at the hardware to its completion
};
