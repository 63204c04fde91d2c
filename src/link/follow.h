// SPDX-License-Identifier: Apache-2.0
// What a node keeps of flows that are followed (weft/follow.h): records of 24 bytes in the order in which they were
// noted, in chunks that never move. What the port's wire implies is not kept, but derived when the log is read. Only
// the worker of the node touches it.
#ifndef WEFT_LINK_FOLLOW_H
#define WEFT_LINK_FOLLOW_H

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

struct weft__follow_chunk {
    struct weft__follow_chunk *next;
    uint32_t n, room;
    struct weft__follow_record record[];
};

/// Of a node.
struct weft__follow {
    struct weft__follow_record *at, *end; ///< in the last chunk
    const uint8_t *qp;                    ///< [queue pairs]: whether its data is followed; NULL: all data is
    const uint8_t *all;                   ///< [ports of the node]: every frame is kept; NULL: of none
    uint32_t *state;                      ///< [queue pairs] of all nodes: the sender's last, and at which node
    struct weft__follow_chunk *first, *last;
    uint32_t port0; ///< among all ports
};

/// Of a rank of a job.
struct weft__rank_log {
    struct weft_rank_note *note;
    uint32_t n, room;
};
void weft__rank_note(struct weft__rank_log *log, struct weft_rank_note note);
void weft__rank_log_release(struct weft__rank_log *log);

void weft__follow_grow(struct weft__follow *f);
void weft__follow_release(struct weft__follow *f);
/// The last chunk's count is only known by its end.
static inline void weft__follow_settle(struct weft__follow *f) {
    if (f->last) f->last->n = (uint32_t)(f->at - f->last->record);
}

static inline struct weft__follow_record *weft__follow_add(struct weft__follow *f) {
    if (__builtin_expect(f->at == f->end, 0)) weft__follow_grow(f);
    return f->at++;
}

/// Two that stay together.
static inline struct weft__follow_record *weft__follow_add_two(struct weft__follow *f) {
    if (__builtin_expect(f->end - f->at < 2, 0)) weft__follow_grow(f);
    f->at += 2;
    return f->at - 2;
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

/// `first`, and two more times: of a cell its arrival and when it came.
static inline void weft__follow_two(struct weft__follow *f, struct weft__follow_record first, weft_time_ps a,
                                    weft_time_ps b) {
    struct weft__follow_record *r = weft__follow_add_two(f);
    first.more = true;
    r[0] = first;
    r[1] = (struct weft__follow_record){.time_ps = a, .qp = (uint32_t)b, .psn = (uint32_t)(b >> 32)};
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
