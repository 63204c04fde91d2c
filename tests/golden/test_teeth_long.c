// SPDX-License-Identifier: Apache-2.0
// Every claim of the book holds, with every seed where a scenario is short, and breaks without the mechanism that it is
// about. The argument selects a part: "2of24" is every twenty-fourth file, from the second.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "part.h"
#include "scenario_files.h"

static struct part part;

/// Of the short scenarios of this part, or of the long ones.
static void have_teeth(bool of_length, const char *how) {
    char *command = NULL;
    size_t size;
    FILE *text = open_memstream(&command, &size);
    assert_non_null(text);
    fprintf(text, "\"$WEFT\" verify --teeth --jobs 2 --quiet %s", how);
    assert_true(find_scenarios(of_length));
    for (unsigned i = part.first; i < n_scenarios; i += part.step)
        fprintf(text, " '%s'", scenarios[i]);
    fclose(text);
    assert_int_equal(system(command), 0);
    free(command);
}

static void short_scenarios_have_teeth_with_every_seed(void **state) {
    (void)state;
    have_teeth(false, "--seeds 1..8");
}

static void long_scenarios_have_teeth(void **state) {
    (void)state;
    have_teeth(true, "");
}

int main(int argc, char **argv) {
    if (!part_of(argc, argv, &part)) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_scenarios_have_teeth_with_every_seed),
                                       cmocka_unit_test(long_scenarios_have_teeth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
