// SPDX-License-Identifier: Apache-2.0
// Why an ingress buffer fills, for the record of a run. An ingress group above XOFF holds packets for several egress
// queues; the one with the most bytes is to blame. If that queue has been paused since the oldest of these packets
// arrived, they wait because of that pause; else because more arrives for it than its link carries.
#include <stdlib.h>

#include "base/order.h"
#include "box/switch/switch.h"
#include "weft/memory.h"

enum { FLOWS_SAID = 8 };

/// What waits in an ingress group.
struct look {
    uint32_t in, priority;
    weft_bytes *bytes;       ///< [out]
    weft_time_ps *oldest_ps; ///< [out]
};

static void look_at(void *context, const struct weft_packet *packet, uint32_t out) {
    struct look *look = context;
    if (packet->priority != look->priority || packet->port != look->in) return;
    look->bytes[out] += packet->bytes;
    if (packet->time_ps < look->oldest_ps[out]) look->oldest_ps[out] = packet->time_ps;
}

/// Bytes of a queue pair in a queue.
struct share {
    uint32_t qp;
    weft_bytes bytes;
};
struct shares {
    uint32_t out, priority;
    struct share *share;
    size_t n, capacity;
};

static void collect_share(void *context, const struct weft_packet *packet, uint32_t out) {
    struct shares *s = context;
    if (out != s->out || packet->priority != s->priority) return;
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 64;
        s->share = weft_memory_resize(WEFT_MEMORY_SERIES, s->share, s->capacity * sizeof *s->share,
                                      capacity * sizeof *s->share);
        s->capacity = capacity;
    }
    s->share[s->n++] = (struct share){packet->qp, packet->bytes};
}

WEFT__ORDER(by_qp, struct share, WEFT__UP(qp))
WEFT__ORDER(by_bytes, struct share, WEFT__DOWN(bytes) ?: WEFT__UP(qp))

/// One entry per queue pair, most bytes first.
static void sum_shares(struct shares *s) {
    if (!s->n) return;
    qsort(s->share, s->n, sizeof *s->share, by_qp);
    size_t n = 0;
    for (size_t i = 1; i < s->n; i++) {
        if (s->share[i].qp == s->share[n].qp)
            s->share[n].bytes += s->share[i].bytes;
        else
            s->share[++n] = s->share[i];
    }
    s->n = n + 1;
    qsort(s->share, s->n, sizeof *s->share, by_bytes);
}

/// The congestion of an egress queue: the ongoing one, or a new one with the queue pairs that fill it.
static uint32_t congestion_of(struct weft__switch *sw, weft_time_ps now, uint32_t out, uint32_t priority) {
    struct weft__trace *t = sw->trace;
    struct weft__trace_queue *q = weft__trace_queue(t, out, priority);
    if (q->congested) return q->congested;
    struct shares s = {.out = out, .priority = priority};
    weft__switch_each(sw, collect_share, &s);
    sum_shares(&s);
    struct weft_event *event = weft__trace_add(t, now, WEFT_EVENT_CONGESTED, out, priority);
    q->congested = weft__trace_id(t, event);
    if (event) {
        event->value = weft__port_queue_of(&sw->port[out], priority)->bytes;
        event->more = s.n;
        event->cause = q->level ? q->exceeded[q->level - 1] : 0;
        if (q->below < 0) q->below = 0;
    }
    for (size_t i = 0; event && i < s.n && i < FLOWS_SAID; i++) {
        event = weft__trace_add(t, now, WEFT_EVENT_CONGESTED_BY, out, priority);
        if (!event) break;
        event->value = s.share[i].bytes;
        event->qp = s.share[i].qp;
        event->cause = q->congested;
    }
    weft_memory_free(WEFT_MEMORY_SERIES, s.share, s.capacity * sizeof *s.share);
    return q->congested;
}

/// Why packets wait for an egress queue, the oldest of them since `since`.
static uint32_t blame_of(struct weft__switch *sw, weft_time_ps now, uint32_t out, uint32_t priority,
                         weft_time_ps since) {
    const struct weft__port *port = &sw->port[out];
    bool paused = port->paused >> priority & 1 && weft__port_pause_of(port, priority)->until_ps > now;
    uint32_t pause = weft__trace_pause_since(sw->trace, out, priority, paused, since);
    return pause ? pause : congestion_of(sw, now, out, priority);
}

void weft__switch_trace_entered(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                                weft_bytes bytes, bool mark) {
    const struct weft__port *port = &sw->port[out];
    bool paused = port->paused >> p->priority & 1 && weft__port_pause_of(port, p->priority)->until_ps > now;
    if (sw->brought[p->priority]) weft__switch_brought(sw, p->priority, p->port)[out] += sw->brought_last = p->bytes;
    weft__trace_enqueued(sw->trace, now, p, out, bytes, paused);
    if (mark) weft__trace_marked(sw->trace, now, p, out, bytes - p->bytes);
}

void weft__switch_trace_left(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p, uint32_t out) {
    if (sw->brought[p->priority]) weft__switch_brought(sw, p->priority, p->port)[out] -= p->bytes;
    weft__trace_dequeued(sw->trace, now, out, p->priority, weft__port_queue_of(&sw->port[out], p->priority)->bytes);
}

/// The output for which an input group has the most bytes, without the packet that just came for `out`; `out` if others
/// have no more. *ret_oldest_ps: since when the first of them waits, or as it was. None came if DCBX has just made the
/// group lossless: then `out` is the input itself, for which nothing waits.
static uint32_t find_most(const struct weft__switch *sw, uint32_t in, uint32_t priority, uint32_t out,
                          weft_time_ps *ret_oldest_ps) {
    const uint32_t *bytes = weft__switch_brought(sw, priority, in);
    uint32_t most = bytes[out] > sw->brought_last ? bytes[out] - sw->brought_last : 0, own = out;
    for (uint32_t i = 0; i < sw->ports; i++)
        if (bytes[i] > most && i != own) most = bytes[out = i];
    struct weft__fifo_cursor c = weft__fifo_begin(&weft__port_queue_of(&sw->port[out], priority)->fifo);
    for (const struct weft_packet *p; most && (p = weft__fifo_next(&c));)
        if (p->port == in && p->time_ps < *ret_oldest_ps) {
            *ret_oldest_ps = p->time_ps;
            break;
        }
    return out;
}

/// Likewise, by all that waits.
static uint32_t search_most(const struct weft__switch *sw, uint32_t in, uint32_t priority, uint32_t out,
                            weft_time_ps *ret_oldest_ps) {
    struct look look = {.in = in, .priority = priority};
    look.bytes = weft_memory_new(WEFT_MEMORY_SERIES, sw->ports, sizeof *look.bytes);
    look.oldest_ps = weft_memory_new(WEFT_MEMORY_SERIES, sw->ports, sizeof *look.oldest_ps);
    for (uint32_t i = 0; i < sw->ports; i++)
        look.oldest_ps[i] = *ret_oldest_ps;
    weft__switch_each(sw, look_at, &look);
    for (uint32_t i = 0; i < sw->ports; i++)
        if (look.bytes[i] > look.bytes[out]) out = i;
    *ret_oldest_ps = look.oldest_ps[out];
    weft_memory_free(WEFT_MEMORY_SERIES, look.bytes, sw->ports * sizeof *look.bytes);
    weft_memory_free(WEFT_MEMORY_SERIES, look.oldest_ps, sw->ports * sizeof *look.oldest_ps);
    return out;
}

void weft__switch_trace_pause(struct weft__switch *sw, weft_time_ps now, uint32_t port, uint32_t priority, uint32_t out,
                              bool xoff) {
    weft_bytes level = sw->buffer->level(sw->buffer_state, sw->conf->buffer.conf, port, priority);
    if (!xoff) {
        weft__trace_xon(sw->trace, now, port, priority, level);
        return;
    }
    if (sw->trace->n == sw->trace->limit) { // the event cannot be recorded, so its cause is not needed
        weft__trace_xoff(sw->trace, now, port, priority, level, WEFT_NONE, 0);
        return;
    }
    weft_time_ps oldest_ps = now; // the packet itself is not in the queue yet
    uint32_t most = sw->brought[priority] ? find_most(sw, port, priority, out, &oldest_ps)
                                          : search_most(sw, port, priority, out, &oldest_ps);
    uint32_t cause = blame_of(sw, now, most, priority, oldest_ps);
    weft__trace_xoff(sw->trace, now, port, priority, level, most, cause);
}

void weft__switch_trace_drop(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p, uint32_t port,
                             uint32_t out, enum weft_drop reason) {
    uint32_t cause = 0;
    if (reason == WEFT_DROP_AQM) {
        const struct weft__trace_queue *q = weft__trace_queue(sw->trace, out, p->priority);
        if (q->level) cause = q->exceeded[q->level - 1];
    } else if (reason == WEFT_DROP_HEADROOM || reason == WEFT_DROP_BUFFER_FULL) {
        cause = blame_of(sw, now, out, p->priority, now);
    } else if (reason == WEFT_DROP_PFC_WATCHDOG) {
        cause = weft__trace_queue(sw->trace, out, p->priority)->paused;
    }
    weft__trace_dropped(sw->trace, now, p, port, reason, cause);
}
