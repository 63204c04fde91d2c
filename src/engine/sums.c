// SPDX-License-Identifier: Apache-2.0
// Sums of what all workers have counted, and of what is on links at the end.
#include "engine/ranks.h"
#include "engine/side.h"

struct weft__tally weft__engine_tally(const struct weft__engine *e) {
    struct weft__tally sum = {0};
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        const struct weft__tally *t = &e->worker[k].tally;
        sum.events += t->events;
        sum.injected_bytes += t->injected_bytes;
        sum.delivered_bytes += t->delivered_bytes;
        sum.dropped_bytes += t->dropped_bytes;
        sum.unawaited_bytes += t->unawaited_bytes;
        for (uint32_t c = 0; c < WEFT__COUNTS_MAX; c++)
            sum.count[c] += t->count[c];
        sum.started += t->started;
        sum.finished += t->finished;
        if (t->progress_ps > sum.progress_ps) sum.progress_ps = t->progress_ps;
        if (t->last_ps > sum.last_ps) sum.last_ps = t->last_ps;
    }
    assert(sum.finished <= sum.started && sum.finished <= e->conf.work);
    return sum;
}

bool weft__reports_stalled(const struct weft__engine *e, const struct weft__report *all, weft_time_ps time) {
    // a flow that has yet to start counts as activity
    bool active =
        (all->started > all->finished || all->under_way_bytes) && all->started + e->conf.waiting >= e->conf.work;
    weft_time_ps since = all->progress_ps > e->conf.settled_ps ? all->progress_ps : e->conf.settled_ps;
    return active && time > since && time - since > e->conf.stall_ps;
}

/// What is on links.
struct flight {
    weft_bytes bytes;
    uint64_t packets, sides;
};

static void add_packet(struct flight *f, const struct weft_packet *p) {
    f->bytes += p->bytes;
    f->packets++;
    f->sides += p->side;
}

static void add_log(struct flight *f, const struct weft__worker *w, const struct weft__log *log) {
    struct weft__log_cursor c = weft__log_begin(w, log);
    for (const struct weft_packet *p; (p = weft__log_next(&c));)
        add_packet(f, p);
}

static struct flight count_flight(const struct weft__engine *e) {
    struct flight f = {0};
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        const struct weft__worker *w = &e->worker[k];
        f.bytes += w->unread_bytes;
        f.sides += w->unread_sides;
        for (uint32_t slot = 0; slot < WEFT__RING; slot++) {
            const struct weft__log *row = weft__row_of(w, slot);
            bool read = w->previous != WEFT__NO_WINDOW && slot == w->previous % WEFT__RING;
            for (uint32_t to = 0; row && !read && to < e->inboxes; to++)
                add_log(&f, w, &row[to]);
        }
        // Sent beyond the ring in the last window; the receiver's heap has not yet taken it over.
        for (uint32_t to = 0; to < e->inboxes; to++)
            add_log(&f, w, &w->far[w->parity][to]);
        for (uint32_t i = 0; i < w->far_packets; i++)
            add_packet(&f, &w->far_packet[i].packet);
    }
    return f;
}

/// Those of a log that arrive at `from_ps` or later.
static void each_of_log(const struct weft__worker *w, const struct weft__log *log, weft_time_ps from_ps,
                        void (*on_packet)(void *, const struct weft_packet *), void *context) {
    struct weft__log_cursor c = weft__log_begin(w, log);
    for (const struct weft_packet *p; (p = weft__log_next(&c));)
        if (p->time_ps >= from_ps) on_packet(context, p);
}

void weft__engine_each_flying(const struct weft__engine *e, void (*on_packet)(void *, const struct weft_packet *),
                              void *context) {
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        const struct weft__worker *w = &e->worker[k];
        for (uint32_t slot = 0; slot < WEFT__RING; slot++) {
            const struct weft__log *row = weft__row_of(w, slot);
            bool read = w->previous != WEFT__NO_WINDOW && slot == w->previous % WEFT__RING;
            for (uint32_t to = 0; row && to < e->inboxes; to++)
                each_of_log(w, &row[to], read ? e->conf.until_ps : 0, on_packet, context);
        }
        for (uint32_t to = 0; to < e->inboxes; to++)
            each_of_log(w, &w->far[w->parity][to], 0, on_packet, context);
        for (uint32_t i = 0; i < w->far_packets; i++)
            on_packet(context, &w->far_packet[i].packet);
    }
}

weft_bytes weft__engine_in_flight(const struct weft__engine *e) {
    return count_flight(e).bytes;
}

bool weft__engine_is_empty(const struct weft__engine *e) {
    return !count_flight(e).packets;
}

uint64_t weft__engine_sides_kept(const struct weft__engine *e) {
    uint64_t taken = 0, given = 0, flying = count_flight(e).sides;
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        taken += e->worker[k].sides->taken;
        given += e->worker[k].sides->given;
    }
    assert(taken - given >= flying && taken >= given);
    return taken - given - flying;
}
