// SPDX-License-Identifier: Apache-2.0
// A running rank of a job, and the messages of its connections. See program.c and message.c.
#pragma once

#include "base/match.h"
#include "link/follow.h"
#include "transport/endpoint.h"
#include "weft/histogram.h"
#include "weft/job.h"
#include "weft/outcome.h"

/// A part of a message: its packets on a queue pair.
struct weft__span {
    uint32_t psn, psn_end, bytes;
    uint32_t carrier; ///< which of the connection's queue pairs
};

/// What is needed of a queue pair with messages at every packet.
struct weft__carrier {
    struct weft__span now; ///< the part being sent
    uint32_t psn_end;      ///< end of everything filled
    uint32_t part_end;     ///< ACKs below this PSN complete no part; 0: not known
    weft_time_ps next_ps;  ///< when it may start another part; kept if host.work_request_qp is set
    struct weft__sending *sending;
};

/// A connection at its sender. Messages are numbered from 0; all counts are of messages.
struct weft__sending {
    struct weft__program *program;
    uint32_t connection;
    uint32_t qp;      ///< the first one; WEFT_NONE: within the server
    uint16_t qps;     ///< number of successive queue pairs
    uint16_t parts;   ///< per message: 1, whole on the next queue pair; or one on each of several
    uint32_t filled;  ///< put into the buffer
    uint32_t handed;  ///< of these, how many the proxy knows of
    uint32_t granted; ///< allowed by the receiver
    uint32_t posted;  ///< handed to the queue pair
    uint32_t acked;
    uint32_t stream, lane;     ///< the lane that waits for room; WEFT_NONE: none
    uint32_t slots;            ///< over the network, at most the number of its messages
    struct weft__span *span;   ///< part k of message m: [m % slots * parts + k]
    weft_time_ps *handed_ps;   ///< when the proxy knows of message m: [m % slots]
    weft_bytes left_bytes;     ///< not acknowledged
    uint32_t peer, channel;    ///< peer: the rank that receives
    uint32_t peer_node;        ///< the peer's host
    weft_time_ps hand_ps;      ///< until the proxy knows of a message
    weft_time_ps proxy_ps;     ///< of a message, at its program's proxy
    struct weft__sends *sends; ///< for a schedule; NULL: for operations
};

/// The steps of a schedule that the messages of a connection belong to.
struct weft__sends {
    uint32_t *step;       ///< message m: [m % slots]; the receiver reads it when m has arrived
    uint32_t done;        ///< messages whose steps are done
    uint32_t first, last; ///< steps that wait for a slot, linked by weft__schedule_run.next; WEFT_NONE: none
};

/// A connection at its receiver.
struct weft__receiving {
    struct weft__program *program;
    uint32_t connection;
    uint32_t qp; ///< like the sender's
    uint16_t qps, parts;
    uint32_t *came;             ///< parts of messages that arrived, per queue pair
    uint32_t whole;             ///< messages that arrived
    uint32_t arrived, consumed; ///< arrived: that the rank knows of
    weft_time_ps latency_ps;    ///< until a message that has arrived can be used
    weft_time_ps proxy_ps;      ///< like the sender's
    uint32_t due;               ///< in the operations that the rank has reached
    uint32_t posted;            ///< of those, how many have a buffer posted and a clear-to-send sent
    const uint32_t *messages;   ///< of weft_connection
    uint32_t arrived_before;    ///< at the last check for a lost clear-to-send
    uint32_t doublings;         ///< of the time to the next check
    uint32_t stream, lane;      ///< the lane that waits for a message; WEFT_NONE: none
    uint32_t slots;             ///< like the sender's
    weft_bytes left_bytes;      ///< not consumed
    uint32_t peer, channel;     ///< peer: the rank that sends
    uint32_t peer_node;         ///< the peer's host
};

/// What clear-to-send messages cost, one value per message: from the receiver's post to its arrival at the sender; and
/// from when the sender has the message until it may send it.
struct weft__waits {
    struct weft_histogram cts, sender;
};

enum { WEFT__LANE_SEEN = 3, WEFT__LANE_STRIDE = 4 }; ///< stride: the minimum
/// When a lane has reached step `next`, and every `stride` steps after it.
struct weft__lane_watch {
    uint64_t next, stride;
    uint64_t seen;                         ///< times
    weft_time_ps seen_ps[WEFT__LANE_SEEN]; ///< the last times, time k at k % WEFT__LANE_SEEN
    double foretold_ps;                    ///< of an audited stretch
};

/// A lane of an active collective. What step `index` is and which peers it needs is looked up once.
struct weft__lane {
    uint64_t index, steps;
    struct weft__receiving *recv[WEFT_STEP_PEERS];
    struct weft__sending *send[WEFT_STEP_PEERS];
    void *plan;                     ///< of the current operation, if its collective has one
    struct weft__lane_watch *watch; ///< of the current operation; NULL: not watched
    uint32_t bytes;
    uint32_t wait_lane; ///< as in weft_step
    uint64_t wait_steps;
    uint32_t waiter, next_waiter; ///< first lane that waits for this one, and the next in its own list; + 1, 0: none
    uint8_t recvs, sends;
    uint16_t merged, copied, percent; ///< as in weft_step
    uint16_t permille;                ///< of copying a piece: what it takes to read and write it
    bool found;
    bool timed;           ///< the step's time is over
    weft_time_ps free_ps; ///< of messages that stream: since when it has had time and room for the next one
};

/// A communicator at a rank: its operations, in order, one at a time.
struct weft__stream {
    uint32_t queued, finished; ///< counts of operations, over all iterations
    uint32_t lanes_left;
    bool launches;                ///< the host starts the operation, and its lanes do not run yet
    const struct weft_job_op *op; ///< under way
    uint32_t part;                ///< likewise; part: enum weft_turn_part
    uint32_t number;              ///< the rank's number in its group
    uint32_t key0;                ///< timer of its first lane
    uint32_t receivings;
    struct weft__receiving *receiving; ///< of the rank's, those that belong to the communicator
    struct weft__lane *lane;
};

/// A running rank of a schedule (transport/schedule_run.c).
struct weft__schedule_run {
    const struct weft_schedule_rank *rank;
    uint32_t *waits; ///< [steps]: edges that it waits for; WEFT_NONE: it is done
    uint32_t *next;  ///< [steps]: the next step in the same queue
    uint32_t left;   ///< unfinished steps
    uint32_t ready_first, ready_last;
    struct weft__cpu {
        uint32_t first, last; ///< the first one is running
    } * cpu;
    uint32_t cpus, computing;
    uint32_t *collective; ///< [communicators]: the running step
    struct weft__match match;
    weft_time_ps end_ps; ///< never: not yet ended
};

/// What a rank did, for the record (transport/rank_span.c).
struct weft__rank_spans {
    struct weft_rank_span *span;
    uint32_t n, room, max; ///< max: the most that are kept
    uint64_t unrecorded;
    weft_time_ps from_ps; ///< for a schedule: since when it has been computing, or not
};

struct weft__program {
    const struct weft_job *job;
    struct weft__schedule_run *schedule; ///< what it runs; NULL: the job's operations
    const uint32_t *kind; ///< [ops]: the first operation of the job that does the same; NULL: not requested
    const bool *passes;   ///< [iterations * ops]: the rank passes the operation at once; NULL: it does all
    uint32_t rank;        ///< its number in its job
    uint32_t connection0; ///< its job's first connection, among all
    uint32_t sendings, receivings;
    struct weft__sending *sending;                   ///< in the order of the job's connections from this source
    struct weft__receiving *receiving;               ///< by communicator, channel, weft__distance to the source
    struct weft__stream *stream;                     ///< [communicators]
    struct weft__inner_port *port;                   ///< of its GPU
    struct weft__waits *waits;                       ///< shared by its job's ranks that one worker runs
    weft_bytes in_flight_bytes, in_flight_bytes_max; ///< handed to queue pairs and not yet acknowledged
    weft_time_ps proxy_free_ps;                      ///< when its proxy has served the messages so far
    struct weft__fifo handing; ///< messages that the proxy does not know of yet; qp: number of the connection; time_ps:
                               ///< when it will
    uint32_t iteration, turn;
    double compute_left_ps, compute_speed; ///< time left if no channel took its share of the GPU; 0: it does not
                                           ///< compute
    weft_time_ps compute_from_ps;          ///< when these two were last updated
    uint32_t waits_for;                    ///< a communicator; ALL_STREAMS; WEFT_NONE: none
    bool started, computed, stepping, done;
    weft_time_ps waiting_since_ps, exposed_ps;
    weft_time_ps *op_start_ps, *op_end_ps; ///< [iteration * ops + op]; never: not yet reached
    weft_time_ps *op_exposed_ps;           ///< time spent waiting, without computing; 0 with overlap
    weft_time_ps *iteration_end_ps, *iteration_exposed_ps;
    struct weft__rank_log *log;     ///< NULL: not followed
    struct weft__rank_spans *spans; ///< NULL: not recorded
    uint32_t key0, keys; ///< timers: its own, those of a schedule's CPU streams, those of its lanes, that of its proxy
};

/// What both ends know of a connection.
struct weft__wire {
    struct weft__sending *sending;
    struct weft__receiving *receiving;
    weft_time_ps *granted_ps; ///< message m: [m % slots]; set before its clear-to-send leaves, read when that has
                              ///< arrived
};

/// All programs of a run.
struct weft__programs {
    uint32_t n;
    struct weft__program *program;
    struct weft__wire *wire;            ///< [connections]
    struct weft__receiving **receiving; ///< [queue pairs] that carry messages
    const uint32_t *node;               ///< [hosts]
    struct weft__waits **waits;         ///< [job * workers + worker]; NULL: it sends nothing over the network there
};

/// The port of a GPU to the network within its server.
struct weft__inner_port {
    uint32_t number; ///< unique in the run
    uint32_t key;    ///< its timer
    weft_time_ps out_free_ps, in_free_ps, data_last_ps, credit_last_ps;
    weft_time_ps lead_ps; ///< the longest time that it looks back, as messages cross it while they are copied
    struct weft__fifo in; ///< messages that are arriving; time_ps: when complete
};

/// What a host has for its programs; NULL in NICs of hosts without any.
struct weft__gpu {
    uint32_t programs, *program; ///< indices
    uint32_t key0;               ///< timers: those of inner ports, then those of the programs
    uint32_t ports;              ///< more than 1: GPUs that share the NIC
    struct weft__inner_port *port;
    weft_bytes sent_bytes, received_bytes;
    weft_time_ps launch_ps; ///< median; of host.launch and host.launch_skew
    double launch_skew;
    uint64_t seed; ///< of the host
};

/// Arguments that functions of programs pass along.
struct weft__at {
    struct weft__node *node;
    struct weft__endpoint *end;
    struct weft__worker *w;
    struct weft__program *p;
};

/// Adds a note to the log, if the rank is followed.
static inline void weft__program_note(const struct weft__at *at, enum weft_rank_what what, uint32_t connection,
                                      uint32_t message, uint32_t op) {
    if (__builtin_expect(at->p->log != NULL, 0))
        weft__rank_note(at->p->log, (struct weft_rank_note){at->w->now_ps, connection, message, op, what});
}
/// The rank has been doing that since `from`.
void weft__rank_span_add(struct weft__program *p, weft_time_ps from, weft_time_ps to, bool computes, uint32_t op);
/// Also adds what it does when the run ends. Writes the rank's spans to `ret_span` (unless NULL) and returns how many
/// there are.
uint32_t weft__rank_spans_end(struct weft__program *p, struct weft_rank_span *ret_span);
/// The number of a stream's current operation, as used in notes.
uint32_t weft__program_op(const struct weft__program *p, uint32_t stream);

/// The distance from a source up to this rank, round all ranks. In this order, receivers do not all start with the same
/// sender.
static inline uint32_t weft__distance(const struct weft_job *job, uint32_t src, uint32_t dst) {
    return (dst + job->ranks - src) % job->ranks;
}

/// Runs a lane of a communicator until it must wait. What it waited for has arrived.
void weft__lane_run(struct weft__at *at, uint32_t stream, uint32_t number);

/// An idle communicator starts an operation at its rank.
void weft__stream_begin(struct weft__at *at, uint32_t stream, const struct weft_job_op *op, uint32_t part, bool launch);
/// The rank's part of it is over, which weft__endpoint_ops.take took.
void weft__stream_end(struct weft__at *at, uint32_t stream);

/// For a rank of a schedule: it starts, or a compute ends; an operation of a communicator ends; messages of a
/// connection are acknowledged, or have arrived.
void weft__schedule_run_on_timer(struct weft__at *at, uint32_t key);
void weft__schedule_run_on_collective(struct weft__at *at, uint32_t stream);
void weft__schedule_run_on_acked(struct weft__at *at, struct weft__sending *s);
void weft__schedule_run_on_arrived(struct weft__at *at, struct weft__receiving *r);
/// Called before it starts.
void weft__schedule_run_init(struct weft__schedule_run *s, const struct weft_job *job, uint32_t rank,
                             struct weft_arena *arena);

/// Sets the timers that start the host's programs; timers from gpu->key0 on belong to them.
void weft__gpu_start(struct weft__node *node, struct weft__endpoint *end);
uint32_t weft__gpu_keys(const struct weft__programs *programs, const struct weft__gpu *gpu);
void weft__gpu_on_timer(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t key);
/// A message from within the server is complete, or a message or credit from there arrives.
void weft__gpu_on_arrival(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                          struct weft__inner_port *port);
void weft__gpu_on_packet(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                         const struct weft_packet *p);

// For runs that skip what repeats (src/skip).
struct weft__fingerprint;
/// Whether a timer of the host's programs, from gpu->key0 on, counts as activity: one that starts a program does not.
bool weft__gpu_counts(const struct weft__endpoint *end, uint32_t key);
/// Everything that determines the future of the host's programs; iterations are relative to the first program of their
/// job.
void weft__gpu_fingerprint(const struct weft__endpoint *end, struct weft__fingerprint *s);
/// The positions of programs, independent of the network's state.
void weft__programs_fingerprint(const struct weft__programs *programs, const struct weft__gpu *gpu,
                                struct weft__fingerprint *s);
/// The kind of operation that a program does at a turn of its stage.
uint64_t weft__program_kind_at(const struct weft__program *p, uint32_t turn);
/// Finds the connections that a step of a lane uses; they are in lane->recv and send.
void weft__lane_find_ends(const struct weft__program *p, uint32_t stream, const struct weft_step *step,
                          struct weft__lane *lane);
/// Skipped messages that are sent, or taken: their number and size, and the number k of the first one in its lane.
struct weft__left_out {
    uint64_t k, n;
    uint32_t bytes;
};
void weft__message_skip_sent(const struct weft__hosts *hosts, struct weft__gpu *gpu, struct weft__sending *s,
                             struct weft__left_out out);
void weft__message_skip_taken(struct weft__gpu *gpu, struct weft__receiving *r, struct weft__left_out out);

static inline const struct weft__programs *weft__programs_of(const struct weft__endpoint *end) {
    return end->hosts->programs;
}
static inline const struct weft_job_stage *weft__program_stage(const struct weft__program *p) {
    return &p->job->stage[weft_job_stage_of(p->job, p->rank)];
}

/// Whether the connection has room for one more message; puts one there; takes one that has arrived, and returns its
/// room. `pace`: NULL for messages of a schedule.
struct weft__pace {
    uint16_t merged, copied; ///< as in weft_step
    weft_time_ps inner_latency_ps, copy_ps, idle_ps;
};
bool weft__message_has_room(const struct weft__sending *s);
void weft__message_fill(struct weft__at *at, struct weft__sending *s, uint32_t bytes, const struct weft__pace *pace);
void weft__message_take(struct weft__at *at, struct weft__receiving *r, uint32_t bytes);
/// The timer of its proxy has run out: it hands over a message.
void weft__message_hand(struct weft__at *at);
/// The rank has reached an operation of that volume: posts buffers for its messages, as many as connections have slots.
void weft__message_expect(struct weft__at *at, const struct weft__stream *stream, uint32_t volume);

/// The next packet of a queue pair of messages: its length and flags.
void weft__message_packet(struct weft__endpoint *end, uint32_t qp, struct weft_packet *p);
/// A packet of it leaves. If that is the first of its message, the next message may start at `next_ps`. Returns when
/// the next packet may leave: after the last of a message when that one may start, else 0.
weft_time_ps weft__message_pace(struct weft__endpoint *end, uint32_t qp, uint32_t psn, weft_time_ps next_ps);
/// Payload of the last packet of a message, or of a part of one, on its first arrival. Its sender wrote the size beside
/// the connection before the packet left, and keeps it there until the message is acknowledged.
uint32_t weft__message_last_payload(const struct weft__endpoint *end, const struct weft_packet *p);
/// How long after its arrival the rank can use a message of this queue pair.
weft_time_ps weft__message_latency(const struct weft__endpoint *end, uint32_t qp, weft_time_ps now);
/// The last packet of a message, or of a part of one, arrived in order; returns how many messages are whole by that.
/// Then: its receiver sees these.
uint32_t weft__message_came(const struct weft__endpoint *end, uint32_t qp);
void weft__message_arrived(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                           uint32_t messages);
/// Whether packets that were just acknowledged may complete a message, or a part of one. Then: its sender sees that
/// everything up to weft_qp_sample.seen has completed. True: these were the last messages of the connection.
bool weft__message_completes(const struct weft__endpoint *end, uint32_t qp);
bool weft__message_acked(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
/// A clear-to-send for messages below `granted` arrived.
void weft__message_granted(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                           uint32_t granted);
/// Time to check whether a clear-to-send was lost.
void weft__message_look(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
