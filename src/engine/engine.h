// SPDX-License-Identifier: Apache-2.0
// Virtual time. The unit is the node; nodes influence each other only by packets, and a packet takes at least the
// lookahead from node to node. Time is cut into windows as long as the lookahead; within a window nodes are
// independent, so the engine runs them one after the other, each to the end of the window while its state is in cache.
// The order of events at a node does not depend on the number of workers: by time; packets before timers; packets by
// port, and late ones last at their port; timers by key. Windows without work are skipped. Packets and timers beyond
// the ring of windows wait in heaps.
//
// A leaf is a node that only one other node, its trunk, sends to. Leaves run after all other nodes, so what their
// trunks send may arrive within the same window: only the direction from a leaf to its trunk counts for the lookahead.
//
// Each worker has a contiguous part of the nodes and an inbox for packets to them; leaves have an inbox of their own.
// Packets travel in logs: for each window a worker has a row of logs, one per inbox. During a window a worker appends
// only to logs of later windows (and to that of its own leaves) and reads only logs of the current one. So any number
// of threads can run the workers, and one barrier per window is all the synchronisation needed (threads.h).
#pragma once

#include <signal.h>

#include "base/bits.h"
#include "base/fifo.h"
#include "base/timers.h"
#include "engine/threads.h"
#include "weft/run.h"

struct weft__worker;
struct weft__node;

/// A packet that arrives in the window. The engine uses `word` until the node has prepared the packet; then the node
/// does.
struct weft__arrival {
    uint64_t word;
    struct weft_packet *packet;
};

/// What the engine calls at a node in a window, with all n arrivals at once, in order, before `end`. These are hot: one
/// call per node, not per packet, lets the compiler see all of a node's work.
struct weft__node_ops {
    /// Prefetches what the packets, and the timers due before `end`, will need. Called some nodes before `prepare`.
    /// Changes nothing.
    void (*fetch)(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
    /// Called once per packet, in order, one or more nodes before `run` or `follow`: the place to prefetch what `fetch`
    /// could not know yet, and to decide what depends only on the packet and its time. The decision goes into
    /// arrival->word; the packet may be changed.
    void (*prepare)(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
    /// The same, after `prepare` and before `run`. NULL: not needed.
    void (*follow)(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
    /// Runs the node to `end`; weft__node_run is its loop.
    void (*run)(struct weft__node *node, struct weft__worker *worker, const struct weft__arrival *arrival, uint32_t n,
                weft_time_ps end);
    uint32_t head_lines; ///< cache lines of its state that `fetch` needs (at least two are fetched)
};

struct weft__node {
    const struct weft__node_ops *ops;
    void *state;
    struct weft__timers timers;
    weft_time_ps due_ps;  ///< the earliest timer that the node keeps itself
    weft_time_ps wake_ps; ///< within the ring: the time at which the engine will next visit this node
};

enum {
    WEFT__WINDOW_PS_MAX = 1 << 20, ///< a longer window would save nothing and keep more packets waiting
    WEFT__RING = 256,              ///< windows ahead that have a slot each
    WEFT__WORKERS_MAX = WEFT__THREADS_MAX,
    WEFT__COUNTS_MAX = 48,  ///< counts in a tally
    WEFT__COUNTS_SHOWN = 3, ///< of these, shown during a run
/// The cost for two threads to meet after a window, in events (assumed: an event takes 100 ns on a quiet machine).
/// Under the thread sanitizer all threads must work.
#ifdef __SANITIZE_THREAD__
    WEFT__MEETING_EVENTS = 0,
#else
    WEFT__MEETING_EVENTS = 16,
#endif
};

/// Memory for packets of a log. Its size follows the number of workers: the more workers, the fewer packets per log.
struct weft__block {
    struct weft__block *next;
    uint64_t unused[3]; ///< packets do not straddle cache lines
    struct weft_packet packet[];
};

/// The packets from one worker to one inbox for one window.
struct weft__log {
    struct weft_packet *next, *end; ///< where the next packet goes; end of its block
    struct weft__block *first;      ///< NULL: the log is empty
    uint32_t n;
};

/// Counters of a worker, summed over workers at the end. The sums do not depend on which worker counts.
struct weft__tally {
    uint64_t events;
    weft_bytes injected_bytes, delivered_bytes, dropped_bytes; ///< packets of every kind
    int64_t unawaited_bytes;          ///< in flight, but the end of a run does not wait for them
    uint64_t started, finished;       ///< pieces of work
    weft_time_ps progress_ps;         ///< the last time that something started or new data arrived
    weft_time_ps last_ps;             ///< last event; samples do not count
    uint64_t count[WEFT__COUNTS_MAX]; ///< the nodes define their meaning (link/measure.h)
};

/// A packet beyond the ring.
struct weft__far_packet {
    struct weft_packet packet;
};
struct weft__far_wake;

#define WEFT__NO_WINDOW UINT64_MAX

struct weft__worker {
    // hot, written by this worker only
    weft_time_ps now_ps;
    weft_time_ps before_ps; ///< of the event before the timer that is due, of any of its nodes
    uint64_t window;        ///< index of the window being run
    weft_time_ps length_ps; ///< length of a window
    uint64_t inverse;       ///< UINT64_MAX / length_ps
    weft_time_ps begin_ps;  ///< of the window being run
    uint64_t ring_ps;       ///< of WEFT__RING windows
    uint64_t reciprocal;    ///< 2^64 / length_ps, rounded up
    uint32_t id;
    /// [slot][inbox]: logs of the windows ahead for which this worker has packets; other windows have no row. A row
    /// made for the window being run holds nothing for other workers, who may read it.
    _Atomic(struct weft__log *) row[WEFT__RING];
    struct weft__log *far[2]; ///< [parity][inbox]: beyond the ring
    uint32_t parity;
    weft_time_ps far_sent_ps;          ///< time of the earliest packet put into `far` in this window
    uint64_t written[WEFT__RING / 64]; ///< slots of windows for which this worker has packets or wakes
    struct weft_packet_pool pool;
    struct weft__tally tally;

    // the engine's own from here on
    struct weft__engine *engine;
    uint32_t first, n; ///< its nodes
    uint64_t *wake;    ///< [slot * words + word]: nodes to visit
    uint64_t *leaf;    ///< [word]: which nodes are its leaves; NULL: there are none
    uint32_t words;
    struct weft__block *free_block;
    struct weft__log **free_row; ///< [free_rows]: rows whose logs are all empty
    uint32_t free_rows, rows;    ///< rows: how many exist
    uint32_t block_packets;
    struct weft__far_packet *far_packet; ///< heap, for this worker's nodes
    struct weft__far_wake *far_wake;     ///< heap; at most one per node
    uint32_t *far_wake_of;               ///< [node]: its place in the heap + 1, or 0
    uint32_t far_packets, far_packets_capacity, far_wakes, far_wakes_capacity;
    uint64_t previous; ///< the window whose logs are reclaimed next
    uint64_t events;   ///< events up to the last window
    // scratch for gathering a window
    struct weft__arrival *arrival; ///< by node, then in each node's order
    uint32_t gathered_capacity, many_capacity;
    struct weft__arrival *many; ///< for sorting
    uint32_t *part;
    uint32_t *end;               ///< [node]: end of its arrivals
    struct weft__active *active; ///< nodes to visit
    uint64_t phase_ns[WEFT_PHASE_COUNT];
    uint64_t sent_before;      ///< packets in its logs for this window, but for its leaves, when that began
    weft_bytes unread_bytes;   ///< packets of the last window that lie beyond its end
    uint64_t unread_sides;     ///< of these, have a record
    struct weft__sides *sides; ///< records beside packets (side.h)
    void *notes;               ///< what the nodes keep per worker; owned by the nodes
    bool failed;               ///< memory ran out in this worker's window
};

struct weft__engine_conf {
    uint32_t nodes, workers;
    uint32_t meeting_events; ///< what it costs workers to meet (see threads.h); 0: each has a thread, in every window
    uint32_t threads;        ///< at most; 0: one per worker
    bool oversubscribe;      ///< threads may be more than processors
    const char *numa;        ///< threads are bound to nodes (base/numa.h) that this folder tells of; NULL: they are not
    weft_time_ps lookahead_ps;
    weft_time_ps window_ps; ///< upper bound of the window; 0: none but the lookahead and WEFT__WINDOW_PS_MAX
    const bool *leaf;       ///< [nodes], not copied: each leaf directly follows its trunk or another leaf of that
                            ///< trunk; NULL: there are no leaves
    weft_time_ps until_ps;
    weft_time_ps stall_ps, settled_ps; ///< no progress for stall_ps, counted from settled_ps at the earliest, is a
                                       ///< stall
    uint64_t work;    ///< pieces of work; the run is done when that many have finished and no packet is in flight
    uint64_t waiting; ///< of these, how many start when others have finished
    bool rests;       ///< pause between windows when no packet is in flight and there was progress since the last pause
    bool profile;
    const volatile sig_atomic_t *interrupt;
    /// `count`: the first WEFT__COUNTS_SHOWN of the tally. Returning false ends the run as `interrupt` does.
    bool (*on_progress)(void *context, const uint64_t *count, weft_time_ps now_ps);
    /// Checks the state of a node that has just run: all its events before `until` have happened. It changes nothing.
    /// Called after each part of a window, by the thread that ran the node; NULL: the run is not checked.
    void (*check)(void *context, uint32_t node, weft_time_ps until);
    void *context; ///< of on_progress and check
    /// For a run driven from outside; NULL: not driven. The thread of weft__engine_run calls it between windows, while
    /// no worker runs. It may send on the workers' behalf and set timers. Returning false pauses the run here.
    bool (*on_window)(void *driver);
    void *driver;
    struct weft_ranks *ranks;                  ///< the ranks that share the workers (engine/ranks.h); NULL: one process
    const struct weft__companions *companions; ///< data that goes with packets between ranks; NULL: none
};

struct weft__report;     // what a worker tells the others at a barrier
struct weft_ranks;       // weft/ranks.h
struct weft__companions; // engine/ranks.h

struct weft__engine {
    struct weft__engine_conf conf;
    struct weft__node *node;
    struct weft__worker *worker;
    struct weft__report *report; ///< [parity * workers + worker], each in its own cache lines
    void *report_memory;         ///< the allocation that holds the reports
    struct weft__threads threads;
    bool failed;      ///< memory ran out
    uint32_t inboxes; ///< one per worker, then one per worker's leaves, if there are any
    uint64_t windows;
    weft_time_ps pause_ps;  ///< driven: the run pauses before a window that starts at this time or later
    weft_time_ps next_ps;   ///< after a pause: where the next window begins
    weft_time_ps rested_ps; ///< progress at the last pause for rest
    bool held;              ///< driven: on_window asked for a pause
    bool stopped;           ///< on_progress asked to stop; set by worker 0
    bool pausing;           ///< likewise: the run pauses before the next window
    enum weft_end end;
    uint32_t own_first, own_end;     ///< the workers that run in this process
    struct weft__exchange *exchange; ///< exchange with other ranks; NULL: there are none
    struct weft__report *other;      ///< [ranks]: the last reports of each rank's workers
};

/// A driven run ends with WEFT_END_PAUSED if another weft__engine_run is to continue it, else with another end. Work
/// may be added before it continues.
///
/// `weight[node]`: expected work; the nodes are cut into one contiguous part a worker. Fill engine->node and set timers
/// between init and run.
void weft__engine_init(struct weft__engine *engine, const struct weft__engine_conf *conf, const uint32_t *weight);
/// Runs on as many threads as can be started. If memory runs out in one of them, all end, and the failure is reported
/// as if it had happened here.
void weft__engine_run(struct weft__engine *engine);
void weft__engine_deinit(struct weft__engine *engine);
uint32_t weft__engine_worker_of(const struct weft__engine *engine, uint32_t node);
/// The inbox for packets to a node.
uint32_t weft__engine_inbox_of(const struct weft__engine *engine, uint32_t node);
struct weft__tally weft__engine_tally(const struct weft__engine *engine);
/// Call it from on_window, or before a driven run continues, after setting timers of the node; their times must lie
/// beyond the window just run.
void weft__engine_reschedule(struct weft__engine *engine, uint32_t node);
/// The end of the window just run; 0: none was run.
weft_time_ps weft__engine_ran_until(const struct weft__engine *engine);
/// No packet of any kind is on a link.
bool weft__engine_is_empty(const struct weft__engine *engine);
/// Bytes of packets on links now.
weft_bytes weft__engine_in_flight(const struct weft__engine *engine);
/// Visits the packets on links, of any kind, when the run has ended. O(packets of the last window) for those that the
/// end of the run has cut off.
void weft__engine_each_flying(const struct weft__engine *engine,
                              void (*on_packet)(void *context, const struct weft_packet *), void *context);
/// Records (side.h) that no packet on a link refers to: those of packets that nodes hold, or leaked ones.
uint64_t weft__engine_sides_kept(const struct weft__engine *engine);

/// A timer is due that may be of those that are mostly set again at once, and so stay where they are until it is known
/// for when. False: it is not, and nothing has changed.
static inline __attribute__((always_inline)) bool
weft__node_take_turn(struct weft__node *node, struct weft__worker *w,
                     weft_time_ps (*on_turn)(struct weft__node *, struct weft__worker *, uint32_t key)) {
    struct weft__timers *t = &node->timers;
    if (__builtin_expect(!t->due, 0)) return false;
    uint64_t word = t->row[t->first];
    weft_time_ps again = on_turn(node, w, weft__timers_of_word(t, word).key);
    if (!again) return false;
    if (again == WEFT_TIME_NEVER)
        weft__timers_end(t, word);
    else
        weft__timers_go_on(t, word, again);
    return true;
}

/// The timer that is due only looked at the node (a sample): it is no event, so a run that is looked at has the same
/// events, and the same last one.
static inline void weft__node_looked(struct weft__worker *w) {
    w->now_ps = w->before_ps;
    w->tally.events--;
}

/// What a node does in its loop. All are known where the loop is called, and so become part of it.
struct weft__node_parts {
    /// The packet is the node's to change and copy.
    void (*on_packet)(struct weft__node *, struct weft__worker *, struct weft_packet *, uint64_t word);
    /// Optional, asked before on_timer: 0 leaves the timer to that; else it has been dealt with, and is set for the
    /// time answered, or not any more (WEFT_TIME_NEVER).
    weft_time_ps (*on_turn)(struct weft__node *, struct weft__worker *, uint32_t key);
    void (*on_timer)(struct weft__node *, struct weft__worker *, uint32_t key);
    /// Optional, called before time goes on, again until it answers that there was nothing to do.
    bool (*on_settled)(struct weft__node *, struct weft__worker *);
    /// Optional, asked after each event: true ends the run, to be gone on with in the same window.
    bool (*is_paused)(const struct weft__node *);
};

/// The loop of a node: its packets and timers in the order of their times. Returns how many packets it has taken.
static inline __attribute__((always_inline)) uint32_t
weft__node_run_parts(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                     weft_time_ps end, struct weft__node_parts parts) {
    const struct weft__arrival *first = arrival, *last = arrival + n;
    uint64_t timers = 0;
    while (!parts.is_paused || !parts.is_paused(node)) {
        weft_time_ps timer = weft__timers_next(&node->timers);
        bool packet = arrival < last && arrival->packet->time_ps <= timer;
        if (parts.on_settled && (packet ? arrival->packet->time_ps : timer) > w->now_ps && parts.on_settled(node, w)) {
            timers++;
            continue;
        }
        if (packet) {
            w->now_ps = arrival->packet->time_ps;
            parts.on_packet(node, w, arrival->packet, arrival->word);
            arrival++;
            continue;
        }
        if (timer >= end) break;
        weft_time_ps before = w->now_ps;
        w->now_ps = timer;
        timers++;
        if (parts.on_turn && weft__node_take_turn(node, w, parts.on_turn)) continue;
        w->before_ps = before;
        parts.on_timer(node, w, weft__timers_pop(&node->timers));
    }
    uint64_t events = (uint64_t)(arrival - first) + timers;
    w->tally.events += events;
    if (events && w->now_ps > w->tally.last_ps) w->tally.last_ps = w->now_ps;
    return (uint32_t)(arrival - first);
}

static inline __attribute__((always_inline)) void
weft__node_run_instants(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival,
                        uint32_t n, weft_time_ps end,
                        void (*on_packet)(struct weft__node *, struct weft__worker *, struct weft_packet *, uint64_t),
                        void (*on_timer)(struct weft__node *, struct weft__worker *, uint32_t key),
                        bool (*on_settled)(struct weft__node *, struct weft__worker *)) {
    weft__node_run_parts(
        node, w, arrival, n, end,
        (struct weft__node_parts){.on_packet = on_packet, .on_timer = on_timer, .on_settled = on_settled});
}

static inline __attribute__((always_inline)) void
weft__node_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
               weft_time_ps end,
               void (*on_packet)(struct weft__node *, struct weft__worker *, struct weft_packet *, uint64_t word),
               void (*on_timer)(struct weft__node *, struct weft__worker *, uint32_t key)) {
    weft__node_run_instants(node, w, arrival, n, end, on_packet, on_timer, NULL);
}

static inline __attribute__((always_inline)) void
weft__node_run_turns(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                     weft_time_ps end,
                     void (*on_packet)(struct weft__node *, struct weft__worker *, struct weft_packet *, uint64_t word),
                     weft_time_ps (*on_turn)(struct weft__node *, struct weft__worker *, uint32_t key),
                     void (*on_timer)(struct weft__node *, struct weft__worker *, uint32_t key)) {
    weft__node_run_parts(node, w, arrival, n, end,
                         (struct weft__node_parts){.on_packet = on_packet, .on_turn = on_turn, .on_timer = on_timer});
}

/// Calls fetch(state, key) for the timers due before `end`: they stand first in the row, or at the top of the heap.
static inline __attribute__((always_inline)) void weft__timers_fetch(const struct weft__node *node, weft_time_ps end,
                                                                     void (*fetch)(const void *state, uint32_t key)) {
    const struct weft__timers *t = &node->timers;
    if (t->next_ps >= end) return;
    for (uint32_t i = 0; i < t->due; i++) {
        struct weft__timer timer = weft__timers_of_word(t, *weft__timers_at(t, i));
        if (timer.time_ps >= end) break;
        fetch(node->state, timer.key);
    }
    for (uint32_t i = 0, reach = 1; i < reach && i < t->n; i++)
        if (t->heap[i].time_ps < end) {
            fetch(node->state, t->heap[i].key);
            reach = 2 * i + 3; // its children
        }
}

void weft__log_grow(struct weft__worker *w, struct weft__log *log);
/// Reclaims the blocks of a log that has been read.
void weft__log_clear(struct weft__worker *w, struct weft__log *log);
struct weft__log *weft__row_make(struct weft__worker *w, uint32_t slot);
/// Reclaims what a worker wrote for a window that all workers have read.
void weft__row_clear(struct weft__worker *w, uint32_t slot);
void weft__logs_init(struct weft__worker *w);
void weft__logs_deinit(struct weft__worker *w);

static inline struct weft_packet *weft__log_slot(struct weft__worker *w, struct weft__log *log) {
    if (__builtin_expect(log->next == log->end, 0)) weft__log_grow(w, log);
    log->n++;
    return log->next++;
}

static inline struct weft__log *weft__row_of(const struct weft__worker *w, uint32_t slot) {
    return atomic_load_explicit(&w->row[slot], memory_order_acquire);
}

/// The worker's log for this window or a later one.
static inline struct weft__log *weft__log_of(struct weft__worker *w, uint64_t window, uint32_t inbox) {
    uint32_t slot = (uint32_t)(window % WEFT__RING);
    struct weft__log *row = weft__row_of(w, slot);
    if (__builtin_expect(!row, 0)) row = weft__row_make(w, slot);
    return &row[inbox];
}

/// A cursor over a log.
struct weft__log_cursor {
    struct weft__block *block;
    uint32_t at, packets, left; ///< packets: in the current block
};

static inline struct weft__log_cursor weft__log_begin(const struct weft__worker *w, const struct weft__log *log) {
    return (struct weft__log_cursor){log->first, 0, w->block_packets, log->n};
}

/// The next packet, or NULL at the end.
static inline struct weft_packet *weft__log_next(struct weft__log_cursor *c) {
    if (!c->left) return NULL;
    if (c->at == c->packets) {
        c->block = c->block->next;
        c->at = 0;
    }
    c->left--;
    return &c->block->packet[c->at++];
}

/// The window that a time lies in: time / length_ps without a division. The product is exact or one too small.
static inline uint64_t weft__window_of(const struct weft__worker *w, weft_time_ps time) {
    uint64_t window = (uint64_t)((unsigned __int128)time * w->inverse >> 64);
    return window + (time - window * w->length_ps >= w->length_ps);
}

/// How many windows after this one a time lies, which is less than ring_ps after its beginning: as
/// ahead_ps < WEFT__RING * length_ps, and WEFT__RING * length_ps^2 < 2^64, the quotient is exact.
static inline uint32_t weft__windows_ahead(const struct weft__worker *w, weft_time_ps ahead_ps) {
    return (uint32_t)((unsigned __int128)ahead_ps * w->reciprocal >> 64);
}

static inline struct weft_packet *weft__send_slot(struct weft__worker *w, uint32_t inbox, weft_time_ps time) {
    weft_time_ps ahead_ps = time - w->begin_ps;
    if (__builtin_expect(ahead_ps < w->ring_ps, 1)) {
        uint32_t ahead = weft__windows_ahead(w, ahead_ps);
        return weft__log_slot(w, weft__log_of(w, w->window + ahead, inbox));
    }
    assert(time > w->begin_ps || w->window == WEFT__NO_WINDOW);
    if (time < w->far_sent_ps) w->far_sent_ps = time;
    return weft__log_slot(w, &w->far[w->parity][inbox]);
}

/// The destination of a packet.
struct weft__to {
    uint32_t inbox; ///< weft__engine_inbox_of(node)
    uint32_t node;
    uint16_t port;
};

/// Sends a copy of the packet and returns it so that the caller can change the rest. It arrives at `time`, which must
/// be at least the lookahead away unless it is for a leaf. Two packets that arrive at a node at the same time must not
/// come to the same port, unless one of them is late.
static inline struct weft_packet *weft__send(struct weft__worker *w, struct weft__to to, weft_time_ps time,
                                             const struct weft_packet *packet) {
    struct weft_packet *p = weft__send_slot(w, to.inbox, time);
    *p = *packet;
    p->time_ps = time;
    weft_packet_set_node(p, to.node);
    p->port = to.port;
    return p;
}
