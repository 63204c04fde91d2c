// SPDX-License-Identifier: Apache-2.0
#include "link/trace.h"

#include <string.h>

#include "base/grow.h"
#include "link/port.h"
#include "weft/memory.h"

/// A queue that hovers at a threshold, or successive drops, must not give one event per packet.
static const weft_time_ps settle_ps = 10 * WEFT_PS_PER_US;

enum { MARKS_MIN = 64 };

struct weft__trace *weft__trace_new_of_lanes(uint32_t node, uint32_t port0, uint32_t ports, uint32_t limit,
                                             struct weft_arena *arena) {
    struct weft__trace *t = weft_arena_alloc(arena, 1, sizeof *t);
    *t = (struct weft__trace){
        .node = node, .port0 = port0, .ports = ports, .limit = limit, .unrecorded_ps = WEFT_TIME_NEVER};
    return t;
}

struct weft__trace *weft__trace_new(uint32_t node, uint32_t port0, uint32_t ports, uint32_t limit,
                                    const weft_bytes *thresholds, uint8_t priorities, struct weft_arena *arena) {
    struct weft__trace *t = weft__trace_new_of_lanes(node, port0, ports, limit, arena);
    t->queue = weft__arena_lines(arena, (size_t)ports * WEFT_PRIORITIES, sizeof *t->queue);
    if (thresholds) {
        memcpy(t->threshold, thresholds, sizeof t->threshold);
        t->thresholds_of = priorities;
    }
    for (uint32_t i = 0; i < ports * WEFT_PRIORITIES; i++) {
        struct weft__trace_queue *q = &t->queue[i];
        q->above = t->thresholds_of >> i % WEFT_PRIORITIES & 1 ? t->threshold[0] : UINT64_MAX;
        q->below = -1;
        for (uint32_t k = 0; k < WEFT_EVENT_THRESHOLDS; k++)
            q->fell_ps[k] = WEFT_TIME_NEVER;
    }
    return t;
}

static size_t drops_of(const struct weft__trace *t) {
    return (size_t)t->ports * WEFT_PRIORITIES * WEFT_DROPS;
}

void weft__trace_release(struct weft__trace *t) {
    weft_memory_free(WEFT_MEMORY_SERIES, t->event, t->capacity * sizeof *t->event);
    weft_memory_free(WEFT_MEMORY_SERIES, t->mark, t->marks_capacity * sizeof *t->mark);
    if (t->drop) weft_memory_free(WEFT_MEMORY_SERIES, t->drop, drops_of(t) * sizeof *t->drop);
    t->event = NULL;
    t->mark = NULL;
    t->drop = NULL;
    t->n = t->capacity = t->marks = t->marks_capacity = 0;
}

struct weft_event *weft__trace_add(struct weft__trace *t, weft_time_ps now, enum weft_event_kind kind, uint32_t port,
                                   uint32_t priority) {
    if (t->n == t->limit) {
        t->unrecorded++;
        if (now < t->unrecorded_ps) t->unrecorded_ps = now;
        return NULL;
    }
    struct weft_event *event = &WEFT__ADD_DOUBLE(WEFT_MEMORY_SERIES, t->event, t->n, t->capacity, 64);
    *event = (struct weft_event){.time_ps = now,
                                 .node = t->node,
                                 .port = t->port0 + port,
                                 .flow = WEFT_NONE,
                                 .qp = WEFT_NONE,
                                 .kind = (uint8_t)kind,
                                 .priority = (uint8_t)priority};
    return event;
}

/// The same with its value and cause; returns its number.
static uint32_t add_caused(struct weft__trace *t, weft_time_ps now, enum weft_event_kind kind, uint32_t port,
                           uint32_t priority, uint64_t value, uint32_t cause) {
    struct weft_event *event = weft__trace_add(t, now, kind, port, priority);
    if (!event) return 0;
    event->value = value;
    event->cause = cause;
    return weft__trace_id(t, event);
}

static void set_begin(struct weft__trace *t, uint32_t id, uint32_t first) {
    if (id) t->event[id - 1].begins = first;
}

// --- egress queues ------------------------------------------------------------------------------------------------

static void end_marking(struct weft__trace *t, struct weft__trace_queue *q, uint32_t out, uint32_t priority) {
    if (!q->marking) return;
    set_begin(t, add_caused(t, q->marked_ps, WEFT_EVENT_MARKING_ENDED, out, priority, q->marks, 0), q->marking);
    q->marking = 0;
}

/// Records queues that have been below a threshold for long enough.
static void say_fell(struct weft__trace *t, struct weft__trace_queue *q, uint32_t out, uint32_t priority, uint32_t k) {
    uint32_t id = add_caused(t, q->fell_ps[k], WEFT_EVENT_QUEUE_BELOW, out, priority, q->fell_bytes[k], 0);
    if (id) {
        t->event[id - 1].more = t->threshold[k];
        t->event[id - 1].detail = (uint8_t)k;
    }
    set_begin(t, id, q->exceeded[k]);
    q->exceeded[k] = 0;
    q->fell_ps[k] = WEFT_TIME_NEVER;
    if (k == WEFT_EVENT_MIN) end_marking(t, q, out, priority);
}

static void set_below(struct weft__trace *t, struct weft__trace_queue *q) {
    q->below = q->level ? (int64_t)t->threshold[q->level - 1] : q->congested ? 0 : -1;
}

static void exceed_level(struct weft__trace *t, weft_time_ps now, struct weft__trace_queue *q,
                         const struct weft_packet *p, uint32_t out, weft_bytes bytes, bool paused) {
    uint32_t k = q->level++;
    q->above = q->level < WEFT_EVENT_THRESHOLDS ? t->threshold[q->level] : UINT64_MAX;
    if (q->fell_ps[k] != WEFT_TIME_NEVER) {
        if (now - q->fell_ps[k] < settle_ps) {
            q->fell_ps[k] = WEFT_TIME_NEVER;
            return;
        }
        say_fell(t, q, out, p->priority, k);
    }
    struct weft_event *event = weft__trace_add(t, now, WEFT_EVENT_QUEUE_ABOVE, out, p->priority);
    q->exceeded[k] = weft__trace_id(t, event);
    if (!event) return;
    event->value = bytes;
    event->more = t->threshold[k];
    event->detail = (uint8_t)k;
    event->qp = p->qp;
    event->cause = paused ? q->paused : k ? q->exceeded[k - 1] : 0;
}

static void classify_packet(struct weft__trace *t, weft_time_ps now, struct weft__trace_queue *q,
                            const struct weft_packet *p, uint32_t out) {
    q->dscps |= UINT64_C(1) << p->dscp;
    struct weft_event *event = weft__trace_add(t, now, WEFT_EVENT_CLASSIFIED, out, p->priority);
    if (!event) return;
    event->value = p->dscp;
    event->more = t->port0 + p->port;
    event->detail = p->kind;
    event->qp = p->qp;
}

void weft__trace_on_enqueued(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                             weft_bytes queue_bytes, bool paused) {
    struct weft__trace_queue *q = weft__trace_queue(t, out, p->priority);
    if (!(q->dscps >> p->dscp & 1)) classify_packet(t, now, q, p, out);
    while (queue_bytes > q->above)
        exceed_level(t, now, q, p, out, queue_bytes, paused);
    set_below(t, q);
}

void weft__trace_on_dequeued(struct weft__trace *t, weft_time_ps now, uint32_t out, uint32_t priority,
                             weft_bytes queue_bytes) {
    struct weft__trace_queue *q = weft__trace_queue(t, out, priority);
    while (q->level && queue_bytes <= t->threshold[q->level - 1]) {
        q->above = t->threshold[--q->level];
        q->fell_ps[q->level] = now;
        q->fell_bytes[q->level] = queue_bytes;
    }
    if (!queue_bytes && q->congested) {
        set_begin(t, add_caused(t, now, WEFT_EVENT_DRAINED, out, priority, 0, 0), q->congested);
        q->congested = 0;
    }
    set_below(t, q);
}

// --- marks --------------------------------------------------------------------------------------------------------

static uint32_t slot_of(const struct weft__trace *t, uint32_t qp) {
    uint32_t mask = t->marks_capacity - 1, i = qp * 2654435761u & mask; // Knuth's multiplicative hash
    while (t->mark[i].marking && t->mark[i].qp != qp)
        i = (i + 1) & mask;
    return i;
}

static void grow_marks(struct weft__trace *t) {
    struct weft__trace_mark *old = t->mark;
    uint32_t n = t->marks_capacity;
    t->marks_capacity = n ? n * 2 : MARKS_MIN;
    t->mark = weft_memory_new(WEFT_MEMORY_SERIES, t->marks_capacity, sizeof *t->mark);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].marking) t->mark[slot_of(t, old[i].qp)] = old[i];
    weft_memory_free(WEFT_MEMORY_SERIES, old, n * sizeof *old);
}

void weft__trace_marked(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                        weft_bytes queue_bytes) {
    struct weft__trace_queue *q = weft__trace_queue(t, out, p->priority);
    if (!q->marking) {
        q->marks = 0;
        q->marking =
            add_caused(t, now, WEFT_EVENT_MARKING_BEGAN, out, p->priority, queue_bytes, q->exceeded[WEFT_EVENT_MIN]);
        if (!q->marking) return;
        t->event[q->marking - 1].qp = p->qp;
    }
    q->marks++;
    q->marked_ps = now;
    if (t->marks * 2 >= t->marks_capacity) grow_marks(t);
    struct weft__trace_mark *m = &t->mark[slot_of(t, p->qp)];
    uint32_t queue = out * WEFT_PRIORITIES + p->priority;
    if (m->marking == q->marking && m->queue == queue) return;
    t->marks += !m->marking;
    *m = (struct weft__trace_mark){p->qp, queue, q->marking};
    uint32_t id = add_caused(t, now, WEFT_EVENT_FLOW_MARKED, out, p->priority, queue_bytes, q->marking);
    if (id) t->event[id - 1].qp = p->qp;
}

void weft__trace_lost(struct weft__trace *t, weft_time_ps now, const struct weft__trace_loss *loss, uint32_t cause) {
    if (!t->drop) t->drop = weft_memory_new(WEFT_MEMORY_SERIES, drops_of(t), sizeof *t->drop);
    struct weft__trace_drop *d = &t->drop[(loss->port * WEFT_PRIORITIES + loss->priority) * WEFT_DROPS + loss->reason];
    if (!d->event || now - d->last_ps > settle_ps) {
        d->event = add_caused(t, now, loss->kind, loss->port, loss->priority, 0, cause);
        if (d->event) {
            t->event[d->event - 1].detail = (uint8_t)loss->reason;
            t->event[d->event - 1].qp = loss->qp;
        }
    }
    d->last_ps = now;
    if (!d->event) return;
    t->event[d->event - 1].value += loss->bytes;
    t->event[d->event - 1].more += loss->n;
}

void weft__trace_dropped(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t port,
                         enum weft_drop reason, uint32_t cause) {
    struct weft__trace_loss loss = {
        .kind = WEFT_EVENT_DROPPED,
        .port = port,
        .priority = p->priority,
        .qp = weft_packet_is_local(p) ? WEFT_NONE : p->qp,
        .reason = reason,
        .bytes = p->bytes,
        .n = 1,
    };
    weft__trace_lost(t, now, &loss, cause);
}

// --- pauses -------------------------------------------------------------------------------------------------------

void weft__trace_pause_received(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority,
                                uint8_t classes, uint32_t quanta, bool obeyed) {
    struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    q->pause_received = add_caused(t, now, WEFT_EVENT_PAUSE_RECEIVED, port, priority, quanta, 0);
    if (!q->pause_received) return;
    t->event[q->pause_received - 1].detail = classes;
    t->event[q->pause_received - 1].more = obeyed;
}

void weft__trace_paused(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority, weft_bytes waiting) {
    struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    q->paused = add_caused(t, now, WEFT_EVENT_PAUSED, port, priority, waiting, q->pause_received);
    q->resumed = 0;
    q->resumed_ps = WEFT_TIME_NEVER;
}

void weft__trace_resumed(struct weft__trace *t, weft_time_ps at, uint32_t port, uint32_t priority,
                         weft_time_ps paused_ps, enum weft_event_resumed how) {
    struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    q->resumed = add_caused(t, at, WEFT_EVENT_RESUMED, port, priority, paused_ps,
                            how == WEFT_EVENT_BY_FRAME ? q->pause_received : 0);
    q->resumed_ps = at;
    if (q->resumed) t->event[q->resumed - 1].detail = (uint8_t)how;
    set_begin(t, q->resumed, q->paused);
}

uint32_t weft__trace_pause_since(const struct weft__trace *t, uint32_t port, uint32_t priority, bool paused,
                                 weft_time_ps since) {
    const struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    return paused || (q->paused && q->resumed_ps != WEFT_TIME_NEVER && q->resumed_ps > since) ? q->paused : 0;
}

void weft__trace_pause_sent(struct weft__trace *t, weft_time_ps now, uint32_t port, const struct weft_packet *frame,
                            weft_time_ps arrival) {
    uint8_t classes = weft_packet_pfc_classes(frame);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(classes >> p & 1)) continue;
        uint32_t quanta = weft_packet_pfc_quanta(frame, p);
        struct weft__trace_queue *q = weft__trace_queue(t, port, p);
        bool proxied = weft_packet_pfc_is_proxied(frame, p);
        uint32_t cause = proxied ? q->sfc : quanta ? q->xoff : q->xon;
        uint32_t id = add_caused(t, now, WEFT_EVENT_PAUSE_SENT, port, p, quanta, cause);
        if (id) {
            t->event[id - 1].more = arrival;
            t->event[id - 1].detail = classes;
        }
        if (proxied) continue; // each proxy pause is separate and expires by itself
        set_begin(t, id, q->pause_sent);
        if (!quanta)
            q->pause_sent = 0;
        else if (!q->pause_sent)
            q->pause_sent = id;
    }
}

void weft__trace_sfc_sent(struct weft__trace *t, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                          weft_time_ps pause, weft_bytes queue_bytes) {
    const struct weft__trace_queue *q = weft__trace_queue(t, out, p->priority);
    uint32_t cause = q->level ? q->exceeded[q->level - 1] : q->congested;
    uint32_t id = add_caused(t, now, WEFT_EVENT_SFC_SENT, out, p->priority, pause / WEFT_PS_PER_NS, cause);
    if (!id) return;
    t->event[id - 1].more = queue_bytes;
    t->event[id - 1].qp = p->qp;
}

void weft__trace_sfc_received(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority,
                              const struct weft_packet *message) {
    struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    q->sfc = add_caused(t, now, WEFT_EVENT_SFC_RECEIVED, port, priority, weft_packet_sfcm_pause_ns(message), 0);
    if (!q->sfc) return;
    struct weft_event *event = &t->event[q->sfc - 1];
    event->qp = message->qp;
    event->more = weft__event_tag_sfcm(message->entropy, weft_packet_sfcm_sent_ns(message));
}

void weft__trace_storms(struct weft__trace *t, weft_time_ps now, uint32_t port, uint8_t begun, uint8_t ended,
                        const struct weft__port_pause *pause, uint32_t row) {
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        struct weft__trace_queue *q = weft__trace_queue(t, port, p);
        if (begun >> p & 1)
            q->storm =
                add_caused(t, now, WEFT_EVENT_STORM_BEGAN, port, p, now - pause[(size_t)p * row].since_ps, q->paused);
        if (ended >> p & 1) set_begin(t, add_caused(t, now, WEFT_EVENT_STORM_ENDED, port, p, 0, 0), q->storm);
    }
}

void weft__trace_xoff(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority, weft_bytes bytes,
                      uint32_t blamed, uint32_t cause) {
    struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    q->xoff = add_caused(t, now, WEFT_EVENT_XOFF, port, priority, bytes, cause);
    q->xoff_ps = now;
    q->blamed = blamed;
    if (q->xoff) t->event[q->xoff - 1].more = blamed == WEFT_NONE ? WEFT_NONE : t->port0 + blamed;
}

void weft__trace_xon(struct weft__trace *t, weft_time_ps now, uint32_t port, uint32_t priority, weft_bytes bytes) {
    struct weft__trace_queue *q = weft__trace_queue(t, port, priority);
    uint32_t cause = 0;
    if (q->blamed != WEFT_NONE) {
        const struct weft__trace_queue *blamed = weft__trace_queue(t, q->blamed, priority);
        if (blamed->resumed && blamed->resumed_ps >= q->xoff_ps) cause = blamed->resumed;
    }
    q->xon = add_caused(t, now, WEFT_EVENT_XON, port, priority, bytes, cause);
    set_begin(t, q->xon, q->xoff);
}

// --- queue pairs --------------------------------------------------------------------------------------------------

struct weft_event *weft__trace_qp(struct weft__trace *t, weft_time_ps now, enum weft_event_kind kind, uint32_t flow,
                                  uint32_t qp) {
    struct weft_event *event = weft__trace_add(t, now, kind, 0, WEFT_EVENT_NO_PRIORITY);
    if (!event) return NULL;
    event->flow = flow;
    event->qp = qp;
    return event;
}

void weft__trace_rate(struct weft__trace *t, weft_time_ps now, uint32_t at_src, uint32_t flow, uint32_t qp,
                      weft_rate_bps rate, weft_rate_bps before, weft_rate_bps line_rate) {
    weft_rate_bps *noted = &t->rate_bps[at_src];
    bool cut = rate < before;
    if (cut && *noted < before) *noted = before;
    if (!cut && rate < line_rate && rate < *noted + *noted / 4) return;
    struct weft_event *event = weft__trace_qp(t, now, cut ? WEFT_EVENT_RATE_CUT : WEFT_EVENT_RATE_RAISED, flow, qp);
    if (event) {
        event->value = rate;
        event->more = cut ? before : *noted;
        event->cause = cut ? t->cnp : 0;
    }
    *noted = rate;
}

void weft__trace_finish(struct weft__trace *t) {
    for (uint32_t i = 0; t->queue && i < t->ports * WEFT_PRIORITIES; i++)
        for (uint32_t k = 0; k < WEFT_EVENT_THRESHOLDS; k++)
            if (t->queue[i].fell_ps[k] != WEFT_TIME_NEVER)
                say_fell(t, &t->queue[i], i / WEFT_PRIORITIES, i % WEFT_PRIORITIES, k);
}
