// SPDX-License-Identifier: Apache-2.0
// Threads of the engine: how many of them a load is worth, and that every worker is run once a window, by one thread,
// while their number goes up and down.
#define _GNU_SOURCE // sched_getaffinity
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <time.h>

#include "base/numa.h"
#include "engine/threads.h"

enum { WORKERS = 5, PHASE = 200, PHASES = 12, WINDOWS = PHASE * PHASES };

static uint32_t level(uint64_t one, uint64_t two, uint64_t all, uint32_t now) {
    struct weft__load load = {.busiest = {one * 64, two * 64, all * 64}, .windows = 64};
    return weft__calc_thread_level(&load, 3, now, 16);
}

/// Costs are busiest + 16 a level: what the test says beside each.
static void as_many_as_the_load_is_worth(void **state) {
    assert_int_equal(level(10, 5, 3, 2), 0);         // 10, 21, 35
    assert_int_equal(level(60, 30, 15, 0), 1);       // 60, 46, 47
    assert_int_equal(level(1000, 500, 250, 0), 2);   // 1000, 516, 282
    assert_int_equal(level(1000, 1000, 1000, 2), 2); // 1000, 1016, 1032: all at one worker, and not worth a change
    assert_int_equal(level(100, 100, 100, 2), 0);    // 100, 116, 132
}

static void a_change_must_be_worth_it(void **state) {
    assert_int_equal(level(50, 25, 25, 0), 0); // 50, 41: not by a fifth
    assert_int_equal(level(50, 25, 25, 1), 1);
    assert_int_equal(level(55, 27, 27, 0), 1); // 55, 43
    assert_int_equal(level(44, 22, 22, 1), 1); // 44, 38
    assert_int_equal(level(20, 10, 10, 1), 0); // 20, 26
}

/// 5 workers: 1 thread, 2 of workers 0-1 and 2-4, 4 of 0, 1, 2 and 3-4, or 5.
static void each_window_counts_its_busiest_thread(void **state) {
    static const uint32_t some[WORKERS] = {1, 2, 3, 10, 4}, one[WORKERS] = {100};
    struct weft__threads all;
    weft__threads_init(&all, WORKERS, 16, true);
    assert_int_equal(all.level, 3);
    weft__threads_note(&all, some);
    const uint64_t first[] = {20, 17, 14, 10};
    assert_memory_equal(all.load.busiest, first, sizeof first);
    weft__threads_note(&all, one);
    const uint64_t second[] = {120, 117, 114, 110};
    assert_memory_equal(all.load.busiest, second, sizeof second);
    assert_int_equal(all.load.windows, 2);
    weft__threads_deinit(&all);
    weft__threads_init(&all, WORKERS, 0, true); // all threads run all windows
    weft__threads_note(&all, some);
    assert_int_equal(all.load.windows, 0);
    weft__threads_deinit(&all);
}

/// Every 64 windows; half of them count once more.
static void the_number_is_chosen_every_64_windows(void **state) {
    static const uint32_t little[WORKERS] = {1, 1, 1, 1, 1};
    struct weft__threads all;
    weft__threads_init(&all, WORKERS, 16, true);
    for (uint32_t window = 1; window < 64; window++) {
        weft__threads_note(&all, little);
        assert_int_equal(all.level, 3);
        assert_int_equal(all.load.windows, window);
    }
    weft__threads_note(&all, little);
    assert_int_equal(all.level, 0);
    assert_int_equal(all.load.windows, 32);
    const uint64_t half[] = {32 * 5, 32 * 3, 32 * 2, 32};
    assert_memory_equal(all.load.busiest, half, sizeof half);
    for (uint32_t window = 32; window < 64; window++)
        weft__threads_note(&all, little);
    assert_int_equal(all.load.windows, 32);
    weft__threads_deinit(&all);
}

/// That others want the processors is believed for a quarter of a second, twice as long if it is so again soon after,
/// for two seconds at most; then the number of threads is chosen at once, and meeting costs 64 times as much.
static void a_crowded_machine_is_believed_in_for_a_while(void **state) {
    enum { MS = 1000000 };
    static const uint32_t much[WORKERS] = {100, 100, 100, 100, 100};
    static const uint64_t believed_ms[] = {250, 500, 1000, 2000, 2000};
    struct weft__threads all;
    uint64_t seen_ns = 1000;
    weft__threads_init(&all, WORKERS, 16, true);
    for (unsigned i = 0; i < 5; i++) {
        atomic_store(&all.crowded_ns, seen_ns);
        weft__threads_note(&all, much);
        assert_int_equal(all.crowded_for_ns, believed_ms[i] * MS);
        assert_int_equal(all.crowded_until_ns, seen_ns + believed_ms[i] * MS);
        assert_int_equal(all.load.windows, 0); // 1 / 2
        atomic_store(&all.crowded_ns, all.crowded_until_ns - 1);
        weft__threads_note(&all, much); // that it still is so says nothing new
        assert_int_equal(all.crowded_until_ns, seen_ns + believed_ms[i] * MS);
        assert_int_equal(all.load.windows, 1);
        all.load.windows = 0;
        seen_ns = all.crowded_until_ns + believed_ms[i] * MS - 1;
    }
    assert_int_equal(all.level, 3); // 500 events, or 100 and three times 16: that was long ago
    atomic_store(&all.crowded_ns, all.crowded_until_ns + 2000 * (uint64_t)MS);
    weft__threads_note(&all, much);
    assert_int_equal(all.crowded_for_ns, 250 * MS); // not soon after
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&all.crowded_ns, (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec);
    weft__threads_note(&all, much);
    assert_int_equal(all.level, 0); // 100 and three times 1024
    weft__threads_deinit(&all);
}

struct team {
    struct weft__threads all;
    uint32_t windows[WORKERS]; ///< run, by whichever thread
    uint32_t least, most;      ///< workers that thread 0 ran in a window, after the first phases
};

struct member {
    struct weft__thread own;
    struct team *team;
};

/// Every other phase has work for all.
static void note(struct weft__threads *all, uint32_t window) {
    uint32_t events[WORKERS];
    for (uint32_t k = 0; k < WORKERS; k++)
        events[k] = window / PHASE % 2 ? 1000000 : k == 2;
    weft__threads_note(all, events);
}

static void *run(void *context) {
    struct member *m = context;
    struct team *t = m->team;
    weft__threads_begin(&m->own);
    for (uint32_t window = 0;; window++) {
        if (!weft__threads_meet(&m->own)) break;
        if (t->windows[m->own.first] == WINDOWS) {
            if (m->own.id == 0) weft__threads_end(&t->all);
            break;
        }
        for (uint32_t k = m->own.first; k < m->own.end; k++)
            t->windows[k]++;
        if (m->own.id) continue;
        uint32_t share = m->own.end - m->own.first;
        if (share < t->least) t->least = share;
        if (share > t->most) t->most = share;
        note(&t->all, window);
    }
    return NULL;
}

static void each_worker_is_run_once_a_window(void **state) {
    struct team team = {.least = WORKERS};
    weft__threads_init(&team.all, WORKERS, 16, false);
    uint32_t n = team.all.n; // of them have a processor
    struct member member[WORKERS];
    pthread_t handle[WORKERS];
    for (uint32_t j = 0; j < n; j++) {
        member[j] = (struct member){.team = &team, .own = {.all = &team.all, .id = j}};
        if (j) assert_int_equal(pthread_create(&handle[j], NULL, run, &member[j]), 0);
    }
    weft__threads_start(&team.all, n);
    run(&member[0]);
    for (uint32_t j = 1; j < n; j++)
        pthread_join(handle[j], NULL);
    for (uint32_t k = 0; k < WORKERS; k++)
        assert_int_equal(team.windows[k], WINDOWS);
    assert_int_equal(team.least, WORKERS / n); // all threads at work
    assert_int_equal(team.most, WORKERS);      // one thread ran all
    weft__threads_deinit(&team.all);
}

static void threads_are_more_than_processors_only_if_asked(void **state) {
    uint32_t processors = weft__processors(), workers = WEFT__THREADS_MAX;
    bool few = processors < workers;
    struct weft__threads all;
    weft__threads_init(&all, workers, 16, false);
    assert_int_equal(all.n, few ? processors : workers);
    assert_true(all.spins > 0); // each has a processor
    weft__threads_deinit(&all);
    weft__threads_init(&all, workers, 16, true);
    assert_int_equal(all.n, workers);
    assert_int_equal(all.spins > 0, !few); // they yield at once
    weft__threads_deinit(&all);
}

/// Of many processors, as a batch system or taskset leaves them.
static void only_processors_that_may_be_used_count(void **state) {
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(weft__processors(), 1);
    struct weft__threads all;
    weft__threads_init(&all, 8, 16, false);
    assert_int_equal(all.n, 1);
    weft__threads_deinit(&all);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(weft__processors(), CPU_COUNT(&before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_the_load_is_worth),
        cmocka_unit_test(a_change_must_be_worth_it),
        cmocka_unit_test(each_window_counts_its_busiest_thread),
        cmocka_unit_test(the_number_is_chosen_every_64_windows),
        cmocka_unit_test(a_crowded_machine_is_believed_in_for_a_while),
        cmocka_unit_test(each_worker_is_run_once_a_window),
        cmocka_unit_test(threads_are_more_than_processors_only_if_asked),
        cmocka_unit_test(only_processors_that_may_be_used_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
