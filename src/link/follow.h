// SPDX-License-Identifier: Apache-2.0
// What a node keeps of flows that are followed (weft/follow.h): 16 bytes for a frame, 24 for all else, in the order in
// which they were noted, in chunks that never move. What the port's wire implies is not kept, but derived when the log
// is read. Only the worker of the node touches it; chunks come from blocks that all nodes share, as most of the cost is
// that the system has to give the memory, and that is least on large pages.
#ifndef WEFT_LINK_FOLLOW_H
#define WEFT_LINK_FOLLOW_H

#include <pthread.h>

#include "weft/follow.h"
#include "weft/packet.h"

/// One record, or two: the second one of a frame has what the first cannot say.
struct weft__follow_record {
    weft_time_ps time_ps;
    uint32_t qp, psn;
    uint32_t busy_ps; ///< FRAME: how long its port is busy
    uint16_t port;    ///< of the node
    uint8_t what;     ///< of enum weft_followed_what (4 bits), then state, or kind of a frame
    uint8_t priority : 3, lost : 1, more : 1, home : 1;
};
_Static_assert(sizeof(struct weft__follow_record) == 24, "compact");

/// A frame on a plain Ethernet port. `where`: time since the frame before it at this node, how long its port is busy,
/// the port. `what`: queue pair, packet, kind, priority, lost. What does not fit is a record as above.
struct weft__follow_frame {
    uint64_t where, what;
};
enum { WEFT__FRAME_SINCE = 26, WEFT__FRAME_BUSY = 22, WEFT__FRAME_NUMBER = 28 }; ///< bits
/// `what` of what is no frame: `where` is a time, from which on the next one counts.
#define WEFT__FRAME_TIME UINT64_MAX

struct weft__follow_chunk {
    struct weft__follow_chunk *next;
    uint32_t bytes;
    _Alignas(8) unsigned char memory[];
};
/// Chunks in order, the last one up to `at`.
struct weft__follow_list {
    unsigned char *at, *end;
    struct weft__follow_chunk *first, *last;
};

/// What the second record of a cell says in busy_ps; 0: a data packet's in a DSF.
struct weft__follow_cell {
    uint32_t vc, kind, cell, box;
};
static inline uint32_t weft__follow_cell_bits(struct weft__follow_cell c) {
    return c.vc | c.kind << 8 | c.cell << 12 | c.box << 16;
}
static inline struct weft__follow_cell weft__follow_cell_of(uint32_t bits) {
    return (struct weft__follow_cell){bits & 255, bits >> 8 & 15, bits >> 12 & 15, bits >> 16};
}

/// Blocks that chunks of all nodes are cut from.
struct weft__follow_pool {
    pthread_mutex_t lock;
    struct weft__follow_block *block; ///< the last one
    unsigned char *at, *end;
};
void weft__follow_pool_init(struct weft__follow_pool *pool);
void weft__follow_pool_deinit(struct weft__follow_pool *pool);

/// Of a node.
struct weft__follow {
    struct weft__follow_list frames, others; ///< struct weft__follow_frame, struct weft__follow_record
    weft_time_ps last_ps;                    ///< of the last of frames
    struct weft__follow_pool *pool;
    const uint8_t *qp;         ///< [queue pairs]: whether its data is followed; NULL: all data is
    const uint8_t *all;        ///< [ports of the node]: every frame is kept; NULL: of none
    uint32_t *state;           ///< [queue pairs] of all nodes: the sender's last, and at which node
    uint32_t port0;            ///< among all ports
    struct weft__rma_log *rma; ///< NULL: it is not followed
};

/// Of a rank of a job.
struct weft__rank_log {
    struct weft_rank_note *note;
    uint32_t n, room;
};
void weft__rank_note(struct weft__rank_log *log, struct weft_rank_note note);
void weft__rank_log_release(struct weft__rank_log *log);

/// Of a node, of remote memory access.
struct weft__rma_log {
    struct weft_rma_note *note;
    uint32_t n, room;
};
void weft__rma_note(struct weft__rma_log *log, struct weft_rma_note note);
void weft__rma_log_release(struct weft__rma_log *log);

/// Begins another chunk.
void weft__follow_grow(struct weft__follow *f, struct weft__follow_list *list);
/// The last chunks' sizes are only known by their ends.
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
/// Two that stay together.
static inline struct weft__follow_record *weft__follow_add_two(struct weft__follow *f) {
    return weft__follow_add_to(f, &f->others, 2 * sizeof(struct weft__follow_record));
}

/// The last that is no frame; there must be one.
static inline struct weft__follow_record *weft__follow_last(const struct weft__follow *f) {
    return (struct weft__follow_record *)(void *)f->others.at - 1;
}

/// Time passed without a frame for longer than a record can tell.
void weft__follow_skip(struct weft__follow *f, weft_time_ps now);

/// A frame, which the node sends no earlier than those before. False: it does not fit.
static inline bool weft__follow_add_frame(struct weft__follow *f, weft_time_ps now, weft_time_ps busy, uint32_t port,
                                          uint32_t qp, uint32_t psn, uint32_t kind, uint32_t priority, bool lost) {
    if (__builtin_expect(busy >> WEFT__FRAME_BUSY || (qp | psn) >> WEFT__FRAME_NUMBER, 0)) return false;
    if (__builtin_expect((now - f->last_ps) >> WEFT__FRAME_SINCE != 0, 0)) weft__follow_skip(f, now);
    struct weft__follow_frame *frame = weft__follow_add_to(f, &f->frames, sizeof *frame);
    frame->where = (now - f->last_ps) | busy << WEFT__FRAME_SINCE | (uint64_t)port << 48;
    frame->what = qp | (uint64_t)psn << 28 | (uint64_t)kind << 56 | (uint64_t)priority << 60 | (uint64_t)lost << 63;
    f->last_ps = now;
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

/// `first`, and two more times: of a cell its arrival and when it came. Returns the second record.
static inline struct weft__follow_record *weft__follow_two(struct weft__follow *f, struct weft__follow_record first,
                                                           weft_time_ps a, weft_time_ps b) {
    struct weft__follow_record *r = weft__follow_add_two(f);
    first.more = true;
    r[0] = first;
    r[1] = (struct weft__follow_record){.time_ps = a, .qp = (uint32_t)b, .psn = (uint32_t)(b >> 32)};
    return &r[1];
}

/// What a sender is in from `at` on; what it was in already is not noted again.
static inline void weft__follow_sender(struct weft__follow *f, weft_time_ps at, uint32_t qp,
                                       enum weft_sender_state state) {
    uint32_t is = f->port0 << 3 | (state + 1u);
    if (f->state[qp] == is) return;
    f->state[qp] = is;
    weft__follow_note(f, at, WEFT_FOLLOWED_SENDER, state, qp, 0);
}

#endif
