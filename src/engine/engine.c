// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/numa.h"
#include "base/order.h"
#include "engine/ranks.h"
#include "engine/side.h"
#include "weft/memory.h"

struct weft__far_wake {
    weft_time_ps time_ps;
    uint32_t node; ///< local
};

/// The nodes to visit in a window, with their arrivals.
struct weft__active {
    uint32_t node; ///< local
    uint32_t first, n;
};

// A sort key for packets: offset in the window, then port; late packets, which come through the heap or ring, go last.
enum { ORDER_BITS = 17 };
enum { MANY = 12 }; ///< packets at a node; below this they are sorted by comparison

// --- what lies beyond the ring ------------------------------------------------------------------------------------

/// Order of far packets: by time, then node and port, so that the heap's order never depends on history.
static bool far_before(const struct weft_packet *a, const struct weft_packet *b) {
    if (a->time_ps != b->time_ps) return a->time_ps < b->time_ps;
    return a->node != b->node ? a->node < b->node : a->port < b->port;
}

static void far_packet_push(struct weft__worker *w, const struct weft_packet *p) {
    if (w->far_packets == w->far_packets_capacity)
        w->far_packet = weft__memory_double_now(WEFT_MEMORY_FLIGHT, w->far_packet, &w->far_packets_capacity, 64,
                                                sizeof *w->far_packet);
    uint32_t i = w->far_packets++;
    for (; i && far_before(p, &w->far_packet[(i - 1) / 2].packet); i = (i - 1) / 2)
        w->far_packet[i] = w->far_packet[(i - 1) / 2];
    w->far_packet[i].packet = *p;
}

static struct weft_packet far_packet_pop(struct weft__worker *w) {
    assert(w->far_packets && weft__window_of(w, w->far_packet[0].packet.time_ps) >= w->window);
    struct weft_packet top = w->far_packet[0].packet;
    struct weft__far_packet last = w->far_packet[--w->far_packets];
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < w->far_packets; i = down) {
        if (down + 1 < w->far_packets && far_before(&w->far_packet[down + 1].packet, &w->far_packet[down].packet))
            down++;
        if (!far_before(&w->far_packet[down].packet, &last.packet)) break;
        w->far_packet[i] = w->far_packet[down];
    }
    w->far_packet[i] = last;
    return top;
}

static void far_wake_place(struct weft__worker *w, uint32_t i, struct weft__far_wake wake) {
    w->far_wake[i] = wake;
    w->far_wake_of[wake.node] = i + 1;
}

/// A node has at most one far wake. One for an earlier time stays in the heap: it visits the node, which then sets
/// its next wake. So a timer that is pushed back again and again costs nothing here.
static void far_wake_note(struct weft__worker *w, weft_time_ps time, uint32_t node) {
    uint32_t i = w->far_wake_of[node];
    if (i-- == 0) {
        if (w->far_wakes == w->far_wakes_capacity)
            w->far_wake = weft__memory_double_now(WEFT_MEMORY_TIMER, w->far_wake, &w->far_wakes_capacity, 64,
                                                  sizeof *w->far_wake);
        i = w->far_wakes++;
    } else if (w->far_wake[i].time_ps <= time) {
        return;
    }
    for (; i && time < w->far_wake[(i - 1) / 2].time_ps; i = (i - 1) / 2)
        far_wake_place(w, i, w->far_wake[(i - 1) / 2]);
    far_wake_place(w, i, (struct weft__far_wake){time, node});
}

static struct weft__far_wake far_wake_pop(struct weft__worker *w) {
    assert(w->far_wakes && w->far_wake_of[w->far_wake[0].node] == 1);
    struct weft__far_wake top = w->far_wake[0], last = w->far_wake[--w->far_wakes];
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < w->far_wakes; i = down) {
        if (down + 1 < w->far_wakes && w->far_wake[down + 1].time_ps < w->far_wake[down].time_ps) down++;
        if (last.time_ps <= w->far_wake[down].time_ps) break;
        far_wake_place(w, i, w->far_wake[down]);
    }
    far_wake_place(w, i, last);
    w->far_wake_of[top.node] = 0;
    return top;
}

static void wake_in_ring(struct weft__worker *w, uint64_t window, uint32_t local) {
    uint32_t slot = (uint32_t)(window % WEFT__RING);
    w->wake[slot * w->words + local / 64] |= UINT64_C(1) << local % 64;
    weft__bits_set(w->written, slot);
}

static uint32_t leaves_inbox(const struct weft__worker *w) {
    return w->engine->conf.workers + w->id;
}

/// Takes over the packets sent to this worker beyond the ring in the last window, then those that the ring now reaches.
static void far_advance(struct weft__worker *w) {
    struct weft__engine *e = w->engine;
    for (uint32_t from = 0; from < e->conf.workers; from++)
        for (uint32_t inbox = w->id; inbox < e->inboxes; inbox += e->conf.workers) {
            struct weft__log_cursor c = weft__log_begin(w, &e->worker[from].far[w->parity ^ 1][inbox]);
            for (const struct weft_packet *p; (p = weft__log_next(&c));)
                far_packet_push(w, p);
        }
    while (w->far_packets && weft__window_of(w, w->far_packet[0].packet.time_ps) - w->window < WEFT__RING) {
        struct weft_packet p = far_packet_pop(w);
        bool is_leaf = w->leaf && weft__bits_has(w->leaf, p.node - w->first);
        uint32_t inbox = is_leaf ? leaves_inbox(w) : w->id;
        *weft__log_slot(w, weft__log_of(w, weft__window_of(w, p.time_ps), inbox)) = p;
    }
    while (w->far_wakes && weft__window_of(w, w->far_wake[0].time_ps) - w->window < WEFT__RING) {
        struct weft__far_wake wake = far_wake_pop(w);
        wake_in_ring(w, weft__window_of(w, wake.time_ps), wake.node);
    }
}

/// Notes when to visit a node again for its earliest timer. Inlined: the loop over nodes calls it for every node.
static inline __attribute__((always_inline)) void schedule_wake(struct weft__worker *w, struct weft__node *node,
                                                                uint32_t local) {
    weft_time_ps t = weft__lesser(weft__timers_next(&node->timers), node->due_ps);
    if (t == node->wake_ps || t >= w->engine->conf.until_ps) return;
    uint64_t window = weft__window_of(w, t);
    if (window == w->window) return; // the node has paused; it is rescheduled when it continues
    if (window - w->window < WEFT__RING) {
        node->wake_ps = t;
        wake_in_ring(w, window, local);
    } else {
        far_wake_note(w, t, local);
    }
}

// --- one window ---------------------------------------------------------------------------------------------------

/// What comes so many nodes later is fetched now.
enum { FETCHED = 8 }; ///< packets at a time
enum { AHEAD_NODE = 16, AHEAD_STATE = 10, AHEAD_PACKETS = 6, AHEAD_FETCH = 4, AHEAD_PREPARE = 2, AHEAD_FOLLOW = 1 };

/// Insertion sort: the first i are sorted; afterwards the first i + 1 are, x included.
static inline void insert_arrival(struct weft__arrival *arrival, uint32_t i, struct weft__arrival x) {
    struct weft__arrival *at = arrival + i;
    for (; at > arrival && at[-1].word > x.word; at--)
        *at = at[-1];
    *at = x;
}

static inline void insert_all(struct weft__arrival *arrival, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        insert_arrival(arrival, i, arrival[i]);
}

/// Counts of parts for so many packets.
static uint32_t parts_of(uint32_t packets) {
    return 2 * packets + 1;
}

/// Many packets at one node, as at a DSF box, are put into parts of the window by time, which are then nearly sorted.
static void sort_many(struct weft__worker *w, struct weft__arrival *arrival, uint32_t n) {
    uint32_t bits = 32 - (uint32_t)__builtin_clz(n), parts = 1u << bits; // of half a packet to one
    uint32_t length_bits = 64 - (uint32_t)__builtin_clzll(w->length_ps);
    uint32_t down = ORDER_BITS + (length_bits > bits ? length_bits - bits : 0);
    if (n > w->many_capacity) {
        uint32_t capacity = n + n / 2;
        w->many = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->many, w->many_capacity * sizeof *w->many,
                                     capacity * sizeof *w->many);
        w->part = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->part, parts_of(w->many_capacity) * sizeof *w->part,
                                     parts_of(capacity) * sizeof *w->part);
        w->many_capacity = capacity;
    }
    memset(w->part, 0, (parts + 1) * sizeof *w->part);
    uint32_t *part = w->part;
    struct weft__arrival *many = w->many;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; i++)
        part[(arrival[i].word >> down) + 1]++;
#pragma GCC unroll 4
    for (uint32_t p = 0; p < parts; p++)
        part[p + 1] += part[p];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; i++)
        many[part[arrival[i].word >> down]++] = arrival[i];
    for (uint32_t i = 0; i < n; i++)
        insert_arrival(arrival, i, many[i]); // no packet leaves its bucket
}

/// State of a worker for the loops over the packets of a window.
struct gathering {
    uint32_t first; ///< node
    uint32_t *end;
    uint64_t *wake;
    struct weft__arrival *arrival;
    weft_time_ps begin_ps;
};

/// The packets of an inbox for this window, log by log, block by block.
static inline __attribute__((always_inline)) void
each_packet(const struct weft__worker *w, struct gathering g, uint32_t inbox,
            void (*on_packet)(struct gathering, struct weft_packet *)) {
    const struct weft__engine *e = w->engine;
    uint32_t slot = (uint32_t)(w->window % WEFT__RING);
    for (uint32_t from = 0; from < e->conf.workers; from++) {
        const struct weft__log *row = weft__row_of(&e->worker[from], slot);
        if (!row) continue;
        uint32_t left = row[inbox].n;
        for (struct weft__block *block = row[inbox].first; left; block = block->next) {
            uint32_t here = left < w->block_packets ? left : w->block_packets;
            left -= here;
#pragma GCC unroll 4
            for (struct weft_packet *p = block->packet, *last = p + here; p < last; p++)
                on_packet(g, p);
        }
    }
}

static inline __attribute__((always_inline)) void count_packet(struct gathering g, struct weft_packet *p) {
    g.end[p->node - g.first]++;
}

static inline __attribute__((always_inline)) void count_and_wake(struct gathering g, struct weft_packet *p) {
    uint32_t local = p->node - g.first;
    g.end[local]++;
    g.wake[local / 64] |= UINT64_C(1) << local % 64;
}

/// One bit per node of a group of 64: packets arrive at it.
static inline uint64_t come_to(const uint32_t *end) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < 64; i++)
        bits |= (uint64_t)(end[i] != 0) << i;
    return bits;
}

static inline __attribute__((always_inline)) void place_packet(struct gathering g, struct weft_packet *p) {
    uint64_t order = (uint64_t)p->port << 1 | p->late;
    g.arrival[g.end[p->node - g.first]++] = (struct weft__arrival){(p->time_ps - g.begin_ps) << ORDER_BITS | order, p};
}

/// Finds the nodes to visit in this window (leaves or others) and the packets that arrive at each, in the node's order.
static uint32_t gather_nodes(struct weft__worker *w, uint64_t *wake, bool leaves) {
    struct weft__engine *e = w->engine;
    uint32_t n = 0, actives = 0, packets = 0;
    uint32_t inbox = leaves ? leaves_inbox(w) : w->id;
    struct gathering g = {.first = w->first, .end = w->end, .wake = wake, .begin_ps = w->begin_ps};
    for (uint32_t from = 0; from < e->conf.workers; from++) {
        const struct weft__log *row = weft__row_of(&e->worker[from], (uint32_t)(w->window % WEFT__RING));
        if (row) n += row[inbox].n;
    }
    bool many = n > w->n; // scanning all nodes is cheaper than noting each packet's node
    if (many)
        each_packet(w, g, inbox, count_packet);
    else
        each_packet(w, g, inbox, count_and_wake);
    if (n + FETCHED > w->gathered_capacity) {
        uint32_t capacity = n + n / 2 + 64;
        w->arrival = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->arrival, w->gathered_capacity * sizeof *w->arrival,
                                        capacity * sizeof *w->arrival);
        w->gathered_capacity = capacity;
    }
    for (uint32_t word = 0; word < w->words; word++) {
        if (many) wake[word] |= come_to(&w->end[word * 64]);
        uint64_t others = w->leaf && !leaves ? wake[word] & w->leaf[word] : 0;
        for (uint64_t bits = wake[word] & ~others; bits; bits &= bits - 1) {
            uint32_t local = word * 64 + (uint32_t)__builtin_ctzll(bits), count = w->end[local];
            w->active[actives++] = (struct weft__active){local, packets, count};
            w->end[local] = packets;
            packets += count;
        }
        wake[word] = others;
    }
    g.arrival = w->arrival;
    each_packet(w, g, inbox, place_packet);
    for (uint32_t a = 0; a < actives; a++) {
        const struct weft__active *active = &w->active[a];
        w->end[active->node] = 0;
        if (active->n >= MANY)
            sort_many(w, &w->arrival[active->first], active->n);
        else
            insert_all(&w->arrival[active->first], active->n);
    }
    return actives;
}

/// With profiling on, charges the time since *begun to a phase.
static void charge_phase(struct weft__worker *w, enum weft_phase phase, uint64_t *begun) {
    if (!w->engine->conf.profile) return;
    uint64_t now = weft__wall_ns();
    if (*begun) w->phase_ns[phase] += now - *begun;
    *begun = now;
}

/// What a worker runs in a window or in part of one.
struct visit {
    struct weft__node *first; ///< the worker's
    const struct weft__active *active;
    struct weft__arrival *arrival;
    uint32_t actives;
    weft_time_ps end;
};

static inline struct weft__node *visited_node(struct visit v, uint32_t a) {
    return &v.first[v.active[a].node];
}

static inline void prepare_node(struct visit v, uint32_t a) {
    struct weft__node *node = visited_node(v, a);
    node->ops->prepare(node, &v.arrival[v.active[a].first], v.active[a].n, v.end);
}

static inline void follow_node(struct visit v, uint32_t a) {
    struct weft__node *node = visited_node(v, a);
    if (node->ops->follow) node->ops->follow(node, &v.arrival[v.active[a].first], v.active[a].n, v.end);
}

static inline void fetch_state(const struct weft__node *node) {
    __builtin_prefetch(node->state);
    __builtin_prefetch((const char *)node->state + 64);
    for (uint32_t line = 2; line < node->ops->head_lines; line++)
        __builtin_prefetch((const char *)node->state + (size_t)line * 64);
    __builtin_prefetch(&node->timers.row[node->timers.first]);
}

/// Up to the packets of the node at `a`, or some more, from where it was left. How far.
static inline const struct weft__arrival *fetch_packets(struct visit v, uint32_t a, const struct weft__arrival *from) {
    const struct weft__arrival *end = &v.arrival[v.active[a].first + v.active[a].n];
    for (; from < end; from += FETCHED)
#pragma GCC unroll 8
        for (uint32_t i = 0; i < FETCHED; i++)
            __builtin_prefetch(from[i].packet);
    return from;
}

/// What is to be done for nodes that come later, while the node at `a` is still to be run. `all`: there are as many.
static inline __attribute__((always_inline)) void look_ahead(struct visit v, uint32_t a, bool all,
                                                             const struct weft__arrival **fetched) {
    if (all || a + AHEAD_NODE < v.actives) __builtin_prefetch(visited_node(v, a + AHEAD_NODE));
    if (all || a + AHEAD_STATE < v.actives) fetch_state(visited_node(v, a + AHEAD_STATE));
    if (all || a + AHEAD_PACKETS < v.actives) *fetched = fetch_packets(v, a + AHEAD_PACKETS, *fetched);
    if (all || a + AHEAD_FETCH < v.actives) {
        const struct weft__active *active = &v.active[a + AHEAD_FETCH];
        const struct weft__node *node = visited_node(v, a + AHEAD_FETCH);
        node->ops->fetch(node, &v.arrival[active->first], active->n, v.end);
    }
    if (all || a + AHEAD_PREPARE < v.actives) prepare_node(v, a + AHEAD_PREPARE);
    if (all || a + AHEAD_FOLLOW < v.actives) follow_node(v, a + AHEAD_FOLLOW);
}

static void note_unread(struct weft__worker *w, const struct weft_packet *p) {
    w->unread_bytes += p->bytes;
    w->unread_sides += p->side;
}

/// The run ends within this window: later arrivals stay unread.
static void cut_off(struct weft__worker *w, uint32_t actives, weft_time_ps end) {
    for (uint32_t a = 0; a < actives; a++) {
        struct weft__active *active = &w->active[a];
        for (; active->n && w->arrival[active->first + active->n - 1].packet->time_ps >= end; active->n--)
            note_unread(w, w->arrival[active->first + active->n - 1].packet);
    }
}

/// Runs one part of a window: leaves, or all other nodes.
static void run_part(struct weft__worker *w, bool leaves, uint64_t *begun) {
    struct weft__engine *e = w->engine;
    weft_time_ps end = (w->window + 1) * w->length_ps;
    uint32_t actives = gather_nodes(w, &w->wake[w->window % WEFT__RING * w->words], leaves);
    if (end > e->conf.until_ps) {
        end = e->conf.until_ps;
        cut_off(w, actives, end);
    }
    charge_phase(w, WEFT_PHASE_GATHER, begun);
    struct visit v = {&e->node[w->first], w->active, w->arrival, actives, end};
    const struct weft__arrival *fetched = v.arrival;
    for (uint32_t a = 0; a < AHEAD_PREPARE && a < actives; a++)
        prepare_node(v, a);
    for (uint32_t a = 0; a < AHEAD_FOLLOW && a < actives; a++)
        follow_node(v, a);
    for (uint32_t a = 0; a < actives; a++) {
        const struct weft__active *active = &v.active[a];
        struct weft__node *node = visited_node(v, a);
        if (__builtin_expect(a + AHEAD_NODE < actives, 1))
            look_ahead(v, a, true, &fetched);
        else
            look_ahead(v, a, false, &fetched);
        node->ops->run(node, w, &v.arrival[active->first], active->n, end);
        schedule_wake(w, node, active->node);
    }
    for (uint32_t a = 0; e->conf.check && a < actives; a++)
        e->conf.check(e->conf.context, w->first + w->active[a].node, end);
    charge_phase(w, WEFT_PHASE_NODES, begun);
}

static void run_window(struct weft__worker *w, uint64_t *begun) {
    run_part(w, false, begun);
    if (w->leaf) run_part(w, true, begun);
    weft__bits_clear(w->written, (uint32_t)(w->window % WEFT__RING));
}

// --- all windows --------------------------------------------------------------------------------------------------

/// The next window for which this worker knows of work, for any worker.
static uint64_t next_window(const struct weft__worker *w) {
    uint64_t next = WEFT__NO_WINDOW;
    uint32_t from = (uint32_t)((w->window + 1) % WEFT__RING);
    uint32_t slot = weft__bits_next_without(w->written, NULL, WEFT__RING / 64, from);
    if (slot != WEFT__BITS_NONE) next = w->window + 1 + (slot - from) % WEFT__RING;
    if (w->far_packets) next = weft__lesser(next, weft__window_of(w, w->far_packet[0].packet.time_ps));
    if (w->far_wakes) next = weft__lesser(next, weft__window_of(w, w->far_wake[0].time_ps));
    if (w->far_sent_ps != WEFT_TIME_NEVER) next = weft__lesser(next, weft__window_of(w, w->far_sent_ps));
    return next;
}

static void publish_report(struct weft__worker *w) {
    const struct weft__engine *e = w->engine;
    const struct weft__tally *t = &w->tally;
    uint32_t events = (uint32_t)(t->events - w->events);
    w->events = t->events;
    struct weft__report *report = &e->report[w->parity * e->conf.workers + w->id];
    *report = (struct weft__report){
        .next_window = next_window(w),
        .under_way_bytes = (int64_t)(t->injected_bytes - t->delivered_bytes - t->dropped_bytes) - t->unawaited_bytes,
        .started = t->started,
        .finished = t->finished,
        .progress_ps = t->progress_ps,
        .events = events,
        .failed = w->failed,
        .sides = weft__sides_were_sent(w),
        .pausing = w->id == e->own_first && e->pausing,
        .interrupt = w->id == e->own_first && (e->stopped || (e->conf.interrupt && *e->conf.interrupt)),
    };
    memcpy(report->count, t->count, sizeof report->count);
}

static struct weft__report sum_reports(const struct weft__engine *e, uint32_t parity) {
    struct weft__report own = weft__reports_sum(&e->report[parity * e->conf.workers], e->own_first, e->own_end);
    return e->conf.ranks ? weft__exchange_sum(e, &own) : own;
}

/// Nothing new arrives: the run has stalled, or all flows have finished and only duplicates are left.
static enum weft_end end_without_progress(const struct weft__engine *e, const struct weft__report *all) {
    return all->finished == e->conf.work ? WEFT_END_DONE : WEFT_END_STALL;
}

/// Whether the run is over, and how. Every worker computes the same from the same sums.
static bool is_over(const struct weft__engine *e, const struct weft__report *all, enum weft_end *ret_end) {
    *ret_end = WEFT_END_PAUSED;
    if (e->held && !all->failed) return true;
    *ret_end = WEFT_END_DONE;
    if (all->finished == e->conf.work && all->under_way_bytes == 0 && !all->failed) return true;
    *ret_end = WEFT_END_INTERRUPTED;
    if (all->interrupt || all->failed) return true;
    *ret_end = WEFT_END_PAUSED;
    if (all->pausing) return true;
    weft_time_ps begin = all->next_window * e->worker[0].length_ps;
    if (all->next_window == WEFT__NO_WINDOW || begin >= e->conf.until_ps) {
        weft_time_ps end = e->conf.until_ps < e->pause_ps ? e->conf.until_ps : e->pause_ps;
        bool endless = e->conf.until_ps == WEFT_TIME_NEVER;
        bool over = endless || weft__reports_stalled(e, all, end);
        *ret_end = over ? end_without_progress(e, all) : WEFT_END_UNTIL;
        return true;
    }
    *ret_end = WEFT_END_PAUSED;
    if (begin > e->pause_ps) return true;
    if (e->conf.rests && !all->under_way_bytes && all->progress_ps > e->rested_ps) return true;
    *ret_end = end_without_progress(e, all);
    return weft__reports_stalled(e, all, begin);
}

/// Packets in its logs for this window, but for its leaves.
static uint64_t sent_for_window(const struct weft__worker *w) {
    const struct weft__log *row = weft__row_of(w, (uint32_t)(w->window % WEFT__RING));
    uint64_t packets = 0;
    for (uint32_t inbox = 0; row && inbox < w->engine->inboxes; inbox++)
        packets += inbox == leaves_inbox(w) ? 0 : row[inbox].n;
    return packets;
}

/// Takes back what a worker wrote for a window that all have read, and checks that the lookahead was kept.
static void take_back(struct weft__worker *w) {
    if (w->previous == WEFT__NO_WINDOW) return;
    assert(w->previous == w->window && sent_for_window(w) == w->sent_before);
    weft__row_clear(w, (uint32_t)(w->previous % WEFT__RING));
}

/// Reports how much each worker had to do in the last window.
static void note_load(struct weft__engine *e, uint32_t parity) {
    uint32_t events[WEFT__WORKERS_MAX];
    for (uint32_t k = e->own_first; k < e->own_end; k++)
        events[k - e->own_first] = e->report[parity * e->conf.workers + k].events;
    weft__threads_note(&e->threads, events);
}

/// The writer must reclaim a slot before anybody reads it again, so never jump by whole turns of the ring.
static uint64_t window_after(uint64_t previous, uint64_t next) {
    return previous != WEFT__NO_WINDOW && (next - previous) % WEFT__RING == 0 ? next - 1 : next;
}

static void begin_window(struct weft__worker *w, uint64_t window) {
    w->window = window;
    w->begin_ps = window * w->length_ps;
}

static void run_worker(struct weft__worker *w, uint64_t window, bool sides, uint64_t *begun) {
    w->parity ^= 1;
    weft__sides_exchange(w, sides);
    take_back(w);
    for (uint32_t to = 0; to < w->engine->inboxes; to++)
        weft__log_clear(w, &w->far[w->parity][to]);
    w->far_sent_ps = WEFT_TIME_NEVER;
    assert(w->window == WEFT__NO_WINDOW || window > w->window);
    begin_window(w, window);
    w->previous = window;
    far_advance(w);
    w->sent_before = sent_for_window(w);
    run_window(w, begun);
}

struct thread {
    struct weft__thread own;
    struct weft__engine *engine;
    struct weft_memory *memory;
    const struct weft__numa *numa;
    uint64_t windows;
    uint32_t parity; ///< of the window that its workers run
};

static void publish_all(struct weft__engine *e) {
    for (uint32_t k = e->own_first; k < e->own_end; k++)
        publish_report(&e->worker[k]);
}

/// Between windows. The driver sees the results of the last window, of all workers; ranks send them to each other.
static void meet_others(struct thread *t) {
    struct weft__engine *e = t->engine;
    weft__threads_await(&t->own);
    if (e->conf.on_window && !e->worker[0].failed) e->held = !e->conf.on_window(e->conf.driver);
    if (e->conf.ranks) weft__exchange_pack(e);
    publish_all(e);
    if (e->conf.ranks) weft__exchange_swap(e, &e->report[e->worker[e->own_first].parity * e->conf.workers]);
}

/// The loop of a thread: runs its share of the workers, window by window, while as many threads are active.
static enum weft_status run_windows(void *context, struct weft_error *ret_error) {
    struct thread *t = context;
    struct weft__engine *e = t->engine;
    uint64_t begun = 0;
    for (;;) {
        bool alone = !e->conf.on_window && !e->conf.ranks;
        if (!alone && t->own.id == 0) meet_others(t);
        for (uint32_t k = t->own.first; k < t->own.end && alone; k++)
            publish_report(&e->worker[k]);
        if (!weft__threads_meet(&t->own)) break;
        struct weft__worker *first = &e->worker[e->own_first + t->own.first];
        charge_phase(first, WEFT_PHASE_WAIT, &begun);
        struct weft__report all = sum_reports(e, first->parity);
        enum weft_end end;
        if (is_over(e, &all, &end)) {
            if (t->own.id) break;
            e->end = end;
            e->next_ps = all.next_window * first->length_ps;
            e->failed = all.failed;
            e->windows += t->windows;
            weft__threads_end(&e->threads);
            break;
        }
        if (t->own.id == 0) note_load(e, first->parity);
        uint64_t window = window_after(first->previous, all.next_window);
        t->parity = first->parity ^ 1;
        for (uint32_t k = t->own.first; k < t->own.end; k++)
            run_worker(&e->worker[e->own_first + k], window, all.sides, &begun);
        t->windows++;
        if (t->own.id == 0 && e->conf.on_progress && t->windows % 64 == 0)
            e->stopped |= !e->conf.on_progress(e->conf.context, all.count, window * first->length_ps);
    }
    return WEFT_OK;
}

/// Memory ran out in the middle of a window. The thread meets the others once more to make all of them stop.
static void give_up(const struct thread *t) {
    for (uint32_t k = t->own.first; k < t->own.end; k++) {
        struct weft__worker *w = &t->engine->worker[t->engine->own_first + k];
        w->failed = true;
        w->parity = t->parity; // also for workers that did not run
    }
}

static void work_thread(struct thread *t) {
    while (weft_memory_guard(t->memory, run_windows, t, NULL))
        give_up(t);
}

static void *begin_work(void *context) {
    struct thread *t = context;
    weft__threads_begin(&t->own);
    weft__numa_bind(t->numa, t->own.id, t->own.all->n);
    work_thread(t);
    return NULL;
}

static void run_threads(struct weft__engine *e, struct weft_memory *memory) {
    struct thread thread[WEFT__THREADS_MAX];
    pthread_t handle[WEFT__THREADS_MAX];
    struct weft__numa numa;
    weft__numa_read(&numa, e->conf.numa);
    uint32_t n = 1; // there may be fewer than wanted: the result is the same
    uint32_t most = e->conf.threads && e->conf.threads < e->threads.n ? e->conf.threads : e->threads.n;
    for (uint32_t j = 0; j < most; j++)
        thread[j] = (struct thread){.engine = e, .memory = memory, .numa = &numa, .own = {&e->threads, .id = j}};
    while (n < most && !pthread_create(&handle[n], NULL, begin_work, &thread[n]))
        n++;
    weft__threads_start(&e->threads, n);
    weft__threads_begin(&thread[0].own);
    if (n > 1) weft__numa_bind(&numa, 0, n);
    work_thread(&thread[0]);
    for (uint32_t j = 1; j < n; j++)
        pthread_join(handle[j], NULL);
    weft__numa_release(&numa);
}

/// The loop of a rank that has no workers.
static void look_on(struct weft__engine *e) {
    struct weft__report all;
    do {
        weft__exchange_pack(e);
        weft__exchange_swap(e, e->report);
        all = sum_reports(e, 0);
    } while (!is_over(e, &all, &e->end));
    e->failed = all.failed;
}

void weft__engine_run(struct weft__engine *e) {
    if (e->own_first == e->own_end) {
        look_on(e);
        return;
    }
    weft__threads_init(&e->threads, e->own_end - e->own_first, e->conf.meeting_events, e->conf.oversubscribe);
    for (uint32_t k = e->own_first; k < e->own_end; k++) {
        struct weft__worker *w = &e->worker[k];
        for (uint32_t i = 0; i < w->n; i++) // a node without `ops` runs on another rank; nothing happens at it
            if (e->node[w->first + i].ops) schedule_wake(w, &e->node[w->first + i], i);
    }
    struct weft_memory *memory = weft_memory_current();
    run_threads(e, memory);
    weft__threads_deinit(&e->threads);
    if (e->failed) weft_memory_fail();
}

// --- init, deinit -------------------------------------------------------------------------------------------

static void worker_init(struct weft__worker *w, struct weft__engine *e, uint32_t id, uint32_t first, uint32_t end) {
    *w = (struct weft__worker){.engine = e, .id = id, .first = first, .n = end - first};
    w->length_ps = e->conf.window_ps;
    w->inverse = UINT64_MAX / w->length_ps;
    w->ring_ps = w->length_ps > 1 ? WEFT__RING * w->length_ps : 0; // the reciprocal of 1 does not fit: all is far
    w->reciprocal = w->inverse + 1;
    w->previous = WEFT__NO_WINDOW;
    begin_window(w, WEFT__NO_WINDOW); // one before the first
    w->far_sent_ps = WEFT_TIME_NEVER;
    w->words = (w->n + 63) / 64;
    w->wake = weft_memory_new(WEFT_MEMORY_TIMER, (size_t)WEFT__RING * w->words, sizeof *w->wake);
    w->far_wake_of = weft_memory_new(WEFT_MEMORY_TIMER, w->n, sizeof *w->far_wake_of);
    if (e->conf.leaf) {
        w->leaf = weft_memory_new(WEFT_MEMORY_TIMER, w->words, sizeof *w->leaf);
        for (uint32_t i = 0; i < w->n; i++)
            if (e->conf.leaf[first + i]) weft__bits_set(w->leaf, i);
    }
    weft__logs_init(w);
    for (int p = 0; p < 2; p++)
        w->far[p] = weft_memory_new(WEFT_MEMORY_FLIGHT, e->inboxes, sizeof *w->far[p]);
    w->end = weft_memory_new(WEFT_MEMORY_FLIGHT, w->words * 64, sizeof *w->end);
    w->active = weft_memory_new(WEFT_MEMORY_FLIGHT, w->n, sizeof *w->active);
    weft__pool_init(&w->pool);
    weft__sides_init(w);
}

static void worker_deinit(struct weft__worker *w) {
    struct weft__engine *e = w->engine;
    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t to = 0; to < e->inboxes; to++)
            weft__log_clear(w, &w->far[p][to]);
        weft_memory_free(WEFT_MEMORY_FLIGHT, w->far[p], e->inboxes * sizeof *w->far[p]);
    }
    weft__logs_deinit(w);
    weft_memory_free(WEFT_MEMORY_TIMER, w->wake, (size_t)WEFT__RING * w->words * sizeof *w->wake);
    if (w->leaf) weft_memory_free(WEFT_MEMORY_TIMER, w->leaf, w->words * sizeof *w->leaf);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->end, w->words * 64 * sizeof *w->end);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->active, w->n * sizeof *w->active);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->arrival, w->gathered_capacity * sizeof *w->arrival);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->many, w->many_capacity * sizeof *w->many);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->part, parts_of(w->many_capacity) * sizeof *w->part);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->far_packet, w->far_packets_capacity * sizeof *w->far_packet);
    weft_memory_free(WEFT_MEMORY_TIMER, w->far_wake, w->far_wakes_capacity * sizeof *w->far_wake);
    weft_memory_free(WEFT_MEMORY_TIMER, w->far_wake_of, w->n * sizeof *w->far_wake_of);
    weft__sides_deinit(w);
    weft__pool_deinit(&w->pool);
}

/// Cuts the nodes into one contiguous part per worker, of about the same weight. cuts_from[node]: the first place at or
/// after the node where a cut is allowed; there is none between a trunk and its leaves.
static void cut_parts(struct weft__engine *e, const uint32_t *weight, const uint32_t *cuts_from) {
    uint64_t total = 0, sum = 0;
    uint32_t nodes = e->conf.nodes, workers = e->conf.workers;
    for (uint32_t i = 0; i < nodes; i++)
        total += weight[i];
    for (uint32_t k = 0, first = 0; k < workers; k++) {
        uint32_t end = first, after = workers - k - 1; // leave at least one node for each later worker
        bool may_cut, fits;
        do {
            sum += weight[end++];
            may_cut = end == nodes || cuts_from[end] > cuts_from[end + 1];
            fits = end < nodes && (!after || (sum + weight[end]) * workers <= total * (k + 1));
        } while (!may_cut || (fits && cuts_from[end] > after));
        worker_init(&e->worker[k], e, k, first, end);
        first = end;
    }
    assert(e->worker[workers - 1].first + e->worker[workers - 1].n == nodes);
}

static size_t reports_of(const struct weft__engine *e) {
    return 2 * (size_t)e->conf.workers;
}

void weft__engine_init(struct weft__engine *e, const struct weft__engine_conf *conf, const uint32_t *weight) {
    assert(conf->nodes && conf->nodes <= WEFT_PACKET_NODES && conf->lookahead_ps);
    *e = (struct weft__engine){.conf = *conf};
    if (!e->conf.window_ps) e->conf.window_ps = conf->lookahead_ps;
    if (e->conf.window_ps > WEFT__WINDOW_PS_MAX) e->conf.window_ps = WEFT__WINDOW_PS_MAX;
    assert(e->conf.window_ps <= conf->lookahead_ps);
    if (e->conf.workers > WEFT__WORKERS_MAX) e->conf.workers = WEFT__WORKERS_MAX;
    uint32_t *cuts_from = weft_memory_new(WEFT_MEMORY_SWITCH, conf->nodes + 1, sizeof *cuts_from);
    for (uint32_t i = conf->nodes; i-- > 1;)
        cuts_from[i] = cuts_from[i + 1] + !(conf->leaf && conf->leaf[i]);
    if (e->conf.workers > cuts_from[1] + 1) e->conf.workers = cuts_from[1] + 1;
    if (!e->conf.workers) e->conf.workers = 1;
    e->node = weft_memory_new(WEFT_MEMORY_SWITCH, conf->nodes, sizeof *e->node);
    for (uint32_t i = 0; i < conf->nodes; i++)
        e->node[i].wake_ps = e->node[i].due_ps = WEFT_TIME_NEVER;
    e->worker = weft_memory_new(WEFT_MEMORY_FLIGHT, e->conf.workers, sizeof *e->worker);
    e->report_memory = weft_memory_new(WEFT_MEMORY_FLIGHT, reports_of(e) + 1, sizeof *e->report);
    e->report = (struct weft__report *)(((uintptr_t)e->report_memory + 63) & ~(uintptr_t)63);
    e->inboxes = e->conf.workers << (conf->leaf != NULL);
    e->pause_ps = WEFT_TIME_NEVER;
    weft__exchange_init(e);
    cut_parts(e, weight, cuts_from);
    weft_memory_free(WEFT_MEMORY_SWITCH, cuts_from, (conf->nodes + 1) * sizeof *cuts_from);
}

void weft__engine_deinit(struct weft__engine *e) {
    for (uint32_t i = 0; i < e->conf.nodes; i++)
        weft__timers_deinit(&e->node[i].timers);
    for (uint32_t k = 0; k < e->conf.workers; k++)
        worker_deinit(&e->worker[k]);
    weft__exchange_deinit(e);
    weft_memory_free(WEFT_MEMORY_SWITCH, e->node, e->conf.nodes * sizeof *e->node);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->worker, e->conf.workers * sizeof *e->worker);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->report_memory, (reports_of(e) + 1) * sizeof *e->report);
}

uint32_t weft__engine_worker_of(const struct weft__engine *e, uint32_t node) {
    assert(node < e->conf.nodes);
    uint32_t k = 0;
    while (node >= e->worker[k].first + e->worker[k].n)
        k++;
    return k;
}

uint32_t weft__engine_inbox_of(const struct weft__engine *e, uint32_t node) {
    uint32_t worker = weft__engine_worker_of(e, node);
    return e->conf.leaf && e->conf.leaf[node] ? leaves_inbox(&e->worker[worker]) : worker;
}

void weft__engine_reschedule(struct weft__engine *e, uint32_t node) {
    struct weft__worker *w = &e->worker[weft__engine_worker_of(e, node)];
    schedule_wake(w, &e->node[node], node - w->first);
}

weft_time_ps weft__engine_ran_until(const struct weft__engine *e) {
    return (e->worker[0].window + 1) * e->worker[0].length_ps;
}
