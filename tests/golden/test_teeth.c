// SPDX-License-Identifier: Apache-2.0
// A part of the book, claims with the runs that must break them; the long tests try all of it. That these runs can be
// built is checked of all: here of those that other tests leave out, and of one that cannot.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

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

static void what_must_break_a_claim_is_checked(void **state) {
    (void)state;
    assert_int_equal(system("cd \"$WEFT_ROOT\" && for f in $(grep -lr '^# test: long' scenarios); do "
                            "\"$WEFT\" check $f >/dev/null 2>&1 || { echo $f; exit 1; }; done"),
                     0);
    int status = system("printf 'topology: {kind: single, hosts: 2}\nworkload: [{kind: permutation, size: 1MB}]\n"
                        "claims: [{text: t, that: flows.0.fct_ps > 0, without: {topology.hosts: 0}}]\n' >teeth.yaml; "
                        "\"$WEFT\" check teeth.yaml 2>&1 >/dev/null | grep -q '^weft: teeth.yaml:3:.*: without: "
                        "topology.hosts' && \"$WEFT\" check teeth.yaml >/dev/null 2>&1; s=$?; rm teeth.yaml; exit $s");
    assert_int_equal(WEXITSTATUS(status), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_part_of_the_book_has_teeth),
                                       cmocka_unit_test(what_must_break_a_claim_is_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
