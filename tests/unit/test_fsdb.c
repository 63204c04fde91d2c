// SPDX-License-Identifier: Apache-2.0
// FSDB among interface nodes: numbers of sessions, messages and objects against closed forms, and times of crash,
// restart, partition and move. Timeouts: FBOSS (DsfSubscription): 4 s, 12 s, heartbeat 1 s, 15 s; hold time 0.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "weft/fsdb.h"
#include "weft/memory.h"
#include "weft/param_load.h"

enum { NODES = 16 };

static struct weft_arena *arena;
static struct weft_fsdb_conf conf;

static int begin(void **state) {
    (void)state;
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return (int)weft_params_load(&weft_fsdb_table, NULL, &conf, arena, NULL);
}

static int end(void **state) {
    (void)state;
    weft_arena_free(arena);
    return 0;
}

#define RUN(n, ...)                                                                                                    \
    weft_fsdb_run(&conf, n, (const struct weft_fsdb_event[]){__VA_ARGS__},                                             \
                  sizeof((const struct weft_fsdb_event[]){__VA_ARGS__}) / sizeof(struct weft_fsdb_event), 1, arena)

/// N (N - 1) sessions, an attempt and a state each; a publisher serves N - 1 states one after the other.
static void a_full_mesh(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 3, 16, 128, 512};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        const struct weft_fsdb_result *r = weft_fsdb_run(&conf, sizes[i], NULL, 0, 1, arena);
        assert_int_equal(r->sessions, n * (n - 1));
        assert_int_equal(r->first_messages, 2 * n * (n - 1));
        assert_int_equal(r->first_full_ps, 3 * conf.latency_ps + (n - 1) * conf.serve_ps);
        assert_int_equal(r->objects, (n - 1) * (28 + 28 + 36));
    }
}

static void sizes_at_512(void **state) {
    (void)state;
    const struct weft_fsdb_result *r = weft_fsdb_run(&conf, 512, NULL, 0, 1, arena);
    assert_int_equal(r->sessions, 261632);
    assert_true(r->heartbeats_per_s == 261632.0);
    assert_int_equal(r->objects, 47012);
}

static void a_crash_flushes_at_once(void **state) {
    (void)state;
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = WEFT_PS_PER_S, .what = WEFT_FSDB_CRASH, .node = 3});
    assert_int_equal(r->outcome[0].lost, 2 * (NODES - 1));
    assert_int_equal(r->outcome[0].flushed, NODES - 1);
    assert_int_equal(r->outcome[0].flushed_last_ps, conf.latency_ps);
    assert_int_equal(r->outcome[0].established, 0);
}

/// A restart within the hold time: nothing is flushed; sessions are back after a try and a state each.
static void graceful_restart(void **state) {
    (void)state;
    conf.hold_ps = 10 * WEFT_PS_PER_S;
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = WEFT_PS_PER_S, .what = WEFT_FSDB_CRASH, .node = 3},
                                           {.time_ps = 4 * WEFT_PS_PER_S, .what = WEFT_FSDB_RESTART, .node = 3});
    assert_int_equal(r->outcome[0].flushed + r->outcome[1].flushed, 0);
    assert_int_equal(r->outcome[1].established, 2 * (NODES - 1));
    assert_in_range(r->outcome[1].established_last_ps, 3 * conf.latency_ps,
                    conf.retry_ps + 5 * conf.latency_ps + 2 * NODES * conf.serve_ps);
    // Too late: flushed when the hold time is over.
    r = RUN(NODES, {.time_ps = WEFT_PS_PER_S, .what = WEFT_FSDB_CRASH, .node = 3},
            {.time_ps = 14 * WEFT_PS_PER_S, .what = WEFT_FSDB_RESTART, .node = 3});
    assert_int_equal(r->outcome[0].flushed, NODES - 1);
    assert_int_equal(r->outcome[0].flushed_last_ps, conf.latency_ps + conf.hold_ps);
    assert_int_equal(r->outcome[1].established, 2 * (NODES - 1));
}

/// No node is told: a session ends when the last heartbeat is 12 s old, which is 11 to 12 s after the cut.
static void partition(void **state) {
    (void)state;
    bool side[NODES] = {true, false, true, true};
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = 3 * WEFT_PS_PER_S, .what = WEFT_FSDB_CUT, .side = side},
                                           {.time_ps = 60 * WEFT_PS_PER_S, .what = WEFT_FSDB_HEAL});
    assert_int_equal(r->outcome[0].lost, 2 * 3 * (NODES - 3));
    assert_int_equal(r->outcome[0].flushed, 2 * 3 * (NODES - 3));
    assert_in_range(r->outcome[0].lost_last_ps, 11 * WEFT_PS_PER_S, 12 * WEFT_PS_PER_S + conf.latency_ps);
    assert_int_equal(r->outcome[1].established, 2 * 3 * (NODES - 3));
    // at worst an attempt has just begun, and gets no answer
    assert_in_range(r->outcome[1].established_last_ps, 1,
                    conf.connect_timeout_ps + conf.retry_ps + 3 * conf.latency_ps + NODES * conf.serve_ps);
}

static void a_short_cut_is_not_noticed(void **state) {
    (void)state;
    bool side[NODES] = {true};
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = WEFT_PS_PER_S, .what = WEFT_FSDB_CUT, .side = side},
                                           {.time_ps = 11 * WEFT_PS_PER_S, .what = WEFT_FSDB_HEAL});
    assert_int_equal(r->outcome[0].lost + r->outcome[1].lost, 0);
    assert_int_equal(r->outcome[0].flushed + r->outcome[1].flushed, 0);
}

/// But one that has started again meanwhile knows nothing of the sessions of its first life: it resets them when it is
/// reached again, before they were given up.
static void a_restart_in_a_short_cut_is_noticed(void **state) {
    (void)state;
    bool side[NODES] = {true};
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = WEFT_PS_PER_S, .what = WEFT_FSDB_CUT, .side = side},
                                           {.time_ps = 2 * WEFT_PS_PER_S, .what = WEFT_FSDB_CRASH, .node = 0},
                                           {.time_ps = 3 * WEFT_PS_PER_S, .what = WEFT_FSDB_RESTART, .node = 0},
                                           {.time_ps = 5 * WEFT_PS_PER_S, .what = WEFT_FSDB_HEAL});
    assert_int_equal(r->outcome[1].lost, NODES - 1); // its own
    assert_int_equal(r->outcome[3].lost, NODES - 1); // those to it
    assert_int_equal(r->outcome[3].lost_last_ps, conf.latency_ps);
    assert_int_equal(r->outcome[3].established, 2 * (NODES - 1));
}

/// Two changes to N - 1 nodes; the last knows after it was seen, published and sent.
static void a_neighbour_moves(void **state) {
    (void)state;
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = 0, .what = WEFT_FSDB_MOVE, .node = 1, .to = 2});
    assert_int_equal(r->outcome[0].changes, 2 * (NODES - 1));
    assert_int_equal(r->outcome[0].told, NODES);
    assert_int_equal(r->outcome[0].told_last_ps, conf.detect_ps + conf.publish_ps + conf.latency_ps);
}

/// Nodes that are cut off continue to send to the old place, and are told when they hear again.
static void a_neighbour_moves_in_a_partition(void **state) {
    (void)state;
    bool side[NODES] = {false, false, false, true, true};
    const struct weft_fsdb_result *r = RUN(NODES, {.time_ps = 0, .what = WEFT_FSDB_CUT, .side = side},
                                           {.time_ps = WEFT_PS_PER_S, .what = WEFT_FSDB_MOVE, .node = 1, .to = 2},
                                           {.time_ps = 5 * WEFT_PS_PER_S, .what = WEFT_FSDB_HEAL});
    assert_int_equal(r->outcome[1].told, NODES - 2);
    assert_int_equal(r->outcome[2].told, 2);
    assert_int_equal(r->outcome[2].told_last_ps, conf.latency_ps);
    assert_int_equal(r->outcome[2].lost, 0);
}

/// A state that takes longer than the chunk timeout is never had: N - 1 of them, one after the other.
static void a_slow_publisher(void **state) {
    (void)state;
    struct weft_fsdb_subscription s = {0};
    assert_true(weft_fsdb_start(&s, &conf, 0));
    weft_fsdb_on_connected(&s, &conf, conf.latency_ps);
    assert_int_equal(weft_fsdb_due(&s), conf.latency_ps + 15 * WEFT_PS_PER_S);
    assert_false(weft_fsdb_on_time(&s, &conf, weft_fsdb_due(&s)));
    assert_int_equal(s.state, WEFT_FSDB_IDLE);
    assert_int_equal(s.data, WEFT_FSDB_NOTHING);
    assert_true(weft_fsdb_on_time(&s, &conf, weft_fsdb_due(&s)));
    assert_int_equal(weft_fsdb_due(&s), (15 + 1 + 4) * WEFT_PS_PER_S + conf.latency_ps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_mesh, begin, end),
        cmocka_unit_test_setup_teardown(sizes_at_512, begin, end),
        cmocka_unit_test_setup_teardown(a_crash_flushes_at_once, begin, end),
        cmocka_unit_test_setup_teardown(graceful_restart, begin, end),
        cmocka_unit_test_setup_teardown(partition, begin, end),
        cmocka_unit_test_setup_teardown(a_short_cut_is_not_noticed, begin, end),
        cmocka_unit_test_setup_teardown(a_restart_in_a_short_cut_is_noticed, begin, end),
        cmocka_unit_test_setup_teardown(a_neighbour_moves, begin, end),
        cmocka_unit_test_setup_teardown(a_neighbour_moves_in_a_partition, begin, end),
        cmocka_unit_test_setup_teardown(a_slow_publisher, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
