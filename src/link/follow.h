// SPDX-License-Identifier: Apache-2.0
// What a node keeps of followed flows (weft/follow.h), in the order noted: 4 bytes for a frame that is the next one of
// its queue pair, otherwise 8 or 20; 24 for everything else. What the port's wire implies is not stored but derived
// when the log is read. Chunks never move. Only the node's worker touches them; they come from blocks on large pages
// that all nodes share. Most of the cost is memory: cache lines, and pages that the system has to clear.
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "weft/follow.h"
#include "weft/packet.h"

/// One record or two: the second one of a frame holds what the first has no room for.
struct weft__follow_record {
    weft_time_ps time_ps;
    uint32_t qp, psn;
    uint32_t busy_ps; ///< FRAME: how long the frame keeps its port busy
    uint16_t port;    ///< port of the node
    uint8_t what;     ///< enum weft_followed_what (4 bits), then the state, or the kind of a frame
    uint8_t priority : 3, lost : 1, more : 1, home : 1;
};
_Static_assert(sizeof(struct weft__follow_record) == 24, "compact");

/// A frame on a plain Ethernet port is one word: the time since the previous frame at this node (22 bits), the row of
/// `seen` (8), its form (2), and what that form adds. A frame that does not fit is a record as above.
enum weft__frame_form {
    WEFT__FRAME_NEXT, ///< like the last frame of its row, with the next number
    WEFT__FRAME_AWAY, ///< like that, at another port or with another number; one more word: the port, the difference <<
                      ///< 16
    WEFT__FRAME_FULL, ///< a different frame; four more words: struct weft__follow_seen
    WEFT__FRAME_TIME, ///< no frame; two more words: the new base of the times that follow
};
enum { WEFT__FRAME_SINCE = 22, WEFT__FRAME_ROW = 8, WEFT__FRAME_BUSY = 32, WEFT__FRAME_NUMBER = 28 }; ///< bits

/// The last frame of the queue pair that has this row. A queue pair uses its own row or the one beside it.
struct weft__follow_seen {
    uint64_t what;  ///< queue pair, packet << 28, kind << 56, priority << 60, lost << 63
    uint64_t where; ///< how long it kept its port busy, the port << 32
};

/// A sender's new state is one word: its time less that of the previous note (27 bits, signed), the state (3), the form
/// (2), and what that form adds.
enum weft__sender_form {
    WEFT__SENDER_SAME,  ///< the same queue pair as in the previous note
    WEFT__SENDER_OTHER, ///< one more word: the queue pair
    WEFT__SENDER_FAR,   ///< three more words: the queue pair, the time
};
enum { WEFT__SENDER_SINCE = 27, WEFT__SENDER_STATE = 3 }; ///< bits
struct weft__follow_sender {
    weft_time_ps time_ps;
    uint32_t qp, state; ///< enum weft_sender_state
};

struct weft__follow_chunk {
    struct weft__follow_chunk *next;
    uint32_t bytes;
    _Alignas(8) unsigned char memory[];
};
/// Chunks in a ring: the last is followed by the first. The last one is filled up to `at`.
struct weft__follow_list {
    unsigned char *at, *end;
    struct weft__follow_chunk *last;
};

/// What the second record of a cell has in busy_ps; 0: that of a data packet in a DSF.
struct weft__follow_cell {
    uint32_t vc, kind, cell, box;
};
static inline uint32_t weft__follow_cell_bits(struct weft__follow_cell c) {
    return c.vc | c.kind << 8 | c.cell << 12 | c.box << 16;
}
static inline struct weft__follow_cell weft__follow_cell_of(uint32_t bits) {
    return (struct weft__follow_cell){bits & 255, bits >> 8 & 15, bits >> 12 & 15, bits >> 16};
}

/// The blocks from which chunks of all nodes are cut.
struct weft__follow_pool {
    pthread_mutex_t lock;
    struct weft__follow_block *block; ///< the newest
    unsigned char *at, *end;
};
void weft__follow_pool_init(struct weft__follow_pool *pool);
void weft__follow_pool_deinit(struct weft__follow_pool *pool);

/// Per node. A frame needs only one cache line of it.
struct weft__follow {
    _Alignas(64) struct weft__follow_list frames;
    weft_time_ps last_ps;           ///< time of the last frame
    const uint8_t *qp;              ///< [queue pairs]: whether its data is followed; NULL: all data is
    const uint8_t *all;             ///< [ports of the node]: whether every frame is kept; NULL: at no port
    struct weft__follow_seen *seen; ///< [rows + 1], indexed by the queue pair
    uint32_t rows;                  ///< minus one: a mask
    uint32_t port0;                 ///< its first port among all ports

    struct weft__follow_list senders;
    struct weft__follow_sender sender; ///< the last note of a sender
    uint32_t *state;                   ///< [queue pairs] of all nodes: the sender's last state, and its node
    struct weft__follow_pool *pool;

    struct weft__rma_log *rma; ///< NULL: not followed

    struct weft__follow_list others; ///< holds struct weft__follow_record
};
_Static_assert(offsetof(struct weft__follow, senders) == 64 && offsetof(struct weft__follow, others) == 128 &&
                   sizeof(struct weft__follow) == 192,
               "cache lines");

/// The log of a rank of a job.
struct weft__rank_log {
    struct weft_rank_note *note;
    uint32_t n, room;
};
void weft__rank_note(struct weft__rank_log *log, struct weft_rank_note note);
void weft__rank_log_release(struct weft__rank_log *log);

/// The remote memory access log of a node.
struct weft__rma_log {
    struct weft_rma_note *note;
    uint32_t n, room;
};
void weft__rma_note(struct weft__rma_log *log, struct weft_rma_note note);
void weft__rma_log_release(struct weft__rma_log *log);

/// The chunk after `c`; after NULL, the first one.
static inline const struct weft__follow_chunk *weft__follow_next(const struct weft__follow_list *list,
                                                                 const struct weft__follow_chunk *c) {
    if (!c) return list->last ? list->last->next : NULL;
    return c == list->last ? NULL : c->next;
}

/// A frame read back from the log.
struct weft__follow_frame {
    weft_time_ps time_ps;
    struct weft__follow_seen frame;
};
/// Reads the frame at `*at` and advances; `seen` must be all zero before the first one. False: there was no frame, only
/// a time.
bool weft__follow_read(const uint32_t **at, struct weft__follow_seen *seen, struct weft__follow_frame *frame);

/// The same for senders; `sender` must be all zero before the first one.
void weft__follow_read_sender(const uint32_t **at, struct weft__follow_sender *sender);

/// Starts another chunk.
void weft__follow_grow(struct weft__follow *f, struct weft__follow_list *list);
/// Stores the size of the last chunk, which until then only its end shows.
static inline void weft__follow_settle(struct weft__follow_list *list) {
    if (list->last) list->last->bytes = (uint32_t)(list->at - list->last->memory);
}

static inline void *weft__follow_add_to(struct weft__follow *f, struct weft__follow_list *list, size_t bytes) {
    if (__builtin_expect((size_t)(list->end - list->at) < bytes, 0)) weft__follow_grow(f, list);
    list->at += bytes;
    return list->at - bytes;
}
static inline struct weft__follow_record *weft__follow_add(struct weft__follow *f) {
    return weft__follow_add_to(f, &f->others, sizeof(struct weft__follow_record));
}
/// Adds two records that stay together.
static inline struct weft__follow_record *weft__follow_add_two(struct weft__follow *f) {
    return weft__follow_add_to(f, &f->others, 2 * sizeof(struct weft__follow_record));
}

/// The last record that is not a frame; there must be one.
static inline struct weft__follow_record *weft__follow_last(const struct weft__follow *f) {
    return (struct weft__follow_record *)(void *)f->others.at - 1;
}

/// Adds a frame that differs from the last one of its row, or is late.
void weft__follow_add_unlike(struct weft__follow *f, weft_time_ps now, struct weft__follow_seen frame);

/// Adds a frame, sent no earlier than those before it at this node. False: it does not fit.
static inline bool weft__follow_add_frame(struct weft__follow *f, weft_time_ps now, weft_time_ps busy, uint32_t port,
                                          const struct weft_packet *packet, uint32_t psn, bool lost) {
    uint32_t qp = packet->qp;
    if (__builtin_expect(busy >> WEFT__FRAME_BUSY || (qp | psn) >> WEFT__FRAME_NUMBER, 0)) return false;
    struct weft__follow_seen frame = {qp | (uint64_t)psn << 28 | (uint64_t)packet->kind << 56 |
                                          (uint64_t)packet->priority << 60 | (uint64_t)lost << 63,
                                      busy | (uint64_t)port << 32};
    struct weft__follow_seen *seen = &f->seen[qp & f->rows];
    weft_time_ps since = now - f->last_ps;
    if (frame.what - seen->what == UINT64_C(1) << 28 && frame.where == seen->where && !(since >> WEFT__FRAME_SINCE)) {
        uint32_t *word = weft__follow_add_to(f, &f->frames, sizeof *word);
        *word = (uint32_t)since | (qp & f->rows) << WEFT__FRAME_SINCE;
        seen->what = frame.what;
        f->last_ps = now;
    } else {
        weft__follow_add_unlike(f, now, frame);
    }
    return true;
}

static inline bool weft__follow_has_qp(const struct weft__follow *f, uint32_t qp) {
    return !f->qp || f->qp[qp];
}
static inline bool weft__follow_has(const struct weft__follow *f, uint32_t port, const struct weft_packet *p) {
    if (p->kind == WEFT_PACKET_DATA && weft__follow_has_qp(f, p->qp)) return true;
    return f->all && f->all[port - f->port0];
}

static inline void weft__follow_note(struct weft__follow *f, weft_time_ps at, enum weft_followed_what what,
                                     uint32_t state, uint32_t qp, uint32_t psn) {
    *weft__follow_add(f) = (struct weft__follow_record){
        .time_ps = at, .qp = qp, .psn = psn, .what = (uint8_t)((uint32_t)what | state << 4)};
}

static inline void weft__follow_pause(struct weft__follow *f, uint32_t port, weft_time_ps at, uint32_t priority,
                                      bool paused) {
    *weft__follow_add(f) = (struct weft__follow_record){.time_ps = at,
                                                        .port = (uint16_t)(port - f->port0),
                                                        .what = paused ? WEFT_FOLLOWED_PAUSED : WEFT_FOLLOWED_RESUMED,
                                                        .priority = priority & 7u};
}

/// Adds `first` and two more times: for a cell, its arrival and when it came. Returns the second record.
static inline struct weft__follow_record *weft__follow_two(struct weft__follow *f, struct weft__follow_record first,
                                                           weft_time_ps a, weft_time_ps b) {
    struct weft__follow_record *r = weft__follow_add_two(f);
    first.more = true;
    r[0] = first;
    r[1] = (struct weft__follow_record){.time_ps = a, .qp = (uint32_t)b, .psn = (uint32_t)(b >> 32)};
    return &r[1];
}

void weft__follow_add_sender(struct weft__follow *f, struct weft__follow_sender sender);
/// Notes a sender's state from `at` on, unless it is in that state already.
static inline void weft__follow_sender(struct weft__follow *f, weft_time_ps at, uint32_t qp,
                                       enum weft_sender_state state) {
    uint32_t is = f->port0 << 3 | (state + 1u);
    if (f->state[qp] == is) return;
    f->state[qp] = is;
    weft__follow_add_sender(f, (struct weft__follow_sender){at, qp, state});
}
