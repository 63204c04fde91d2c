// SPDX-License-Identifier: Apache-2.0
// A part of the book, claims with the runs that must break them; the long tests try all of it.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const part[] = {"dsf/control_loop.yaml", "dsf/incast.yaml", "dsf/input_balance_load.yaml",
                                   "dsf/mixed_nics.yaml", "dsf/region.yaml"};

static void a_part_of_the_book_has_teeth(void **state) {
    (void)state;
    char command[4096];
    int n = snprintf(command, sizeof command, "\"$WEFT\" verify --teeth --quiet");
    for (unsigned i = 0; i < sizeof part / sizeof *part; i++)
        n += snprintf(command + n, sizeof command - (size_t)n, " \"$WEFT_ROOT/scenarios/%s\"", part[i]);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_part_of_the_book_has_teeth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
