// SPDX-License-Identifier: Apache-2.0
#include "engine/threads.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/numa.h"

enum {
    SPINS = 4096,                 ///< spins while every thread has its own processor
    LOAD_WINDOWS = 64,            ///< windows between two choices of the level
    CROWDED_NS = 1000000,         ///< a yield this long means that others want the processor
    CROWDED_WINDOWS = 1024,       ///< windows for which the thread then sleeps at barriers
    CROWDED_LEAST_NS = 250000000, ///< how long the machine is taken to be crowded; doubled if it still was afterwards
    CROWDED_MOST_NS = 2000000000,
    FIRST_TURN = 1 << 8,
    CROWDED_PRICE = 64, ///< the price on a crowded machine, relative to a quiet one: two wake-ups by the kernel instead
                        ///< of two cache lines
};

// --- how many -----------------------------------------------------------------------------------------------------

/// The number of threads at a level.
static uint32_t threads_of(const struct weft__threads *all, uint32_t level) {
    return UINT32_C(1) << level < all->n ? UINT32_C(1) << level : all->n;
}

/// The first worker of thread `id` of `active`; the share of thread id + 1 begins where this one ends.
static uint32_t first_worker(const struct weft__threads *all, uint32_t id, uint32_t active) {
    return id * all->workers / active;
}

static uint32_t active_of(unsigned long long turn) {
    return (uint32_t)(turn & 0xff);
}

static uint32_t levels_of(const struct weft__threads *all) {
    uint32_t levels = 1;
    while (threads_of(all, levels - 1) < all->n)
        levels++;
    return levels;
}

uint32_t weft__calc_thread_level(const struct weft__load *load, uint32_t levels, uint32_t now, uint64_t price) {
    uint32_t best = now;
    uint64_t cost_now = load->busiest[now] + now * price * load->windows, cost_best = cost_now;
    for (uint32_t l = 0; l < levels; l++) {
        uint64_t cost = load->busiest[l] + l * price * load->windows;
        if (cost >= cost_best) continue;
        best = l;
        cost_best = cost;
    }
    return cost_best * 5 < cost_now * 4 ? best : now;
}

/// Whether a thread has had to wait for its processor since the last call.
static bool is_crowded_anew(struct weft__threads *all) {
    uint64_t seen = atomic_load_explicit(&all->crowded_ns, memory_order_relaxed);
    if (seen == all->crowded_seen_ns) return false;
    all->crowded_seen_ns = seen;
    if (seen < all->crowded_until_ns) return false;
    bool again = all->crowded_until_ns && seen - all->crowded_until_ns < all->crowded_for_ns;
    all->crowded_for_ns = again ? all->crowded_for_ns * 2 : CROWDED_LEAST_NS;
    if (all->crowded_for_ns > CROWDED_MOST_NS) all->crowded_for_ns = CROWDED_MOST_NS;
    all->crowded_until_ns = seen + all->crowded_for_ns;
    return true;
}

void weft__threads_note(struct weft__threads *all, const uint32_t *events) {
    if (all->n == 1 || !all->price) return;
    uint32_t levels = levels_of(all);
    for (uint32_t l = 0; l < levels; l++) {
        uint32_t active = threads_of(all, l);
        uint64_t busiest = 0;
        for (uint32_t j = 0, k = 0; j < active; j++) {
            uint64_t sum = 0;
            for (uint32_t end = first_worker(all, j + 1, active); k < end; k++)
                sum += events[k];
            if (sum > busiest) busiest = sum;
        }
        all->load.busiest[l] += busiest;
    }
    bool crowded = is_crowded_anew(all);
    if (++all->load.windows < LOAD_WINDOWS && !crowded) return;
    uint64_t price = all->price;
    if (weft__wall_ns() < all->crowded_until_ns) price *= CROWDED_PRICE;
    all->level = weft__calc_thread_level(&all->load, levels, all->level, price);
    for (uint32_t l = 0; l < levels; l++) // older measurements count half in the next choice
        all->load.busiest[l] /= 2;
    all->load.windows /= 2;
}

// --- the barrier --------------------------------------------------------------------------------------------------

static void sleep_at_barrier(struct weft__thread *t) {
    struct weft__threads *all = t->all;
    pthread_mutex_lock(&all->lock);
    atomic_fetch_add(&all->sleepers, 1);
    while (atomic_load(&all->turn) == t->turn)
        pthread_cond_wait(&all->passed, &all->lock);
    atomic_fetch_sub(&all->sleepers, 1);
    pthread_mutex_unlock(&all->lock);
}

/// Spins, then yields the processor, which is cheap while the processor goes to the other threads. On a machine with
/// other work, a yield can cost a whole time slice per window. A thread to which this happens sleeps at the barrier for
/// some windows instead, because the kernel runs a sleeper first when it wakes.
static void wait_at_barrier(struct weft__thread *t) {
    struct weft__threads *all = t->all;
    for (uint32_t spins = 0; spins < all->spins; spins++)
        if (atomic_load_explicit(&all->turn, memory_order_acquire) != t->turn) return;
    if (t->crowded) {
        t->crowded--;
        sleep_at_barrier(t);
        return;
    }
    while (atomic_load_explicit(&all->turn, memory_order_acquire) == t->turn) {
        uint64_t begun_ns = weft__wall_ns();
        sched_yield();
        uint64_t now_ns = weft__wall_ns();
        if (now_ns - begun_ns <= CROWDED_NS) continue;
        t->crowded = CROWDED_WINDOWS;
        atomic_store_explicit(&all->crowded_ns, now_ns, memory_order_relaxed);
    }
}

static void wake_threads(struct weft__threads *all, pthread_cond_t *condition) {
    pthread_mutex_lock(&all->lock);
    pthread_cond_broadcast(condition);
    pthread_mutex_unlock(&all->lock);
}

/// Sleeps until the thread is needed or the run is over.
static bool stand_by(struct weft__thread *t) {
    struct weft__threads *all = t->all;
    pthread_mutex_lock(&all->lock);
    while ((t->turn = atomic_load(&all->turn), active_of(t->turn)) <= t->id && active_of(t->turn))
        pthread_cond_wait(&all->wanted, &all->lock);
    pthread_mutex_unlock(&all->lock);
    t->crowded = 0;
    return active_of(t->turn) > 0;
}

/// The last thread to arrive releases the others into the next window, with the number of threads that thread 0 has
/// chosen.
static void pass_turn(struct weft__threads *all, unsigned long long turn) {
    uint32_t active = threads_of(all, all->level);
    atomic_store_explicit(&all->left, active, memory_order_relaxed);
    // In this order, because a thread that goes to sleep is counted first and checks afterwards.
    atomic_store(&all->turn, ((turn >> 8) + 1) << 8 | active);
    if (atomic_load(&all->sleepers)) wake_threads(all, &all->passed);
    if (active > active_of(turn)) wake_threads(all, &all->wanted);
}

/// Computes which workers this thread runs, from the number of active threads in its turn.
static void take_share(struct weft__thread *t) {
    t->first = first_worker(t->all, t->id, active_of(t->turn));
    t->end = first_worker(t->all, t->id + 1, active_of(t->turn));
}

/// All threads take part in the first turn.
static void set_first_turn(struct weft__threads *all, uint32_t n) {
    all->n = n;
    all->level = levels_of(all) - 1;
    atomic_store(&all->left, n);
    atomic_store(&all->turn, FIRST_TURN | n);
}

void weft__threads_start(struct weft__threads *all, uint32_t n) {
    pthread_mutex_lock(&all->lock);
    set_first_turn(all, n);
    all->started = true;
    pthread_cond_broadcast(&all->wanted);
    pthread_mutex_unlock(&all->lock);
}

void weft__threads_begin(struct weft__thread *t) {
    struct weft__threads *all = t->all;
    pthread_mutex_lock(&all->lock);
    while (!all->started)
        pthread_cond_wait(&all->wanted, &all->lock);
    pthread_mutex_unlock(&all->lock);
    t->turn = atomic_load(&all->turn);
    take_share(t);
}

void weft__threads_await(struct weft__thread *t) {
    struct weft__threads *all = t->all;
    for (uint32_t spins = 0; atomic_load_explicit(&all->left, memory_order_acquire) > 1; spins++)
        if (spins >= all->spins) sched_yield();
}

bool weft__threads_meet(struct weft__thread *t) {
    struct weft__threads *all = t->all;
    if (active_of(t->turn) == 1 && all->level == 0) return true;
    if (atomic_fetch_sub_explicit(&all->left, 1, memory_order_acq_rel) > 1)
        wait_at_barrier(t);
    else
        pass_turn(all, t->turn);
    t->turn = atomic_load_explicit(&all->turn, memory_order_acquire);
    if (active_of(t->turn) <= t->id && !stand_by(t)) return false;
    take_share(t);
    return true;
}

void weft__threads_end(struct weft__threads *all) {
    atomic_store(&all->turn, 0);
    wake_threads(all, &all->wanted);
}

// --- init, deinit -------------------------------------------------------------------------------------------------

void weft__threads_init(struct weft__threads *all, uint32_t workers, uint32_t price, bool oversubscribe) {
    memset(all, 0, sizeof *all);
    uint32_t processors = weft__processors();
    all->workers = workers;
    all->price = price;
    // A thread without its own processor only makes the others wait.
    bool few = price && !oversubscribe && processors < workers;
    set_first_turn(all, few ? processors : workers);
    all->spins = processors >= all->n ? SPINS : 0;
    atomic_init(&all->sleepers, 0);
    atomic_init(&all->crowded_ns, 0);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->passed, NULL);
    pthread_cond_init(&all->wanted, NULL);
}

void weft__threads_deinit(struct weft__threads *all) {
    pthread_cond_destroy(&all->wanted);
    pthread_cond_destroy(&all->passed);
    pthread_mutex_destroy(&all->lock);
}
