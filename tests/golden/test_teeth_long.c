// SPDX-License-Identifier: Apache-2.0
// Every claim of the book holds with every seed, and breaks without the mechanism that it is about.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>

static void the_book_has_teeth(void **state) {
    (void)state;
    assert_int_equal(system("\"$WEFT\" verify \"$WEFT_ROOT/scenarios\" --teeth --seeds 1..8 --jobs 2 --quiet"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_book_has_teeth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
