// SPDX-License-Identifier: Apache-2.0
// Memory that processes share by addresses: what has only zeros takes none from the moment they part, and reads as
// before.
#define _GNU_SOURCE // mincore
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/image.h"

enum { PAGE = 4096, BYTES = 8 << 20, USED = 3 * PAGE };

static size_t resident(const unsigned char *memory) {
    static unsigned char in[BYTES / PAGE];
    size_t n = 0;
    assert_int_equal(mincore((void *)(uintptr_t)memory, BYTES, in), 0);
    for (size_t i = 0; i < BYTES / PAGE; i++)
        n += in[i] & 1;
    return n;
}

static void test_zeros(void **state) {
    (void)state;
    if (weft__image_open(1, 0)) skip(); // a sanitizer has the addresses
    unsigned char *both[2];
    for (int constant = 0; constant < 2; constant++) {
        unsigned char *memory = both[constant] = weft__image_new(BYTES, constant);
        memset(memory, 1, BYTES);
        memset(memory + USED, 0, BYTES - USED);
        memory[BYTES / 2] = 7;
        assert_int_equal(resident(memory), BYTES / PAGE);
    }
    assert_true(weft__image_part());
    for (int constant = 0; constant < 2; constant++) {
        const unsigned char *memory = both[constant];
        assert_int_equal(resident(memory), USED / PAGE + 1);
        for (size_t i = 0; i < BYTES; i++)
            if (memory[i] != (i < USED ? 1 : i == BYTES / 2 ? 7 : 0)) fail_msg("byte %zu", i);
    }
    memset(both[0] + BYTES / 4, 3, 100); // the common one may be written again
    assert_int_equal(both[0][BYTES / 4 + 99], 3);
    size_t words;
    uint64_t *change = weft__image_changes(&words);
    assert_int_equal(words, 2 + 13 + 2); // where and how many, the words, and the end
    free(change);
    weft__image_join();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
