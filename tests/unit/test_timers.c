// SPDX-License-Identifier: Apache-2.0
// Timers against a plain table: set, move, cancel and pop in random order, and what is due set again where it stands;
// equal times fire by key.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/timers.h"
#include "weft/random.h"

enum { KEYS = 50 };

static uint32_t earliest(const weft_time_ps *table) {
    uint32_t best = KEYS;
    for (uint32_t k = 0; k < KEYS; k++)
        if (table[k] != WEFT_TIME_NEVER && (best == KEYS || table[k] < table[best])) best = k;
    return best;
}

/// The first of the row is due; it may be moved while that is dealt with, and is then set again or not.
static void take_turn(struct weft__timers *t, weft_time_ps *table, struct weft_random *random) {
    uint64_t word = t->row[t->first];
    uint32_t key = weft__timers_of_word(t, word).key;
    weft_time_ps time = table[key];
    if (weft_random_below(random, 8) == 0) weft__timer_set(t, key, time + weft_random_below(random, 3));
    table[key] = weft_random_below(random, 3) ? time + 1 + weft_random_below(random, 20) : WEFT_TIME_NEVER;
    if (table[key] == WEFT_TIME_NEVER)
        weft__timers_end(t, word);
    else
        weft__timers_go_on(t, word, table[key]);
}

static void behaves_like_a_table(void **state) {
    struct weft__timers t;
    weft__timers_init(&t, KEYS);
    weft_time_ps table[KEYS];
    for (uint32_t k = 0; k < KEYS; k++)
        table[k] = WEFT_TIME_NEVER;
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_TEST);
    for (int i = 0; i < 200000; i++) {
        uint32_t key = (uint32_t)weft_random_below(&random, KEYS), keys = KEYS - key < 3 ? KEYS - key : 3;
        switch (weft_random_below(&random, 7)) {
        case 0:
        case 1:
            table[key] = weft_random_below(&random, 40); // many equal times
            weft__timer_set(&t, key, table[key]);
            break;
        case 2:
            table[key] = WEFT_TIME_NEVER;
            weft__timer_cancel(&t, key);
            break;
        case 3:
            for (uint32_t k = key; k < key + keys; k++)
                table[k] = WEFT_TIME_NEVER;
            weft__timers_cancel(&t, key, keys);
            break;
        case 4:
        case 5:
            if (!t.due) break;
            assert_int_equal(weft__timers_next_key(&t), earliest(table));
            take_turn(&t, table, &random);
            break;
        default: {
            uint32_t first = earliest(table);
            assert_int_equal(weft__timers_next(&t), first == KEYS ? WEFT_TIME_NEVER : table[first]);
            if (first == KEYS) break;
            assert_int_equal(weft__timers_pop(&t), first);
            table[first] = WEFT_TIME_NEVER;
        }
        }
        assert_int_equal(weft__timer_at(&t, key), table[key]);
    }
    weft__timers_deinit(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(behaves_like_a_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
