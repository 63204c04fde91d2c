// SPDX-License-Identifier: Apache-2.0
// The threads that run the workers' windows, and the barrier at which they meet after each window. The number of active
// threads follows the work: with few events in a window, meeting costs more than the others take off the first thread,
// so it runs all workers one after the other while the rest sleep. Which thread runs a worker does not change what the
// worker does.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT__THREADS_MAX = 64,
    WEFT__THREAD_LEVELS = 8, ///< 1, 2, 4, ... threads, and all
};

/// The cost of the last windows with each number of threads: the events of the busiest thread of each window.
struct weft__load {
    uint64_t busiest[WEFT__THREAD_LEVELS];
    uint32_t windows;
};

struct weft__threads {
    uint32_t workers, n; ///< n: threads at most; threads 0 to active - 1 run windows
    uint32_t price;      ///< price of a meeting, in events; 0: all threads run all windows
    uint32_t level;      ///< of the next window; thread 0's
    uint32_t spins;      ///< spins at the barrier before the thread yields the processor
    /// Thread 0's: until when other programs are assumed to want the processors, for how long, and when this was last
    /// seen.
    uint64_t crowded_until_ns, crowded_for_ns, crowded_seen_ns;
    struct weft__load load;          ///< thread 0's
    _Alignas(64) atomic_ullong turn; ///< windows begun; the low byte holds how many threads run this one, 0 at the end
                                     ///< of the run
    atomic_uint left;                ///< threads that have yet to arrive at the barrier
    atomic_uint sleepers;            ///< threads asleep at the barrier
    atomic_ullong crowded_ns;        ///< when a thread that yielded last had to wait long for its processor
    _Alignas(64) pthread_mutex_t lock; ///< on another cache line than what is written in each window
    pthread_cond_t passed, wanted;
    bool started;
};

/// One thread, with its own state.
struct weft__thread {
    _Alignas(64) struct weft__threads *all; // no two threads write to one cache line
    uint32_t id;
    uint32_t first, end; ///< workers that it runs now
    uint32_t crowded;    ///< windows for which to sleep at the barrier because other programs want the processor
    unsigned long long turn;
};

/// `price`: of a meeting after a window, in events, on a quiet machine; 0 for tests that need all threads to work.
/// `oversubscribe`: there may be more threads than processors.
void weft__threads_init(struct weft__threads *all, uint32_t workers, uint32_t price, bool oversubscribe);
void weft__threads_deinit(struct weft__threads *all);

/// `n` threads exist, no more than planned: those that wait in weft__threads_begin may begin.
void weft__threads_start(struct weft__threads *all, uint32_t n);
/// Each thread calls it with `all` and `id` set: waits for the start, then takes its first share of the workers.
void weft__threads_begin(struct weft__thread *thread);
/// Thread 0 calls it before the barrier; events[worker]: of the last window.
void weft__threads_note(struct weft__threads *all, const uint32_t *events);
/// Thread 0 calls it before the barrier: waits until all other active threads have arrived.
void weft__threads_await(struct weft__thread *thread);
/// Waits until all active threads have arrived, then sets `first` and `end` to the thread's workers in the next window.
/// False: the run ended while this thread was asleep.
bool weft__threads_meet(struct weft__thread *thread);
/// Thread 0 calls it when the run is over: sleeping threads may leave.
void weft__threads_end(struct weft__threads *all);

/// The level with which the noted windows would have been fastest; the current one unless another is clearly faster.
uint32_t weft__calc_thread_level(const struct weft__load *load, uint32_t levels, uint32_t now, uint64_t price);
