// SPDX-License-Identifier: Apache-2.0
// The threads that run the workers' windows, and the barrier at which they meet after each. How many of them run
// windows follows the work that these carry: with few events in a window, meeting costs more than the others take off
// the first, so it runs all workers one after the other while they sleep. Which thread runs a worker changes nothing
// of what the worker does.
#ifndef WEFT_ENGINE_THREADS_H
#define WEFT_ENGINE_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT__THREADS_MAX = 64,
    WEFT__THREAD_LEVELS = 8, ///< 1, 2, 4, ... threads, and all
};

/// What the last windows took, in events, with each number of threads: those of the busiest thread of each window.
struct weft__load {
    uint64_t busiest[WEFT__THREAD_LEVELS];
    uint32_t windows;
};

struct weft__threads {
    uint32_t workers, n; ///< n threads at most, of which 0 to active - 1 run windows
    uint32_t price;      ///< of meeting, in events; 0: all threads run all windows
    uint32_t level;      ///< thread 0's: of the next window
    uint32_t spins;      ///< at the barrier, before the processor is given away
    /// Thread 0's: until when others want the processors, for how long that was assumed, and by which sign.
    uint64_t crowded_until_ns, crowded_for_ns, crowded_seen_ns;
    struct weft__load load; ///< thread 0's
    _Alignas(64)
        atomic_ullong turn;   ///< windows begun, and in its low byte how many threads run this one; 0 there: the end
    atomic_uint left;         ///< to come to the barrier
    atomic_uint sleepers;     ///< at the barrier
    atomic_ullong crowded_ns; ///< when last a thread that yielded had to wait long for its processor
    _Alignas(64) pthread_mutex_t lock; ///< apart from what is written window by window
    pthread_cond_t passed, wanted;
    bool started;
};

/// One thread; its own.
struct weft__thread {
    _Alignas(64) struct weft__threads *all; // no two threads write one cache line
    uint32_t id;
    uint32_t first, end; ///< workers that it runs now
    uint32_t crowded;    ///< windows for which to sleep at the barrier, as other programs want the processor
    unsigned long long turn;
};

/// `price` of meeting in a window, in events, on a quiet machine; 0 for tests that want all threads at work.
/// `oversubscribe`: threads may be more than processors.
void weft__threads_init(struct weft__threads *all, uint32_t workers, uint32_t price, bool oversubscribe);
void weft__threads_deinit(struct weft__threads *all);

/// There are `n` threads, no more than was planned for: those that wait in weft__threads_begin may begin.
void weft__threads_start(struct weft__threads *all, uint32_t n);
/// For each thread, whose `all` and `id` are set: waits for the start, and takes its first share of the workers.
void weft__threads_begin(struct weft__thread *thread);
/// For thread 0, before it comes to the barrier: events[worker] of the last window.
void weft__threads_note(struct weft__threads *all, const uint32_t *events);
/// For thread 0, before it comes to the barrier: waits until all others that run windows have come.
void weft__threads_await(struct weft__thread *thread);
/// Waits until all threads that run windows have come; which workers are the thread's in the next window is in `first`
/// and `end`. False for one that was not wanted until the end.
bool weft__threads_meet(struct weft__thread *thread);
/// For thread 0, when the run is over: those that sleep may go.
void weft__threads_end(struct weft__threads *all);

/// The level that the windows noted would have been fastest with; that of now unless another is clearly faster.
uint32_t weft__calc_thread_level(const struct weft__load *load, uint32_t levels, uint32_t now, uint64_t price);

#endif
