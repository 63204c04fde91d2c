// SPDX-License-Identifier: Apache-2.0
// Packets leave a FIFO in the order in which they were added; chunks return to the pool.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fifo.h"
#include "own_memory.h"
#include "weft/memory.h"
#include "weft/random.h"

static void keeps_order_through_random_pushes_and_pops(void **state) {
    struct weft_packet_pool pool;
    weft__pool_init(&pool);
    struct weft__fifo fifo = {0};
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    uint32_t in = 0, out = 0;
    for (int i = 0; i < 100000; i++) {
        if (weft_random_below(&random, 100) < (i < 50000 ? 60u : 40u)) {
            struct weft_packet p = {.psn = in++};
            weft__fifo_push(&fifo, &pool, &p);
        } else if (fifo.n) {
            struct weft_packet p;
            assert_int_equal(weft__fifo_head(&fifo)->psn, out);
            weft__fifo_pop(&fifo, &pool, &p);
            assert_int_equal(p.psn, out++);
        }
        assert_int_equal(fifo.n, in - out);
    }
    uint32_t seen = 0;
    struct weft__fifo_cursor c = weft__fifo_begin(&fifo);
    for (const struct weft_packet *p; (p = weft__fifo_next(&c));)
        assert_int_equal(p->psn, out + seen++);
    assert_int_equal(seen, fifo.n);
    weft__pool_deinit(&pool);
}

static void an_empty_fifo_holds_no_chunk(void **state) {
    struct weft_packet_pool pool;
    weft__pool_init(&pool);
    struct weft__fifo fifo = {0};
    struct weft_packet p = {.psn = 7};
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 40; i++)
            weft__fifo_push(&fifo, &pool, &p);
        for (int i = 0; i < 40; i++)
            weft__fifo_pop(&fifo, &pool, &p);
        assert_null(fifo.tail);
        assert_null(fifo.head);
    }
    weft_bytes held = weft_memory_bytes(WEFT_MEMORY_QUEUE);
    assert_in_range(held, 1, 100 * 1024); // one slab, however many rounds
    weft__pool_deinit(&pool);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_QUEUE), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_through_random_pushes_and_pops),
        cmocka_unit_test(an_empty_fifo_holds_no_chunk),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
