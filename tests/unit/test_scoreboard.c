// SPDX-License-Identifier: Apache-2.0
// The record of a sender: naming packets all together is the same as naming them one by one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transport/scoreboard.h"
#include "weft/random.h"

struct sender {
    struct weft__scoreboard *board;
    struct weft_qp_sender line;
};

static struct sender start(uint32_t window) {
    struct sender s = {.board = calloc(1, weft__scoreboard_size(window)), .line = {.posted = UINT32_MAX}};
    weft__scoreboard_start(s.board, window, &s.line);
    return s;
}

/// Sends, loses or acknowledges something, the same at both.
static void act(struct sender *a, struct sender *b, struct weft_random *random) {
    uint32_t spread = a->line.highest - a->board->below + 70, base = a->board->below;
    base += (uint32_t)weft_random_below(random, spread);
    base = base > 30 ? base - 30 : 0;
    uint64_t bits = weft_random_u64(random) & weft_random_u64(random);
    uint32_t psn[2], came = 0;
    switch (weft_random_below(random, 5)) {
    case 0:
        assert_int_equal(weft__scoreboard_lose(a->board, &a->line, base),
                         weft__scoreboard_lose(b->board, &b->line, base));
        break;
    case 1:
        assert_int_equal(weft__scoreboard_came_below(a->board, &a->line, base - base % 8),
                         weft__scoreboard_came_below(b->board, &b->line, base - base % 8));
        break;
    case 2:
        for (uint32_t i = 0; i < 64; i++)
            if (bits >> i & 1) came += weft__scoreboard_came(a->board, &a->line, base + i);
        assert_int_equal(weft__scoreboard_came_all(b->board, &b->line, base, bits), came);
        break;
    default:
        for (uint32_t i = 0; i < 20 && !a->line.blocked; i++) {
            assert_int_equal(weft__scoreboard_send(a->board, &a->line, &psn[0]),
                             weft__scoreboard_send(b->board, &b->line, &psn[1]));
            assert_int_equal(psn[0], psn[1]);
        }
    }
}

static void all_at_once_are_one_by_one(void **state) {
    enum { WINDOW = 200 };
    struct weft_random random = weft_random_stream(3, 0, WEFT_RANDOM_TEST);
    struct sender a = start(WINDOW), b = start(WINDOW);
    for (uint32_t i = 0; i < 200000; i++) {
        act(&a, &b, &random);
        assert_null(weft__scoreboard_check(b.board, &b.line));
        assert_memory_equal(a.board, b.board, weft__scoreboard_size(WINDOW));
        assert_memory_equal(&a.line, &b.line, sizeof a.line);
    }
    assert_true(a.board->below > 10000);
    free(a.board);
    free(b.board);
}

/// Ten packets are under way, of which 2 and 6 came. What is judged again is not lost again.
static void only_what_is_missing_is_lost(void **state) {
    struct sender s = start(64);
    uint32_t psn;
    assert_true(s.line.counts);
    for (uint32_t i = 0; i < 10; i++) {
        assert_false(weft__scoreboard_send(s.board, &s.line, &psn));
        assert_int_equal(psn, i);
    }
    assert_int_equal(weft__scoreboard_came(s.board, &s.line, 2), 1);
    assert_int_equal(weft__scoreboard_came_all(s.board, &s.line, 0, 1 << 6), 1);
    assert_int_equal(weft__scoreboard_judge(s.board, &s.line, 6), 5); // 0, 1, 3, 4, 5
    assert_int_equal(weft__scoreboard_judge(s.board, &s.line, 6), 0);
    assert_int_equal(weft__scoreboard_judge(s.board, &s.line, 8), 1); // 7
    static const uint32_t again[] = {0, 1, 3, 4, 5, 7};
    for (uint32_t i = 0; i < sizeof again / sizeof *again; i++) {
        assert_true(weft__scoreboard_send(s.board, &s.line, &psn));
        assert_int_equal(psn, again[i]);
    }
    assert_false(weft__scoreboard_send(s.board, &s.line, &psn));
    assert_int_equal(psn, 10);
    assert_int_equal(weft__scoreboard_lose_all(s.board, &s.line), 9); // all but 2 and 6
    assert_int_equal(weft__scoreboard_came_below(s.board, &s.line, 6), 5);
    assert_int_equal(weft__scoreboard_lose_all(s.board, &s.line), 0);
    assert_null(weft__scoreboard_check(s.board, &s.line));
    free(s.board);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_at_once_are_one_by_one),
                                       cmocka_unit_test(only_what_is_missing_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
