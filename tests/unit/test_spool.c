// SPDX-License-Identifier: Apache-2.0
// A spool gives back, sorted, what was put into it, whether it fitted into memory or not.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spool.h"
#include "own_memory.h"
#include "weft/random.h"

static int compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum { SPOOLS = 3 };

/// Puts a permutation of 0..n-1 into spools that hold `max` records each, and reads it back.
static void assert_sorted(uint64_t n, size_t max, uint32_t spools) {
    struct weft__spool spool[SPOOLS];
    struct weft_random random = weft_random_stream(7, (uint32_t)n, WEFT_RANDOM_TEST);
    for (uint32_t i = 0; i < spools; i++)
        weft__spool_init(&spool[i], sizeof(uint64_t), max, compare, ".");
    for (uint64_t i = 0; i < n; i++) // 7919 is prime, and n no multiple of it
        *(uint64_t *)weft__spool_add(&spool[weft_random_below(&random, spools)]) = i * 7919 % n;
    struct weft__merge *merge = weft__merge_new(spool, spools);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t *record = weft__merge_next(merge);
        assert_non_null(record);
        assert_int_equal(*record, i);
    }
    assert_null(weft__merge_next(merge));
    assert_null(weft__merge_next(merge));
    weft__merge_free(merge);
    for (uint32_t i = 0; i < spools; i++) {
        assert_int_equal(spool[i].error, 0);
        assert_int_equal(spool[i].file >= 0, spool[i].written > 0);
        weft__spool_deinit(&spool[i]);
    }
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_SERIES), 0);
}

static void in_memory(void **state) {
    (void)state;
    for (uint32_t spools = 1; spools <= SPOOLS; spools++) {
        assert_sorted(0, 16, spools);
        assert_sorted(1, 16, spools);
        assert_sorted(2, 16, spools);
        assert_sorted(5000, 8192, spools);
    }
}

static void on_disk(void **state) {
    (void)state;
    for (uint32_t spools = 1; spools <= SPOOLS; spools++) {
        assert_sorted(17, 16, spools);
        assert_sorted(32, 16, spools);
        assert_sorted(50000, 1000, spools);
        assert_sorted(30000, 5000, spools); // runs longer than the buffer they are read through
    }
}

static void no_folder(void **state) {
    (void)state;
    struct weft__spool spool;
    weft__spool_init(&spool, sizeof(uint64_t), 4, compare, "no/such/folder");
    for (uint64_t i = 0; i < 9; i++)
        *(uint64_t *)weft__spool_add(&spool) = i;
    assert_int_equal(spool.error, ENOENT);
    weft__spool_deinit(&spool);
}

static void full_disk(void **state) {
    (void)state;
    struct weft__spool spool;
    weft__spool_init(&spool, sizeof(uint64_t), 4, compare, ".");
    for (uint64_t i = 0; i < 5; i++)
        *(uint64_t *)weft__spool_add(&spool) = i;
    close(spool.file); // whatever the result of writing there now
    for (uint64_t i = 5; i < 12; i++)
        *(uint64_t *)weft__spool_add(&spool) = i;
    assert_int_equal(spool.error, EBADF);
    struct weft__merge *merge = weft__merge_new(&spool, 1);
    while (weft__merge_next(merge))
        ;
    weft__merge_free(merge);
    spool.file = -1;
    weft__spool_deinit(&spool);
}

/// Between two processes: what one puts the other gets.
struct pipe {
    uint8_t *bytes;
    size_t n, at;
};

static void put(void *context, const void *bytes, size_t n) {
    struct pipe *p = context;
    p->bytes = realloc(p->bytes, p->n + n);
    memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
}

static void get(void *context, void *bytes, size_t n) {
    struct pipe *p = context;
    assert_true(p->at + n <= p->n);
    memcpy(bytes, p->bytes + p->at, n);
    p->at += n;
}

/// `n` records, of which those beyond the last 1000 are in a file, that of the other process by the end.
static void sent(uint64_t n, bool broken) {
    struct weft__spool from, to;
    struct pipe pipe = {0};
    weft__spool_init(&from, sizeof(uint64_t), 1000, compare, ".");
    weft__spool_init(&to, sizeof(uint64_t), 1000, compare, ".");
    for (uint64_t i = 0; i < n; i++)
        *(uint64_t *)weft__spool_add(&from) = i * 7919 % n;
    for (size_t i = 0; i < from.n; i++)
        *(uint64_t *)weft__spool_add(&to) = ((uint64_t *)(void *)from.record)[i];
    to.written = from.written;
    if (broken) close(from.file);
    weft__spool_send(&from, put, &pipe);
    weft__spool_receive(&to, get, &pipe);
    assert_int_equal(pipe.at, pipe.n);
    assert_int_equal(to.error, broken ? EBADF : 0);
    struct weft__merge *merge = weft__merge_new(&to, 1);
    for (uint64_t i = 0; i < n && !broken; i++)
        assert_int_equal(*(const uint64_t *)weft__merge_next(merge), i);
    while (broken && weft__merge_next(merge)) // what was in memory
        n--;
    if (broken) assert_int_equal(n, from.written);
    assert_null(weft__merge_next(merge));
    weft__merge_free(merge);
    if (broken) from.file = -1;
    weft__spool_deinit(&from);
    weft__spool_deinit(&to);
    free(pipe.bytes);
}

static void between_processes(void **state) {
    sent(10, false); // nothing in the file
    sent(1500, false);
    sent(300000, false); // more than a piece
    sent(300000, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory), cmocka_unit_test(on_disk),
                                       cmocka_unit_test(no_folder), cmocka_unit_test(full_disk),
                                       cmocka_unit_test(between_processes)};
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
