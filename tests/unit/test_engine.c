// SPDX-License-Identifier: Apache-2.0
// The engine alone, with nodes that pass tokens on: a ring of nodes, delays from one lookahead to far beyond the ring
// of windows. Some nodes are leaves, to which their trunks pass tokens immediately. The history of every node is the
// same for any number of workers, and in the order (time, port, key).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "weft/random.h"

enum { NODES = 97, HOPS = 400, LOOKAHEAD = 1000 };

struct token_node {
    uint32_t id;
    struct weft__engine *engine;
    struct weft_random random;
    uint64_t history;
    weft_time_ps last_ps;
    uint32_t last_port;
    bool last_was_timer;
    uint32_t prepared, delivered;
};

static void remember(struct token_node *n, uint64_t what) {
    n->history = (n->history ^ what) * UINT64_C(0x9E3779B97F4A7C15);
    n->history ^= n->history >> 29;
}

// Of four nodes the first is the trunk of the next two.
static bool is_leaf(uint32_t id) {
    return id % 4 == 1 || id % 4 == 2;
}

static void pass_on(struct token_node *n, struct weft__worker *w, uint32_t hops) {
    if (hops == 0) {
        w->tally.finished++;
        return;
    }
    static const weft_time_ps spans[] = {1, 5000, 100000, 2000000, 700000000}; // the last two lie beyond the ring
    weft_time_ps span = spans[weft_random_below(&n->random, 5)];
    weft_time_ps time = w->now_ps + LOOKAHEAD + weft_random_below(&n->random, span);
    uint32_t to = (n->id + 1 + (uint32_t)weft_random_below(&n->random, NODES - 1)) % NODES;
    if (n->id % 4 == 0 && n->id + 2 < NODES && weft_random_below(&n->random, 2)) {
        to = n->id + 1 + (uint32_t)weft_random_below(&n->random, 2);
        time -= LOOKAHEAD - 1;
    } else if (is_leaf(to)) {
        to = to / 4 * 4 != n->id ? to / 4 * 4 : (n->id + 4) % NODES / 4 * 4;
    }
    weft__send(w, (struct weft__to){weft__engine_inbox_of(n->engine, to), to, (uint16_t)n->id}, time,
               &(struct weft_packet){.psn = hops - 1, .bytes = 100});
    w->tally.injected_bytes += 100;
}

static void fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct token_node *t = node->state;
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(arrival[i].packet->node, t->id);
}

/// Once for each packet, in order, before it is delivered.
static void prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct token_node *t = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        assert_int_equal(p->node, t->id);
        arrival[i].word = (uint32_t)(p->time_ps * 31 + p->psn) ^ ++t->prepared << 20;
    }
}

static void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t prepared) {
    struct token_node *n = node->state;
    assert_int_equal(p->node, n->id);
    assert_int_equal(p->time_ps, w->now_ps);
    assert_int_equal(prepared, (uint32_t)(p->time_ps * 31 + p->psn) ^ ++n->delivered << 20);
    assert_true(p->time_ps > n->last_ps || (p->time_ps == n->last_ps && !n->last_was_timer && p->port >= n->last_port));
    n->last_ps = p->time_ps;
    n->last_port = p->port;
    n->last_was_timer = false;
    w->tally.delivered_bytes += p->bytes;
    w->tally.progress_ps = w->now_ps;
    remember(n, p->time_ps ^ (uint64_t)p->port << 48 ^ p->psn);
    // Sometimes the token rests on a timer, near or far; a second timer is set and cancelled.
    if (p->psn % 7 == 3) {
        weft__timer_set(&node->timers, 1 + (p->port + p->psn) % 63,
                        w->now_ps + weft_random_below(&n->random, 300000000));
        weft__timer_set(&node->timers, 0, w->now_ps + 1);
        weft__timer_cancel(&node->timers, 0);
    } else {
        pass_on(n, w, p->psn);
    }
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct token_node *n = node->state;
    assert_int_not_equal(key, 0);
    assert_true(w->now_ps >= n->last_ps);
    n->last_ps = w->now_ps;
    n->last_was_timer = true;
    remember(n, w->now_ps ^ (uint64_t)key << 40);
    pass_on(n, w, HOPS / 2 + key % 13);
}

static void run_node(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                     weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}

static const struct weft__node_ops ops = {.fetch = fetch, .prepare = prepare, .run = run_node};

struct result {
    uint64_t history, events, windows;
    weft_time_ps last_ps;
    enum weft_end end;
    weft_bytes in_flight, under_way;
};

static struct token_node holder[NODES];

/// Tokens start from a timer at each node.
static void make(struct weft__engine *engine, const struct weft__engine_conf *conf) {
    uint32_t weight[NODES];
    for (uint32_t i = 0; i < NODES; i++)
        weight[i] = 1 + i % 5;
    weft__engine_init(engine, conf, weight);
    for (uint32_t i = 0; i < NODES; i++) {
        holder[i] =
            (struct token_node){.id = i, .engine = engine, .random = weft_random_stream(3, i, WEFT_RANDOM_TEST)};
        engine->node[i].ops = &ops;
        engine->node[i].state = &holder[i];
        weft__timers_init(&engine->node[i].timers, 64);
        weft__timer_set(&engine->node[i].timers, 1 + i % 60, i * 77);
    }
}

static struct result run_with(uint32_t workers, uint32_t meeting_events, bool leaves, weft_time_ps until) {
    struct weft__engine engine;
    bool leaf[NODES];
    for (uint32_t i = 0; i < NODES; i++)
        leaf[i] = is_leaf(i);
    struct weft__engine_conf conf = {
        .nodes = NODES,
        .workers = workers,
        .meeting_events = meeting_events,
        .lookahead_ps = leaves ? LOOKAHEAD : 1,
        .leaf = leaves ? leaf : NULL,
        .until_ps = until,
        .stall_ps = WEFT_TIME_NEVER,
        .work = UINT64_MAX, // tokens multiply; only `until` or the end of all events stops this
    };
    make(&engine, &conf);
    weft__engine_run(&engine);
    struct weft__tally tally = weft__engine_tally(&engine);
    struct result r = {
        .events = tally.events,
        .windows = engine.windows,
        .last_ps = tally.last_ps,
        .end = engine.end,
        .in_flight = weft__engine_in_flight(&engine),
        .under_way = tally.injected_bytes - tally.delivered_bytes,
    };
    for (uint32_t i = 0; i < NODES; i++)
        r.history = (r.history ^ holder[i].history) * UINT64_C(0x9E3779B97F4A7C15);
    weft__engine_deinit(&engine);
    return r;
}

static struct result run(uint32_t workers, weft_time_ps until) {
    return run_with(workers, 0, true, until);
}

static void same_history_for_any_number_of_workers(void **state) {
    const weft_time_ps until = UINT64_C(40) * WEFT_PS_PER_MS;
    struct result one = run(1, until);
    assert_true(one.events > 5000);
    assert_int_equal(one.end, WEFT_END_UNTIL);
    assert_true(one.last_ps < until);
    // With a thread per worker, and with a varying number of threads.
    static const uint32_t with[][2] = {{2, 0}, {3, 0}, {8, 0}, {2, 1}, {3, 1}, {8, 16}};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        struct result many = run_with(with[i][0], with[i][1], true, until);
        assert_true(many.history == one.history);
        assert_int_equal(many.events, one.events);
        assert_int_equal(many.windows, one.windows);
        assert_int_equal(many.last_ps, one.last_ps);
        assert_int_equal(many.in_flight, one.in_flight);
    }
}

/// Windows so short that leaves need nothing of their own.
static void leaves_get_what_comes_within_a_window(void **state) {
    const weft_time_ps until = UINT64_C(4) * WEFT_PS_PER_MS;
    struct result with = run(1, until), without = run_with(1, 0, false, until);
    assert_true(with.events > 1000);
    assert_true(with.history == without.history);
    assert_int_equal(with.events, without.events);
    assert_true(with.windows < without.windows);
}

static void packets_under_way_are_found_at_the_end(void **state) {
    for (weft_time_ps until = 1; until < UINT64_C(2000000000); until = until * 3 + 1) {
        struct result r = run(2, until);
        assert_int_equal(r.in_flight, r.under_way);
    }
}

static void windows_without_work_are_skipped(void **state) {
    struct result r = run(1, UINT64_C(40) * WEFT_PS_PER_MS);
    uint64_t all = UINT64_C(40) * WEFT_PS_PER_MS / 512; // the window is 512 ps, the largest power of two in 1000
    assert_true(r.windows <= 2 * r.events);             // a wake for a timer since cancelled finds nothing
    assert_true(r.windows < all / 100);
}

// Two nodes pass a token to and fro; each time the receiver sets its only timer anew, beyond the ring, sooner or later
// than before. Now and then the token takes so long that timers run out.

enum { REARMS = 1000000, RING_PS = WEFT__RING * 512 };

struct rearming_node {
    uint32_t id;
    struct weft_random random;
    weft_time_ps timer_ps;
    uint32_t fired;
};

static void rearm_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t prepared) {
    static const weft_time_ps spans[] = {1, 100000, 700000000};
    struct rearming_node *n = node->state;
    assert_true(w->far_wakes <= 2);
    n->timer_ps = w->now_ps + RING_PS + 1000 + weft_random_below(&n->random, spans[weft_random_below(&n->random, 3)]);
    weft__timer_set(&node->timers, 1, n->timer_ps);
    if (p->psn == 0) return;
    weft_time_ps time = w->now_ps + (p->psn % 1000 ? LOOKAHEAD : 3 * (weft_time_ps)RING_PS);
    weft__send(w, (struct weft__to){.node = 1 - n->id}, time, &(struct weft_packet){.psn = p->psn - 1});
}

static void rearm_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct rearming_node *n = node->state;
    if (key == 0) { // the token's first way
        struct weft_packet token = {.psn = REARMS};
        rearm_packet(node, w, &token, 0);
        return;
    }
    assert_int_equal(w->now_ps, n->timer_ps);
    n->fired++;
}

static void rearm_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}

static void rearm_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                        weft_time_ps end) {}

static void rearm_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                      weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, rearm_packet, rearm_timer);
    assert_true(weft__timers_next(&node->timers) >= end);
}

static void a_timer_set_anew_leaves_nothing_behind(void **state) {
    static const struct weft__node_ops rearm_ops = {.fetch = rearm_fetch, .prepare = rearm_prepare, .run = rearm_run};
    struct weft__engine engine;
    struct weft__engine_conf conf = {
        .nodes = 2,
        .workers = 1,
        .lookahead_ps = LOOKAHEAD,
        .until_ps = WEFT_TIME_NEVER,
        .stall_ps = WEFT_TIME_NEVER,
        .work = UINT64_MAX,
    };
    struct rearming_node node[2];
    weft__engine_init(&engine, &conf, (const uint32_t[]){1, 1});
    for (uint32_t i = 0; i < 2; i++) {
        node[i] = (struct rearming_node){.id = i, .random = weft_random_stream(5, i, WEFT_RANDOM_TEST)};
        engine.node[i].ops = &rearm_ops;
        engine.node[i].state = &node[i];
        weft__timers_init(&engine.node[i].timers, 2);
    }
    weft__timer_set(&engine.node[0].timers, 0, 1);
    weft__engine_run(&engine);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(node[i].fired > REARMS / 5000); // of REARMS / 1000 long ways
        assert_int_equal(weft__timers_next(&engine.node[i].timers), WEFT_TIME_NEVER);
    }
    assert_int_equal(engine.worker[0].far_wakes, 0);
    weft__engine_deinit(&engine);
}

/// Windows of any length: the product that stands for the division is exact for every time.
static void a_time_lies_in_its_window(void **state) {
    static const weft_time_ps lengths[] = {1, 2, 3, 1000, 131072, 152880, 452880, WEFT__WINDOW_PS_MAX};
    struct weft_random random = weft_random_stream(6, 0, WEFT_RANDOM_TEST);
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct weft__worker w = {.length_ps = lengths[i], .inverse = UINT64_MAX / lengths[i]};
        for (uint32_t k = 0; k < 100000; k++) {
            weft_time_ps time = weft_random_u64(&random) >> k % 64;
            weft_time_ps begin = time - time % lengths[i];
            assert_int_equal(weft__window_of(&w, time), time / lengths[i]);
            assert_int_equal(weft__window_of(&w, begin), time / lengths[i]);
            if (begin) assert_int_equal(weft__window_of(&w, begin - 1), time / lengths[i] - 1);
        }
        assert_int_equal(weft__window_of(&w, UINT64_MAX), UINT64_MAX / lengths[i]);
    }
}

static uint64_t wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/// A profile says where the time of a run went: no more than it took.
static void a_profile_is_within_the_time_of_the_run(void **state) {
    struct weft__engine engine;
    struct weft__engine_conf conf = {.nodes = NODES,
                                     .workers = 1,
                                     .profile = true,
                                     .lookahead_ps = 1,
                                     .until_ps = UINT64_C(40) * WEFT_PS_PER_MS,
                                     .stall_ps = WEFT_TIME_NEVER,
                                     .work = UINT64_MAX};
    make(&engine, &conf);
    uint64_t begun_ns = wall_ns(), sum_ns = 0;
    weft__engine_run(&engine);
    uint64_t took_ns = wall_ns() - begun_ns;
    for (uint32_t phase = 0; phase < WEFT_PHASE_COUNT; phase++)
        sum_ns += engine.worker[0].phase_ns[phase];
    assert_in_range(sum_ns, 1, took_ns);
    weft__engine_deinit(&engine);
}

/// Which worker has each of 8 nodes.
static uint32_t deal(const uint32_t *weight, const bool *leaf, uint32_t workers, char *ret_worker) {
    struct weft__engine engine;
    struct weft__engine_conf conf = {.nodes = 8, .workers = workers, .lookahead_ps = LOOKAHEAD, .leaf = leaf};
    weft__engine_init(&engine, &conf, weight);
    for (uint32_t i = 0; i < 8; i++)
        ret_worker[i] = (char)('0' + weft__engine_worker_of(&engine, i));
    ret_worker[8] = 0;
    workers = engine.conf.workers;
    weft__engine_deinit(&engine);
    return workers;
}

/// Each worker has nodes one after another, of as much weight in all as the others'. Leaves stay with the node before.
static void nodes_are_dealt_out_by_weight(void **state) {
    static const uint32_t equal[8] = {1, 1, 1, 1, 1, 1, 1, 1}, unequal[8] = {6, 1, 1, 1, 1, 1, 1, 6};
    static const bool leaf[8] = {false, true, true, false, true, false, true, true};
    static const struct {
        const uint32_t *weight;
        const bool *leaf;
        uint32_t asked, workers;
        const char *of;
    } cases[] = {
        {equal, NULL, 1, 1, "00000000"}, {equal, NULL, 2, 2, "00001111"},   {equal, NULL, 4, 4, "00112233"},
        {equal, NULL, 8, 8, "01234567"}, {equal, NULL, 9, 8, "01234567"},   {unequal, NULL, 3, 3, "01111112"},
        {equal, NULL, 0, 1, "00000000"}, {unequal, NULL, 2, 2, "00001111"}, {equal, leaf, 2, 2, "00000111"},
        {equal, leaf, 3, 3, "00011222"}, {equal, leaf, 8, 3, "00011222"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char of[9];
        assert_int_equal(deal(cases[i].weight, cases[i].leaf, cases[i].asked, of), cases[i].workers);
        assert_string_equal(of, cases[i].of);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_lies_in_its_window),
        cmocka_unit_test(nodes_are_dealt_out_by_weight),
        cmocka_unit_test(a_profile_is_within_the_time_of_the_run),
        cmocka_unit_test(same_history_for_any_number_of_workers),
        cmocka_unit_test(leaves_get_what_comes_within_a_window),
        cmocka_unit_test(packets_under_way_are_found_at_the_end),
        cmocka_unit_test(windows_without_work_are_skipped),
        cmocka_unit_test(a_timer_set_anew_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
