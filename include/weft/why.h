// SPDX-License-Identifier: Apache-2.0
// Where the completion time of a flow went: parts that do not overlap and add up to it, along the critical path of its
// last byte. From the packet that completed the flow back over every hop to its sender; there, from the flow's start
// until that packet was sent, by what the sender did or waited for.
//
// At one time one part counts. At the sender, where causes overlap, the first of these: a frame of the flow's queue
// pair on the wire; the packet is sent again; nothing to send; the window; a pause of the port; source flow control;
// the pace of congestion control; a frame of another; arbitration. At a port on the way, of frames or cells: a pause;
// a frame or cell of another; arbitration, or at a link with credits: credits.
#pragma once

#include "weft/follow.h"
#include "weft/report.h"

/// X(enumerator, name, meaning)
#define WEFT_WHY_KINDS(X)                                                                                              \
    X(SERIALISATION, "serialisation", "frames of the flow are put on the wire")                                        \
    X(PROPAGATION, "propagation", "on a link")                                                                         \
    X(PROCESSING, "processing", "at a switch or NIC before it acts on the frame")                                      \
    X(QUEUEING, "queueing", "the port sends frames of others")                                                         \
    X(PAUSE, "pause", "the port is paused by PFC")                                                                     \
    X(SFC, "source flow control", "the sender is told to pause")                                                       \
    X(PACE, "pace", "congestion control has lowered the rate")                                                         \
    X(WINDOW, "window", "the window or the slots are full")                                                            \
    X(EMPTY, "nothing to send", "all is sent and unacknowledged, or the job has not given it yet")                     \
    X(REQUEST, "request", "of a READ, until its responder begins; of 1RMA, until it has come")                         \
    X(RETRANSMISSION, "retransmission", "what was lost is sent again")                                                 \
    X(ARBITRATION, "arbitration", "its turn has not come, though its port is free; or the line is idle")               \
    X(PACKET_RATE, "packet rate", "the switch takes no more packets a second")                                         \
    X(CREDITS, "credits", "a virtual output queue waits for credits, or a cell for those of the next switch")          \
    X(POSTING, "posting", "a work request waits for the host's thread, or for the NIC, which take others first")       \
    X(SENDS, "host sends", "a work request's latency: doorbell, fetches over PCIe, NIC")                               \
    X(RECEIVES, "host receives", "it has arrived, or is acknowledged, and the host does not see that yet")             \
    X(CLEAR, "clear-to-send", "from the request to send until it is answered")                                         \
    X(REASSEMBLY, "reassembly", "whole, and those before it are not, or its other cells have not come")                \
    X(FABRIC, "fabric", "of a cell fabric, where no other part was seen")                                              \
    X(HOST, "host", "the receiver takes its data more slowly than it comes, or the job consumes it later")             \
    X(COMPUTE, "compute", "a rank computes")                                                                           \
    X(COPY, "copy", "a rank's own part of a step of a collective: it reduces or copies")                               \
    X(SERVER, "server", "a message crosses the network inside a server, or its buffer is given back there")            \
    X(ACK, "acknowledgement", "all buffers of a connection are full: from the arrival of a message to its ACK")        \
    X(SOFTWARE, "software", "a processor works on an operation of remote memory access, or on others before it")       \
    X(MEMORY, "memory", "the memory of a host is read over its PCIe, for this request or for others before it")
enum weft_why_kind {
#define X(e, name, help) WEFT_WHY_##e,
    WEFT_WHY_KINDS(X)
#undef X
        WEFT_WHYS
};
extern const char *const weft_why_names[WEFT_WHYS], *const weft_why_helps[WEFT_WHYS];

struct weft_why_part {
    enum weft_why_kind kind;
    const char *where;      ///< a port, a node or a host
    const char *because_of; ///< "" where nothing else is to blame
    weft_time_ps time_ps;
    uint32_t port; ///< the port of `where`; WEFT_NONE: it is none
    uint32_t by;   ///< the flow whose frames it waited for; WEFT_NONE: none's
    uint32_t root; ///< the port whose queue led to the pause or to the marks; WEFT_NONE: unknown, or neither
};

struct weft_why {
    uint32_t flow;
    const char *is; ///< why it was chosen, such as "median"; NULL: it was asked for
    const char *group, *src, *dst;
    weft_bytes bytes;
    weft_time_ps fct_ps, ideal_ps; ///< ideal_ps: alone in the network; 0: unknown
    bool frame;                    ///< of a host from outside: fct_ps is that of its slowest frame
    struct weft_why_part *part;    ///< in the order of the path; those of one kind, place and cause are one
    uint32_t parts;
    weft_time_ps *kind_ps; ///< [WEFT_WHYS]: sums of the parts
};

/// What was followed, by packet; for any number of flows.
struct weft_whys;
/// `follow`: records of the flows to be explained. `others` (or NULL): records of all frames at the ports that they
/// used; without them, queueing has no culprit. In `arena`.
struct weft_whys *weft_whys_new(const struct weft_run *run, const struct weft_follow *follow,
                                const struct weft_follow *others, struct weft_arena *arena);
/// A flow that has not finished, is of remote memory access or was not followed: WEFT_ERROR_INPUT.
enum weft_status weft_why(const struct weft_whys *whys, uint32_t flow, struct weft_why *ret_why,
                          struct weft_error *ret_error);
/// Says in `ret_port` ([ports]) which ports the flow's critical packet and its sender used.
enum weft_status weft_why_ports(const struct weft_whys *whys, uint32_t flow, bool *ret_port,
                                struct weft_error *ret_error);

// --- iterations of jobs -------------------------------------------------------------------------------------------

/// X(enumerator, name)
#define WEFT_WHY_STEPS(X)                                                                                              \
    X(COMPUTE, "compute")                                                                                              \
    X(COPY, "copy")                                                                                                    \
    X(MESSAGE, "message")                                                                                              \
    X(SERVER, "message inside the server")                                                                             \
    X(CLEAR, "clear-to-send")                                                                                          \
    X(FULL, "buffers full")
enum weft_why_step_what {
#define X(e, name) WEFT_WHY_STEP_##e,
    WEFT_WHY_STEPS(X)
#undef X
        WEFT_WHY_STEP_WHATS
};
extern const char *const weft_why_step_names[WEFT_WHY_STEP_WHATS];

/// One thing on the critical path of an iteration.
struct weft_why_step {
    enum weft_why_step_what what;
    uint32_t rank, peer;        ///< peer: the rank that a message or clear-to-send goes to; WEFT_NONE: there is none
    const char *host, *to_host; ///< of the rank and the peer; to_host NULL: no peer
    const char *op;             ///< that it is part of: a collective, or a step of a schedule
    uint32_t flow;              ///< that carries the message; WEFT_NONE: none does
    uint32_t message;           ///< of the connection, from 0; WEFT_NONE: there is none
    weft_time_ps from_ps, to_ps;
    struct weft_why_part *part; ///< add up to to_ps - from_ps
    uint32_t parts;
};

/// From the end of the iteration before (or the start of the job) to the end of this one at its last rank. Each step
/// begins when the one before ends.
struct weft_why_iteration {
    uint32_t job, iteration;
    const char *name; ///< of the job
    uint32_t ranks;
    bool schedule; ///< the job is one, and this its only iteration
    weft_time_ps from_ps, time_ps;
    struct weft_why_step *step;
    uint32_t steps, steps_in_all; ///< the same, unless a reader leaves out some
    weft_time_ps *kind_ps;        ///< [WEFT_WHYS]: sums over the steps
};
/// Of a job of the workload; a schedule (of GOAL, Chakra ...) is one iteration. Its flows and its ranks must have been
/// followed (weft_follow.ranks). An iteration that has not ended, or is not there: WEFT_ERROR_INPUT.
enum weft_status weft_why_iteration(const struct weft_whys *whys, uint32_t job, uint32_t iteration,
                                    struct weft_why_iteration *ret_why, struct weft_error *ret_error);
/// Says in `ret_flow` ([flows]) which flows carried messages of its critical path. Only its ranks must have been
/// followed: a second run can then follow these flows alone.
enum weft_status weft_why_iteration_flows(const struct weft_whys *whys, uint32_t job, uint32_t iteration,
                                          bool *ret_flow, struct weft_error *ret_error);
/// Says in `ret_port` ([ports]) which ports its messages used.
enum weft_status weft_why_iteration_ports(const struct weft_whys *whys, uint32_t job, uint32_t iteration,
                                          bool *ret_port, struct weft_error *ret_error);

// --- what jobs cost one another -----------------------------------------------------------------------------------

/// What one job costs another at one port. `direct`: time on the critical path of `job` behind frames of `by`, in
/// pauses and at a pace whose cause is a queue that both fill, divided by the bytes of each while the step lasted. What
/// a job loses altogether is known from a run without the others; cost is the part of it in proportion to `direct`.
struct weft_job;
struct weft_ledger_row {
    const char *job, *by, *port;
    uint32_t kind;                    ///< enum weft_why_kind
    double direct_ps, cost_ps, share; ///< share: of the time without others
};
struct weft_ledger_job {
    const char *job;
    uint32_t number, iterations; ///< number: in the workload; iterations: those that ended with and without the others
    double with_ps, alone_ps, slowdown, cost_ps; ///< cost_ps: with_ps - alone_ps
    double direct_ps, unseen_ps; ///< unseen_ps: of cost_ps, what no row has, as no wait for another job was seen
};
struct weft_ledger {
    struct weft_ledger_row *row;
    struct weft_ledger_job *job;
    uint32_t rows, jobs;
};
/// How many iterations of a job ended; a schedule has one.
uint32_t weft_job_ended(const struct weft_job *job, const struct weft_job_outcome *outcome);
/// From the start of a job until `iterations` have ended.
weft_time_ps weft_job_length(const struct weft_job *job, const struct weft_job_outcome *outcome, uint32_t iterations);
/// Says in `ret_port` ([ports]) which ports the critical path of a job's first `iterations` used, and whose queues
/// caused its pauses and marks.
enum weft_status weft_ledger_ports(const struct weft_whys *whys, uint32_t job, uint32_t iterations, bool *ret_port,
                                   struct weft_error *ret_error);
/// Adds the rows of a job, whose iterations, with_ps and alone_ps are known.
enum weft_status weft_ledger_add(const struct weft_whys *whys, struct weft_ledger_job *job, struct weft_ledger *ledger,
                                 struct weft_error *ret_error);

// --- operations of remote memory access ---------------------------------------------------------------------------

/// An operation that has ended: its client has the answer or, of a SEND, its server has the message.
struct weft_why_operation {
    uint32_t entry, client, server; ///< entry: of the workload's rma; client and server: among its own
    uint32_t node;                  ///< of the box that the client is at; of software, its host
    const char *is, *group, *client_host, *server_host; ///< is: as of weft_why
    weft_time_ps begun_ps, latency_ps;
    const struct weft_rma_note *first, *last;
    const struct weft_rma_note *came; ///< of a SEND: where its server noted it
    struct weft_why_part *part; ///< add up to latency_ps; like kind_ps and the names, not before weft_why_operation
    uint32_t parts;
    weft_time_ps *kind_ps;
};
struct weft_why_rma;
/// `follow`: what a run has kept (weft_follow.rma; of software also the flows that carry its messages). `others` (or
/// NULL): as in weft_whys_new. In `arena`.
struct weft_why_rma *weft_why_rma_new(const struct weft_run *run, const struct weft_follow *follow,
                                      const struct weft_follow *others, struct weft_arena *arena);
/// Those of an entry that began after its warm-up, the longest first.
struct weft_why_operation *weft_why_operations(const struct weft_why_rma *rma, uint32_t entry, uint32_t *ret_n);
/// Tells its parts: along the way from its client to its server and back.
void weft_why_operation(const struct weft_why_rma *rma, struct weft_why_operation *operation);
/// Says in `ret_port` ([ports]) which ports its cells or packets used.
void weft_why_operation_ports(const struct weft_why_rma *rma, const struct weft_why_operation *operation,
                              bool *ret_port);

// --- as an answer -------------------------------------------------------------------------------------------------

/// Of weft why. Without `list` a flow is alone, and its members are those of the answer.
struct weft_why_answer {
    const char *scenario, *variant;
    bool list;
    struct weft_why *flow;
    uint32_t flows, iterations, operations;
    struct weft_why_iteration *iteration;
    struct weft_why_operation *operation;
    struct weft_ledger ledger;
};
extern const struct weft_answer weft__answer_why; // weft/result.h
