// SPDX-License-Identifier: Apache-2.0
// A rank of a job at work, and the messages of its connections. See program.c and message.c.
#ifndef WEFT_TRANSPORT_PROGRAM_H
#define WEFT_TRANSPORT_PROGRAM_H

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

/// What is asked of a queue pair of messages at every packet.
struct weft__carrier {
    struct weft__span now; ///< the part being sent
    uint32_t psn_end;      ///< of all that was filled
    uint32_t part_end;     ///< ACKs below it complete no part; 0: not known
    weft_time_ps next_ps;  ///< when it may begin with another part; kept if host.work_request_qp is set
    struct weft__sending *sending;
};

/// A connection at its sender. Messages are numbered from 0; all counts are of messages.
struct weft__sending {
    struct weft__program *program;
    uint32_t connection;
    uint32_t qp;      ///< the first; WEFT_NONE: within the server
    uint16_t qps;     ///< that follow one another
    uint16_t parts;   ///< of a message: 1, whole on the next queue pair; or one on each of several
    uint32_t filled;  ///< into the buffer
    uint32_t granted; ///< by the receiver
    uint32_t posted;  ///< to the queue pair
    uint32_t acked;
    uint32_t stream, lane;     ///< the lane that waits for room; WEFT_NONE: none
    uint32_t slots;            ///< over the network, no more than it ever has messages
    struct weft__span *span;   ///< of message m, part k: [m % slots * parts + k]
    weft_time_ps *filled_ps;   ///< of message m: [m % slots]
    weft_bytes left_bytes;     ///< not acknowledged
    uint32_t peer, channel;    ///< the rank it goes to
    uint32_t peer_node;        ///< whose host this is
    struct weft__sends *sends; ///< of a schedule; NULL: of operations
};

/// Which steps of a schedule the messages of a connection are.
struct weft__sends {
    uint32_t *step;       ///< of message m: [m % slots]; the receiver reads it when m has come
    uint32_t done;        ///< messages whose steps are done
    uint32_t first, last; ///< steps that wait for a slot, linked by weft__schedule.next; WEFT_NONE: none
};

/// A connection at its receiver.
struct weft__receiving {
    struct weft__program *program;
    uint32_t connection;
    uint32_t qp; ///< as of the sender
    uint16_t qps, parts;
    uint32_t *came; ///< parts of messages, on each queue pair
    uint32_t arrived, consumed;
    uint32_t due;             ///< in the operations that the rank has come to
    uint32_t posted;          ///< of those: the receiver has posted a buffer and sent a clear-to-send for
    const uint32_t *messages; ///< of weft_connection
    uint32_t arrived_before;  ///< at the last look for a lost clear-to-send
    uint32_t doublings;       ///< of the time to the next look
    uint32_t stream, lane;    ///< the lane that waits for a message; WEFT_NONE: none
    uint32_t slots;           ///< as of the sender
    weft_bytes left_bytes;    ///< not consumed
    uint32_t peer, channel;   ///< the rank it comes from
    uint32_t peer_node;       ///< whose host this is
};

/// What clear-to-send messages cost, a value a message: from the receiver's posting to the sender's having it; and from
/// the sender's having the message to its being allowed to go.
struct weft__waits {
    struct weft_histogram cts, sender;
};

enum { WEFT__LANE_SEEN = 3, WEFT__LANE_STRIDE = 4 }; ///< stride: at least
/// When a lane has come so far: at step `next`, and every `stride` steps beyond.
struct weft__lane_watch {
    uint64_t next, stride;
    uint64_t seen;                         ///< times
    weft_time_ps seen_ps[WEFT__LANE_SEEN]; ///< the last, of time k at k % WEFT__LANE_SEEN
    double foretold_ps;                    ///< of an audited stretch
};

/// A lane of a collective under way. What step `index` is and whom it needs is found once.
struct weft__lane {
    uint64_t index, steps;
    struct weft__receiving *recv[WEFT_STEP_PEERS];
    struct weft__sending *send[WEFT_STEP_PEERS];
    void *plan;                     ///< of the operation under way, if its collective has one
    struct weft__lane_watch *watch; ///< of the operation under way; NULL: nobody wants to know
    uint32_t bytes;
    uint32_t wait_lane; ///< as weft_step has it
    uint64_t wait_steps;
    uint32_t waiter, next_waiter; ///< lanes that wait for this one, and the next behind it; + 1, 0: none
    uint8_t recvs, sends;
    bool found;
    bool timed; ///< its time for the step is over
};

/// A communicator at a rank: its operations, in order, one at a time.
struct weft__stream {
    uint32_t queued, finished; ///< operations, in all iterations
    uint32_t lanes_left;
    const struct weft_job_op *op; ///< under way
    uint32_t part;                ///< likewise, enum weft_turn_part
    uint32_t number;              ///< of the rank in its group
    uint32_t key0;                ///< timer of its first lane
    uint32_t receivings;
    struct weft__receiving *receiving; ///< those of the rank's that are the communicator's
    struct weft__lane *lane;
};

/// A rank of a schedule at work (transport/schedule.c).
struct weft__schedule {
    const struct weft_schedule_rank *rank;
    uint32_t *waits; ///< of a step: edges that it waits for; WEFT_NONE: it is done
    uint32_t *next;  ///< of a step in a queue: the one behind it
    uint32_t left;   ///< steps that are not done
    uint32_t ready_first, ready_last;
    struct weft__cpu {
        uint32_t first, last; ///< the first is under way
    } * cpu;
    uint32_t cpus, computing;
    uint32_t *collective; ///< [communicators]: the step under way
    struct weft__match match;
    weft_time_ps end_ps; ///< never: not yet
};

/// What a rank did, for the record (transport/rank_span.c).
struct weft__rank_spans {
    struct weft_rank_span *span;
    uint32_t n, room, max; ///< max: as many as are kept
    uint64_t unrecorded;
    weft_time_ps from_ps; ///< of a schedule: since when it computes, or does not
};

struct weft__program {
    const struct weft_job *job;
    struct weft__schedule *schedule; ///< what it does; NULL: the job's operations
    const uint32_t *kind;            ///< [ops]: the first of the job's that does the same; NULL: not asked for
    uint32_t rank;                   ///< in its job
    uint32_t connection0;            ///< its job's first connection, among all
    uint32_t sendings, receivings;
    struct weft__sending *sending;                   ///< as the job's connections of this source
    struct weft__receiving *receiving;               ///< by communicator, channel, weft__distance to the source
    struct weft__stream *stream;                     ///< of a communicator
    struct weft__waits *waits;                       ///< of its job's ranks that one worker runs
    weft_bytes in_flight_bytes, in_flight_bytes_max; ///< handed to queue pairs and not acknowledged
    uint32_t iteration, turn;
    double compute_left_ps, compute_speed; ///< when no channel takes its part of the GPU; 0: it does not compute
    weft_time_ps compute_from_ps;          ///< since when it is so much and so fast
    uint32_t waits_for;                    ///< a communicator; ALL_STREAMS; WEFT_NONE: nothing
    bool started, computed, stepping, done;
    weft_time_ps waiting_since_ps, exposed_ps;
    weft_time_ps *op_start_ps, *op_end_ps; ///< [iteration * ops + op]; never: not yet
    weft_time_ps *op_exposed_ps;           ///< waited for, computing nothing; 0 with overlap
    weft_time_ps *iteration_end_ps, *iteration_exposed_ps;
    struct weft__rank_log *log;     ///< NULL: it is not followed
    struct weft__rank_spans *spans; ///< NULL: it is not recorded
    uint32_t key0, keys;            ///< timers: its own, of the CPU streams of a schedule, then of its lanes
};

/// What both ends know of a connection.
struct weft__wire {
    struct weft__sending *sending;
    struct weft__receiving *receiving;
    weft_time_ps *granted_ps; ///< of message m: [m % slots]; set before its clear-to-send leaves, read when it has come
};

/// All of a run's.
struct weft__programs {
    uint32_t n;
    struct weft__program *program;
    struct weft__wire *wire;            ///< of a connection
    struct weft__receiving **receiving; ///< of a queue pair that carries messages
    const uint32_t *node;               ///< of a host
    struct weft__waits **waits;         ///< [job * workers + worker]; NULL: nothing goes over the network there
};

/// What a host has for its programs; NULL in the NIC of others.
struct weft__gpu {
    uint32_t programs, *program; ///< indices
    uint32_t key0;               ///< timers: arrivals within the server, then of the programs
    weft_time_ps out_free_ps, in_free_ps, credit_last_ps;
    struct weft__fifo in; ///< messages on their way in, time_ps when complete
    weft_bytes sent_bytes, received_bytes;
};

/// What functions of programs pass along.
struct weft__at {
    struct weft__node *node;
    struct weft__endpoint *end;
    struct weft__worker *w;
    struct weft__program *p;
};

/// For who follows the rank.
static inline void weft__program_note(const struct weft__at *at, enum weft_rank_what what, uint32_t connection,
                                      uint32_t message, uint32_t op) {
    if (__builtin_expect(at->p->log != NULL, 0))
        weft__rank_note(at->p->log, (struct weft_rank_note){at->w->now_ps, connection, message, op, what});
}
/// The rank has done that since `from`.
void weft__rank_span_add(struct weft__program *p, weft_time_ps from, weft_time_ps to, bool computes, uint32_t op);
/// With what it does when the run ends; puts the rank's spans at `ret_span` (NULL: does not) and tells how many.
uint32_t weft__rank_spans_end(struct weft__program *p, struct weft_rank_span *ret_span);
/// Number of what a stream does now, as notes have it.
uint32_t weft__program_op(const struct weft__program *p, uint32_t stream);

/// From a source up to this rank, round all ranks: in the order of it receivers do not all turn to the same sender.
static inline uint32_t weft__distance(const struct weft_job *job, uint32_t src, uint32_t dst) {
    return (dst + job->ranks - src) % job->ranks;
}

/// Runs a lane of a communicator as far as it gets. What it waited for is there.
void weft__lane_run(struct weft__at *at, uint32_t stream, uint32_t number);

/// An operation of a communicator that does nothing begins at its rank.
void weft__stream_begin(struct weft__at *at, uint32_t stream, const struct weft_job_op *op, uint32_t part);

/// A rank of a schedule: it starts, or a compute ends; an operation of a communicator ends; messages of a connection
/// are acknowledged, or have come.
void weft__schedule_on_timer(struct weft__at *at, uint32_t key);
void weft__schedule_on_collective(struct weft__at *at, uint32_t stream);
void weft__schedule_on_acked(struct weft__at *at, struct weft__sending *s);
void weft__schedule_on_arrived(struct weft__at *at, struct weft__receiving *r);
/// Before it starts.
void weft__schedule_init(struct weft__schedule *s, const struct weft_job *job, uint32_t rank, struct weft_arena *arena);

/// Sets the starts of the host's programs; timers from gpu->key0 on are theirs.
void weft__gpu_start(struct weft__node *node, struct weft__endpoint *end);
uint32_t weft__gpu_keys(const struct weft__programs *programs, const struct weft__gpu *gpu);
void weft__gpu_on_timer(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t key);
/// A message from within the server is complete; a message or credit from there comes.
void weft__gpu_on_arrival(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w);
void weft__gpu_on_packet(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                         const struct weft_packet *p);

// Of programs that repeat themselves (program_skip.c), while nothing is under way.
struct weft__still;
/// Whether a timer of the host's programs, from gpu->key0 on, counts: not the start of one.
bool weft__gpu_counts(const struct weft__endpoint *end, uint32_t key);
/// What the host's programs do from now on depends on; iterations relative to the first program's of their job.
void weft__gpu_still(const struct weft__endpoint *end, struct weft__still *s);
/// Where they stand, whatever the network does.
void weft__programs_still(const struct weft__programs *programs, const struct weft__gpu *gpu, struct weft__still *s);
/// Which operations of jobs do the same: needed for the two above. False: none comes again within an iteration.
bool weft__programs_find_kinds(struct weft__programs *programs, struct weft_arena *arena);
/// Where a program stands, and what it has noted so far of the iteration that it is in.
struct weft__program_mark {
    uint32_t iteration, turn;
    uint32_t *finished; ///< [communicators]
    bool waits;         ///< for the turn before
    weft_time_ps exposed_ps, iteration_exposed_ps;
    weft_time_ps *op_exposed_ps; ///< [ops]
    weft_bytes *left_bytes;      ///< [sendings, then receivings]
};
void weft__program_mark_new(const struct weft__program *p, struct weft_arena *arena, struct weft__program_mark *ret);
/// How often what has happened since the mark, whole iterations or a part of one, may be repeated, so that the last
/// message of each connection, and the last iteration's end, are still to come; parts of an iteration only as long as
/// operations of the same kinds follow.
uint64_t weft__program_skips_max(const struct weft__program *p, const struct weft__program_mark *mark);
/// A stretch of time that is the same `times` times again: it began at begin_ps, where the mark was taken, ends now, at
/// end_ps, and is skipped. Both count what has been skipped before.
struct weft__stretch {
    weft_time_ps begin_ps, end_ps;
    weft_time_ps skipped_ps; ///< so far, in the whole run
    uint32_t times;
};
void weft__program_skip(struct weft__program *p, const struct weft__program_mark *mark,
                        const struct weft__stretch *stretch);
// Within an operation whose steps repeat themselves (lane_skip.c), whatever is under way.
/// Which connections a step of a lane uses; lane->recv and send tell them.
void weft__lane_find_ends(const struct weft__program *p, uint32_t stream, const struct weft_step *step,
                          struct weft__lane *lane);
/// Number of the lane among the timers of its program.
static inline uint32_t weft__lane_key(const struct weft__program *p, uint32_t stream, uint32_t number) {
    return p->stream[stream].key0 - p->key0 + number;
}
/// The number of steps after which a lane's steps are the same again, from the next one on: the same peers, and as many
/// bytes but one. ret_end: the first step that is not as the one a period before it. 0: there is no period.
uint64_t weft__lane_period(const struct weft__stream *st, uint32_t number, uint64_t *ret_end);
/// The lane has come to a step. Called if it is watched.
void weft__lane_note(struct weft__lane *lane, weft_time_ps now);
/// Whether the lane's next `steps` steps, whole periods, can be left out; adds to used[] of each connection, of all of
/// the run's, the messages that are not sent, and takes away those that are not received.
bool weft__lane_may_skip(struct weft__program *p, uint32_t stream, uint32_t number, uint64_t period, uint64_t steps,
                         int64_t *used);
/// Leaves them out: their bytes count as sent, delivered and taken.
void weft__lane_skip(const struct weft__hosts *hosts, struct weft__gpu *gpu, struct weft__program *p, uint32_t stream,
                     uint32_t number, uint64_t steps);
/// A rank that takes part in it: what it computes is so much nearer to its end, and what it waits for has taken so much
/// longer. `skipped_ps`: before.
void weft__program_pass(struct weft__program *p, struct weft__timers *timers, weft_time_ps time,
                        weft_time_ps skipped_ps);
/// So many messages of so many bytes that are left out, the first of them number k of its lane's, are sent; or taken.
struct weft__left_out {
    uint64_t k, n;
    uint32_t bytes;
};
void weft__message_skip_sent(const struct weft__hosts *hosts, struct weft__gpu *gpu, struct weft__sending *s,
                             struct weft__left_out out);
void weft__message_skip_taken(struct weft__gpu *gpu, struct weft__receiving *r, struct weft__left_out out);

/// Times that were noted before something was skipped are true already, and say so by their topmost bit.
#define WEFT__TRUE_TIME (UINT64_C(1) << 63)
static inline weft_time_ps weft__true_time(weft_time_ps noted, weft_time_ps skipped) {
    if (noted == WEFT_TIME_NEVER) return WEFT_TIME_NEVER;
    return noted & WEFT__TRUE_TIME ? noted & ~WEFT__TRUE_TIME : noted + skipped;
}
/// Before something is skipped, and at the end of a run: all noted times become true.
void weft__program_note_true(struct weft__program *p, weft_time_ps skipped);
void weft__program_settle(struct weft__program *p, weft_time_ps skipped);

/// Whether the connection has room for one more; puts it there; takes one that has arrived, and gives the room back.
bool weft__message_has_room(const struct weft__sending *s);
void weft__message_fill(struct weft__at *at, struct weft__sending *s, uint32_t bytes);
void weft__message_take(struct weft__at *at, struct weft__receiving *r, uint32_t bytes);
/// The rank has come to an operation of that volume: posts buffers for its messages, as many as connections have slots.
void weft__message_expect(struct weft__at *at, const struct weft__stream *stream, uint32_t volume);

/// The next packet of a queue pair of messages: its length and flags.
void weft__message_packet(struct weft__endpoint *end, uint32_t qp, struct weft_packet *p);
/// Payload of the last packet of a message, or of a part of one, that comes for the first time. Its sender has written
/// the size beside the connection before it left, and leaves it there until the message is acknowledged.
uint32_t weft__message_last_payload(const struct weft__endpoint *end, const struct weft_packet *p);
/// The last packet of a message, or of a part of one, came, in order.
void weft__message_arrived(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
/// Packets were acknowledged. True: all of the connection's messages that there will ever be.
bool weft__message_acked(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
/// A clear-to-send for messages below `granted`.
void weft__message_granted(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                           uint32_t granted);
/// Time to look whether a clear-to-send was lost.
void weft__message_look(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);

#endif
