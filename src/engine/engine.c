// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "weft/memory.h"

struct weft__report {
    uint64_t next_window;
    int64_t under_way_bytes;
    uint64_t started, finished;
    weft_time_ps progress_ps;
    struct weft__engine_progress so_far;
    bool interrupt;
    _Alignas(64) char apart[64]; ///< no two workers write one cache line
};

struct weft__far_packet {
    struct weft_packet packet;
};

struct weft__far_wake {
    weft_time_ps time_ps;
    uint32_t node; ///< local
};

// A word to sort packets by: offset in the window, port (and there a pause frame after the data frame that it overtook:
// the two may have come by different ways, the ring and the heap), index.
enum { WINDOW_BITS_MAX = 20, PORT_BITS = 17, INDEX_BITS = 64 - WINDOW_BITS_MAX - PORT_BITS };
#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)
#define NO_WINDOW UINT64_MAX

// --- logs ---------------------------------------------------------------------------------------------------------

void weft__log_grow(struct weft__worker *w, struct weft__log *log) {
    if (log->blocks == log->capacity) {
        uint32_t capacity = log->capacity ? log->capacity * 2 : 4;
        log->block = weft_memory_resize(WEFT_MEMORY_FLIGHT, log->block, log->capacity * sizeof *log->block,
                                        capacity * sizeof *log->block);
        log->capacity = capacity;
    }
    log->block[log->blocks++] =
        w->free_blocks ? w->free_block[--w->free_blocks]
                       : weft_memory_new(WEFT_MEMORY_FLIGHT, WEFT__BLOCK_PACKETS, sizeof(struct weft_packet));
}

/// Takes the blocks of a log that has been read back for reuse.
static void log_clear(struct weft__worker *w, struct weft__log *log) {
    if (w->free_blocks + log->blocks > w->free_capacity) {
        uint32_t capacity = (w->free_blocks + log->blocks) * 2;
        w->free_block = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->free_block, w->free_capacity * sizeof *w->free_block,
                                           capacity * sizeof *w->free_block);
        w->free_capacity = capacity;
    }
    while (log->blocks)
        w->free_block[w->free_blocks++] = log->block[--log->blocks];
    log->n = 0;
}

static void log_free(struct weft__log *log) {
    for (uint32_t b = 0; b < log->blocks; b++)
        weft_memory_free(WEFT_MEMORY_FLIGHT, log->block[b], WEFT__BLOCK_PACKETS * sizeof(struct weft_packet));
    weft_memory_free(WEFT_MEMORY_FLIGHT, log->block, log->capacity * sizeof *log->block);
}

static const struct weft_packet *log_at(const struct weft__log *log, uint32_t i) {
    return &log->block[i / WEFT__BLOCK_PACKETS][i % WEFT__BLOCK_PACKETS];
}

// --- what lies beyond the ring ------------------------------------------------------------------------------------

/// Order of far packets: by time; node and port only so that the heap's order never depends on history.
static bool far_before(const struct weft_packet *a, const struct weft_packet *b) {
    if (a->time_ps != b->time_ps) return a->time_ps < b->time_ps;
    return a->node != b->node ? a->node < b->node : a->port < b->port;
}

static void far_packet_push(struct weft__worker *w, const struct weft_packet *p) {
    if (w->far_packets == w->far_packets_capacity) {
        uint32_t capacity = w->far_packets_capacity ? w->far_packets_capacity * 2 : 64;
        w->far_packet =
            weft_memory_resize(WEFT_MEMORY_FLIGHT, w->far_packet, w->far_packets_capacity * sizeof *w->far_packet,
                               capacity * sizeof *w->far_packet);
        w->far_packets_capacity = capacity;
    }
    uint32_t i = w->far_packets++;
    for (; i && far_before(p, &w->far_packet[(i - 1) / 2].packet); i = (i - 1) / 2)
        w->far_packet[i] = w->far_packet[(i - 1) / 2];
    w->far_packet[i].packet = *p;
}

static struct weft_packet far_packet_pop(struct weft__worker *w) {
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

static void far_wake_push(struct weft__worker *w, weft_time_ps time, uint32_t node) {
    if (w->far_wakes == w->far_wakes_capacity) {
        uint32_t capacity = w->far_wakes_capacity ? w->far_wakes_capacity * 2 : 64;
        w->far_wake = weft_memory_resize(WEFT_MEMORY_TIMER, w->far_wake, w->far_wakes_capacity * sizeof *w->far_wake,
                                         capacity * sizeof *w->far_wake);
        w->far_wakes_capacity = capacity;
    }
    uint32_t i = w->far_wakes++;
    for (; i && time < w->far_wake[(i - 1) / 2].time_ps; i = (i - 1) / 2)
        w->far_wake[i] = w->far_wake[(i - 1) / 2];
    w->far_wake[i] = (struct weft__far_wake){time, node};
}

static struct weft__far_wake far_wake_pop(struct weft__worker *w) {
    struct weft__far_wake top = w->far_wake[0], last = w->far_wake[--w->far_wakes];
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < w->far_wakes; i = down) {
        if (down + 1 < w->far_wakes && w->far_wake[down + 1].time_ps < w->far_wake[down].time_ps) down++;
        if (last.time_ps <= w->far_wake[down].time_ps) break;
        w->far_wake[i] = w->far_wake[down];
    }
    w->far_wake[i] = last;
    return top;
}

static void wake_in_ring(struct weft__worker *w, uint64_t window, uint32_t local) {
    uint32_t slot = (uint32_t)(window % WEFT__RING);
    w->wake[slot * w->words + local / 64] |= UINT64_C(1) << local % 64;
    w->written |= UINT64_C(1) << slot;
}

/// Brings in what was sent to this worker beyond the ring in the last window, then what the ring has reached.
static void far_advance(struct weft__worker *w) {
    struct weft__engine *e = w->engine;
    for (uint32_t from = 0; from < e->conf.workers; from++) {
        const struct weft__log *log = &e->worker[from].far[w->parity ^ 1][w->id];
        for (uint32_t i = 0; i < log->n; i++)
            far_packet_push(w, log_at(log, i));
    }
    while (w->far_packets && (w->far_packet[0].packet.time_ps >> w->shift) - w->window < WEFT__RING) {
        struct weft_packet p = far_packet_pop(w);
        uint32_t slot = (uint32_t)(p.time_ps >> w->shift) % WEFT__RING;
        w->written |= UINT64_C(1) << slot;
        *weft__log_slot(w, &w->log[w->id * WEFT__RING + slot]) = p;
    }
    while (w->far_wakes && (w->far_wake[0].time_ps >> w->shift) - w->window < WEFT__RING) {
        struct weft__far_wake wake = far_wake_pop(w);
        wake_in_ring(w, wake.time_ps >> w->shift, wake.node);
    }
}

/// Notes when to visit a node again for its earliest timer.
static void schedule_wake(struct weft__worker *w, struct weft__node *node, uint32_t local) {
    weft_time_ps t = weft__timers_next(&node->timers);
    if (t == node->wake_ps || t >= w->engine->conf.until_ps) return;
    node->wake_ps = t;
    uint64_t window = t >> w->shift;
    if (window - w->window < WEFT__RING)
        wake_in_ring(w, window, local);
    else
        far_wake_push(w, t, local);
}

// --- one window ---------------------------------------------------------------------------------------------------

/// What comes so many packets, or nodes, later is fetched now.
enum { AHEAD_PACKET = 10, AHEAD_FETCH = 6, AHEAD_PREPARE = 3 };
enum { AHEAD_NODE = 16, AHEAD_STATE = 10, AHEAD_TIMERS = 5, AHEAD_HEADS = 2 };

static void insertion_sort(uint64_t *key, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        uint64_t x = key[i];
        uint32_t k = i;
        for (; k && key[k - 1] > x; k--)
            key[k] = key[k - 1];
        key[k] = x;
    }
}

static void sort_keys(uint64_t *key, uint32_t n) {
    while (n > 32) { // quicksort, median of three; recursion on the smaller part
        uint64_t a = key[0], b = key[n / 2], c = key[n - 1];
        uint64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        uint32_t i = 0, k = n - 1;
        for (;;) {
            while (key[i] < pivot)
                i++;
            while (key[k] > pivot)
                k--;
            if (i >= k) break;
            uint64_t x = key[i];
            key[i++] = key[k];
            key[k--] = x;
        }
        uint32_t left = k + 1;
        if (left < n - left) {
            sort_keys(key, left);
            key += left;
            n -= left;
        } else {
            sort_keys(key + left, n - left);
            n = left;
        }
    }
    insertion_sort(key, n);
}

static void reserve_gather(struct weft__worker *w, uint32_t n) {
    if (w->gathered_capacity >= n && w->gathered_capacity) return;
    uint32_t old = w->gathered_capacity, capacity = n + n / 2 + 64;
    w->key = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->key, old * sizeof *w->key, capacity * sizeof *w->key);
    w->sorted =
        weft_memory_resize(WEFT_MEMORY_FLIGHT, w->sorted, old * sizeof *w->sorted, capacity * sizeof *w->sorted);
    w->who = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->who, old * sizeof *w->who, capacity * sizeof *w->who);
    w->packet =
        weft_memory_resize(WEFT_MEMORY_FLIGHT, w->packet, old * sizeof *w->packet, capacity * sizeof *w->packet);
    w->prepared =
        weft_memory_resize(WEFT_MEMORY_FLIGHT, w->prepared, old * sizeof *w->prepared, capacity * sizeof *w->prepared);
    w->order = weft_memory_resize(WEFT_MEMORY_FLIGHT, w->order, old ? (old + AHEAD_PACKET) * sizeof *w->order : 0,
                                  (capacity + AHEAD_PACKET) * sizeof *w->order);
    w->gathered_capacity = capacity;
}

/// Keys of all packets of this window that come to this worker: offset in the window, port, index, in one word.
static uint32_t gather(struct weft__worker *w, uint64_t *wake) {
    struct weft__engine *e = w->engine;
    uint32_t slot = (uint32_t)(w->window % WEFT__RING), n = 0;
    for (uint32_t from = 0; from < e->conf.workers; from++)
        n += e->worker[from].log[w->id * WEFT__RING + slot].n;
    assert(n < INDEX_MASK);
    reserve_gather(w, n);
    weft_time_ps begin = w->window << w->shift;
    uint32_t k = 0;
    for (uint32_t from = 0; from < e->conf.workers; from++) {
        const struct weft__log *log = &e->worker[from].log[w->id * WEFT__RING + slot];
        for (uint32_t b = 0, left = log->n; left; b++) {
            uint32_t here = left < WEFT__BLOCK_PACKETS ? left : WEFT__BLOCK_PACKETS;
            struct weft_packet *p = log->block[b];
            left -= here;
            for (uint32_t i = 0; i < here; i++, p++, k++) {
                uint32_t local = p->node - w->first;
                w->packet[k] = p;
                w->who[k] = local;
                uint64_t port = (uint64_t)p->port << 1 | (p->kind == WEFT_PACKET_PFC);
                w->key[k] = (p->time_ps - begin) << (PORT_BITS + INDEX_BITS) | port << INDEX_BITS | k;
                w->count[local]++;
                wake[local / 64] |= UINT64_C(1) << local % 64;
            }
        }
    }
    return n;
}

static void prepare(struct weft__worker *w, uint32_t i) {
    const struct weft_packet *p = w->order[i];
    struct weft__node *node = &w->engine->node[p->node];
    if (node->ops->prepare) w->prepared[i] = node->ops->prepare(node, p);
}

static void fetch(const struct weft__worker *w, uint32_t i) {
    const struct weft_packet *p = w->order[i];
    const struct weft__node *node = &w->engine->node[p->node];
    if (node->ops->fetch) node->ops->fetch(node, p);
}

static void look_ahead(struct weft__worker *w, uint32_t i) {
    __builtin_prefetch(w->order[i + AHEAD_PACKET]);
    if (i + AHEAD_FETCH < w->gathered) fetch(w, i + AHEAD_FETCH);
    if (i + AHEAD_PREPARE < w->gathered) prepare(w, i + AHEAD_PREPARE);
}

/// Runs one node to `end`: its packets, sorted[first..last), merged with its timers.
static void run_node(struct weft__worker *w, struct weft__node *node, uint32_t first, uint32_t last, weft_time_ps end) {
    uint32_t i = first;
    uint64_t events = 0;
    for (;;) {
        weft_time_ps timer = weft__timers_next(&node->timers);
        if (i < last) {
            struct weft_packet *p = w->order[i];
            if (p->time_ps <= timer && p->time_ps < end) {
                look_ahead(w, i);
                w->now_ps = p->time_ps;
                node->ops->on_packet(node, w, p, w->prepared[i]);
                i++;
                events++;
                continue;
            }
        }
        if (timer >= end) break;
        w->now_ps = timer;
        node->ops->on_timer(node, w, weft__timers_pop(&node->timers));
        events++;
    }
    for (; i < last; i++) {
        look_ahead(w, i);
        w->unread_bytes += w->order[i]->bytes;
    }
    w->tally.events += events;
    if (events && w->now_ps > w->tally.last_ps) w->tally.last_ps = w->now_ps;
}

/// With profiling on: charges the time since *begun to a phase.
static void charge(struct weft__worker *w, enum weft_phase phase, uint64_t *begun) {
    if (!w->engine->conf.profile) return;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
    if (*begun) w->phase_ns[phase] += now - *begun;
    *begun = now;
}

enum { TIMERS_FETCHED_MAX = 64 };

static void fetch_timers(const struct weft__node *node, uint32_t step, weft_time_ps end) {
    if (!node->ops->fetch_timer) return;
    uint32_t n = node->timers.n < TIMERS_FETCHED_MAX ? node->timers.n : TIMERS_FETCHED_MAX;
    for (uint32_t i = 0; i < n; i++) // what is due stands near the top of the heap
        if (node->timers.heap[i].time_ps < end) node->ops->fetch_timer(node, node->timers.heap[i].key, step);
}

static void fetch_nodes(const struct weft__worker *w, uint32_t a, uint32_t actives, weft_time_ps end) {
    const struct weft__node *node = &w->engine->node[w->first];
    if (a + AHEAD_NODE < actives) __builtin_prefetch(&node[w->active[a + AHEAD_NODE]]);
    if (a + AHEAD_STATE < actives) {
        const struct weft__node *next = &node[w->active[a + AHEAD_STATE]];
        __builtin_prefetch(next->state);
        __builtin_prefetch((const char *)next->state + 64);
        __builtin_prefetch(next->timers.heap);
    }
    if (a + AHEAD_TIMERS < actives) fetch_timers(&node[w->active[a + AHEAD_TIMERS]], 0, end);
    if (a + AHEAD_HEADS < actives) fetch_timers(&node[w->active[a + AHEAD_HEADS]], 1, end);
}

static void run_window(struct weft__worker *w, uint64_t *begun) {
    struct weft__engine *e = w->engine;
    uint32_t slot = (uint32_t)(w->window % WEFT__RING);
    uint64_t *wake = &w->wake[slot * w->words];
    weft_time_ps end = (w->window + 1) << w->shift;
    if (end > e->conf.until_ps) end = e->conf.until_ps;

    uint32_t actives = 0, running = 0;
    w->gathered = gather(w, wake);
    for (uint32_t word = 0; word < w->words; word++) {
        for (uint64_t bits = wake[word]; bits; bits &= bits - 1) {
            uint32_t local = word * 64 + (uint32_t)__builtin_ctzll(bits);
            w->active[actives++] = local;
            w->start[local] = running;
            running += w->count[local];
        }
        wake[word] = 0;
    }
    for (uint32_t k = 0; k < w->gathered; k++)
        w->sorted[w->start[w->who[k]]++] = w->key[k];
    for (uint32_t a = 0, first = 0; a < actives; a++) {
        uint32_t count = w->count[w->active[a]];
        if (count > 1) sort_keys(&w->sorted[first], count);
        first += count;
    }
    for (uint32_t k = 0; k < w->gathered; k++)
        w->order[k] = w->packet[w->sorted[k] & INDEX_MASK];
    for (uint32_t k = 0; k < AHEAD_PACKET; k++)
        w->order[w->gathered + k] = NULL; // prefetching it does nothing
    charge(w, WEFT_PHASE_GATHER, begun);

    for (uint32_t i = 0; i < AHEAD_PREPARE && i < w->gathered; i++)
        prepare(w, i);
    for (uint32_t a = 0, first = 0; a < actives; a++) {
        uint32_t local = w->active[a], count = w->count[local];
        struct weft__node *node = &e->node[w->first + local];
        w->count[local] = 0;
        fetch_nodes(w, a, actives, end);
        run_node(w, node, first, first + count, end);
        schedule_wake(w, node, local);
        first += count;
    }
    charge(w, WEFT_PHASE_NODES, begun);
}

// --- all windows --------------------------------------------------------------------------------------------------

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/// The next window in which this worker knows of work for anybody.
static uint64_t next_window(const struct weft__worker *w) {
    uint64_t next = NO_WINDOW;
    if (w->written) {
        uint32_t turn = (uint32_t)((w->window + 1) % WEFT__RING);
        uint64_t ahead = turn ? w->written >> turn | w->written << (64 - turn) : w->written;
        next = w->window + 1 + (uint32_t)__builtin_ctzll(ahead);
    }
    if (w->far_packets) next = earlier(next, w->far_packet[0].packet.time_ps >> w->shift);
    if (w->far_wakes) next = earlier(next, w->far_wake[0].time_ps >> w->shift);
    if (w->far_sent_ps != WEFT_TIME_NEVER) next = earlier(next, w->far_sent_ps >> w->shift);
    return next;
}

static void publish(struct weft__worker *w) {
    const struct weft__engine *e = w->engine;
    const struct weft__tally *t = &w->tally;
    e->report[w->parity * e->conf.workers + w->id] = (struct weft__report){
        .next_window = next_window(w),
        .under_way_bytes = (int64_t)(t->injected_bytes - t->delivered_bytes - t->dropped_bytes),
        .started = t->started,
        .finished = t->finished,
        .progress_ps = t->progress_ps,
        .so_far = {.packet_hops = t->packet_hops, .payload_bytes = t->payload_bytes, .flows_done = t->flows_done},
        .interrupt = w->id == 0 && e->conf.interrupt && *e->conf.interrupt,
    };
}

static void barrier(struct weft__engine *e) {
    uint32_t turn = atomic_load_explicit(&e->barrier_turn, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&e->barrier_left, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&e->barrier_left, e->conf.workers, memory_order_relaxed);
        atomic_store_explicit(&e->barrier_turn, turn + 1, memory_order_release);
        return;
    }
    for (uint32_t spins = 0; atomic_load_explicit(&e->barrier_turn, memory_order_acquire) == turn; spins++)
        if (spins >= e->spins) sched_yield();
}

static struct weft__report sum_reports(const struct weft__engine *e, uint32_t parity) {
    struct weft__report all = {.next_window = NO_WINDOW};
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        const struct weft__report *r = &e->report[parity * e->conf.workers + k];
        all.next_window = earlier(all.next_window, r->next_window);
        all.under_way_bytes += r->under_way_bytes;
        all.started += r->started;
        all.finished += r->finished;
        if (r->progress_ps > all.progress_ps) all.progress_ps = r->progress_ps;
        all.so_far.packet_hops += r->so_far.packet_hops;
        all.so_far.payload_bytes += r->so_far.payload_bytes;
        all.so_far.flows_done += r->so_far.flows_done;
        all.interrupt |= r->interrupt;
    }
    return all;
}

/// Whether the run is over, and how. Every worker computes the same from the same sums.
static bool is_over(const struct weft__engine *e, const struct weft__report *all, enum weft_end *ret_end) {
    *ret_end = WEFT_END_DONE;
    if (all->finished == e->conf.work && all->under_way_bytes == 0) return true;
    *ret_end = WEFT_END_INTERRUPTED;
    if (all->interrupt) return true;
    weft_time_ps begin = all->next_window << e->worker[0].shift;
    *ret_end = e->conf.until_ps != WEFT_TIME_NEVER ? WEFT_END_UNTIL : WEFT_END_STALL;
    if (all->next_window == NO_WINDOW || begin >= e->conf.until_ps) return true;
    *ret_end = WEFT_END_STALL;
    // While a flow is still to start, there is something to wait for.
    bool active = (all->started > all->finished || all->under_way_bytes) && all->started >= e->conf.work;
    weft_time_ps since = all->progress_ps > e->conf.settled_ps ? all->progress_ps : e->conf.settled_ps;
    return active && begin > since && begin - since > e->conf.stall_ps;
}

/// What a worker wrote for a window that all have read is taken back.
static void take_back(struct weft__worker *w) {
    if (w->previous == NO_WINDOW) return;
    uint32_t slot = (uint32_t)(w->previous % WEFT__RING);
    for (uint32_t to = 0; to < w->engine->conf.workers; to++)
        log_clear(w, &w->log[to * WEFT__RING + slot]);
}

static void *work(void *context) {
    struct weft__worker *w = context;
    struct weft__engine *e = w->engine;
    uint64_t windows = 0, begun = 0;
    for (;;) {
        publish(w);
        barrier(e);
        charge(w, WEFT_PHASE_WAIT, &begun);
        struct weft__report all = sum_reports(e, w->parity);
        enum weft_end end;
        if (is_over(e, &all, &end)) {
            if (w->id == 0) e->end = end;
            break;
        }
        // A slot must be taken back by its writer before it is read again: never jump by whole turns of the ring.
        uint64_t window = all.next_window;
        if (w->previous != NO_WINDOW && (window - w->previous) % WEFT__RING == 0) window--;
        w->parity ^= 1;
        take_back(w);
        for (uint32_t to = 0; to < e->conf.workers; to++)
            log_clear(w, &w->far[w->parity][to]);
        w->far_sent_ps = WEFT_TIME_NEVER;
        w->window = window;
        w->previous = window;
        far_advance(w);
        w->written &= ~(UINT64_C(1) << window % WEFT__RING);
        run_window(w, &begun);
        windows++;
        if (w->id == 0 && e->conf.on_progress && windows % 64 == 0)
            e->conf.on_progress(e->conf.context, &all.so_far, window << w->shift);
    }
    if (w->id == 0) e->windows = windows;
    return NULL;
}

void weft__engine_run(struct weft__engine *e) {
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        struct weft__worker *w = &e->worker[k];
        for (uint32_t i = 0; i < w->n; i++)
            schedule_wake(w, &e->node[w->first + i], i);
    }
    pthread_t thread[WEFT__WORKERS_MAX];
    for (uint32_t k = 1; k < e->conf.workers; k++)
        if (pthread_create(&thread[k], NULL, work, &e->worker[k])) {
            fprintf(stderr, "weft: cannot start a thread\n");
            _Exit(1);
        }
    work(&e->worker[0]);
    for (uint32_t k = 1; k < e->conf.workers; k++)
        pthread_join(thread[k], NULL);
}

// --- init, deinit, sums -------------------------------------------------------------------------------------------

/// Window length: the largest power of two within the lookahead that the sort key has room for.
static uint32_t calc_shift(weft_time_ps lookahead) {
    assert(lookahead > 0);
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(lookahead);
    return shift < WINDOW_BITS_MAX ? shift : WINDOW_BITS_MAX;
}

static void worker_init(struct weft__worker *w, struct weft__engine *e, uint32_t id, uint32_t first, uint32_t end) {
    *w = (struct weft__worker){.engine = e, .id = id, .first = first, .n = end - first};
    w->shift = calc_shift(e->conf.lookahead_ps);
    w->previous = NO_WINDOW;
    w->window = NO_WINDOW; // one before the first
    w->far_sent_ps = WEFT_TIME_NEVER;
    w->words = (w->n + 63) / 64;
    w->wake = weft_memory_new(WEFT_MEMORY_TIMER, (size_t)WEFT__RING * w->words, sizeof *w->wake);
    w->log = weft_memory_new(WEFT_MEMORY_FLIGHT, (size_t)WEFT__RING * e->conf.workers, sizeof *w->log);
    for (int p = 0; p < 2; p++)
        w->far[p] = weft_memory_new(WEFT_MEMORY_FLIGHT, e->conf.workers, sizeof *w->far[p]);
    w->count = weft_memory_new(WEFT_MEMORY_FLIGHT, w->n, sizeof *w->count);
    w->active = weft_memory_new(WEFT_MEMORY_FLIGHT, w->n, sizeof *w->active);
    w->start = weft_memory_new(WEFT_MEMORY_FLIGHT, w->n, sizeof *w->start);
    weft__pool_init(&w->pool);
}

static void worker_deinit(struct weft__worker *w) {
    struct weft__engine *e = w->engine;
    for (uint32_t i = 0; i < WEFT__RING * e->conf.workers; i++)
        log_free(&w->log[i]);
    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t to = 0; to < e->conf.workers; to++)
            log_free(&w->far[p][to]);
        weft_memory_free(WEFT_MEMORY_FLIGHT, w->far[p], e->conf.workers * sizeof *w->far[p]);
    }
    for (uint32_t b = 0; b < w->free_blocks; b++)
        weft_memory_free(WEFT_MEMORY_FLIGHT, w->free_block[b], WEFT__BLOCK_PACKETS * sizeof(struct weft_packet));
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->free_block, w->free_capacity * sizeof *w->free_block);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->log, (size_t)WEFT__RING * e->conf.workers * sizeof *w->log);
    weft_memory_free(WEFT_MEMORY_TIMER, w->wake, (size_t)WEFT__RING * w->words * sizeof *w->wake);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->count, w->n * sizeof *w->count);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->active, w->n * sizeof *w->active);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->start, w->n * sizeof *w->start);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->key, w->gathered_capacity * sizeof *w->key);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->sorted, w->gathered_capacity * sizeof *w->sorted);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->who, w->gathered_capacity * sizeof *w->who);
    if (w->order)
        weft_memory_free(WEFT_MEMORY_FLIGHT, w->order, (w->gathered_capacity + AHEAD_PACKET) * sizeof *w->order);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->prepared, w->gathered_capacity * sizeof *w->prepared);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->packet, w->gathered_capacity * sizeof *w->packet);
    weft_memory_free(WEFT_MEMORY_FLIGHT, w->far_packet, w->far_packets_capacity * sizeof *w->far_packet);
    weft_memory_free(WEFT_MEMORY_TIMER, w->far_wake, w->far_wakes_capacity * sizeof *w->far_wake);
    weft_memory_free(WEFT_MEMORY_SERIES, w->sample, w->samples_capacity * sizeof *w->sample);
    weft__pool_deinit(&w->pool);
}

void weft__engine_init(struct weft__engine *e, const struct weft__engine_conf *conf, const uint32_t *weight) {
    *e = (struct weft__engine){.conf = *conf};
    if (e->conf.workers > WEFT__WORKERS_MAX) e->conf.workers = WEFT__WORKERS_MAX;
    if (e->conf.workers > conf->nodes) e->conf.workers = conf->nodes;
    if (!e->conf.workers) e->conf.workers = 1;
    e->node = weft_memory_new(WEFT_MEMORY_SWITCH, conf->nodes, sizeof *e->node);
    for (uint32_t i = 0; i < conf->nodes; i++)
        e->node[i].wake_ps = WEFT_TIME_NEVER;
    e->worker = weft_memory_new(WEFT_MEMORY_FLIGHT, e->conf.workers, sizeof *e->worker);
    e->report = weft_memory_new(WEFT_MEMORY_FLIGHT, 2 * (size_t)e->conf.workers, sizeof *e->report);
    // Spinning pays only while every worker has a processor of its own.
    e->spins = sysconf(_SC_NPROCESSORS_ONLN) >= (long)e->conf.workers ? 4096 : 0;
    atomic_init(&e->barrier_left, e->conf.workers);
    atomic_init(&e->barrier_turn, 0);

    uint64_t total = 0, sum = 0;
    for (uint32_t i = 0; i < conf->nodes; i++)
        total += weight[i];
    for (uint32_t k = 0, first = 0; k < e->conf.workers; k++) {
        uint32_t end = first, after = e->conf.workers - k - 1; // leave at least one node for each worker after this one
        while (end < conf->nodes - after &&
               (end == first || k + 1 == e->conf.workers || (sum + weight[end]) * e->conf.workers <= total * (k + 1)))
            sum += weight[end++];
        worker_init(&e->worker[k], e, k, first, end);
        first = end;
    }
}

void weft__engine_deinit(struct weft__engine *e) {
    for (uint32_t i = 0; i < e->conf.nodes; i++)
        weft__timers_deinit(&e->node[i].timers);
    for (uint32_t k = 0; k < e->conf.workers; k++)
        worker_deinit(&e->worker[k]);
    weft_memory_free(WEFT_MEMORY_SWITCH, e->node, e->conf.nodes * sizeof *e->node);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->worker, e->conf.workers * sizeof *e->worker);
    weft_memory_free(WEFT_MEMORY_FLIGHT, e->report, 2 * (size_t)e->conf.workers * sizeof *e->report);
}

uint32_t weft__engine_worker_of(const struct weft__engine *e, uint32_t node) {
    uint32_t k = 0;
    while (node >= e->worker[k].first + e->worker[k].n)
        k++;
    return k;
}

struct weft__tally weft__engine_tally(const struct weft__engine *e) {
    struct weft__tally sum = {0};
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        const struct weft__tally *t = &e->worker[k].tally;
        sum.packet_hops += t->packet_hops;
        sum.events += t->events;
        sum.cnps += t->cnps;
        sum.injected_bytes += t->injected_bytes;
        sum.delivered_bytes += t->delivered_bytes;
        sum.dropped_bytes += t->dropped_bytes;
        sum.payload_bytes += t->payload_bytes;
        for (uint32_t d = 0; d < WEFT_DROPS; d++) {
            sum.drops[d] += t->drops[d];
            sum.drop_bytes[d] += t->drop_bytes[d];
        }
        sum.started += t->started;
        sum.finished += t->finished;
        sum.flows_done += t->flows_done;
        if (t->progress_ps > sum.progress_ps) sum.progress_ps = t->progress_ps;
        if (t->last_ps > sum.last_ps) sum.last_ps = t->last_ps;
    }
    return sum;
}

weft_bytes weft__engine_in_flight(const struct weft__engine *e) {
    weft_bytes bytes = 0;
    for (uint32_t k = 0; k < e->conf.workers; k++) {
        const struct weft__worker *w = &e->worker[k];
        bytes += w->unread_bytes;
        for (uint32_t i = 0; i < WEFT__RING * e->conf.workers; i++) {
            if (w->previous != NO_WINDOW && i % WEFT__RING == w->previous % WEFT__RING) continue; // has been read
            for (uint32_t m = 0; m < w->log[i].n; m++)
                bytes += log_at(&w->log[i], m)->bytes;
        }
        // Sent beyond the ring in the last window, and not yet taken over by the receiver's heap.
        for (uint32_t to = 0; to < e->conf.workers; to++)
            for (uint32_t m = 0; m < w->far[w->parity][to].n; m++)
                bytes += log_at(&w->far[w->parity][to], m)->bytes;
        for (uint32_t i = 0; i < w->far_packets; i++)
            bytes += w->far_packet[i].packet.bytes;
    }
    return bytes;
}
